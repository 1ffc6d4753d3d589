"""How long a call may take, by a clock of ours: what is asked for, up to the limit, whatever the tool reports."""

import json
from collections.abc import AsyncIterator
from contextlib import nullcontext

import pytest
import trio
from trio.testing import MockClock

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.toolbox import Toolbox
from bridge.wire.router import Json
from tests.faults.bridges import open_bridge_over
from tests.faults.fake_chromium import FakeChromium, _value
from tests.faults.fake_links import DirectTransport
from tests.faults.messages import kit_word
from tests.faults.session import codes


class Reporting(FakeChromium):
    """Its tools report progress whenever they are asked for it."""

    reports = 0

    def _runtime_evaluate(self, command: Json) -> Json | None:
        if kit_word(command) != "progress":
            return super()._runtime_evaluate(command)
        self.reports += 1
        return _value({"done": self.reports, "total": None, "message": None})


@pytest.fixture
async def agent() -> AsyncIterator[Agent]:
    async with open_bridge_over(lambda: nullcontext(DirectTransport(Reporting()))) as bridge:
        agent = Agent(bridge)
        await agent.list_page_tools("p1", None, None)
        yield agent


@pytest.mark.feature("calls.deadline")
@pytest.mark.parametrize("reports", [False, True], ids=["silent", "reports"])
@pytest.mark.parametrize(
    ("asked", "given"),
    [
        (None, limits.CALL_SECONDS),
        (0.5, 0.5),
        (limits.CALL_SECONDS_MAX, limits.CALL_SECONDS_MAX),
        (limits.CALL_SECONDS_MAX + 1, limits.CALL_SECONDS_MAX),
    ],
)
async def test_a_call_takes_as_long_as_it_asks_for_and_never_longer_than_the_most(
    agent: Agent, autojump_clock: MockClock, asked: float | None, given: float, reports: bool
):
    heard: list[float] = []

    async def hear(done: float, *_: object) -> None:
        heard.append(done)

    began = trio.current_time()
    answer = await agent.call_page_tool(
        "p1", "hang", {}, timeout_seconds=asked, send_progress=hear if reports else None
    )
    took = trio.current_time() - began

    assert codes([answer]) == ["timed_out"]
    assert given <= took <= given + limits.STOP_SECONDS
    assert (len(heard) > 3) == reports
    assert heard == sorted(heard)


async def test_what_waits_for_its_turn_has_no_more_time_than_what_runs(agent: Agent, autojump_clock: MockClock):
    answers: dict[str, float] = {}
    began = trio.current_time()

    async def call(name: str, seconds: float) -> None:
        answer = await agent.call_page_tool("p1", "hang", {}, timeout_seconds=seconds)
        assert codes([answer]) == ["timed_out"]
        answers[name] = trio.current_time() - began

    async with trio.open_nursery() as nursery:
        nursery.start_soon(call, "runs", 20)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(call, "waits", 10)

    assert answers["waits"] == pytest.approx(10, abs=limits.STOP_SECONDS)
    assert answers["runs"] == pytest.approx(20, abs=limits.STOP_SECONDS)


@pytest.mark.parametrize("name", ["call_page_tool", "handle_dialog"])
async def test_one_who_asks_for_more_than_the_most_is_told_so(agent: Agent, autojump_clock: MockClock, name: str):
    words = {"page": "p1", "tool": "say", "accept": True}
    taken = {"call_page_tool": ("page", "tool"), "handle_dialog": ("page", "accept")}[name]

    async def ask(seconds: float) -> str:
        given = {word: words[word] for word in taken} | {"timeout_seconds": seconds}
        answer = await Toolbox(agent).run(name, given)
        return json.dumps(answer.structured)

    assert "arguments_invalid" not in await ask(limits.CALL_SECONDS_MAX)
    assert "arguments_invalid" in await ask(limits.CALL_SECONDS_MAX + 0.5)
    assert "arguments_invalid" in await ask(0)
