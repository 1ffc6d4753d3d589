"""One file of a manifest as TOML gives it, and a place to complain of it."""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from bridge.manifest.lines import Place, TextFault, find_lines
from bridge.manifest.manifest import Issue, Severity

NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
NAME_RULE: Final = "Begin with a lower-case letter, and go on with lower-case letters, digits and _; 64 in all"
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
VARIABLE_RULE: Final = "Use letters, digits and _, no digit first; 64 in all"


def is_variable(name: str) -> bool:
    """Whether a secret, or a variable of the environment, can be called so."""
    return _VARIABLE.fullmatch(name) is not None


@dataclass(frozen=True)
class Parsed:
    """A file.

    Attributes:
        name: from the project's folder on.
        lines: where its tables, keys and items stand.
        issues: what was found to be wrong, over all files.
    """

    name: str
    data: Mapping[str, Any]
    lines: Mapping[Place, int]
    issues: list[Issue]

    def line(self, *place: str | int) -> int:
        """Where that stands, or else what it is in."""
        while place not in self.lines and place:
            place = place[:-1]
        return self.lines.get(place, 1)

    def complain(self, place: Place, message: str, *, severity: Severity = "error", alone: bool = False) -> None:
        """Say what is wrong there.

        Args:
            alone: it costs the tool or skill that has this place, and no other.
        """
        entry = (str(place[0]), str(place[1])) if alone else None
        line = self.line(*place)
        self.issues.append(Issue(file=self.name, line=line, severity=severity, message=message, entry=entry))

    def table(self, *place: str) -> Mapping[str, Any] | None:
        """The table there, or None where there is none; that there is something else is complained of."""
        found: Any = self.data
        for part in place:
            found = found.get(part)
        if found is None or isinstance(found, dict):
            return cast("dict[str, Any] | None", found)
        name = ".".join(place)
        self.complain(
            place, f"{name} is no table. Write [{name}] in a line of its own, and below it a line for each name."
        )
        return None

    def texts(self, *place: str, found: object) -> list[str] | None:
        """The texts in a list, or None, and a complaint, where it is something else."""
        if isinstance(found, list):
            items = cast("list[object]", found)
            texts = [item for item in items if isinstance(item, str)]
            if len(texts) == len(items):
                return texts
        self.complain(place, f'{".".join(place)} must be a list of texts, such as ["one", "two"].')
        return None

    def check_keys(self, table: Mapping[str, Any], allowed: Iterable[str], *place: str, alone: bool = False) -> None:
        """Complain of each key that means nothing there."""
        allowed = tuple(allowed)
        for key in table:
            if key not in allowed:
                advice = closest(key, allowed) or f"Those that there are: {', '.join(allowed)}."
                where = f"[{'.'.join(map(show, place))}]" if place else self.name
                self.complain((*place, key), f"{show(key)} is no key of {where}. {advice}", alone=alone)


def parse(name: str, data: bytes, issues: list[Issue]) -> Parsed | None:
    """A file's bytes as TOML, or None, and the reason among the issues."""

    def complain(line: int | None, message: str) -> None:
        issues.append(Issue(file=name, line=line, severity="error", message=message))

    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        complain(
            data.count(b"\n", 0, error.start) + 1, "There is a byte that is not UTF-8 here. Save the file as UTF-8."
        )
        return None
    if text.startswith("\ufeff"):
        complain(1, "The file begins with a byte order mark. Save it as UTF-8 without one.")
        return None
    try:
        lines = find_lines(text)
        return Parsed(name, tomllib.loads(text), lines, issues)
    except TextFault as error:
        complain(error.line, str(error))
    except ValueError as error:
        reason, line = _read_reason(str(error), text)
        complain(line, f"This is not TOML: {reason}. Correct it; strings need quotes, and booleans are true and false.")
    return None


def show(text: str) -> str:
    """A word of the manifest, as it is shown in a sentence: whole where it is a name, else quoted and cut."""
    if re.fullmatch(r"[A-Za-z0-9_./-]{1,64}", text):
        return text
    return repr(text if len(text) <= 64 else f"{text[:64]}…")


def closest(word: str, words: Iterable[str]) -> str:
    """`Did you mean …?`, or nothing where no word is like it."""
    found = difflib.get_close_matches(word[:64], sorted(words), 1)
    return f"Did you mean {found[0]}?" if found else ""


def _read_reason(message: str, text: str) -> tuple[str, int | None]:
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", message, re.DOTALL)
    if found is None:
        return message.partition("\n")[0].rstrip("."), None
    return found[1].rstrip("."), int(found[2]) if found[2] else text.count("\n") + 1
