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
from typing import Final

import trio

from bridge.browser.executable import find_browser
from bridge.browser.profile import Profile, open_profile, remove_abandoned_profiles
from bridge.browser.stderr import BrowserStderr
from bridge.errors import BrowserFailedToStart
from bridge.limits import CLOSE_SECONDS, SMALL_SHM_BYTES, START_SECONDS, TERMINATE_SECONDS
from bridge.settings import LaunchOptions
from bridge.wire.nursery import open_background
from bridge.wire.transports import PipeTransport, Transport, open_websocket

logger = logging.getLogger(__name__)

_FLAGS: Final = (
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-search-engine-choice-screen",
    "--password-store=basic",
    "--use-mock-keychain",
    # Off the network when idle. Port 9 is one that Chromium itself refuses: nothing is sent.
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-pings",
    "--component-updater=url-source=http://127.0.0.1:9/",
    "--gaia-url=http://127.0.0.1:9",
    "--disable-features=AutofillServerCommunication,CertificateTransparencyComponentUpdater,DialMediaRouteProvider,"
    "InterestFeedContentSuggestions,MediaRouter,NetworkTimeServiceQuerying,OptimizationGuideModelDownloading,"
    "OptimizationHints,Translate",
    # Tools run in background tabs, too.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    # No window of the browser's own comes between an agent and a page.
    "--disable-breakpad",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
)

# Popen makes a pipe of stdin and of stdout; sh moves them to 3 and 4. So no Python runs between fork and exec,
# which is unsafe with threads, and no descriptor of ours has to be moved out of the way.
_PIPE_TO_3_AND_4: Final = ("/bin/sh", "-c", 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null')


class BrowserProcess:
    """A browser that we started. Made by `open_process`."""

    transport: Transport

    def __init__(self, process: trio.Process, executable: Path, options: LaunchOptions) -> None:
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
    executable = find_browser(options.browser_path)
    if options.headed and "headless" in executable.name:
        raise BrowserFailedToStart(f"{executable} has no windows. Pass --browser PATH, or leave --headed out.")
    async with open_profile(options.profile) as profile, open_background() as nursery:
        process = await _spawn(executable, _arguments(options, profile.folder), profile)
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
    browser: BrowserProcess, process: trio.Process, options: LaunchOptions
) -> AsyncGenerator[Transport]:
    if process.stdin is not None and process.stdout is not None and options.debug_port is None:
        yield PipeTransport(process.stdin, process.stdout)
        return
    async with open_websocket(await browser.wait_listening()) as websocket:
        yield websocket


async def _spawn(executable: Path, arguments: list[str], profile: Profile) -> trio.Process:
    if sys.platform == "win32":
        # Windows passes no descriptors 3 and 4; the browser listens on a port instead, and has no lifeline.
        return await trio.lowlevel.open_process(
            [str(executable), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
        )
    process = await trio.lowlevel.open_process(
        [*_PIPE_TO_3_AND_4, str(executable), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Ctrl-C at the terminal is for us; we end the browser in our own time.
        start_new_session=True,
        pass_fds=() if profile.lock is None else (profile.lock,),
    )
    profile.note_browser(process.pid)
    return process


def _arguments(options: LaunchOptions, profile: Path) -> list[str]:
    arguments = [*_FLAGS, f"--user-data-dir={profile}"]
    if sys.platform != "win32":
        arguments.append("--remote-debugging-pipe")
    if options.debug_port is not None or sys.platform == "win32":
        arguments.append(f"--remote-debugging-port={options.debug_port or 0}")
    if not options.headed:
        arguments += ["--headless=new", "--mute-audio"]
    if options.no_sandbox or _is_root():
        why = "as you asked" if options.no_sandbox else "because root cannot have one"
        logger.warning("The browser runs without its sandbox (--no-sandbox), %s.", why)
        arguments.append("--no-sandbox")
    if options.webmcp:
        arguments.append("--enable-features=WebMCP")
    if _shm_is_small():
        arguments.append("--disable-dev-shm-usage")
    return [*arguments, *options.extra_args, "about:blank"]


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _shm_is_small() -> bool:
    if sys.platform != "linux":
        return False
    try:
        shm = os.statvfs("/dev/shm")
    except OSError:
        return True
    return shm.f_frsize * shm.f_blocks <= SMALL_SHM_BYTES


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


async def _end(process: trio.Process) -> None:
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


def _signal_group(process: trio.Process, number: signal.Signals | None) -> None:
    """Signal a process and its children; None kills."""
    if sys.platform == "win32":
        process.kill()
        return
    try:
        os.killpg(process.pid, number or signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        logger.debug("process group %d is gone", process.pid)
