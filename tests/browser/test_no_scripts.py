"""Whatever a client sends, and wherever in it: no script of it runs in a page, unless it was given the tool for that;
and with that tool it gets around nothing that a person has said."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, get_args

import pytest
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge, open_bridge
from bridge.calls.built_ins import BUILT_INS, read_profile
from bridge.calls.pins import write_pins
from bridge.calls.toolbox import Toolbox
from bridge.origins import OriginRules
from bridge.page.session import Page
from bridge.settings import AgentSettings, AttachOptions, Mode, PageSettings, Tier
from bridge.tools.sources.browser import BROWSER_TOOLS
from tests.browser.asking import code, list_tools, open_page, page_of, plain, run_script
from tests.browser.test_cancelling import open_client
from tests.browser.test_doors import Caller
from tests.browser.using import INSPECTED, uid_of
from tests.frames import take_out
from tests.sites import Site, offering, tool

Json = dict[str, Any]

RUN: Final = "sessionStorage.evaluated=1"
"""What all of these do where anything evaluates them; it is seen afterwards in whatever document is there."""

SCRIPTS: Final = [
    RUN,
    f"(() => {{ {RUN} }})()",
    f"() => {{ {RUN} }}",
    f'"+({RUN})+"',
    f"'+({RUN})+'",
    f"${{{RUN}}}",
    f"`+({RUN})+`",
    f'\\");{RUN};("',
    f'")]);{RUN};//',
    f'"}}]);{RUN};//',
    f"\n{RUN}\n",
    f'"\u2028{RUN}\u2029',
    f"*/{RUN}/*",
    f"</script><script>{RUN}</script>",
    f"<img src=x: onerror={RUN}>",
    f"constructor.constructor('{RUN}')()",
    f"[onclick={RUN}]",
    f"javascript:{RUN}",
    f"java\nscript:{RUN}",
    f"view-source:javascript:{RUN}",
    f"data:text/html,<script>{RUN}</script>",
]
NAMES: Final = ("evaluate", "evaluate_script", "browser_evaluate", "page_evaluate", "eval", "Runtime.evaluate", RUN)
"""Tools that others have for scripts, and what might be taken for one."""

METHODS: Final = ("Runtime.evaluate", "Page.addScriptToEvaluateOnNewDocument", "Page.navigate", RUN)

EVALUATES: Final = "evaluate_script"
"""The one tool that takes a script."""

RIGHT: Final[Json] = {
    "expression": "1",
    "fields": [{"uid": "e1-1", "value": "a"}],
    "files": ["nowhere"],
    "height": 700,
    "key": "a",
    "options": ["a"],
    "request": "1",
    "seconds": 0.01,
    "value": "a",
    "width": 900,
}
"""What the tools for debugging may be given."""

MARKED: Final = "{properties: {at: {'x-mcp-type': 'HTMLElement'}}}"
PAGE: Final = offering(
    tool("look", "given => JSON.stringify(given)"),
    tool("mark", "({at}) => at.outerHTML", MARKED),
    tool("ask", "() => prompt('Which?')"),
)


def calls(page: str, script: str) -> Iterator[tuple[str, Json]]:
    """Every call that can hold a text, with the script as that text; all else in it is right."""
    right: Json = {"page": page, "url": "about:blank", "tool": "look", "accept": True}
    for one in BUILT_INS:
        given = {name: right[name] for name in one.required}
        for name, schema in one.properties.items():
            if "string" in schema.get("type", ()) or "enum" in schema:
                yield one.name, given | {name: script}
    for arguments in ({"a": script}, {script: 1}, {"a": [{script: script}]}, json.dumps({script: script})):
        yield "call_page_tool", {"page": page, "tool": "look", "arguments": arguments}
    for at in (script, {"uid": script}, {"selector": script}):
        yield "call_page_tool", {"page": page, "tool": "mark", "arguments": {"at": at}}
    for name in NAMES:
        yield name, {"page": page, "script": script, "expression": script, "function": script, "code": script}


def debugging_calls(page: str, uid: str, script: str) -> Iterator[tuple[str, Json]]:
    """The same of the tools for debugging, but for the script that is to run."""
    right = RIGHT | {"page": page, "uid": uid, "from": uid, "to": uid}
    for one in BROWSER_TOOLS:
        given = {name: right[name] for name in one.properties if name in one.required or name == "seconds"}
        for name, schema in one.properties.items():
            if name == "expression":
                continue
            if "string" in schema.get("type", ()) or "enum" in schema:
                yield one.name, given | {name: script}
            elif schema.get("type") == "array":
                yield one.name, given | {name: [script]}
    yield "wait_for", {"page": page, "tool": "look", "arguments": {script: script}, "seconds": 1}
    yield "fill_form", {"page": page, "fields": [{"uid": uid, "value": script}]}
    yield "fill_form", {"page": page, "fields": [{"uid": script, "value": script}]}


async def check_nothing_ran(page: Page, url: str, why: object) -> None:
    assert await run_script(page, "sessionStorage.evaluated ?? 'never'") == "never", why
    assert page.url == url, why


@pytest.mark.threat("C7")
@pytest.mark.parametrize("mode", get_args(Mode))
async def test_no_script_of_a_client_runs_in_a_page(bridge: Bridge, site: Site, mode: Mode):
    agent = Agent(bridge, AgentSettings(mode=mode, direct=True))
    handle = await open_page(agent, url := site.page("/canary", PAGE))
    await list_tools(agent, handle)
    page = await page_of(bridge, handle)
    before = [one.handle for one in await bridge.wait_pages()]
    async with open_client(agent, bridge) as client:
        caller = Caller(client, "lane")
        for script in SCRIPTS:
            for name, given in calls(handle, script):
                answer = await caller.call(name, **given)
                await check_nothing_ran(page, url, (name, given))
                if "error" in answer:
                    assert answer["error"]["code"] == INVALID_PARAMS
                    assert name in NAMES
                elif given.get("tool") == "look" and isinstance(given.get("arguments"), dict) and mode != "ask":
                    assert take_out(answer["result"]["content"][0]["text"]) == _as_json(given["arguments"])
            for method in METHODS:
                answer = await caller.ask(method, expression=script, source=script, url=script)
                assert answer["error"]["code"] == METHOD_NOT_FOUND
                await check_nothing_ran(page, url, method)
    assert [one.handle for one in await bridge.wait_pages()] == before


def _as_json(value: object) -> str:
    """As JSON.stringify has it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.threat("C7")
