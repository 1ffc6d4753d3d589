"""Where each key of a TOML text stands: what the parsers keep to themselves, and what a person wants to be told.

Reads the text before it is known to be TOML, and stops where it is none: the parser says why. So that no parser spends
minutes on it, a key of too many parts, or too many brackets in each other, are refused here. Takes one look at each
character.
"""

import re
import tomllib
from contextlib import suppress
from typing import Final, NamedTuple

from bridge import limits

Place = tuple[str | int, ...]
"""A key and the keys that it is under; a number is an item of an array."""

_SPACE: Final = re.compile(r"[ \t]*+")
_GAP: Final = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]++")
_STRING: Final = re.compile(
    r'"""(?:[^"\\]++|\\[\s\S]|"{1,2}(?!"))*+"{3,5}'
    r"|'''(?:[^']++|'{1,2}(?!'))*+'{3,5}"
    r'|"(?!"")(?:[^"\\\n]++|\\[^\n])*+"'
    r"|'(?!'')[^'\n]*+'"
)
_WORD: Final = re.compile(r"[^,\[\]{}#\n]++")
"""A number, a date or a boolean, and the spaces behind it."""


class TextFault(ValueError):
    """What a text must not have, whatever TOML says to it; `str` is a sentence.

    Attributes:
        line: where, from 1.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def find_lines(text: str) -> dict[Place, int]:
    """The line of each table, key and item, from 1; of what follows a fault of the text, none.

    Raises:
        TextFault: a key has too many parts or is there twice, or too much is inside of each other.
    """
    scanner = _Scanner(text)
    with suppress(_NoToml):
        scanner.document()
    return scanner.lines


class _NoToml(Exception):
    """The rest is for the parser to complain of."""


class _Key(NamedTuple):
    parts: tuple[str, ...]
    line: int


class _Scanner:
    def __init__(self, text: str) -> None:
        self.lines: dict[Place, int] = {}
        self._text = text
        self._at = 0
        self._line = 1
        self._counted = 0
        self._arrays: dict[Place, int] = {}
        self._written: dict[Place, int] = {}

    def document(self) -> None:
        table: Place = ()
        while True:
            self._skip(_GAP)
            if self._at == len(self._text):
                return
            if self._take("[["):
                table = self._array_of_tables()
            elif self._take("["):
                key = self._key()
                self._expect("]")
                table = self._inside_arrays(key.parts)
                self._note(table, key.line)
            else:
                self._pair(table, 0)
            self._skip(_SPACE)
            if self._at < len(self._text) and self._text[self._at] not in "\r\n#":
                raise _NoToml

    def _array_of_tables(self) -> Place:
        key = self._key()
        self._expect("]]")
        place = self._inside_arrays(key.parts[:-1]) + key.parts[-1:]
        index = self._arrays[place] = self._arrays.get(place, -1) + 1
        self._note((*place, index), key.line)
        return (*place, index)

    def _inside_arrays(self, parts: tuple[str, ...]) -> Place:
        """Where a header leads to: where there are several tables of a name, to the last."""
        place: Place = ()
        for part in parts:
            place = (*place, part)
            if place in self._arrays:
                place = (*place, self._arrays[place])
        return place

    def _pair(self, table: Place, depth: int) -> None:
        key = self._key()
        self._expect("=")
        place = table + key.parts
        self._note(place, key.line)
        self._skip(_SPACE)
        self._value(place, depth)

    def _value(self, place: Place, depth: int) -> None:
        if depth == limits.MANIFEST_DEPTH and self._text.startswith(("[", "{"), self._at):
            raise TextFault(self._now(), f"More than {limits.MANIFEST_DEPTH} brackets are inside of each other here.")
        if self._take("["):
            self._array(place, depth + 1)
        elif self._take("{"):
            self._inline_table(place, depth + 1)
        elif not self._skip(_STRING) and not self._skip(_WORD):
            raise _NoToml

    def _array(self, place: Place, depth: int) -> None:
        index = 0
        self._skip(_GAP)
        while not self._take("]"):
            self._note((*place, index), self._now())
            self._value((*place, index), depth)
            index += 1
            self._skip(_GAP)
            if not self._take(","):
                self._expect("]")
                return
            self._skip(_GAP)

    def _inline_table(self, place: Place, depth: int) -> None:
        self._skip(_GAP)
        while not self._take("}"):
            self._pair(place, depth)
            self._skip(_GAP)
            if not self._take(","):
                self._expect("}")
                return
            self._skip(_GAP)

    def _key(self) -> _Key:
        parts: list[str] = []
        while True:
            self._skip(_SPACE)
            start = self._at
            if self._skip(_BARE):
                parts.append(self._text[start : self._at])
            elif not self._text.startswith(('"""', "'''"), start) and self._skip(_STRING):
                parts.append(_unquote(self._text[start : self._at]))
            else:
                raise _NoToml
            if len(parts) > limits.MANIFEST_DEPTH:
                raise TextFault(self._now(), f"A key has more than {limits.MANIFEST_DEPTH} parts here.")
            self._skip(_SPACE)
            if not self._take("."):
                return _Key(tuple(parts), self._now())

    def _note(self, place: Place, line: int) -> None:
        """Remember the line of what is written out there; what was only implied before may be written out once."""
        if (before := self._written.get(place)) is not None:
            shown = ".".join(map(str, place))
            raise TextFault(line, f"{shown} is there a second time, after line {before}. Keep one of the two.")
        self._written[place] = self.lines[place] = line
        for count in range(1, len(place)):
            self.lines.setdefault(place[:count], line)

    def _now(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self._text, self._at)
        if found is None:
            return False
        self._at = found.end()
        return True

    def _take(self, word: str) -> bool:
        if not self._text.startswith(word, self._at):
            return False
        self._at += len(word)
        return True

    def _expect(self, word: str) -> None:
        self._skip(_SPACE)
        if not self._take(word):
            raise _NoToml


def _unquote(quoted: str) -> str:
    try:
        return tomllib.loads(f"key = {quoted}")["key"]
    except ValueError as error:
        raise _NoToml from error
