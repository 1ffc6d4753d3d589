"""`pagebridge skills`: what a person approves of skills before a project has them."""

from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import click

from bridge.errors import UsageError
from bridge.manifest import project
from bridge.manifest.approved import read_approved
from bridge.manifest.listing import align
from bridge.manifest.manifest import BuiltIns, Issue, Manifest, Severity, SkillEntry
from bridge.manifest.paths import read_file
from bridge.manifest.project import plan_skill
from bridge.manifest.read import check_manifest, read_manifest
from bridge.manifest.validate import SkillReading
from bridge.manifest.visibility import taken_names
from bridge.serve.printable import printable
from bridge.tools.skills.load import check_skills, read_skill
from bridge.tools.skills.skill import Skill


class SkillReader:
    """Reads skills of a manifest, one after the other: what one of them has, no later one can have as well.

    Attributes:
        skills: those that load, in that order.
    """

    def __init__(self, manifest: Manifest, built_ins: BuiltIns) -> None:
        self.skills: list[Skill] = []
        self._taken = taken_names(manifest, built_ins)

    def __call__(self, entry: SkillEntry, data: bytes) -> SkillReading:
        """What is wrong with a skill, and which tools it has where it loads."""
        reading = read_skill(data, name=entry.name, source=entry.path, local_origins=entry.local_origins)
        problems: tuple[tuple[int, Severity, str], ...] = tuple(
            (problem.line, problem.severity, problem.sentence) for problem in reading.problems
        )
        if (skill := reading.skill) is None:
            return SkillReading(problems=problems)
        for bad, reason in check_skills([*self.skills, skill], self._taken):
            if bad is skill:
                return SkillReading(problems=(*problems, (1, "error", reason)))
        self.skills.append(skill)
        return SkillReading(tuple(tool.name for tool in skill.tools), problems)


def add_skill(root: Path, built_ins: BuiltIns, path: str, name: str | None, *, ask: bool) -> None:
    """Show what a skill may do, and approve the file as it is.

    Args:
        path: from the project's folder on.
        name: in the manifest; without one, the file's.
        ask: a person says yes or no.

    Raises:
        AlreadyThere, UsageError: as `bridge.manifest.project.add_skill`.
        SystemExit: the skill would not load.
    """
    entry = plan_skill(root, built_ins, path, name)
    data = read_file(root, path)
    manifest = read_manifest(root, built_ins)
    reader = SkillReader(manifest, built_ins)
    for other in manifest.skills.values():
        if other.name != entry.name:
            with suppress(UsageError):
                reader(other, read_approved(root, other))
    problems = reader(entry, data).problems
    for line, severity, message in problems:
        click.echo(printable(str(Issue(file=path, line=line, severity=severity, message=message))), err=True)
    if any(severity == "error" for _, severity, _ in problems):
        click.echo("The skill was not added. Correct it, and add it again.", err=True)
        raise SystemExit(1)
    if entry.sha256 == sha256(data).hexdigest():
        click.echo(f"{entry.name}: nothing has changed, it is approved already.")
        return
    click.echo(printable("\n".join(_describe(entry, reader.skills[-1]))))
    if ask and not click.confirm("Approve?"):
        click.echo("Left as it was.")
        return
    added = project.add_skill(root, built_ins, path, data, name=entry.name)
    click.echo(f"Approved in {printable(added.manifest)}.")


def _describe(entry: SkillEntry, skill: Skill) -> Iterator[str]:
    state = "new" if entry.sha256 is None else "changed since it was approved"
    yield f"{entry.name} ({entry.path}), {state}: {skill.title}"
    if skill.summary:
        yield f"  {skill.summary}"
    for tool in skill.tools:
        yield f"\n  {tool.name}: {tool.description}"
    yield ""
    yield from (f"  {sentence}" for sentence in skill.consequences)
    yield f"  Agents can ask for its text, {len(skill.text):,} characters, and may do what it says. Read it first."
    yield ""


def show_skills(root: Path, built_ins: BuiltIns) -> None:
    """Print which skills a project has, with their tools, and which do not load.

    Raises:
        UsageError: there is no manifest, or it can't be used.
    """
    check_manifest(root)
    manifest = read_manifest(root, built_ins)
    reader = SkillReader(manifest, built_ins)
    rows = [("NAME", "TOOLS", "FILE")]
    failed = {name: reason for (section, name), reason in manifest.failed.items() if section == "skills"}
    for entry in manifest.skills.values():
        try:
            reading = reader(entry, read_approved(root, entry))
        except UsageError as error:
            failed[entry.name] = str(error)
            continue
        faults = [f"line {line}: {message}" for line, severity, message in reading.problems if severity == "error"]
        if faults:
            failed[entry.name] = f"{entry.path}, {faults[0]}"
        else:
            rows.append((entry.name, ", ".join(reading.tools) or "-", entry.path))
    lines = align(rows)
    if failed:
        lines += ["", "Did not load:", *(f"  {name}: {reason}" for name, reason in failed.items())]
    click.echo(printable("\n".join(lines)))


def remove_skill(root: Path, built_ins: BuiltIns, name: str) -> None:
    """Take a skill out of a project's manifest.

    Raises:
        UsageError: as `bridge.manifest.project.remove_skill`, or there is no manifest.
    """
    check_manifest(root)
    file = project.remove_skill(root, built_ins, name)
    click.echo(f"{printable(name)} is not in {printable(file)} any more. The skill's file stays where it is.")
