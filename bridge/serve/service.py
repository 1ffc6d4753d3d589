"""`pagebridge serve`: one agent over stdio, one browser, until either side ends it."""

import signal
from importlib.metadata import version

import trio

from bridge.browser.browser import AttachOptions
from bridge.browser.process import LaunchOptions
from bridge.calls.agent import Agent
from bridge.calls.bridge import open_bridge
from bridge.serve.mcp import make_server
from bridge.serve.stdio import Stdio, open_stdio
from bridge.wire.nursery import open_background


async def serve_stdio(options: LaunchOptions | AttachOptions, urls: tuple[str, ...] = ()) -> None:
    """Serve until stdin ends, or SIGTERM or SIGINT comes.

    The browser starts beside; nothing in the protocol's handshake waits for it.

    Args:
        urls: pages to open at the start.
    """
    async with open_bridge(options, urls=urls) as bridge, open_stdio() as stdio:
        server = make_server(Agent(bridge), version("pagebridge"))
        async with open_background() as nursery:
            await nursery.start(_stop_on_signal, stdio)
            await server.run(stdio.incoming, stdio.outgoing, server.create_initialization_options())


async def _stop_on_signal(stdio: Stdio, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            stdio.stop()
