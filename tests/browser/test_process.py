"""Chromium as a process of ours: how it starts, how it fails to start, and that nothing of it is left."""

import json
import logging
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from bridge.browser.executable import find_browser
from bridge.browser.process import BrowserProcess, open_process
from bridge.browser.profile import open_profile
from bridge.errors import BrowserFailedToStart
from bridge.files import is_private
from bridge.limits import STDERR_TAIL_CHARS
from bridge.settings import LaunchOptions
from bridge.wire.transports import TransportEnded

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, waits with pidfd")

IDLE_SECONDS = 0.2

KILLED_PARENT = """
import sys, trio
from bridge.browser.process import open_process
from bridge.settings import LaunchOptions
from pathlib import Path

async def main(profile, port):
    options = LaunchOptions(profile=Path(profile) if profile else None, debug_port=int(port) if port else None)
    async with open_process(options) as browser:
        await browser.transport.send(b'{"id":1,"method":"Browser.getVersion"}')
        await browser.transport.receive()
        print(browser.pid, flush=True)
        await trio.sleep_forever()

trio.run(main, *sys.argv[1:])
"""


async def ask(browser: BrowserProcess, method: str, session: str | None = None, **params) -> dict:
    """One command and its reply; events in between are left out."""
    command = {"id": 1, "method": method, "params": params} | ({"sessionId": session} if session else {})
    await browser.transport.send(json.dumps(command).encode())
    while True:
        reply = json.loads(await browser.transport.receive())
        if "id" in reply:
            return reply["result"]


async def wait_first_answer(options: LaunchOptions) -> None:
    async with open_process(options) as browser:
        try:
            await ask(browser, "Browser.getVersion")
        except TransportEnded as ended:
            raise await browser.failure() from ended


async def fail_to_start(options: LaunchOptions) -> BrowserFailedToStart:
    with pytest.raises(BrowserFailedToStart) as caught:
        await wait_first_answer(options)
    return caught.value


def stub(folder: Path, script: str) -> Path:
    """A browser that is none."""
    program = folder / "stub-browser"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def family(pid: int) -> set[int]:
    """A process, its descendants and its group, also such as left the group or the session."""
    rows = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                state, parent, group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
                if state != "Z":
                    rows[int(entry.name)] = (int(parent), int(group))
    found = {pid}
    while more := {child for child, (parent, group) in rows.items() if parent in found or group == pid} - found:
        found |= more
    return found & rows.keys()


def marked(mark: str) -> set[int]:
    """Every process that was started with this in its environment: crash handlers leave the family."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if mark.encode() in (entry / "environ").read_bytes():
                    found.add(int(entry.name))
    return found - {os.getpid()}


@asynccontextmanager
async def expect_end(pids: Iterable[int], seconds: float) -> AsyncGenerator[None]:
    """Hold on to processes, so that no other can take their numbers; after the block, wait until each has ended."""
    handles = []
    try:
        for pid in pids:
            with suppress(ProcessLookupError):
                handles.append(os.pidfd_open(pid))
        yield
        with trio.fail_after(seconds):
            for handle in handles:
                await trio.lowlevel.wait_readable(handle)
    finally:
        for handle in handles:
            os.close(handle)


def listening_inodes() -> set[str]:
    rows = [row.split() for name in ("tcp", "tcp6") for row in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    return {row[9] for row in rows if row[3] == "0A"}


def socket_inodes(pids: Iterable[int]) -> set[str]:
    links = []
    for pid in pids:
        with suppress(OSError):
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    links.append(os.readlink(entry))
    return {link[8:-1] for link in links if link.startswith("socket:[")}


def doors(pids: Iterable[int]) -> list[str]:
    """Where somebody else could reach one of these processes: each socket that takes connections or datagrams.

    Each process is asked for its own network. A socket in a folder that only its owner can enter is no door.
    """
    found = []
    for pid in pids:
        sockets = socket_inodes([pid])
        with suppress(OSError):
            for name in ("tcp", "tcp6", "udp", "udp6"):
                for row in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]:
                    fields = row.split()
                    takes = fields[3] == "0A" or (name.startswith("udp") and not fields[1].endswith(":0000"))
                    if takes and fields[9] in sockets:
                        found.append(f"{pid} {name} {fields[1]}")
            for row in Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]:
                fields = row.split(maxsplit=7)
                listens = int(fields[3], 16) & 0x10000
                if listens and fields[6] in sockets and not (len(fields) > 7 and is_private(Path(fields[7]).parent)):
                    found.append(f"{pid} unix {fields[7:]}")
    return found


@pytest.fixture
def mark(monkeypatch, tmp_path):
    monkeypatch.setenv("PAGEBRIDGE_TEST_MARK", str(tmp_path))
    return f"PAGEBRIDGE_TEST_MARK={tmp_path}"


@pytest.fixture
def temporary(monkeypatch, tmp_path):
    """Where fresh profiles go."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.mark.feature("browser.launch")