async def test_what_answers_a_prompt_is_data(agent: Agent, bridge: Bridge, site: Site):
    handle = await open_page(agent, url := site.page("/canary", PAGE))
    await list_tools(agent, handle)
    page = await page_of(bridge, handle)
    async with open_client(agent, bridge) as client:
        caller = Caller(client, "lane")
        for script in SCRIPTS:
            await caller.call("call_page_tool", page=handle, tool="ask")
            answer = await caller.call("handle_dialog", page=handle, accept=True, text=script)
            assert take_out(answer["result"]["content"][0]["text"]) == script
            await check_nothing_ran(page, url, script)


# Where there is a tool for scripts


@pytest.fixture
def page_settings() -> PageSettings:
    return INSPECTED


def debugging(mode: Mode = "dev", tools: str = "debug", tier: Tier = "full", pins: Path | None = None) -> AgentSettings:
    return AgentSettings(mode=mode, tools=read_profile(tools), tier=tier, pins=pins)


@pytest.mark.threat("C7")
@pytest.mark.parametrize("tier", get_args(Tier))
@pytest.mark.parametrize("tools", ["pages", "debug", EVALUATES])
@pytest.mark.parametrize("mode", get_args(Mode))
async def test_a_script_runs_in_mode_dev_where_its_tool_was_asked_for_and_nowhere_else(
    bridge: Bridge, site: Site, mode: Mode, tools: str, tier: Tier
):
    toolbox = Toolbox(Agent(bridge, debugging(mode, tools, tier)))
    handle = await open_page(toolbox.agent, site.page("/canary", PAGE))
    page = await page_of(bridge, handle)
    may = mode == "dev" and tools != "pages" and tier != "compact"

    answer = await toolbox.run(EVALUATES, {"page": handle, "expression": f"{RUN}, 'ran'"})

    assert toolbox.has(EVALUATES) == may
    assert await run_script(page, "sessionStorage.evaluated ?? 'never'") == ("1" if may else "never")
    if may:
        assert plain(answer).text == "ran"
    else:
        assert code(answer) == "tool_not_found"


