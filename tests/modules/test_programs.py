"""Programs that run for a tool."""

import os
from pathlib import Path

import pytest
import trio

from bridge import limits
from bridge.errors import UsageError
from bridge.tools.modules.programs import ExecResult, plain_environment, run_program

SH = ("sh", "-c")


async def run(script: str, cwd: Path, seconds: float | None = None) -> ExecResult:
    with trio.fail_after(10):
        return await run_program([*SH, script], cwd=cwd, env=plain_environment({"A": "b"}), seconds=seconds)


async def test_a_program_gets_its_words_its_folder_and_its_variables(tmp_path: Path):
    script = 'printf "%s\\n" "$A" "$PWD" "$(cat)"; echo bad >&2; exit 7'

    assert await run(script, tmp_path) == ExecResult(f"b\n{tmp_path}\n\n", "bad\n", 7, killed=False)


@pytest.mark.feature("modules.programs")
async def test_what_a_shell_would_read_is_a_word_like_any(tmp_path: Path):
    result = await run_program(["echo", "$HOME;", "*"], cwd=tmp_path, env=plain_environment())

    assert result.stdout == "$HOME; *\n"


@pytest.mark.parametrize("command", [[], ["/nowhere"], [""], ["a\0b"]])
async def test_what_can_not_be_started_is_said(tmp_path: Path, command: list[str]):
    with pytest.raises(UsageError, match=r"can't be started: .+\.|There is no program"):
        await run_program(command, cwd=tmp_path, env={})


@pytest.mark.parametrize(("folder", "why"), [("gone", "No such file or directory"), ("file", "Not a directory")])
async def test_a_folder_that_is_none_is_what_is_named(tmp_path: Path, folder: str, why: str):
    (tmp_path / "file").touch()

    with pytest.raises(UsageError, match=f"can't be started in '{tmp_path / folder}': {why}"):
        await run("pwd", tmp_path / folder)


async def test_a_program_that_takes_too_long_is_killed_with_all_it_started(tmp_path: Path):
    result = await run("sleep 99 & echo $!; sleep 99", tmp_path, 0.5)

    assert (result.killed, result.code) == (True, -9)
    await wait_gone(int(result.stdout))


@pytest.mark.feature("modules.programs")
async def test_a_program_goes_with_its_call(tmp_path: Path):
    os.mkfifo(tmp_path / "pid")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run, "echo $$ > pid; sleep 99", tmp_path)
        pid = int(await trio.Path(tmp_path / "pid").read_text())
        nursery.cancel_scope.cancel()
    await wait_gone(pid)


async def test_who_holds_an_output_open_holds_up_nobody(tmp_path: Path):
    result = await run("sleep 99 & echo $!", tmp_path)

    assert (result.code, result.killed) == (0, False)
    await wait_gone(int(result.stdout))


async def test_an_output_is_cut_and_read_to_its_end(tmp_path: Path):
    size = limits.EXEC_OUTPUT_BYTES + 500_000

    result = await run(f"head -c {size} /dev/zero | tr '\\0' 'a'; echo done >&2", tmp_path)

    assert result == ExecResult("a" * limits.EXEC_OUTPUT_BYTES, "done\n", 0, killed=False, cut=True)


async def test_an_output_of_just_as_much_is_whole(tmp_path: Path):
    result = await run(f"head -c {limits.EXEC_OUTPUT_BYTES} /dev/zero", tmp_path)

    assert (len(result.stdout), result.cut) == (limits.EXEC_OUTPUT_BYTES, False)


async def wait_gone(pid: int) -> None:
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    with trio.fail_after(5):
        await trio.lowlevel.wait_readable(pidfd)
    os.close(pidfd)
