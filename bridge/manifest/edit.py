"""Change a line of a manifest, and keep all others as they are, byte for byte. The only importer of tomlkit.

Each edit is looked at afterwards, by another parser and line by line: one that would do more than it should is refused,
and the person is told what to write.
"""

import copy
import json
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable, Item, Table

from bridge.errors import UsageError
from bridge.manifest.lines import find_lines
from bridge.manifest.manifest import BUILT_IN

_NOTE: Final = "# ejected from "
_LINE_END: Final = "\r\n", "\n"


def set_tool(text: str, name: str, source: str, *, beside: Iterable[str] = (), ejected: bool = False) -> str:
    """A manifest in which a tool has this source, on the line where it had another one, or on a new one.

    Args:
        text: TOML.
        beside: built-in tools that `[tools]` lists as well where it has to be made.
        ejected: say at the end of the line what was there before. Else such a note is taken away.

    Raises:
        UsageError: it can't be done without a change of other lines.
    """
    note = f"{_NOTE}{BUILT_IN}{name}"
    expected = copy.deepcopy(tomllib.loads(text))
    if "tools" not in expected:
        sources = {built_in: f"{BUILT_IN}{built_in}" for built_in in beside} | {name: source}
        lines = [f"{key} = {_quote(value)}{f'  {note}' * (ejected and key == name)}" for key, value in sources.items()]
        return _checked(text, _append(text, ["[tools]", *lines]), expected | {"tools": sources}, f"[tools] with {name}")
    expected["tools"][name] = source

    def change(document: tomlkit.TOMLDocument) -> None:
        tools = document["tools"]
        if not isinstance(tools, Table | InlineTable):
            raise TypeError("its parts are in several places")  # as where each line begins with `tools.`
        is_new = name not in tools
        _put(tools, name, source, _end_of_line(text))
        if isinstance(tools, Table):
            _annotate(cast("Item", tools[name]), note, ejected=ejected, is_new=is_new)

    return _checked(text, _edit(text, change), expected, f"`{name} = {_quote(source)}` under [tools]")


def set_skill(text: str, name: str, path: str, sha256: str) -> str:
    """A manifest in which a skill has this path and hash. A new one is added at the end.

    Raises:
        UsageError: it can't be done without a change of other lines.
    """
    expected = copy.deepcopy(tomllib.loads(text))
    fields = {"path": path, "sha256": sha256}
    before = expected.get("skills", {}).get(name)
    advice = f"[skills.{name}] with path = {_quote(path)} and sha256 = {_quote(sha256)}"
    if before is None:
        lines = [f"[skills.{name}]", *(f"{key} = {_quote(value)}" for key, value in fields.items())]
        expected.setdefault("skills", {})[name] = fields
        return _checked(text, _append(text, lines), expected, advice)
    expected["skills"][name] = {**before, **fields} if isinstance(before, dict) else fields

    def change(document: tomlkit.TOMLDocument) -> None:
        skills = cast("dict[str, Any]", document["skills"])
        if isinstance(before, dict):
            skill = cast("Table | InlineTable", skills[name])
            for key in (key for key, value in fields.items() if key not in skill or skill[key] != value):
                _put(skill, key, fields[key], _end_of_line(text))
        else:
            skill = skills[name] = tomlkit.inline_table()
            for key, value in fields.items():
                skill[key] = value

    return _checked(text, _edit(text, change), expected, advice)


def unset_skill(text: str, name: str) -> str:
    """A manifest without a skill that it has: the lines that say something of it are gone, and no other.

    Raises:
        UsageError: other things are on these lines as well.
    """
    expected = copy.deepcopy(tomllib.loads(text))
    del expected["skills"][name]
    lines = text.split("\n")
    gone = sorted({line - 1 for place, line in find_lines(text).items() if place[:2] == ("skills", name)})
    before, after = gone[0] - 1, gone[-1] + 1
    if before >= 0 and not lines[before].strip() and not "".join(lines[after : after + 1]).strip():
        gone.append(before)  # of two gaps, one is enough
    kept = "\n".join(line for number, line in enumerate(lines) if number not in gone)
    if _load(kept) not in (expected, {key: value for key, value in expected.items() if value or key != "skills"}):
        raise UsageError(
            f"The manifest can't be changed without a change of other lines. Take the skill {name} out of it yourself."
        )
    return kept


def _edit(text: str, change: Any) -> str | None:  # noqa: ANN401  # a function of a document
    try:
        document = tomlkit.parse(text)
        change(document)
        return document.as_string()
    except (TOMLKitError, ValueError, LookupError, TypeError, AttributeError):
        return None  # what can't be edited is refused by who checks it


def _put(table: Table | InlineTable, key: str, value: str, end: str) -> None:
    """Set a key; a new one comes behind the last one, and before the comments that lead to the next table."""
    if key in table or not isinstance(table, Table):
        table[key] = value
        return
    body = table.value.body
    count = len(body)
    while count and body[count - 1][0] is None:
        count -= 1
    behind = body[count:]
    del body[count:]
    table.append(key, value)
    item = cast("Item", table[key])
    item.trivia.trail = end
    item.trivia.indent = body[count - 1][1].trivia.indent if count else ""
    body.extend(behind)


def _annotate(item: Item, note: str, *, ejected: bool, is_new: bool) -> None:
    trivia = item.trivia
    comment = trivia.comment
    if comment.endswith(note):
        comment = comment.removesuffix(note).removesuffix(" ")
    trivia.comment = f"{comment} {note}".lstrip() if ejected else comment
    if not trivia.comment:
        trivia.comment_ws = ""
    elif not trivia.comment_ws:
        trivia.comment_ws = "  "


def _append(text: str, lines: Iterable[str]) -> str:
    end = _end_of_line(text)
    if text and not text.endswith("\n"):
        text += end
    gap = end if text.strip() else ""
    return text + gap + "".join(f"{line}{end}" for line in lines)


def _checked(before: str, after: str | None, expected: Mapping[str, Any], advice: str) -> str:
    if after is None or not _is_small(before, after) or _load(after) != expected:
        raise UsageError(f"The manifest can't be changed without a change of other lines. Write {advice} yourself.")
    return after


def _is_small(before: str, after: str) -> bool:
    """Whether all lines but one are there still, in their order, and what is new is in one place."""
    end = _end_of_line(before)
    old, new = (f"{text.removesuffix(end)}{end}".splitlines(keepends=True) for text in (before, after))
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return len(old) <= 1


def _load(text: str) -> Mapping[str, Any] | None:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None


def _end_of_line(text: str) -> str:
    return next(end for end in _LINE_END if end in text or end == "\n")


def _quote(text: str) -> str:
    """A text as TOML: what JSON escapes means the same there."""
    return json.dumps(text, ensure_ascii=False)
