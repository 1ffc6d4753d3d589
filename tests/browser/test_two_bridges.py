"""Somebody else uses the same page of the same browser: each call ends as it did, whatever the other one does."""

import pytest
import trio

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge, open_bridge
from bridge.settings import AttachOptions
from tests.browser.asking import answer_dialog, call, code, facts, list_tools, open_page, page_of, wait_offered
from tests.browser.other_client import open_other_client
from tests.sites import Site, offering, tool

PAGE = offering(
    tool("ping", "() => 'pong'"),
    tool("ask", "() => confirm('Sure?')"),
    tool("hang", "() => { fetch('/hanging'); return new Promise(() => {}) }"),
)


async def same_page(bridge: Bridge, target_id: str) -> str:
    [page] = [page.handle for page in await bridge.wait_pages() if page.target_id == target_id]
    await wait_offered(bridge, page, "ping", "ask", "hang")
    return page


@pytest.mark.feature("browser.shared")
@pytest.mark.threat("L6")
async def test_a_second_bridge_in_the_same_page_comes_calls_and_goes(
    chromium: str, agent: Agent, bridge: Bridge, site: Site
):
    page = await open_page(agent, site.page("/shared", PAGE))
    toolset = (await list_tools(agent, page))["toolset"]
    target_id = (await page_of(bridge, page)).target_id
    asked = site.asked["/hanging"]
    answers = {}

    async def hang() -> None:
        answers["hang"] = await call(agent, page, "hang", seconds=1)

    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(hang)
            await site.wait_asked("/hanging", asked + 1)
            async with open_bridge(AttachOptions(where=chromium)) as second:
                other = Agent(second)
                theirs = await same_page(second, target_id)
                assert (await call(other, theirs, "ping")).text == "pong"
                await list_tools(other, theirs)

        assert facts(answers["hang"]) == ("timed_out", "unknown", True)
        assert (await call(agent, page, "ping", toolset=toolset)).text == "pong"


@pytest.mark.threat("L6")
async def test_a_dialog_of_a_call_that_somebody_else_answers_is_over_for_us_too(
    chromium: str, agent: Agent, bridge: Bridge, site: Site
):
    page = await open_page(agent, site.page("/asked", PAGE))
    found = await page_of(bridge, page)

    with trio.fail_after(20):
        async with open_other_client(chromium) as other:
            session = await other.attach(found.target_id)
            await other.run("Page.enable", session)
            assert code(await call(agent, page, "ask")) == "dialog_open"
            await other.run("Page.handleJavaScriptDialog", session, accept=True)
        await found.wait_changed(lambda: found.dialog is None)

        assert (await answer_dialog(agent, page, False, None)).text == "true"
        assert code(await answer_dialog(agent, page, True, None)) == "no_dialog"
        assert (await call(agent, page, "ping")).text == "pong"


@pytest.mark.threat("L6")
async def test_a_page_that_somebody_else_takes_elsewhere_is_read_again(
    chromium: str, agent: Agent, bridge: Bridge, site: Site
):
    page = await open_page(agent, site.page("/taken", PAGE))
    await list_tools(agent, page)
    found = await page_of(bridge, page)
    url = site.elsewhere().page("/there", offering(tool("ping", "() => 'not this one'")))

    with trio.fail_after(20):
        async with open_other_client(chromium) as other:
            await other.load(found.target_id, url)

        assert facts(await call(agent, page, "ping")) == ("origin_changed", "rejected", False)
