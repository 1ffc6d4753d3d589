"""The log of calls as a person sees it, and how a file is followed that others write."""

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from bridge import cli, limits
from bridge.errors import UsageError
from bridge.serve.log import Line, Splitter, follow_lines, read_lines, read_row

CALL = {
    "time": "2026-11-29T22:09:02.417Z",
    "page": "p1",
    "origin": "http://a.test",
    "group": "Cart",
    "tool": "add",
    "arguments": {"a": 1},
    "outcome": "completed",
    "duration_ms": 4.2,
}
FAILED = CALL | {"tool": "fail", "outcome": "failed", "code": "tool_threw", "error": "It threw."}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


def write(path: Path, *lines: dict[str, Any] | str) -> None:
    with path.open("a") as file:
        for line in lines:
            file.write((line if isinstance(line, str) else json.dumps(line)) + "\n")


def show(path: Path, columns: int = 160) -> list[str]:
    result = run(path, columns)
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def run(path: Path, columns: int = 160) -> Result:
    env = {"COLUMNS": str(columns), "TZ": "UTC"}
    return CliRunner().invoke(cli.main, ["log", str(path)], prog_name="pagebridge", env=env)


@pytest.mark.feature("log.table")
def test_each_call_is_a_line_below_its_day(path: Path):
    write(path, CALL, FAILED, CALL | {"time": "2026-12-01T01:00:00.000Z"})

    lines = [line.split() for line in show(path)]
    assert lines[0] == ["Time", "Page", "Origin", "Tool", "Outcome", "ms", "Arguments"]
    assert [len(line) for line in lines] == [7, 1, 8, 8, 3, 1, 8]
    assert lines[2][1:] == ["p1", "http://a.test", "add", "completed", "4.2", '{"a":', "1}"]
    assert lines[3][4] == "failed"
    assert lines[4] == ["tool_threw:", "It", "threw."]


def test_a_call_that_was_cancelled_says_so(path: Path):
    write(path, CALL | {"outcome": "unknown", "code": "cancelled"})

    assert show(path)[-1].strip() == "cancelled"


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_a_log_fits_its_terminal(columns: int, path: Path):
    write(path, FAILED | {"arguments": {"text": "漢" * 500}, "error": "e" * 500, "tool": "t" * 500, "page": "p" * 50})

    assert [line for line in show(path, columns) if len(line) > columns and columns > 60] == []


def test_broken_lines_are_shown_as_such_and_cost_nothing_else(path: Path):
    deep = "[" * 100_000
    write(path, CALL, '{"time":', "[]", "{}", deep, "", FAILED, "null")
    with path.open("ab") as file:
        file.write(b"\xff\xfe\n" + b"x" * (limits.LOG_LINE_BYTES + 5) + b"\n" + json.dumps(CALL).encode())

    lines = show(path)
    broken = [line for line in lines if "is no line of a log" in line]
    assert [line.split()[1] for line in broken] == ["2", "3", "4", "5", "8", "9", "10"]
    assert [line.split()[3] for line in lines if "http://a.test" in line] == ["add", "fail", "add"]


def test_lines_with_missing_or_odd_parts_are_shown_as_far_as_they_go(path: Path):
    write(path, {"time": "yesterday", "tool": 5, "outcome": ["x"]}, {"tool": "add", "page": None, "duration_ms": "1"})

    assert len(show(path)) == 3


@pytest.mark.threat("P3")
def test_nothing_in_a_log_is_obeyed_by_a_terminal(path: Path):
    hostile = "\x1b[31m\r\x9b\u202e\ud800"
    write(path, FAILED | dict.fromkeys(("time", "page", "origin", "tool", "outcome", "code", "error"), hostile))
    write(path, CALL | {"arguments": {hostile: hostile}}, f"no line {hostile[:-1]}")

    text = "".join(show(path))
    assert text.isprintable(), ascii(text)


def test_a_log_that_is_not_there_or_no_file_is_bad_usage(path: Path):
    for at, said in ((path, "-f waits for it"), (path.parent, "Is a directory")):
        result = run(at)
        assert (result.exit_code, result.stdout) == (2, "")
        assert said in result.stderr


def test_a_time_is_that_of_a_clock_here():
    row = read_row(json.dumps(CALL).encode())
    here = datetime(2026, 11, 29, 22, 9, 2, tzinfo=UTC).astimezone()
    assert row is not None
    assert (row.day, row.time) == (f"{here:%Y-%m-%d}", f"{here:%H:%M:%S}")


# Lines


@given(st.lists(st.binary(max_size=20)), st.integers(1, 7))
def test_lines_are_the_same_however_they_are_cut_into_chunks(lines: list[bytes], size: int):
    data = b"\n".join(lines)
    splitter = Splitter()
    chunks = [data[start : start + size] for start in range(0, len(data), size)]
    found = [line for chunk in chunks for line in splitter.feed(chunk)] + list(splitter.flush())

    assert [(line.number, line.data) for line in found] == [
        (number, part) for number, part in enumerate(data.split(b"\n"), 1) if part.strip()
    ]


def test_a_line_without_an_end_takes_no_memory():
    splitter = Splitter()
    for _ in range(1000):
        assert not list(splitter.feed(b"x" * 100_000))
    [line] = splitter.feed(b"\n")

    assert (line.whole, len(line.data)) == (False, limits.LOG_LINE_BYTES)
    assert list(splitter.feed(b"ok\n")) == [Line(2, b"ok")]


# Following


def follow(path: Path, *events: Callable[[], object]) -> Iterator[bytes]:
    """The lines of a file to which one of these happens whenever all of it was read."""
    left = iter(events)

    def pause() -> None:
        event = next(left, None)
        assert event is not None, "nothing more came"
        event()

    return (line.data for line in follow_lines(path, pause))


def append(path: Path, data: bytes) -> Callable[[], object]:
    def happen() -> None:
        with path.open("ab") as file:
            file.write(data)

    return happen


def test_a_log_that_is_followed_is_shown_as_it_grows(path: Path):
    path.write_bytes(b"1\n2\n")
    lines = follow(path, append(path, b"3"), append(path, b"4\n"), lambda: None, append(path, b"5\n6\n"))

    assert list(islice(lines, 5)) == [b"1", b"2", b"34", b"5", b"6"]


def test_a_log_that_is_made_later_is_waited_for(path: Path):
    assert list(islice(follow(path, lambda: None, append(path, b"1\n")), 1)) == [b"1"]


def test_a_log_that_was_emptied_is_read_anew(path: Path):
    path.write_bytes(b"1\n2\n3")
    lines = follow(path, lambda: path.write_bytes(b""), append(path, b"4\n"))

    assert list(islice(lines, 4)) == [b"1", b"2", b"3", b"4"]


def test_a_log_that_was_moved_is_read_to_its_end_and_then_the_new_one(path: Path):
    old = path.with_name("old")
    path.write_bytes(b"1\n")

    def move() -> None:
        os.rename(path, old)

    def write_both() -> None:
        append(old, b"2\n")()
        path.write_bytes(b"3\n")

    lines = follow(path, move, append(old, b"late\n"), write_both, append(path, b"4\n"))
    assert list(islice(lines, 5)) == [b"1", b"late", b"2", b"3", b"4"]


def test_a_folder_can_not_be_followed(path: Path):
    with pytest.raises(UsageError, match="Is a directory"):
        next(follow(path.parent))


def test_lines_that_are_there_end_where_the_file_does(path: Path):
    path.write_bytes(b"1\n2")

    assert [line.data for line in read_lines(path)] == [b"1", b"2"]
