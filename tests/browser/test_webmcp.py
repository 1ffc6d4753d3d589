"""Tools that a page registers with Chromium's own `document.modelContext`: which there are, and what they give."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import trio

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge, open_bridge
from bridge.page.media import Media
from bridge.settings import AttachOptions, PageSettings
from tests.browser.asking import call, facts, list_tools, names, open_page, page_of, read, wait_offered
from tests.browser.webmcp import claiming, evaluate, registering
from tests.sites import Site, offering, tool


@pytest.fixture
def chromium(webmcp_chromium: str) -> str:
    """In this file, pages have it."""
    return webmcp_chromium


@pytest.fixture
async def framed_agent(chromium: str) -> AsyncIterator[Agent]:
    """An agent that is offered the tools of iframes, too."""
    async with open_bridge(AttachOptions(where=chromium), settings=PageSettings(frames="all")) as bridge:
        yield Agent(bridge)


# What is listed


@pytest.mark.feature("webmcp.tools")
async def test_registered_tools_are_one_more_group_with_their_kind_and_what_the_page_claims(agent: Agent, site: Site):
    add = tool("add", "({a, b}) => a + b", "{type: 'object', properties: {a: {type: 'number'}, b: {type: 'number'}}}")
    peek = claiming("peek", "{readOnlyHint: true, debugging: true}")
    page = await open_page(agent, site.page("/group", offering(tool("own", "() => 1")) + registering(add, peek)))

    [own, registered] = (await list_tools(agent, page))["groups"]

    assert "kind" not in own["tools"][0]
    assert "claims" not in own["tools"][0]
    assert registered["name"] == "WebMCP"
    assert "claims of the page" in registered["description"]
    assert [(one["id"], one["name"], one["kind"], one.get("claims")) for one in registered["tools"]] == [
        ("#1.0", "add", "webmcp", None),
        ("#1.1", "peek", "webmcp", {"readOnlyHint": True, "debugging": True}),
    ]
    assert (await call(agent, page, "add", {"a": 1, "b": 2})).text == "3"
    assert (await call(agent, page, "#1.1")).text == "peek"


async def test_a_registered_tool_may_answer_with_a_picture(agent: Agent, site: Site):
    gif = "R0lGODlhAQABAIAAAMhkMgAAACwAAAAAAQABAAACAkQBADs="
    block = f"() => ({{content: [{{type: 'image', data: '{gif}', mimeType: 'image/png'}}]}})"
    tools = (tool("block", block), tool("paint", "() => new OffscreenCanvas(4, 3).getContext('2d').canvas"))
    page = await open_page(
        agent, site.page("/pictures", registering(*tools, tool("url", f"() => 'data:;base64,{gif}'")))
    )

    assert (await call(agent, page, "block")).media == (Media("image", "image/gif", gif),)
    assert (await call(agent, page, "url")).media == (Media("image", "image/gif", gif),)
    assert (await call(agent, page, "paint")).text.startswith("[image image/png, 4\u00d73, ")


async def test_opening_a_page_names_its_registered_tools(agent: Agent, site: Site):
    opened = read(await agent.open_page(site.page("/opening", registering(tool("one", "() => 1")))))

    assert opened["groups"] == [{"name": "WebMCP", "tools": ["one"]}]


async def test_a_page_without_registered_tools_has_no_group_for_them(agent: Agent, site: Site):
    listing = await list_tools(agent, await open_page(agent, site.page("/none", "<p>nothing")))

    assert listing["groups"] == []
    assert "Nothing answered" in listing["problems"][0]


async def test_a_listener_may_register_tools_instead_of_answering(agent: Agent, site: Site):
    debugging = "{name: 'inspect', description: 'x', annotations: {debugging: true}, execute: () => 'inspected'}"
    page = await open_page(
        agent,
        site.page(
            "/successor",
            f"""<script>addEventListener('devtoolstooldiscovery', () => {{
              window.asked = (window.asked ?? 0) + 1;
              if (asked === 1) document.modelContext.registerTool({debugging});
            }})</script>""",
        ),
    )

    listing = await list_tools(agent, page)

    assert names(listing) == ["inspect"]
    assert listing["problems"] == []
    assert listing["groups"][0]["tools"][0]["claims"] == {"debugging": True}
    assert (await call(agent, page, "inspect")).text == "inspected"


@pytest.mark.feature("webmcp.tools")
async def test_a_tool_that_comes_or_goes_is_noticed_without_asking(agent: Agent, bridge: Bridge, site: Site):
    handle = await open_page(agent, site.page("/changing", registering(tool("first", "() => 1"))))
    page = await page_of(bridge, handle)
    await wait_offered(bridge, handle, "first")

    await evaluate(page, "register({name: 'second', description: 'x', execute: () => 2})")
    await wait_offered(bridge, handle, "first", "second")
    await evaluate(page, "last.abort()")
    await wait_offered(bridge, handle, "second")
    assert names(await list_tools(agent, handle)) == ["second"]


async def test_a_page_that_registers_anew_whenever_it_is_asked_comes_to_rest(agent: Agent, bridge: Bridge, site: Site):
    restless = registering(
        more="""let asked = 0;
          addEventListener('devtoolstooldiscovery', async () => {
            asked++;
            await new Promise(done => setTimeout(done, 5));
            swap({name: 'again', description: 'x', execute: () => asked});
          })"""
    )
    handle = await open_page(agent, site.page("/restless", restless))
    await wait_offered(bridge, handle, "again")
    page = await page_of(bridge, handle)
    await list_tools(agent, handle)

    # Longer than any change is held back. The first time is for those that the listing itself has made.
    asked = f"new Promise(done => setTimeout(() => done(asked), {limits.NEWS_SECONDS * 4000}))"
    at_rest = await evaluate(page, asked)

    assert await evaluate(page, asked) == at_rest


async def test_bounds_hold_for_registered_tools(agent: Agent, site: Site):
    huge = f"{{name: 'huge', description: 'x', inputSchema: {{x: 'y'.repeat({limits.SCHEMA_CHARS})}}, execute() {{}}}}"
    each = "register({name: 't' + n, description: 'd'.repeat(2000), execute() {}})"
    many = f"for (let n = 0; n < {limits.TOOLS_PER_PAGE}; n++) {each}"
    page = await open_page(agent, site.page("/bounds", registering(huge, more=many)))

    listing = await list_tools(agent, page)

    assert listing["problems"][0].startswith("Group 'WebMCP', tool 0 ('huge'): inputSchema must be at most 65536")
    assert len(listing["groups"][0]["tools"][0]["description"]) == limits.DESCRIPTION_CHARS


async def test_a_page_that_may_not_use_it_offers_its_other_tools(agent: Agent, site: Site):
    both = registering(tool("refused", "() => 1")) + offering(tool("allowed", "() => 'allowed'"))
    page = await open_page(agent, site.page("/refused", both, Permissions_Policy="tools=()"))

    assert names(await list_tools(agent, page)) == ["allowed"]
    assert (await call(agent, page, "allowed")).text == "allowed"


@pytest.mark.feature("webmcp.tools")
async def test_tools_of_frames_are_listed_where_they_are(agent: Agent, framed_agent: Agent, site: Site):
    site.page("/inner", registering(tool("inner", "() => 'inside'")))
    url = site.page("/outer", registering(tool("outer", "() => 'outside'")) + "<iframe src=/inner></iframe>")
    alone = await open_page(agent, url)
    assert names(await list_tools(agent, alone)) == ["outer"]

    page, listing = await open_answering(framed_agent, url)

    assert [(group.get("frame"), [one["name"] for one in group["tools"]]) for group in listing["groups"]] == [
        (None, ["outer"]),
        ("f1", ["inner"]),
    ]
    assert (await call(framed_agent, page, "inner")).text == "inside"
    await framed_agent.close_page(page)


async def open_answering(agent: Agent, url: str) -> tuple[str, dict[str, Any]]:
    """A page in which Chromium answers `getTools()` everywhere, and its listing.

    On a busy machine the promise that Chromium 156 gives in an iframe stays pending for ever, now and then, whoever
    asks: the listing says then that more may come, and only loading the page anew helps.
    """
    while True:
        page = await open_page(agent, url)
        listing = await list_tools(agent, page)
        if not listing.get("more"):
            return page, listing
        await agent.close_page(page)


# What a call gives


RESULTS = {
    "undefined": "The tool ran and returned no value (undefined).",
    "''": "",
    "'plain'": "plain",
    "'{\"a\":1}'": '{"a":1}',
    "null": "null",
    "'\\ud83d'": "\ufffd",
    "new Map([[1, 2]])": '{"[Map]":[[1,2]]}',
    "({big: 1n, nan: NaN})": '{"big":"[bigint 1]","nan":"[NaN]"}',
    # Chromium's own way of handing this out ends the renderer.
    "Symbol('x')": '"[symbol x]"',
    "(() => { const o = {}; o.self = o; return o })()": '{"self":"[circular]"}',
    "new Promise(done => setTimeout(done, 5, [1]))": "[1]",
    "({content: [{type: 'text', text: 'one'}, {type: 'text', text: 'two'}]})": "one\ntwo",
    "({content: [{type: 'image', data: 'eA=='}]})": '{"content":[{"type":"image","data":"eA=="}]}',
}


@pytest.mark.feature("webmcp.tools")
async def test_results_are_read_as_they_are(agent: Agent, site: Site):
    tools = [tool(f"give{number}", f"() => {expression}") for number, expression in enumerate(RESULTS)]
    page = await open_page(agent, site.page("/results", registering(*tools)))

    answers = [await call(agent, page, f"give{number}") for number in range(len(RESULTS))]

    assert {answer.is_error for answer in answers} == {False}
    assert dict(zip(RESULTS, [answer.text for answer in answers], strict=True)) == RESULTS


async def test_failures_keep_the_words_of_the_page(agent: Agent, site: Site):
    throws = tool("throws", "() => { throw new TypeError('no cart') }")
    rejects = tool("rejects", "async () => { throw 'plain' }")
    says = tool("says", "() => ({content: [{type: 'text', text: 'no stock'}], isError: true})")
    page = await open_page(agent, site.page("/fails", registering(throws, rejects, says)))

    answers = [await call(agent, page, name) for name in ("throws", "rejects", "says")]

    assert {facts(answer) for answer in answers} == {("tool_threw", "failed", True)}
    assert [answer.text for answer in answers] == [
        "Tool 'throws' ran and threw: TypeError: no cart",
        "Tool 'rejects' ran and threw: plain",
        "Tool 'says' ran and says that it failed: no stock",
    ]


async def test_the_tool_gets_the_arguments_and_a_signal_and_those_that_do_not_fit_never_reach_it(
    agent: Agent, site: Site
):
    echo = "(input, context) => ({input, signal: String(context.signal)})"
    page = await open_page(
        agent, site.page("/echo", registering(tool("echo", echo, "{properties: {a: {type: 'number'}}}")))
    )
    given = {"a": 1.5, "10": "ten", "2": ["two", None], "é": {"__proto__": 1}}

    answer = await call(agent, page, "echo", given)

    assert json.loads(answer.text) == {"input": given, "signal": "[object AbortSignal]"}
    assert facts(await call(agent, page, "echo", {"a": "one"})) == ("arguments_invalid", "rejected", False)


async def test_a_registered_tool_gets_no_elements(agent: Agent, site: Site):
    schema = "{properties: {at: {'x-mcp-type': 'HTMLElement'}}}"
    page = await open_page(
        agent,
        site.page(
            "/no-elements", registering(tool("echo", "input => input", schema), tool("body", "() => document.body"))
        ),
    )
    named = {"uid": json.loads((await call(agent, page, "body")).text)["uid"]}

    answer = await call(agent, page, "echo", {"at": {"selector": "body"}})

    assert facts(answer) == ("arguments_invalid", "rejected", False)
    assert "/at names an element, and a WebMCP tool can get none" in answer.text
    assert json.loads((await call(agent, page, "echo", {"data": named})).text) == {"data": named}


async def test_calls_at_the_same_time_get_their_own_results(agent: Agent, site: Site):
    slow = tool("slow", "({ms}) => new Promise(done => setTimeout(done, ms, ms))")
    page = await open_page(agent, site.page("/concurrent", registering(slow)))
    texts: dict[int, str] = {}

    async def run(ms: int) -> None:
        texts[ms] = (await call(agent, page, "slow", {"ms": ms})).text

    async with trio.open_nursery() as nursery:
        for ms in (30, 10, 20):
            nursery.start_soon(run, ms)

    assert texts == {10: "10", 20: "20", 30: "30"}


async def test_a_call_ends_at_its_deadline_and_the_page_goes_on(agent: Agent, site: Site):
    page = await open_page(
        agent,
        site.page("/never", registering(tool("never", "() => new Promise(() => {})"), tool("now", "() => 'now'"))),
    )

    assert facts(await call(agent, page, "never", seconds=0.2)) == ("timed_out", "unknown", True)
    assert (await call(agent, page, "now")).text == "now"


async def test_tools_of_a_document_that_ran_before_the_bridge_came_are_listed_and_called(
    bridge: Bridge, agent: Agent, chromium: str, site: Site
):
    before = tool("before", "({a}) => { if (a) throw new Error('gone'); return {v: [1, 'two']} }")
    await open_page(agent, site.page("/before", registering(before)))
    async with open_bridge(AttachOptions(where=chromium)) as later:
        second = Agent(later)
        [page] = [one["page"] for one in read(await second.list_pages())["pages"] if one["url"].endswith("/before")]

        assert names(await list_tools(second, page)) == ["before"]
        assert (await call(second, page, "before")).text == '{"v":[1,"two"]}'
        assert facts(await call(second, page, "before", {"a": 1})) == ("tool_threw", "failed", True)
