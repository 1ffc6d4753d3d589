"""Progress of a call, as the client that asked for it hears it."""

import pytest

from tests.e2e.client import ERAS, Era, open_agent, open_raw, text_of
from tests.sites import Site, offering, tool

STEPS = tool(
    "steps",
    """async (input, {progress}) => {
      for (let done = 0; done < 3; done++) {
        progress({done, total: 3, message: `step ${done}`});
        await new Promise(next => setTimeout(next, 300));
      }
      progress({done: 3, total: 3});
      return 'all of it';
    }""",
)
FLOOD = tool(
    "flood",
    """async (input, {progress}) => {
      const end = performance.now() + 1000;
      for (let done = 0; performance.now() < end; done++) {
        progress({done});
        if (done % 1000 === 0) await new Promise(next => setTimeout(next));
      }
    }""",
)
ODD = tool(
    "odd",
    """(input, {progress}) => {
      const odd = [undefined, null, 7, {}, {done: 'x'}, {done: NaN}, {done: 1n}, {done: Infinity}];
      for (const report of odd) progress(report);
      progress({get done() { return 1 }, total: 'x', message: 7});
      return 'ran';
    }""",
)


@pytest.mark.feature("calls.progress")
@pytest.mark.parametrize("era", ERAS)
async def test_what_a_tool_reports_reaches_the_client(era: Era, site: Site):
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with open_agent("--open", site.page("/steps", offering(STEPS)), era=era) as agent:
        await agent.call_tool("list_page_tools", {"page": "p1"})
        answer = await agent.call_tool("call_page_tool", {"page": "p1", "tool": "steps"}, progress_callback=hear)

    assert text_of(answer) == "all of it"
    assert heard[:3] == [(0, 3, "step 0"), (1, 3, "step 1"), (2, 3, "step 2")]


@pytest.mark.feature("calls.progress")
@pytest.mark.threat("P13")
async def test_a_flood_of_reports_is_at_most_ten_a_second(site: Site):
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with open_agent("--open", site.page("/flood", offering(FLOOD))) as agent:
        await agent.call_tool("call_page_tool", {"page": "p1", "tool": "flood"}, progress_callback=hear)

    assert 2 <= len(heard) <= 12
    assert heard == sorted(set(heard))


async def test_reports_without_a_number_are_dropped_and_hurt_nobody(site: Site):
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with open_agent("--open", site.page("/odd", offering(ODD))) as agent:
        answer = await agent.call_tool("call_page_tool", {"page": "p1", "tool": "odd"}, progress_callback=hear)

    assert text_of(answer) == "ran"
    assert heard in ([], [(1, None, None)])


async def test_nobody_hears_of_progress_who_did_not_ask(site: Site):
    async with open_raw("--open", site.page("/quiet", offering(STEPS))) as client:
        await client.initialize()
        request = await client.call("call_page_tool", page="p1", tool="steps")
        message = await client.receive()

    assert message is not None
    assert message.get("id") == request
