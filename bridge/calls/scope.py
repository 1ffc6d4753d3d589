"""May this call run, and which tool is it? A pure decision over two snapshots.

`shown` is what the agent was told last about the page, `present` is what its document offers now:

1. the same document and the tool unchanged → it runs;
2. another document of the same origin, and the tool is there again unchanged → it runs, unless a `toolset` token
   was given;
3. the tool is gone, or what the agent was told about it changed → rejected;
4. another origin → rejected, even if a tool of that name is there.
"""

from bridge.errors import OriginChanged, SchemaUnusable, ToolAmbiguous, ToolNotFound, ToolStale
from bridge.tools.tool import PageTools, Tool

NAMES_SHOWN = 10


def choose(shown: PageTools | None, present: PageTools, wanted: str, toolset: str | None = None) -> Tool:
    """Return the tool of `present` that the call means.

    Args:
        wanted: a tool's name, or its id as the listing writes it (`#0.1`).

    Raises:
        CallRejected: one of its kinds, saying what to do next.
    """
    if shown is not None and shown.origin != present.origin:
        raise _other_origin(f"Page {present.page}", shown.origin, present.origin, wanted)
    if toolset is not None and toolset != present.toolset:
        raise ToolStale(
            f"The tools of page {present.page} are not those of toolset {toolset!r} any more, so {wanted!r} was "
            f"not run. Look at the tools that are there now, whose toolset is {present.toolset!r}."
        )
    known = _find(shown, wanted) if shown is not None else []
    if len(known) > 1:
        raise _ambiguous(present.page, wanted, known)
    found = _twins(shown, present, known[0]) if shown is not None and known else _find(present, wanted)
    if len(found) > 1:
        raise _ambiguous(present.page, wanted, found)
    if not found:
        raise _missing(present, wanted, known[0] if known else None)
    tool = found[0]
    if known:
        _check_unchanged(known[0], tool)
    if tool.schema is None:
        raise SchemaUnusable(
            f"Tool {tool.name!r} can't be called, because its schema is unusable: {tool.schema_problem} "
            "Only the page's author can mend that."
        )
    return tool


def _find(tools: PageTools, wanted: str) -> list[Tool]:
    """An id means one tool even where another tool has that id as its name."""
    by_id = [tool for tool in tools if str(tool.id) == wanted] if "#" in wanted else []
    return by_id or [tool for tool in tools if tool.name == wanted]


def _twins(shown: PageTools, present: PageTools, known: Tool) -> list[Tool]:
    """The tools that may be the known one: in its own place, or else told of in the same words, or named so.

    Raises:
        OriginChanged: its name is there, and none of its origin has it.
    """
    everywhere = [tool for tool in present if tool.name == known.name and _may_stand_for(tool, known, shown, present)]
    named = [tool for tool in everywhere if tool.origin == known.origin]
    if everywhere and not named:
        raise _other_origin(f"A frame of page {present.page}", known.origin, everywhere[0].origin, known.name)
    same = [tool for tool in named if tool.fingerprint == known.fingerprint]
    in_place = [tool for tool in same if tool.id == known.id]
    return in_place or same or named


def _may_stand_for(tool: Tool, known: Tool, shown: PageTools, present: PageTools) -> bool:
    """Whether it comes from the same frame. A page that was loaded anew has other iframes: there, any may be it."""
    if shown.documents[0].home.document is present.documents[0].home.document:
        return tool.id.frame == known.id.frame
    return (tool.id.frame == "") == (known.id.frame == "")


def _other_origin(who: str, before: str, now: str, wanted: str) -> OriginChanged:
    return OriginChanged(
        f"{who} went from {before} to {now} since its tools were listed, so {wanted!r} was not run. "
        "Look at the tools that are there now before you call one."
    )


def _check_unchanged(known: Tool, tool: Tool) -> None:
    changed = [
        part
        for part, before, now in (
            ("description", known.description, tool.description),
            ("input schema", known.schema_text, tool.schema_text),
            ("kind", known.kind, tool.kind),
            ("claims", known.annotations, tool.annotations),
        )
        if before != now
    ]
    if changed:
        raise ToolStale(
            f"Tool {tool.name!r} is not what it was when it was listed: its {' and its '.join(changed)} changed. "
            "It was not run; look at it again before you call it."
        )


def _ambiguous(page: str, wanted: str, candidates: list[Tool]) -> ToolAmbiguous:
    ids = ", ".join(f"{tool.id} (group {tool.group!r}{_in_frame(tool)})" for tool in candidates)
    return ToolAmbiguous(
        f"Page {page} has {len(candidates)} tools named {wanted!r}. Call one of them by its id: {ids}."
    )


def _in_frame(tool: Tool) -> str:
    return f" in a frame of {tool.origin}" if tool.id.frame else ""


def _missing(present: PageTools, wanted: str, known: Tool | None) -> ToolNotFound | ToolStale:
    names = [tool.name for tool in present]
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    there = ", ".join(repr(name) for name in names[:NAMES_SHOWN]) + more
    advice = f"Use one of those that it offers: {there}." if names else "It offers no tools: list_page_tools says why."
    if known is not None:
        return ToolStale(
            f"Tool {known.name!r} is gone from page {present.page}, where it was when the page was listed, so it was "
            f"not run. {advice}"
        )
    return ToolNotFound(f"Page {present.page} has no tool {wanted!r}. {advice}")
