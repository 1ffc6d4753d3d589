"""The real command against a page in a real Chromium, as a person or a script runs it."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click
import pytest
import trio
from click.testing import CliRunner

from bridge import cli
from bridge.browser.process import open_process
from bridge.calls.bridge import open_bridge
from bridge.serve.doctor import option_variables, option_words
from bridge.settings import AttachOptions, LaunchOptions
from tests.e2e.client import COMMAND
from tests.sites import Site, offering, tool

NUMBERS = "{type: 'object', properties: {a: {type: 'number'}, b: {type: 'number', default: 5}}, required: ['a']}"
PAGE = offering(
    tool("add", "({a, b}) => a + b", NUMBERS, "Add two numbers"),
    tool("echo", "given => given", "{type: 'object', properties: {text: {type: 'string'}, n: {type: 'integer'}}}"),
    tool("repeat", "({size}) => '→'.repeat(size)", "{type: 'object', properties: {size: {type: 'integer'}}}"),
    tool("paint", "() => ({text: '\\u001b[31m'})", description="Sends \\u001b[31m"),
    tool("nothing", "() => {}"),
    tool("fail", "() => { throw new RangeError('too far') }"),
    tool("hang", "() => { fetch('/hanging'); return new Promise(() => {}) }"),
    "{name: 'broken', description: 'No schema'}",
    group="Runtime state",
)
SECONDS = 60


@pytest.fixture
def url(site: Site) -> str:
    return site.page("/cli", PAGE)


def run(*words: str, given: bytes = b"", env: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        [*COMMAND, *words],
        input=given,
        capture_output=True,
        timeout=SECONDS,
        env={**os.environ, "COLUMNS": "100", **(env or {})},
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done


def error_of(done: subprocess.CompletedProcess[bytes]) -> str:
    """Its one sentence; what a launched browser has to say of its sandbox comes before."""
    lines = [line for line in done.stderr.decode().splitlines() if "sandbox" not in line]
    assert len(lines) == 1, lines
    return lines[0]


def run_on_terminal(*words: str) -> str:
    """What a person sees."""
    master, slave = pty.openpty()
    with subprocess.Popen([*COMMAND, *words], stdin=slave, stdout=slave, stderr=subprocess.DEVNULL) as process:
        os.close(slave)
        seen = bytearray()
        try:
            while chunk := os.read(master, 65536):
                seen += chunk
        except OSError:
            pass  # Linux says so when the last one has closed the terminal
        finally:
            os.close(master)
        assert process.wait(SECONDS) == 0
    return seen.decode().replace("\r\n", "\n")


@pytest.mark.feature("terminal.tools")
def test_tools_are_shown_as_a_table_with_the_problems_below(url: str):
    done = run("tools", url)

    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0
    assert lines[0] == f"{url} offers 7 tools"
    assert lines[2] == "Runtime state: For tests"
    assert lines[4].split() == ["Tool", "Arguments", "Description"]
    assert lines[5].split() == ["add", "a:", "number", "Add", "two", "numbers"]
    assert lines[6].split() == ["b?:", "number", "=", "5"]
    assert "Problems" in lines
    assert lines[-1].startswith("  - Group 'Runtime state', tool 7 ('broken')")
    assert "\x1b" not in done.stdout.decode()


def test_tools_fit_a_narrow_terminal(url: str):
    done = run("tools", url, env={"COLUMNS": "40"})

    lines = done.stdout.decode().splitlines()
    assert max(map(len, lines[1:])) <= 40
    start = lines.index("  add")
    assert lines[start : start + 4] == ["  add", "    a: number", "    b?: number = 5", "    Add two numbers"]


@pytest.mark.feature("terminal.tools")
def test_tools_as_json_are_what_an_agent_gets(url: str):
    done = run("tools", url, "--json")

    listing = json.loads(done.stdout)
    assert done.stdout.count(b"\n") == 1
    assert listing.keys() == {"page", "url", "origin", "toolset", "groups", "problems"}
    [group] = listing["groups"]
    assert [tool["name"] for tool in group["tools"]] == ["add", "echo", "repeat", "paint", "nothing", "fail", "hang"]
    assert group["tools"][0]["inputSchema"]["required"] == ["a"]
    assert len(listing["problems"]) == 1


def test_more_tools_than_one_listing_holds_are_all_there(site: Site):
    many = site.page("/many", offering(*(tool(f"tool{number}", "() => 1") for number in range(60))))

    [group] = json.loads(run("tools", many, "--json").stdout)["groups"]
    assert len(group["tools"]) == 60


def test_tools_of_iframes_are_shown_where_they_were_asked_for(site: Site):
    site.page("/framed", offering(tool("inside", "() => location.pathname")))
    page = site.page("/framing", offering(tool("outside", "() => 1")) + "<iframe src=/framed></iframe>")

    [own] = json.loads(run("tools", page, "--json").stdout)["groups"]
    _, framed = json.loads(run("tools", page, "--json", "--frames", "same-origin").stdout)["groups"]
    assert "frame" not in own
    assert (framed["frame"], framed["origin"]) == ("f1", site.origin)
    assert [tool["name"] for tool in framed["tools"]] == ["inside"]
    assert run("call", page, "inside", "--frames", "same-origin").stdout == b"/framed\n"


@pytest.mark.feature("pages.files")
def test_tools_of_a_file_are_shown_and_called_where_that_was_asked_for(tmp_path: Path):
    file = tmp_path / "page.html"
    file.write_text(f"<!doctype html>{PAGE}")

    listing = json.loads(run("tools", file.as_uri(), "--json", "--allow-file").stdout)
    assert listing["origin"] == file.as_uri()
    assert len(listing["groups"][0]["tools"]) == 7
    assert run("call", file.as_uri(), "add", "a=1", "--allow-file").stdout == b"6\n"


def test_schemas_are_shown_in_the_form_that_was_asked_for(site: Site):
    schema = "{properties: {a: {type: ['string', 'null']}}}"
    page = site.page("/profile", offering(tool("add", "() => 1", schema)))

    shown = [
        json.loads(run("tools", page, "--json", *words).stdout)["groups"][0]["tools"][0]["inputSchema"]
        for words in ((), ("--schema-profile", "strict"))
    ]
    assert shown[0]["type"] == shown[1]["type"] == "object"
    assert shown[0] != shown[1]


def test_a_page_without_tools_is_no_failure(site: Site):
    done = run("tools", site.page("/none", ""))

    assert done.returncode == 0
    assert b"offers no tools" in done.stdout
    assert b"Nothing answered the devtoolstooldiscovery event" in done.stdout


@pytest.mark.feature("terminal.call")
@pytest.mark.parametrize(
    ("words", "given", "result"),
    [
        (("add", "a=1", "b=-2.5"), b"", b"-1.5\n"),
        (("#0.0", "--json", '{"a": 1}'), b"", b"6\n"),
        (("echo", "text=12", "n=12"), b"", b'{"text":"12","n":12}\n'),
        (("echo", "-"), '{"text": "Zoë"}'.encode(), '{"text":"Zoë"}\n'.encode()),
        (("repeat", "size=100000"), b"", "→".encode() * 100_000 + b"\n"),
        (("nothing",), b"", b""),
    ],
    ids=["words", "json", "typed by the schema", "stdin", "long result", "no value"],
)
def test_a_call_prints_the_result(words: tuple[str, ...], given: bytes, result: bytes, url: str):
    done = run("call", url, *words, given=given)

    assert done.stdout == result, done.stderr.decode()
    assert done.returncode == 0


@pytest.mark.feature("terminal.call")
@pytest.mark.parametrize(
    ("words", "exit_code", "said"),
    [
        (("add", "a=x"), 2, "a must be a number"),
        (("add",), 2, "do not fit its schema"),
        (("nope",), 1, "has no tool 'nope'"),
        (("fail",), 1, "RangeError: too far"),
        (("hang", "--timeout", "0.5"), 1, "did not end within 0.5 s"),
    ],
)
def test_a_call_that_fails_says_why(words: tuple[str, ...], exit_code: int, said: str, url: str):
    done = run("call", url, *words)

    assert (done.returncode, done.stdout) == (exit_code, b"")
    assert said in error_of(done)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tools", "http://127.0.0.1:1/"), "Could not open http://127.0.0.1:1/"),
        (("call", "http://127.0.0.1:1/", "add"), "Could not open http://127.0.0.1:1/"),
        (("tools", "http://h/", "--browser", "/nonexistent"), "/nonexistent is not a program"),
        (("tools", "http://h/", "--attach", "/nonexistent"), "There is no folder /nonexistent"),
    ],
)
def test_a_page_or_browser_that_is_not_there_is_told_in_a_sentence(words: tuple[str, ...], said: str):
    done = run(*words)

    assert (done.returncode, done.stdout) == (1, b"")
    assert said in error_of(done)


def test_attach_options_that_can_not_be_used_are_bad_usage():
    done = run("tools", "http://h/", "--attach", "http://127.0.0.1:1", "--attach-header", "bad name:hunter2")

    assert done.returncode == 2
    assert "bad name" in error_of(done)
    assert b"hunter2" not in done.stderr


@pytest.mark.threat("P3")
def test_on_a_terminal_json_has_lines_and_a_page_can_not_paint(url: str):
    assert run_on_terminal("call", url, "paint") == '{\n  "text": "\\u001b[31m"\n}\n'


def test_a_picture_is_told_on_a_terminal_and_piped_as_it_is(site: Site):
    shoot = "({width}) => new OffscreenCanvas(width, 48).getContext('2d').canvas"
    shots = site.page("/shots", offering(tool("shoot", shoot), tool("say", "() => new Blob(['né\\x1b[31m'])")))

    assert run("call", shots, "shoot", "--json", '{"width": 64}').stdout.startswith(b"\x89PNG")
    assert run("call", shots, "say").stdout == "né\x1b[31m".encode()
    assert run_on_terminal("call", shots, "shoot", "--json", '{"width": 64}').startswith(
        "[image image/png, 64\u00d748, "
    )
    assert "\x1b" not in run_on_terminal("call", shots, "say")
    nothing = run("call", shots, "shoot", "--json", '{"width": 0}')
    assert nothing.stdout == b""
    assert "without pixels" in error_of(nothing)


@pytest.fixture
def short_path() -> Iterator[Path]:
    """The path of a browser's socket has so many characters and no more; pytest's own folders are long."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.threat("L5")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_a_call_and_everything_it_started(
    number: signal.Signals, site: Site, url: str, short_path: Path
):
    asked = site.asked["/hanging"]
    start = partial(
        trio.run_process, [*COMMAND, "call", url, "hang"], check=False, env={**os.environ, "TMPDIR": str(short_path)}
    )
    with trio.fail_after(SECONDS):
        async with trio.open_nursery() as nursery:
            process: trio.Process = await nursery.start(start)
            await site.wait_asked("/hanging", asked + 1)
            assert os.listdir(short_path), "the browser has a profile there"
            process.send_signal(number)

    assert process.returncode == 128 + number
    assert os.listdir(short_path) == []


