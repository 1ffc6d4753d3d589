"""`pagebridge serve`: one agent over stdio, one browser, until either side ends it."""

import signal
from importlib import import_module
from typing import TYPE_CHECKING

import trio

from bridge.calls.agent import Agent
from bridge.calls.bridge import open_bridge
from bridge.calls.log import CallLog
from bridge.serve.greeting import Greeter
from bridge.settings import AgentSettings, AttachOptions, LaunchOptions, PageSettings
from bridge.wire.nursery import open_background

if TYPE_CHECKING:
    from bridge.serve.stdio import Stdio


async def serve_stdio(
    options: LaunchOptions | AttachOptions,
    pages: PageSettings,
    agent: AgentSettings,
    urls: tuple[str, ...],
    log: CallLog | None,
    greeter: Greeter,
) -> None:
    """Serve until stdin ends, or SIGTERM or SIGINT comes.

    The browser starts beside; nothing in the protocol's handshake waits for it.

    Args:
        urls: pages to open at the start.
        greeter: may have had a look at stdin already.
    """
    async with open_bridge(options, urls=urls, settings=pages) as bridge:
        await _load(greeter)

        from bridge.serve.mcp import serve_agent
        from bridge.serve.stdio import open_stdio

        async with open_stdio(greeter) as stdio, open_background() as nursery:
            await nursery.start(_stop_on_signal, stdio)
            await serve_agent(Agent(bridge, agent, log), greeter.version, stdio.incoming, stdio.outgoing)


async def _load(greeter: Greeter) -> None:
    """Load the SDK in a thread: that takes as long as a browser takes to start, and neither waits for the other."""
    async with open_background() as nursery:
        nursery.start_soon(greeter.keep_looking)
        await trio.to_thread.run_sync(import_module, "bridge.serve.mcp", abandon_on_cancel=True)


async def _stop_on_signal(stdio: "Stdio", task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            stdio.stop()
