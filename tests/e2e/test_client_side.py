"""Clients that send what is no message, take no answers, are stopped, or leave `pagebridge serve` with half a stdio."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
import trio

from bridge import limits
from bridge.calls.built_ins import BUILT_INS
from bridge.serve.stdio import INVALID_REQUEST
from tests.e2e.client import COMMAND, open_agent, open_raw
from tests.e2e.test_life import HANGING, start_with_page, wait_exit
from tests.sites import Site, offering, tool

CANCELLED = "notifications/cancelled"


@pytest.fixture
def never(tmp_path: Path) -> str:
    """A browser that does not start, for what needs none."""
    program = tmp_path / "browser"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    return str(program)


def peak_bytes(process: trio.Process) -> int:
    """The most memory that it ever had."""
    [line] = [
        line for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if line.startswith("VmHWM:")
    ]
    return int(line.split()[1]) * 1024


@pytest.mark.threat("C1")
async def test_a_line_of_a_gigabyte_costs_bounded_memory_and_the_next_one_is_served(never: str):
    chunk = b"x" * 1024 * 1024
    async with open_raw("--browser", never) as client:
        await client.initialize()
        await client.result(await client.ask("tools/list"))
        before = peak_bytes(client.process)
        assert client.process.stdin is not None
        for _ in range(1024):
            await client.process.stdin.send_all(chunk)
        await client.send(b"")

        refused = await client.receive()
        assert "tools" in await client.result(await client.ask("tools/list"))
        grown = peak_bytes(client.process) - before

    assert refused is not None
    assert (refused["id"], refused["error"]["code"]) == (None, INVALID_REQUEST)
    assert grown < 3 * limits.MCP_LINE_BYTES


@pytest.mark.threat("C2")
async def test_a_client_that_takes_no_answers_holds_up_nothing_else_and_gets_each_when_it_does(site: Site):
    url = site.page("/deaf", offering(tool("late", "() => fetch('/ready').then(() => 'done')")))
    count = limits.OPEN_REQUESTS + 200
    async with open_raw("--open", url) as client, trio.open_nursery() as nursery:
        await start_with_page(client)
        sent: list[int] = []

        async def flood() -> None:
            sent.append(await client.call("call_page_tool", page="p1", tool="late"))
            for _ in range(count):
                # So long that no buffer on the way has room for many.
                padding = {"padding": "x" * 4000}
                sent.append(await client.ask("tools/call", name="list_page_tools", arguments={}, _meta=padding))

        times = site.asked["/ready"]
        nursery.start_soon(flood)
        await site.wait_asked("/ready", times + 1)
        answers = [await client.receive() for _ in range(count + 1)]

    assert sorted(answer["id"] for answer in answers if answer is not None) == sorted(sent)


@pytest.mark.threat("C2")
@pytest.mark.parametrize("how", ["SIGTERM", "stdin"])
async def test_a_client_that_takes_no_answers_can_still_end_it(how: str, never: str):
    async with open_raw("--browser", never) as client:
        await client.initialize()
        await client.result(await client.ask("tools/list"))
        with trio.move_on_after(1):
            while True:
                await client.send(b"{")  # until nothing more is read
        if how == "SIGTERM":
            client.process.terminate()
        else:
            await client.close_stdin()

        assert await wait_exit(client) == 0
    assert b"Traceback" not in client.errors


@pytest.mark.threat("C5")
async def test_what_was_taken_back_gets_no_answer(site: Site):
    """Before its start, while it runs, twice, after the answer, and where there is nothing of that id."""
    async with open_raw("--open", site.page("/hang", HANGING)) as client:
        await start_with_page(client)

        async def take_back(request_id: int | str) -> None:
            await client.send({"jsonrpc": "2.0", "method": CANCELLED, "params": {"requestId": request_id}})

        asked = site.asked["/hanging"]
        never_started = json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 1000,
                "method": "tools/call",
                "params": {"name": "call_page_tool", "arguments": {"page": "p1", "tool": "hang"}},
            }
        ).encode()
        taken = json.dumps({"jsonrpc": "2.0", "method": CANCELLED, "params": {"requestId": 1000}}).encode()
        await client.send(never_started + b"\n" + taken)
        running = await client.call("call_page_tool", page="p1", tool="hang")
        await site.wait_asked("/hanging", asked + 1)
        await take_back(running)
        await take_back(running)
        answered = await client.ask("tools/list")
        assert "tools" in await client.result(answered)
        await take_back(answered)
        await take_back(4711)
        await take_back("nothing")
        # Each of these ids may be used again.
        for request_id in (1000, running, answered):
            again = {"jsonrpc": "2.0", "id": request_id, "method": "tools/list", "params": {}}
            await client.send(again)
            message = await client.receive()
            assert message is not None
            assert (message["id"], "tools" in message["result"]) == (request_id, True)
        await client.close_stdin()
        assert await wait_exit(client) == 0
        assert await client.rest() == []


async def test_requests_and_the_end_of_stdin_in_one_write_are_all_answered(never: str):
    lines = [
        {"jsonrpc": "2.0", "id": f"ping {number}", "method": "ping"} for number in range(limits.OPEN_REQUESTS * 2 + 1)
    ]
    async with open_raw("--browser", never) as client, trio.open_nursery() as nursery:
        await client.initialize()

        async def send() -> None:
            await client.send(b"\n".join(json.dumps(line).encode() for line in lines))
            await client.close_stdin()

        nursery.start_soon(send)
        answers = await client.rest()
        assert await wait_exit(client) == 0
    assert [answer["id"] for answer in answers] == [line["id"] for line in lines]


async def test_agents_come_and_go_in_one_nursery(never: str):
    listed: list[int] = []

    async def come_and_go() -> None:
        async with open_agent("--browser", never) as agent:
            listed.append(len((await agent.list_tools()).tools))

    async with trio.open_nursery() as nursery:
        await come_and_go()
        nursery.start_soon(come_and_go)
        nursery.start_soon(come_and_go)
        await come_and_go()

    assert listed == [len(BUILT_INS)] * 4


NOISE = """
import atexit, os, sys, threading, warnings

