"""`pagebridge log`: the log of calls as a table for people, to its end or for as long as it grows.

A tool of ours has its source where one of a page has its origin.
"""

import json
import os
import shutil
import stat
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import click

from bridge import limits
from bridge.errors import UsageError
from bridge.serve.printable import printable
from bridge.serve.table import fit

PLAIN_COLUMNS: Final = 160
"""Where the output is no terminal."""
NARROW_COLUMNS: Final = 100
"""Below this origin and arguments go to a line of their own."""
TIME, PAGE, ORIGIN, TOOL, OUTCOME, MS = 8, 4, 26, 22, 9, 7
"""Columns of each; arguments have the rest."""
COLOURS: Final = {"completed": "green", "failed": "red", "rejected": "yellow", "unknown": "red"}
CHUNK_BYTES: Final = 64 * 1024


def print_log(path: Path, *, follow: bool) -> None:
    """Print a log; with `follow` go on until a signal ends the command.

    Raises:
        UsageError: it is not there, or can't be read.
    """
    columns = shutil.get_terminal_size((PLAIN_COLUMNS, 0)).columns
    printer = _Printer(columns)
    for line in follow_lines(path, partial(time.sleep, limits.FOLLOW_SECONDS)) if follow else read_lines(path):
        printer.print(line)


# Reading


@dataclass(frozen=True)
class Line:
    """One line of the file, or a part of one that is no line of ours.

    Attributes:
        number: counted from 1, in this file.
    """

    number: int
    data: bytes
    whole: bool = True


class Splitter:
    """Makes lines of chunks. A line that is too long is cut off, and the rest of it passed over."""

    def __init__(self) -> None:
        self._number = 1
        self._kept = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> Iterator[Line]:
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._keep(part)
            yield from self.flush()
            self._number += 1
        self._keep(rest)

    def flush(self) -> Iterator[Line]:
        """What was kept of a line that goes on no further."""
        data, self._kept = bytes(self._kept), bytearray()
        if data.strip():
            yield Line(self._number, data, whole=not self._skipping)
        self._skipping = False

    def _keep(self, part: bytes) -> None:
        room = limits.LOG_LINE_BYTES - len(self._kept)
        self._skipping |= len(part) > room
        self._kept += part[:room]


def read_lines(path: Path) -> Generator[Line]:
    """The lines that are there now.

    Raises:
        UsageError: it is not there, or can't be read.
    """
    try:
        with path.open("rb") as file:
            splitter = Splitter()
            yield from _rest(file, splitter)
            yield from splitter.flush()
    except FileNotFoundError as error:
        raise UsageError(f"There is no {path}. `pagebridge serve --log {path}` makes it; -f waits for it.") from error
    except OSError as error:
        raise _unreadable(path, error) from error


def follow_lines(path: Path, pause: Callable[[], None]) -> Generator[Line]:
    """The lines that are there, and those that come, for ever.

    Another file of that name is taken up where the first one was moved away, and one that was emptied is read anew.

    Args:
        pause: called whenever there is nothing more to read.
    """
    while True:
        try:
            with path.open("rb") as file:
                yield from _follow(file, path, pause)
        except FileNotFoundError:
            pause()
        except OSError as error:
            raise _unreadable(path, error) from error


def _follow(file: BinaryIO, path: Path, pause: Callable[[], None]) -> Generator[Line]:
    """Until another file has the name; it is looked for before what is left of this one is read."""
    splitter = Splitter()
    while True:
        moved = _is_elsewhere(file, path)
        yield from _rest(file, splitter)
        if moved or _was_emptied(file):
            yield from splitter.flush()
            return
        pause()


def _rest(file: BinaryIO, splitter: Splitter) -> Generator[Line]:
    while chunk := file.read(CHUNK_BYTES):
        yield from splitter.feed(chunk)


def _is_elsewhere(file: BinaryIO, path: Path) -> bool:
    try:
        return not os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False  # perhaps it is written still; what comes in its place is waited for


