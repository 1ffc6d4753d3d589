"""Elements in the arguments of a page's tool: told to the page, which finds them, and refused where it can't."""

from collections.abc import Mapping
from typing import Any, Final

from bridge.errors import ArgumentFault, ArgumentsInvalid
from bridge.tools.bounds import escape
from bridge.tools.elements import ASKED_FOR, MARK, ElementPlace
from bridge.tools.faults import plain, shown
from bridge.tools.tool import Tool

WHY: Final[Mapping[str, str]] = {
    "gone": (
        "has the uid {}, and the tool's document has no such element now: a uid ends with its document and its "
        "element. Take one from a new result, or give a selector."
    ),
    "no match": "has the selector {}, and nothing in the tool's document matches it now. Look at the page first.",
    "no selector": "has the selector {}, which is not valid CSS. Mend it and call again.",
}
"""Each reads on from the name of the place."""


def find_elements(tool: Tool, arguments: dict[str, Any], text: str) -> list[ElementPlace]:
    """Where checked arguments name elements; `text` is the JSON of them.

    Raises:
        ArgumentsInvalid: they do, and the tool can't get any.
    """
    schema = tool.schema
    if schema is None or (f'"{MARK}"' not in schema.text and '"uid"' not in text):
        return []
    places = schema.find_elements(arguments)
    if tool.kind == "page":
        return places
    # What a registered tool gets goes through Chromium, as JSON.
    for place in places:
        if place.certain:
            why = (
                "names an element, and a WebMCP tool can get none: its arguments are JSON. Only the page can mend that."
            )
            raise _refusal(tool, place, why)
    return []


def words_of(place: ElementPlace) -> dict[str, Any]:
    """A place as page_shims/values.d.ts describes it."""
    return {"path": list(place.path), "by": place.name.by, "name": place.name.text, "certain": place.certain}


def not_there(tool: Tool, place: ElementPlace, why: str) -> ArgumentsInvalid:
    """The document has no such element; `why` is a word of page_shims/placeElements.js."""
    return _refusal(tool, place, WHY.get(why, WHY["no match"]).format(shown(place.name.text)))


def _refusal(tool: Tool, place: ElementPlace, problem: str) -> ArgumentsInvalid:
    pointer = plain("".join(f"/{escape(step)}" for step in place.path))
    message = f"Arguments for {tool.name!r} were not passed on: {pointer} {problem}"
    return ArgumentsInvalid(message, [ArgumentFault(pointer, ASKED_FOR)])
