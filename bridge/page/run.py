"""One run of a tool in its document. It goes on for as long as the page lets it, whether somebody waits or not."""

import logging
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from enum import Enum
from itertools import count
from typing import Any, Final, cast

import trio

from bridge import limits
from bridge.errors import BridgeError, CommandFailed, NavigatedDuringCall
from bridge.page.dialogs import Dialog
from bridge.page.document import Document, DocumentEnded
from bridge.page.invocation import Ending, read_ending
from bridge.page.kit import call_expression, is_answer_lost, is_realm_gone, was_terminated
from bridge.wire.commands import Evaluated, evaluate_in, release_thrown, runtime
from bridge.wire.router import Json

logger = logging.getLogger(__name__)

ABANDONED: Final = Ending("abandoned", "none", "", "", "", "")
TERMINATED: Final = Ending("terminated", "none", "", "", "", "")
STUCK: Final = Ending("stuck", "none", "", "", "", "")

_numbers = count(1)


class Why(Enum):
    """Why a run is stopped: name and words of the DOMException that its signal carries."""

    TIME_OUT = ("TimeoutError", "The time for this call is over.")
    CANCELLED = ("AbortError", "The agent cancelled this call.")
    END = ("AbortError", "The bridge ends.")


class Run:
    """A tool that was sent to its document. Chromium's events settle it: its reply, or the document's end."""

    def __init__(
        self,
        document: Document,
        round_: int,
        group: int,
        tool: int,
        arguments_text: str,
        *,
        select: Sequence[str] = (),
        elements: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Send the call, bound to the document's realm.

        Args:
            select: the path to the part of the result that is wanted.
            elements: where the arguments name elements: what page_shims/values.d.ts calls ElementPlace.

        Raises:
            DocumentEnded: the document is not shown any more; nothing ran.
            PageUnresponsive: its scripts answer nothing since an earlier run.
            ConnectionLost: the link is gone.
        """
        words = ("call", round_, group, tool, arguments_text, list(select))
        self._begin(
            document,
            lambda number: evaluate_in(
                document.realm.unique_context_id,
                call_expression(document.kit, (*words, number, list(elements))),
                await_promise=True,
            ),
        )

    def _begin(self, document: Document, command: Callable[[int], Generator[Json, Json, Evaluated]]) -> None:
        """Send the command that runs it, of which it is told its number."""
        document.check_answers()
        self._document = document
        self._number = next(_numbers)
        self._outcome: Ending | Exception | None = None
        self._last_word_at: float | None = None
        self._dialog: Dialog | None = None
        self._changed = trio.Event()
        self._pending = document.session.begin(command(self._number), on_done=self._on_reply)
        document.runs.add(self)

    # What happens to it

    def _on_reply(self) -> None:
        try:
            answer = self._pending.result()
            if answer.has_thrown:
                self._document.session.send_nowait(release_thrown())
            ending = read_ending(None if answer.has_thrown else answer.value)
        except CommandFailed as error:
            self._settle(self._why_no_answer(error))
        except BridgeError as error:
            self._settle(error)
        else:
            if ending.how != ABANDONED.how:
                # Who let it go knows best what that took.
                self._settle(ending)

    def _why_no_answer(self, error: CommandFailed) -> Ending | Exception:
        if was_terminated(error):
            return TERMINATED
        if is_realm_gone(error, in_iframe=self._document.frame != ""):
            return DocumentEnded()
        if is_answer_lost(error) or is_realm_gone(error):
            return self._navigated()
        return error

    def _navigated(self) -> NavigatedDuringCall:
        return NavigatedDuringCall(
            f"Page {self._document.page} navigated while the tool ran, so its answer is lost. "
            "It may have done its work: look at the page before you call again."
        )

    def _settle(self, outcome: Ending | Exception) -> None:
        if self._outcome is None:
            self._outcome = outcome
            self._document.runs.discard(self)
            self._document.session.connection.forget(self._pending)
            self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    def document_ended(self, gone: BridgeError | None) -> None:
        """Of a page that was closed or crashed, Chromium never answers. After a navigation it does, a moment later,
        and what it says tells a run from one that came too late."""
        if gone is not None:
            self._settle(gone)
        else:
            self._last_word_at = trio.current_time() + limits.LAST_WORD_SECONDS
            self._wake()

    def dialog_opened(self, dialog: Dialog) -> None:
        """It waits now for somebody to answer."""
        self._dialog = dialog
        self._wake()

    def dialog_closed(self) -> None:
        """It goes on. Nobody is woken: who waits for it in its caller's name has left when the dialog came."""
        self._dialog = None

    # What its caller does

    @property
    def is_ended(self) -> bool:
        return self._outcome is not None

    async def wait_ended(self) -> bool:
        """Block until it has ended; False where a dialog holds it before."""
        while self._outcome is None:
            if self._dialog is not None:
                return False
            await self._next()
        return True

    async def wait(self) -> Ending:
        """Block until it has ended, and return how.

        Raises:
            DialogOpen: a dialog waits for an answer, and the run for the dialog.
            DocumentEnded: the document was over before; nothing ran.
            NavigatedDuringCall: it ended while the tool ran.
            PageGone: the page was closed or crashed while the tool ran.
        """
        if not await self.wait_ended():
            assert self._dialog is not None
            raise self._dialog.error(self._document.page, dispatched=True)
        assert self._outcome is not None
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

    async def _next(self) -> None:
        if self._last_word_at is None:
            await self._changed.wait()
            return
        with trio.move_on_at(self._last_word_at):
            await self._changed.wait()
            return
        self._settle(self._navigated())

    async def follow(self, tell: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
        """Hand on what the tool reports of its progress, until it has ended: `{done, total, message}`."""
        try:
            while isinstance(report := await self._document.ask("progress", self._number, await_promise=True), dict):
                await tell(cast("dict[str, Any]", report))
                await trio.sleep(limits.PROGRESS_SECONDS)
        except (DocumentEnded, BridgeError) as error:
            logger.debug("no more progress of run %d: %r", self._number, error)

    async def abort(self, why: Why) -> None:
        """Fire its signal, and give it `limits.GRACE_SECONDS` to end."""
        with trio.move_on_after(limits.GRACE_SECONDS):
            try:
                # Listeners of the signal run in this.
                timeout_ms = limits.GRACE_SECONDS * 1000 / 2
                await self._document.ask("abort", self._number, *why.value, timeout_ms=timeout_ms)
            except (DocumentEnded, BridgeError) as error:
                logger.debug("run %d could not be told to stop: %r", self._number, error)
            await self.wait_ended()

    async def bridge_ends(self) -> None:
        """Tell it so."""
        await self.abort(Why.END)

    async def stop(self, why: Why) -> None:
        """End it within `limits.STOP_SECONDS`: by its signal; else, it is let go where its realm still answers, and
        the script that holds the realm is ended where it does not.

        No force helps against a dialog. A run whose time is over goes on for who answers that; one that nobody waits
        for is told once the dialog is closed.
        """
        if self.is_ended:
            return
        await self.abort(why)
        if self.is_ended:
            return
        if self._dialog is not None:
            if why is Why.TIME_OUT:
                return
            self._document.session.send_nowait(self._asking("abort", *why.value))
        try:
            ending = await self._let_go()
        except BridgeError as error:
            # The link is gone, and said so to the run as well.
            logger.debug("run %d could not be let go: %r", self._number, error)
        else:
            self._settle(ending)

    async def _let_go(self) -> Ending:
        document = self._document
        document.probe, answered = document.begin_probe(self._asking("drop"))
        ending = ABANDONED
        for attempt in range(limits.FORCE_TRIES + 1):
            if self._dialog is not None:
                # The document is not to be called stuck for it.
                document.probe = None
                return ABANDONED
            if attempt > 0:
                document.is_forced = True
                document.session.send_nowait(runtime.terminate_execution())
                ending = TERMINATED
            with trio.move_on_after(limits.PROBE_SECONDS):
                await answered.wait()
                return ending
        return STUCK

    def _asking(self, operation: str, *words: object) -> Generator[Json, Json, Any]:
        """The command that asks the kit something about this run."""
        document = self._document
        return evaluate_in(
            document.realm.unique_context_id, call_expression(document.kit, (operation, self._number, *words))
        )
