"""How `pagebridge serve` begins and ends."""

import os
import signal
from pathlib import Path

import pytest
import trio

from bridge.calls.built_ins import BUILT_INS
from tests.browser.test_process import doors
from tests.browsers import run_chromium
from tests.e2e.client import RawClient, open_raw
from tests.sites import Site, offering, tool

END_SECONDS = 8
"""Two seconds are promised, and a third of one is usual. A busy machine gets more before a test calls it a hang."""
HANGING = offering(
    tool("hang", "() => { fetch('/hanging'); return new Promise(() => {}) }"),
    tool("brief", "() => new Promise(done => setTimeout(done, 20, 'done'))"),
)


def children_of(pid: int) -> set[int]:
    """All descendants of a process, as /proc has them now."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue
            parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def is_running(pid: int) -> bool:
    try:
        state = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def wait_gone(pids: set[int]) -> None:
    """Poll /proc: nothing tells of the end of a process that is not a child of ours."""
    while any(is_running(pid) for pid in pids):  # noqa: ASYNC110  # there is no event to wait for
        await trio.sleep(0.02)


async def wait_exit(client: RawClient) -> int:
    with trio.fail_after(END_SECONDS):
        return await client.process.wait()


async def start_with_page(client: RawClient) -> None:
    await client.initialize()
    await client.result(await client.call("list_pages"))


@pytest.mark.threat("L5")
async def test_closing_stdin_while_idle_ends_everything(site: Site):
    async with open_raw("--open", site.page("/hang", HANGING)) as client:
        await start_with_page(client)
        browsers = children_of(client.process.pid)
        assert browsers

        await client.close_stdin()

        assert await wait_exit(client) == 0
        assert await client.rest() == []
        with trio.fail_after(END_SECONDS):
            await wait_gone(browsers)
    assert b"Traceback" not in client.errors


@pytest.mark.threat("L5")
@pytest.mark.parametrize("how", ["stdin", "SIGTERM", "stdout"])
async def test_the_end_says_nothing_on_stderr(how: str, site: Site):
    async with open_raw("--open", site.page("/hang", HANGING)) as client:
        await start_with_page(client)
        await client.call("call_page_tool", page="p1", tool="hang")
        before = bytes(client.errors)
        match how:
            case "stdin":
                await client.close_stdin()
            case "SIGTERM":
                client.process.terminate()
            case _:
                assert client.process.stdout is not None
                await client.process.stdout.aclose()
                await client.call("list_pages")
                await client.close_stdin()

        await wait_exit(client)

    assert bytes(client.errors).removeprefix(before) == b""


@pytest.mark.threat("L1")
async def test_neither_the_bridge_nor_its_browser_listens_anywhere(site: Site):
    async with open_raw("--open", site.page("/hang", HANGING)) as client:
        await start_with_page(client)
        await client.result(await client.call("call_page_tool", page="p1", tool="brief"))
        everybody = {client.process.pid} | children_of(client.process.pid)

        assert len(everybody) > 4
        assert doors(everybody) == []


@pytest.mark.feature("mcp.end")
@pytest.mark.threat("L5")
async def test_closing_stdin_while_a_call_runs_ends_everything(site: Site):
    async with open_raw("--open", site.page("/hang", HANGING)) as client:
        await start_with_page(client)
        asked = site.asked["/hanging"]
        request = await client.call("call_page_tool", page="p1", tool="hang")
        await site.wait_asked("/hanging", asked + 1)

        await client.close_stdin()

        assert await wait_exit(client) == 0
        [answer] = await client.rest()
        assert answer["id"] == request
    assert b"Traceback" not in client.errors


async def test_closing_stdin_before_the_browser_is_up_ends_everything(tmp_path: Path):
    never = tmp_path / "browser"
    never.write_text("#!/bin/sh\nexec sleep 60\n")
    never.chmod(0o755)
    async with open_raw("--browser", str(never)) as client:
        await client.initialize()
        await client.close_stdin()

        assert await wait_exit(client) == 0
    assert b"Traceback" not in client.errors


@pytest.mark.threat("L5")
async def test_closing_stdin_while_a_browser_is_looked_for_again_ends_everything(tmp_path: Path):
    with run_chromium(profile=tmp_path) as theirs:
        async with open_raw("--attach", theirs.websocket) as client:
            await start_with_page(client)
            theirs.process.kill()
            while True:
                answer = await client.result(await client.call("list_pages"))
                if answer["isError"]:
                    break
            assert answer["structuredContent"]["code"] == "browser_gone"
            await client.close_stdin()

            assert await wait_exit(client) == 0
            assert await client.rest() == []
        assert b"Traceback" not in client.errors


@pytest.mark.feature("mcp.end")
async def test_requests_that_were_read_get_their_answers_first(site: Site):
    async with open_raw("--open", site.page("/hang", HANGING)) as client:
        await start_with_page(client)
        requests = [await client.call("call_page_tool", page="p1", tool="brief") for _ in range(3)]
        await client.close_stdin()

        assert await wait_exit(client) == 0
        answers = {message["id"]: message["result"]["content"][0]["text"] for message in await client.rest()}
        assert answers == dict.fromkeys(requests, "done")


@pytest.mark.feature("mcp.end")
@pytest.mark.threat("L5")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_everything_with_exit_code_0(number: signal.Signals, site: Site):
    async with open_raw("--open", site.page("/hang", HANGING)) as client:
        await start_with_page(client)
        browsers = children_of(client.process.pid)
        client.process.send_signal(number)

        assert await wait_exit(client) == 0
        with trio.fail_after(END_SECONDS):
            await wait_gone(browsers)
    assert b"Traceback" not in client.errors


async def test_a_signal_as_soon_as_the_first_word_is_answered_leaves_nothing(temporary: Path):
    """The browser runs by then, and what is to own it is imported still."""
    async with open_raw(env={"TMPDIR": str(temporary)}) as client:
        await client.initialize()
        browsers = children_of(client.process.pid)
        client.process.terminate()

        assert await wait_exit(client) == 0
        with trio.fail_after(END_SECONDS):
            await wait_gone(browsers)
    assert os.listdir(temporary) == []
    assert b"Traceback" not in client.errors


@pytest.mark.threat("L5")
@pytest.mark.parametrize("words", [(), ("--debug-port", "0")], ids=["pipe", "port"])
async def test_killing_the_bridge_ends_its_browser(words: tuple[str, ...], site: Site):
    async with open_raw("--open", site.page("/hang", HANGING), *words) as client:
        await start_with_page(client)
        browsers = children_of(client.process.pid)
        assert browsers

        os.kill(client.process.pid, signal.SIGKILL)

        await client.process.wait()
        with trio.fail_after(END_SECONDS):
            await wait_gone(browsers)


@pytest.mark.feature("mcp.start")
async def test_the_handshake_does_not_wait_for_a_browser(tmp_path: Path):
    never = tmp_path / "browser"
    never.write_text("#!/bin/sh\nexec sleep 60\n")
    never.chmod(0o755)
    async with open_raw("--browser", str(never)) as client:
        assert (await client.initialize())["serverInfo"]["name"] == "pagebridge"
        assert len((await client.result(await client.ask("tools/list")))["tools"]) == len(BUILT_INS)
        late = await client.call("call_page_tool", page="p1", tool="x", timeout_seconds=0.1)
        answer = await client.result(late)
        assert answer["isError"] is True
        assert answer["structuredContent"]["code"] == "browser_starting"


@pytest.mark.feature("mcp.start")
async def test_a_browser_that_dies_at_start_is_explained(tmp_path: Path):
    broken = tmp_path / "browser"
    broken.write_text("#!/bin/sh\necho 'libnss3.so: not found' >&2\nexit 1\n")
    broken.chmod(0o755)
    async with open_raw("--browser", str(broken)) as client:
        await client.initialize()
        answer = await client.result(await client.call("list_pages"))
        assert answer["structuredContent"]["code"] == "browser_gone"
        assert "libnss3.so: not found" in answer["content"][0]["text"]


@pytest.mark.feature("mcp.stdout")
@pytest.mark.threat("C1")
async def test_lines_that_are_no_messages_are_answered_and_passed_over(site: Site):
    async with open_raw() as client:
        await client.initialize()
        for line, code in (
            (b"{", -32700),
            (b"\xff\xfe", -32700),
            (b"[" * 100_000, -32700),
            (b'{"jsonrpc": "2.0"}', -32600),
            (b"[]", -32600),
        ):
            await client.send(line)
            message = await client.receive()
            assert message is not None
            assert message["error"]["code"] == code, line[:20]
        assert "tools" in await client.result(await client.ask("tools/list"))


@pytest.mark.feature("calls.cancel")
@pytest.mark.threat("C5")
async def test_a_cancelled_call_is_not_answered(site: Site):
    async with open_raw("--open", site.page("/hang", HANGING)) as client:
        await start_with_page(client)
        asked = site.asked["/hanging"]
        taken_back = await client.call("call_page_tool", page="p1", tool="hang")
        await site.wait_asked("/hanging", asked + 1)
        await client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": taken_back}})
        after = await client.call("list_pages")
        assert (await client.result(after))["isError"] is False
        await client.close_stdin()
        assert await wait_exit(client) == 0
        assert await client.rest() == []
