"""Everything that runs, put together: a browser, its pages, their tools."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import partial
from weakref import WeakKeyDictionary

import trio

from bridge import limits
from bridge.browser.browser import AttachOptions, open_browser
from bridge.browser.process import LaunchOptions
from bridge.calls.order import Order
from bridge.calls.results import Spill, open_spill
from bridge.errors import BridgeError, BrowserGone, PageGone, PageUnresponsive, UsageError
from bridge.page.pages import Pages, open_pages
from bridge.page.session import Page
from bridge.settings import PageSettings
from bridge.tools.registry import Registry
from bridge.tools.sources.page import PageCall, PageSource
from bridge.wire.nursery import open_background

logger = logging.getLogger(__name__)


class Bridge:
    """One browser and the tools of its pages. Made by `open_bridge`; there before its browser is."""

    def __init__(self, spill: Spill, settings: PageSettings) -> None:
        self.settings = settings
        self.registry = Registry()
        self.source = PageSource(self.registry)
        self.spill = spill
        self.order = Order()
        self.held: WeakKeyDictionary[Page, PageCall] = WeakKeyDictionary()
        """Calls that a dialog held when their agent was told so; whoever answers the dialog gets their outcome."""
        self._ready = trio.Event()
        self._pages: Pages | None = None
        self._failure: BridgeError | None = None

    async def wait_pages(self) -> Pages:
        """Wait until the browser is up, and return its pages.

        Raises:
            BrowserGone: it could not be started or reached, or it ended; each caller gets its own error.
            UsageError: the options can't be used.
        """
        await self._ready.wait()
        if self._pages is None:
            assert self._failure is not None
            kind = UsageError if isinstance(self._failure, UsageError) else BrowserGone
            raise kind(str(self._failure)) from self._failure
        return self._pages

    def find_page(self, handle: str) -> Page | None:
        """The open page of that handle, or None."""
        return next((page for page in self._pages or () if page.handle == handle), None)

    async def keep_browser(self, options: LaunchOptions | AttachOptions, urls: tuple[str, ...]) -> None:
        """Own the browser from its start to its end."""
        try:
            async with open_browser(options) as browser, open_pages(browser, self.source, self.settings) as pages:
                await _open_at_start(pages, urls)
                self._pages = pages
                self._ready.set()
                raise await browser.connection.wait_lost()
        except BridgeError as error:
            logger.warning("%s", error)
            self._failure = error
        finally:
            self._pages = None
            self.registry.clear()
            self._ready.set()

    async def abort_runs(self) -> None:
        """Tell every tool that runs still that the bridge ends, and give them `limits.GRACE_SECONDS`."""
        async with trio.open_nursery() as nursery:
            for page in self._pages or ():
                nursery.start_soon(page.abort_runs)

    async def wait_settled(self) -> None:
        """Give pages that are between two documents `limits.NOTICE_PAGE_SECONDS` to say what the next one offers."""
        with trio.move_on_after(limits.NOTICE_PAGE_SECONDS):
            for page in self._pages or ():
                with suppress(PageGone):
                    await page.wait_changed(partial(_was_asked, page))


def _was_asked(page: Page) -> bool:
    if page.document is None:
        return page.is_asleep
    return page.document.asked or page.why_no_tools is not None


async def wait_loaded(page: Page) -> None:
    """Give a page `limits.LOAD_SECONDS` to finish loading; one that does not, or is gone, is as good as it is."""
    with trio.move_on_after(limits.LOAD_SECONDS), suppress(PageGone, PageUnresponsive):
        await page.wait_loaded()


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
    options: LaunchOptions | AttachOptions, *, urls: tuple[str, ...] = (), settings: PageSettings | None = None
) -> AsyncGenerator[Bridge]:
    """Start a browser, or attach to one, in the background; `Bridge.wait_pages` waits for it.

    Args:
        urls: pages to open at the start.
    """
    with open_spill() as spill:
        bridge = Bridge(spill, settings or PageSettings())
        async with open_background() as nursery:
            nursery.start_soon(bridge.keep_browser, options, urls)
            try:
                yield bridge
            finally:
                with trio.CancelScope(shield=True):
                    await bridge.abort_runs()
