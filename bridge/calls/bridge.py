"""Everything that runs, put together: a browser, its pages, their tools."""

import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import count
from math import inf
from typing import Final
from weakref import WeakKeyDictionary

import trio

from bridge import limits
from bridge.browser.browser import Browser, open_browser
from bridge.calls.order import Order
from bridge.calls.results import Spill, open_spill
from bridge.errors import (
    BridgeError,
    BrowserGone,
    BrowserRefused,
    BrowserStarting,
    PageGone,
    PageUnresponsive,
    UsageError,
)
from bridge.page.pages import Pages, open_pages
from bridge.page.place import Place
from bridge.page.session import Page
from bridge.settings import AttachOptions, LaunchOptions, PageSettings
from bridge.tools.registry import Registry
from bridge.tools.sources.page import PageCall, PageSource
from bridge.wire.nursery import open_background

logger = logging.getLogger(__name__)


STARTING: Final = "It is starting still; `pagebridge doctor` says what is wrong if it stays so."
CONNECTING: Final = (
    "It has not let us in yet: if it asks whether to allow remote debugging, a person has to click Allow there. The "
    "one request for that is pending."
)


class Bridge:
    """One browser and the tools of its pages. Made by `open_bridge`; there before its browser is."""

    def __init__(self, spill: Spill, settings: PageSettings) -> None:
        self.settings = settings
        self.registry = Registry()
        self.source = PageSource(self.registry)
        self.spill = spill
        self.order = Order()
        self._held: WeakKeyDictionary[Page, deque[PageCall]] = WeakKeyDictionary()
        self._pages: Pages | None = None
        self._failure: BridgeError | None = None
        """Why there is no browser; None while one is up, or is being started or reached."""
        self._changed = trio.Event()
        self._asked_for = trio.Event()
        """Somebody has waited for a browser."""
        self._needed = trio.Event()
        self._is_ours = False
        self._restarts: list[float] = []
        self._told: set[str] = set()
        """Risks of a browser that a person was told of."""
        self._attempt_began = inf
        """When the one attempt began that is on its way; there is never a second one beside it."""

    async def wait_pages(self, seconds: float | None = None) -> Pages:
        """Wait until a browser is up, and return its pages. One of ours that has ended is started again for that.

        Args:
            seconds: how long to wait; as long as `limits` has it for a request if None.

        Raises:
            BrowserGone: it could not be started or reached, or it ended; each caller gets its own error.
            BrowserStarting: it takes longer.
            UsageError: the options can't be used.
        """
        if self._pages is not None:
            if not self._pages.are_lost:
                return self._pages
            await self._changed.wait()
        if self._failure is not None and self._is_ours:
            self._start_again()
        self._asked_for.set()
        if seconds is None:
            seconds = limits.BROWSER_WAIT_SECONDS if self._is_ours else limits.ATTACH_WAIT_SECONDS
        with trio.move_on_after(seconds):
            while self._why_none() is None:
                if self._pages is not None and not self._pages.are_lost:
                    return self._pages
                await self._changed.wait()
        match self._why_none():
            case None:
                raise BrowserStarting(seconds, STARTING if self._is_ours else CONNECTING)
            case UsageError() as error:
                raise UsageError(str(error)) from error
            case BrowserRefused() as error:
                self._needed.set()
                raise BrowserGone(f"{error} It is asked again now.") from error
            case error:
                again = "" if self._is_ours else " It is being looked for again."
                raise BrowserGone(f"{error}{again}") from error

    def _why_none(self) -> BridgeError | None:
        """Why there is no browser, or None where one is up or may be in a moment."""
        if trio.current_time() >= self._attempt_began + limits.CONNECTING_SECONDS:
            return None
        return self._failure

    def _start_again(self) -> None:
        """Have a browser of ours started again; not too often.

        Raises:
            BrowserGone: it was, of late.
        """
        now = trio.current_time()
        recent = [time for time in self._restarts if time > now - limits.RESTART_WINDOW_SECONDS]
        if len(recent) >= limits.RESTARTS:
            minutes = limits.RESTART_WINDOW_SECONDS / 60
            raise BrowserGone(
                f"{self._failure} It was started again {len(recent)} times within {minutes:g} minutes, and is left "
                "alone for now: see what ends it, and try again later."
            )
        self._restarts = [*recent, now]
        self._failure = None
        self._needed.set()

    def find_page(self, handle: str) -> Page | None:
        """The open page of that handle, or None."""
        return self._pages.get(handle) if self._pages is not None else None

    @property
    def pages_now(self) -> Pages:
        """The pages of the browser that is up. Raises BrowserGone."""
        if self._pages is None:
            raise BrowserGone(str(self._failure or "The browser has ended."))
        return self._pages

    @property
    def is_up(self) -> bool:
        """There is a browser that can be spoken with."""
        return self._pages is not None and not self._pages.are_lost

    async def wait_change(self) -> None:
        """Block until a browser comes or goes, or a page of it does."""
        async with open_background() as nursery:
            done = trio.Event()

            async def follow(wait: Callable[[], Awaitable[object]]) -> None:
                await wait()
                done.set()

            nursery.start_soon(follow, self._changed.wait)
            if self._pages is not None:
                nursery.start_soon(follow, self._pages.wait_change)
            await done.wait()

    def open_pages(self) -> Iterable[Page]:
        """The open pages; none where no browser is up."""
        return self._pages or ()

    async def keep_browser(
        self, options: LaunchOptions | AttachOptions, urls: tuple[str, ...], *, lazily: bool = False
    ) -> None:
        """Own the browser from its start to its end, and the next one after it.

        One that we launched is started again when somebody needs it; one that we attached to is looked for again.
        """
        self._is_ours = isinstance(options, LaunchOptions)
        if lazily:
            await self._asked_for.wait()
        numbers = count(1)
        pause_seconds = limits.RECONNECT_SECONDS
        while not isinstance(self._failure, UsageError):
            if await self._run_browser(options, urls, numbers):
                pause_seconds = limits.RECONNECT_SECONDS
            if not self._is_ours:
                await trio.sleep(pause_seconds)
                pause_seconds = min(2 * pause_seconds, limits.RECONNECT_SECONDS_MAX)
            if self._is_ours or isinstance(self._failure, BrowserRefused):
                await self._needed.wait()
                self._needed = trio.Event()

    async def _run_browser(
        self, options: LaunchOptions | AttachOptions, urls: tuple[str, ...], numbers: Iterator[int]
    ) -> bool:
        """Own one browser, until it ends; True where it was up."""
        was_up = False
        self._attempt_began = trio.current_time()
        try:
            async with (
                open_browser(options, prompt_seconds=limits.PROMPT_SECONDS) as browser,
                open_pages(browser, self.source, self.settings, numbers) as pages,
                open_background() as nursery,
            ):
                nursery.start_soon(self._warn_of, browser)
                await _open_at_start(pages, urls)
                was_up = True
                self._settle(pages, None)
                lost = await browser.connection.wait_lost()
                # Before anything is cleaned up: who needs a browser from here on asks for the next one.
                self._settle(None, lost)
                raise lost
        except BridgeError as error:
            if not was_up:
                self._settle(None, error)
        finally:
            self._pages = None
            self.source.clear()
        return was_up

    async def _warn_of(self, browser: Browser) -> None:
        """Say once what a person should know of a browser that we attached to."""
        with suppress(BrowserGone):  # others hear of that, too
            for risk in await browser.find_risks(limits.START_SECONDS):
                if risk not in self._told:
                    self._told.add(risk)
                    logger.warning("%s", risk)

    def _settle(self, pages: Pages | None, failure: BridgeError | None) -> None:
        if failure is not None and str(failure) != str(self._failure):
            logger.warning("%s", failure)
        self._pages, self._failure = pages, failure
        self._attempt_began = inf
        self._changed.set()
        self._changed = trio.Event()

    def hold(self, page: Page, running: PageCall) -> None:
        """Keep a call that a dialog holds, now that its agent was told so."""
        self._held.setdefault(page, deque(maxlen=limits.CALLS_PER_PAGE)).append(running)

    def take_held(self, page: Page) -> PageCall | None:
        """A call that a dialog holds, or else one that has ended since; whoever answers the dialog gets its outcome."""
        held = self._held.get(page)
        if not held:
            return None
        running = next((one for one in held if not one.run.is_ended), held[0])
        held.remove(running)
        return running

    async def take_leave(self) -> None:
        """Tell the pages that the bridge ends, as `Page.take_leave` does."""
        async with trio.open_nursery() as nursery:
            for page in self._pages or ():
                nursery.start_soon(page.take_leave)

    async def wait_settled(self) -> None:
        """Give pages that are between two documents `limits.NOTICE_PAGE_SECONDS` to say what the next one offers."""
        with trio.move_on_after(limits.NOTICE_PAGE_SECONDS):
            for page in self._pages or ():
                with suppress(BridgeError):
                    await page.wait_changed(partial(_was_asked, page))


