"""One attached page: what it is, which documents it shows, and where it goes."""

import logging
import secrets
from collections.abc import Callable, Generator
from functools import partial
from math import inf
from typing import Any, NewType, Protocol

import trio

from bridge import limits
from bridge.browser.targets import TargetView
from bridge.errors import BridgeError, CommandFailed, NavigationFailed, PageCrashed, PageGone, PageUnresponsive
from bridge.page.discovery import Discovery, is_wanted, why_undiscoverable
from bridge.page.document import Document, DocumentEnded
from bridge.page.frames import Change, FrameId, FrameTable, Realm, RealmBegan, RealmLeft
from bridge.page.lifecycle import NEXT, Signal, Stage
from bridge.page.shims import kit_script
from bridge.settings import PageSettings
from bridge.wire.commands import (
    Event,
    Lifecycle,
    inspector,
    navigation_history,
    page,
    runtime,
    set_auto_attach,
    target,
)
from bridge.wire.connection import Session
from bridge.wire.nursery import open_background
from bridge.wire.router import SessionId

logger = logging.getLogger(__name__)

PageHandle = NewType("PageHandle", str)
"""`p1`, `p2`, …: minted here, never used again in a process's life."""


class PageObserver(Protocol):
    """Who wants to know what a page offers. Called between two checkpoints; must neither block nor raise."""

    def discovered(self, page: "Page", document: Document, discovery: Discovery) -> None: ...

    def left(self, page: "Page", document: Document) -> None:
        """The document is not shown any more: nothing that it offered is there."""
        ...


