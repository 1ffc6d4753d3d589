"""Patterns as JSON Schema has them, written for google-re2: the same text matches, or there is no such form.

A pattern is read as JavaScript's `new RegExp(pattern, "u")` reads it, and where that refuses it as
`new RegExp(pattern)` does. Text is always a row of whole characters: where a pattern of the second kind would see two
halves of one (`^.$` and an emoji), ours sees one, as JSON Schema wants it.

google-re2 has no look-around and no back-references; `(?i:…)` and binary properties such as `\\p{Emoji}` are left out
too. The tables of Unicode are those of google-re2.
"""

import re
from dataclasses import dataclass
from typing import Final

Ranges = list[tuple[int, int]]

LAST: Final = 0x10FFFF
PROPERTY_WEIGHT: Final = 100
"""What a class of Unicode takes to compile, in plain characters."""


class Inexpressible(Exception):
    """google-re2 has no form for a pattern, or JavaScript refuses it."""


@dataclass(frozen=True, slots=True)
class Translation:
    """One pattern for google-re2.

    Attributes:
        places: characters that it asks for, each as often as it repeats: how many of them one character of a text
            may have to be compared with.
        weight: what it takes to compile, in places.
    """

    text: str
    places: int
    weight: int


_SPACES: Final[Ranges] = [
    (0x9, 0xD), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F),
    (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
]  # fmt: skip
_LINE_ENDS: Final[Ranges] = [(0xA, 0xA), (0xD, 0xD), (0x2028, 0x2029)]
_CONTROLS: Final = {"0": 0, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|/")
_CATEGORIES: Final = {
    "Letter": "L", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Titlecase_Letter": "Lt",
    "Modifier_Letter": "Lm", "Other_Letter": "Lo", "Mark": "M", "Combining_Mark": "M", "Nonspacing_Mark": "Mn",
    "Spacing_Mark": "Mc", "Enclosing_Mark": "Me", "Number": "N", "Decimal_Number": "Nd", "digit": "Nd",
    "Letter_Number": "Nl", "Other_Number": "No", "Punctuation": "P", "punct": "P", "Connector_Punctuation": "Pc",
    "Dash_Punctuation": "Pd", "Open_Punctuation": "Ps", "Close_Punctuation": "Pe", "Initial_Punctuation": "Pi",
    "Final_Punctuation": "Pf", "Other_Punctuation": "Po", "Symbol": "S", "Math_Symbol": "Sm", "Currency_Symbol": "Sc",
    "Modifier_Symbol": "Sk", "Other_Symbol": "So", "Separator": "Z", "Space_Separator": "Zs", "Line_Separator": "Zl",
    "Paragraph_Separator": "Zp",
}  # fmt: skip

_TOKEN: Final = re.compile(
    r"""
      (?P<open> \( (?! \?) | \(\?: | \(\?< (?P<name> [A-Za-z_$] [A-Za-z0-9_$]* ) > )
    | (?P<look> \( )
    | (?P<close> \) )
    | (?P<bar> \| )
    | (?P<edge> \^ | \$ | \\[bB] )
    | (?P<repeat> (?: [*+?] | \{ (?P<least> [0-9]+ ) (?P<comma> , (?P<most> [0-9]* ) )? \} ) \?? )
    | (?P<class> \[ \^? )
    | (?P<any> \. )
    | (?P<one> .)
    """,
    re.VERBOSE | re.DOTALL,
)
_SET: Final = re.compile(r"\\(?:[dDwWsS]|[pP]\{([A-Za-z_]+)(?:=([A-Za-z0-9_]+))?\})")
_CHARACTER: Final = re.compile(
    r"""
      \\u (?P<high> [dD][89abAB][0-9A-Fa-f]{2} ) \\u (?P<low> [dD][c-fC-F][0-9A-Fa-f]{2} )
    | \\u (?P<four> [0-9A-Fa-f]{4} )
    | \\u \{ (?P<any> [0-9A-Fa-f]+ ) \}
    | \\x (?P<two> [0-9A-Fa-f]{2} )
    | \\c (?P<control> [A-Za-z] )
    | \\ (?P<escaped> . )
    | (?P<plain> [^\\] )
    """,
    re.VERBOSE | re.DOTALL,
)


def translate_pattern(pattern: str) -> Translation:
    """The pattern for google-re2, which may still find it too large.

    Raises:
        Inexpressible: there is no such form.
    """
    return _Reader(pattern).read()


@dataclass(slots=True)
class _Group:
    """What was read of one group, or of the whole; `last_…` is its last term, where that may be repeated."""

    places: int = 0
    weight: int = 0
    last_places: int = 0
    last_weight: int = 0
    repeatable: bool = False

    def add(self, places: int, weight: int) -> None:
        self.places += places
        self.weight += weight
        self.last_places, self.last_weight, self.repeatable = places, weight, True

    def repeat(self, times: int) -> None:
        if not self.repeatable:
            raise Inexpressible("nothing to repeat")
        self.places += self.last_places * (times - 1)
        self.weight += self.last_weight * (times - 1)
        self.repeatable = False


class _Reader:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._written: list[str] = []
        self._names: set[str] = set()
        # What it has: something that means this only with `u`, something that `u` refuses.
        self._strict = self._lenient = False

    def read(self) -> Translation:
        groups = [_Group()]
        while self._at < len(self._pattern):
            token = _TOKEN.match(self._pattern, self._at)
            assert token is not None
            self._take(token, groups)
        if len(groups) > 1:
            raise Inexpressible("a group does not end")
        if self._lenient and self._strict:
            raise Inexpressible("it is for `u` and against it")
        return Translation("".join(self._written), groups[0].places, groups[0].weight)

    def _take(self, token: re.Match[str], groups: list[_Group]) -> None:
        text = token[0]
        match token.lastgroup:
            case "class":
                self._at = token.end()
                self._write(self._read_class(negated=text == "[^"), groups[-1])
                return
            case "one":
                self._write(self._read_one(), groups[-1])
                return
            case "open":
                self._name(token["name"])
                self._written.append("(?:")
                groups.append(_Group())
            case "close" if len(groups) > 1:
                self._written.append(")")
                group = groups.pop()
                groups[-1].add(group.places, group.weight + 1)
            case "bar" | "edge":
                self._written.append(text)
                groups[-1].repeatable = False
            case "any":
                self._write(_ranges(_LINE_ENDS, negated=True), groups[-1])
            case "repeat":
                self._repeat(token, groups[-1])
            case kind:
                raise Inexpressible(kind)
        self._at = token.end()

    def _name(self, name: str | None) -> None:
        if name in self._names:
            raise Inexpressible("a name is given twice")
        if name is not None:
            self._names.add(name)

    def _repeat(self, token: re.Match[str], group: _Group) -> None:
        least, most = int(token["least"] or 0), int(token["most"] or 0)
        if token["most"] and most < least:
            raise Inexpressible("it repeats less than at least")
        group.repeat(max(least, most, 1) + (1 if token["comma"] and not token["most"] else 0))
        self._written.append(token[0])

    def _write(self, term: str, group: _Group) -> None:
        self._written.append(term)
        # What google-re2 makes of ranges beyond ASCII has many parts.
        group.add(1, 1 + (len(term) >> 4) + PROPERTY_WEIGHT * (term.count("\\p") + term.count("\\P")))

    def _read_one(self) -> str:
        if (of_class := self._read_set()) is not None:
            return f"[{of_class}]"
        text = self._pattern[self._at]
        if text in "{}]":
            self._lenient = True
        return _written(self._read_character(in_class=False))

    def _read_class(self, *, negated: bool) -> str:
        """The rest of a class, behind `[` or `[^`."""
        parts: list[str] = []
        while not self._pattern.startswith("]", self._at):
            first = self._read_member()
            if self._is_range():
                self._at += 1
                parts += self._range(first, self._read_member())
            else:
                parts.append(first if isinstance(first, str) else _written(first))
        self._at += 1
        if not parts:
            return _ranges([(0, LAST)], negated=not negated)
        return f"[{'^' if negated else ''}{''.join(parts)}]"

    def _is_range(self) -> bool:
        return self._pattern.startswith("-", self._at) and not self._pattern.startswith("-]", self._at)

    def _range(self, first: int | str, last: int | str) -> list[str]:
        if isinstance(first, int) and isinstance(last, int):
            # google-re2 refuses one that is out of order, too.
            return [f"{_written(first)}-{_written(last)}"]
        # Without `u`, a `-` beside a class is only that.
        self._lenient = True
        return [part if isinstance(part, str) else _written(part) for part in (first, ord("-"), last)]

    def _read_member(self) -> int | str:
        """A character of a class, or what stands for several in google-re2's form."""
        of_class = self._read_set()
        return self._read_character(in_class=True) if of_class is None else of_class

    def _read_set(self) -> str | None:
        """The inside of a class for `\\d` and its like, or None where there is something else."""
        found = _SET.match(self._pattern, self._at)
        if found is None:
            return None
        self._at = found.end()
        if found[0] in {"\\s", "\\S"}:
            return _ranges(_SPACES, negated=found[0] == "\\S")[1:-1]
        if found[1] is None:
            return found[0]
        self._strict = True
        return f"{found[0][:2]}{{{_property(found[1], found[2])}}}"

    def _read_character(self, *, in_class: bool) -> int:
        point = self._read_point(in_class=in_class)
        self._strict = self._strict or point > 0xFFFF
        return point

    def _read_point(self, *, in_class: bool) -> int:
        found = _CHARACTER.match(self._pattern, self._at)
        if found is None:
            raise Inexpressible("it ends too early")
        self._at = found.end()
        if found["plain"]:
            return _whole(ord(found["plain"]))
        if found["high"]:
            return 0x10000 + (int(found["high"], 16) - 0xD800) * 0x400 + int(found["low"], 16) - 0xDC00
        if found["control"]:
            return ord(found["control"]) % 32
        self._strict = self._strict or found["any"] is not None
        if digits := found["four"] or found["any"] or found["two"]:
            return _whole(int(digits, 16))
        return self._escaped(found["escaped"], in_class=in_class)

    def _escaped(self, char: str, *, in_class: bool) -> int:
        if char == "0" and self._pattern[self._at : self._at + 1].isdecimal():
            raise Inexpressible("an octal number")
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char in "123456789ck" or (char == "B" and in_class):
            raise Inexpressible("a back-reference, or nothing")
        if char not in _SYNTAX and not (in_class and char == "-"):
            self._lenient = True
        return _whole(ord(char))


def _whole(point: int) -> int:
    if 0xD800 <= point <= 0xDFFF or point > LAST:
        raise Inexpressible("half a character")
    return point


def _written(point: int) -> str:
    char = chr(point)
    return char if char.isascii() and char.isalnum() else f"\\x{{{point:x}}}"


def _ranges(ranges: Ranges, *, negated: bool) -> str:
    """A class of these, or of all others."""
    if negated:
        starts = [0, *(last + 1 for _, last in ranges)]
        ends = [*(first - 1 for first, _ in ranges), LAST]
        ranges = [pair for pair in zip(starts, ends, strict=True) if pair[0] <= pair[1]]
    if not ranges:
        return f"[^\\x{{0}}-\\x{{{LAST:x}}}]"
    return f"[{''.join(f'{_written(first)}-{_written(last)}' for first, last in ranges)}]"


def _property(name: str, value: str | None) -> str:
    """A property of Unicode as google-re2 calls it: a category by its short name, or a script."""
    if name in {"Script", "sc"} and value is not None and len(value) > 2:
        return value
    if name in {"General_Category", "gc"} and value is not None:
        name, value = value, None
    if value is None and (name in _CATEGORIES.values() or name in {"Cc", "Cf", "Co"}):
        return name
    if value is None and name in _CATEGORIES:
        return _CATEGORIES[name]
    raise Inexpressible("a property that google-re2 does not have")
