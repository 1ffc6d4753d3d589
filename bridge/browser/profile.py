"""The folder in which a browser keeps its state.

Who makes a fresh one holds a lock on it, which the system takes back even after a SIGKILL. So the next bridge can
tell a folder that was left behind from one in use, also where process numbers mean nothing, as between containers.
"""

import logging
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import trio

from bridge.errors import BrowserFailedToStart
from bridge.limits import CLOSE_SECONDS

logger = logging.getLogger(__name__)

_PREFIX: Final = "pagebridge-profile-"
_REMOVAL_TRIES: Final = 20
_ABANDONED_SECONDS: Final = 60.0
"""Its maker has had time to lock it."""


@asynccontextmanager
async def open_profile(kept: Path | None) -> AsyncGenerator[Path]:
    """A profile folder that only this user can read: `kept`, or else a fresh one that is removed at the end.

    Raises:
        BrowserFailedToStart: it cannot be made.
    """
    if kept is not None:
        yield _make_kept(kept)
        return
    fresh = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = _lock(fresh)
    try:
        yield fresh
    finally:
        await _remove(fresh)
        if lock is not None:
            os.close(lock)


async def remove_abandoned_profiles() -> None:
    """Remove fresh profiles of bridges that were killed. Never raises; may be cancelled at any time."""
    await trio.to_thread.run_sync(_remove_abandoned, Path(tempfile.gettempdir()), abandon_on_cancel=True)


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if _is_ours_and_old(folder.lstat()) and (lock := _lock(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _is_ours_and_old(status: os.stat_result) -> bool:
    if sys.platform == "win32" or not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return False
    return time.time() - status.st_mtime > _ABANDONED_SECONDS


def _lock(folder: Path) -> int | None:
    """Return a descriptor that holds the lock, or None where another holds it or there are no locks."""
    if sys.platform == "win32":
        return None
    import fcntl  # not on Windows

    descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _make_kept(folder: Path) -> Path:
    folder = folder.expanduser().absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise BrowserFailedToStart(
            f"Could not make the profile folder {folder}: {error.strerror}. Pass another with --profile."
        ) from error
    return folder


async def _remove(folder: Path) -> None:
    """Remove a folder in which a process that is just ending may still write. Bounded, and never raises."""
    with trio.move_on_after(CLOSE_SECONDS, shield=True):
        for _ in range(_REMOVAL_TRIES):
            if await trio.to_thread.run_sync(_remove_once, folder, abandon_on_cancel=True):
                return
            await trio.sleep(CLOSE_SECONDS / _REMOVAL_TRIES)
    logger.warning("The browser's profile %s could not be removed; remove it by hand.", folder)


def _remove_once(folder: Path) -> bool:
    """Return whether it is gone."""
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()
