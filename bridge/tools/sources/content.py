"""What a WebMCP tool answered, as an agent reads it: such tools may answer in the form of MCP."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from bridge.errors import PageThrew
from bridge.page.invocation import Ending
from bridge.tools.tool import Tool

_SIGN: Final = '"content":['


def read_completed(tool: Tool, ending: Ending) -> Ending:
    """The ending of a tool that completed: texts in the form of MCP's content become one text.

    All else that MCP's form may hold stays data: nothing in it is fetched, shown or acted on.

    Raises:
        PageThrew: the tool said itself that it failed.
    """
    if ending.kind == "form":
        return replace(ending, kind="string", text=_waits(tool))
    if tool.kind != "webmcp" or ending.kind != "json" or _SIGN not in ending.text:
        return ending
    content = _content(ending.text)
    if content is None:
        return ending
    text = _joined(content)
    if content.get("isError") is True:
        raise PageThrew(f"Tool {tool.name!r} ran and says that it failed: {ending.text if text is None else text}")
    return ending if text is None else replace(ending, kind="string", text=text)


def _waits(tool: Tool) -> str:
    return (
        f"Tool {tool.name!r} has filled in its form, and the form waits for a person to submit it: nothing was sent. "
        "Ask the person to look at the page; afterwards, look at it yourself to see what came of it."
    )


def _content(text: str) -> Mapping[str, Any] | None:
    """An object whose `content` is a list, or None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    found = cast("dict[str, Any]", value)
    return found if isinstance(found.get("content"), list) else None


def _joined(content: Mapping[str, Any]) -> str | None:
    """The texts as one, or None where there is anything else, or nothing, to tell."""
    if not content["content"] or not content.keys() <= {"content", "isError"}:
        return None
    texts: list[str] = []
    for block in content["content"]:
        match block:
            case {"type": "text", "text": str(text), **rest} if not rest:
                texts.append(text)
            case _:
                return None
    return "\n".join(texts)
