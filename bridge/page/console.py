"""What a page's console has said: the last of it, as text."""

import json
from collections import deque
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from bridge import limits
from bridge.wire.commands import Event
from bridge.wire.router import Json
from bridge.wire.watched import ConsoleCalled, ExceptionThrown, LogAdded, object_in, objects_in

LEVELS: Final = ("error", "warning", "info", "debug")

_LEVELS: Final = {
    "assert": "error",
    "error": "error",
    "warning": "warning",
    "debug": "debug",
    "trace": "debug",
    "verbose": "debug",
    "clear": "",
    "endGroup": "",
}
"""Of kinds of calls and of the browser's own entries; all others are `info`."""


@dataclass(slots=True)
class Message:
    """One message.

    Attributes:
        number: counts the page's messages, so that an agent can ask for what came after one.
        level: one of `LEVELS`.
        source: `console`, `exception` (nobody caught it), or what of the browser says so, such as `network`.
        text: what it says, cut at `limits.CONSOLE_CHARS`.
        url, line: where in the page's sources, "" and 0 where that is not known.
        timestamp_ms: since 1970.
        document: which of the page's documents said so, counted.
        times: how often it came in a row.
    """

    number: int
    level: str
    source: str
    text: str
    url: str
    line: int
    timestamp_ms: float
    document: int
    times: int = 1


class Console:
    """The last `limits.CONSOLE_MESSAGES` messages of one page."""

    def __init__(self) -> None:
        self.messages: deque[Message] = deque(maxlen=limits.CONSOLE_MESSAGES)
        self.document = 0
        self._numbers = count(1)

    @property
    def dropped(self) -> int:
        """How many there were before the first that is kept."""
        return self.messages[0].number - 1 if self.messages else 0

    def on_event(self, event: Event, documents: int) -> None:
        """Take in one event of the page."""
        self.document = documents
        match event:
            case ConsoleCalled():
                level = _LEVELS.get(event.kind, "info")
                if level:
                    text = describe_arguments(event.arguments)
                    self._add(level, "console", text, event.url, event.line, event.timestamp_ms)
            case ExceptionThrown():
                text = describe_object(event.thrown) if event.thrown else ""
                text = f"{event.text} {text}".strip() if event.text else text
                self._add("error", "exception", text, event.url, event.line, event.timestamp_ms)
            case LogAdded():
                level = _LEVELS.get(event.level, "info")
                self._add(level, event.source or "browser", event.text, event.url, event.line, event.timestamp_ms)
            case _:
                pass

    def _add(self, level: str, source: str, text: str, url: str, line: int, timestamp_ms: float) -> None:
        text = _cut(text, limits.CONSOLE_CHARS)
        url = _cut(url, limits.REQUEST_URL_CHARS)
        last = self.messages[-1] if self.messages else None
        if last is not None and (last.level, last.source, last.text, last.url, last.line, last.document) == (
            level,
            source,
            text,
            url,
            line,
            self.document,
        ):
            last.times += 1
            last.timestamp_ms = timestamp_ms
            return
        self.messages.append(Message(next(self._numbers), level, source, text, url, line, timestamp_ms, self.document))


def describe_arguments(arguments: list[Json]) -> str:
    """The arguments of a console call as the console shows them, with `%s` and its like filled in."""
    rest = arguments[:100]
    if not rest:
        return ""
    words: list[str] = []
    if isinstance(first := rest[0].get("value"), str) and "%" in first and len(rest) > 1:
        pattern, *values = first[: limits.CONSOLE_CHARS].split("%")
        text = pattern
        rest = rest[1:]
        skip = False
        for part in values:
            if skip:
                text, skip = text + "%" + part, False
            elif part == "":
                skip, text = True, text
            elif part[0] in "sdifoOc" and rest:
                value = rest.pop(0)
                text += ("" if part[0] == "c" else describe_object(value)) + part[1:]
            else:
                text += "%" + part
        words.append(text)
    room = limits.CONSOLE_CHARS
    for one in rest:
        if room <= 0:
            break
        words.append(describe_object(one))
        room -= len(words[-1])
    return " ".join(words)


def describe_object(told: Json) -> str:
    """A RemoteObject in a few words: nothing of the page runs for that."""
    if "value" in told:
        value: Any = told["value"]
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if isinstance(told.get("unserializableValue"), str):
        return told["unserializableValue"]
    preview = object_in(told, "preview")
    if preview and told.get("subtype") not in ("error", "node", "regexp", "date"):
        return _describe_preview(preview)
    description = told.get("description")
    return description if isinstance(description, str) else str(told.get("type", "undefined"))


def _describe_preview(preview: Json) -> str:
    is_list = preview.get("subtype") in ("array", "typedarray")
    entries = objects_in(preview, "entries")
    parts = [_describe_entry(one) for one in entries]
    for one in objects_in(preview, "properties") if not entries else ():
        value = str(one.get("value", one.get("type", "")))
        shown = json.dumps(value, ensure_ascii=False) if one.get("type") == "string" else value
        parts.append(shown if is_list else f"{one.get('name', '')}: {shown}")
    if preview.get("overflow"):
        parts.append("…")
    inside = ", ".join(parts)
    if is_list:
        return f"[{inside}]"
    description = str(preview.get("description", ""))
    return f"{{{inside}}}" if description == "Object" else f"{description} {{{inside}}}"


def _describe_entry(entry: Json) -> str:
    """One of a map or a set."""
    value = str(object_in(entry, "value").get("description", ""))
    return f"{object_in(entry, 'key').get('description', '')} => {value}" if "key" in entry else value


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[:chars]}… ({len(text) - chars:,} more characters)"
