"""`pagebridge tools ls`, `eject` and `restore`, `validate` and `new`: a project's tools, for a person or a script.

Nothing of the project is run.
"""

from collections.abc import Iterable
from pathlib import Path

import click

from bridge.calls.built_ins import BY_NAME, browser_tools, known_built_ins
from bridge.manifest import project
from bridge.manifest.listing import list_tools
from bridge.manifest.manifest import FILE, Issue, Manifest
from bridge.manifest.project import Changed
from bridge.manifest.read import check_manifest, inspect, read_manifest
from bridge.manifest.template import module_of_built_in
from bridge.manifest.validate import as_json as issues_as_json
from bridge.manifest.validate import exit_code, validate
from bridge.manifest.visibility import choose_agents
from bridge.serve.printable import as_json, printable
from bridge.serve.skills import SkillReader


def show_project_tools(root: Path, agents: Iterable[str], *, json: bool) -> None:
    """Print which tools sessions get in a project, which were removed, and which did not load.

    Args:
        agents: only what these get.

    Raises:
        UsageError: there is no manifest, it can't be used, or it has no such agent.
    """
    check_manifest(root)
    built_ins = known_built_ins()
    manifest = read_manifest(root, built_ins)
    chosen = choose_agents(manifest, agents)
    reader = SkillReader(manifest, built_ins)
    faults = [issue for issue in validate(root, built_ins, reader) if issue.severity == "error"]
    table = list_tools(
        manifest,
        built_ins,
        skills=[(tool.name, tool.source) for skill in reader.skills for tool in skill.tools],
        failed=_failed(manifest, faults),
        agents=chosen,
    )
    click.echo(as_json(table.as_json()) if json else printable(table.as_text()))


def _failed(manifest: Manifest, faults: Iterable[Issue]) -> dict[str, str]:
    """Of each tool and skill that does not load, the first reason; in a file that is none of the manifest, its line."""
    failed: dict[str, str] = {}
    for fault in faults:
        if fault.entry is not None and fault.entry not in manifest.failed:
            where = "" if fault.file in manifest.files else f"{fault.file}, line {fault.line}: "
            failed.setdefault(fault.entry[1], f"{where}{fault.message}")
    return failed


def eject_tool(root: Path, name: str, *, force: bool) -> None:
    """Make a built-in tool one of the project.

    Raises:
        AlreadyThere, UsageError: as `bridge.manifest.project.eject`.
    """
    source = ""  # of what is no built-in tool; `eject` says that
    if name in BY_NAME:
        source = module_of_built_in(BY_NAME[name], mode="ask")
    elif (tool := browser_tools().get(name)) is not None:
        source = module_of_built_in(tool, mode=tool.mode)
    _tell(project.eject(root, known_built_ins(), name, source, force=force))


def restore_tool(root: Path, name: str) -> None:
    """Let a tool of a project be the built-in one again.

    Raises:
        AlreadyThere, UsageError: as `bridge.manifest.project.restore`.
    """
    check_manifest(root)
    built_ins = known_built_ins()
    entry = read_manifest(root, built_ins).declared.get(name)
    changed = project.restore(root, built_ins, name)
    rest = "" if entry is None else f" {entry.source} stays where it is."
    click.echo(f"{name} is the built-in tool again, in {printable(changed.manifest)}.{printable(rest)}")


def begin_tool(root: Path, name: str) -> None:
    """Write a module that works, with a test.

    Raises:
        AlreadyThere, UsageError: as `bridge.manifest.project.begin_tool`.
    """
    _tell(changed := project.begin_tool(root, known_built_ins(), name))
    click.echo(f"Try it: python {changed.written[-1]}")


def _tell(changed: Changed) -> None:
    click.echo(f"Wrote {' and '.join(changed.written)}, and named it in {printable(changed.manifest)}.")


def show_issues(root: Path, *, json: bool, tracked: bool) -> int:
    """Print what is wrong with a project's manifest and with what it names. Returns the exit code.

    Args:
        tracked: as `bridge.manifest.validate.validate`.

    Raises:
        UsageError: there is no manifest, or git can't say what it tracks.
    """
    check_manifest(root)
    built_ins = known_built_ins()
    manifest = inspect(root, built_ins).manifest
    reader = None if manifest is None else SkillReader(manifest, built_ins)
    issues = validate(root, built_ins, reader, tracked=tracked)
    if json:
        click.echo(as_json(issues_as_json(issues)))
    else:
        click.echo(printable("\n".join(map(str, issues)) or f"{FILE}: nothing is wrong."))
    return exit_code(issues)
