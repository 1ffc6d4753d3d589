"""Read a manifest: pagebridge.toml, and what it imports."""

import os
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from bridge import limits
from bridge.errors import UsageError
from bridge.files import stamp_of
from bridge.manifest.access import read_agents, read_secrets, read_variables
from bridge.manifest.entries import read_skills, read_tools
from bridge.manifest.manifest import FILE, BuiltIns, Issue, Manifest, SkillEntry, ToolEntry
from bridge.manifest.parsed import Parsed, parse, show
from bridge.manifest.paths import find_file, read_file, why_no_path

_SHARED_KEYS: Final = ("import", "tools", "skills")
_KEYS: Final = (*_SHARED_KEYS, "agents", "secrets", "env")

Entry = TypeVar("Entry", ToolEntry, SkillEntry)
Stamp = tuple[int, ...]
"""What of a file changes when it is written."""


@dataclass(frozen=True)
class Inspected:
    """What a manifest says, and all that is wrong with it.

    Attributes:
        manifest: None where something is wrong that is not about one entry alone.
        stamps: of all files that were looked for, as they were before they were read.
        imported: the files that others import, each with the file and line that does.
    """

    manifest: Manifest | None
    issues: tuple[Issue, ...]
    stamps: Mapping[str, Stamp | None]
    imported: Mapping[str, tuple[str, int]]


def has_manifest(root: Path) -> bool:
    """Whether there is a manifest in a folder, be it a broken one."""
    return os.path.lexists(root / FILE)


def check_manifest(root: Path) -> None:
    """See to it that there is a manifest, be it a broken one.

    Raises:
        UsageError: there is none.
    """
    if not has_manifest(root):
        raise UsageError(f"There is no {FILE} in {os.path.abspath(root)}. `pagebridge new tool NAME` makes one.")


def read_manifest(root: Path, built_ins: BuiltIns) -> Manifest:
    """The manifest of a project; where it has none, one that says nothing. What is wrong with one entry is in `failed`.

    Raises:
        UsageError: it can't be used.
    """
    return _usable(inspect(root, built_ins)) if has_manifest(root) else Manifest(root=root)


def inspect(root: Path, built_ins: BuiltIns) -> Inspected:
    """Read all files of a manifest. Files of tools and skills are not looked at."""
    files = _Files(root)
    files.read(FILE, line=None)
    manifest = _join(root, files.parsed, built_ins, files.issues)
    usable = not any(issue.severity == "error" and issue.entry is None for issue in files.issues)
    return Inspected(manifest if usable else None, tuple(sorted_issues(files.issues)), files.stamps, files.imported)


def sorted_issues(issues: Iterable[Issue]) -> list[Issue]:
    """As they stand in the files; those of the main one come first."""
    return sorted(issues, key=lambda issue: (issue.file != FILE, issue.file, issue.line or 0))


class ManifestFile:
    """A manifest as it is at each moment: what is changed in it counts at the next look."""

    def __init__(self, root: Path, built_ins: BuiltIns) -> None:
        self._root = root
        self._built_ins = built_ins
        self._stamps: Mapping[str, Stamp | None] | None = None
        self._manifest = Manifest(root=root)

    def read(self) -> Manifest:
        """What `read_manifest` gives; the same object for as long as its files are the same.

        Raises:
            UsageError: it can't be used.
        """
        if self._stamps is None or any(_stamp(self._root, name) != stamp for name, stamp in self._stamps.items()):
            # A broken one leaves the stamps as they were, and is read again at the next look.
            if has_manifest(self._root):
                inspected = inspect(self._root, self._built_ins)
                self._manifest = _usable(inspected)
                self._stamps = inspected.stamps
            elif self._manifest.files:
                raise UsageError(f"{FILE} is gone. Put it back, or start pagebridge anew without --project.")
            else:
                self._manifest = Manifest(root=self._root)
                self._stamps = {FILE: None}
        return self._manifest


def _usable(inspected: Inspected) -> Manifest:
    if inspected.manifest is not None:
        return inspected.manifest
    first, *others = (issue for issue in inspected.issues if issue.severity == "error" and issue.entry is None)
    where = first.file if first.line is None else f"{first.file}, line {first.line}"
    more = f" `pagebridge validate` tells all {len(others) + 1} errors of that kind." if others else ""
    raise UsageError(f"The manifest can't be used ({where}): {first.message}{more}")


