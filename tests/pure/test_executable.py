"""Which browser is started, and how, on each system."""

import os
from pathlib import Path, PurePath

import pytest

from bridge.browser.executable import candidates, find_browser
from bridge.browser.process import next_step
from bridge.browser.profile import open_profile, remove_abandoned_profiles
from bridge.browser.spawn import arguments_of, environment
from bridge.browser.wsl import is_windows_folder
from bridge.errors import BrowserFailedToStart
from bridge.settings import LaunchOptions

APPS = ("Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser")
PROGRAMS = (
    "Google/Chrome/Application/chrome.exe",
    "Chromium/Application/chrome.exe",
    "Microsoft/Edge/Application/msedge.exe",
    "BraveSoftware/Brave-Browser/Application/brave.exe",
)


@pytest.mark.feature("browser.launch")
@pytest.mark.parametrize(
    "name",
    [
        "google-chrome-stable",
        "google-chrome",
        "chromium",
        "chromium-browser",
        "chromium-headless-shell",
        "microsoft-edge-stable",
        "microsoft-edge",
        "brave-browser",
        "brave",
    ],
)
@pytest.mark.parametrize("platform", ["linux", "darwin", "win32", "freebsd14"])
def test_usual_names_are_looked_for_everywhere(platform: str, name: str):
    assert name in candidates(platform)


@pytest.mark.parametrize(
    ("platform", "place"),
    [
        ("linux", "/opt/google/chrome/chrome"),
        ("linux", "/opt/microsoft/msedge/msedge"),
        ("linux", "/opt/brave.com/brave/brave"),
        ("linux", "/snap/bin/chromium"),
        *(("darwin", f"/Applications/{app}.app/Contents/MacOS/{app}") for app in APPS),
        *(("darwin", f"~/Applications/{app}.app/Contents/MacOS/{app}") for app in APPS),
        *(("win32", f"C:/Program Files/{program}") for program in PROGRAMS),
        *(("win32", f"C:/Program Files (x86)/{program}") for program in PROGRAMS),
        *(("win32", f"C:/Users/me/AppData/Local/{program}") for program in PROGRAMS),
    ],
)
def test_usual_places_are_looked_at(platform: str, place: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PROGRAMFILES", "C:/Program Files")
    monkeypatch.setenv("PROGRAMFILES(X86)", "C:/Program Files (x86)")
    monkeypatch.setenv("LOCALAPPDATA", "C:/Users/me/AppData/Local")
    assert place in candidates(platform)


def test_a_browser_that_shows_windows_comes_before_one_that_has_none():
    names = candidates("linux")
    assert names.index("google-chrome") < names.index("chromium") < names.index("chromium-headless-shell")


@pytest.mark.parametrize(("port", "words"), [(None, ["--remote-debugging-port=0"]), (9, ["--remote-debugging-port=9"])])
def test_on_windows_commands_go_over_a_port(port: int | None, words: list[str]):
    arguments = arguments_of(LaunchOptions(debug_port=port), Path("profile"), "win32")
    assert [word for word in arguments if word.startswith("--remote-debugging")] == words


@pytest.mark.parametrize("platform", ["linux", "darwin", "freebsd14"])
def test_elsewhere_commands_go_over_a_pipe(platform: str):
    arguments = arguments_of(LaunchOptions(), Path("profile"), platform)
    assert [word for word in arguments if word.startswith("--remote-debugging")] == ["--remote-debugging-pipe"]


@pytest.mark.parametrize(
    ("path", "kernel", "expected"),
    [
        ("/mnt/c/Users/me", "6.6.1-microsoft-standard-WSL2", True),
        ("/mnt/c", "4.4.0-19041-Microsoft", True),
        ("/mnt/c/Users/me", "6.6.1-amd64", False),
        ("/mnt/data/profile", "6.6.1-microsoft-standard-WSL2", False),
        ("/home/me", "6.6.1-microsoft-standard-WSL2", False),
    ],
)
def test_drive_of_windows_is_known(path: str, kernel: str, expected: bool):
    assert is_windows_folder(PurePath(path), kernel) is expected


@pytest.fixture
def in_wsl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.release", lambda: "6.6.1-microsoft-standard-WSL2")


@pytest.mark.usefixtures("in_wsl")
def test_a_browser_of_windows_is_refused_in_linux(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("shutil.which", lambda name: "/mnt/c/chrome.exe")
    with pytest.raises(BrowserFailedToStart, match=r"/mnt/c/chrome.exe is a browser of Windows.*--browser"):
        find_browser(Path("/mnt/c/chrome.exe"))
    monkeypatch.setenv("PAGEBRIDGE_BROWSER", "chrome.exe")
    with pytest.raises(BrowserFailedToStart, match=r"is a browser of Windows.*PAGEBRIDGE_BROWSER"):
        find_browser()
    monkeypatch.delenv("PAGEBRIDGE_BROWSER")
    with pytest.raises(BrowserFailedToStart, match="No Chrome or Chromium was found"):
        find_browser()


@pytest.mark.usefixtures("in_wsl")
async def test_a_profile_in_a_drive_of_windows_is_refused_in_linux():
    with pytest.raises(BrowserFailedToStart, match=r"/mnt/c/profile is in a drive of Windows.*--profile"):
        async with open_profile(Path("/mnt/c/profile")):
            pass


async def test_without_any_temporary_folder_a_fresh_profile_says_so_and_a_kept_one_works(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: ["/nonexistent"])
    with pytest.raises(BrowserFailedToStart, match=r"Could not make a folder for the browser's profile: .*TMPDIR"):
        async with open_profile(None):
            pass
    async with open_profile(tmp_path) as profile:
        assert profile.folder == tmp_path
        await remove_abandoned_profiles()
    assert "TMPDIR" not in environment(Path("kept")) or environment(Path("kept"))["TMPDIR"] == os.environ["TMPDIR"]


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("[1:1:FATAL:x.cc] No usable sandbox! Update your kernel", "--no-sandbox"),
        ("[1:1:ERROR:x.cc] Running as root without --no-sandbox is not supported.", "another user than root"),
        ("[1:1:FATAL:x.cc] Socket path too long: /a/b", "TMPDIR"),
        ("[1:1:ERROR:x.cc] in use by another process (1) on another computer (a)", "SingletonLock"),
        ("[1:1:ERROR:x.cc] Failed to create a ProcessSingleton", "Another browser uses the profile"),
        ("", "wrote nothing"),
        ("something else", "Mend what it says"),
    ],
)
def test_what_a_browser_says_at_its_end_has_a_next_step(said: str, advice: str):
    assert advice in next_step(said, LaunchOptions(profile=Path("p")))
