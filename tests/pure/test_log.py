"""The log of calls as it is written: one line each, bounded, readable by machines, and without secrets."""

import json
import os
import resource
import stat
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.browser.secrets import secrets_in
from bridge.calls.answers import Answer, answer_error
from bridge.calls.log import open_log, recorded
from bridge.calls.masks import Masks
from bridge.calls.pipeline import Attempt
from bridge.errors import BridgeError, CallTimedOut, PageThrew, ToolNotFound, UsageError
from tests.pure.offers import offer

DONE = Answer("5")


def written(
    path: Path,
    arguments: object = None,
    *,
    answer: Answer = DONE,
    page: str | None = "p1",
    tool: str | None = "add",
    secrets: Sequence[str] = (),
    origin: str | None = None,
    attempt: Attempt | None = None,
) -> dict[str, Any]:
    """The line of one call."""
    with open_log(path, secrets) as log, recorded(log, page, tool, arguments) as record:
        record.origin = origin
        record.attempt = attempt
        record.answer = answer
    return last_line(path)


def last_line(path: Path) -> dict[str, Any]:
    text = path.read_bytes().decode()
    assert text.endswith("\n")
    return json.loads(text.splitlines()[-1])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


@pytest.mark.feature("log.lines")
@pytest.mark.threat("P19")
def test_a_line_says_what_was_called_where_and_how_it_ended(path: Path):
    tools = offer("Cart/add")
    [chosen] = tools
    attempt = Attempt(trio.CancelScope(), "Tool 'add'", 1)
    attempt.tool = chosen
    line = written(path, {"a": 1}, origin="http://frame.test", attempt=attempt)

    assert 0 <= line.pop("duration_ms") < 60_000
    time = line.pop("time")
    assert (len(time), time[-1], time[10]) == (len("2026-11-29T22:00:00.000Z"), "Z", "T")
    assert line == {
        "page": "p1",
        "origin": tools.origin,
        "group": "Cart",
        "tool": "add",
        "arguments": {"a": 1},
        "outcome": "completed",
    }


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ToolNotFound("Not there."), "rejected"),
        (PageThrew("It threw."), "failed"),
        (CallTimedOut("It", 1, "Look.", dispatched=True), "unknown"),
        (CallTimedOut("It", 1, "Wait.", dispatched=False), "rejected"),
    ],
)
def test_a_line_has_the_code_and_the_sentence_of_an_error(error: BridgeError, outcome: str, path: Path):
    line = written(path, answer=answer_error(error), origin="http://a.test")

    assert (line["outcome"], line["code"], line["error"]) == (outcome, error.code, str(error))
    assert line["origin"] == "http://a.test"
    assert "group" not in line


@pytest.mark.parametrize(("dispatched", "outcome"), [(True, "unknown"), (False, "rejected")])
async def test_a_cancelled_call_leaves_a_line(dispatched: bool, outcome: str, path: Path):
    with open_log(path) as log, trio.CancelScope() as scope, recorded(log, "p1", "add", {}) as record:
        record.attempt = Attempt(scope, "Tool 'add'", 1)
        record.attempt.dispatched = dispatched
        scope.cancel()
        await trio.lowlevel.checkpoint()

    line = last_line(path)
    assert (line["outcome"], line["code"]) == (outcome, "cancelled")


def test_an_error_that_goes_on_leaves_its_line(path: Path):
    with open_log(path) as log, pytest.raises(ToolNotFound), recorded(log, "p1", "add", {}):
        raise ToolNotFound("Not there.")

    assert (last_line(path)["outcome"], last_line(path)["code"]) == ("rejected", "tool_not_found")


def test_a_bug_of_ours_leaves_a_line_and_goes_on(path: Path):
    with open_log(path) as log, pytest.raises(ZeroDivisionError), recorded(log, "p1", "add", {}):
        raise ZeroDivisionError

    assert last_line(path)["code"] == "internal"


def test_without_a_log_a_call_goes_its_way():
    with recorded(None, "p1", "add", {}) as record:
        record.answer = DONE


def test_arguments_that_came_as_json_text_are_shown_as_what_they_hold(path: Path):
    assert written(path, '{"a": "x"}')["arguments"] == {"a": "x"}
    assert written(path, "{")["arguments"] == "{"


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "arguments",
    [{"text": "é" * 200_000}, "[" * 3_000_000, {"\\": '"' * 10_000}, {"a": nested(800)}, {"a": nested(5000)}],
    ids=["long", "no JSON", "escapes", "deep", "too deep"],
)
def test_arguments_are_cut_and_the_cut_is_marked(arguments: object, path: Path):
    line = written(path, arguments)

    shown = line["arguments"]
    assert len(shown) <= limits.LOG_ARGUMENT_CHARS + 40
    assert path.stat().st_size < 100_000
    if isinstance(shown, str) and len(shown) > 1000:
        cut = shown.rpartition("… [")
        assert cut[2].endswith(" more characters]") or len(shown) < limits.LOG_ARGUMENT_CHARS


