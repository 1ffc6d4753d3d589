"""A Chromium that is not the bridge's own."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from bridge.browser.endpoint import find_active_port
from bridge.browser.executable import find_browser
from bridge.errors import BrowserFailedToStart

SHELL = "chromium-headless-shell"
NEEDS_SHELL = pytest.mark.skipif(not shutil.which(SHELL), reason=f"there is no {SHELL}")
BOTH_BROWSERS = pytest.mark.parametrize("browser", ["chromium", pytest.param(SHELL, marks=NEEDS_SHELL)])
"""A whole Chromium, and the shell that is without its windows, extensions and profile lock."""


@dataclass(frozen=True)
class RunningBrowser:
    """Where it can be reached: the websocket, http, and through its profile folder."""

    websocket: str
    http: str
    profile: Path
    process: subprocess.Popen[str]


def is_told_by(profile: Path, websocket: str | None = None) -> bool:
    """Whether the folder says where its browser is: at this address, where that is known.

    It does so some time after the browser has answered, and for a while it may still name a browser that is gone.
    """
    try:
        told = find_active_port(profile)
    except BrowserFailedToStart:
        return False
    return websocket in (None, told)


@contextmanager
def run_chromium(
    url: str = "about:blank", *flags: str, profile: Path | None = None, program: str | None = None
) -> Iterator[RunningBrowser]:
    """Run it for as long as the block lasts. Its folder says where it is, but for a port that the flags choose."""
    with ExitStack() as stack:
        if profile is None:
            profile = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        process = subprocess.Popen(
            [
                program or find_browser(),
                "--headless=new",
                "--no-sandbox",
                "--remote-debugging-port=0",
                f"--user-data-dir={profile}",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-dev-shm-usage",
                "--disable-renderer-backgrounding",
                "--disable-background-timer-throttling",
                *flags,
                url,
            ],
            stderr=subprocess.PIPE,
            text=True,
            # Debian's headless shell is a script that waits for the browser.
            start_new_session=True,
        )
        assert process.stderr is not None
        with process, process.stderr as stderr:
            try:
                websocket = next(found[0] for line in stderr if (found := re.search(r"ws://\S+", line)))
                drain = subprocess.Popen(["cat"], stdin=stderr, stdout=subprocess.DEVNULL)
                http = "http://" + websocket.removeprefix("ws://").partition("/")[0]
                stack.callback(drain.wait)
                if not any(flag.startswith("--remote-debugging-port") for flag in flags):
                    while not is_told_by(profile, websocket):
                        time.sleep(0.005)  # nothing tells of it
                yield RunningBrowser(websocket, http, profile, process)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
