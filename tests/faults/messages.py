"""What goes over a link, message by message: what each is, and a transport on which messages can be spoilt."""

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bridge.wire.router import Json
from bridge.wire.transports import Transport

Spoil = Callable[[str, Json], Sequence[Json | bytes]]
"""What comes in the place of a message of that kind: JSON values, or bytes as they are."""

Path = tuple[str | int, ...]
"""Where a field is: keys and places."""


class Kinds:
    """Says what a message is: an event's method; or the method of the command it answers, and `reply`.

    A reply to a question to the kit has the question's first word, too.
    """

    def __init__(self) -> None:
        self._asked: dict[int, str] = {}

    def sent(self, command: Json) -> None:
        self._asked[command["id"]] = " ".join(word for word in (command["method"], "reply", kit_word(command)) if word)

    def of(self, message: Json) -> str:
        if "id" not in message:
            return message["method"]
        return self._asked.get(message["id"], "reply to nothing")


def kit_words(command: Json) -> list[Any]:
    """What a command asks the kit; nothing where it asks something else."""
    last_line = command.get("params", {}).get("expression", "").rpartition("\n")[2]
    asked = re.fullmatch(r"k_\w+\((\".*\")\)", last_line)
    return json.loads(json.loads(asked[1])) if asked else []


def kit_word(command: Json) -> str:
    return next(iter(kit_words(command)), "")


class SpoiltTransport(Transport):
    """A transport on which what comes from the browser goes through `spoil` first."""

    def __init__(self, inner: Transport, spoil: Spoil) -> None:
        self._inner = inner
        self._spoil = spoil
        self._kinds = Kinds()
        self._ready: deque[bytes | bytearray | str] = deque()

    async def send(self, message: bytes) -> None:
        self._kinds.sent(json.loads(message))
        await self._inner.send(message)

    async def receive(self) -> bytes | bytearray | str:
        while not self._ready:
            told = await self._inner.receive()
            message = json.loads(told)
            for one in self._spoil(self._kinds.of(message), message):
                # What is not spoilt goes on as it came.
                whole = told if one is message else one
                self._ready.append(json.dumps(whole).encode() if isinstance(whole, dict) else whole)
        return self._ready.popleft()

    async def aclose(self) -> None:
        await self._inner.aclose()


def fields_of(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every place in a JSON value, and what is there."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key), inner
        yield from fields_of(inner, (*path, key))


class Recorder:
    """Notes which messages come, and which fields they have; of a list, those of its first item."""

    def __init__(self) -> None:
        self.fields: dict[str, dict[Path, Any]] = {}

    def __call__(self, kind: str, message: Json) -> Sequence[Json]:
        known = self.fields.setdefault(kind, {})
        for path, value in fields_of(message):
            if path[0] in ("params", "result") and not any(isinstance(step, int) and step > 0 for step in path):
                known.setdefault(path, value)
        return [message]
