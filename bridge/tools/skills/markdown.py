"""Where a skill's Markdown declares tools: in fences of its body, and nowhere else.

A fence in the front matter, in a comment or in another fence is an example or a hiding place: it is told of, and not
read. So is one that is indented by four, or quoted.
"""

import re
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from bridge.tools.skills.problems import Problems

TOOL_FENCES: Final = frozenset({"webbrain-tools", "wb-tools", "pagebridge-tools"})
SKILL_FENCES: Final = frozenset({"webbrain-skill", "pagebridge-skill"})

_OPENER: Final = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*(\S*)")
_LOOKS_LIKE: Final = re.compile(rf"[ \t>*+-]*(?:`{{3,}}|~{{3,}})[ \t]*({'|'.join(TOOL_FENCES)})\b", re.IGNORECASE)
_TICKS: Final = re.compile(r"`+")
_FRONT: Final = re.compile(r"([a-z_]+):[ \t]+(.*)")
_BLOCK: Final = re.compile(r"[|>][-+0-9]*")
"""What YAML has before a text that follows in indented lines."""


@dataclass(frozen=True)
class Fence:
    """A fenced block that is ours.

    Attributes:
        info: its first word, in lower case.
        line: of its content's first line, counted from 1.
    """

    info: str
    line: int
    text: str


@dataclass
class Parts:
    """What a file consists of.

    Attributes:
        front: the plain `name: value` lines of the front matter, each with its line.
        fences: those that are ours, in order.
        kept: the lines of the body without these.
    """

    front: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    fences: list[Fence] = field(default_factory=list[Fence])
    kept: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return "\n".join(self.kept).strip()


def split(text: str, problems: Problems) -> Parts:
    """Take a file apart; what stands where it is not read is a warning."""
    parts = Parts()
    lines = text.split("\n")
    number = _read_front(lines, parts, problems)
    in_comment = False
    while number < len(lines):
        line = lines[number]
        opener = None if in_comment else _OPENER.match(line)
        if opener is None:
            if _LOOKS_LIKE.match(line):
                _warn(number, "a comment" if in_comment else "an indented or quoted block", problems)
            in_comment = _ends_in_comment(line, in_comment=in_comment)
            parts.kept.append(line)
            number += 1
        else:
            number = _read_fence(lines, number, opener, parts, problems)
    return parts


def _read_front(lines: list[str], parts: Parts, problems: Problems) -> int:
    """The number of the body's first line."""
    if lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            return number + 1
        if _LOOKS_LIKE.match(line):
            _warn(number, "the front matter", problems)
        if (found := _FRONT.fullmatch(line)) is not None:
            value = found[2].strip()
            if _BLOCK.fullmatch(value):
                value = "\n".join(takewhile(_is_indented, lines[number + 1 :])).strip()
            is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
            parts.front.setdefault(found[1], (value[1:-1] if is_quoted else value, number + 1))
    problems.error(1, "The front matter that begins here has no end: close it with a line `---`.")
    return len(lines)


def _is_indented(line: str) -> bool:
    return not line.strip() or line[0] in " \t"


def _read_fence(lines: list[str], start: int, opener: re.Match[str], parts: Parts, problems: Problems) -> int:
    """The number of the line behind the fence."""
    mark, info = opener[1], opener[2].lower()
    closer = re.compile(rf" {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*")
    end = next((at for at in range(start + 1, len(lines)) if closer.fullmatch(lines[at])), len(lines))
    if info in TOOL_FENCES | SKILL_FENCES:
        if end == len(lines):
            problems.error(start + 1, f"The fence `{info}` that begins here has no end: close it with a line `{mark}`.")
        parts.fences.append(Fence(info, start + 2, "\n".join(lines[start + 1 : end])))
    else:
        if any(name in lines[start].lower() for name in TOOL_FENCES):
            problems.warn(start + 1, f"This fence is not read: write the name right behind {mark}, and nothing else.")
        for at in range(start + 1, end):
            if _LOOKS_LIKE.match(lines[at]):
                _warn(at, "another fence", problems)
        parts.kept += lines[start : end + 1]
    return end + 1


def _ends_in_comment(line: str, *, in_comment: bool) -> bool:
    if in_comment:
        _, end, line = line.partition("-->")
        if not end:
            return True
    plain = _without_code(line)
    start = plain.rfind("<!--")
    return start >= 0 and plain.find("-->", start + 2) < 0


def _without_code(line: str) -> str:
    """The line without what is between backticks: a run of them ends with the next one that is as long."""
    runs = [found.span() for found in _TICKS.finditer(line)]
    ends: dict[int, int] = {}
    closer: list[int | None] = [None] * len(runs)
    for number, (start, end) in reversed(list(enumerate(runs))):
        closer[number] = ends.get(end - start)
        ends[end - start] = number
    kept: list[str] = []
    at = number = 0
    while number < len(runs):
        if (last := closer[number]) is not None:
            kept.append(line[at : runs[number][0]])
            at, number = runs[last][1], last
        number += 1
    return "".join([*kept, line[at:]])


def _warn(number: int, place: str, problems: Problems) -> None:
    problems.warn(number + 1, f"This fence is in {place}, and is not read. Tools are declared in the body alone.")
