"""One attached page: what it is, what it offers, and how to run that."""

import logging
import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NewType, Protocol

import trio

from bridge import limits
from bridge.browser.targets import TargetView
from bridge.errors import (
    CommandFailed,
    NavigatedDuringCall,
    NavigationFailed,
    PageCrashed,
    PageGone,
    PageUnresponsive,
)
from bridge.page.discovery import Discovery, ask_for_tools, why_undiscoverable
from bridge.page.frames import FrameId, FrameTable, Realm
from bridge.page.invocation import Ending, run_tool
from bridge.page.kit import KitId, fetch_kit, is_answer_lost, is_realm_gone
from bridge.page.lifecycle import NEXT, Signal, Stage
from bridge.page.shims import kit_script
from bridge.wire.commands import Event, inspector, navigation_history, page, runtime
from bridge.wire.connection import Session

logger = logging.getLogger(__name__)

PageHandle = NewType("PageHandle", str)
"""`p1`, `p2`, …: minted here, never used again in a process's life."""


class RealmEnded(Exception):
    """The realm ended before anything ran in it. The caller looks at the next one."""


class PageObserver(Protocol):
    """Who wants to know what a page offers. Called between two checkpoints; must neither block nor raise."""

    def discovered(self, page: "Page", discovery: Discovery) -> None: ...

    def left(self, page: "Page") -> None:
        """The page's document ended: nothing that it offered is there any more."""
        ...


