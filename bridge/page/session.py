"""One attached page: what it does by itself, what is asked of it, and where it goes."""

import logging
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from typing import Any

import trio

from bridge import limits
from bridge.errors import (
    BridgeError,
    CommandFailed,
    DialogOpen,
    NavigationFailed,
    NoDialog,
    PageAsleep,
    PageGone,
    PageUnreadable,
    PageUnresponsive,
)
from bridge.page.discovery import Discovery
from bridge.page.document import Document, DocumentEnded
from bridge.page.frames import FrameId, Realm
from bridge.page.lifecycle import Signal, Stage
from bridge.page.run import Run, Why
from bridge.page.shims import kit_script
from bridge.page.state import WORKERS, PageState
from bridge.wire.commands import (
    Command,
    Departure,
    add_script,
    ask,
    evaluate_in,
    inspector,
    main_frame,
    navigate,
    navigation_history,
    page,
    runtime,
    set_auto_attach,
)
from bridge.wire.connection import Session
from bridge.wire.nursery import open_background

logger = logging.getLogger(__name__)


class Page(PageState):
    """One tab."""

    # What it does by itself

    async def live(self) -> None:
        """Own everything that goes on in the page, from its attaching to its end."""
        await self._due.wait()
        async with open_background() as nursery:
            await self._set_up()
            async for newcomer in self._arrived:
                match newcomer:
                    case Document():
                        nursery.start_soon(self._look_after, newcomer)
                    case Session():
                        nursery.start_soon(self._install_in_frame, newcomer)
                    case Realm():
                        nursery.start_soon(self._find_main_frame)
                    case _:
                        nursery.start_soon(newcomer)

    async def _set_up(self) -> None:
        """Install in the page. Where that fails, as in one that crashes, it is tried anew once the page has moved."""
        while self.stage is not Stage.GONE:
            step = self.step
            try:
                await self._install(self._session)
                return
            except CommandFailed as error:
                logger.debug("page %s was not set up: %s", self.handle, error)
                self.give_up(error)
            await self.wait_step(step)
            self._why_unread = ""

    async def _install(self, session: Session) -> None:
        """Put the shim into a session's documents to come, and let a paused target go on."""
        try:
            commands: list[Command] = [
                page.enable(),
                runtime.enable(),
                inspector.enable(),
                add_script(kit_script(self._kit, early=True)),
                page.set_lifecycle_events_enabled(True),
            ]
            if self._settings.frames != "none" or "frames" in self._settings.inspected:
                # Workers that are left out wait all the same, and then nobody could let them go.
                commands.append(set_auto_attach(wait_for_debugger_on_start=True, only_types=("iframe", *WORKERS)))
            # A window that knows no opener answers nothing before it goes on.
            commands.append(runtime.run_if_waiting_for_debugger())
            if self.watch is not None:
                self.watch.begin(session)
            if session is self._session:
                commands.append(main_frame())
            *_, shown = await session.run_all(commands)
            if session is self._session:
                if shown is not None:
                    self._frames.learn(shown)
                if self._ours:
                    # A page behind another one draws nothing, and what waits for a frame there waits for ever.
                    session.send_nowait(ask("Emulation.setFocusEmulationEnabled", enabled=True))
                self._signal(Signal.SHIMS_INSTALLED)
                if self._loads or self._frames.is_new:  # it went on before its answers were read, or before we came
                    self._signal(Signal.STARTED_LOADING)
        finally:
            self._notify()

    async def _install_in_frame(self, session: Session) -> None:
        try:
            await self._install(session)
        except BridgeError as error:
            logger.debug("a frame of page %s went away while it was attached: %s", self.handle, error)

    async def _find_main_frame(self) -> None:
        """A page that was rendered in advance comes with a main frame of its own, and no event says that it is one."""
        try:
            shown = await self._session.run(main_frame())
        except BridgeError as error:
            logger.debug("page %s went away: %s", self.handle, error)
            return
        if shown is not None and self.realm is None and shown.frame_id != self._frames.main_frame:
            self._take(self._frames.adopt(FrameId(shown.frame_id), shown.url))
            # It has loaded, as far as anybody will tell.
            self._signal(Signal.STOPPED_LOADING)
            if self.document is not None:
                self.document.scripts_have_run()
            self._notify()

    async def _look_after(self, document: Document) -> None:
        """Ask a document whenever there is a reason, from its DOMContentLoaded to its end."""
        try:
            async with open_background() as nursery:
                await document.wanted.wait()
                nursery.start_soon(self._heed_news, document)
                while True:
                    await document.wanted.wait()
                    document.wanted = trio.Event()
                    await self._ask_quietly(document, 0)
        except* (DocumentEnded, BridgeError) as ended:
            # Both tasks may hear of it at once.
            logger.debug("page %s, a document is over: %r", self.handle, ended.exceptions)

    async def _heed_news(self, document: Document) -> None:
        """Take over answers that come late, and ask again when a listener was added."""
        while True:
            news = await document.wait_news()
            if news == "listener":
                document.wanted.set()
            elif (discovery := await document.report()) is not None:
                await self._tell(document, discovery)
            await trio.sleep(limits.NEWS_SECONDS)

    async def _ask_quietly(self, document: Document, grace_seconds: float) -> None:
        try:
            await self._ask(document, grace_seconds)
        except (CommandFailed, DialogOpen, PageGone, PageUnresponsive) as error:
            logger.debug("discovery in page %s: %s", self.handle, error)
        finally:
            self._notify()

    async def _ask(self, document: Document, grace_seconds: float) -> None:
        try:
            discovery = await document.discover(grace_seconds)
        except (CommandFailed, PageUnresponsive):
            self._observer.withdrawn(self, document)
            raise
        await self._tell(document, discovery)

    async def _tell(self, document: Document, discovery: Discovery) -> None:
        document.has_offered |= bool(discovery.answer.get("groups"))
        number = document.count_answer()
        await self._observer.prepare(discovery)
        if self._documents.get(document.realm.frame) is document and document.tell_answer(number):
            self._observer.discovered(self, document, discovery)

    # What others ask of it

    async def discover(self, grace_seconds: float) -> None:
        """Ask every document that the page shows; their answers go to the observer.

        A document that ends meanwhile is no failure: the next one is asked. An iframe that can't be asked costs
        only itself.

        Args:
            grace_seconds: how long answers that are still to come are waited for.

        Raises:
            PageGone: closed or crashed.
            PageUnresponsive: its main thread did not answer, or its listener does not end.
            CommandFailed: Chromium refused; `why_no_tools` tells which pages are not to be asked.
        """
        await self.wait_awake()
        while True:
            await self._wait_document()
            main = self.document
            assert main is not None
            frames = [document for document in self._documents.values() if document is not main]
            try:
                if not main.is_ready:
                    with trio.move_on_after(limits.LOAD_SECONDS):
                        await main.wait_ready()
                await self._ask(main, grace_seconds)
            except DocumentEnded:
                continue
            if frames:
                await self._ask_frames(frames, grace_seconds)
            return

    async def _wait_document(self) -> None:
        """Block until the page shows one.

        Raises:
            PageUnreadable: there is none for longer than it takes from one to the next.
        """
        with trio.move_on_after(limits.PAGE_ANSWER_SECONDS):
            await self.wait_changed(lambda: self.document is not None)
        if self.document is None:
            raise PageUnreadable(self.handle, "the browser tells of no document in it")

    async def _ask_frames(self, frames: list[Document], grace_seconds: float) -> None:
        async def ask(document: Document) -> None:
            try:
                await self._ask(document, grace_seconds)
            except (DocumentEnded, BridgeError) as error:
                logger.debug("a frame of page %s was not asked: %r", self.handle, error)

        async with trio.open_nursery() as nursery:
            for document in frames:
                nursery.start_soon(ask, document)

    async def take_leave(self) -> None:
        """Tell the tools that run still that the bridge ends, and take out of documents that stay what a script of
        theirs could see of us. Each has `limits.GRACE_SECONDS` for that."""
        async with trio.open_nursery() as nursery:
            for document in self._documents.values():
                for run in document.runs:
                    nursery.start_soon(run.bridge_ends)
                if document.has_offered and not self._ours:
                    nursery.start_soon(self._leave_document, document)

    async def _leave_document(self, document: Document) -> None:
        with trio.move_on_after(limits.GRACE_SECONDS):
            try:
                await document.ask("leave")
            except (DocumentEnded, BridgeError) as error:
                logger.debug("page %s was left as it was: %r", self.handle, error)

    def let_go(self, run: Run, why: Why) -> None:
        """Stop a run that nobody waits for any more, in the background."""
        if not run.is_ended:
            self._arrivals.send_nowait(partial(run.stop, why))

    async def show(self) -> None:
        """Have the page draw, and take input, as one that a person looks at.

        In a browser of ours it comes to the front: behind others, Chromium draws a frame a second and no more. In a
        person's browser it stays where it is.
        """
        if self._ours:
            await self._session.run(page.bring_to_front())
        elif not self._is_shown:
            await self._session.run(ask("Emulation.setFocusEmulationEnabled", enabled=True))
            self._is_shown = True

    async def answer_dialog(self, *, accept: bool, text: str | None) -> None:
        """Answer the dialog that is open, and wait until it is closed.

        Args:
            text: for a prompt; what that suggests if None.

        Raises:
            NoDialog: none is open.
            PageGone: closed or crashed meanwhile.
        """
        dialog = self.dialog
        if dialog is None:
            raise NoDialog(self.handle)
        if text is None and dialog.kind == "prompt":
            text = dialog.default_text
        try:
            await self._dialog_session.run(page.handle_java_script_dialog(accept=accept, prompt_text=text))
        except CommandFailed as error:
            # Somebody else was faster; the event that says so is on its way.
            logger.debug("a dialog of page %s: %s", self.handle, error)
        await self.wait_changed(lambda: self.dialog is not dialog)

    # Where it goes

    async def navigate(self, url: str) -> None:
        """Go to `url` and wait until its document is there; it may still be loading.

        Raises:
            NavigationFailed: the browser could not go there.
            PageGone: closed or crashed meanwhile.
        """
        await self._wait_movable()
        self.expect_move()
        moves, documents = self._frames.moves, self._frames.documents
        try:
            departure = await self._session.run(navigate(url))
        except CommandFailed as error:
            if "invalid URL" not in error.reason:
                raise
            advice = "Give a whole http or https address, such as http://localhost:3000/."
            raise NavigationFailed(url, "it is no address that the browser can read", advice) from error
        self._revive()
        if departure.error:
            # An error page comes; a download, or an answer without content, leaves everything as it is.
            await self.wait_changed(lambda: self._frames.documents > documents or self.stage is not Stage.LOADING)
            raise _why_not_opened(url, departure, ours=self._ours)
        if departure.stays:
            await self.wait_changed(lambda: self._frames.moves > moves)
        else:
            await self.wait_changed(lambda: self._frames.documents > documents and self.realm is not None)

    async def reload(self) -> None:
        """Load the document anew, and wait until the new one is there."""
        url = self.url
        was_left = await self._wait_movable()
        documents = self._frames.documents
        await self._move(navigate(url) if was_left else page.reload(), lambda: self._frames.documents > documents)

    async def go_history(self, steps: int) -> None:
        """Go back (-1) or forward (1), and wait until that document is there.

        Raises:
            NavigationFailed: there is no such entry.
        """
        index, entries = await self._session.run(navigation_history())
        there = index + steps
        if not 0 <= there < len(entries):
            raise NavigationFailed("the next page" if steps > 0 else "the page before", "there is none", "Give a url.")
        await self._wait_movable()
        moves = self._frames.moves
        await self._move(page.navigate_to_history_entry(entries[there]), lambda: self._frames.moves > moves)

    async def _move(self, command: Generator[Any, Any, Any], has_moved: Callable[[], bool]) -> None:
        self.expect_move()
        await self._session.run(command)
        self._revive()
        await self.wait_changed(lambda: has_moved() and self.realm is not None)

    def expect_move(self) -> None:
        """What the page shows from here until it has loaded comes of a navigation that we were asked for."""
        self._moved_by_us = True

    async def _wait_movable(self) -> bool:
        """Block until what happens on the way is seen. A page that sleeps wakes on the way, and is seen from there.

        True where it had to be left for an empty page.
        """
        with suppress(PageAsleep):
            await self.wait_awake()
            if self.document is not None and not self.document.is_stuck:
                return await self._free(self.document)
        return False

    async def _free(self, document: Document) -> bool:
        """End the scripts of a page that is to be left where they never pause: they would not let it go, and once it
        is on its way nothing reaches them.

        Chromium does not end one that asks without end. What comes next of the same site would have its process, and
        wait for it: so the page is left for an empty one, which has another, and True returned.
        """
        asks = self.dialog is not None
        if asks:
            document.is_forced = True
            self._dialog_session.send_nowait(page.handle_java_script_dialog(accept=False))
            self._session.send_nowait(runtime.terminate_execution())
        _, answered = document.begin_probe(evaluate_in(document.realm.unique_context_id, "0"))
        with trio.move_on_after(limits.PAGE_ANSWER_SECONDS):
            await answered.wait()
            return False
        document.is_forced = True
        self._session.send_nowait(runtime.terminate_execution())
        if asks:
            self.expect_move()
            await self._session.run(navigate("about:blank"))
            await self.wait_changed(lambda: self.document is not None and self.document is not document)
        return asks

    def _revive(self) -> None:
        """The way back of a page without a process has begun; Chromium tells us of it a moment later."""
        if self.stage in (Stage.CRASHED, Stage.ASLEEP):
            self._signal(Signal.STARTED_LOADING)


def _why_not_opened(url: str, departure: Departure, *, ours: bool) -> NavigationFailed:
    if departure.is_download:
        kept = "keeps it only where it has windows" if ours else "may have kept it in its folder for downloads"
        advice = f"The browser {kept}, and the page is as it was."
        return NavigationFailed(url, "it is a file to download, not a page", advice)
    if departure.error == "net::ERR_ABORTED":
        reason = "the server sent no page, or the page went elsewhere first (net::ERR_ABORTED)"
        return NavigationFailed(url, reason, "Look at what the page shows now.")
    return NavigationFailed(url, departure.error)