def test_the_bound_of_the_documentation_is_that_of_the_code():
    documentation = (Path(__file__).parents[2] / "README.md").read_text()
    assert f"cut, and marked, after {limits.LOG_ARGUMENT_CHARS:,} characters" in documentation


def test_a_long_word_is_cut(path: Path):
    line = written(path, tool="t" * 100_000, page="p" * 100_000, answer=answer_error(ToolNotFound("x" * 100_000)))

    assert {len(line[name]) < limits.LOG_WORD_CHARS + 40 for name in ("tool", "page", "error")} == {True}
    assert line["tool"].startswith("ttt")


@pytest.mark.threat("P3")
def test_nothing_in_the_file_is_obeyed_by_a_terminal_or_no_utf8(path: Path):
    hostile = "\x1b[31m\r\n\x7f\x9b\u2028\u202e\ud800x"
    line = written(path, {hostile: [hostile]}, tool=hostile, answer=answer_error(PageThrew(hostile)))

    clean = hostile.replace("\ud800", "�")
    assert (line["tool"], line["error"], line["arguments"]) == (clean, clean, {clean: [clean]})
    data = path.read_bytes()
    assert data.count(b"\n") == 1
    assert not [character for character in data.decode()[:-1] if not character.isprintable()]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), values, max_size=4))
def test_short_arguments_are_read_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, arguments: object):
    path = tmp_path_factory.mktemp("log") / "calls"
    text = json.dumps(arguments, ensure_ascii=False).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    assert written(path, arguments)["arguments"] == json.loads(text)


# Secrets

UUID = "0b1c2d3e-1111-2222-3333-444455556666"
BASIC = b64encode(b"zoe:hunter2").decode()


@pytest.mark.threat("P19", "L4")
@pytest.mark.parametrize(
    ("where", "headers", "secrets"),
    [
        ("http://h:1", [("Authorization", "Bearer tk-12")], ["tk-12", "Bearer tk-12"]),
        ("http://h:1", [("Authorization", f"Basic {BASIC}")], ["hunter2", "zoe:hunter2", BASIC]),
        ("http://h:1", [("X-Key", "swordfish"), ("Cookie", "sid=abcdef12; theme=dark")], ["swordfish", "abcdef12"]),
        ("http://h:1", [("X-Key", 'a"b\\cé')], ['a"b\\cé']),
        ("http://h:1", [("X-Key", "a/b+c d")], ["a/b+c d", "a%2Fb%2Bc%20d"]),
        ("wss://zoe:hunter2@h/x", [], ["hunter2", "zoe:hunter2", BASIC]),
        ("wss://zoe:p%40ss%2Fword@h/x", [], ["p%40ss%2Fword", "p@ss/word"]),
        ("wss://token-abc@h/x", [], ["token-abc"]),
        ("wss://h/session?token=s3cret-token&launch=true", [], ["s3cret-token"]),
        (f"ws://h:1/devtools/browser/{UUID}", [], [UUID]),
    ],
)
def test_what_was_given_to_attach_with_is_never_written(
    where: str, headers: list[tuple[str, str]], secrets: list[str], path: Path
):
    known = tuple(secrets_in(where, headers))
    for secret in secrets:
        for arguments in (
            {"a": f"<{secret}>", secret: [secret]},
            json.dumps({"a": secret}),
            f"no JSON {json.dumps(secret)}",
            {"a": secret, "long": "x" * 50_000},
            {"a": "x" * (limits.LOG_ARGUMENT_CHARS - 12) + secret},
        ):
            written(
                path,
                arguments,
                page=secret,
                tool=f"{secret}{secret}",
                origin=f"http://{secret}",
                answer=answer_error(PageThrew(f"It threw {secret}")),
                secrets=known,
            )

    text = path.read_text()
    for secret in secrets:
        assert secret not in text
        assert json.dumps(secret)[1:-1] not in text
        assert json.dumps(secret, ensure_ascii=False)[1:-1] not in text
    assert text.count("[secret]") >= 8 * len(secrets)


@pytest.mark.threat("P19")
def test_a_secret_that_is_a_number_is_not_written_as_one(path: Path):
    line = written(path, {"pin": 12345678, "a": 5}, secrets=["12345678"])

    assert line["arguments"] == {"pin": "[secret]", "a": 5}


