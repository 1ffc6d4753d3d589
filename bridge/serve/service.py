"""`pagebridge serve`: one agent over stdio, one browser, until either side ends it."""

import signal

import trio

from bridge.calls.agent import Agent
from bridge.calls.bridge import open_bridge
from bridge.calls.log import CallLog
from bridge.serve.client import Client
from bridge.serve.greeting import Greeter
from bridge.serve.stdio import Stdio, open_stdio
from bridge.settings import AgentSettings, AttachOptions, LaunchOptions, PageSettings
from bridge.wire.nursery import open_background


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
    async with (
        open_bridge(options, urls=urls, settings=pages) as bridge,
        open_stdio(greeter.read) as stdio,
        open_background() as nursery,
    ):
        await nursery.start(_stop_on_signal, stdio)
        await Client(Agent(bridge, agent, log), bridge, stdio, greeter).serve()


async def _stop_on_signal(stdio: Stdio, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            stdio.stop()
