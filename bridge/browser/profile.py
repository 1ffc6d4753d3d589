"""The folder in which a browser keeps its state.

Who starts a browser in one holds a lock on it, and so does the browser itself, which the system takes back even after a
SIGKILL. So the next bridge can tell a folder that was left behind from one in use, also where process numbers mean
nothing, as between containers, and where the bridge is gone and its browser is not.

Chromium has a mark of its own there, which outlives it, and a headless shell has none. A browser that finds another one
in its profile hands its work over to it, and kills it if it does not answer: so none is started in one that is in use.

Trio is imported by what needs it: a browser may be started ahead of that.
"""

import logging
import os
import shutil
import socket
import stat
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bridge.browser.wsl import is_windows_folder
from bridge.errors import BrowserFailedToStart
from bridge.files import is_ours, open_new, read_plain
from bridge.limits import CLOSE_SECONDS, PROFILE_SECONDS

logger = logging.getLogger(__name__)

PREFIX: Final = "pagebridge-profile-"
_TRIES: Final = 20
_ABANDONED_SECONDS: Final = 60.0
"""Its maker has had time to lock it."""
_FIRST_DESCRIPTOR: Final = 10
"""Those below are for the browser's pipe."""

_MARK: Final = "SingletonLock"
"""Chromium's: a link to `HOST-PID`."""
_SOCKET: Final = "SingletonSocket"
"""Chromium's, too: a link to where it listens, in a temporary folder that has nothing else in it but a cookie."""
_OURS: Final = "pagebridge-browser"
"""The mark of the last browser that was started here by a bridge."""
_MARK_BYTES: Final = 4096


@dataclass(frozen=True)
class Profile:
    """A folder that only this user can read, for one browser."""

    folder: Path
    lock: int | None
    """A descriptor for the browser to inherit; None where the system has no locks."""

    def note_browser(self, pid: int) -> None:
        """Remember which browser was started here, so that its mark can be told from that of others."""
        mark = self.folder / _OURS
        with suppress(OSError):
            mark.unlink(missing_ok=True)
            with open_new(mark) as file:
                file.write(f"{socket.gethostname()}-{pid}".encode())

    def release(self) -> None:
        """Give up our hold on the lock; the browser has one of its own."""
        if self.lock is not None:
            os.close(self.lock)


@asynccontextmanager
async def open_profile(kept: Path | None) -> AsyncGenerator[Profile]:
    """The profile `kept`, or else a fresh one that is removed at the end.

    Raises:
        BrowserFailedToStart: it cannot be made, or another browser uses it.
    """
    if kept is None:
        async with keep_profile(make_fresh()) as profile:
            yield profile
        return
    profile = await _lock_kept(_make_kept(kept))
    try:
        yield profile
    finally:
        _remove_socket(profile.folder)
        profile.release()


@asynccontextmanager
async def keep_profile(fresh: Profile) -> AsyncGenerator[Profile]:
    """A fresh profile, for the length of the block; it is removed at the end."""
    try:
        yield fresh
    finally:
        await _remove(fresh.folder)
        fresh.release()


