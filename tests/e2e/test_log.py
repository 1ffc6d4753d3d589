"""`pagebridge serve --log` and `pagebridge log`, as the real commands."""

import json
import os
import resource
import signal
import stat
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.browsers import run_chromium
from tests.e2e.client import COMMAND, open_agent, open_raw, read, text_of
from tests.e2e.test_life import children_of
from tests.sites import Site, offering, tool

NUMBERS = "{type: 'object', properties: {a: {type: 'number'}, b: {type: 'number'}}, required: ['a', 'b']}"
PAGE = offering(
    tool("add", "({a, b}) => a + b", NUMBERS),
    tool("echo", "given => given"),
    tool("fail", "() => { throw new RangeError('too far') }"),
    tool("hang", "() => { fetch('/hanging'); return new Promise(() => {}) }"),
    tool("ask", "() => confirm('Sure?')"),
    group="Cart",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def command_lines(pids: Iterable[int]) -> bytes:
    return b"".join(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids)


def content_of(path: Path) -> tuple[bytes, int]:
    """And its mode."""
    return path.read_bytes(), stat.S_IMODE(path.stat().st_mode)


@pytest.mark.feature("log.lines")
@pytest.mark.threat("P19")
async def test_each_call_of_a_page_tool_leaves_one_line(site: Site, path: Path):
    async with open_agent("--open", site.page("/log", PAGE), "--log", str(path)) as agent:
        await agent.call_tool("list_pages", {})
        for words in (
            {"page": "p1", "tool": "add", "arguments": {"a": 1, "b": 2}},
            {"page": "p1", "tool": "add", "arguments": '{"a": "1"}'},
            {"page": "p1", "tool": "nope"},
            {"page": "p77", "tool": "add"},
            {"page": "p1", "tool": "fail", "arguments": {}},
            {"page": "p1", "tool": "hang", "timeout_seconds": 0.2},
            {"page": "p1", "tool": "add", "given": {}},
        ):
            await agent.call_tool("call_page_tool", words)

    lines = lines_of(path)
    assert [(line["tool"], line["outcome"], line.get("code")) for line in lines] == [
        ("add", "completed", None),
        ("add", "rejected", "arguments_invalid"),
        ("nope", "rejected", "tool_not_found"),
        ("add", "rejected", "page_gone"),
        ("fail", "failed", "tool_threw"),
        ("hang", "unknown", "timed_out"),
        ("add", "rejected", "arguments_invalid"),
    ]
    first = lines[0]
    assert (first["page"], first["origin"], first["group"]) == ("p1", site.origin, "Cart")
    assert first["arguments"] == {"a": 1, "b": 2}
    assert [line.get("origin") for line in lines] == [*[site.origin] * 3, None, *[site.origin] * 2, None]
    assert [line.get("group") for line in lines] == ["Cart", "Cart", None, None, "Cart", "Cart", None]
    assert lines[4]["error"] == "Tool 'fail' ran and threw: RangeError: too far"
    assert lines[5]["duration_ms"] >= 200


async def test_calls_of_direct_tools_are_logged_under_the_name_of_the_page(site: Site, path: Path):
    async with open_agent("--direct", "--log", str(path)) as agent:
        await agent.call_tool("open_page", {"url": site.page("/direct", PAGE)})
        await agent.list_tools()
        assert text_of(await agent.call_tool("page_add", {"a": 1, "b": 2})) == "3"
        await agent.call_tool("page_nope", {"a": 1})

    done, refused = lines_of(path)
    assert (done["tool"], done["page"], done["outcome"]) == ("add", done["page"], "completed")
    assert (done["group"], done["arguments"]) == ("Cart", {"a": 1, "b": 2})
    assert (refused["tool"], refused["code"], refused["arguments"]) == ("page_nope", "tool_not_found", {"a": 1})


async def test_a_call_that_waits_for_a_dialog_has_a_second_line_with_its_end(site: Site, path: Path):
    async with open_agent("--open", site.page("/asking", PAGE), "--log", str(path)) as agent:
        await agent.call_tool("call_page_tool", {"page": "p1", "tool": "ask", "arguments": {"a": 1}})
        await agent.call_tool("handle_dialog", {"page": "p1", "accept": True})

    lines = lines_of(path)
    assert [(line["tool"], line["outcome"], line.get("code")) for line in lines] == [
        ("ask", "unknown", "dialog_open"),
        ("ask", "completed", None),
    ]
    assert {(line["group"], line["origin"]) for line in lines} == {("Cart", site.origin)}


async def test_a_call_that_is_cancelled_leaves_a_line(site: Site, path: Path):
    async with open_raw("--open", site.page("/cancelled", PAGE), "--log", str(path)) as client:
        await client.initialize()
        asked = site.asked["/hanging"]
        taken_back = await client.call("call_page_tool", page="p1", tool="hang", arguments={"a": 1})
        await site.wait_asked("/hanging", asked + 1)
        await client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": taken_back}})
        await client.result(await client.call("list_pages"))

        [line] = lines_of(path)
        assert (line["tool"], line["outcome"], line["code"]) == ("hang", "unknown", "cancelled")
        assert (line["origin"], line["arguments"]) == (site.origin, {"a": 1})


@pytest.mark.feature("log.secrets")
@pytest.mark.threat("L4")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_secrets_from_the_environment_are_in_no_command_line_log_or_line_of_stderr(site: Site, path: Path):
    with run_chromium(site.page("/hidden", PAGE)) as browser:
        given = {
            "PAGEBRIDGE_ATTACH": browser.websocket.replace("ws://", "ws://zoe:hunter2@") + "?token=swordfish",
            "PAGEBRIDGE_ATTACH_HEADERS": "X-Key: sesame-open\nX-Other: sesame-shut",
        }
        async with open_raw("--log", str(path), "-vv", env=given) as client:
            await client.initialize()
            listed = await client.result(await client.call("list_pages"))
            [page] = [page["page"] for page in listed["structuredContent"]["pages"] if "/hidden" in page["url"]]
            told = {"words": "hunter2 swordfish sesame-open sesame-shut"}
            await client.result(await client.call("call_page_tool", page=page, tool="echo", arguments=told))
            everybody = {client.process.pid, browser.process.pid} | children_of(client.process.pid)
            seen = command_lines(everybody)
            await client.close_stdin()
            await client.rest()

    logged, mode = content_of(path)
    assert mode == 0o600
    assert b"serve" in seen
    for secret in (b"hunter2", b"swordfish", b"sesame-open", b"sesame-shut"):
        for place in (seen, logged, bytes(client.errors)):
            assert secret not in place


@pytest.mark.feature("log.secrets")
@pytest.mark.threat("P19", "L4")
async def test_secrets_that_we_attach_with_are_not_in_the_log(site: Site, path: Path):
    with run_chromium(site.page("/secret", PAGE)) as browser:
        where = browser.websocket.replace("ws://", "ws://zoe:hunter2@")
        words = ("--attach", where, "--attach-header", "X-Key: swordfish", "--log", str(path))
        async with open_agent(*words) as agent:
            pages = read(await agent.call_tool("list_pages", {}))["pages"]
            [page] = [page["page"] for page in pages if page["url"] == site.origin + "/secret"]
            told = {"a": ["hunter2", b64encode(b"zoe:hunter2").decode()], "swordfish": where}
            answer = await agent.call_tool("call_page_tool", {"page": page, "tool": "echo", "arguments": told})
            assert read(answer) == told

    [line] = lines_of(path)
    assert line["arguments"]["a"] == ["[secret]", "[secret]"]
    text = json.dumps(line)
    for secret in ("hunter2", b64encode(b"zoe:hunter2").decode(), "swordfish", where.rpartition("/")[2]):
        assert secret not in text


@pytest.mark.threat("L5")
@pytest.mark.skipif(sys.platform != "linux", reason="another process's limits are Linux's")
async def test_a_log_that_fills_the_disk_costs_one_warning_and_no_call(site: Site, path: Path):
    async with open_raw("--open", site.page("/full", PAGE), "--log", str(path)) as client:
        await client.initialize()
        await client.result(await client.call("list_pages"))
        # Of the bridge alone: its browser has started already.
        resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        for _ in range(3):
            call = await client.call("call_page_tool", page="p1", tool="add", arguments={"a": 1, "b": 2})
            assert (await client.result(call))["content"][0]["text"] == "3"
        await client.close_stdin()
        await client.rest()
        assert await client.process.wait() == 0

    assert client.errors.count(f"{path} can't be written".encode()) == 1


@pytest.mark.parametrize("place", ["/nonexistent/calls", "/", "/dev/stdout", "/dev/full"])
def test_a_log_that_can_not_be_opened_is_bad_usage(place: str):
    done = subprocess.run([*COMMAND, "serve", "--log", place], input=b"", capture_output=True, timeout=60)

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(f"Error: --log can't write {place}".encode())


LINE = {"time": "2026-11-29T22:09:02.417Z", "page": "p1", "tool": "add", "outcome": "completed", "duration_ms": 1}


def test_a_reader_that_stops_ends_the_table_quietly(path: Path):
    path.write_text(f"{json.dumps(LINE)}\n" * 20_000)
    with subprocess.Popen([*COMMAND, "log", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"Time")
        process.stdout.close()
        said = process.stderr.read()
        process.wait(60)

    assert said == b""


@pytest.mark.feature("log.table")
async def test_a_log_is_followed_until_ctrl_c(path: Path):
    with trio.fail_after(60):
        process = await trio.lowlevel.open_process(
            [*COMMAND, "log", "-f", str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "COLUMNS": "160"},
            # Whoever runs the tests in the background has it ignored, and so would what they start.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        assert process.stdout is not None
        assert process.stderr is not None
        seen = ""
        for number in (1, 2):
            with path.open("a") as file:  # a local file of some bytes
                file.write(json.dumps(LINE | {"arguments": {"call": number}}) + "\n")
            while f'{{"call": {number}}}' not in seen:
                chunk = await process.stdout.receive_some()
                assert chunk, "the command ended by itself"
                seen += chunk.decode()
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 130
        assert await process.stderr.receive_some() == b""
        await process.stdout.aclose()
        await process.stderr.aclose()

    assert seen.count("add") == 2
