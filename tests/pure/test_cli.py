"""From words on the command line to options, and from errors to one sentence. No browser is started."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from bridge import cli
from bridge.errors import ArgumentsInvalid, BrowserGone, UsageError
from bridge.serve.printable import printable
from bridge.serve.table import describe_arguments
from bridge.settings import AttachOptions, LaunchOptions, PageSettings

URL = "http://127.0.0.1:9/"


def run(*words: str, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cli.main, words, prog_name="pagebridge", input=given)


def read_options(*words: str) -> LaunchOptions | AttachOptions:
    taken: list[LaunchOptions | AttachOptions] = []
    probe = click.command()(cli.with_browser(lambda options: taken.append(options)))
    CliRunner().invoke(probe, words, catch_exceptions=False, standalone_mode=False)
    return taken[0]


def read_pages(*words: str, url: str = "") -> PageSettings:
    taken: list[PageSettings] = []
    probe = click.command()(click.argument("url")(cli.with_pages(lambda pages, url: taken.append(pages))))
    CliRunner().invoke(probe, (*words, url), catch_exceptions=False, standalone_mode=False)
    return taken[0]


def assert_one_sentence(result: Result, exit_code: int) -> None:
    assert result.exit_code == exit_code, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


def test_without_options_a_browser_is_launched_as_usual():
    assert read_options() == LaunchOptions()


def test_launch_options_are_read():
    words = ("--browser", "/b", "--profile", "/p", "--headed", "--debug-port", "0", "--no-sandbox", "--webmcp")
    assert read_options(*words) == LaunchOptions(
        browser_path=Path("/b"), profile=Path("/p"), headed=True, debug_port=0, no_sandbox=True, webmcp=True
    )


def test_attach_options_are_read():
    words = ("--attach", "ws://h/x", "--attach-header", "A: b:c", "--attach-header", "D:e")
    assert read_options(*words) == AttachOptions(where="ws://h/x", headers=(("A", "b:c"), ("D", "e")))


def test_what_may_be_secret_can_come_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PAGEBRIDGE_ATTACH", "wss://h/x?token=a b")
    monkeypatch.setenv("PAGEBRIDGE_ATTACH_HEADERS", "A: b c\n\nD:e\n")
    assert read_options() == AttachOptions(where="wss://h/x?token=a b", headers=(("A", "b c"), ("D", "e")))
    # What is written counts more.
    assert read_options("--attach", "ws://i", "--attach-header", "F:g") == AttachOptions(
        where="ws://i", headers=(("F", "g"),)
    )
    assert "hunter2" not in run("doctor", "--help").output
    monkeypatch.setenv("PAGEBRIDGE_ATTACH_HEADERS", "hunter2")
    result = run("tools", URL)
    assert result.exit_code == 2
    assert "NAME:VALUE" in result.stderr
    assert "hunter2" not in result.output


def test_iframes_and_files_are_left_alone_unless_asked_for():
    usual = read_pages()
    assert usual == PageSettings(folders=usual.folders)
    assert (usual.frames, usual.allow_file) == ("none", False)
    assert read_pages("--frames", "same-origin").frames == "same-origin"
    assert read_pages("--allow-file").allow_file


def test_an_agent_may_use_the_working_folder_and_those_that_a_person_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    work, other, page = (tmp_path / name for name in ("work", "other", "page.html"))
    for folder in (work, other):
        folder.mkdir()
    monkeypatch.chdir(work)

    assert read_pages().folders.roots == (str(work),)
    assert read_pages("--allow-dir", "../other", "--allow-dir", str(other)).folders.roots == (str(other), str(work))
    named = ("tools", page.as_uri(), "--allow-dir", str(tmp_path / "absent"))
    assert_one_sentence(run(*named), 2)
    assert "--allow-dir can't be" in run(*named).stderr


def test_the_file_that_a_person_names_is_looked_at_wherever_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path / "work"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.html"

    assert read_pages(url=page.as_uri()).folders.roots == (str(page),)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--headed",), "--headed"),
        (("--webmcp",), "--webmcp"),
        (("--debug-port", "0"), "--debug-port"),
        (("--browser", "/b", "--no-sandbox"), "--browser and --no-sandbox"),
    ],
)
def test_a_running_browser_can_not_be_launched_differently(words: tuple[str, ...], named: str):
    result = run("tools", URL, "--attach", "http://127.0.0.1:9", *words)
    assert_one_sentence(result, 2)
    assert named in result.stderr


@pytest.mark.parametrize("command", [("serve",), ("tools", URL), ("call", URL, "x"), ("doctor",)])
def test_every_command_knows_the_browser_options(command: tuple[str, ...]):
    assert_one_sentence(run(*command, "--attach-header", "A:b"), 2)


@pytest.mark.threat("L4")
def test_a_header_in_a_wrong_form_is_refused_without_being_shown():
    result = run("tools", URL, "--attach", "ws://h", "--attach-header", "hunter2")
    assert result.exit_code == 2
    assert "NAME:VALUE" in result.stderr
    assert "hunter2" not in result.output


@pytest.mark.threat("F3")
@pytest.mark.parametrize(
    "words",
    [
        ("tools", "localhost:3000"),
        ("call", "localhost:3000", "add"),
        ("doctor", "file:///etc/passwd"),
        ("tools", "file:///etc/passwd"),
        ("serve", "--open", "file:///etc/passwd"),
        ("tools", "--allow-file", "/etc/passwd"),
        ("serve", "--open", URL, "--open", "shop.example"),
    ],
)
def test_an_address_must_be_a_whole_one(words: tuple[str, ...]):
    result = run(*words)
    assert_one_sentence(result, 2)
    assert "http://localhost:3000/" in result.stderr


def test_an_origin_to_trust_is_a_whole_one():
    result = run("serve", "--trust-origin", "shop.example")
    assert_one_sentence(result, 2)
    assert "is not an origin" in result.stderr


@pytest.mark.parametrize("seconds", ["0", "-1", "601", "inf", "nan"])
def test_a_call_takes_a_time_within_bounds(seconds: str):
    result = run("call", URL, "add", "--timeout", seconds)
    assert result.exit_code == 2
    assert "at most 600 seconds" in result.stderr


@pytest.mark.parametrize(
    ("words", "given", "said"),
    [
        (("a=1", "--json", "{}"), None, "not both"),
        (("-", "--json", "{}"), None, "not both"),
        (("--json", "{"), None, "can't be read"),
        (("--json", "[1]"), None, "must be an object"),
        (("-",), "[1]", "must be an object"),
        (("--json", "-"), "", "can't be read"),
        (("-",), b'{"a": "\xff"}', "UTF-8"),
        (("-",), b'{"a": "' + b"x" * 300_000 + b'"}', "bytes"),
    ],
)
def test_arguments_that_can_not_be_read_are_refused_before_a_browser_starts(
    words: tuple[str, ...], given: str | bytes | None, said: str
):
    result = run("call", URL, "add", *words, given=given)
    assert_one_sentence(result, 2)
    assert said in result.stderr


def test_a_missing_word_is_told_with_the_usage():
    result = run("call", URL)
    assert result.exit_code == 2
    assert "Usage: pagebridge call" in result.stderr
    assert "TOOL" in result.stderr


@pytest.mark.feature("terminal.errors")
@pytest.mark.parametrize(
    ("error", "exit_code"),
    [(UsageError("so"), 2), (ArgumentsInvalid("so"), 2), (BrowserGone("so"), 1), (KeyboardInterrupt(), 130)],
)
def test_an_error_of_ours_is_a_sentence_and_an_exit_code(error: BaseException, exit_code: int):
    result = CliRunner().invoke(raising(error))
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert result.stderr == ("" if exit_code == 130 else "Error: so\n")


def test_an_error_that_is_a_bug_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError):
        CliRunner().invoke(raising(ZeroDivisionError()), catch_exceptions=False)


@pytest.mark.threat("P3")
def test_an_error_with_text_of_a_page_does_not_reach_the_terminal_raw():
    result = CliRunner().invoke(raising(BrowserGone("a\x1b[31mb")))
    assert result.stderr == "Error: a\\u001b[31mb\n"


def raising(error: BaseException) -> click.Group:
    @click.group(cls=cli._Commands, invoke_without_command=True)
    def group() -> None:
        raise error

    return group


def test_help_shows_every_command_and_examples():
    result = run("--help")
    assert result.exit_code == 0
    for word in ("serve", "tools", "call", "doctor", "pagebridge call http://localhost:3000 add a=1 b=2"):
        assert word in result.stdout


def test_the_version_is_the_package_version():
    assert run("--version").stdout.startswith("pagebridge ")


def test_the_command_line_loads_nothing_that_takes_long():
    code = "import sys, bridge.cli; print(sorted({'trio', 'mcp', 'rich', 'jsonschema', 'cdp'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "string"}, "x?: string"),
        ({"type": ["string", "null"]}, "x?: string | null"),
        ({"type": "array", "items": {"type": "integer"}}, "x?: integer[]"),
        ({"type": "array"}, "x?: array"),
        ({"enum": ["a", 1]}, 'x?: "a" | 1'),
        ({"const": None}, "x?: null"),
        ({"type": "integer", "default": 10}, "x?: integer = 10"),
        ({"anyOf": [{"type": "string"}]}, "x?: any"),
        (True, "x?: any"),
    ],
)
def test_an_argument_is_described_in_a_line(schema: object, told: str):
    assert describe_arguments({"properties": {"x": schema}}) == [told]


def test_required_arguments_have_no_question_mark():
    schema = {"properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a"]}
    assert describe_arguments(schema) == ["a: number", "b?: number"]


def test_a_long_default_is_cut():
    [line] = describe_arguments({"properties": {"x": {"type": "string", "default": "y" * 500}}})
    assert len(line) < 100


@pytest.mark.threat("P3")
def test_printable_text_holds_nothing_that_a_terminal_obeys():
    assert printable("a\tb\nc\x1b[31m\r\x9b\x00") == "a\tb\nc\\u001b[31m\\u000d\\u009b\\u0000"
    assert printable("\u202eabc\ud800") == "\\u202eabc\\ud800"
    assert printable("a\u200bb\u2028\u3164\U000e0041") == "a\\u200bb\\u2028\\u3164\\udb40\\udc41"
    assert printable("Zoë → 😀") == "Zoë → 😀"