def _was_asked(page: Page) -> bool:
    if page.document is None:
        return page.is_asleep
    return page.document.asked or page.why_no_tools is not None


async def wait_loaded(page: Page) -> None:
    """As `Page.wait_loaded`; whether it can be asked anything is for who asks to find out."""
    with suppress(PageGone, PageUnresponsive):
        await page.wait_loaded()


async def moved_since(page: Page, before: Place, *, has_left: bool) -> dict[str, str] | None:
    """Where a page has gone since then, as `Place.navigated_to` has it.

    Args:
        has_left: it is known to have left its document: what it left for is told a moment later.
    """
    if has_left:
        with trio.move_on_after(limits.LAST_WORD_SECONDS), suppress(BridgeError):
            await page.wait_changed(lambda: page.place.documents != before.documents)
    return before.navigated_to(page.place)


async def _open_at_start(pages: Pages, urls: tuple[str, ...]) -> None:
    """Open the pages that were asked for; one that can't be opened costs a line in the log and no more."""
    for url in urls:
        try:
            with trio.move_on_after(limits.NAVIGATION_SECONDS):
                await wait_loaded(await pages.open(url))
        except BrowserGone:
            raise
        except BridgeError as error:
            logger.warning("%s", error)


@asynccontextmanager
async def open_bridge(
    options: LaunchOptions | AttachOptions,
    *,
    urls: tuple[str, ...] = (),
    settings: PageSettings | None = None,
    lazily: bool = False,
) -> AsyncGenerator[Bridge]:
    """Start a browser, or attach to one, in the background; `Bridge.wait_pages` waits for it.

    Args:
        urls: pages to open at the start.
        lazily: only once somebody waits for it.
    """
    with open_spill() as spill:
        bridge = Bridge(spill, settings or PageSettings())
        async with open_background() as nursery:
            nursery.start_soon(partial(bridge.keep_browser, options, urls, lazily=lazily))
            try:
                yield bridge
            finally:
                with trio.CancelScope(shield=True):
                    await bridge.take_leave()
