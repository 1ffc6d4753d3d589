"""`pagebridge serve`: one agent over stdio, one browser, until either side ends it."""

import signal
from importlib.metadata import version

import trio

from bridge.browser.browser import AttachOptions
from bridge.browser.process import LaunchOptions
from bridge.calls.agent import Agent
from bridge.calls.bridge import open_bridge
from bridge.calls.log import CallLog
from bridge.serve.mcp import serve_agent
from bridge.serve.stdio import Stdio, open_stdio
from bridge.settings import AgentSettings, PageSettings
from bridge.wire.nursery import open_background


async def serve_stdio(
    options: LaunchOptions | AttachOptions,
    pages: PageSettings,
    agent: AgentSettings,
    urls: tuple[str, ...] = (),
    log: CallLog | None = None,
) -> None:
    """Serve until stdin ends, or SIGTERM or SIGINT comes.

    The browser starts beside; nothing in the protocol's handshake waits for it.

    Args:
        urls: pages to open at the start.
    """
    async with (
        open_bridge(options, urls=urls, settings=pages) as bridge,
        open_stdio() as stdio,
        open_background() as nursery,
    ):
        await nursery.start(_stop_on_signal, stdio)
        await serve_agent(Agent(bridge, agent, log), version("pagebridge"), stdio.incoming, stdio.outgoing)


async def _stop_on_signal(stdio: Stdio, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            stdio.stop()
