"""A profile belongs to one live browser at a time, whoever started it; a dead one is no obstacle."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from bridge.browser.process import open_process
from bridge.browser.profile import _remove_abandoned
from bridge.settings import LaunchOptions
from tests.browser.test_process import (
    KILLED_PARENT,
    BrowserProcess,
    ask,
    expect_end,
    fail_to_start,
    family,
    linux_only,
    stub,
    wait_first_answer,
)
from tests.browsers import BOTH_BROWSERS, run_chromium


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where we and a browser put what is temporary. Its path is short, as Chromium's socket there wants it."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr("tempfile.tempdir", folder)
        yield Path(folder)


def profiles(temporary: Path) -> list[Path]:
    return list(temporary.glob("pagebridge-profile-*"))


def left(temporary: Path) -> list[str]:
    return os.listdir(temporary)


async def tabs(browser: BrowserProcess) -> int:
    infos = (await ask(browser, "Target.getTargets"))["targetInfos"]
    return sum(info["type"] == "page" for info in infos)


async def start(profile: Path, program: str | Path = "chromium") -> None:
    await wait_first_answer(LaunchOptions(profile=profile, browser_path=Path(program)))


async def refused(profile: Path, program: str | Path = "chromium") -> str:
    return str(await fail_to_start(LaunchOptions(profile=profile, browser_path=Path(program))))


def assert_one_sentence(message: str, profile: Path) -> None:
    assert message.startswith(f"Another browser uses the profile {profile}: ")
    assert message.endswith("with --profile.")
    assert "\n" not in message


@linux_only
async def test_two_launches_share_nothing(temporary: Path):
    with trio.fail_after(30):
        async with open_process(LaunchOptions()) as one, open_process(LaunchOptions()) as other:
            await ask(one, "Target.createTarget", url="about:blank")
            assert (await tabs(one), await tabs(other)) == (2, 1)
            assert not family(one.pid) & family(other.pid)
            assert len(profiles(temporary)) == 2
    assert left(temporary) == []


@pytest.mark.feature("browser.profile")
@BOTH_BROWSERS
async def test_a_profile_of_a_live_browser_of_ours_is_refused_in_a_sentence(browser: str, tmp_path: Path):
    with trio.fail_after(30):
        async with open_process(LaunchOptions(profile=tmp_path, browser_path=Path(browser))) as first:
            await ask(first, "Browser.getVersion")
            assert_one_sentence(await refused(tmp_path, browser), tmp_path)
            assert await tabs(first) == 1
        await start(tmp_path, browser)


@linux_only
@pytest.mark.parametrize("state", ["awake", "stopped"])
async def test_a_profile_of_somebody_elses_browser_is_refused_and_that_browser_is_left_alone(
    state: str, tmp_path: Path
):
    with run_chromium(profile=tmp_path) as theirs, trio.fail_after(30):
        if state == "stopped":
            theirs.process.send_signal(signal.SIGSTOP)
        never = stub(tmp_path, f"touch {tmp_path}/started")

        assert_one_sentence(await refused(tmp_path, never), tmp_path)

        theirs.process.send_signal(signal.SIGCONT)
        assert theirs.process.poll() is None
        assert not (tmp_path / "started").exists()


@asynccontextmanager
async def open_other_bridge(*words: str) -> AsyncGenerator[tuple[trio.Process, int]]:
    """Another process with a browser of its own; gives it, and the browser's number."""
    other = await trio.lowlevel.open_process(
        [sys.executable, "-c", KILLED_PARENT, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert other.stdout is not None
    async with other.stdout as lines:
        pid = int(await lines.receive_some())
        try:
            yield other, pid
        finally:
            other.kill()
            await other.wait()


@linux_only
@BOTH_BROWSERS
async def test_a_profile_of_a_bridge_that_was_killed_is_used_again_at_once(
    browser: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PAGEBRIDGE_BROWSER", browser)
    with trio.fail_after(30):
        async with open_other_bridge(str(tmp_path), "") as (other, _):
            other.kill()
            await start(tmp_path, browser)


@linux_only
async def test_a_profile_of_a_browser_that_was_killed_is_used_again(tmp_path: Path, temporary: Path):
    with trio.fail_after(30):
        async with open_process(LaunchOptions(profile=tmp_path)) as browser:
            await ask(browser, "Browser.getVersion")
            assert left(temporary)
            os.kill(browser.pid, signal.SIGKILL)
        assert os.readlink(tmp_path / "SingletonLock").endswith(f"-{browser.pid}")
        assert left(temporary) == []
        await start(tmp_path)


async def test_a_profile_that_a_bridge_left_on_another_host_is_used_again(tmp_path: Path):
    """As where it is on a volume, and each container has a name of its own."""
    (tmp_path / "SingletonLock").symlink_to("elsewhere-123")
    (tmp_path / "pagebridge-browser").write_text("elsewhere-123")
    with trio.fail_after(30):
        await start(tmp_path)


async def test_a_profile_that_somebody_else_left_on_another_host_is_refused(tmp_path: Path):
    (tmp_path / "SingletonLock").symlink_to("elsewhere-123")
    with trio.fail_after(30):
        message = await refused(tmp_path)
    assert "SingletonLock" in message
    assert os.readlink(tmp_path / "SingletonLock") == "elsewhere-123"


@linux_only
@BOTH_BROWSERS
async def test_an_abandoned_profile_is_kept_as_long_as_a_browser_lives_in_it(
    browser: str, temporary: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PAGEBRIDGE_BROWSER", browser)
    with trio.fail_after(30):
        async with open_other_bridge("", "") as (other, pid):
            [profile] = profiles(temporary)
            everybody = family(pid)
            os.kill(pid, signal.SIGSTOP)
            other.kill()
            await other.wait()
            os.utime(profile, (0, 0))

            _remove_abandoned(temporary)
            assert (profile / "Default").exists()

            async with expect_end(everybody, 10):
                os.kill(pid, signal.SIGKILL)
            os.utime(profile, (0, 0))  # one of them may have written there to its last
            _remove_abandoned(temporary)
            assert left(temporary) == []
