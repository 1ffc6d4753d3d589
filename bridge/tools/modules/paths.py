"""Which file a path to a module means. A path of a manifest stays in its project, wherever links lead."""

import os
from pathlib import Path
from typing import Final

from bridge import limits
from bridge.errors import UsageError
from bridge.files import why_failed

_DECLARATIVE: Final = (".md", ".json")


def find_declared(path: str, project: Path) -> Path:
    """The module that a manifest declares, where it really is. The file is not opened.

    Args:
        path: as the manifest has it, with `/` between its parts.

    Raises:
        UsageError: it can't be one of that project; says why.
    """
    parts = path.split("/")
    if "\\" in path or path.startswith(("/", "~")) or ":" in parts[0]:
        raise _refused(path, "it must be relative to the project, with `/` between its parts")
    if ".." in parts:
        raise _refused(path, "`..` would leave the project")
    if "" in parts or "." in parts:
        raise _refused(path, "it has an empty part; write it as in `tools/weather.py`")
    found = _find(path, project.joinpath(*parts))
    root = Path(os.path.realpath(project))
    if not found.is_relative_to(root):
        raise _refused(path, "a link leads out of the project")
    _check_case(path, project, parts)
    return found


def expand_named(path: str, folder: Path) -> list[str]:
    """The paths that a person means by one: a folder stands for the modules that are right in it, sorted, without those
    that begin with `_` or `.`. A link among them is refused later, as if it had been named.

    Raises:
        UsageError: there are none in that folder, or it can't be read.
    """
    place = folder / os.path.expanduser(path)
    if not os.path.isdir(place):
        return [path]
    try:
        with os.scandir(place) as entries:
            names = sorted(entry.name for entry in entries if _is_module(entry))
    except OSError as error:
        raise _refused(path, why_failed(error)) from error
    if not names:
        raise _refused(path, "it is a folder without any; put a file there that ends in .py, without `_` or `.` first")
    return [os.path.join(path, name) for name in names]


def _is_module(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(".py") and not entry.name.startswith(("_", ".")) and not entry.is_dir()


def find_named(path: str, folder: Path) -> Path:
    """The module that a person names, wherever it is: relative to a folder, `~` is theirs.

    Raises:
        UsageError: it is none; says why.
    """
    try:
        return _find(path, folder / Path(path).expanduser())
    except RuntimeError as error:
        raise _refused(path, "there is no such home folder") from error


def _find(path: str, place: Path) -> Path:
    try:
        if "\0" in path or len(os.fsencode(path)) > limits.PATH_BYTES:
            raise _refused(path, "no file can have that path")
    except UnicodeError as error:
        raise _refused(path, "it has half a character in it") from error
    if place.suffix in _DECLARATIVE:
        raise _refused(path, f"a {place.suffix} file can't be run; a skill belongs under [skills]")
    if place.suffix != ".py":
        raise _refused(path, "a module is a file that ends in .py")
    try:
        real = os.path.realpath(place, strict=True)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        raise _refused(path, "there is no such file" if is_missing else why_failed(error)) from error
    if place.is_symlink():
        raise _refused(path, "it is a link: name what it leads to")
    if not os.path.isfile(real):
        raise _refused(path, "it is not a plain file")
    return Path(real)


def _check_case(path: str, project: Path, parts: list[str]) -> None:
    """Some systems find a file by another spelling, which would be missing on the next machine."""
    folder = project
    for part in parts:
        try:
            known = os.listdir(folder)
        except OSError as error:
            raise _refused(path, f"{folder.name or folder} can't be looked through: {why_failed(error)}") from error
        if part not in known:
            raise _refused(path, f"the file system knows {part!r} under another spelling")
        folder /= part


def _refused(path: str, reason: str) -> UsageError:
    shown = path if len(path) <= limits.SHOWN_CHARS else f"{path[: limits.SHOWN_CHARS]}…"
    return UsageError(f"{shown!r} can't be a module: {reason}.")
