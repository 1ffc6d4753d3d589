"""Start a Chromium of our own, and end it.

The debugging pipe is also a lifeline: Chromium ends when our end of it closes, so it ends with us even after a
SIGKILL. That is why there is a pipe also where commands go over a port.
"""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from bridge.browser.ahead import take_ahead
from bridge.browser.child import Child
from bridge.browser.profile import Profile, keep_profile, open_profile, remove_abandoned_profiles
from bridge.browser.spawn import arguments_of, choose_browser, spawn
from bridge.browser.stderr import BrowserStderr
from bridge.errors import BrowserFailedToStart
from bridge.limits import CLOSE_SECONDS, START_SECONDS, TERMINATE_SECONDS
from bridge.settings import LaunchOptions
from bridge.wire.nursery import open_background
from bridge.wire.transports import PipeTransport, Transport

logger = logging.getLogger(__name__)


class BrowserProcess:
    """A browser that we started. Made by `open_process`."""

    transport: Transport

    def __init__(self, process: trio.Process | Child, executable: Path, options: LaunchOptions) -> None:
        self._process = process
        self._executable = executable
        self._options = options
        self._stderr = BrowserStderr()

    @property
    def pid(self) -> int:
        return self._process.pid

    def stderr_tail(self) -> str:
        """The last lines that the browser wrote for people."""
        return self._stderr.tail()

    async def wait_exit(self) -> int:
        """Block until it ends; return its exit code, or the negative number of the signal that ended it."""
        return await self._process.wait()

    async def failure(self) -> BrowserFailedToStart:
        """The error to raise when the transport ended before the browser answered for the first time.

        Waits up to CLOSE_SECONDS for the browser's end and its last words.
        """
        with trio.move_on_after(CLOSE_SECONDS):
            await self._process.wait()
            await self._stderr.ended.wait()
        tail = self.stderr_tail()
        return BrowserFailedToStart(
            f"{self._executable} {ended_how(self._process.returncode)}. {next_step(tail, self._options)}",
            stderr_tail=tail,
        )

    async def wait_listening(self) -> str:
        """Block until the browser listens on its port, up to START_SECONDS; return the websocket's URL.

        Raises:
            BrowserFailedToStart: it ended first, or it cannot have the port.
        """
        with trio.move_on_after(START_SECONDS):
            async with open_background() as nursery:
                nursery.start_soon(self._settle_at_exit)
                await self._stderr.port_settled.wait()
        if self._stderr.url is not None:
            return self._stderr.url
        if self._process.returncode is not None:
            raise await self.failure()
        raise BrowserFailedToStart(
            f"{self._executable} does not listen on port {self._options.debug_port}, which may be taken. "
            "Pass another --debug-port, or 0 for any free one.",
            stderr_tail=self.stderr_tail(),
        )

    async def _settle_at_exit(self) -> None:
        await self._process.wait()
        self._stderr.port_settled.set()

    async def read_stderr(self) -> None:
        """Read until the end, so that the browser never waits for us."""
        assert self._process.stderr is not None
        async with self._process.stderr as stream:
            async for chunk in stream:
                self._stderr.feed(chunk)
        self._stderr.feed(b"\n")
        self._stderr.ended.set()


@asynccontextmanager
async def open_process(options: LaunchOptions) -> AsyncGenerator[BrowserProcess]:
    """Start a browser for the length of the block.

    It need not answer yet when the block begins: should its transport end before the first answer, ask `failure()`.
    At the end it may leave by itself, then it is told to, then it is made to, together with its children.

    Raises:
        BrowserFailedToStart: there is none, or it cannot have what the options ask for.
    """
    executable = choose_browser(options)
    ahead = take_ahead(options)
    opened = open_profile(options.profile) if ahead is None else keep_profile(ahead.profile)
    async with opened as profile, open_background() as nursery:
        process = await _start(executable, options, profile) if ahead is None else Child(ahead.process)
        try:
            browser = BrowserProcess(process, executable, options)
            nursery.start_soon(browser.read_stderr)
            nursery.start_soon(remove_abandoned_profiles)
            async with _open_transport(browser, process, options) as browser.transport:
                yield browser
        finally:
            await _end(process)


@asynccontextmanager
async def _open_transport(
    browser: BrowserProcess, process: trio.Process | Child, options: LaunchOptions
) -> AsyncGenerator[Transport]:
    if process.stdin is not None and process.stdout is not None and options.debug_port is None:
        yield PipeTransport(process.stdin, process.stdout)
        return
    from bridge.wire.websocket import open_websocket

    async with open_websocket(await browser.wait_listening()) as websocket:
        yield websocket


async def _start(executable: Path, options: LaunchOptions, profile: Profile) -> trio.Process | Child:
    if sys.platform == "win32":
        # No descriptors 3 and 4 can be passed; the browser listens on a port instead, and has no lifeline.
        return await trio.lowlevel.open_process(
            [str(executable), *arguments_of(options, profile.folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
        )
    return Child(await trio.to_thread.run_sync(spawn, executable, options, profile))


def ended_how(code: int | None) -> str:
    """What became of a process, to go after its name."""
    if code is None:
        return "closed its debugging pipe, but still runs"
    if code >= 0:
        return f"ended at its start with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was ended at its start by {name}"


def next_step(stderr_tail: str, options: LaunchOptions) -> str:
    """What a person can do about a browser that ended at its start and said this."""
    if "No usable sandbox" in stderr_tail:
        return "Allow unprivileged user namespaces, or pass --no-sandbox."
    if "Missing X server" in stderr_tail or "ozone_platform" in stderr_tail:
        return "There is no display for it: leave --headed out."
    if "on another computer" in stderr_tail:
        return f"Close that browser, or remove {options.profile}/SingletonLock if it is gone:"
    if "ProcessSingleton" in stderr_tail or "existing browser session" in stderr_tail:
        return f"Another browser uses the profile {options.profile}: close it, or leave --profile out."
    if "Running as root without --no-sandbox" in stderr_tail:
        return "Run pagebridge as another user than root, or pass --no-sandbox."
    if "Socket path too long" in stderr_tail:
        return "Set TMPDIR to a shorter path."
    if not stderr_tail:
        return "It wrote nothing to stderr; run it by hand, or pass another with --browser PATH."
    return "Mend what it says, or pass another with --browser PATH:"


async def _end(process: trio.Process | Child) -> None:
    """End a process and its group, and reap it. Bounded, whatever the caller's scope says."""
    with trio.CancelScope(shield=True):
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                await stream.aclose()
        for seconds, then in ((CLOSE_SECONDS, signal.SIGTERM), (TERMINATE_SECONDS, None)):
            with trio.move_on_after(seconds):
                await process.wait()
                break
            _signal_group(process, then)
        # Also what the browser may have left behind.
        _signal_group(process, None)
        with trio.move_on_after(CLOSE_SECONDS):
            await process.wait()


def _signal_group(process: trio.Process | Child, number: signal.Signals | None) -> None:
    """Signal a process and its children; None kills."""
    if sys.platform == "win32":
        process.kill()
        return
    try:
        os.killpg(process.pid, number or signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        logger.debug("process group %d is gone", process.pid)
