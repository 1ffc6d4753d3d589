"""`pagebridge serve`: one agent over stdio, one browser, until either side ends it."""

import signal
import sys

import trio

from bridge.calls.agent import Agent
from bridge.calls.bridge import open_bridge
from bridge.calls.log import CallLog
from bridge.serve.client import Client
from bridge.serve.greeting import Greeter
from bridge.serve.parent import wait_left
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
    """Serve until stdin ends, until a signal to end comes, or until those who started us have ended.

    The browser starts beside; nothing in the protocol's handshake waits for it.

    Args:
        urls: pages to open at the start.
        greeter: may have had a look at stdin already.
    """
    over = trio.Event()
    async with open_background() as nursery:
        await nursery.start(_tell_signal, over)
        nursery.start_soon(_tell_left, greeter.stdin, over)
        async with (
            open_bridge(options, urls=urls, settings=pages) as bridge,
            open_stdio(greeter.stdin, greeter.stdout, greeter.read) as stdio,
            open_background() as stopping,
        ):
            stopping.start_soon(_stop_when, over, stdio)
            await Client(Agent(bridge, agent, log), bridge, stdio, greeter).serve()


async def _tell_signal(over: trio.Event, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
    with trio.open_signal_receiver(*_ending_signals()) as signals:
        task_status.started()
        async for _ in signals:
            over.set()


def _ending_signals() -> list[signal.Signals]:
    ending = [signal.SIGTERM, signal.SIGINT]
    # `nohup` has it ignored.
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        ending.append(signal.SIGHUP)
    return ending


async def _tell_left(stdin: int, over: trio.Event) -> None:
    await wait_left(stdin)
    over.set()


async def _stop_when(over: trio.Event, stdio: Stdio) -> None:
    await over.wait()
    stdio.stop()
