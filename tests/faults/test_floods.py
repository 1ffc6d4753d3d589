"""A page that makes the browser talk without end takes turns of the reader, and none from calls of other pages."""

from collections import Counter
from contextlib import nullcontext
from typing import Final

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from bridge.calls.agent import Agent
from bridge.wire.connection import Connection
from bridge.wire.router import Json
from tests.faults.bridges import open_bridge_over
from tests.faults.fake_chromium import FakeChromium, Frame
from tests.faults.fake_links import DirectTransport
from tests.faults.session import codes

FLOOD: Final = 1000
"""Events between a call's command and its answer."""


class Flooding(FakeChromium):
    """Its first page is at it whenever a tool of the second one runs."""

    flood = ""

    def _call(self, frame: Frame, command_id: int, tool: str) -> Json | None:
        if self.flood and frame is self.frames["T2"]:
            for number in range(FLOOD):
                getattr(self, f"_tell_of_{self.flood}")(number)
        return super()._call(frame, command_id, tool)

    def _tell_of_console_lines(self, number: int) -> None:
        line = {
            "type": "log",
            "args": [{"type": "string", "value": f"line {number}"}],
            "executionContextId": 1,
            "timestamp": 1,
        }
        self._event("Runtime.consoleAPICalled", line, self.frames["T1"])

    def _tell_of_calls_of_a_global(self, number: int) -> None:
        self._event(
            "Runtime.bindingCalled",
            {"name": "global", "payload": f"{number}", "executionContextId": 1},
            self.frames["T1"],
        )

    def _tell_of_addresses(self, number: int) -> None:
        moved = {"frameId": "T1", "url": f"{self.frames['T1'].url}#{number}", "navigationType": "fragment"}
        self._event("Page.navigatedWithinDocument", moved, self.frames["T1"])

    def _tell_of_titles(self, number: int) -> None:
        page = self.frames["T1"]
        info = {"targetId": "T1", "type": "page", "title": f"title {number}", "url": page.url, "attached": True}
        self._event("Target.targetInfoChanged", {"targetInfo": info | {"canAccessOpener": False}})

    def _tell_of_frames(self, number: int) -> None:
        page, name = self.frames["T1"], f"N{number}"
        aux = {"isDefault": True, "type": "default", "frameId": name}
        context = {"id": number + 9, "uniqueId": name, "origin": "https://shop.test", "name": "", "auxData": aux}
        gone = {"executionContextId": number + 9, "executionContextUniqueId": name}
        self._event("Page.frameAttached", {"frameId": name, "parentFrameId": "T1"}, page)
        self._event("Runtime.executionContextCreated", {"context": context}, page)
        self._event("Runtime.executionContextDestroyed", gone, page)
        self._event("Page.frameDetached", {"frameId": name, "reason": "remove"}, page)


class Turns(trio.abc.Instrument):
    """How often each task had its turn."""

    def __init__(self) -> None:
        self.of: Counter[str] = Counter()

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.of[task.name] += 1


async def count_turns(agent: Agent) -> tuple[int, int]:
    """Those of the reader, and of all other tasks, during one call of the page that does nothing."""
    await wait_all_tasks_blocked()
    turns = Turns()
    trio.lowlevel.add_instrument(turns)
    answer = await agent.call_page_tool("p2", "say", {})
    trio.lowlevel.remove_instrument(turns)
    assert codes([answer]) == [""]
    reader = turns.of.pop(f"{Connection._read.__module__}.{Connection._read.__qualname__}")
    return reader, turns.of.total()


@pytest.mark.threat("P13")
@pytest.mark.parametrize("flood", ["console_lines", "calls_of_a_global", "addresses", "titles", "frames"])
async def test_a_call_takes_as_many_turns_whatever_another_page_makes_the_browser_say(
    autojump_clock: MockClock, flood: str
):
    chromium = Flooding()
    async with open_bridge_over(lambda: nullcontext(DirectTransport(chromium)), frames="none") as bridge:
        agent = Agent(bridge)
        await agent.list_page_tools("p1", None, None)
        await agent.list_page_tools("p2", None, None)
        await count_turns(agent)  # the first one is what it is
        _, alone = await count_turns(agent)

        chromium.flood = flood
        reader, beside = await count_turns(agent)

    assert reader > FLOOD
    assert beside == alone
