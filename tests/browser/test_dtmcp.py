"""`window.__dtmcp`, for scripts that were written for chrome-devtools-mcp."""

import pytest

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.wire.commands import runtime
from tests.browser.asking import call, list_tools, names, open_page
from tests.sites import Site, offering, tool

ADD = tool("add", "({a, b}) => a + b", "{type: 'object', required: ['a', 'b']}")


async def evaluate(bridge: Bridge, handle: str, expression: str) -> object:
    """What a script of the page would get, awaited."""
    page = (await bridge.wait_pages()).find(handle)
    found, thrown = await page._session.run(runtime.evaluate(expression, await_promise=True, return_by_value=True))
    assert thrown is None, thrown
    return found.value


async def test_a_script_runs_the_tools_of_its_page_with_values_that_are_no_json(
    agent: Agent, bridge: Bridge, site: Site
):
    element = tool("element", "() => document.body")
    waits = tool("waits", "async (_, {signal, progress}) => { progress({done: 1}); return signal.aborted }")
    handle = await open_page(agent, site.page("/dtmcp", offering(ADD, element, waits)))

    assert await evaluate(bridge, handle, "__dtmcp.executeTool('add', {a: 1, b: 2})") == 3
    assert await evaluate(bridge, handle, "__dtmcp.executeTool('element').then(it => it === document.body)") is True
    assert await evaluate(bridge, handle, "__dtmcp.executeTool('waits')") is False
    assert await evaluate(bridge, handle, "__dtmcp.executeTool('gone').catch(error => `${error}`)") == (
        'Error: This page offers no tool "gone"'
    )


async def test_it_holds_the_groups_of_the_latest_answer(agent: Agent, bridge: Bridge, site: Site):
    changing = f"""<script>window.kept = {{name: 'Kept', tools: [{ADD}]}};
      addEventListener('devtoolstooldiscovery', async event => {{
        if (window.away) return;
        event.respondWith(kept);
        event.respondWith({{name: 'None', tools: []}});
        await null;
        event.respondWith({{name: 'Partly bad', tools: [null, {{name: 'bad'}}, {tool("late", "() => 'late'")}]}});
      }})</script>"""
    handle = await open_page(agent, site.page("/groups", changing))
    await list_tools(agent, handle)

    assert await evaluate(bridge, handle, "__dtmcp.toolGroups.map(group => group.name)") == ["Kept", "Partly bad"]
    assert await evaluate(bridge, handle, "__dtmcp.toolGroups[0] === kept") is True
    assert await evaluate(bridge, handle, "__dtmcp.executeTool('late')") == "late"

    await evaluate(bridge, handle, "window.away = true")
    await list_tools(agent, handle)

    assert await evaluate(bridge, handle, "__dtmcp.toolGroups") == []


@pytest.mark.threat("P21")
async def test_a_page_that_offers_no_tool_is_left_untouched(agent: Agent, bridge: Bridge, site: Site):
    for path, html in {
        "/plain": "<p>Nothing",
        "/empty": offering(),
        "/bad": offering("{name: 'bad'}"),
        "/throws": "<script>addEventListener('devtoolstooldiscovery', () => { throw 1 })</script>",
    }.items():
        handle = await open_page(agent, site.page(path, html))
        await list_tools(agent, handle)
        assert await evaluate(bridge, handle, "'__dtmcp' in window") is False


async def test_no_loop_over_the_window_meets_it_and_the_page_may_remove_it(agent: Agent, bridge: Bridge, site: Site):
    handle = await open_page(agent, site.page("/hidden", offering(ADD)))

    assert await evaluate(bridge, handle, "Object.keys(window).includes('__dtmcp')") is False
    assert await evaluate(bridge, handle, "delete window.__dtmcp") is True
    await list_tools(agent, handle)
    assert await evaluate(bridge, handle, "'__dtmcp' in window") is False


async def test_one_that_the_page_has_already_stays_as_it_is(agent: Agent, bridge: Bridge, site: Site):
    for path, own in {
        "/value": "<script>window.__dtmcp = 'mine'</script>",
        "/frozen": "<script>Object.defineProperty(window, '__dtmcp', {value: 'mine'})</script>",
        "/getter": "<script>Object.defineProperty(window, '__dtmcp', {get: () => 'mine', set() { throw 1 }})</script>",
    }.items():
        handle = await open_page(agent, site.page(path, own + offering(ADD)))
        await list_tools(agent, handle)
        assert await evaluate(bridge, handle, "__dtmcp") == "mine"
        assert (await call(agent, handle, "add", {"a": 1, "b": 2})).text == "3"


@pytest.mark.threat("P8", "F5")
async def test_calls_of_the_bridge_never_go_through_it(agent: Agent, bridge: Bridge, site: Site):
    kept = f"<script>window.kept = {ADD}</script>"
    listen = """<script>addEventListener('devtoolstooldiscovery', event =>
      event.respondWith({name: 'Test tools', tools: [kept]}))</script>"""
    handle = await open_page(agent, site.page("/replaced", kept + listen))
    await list_tools(agent, handle)
    for replace in (
        "__dtmcp.executeTool = () => 'stolen'",
        "__dtmcp.toolGroups = [{tools: [{name: 'add', execute: () => 'stolen'}]}]",
        "window.__dtmcp = {toolGroups: [], executeTool: () => 'stolen'}",
        "kept.execute = () => 'stolen'",
    ):
        assert await evaluate(bridge, handle, f"{replace}; true") is True
        assert (await call(agent, handle, "add", {"a": 1, "b": 2})).text == "3", replace

    assert await evaluate(bridge, handle, "__dtmcp.executeTool('add')") == "stolen"


async def test_a_page_that_freezes_it_is_still_listed_and_called(agent: Agent, bridge: Bridge, site: Site):
    handle = await open_page(agent, site.page("/freezes", offering(ADD)))
    await evaluate(bridge, handle, "Object.freeze(__dtmcp); Object.freeze(__dtmcp.toolGroups); true")

    assert names(await list_tools(agent, handle)) == ["add"]
    assert (await call(agent, handle, "add", {"a": 1, "b": 2})).text == "3"
