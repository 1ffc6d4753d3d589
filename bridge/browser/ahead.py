"""A browser that starts while what will drive it is imported: each takes about as long as the other."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from bridge.browser.profile import Profile, discard, make_fresh
from bridge.browser.spawn import choose_browser, spawn
from bridge.errors import BrowserFailedToStart
from bridge.settings import AttachOptions, LaunchOptions


@dataclass(frozen=True)
class Ahead:
    """A browser that runs, and nobody has spoken with."""

    options: LaunchOptions
    process: "subprocess.Popen[bytes]"
    profile: Profile


_ahead: list[Ahead] = []
"""At most one: that of this process's command."""


@contextmanager
def start_ahead(options: LaunchOptions | AttachOptions) -> Generator[None]:
    """Start a browser now, for whoever launches one with these options within the block.

    Only with a fresh profile, and where that can be done; where it can't, who launches it hears why. SIGTERM ends the
    block with SystemExit, so that nothing is left also before somebody else takes care of that signal.
    """
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))  # not in the middle of the start
    if isinstance(options, LaunchOptions) and options.profile is None and os.name == "posix":
        with suppress(BrowserFailedToStart, OSError):
            _ahead.append(_start(options))
    try:
        signal.signal(signal.SIGTERM, _leave)
        if came:
            sys.exit(0)
        yield
    finally:
        signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
        while _ahead:
            _end(_ahead.pop())
        signal.signal(signal.SIGTERM, before)


def _leave(_: int, __: object) -> None:
    sys.exit(0)


def take_ahead(options: LaunchOptions) -> Ahead | None:
    """The browser that was started ahead, if these are its options; it is the caller's from now on."""
    return _ahead.pop() if _ahead and _ahead[0].options == options else None


def _start(options: LaunchOptions) -> Ahead:
    executable = choose_browser(options)
    profile = make_fresh()
    try:
        return Ahead(options, spawn(executable, options, profile), profile)
    except OSError:
        discard(profile)
        raise


def _end(ahead: Ahead) -> None:
    """Nobody took it, so there is nothing in it to lose."""
    with suppress(ProcessLookupError):
        os.killpg(ahead.process.pid, signal.SIGKILL)
    with ahead.process:
        pass
    discard(ahead.profile)