def make_fresh() -> Profile:
    """A profile that nobody has used. Raises BrowserFailedToStart where it cannot be made."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    except OSError as error:
        raise BrowserFailedToStart(
            f"Could not make a folder for the browser's profile: {error.strerror or error}. Make room, or name another "
            "place with TMPDIR."
        ) from error
    return Profile(folder, _lock(folder))


def discard(fresh: Profile) -> None:
    """Remove a fresh profile whose browser was killed, and may be ending still. Blocks, up to CLOSE_SECONDS."""
    for _ in range(_TRIES):
        if _remove_once(fresh.folder):
            break
        time.sleep(CLOSE_SECONDS / _TRIES)
    fresh.release()


async def _lock_kept(folder: Path) -> Profile:
    """A browser whose bridge was killed may be ending still, so it gets PROFILE_SECONDS."""
    import trio

    for last in (*[False] * (_TRIES - 1), True):
        try:
            lock = _lock(folder)
        except BlockingIOError:
            lock = None
        else:
            if not _is_marked(folder):
                return Profile(folder, lock)
            if lock is not None:
                os.close(lock)
        if not last:
            await trio.sleep(PROFILE_SECONDS / _TRIES)
    raise BrowserFailedToStart(
        f"Another browser uses the profile {folder}: close it, use it as it is with --attach {folder} if it has remote "
        "debugging, or pass another folder with --profile."
    )


def _is_marked(folder: Path) -> bool:
    """Whether a browser that was not started by a bridge uses a locked folder. What a dead one of ours left, goes."""
    if _answers(folder):
        return True
    with suppress(OSError, ValueError):
        if os.readlink(folder / _MARK) == read_plain(folder / _OURS, _MARK_BYTES).decode("utf-8", "replace"):
            (folder / _MARK).unlink()
    return False


def _answers(folder: Path) -> bool:
    """Whether the browser that made the socket is there, be it busy or stopped."""
    if sys.platform == "win32":
        return False
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            probe.connect(os.readlink(folder / _SOCKET))
        except BlockingIOError:
            return True  # so many wait for it already
        except (OSError, ValueError):
            return False
    return True


def _remove_socket(folder: Path) -> None:
    """Remove what a browser that was killed leaves beside its profile."""
    with suppress(OSError):
        listened = Path(os.readlink(folder / _SOCKET))
        if listened.name == _SOCKET and not _answers(folder):
            for name in (_SOCKET, "SingletonCookie"):
                (listened.parent / name).unlink(missing_ok=True)
            listened.parent.rmdir()


async def remove_abandoned_profiles() -> None:
    """Remove fresh profiles of bridges that were killed. Never raises; may be cancelled at any time."""
    import trio

    with suppress(OSError):  # no temporary folder can be used, so nothing of ours is in one
        await trio.to_thread.run_sync(_remove_abandoned, Path(tempfile.gettempdir()), abandon_on_cancel=True)


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if _is_ours_and_old(folder.lstat()) and (lock := _lock(folder)) is not None:
                _remove_once(folder)
                os.close(lock)


def _is_ours_and_old(status: os.stat_result) -> bool:
    if sys.platform == "win32" or not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return False
    return time.time() - status.st_mtime > _ABANDONED_SECONDS


def _lock(folder: Path) -> int | None:
    """Return a descriptor that holds the lock, or None where there are no locks.

    Raises:
        BlockingIOError: somebody else has it.
    """
    if sys.platform == "win32":
        return None
    import fcntl  # not on Windows

    opened = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, _FIRST_DESCRIPTOR)
    except BlockingIOError:
        raise
    except OSError as error:
        logger.debug("%s can't be locked: %s", folder, error)
        return None
    finally:
        os.close(opened)


def _make_kept(folder: Path) -> Path:
    folder = Path(os.path.realpath(folder.expanduser()))
    if is_windows_folder(folder):
        raise BrowserFailedToStart(
            f"The profile {folder} is in a drive of Windows, where a browser of Linux can't keep one: pass a folder of "
            "Linux with --profile, or run pagebridge in Windows."
        )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise BrowserFailedToStart(
            f"Could not make the profile folder {folder}: {error.strerror}. Pass another with --profile."
        ) from error
    if not is_ours(folder.stat()):
        raise BrowserFailedToStart(
            f"The profile folder {folder} belongs to another user, who could have put anything there. Pass one of your "
            "own with --profile."
        )
    return folder


async def _remove(folder: Path) -> None:
    """Remove a folder in which a process that is just ending may still write. Bounded, and never raises."""
    import trio

    with trio.move_on_after(CLOSE_SECONDS, shield=True):
        for _ in range(_TRIES):
            if await trio.to_thread.run_sync(_remove_once, folder, abandon_on_cancel=True):
                return
            await trio.sleep(CLOSE_SECONDS / _TRIES)
    logger.warning("The browser's profile %s could not be removed; remove it by hand.", folder)


def _remove_once(folder: Path) -> bool:
    """Return whether it is gone."""
    _remove_socket(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()
