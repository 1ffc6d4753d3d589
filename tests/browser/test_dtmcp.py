"""`window.__dtmcp`, for scripts that were written for chrome-devtools-mcp."""

import pytest

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.wire.commands import runtime
from tests.browser.asking import call, list_tools, names, open_page
from tests.browser.conftest import OpenHostile
from tests.sites import Site, offering, tool

ADD = tool("add", "({a, b}) => a + b", "{type: 'object', required: ['a', 'b']}")


async def evaluate(bridge: Bridge, handle: str, expression: str) -> object:
    """What a script of the page would get, awaited."""
    page = (await bridge.wait_pages()).find(handle)
    found, thrown = await page._session.run(runtime.evaluate(expression, await_promise=True, return_by_value=True))
    assert thrown is None, thrown
    return found.value


@pytest.mark.feature("pages.dtmcp")
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


@pytest.mark.feature("pages.dtmcp")
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


@pytest.mark.threat("P8")
@pytest.mark.parametrize("how", ["value", "frozen", "getter"])
async def test_one_that_the_page_has_already_stays_as_it_is(
    agent: Agent, bridge: Bridge, hostile: OpenHostile, how: str
):
    handle = await hostile("has_dtmcp", how)
    await list_tools(agent, handle)

    assert await evaluate(bridge, handle, "__dtmcp") == "mine"
    assert (await call(agent, handle, "add", {"a": 1, "b": 2})).text == "3"


@pytest.mark.threat("F5", "P8", "P16")
@pytest.mark.parametrize("change", ["its function", "its groups", "whole", "the tool in it"])
async def test_calls_of_the_bridge_never_go_through_it(agent: Agent, bridge: Bridge, hostile: OpenHostile, change: str):
    handle = await hostile("changes_dtmcp")
    await list_tools(agent, handle)

    await evaluate(bridge, handle, f"changes[{change!r}]()")

    assert (await call(agent, handle, "add", {"a": 1, "b": 2})).text == "3"
    if change == "whole":
        assert await evaluate(bridge, handle, "__dtmcp.executeTool('add')") == "stolen"


@pytest.mark.threat("P8")
async def test_a_page_that_freezes_it_is_still_listed_and_called(agent: Agent, bridge: Bridge, hostile: OpenHostile):
    handle = await hostile("changes_dtmcp")
    await evaluate(bridge, handle, "changes.frozen(); true")

    assert names(await list_tools(agent, handle)) == ["add"]
    assert (await call(agent, handle, "add", {"a": 1, "b": 2})).text == "3"
