"""From a page's `load` event to its tools in the registry, seen from inside a bridge that runs here.

The event's time is what Chromium says of it (`Page.lifecycleEvent`, `timestamp`), on the clock of the machine since
its start, which is also Python's `time.monotonic` on Linux. So the way of the event to us counts. The bridge asks a
document as soon as its scripts have run, and that may be before `load`: a delay below zero is none.
"""

import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import trio

from bridge.calls.bridge import open_bridge
from bridge.page.session import Page
from bridge.settings import LaunchOptions
from bridge.tools.registry import Registry
from bridge.tools.tool import PageTools
from bridge.wire.connection import Connection
from bridge.wire.router import RawEvent


class DelayBridge:
    """A bridge with one page, whose navigations are timed. Made by `open_delay_bridge`."""

    def __init__(self, page: Page, loads: list[float], registry: Registry) -> None:
        self._page = page
        self._loads = loads
        self._registry = registry
        self._published: list[tuple[float, int]] = []
        self._heard = trio.Event()
        self._publish = registry.publish
        registry.publish = self._note  # type: ignore[method-assign]

    def _note(self, tools: PageTools) -> bool:
        changed = self._publish(tools)
        self._published.append((time.monotonic(), len(list(tools))))
        self._heard.set()
        return changed

    async def measure(self, url: str, count: int) -> float:
        """Go to a page with `count` tools, and return its delay in milliseconds."""
        await self._page.navigate("about:blank")
        await self._page.wait_loaded()
        self._published.clear()
        self._loads.clear()
        await self._page.navigate(url)
        await self._page.wait_loaded()
        while not any(tools == count for _, tools in self._published):
            self._heard = trio.Event()
            await self._heard.wait()
        published = next(at for at, tools in self._published if tools == count)
        return (published - self._loads[0]) * 1000


@asynccontextmanager
async def open_delay_bridge(options: LaunchOptions) -> AsyncGenerator[DelayBridge]:
    with _load_times() as loads:
        async with open_bridge(options) as bridge:
            page = await (await bridge.wait_pages()).open("about:blank")
            yield DelayBridge(page, loads, bridge.registry)


@contextmanager
def _load_times() -> Generator[list[float]]:
    """Chromium's times of all `load` events."""
    loads: list[float] = []
    hand_out = Connection._hand_out

    def note(connection: Connection, raw: RawEvent) -> None:
        if raw.method == "Page.lifecycleEvent" and raw.params["name"] == "load":
            loads.append(float(raw.params["timestamp"]))
        hand_out(connection, raw)

    Connection._hand_out = note  # type: ignore[method-assign]
    try:
        yield loads
    finally:
        Connection._hand_out = hand_out  # type: ignore[method-assign]