class Page:
    """One tab. Its state changes in `_on_event`, synchronously and in the order of Chromium's events."""

    def __init__(self, handle: PageHandle, session: Session, view: TargetView, observer: PageObserver) -> None:
        self.handle = handle
        self.target_id = view.target_id
        self.title = view.title
        self.stage = Stage.ATTACHING
        self._session = session
        self._observer = observer
        self._frames = FrameTable(FrameId(view.target_id), view.url)
        self._secret = secrets.token_hex(16)
        self._kit: tuple[Realm, KitId] | None = None
        self._asking = trio.Lock()
        self._changed = trio.Event()
        self._wanted = trio.Event()
        self._asked: Realm | None = None
        """The document that was asked for its tools at its load, or later."""
        self._in_realm: dict[trio.CancelScope, Realm] = {}
        session.connection.listen(session.session_id, self._on_event)

    # What it is

    @property
    def url(self) -> str:
        return self._frames.url

    @property
    def step(self) -> object:
        """Equal for as long as the page makes no step of a navigation and is not closed."""
        return self._frames.moves, self.realm, self.stage

    @property
    def realm(self) -> Realm | None:
        """The realm of the document that the page shows; None between two documents."""
        return self._frames.main_realm

    def retitle(self, view: TargetView) -> None:
        """Take over what the browser says of the target."""
        self.title = view.title

    def _on_event(self, event: Event) -> None:
        moved = self._frames.apply(event)
        match event:
            case page.FrameStartedLoading() if event.frame_id == self._frames.main_frame:
                self._signal(Signal.STARTED_LOADING)
            case page.FrameStoppedLoading() if event.frame_id == self._frames.main_frame:
                self._signal(Signal.STOPPED_LOADING)
            case page.DomContentEventFired() | page.LoadEventFired():
                self._wanted.set()
            case inspector.TargetCrashed():
                self._signal(Signal.CRASHED)
            case _:
                pass
        if moved:
            self._leave()
        self._notify()

    def closed(self) -> None:
        """The target is gone."""
        self._signal(Signal.CLOSED)
        self._frames.clear()
        self._leave()
        self._notify()

    def _signal(self, signal: Signal) -> None:
        self.stage = NEXT[self.stage, signal]

    def _notify(self) -> None:
        """Wake whoever waits in `wait_changed`."""
        self._changed.set()
        self._changed = trio.Event()

    def _leave(self) -> None:
        """The document that was shown is not shown any more: what belongs to it ends with it."""
        for scope, realm in list(self._in_realm.items()):
            if realm != self.realm:
                scope.cancel()
        self._observer.left(self)

    def why_gone(self) -> PageGone | None:
        """The error for a page that can't be asked anything now, or None."""
        match self.stage:
            case Stage.GONE:
                return PageGone(f"Page {self.handle} was closed. Use list_pages to see what is open.")
            case Stage.CRASHED:
                return PageCrashed(f"Page {self.handle} crashed ({self.url}). Reload it, or open a new one.")
            case _:
                return None

    # What it does by itself

    async def attach(self) -> None:
        """Install the shim, let a paused target go on, and be ready."""
        for command in (
            page.enable(),
            runtime.enable(),
            inspector.enable(),
            page.add_script_to_evaluate_on_new_document(kit_script(self._secret)),
        ):
            await self._session.run(command)
        self._signal(Signal.SHIMS_INSTALLED)
        await self._session.run(runtime.run_if_waiting_for_debugger())
        self._notify()
        self._wanted.set()

    async def keep_discovered(self) -> None:
        """Ask again at DOMContentLoaded and at load, for as long as the page lives."""
        while True:
            await self._wanted.wait()
            self._wanted = trio.Event()
            realm = self.realm
            if realm is None or why_undiscoverable(realm) is not None or self.why_gone() is not None:
                continue
            try:
                await self.discover()
            except (CommandFailed, PageGone, PageUnresponsive) as error:
                logger.debug("discovery in page %s: %s", self.handle, error)
            self._asked = realm
            self._notify()

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
                self.realm is None
                or self.realm == self._asked
                or self.stage is not Stage.LIVE
                or why_undiscoverable(self.realm) is not None
            )
        )

    async def wait_loaded(self) -> None:
        """Block until the page shows a document and does not load any more."""
        await self.wait_changed(lambda: self.stage is Stage.LIVE and self.realm is not None)

    async def discover(self) -> None:
        """Dispatch the event in the present document; its answer goes to the observer.

        A document that ends meanwhile is no failure: the next one is asked.

        Raises:
            PageGone: closed or crashed.
            PageUnresponsive: its main thread did not answer in time.
            CommandFailed: Chromium refused; `why_undiscoverable` tells which pages are not to be asked.
        """
        async with self._asking:
            while True:
                await self.wait_changed(lambda: self.realm is not None)
                realm = self.realm
                assert realm is not None
                try:
                    with trio.fail_after(limits.PAGE_ANSWER_SECONDS), self._within(realm):
                        kit = await self._find_kit(realm)
                        discovery = await ask_for_tools(self._session, realm, kit)
                except RealmEnded:
                    continue
                except CommandFailed as error:
                    if not (is_realm_gone(error) or is_answer_lost(error)):
                        raise
                    await self._wait_left(realm)
                    continue
                except trio.TooSlowError as error:
                    raise PageUnresponsive(self.handle, limits.PAGE_ANSWER_SECONDS) from error
                if self.realm == realm:
                    self._observer.discovered(self, discovery)
                    return

    async def _find_kit(self, realm: Realm) -> KitId:
        if self._kit is None or self._kit[0] != realm:
            self._kit = realm, await fetch_kit(self._session, realm, self._secret)
        return self._kit[1]

    async def run_tool(self, discovery: Discovery, group: int, tool: int, arguments_text: str) -> Ending:
        """Run one tool of `discovery`, in the realm of that discovery or not at all.

        Raises:
            RealmEnded: that document is not shown any more; nothing ran.
            NavigatedDuringCall: it ended while the tool ran.
            PageGone: the page was closed or crashed.
        """
        if self.realm != discovery.realm:
            raise RealmEnded
        try:
            with self._within(discovery.realm):
                return await run_tool(self._session, discovery, group, tool, arguments_text)
        except RealmEnded as ended:
            raise self._answer_lost() from ended
        except CommandFailed as error:
            if is_realm_gone(error):
                raise RealmEnded from error
            if is_answer_lost(error):
                raise self._answer_lost() from error
            raise

    def _answer_lost(self) -> NavigatedDuringCall:
        return NavigatedDuringCall(
            f"Page {self.handle} navigated while the tool ran, so its answer is lost. "
            "It may have done its work: look at the page before you call again."
        )

    async def _wait_left(self, realm: Realm) -> None:
        """Chromium may refuse a command some events before it tells of the realm's end."""
        with trio.move_on_after(limits.PAGE_ANSWER_SECONDS):
            await self.wait_changed(lambda: self.realm != realm)

    @contextmanager
    def _within(self, realm: Realm) -> Generator[None]:
        """Leave the block at once when `realm` ends: replies of a closed or crashed target never come.

        Raises:
            RealmEnded: the page shows another document, or none.
            PageGone: the page was closed or crashed.
        """
        if self.realm != realm:
            raise RealmEnded
        scope = trio.CancelScope()
        self._in_realm[scope] = realm
        try:
            with scope:
                yield
        finally:
            del self._in_realm[scope]
        if scope.cancelled_caught:
            raise self.why_gone() or RealmEnded()

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

    async def wait_step(self, step: object) -> None:
        """Block until the page is not at this `step` any more; the last one is that it is closed."""
        while self.step == step:
            await self._changed.wait()
