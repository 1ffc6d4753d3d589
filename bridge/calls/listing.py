"""What pages offer, as an agent reads it: in parts of a bounded number of tools."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from bridge import limits
from bridge.errors import UsageError
from bridge.settings import SchemaProfile
from bridge.tools.export import export_schema
from bridge.tools.faults import cut
from bridge.tools.tool import PageTools, Tool, ToolGroup, ToolId

MORE: Final = "More answers may come: list this page's tools again in a moment."


@dataclass(frozen=True, slots=True)
class Offer:
    """What one page answered, or why it did not.

    Attributes:
        refused: which of its tools must not run, and why.
    """

    page: str
    url: str
    tools: PageTools | None
    problems: tuple[str, ...]
    refused: Mapping[ToolId, str] = field(default_factory=dict[ToolId, str])


def cut_listing(
    offers: Sequence[Offer], group: str | None, cursor: str | None, profile: SchemaProfile = "standard"
) -> dict[str, Any]:
    """One part of a listing: at most `limits.TOOLS_PER_LISTING` tools, and the cursor of the next part.

    Args:
        group: only groups of this name.
        profile: the form of the input schemas.

    Raises:
        UsageError: the cursor is of another listing.
    """
    mark = _mark(offers, group)
    start = _read_cursor(cursor, mark)
    end = start + limits.TOOLS_PER_LISTING
    position = 0
    pages: list[dict[str, Any]] = []
    for offer in offers:
        groups: list[dict[str, Any]] = []
        for offered in _groups(offer, group):
            part = offered.tools[max(0, start - position) : max(0, end - position)]
            position += len(offered.tools)
            if part or not offered.tools:
                groups.append(_list_group(offered, part, offer, profile))
        pages.append(_list_page(offer, groups))
    listing: dict[str, Any] = {"pages": pages}
    if end < position:
        listing["next_cursor"] = f"{end}.{mark}"
    return listing


def _groups(offer: Offer, group: str | None) -> Iterator[ToolGroup]:
    for offered in offer.tools.groups if offer.tools is not None else ():
        if group is None or offered.name == group:
            yield offered


def _mark(offers: Sequence[Offer], group: str | None) -> str:
    """Stands for exactly this listing, so that a cursor can't be used on another."""
    told = [(offer.page, offer.tools.toolset if offer.tools is not None else None) for offer in offers]
    return sha256(repr((told, group)).encode()).hexdigest()[:8]


def _read_cursor(cursor: str | None, mark: str) -> int:
    if cursor is None:
        return 0
    start, _, given = cursor.partition(".")
    if given != mark or not (start.isascii() and start.isdecimal()):
        raise UsageError(
            "That cursor is of another listing; the tools may have changed meanwhile. List them without a cursor."
        )
    return int(start)


def list_offer(offer: Offer, profile: SchemaProfile = "standard") -> dict[str, Any]:
    """All that one page offers, as one listing of it alone would say in parts."""
    return _list_page(offer, [_list_group(group, group.tools, offer, profile) for group in _groups(offer, None)])


def name_tools(tools: PageTools, names: int | None = None) -> list[dict[str, Any]]:
    """Groups with the names of their tools alone.

    Args:
        names: how many of a group; what is left out is counted.
    """
    return [_name_group(group, names) for group in tools.groups]


def problems_of(tools: PageTools) -> tuple[str, ...]:
    """What an agent should know of a page's answer beside its tools."""
    return (*tools.problems, MORE) if tools.more else tools.problems


def _name_group(group: ToolGroup, names: int | None) -> dict[str, Any]:
    shown = [tool.name for tool in group.tools[:names]]
    named = {"name": group.name, **_where(group), "tools": shown}
    left_out = len(group.tools) - len(shown)
    return {**named, "left_out": left_out} if left_out else named


def _list_page(offer: Offer, groups: list[dict[str, Any]]) -> dict[str, Any]:
    listed: dict[str, Any] = {
        "page": offer.page,
        "url": offer.url,
        "origin": offer.tools.origin if offer.tools is not None else None,
        "toolset": offer.tools.toolset if offer.tools is not None else None,
        "groups": groups,
        "problems": list(offer.problems),
    }
    if offer.tools is not None and offer.tools.more:
        listed["more"] = True
    return listed


def _list_group(group: ToolGroup, tools: Sequence[Tool], offer: Offer, profile: SchemaProfile) -> dict[str, Any]:
    listed = [_list_tool(tool, offer.refused.get(tool.id), profile) for tool in tools]
    return {"name": group.name, "description": group.description, **_where(group), "tools": listed}


def _where(group: ToolGroup) -> dict[str, str]:
    """Nothing where it is the page itself, whose origin is told already."""
    return {"frame": group.frame, "origin": group.origin} if group.frame else {}


def _list_tool(tool: Tool, refused: str | None, profile: SchemaProfile) -> dict[str, Any]:
    listed: dict[str, Any] = {"id": str(tool.id), "name": tool.name, "description": tool.description}
    if tool.kind != "page":
        listed["kind"] = tool.kind
    if tool.annotations:
        listed["claims"] = dict(tool.annotations)
    if tool.schema is not None:
        listed["inputSchema"] = export_schema(tool.schema, profile)
        if tool.schema.unchecked:
            listed["unchecked_patterns"] = _pointers(tool.schema.unchecked)
    else:
        listed["unusable"] = tool.schema_problem
    if refused is not None:
        listed["not_allowed"] = refused
    return listed


def _pointers(pointers: Sequence[str]) -> list[str]:
    """Where patterns are that are not checked, since google-re2 has no form for them."""
    shown = [cut(pointer) for pointer in pointers[: limits.UNCHECKED_SHOWN]]
    return shown if len(shown) == len(pointers) else [*shown, f"… ({len(pointers)} in all)"]
