"""Polyfills of `document.modelContext`, in a browser that does not have it."""

import subprocess
from pathlib import Path

import pytest

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge, open_bridge
from bridge.settings import AttachOptions
from tests.browser.asking import call, facts, list_tools, names, open_page, page_of, wait_offered
from tests.browser.webmcp import FORM, claiming, evaluate, registering
from tests.sites import Site, offering, tool

ROOT = Path(__file__).parents[2]


def install(package: str, site: Site) -> str:
    """A page script that installs a polyfill from npm; `make test` has the package already."""
    file = ROOT / "node_modules/@mcp-b" / package / "dist/index.iife.js"
    if not file.exists():
        # The virtual environment is what runs this: only the package may be missing.
        make = ["make", "--silent", "--assume-old=.venv/.ready", "node_modules/.ready"]
        subprocess.run(make, cwd=ROOT, check=True)
    site.bodies[f"/{package}.js"] = file.read_text()
    return f"<script src=/{package}.js></script>"


@pytest.fixture
def polyfill(site: Site) -> str:
    return install("webmcp-polyfill", site)


@pytest.fixture
def wrapper(site: Site) -> str:
    """One that wraps what is there, the polyfill or the browser's own."""
    return install("global", site)


@pytest.mark.feature("webmcp.polyfills")
@pytest.mark.parametrize("package", ["webmcp-polyfill", "global"])
async def test_its_tools_are_one_more_group_and_run(agent: Agent, site: Site, package: str):
    add = tool("add", "({a, b}) => ({sum: a + b})", "{properties: {a: {type: 'number'}, b: {type: 'number'}}}")
    tools = registering(add, claiming("peek", "{readOnlyHint: true}"))
    page = await open_page(
        agent, site.page("/polyfilled", install(package, site) + offering(tool("own", "() => 1")) + tools)
    )

    [own, registered] = (await list_tools(agent, page))["groups"]

    assert [one["name"] for one in own["tools"]] == ["own"]
    assert registered["name"] == "WebMCP"
    assert [(one["name"], one["kind"], one.get("claims")) for one in registered["tools"]] == [
        ("add", "webmcp", None),
        ("peek", "webmcp", {"readOnlyHint": True}),
    ]
    assert (await call(agent, page, "add", {"a": 1, "b": 2})).text == '{"sum":3}'
    assert (await call(agent, page, "peek")).text == "peek"
    assert facts(await call(agent, page, "add", {"a": "one"})) == ("arguments_invalid", "rejected", False)


async def test_what_its_tools_throw_is_their_failure(agent: Agent, site: Site, polyfill: str):
    fail = tool("fail", "() => { throw new Error('no cart') }")
    page = await open_page(agent, site.page("/throws", polyfill + registering(fail)))

    answer = await call(agent, page, "fail")

    assert facts(answer) == ("tool_threw", "failed", True)
    assert "no cart" in answer.text


@pytest.mark.feature("webmcp.polyfills")
async def test_its_tools_come_and_go_without_asking(agent: Agent, bridge: Bridge, site: Site, polyfill: str):
    handle = await open_page(agent, site.page("/changes", polyfill + registering(tool("first", "() => 1"))))
    page = await page_of(bridge, handle)
    await wait_offered(bridge, handle, "first")

    await evaluate(page, "register({name: 'second', description: 'x', execute: () => 2}).then(() => 1)")
    await wait_offered(bridge, handle, "first", "second")
    await evaluate(page, "last.abort()")
    await wait_offered(bridge, handle, "second")
    assert names(await list_tools(agent, handle)) == ["second"]


async def test_a_tool_of_its_that_was_replaced_does_not_run(agent: Agent, bridge: Bridge, site: Site, polyfill: str):
    handle = await open_page(agent, site.page("/replaced", polyfill + registering(tool("act", "() => ran.push(1)"))))
    await list_tools(agent, handle)
    page = await page_of(bridge, handle)
    await evaluate(page, "swap({name: 'act', description: 'Another', execute: () => ran.push(2)})")

    answer = await call(agent, handle, "act")

    assert facts(answer) == ("tool_stale", "rejected", False)
    assert await evaluate(page, "ran") == []


async def test_a_form_of_its_that_waits_for_a_person_says_so(agent: Agent, site: Site, polyfill: str):
    page = await open_page(agent, site.page("/form", FORM.format(name="search", more="") + polyfill))

    [found] = (await list_tools(agent, page))["groups"][0]["tools"]

    assert found["claims"] == {"declarative": True}
    assert "waits for a person" in (await call(agent, page, "search", {"q": "shoes"})).text


@pytest.mark.parametrize(
    ("context", "problem"),
    [
        ("{}", None),
        ("{getTools: 1, executeTool: 2}", None),
        ("{getTools() { throw new Error('broken') }, executeTool() {}}", "Error: broken"),
        ("{getTools: async () => { throw 'late' }, executeTool() {}}", "late"),
        ("{getTools: () => null, executeTool() {}}", "TypeError"),
        ("{getTools: () => [7, {name: 8}], executeTool() {}}", "name must be a string, and is the number 8"),
        ("{get getTools() { throw new Error('no') }}", None),
    ],
)
async def test_a_broken_one_costs_only_its_own_tools(agent: Agent, site: Site, context: str, problem: str | None):
    broken = f"<script>Object.defineProperty(navigator, 'modelContext', {{value: {context}}})</script>"
    page = await open_page(agent, site.page("/broken", broken + offering(tool("own", "() => 'fine'"))))

    listing = await list_tools(agent, page)

    assert names(listing) == ["own"]
    assert (problem is None) == (listing["problems"] == [])
    assert problem is None or any(problem in one for one in listing["problems"])
    assert (await call(agent, page, "own")).text == "fine"


async def test_one_that_never_answers_makes_the_listing_say_that_more_may_come(agent: Agent, site: Site):
    silent = "{getTools: () => new Promise(() => {}), executeTool() {}}"
    script = f"<script>navigator.modelContext = {silent}</script>" + offering(tool("own", "() => 'fine'"))
    page = await open_page(agent, site.page("/silent", script))

    listing = await list_tools(agent, page)

    assert names(listing) == ["own"]
    assert listing["more"] is True
    assert (await call(agent, page, "own")).text == "fine"


async def test_a_wrapper_around_the_browsers_own_shows_no_tool_twice(webmcp_chromium: str, site: Site, wrapper: str):
    async with open_bridge(AttachOptions(where=webmcp_chromium)) as bridge:
        agent = Agent(bridge)
        before = "document.modelContext.registerTool({name: 'before', description: 'x', execute: () => 'before'})"
        after = registering(tool("after", "() => ({v: 1n})"))
        page = await open_page(agent, site.page("/both", f"<script>{before}</script>{wrapper}{after}"))

        assert names(await list_tools(agent, page)) == ["after", "before"]
        assert (await call(agent, page, "before")).text == "before"
        assert (await call(agent, page, "after")).text == '{"v":"[bigint 1]"}'
        await agent.close_page(page)
