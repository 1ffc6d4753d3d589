"""One document of a page: ask it for tools, and run one."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any

import trio

from bridge import limits
from bridge.errors import CommandFailed, NavigatedDuringCall, PageGone, PageUnresponsive
from bridge.page.discovery import BOUNDS, Discovery
from bridge.page.frames import Realm
from bridge.page.invocation import Ending, bounds_of, read_ending
from bridge.page.kit import ask_kit, is_answer_lost, is_realm_gone, was_terminated
from bridge.wire.connection import Session


class DocumentEnded(Exception):
    """The document is not shown any more, and nothing ran in it. The caller looks at the next one."""


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
        self._session = session
        self._page = page
        self._kit = kit
        self._asking = trio.Lock()
        self._ended = False
        self._gone: PageGone | None = None
        self._scopes: dict[trio.CancelScope, float] = {}

    def scripts_have_run(self) -> None:
        """Those that came with the document: from now on it can be asked."""
        self._ready.set()
        self.wanted.set()

    def end(self, gone: PageGone | None = None) -> None:
        """The document is not shown any more; `gone` where its page can't be asked anything either.

        Whatever waits in it leaves at once: Chromium never answers for a target that was closed or crashed. After a
        navigation it does, a moment later, and what it says tells a call that ran from one that came too late.
        """
        self._ended = True
        self._gone = gone
        self.wanted.set()
        for scope, patience_seconds in self._scopes.items():
            scope.deadline = trio.current_time() + patience_seconds if gone is None else -inf

    async def wait_ready(self) -> None:
        """Block until the document's own scripts have run.

        Raises:
            DocumentEnded, PageGone: it is not shown any more.
        """
        with self._while_shown():
            await self._ready.wait()

    async def discover(self, grace_seconds: float) -> Discovery:
        """Dispatch the event, and return what was answered.

        Args:
            grace_seconds: how long answers that are still to come are waited for.

        Raises:
            DocumentEnded, PageGone: it is not shown any more.
            PageUnresponsive: its main thread did not answer, or its listener does not end.
        """
        async with self._asking:
            try:
                with trio.fail_after(limits.PAGE_ANSWER_SECONDS + grace_seconds):
                    answer = None
                    while answer is None:
                        # None: Chromium held the page's scripts, and lets them run again now.
                        answer = await self._ask(
                            "discover",
                            BOUNDS,
                            grace_seconds * 1000,
                            await_promise=True,
                            timeout_ms=limits.LISTENER_SECONDS * 1000,
                        )
            except trio.TooSlowError as error:
                raise PageUnresponsive(self._page, limits.PAGE_ANSWER_SECONDS) from error
            except CommandFailed as error:
                if was_terminated(error):
                    raise PageUnresponsive(self._page, limits.LISTENER_SECONDS) from error
                raise
            finally:
                self.asked = True
        return Discovery(int(answer["round"]), answer)

    async def report(self) -> Discovery | None:
        """What the latest round has got by now, without asking anew."""
        answer = await self._ask("report")
        return None if answer is None else Discovery(int(answer["round"]), answer)

    async def wait_news(self) -> str:
        """Block until there is something new: `listener` (ask again) or `answers` (read the report)."""
        return str(await self._ask("watch", await_promise=True))

    async def run(
        self, round_: int, group: int, tool: int, arguments_text: str, *, select: Sequence[str] = ()
    ) -> Ending:
        """Run one tool of a round, in this document or not at all; the caller's cancel scope is the deadline.

        Args:
            select: the path to the part of the result that is wanted.

        Raises:
            DocumentEnded: it is not shown any more; nothing ran.
            NavigatedDuringCall: it ended while the tool ran.
            PageGone: the page was closed or crashed while the tool ran.
        """
        if self._ended:
            raise DocumentEnded
        try:
            with self._while_shown(limits.LAST_WORD_SECONDS):
                words = ("call", round_, group, tool, arguments_text, bounds_of(select))
                ending = await ask_kit(self._session, self.realm, self._kit, *words, await_promise=True)
        except DocumentEnded as ended:
            raise self._answer_lost() from ended
        except CommandFailed as error:
            if is_realm_gone(error, in_iframe=self.frame != ""):
                raise DocumentEnded from error
            if is_answer_lost(error) or is_realm_gone(error):
                raise self._answer_lost() from error
            raise
        return read_ending(ending)

    def _answer_lost(self) -> NavigatedDuringCall:
        return NavigatedDuringCall(
            f"Page {self._page} navigated while the tool ran, so its answer is lost. "
            "It may have done its work: look at the page before you call again."
        )

    async def _ask(self, *words: object, await_promise: bool = False, timeout_ms: float | None = None) -> Any:  # noqa: ANN401
        """Ask the kit something that may be asked again.

        Raises:
            DocumentEnded, PageGone: the document is not shown any more.
        """
        with self._while_shown():
            try:
                return await ask_kit(
                    self._session,
                    self.realm,
                    self._kit,
                    *words,
                    await_promise=await_promise,
                    timeout_ms=timeout_ms,
                )
            except CommandFailed as error:
                if not (is_realm_gone(error) or is_answer_lost(error)):
                    raise
                # Chromium may refuse a command some events before it tells of the realm's end.
                await trio.sleep(limits.PAGE_ANSWER_SECONDS)
                raise DocumentEnded from error

    @contextmanager
    def _while_shown(self, patience_seconds: float = 0) -> Generator[None]:
        """Leave the block when the document ends.

        Args:
            patience_seconds: stay that long after a navigation.

        Raises:
            DocumentEnded: it did.
            PageGone: so did its page.
        """
        if self._ended:
            raise self._gone or DocumentEnded()
        scope = trio.CancelScope()
        self._scopes[scope] = patience_seconds
        try:
            with scope:
                yield
        finally:
            del self._scopes[scope]
        if scope.cancelled_caught:
            raise self._gone or DocumentEnded()