@pytest.mark.threat("L4")
@linux_only
@pytest.mark.parametrize("debug_port", [None, 0])
async def test_browser_answers_and_leaves_nothing_behind(debug_port, mark, temporary):
    with trio.fail_after(20):
        async with open_process(LaunchOptions(debug_port=debug_port)) as browser:
            assert "Chrome" in (await ask(browser, "Browser.getVersion"))["product"]
            profile, *others = temporary.iterdir()
            assert stat.S_IMODE(profile.stat().st_mode) == 0o700
            assert others == []
            everybody = family(browser.pid) | marked(mark)
            assert len(everybody) > 3
            assert os.getsid(browser.pid) == browser.pid != os.getsid(0)
            async with expect_end(everybody, 5):
                await ask(browser, "Browser.close")
                assert await browser.wait_exit() == 0
    assert list(temporary.iterdir()) == []


@linux_only
async def test_browser_that_was_not_told_to_close_ends_with_the_block(mark, temporary):
    with trio.fail_after(20):
        async with open_process(LaunchOptions()) as browser:
            await ask(browser, "Browser.getVersion")
            everybody = family(browser.pid) | marked(mark)
        async with expect_end(everybody, 5):
            pass
    assert list(temporary.iterdir()) == []


@linux_only
async def test_cancelled_block_leaves_nothing_behind(mark, temporary):
    everybody = set()
    with trio.fail_after(20):
        with trio.CancelScope() as scope:
            async with open_process(LaunchOptions()) as browser:
                await ask(browser, "Browser.getVersion")
                everybody = family(browser.pid) | marked(mark)
                scope.cancel()
                await trio.sleep_forever()
        assert scope.cancelled_caught
        async with expect_end(everybody, 5):
            pass
    assert list(temporary.iterdir()) == []


async def test_error_in_the_block_comes_out_as_it_is(tmp_path):
    with trio.fail_after(10), pytest.raises(LookupError, match="mine"):
        async with open_process(LaunchOptions(browser_path=stub(tmp_path, "read forever"))):
            raise LookupError("mine")