async def test_in_a_running_browser_no_tab_is_left(url: str):
    with trio.fail_after(SECONDS):
        async with open_process(LaunchOptions(debug_port=0)) as browser:
            where = await browser.wait_listening()
            done = await trio.to_thread.run_sync(run, "call", url, "add", "a=1", "--attach", where)
            late = await trio.to_thread.run_sync(run, "call", url, "hang", "--timeout", "0.5", "--attach", where)
            examined = await trio.to_thread.run_sync(run, "doctor", url, "--attach", where)
            async with open_bridge(AttachOptions(where=where)) as bridge:
                left = [page.url for page in await bridge.wait_pages()]

    assert (done.stdout, late.returncode, examined.returncode) == (b"6\n", 1, 0), examined.stdout.decode()
    assert left == ["about:blank"]


@pytest.mark.feature("mcp.stdout")
def test_serve_prints_nothing_on_stdout_for_people(url: str):
    done = run("serve", "--open", url, "-vv")

    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.feature("terminal.doctor")
def test_doctor_finds_everything_in_place(url: str):
    done = run("doctor", url, env={"COLUMNS": "200"})

    text = done.stdout.decode()
    checks = ("Browser found", "Browser starts", "MCP handshake", "Page tool called", "WebMCP", "Your page")
    assert done.returncode == 0, text
    assert [line[9:27].rstrip() for line in text.splitlines() if line.startswith("ok ")] == list(checks)
    assert re.search(r"Browser starts +\w*Chrome/\d+", text)
    assert "add(1, 2) answered 3" in text
    assert "--webmcp turns it on" in text
    assert f"{url} offers 7 tools" in text
    assert text.endswith("Everything is in place.\n")


