"""How files of ours are opened: never through what somebody else may have put in their place.

Windows has neither the flags nor the owners; there, a folder's own rights have to do.
"""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

_FLAGS: Final = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # who opens a pipe waits for its other end
    | getattr(os, "O_BINARY", 0)
)


@contextmanager
def open_new(path: Path, mode: int = 0o600) -> Generator[BinaryIO]:
    """Make a file that is not there yet, for us alone. It is removed again where the block fails.

    Args:
        mode: for whom else, as far as the umask lets it.

    Raises:
        OSError: there is something of that name, or it can't be made.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def open_plain(path: Path, flags: int) -> int:
    """Open a plain file, and nothing else: no link, no pipe, no device, no folder.

    Args:
        flags: how; with O_CREAT it is made where it is not there, for us alone.

    Raises:
        OSError: it can't be opened.
        ValueError: it is something else, or the path can be none; says which.
    """
    try:
        descriptor = os.open(path, flags | _FLAGS, 0o600)
    except OSError as error:
        if path.is_symlink():
            raise ValueError("it is a link") from error
        if path.exists() and not path.is_file():
            raise ValueError("it is not a plain file") from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError("it is not a plain file")
    return descriptor


def read_plain(path: Path, most_bytes: int) -> bytes:
    """The beginning of a plain file, up to that much.

    Raises:
        OSError, ValueError: as `open_plain`.
    """
    with os.fdopen(open_plain(path, os.O_RDONLY), "rb") as file:
        return file.read(most_bytes)


def read_own(path: Path, most_bytes: int) -> bytes:
    """A plain file that nobody else may write, whole.

    Raises:
        OSError: as `open_plain`.
        ValueError: as `open_plain`, or others may write it, or it is longer than that; says which.
    """
    with os.fdopen(open_plain(path, os.O_RDONLY), "rb") as file:
        if not is_ours(os.fstat(file.fileno()), alone=True):
            raise ValueError("other users may write it")
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise ValueError(f"it has more than {most_bytes:,} bytes")
    return data


def write_whole(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write a file anew: it is there whole, or as it was. A link is replaced, and what it led to stays.

    Args:
        mode: exactly whose it is to be.

    Raises:
        OSError, ValueError: it can't be written.
    """
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    with open_new(draft) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    try:
        if mode != 0o600:
            os.chmod(draft, mode)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def is_ours(found: os.stat_result, *, alone: bool = False) -> bool:
    """Whether it belongs to us, or to root, who can do everything anyhow.

    Args:
        alone: and nobody else may write it.
    """
    if os.name == "nt":
        return True
    return found.st_uid in (os.geteuid(), 0) and not (alone and found.st_mode & 0o022)


def is_private(folder: Path) -> bool:
    """Whether it is a folder, and no link to one, that belongs to us, and that nobody else may use."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    if os.name == "nt":
        return stat.S_ISDIR(found.st_mode)
    return found.st_mode == stat.S_IFDIR | 0o700 and found.st_uid == os.geteuid()


def why_failed(error: OSError | ValueError) -> str:
    """What an error of these says, as the end of a sentence."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def stamp_of(found: os.stat_result) -> tuple[int, ...]:
    """What of a file changes when it is written, or another one takes its place."""
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size