@pytest.mark.threat("L5")
@linux_only
@pytest.mark.parametrize("debug_port", ["", "0"])
async def test_browser_ends_when_we_are_killed(debug_port, mark, tmp_path):
    command = [sys.executable, "-c", KILLED_PARENT, str(tmp_path / "profile"), debug_port]
    with trio.fail_after(20):
        parent = await trio.lowlevel.open_process(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert parent.stdout is not None
        async with parent.stdout as lines:
            pid = int(await lines.receive_some())
            everybody = (family(pid) | marked(mark)) - {parent.pid}
            assert pid in everybody
            async with expect_end(everybody, 5):
                parent.send_signal(signal.SIGKILL)
                await parent.wait()


@pytest.mark.threat("L5")
@linux_only
async def test_browser_that_ignores_the_end_is_killed_with_its_children(mark, tmp_path):
    stubborn = stub(
        tmp_path, "trap '' TERM; (while :; do sleep 100; done) & printf '{}\\0' >&4; while :; do sleep 100; done"
    )
    with trio.fail_after(10):
        async with open_process(LaunchOptions(browser_path=stubborn)) as browser:
            assert await browser.transport.receive() == b"{}"
            everybody = family(browser.pid) | marked(mark)
            assert len(everybody) > 1
        assert await browser.wait_exit() == -signal.SIGKILL
        async with expect_end(everybody, 1):
            pass


@pytest.mark.feature("browser.launch")
@pytest.mark.threat("L1")
@linux_only
async def test_pipe_opens_no_port(mark):
    with trio.fail_after(20):
        async with open_process(LaunchOptions()) as browser:
            await ask(browser, "Browser.getVersion")
            await ask(browser, "Target.createTarget", url="about:blank")
            assert doors(family(browser.pid) | marked(mark)) == []


@linux_only
async def test_debug_port_opens_one_port(mark):
    with trio.fail_after(20):
        async with open_process(LaunchOptions(debug_port=0)) as browser:
            everybody = family(browser.pid) | marked(mark)
            assert len(listening_inodes() & socket_inodes(everybody)) == 1
            assert {door.split()[1] for door in doors(everybody)} == {"tcp"}


@pytest.mark.parametrize("debug_port", [None, 0])
async def test_large_message_comes_through(debug_port):
    size = 2_000_000
    with trio.fail_after(20):
        async with open_process(LaunchOptions(debug_port=debug_port)) as browser:
            target = (await ask(browser, "Target.createTarget", url="about:blank"))["targetId"]
            session = (await ask(browser, "Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
            reply = await ask(
                browser, "Runtime.evaluate", session, expression=f"'x'.repeat({size})", returnByValue=True
            )
    assert len(reply["result"]["value"]) == size


@pytest.mark.feature("browser.profile")
@pytest.mark.threat("L4")
async def test_kept_profile_is_made_private_and_stays(tmp_path):
    profile = tmp_path / "a" / "profile"
    with trio.fail_after(20):
        async with open_process(LaunchOptions(profile=profile)) as browser:
            await ask(browser, "Browser.getVersion")
    assert stat.S_IMODE(profile.stat().st_mode) == 0o700
    assert any(profile.iterdir())


@pytest.mark.threat("L3")
@linux_only
async def test_profile_of_a_killed_bridge_is_removed_and_no_other(temporary, tmp_path):
    long_ago = time.time() - 3600
    abandoned, young = (temporary / f"pagebridge-profile-{name}" for name in ("abandoned", "young"))
    foreign, link = temporary / "other-profile", temporary / "pagebridge-profile-link"
    for folder in (abandoned, young, foreign):
        (folder / "Default").mkdir(parents=True)
    link.symlink_to(foreign)
    options = LaunchOptions(browser_path=stub(tmp_path, "read forever <&3"), profile=tmp_path / "kept")
    threads = trio.to_thread.current_default_thread_limiter()
    threads.total_tokens = 1
    with trio.fail_after(20):
        async with open_profile(None) as in_use:
            for folder in (abandoned, in_use.folder, foreign):
                os.utime(folder, (long_ago, long_ago))
            async with open_process(options):
                await wait_all_tasks_blocked()  # the removal has the only thread
                async with threads:  # and has ended
                    assert set(temporary.iterdir()) == {young, foreign, link, in_use.folder}
                    assert (foreign / "Default").exists()


async def test_profile_in_use_is_named(tmp_path):
    options = LaunchOptions(profile=tmp_path)
    with trio.fail_after(20):
        async with open_process(options) as browser:
            await ask(browser, "Browser.getVersion")
            assert f"Another browser uses the profile {tmp_path}" in str(await fail_to_start(options))


async def test_profile_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    error = await fail_to_start(LaunchOptions(profile=tmp_path / "file" / "profile"))
    assert "Could not make the profile folder" in str(error)


async def test_port_that_is_taken_is_named():
    with socket.socket() as four, socket.socket(socket.AF_INET6) as six, trio.fail_after(20):
        four.bind(("127.0.0.1", 0))
        port = four.getsockname()[1]
        with suppress(OSError):
            six.bind(("::1", port))
            six.listen()
        four.listen()
        error = await fail_to_start(LaunchOptions(debug_port=port))
    assert f"port {port}" in str(error)
    assert "--debug-port" in str(error)


async def test_browser_that_never_listens_is_given_up(tmp_path, mock_clock):
    mock_clock.autojump_threshold = IDLE_SECONDS
    program = stub(tmp_path, "read forever <&3")
    error = await fail_to_start(LaunchOptions(browser_path=program, debug_port=1))
    assert "does not listen on port 1" in str(error)


@pytest.mark.parametrize("debug_port", [None, 0])
async def test_browser_that_dies_at_its_start_gives_its_reason(debug_port, tmp_path):
    program = stub(tmp_path, "echo 'no library: libfoo.so' >&2; exit 1")
    with trio.fail_after(5):
        error = await fail_to_start(LaunchOptions(browser_path=program, debug_port=debug_port))
    assert f"{program} ended at its start with exit code 1" in str(error)
    assert error.stderr_tail == "no library: libfoo.so"
    assert error.stderr_tail in str(error)


async def test_browser_that_was_killed_at_its_start_says_by_what(tmp_path):
    with trio.fail_after(5):
        error = await fail_to_start(LaunchOptions(browser_path=stub(tmp_path, "kill -SEGV $$")))
    assert "SIGSEGV" in str(error)
    assert "wrote nothing" in str(error)


async def test_browser_that_closes_the_pipe_but_runs_on_is_told_apart(tmp_path):
    program = stub(tmp_path, "exec 3<&- 4>&-; while :; do sleep 100; done")
    with trio.fail_after(10):
        assert "still runs" in str(await fail_to_start(LaunchOptions(browser_path=program)))


async def test_only_the_end_of_much_stderr_is_kept(tmp_path):
    program = stub(
        tmp_path,
        "i=0; while [ $i -lt 3000 ]; do echo '[1:1:1/1:ERROR:dbus/bus.cc:405] noise' >&2; i=$((i+1)); done\n"
        "head -c 300000 /dev/zero | tr '\\0' x >&2; echo >&2; echo 'the reason' >&2; exit 3",
    )
    with trio.fail_after(10):
        error = await fail_to_start(LaunchOptions(browser_path=program))
    assert error.stderr_tail.endswith("the reason")
    assert len(error.stderr_tail) <= STDERR_TAIL_CHARS
    assert "dbus" not in error.stderr_tail


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("FATAL: No usable sandbox! Update your kernel", "--no-sandbox"),
        ("Missing X server or $DISPLAY", "leave --headed out"),
    ],
)
async def test_known_reasons_say_what_to_do(said, hint, tmp_path):
    with trio.fail_after(5):
        error = await fail_to_start(LaunchOptions(browser_path=stub(tmp_path, f"echo '{said}' >&2; exit 1")))
    assert hint in str(error)


@pytest.mark.skipif(os.geteuid() != 0, reason="Chromium refuses root alone")
async def test_what_chromium_says_to_root_is_told(tmp_path):
    """Only a stub can show it: root gets --no-sandbox by itself, and is told so."""
    program = stub(
        tmp_path,
        'for word do shift; [ "$word" = --no-sandbox ] || set -- "$@" "$word"; done\n'
        f'exec {find_browser(Path("chromium"))} "$@"',
    )
    with trio.fail_after(10):
        error = str(await fail_to_start(LaunchOptions(browser_path=program)))
    assert "Running as root without --no-sandbox is not supported" in error
    assert "another user than root" in error


async def test_browser_without_windows_cannot_be_headed(tmp_path):
    shell = stub(tmp_path, "").rename(tmp_path / "chrome-headless-shell")
    error = await fail_to_start(LaunchOptions(browser_path=shell, headed=True))
    assert "leave --headed out" in str(error)


async def test_sandbox_is_off_only_for_root_or_on_request_and_never_silently(tmp_path, caplog):
    program = stub(tmp_path, 'echo "$@" >&2; exit 1')
    with trio.fail_after(10), caplog.at_level(logging.WARNING):
        usual = await fail_to_start(LaunchOptions(browser_path=program))
        assert ("--no-sandbox" in usual.stderr_tail) is (os.geteuid() == 0)
        assert ("--no-sandbox" in caplog.text) is (os.geteuid() == 0)
        caplog.clear()
        asked = await fail_to_start(LaunchOptions(browser_path=program, no_sandbox=True))
        assert "--no-sandbox" in asked.stderr_tail
        assert "--no-sandbox" in caplog.text


async def test_options_reach_the_command_line(tmp_path):
    program = stub(tmp_path, 'printf "%s\\n" "$@" | tail -n 8 >&2; exit 1')
    extra = ("--lang=de DE", "--x=$HOME")
    with trio.fail_after(10):
        headless = await fail_to_start(LaunchOptions(browser_path=program, extra_args=extra))
        headed = await fail_to_start(LaunchOptions(browser_path=program, headed=True))
    words = headless.stderr_tail.splitlines()
    assert words[-3:] == [*extra, "about:blank"]
    assert {"--headless=new", "--mute-audio", "--remote-debugging-pipe"} <= set(words)
    assert not any(word.startswith("--remote-debugging-port") for word in words)
    assert "--headless" not in headed.stderr_tail


def test_browser_is_the_named_one_or_else_a_usual_one(tmp_path, monkeypatch):
    mine = stub(tmp_path, "")
    monkeypatch.setenv("PAGEBRIDGE_BROWSER", str(mine))
    assert find_browser() == mine
    assert find_browser(Path("/bin/sh")) == Path("/bin/sh")
    monkeypatch.delenv("PAGEBRIDGE_BROWSER")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert find_browser(Path(mine.name)) == mine
    first = mine.rename(tmp_path / "google-chrome-stable")
    assert find_browser() == first


def test_named_browser_that_is_none_is_refused(tmp_path, monkeypatch):
    with pytest.raises(BrowserFailedToStart, match="correct --browser"):
        find_browser(tmp_path / "absent")
    monkeypatch.setenv("PAGEBRIDGE_BROWSER", str(tmp_path))
    with pytest.raises(BrowserFailedToStart, match="correct PAGEBRIDGE_BROWSER"):
        find_browser()
