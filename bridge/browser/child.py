"""A child process that was started without Trio, for code that runs with it."""

import os
import subprocess
from typing import IO

import trio

from bridge.wire.pipes import widen


class Child:
    """As `trio.Process`, which only Trio itself can make. Not on Windows.

    Attributes:
        stdin, stdout, stderr: pipes to and from it; the process object that it is made of has them no more.
    """

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self.stdin = _take(process.stdin)
        self.stdout = _take(process.stdout)
        self.stderr = _take(process.stderr)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.poll()

    def kill(self) -> None:
        self._process.kill()

    async def wait(self) -> int:
        """Block until it ends; return its exit code, or the negative number of the signal that ended it."""
        if self._process.poll() is None:
            try:
                descriptor = os.pidfd_open(self.pid)
            except (AttributeError, OSError):  # another system, or a kernel without it
                await trio.to_thread.run_sync(self._process.wait, abandon_on_cancel=True)
            else:
                try:
                    await trio.lowlevel.wait_readable(descriptor)
                finally:
                    os.close(descriptor)
        else:
            await trio.lowlevel.checkpoint()
        return self._process.wait()


def _take(file: IO[bytes] | None) -> trio.lowlevel.FdStream:
    assert file is not None
    with file:
        widen(file.fileno())
        return trio.lowlevel.FdStream(os.dup(file.fileno()))
