"""Calls of one page run one after the other, those of different pages side by side, and not too many at once."""

import pytest
import trio

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.bridge import Bridge
from tests.browser.asking import call, facts, list_tools, open_page, page_of, run_script
from tests.browser.test_webmcp_polyfill import install
from tests.browser.webmcp import claiming, registering
from tests.sites import Site, offering, tool

# It ends when the page says so, and tells how many ran beside it.
HELD = tool(
    "held",
    """async () => {
      globalThis.running = (globalThis.running ?? 0) + 1;
      const beside = globalThis.running;
      await new Promise(done => (globalThis.held ??= []).push(done));
      globalThis.running--;
      return beside;
    }""",
)


class Answers:
    """Calls that were sent, in their order, and the answers to them."""

    def __init__(self, agent: Agent, nursery: trio.Nursery) -> None:
        self._agent = agent
        self._nursery = nursery
        self.got: dict[int, Answer] = {}
        self._sent = 0

    def send(self, page: str, tool: str = "held") -> None:
        self._nursery.start_soon(self._keep, self._sent, page, tool)
        self._sent += 1

    async def _keep(self, number: int, page: str, tool: str) -> None:
        self.got[number] = await call(self._agent, page, tool)


async def release(bridge: Bridge, handle: str) -> None:
    """Let the next tool of the page end, once it runs."""
    page = await page_of(bridge, handle)
    await run_script(
        page,
        """new Promise(done => {
          const look = () => globalThis.held?.length ? done(globalThis.held.shift()()) : setTimeout(look, 5);
          look();
        })""",
    )


@pytest.mark.feature("calls.order")
async def test_calls_of_one_page_run_one_after_the_other(agent: Agent, bridge: Bridge, site: Site):
    page = await open_page(agent, site.page("/one", offering(HELD)))
    await list_tools(agent, page)

    async with trio.open_nursery() as nursery:
        answers = Answers(agent, nursery)
        for _ in range(4):
            answers.send(page)
        for _ in range(4):
            await release(bridge, page)

    assert [answers.got[number].text for number in range(4)] == ["1"] * 4


@pytest.mark.feature("calls.order")
async def test_calls_of_different_pages_run_side_by_side(agent: Agent, bridge: Bridge, site: Site):
    pages = [await open_page(agent, site.page(f"/many{number}", offering(HELD))) for number in range(3)]
    for page in pages:
        await list_tools(agent, page)

    async with trio.open_nursery() as nursery:
        answers = Answers(agent, nursery)
        for page in pages:
            answers.send(page)
        for page in reversed(pages):
            await release(bridge, page)

    assert len(answers.got) == 3


@pytest.mark.feature("calls.order")
async def test_what_a_trusted_origin_marks_read_only_waits_for_nobody(agent: Agent, bridge: Bridge, site: Site):
    peek = claiming("peek", "{readOnlyHint: true}")
    page = await open_page(
        agent, site.page("/marked", install("webmcp-polyfill", site) + offering(HELD) + registering(peek))
    )
    await list_tools(agent, page)

    async with trio.open_nursery() as nursery:
        answers = Answers(agent, nursery)
        answers.send(page)
        await trio.testing.wait_all_tasks_blocked(0.02)
        assert (await call(agent, page, "peek")).text == "peek"
        assert answers.got == {}
        await release(bridge, page)

    assert answers.got[0].text == "1"


@pytest.mark.feature("calls.busy")
@pytest.mark.threat("C2")
async def test_a_page_takes_so_many_calls_and_then_says_that_it_is_busy(agent: Agent, bridge: Bridge, site: Site):
    page = await open_page(agent, site.page("/full", offering(HELD)))
    other = await open_page(agent, site.page("/free", offering(tool("ping", "() => 'pong'"))))
    await list_tools(agent, page)

    async with trio.open_nursery() as nursery:
        answers = Answers(agent, nursery)
        for _ in range(limits.CALLS_PER_PAGE):
            answers.send(page)
        await trio.testing.wait_all_tasks_blocked(0.02)
        refused = await call(agent, page, "held")
        assert (await call(agent, other, "ping")).text == "pong"
        for _ in range(limits.CALLS_PER_PAGE):
            await release(bridge, page)

    assert facts(refused) == ("busy", "rejected", False)
    assert f"{limits.CALLS_PER_PAGE} calls" in refused.text
    assert {answer.text for answer in answers.got.values()} == {"1"}


@pytest.mark.threat("C2")
async def test_all_pages_together_take_so_many_calls(
    agent: Agent, bridge: Bridge, site: Site, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "CALLS", 3)
    pages = [await open_page(agent, site.page(f"/few{number}", offering(HELD))) for number in range(4)]
    for page in pages:
        await list_tools(agent, page)

    async with trio.open_nursery() as nursery:
        answers = Answers(agent, nursery)
        for page in pages[:3]:
            answers.send(page)
        await trio.testing.wait_all_tasks_blocked(0.02)
        refused = await call(agent, pages[3], "held")
        for page in pages[:3]:
            await release(bridge, page)

    assert facts(refused) == ("busy", "rejected", False)
    assert len(answers.got) == 3


async def test_a_call_after_a_navigation_by_the_one_before_it_runs_in_the_new_document(
    agent: Agent, bridge: Bridge, site: Site
):
    url = site.page("/before", offering(HELD, tool("where", "() => performance.timeOrigin")))
    page = await open_page(agent, url)
    await list_tools(agent, page)
    old = (await call(agent, page, "where")).text

    async with trio.open_nursery() as nursery:
        answers = Answers(agent, nursery)
        answers.send(page)
        await trio.testing.wait_all_tasks_blocked(0.02)
        answers.send(page, "where")
        await trio.testing.wait_all_tasks_blocked(0.02)
        await agent.navigate_page(page, None, "reload")

    assert facts(answers.got[0]) == ("navigated_during_call", "unknown", True)
    assert not answers.got[1].is_error
    assert answers.got[1].text != old
