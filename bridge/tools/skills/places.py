"""JSON of a skill with the line of each value, which `json` does not tell."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

from bridge import limits
from bridge.tools.bounds import nesting
from bridge.tools.json_text import read_integer, refuse_constant

_SPACE: Final = re.compile(r"[ \t\n\r]*")


_DECODER: Final = json.JSONDecoder(parse_constant=refuse_constant, parse_int=read_integer)


class _Lines:
    """Which line of a file a character of a text in it is on."""

    def __init__(self, text: str, first_line: int) -> None:
        self._ends = [found.start() for found in re.finditer("\n", text)]
        self._first_line = first_line

    def of(self, at: int) -> int:
        return self._first_line + bisect_left(self._ends, at)


@dataclass(frozen=True)
class Node:
    """One value, and where it stands."""

    value: Any
    text: str
    at: int
    lines: _Lines

    @property
    def line(self) -> int:
        return self.lines.of(self.at)

    @property
    def object(self) -> dict[str, Any] | None:
        """The value, if it is an object."""
        value = cast("object", self.value)
        return cast("dict[str, Any]", value) if isinstance(value, dict) else None

    def find_repeated(self) -> str | None:
        """A name that is twice in one object, at any depth."""
        repeated: list[str] = []

        def note(pairs: list[tuple[str, Any]]) -> None:
            seen: set[str] = set()
            repeated.extend(name for name, _ in pairs if name in seen or seen.add(name))

        json.JSONDecoder(object_pairs_hook=note).raw_decode(self.text, self.at)
        return repeated[0] if repeated else None

    def members(self) -> Iterator[tuple[str, "Node"]]:
        """Of an object, in order; a name may come twice."""
        at = _skip(self.text, self.at + 1)
        while self.text[at] != "}":
            name, end = _DECODER.raw_decode(self.text, at)
            member, end = self._read(_skip(self.text, _skip(self.text, end) + 1))
            yield name, member
            at = self._next(end)

    def items(self) -> Iterator["Node"]:
        """Of an array."""
        at = _skip(self.text, self.at + 1)
        while self.text[at] != "]":
            item, end = self._read(at)
            yield item
            at = self._next(end)

    def _read(self, at: int) -> tuple["Node", int]:
        value, end = _DECODER.raw_decode(self.text, at)
        return Node(value, self.text, at, self.lines), end

    def _next(self, end: int) -> int:
        at = _skip(self.text, end)
        return _skip(self.text, at + 1) if self.text[at] == "," else at


def read_json(text: str, first_line: int) -> Node:
    """Read a whole text.

    Raises:
        ValueError: it is none; a `json.JSONDecodeError` has the line, counted from 1 in the text.
    """
    try:
        value = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if nesting(value) > limits.SCHEMA_DEPTH * 2:
        raise ValueError("it is nested too deeply")
    try:
        text.encode()
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("it has half a character in it (a lone surrogate)") from error
    return Node(value, text, _skip(text, 0), _Lines(text, first_line))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()
