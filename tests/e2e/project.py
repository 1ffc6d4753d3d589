"""A project in a folder, and `pagebridge serve` over it."""

import textwrap
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, TextContent

from bridge.manifest.secrets import find_secrets, set_secret
from tests.e2e.client import Era, open_agent
from tests.sites import offering, tool

PAGE = offering(
    tool("add", "({a, b}) => a + b"),
    tool("said", "() => 'words of the page'"),
    tool("move", "({text}) => { location.hash = text }"),
    tool("throws", "() => { throw new Error('words of the page') }"),
    tool("tell", "({text}) => text"),
    tool("tells", "({text}, {progress}) => { progress({done: 1, message: text}); throw new Error(text) }"),
)


@dataclass
class Project:
    """Its manifest names what was written, unless a test writes its own."""

    folder: Path
    lines: dict[str, str] = field(default_factory=dict)

    def write(self, path: str, source: str) -> Path:
        file = self.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(textwrap.dedent(source), encoding="utf-8")
        return file

    def module(self, name: str, source: str) -> None:
        """A module under `[tools]`, as it is."""
        self.write(f"tools/{name}.py", source)
        self.lines[name] = f"tools/{name}.py"

    def tool(self, name: str, body: str, *, head: str = "", parameters: str = "{'type': 'object'}") -> None:
        """A module with `async def execute(args, context)` of this body."""
        code = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
        self.module(
            name,
            f"{textwrap.dedent(head)}\ndescription = {name!r}\nparameters = {parameters}\n\n"
            f"async def execute(args, context):\n{code}\n",
        )

    def declare(self, *built_ins: str, before: str = "", after: str = "") -> None:
        """Write the manifest: these built-in tools, and all modules."""
        lines = {name: f"builtin:{name}" for name in built_ins} | self.lines
        tools = "\n".join(f'{name} = "{source}"' for name, source in lines.items())
        self.write("pagebridge.toml", f"{before}\n[tools]\n{tools}\n{textwrap.dedent(after)}\n")

    def set_secret(self, name: str, text: str) -> None:
        set_secret(find_secrets(self.folder), name, text)

    @asynccontextmanager
    async def open(self, *words: str, era: Era = "legacy", **more: Any) -> AsyncGenerator[Client]:
        async with open_agent(*words, "--project", str(self.folder), era=era, **more) as agent:
            yield agent


def whole_text(result: CallToolResult) -> str:
    """All its texts as the agent reads them, frames and all."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


async def names_of(agent: Client) -> Sequence[str]:
    return [tool.name for tool in (await agent.list_tools()).tools]


async def refused(agent: Client, name: str, arguments: dict[str, Any] | None = None) -> str:
    """The sentence of the protocol error that a call of a tool that is not there gets."""
    with pytest.raises(MCPError) as caught:
        await agent.call_tool(name, arguments or {})
    assert caught.value.error.code == INVALID_PARAMS
    return caught.value.error.message