def _was_emptied(file: BinaryIO) -> bool:
    found = os.fstat(file.fileno())
    return stat.S_ISREG(found.st_mode) and found.st_size < file.tell()


def _unreadable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"Could not read {path}: {error.strerror}. Name a file that you may read.")


# Showing


@dataclass(frozen=True)
class Row:
    """One call, as text without anything that a terminal would obey."""

    day: str
    time: str
    page: str
    origin: str
    tool: str
    outcome: str
    milliseconds: str
    arguments: str
    """Or the call as its tool has it shown."""
    more: tuple[str, ...]
    """Lines below it: the result as its tool has it shown; code and sentence of its error."""


def read_row(data: bytes) -> Row | None:
    """What a line tells, its time as it is on a clock here; None where it is no line of a log."""
    try:
        facts: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(facts, dict) or not {"time", "tool", "outcome"} & facts.keys():
        return None
    told = cast("dict[str, Any]", facts)
    day, clock = _read_time(told.get("time"))
    words = {name: _word(told.get(name)) for name in ("page", "tool", "outcome")}
    shown = cast("dict[str, Any]", told["shown"]) if isinstance(told.get("shown"), dict) else {}
    why = ": ".join(_word(told[name]) for name in ("code", "error") if name in told)
    return Row(
        day=day,
        time=clock,
        origin=_word(told.get("origin") or told.get("source")),
        milliseconds=_word(told.get("duration_ms")),
        arguments=_word(shown.get("call", told.get("arguments"))),
        more=tuple(text for text in (why, _word(shown.get("result", ""))) if text),
        **words,
    )


def _read_time(written: object) -> tuple[str, str]:
    try:
        moment = datetime.fromisoformat(str(written)).astimezone()
    except (ValueError, OverflowError):
        return "", _word(written)
    return moment.strftime("%Y-%m-%d"), moment.strftime("%H:%M:%S")


def _word(value: object) -> str:
    """A value of a line, as text in one line."""
    if value is None:
        return "-"
    return _one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _one_line(text: str) -> str:
    return " ".join(printable(text).split())


class _Printer:
    """Prints rows as they come, a heading first and the day wherever it is another."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._narrow = columns < NARROW_COLUMNS
        self._day: str | None = None

    def print(self, line: Line) -> None:
        row = read_row(line.data) if line.whole else None
        if row is None:
            text = _one_line(line.data[: 4 * self._columns].decode("utf-8", "backslashreplace"))
            click.echo(click.style(self._cut(f"line {line.number} is no line of a log: {text}"), fg="yellow"))
            return
        if self._day is None:
            self._day = ""
            self._print_heading()
        if row.day and row.day != self._day:
            self._day = row.day
            click.echo(click.style(row.day, dim=True))
        for text in self._lines(row):
            click.echo(text)

    def _print_heading(self) -> None:
        heading = Row("", "Time", "Page", "Origin", "Tool", "Outcome", "ms", "Arguments", ())
        for text in self._lines(heading):
            click.echo(click.style(text, dim=True))

    def _lines(self, row: Row) -> Iterator[str]:
        outcome = click.style(fit(row.outcome, OUTCOME), fg=COLOURS.get(row.outcome))
        start = [fit(row.time, TIME), fit(row.page, PAGE)]
        end = [fit(row.tool, TOOL), outcome, f"{row.milliseconds[:MS]:>{MS}}"]
        indent = " " * (TIME + 2)
        if self._narrow:
            yield "  ".join([*start, *end]).rstrip()
            yield self._cut(f"{indent}{row.origin}  {row.arguments}")
        else:
            room = self._columns - sum((TIME, PAGE, ORIGIN, TOOL, OUTCOME, MS)) - 12
            yield "  ".join([*start, fit(row.origin, ORIGIN), *end, fit(row.arguments, room)]).rstrip()
        for text in row.more:
            yield self._cut(indent + text)

    def _cut(self, text: str) -> str:
        return fit(text, self._columns).rstrip()
