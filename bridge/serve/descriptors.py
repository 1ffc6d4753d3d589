"""stdin and stdout for MCP alone, from the first moment: also what is printed while the rest is imported, or by a
child process, or at the interpreter's exit, can't break the stream."""

import os
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bridge.errors import UsageError


@contextmanager
def divert_stdio() -> Generator[tuple[int, int]]:
    """Take stdin and stdout away from everything else; yield private descriptors of both, open as long as the block.

    From then on, and for good, fd 0 reads nothing and fd 1 is stderr; where there is none, what goes there is lost.

    Raises:
        UsageError: one of the two is closed.
    """
    for descriptor, name in ((0, "stdin"), (1, "stdout")):
        if not _is_open(descriptor):
            raise UsageError(
                f"{name} is closed, and an agent speaks over stdin and stdout: have `pagebridge serve` started by one."
            )
    nothing = os.open(os.devnull, os.O_RDWR)  # is the lowest number that is free, so fd 2 where that was closed
    private = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        for descriptor in private:
            msvcrt.setmode(descriptor, os.O_BINARY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    if nothing != 2:
        os.close(nothing)
    try:
        yield private
    finally:
        for descriptor in private:
            os.close(descriptor)


def is_stdout(path: Path) -> bool:
    """Whether a path, before the diversion, leads to where stdout goes; /dev/null never counts."""
    try:
        found = path.stat()
        same = os.path.samestat(found, os.fstat(1))
    except (OSError, ValueError):
        return False
    return same and not (stat.S_ISCHR(found.st_mode) and os.path.samestat(found, Path(os.devnull).stat()))


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