@dataclass
class _Files:
    """The files of a manifest, in the order in which they are imported."""

    root: Path
    parsed: list[Parsed] = field(default_factory=list[Parsed])
    issues: list[Issue] = field(default_factory=list[Issue])
    stamps: dict[str, Stamp | None] = field(default_factory=dict[str, "Stamp | None"])
    imported: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    seen: set[Path] = field(default_factory=set[Path])
    open: list[Path] = field(default_factory=list[Path])

    def read(self, name: str, *, line: int | None, importer: str = FILE) -> None:
        """Read a file and what it imports, unless it was read.

        Args:
            importer, line: where it is imported.
        """

        def complain(message: str) -> None:
            self.issues.append(Issue(file=importer, line=line, severity="error", message=message))

        self.stamps[name] = _stamp(self.root, name)
        if line is not None:
            self.imported.setdefault(name, (importer, line))
        try:
            real = find_file(self.root, name)
            if real in self.open:
                complain(f"{show(name)} imports itself, directly or through others. Remove one of these imports.")
            if real in self.seen:
                return
            self.seen.add(real)
            data = read_file(self.root, name, limits.MANIFEST_BYTES)
        except UsageError as error:
            complain(str(error))
            return
        if len(self.parsed) == limits.MANIFEST_FILES:
            complain(f"The manifest has more than {limits.MANIFEST_FILES} files. Put some together.")
        elif (parsed := parse(name, data, self.issues)) is not None:
            self.parsed.append(parsed)
            self.open.append(real)
            self._imports(parsed)
            self.open.pop()

    def _imports(self, parsed: Parsed) -> None:
        parsed.check_keys(parsed.data, _KEYS if parsed.name == FILE else _SHARED_KEYS)
        if "import" not in parsed.data:
            return
        for index, name in enumerate(parsed.texts("import", found=parsed.data["import"]) or ()):
            if (reason := why_no_path(name, ".toml")) is not None:
                message = f"{show(name)} can't be imported: {reason}. Name a .toml file in the project."
                parsed.complain(("import", index), message)
            elif len(self.seen) <= limits.MANIFEST_FILES:
                self.read(name, line=parsed.line("import", index), importer=parsed.name)


def _join(root: Path, files: list[Parsed], built_ins: BuiltIns, issues: list[Issue]) -> Manifest:
    listed = [tools for parsed in files if (tools := read_tools(parsed, built_ins)) is not None]
    tools = _one_each("tools", [tool for tools in listed for tool in tools], files)
    skills = _one_each("skills", [skill for parsed in files for skill in read_skills(parsed)], files)
    main = files[0] if files else Parsed(FILE, {}, {}, issues)
    for section, found, most in (("tools", tools, limits.MANIFEST_TOOLS), ("skills", skills, limits.MANIFEST_SKILLS)):
        if len(found) > most:
            main.complain((section,), f"There are more than {most} {section} in all. Remove some.")
    agents = read_agents(main)
    secrets = read_secrets(main, main.data.get("secrets", "none"), "secrets")
    env = read_variables(main, main.data.get("env", []), "env")
    failed = {issue.entry: issue.message for issue in reversed(issues) if issue.entry is not None}
    return Manifest(
        root=root,
        files=tuple(parsed.name for parsed in files),
        tools=_without(failed, "tools", tools) if listed else None,
        skills=_without(failed, "skills", skills),
        agents=agents,
        secrets=secrets,
        env=env,
        failed=failed,
    )


def _one_each(section: str, entries: Iterable[Entry], files: Iterable[Parsed]) -> dict[str, Entry]:
    """The entries by name; that one is in two files is complained of."""
    found: dict[str, Entry] = {}
    of_file: Mapping[str, Parsed] = {parsed.name: parsed for parsed in files}
    for entry in entries:
        first = found.setdefault(entry.name, entry)
        if first is not entry:
            of_file[entry.file].complain(
                (section, entry.name),
                f"{entry.name} is in {first.file}, line {first.line}, too. Keep one of the two.",
                alone=True,
            )
    return found


def _without(failed: Container[tuple[str, str]], section: str, entries: Mapping[str, Entry]) -> dict[str, Entry]:
    return {name: entry for name, entry in entries.items() if (section, name) not in failed}


def _stamp(root: Path, name: str) -> Stamp | None:
    try:
        found = os.stat(root / name)
    except (OSError, ValueError):
        return None
    return stamp_of(found)