@pytest.mark.parametrize(
    "options",
    [
        LaunchOptions(),
        LaunchOptions(
            browser_path=Path("/b"), profile=Path("-p"), headed=True, debug_port=0, no_sandbox=True, webmcp=True
        ),
        AttachOptions(where="ws://h/x?a=b", headers=(("A", "b:c"), ("D", ""))),
    ],
)
def test_doctor_gives_the_server_its_own_options(options: LaunchOptions | AttachOptions):
    taken: list[LaunchOptions | AttachOptions] = []
    probe = click.command()(cli.with_browser(lambda options: taken.append(options)))
    CliRunner().invoke(probe, option_words(options), env=option_variables(options), catch_exceptions=False)
    assert taken == [options]


@pytest.mark.feature("webmcp.tools")
def test_doctor_says_that_webmcp_is_switched_on():
    done = run("doctor", "--webmcp", env={"COLUMNS": "400"})

    [line] = [line for line in done.stdout.decode().splitlines() if "WebMCP" in line]
    assert line.startswith("ok ")
    assert "document.modelContext" in line
    assert "can end as a whole" in line


@pytest.mark.feature("terminal.doctor")
def test_doctor_says_what_to_do_without_a_browser():
    done = run("doctor", "--browser", "/nonexistent")

    lines = done.stdout.decode().splitlines()
    assert done.returncode == 1
    assert [line[:9].rstrip() for line in lines[:-1] if line[0] != " "] == [
        "failed",
        "skipped",
        "ok",
        "skipped",
        "skipped",
    ]
    assert lines[0].startswith("failed   Browser found     /nonexistent")


