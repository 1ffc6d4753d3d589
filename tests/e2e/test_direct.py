"""`pagebridge serve --direct`: page tools as MCP tools of their own, and notices of their changes."""

import os
import shlex
import signal
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import trio
from jsonschema import Draft202012Validator
from mcp import Client, MCPError
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    METHOD_NOT_FOUND,
    PROTOCOL_VERSION_META_KEY,
    ListToolsResult,
    Tool,
    ToolListChangedNotification,
)

from bridge import limits
from bridge.browser.executable import find_browser
from bridge.calls.built_ins import BUILT_INS
from tests.e2e.client import ERAS, Era, open_agent, open_raw, read, text_of
from tests.e2e.test_life import children_of
from tests.sites import Site, offering, tool

NUMBERS = "{type: 'object', properties: {a: {type: 'number'}, b: {type: 'number'}}, required: ['a', 'b']}"
ADD = tool("add", "({a, b}) => a + b", NUMBERS, "Add two numbers")
GROWING = offering(
    ADD,
    tool("where", "() => location.href"),
    tool("sameAgain", "() => { addEventListener('devtoolstooldiscovery', () => {}) }"),
    tool(
        "grow",
        """({name}) => {
            const group = {name: 'Late', description: '', tools: [
                {name, description: 'Late', inputSchema: {}, execute: () => 'grown'}]};
            addEventListener('devtoolstooldiscovery', event => event.respondWith(group));
        }""",
    ),
)


