"""Whether those who started us are there still.

The end of a client is not always the end of stdin: another process may hold the pipe's other end, or a wrapper such as
`sh -c` stands between the two, and is killed alone.
"""

import os
import sys
from pathlib import Path
from typing import Final

import trio

from bridge.limits import PARENT_SECONDS
from bridge.wire.nursery import open_background

_GENERATIONS: Final = 8


async def wait_left(stdin: int) -> None:
    """Block until our parent, or a client for which it only passes stdin on, has ended.

    On Windows, where a process keeps the number of a parent that has ended, for ever.
    """
    left = trio.Event()
    async with open_background() as nursery:
        for pid in starters(stdin):
            nursery.start_soon(_wait_end, pid, left)
        await left.wait()


def starters(stdin: int) -> list[int]:
    """Our parent; above one whose stdin is ours, too, also the next: a wrapper passes its own on, and a client never.

    What can't be known here, as outside of Linux, is left out.
    """
    if sys.platform == "win32":
        return []
    found: list[int] = []
    pid = os.getppid()
    while pid > 0 and len(found) < _GENERATIONS:  # 0 is outside of our container
        found.append(pid)
        try:
            passes_on = os.path.samestat(Path(f"/proc/{pid}/fd/0").stat(), os.fstat(stdin))
            pid = int(Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1])
        except OSError:
            break
        if not passes_on:
            break
    return found


async def _wait_end(pid: int, left: trio.Event) -> None:
    if sys.platform == "linux":
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            left.set()
            return
        except OSError:
            pass  # a kernel without it
        else:
            try:
                await trio.lowlevel.wait_readable(descriptor)
            finally:
                os.close(descriptor)
            left.set()
            return
    if pid == os.getppid():
        while pid == os.getppid():  # noqa: ASYNC110  # nothing tells of it
            await trio.sleep(PARENT_SECONDS)
        left.set()
