"""`pagebridge serve`: one agent over stdio, one browser, until either side ends it."""

import os
import signal
import sys
from collections.abc import Mapping

import trio

from bridge.calls.agent import Agent
from bridge.calls.bridge import open_bridge
from bridge.calls.log import CallLog
from bridge.calls.toolbox import open_toolbox
from bridge.serve.client import Client
from bridge.serve.greeting import Greeter
from bridge.serve.parent import wait_left
from bridge.serve.stdio import Stdio, open_stdio
from bridge.settings import AgentSettings, AttachOptions, Language, LaunchOptions, PageSettings
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
            open_toolbox(Agent(bridge, agent, log), titles_in(agent.language)) as toolbox,
            open_stdio(greeter.stdin, greeter.stdout, greeter.read) as stdio,
            open_background() as stopping,
        ):
            stopping.start_soon(_stop_when, over, stdio)
            asking = skills = None
            if toolbox.project is not None:
                from bridge.serve.elicitation import AskingTools

                asking = AskingTools(toolbox.asks, toolbox.run, toolbox.refresh)
                skills = toolbox.skills if agent.project is not None else None
            await Client(toolbox, bridge, stdio, greeter, asking=asking, skills=skills).serve()


def titles_in(wanted: Language | None) -> Mapping[str, str]:
    """The titles of our tools where they are not in English, which the tools have themselves."""
    from bridge.serve.titles import language, titles

    chosen = wanted or language(os.environ)
    return {} if chosen == "en" else titles(chosen)


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