class Loud:
    def find_spec(self, name, path=None, target=None):
        if name in {"trio", "mcp", "cdp", "jsonschema"}:
            print("print at the import of", name)
            os.write(1, b"bytes at the import\\n")
            os.system("echo a child process")
            warnings.warn("a warning")

sys.meta_path.insert(0, Loud())

def end():
    print("print at the exit")
    os.write(1, b"bytes at the exit\\n")
    sys.__stdout__.flush()
    raise RuntimeError("a crash at the exit")

atexit.register(end)
"""


@pytest.mark.feature("mcp.stdout")
async def test_what_is_printed_by_a_dependency_or_at_the_exit_is_not_on_stdout(site: Site, tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text(NOISE)
    url = site.page("/noise", HANGING)
    env = {"PYTHONPATH": str(tmp_path), "PYTHONWARNINGS": "always", "PYTHONUNBUFFERED": "1"}
    async with open_raw("--open", url, env=env) as client:
        await start_with_page(client)
        assert await client.result(await client.call("call_page_tool", page="p1", tool="brief"))
        await client.close_stdin()
        assert await client.rest() == []
        await wait_exit(client)
    for said in (b"print at the import of", b"bytes at the import", b"a child process", b"a warning", b"at the exit"):
        assert said in client.errors


@pytest.mark.threat("L5")
@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_a_stdin_or_stdout_that_is_closed_is_refused_in_a_sentence(closed: str):
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" "$@" {closed}', *COMMAND, "serve"], input=b"", capture_output=True, timeout=60
    )
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"Error: std")
    assert b"is closed" in done.stderr
    assert done.stderr.count(b"\n") == 1


@pytest.mark.threat("L5")
async def test_without_a_stderr_everything_else_works(site: Site):
    async with open_raw(
        "--open", site.page("/quiet", HANGING), "-vv", before=["/bin/sh", "-c", 'exec "$0" "$@" 2>&-']
    ) as client:
        await start_with_page(client)
        assert await client.result(await client.call("call_page_tool", page="p1", tool="brief"))
        await client.close_stdin()
        assert await client.rest() == []
        assert await wait_exit(client) == 0


@pytest.mark.threat("L5")
async def test_a_bridge_that_was_stopped_goes_on_where_it_was(site: Site):
    async with open_raw("--open", site.page("/stopped", HANGING)) as client:
        await start_with_page(client)
        asked = site.asked["/hanging"]
        running = await client.call("call_page_tool", page="p1", tool="hang")
        await site.wait_asked("/hanging", asked + 1)
        client.process.send_signal(signal.SIGSTOP)
        brief = [await client.call("call_page_tool", page="p1", tool="brief") for _ in range(3)]
        await client.send({"jsonrpc": "2.0", "method": CANCELLED, "params": {"requestId": running}})
        client.process.send_signal(signal.SIGCONT)

        answers = [await client.receive() for _ in brief]

    assert {answer["id"]: answer["result"]["content"][0]["text"] for answer in answers if answer} == dict.fromkeys(
        brief, "done"
    )


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "cp1252", "HOME": "/proc/1/no-such-home", "TMPDIR": "/nonexistent"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "HOME": ""},
    ],
    ids=["cp1252, a HOME and a TMPDIR that can't be", "C, no HOME"],
)
async def test_poor_surroundings_change_nothing(env: dict[str, str], site: Site, tmp_path: Path):
    text = "né \u65e5\u672c \U0001f600"
    url = site.page("/poor", f"<meta charset=utf-8>{offering(tool('say', f'() => {json.dumps(text)}'))}")
    log = tmp_path / "caf\u00e9.jsonl"
    without = [name for name, value in env.items() if not value]
    before = ["/usr/bin/env", *(word for name in without for word in ("-u", name))]
    async with open_raw("--open", url, "--log", str(log), env=env, before=before) as client:
        await start_with_page(client)
        answer = await client.result(await client.call("call_page_tool", page="p1", tool="say"))
        await client.close_stdin()
        assert await client.rest() == []
        assert await wait_exit(client) == 0
    assert answer["content"][0]["text"] == text
    assert log.read_text("utf-8").count("\n") == 1
    assert b"Traceback" not in client.errors


def on_small_disk(folder: Path) -> list[str]:
    """What runs a command with a megabyte of disk at `folder`."""
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    mount = f"mount -t tmpfs -o size=1m tmpfs {folder} && exec"
    return ["unshare", "--mount", *as_root, "/bin/sh", "-c", f'{mount} "$0" "$@"']


@pytest.mark.threat("L5")
async def test_results_that_no_disk_has_room_for_are_cut_and_everything_goes_on(site: Site, temporary: Path):
    url = site.page("/disk", offering(tool("big", "({size}) => 'x'.repeat(size)")))
    words = ("--open", url, "--profile", str(temporary / "profile"), "--log", str(temporary / "log"))
    env = {"TMPDIR": str(temporary)}
    async with open_raw(*words, env=env, before=on_small_disk(temporary)) as client:
        await start_with_page(client)

        async def big(size: int) -> str:
            answer = await client.result(
                await client.call("call_page_tool", page="p1", tool="big", arguments={"size": size})
            )
            assert answer["isError"] is False, answer
            return answer["content"][0]["text"]

        for _ in range(2):
            assert "could not be kept: No space left on device" in await big(3_000_000)
        assert await big(3) == "xxx"
        await client.close_stdin()
        assert await client.rest() == []
        assert await wait_exit(client) == 0
    assert b"Traceback" not in client.errors


@pytest.mark.threat("L5")
async def test_a_full_disk_for_what_is_temporary_is_passed_over(site: Site, temporary: Path):
    url = site.page("/full", HANGING)
    fill = ["/bin/sh", "-c", f'head -c 2m /dev/zero >{temporary}/fill 2>/dev/null; exec "$0" "$@"']
    async with open_raw(
        "--open", url, env={"TMPDIR": str(temporary)}, before=[*on_small_disk(temporary), *fill]
    ) as client:
        await start_with_page(client)
        brief = await client.result(await client.call("call_page_tool", page="p1", tool="brief"))
    assert brief["content"][0]["text"] == "done"
