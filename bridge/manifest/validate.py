"""All that is wrong with a project's manifest and with the files that it names. Nothing of the project is run."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bridge.errors import UsageError
from bridge.manifest.approved import read_approved
from bridge.manifest.manifest import BUILT_IN, FILE, BuiltIns, Issue, Manifest, Severity, SkillEntry
from bridge.manifest.module import has_one_tool, remarks_on, why_no_python
from bridge.manifest.paths import read_file, why_no_folder
from bridge.manifest.read import check_manifest, inspect, sorted_issues
from bridge.manifest.tracked import check_tracked
from bridge.manifest.visibility import check_agents

_SHOWN: Final = 5


@dataclass(frozen=True)
class SkillReading:
    """What a reader of skills says of a file.

    Attributes:
        tools: names.
        problems: line, severity and sentence of each.
    """

    tools: tuple[str, ...] = ()
    problems: tuple[tuple[int, Severity, str], ...] = ()


ReadSkill = Callable[[SkillEntry, bytes], SkillReading]


def validate(
    root: Path, built_ins: BuiltIns, read_skill: ReadSkill | None = None, *, tracked: bool = False
) -> tuple[Issue, ...]:
    """What is wrong, in the order of the files and their lines.

    Args:
        read_skill: knows the rules of skills. Without one, tools of skills are not known.
        tracked: ask git, too, whether it tracks the files.

    Raises:
        UsageError: there is no manifest, or git can't say.
    """
    check_manifest(root)
    inspected = inspect(root, built_ins)
    issues = list(inspected.issues)
    if (manifest := inspected.manifest) is not None:
        sources: list[bytes] = []
        issues += _check_tools(manifest, built_ins, sources)
        tools: list[str] = []
        issues += _check_skills(manifest, read_skill, tools)
        # The tools of a file that can't be read are not known, and what hides them is no typing error.
        all_known = exit_code(issues) == 0 and all(map(has_one_tool, sources))
        issues += check_agents(manifest, built_ins, tools, all_known=all_known)
    if tracked:
        issues += check_tracked(root, inspected)
    return tuple(sorted_issues(issues))


def exit_code(issues: Iterable[Issue]) -> int:
    """1 where something is an error; warnings are none."""
    return int(any(issue.severity == "error" for issue in issues))


def as_json(issues: Iterable[Issue]) -> dict[str, Any]:
    keys = ("file", "line", "message", "severity")
    return {"issues": [{key: getattr(issue, key) for key in keys} for issue in issues]}


def _check_tools(manifest: Manifest, built_ins: BuiltIns, sources: list[bytes]) -> Iterator[Issue]:
    """What is wrong with the modules, and with the choice of tools. Modules that are Python come into `sources`."""
    for tool in manifest.declared.values():
        if tool.is_built_in:
            continue
        entry = ("tools", tool.name)
        try:
            source = read_file(manifest.root, tool.source)
        except UsageError as error:
            yield Issue(file=tool.file, line=tool.line, severity="error", message=str(error), entry=entry)
            continue
        if (fault := why_no_python(source)) is not None:
            yield Issue(file=tool.source, line=fault[0], severity="error", message=fault[1], entry=entry)
            continue
        sources.append(source)
        if tool.name not in built_ins.names:
            for line, message in remarks_on(source):
                yield Issue(file=tool.source, line=line, severity="warning", message=message, entry=entry)
    if manifest.tools is not None and not any(tool.is_built_in for tool in manifest.declared.values()):
        removed = [name for name in built_ins.profile if name not in manifest.declared]
        if removed:
            more = ", …" if len(removed) > _SHOWN else ""
            message = (
                f"Sessions of this project get no built-in tool ({', '.join(removed[:_SHOWN])}{more}). Add "
                f'`{removed[0]} = "{BUILT_IN}{removed[0]}"` under [tools] to keep one.'
            )
            yield Issue(file=FILE, line=None, severity="warning", message=message)


def _check_skills(manifest: Manifest, read_skill: ReadSkill | None, tools: list[str]) -> Iterator[Issue]:
    for skill in manifest.skills.values():
        entry = ("skills", skill.name)
        if skill.downloads is not None and (reason := why_no_folder(manifest.root, skill.downloads)) is not None:
            message = f"Nothing can be kept in downloads of skill {skill.name}: {reason}."
            yield Issue(file=skill.file, line=skill.line, severity="warning", message=message, entry=entry)
        try:
            data = read_approved(manifest.root, skill)
        except UsageError as error:
            yield Issue(file=skill.file, line=skill.line, severity="error", message=str(error), entry=entry)
            continue
        reading = SkillReading() if read_skill is None else read_skill(skill, data)
        tools += reading.tools
        for line, severity, message in reading.problems:
            yield Issue(file=skill.path, line=line, severity=severity, message=message, entry=entry)
