"""A bridge that is killed takes along what it has started for modules, whatever that is at."""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import trio

BRIDGE = """
import os, signal, sys, trio
from contextlib import suppress
from functools import partial
from pathlib import Path
from bridge.errors import ModuleGone
from bridge.tools.modules import process, programs
from tests.modules.project import Project

HEAD = '''
import os, re, signal, subprocess
told = os.open("told", os.O_WRONLY)
def say(pid):
    os.write(told, f"{name}={pid}\\\\n".encode())
'''
project = Project(Path(sys.argv[1]))

def add(name, body):
    project.add_tool(name, f"say(os.getpid())\\n{body}", head=f"name = {name!r}\\n{HEAD}")

async def call(opened, name):
    with suppress(ModuleGone):  # as it may be without its descriptors
        await opened.call(name)

async def call_all():
    async with project.open() as opened, trio.open_nursery() as nursery:
        for name in opened.names:
            nursery.start_soon(call, opened, name)

async def ask_nothing():
    group, pipe, output = await process._start(sys.argv[1])
    (project.folder / "told").write_text(f"m={group.leader.pid}\\n")
    await trio.sleep_forever()
"""
STARTS = "say(subprocess.Popen(['sleep', '99']).pid)\n"
SAYS = "echo runs_a_program=$$ > told; sleep 99 & echo runs_a_program=$! > told; wait"
BUSY = {
    "loops": f"{STARTS}while True: pass",
    "loops_in_a_pattern": f"{STARTS}re.match('(a*)*b', 'a' * 50)",
    "loops_in_c": f"{STARTS}sum(range(10**15))",
    "is_stopped": f"{STARTS}os.kill(os.getpid(), signal.SIGSTOP)",
    "has_changed_how_it_ends": f"{STARTS}os._exit = os.killpg = lambda *given: None\nwhile True: pass",
    "has_closed_all_it_had": "os.closerange(3, 1000)\nwhile True: pass",
    "has_forked": "if not os.fork(): say(os.getpid())\nsum(range(10**15))",
    "runs_a_program": f"context.exec(['sh', '-c', {SAYS!r}])",
}
TOLD = {**dict.fromkeys(BUSY, 2), "has_closed_all_it_had": 1, "runs_a_program": 3}
"""So many processes there are of each."""


async def find_outliving(folder: Path, script: str, told: dict[str, int]) -> list[str]:
    """Kill a bridge while it runs a script; return what outlives it, by the names that it has told."""
    os.mkfifo(folder / "told")
    lines = trio.lowlevel.FdStream(os.open(folder / "told", os.O_RDWR | os.O_NONBLOCK))
    command = [sys.executable, "-c", BRIDGE + script, str(folder)]
    bridge = await trio.lowlevel.open_process(command, cwd=Path(__file__).parents[2])
    names: list[str] = []
    started: list[tuple[str, int]] = []
    try:
        said = b""
        with trio.fail_after(30):
            while said.count(b"\n") < sum(told.values()):
                said += await lines.receive_some()
        for line in said.decode().splitlines():
            name, _, pid = line.partition("=")
            names.append(name)
            with suppress(ProcessLookupError):  # it has ended by itself, as it may without its descriptors
                started.append((name, os.pidfd_open(int(pid))))
        assert {name: names.count(name) for name in told} == told
        bridge.kill()
        await bridge.wait()
        return [name for name, pidfd in started if not await ends(pidfd)]
    finally:
        bridge.kill()
        await bridge.wait()
        await lines.aclose()
        for _, pidfd in started:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            os.close(pidfd)


async def ends(pidfd: int) -> bool:
    with trio.move_on_after(20) as scope:
        await trio.lowlevel.wait_readable(pidfd)
    return not scope.cancelled_caught


@pytest.mark.threat("S3")
async def test_a_bridge_that_is_killed_takes_its_modules_along_whatever_they_are_at(tmp_path: Path):
    script = f"for name, body in {BUSY!r}.items(): add(name, body)\ntrio.run(call_all)"

    assert await find_outliving(tmp_path, script, TOLD) == []


@pytest.mark.threat("S3")
async def test_a_bridge_that_is_killed_takes_along_a_module_that_is_being_imported(tmp_path: Path):
    script = """
project.add("tools/imports.py", f"name = 'imports'\\n{HEAD}\\nsay(os.getpid())\\nsum(range(10**15))")
trio.run(call_all)
"""

    assert await find_outliving(tmp_path, script, {"imports": 1}) == []


@pytest.mark.threat("S3")
async def test_a_process_that_was_asked_nothing_yet_ends_with_its_bridge_by_itself(tmp_path: Path):
    script = "programs._kill_at_close = lambda *given: None\ntrio.run(ask_nothing)"

    assert await find_outliving(tmp_path, script, {"m": 1}) == []


@pytest.mark.threat("S3")
async def test_a_module_that_loops_ends_with_its_bridge_also_where_the_system_sees_to_nothing(tmp_path: Path):
    script = f"""
programs._kill_at_close = lambda *given: None
add("loops", {BUSY["loops"]!r})
trio.run(call_all)
"""

    assert await find_outliving(tmp_path, script, {"loops": 2}) == []


@pytest.mark.threat("S3")
async def test_a_program_does_not_begin_before_the_system_sees_to_its_end(tmp_path: Path):
    script = """
def die(pipe, group):
    (project.folder / "told").write_text(f"m={group}\\n")
    os.kill(os.getpid(), signal.SIGKILL)

programs._kill_at_close = die
trio.run(partial(programs.run_program, ["sleep", "99"], cwd=project.folder, env={}))
"""

    assert await find_outliving(tmp_path, script, {"m": 1}) == []
