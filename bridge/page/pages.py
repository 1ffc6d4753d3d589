"""Every page of one browser, by handle."""

import logging
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import count

import trio

from bridge import limits
from bridge.browser.browser import Browser
from bridge.browser.targets import Attached, Change, Changed, Detached, TargetView, Unwanted, Wanted
from bridge.errors import BridgeError, CommandFailed, PageGone, PageNotFound
from bridge.page.lifecycle import Stage
from bridge.page.session import Page
from bridge.page.state import PageHandle, PageObserver
from bridge.settings import PageSettings
from bridge.wire.connection import Session
from bridge.wire.nursery import open_background

logger = logging.getLogger(__name__)


class Pages:
    """The open pages, in the order in which we met them. Made by `open_pages`."""

    def __init__(
        self,
        browser: Browser,
        nursery: trio.Nursery,
        observer: PageObserver,
        settings: PageSettings,
        numbers: Iterator[int],
    ) -> None:
        self._browser = browser
        self._nursery = nursery
        self._observer = observer
        self._settings = settings
        self._by_handle: dict[PageHandle, Page] = {}
        self._numbers = numbers
        self._changed = trio.Event()
        self._queue: deque[Page] = deque()
        """Those that were there before us, and wait for their turn to be set up."""
        self._places = 0
        """How many more may begin now. None do before all are known that were there: some go first."""
        self._place_left = trio.Event()
        self.unused: Page | None = None
        """The empty page that a launched browser starts with, until somebody goes somewhere with it."""

    def __iter__(self) -> Iterator[Page]:
        return iter(list(self._by_handle.values()))

    @property
    def are_lost(self) -> bool:
        """Their browser is gone, or the link to it is."""
        return self._browser.connection.is_lost

    def get(self, handle: str) -> Page | None:
        """The page of that handle, or None where there is none now."""
        return self._by_handle.get(PageHandle(handle))

    def find(self, handle: str) -> Page:
        """Raises PageNotFound."""
        page = self.get(handle)
        if page is None:
            raise PageNotFound(handle, list(self._by_handle))
        return page

    async def wait_change(self) -> None:
        """Block until a page comes or goes."""
        await self._changed.wait()

    def _tell_change(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    async def refresh(self) -> None:
        """Bring the titles of all pages up to date, as far as the browser tells them."""
        try:
            await self._browser.refresh()
        except CommandFailed as error:
            logger.debug("titles may be old: %s", error)

    async def wait_set_up(self) -> None:
        """Block until every page had its turn: it is set up and was asked for its tools, or does not answer.

        Raises:
            ConnectionLost: the link ended meanwhile.
        """
        while self._queue or self._places < limits.SET_UPS:
            if (lost := self._browser.connection.lost) is not None:
                raise lost
            await self._place_left.wait()

    async def open(self, url: str) -> Page:
        """Open a page and go to `url`; the browser's own empty page is used first.

        Where that fails, or the caller leaves early, the page is closed again.

        Raises:
            NavigationFailed: the browser could not go there.
        """
        page, self.unused = self.unused, None
        if page is None or page.why_gone() is not None or page.url != "about:blank":
            page = await self._open_empty()
        try:
            await page.navigate(url)
        except BaseException:
            with trio.move_on_after(limits.CLOSE_SECONDS, shield=True), suppress(BridgeError):
                await self.close(page)
            raise
        return page

    async def close(self, page: Page) -> None:
        """Close a tab, and wait until it is gone.

        Chromium forgets the request while a navigation commits, so it is made anew at each step of one.
        """
        page.expect_move()
        while page.stage is not Stage.GONE:
            step = page.step
            try:
                await self._browser.close_target(page.target_id)
            except CommandFailed as error:
                logger.debug("page %s is closing already: %s", page.handle, error)
            await page.wait_step(step)

    async def _open_empty(self) -> Page:
        target_id = await self._browser.create_target()
        try:
            while True:
                for page in self:
                    if page.target_id == target_id:
                        return page
                await self._changed.wait()
        except trio.Cancelled:
            self._browser.drop_target(target_id)
            raise

    def on_change(self, change: Change) -> None:
        """Take in what the browser says of its targets."""
        match change:
            case Attached(view):
                self._attach(view)
            case Changed(view):
                for page in self:
                    if page.target_id == view.target_id:
                        page.refresh(view)
            case Detached(view):
                self._detach(view)
            case Unwanted(view):
                self._detach(view)
                self._browser.leave_alone(view)
            case Wanted(target_id):
                self._browser.attach_nowait(target_id)

    def _attach(self, view: TargetView) -> None:
        handle = PageHandle(f"p{next(self._numbers)}")
        session = Session(self._browser.connection, view.session_id)
        page = Page(handle, session, view, self._observer, self._settings, ours=self._browser.ours)
        self._by_handle[handle] = page
        self._tell_change()
        self._nursery.start_soon(self._look_after, page)
        if view.waiting:
            # It is held before its first script, and somebody may be looking at it.
            page.begin()
            return
        if view.url.partition(":")[0] in self._settings.schemes:
            self._queue.appendleft(page)
        else:
            # It is not asked for tools: those that are go first.
            self._queue.append(page)
        self._give_places()

    def begin(self) -> None:
        """Those that were there are known. For `open_pages`, once."""
        self._places = limits.SET_UPS
        self._give_places()

    def _give_places(self) -> None:
        while self._queue and self._places:
            page = self._queue.popleft()
            page.begin()
            self._places -= 1
            self._nursery.start_soon(self._take_place, page)

    async def _take_place(self, page: Page) -> None:
        """Let the next page begin once this one was asked for its tools, or does not answer in time."""
        with trio.move_on_after(limits.SET_UP_SECONDS), suppress(BridgeError):
            await page.wait_attached()
            await page.wait_asked()
        self._places += 1
        self._give_places()
        self.wake()

    def wake(self) -> None:
        """Have those who wait in `wait_set_up` look again."""
        self._place_left.set()
        self._place_left = trio.Event()

    def _detach(self, view: TargetView) -> None:
        for page in self:
            if page.target_id == view.target_id:
                del self._by_handle[page.handle]
                self._tell_change()
                page.closed()
                self._browser.connection.end_session(
                    view.session_id, lambda: PageGone("The page was closed. Use list_pages to see what is open.")
                )

    async def _look_after(self, page: Page) -> None:
        """Own one page from its attaching to its end."""
        try:
            await page.live()
        except BridgeError as error:
            # Most likely it went away again; `_detach` or the lost link says so to whoever asks.
            logger.debug("page %s was not attached: %s", page.handle, error)
            page.give_up(error)


@asynccontextmanager
async def open_pages(
    browser: Browser, observer: PageObserver, settings: PageSettings, numbers: Iterator[int] | None = None
) -> AsyncGenerator[Pages]:
    """Attach to the pages of `browser`, those there are and those to come.

    Args:
        numbers: of their handles; from 1 where there was no browser before this one.
    """
    async with open_background() as nursery:
        if settings.inspected:
            from bridge.page.watch import readers_of

            browser.connection.hearing.add(readers_of(settings.inspected))
        pages = Pages(browser, nursery, observer, settings, count(1) if numbers is None else numbers)
        await browser.attach_to_pages(pages.on_change)
        pages.begin()
        if browser.ours:
            pages.unused = next(iter(pages), None)
        try:
            yield pages
        finally:
            if browser.connection.lost is not None:
                for page in pages:
                    page.link_lost()
                pages.wake()
