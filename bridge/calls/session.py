"""What a session tells the modules of its project: pages that come, move and go, and a browser that ends or is back."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import trio

from bridge.calls.bridge import Bridge
from bridge.page.place import Place
from bridge.page.state import PageHandle
from bridge.tools.tool import PageTools
from bridge.wire.nursery import open_background

Event = dict[str, Any]


@dataclass(frozen=True)
class View:
    """What of a session can change.

    Attributes:
        places: where each page is, by its handle.
        tools: what each page offers, by its handle.
    """

    is_up: bool = False
    places: Mapping[PageHandle, Place] = field(default_factory=dict[PageHandle, Place])
    tools: Mapping[str, PageTools] = field(default_factory=dict[str, PageTools])


def look(bridge: Bridge) -> View:
    places = {page.handle: page.place for page in bridge.open_pages()}
    return View(bridge.is_up, places, dict(bridge.registry.snapshot))


def events_between(before: View, now: View, *, was_up: bool) -> list[Event]:
    """What has happened, in an order in which it can have happened.

    Args:
        was_up: there was a browser at some time before.
    """
    events: list[Event] = []
    if before.is_up and not now.is_up:
        events.append({"reason": "browser_disconnected"})
    if now.is_up and not before.is_up and was_up:
        events.append({"reason": "browser_reconnected"})
    for handle, place in before.places.items():
        if handle not in now.places:
            events.append({"reason": "page_detached", "page": handle, "url": place.url})
    for handle, place in now.places.items():
        if (old := before.places.get(handle)) is None:
            events.append({"reason": "page_attached", "page": handle, "url": place.url})
        elif (moved := old.navigated_to(place)) is not None:
            events.append({"reason": "page_navigated", "page": handle, **moved})
    for handle, tools in now.tools.items():
        known = before.tools.get(handle)
        if known is None or not tools.says_the_same_as(known):
            events.append({"reason": "tools_changed", "page": handle})
    return events


async def watch_session(bridge: Bridge, tell: Callable[[Event], Awaitable[None]]) -> None:
    """Tell every event of a session, for ever, one after the other. Changes that come together are told as what came
    of them."""
    wake, woken = trio.open_memory_channel[None](1)

    async def follow(wait: Callable[[], Awaitable[object]]) -> None:
        while True:
            await wait()
            with suppress(trio.WouldBlock):  # it is awake already
                wake.send_nowait(None)

    version = bridge.registry.version

    async def wait_tools() -> None:
        nonlocal version
        version = await bridge.registry.wait_change(version)

    async with open_background() as nursery:
        for wait in (bridge.wait_change, wait_tools):
            nursery.start_soon(follow, wait)
        seen = View()
        was_up = False
        while True:
            now = look(bridge)
            events = events_between(seen, now, was_up=was_up)
            seen, was_up = now, was_up or now.is_up
            for event in events:
                await tell(event)
            await woken.receive()
