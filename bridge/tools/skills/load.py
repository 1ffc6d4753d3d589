"""A skill's file → a skill, or why it is none; and whether skills can be together."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from bridge import limits
from bridge.settings import MODES, Mode
from bridge.tools.skills.declare import Origin, declare_tools
from bridge.tools.skills.fields import Fields, Names
from bridge.tools.skills.markdown import SKILL_FENCES, Fence, Parts, split
from bridge.tools.skills.places import Node, read_json
from bridge.tools.skills.problems import Problem, Problems
from bridge.tools.skills.skill import Skill

_INTENT: Final = re.compile(r"[a-z0-9][a-z0-9_-]*")
_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]+(\S.*)")
_SKILL: Final[Names] = {"summary": (), "modes": (), "intents": ()}
_HIDDEN: Final = frozenset({"Cc", "Cf", "Co", "Cs"})


@dataclass(frozen=True)
class Reading:
    """What became of a file.

    Attributes:
        skill: None where one of the problems is an error.
        problems: in the order of their lines.
    """

    skill: Skill | None
    problems: tuple[Problem, ...]


def read_skill(data: bytes, *, name: str, source: str, local_origins: frozenset[str] = frozenset()) -> Reading:
    """Read the bytes of a file: those that were approved, if they were.

    Args:
        name: what the manifest calls it.
        source: the file, as the user names it.
        local_origins: those of services that may be on this machine, such as `https://localhost:8443`.
    """
    problems = Problems()
    skill = _read(data, name, source, local_origins, problems)
    return Reading(None if problems.has_errors else skill, problems.told())


def check_skills(skills: Sequence[Skill], taken: Mapping[str, str]) -> list[tuple[Skill, str]]:
    """Those that can't be used, each with the reason; the others can be used together.

    Args:
        skills: in the order of the manifest: the first one keeps what two of them want.
        taken: names of tools that are there already, or were once, each with what it is: `a built-in tool`.
    """
    bad: list[tuple[Skill, str]] = []
    skill_names: dict[str, Skill] = {}
    tools: dict[str, str] = dict(taken)
    chars = 0
    for skill in skills:
        other = skill_names.get(skill.name)
        clash = next((tool.name for tool in skill.tools if tool.name in tools), None)
        if other is not None:
            reason = f"{other.source} and {skill.source} are both named {skill.name!r}: rename one."
        elif clash is not None:
            reason = f"The tool {clash!r} of {skill.source} has the name of {tools[clash]}: rename it in the skill."
        elif len(skill_names) == limits.SKILLS:
            reason = f"{skill.source} is beyond the {limits.SKILLS} skills that are allowed: remove one."
        elif chars + len(skill.text) > limits.SKILLS_CHARS:
            reason = (
                f"With {skill.source}, the texts of the skills have {chars + len(skill.text):,} characters, and "
                f"{limits.SKILLS_CHARS:,} are allowed: shorten one."
            )
        else:
            skill_names[skill.name] = skill
            tools |= {tool.name: f"a tool of {skill.source}" for tool in skill.tools}
            chars += len(skill.text)
            continue
        bad.append((skill, reason))
    return bad


def _read(data: bytes, name: str, source: str, local_origins: frozenset[str], problems: Problems) -> Skill | None:
    text = _decode(data, problems)
    if text is None:
        return None
    parts = split(text, problems)
    if len(parts.text) > limits.SKILL_CHARS:
        problems.error(
            1, f"The skill has {len(parts.text):,} characters of text, and {limits.SKILL_CHARS:,} are allowed."
        )
    summary, intents, mode = _about(parts, problems)
    origin = Origin(name, source, mode, local_origins)
    nodes = _nodes((fence for fence in parts.fences if fence.info not in SKILL_FENCES), problems)
    return Skill(
        name=name,
        title=next((found[1].strip(" \t#") for line in parts.kept if (found := _HEADING.fullmatch(line))), "") or name,
        summary=summary,
        intents=intents,
        text=parts.text,
        tools=declare_tools(nodes, origin, problems),
        source=source,
        sha256=sha256(data).hexdigest(),
    )


def _decode(data: bytes, problems: Problems) -> str | None:
    if len(data) > limits.SKILL_BYTES:
        problems.error(1, f"The file has more than {limits.SKILL_BYTES:,} bytes, which are allowed.")
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.error(line, "The file is not UTF-8: save it as that.")
        return None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for number, line in enumerate(text.split("\n"), 1):
        hidden = None if line.isascii() and line.isprintable() else _find_hidden(line)
        if hidden is not None and unicodedata.category(hidden) == "Cc":
            problems.error(number, f"There is a control character, U+{ord(hidden):04X}: remove it.")
        elif hidden is not None:
            problems.warn(number, f"There is a character that nobody sees, U+{ord(hidden):04X}: is it meant?")
    return text


def _find_hidden(line: str) -> str | None:
    found = [char for char in line if char != "\t" and unicodedata.category(char) in _HIDDEN]
    return min(found, key=lambda char: unicodedata.category(char) != "Cc", default=None)


def _about(parts: Parts, problems: Problems) -> tuple[str, tuple[str, ...], Mode]:
    """Summary, intents and least mode, as far as the skill gives them."""
    nodes = _nodes((fence for fence in parts.fences if fence.info in SKILL_FENCES), problems)
    if len(nodes) > 1:
        problems.error(nodes[1].line, "The skill says twice what it is about: leave one of these fences.")
    summary, line = parts.front.get("summary") or parts.front.get("description") or ("", 1)
    intents: tuple[str, ...] = ()
    mode: Mode = "ask"
    if nodes and nodes[0].object is None:
        problems.error(nodes[0].line, "The fence about the skill must hold an object.")
    elif nodes:
        fields = Fields(nodes[0], _SKILL, "The skill", problems)
        summary, line = fields.text("summary") or summary, fields.line("summary")
        mode = MODES[fields.least("modes", MODES)]
        intents = _intents(fields)
    summary = " ".join(summary.split())
    if len(summary) > limits.SKILL_SUMMARY_CHARS:
        problems.error(
            line, f"The summary has {len(summary):,} characters, and {limits.SKILL_SUMMARY_CHARS} are allowed."
        )
    return summary or _first_paragraph(parts.kept), intents, mode


def _intents(fields: Fields) -> tuple[str, ...]:
    given = fields.list("intents") or []
    if len(given) > limits.SKILL_INTENTS:
        fields.error("intents", f"`intents` has {len(given)} entries, and {limits.SKILL_INTENTS} are allowed.")
    for intent in given:
        is_one = isinstance(intent, str) and _INTENT.fullmatch(intent) and len(intent) <= limits.SKILL_INTENT_CHARS
        if not is_one:
            fields.error(
                "intents",
                f"`intents` must be words of up to {limits.SKILL_INTENT_CHARS} of a-z, 0-9, _ and -, "
                "such as verification_code.",
            )
            return ()
    return tuple(dict.fromkeys(given))


def _first_paragraph(lines: Iterable[str]) -> str:
    """A summary where none is given. It is ours, so it may be cut."""
    words: list[str] = []
    for line in map(str.strip, lines):
        is_prose = line and not line.startswith(("#", "```", "~~~", "<!--"))
        if not is_prose and words:
            break
        words += line.split() if is_prose else []
    text = " ".join(words)
    most = limits.SKILL_SUMMARY_CHARS
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _nodes(fences: Iterable[Fence], problems: Problems) -> list[Node]:
    nodes: list[Node] = []
    for fence in fences:
        try:
            nodes.append(read_json(fence.text, fence.line))
        except json.JSONDecodeError as error:
            line = fence.line + error.lineno - 1
            problems.error(line, f"The fence `{fence.info}` is not JSON: {error.msg}, at character {error.colno}.")
        except ValueError as error:
            problems.error(fence.line, f"The fence `{fence.info}` can't be read: {error}.")
    return nodes
