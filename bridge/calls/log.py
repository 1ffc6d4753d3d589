"""The log of calls: one line of JSON for each call of a page's tool, of one for debugging, of a module or a skill, for
the person whose pages an agent is in.

A line is written where its call ends, at once and without a thread: it has some hundred bytes, and some ten thousand
at most, which the system takes into memory in microseconds, and it is there even if we end the moment after. What
could make a write wait, a pipe that nobody reads, is no log.
"""

import json
import logging
import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bridge import limits
from bridge.calls.answers import Answer, answer_error
from bridge.calls.frame import reveal, unescape
from bridge.calls.masks import Masks
from bridge.calls.pipeline import Attempt
from bridge.calls.results import clean_text
from bridge.errors import BridgeError, UsageError
from bridge.files import is_ours, open_plain, why_failed
from bridge.tools.bounds import nesting

logger = logging.getLogger(__name__)


@dataclass
class Record:
    """One call, filled in as it goes.

    Attributes:
        page: handle of the page as the agent wrote it; None where its words did not lead to one.
        arguments: as they were sent.
        source: where a tool of ours comes from, such as `builtin:click`.
        origin: the page's at the beginning.
        attempt: how far it came, once the browser was up.
        answer: what the agent was told, if it was.
        lost: why there is no answer: the agent cancelled the call, or the bridge ended, unless it is a bug of ours.
        shown: how a module of the project has its `call` and its `result` shown to people.
        is_kept: somebody else writes it, once that is known.
    """

    page: str | None
    tool: str | None
    arguments: object
    source: str | None = None
    origin: str | None = None
    attempt: Attempt | None = None
    answer: Answer | None = None
    lost: str = "cancelled"
    shown: Mapping[str, str] = field(default_factory=dict[str, str])
    is_kept: bool = False
    _came: datetime = field(default_factory=lambda: datetime.now(UTC))
    _start: float = field(default_factory=time.monotonic)
    _end: float | None = None

    @property
    def whose(self) -> str | None:
        """The origin that the call is about: the tool's own, once that was chosen."""
        tool = self.attempt.tool if self.attempt is not None else None
        return tool.origin if tool is not None else self.origin

    def keep(self) -> None:
        """It has ended, and is written later, by whoever keeps it."""
        self.is_kept = True
        self._end = time.monotonic()

    def facts(self) -> dict[str, Any]:
        """What the call was, and how it ended."""
        tool = self.attempt.tool if self.attempt is not None else None
        return {
            "time": self._came.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "page": self.page,
            "origin": self.whose,
            "group": tool.group if tool is not None else None,
            "tool": self.tool,
            "source": self.source,
            "arguments": self.arguments,
            **self._ending(),
            "shown": dict(self.shown) or None,
            "duration_ms": round(((self._end or time.monotonic()) - self._start) * 1000, 1),
        }

    def _ending(self) -> dict[str, Any]:
        if self.answer is None:
            dispatched = self.attempt is not None and self.attempt.dispatched
            return {"outcome": "unknown" if dispatched else "rejected", "code": self.lost}
        told = self.answer.structured
        if not self.answer.is_error or told is None:
            return {"outcome": "completed"}
        error = ": ".join(unescape(told[part]) for part in ("message", "said") if part in told)
        if not error:  # a result that says itself that it is one
            error = str(told.get("result", self.answer.text))
        return {"outcome": told["outcome"], "code": told["code"], "error": error}


class CallLog:
    """A file that grows by one line a call; several bridges may share it. Made by `open_log`.

    Args:
        name: of the file, for people.
        secrets: texts that are never written; `[secret]` stands where one was.
    """

    def __init__(self, descriptor: int, name: str, secrets: Sequence[str] = ()) -> None:
        self._descriptor = descriptor
        self._name = name
        self._masks = Masks(secrets, shortest=1)
        self._granted: Callable[[], Masks] | None = None
        self._torn = False
        self._warned = False

    def hide(self, granted: Callable[[], Masks]) -> None:
        """Never write, either, what these take out, as they are at each line."""
        self._granted = granted

    def write(self, record: Record) -> None:
        """Append one line. A log that can't be written costs one warning, and never a call."""
        line = ("\n" if self._torn else "") + self._line(record.facts())
        data = line.encode()
        try:
            self._torn = os.write(self._descriptor, data) < len(data)
        except OSError as error:
            self._warn(error.strerror or str(error))
            return
        if self._torn:
            self._warn("a line did not fit")

    def _warn(self, reason: str) -> None:
        if not self._warned:
            self._warned = True
            logger.warning("The log %s can't be written: %s. Calls go on, and lines are missing.", self._name, reason)

    def _line(self, facts: dict[str, Any]) -> str:
        masks = self._masks if self._granted is None else self._masks.also(self._granted())
        for name in ("page", "origin", "group", "tool", "error"):
            if facts.get(name) is not None:
                facts[name] = _cut(masks.text(facts[name]), limits.LOG_WORD_CHARS)
        facts["arguments"] = _shorten(facts["arguments"], masks)
        if (shown := facts.get("shown")) is not None:
            masked = {part: masks.text(text) for part, text in shown.items()}
            facts["shown"] = {part: _cut(text, limits.LOG_ARGUMENT_CHARS) for part, text in masked.items()}
        told = {name: fact for name, fact in facts.items() if fact is not None}
        line = clean_text(json.dumps(told, ensure_ascii=False, separators=(",", ":")))
        return reveal(line, json=True) + "\n"


@contextmanager
def recorded(
    log: CallLog | None, page: str | None, tool: str | None, arguments: object, *, source: str | None = None
) -> Generator[Record]:
    """Write one line at the end of the block: of the answer that was put into the record, of the error that the block
    ended with, or of a call that was cancelled."""
    record = Record(page, tool, arguments, source)
    try:
        yield record
    except BridgeError as error:
        record.answer = answer_error(error)
        raise
    except Exception:
        record.lost = BridgeError.code
        raise
    finally:
        if log is not None and not record.is_kept:
            log.write(record)


def _shorten(given: object, masks: Masks) -> object:
    """Arguments as they were sent; of what is long, or no object, the beginning of its text."""
    value = _read(given)
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, TypeError, ValueError):
        return "[no JSON]"
    if len(text) <= limits.LOG_ARGUMENT_CHARS and nesting(value) <= limits.ARGUMENT_DEPTH:
        return masks.value(value)
    return _cut(masks.text(text), limits.LOG_ARGUMENT_CHARS)


def _read(given: object) -> object:
    """Arguments that came as JSON text are shown as what they hold."""
    if not isinstance(given, str) or len(given) > limits.ARGUMENT_BYTES:
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[:chars]}… [{len(text) - chars:,} more characters]"


@contextmanager
def open_log(path: Path, secrets: Sequence[str] = ()) -> Generator[CallLog]:
    """Open the log, or make it, for its owner alone.

    Raises:
        UsageError: it can't be written, or is not a plain file of ours.
    """
    try:
        descriptor = open_plain(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    except (OSError, ValueError) as error:
        raise _unwritable(path, why_failed(error)) from error
    try:
        found = os.fstat(descriptor)
        if not is_ours(found):
            raise _unwritable(path, "it belongs to another user")
        if found.st_nlink > 1:
            raise _unwritable(path, "it has a second name")
        yield CallLog(descriptor, str(path), secrets)
    finally:
        os.close(descriptor)


def _unwritable(path: Path, reason: str) -> UsageError:
    return UsageError(f"--log can't write {path}: {reason}. Name a plain file that you may write.")
