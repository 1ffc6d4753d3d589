"""`pagebridge tools call` over the real command: a tool of each source, as a script runs it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bridge import cli
from tests.e2e.test_cli import error_of, run, run_on_terminal
from tests.sites import Site, offering, tool

MODULE = """
description = "Adds"
parameters = {"type": "object", "properties": {"a": {"type": "integer"}, "note": {"type": "string"}}, "required": ["a"]}
read_only = True


async def execute(args, context):
    match args.get("note"):
        case "fail":
            return {"content": [{"type": "text", "text": "Out of stock"}], "isError": True}
        case "look":
            return await context.page.call("list_pages")
        case "secret":
            return {"key": context.env["KEY"]}
        case "told":
            raise LookupError("401 for " + context.env["KEY"])
        case "nothing":
            return None
    return {**args, "agent": context.agent}
"""
NO_BROWSER = ("--browser", "/nowhere/chromium")


@pytest.fixture
def module(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "adds.py").write_text(MODULE)
    return "--tool", str(tmp_path / "adds.py")


@pytest.mark.feature("terminal.own")
def test_a_tool_of_a_module_starts_a_browser_only_where_it_asks_for_one(tmp_path: Path, module: tuple[str, ...]):
    (tmp_path / "browser").write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    (tmp_path / "browser").chmod(0o700)
    watched = ("--browser", str(tmp_path / "browser"))

    words = run("tools", "call", "adds", "a=1", "note=2", *module, *watched)
    was_started = (tmp_path / "started").exists()
    looks = run("tools", "call", "adds", "a=1", "note=look", *module, *watched)

    assert (words.returncode, words.stdout, words.stderr) == (0, b'{"a":1,"note":"2","agent":null}\n', b"")
    assert not was_started
    assert looks.returncode == 1
    assert (tmp_path / "started").exists()


@pytest.mark.feature("terminal.own")
def test_arguments_come_from_stdin_and_a_result_may_be_none(module: tuple[str, ...]):
    given = run("tools", "call", "adds", "-", *module, *NO_BROWSER, given=b'{"a": 3}')
    nothing = run("tools", "call", "adds", "a=1", "note=nothing", *module, *NO_BROWSER)

    assert (given.returncode, given.stdout) == (0, b'{"a":3,"agent":null}\n')
    assert (nothing.stdout, nothing.stderr) == (b"", b"The tool ran and returned no value.\n")


@pytest.mark.feature("terminal.own")
@pytest.mark.parametrize(
    ("words", "exit_code", "said"),
    [
        (("adds", "a=x"), 2, 'a must be an integer, not "x"'),
        (("adds", "note=x"), 2, "/a is missing"),
        (("adds", "a=1", "--json", "{}"), 2, "either as NAME=VALUE or with --json"),
        (("adds", "a=1", "--agent", "reader"), 2, "--agent goes with --project DIR"),
        (("adds", "a=1", "note=fail"), 1, "Out of stock"),
        (("adds", "a=1", "note=look"), 1, "/nowhere/chromium"),
        (("nothing",), 1, "Unknown tool: nothing."),
        (("click", "--tools", "pages"), 1, "click is not"),
    ],
)
def test_what_goes_wrong_is_a_sentence_and_an_exit_code(
    module: tuple[str, ...], words: tuple[str, ...], exit_code: int, said: str
):
    done = CliRunner().invoke(cli.main, ["tools", "call", *words, *module, *NO_BROWSER], catch_exceptions=False)

    assert (done.exit_code, done.stdout) == (exit_code, "")
    assert said in done.stderr.splitlines()[-1]


@pytest.mark.feature("terminal.own")
def test_what_the_manifest_lists_and_an_agent_may_have_is_called(tmp_path: Path, module: tuple[str, ...]):
    (tmp_path / "pagebridge.toml").write_text(
        'secrets = ["KEY"]\n[tools]\nadds = "adds.py"\nlist_pages = "builtin:list_pages"\n'
        '[agents.reader]\ntools = ["list_pages"]\n'
    )
    project = ("--project", str(tmp_path), *NO_BROWSER)

    env = {"XDG_DATA_HOME": str(tmp_path / "data")}
    run("secrets", "set", "KEY", "--project", str(tmp_path), given=b"hunter2", env=env)
    secret = run("tools", "call", "adds", "a=1", "note=secret", *project, env=env)
    assert (secret.stdout, secret.stderr) == (b'{"key":"[secret]"}\n', b"")
    told = run("tools", "call", "adds", "a=1", "note=told", *project, env=env)
    assert error_of(told) == "Error: Tool 'adds' failed: LookupError: 401 for [secret]"
    assert run("tools", "call", "adds", "a=1", *project).stdout == b'{"a":1,"agent":null}\n'
    removed = run("tools", "call", "click", *project)
    hidden = run("tools", "call", "adds", "a=1", *project, "--agent", "reader")
    assert (removed.returncode, hidden.returncode) == (1, 1)
    assert "does not list click under [tools]" in error_of(removed)
    assert "Agent reader may not use" in error_of(hidden)


@pytest.mark.feature("terminal.own")
def test_a_built_in_tool_runs_on_the_page_that_is_opened(site: Site):
    tools = offering(tool("add", "({a, b}) => a + b"))
    opened = ("--open", site.page("/own", f"<button>Go</button><p>Half\x1b[31m{tools}"))

    picture = run("tools", "call", "take_screenshot", "format=jpeg", *opened)
    called = run("tools", "call", "call_page_tool", "tool=add", 'arguments={"a": 1, "b": 2}', *opened)
    snapshot = run_on_terminal("tools", "call", "take_snapshot", *opened)

    assert picture.stdout[:3] == b"\xff\xd8\xff"
    assert (called.returncode, json.loads(called.stdout)) == (0, 3)
    assert 'button "Go"' in snapshot
    assert "\x1b" not in snapshot


def test_a_page_that_can_not_be_opened_is_said(site: Site):
    done = run("tools", "call", "take_snapshot", "--open", site.origin.replace("127.0.0.1", "nowhere.invalid"))

    assert (done.returncode, done.stdout) == (1, b"")
    assert "Could not open" in error_of(done)
