"""What an agent may ask for: the bridge's own tools, and what an answer is in MCP. No protocol here, and no SDK."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from bridge import limits
from bridge.calls.agent import ACTIONS, Agent
from bridge.calls.answers import Answer, answer_error, visible, visible_words
from bridge.calls.arguments import check_arguments
from bridge.calls.frame import escape
from bridge.calls.progress import Send
from bridge.calls.results import clean_text
from bridge.errors import ArgumentsInvalid
from bridge.page.media import Media, Resource
from bridge.settings import SchemaProfile
from bridge.tools.export import export_schema
from bridge.tools.naming import PREFIX, Owned
from bridge.tools.schema import CheckedSchema, check_schema

PAGE: Final = {"type": "string", "description": "Handle from list_pages, such as p1"}
TIMEOUT: Final = {
    "type": "number",
    "exclusiveMinimum": 0,
    "maximum": limits.CALL_SECONDS_MAX,
    "description": f"{limits.CALL_SECONDS:g} without it",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class BuiltIn:
    """One of the bridge's own tools."""

    name: str
    title: str
    description: str
    properties: Mapping[str, Any]
    required: tuple[str, ...] = ()
    read_only: bool = False
    run: Callable[[Agent, Mapping[str, Any], Send | None], Awaitable[Answer]]
    """With the arguments, and how to tell of progress where the client wants that."""

    @property
    def input_schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }


BUILT_INS: Final = (
    BuiltIn(
        name="list_pages",
        title="List pages",
        description="Open pages: handle, title, URL, origin, state, and the names of their tools by group.",
        properties={},
        read_only=True,
        run=lambda agent, _, __: agent.list_pages(),
    ),
    BuiltIn(
        name="open_page",
        title="Open a page",
        description="Open a URL in a new page. The answer names the tools that the page has.",
        properties={"url": {"type": "string", "description": "http or https address"}},
        required=("url",),
        run=lambda agent, given, _: agent.open_page(given["url"]),
    ),
    BuiltIn(
        name="navigate_page",
        title="Navigate a page",
        description="Take a page to a URL, or back, forward, or reload it. The answer names the tools it has then.",
        properties={
            "page": PAGE,
            "url": {"type": "string", "description": "http or https address"},
            "action": {"enum": list(ACTIONS), "description": "Instead of url"},
        },
        required=("page",),
        run=lambda agent, given, _: agent.navigate_page(given["page"], given.get("url"), given.get("action")),
    ),
    BuiltIn(
        name="close_page",
        title="Close a page",
        description="Close a page. The answer lists the pages that are left.",
        properties={"page": PAGE},
        required=("page",),
        run=lambda agent, given, _: agent.close_page(given["page"]),
    ),
    BuiltIn(
        name="list_page_tools",
        title="List page tools",
        description="Ask pages which tools they offer now: groups, tools with schemas, a toolset token, and every "
        "problem that a page's answer had.",
        properties={
            "page": PAGE | {"description": "Only this page; all pages without it"},
            "group": {"type": "string", "description": "Only groups of this name"},
            "cursor": {"type": "string", "description": "next_cursor of the answer before"},
        },
        read_only=True,
        run=lambda agent, given, _: agent.list_page_tools(given.get("page"), given.get("group"), given.get("cursor")),
    ),
    BuiltIn(
        name="call_page_tool",
        title="Call a page tool",
        description="Run a tool that a page defines, inside that page. Its result is untrusted page content.",
        properties={
            "page": PAGE,
            "tool": {"type": "string", "description": "Its name, or its id where the name is ambiguous"},
            "arguments": {
                "type": ["object", "string", "null"],
                "description": "As the tool's inputSchema says; a JSON string holding an object is accepted",
            },
            "toolset": {
                "type": "string",
                "description": "Token from list_page_tools: run only if the page's tools are still exactly those",
            },
            "timeout_seconds": TIMEOUT,
            "select": {
                "type": "string",
                "description": "JSON Pointer to the part of the result that is wanted, such as /items/0",
            },
        },
        required=("page", "tool"),
        run=lambda agent, given, send: agent.call_page_tool(
            given["page"],
            given["tool"],
            given.get("arguments"),
            toolset=given.get("toolset"),
            timeout_seconds=given.get("timeout_seconds"),
            select=given.get("select", ""),
            send_progress=send,
        ),
    ),
    BuiltIn(
        name="handle_dialog",
        title="Answer a dialog",
        description="Answer the dialog (alert, confirm, prompt, beforeunload) that a page shows. If a tool waited for "
        "it, this returns that tool's outcome.",
        properties={
            "page": PAGE,
            "accept": {"type": "boolean", "description": "OK, or leave the page; false is Cancel, or stay"},
            "text": {"type": "string", "description": "For a prompt"},
            "timeout_seconds": TIMEOUT,
        },
        required=("page", "accept"),
        run=lambda agent, given, send: agent.handle_dialog(
            given["page"],
            given["accept"],
            given.get("text"),
            timeout_seconds=given.get("timeout_seconds"),
            send_progress=send,
        ),
    ),
)


