"""Programs that run for a tool: without a shell, in a process group of their own, and never longer than their call."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import trio

from bridge import limits
from bridge.errors import UsageError
from bridge.files import why_failed
from bridge.wire.pipes import ChunkReader

_PASSED_ON: Final = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
"""What a program can't do without. It names places and languages, and nothing that is secret."""

_AT_A_WORD: Final = ("/bin/sh", "-c", 'read _ && unset PWD OLDPWD SHLVL && exec "$0" "$@" </dev/null')
"""Becomes the program behind it once there is a line on stdin, and ends where that closes first. What dash adds to
the variables goes again."""


@dataclass(frozen=True)
class ExecResult:
    """What became of a program.

    Attributes:
        code: its exit code, or the negative number of the signal that ended it.
        killed: it was ended, since its time was over.
        cut: it wrote more than `limits.EXEC_OUTPUT_BYTES` to one of the two.
    """

    stdout: str
    stderr: str
    code: int
    killed: bool
    cut: bool = False


def plain_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """The few variables of ours that every program gets, and these."""
    return {**{name: os.environ[name] for name in _PASSED_ON if name in os.environ}, **(env or {})}


async def run_program(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], seconds: float | None = None
) -> ExecResult:
    """Run a program to its end, or to ours: who cancels this, or lets the time pass, has its whole group killed.

    Args:
        env: all that it gets; see `plain_environment`.

    Raises:
        UsageError: it can't be started.
    """
    if not command:
        raise UsageError("There is no program to run: name one, and then its arguments.")
    _check_folder(command[0], cwd)
    try:
        _check_there(command[0], cwd, env)
        group = await start_group(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except (OSError, ValueError) as error:
        raise UsageError(f"{command[0]!r} can't be started: {why_failed(error)}.") from error
    process = group.leader
    outputs = [_Output(process.stdout), _Output(process.stderr)]
    try:
        with trio.move_on_after(float("inf") if seconds is None else seconds) as scope:
            async with trio.open_nursery() as nursery:
                for output in outputs:
                    nursery.start_soon(output.read)
                await process.wait()
                # What it has left behind may hold the pipes open.
                kill_group(process.pid)
                nursery.cancel_scope.deadline = trio.current_time() + limits.CLOSE_SECONDS
    finally:
        await group.end()
        for output in outputs:
            await output.aclose()
    code = process.returncode
    assert code is not None
    stdout, stderr = (output.text() for output in outputs)
    return ExecResult(stdout, stderr, code, scope.cancelled_caught, any(output.is_cut for output in outputs))


def _check_folder(name: str, cwd: Path) -> None:
    """See whether a program can be started there: the system's word for it is the same as for the program.

    Raises:
        UsageError: it can't.
    """
    try:
        os.stat(os.path.join(cwd, "."))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{name!r} can't be started in '{cwd}': {why_failed(error)}. Give a folder that is there as `cwd`."
        ) from error


def _check_there(name: str, cwd: Path, env: Mapping[str, str]) -> None:
    """See whether there is such a program, since what starts it can't say so any more.

    Raises:
        OSError: there is not.
    """
    found = cwd / name if os.sep in name else shutil.which(name, path=env.get("PATH", os.defpath))
    if found is None or not os.path.exists(found):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if not (os.path.isfile(found) and os.access(found, os.X_OK)):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


class _Output:
    def __init__(self, stream: trio.abc.ReceiveStream | None) -> None:
        assert stream is not None
        self._stream = stream
        self._kept = bytearray()
        self.is_cut = False

    async def read(self) -> None:
        reader = ChunkReader(self._stream)
        while chunk := await reader.receive():
            room = limits.EXEC_OUTPUT_BYTES - len(self._kept)
            self._kept += chunk[:room]
            self.is_cut = self.is_cut or len(chunk) > room

    async def aclose(self) -> None:
        await trio.aclose_forcefully(self._stream)

    def text(self) -> str:
        return self._kept.decode(errors="ignore" if self.is_cut else "replace")


def kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # it is gone already


@dataclass(frozen=True)
class Group:
    """A process that leads a group of its own, with all that it starts there. `start_group` starts it."""

    leader: trio.Process
    _lifeline: int

    async def end(self) -> None:
        """Kill all of it, and reap the leader. Bounded, whatever the caller's scope."""
        kill_group(self.leader.pid)
        with trio.move_on_after(limits.CLOSE_SECONDS, shield=True):
            await self.leader.wait()
        os.close(self._lifeline)


async def start_group(
    command: Sequence[str],
    *,
    cwd: str | Path,
    env: Mapping[str, str],
    stdout: int,
    stderr: int,
    pass_fds: Sequence[int] = (),
) -> Group:
    """Start a program that ends with us at the latest, and so does its group.

    The group holds the one end of a pipe that nothing is written to, and we the other, which closes with us. The
    program begins when that is seen to.

    Raises:
        OSError, ValueError: as `subprocess.Popen`.
    """
    theirs, ours = os.pipe()
    word, say = os.pipe()
    try:
        leader = await trio.lowlevel.open_process(
            [*_AT_A_WORD, *command],
            stdin=word,
            stdout=stdout,
            stderr=stderr,
            cwd=cwd,
            env=env,
            pass_fds=(*pass_fds, theirs),
            start_new_session=True,
        )
        _kill_at_close(theirs, leader.pid)
        os.write(say, b"\n")
    except BaseException:
        os.close(ours)
        raise
    finally:
        for descriptor in (theirs, word, say):
            os.close(descriptor)
    return Group(leader, ours)


def _kill_at_close(pipe: int, group: int) -> None:
    """Have the kernel kill a group that holds the reading end of a pipe once nobody can write to that any more.

    So it ends whatever it is at: C code that lets no Python run, or nothing at all, since it is stopped. A signal for
    the death of a parent reaches one process only, and comes when the thread ends that has started it. Linux only:
    elsewhere the process of a module sees our end itself, unless C code keeps it from that.
    """
    if sys.platform == "linux":
        import fcntl  # not on Windows

        with suppress(ProcessLookupError):  # it has ended
            fcntl.fcntl(pipe, fcntl.F_SETOWN, -group)
            fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(pipe, fcntl.F_SETFL, os.O_ASYNC)
