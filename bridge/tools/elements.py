"""Elements of a page in a tool's arguments: how an agent names one, and which places mean one.

A schema says with `"x-mcp-type": "HTMLElement"` that a place takes an element. What the page says about the form of
that place beside it is about the element, so it is not asked of what an agent gives there.
"""

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from bridge.tools.keywords import Json, quiet
from bridge.tools.plain_schema import ANNOTATIONS, Schema

MARK: Final = "x-mcp-type"
UID: Final = re.compile(r"e[0-9]{1,15}-[0-9]{1,8}")
"""What page_shims/mintUid.js makes."""

ASKED_FOR: Final = 'an element, named as {"uid": "…"} or {"selector": "…"}'


def _form(description: str, name: str, **more: Schema) -> Schema:
    properties = {name: {"type": "string"}, **more}
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": [name],
        "additionalProperties": False,
    }


FORMS: Final[list[Schema]] = [
    _form("An element of the page, by the uid that a result gave for it.", "uid", describe={"type": "string"}),
    _form("The first element of the document that a CSS selector matches.", "selector"),
    {"type": "string", "description": "The uid alone."},
]
"""What an agent may give for an element, as a schema tells it."""
NOTHING: Final[Schema] = {"type": "null"}

_KEPT: Final = ANNOTATIONS.keys() | {"$id", "id", "$anchor", "$defs", "definitions"}


def mark_element(schema: Schema, *, is_root: bool) -> None:
    """Let a schema of an element ask for an element's name: in place, its mark then holds the forms of that.

    A mark that says something else is taken away, and so is that of the root: arguments are an object.
    """
    if schema.pop(MARK, None) != "HTMLElement" or is_root:
        return
    kinds = schema.get("type")
    for keyword in schema.keys() - _KEPT:
        del schema[keyword]
    schema[MARK] = quiet([*FORMS, NOTHING] if isinstance(kinds, list) and "null" in kinds else FORMS)


@dataclass(frozen=True)
class ElementName:
    """How an agent names one element."""

    by: Literal["uid", "selector"]
    text: str


def read_name(value: Json) -> ElementName | None:
    """The element that a value names, or None where it has none of the forms."""
    match value:
        case None | int() | float():
            return None
        case str() if UID.fullmatch(value):
            return ElementName("uid", str(value))
        case {"uid": str(text), "describe": str()} if len(value) == 2:
            return ElementName("uid", text)
        case {"uid": str(text)} if len(value) == 1:
            return ElementName("uid", text)
        case {"selector": str(text)} if len(value) == 1:
            return ElementName("selector", text)
        case _:
            return None


# Which places of a value mean elements: that is known by what the schema was asked of them


@dataclass(frozen=True)
class ElementPlace:
    """A place in arguments that names an element.

    Attributes:
        path: the keys and indexes that lead there.
        certain: the schema says so; else it is data, unless its uid is one of the document's.
    """

    path: tuple[str | int, ...]
    name: ElementName
    certain: bool


@dataclass(frozen=True)
class Notes:
    """Values, by identity: those that a mark was about, and those whose own keys the schema speaks of."""

    marked: set[int] = field(default_factory=set[int])
    described: set[int] = field(default_factory=set[int])

    def places(self, value: Json) -> list[ElementPlace]:
        """The places of elements in arguments, which must be what was checked; the whole is none of them."""
        found: list[ElementPlace] = []
        self._find(value, (), found)
        return found

    def _find(self, value: Json, path: tuple[str | int, ...], found: list[ElementPlace]) -> None:
        for step, part in _parts(value):
            name = read_name(part)
            if name is not None and id(part) in self.marked:
                found.append(ElementPlace((*path, step), name, certain=True))
            elif name is not None and self._may_mean(part, name):
                found.append(ElementPlace((*path, step), name, certain=False))
            elif isinstance(part, dict | list):
                self._find(part, (*path, step), found)

    def _may_mean(self, value: Json, name: ElementName) -> bool:
        if not isinstance(value, dict) or id(cast("object", value)) in self.described:
            return False
        return name.by == "uid" and UID.fullmatch(name.text) is not None


_NOTES: ContextVar[Notes | None] = ContextVar("notes", default=None)


@contextmanager
def noting() -> Generator[Notes]:
    """Note what the checks inside are about."""
    token = _NOTES.set(notes := Notes())
    try:
        yield notes
    finally:
        _NOTES.reset(token)


NOTED: Final = frozenset({MARK, "additionalProperties", "patternProperties", "properties", "required"})
"""Keywords that there is something to note of."""


def note(keyword: str, asked: Json, value: Json) -> None:
    """A schema asks `keyword` of a value."""
    notes = _NOTES.get()
    if notes is None:
        return
    match keyword:
        case "x-mcp-type":
            notes.marked.add(id(value))
        case "properties" | "required" if "uid" not in asked:
            pass
        case "properties" | "required" | "patternProperties":
            notes.described.add(id(value))
        case "additionalProperties" if asked is not True:
            notes.described.add(id(value))
        case _:
            pass


def may_name_element(asked: list[Schema], value: Json) -> bool:
    """The question that a mark asks."""
    return read_name(value) is not None or (value is None and NOTHING in asked)


def _parts(value: Json) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).items()
    return enumerate(cast("list[Any]", value)) if isinstance(value, list) else ()