def test_doctor_fails_for_a_page_that_offers_nothing(site: Site):
    done = run("doctor", site.page("/none", ""))

    assert done.returncode == 1
    assert b"failed   Your page" in done.stdout


@pytest.mark.feature("terminal.errors")
@pytest.mark.parametrize("words", [("serve", "--profile", ""), ("validate", "--project", ""), ("log", "")])
def test_an_empty_path_is_not_the_working_folder(words: tuple[str, ...]):
    done = run(*words)

    assert (done.returncode, done.stdout) == (2, b"")
    assert b"It is empty: give a path, or leave it out." in done.stderr


@pytest.mark.feature("terminal.errors")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_an_output_that_is_full_is_told_in_a_sentence(tmp_path: Path):
    (tmp_path / "pagebridge.toml").touch()
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "tools", "ls", "--project", str(tmp_path)], stdout=full, stderr=subprocess.PIPE, timeout=60
        )

    assert (done.returncode, error_of(done)) == (
        1,
        "Error: The output can't be written: No space left on device. Make room there.",
    )


@pytest.mark.feature("terminal.errors")
def test_a_working_folder_that_is_gone_is_told_in_a_sentence(tmp_path: Path):
    (tmp_path / "gone").mkdir()
    words = ["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *COMMAND, "validate"]
    done = subprocess.run(words, cwd=tmp_path / "gone", capture_output=True, check=False, timeout=60)

    assert (done.returncode, error_of(done)) == (1, "Error: The working folder is gone. Change to one that is there.")


def test_the_command_is_installed_beside_python():
    done = subprocess.run(
        [Path(sys.executable).with_name("pagebridge"), "--version"], capture_output=True, timeout=SECONDS, check=True
    )
    assert done.stdout.startswith(b"pagebridge ")


@pytest.mark.feature("dialogs.answer")
def test_a_tool_that_asks_with_a_dialog_is_answered_as_the_person_says(site: Site):
    ask = tool("ask", "() => confirm('Delete all?') ? 'deleted' : 'kept'")
    url = site.page("/asks", offering(ask))

    asked = run("call", url, "ask")
    accepted = run("call", "--dialogs", "accept", url, "ask")
    dismissed = run("call", "--dialogs", "dismiss", url, "ask")

    assert asked.returncode != 0
    assert 'a dialog (confirm) that says "Delete all?". Run it again with --dialogs accept' in error_of(asked)
    assert (accepted.stdout, dismissed.stdout) == (b"deleted\n", b"kept\n")