@pytest.mark.feature("log.secrets")
def test_what_tools_were_granted_is_not_written_from_when_they_have_it_on(path: Path):
    granted: list[str] = []
    with open_log(path, ["hunter2"]) as log:
        log.hide(lambda: Masks(granted))
        for secret in ("sesame", "swordfish"):
            granted.append(secret)
            with recorded(log, "p1", "fill", {"value": f"{secret} hunter2"}) as record:
                record.answer = answer_error(BridgeError(f"Tool 'fill' failed: {secret}"))
                record.shown = {"result": f"the key is {secret}"}

    text = path.read_text()
    assert text.count("[secret]") == 8
    for secret in ("sesame", "swordfish", "hunter2"):
        assert secret not in text


def test_words_that_everybody_uses_are_no_secrets(path: Path):
    headers = [("X-Version", "1"), ("Authorization", "Bearer tok-123")]
    known = tuple(secrets_in("wss://h/devtools/session?launch=true", headers))

    said = {"a": "true 1 session devtools launch http h Bearer"}
    assert written(path, said, secrets=known)["arguments"] == said


def test_a_profile_folder_has_no_secrets():
    assert not secrets_in("/home/zoe/a-folder-with-a-long-name", ())


@pytest.mark.parametrize("where", ["http://[", "http://", "://", "http://@", "http://:@h", "wss://h/%zz?=&x"])
def test_an_address_that_can_not_be_used_is_no_trouble_here(where: str):
    assert not [secret for secret in secrets_in(where, ()) if not secret]


# The file


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.threat("L4")
def test_a_new_log_is_for_its_owner_alone(path: Path):
    with umask(0):
        written(path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_old_log_grows_and_keeps_its_mode(path: Path):
    path.write_text("before\n")
    path.chmod(0o644)
    written(path)

    assert path.read_text().startswith("before\n{")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_several_bridges_share_one_file(path: Path):
    with open_log(path) as one, open_log(path) as other:
        for log in (one, other, one, other):
            with recorded(log, "p1", "add", {"text": "x" * 5000}) as record:
                record.answer = DONE

    assert [json.loads(line)["outcome"] for line in path.read_text().splitlines()] == ["completed"] * 4


def plant(path: Path, what: str) -> Path:
    """Put something in a log's place; returns the victim, a file that is not to be touched."""
    victim = path.with_name("victim")
    victim.write_text("mine")
    match what:
        case "link":
            path.symlink_to(victim)
        case "second name":
            path.hardlink_to(victim)
        case "link to nothing":
            path.symlink_to(path.with_name("made"))
        case "pipe":
            os.mkfifo(path)
        case _:
            path.write_text("mine")
            os.chown(path, 12345, 12345)
    return victim


FOREIGN = pytest.param("foreign", marks=pytest.mark.skipif(os.geteuid() != 0, reason="root alone gives files away"))


@pytest.mark.threat("L3")
@pytest.mark.parametrize("what", ["link", "link to nothing", "second name", "pipe", FOREIGN])
def test_nothing_is_written_where_somebody_has_put_something_in_the_place_of_a_log(path: Path, what: str):
    victim = plant(path, what)

    with pytest.raises(UsageError, match=r"--log can't write .*: it .*\. Name a plain file") as caught, open_log(path):
        pass

    assert "\n" not in str(caught.value)
    assert victim.read_text() == "mine"
    assert not path.with_name("made").exists()
    if what == "foreign":
        assert path.read_text() == "mine"


@pytest.mark.threat("L3")
def test_a_pipe_with_a_reader_is_no_log_either(path: Path):
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(UsageError, match="not a plain file"), open_log(path):
            pass
    finally:
        os.close(reader)


@pytest.mark.parametrize("name", ["", "missing/calls", "a\0b"], ids=["folder", "no folder", "no name"])
def test_a_log_that_can_not_be_opened_is_bad_usage(name: str, tmp_path: Path):
    with pytest.raises(UsageError, match="--log can't write"), open_log(tmp_path / name):
        pass


@contextmanager
def file_bytes(limit: int) -> Iterator[None]:
    """No file of ours may grow beyond that, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.threat("L5")
def test_a_full_disk_costs_one_warning_and_no_call(path: Path, caplog: pytest.LogCaptureFixture):
    with open_log(path) as log, file_bytes(0):
        for _ in range(3):
            with recorded(log, "p1", "add", {}) as record:
                record.answer = DONE

    [warning] = caplog.records
    assert f"{path} can't be written: File too large" in warning.getMessage()


def test_a_line_that_was_torn_does_not_spoil_the_next_one(path: Path, caplog: pytest.LogCaptureFixture):
    with open_log(path) as log:
        for bytes_that_fit in (100, resource.getrlimit(resource.RLIMIT_FSIZE)[0]):
            with file_bytes(bytes_that_fit), recorded(log, "p1", "add", {}) as record:
                record.answer = DONE

    assert len(path.read_text().splitlines()[0]) == 100
    assert last_line(path)["outcome"] == "completed"
    assert len(caplog.records) == 1
