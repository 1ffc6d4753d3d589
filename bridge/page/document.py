"""One document of a page: ask it for its tools, and for what else the kit in it tells."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Protocol

import trio

from bridge import limits
from bridge.errors import BridgeError, CommandFailed, DialogOpen, PageStuck, PageUnresponsive
from bridge.page.dialogs import Dialog
from bridge.page.discovery import BOUNDS, Discovery, read_answer
from bridge.page.frames import Realm
from bridge.page.invocation import RESULT_BOUNDS
from bridge.page.kit import KitCutShort, ask_kit, is_answer_lost, is_realm_gone, was_terminated
from bridge.wire.connection import Pending, Session
from bridge.wire.router import Json


class DocumentEnded(Exception):
    """The document is not shown any more, and nothing ran in it. The caller looks at the next one."""


class Running(Protocol):
    """A tool that runs in a document. What it is told must neither block nor raise."""

    def document_ended(self, gone: BridgeError | None) -> None: ...

    def dialog_opened(self, dialog: Dialog) -> None: ...

    def dialog_closed(self) -> None: ...

    async def bridge_ends(self) -> None: ...


class Document:
    """What one frame shows, from its realm's beginning to its end. Everything is bound to that realm.

    Attributes:
        frame: the frame's handle, "" for the page's main frame.
    """

    def __init__(self, session: Session, realm: Realm, *, page: str, frame: str, kit: str) -> None:
        self.realm = realm
        self.frame = frame
        self.wanted = trio.Event()
        """Set when the document should be asked: its scripts have run, a listener came, or it ended and can't be."""
        self._ready = trio.Event()
        self.asked = False
        """What it shows was asked at least once, whether it answered or not."""
        self.is_slow = False
        """It was waited for as long as any is, and still loads."""
        self._answers = 0
        self._told = 0
        self.has_offered = False
        """It has answered with a group at least once, so `window.__dtmcp` may be ours."""
        self.session = session
        self.page = page
        self.kit = kit
        self.runs: set[Running] = set()
        """Tools that were sent here and have not ended."""
        self.probe: Pending[Any] | None = None
        """What was asked last to see whether the document answers anything."""
        self.is_forced = False
        """Its scripts are being ended, until it answers: what they ask a person meanwhile is dismissed."""
        self._asking = trio.Lock()
        self._ended = False
        self._gone: BridgeError | None = None
        self._scopes: set[trio.CancelScope] = set()
        self._dialog: Dialog | None = None
        self._dialog_closed = trio.Event()

    def scripts_have_run(self) -> None:
        """Those that came with the document: from now on it can be asked."""
        self._ready.set()
        self.wanted.set()

    def count_answer(self) -> int:
        """The number of an answer that has come: it counts as long as no later one does."""
        self._answers += 1
        return self._answers

    def tell_answer(self, number: int) -> bool:
        """True where that answer is to be told now."""
        is_news = number > self._told
        self._told = max(self._told, number)
        return is_news

    def forget_answers(self) -> None:
        """Those that have come are about something that it does not show any more."""
        self._told = self._answers

    def end(self, gone: BridgeError | None = None) -> None:
        """The document is not shown any more; `gone` where its page can't be asked anything either.

        Whoever asks it leaves at once: Chromium never answers for a target that was closed or crashed.
        """
        self._ended = True
        self._gone = gone
        self.wanted.set()
        self._dialog_closed.set()
        for scope in self._scopes:
            scope.cancel()
        for run in list(self.runs):
            run.document_ended(gone)

    def show_dialog(self, dialog: Dialog) -> None:
        """No script runs until that is answered: whoever asks leaves, and runs go on waiting for the answer."""
        self._dialog = dialog
        for scope in self._scopes:
            scope.cancel()
        for run in list(self.runs):
            run.dialog_opened(dialog)

    def close_dialog(self) -> None:
        """It was answered, whoever did it."""
        self._dialog = None
        self._dialog_closed.set()
        self._dialog_closed = trio.Event()
        for run in list(self.runs):
            run.dialog_closed()

    @property
    def is_stuck(self) -> bool:
        """It has answered nothing since a run was stopped in it."""
        return self.probe is not None and not self.probe.is_done

    def begin_probe(self, command: Generator[Json, Json, Any]) -> tuple[Pending[Any], trio.Event]:
        """See whether it answers anything; with what is set when it has, or can't any more.

        Raises:
            ConnectionLost: the link is gone.
        """
        answered = trio.Event()

        def on_done() -> None:
            self.is_forced = False
            answered.set()

        return self.session.begin(command, on_done=on_done), answered

    def check_answers(self) -> None:
        """See whether it can be asked now.

        Raises:
            DocumentEnded, PageGone: it is not shown any more.
            DialogOpen: a dialog holds its scripts.
            PageStuck: something else has held them since a run was stopped.
        """
        self._check_shown()
        if self.is_stuck:
            raise PageStuck(self.page)

    def _check_shown(self) -> None:
        if self._ended:
            raise self._gone or DocumentEnded()
        if self._dialog is not None:
            raise self._dialog.error(self.page, dispatched=False)

    @property
    def is_ready(self) -> bool:
        """Its own scripts have run."""
        return self._ready.is_set()

    async def wait_ready(self) -> None:
        """Block until the document's own scripts have run.

        Raises:
            DocumentEnded, PageGone: it is not shown any more.
        """
        with self._while_it_answers():
            await self._ready.wait()

    async def discover(self, grace_seconds: float) -> Discovery:
        """Dispatch the event, and return what was answered.

        Args:
            grace_seconds: how long answers that are still to come are waited for.

        Raises:
            DocumentEnded, PageGone: it is not shown any more.
            DialogOpen: a dialog holds its scripts.
            PageUnresponsive: its main thread did not answer, or its listener does not end.
        """
        async with self._asking:
            self.check_answers()
            try:
                with trio.fail_after(limits.PAGE_ANSWER_SECONDS + grace_seconds):
                    while (answer := await self._ask_discovery(grace_seconds)) is None:  # noqa: ASYNC110  # nothing tells
                        # Chromium held the page's scripts, and lets them run again now.
                        await trio.sleep(limits.NEWS_SECONDS)
            except trio.TooSlowError as error:
                raise PageUnresponsive(self.page, limits.PAGE_ANSWER_SECONDS) from error
            except CommandFailed as error:
                if was_terminated(error):
                    raise PageUnresponsive(self.page, limits.LISTENER_SECONDS) from error
                raise
            finally:
                self.asked = True
        return read_answer(answer)

    async def _ask_discovery(self, grace_seconds: float) -> Any:  # noqa: ANN401  # JSON
        return await self.ask(
            "discover",
            BOUNDS,
            grace_seconds * 1000,
            RESULT_BOUNDS,
            await_promise=True,
            timeout_ms=limits.LISTENER_SECONDS * 1000,
        )

    async def report(self) -> Discovery | None:
        """What the latest round has got by now, without asking anew."""
        answer = await self.ask("report")
        return None if answer is None else read_answer(answer)

    async def wait_news(self) -> str:
        """Block until there is something new: `listener` (ask again) or `answers` (read the report).

        Raises:
            DocumentEnded, PageGone: the document is not shown any more.
        """
        try:
            return str(await self.ask("watch", await_promise=True))
        except DialogOpen:
            # The page may have answered, with nobody there to hear it.
            await self._dialog_closed.wait()
            return "answers"

    async def ask(self, *words: object, await_promise: bool = False, timeout_ms: float | None = None) -> Any:  # noqa: ANN401
        """Ask the kit something that may be asked again.

        Raises:
            DocumentEnded, PageGone: the document is not shown any more.
            DialogOpen: a dialog holds its scripts.
        """
        with self._while_it_answers():
            kit = self.kit
            try:
                return await ask_kit(
                    self.session,
                    self.realm,
                    kit,
                    *words,
                    await_promise=await_promise,
                    timeout_ms=timeout_ms,
                )
            except KitCutShort as error:
                if kit.endswith("___"):
                    raise CommandFailed("Runtime.evaluate", "its script was ended by force again and again") from error
                # Under another name there can be one yet. Somebody else who asks may have found that first.
                if self.kit == kit:
                    self.kit = f"{kit}_"
            except CommandFailed as error:
                if not (is_realm_gone(error) or is_answer_lost(error)):
                    raise
                # Chromium may refuse a command some events before it tells of the realm's end.
                await trio.sleep(limits.PAGE_ANSWER_SECONDS)
                raise DocumentEnded from error
        return await self.ask(*words, await_promise=await_promise, timeout_ms=timeout_ms)

    @contextmanager
    def _while_it_answers(self) -> Generator[None]:
        """Leave the block when the document ends, or when a dialog holds its scripts.

        Raises:
            DocumentEnded, PageGone: it is not shown any more.
            DialogOpen: a dialog does.
        """
        self._check_shown()
        scope = trio.CancelScope()
        self._scopes.add(scope)
        try:
            with scope:
                yield
        finally:
            self._scopes.discard(scope)
        if scope.cancelled_caught:
            self._check_shown()
