"""The files of a module as they were when it was loaded, and whether they are still the same."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from bridge import limits
from bridge.errors import UsageError
from bridge.files import open_plain, why_failed

_SETTLED_NS: Final = 2_000_000_000
"""A file that was changed this short ago may change again without its time doing so."""


@dataclass(frozen=True)
class Source:
    """What a module's file held at one moment.

    Attributes:
        data: the very bytes that are run.
        sha256: of these.
    """

    path: Path
    data: bytes
    sha256: str


def read_source(path: Path) -> Source:
    """Read the file of a module, once.

    Raises:
        UsageError: it can't be read, or is too large.
    """
    try:
        with os.fdopen(open_plain(path, os.O_RDONLY), "rb") as file:
            data = file.read(limits.MODULE_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path.name} can't be read: {why_failed(error)}.") from error
    if len(data) > limits.MODULE_BYTES:
        raise UsageError(f"{path.name} has more than the {limits.MODULE_BYTES:,} bytes that a module may have.")
    return Source(path, data, sha256(data).hexdigest())


class Watched:
    """Files, each with the hash of what was read of it.

    A file is looked at, and read again only where it looks otherwise, or has not been left alone for long.
    """

    def __init__(self, hashes: Mapping[Path, str | None]) -> None:
        self._hashes: dict[Path, str | None] = {}
        self._looks: dict[Path, tuple[int, ...]] = {}
        self._folders: dict[Path, frozenset[str]] = {}
        self.add(hashes)

    def add(self, hashes: Mapping[Path, str | None]) -> None:
        """More of them; one that is known stays as it was read first."""
        for path in hashes.keys() - self._hashes.keys():
            self._hashes[path] = hashes[path]
            if path.parent not in self._folders:
                self._folders[path.parent] = _names_in(path.parent)

    def has_changed(self) -> bool:
        return any(self._is_other(path, known) for path, known in self._hashes.items())

    def has_company(self) -> bool:
        """Whether a file has come beside one of them, or has gone, since they are watched."""
        return any(_names_in(folder) != names for folder, names in self._folders.items())

    def _is_other(self, path: Path, known: str | None) -> bool:
        now = time.time_ns()  # before the look: what is written after it is seen the next time
        look = _look(path)
        if look is not None and self._looks.get(path) == look:
            return False
        try:
            found = read_source(path).sha256
        except UsageError:
            found = None
        if found != known:
            return True
        if look is not None and now - look[0] > _SETTLED_NS:
            self._looks[path] = look
        return False


def _look(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat(follow_symlinks=False)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_mode


def _names_in(folder: Path) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()
