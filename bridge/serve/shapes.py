"""What lists of tools and answers are in MCP. No protocol here, and no SDK."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bridge.calls.answers import Answer, visible, visible_words
from bridge.calls.frame import escape
from bridge.calls.results import clean_text
from bridge.calls.toolbox import BUILT_IN, AnyTool, Offering, checked
from bridge.page.media import Media, Resource
from bridge.settings import SchemaProfile
from bridge.tools.export import export_schema
from bridge.tools.naming import Owned
from bridge.tools.sources.content import write_block


def as_list(offering: Offering) -> dict[str, Any]:
    """The tools that an agent has, as MCP's ListToolsResult: ours, and where that is wished, those of pages."""
    profile = offering.schema_profile
    ours = (_as_tool(tool, _title(tool, offering.titles), profile) for tool in offering.tools)
    return {"tools": [*ours, *(_as_page_tool(name, owned, profile) for name, owned in offering.direct.items())]}


def _title(tool: AnyTool, titles: Mapping[str, str]) -> str:
    return titles.get(tool.name, tool.title) if tool.source.startswith(BUILT_IN) else tool.title


def _as_tool(tool: AnyTool, title: str, profile: SchemaProfile) -> dict[str, Any]:
    is_ours = tool.source.startswith(BUILT_IN)
    return {
        "name": tool.name,
        "title": title,
        "description": tool.description,
        "inputSchema": tool.parameters if is_ours else export_schema(checked(tool), profile),
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


def as_result(answer: Answer) -> dict[str, Any]:
    """An answer as MCP's CallToolResult."""
    texts = [{"type": "text", "text": text} for text in (answer.text, *answer.notes)]
    if answer.media:
        texts[1:1] = map(_as_block, answer.media)
    result: dict[str, Any] = {"content": texts}
    if answer.structured is not None:
        result["structuredContent"] = answer.structured
    if answer.facts:
        result["_meta"] = {"pagebridge": answer.facts}
    result["isError"] = answer.is_error
    return result


def _as_block(media: Media | Resource) -> dict[str, Any]:
    if isinstance(media, Resource) and media.text is not None:
        media = replace(media, text=clean_text(media.text))
    return write_block(media)