class Notices:
    """Those that came and were not looked at yet."""

    def __init__(self) -> None:
        self._send, self._receive = trio.open_memory_channel[None](1000)

    async def take(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._send.send_nowait(None)

    async def wait_one(self) -> None:
        with trio.fail_after(20):
            await self._receive.receive()

    @property
    def waiting(self) -> int:
        return self._receive.statistics().current_buffer_used


@asynccontextmanager
async def open_listening(*words: str, era: Era) -> AsyncGenerator[tuple[Client, Notices]]:
    """An agent that hears of changes as its era tells of them."""
    notices = Notices()
    async with AsyncExitStack() as stack:
        agent = await stack.enter_async_context(open_agent(*words, era=era, message_handler=notices.take))
        if era != "legacy":
            await stack.enter_async_context(agent.listen(tools_list_changed=True))
        yield agent, notices


async def says_that_lists_change(agent: Client, era: Era) -> bool:
    if era == "legacy":
        return agent.server_capabilities.model_dump()["tools"]["list_changed"] is True
    return (await agent.session.send_discover(era))["capabilities"]["tools"].get("listChanged") is True


def page_tools(listed: ListToolsResult) -> dict[str, Tool]:
    """The page tools of a list, which come after the bridge's own."""
    own = [tool.name for tool in BUILT_INS]
    assert [tool.name for tool in listed.tools[: len(own)]] == own
    return {tool.name: tool for tool in listed.tools[len(own) :]}


def facts(result: Any) -> tuple[str, bool]:
    assert result.is_error
    return result.structured_content["code"], result.structured_content["dispatched"]


async def call_in_page(agent: Client, tool: str, **arguments: object) -> str:
    answer = await agent.call_tool("call_page_tool", {"page": "p1", "tool": tool, "arguments": arguments})
    assert not answer.is_error, text_of(answer)
    return text_of(answer)


@pytest.mark.feature("direct.tools")
@pytest.mark.parametrize("era", ERAS)
async def test_page_tools_are_listed_called_and_announced_once_a_change(era: Era, site: Site):
    async with open_listening("--direct", era=era) as (agent, notices):
        assert await says_that_lists_change(agent, era)
        assert page_tools(await agent.list_tools()) == {}

        await agent.call_tool("open_page", {"url": site.page("/grow", GROWING)})
        await notices.wait_one()
        tools = page_tools(await agent.list_tools())
        added = await agent.call_tool("page_add", {"a": 1, "b": 2})
        wrong = await agent.call_tool("page_add", {"a": "1"})
        unknown = await agent.call_tool("page_nope", {})

        await call_in_page(agent, "sameAgain")
        await agent.call_tool("navigate_page", {"page": "p1", "action": "reload"})
        assert text_of(await agent.call_tool("page_add", {"a": 2, "b": 2})) == "4"
        assert notices.waiting == 0

        await call_in_page(agent, "grow", name="a/b")
        await notices.wait_one()
        grown = page_tools(await agent.list_tools())
        assert text_of(await agent.call_tool("page_a_b", {})) == "grown"

        await agent.call_tool("close_page", {"page": "p1"})
        await notices.wait_one()
        assert page_tools(await agent.list_tools()) == {}
        gone = await agent.call_tool("page_add", {"a": 1, "b": 2})
        assert notices.waiting == 0

    assert list(tools) == ["page_add", "page_where", "page_sameAgain", "page_grow"]
    assert (text_of(added), bool(added.is_error)) == ("3", False)
    assert facts(wrong) == ("arguments_invalid", False)
    assert facts(unknown) == ("tool_not_found", False)
    assert list(grown) == [*tools, "page_a_b"]
    assert facts(gone) == ("page_gone", False)

    shown = tools["page_add"]
    assert shown.title == "add"
    assert shown.meta == {
        "pagebridge": {"page": "p1", "id": "#0.0", "name": "add", "group": "Test tools", "origin": site.origin}
    }
    assert shown.description == f"Tool of page p1 ({site.origin}), described by it: Add two numbers"
    assert shown.annotations is not None
    assert (shown.annotations.read_only_hint, shown.annotations.destructive_hint) == (False, True)
    assert shown.annotations.open_world_hint is True


@pytest.mark.feature("direct.names")
async def test_twins_in_two_pages_are_told_apart_and_keep_their_names(site: Site):
    page = offering(tool("where", "() => location.pathname"))
    async with open_agent("--direct", "--open", site.page("/one", page), "--open", site.page("/two", page)) as agent:
        await agent.call_tool("list_pages", {})
        tools = page_tools(await agent.list_tools())
        answers = [text_of(await agent.call_tool(name, {})) for name in tools]
        await agent.call_tool("close_page", {"page": "p1"})
        left = page_tools(await agent.list_tools())
        gone = await agent.call_tool("page_where", {})

    assert list(tools) == ["page_where", "page_where_p2"]
    assert answers == ["/one", "/two"]
    assert list(left) == ["page_where_p2"]
    assert facts(gone) == ("page_gone", False)


async def test_a_direct_call_runs_what_was_listed_or_nothing(site: Site):
    there = site.elsewhere()
    changing = offering(
        tool("act", "() => 'changed'", description="New"),
        before="fetch('/ran');",
    )
    site.page("/scope", offering(tool("act", "() => location.origin")))
    async with open_agent("--direct", "--open", site.origin + "/scope") as agent:
        await agent.call_tool("list_pages", {})
        assert list(page_tools(await agent.list_tools())) == ["page_act"]
        await agent.call_tool("navigate_page", {"page": "p1", "url": there.origin + "/scope"})
        elsewhere = [await agent.call_tool("page_act", {}) for _ in range(2)]
        assert list(page_tools(await agent.list_tools())) == ["page_act"]
        listed_anew = await agent.call_tool("page_act", {})

        site.page("/scope", changing)
        await agent.call_tool("navigate_page", {"page": "p1", "action": "reload"})
        stale = await agent.call_tool("page_act", {})
        told = await agent.call_tool("page_act", {})

    assert [facts(answer) for answer in elsewhere] == [("origin_changed", False)] * 2
    assert text_of(listed_anew) == there.origin
    assert facts(stale) == ("tool_stale", False)
    assert stale.structured_content is not None
    assert stale.structured_content["listing"]["pages"][0]["groups"][0]["tools"][0]["description"] == "New"
    assert text_of(told) == "changed"


@pytest.mark.feature("direct.tools")
async def test_more_tools_than_clients_take_are_cut_and_the_rest_is_told(site: Site):
    many = offering(*(tool(f"tool{number}", f"() => {number}") for number in range(150)))
    async with open_agent("--direct", "--open", site.page("/many", many)) as agent:
        await agent.call_tool("list_pages", {})
        tools = page_tools(await agent.list_tools())
        first = text_of(await agent.call_tool("page_tool99", {}))
        rest = text_of(await agent.call_tool("call_page_tool", {"page": "p1", "tool": "tool140"}))
        problems = read(await agent.call_tool("list_page_tools", {"page": "p1"}))["pages"][0]["problems"]

    assert len(tools) == limits.DIRECT_TOOLS
    assert (first, rest) == ("99", "140")
    left = 150 - limits.DIRECT_TOOLS
    assert any(problem.startswith(f"{left} tools of this page are not offered") for problem in problems)


@pytest.fixture
def with_names(tmp_path: Path) -> Path:
    """A browser to which all of .test is this machine."""
    script = tmp_path / "browser"
    browser = shlex.quote(str(find_browser()))
    script.write_text(f'#!/bin/sh\nexec {browser} --host-resolver-rules="MAP *.test 127.0.0.1" "$@"\n')
    script.chmod(0o755)
    return script


@pytest.mark.feature("direct.origins")
async def test_a_foreign_origin_is_offered_only_where_it_was_named(site: Site, with_names: Path):
    site.page("/foreign", offering(tool("where", "() => location.host")))
    named, other = (site.origin.replace("127.0.0.1", host) for host in ("shop.test", "other.test"))
    trusted = ("--trust-origin", named, "--trust-origin", "http://other.test")
    pages = ("--open", other + "/foreign", "--open", named + "/foreign")
    async with open_agent("--direct", "--browser", str(with_names), *trusted, *pages) as agent:
        await agent.call_tool("list_pages", {})
        tools = page_tools(await agent.list_tools())
        where = text_of(await agent.call_tool("page_where", {}))
        foreign = read(await agent.call_tool("list_page_tools", {"page": "p1"}))["pages"][0]
        by_page = await call_in_page(agent, "where")

    assert list(tools) == ["page_where"]
    assert where == named.removeprefix("http://")
    assert any(other in problem and "--trust-origin" in problem for problem in foreign["problems"])
    assert by_page == other.removeprefix("http://")


SCHEMAS = (
    "{}",
    "{properties: {type: {type: 'string'}, required: {}, properties: {}, $ref: {}}}",
    "{anyOf: [{type: 'object', required: ['a']}, {type: 'object', required: ['b']}]}",
    "{type: 'object', properties: {a: {$ref: '#/definitions/A'}}, definitions: {A: {type: ['string', 'null']}}}",
    "{type: 'object', properties: {pair: {type: 'array', items: [{type: 'string'}, {type: 'number'}]}}}",
    "{type: 'object', properties: {n: {type: 'string', nullable: true, 'x-mcp-type': 'any'}}}",
    "{type: 'array', items: {}}",
    "{$ref: 'https://example.com/schema.json'}",
)


@pytest.mark.feature("pages.schemas")
@pytest.mark.parametrize("profile", ["standard", "strict"])
async def test_a_strict_client_takes_every_schema(profile: str, site: Site):
    odd = offering(*(tool(f"odd{number}", "() => 1", schema) for number, schema in enumerate(SCHEMAS)))
    words = ("--direct", "--schema-profile", profile, "--open", site.page("/odd", odd))
    async with open_agent(*words) as agent:
        await agent.call_tool("list_pages", {})
        listed = await agent.list_tools()
        [group] = read(await agent.call_tool("list_page_tools", {"page": "p1"}))["pages"][0]["groups"]

    tools = page_tools(listed)
    listing = {tool["name"]: tool for tool in group["tools"]}
    assert "page_odd0" in tools
    assert "page_odd7" not in tools
    assert "unusable" in listing["odd7"]
    for shown in listed.tools:
        assert shown.input_schema["type"] == "object"
        Draft202012Validator.check_schema(shown.input_schema)
    for shown in tools.values():
        assert shown.title is not None
        assert listing[shown.title]["inputSchema"] == shown.input_schema


@pytest.mark.feature("mcp.small")
@pytest.mark.parametrize("era", ERAS)
async def test_without_direct_the_list_is_constant_and_nothing_is_announced(era: Era, site: Site):
    notices = Notices()
    async with open_agent(era=era, message_handler=notices.take) as agent:
        assert not await says_that_lists_change(agent, era)
        before = await agent.list_tools()
        await agent.call_tool("open_page", {"url": site.page("/grow", GROWING)})
        await call_in_page(agent, "grow", name="late")
        await agent.call_tool("list_page_tools", {})
        after = await agent.list_tools()
        with pytest.raises(MCPError):
            await agent.call_tool("page_add", {"a": 1, "b": 2})
        if era != "legacy":
            with pytest.raises(MCPError) as refused:
                async with agent.listen(tools_list_changed=True):
                    pass
            assert refused.value.error.code == METHOD_NOT_FOUND

    assert before == after
    assert page_tools(after) == {}
    assert len(after.model_dump_json(by_alias=True, exclude_none=True)) < 4096
    assert notices.waiting == 0


async def test_the_list_does_not_wait_for_a_browser(tmp_path: Path):
    never = tmp_path / "browser"
    never.write_text("#!/bin/sh\nexec sleep 60\n")
    never.chmod(0o755)
    async with open_raw("--direct", "--browser", str(never)) as client:
        assert (await client.initialize())["capabilities"]["tools"]["listChanged"] is True
        with trio.fail_after(5):
            assert len((await client.result(await client.ask("tools/list")))["tools"]) == len(BUILT_INS)


async def test_a_client_that_listens_may_leave_at_any_time(site: Site):
    meta = {
        PROTOCOL_VERSION_META_KEY: "2026-07-28",
        CLIENT_CAPABILITIES_META_KEY: {},
        CLIENT_INFO_META_KEY: {"name": "raw", "version": "1"},
    }
    async with open_raw("--direct", "--open", site.page("/grow", GROWING)) as client:
        request = await client.ask("subscriptions/listen", notifications={"toolsListChanged": True}, _meta=meta)
        ours = {"io.modelcontextprotocol/subscriptionId": request}
        methods = []
        while "notifications/tools/list_changed" not in methods:
            message = await client.receive()
            assert message is not None
            assert message["params"]["_meta"] == ours
            methods.append(message["method"])
        await client.close_stdin()
        with trio.fail_after(5):
            assert await client.process.wait() == 0
        await client.rest()

    assert methods == ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"]
    assert b"Traceback" not in client.errors


async def test_a_browser_that_ends_takes_its_tools_along(site: Site):
    async with open_raw("--direct", "--open", site.page("/grow", GROWING)) as client:

        async def wait_notice() -> None:
            while (message := await client.receive()) is not None:
                if message.get("method") == "notifications/tools/list_changed":
                    return

        async def count_tools() -> int:
            return len((await client.result(await client.ask("tools/list")))["tools"])

        await client.initialize()
        await wait_notice()
        before = await count_tools()
        for process in children_of(client.process.pid):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        await wait_notice()
        after = await count_tools()

    assert (before, after) == (len(BUILT_INS) + 4, len(BUILT_INS))
