"""Whatever a client sends, and wherever in it: no script of it runs in a page, in any mode."""

import json
from collections.abc import Iterator
from typing import Any, Final, get_args

import pytest
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.page.session import Page
from bridge.serve.built_ins import BUILT_INS
from bridge.settings import AgentSettings, Mode
from tests.browser.asking import list_tools, open_page, page_of, run_script
from tests.browser.test_cancelling import open_client
from tests.browser.test_doors import Caller
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
