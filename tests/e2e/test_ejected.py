"""An ejected tool does for an agent what the built-in one does, until somebody changes it."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from mcp import Client
from mcp_types import CallToolResult, TextContent

from bridge import cli
from tests.e2e.client import open_agent, text_of
from tests.sites import Site, offering, tool

PAGE = "<h1>Tides</h1><button>Ask</button>" + offering(tool("add", "({a, b}) => a + b"))
NAMES = ("call_page_tool", "take_snapshot", "click")


def said(answer: CallToolResult, document: str) -> tuple[list[str], bool]:
    """Its blocks, without the digits of frames and of uids, which are others each time."""
    texts = [block.text for block in answer.content if isinstance(block, TextContent)]
    return [re.sub("page_content_[0-9a-f]+", "frame", text.replace(document, "")) for text in texts], answer.is_error


async def look(client: Client) -> tuple[dict[str, object], list[tuple[list[str], bool]]]:
    """The tools, and what they answer."""
    tools: dict[str, object] = {}
    for one in (await client.list_tools()).tools:
        tools[one.name] = one.title, one.description, list(one.input_schema["properties"]), one.annotations
    page = {"page": "p1"}
    snapshot = await client.call_tool("take_snapshot", page)
    uid = next(line.split()[0] for line in text_of(snapshot).splitlines() if "Ask" in line)
    clicked = await client.call_tool("click", {**page, "uid": uid})
    added = await client.call_tool("call_page_tool", {**page, "tool": "add", "arguments": {"a": 1, "b": 2}})
    return tools, [said(answer, uid.partition("-")[2]) for answer in (snapshot, clicked, added)]


@pytest.mark.feature("manifest.eject")
async def test_an_agent_gets_the_same_once_tools_are_ejected(tmp_path: Path, site: Site):
    lines = [f'{name} = "builtin:{name}"' for name in NAMES]
    (tmp_path / "pagebridge.toml").write_text("\n".join(["[tools]", *lines]))
    words = ("--open", site.page("/tides", PAGE), "--project", str(tmp_path))

    async with open_agent(*words) as client:
        tools, answers = await look(client)
    for name in NAMES:
        CliRunner().invoke(cli.main, ["tools", "eject", name, "--project", str(tmp_path)], catch_exceptions=False)
    async with open_agent(*words) as client:
        ejected_tools, ejected_answers = await look(client)

    assert "builtin" not in (tmp_path / "pagebridge.toml").read_text().replace("from builtin", "")
    assert {name: ejected_tools[name] for name in tools} == tools
    assert ejected_answers == answers
    assert [failed for _, failed in answers] == [False, False, False]
