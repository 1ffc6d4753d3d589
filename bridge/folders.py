"""Where in the file system an agent may lead: which folders, and to what in them.

A path is judged by where it really is. Its last part may not be a link at all, as that is what another program would
put there to have us follow; links before it count as the folders that they lead to.
"""

import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote_to_bytes

from bridge import limits
from bridge.errors import NotAllowed, UsageError
from bridge.files import why_failed

# What browsers read otherwise than it is written is not among these: backslashes, control characters, other hosts.
_FILE_URL: Final = r"file:(?://(?:localhost)?)?(/(?![/\\])[^\\?#\x00-\x20\x7f]*)((?:[?#].*)?)"


@dataclass(frozen=True)
class Folders:
    """Folders that an agent may use, and all that is below them.

    Attributes:
        roots: where they really are. One may be a file, and is then the only one there.
    """

    roots: tuple[str, ...] = ()

    def also(self, folder: Path | None) -> "Folders":
        """These, and one more if there is one."""
        return self if folder is None else Folders((*self.roots, os.path.realpath(folder)))

    def has(self, path: str) -> bool:
        """Whether a path leads into one of them, wherever its links go."""
        try:
            return self._has(os.path.realpath(path))
        except (OSError, ValueError):
            return False

    def find_file(self, path: str) -> Path:
        """Where a plain file that an agent names really is.

        Raises:
            NotAllowed: it is in none of the folders, or is something else, or can't be looked at.
        """
        if (reason := _why_no_path(path)) is not None:
            raise _refused(path, reason)
        folder, name = os.path.split(path)
        try:
            is_folder = name in ("", os.curdir, os.pardir)
            real = os.path.realpath(path) if is_folder else os.path.join(os.path.realpath(folder), name)
            # Asked first, or the answer would tell what there is elsewhere.
            if not self._has(real):
                raise _refused(path, "it is in none of the folders that an agent may use; --allow-dir adds one")
            mode = os.lstat(real).st_mode
        except (OSError, ValueError) as error:
            raise _refused(path, why_failed(error)) from error
        if stat.S_ISLNK(mode):
            raise _refused(path, "it is a link: name what it leads to")
        if not stat.S_ISREG(mode):
            raise _refused(path, "it is not a plain file")
        return Path(real)

    def find_page(self, url: str) -> str:
        """The address of a file that an agent may open, as that of the place where it really is.

        Raises:
            NotAllowed: as `find_file`, or the address is not that of a file here.
        """
        try:
            path, rest = split_file_url(url)
        except ValueError as error:
            raise _refused(url, str(error)) from error
        return self.find_file(path).as_uri() + rest

    def has_page(self, url: str) -> bool:
        """Whether the file that a page came from is in one of them."""
        try:
            return self.has(split_file_url(url)[0])
        except ValueError:
            return False

    def _has(self, real: str) -> bool:
        return any(real == root or real.startswith(os.path.join(root, "")) for root in self.roots)


def read_folders(dirs: Iterable[Path], pages: Iterable[str] = ()) -> Folders:
    """The folders that a person lets an agent use: the working folder, those they name, and the files they name.

    The working folder is left out where the home folder is in it: who starts us there has not chosen it.

    Args:
        pages: addresses; those of files count.

    Raises:
        UsageError: one of the folders is none.
    """
    roots: list[str] = []
    for folder in dirs:
        try:
            real = os.path.realpath(folder.expanduser(), strict=True)
        except (OSError, ValueError, RuntimeError) as error:
            raise UsageError(f"--allow-dir can't be {folder}: {error}. Name a folder that is there.") from error
        if not os.path.isdir(real):
            raise UsageError(f"--allow-dir can't be {folder}: it is no folder. Name one that is there.")
        roots.append(real)
    for url in pages:
        with suppress(ValueError):  # a page of another kind
            roots.append(os.path.realpath(split_file_url(url)[0]))
    with suppress(OSError):  # it may have been removed
        working = os.path.realpath(os.curdir)
        if not Folders((working,)).has(os.path.expanduser("~")):
            roots.append(working)
    return Folders(tuple(dict.fromkeys(roots)))


def split_file_url(url: str) -> tuple[str, str]:
    """The path that a `file:` address means, and its query and fragment as they are.

    Raises:
        ValueError: it is none, or one that browsers and we could read differently; says so.
    """
    found = re.fullmatch(_FILE_URL, url, re.IGNORECASE | re.DOTALL)
    if found is None:
        raise ValueError("it is no address of a file on this machine: write file:///PATH, percent-encoded")
    try:
        path = os.fsdecode(unquote_to_bytes(found[1]))
    except UnicodeError as error:
        raise ValueError("it has half a character in it") from error
    return (path.removeprefix("/") if os.name == "nt" else path), found[2]


def _why_no_path(path: str) -> str | None:
    """Why a path can't be one that an agent means, whatever there is, or None."""
    if "\0" in path:
        return "it has a NUL in it"
    try:
        if len(os.fsencode(path)) > limits.PATH_BYTES:
            return f"it has more than {limits.PATH_BYTES:,} bytes"
    except UnicodeError:
        return "it has half a character in it"
    if re.match(r"[/\\]{2}", path):
        return "it leads to another machine"
    return None


def _refused(what: str, reason: str) -> NotAllowed:
    shown = what if len(what) <= limits.SHOWN_CHARS else f"{what[: limits.SHOWN_CHARS]}…"
    return NotAllowed(f"{shown!r} was not opened: {reason}.")