@pytest.mark.threat("C7")
async def test_no_other_tool_for_debugging_takes_a_script(bridge: Bridge, site: Site):
    toolbox = Toolbox(Agent(bridge, debugging()))
    url = site.page("/canary", PAGE + "<input aria-label=Field>")
    handle = await open_page(toolbox.agent, url)
    await list_tools(toolbox.agent, handle)
    page = await page_of(bridge, handle)
    uid = uid_of((await toolbox.run("take_snapshot", {"page": handle})).text, '"Field"')

    for script in SCRIPTS[::4]:  # one of each kind: each call of an action waits for what it has started
        for name, given in debugging_calls(handle, uid, script):
            await toolbox.run(name, given)
            await check_nothing_ran(page, url, (name, given))


@asynccontextmanager
async def open_debugged(
    chromium: str, site: Site, origins: OriginRules, pins: Path
) -> AsyncIterator[tuple[Toolbox, str]]:
    """All tools there are, and the handle of a page."""
    settings = replace(INSPECTED, origins=origins)
    async with open_bridge(AttachOptions(where=chromium), settings=settings) as bridge:
        toolbox = Toolbox(Agent(bridge, debugging(pins=pins)))
        handle = await open_page(toolbox.agent, site.page("/canary", PAGE))
        yield toolbox, handle
        pages = await bridge.wait_pages()
        await pages.close(pages.find(handle))


@pytest.mark.threat("C7", "C3")
async def test_in_a_page_that_is_kept_out_no_tool_for_debugging_does_anything(
    chromium: str, site: Site, tmp_path: Path
):
    write_pins(pins := tmp_path / "pins.json", {})
    async with open_debugged(chromium, site, OriginRules(blocked=(site.origin,)), pins) as (toolbox, handle):
        for tool in BROWSER_TOOLS:
            given = {name: (RIGHT | {"page": handle}).get(name, "e1-1") for name in tool.required}
            answer = await toolbox.run(tool.name, given | {"page": handle})
            assert code(answer) == "not_allowed", tool.name
        answer = await toolbox.run(EVALUATES, {"page": handle, "expression": RUN})
        assert code(answer) == "not_allowed"
        assert answer.text.startswith(f"Page {handle} is left alone: it is of {site.origin}, and --block-origin keeps")
        assert await run_script(await page_of(toolbox.bridge, handle), "sessionStorage.evaluated ?? 'never'") == "never"


@pytest.mark.threat("C7", "C3")
async def test_a_script_calls_no_tool_that_may_not_run(chromium: str, site: Site, tmp_path: Path):
    write_pins(pins := tmp_path / "pins.json", {site.origin: frozenset()})
    async with open_debugged(chromium, site, OriginRules(), pins) as (toolbox, handle):
        await list_tools(toolbox.agent, handle)
        calls = "callTool('look', {a: 1}).then(() => 'ran', error => error.message)"

        answer = await toolbox.run(EVALUATES, {"page": handle, "expression": calls})

        assert plain(answer).text.startswith("Tool 'look' was not run: it is new or has changed since")
