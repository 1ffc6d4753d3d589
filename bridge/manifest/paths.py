"""Files that a manifest names: written from the project's folder on, and inside of it wherever links lead."""

import os
import re
import stat
from pathlib import Path
from typing import Final

from bridge import limits
from bridge.errors import UsageError
from bridge.files import open_plain, why_failed
from bridge.folders import Folders

_ABSOLUTE: Final = re.compile(r"[/\\~]|[A-Za-z]:|[A-Za-z][A-Za-z0-9+.-]+://")


def why_no_path(path: object, suffix: str) -> str | None:
    """Why something can't be the path of a file of a project, whatever there is on the disk, or None.

    Args:
        suffix: what it has to end with.
    """
    if not isinstance(path, str):
        return "it is no text"
    if not path.isprintable():
        return "it has characters that can't be seen"
    try:
        if len(os.fsencode(path)) > limits.PATH_BYTES:
            return f"it has more than {limits.PATH_BYTES:,} bytes"
    except UnicodeError:
        return "it has half a character in it"
    if _ABSOLUTE.match(path):
        return "it does not begin in the project's folder"
    if "\\" in path:
        return "it has a backslash: write /"
    parts = path.split("/")
    if ".." in parts:
        return "it leads out of the folder that it is in"
    if "" in parts or "." in parts:
        return "it has an empty part, or one that is a dot"
    if suffix and (not parts[-1].endswith(suffix) or parts[-1] == suffix):
        return f"it does not end with {suffix}"
    return None


def find_file(root: Path, path: str) -> Path:
    """Where a plain file of a project really is. Nothing is opened.

    Raises:
        UsageError: it is not there, is a link or no plain file, or leads out of the project.
    """
    try:
        if os.path.islink(root / path):
            raise UsageError(f"{path} is a link. Name what it leads to, or put the file there.")
        real = os.path.realpath(root / path, strict=True)
        if not Folders((os.path.realpath(root),)).has(real):
            raise UsageError(f"{path} leads out of the project's folder, through a link. Put the file there.")
        mode = os.stat(real).st_mode
    except FileNotFoundError as error:
        raise UsageError(
            f"{path} does not exist in the project's folder. Write the file, or change the path."
        ) from error
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} can't be read: {why_failed(error)}. Change the path, or the file's rights."
        ) from error
    if not stat.S_ISREG(mode):
        raise UsageError(f"{path} is a folder, a pipe or a device. Name a plain file.")
    return Path(real)


def why_no_folder(root: Path, path: str) -> str | None:
    """Why files can't be kept in a folder of a project, as the end of a sentence, or None."""
    place = Path(os.path.realpath(root)) / path
    if os.path.realpath(place) != str(place):
        return f"{path} leads through a link, so name what that leads to"
    return None if place.is_dir() else f"there is no folder {path}, so make it"


def read_file(root: Path, path: str, most_bytes: int = limits.PROJECT_FILE_BYTES) -> bytes:
    """The whole of a plain file of a project.

    Raises:
        UsageError: it can't be read, leads out of the project, or is longer than that.
    """
    real = find_file(root, path)
    try:
        with os.fdopen(open_plain(real, os.O_RDONLY), "rb") as file:
            data = file.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} can't be read: {why_failed(error)}. Change the path, or the file's rights."
        ) from error
    if len(data) > most_bytes:
        raise UsageError(f"{path} has more than {most_bytes:,} bytes. Make it shorter.")
    return data