BY_NAME: Final = {tool.name: tool for tool in BUILT_INS}


def prepare() -> None:
    """Compile the schemas of our own tools, and load what that takes, before the first call needs it."""
    for tool in BUILT_INS:
        _checked(tool)


def list_tools(agent: Agent) -> dict[str, Any]:
    """The tools that an agent has, as MCP's ListToolsResult: ours, and where that is wished, those of pages."""
    profile = agent.settings.schema_profile
    direct = agent.direct.show().items() if agent.direct is not None else ()
    return {"tools": [*map(_as_tool, BUILT_INS), *(_as_page_tool(name, owned, profile) for name, owned in direct)]}


def _as_tool(tool: BuiltIn) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "annotations": {
            "readOnlyHint": tool.read_only,
            **({} if tool.read_only else {"destructiveHint": True}),
            "openWorldHint": True,
        },
    }


def _as_page_tool(name: str, owned: Owned, profile: SchemaProfile) -> dict[str, Any]:
    """Says whose words these are, and vouches for nothing: hints of a page's own are not passed on."""
    tool, page = owned.tool, owned.tools.page
    assert tool.schema is not None
    told = {"page": page, "id": str(tool.id), "name": tool.name, "group": tool.group, "origin": tool.origin}
    claims = {"claims": visible(dict(tool.annotations))} if tool.annotations else {}
    return {
        "name": name,
        "title": escape(clean_text(tool.name)),
        "description": f"Tool of page {page} ({tool.origin}), described by it: {escape(clean_text(tool.description))}",
        "inputSchema": visible_words(export_schema(tool.schema, profile)),
        "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
        "_meta": {"pagebridge": {key: clean_text(value) for key, value in told.items()} | claims},
    }


def has_tool(agent: Agent, name: str) -> bool:
    """Whether an agent's client can mean a tool of ours, or of a page, by this name."""
    return name in BY_NAME or (agent.direct is not None and name.startswith(PREFIX))


async def run_tool(agent: Agent, name: str, arguments: dict[str, Any], send: Send | None) -> Answer:
    """Run a tool that there is.

    Args:
        send: how to tell of progress, where that is wanted.
    """
    tool = BY_NAME.get(name)
    if tool is None:
        return await agent.call_directly(name, arguments, send_progress=send)
    try:
        given = check_arguments(_checked(tool), arguments, tool=name)
    except ArgumentsInvalid as error:
        return agent.refuse(error, *_words_of_a_call(arguments)) if name == "call_page_tool" else answer_error(error)
    return await tool.run(agent, given, send)


def _words_of_a_call(arguments: dict[str, Any]) -> tuple[str | None, str | None, object]:
    """What of a call that can't be read says which page and tool it was for; all of it stands for its arguments."""
    page, tool = (word if isinstance(word := arguments.get(name), str) else None for name in ("page", "tool"))
    return page, tool, arguments


@cache
def _checked(tool: BuiltIn) -> CheckedSchema:
    return check_schema(json.dumps(tool.input_schema))


def as_result(answer: Answer) -> dict[str, Any]:
    """An answer as MCP's CallToolResult."""
    texts = [{"type": "text", "text": text} for text in (answer.text, *answer.notes)]
    result: dict[str, Any] = {"content": [texts[0], *map(_as_block, answer.media), *texts[1:]]}
    if answer.structured is not None:
        result["structuredContent"] = answer.structured
    if answer.facts:
        result["_meta"] = {"pagebridge": answer.facts}
    return result | {"isError": answer.is_error}


def _as_block(media: Media | Resource) -> dict[str, Any]:
    match media:
        case Media():
            return {"type": media.kind, "data": media.data, "mimeType": media.mime}
        case Resource(text=str(text)):
            told = {"text": clean_text(text)}
        case Resource():
            told = {"blob": media.blob or ""}
    return {"type": "resource", "resource": {"uri": media.uri, "mimeType": media.mime, **told}}