class Page:
    """One tab. Its state changes in `_on_event`, synchronously and in the order of Chromium's events."""

    def __init__(
        self, handle: PageHandle, session: Session, view: TargetView, observer: PageObserver, settings: PageSettings
    ) -> None:
        self.handle = handle
        self.target_id = view.target_id
        self.title = view.title
        self.stage = Stage.ATTACHING
        self._session = session
        self._observer = observer
        self._settings = settings
        self._frames = FrameTable(session.session_id, FrameId(view.target_id), view.url)
        self._frame_handles: dict[FrameId, str] = {}
        self._documents: dict[FrameId, Document] = {}
        self._kit = f"k_{secrets.token_hex(16)}"
        self._changed = trio.Event()
        self._arrivals, self._arrived = trio.open_memory_channel[Document | Session](inf)
        self._listen(session)

    # What it is

    @property
    def url(self) -> str:
        return self._frames.url

    @property
    def realm(self) -> Realm | None:
        """The realm of the document that the page shows; None between two documents."""
        return self._frames.main_realm

    @property
    def document(self) -> Document | None:
        """The document that the page shows, without those of its iframes; None between two documents."""
        return self._documents.get(self._frames.main_frame)

    @property
    def step(self) -> object:
        """Equal for as long as the page makes no step of a navigation and is not closed."""
        return self._frames.moves, self.realm, self.stage

    @property
    def why_no_tools(self) -> str | None:
        """Why the present document is never asked for tools, or None where it is."""
        return None if self.realm is None else why_undiscoverable(self.realm, self._settings)

    def url_of(self, document: Document) -> str:
        return self._frames.url_of(document.realm.frame)

    def retitle(self, view: TargetView) -> None:
        """Take over what the browser says of the target."""
        self.title = view.title

    def why_gone(self) -> PageGone | None:
        """The error for a page that can't be asked anything now, or None."""
        match self.stage:
            case Stage.GONE:
                return PageGone(f"Page {self.handle} was closed. Use list_pages to see what is open.")
            case Stage.CRASHED:
                return PageCrashed(f"Page {self.handle} crashed ({self.url}). Reload it, or open a new one.")
            case _:
                return None

    # What happens to it

    def _listen(self, session: Session) -> None:
        session.connection.listen(session.session_id, partial(self._on_event, session))

    def _on_event(self, session: Session, event: Event) -> None:
        match event:
            case page.FrameStartedLoading() if event.frame_id == self._frames.main_frame:
                self._signal(Signal.STARTED_LOADING)
            case page.FrameStoppedLoading() if event.frame_id == self._frames.main_frame:
                self._signal(Signal.STOPPED_LOADING)
            case inspector.TargetCrashed() if session is self._session:
                self._signal(Signal.CRASHED)
            case Lifecycle(name="DOMContentLoaded" | "load") if event.frame_id in self._documents:
                self._documents[FrameId(event.frame_id)].wanted.set()
            case target.AttachedToTarget():
                child = Session(session.connection, SessionId(event.session_id))
                self._listen(child)
                self._arrivals.send_nowait(child)
            case target.DetachedFromTarget():
                ended = SessionId(event.session_id)
                self._take(self._frames.end_session(ended))
                session.connection.end_session(ended, lambda: CommandFailed("session", "its frame is gone"))
            case _:
                pass
        self._take(self._frames.apply(event, session.session_id))
        self._notify()

    def _take(self, changes: list[Change]) -> None:
        for change in changes:
            match change:
                case RealmBegan(realm):
                    self._begin(realm)
                case RealmLeft(realm):
                    self._leave(realm)

    def _begin(self, realm: Realm) -> None:
        is_main = realm.frame == self._frames.main_frame
        if not is_main and not is_wanted(realm, self.realm, self._settings):
            return
        frame = "" if is_main else self._handle_of(realm.frame)
        session = Session(self._session.connection, realm.session_id)
        document = Document(session, realm, page=self.handle, frame=frame, kit=self._kit)
        self._documents[realm.frame] = document
        if why_undiscoverable(realm, self._settings) is None:
            self._arrivals.send_nowait(document)

    def _leave(self, realm: Realm) -> None:
        document = self._documents.get(realm.frame)
        if document is not None and document.realm == realm:
            del self._documents[realm.frame]
            document.end(self.why_gone())
            self._observer.left(self, document)

    def _handle_of(self, frame: FrameId) -> str:
        return self._frame_handles.setdefault(frame, f"f{len(self._frame_handles) + 1}")

    def closed(self) -> None:
        """The target is gone."""
        self._signal(Signal.CLOSED)
        self._take(self._frames.clear())
        self._arrivals.close()
        self._notify()

    def _signal(self, signal: Signal) -> None:
        self.stage = NEXT[self.stage, signal]

    def _notify(self) -> None:
        """Wake whoever waits in `wait_changed`."""
        self._changed.set()
        self._changed = trio.Event()

    # What it does by itself

    async def live(self) -> None:
        """Own everything that goes on in the page, from its attaching to its end."""
        async with open_background() as nursery:
            await self._install(self._session)
            async for newcomer in self._arrived:
                if isinstance(newcomer, Document):
                    nursery.start_soon(self._look_after, newcomer)
                else:
                    nursery.start_soon(self._install_in_frame, newcomer)

    async def _install(self, session: Session) -> None:
        """Put the shim into a session's documents to come, and let a paused target go on."""
        for command in (
            page.enable(),
            runtime.enable(),
            inspector.enable(),
            page.add_script_to_evaluate_on_new_document(kit_script(self._kit, early=True)),
            page.set_lifecycle_events_enabled(True),
        ):
            await session.run(command)
        if self._settings.frames != "none":
            await session.run(set_auto_attach(wait_for_debugger_on_start=True, only_types=("iframe",)))
        if session is self._session:
            self._signal(Signal.SHIMS_INSTALLED)
        await session.run(runtime.run_if_waiting_for_debugger())
        self._notify()

    async def _install_in_frame(self, session: Session) -> None:
        try:
            await self._install(session)
        except BridgeError as error:
            logger.debug("a frame of page %s went away while it was attached: %s", self.handle, error)

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
        except (DocumentEnded, BridgeError) as error:
            logger.debug("page %s, a document is over: %r", self.handle, error)

    async def _heed_news(self, document: Document) -> None:
        """Take over answers that come late, and ask again when a listener was added."""
        while True:
            news = await document.wait_news()
            if news == "listener":
                document.wanted.set()
            elif (discovery := await document.report()) is not None:
                self._tell(document, discovery)
            await trio.sleep(limits.NEWS_SECONDS)

    async def _ask_quietly(self, document: Document, grace_seconds: float) -> None:
        try:
            await self._ask(document, grace_seconds)
        except (CommandFailed, PageGone, PageUnresponsive) as error:
            logger.debug("discovery in page %s: %s", self.handle, error)
        finally:
            self._notify()

    async def _ask(self, document: Document, grace_seconds: float) -> None:
        self._tell(document, await document.discover(grace_seconds))

    def _tell(self, document: Document, discovery: Discovery) -> None:
        if self._documents.get(document.realm.frame) is document:
            self._observer.discovered(self, document, discovery)

    # What others ask of it

    async def wait_changed(self, is_so: Callable[[], bool]) -> None:
        """Block until `is_so()`; looked at after each event.

        Raises:
            PageGone: closed or crashed meanwhile.
        """
        while not is_so():
            gone = self.why_gone()
            if gone is not None:
                raise gone
            await self._changed.wait()

    async def wait_attached(self) -> None:
        """Block until the shim is installed: what is sent earlier could be lost from sight."""
        await self.wait_changed(lambda: self.stage is not Stage.ATTACHING)

    async def wait_asked(self) -> None:
        """Block until a page that has loaded was asked for its tools, whether it answered or not."""
        await self.wait_changed(
            lambda: (
                self.stage is not Stage.LIVE
                or self.document is None
                or self.document.asked
                or self.why_no_tools is not None
            )
        )

    async def wait_loaded(self) -> None:
        """Block until the page shows a document and does not load any more."""
        await self.wait_changed(lambda: self.stage is Stage.LIVE and self.realm is not None)

    async def wait_step(self, step: object) -> None:
        """Block until the page is not at this `step` any more; the last one is that it is closed."""
        while self.step == step:
            await self._changed.wait()

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
        while True:
            await self.wait_changed(lambda: self.document is not None)
            main = self.document
            assert main is not None
            frames = [document for document in self._documents.values() if document is not main]
            try:
                await self._ask(main, grace_seconds)
            except DocumentEnded:
                continue
            if frames:
                await self._ask_frames(frames, grace_seconds)
            return

    async def _ask_frames(self, frames: list[Document], grace_seconds: float) -> None:
        async def ask(document: Document) -> None:
            try:
                await self._ask_quietly(document, grace_seconds)
            except DocumentEnded:
                logger.debug("a frame of page %s went away while it was asked", self.handle)

        async with trio.open_nursery() as nursery:
            for document in frames:
                nursery.start_soon(ask, document)

    # Where it goes

    async def navigate(self, url: str) -> None:
        """Go to `url` and wait until its document is there; it may still be loading.

        Raises:
            NavigationFailed: the browser could not go there.
            PageGone: closed or crashed meanwhile.
        """
        await self.wait_attached()
        _, _, error_text = await self._session.run(page.navigate(url))
        if error_text:
            raise NavigationFailed(url, error_text)
        await self.wait_changed(lambda: self.realm is not None)

    async def reload(self) -> None:
        """Load the document anew, and wait until the new one is there."""
        await self._move(page.reload())

    async def go_history(self, steps: int) -> None:
        """Go back (-1) or forward (1), and wait until that document is there.

        Raises:
            NavigationFailed: there is no such entry.
        """
        index, entries = await self._session.run(navigation_history())
        there = index + steps
        if not 0 <= there < len(entries):
            raise NavigationFailed("the next page" if steps > 0 else "the page before", "there is none")
        await self._move(page.navigate_to_history_entry(entries[there]))

    async def _move(self, command: Generator[Any, Any, Any]) -> None:
        await self.wait_attached()
        moves = self._frames.moves
        await self._session.run(command)
        if self.stage is Stage.CRASHED:
            # Its way back has begun; Chromium tells us of it a moment later.
            self._signal(Signal.STARTED_LOADING)
        await self.wait_changed(lambda: self._frames.moves > moves and self.realm is not None)
