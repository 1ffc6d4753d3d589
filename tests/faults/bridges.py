"""A whole bridge, with any link to a browser."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

import bridge.calls.bridge
from bridge.browser.browser import Browser, _greet
from bridge.calls.bridge import Bridge, open_bridge
from bridge.settings import AttachOptions, FramePolicy, PageSettings
from bridge.wire.connection import open_connection
from bridge.wire.transports import Transport

OpenTransport = Callable[[], AbstractAsyncContextManager[Transport]]


@asynccontextmanager
async def open_bridge_over(open_transport: OpenTransport, *, frames: FramePolicy = "all") -> AsyncGenerator[Bridge]:
    """Open a bridge that is attached to a browser over such transports: another one each time it looks for it."""

    @asynccontextmanager
    async def open_browser(_: AttachOptions, *, prompt_seconds: float) -> AsyncGenerator[Browser]:
        assert prompt_seconds > 0
        async with open_transport() as transport, open_connection(transport) as connection:
            yield Browser(connection, await _greet(connection), ours=False)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bridge.calls.bridge, "open_browser", open_browser)
        async with open_bridge(AttachOptions(where="ws://fake.test/"), settings=PageSettings(frames=frames)) as made:
            yield made
