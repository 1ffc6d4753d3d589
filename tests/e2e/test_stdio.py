"""The real MCP client over real stdio, a real page in a real Chromium."""

import json

import pytest
from mcp import MCPError
from mcp_types import INVALID_PARAMS

from bridge import limits
from bridge.calls.built_ins import BUILT_INS
from bridge.serve.greeting import INSTRUCTIONS
from tests.e2e.client import ERAS, Era, open_agent, open_raw, read, text_of
from tests.sites import Site, offering, tool

PAGE = offering(
    tool(
        "add",
        "({a, b}) => a + b",
        "{type: 'object', properties: {a: {type: 'number'}, b: {type: 'number'}}, required: ['a', 'b']}",
    ),
    tool("fail", "() => { throw new RangeError('too far') }"),
    tool("big", "({size}) => 'x'.repeat(size)"),
)


@pytest.mark.feature("pages.discovery", "mcp.versions")
@pytest.mark.parametrize("era", ERAS)
async def test_an_agent_lists_and_calls_what_a_page_defines(era: Era, site: Site):
    async with open_agent("--open", site.page("/agent", PAGE), era=era) as agent:
        assert agent.protocol_version == ("2025-11-25" if era == "legacy" else era)
        tools = (await agent.list_tools()).tools
        [page] = read(await agent.call_tool("list_pages", {}))["pages"]
        handle = page["page"]
        listing = read(await agent.call_tool("list_page_tools", {"page": handle}))["pages"][0]

        right = await agent.call_tool("call_page_tool", {"page": handle, "tool": "add", "arguments": {"a": 1, "b": 2}})
        wrong = await agent.call_tool("call_page_tool", {"page": handle, "tool": "add", "arguments": {"a": "1"}})
        unknown = await agent.call_tool("call_page_tool", {"page": handle, "tool": "nope"})
        nowhere = await agent.call_tool("call_page_tool", {"page": "p77", "tool": "add"})
        thrown = await agent.call_tool("call_page_tool", {"page": handle, "tool": "fail"})
        with pytest.raises(MCPError) as no_such_tool:
            await agent.call_tool("add", {"a": 1, "b": 2})

    assert [tool.name for tool in tools] == [tool.name for tool in BUILT_INS]
    assert handle == "p1"
    assert page["tools"] == 3
    assert [tool["name"] for tool in listing["groups"][0]["tools"]] == ["add", "fail", "big"]
    assert (text_of(right), bool(right.is_error)) == ("3", False)
    assert outcome(wrong) == ("arguments_invalid", "rejected", False)
    assert outcome(unknown) == ("tool_not_found", "rejected", False)
    assert outcome(nowhere) == ("page_gone", "rejected", False)
    assert outcome(thrown) == ("tool_threw", "failed", True)
    assert "RangeError: too far" in text_of(thrown)
    assert no_such_tool.value.error.code == INVALID_PARAMS


@pytest.mark.feature("calls.elements")
async def test_an_element_that_a_result_gave_goes_back_into_a_call(site: Site):
    page = "<button id=add>Add to cart</button>" + offering(
        tool("find", "() => document.querySelector('button')"),
        tool(
            "explain", "({at}) => `${at.outerHTML} is explained`", "{properties: {at: {'x-mcp-type': 'HTMLElement'}}}"
        ),
    )
    async with open_agent("--open", site.page("/elements", page)) as agent:
        element = json.loads(text_of(await agent.call_tool("call_page_tool", {"page": "p1", "tool": "find"})))
        explained = [
            text_of(await agent.call_tool("call_page_tool", {"page": "p1", "tool": "explain", "arguments": {"at": at}}))
            for at in (element, {"selector": "#add"})
        ]

    assert element["describe"] == "<button id=add> “Add to cart”"
    assert explained == ['<button id="add">Add to cart</button> is explained'] * 2


def outcome(result):
    assert result.is_error
    facts = result.structured_content
    return facts["code"], facts["outcome"], facts["dispatched"]


@pytest.mark.feature("results.long")
@pytest.mark.parametrize("words", [(), ("--debug-port", "0")], ids=["pipe", "websocket"])
async def test_results_of_any_size_come_over_both_transports(words: tuple[str, ...], site: Site):
    async with open_agent("--open", site.page("/sizes", PAGE), *words) as agent:
        for size in (1, 1_000_000, 20_000_000, 3):
            result = await agent.call_tool("call_page_tool", {"page": "p1", "tool": "big", "arguments": {"size": size}})
            text = text_of(result)
            assert not result.is_error, text
            assert text.startswith("x" * min(size, 1000))
            assert len(text.encode()) <= limits.INLINE_BYTES
            assert (f"{size:,} bytes" in text) == (size > limits.INLINE_BYTES)


@pytest.mark.feature("mcp.small")
async def test_built_in_tools_are_few_small_and_valid(site: Site):
    async with open_agent() as agent:
        listed = await agent.list_tools()

    size = len(listed.model_dump_json(by_alias=True, exclude_none=True))
    assert size < 4096, f"tools/list has {size} bytes"
    for tool_ in listed.tools:
        assert tool_.input_schema["type"] == "object"
    assert len(INSTRUCTIONS.split()) < 120


@pytest.mark.threat("C4")
async def test_misspelt_arguments_of_a_built_in_tool_are_named(site: Site):
    async with open_agent() as agent:
        answer = await agent.call_tool("open_page", {"link": site.origin})

    assert outcome(answer) == ("arguments_invalid", "rejected", False)
    assert "link" in text_of(answer)
    assert "url" in text_of(answer)


@pytest.mark.feature("pages.listing")
async def test_structured_content_says_the_same_as_the_text(site: Site):
    async with open_agent("--open", site.page("/same", PAGE)) as agent:
        for name, given in (("list_pages", {}), ("list_page_tools", {"page": "p1"})):
            result = await agent.call_tool(name, given)
            assert result.structured_content == json.loads(text_of(result))


async def test_the_first_word_is_answered_once_however_it_comes(site: Site):
    request = {
        "jsonrpc": "2.0",
        "id": "first",
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
    }
    line = json.dumps(request).encode()
    async with open_raw("--open", site.page("/word", PAGE)) as client:
        assert client.process.stdin is not None
        await client.process.stdin.send_all(line[:30])
        await client.process.stdin.send_all(line[30:] + b'\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        first = await client.receive()
        listed = await client.ask("tools/list")
        second = await client.receive()

    assert first is not None
    assert (first["id"], first["result"]["protocolVersion"]) == ("first", "2025-06-18")
    assert second is not None
    assert second["id"] == listed


async def test_a_first_word_that_is_none_is_answered_by_the_sdk():
    async with open_raw() as client:
        request = await client.ask("ping")
        message = await client.receive()

    assert message is not None
    assert message["id"] == request
