"""Change a project: eject a built-in tool and bring it back, add a skill, begin a tool."""

import os
import re
import stat
import tomllib
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from bridge import limits
from bridge.errors import AlreadyThere, UsageError
from bridge.files import open_new, why_failed, write_whole
from bridge.folders import Folders
from bridge.manifest.edit import set_skill, set_tool, unset_skill
from bridge.manifest.entries import why_no_name
from bridge.manifest.manifest import BUILT_IN, FILE, BuiltIns, Manifest, SkillEntry
from bridge.manifest.parsed import NAME, NAME_RULE, show
from bridge.manifest.paths import find_file, read_file, why_no_path
from bridge.manifest.read import has_manifest, read_manifest
from bridge.manifest.template import module_of, test_of

TOOLS_FOLDER: Final = "tools"
TESTS_FOLDER: Final = "tests"


@dataclass(frozen=True)
class Changed:
    """What was done.

    Attributes:
        written: files that are new or were overwritten.
        manifest: the file whose line was changed or added.
    """

    written: tuple[str, ...]
    manifest: str


@dataclass(frozen=True)
class AddedSkill:
    """What was done.

    Attributes:
        before: the hash that was approved until now.
    """

    name: str
    path: str
    sha256: str
    before: str | None
    manifest: str


def eject(root: Path, built_ins: BuiltIns, name: str, source: str, *, force: bool = False) -> Changed:
    """Make a built-in tool one of the project: write its source as a module, and name that in the manifest.

    Args:
        source: the module, as it runs.
        force: overwrite the file, and let the manifest name it though it names another one.

    Raises:
        AlreadyThere: the file is there, or the tool is one of the project already.
        UsageError: there is no such built-in tool, or the project can't be changed.
    """
    if name not in built_ins.names:
        raise UsageError(f"{show(name)} is no built-in tool. Eject one of: {', '.join(sorted(built_ins.names))}.")
    manifest = read_manifest(root, built_ins)
    path = f"{TOOLS_FOLDER}/{name}.py"
    entry = manifest.declared.get(name)
    if entry is not None and not entry.is_built_in and not force:
        raise AlreadyThere(
            f"{name} comes from {entry.source} already ({entry.file}, line {entry.line}). With --force, it comes from "
            f"{path} instead."
        )
    edit = _plan_tool(manifest, built_ins, name, path, ejected=True)
    return _carry_out(root, edit, {path: source}, force=force)


def restore(root: Path, built_ins: BuiltIns, name: str) -> Changed:
    """Let a tool be the built-in one again. The module that it was stays where it is.

    Raises:
        AlreadyThere: it is the built-in one.
        UsageError: there is no such built-in tool, or the manifest can't be changed.
    """
    if name not in built_ins.names:
        raise UsageError(f"{show(name)} is no built-in tool. Restore one of: {', '.join(sorted(built_ins.names))}.")
    manifest = read_manifest(root, built_ins)
    entry = manifest.declared.get(name)
    if (manifest.tools is None and name in built_ins.profile) or (entry is not None and entry.is_built_in):
        raise AlreadyThere(f"{name} is the built-in tool already.")
    return _carry_out(root, _plan_tool(manifest, built_ins, name, f"{BUILT_IN}{name}"), {})


def begin_tool(root: Path, built_ins: BuiltIns, name: str) -> Changed:
    """Write a module that works, with a test, and name it in the manifest.

    Raises:
        AlreadyThere: one of these is there.
        UsageError: no tool can be called so, or the project can't be changed.
    """
    if (fault := why_no_name(name, built_ins)) is not None:
        raise UsageError(fault)
    if name in built_ins.names:
        raise UsageError(f"{name} is a built-in tool. `pagebridge tools eject {name}` begins with its source.")
    manifest = read_manifest(root, built_ins)
    if (entry := manifest.declared.get(name)) is not None:
        raise AlreadyThere(f"{name} comes from {entry.source} already ({entry.file}, line {entry.line}).")
    module, test = f"{TOOLS_FOLDER}/{name}.py", f"{TESTS_FOLDER}/test_{name}.py"
    edit = _plan_tool(manifest, built_ins, name, module)
    return _carry_out(root, edit, {module: module_of(name), test: test_of(name)})


