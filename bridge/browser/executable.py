"""Which browser to start."""

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from bridge.browser.wsl import is_windows_folder
from bridge.errors import BrowserFailedToStart

ENVIRONMENT_NAME: Final = "PAGEBRIDGE_BROWSER"

_NAMES: Final = [
    "google-chrome-stable",
    "google-chrome",
    "chrome",
    "chromium",
    "chromium-browser",
    "chromium-headless-shell",
    "chrome-headless-shell",
    "headless_shell",
    "microsoft-edge-stable",
    "microsoft-edge",
    "msedge",
    "brave-browser-stable",
    "brave-browser",
    "brave",
]
_PLACES: Final = {
    "linux": (
        "/opt/google/chrome/chrome",
        "/usr/lib/chromium/chromium",
        "/usr/lib64/chromium-browser/chromium-browser",
        "/snap/bin/chromium",
        "/usr/lib/chromium/chromium-headless-shell",
        "/opt/microsoft/msedge/msedge",
        "/opt/brave.com/brave/brave",
    ),
    "darwin": tuple(
        f"{folder}/{app}.app/Contents/MacOS/{app}"
        for app in ("Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser")
        for folder in ("/Applications", "~/Applications")
    ),
    "win32": tuple(
        f"{folder}/{program}"
        for program in (
            "Google/Chrome/Application/chrome.exe",
            "Chromium/Application/chrome.exe",
            "Microsoft/Edge/Application/msedge.exe",
            "BraveSoftware/Brave-Browser/Application/brave.exe",
        )
        for folder in ("${PROGRAMFILES}", "${PROGRAMFILES(X86)}", "${LOCALAPPDATA}")
    ),
}


def candidates(platform: str) -> tuple[str, ...]:
    """Where the usual browsers are: names on PATH, then paths; the first one that is there is taken."""
    return (*_NAMES, *(os.path.expandvars(place) for place in _PLACES.get(platform, ())))


def find_browser(explicit: Path | None = None) -> Path:
    """The browser to start: the one named here or in PAGEBRIDGE_BROWSER, else the first of the usual ones.

    Raises:
        BrowserFailedToStart: there is none; says what to install or pass.
    """
    named = os.fspath(explicit) if explicit else os.environ.get(ENVIRONMENT_NAME)
    if named:
        found = _program(named)
        option = "--browser" if explicit else ENVIRONMENT_NAME
        if found is None:
            raise BrowserFailedToStart(f"{named} is not a program that can be run: correct {option}, or leave it out.")
        if is_windows_folder(found):
            raise BrowserFailedToStart(
                f"{found} is a browser of Windows, which can't be driven from inside of Linux: name one of Linux with "
                f"{option}, or run pagebridge in Windows."
            )
        return found
    for candidate in candidates(sys.platform):
        found = _program(candidate)
        if found is not None and not is_windows_folder(found):
            return found
    raise BrowserFailedToStart(
        "No Chrome or Chromium was found: install one (apt-get install chromium, brew install --cask chromium, or "
        "your system's own way), or pass --browser PATH."
    )


def _program(name: str) -> Path | None:
    """A name on PATH, or a path."""
    found = shutil.which(os.path.expanduser(name))
    return Path(found).absolute() if found else None
