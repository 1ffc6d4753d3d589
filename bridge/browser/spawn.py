"""The command line of a browser of ours, and the one call that starts it. Nothing here takes long to import."""

import logging
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from bridge.browser.executable import find_browser
from bridge.browser.profile import PREFIX, Profile
from bridge.errors import BrowserFailedToStart
from bridge.limits import SMALL_SHM_BYTES
from bridge.settings import LaunchOptions

logger = logging.getLogger(__name__)

SHORT_PATH: Final = 50
"""The path of a socket has 107 characters, and Chromium puts 46 behind this one."""

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
PIPE_TO_3_AND_4: Final = ("/bin/sh", "-c", 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null')


def choose_browser(options: LaunchOptions) -> Path:
    """The browser to start.

    Raises:
        BrowserFailedToStart: there is none, or it cannot have what the options ask for.
    """
    executable = find_browser(options.browser_path)
    if options.headed and "headless" in executable.name:
        raise BrowserFailedToStart(f"{executable} has no windows. Pass --browser PATH, or leave --headed out.")
    return executable


def spawn(executable: Path, options: LaunchOptions, profile: Profile) -> "subprocess.Popen[bytes]":
    """Start it, with its debugging pipe as stdin and stdout. Not on Windows, which passes no descriptors 3 and 4."""
    process = subprocess.Popen(
        [*PIPE_TO_3_AND_4, str(executable), *arguments_of(options, profile.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        # Ctrl-C at the terminal is for us; we end the browser in our own time.
        start_new_session=True,
        pass_fds=() if profile.lock is None else (profile.lock,),
        env=environment(profile.folder),
    )
    profile.note_browser(process.pid)
    return process


def arguments_of(options: LaunchOptions, profile: Path, platform: str = sys.platform) -> list[str]:
    """What to start it with, from flags to the address of its first page."""
    arguments = [*_FLAGS, f"--user-data-dir={profile}"]
    if platform != "win32":
        arguments.append("--remote-debugging-pipe")
    if options.debug_port is not None or platform == "win32":
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


def environment(profile: Path) -> dict[str, str]:
    """Ours, with a temporary folder that can be used where TMPDIR names one that can't.

    A fresh profile holds the browser's temporary files, too: one that is killed while it ends leaves its socket's
    folder, and no word of where that is.
    """
    if profile.name.startswith(PREFIX) and len(str(profile)) < SHORT_PATH:
        return {**os.environ, "TMPDIR": str(profile)}
    ours = dict(os.environ)
    if "TMPDIR" in ours:
        with suppress(OSError):  # there is none at all
            ours["TMPDIR"] = tempfile.gettempdir()
    return ours


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