def plan_skill(root: Path, built_ins: BuiltIns, path: str, name: str | None = None) -> SkillEntry:
    """What the manifest says of the skill in a file, or what it will say, but for the hash.

    Args:
        path: from the project's folder on.
        name: in the manifest; without one, the file's.

    Raises:
        AlreadyThere: the name is that of another file.
        UsageError: the file or the name can't be one, or the manifest can't be used.
    """
    if (reason := why_no_path(path, ".md")) is not None:
        raise UsageError(f"{show(path)} can't be a skill: {reason}. Name a .md file in the project.")
    find_file(root, path)
    manifest = read_manifest(root, built_ins)
    same = next((skill for skill in manifest.skills.values() if skill.path == path), None)
    name = name or (same.name if same is not None else _name_of(path))
    if not NAME.fullmatch(name):
        raise UsageError(f"{show(name)} can't be a skill's name. {NAME_RULE}. Give another one with --name.")
    entry = manifest.skills.get(name)
    if entry is not None and entry.path != path:
        raise AlreadyThere(f"The skill {name} is {entry.path} ({entry.file}, line {entry.line}). Choose another name.")
    if same is not None and same.name != name:
        raise AlreadyThere(f"{path} is the skill {same.name} already ({same.file}, line {same.line}).")
    file = _declaring_file(manifest, "skills", name) or FILE
    return entry or SkillEntry(name=name, path=path, file=file, line=1)


def add_skill(root: Path, built_ins: BuiltIns, path: str, data: bytes, *, name: str | None = None) -> AddedSkill:
    """Approve a skill: the manifest names its file and the hash of what a person has seen of it.

    Args:
        data: what was shown; where the file is another one by the time it is loaded, it is not.

    Raises:
        AlreadyThere, UsageError: as `plan_skill`, or the manifest can't be changed.
    """
    entry = plan_skill(root, built_ins, path, name)
    digest = sha256(data).hexdigest()
    edit = _Edit(entry.file, set_skill(_read_text(root, entry.file), entry.name, path, digest))
    _carry_out(root, edit, {})
    return AddedSkill(entry.name, path, digest, entry.sha256, entry.file)


def remove_skill(root: Path, built_ins: BuiltIns, name: str) -> str:
    """Take a skill out of the manifest; its file stays where it is. Returns the manifest's file that was changed.

    Raises:
        UsageError: there is no such skill, or the manifest can't be changed.
    """
    manifest = read_manifest(root, built_ins)
    file = _declaring_file(manifest, "skills", name)
    if file is None:
        there = f"There are these: {', '.join(manifest.skills)}." if manifest.skills else "There are none."
        raise UsageError(f"{FILE} has no skill {show(name)}. {there}")
    return _carry_out(root, _Edit(file, unset_skill(_read_text(root, file), name)), {}).manifest


@dataclass(frozen=True)
class _Edit:
    """A file of the manifest, and all that is to be in it."""

    file: str
    text: str


def _plan_tool(manifest: Manifest, built_ins: BuiltIns, name: str, source: str, *, ejected: bool = False) -> _Edit:
    """Where the tool is declared, or else where there is a `[tools]`, or else in the main file."""
    file = _declaring_file(manifest, "tools", name) or _declaring_file(manifest, "tools") or FILE
    text = _read_text(manifest.root, file)
    return _Edit(file, set_tool(text, name, source, beside=built_ins.profile, ejected=ejected))


def _declaring_file(manifest: Manifest, section: str, name: str | None = None) -> str | None:
    """Where an entry is, be it a wrong one; or the first file that has such a section."""
    for file in manifest.files:
        found = tomllib.loads(_read_text(manifest.root, file)).get(section)
        if found is not None and (name is None or name in found):
            return file
    return None


def _read_text(root: Path, file: str) -> str:
    return read_file(root, file, limits.MANIFEST_BYTES).decode() if file != FILE or has_manifest(root) else ""


def _carry_out(root: Path, edit: _Edit, files: Mapping[str, str], *, force: bool | None = None) -> Changed:
    """Write the files, and then the manifest: a file that it names is there. Where that fails, new ones are removed."""
    with ExitStack() as undo:
        for path, text in files.items():
            if _write(root, path, text, force=force):
                undo.callback(_remove, root / path)
        _write(root, edit.file, edit.text, force=has_manifest(root))
        undo.pop_all()
    return Changed(tuple(files), edit.file)


def _write(root: Path, path: str, text: str, *, force: bool | None) -> bool:
    """Write a file of the project; whether it is a new one.

    Args:
        force: also in place of one that is there; None where nobody can ask for that.

    Raises:
        AlreadyThere: there is one.
        UsageError: it can't be written.
    """
    place = root / path
    try:
        _make_folder(place.parent)
        if not Folders((os.path.realpath(root),)).has(os.path.realpath(place.parent)):
            raise UsageError(f"{place.parent.name} leads out of the project's folder. Make it a folder, and no link.")
        if force and os.path.lexists(place):
            write_whole(place, text.encode(), stat.S_IMODE(place.lstat().st_mode) if place.is_file() else 0o644)
            return False
        with open_new(place, 0o666) as file:
            file.write(text.encode())
    except FileExistsError as error:
        way = "Rename it first" if force is None else "Rename it, or overwrite it with --force"
        raise AlreadyThere(f"{path} exists. {way}.") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} can't be written: {why_failed(error)}. Change the rights of its folder.") from error
    return True


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise UsageError(f"{folder.name} is no folder, and has to be one. Rename it first.") from error


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _name_of(path: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", path.rpartition("/")[2].removesuffix(".md").lower()).strip("_")
