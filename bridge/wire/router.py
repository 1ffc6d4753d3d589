"""Number commands, and recognise replies and events. No I/O, no waiting.

CDP in flat mode: every message is one JSON object. A command has `id`, `method`, `params` and, unless it is
for the browser itself, `sessionId`; its reply repeats `id`; an event has `method` and no `id`.
"""

import json
from dataclasses import dataclass
from typing import Any, Final, NewType, cast

SessionId = NewType("SessionId", str)
Json = dict[str, Any]

SHOWN_CHARS: Final = 80
LARGE: Final = 64 * 1024

_encode: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class WireFault(Exception):
    """The other side sent something that is not CDP; the message says what came."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one command: `result`, or `error` as `{code, message, data?}`.

    `command_id` is None when the browser could not read a message of ours, not even its number.
    """

    command_id: int | None
    result: Json | None
    error: Json | None


@dataclass(frozen=True, slots=True)
class RawEvent:
    """An event as it came. `session_id` is None for the browser itself."""

    method: str
    params: Json
    session_id: SessionId | None


class Router:
    """One numbering for one connection."""

    def __init__(self) -> None:
        self._last_id = 0

    def encode(self, method: str, params: Json, session_id: SessionId | None) -> tuple[int, bytes]:
        """Return the command's number and its bytes, which hold no NUL.

        Raises:
            ValueError: `params` cannot be JSON: NaN, infinite, or nested too deeply.
        """
        self._last_id += 1
        message: Json = {"id": self._last_id, "method": method, "params": params}
        if session_id is not None:
            message["sessionId"] = session_id
        try:
            text = _encode(message)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
        return self._last_id, text.encode()

    def decode(self, data: bytes | bytearray | str) -> Reply | RawEvent:
        """Read one message.

        Raises:
            WireFault: not UTF-8, not JSON, nested too deeply, or not a CDP message.
        """
        try:
            message = _parse_large(data) if len(data) > LARGE else None
            if message is None:
                message = json.loads(data if isinstance(data, str) else data.decode())
        except UnicodeDecodeError as error:
            raise WireFault(f"a message that is not UTF-8: {shown(data)}") from error
        except RecursionError as error:
            raise WireFault(f"a message that is nested too deeply: {shown(data)}") from error
        except ValueError as error:
            raise WireFault(f"a message that is not JSON: {shown(data)}") from error
        if not isinstance(message, dict):
            raise WireFault(f"a message that is neither reply nor event: {shown(data)}")
        return _read(cast("Json", message), data)


def _parse_large(data: bytes | bytearray | str) -> Any:  # noqa: ANN401  # JSON
    """As json, a twentieth of the time; None where json has to judge, which takes half characters, as Chromium does."""
    from pydantic_core import from_json  # takes long to import

    try:
        return from_json(data)
    except ValueError:
        return None


def _read(message: Json, data: bytes | bytearray | str) -> Reply | RawEvent:
    # The most frequent first, and without a pattern, which takes as long as the parsing.
    # True and False are ints to Python, but not of its type.
    command_id = message.get("id")
    if type(command_id) is int:
        return _reply(command_id, message)
    match message:
        case {"method": str(method), "sessionId": str(session)}:
            return RawEvent(method, _object(message, "params"), SessionId(session))
        case {"method": str(method)} if message.get("sessionId") is None:
            return RawEvent(method, _object(message, "params"), None)
        case {"error": dict()}:
            return _reply(None, message)
        case _:
            raise WireFault(f"a message that is neither reply nor event: {shown(data)}")


def _reply(command_id: int | None, message: Json) -> Reply:
    if message.get("error") is None:
        return Reply(command_id, _object(message, "result"), None)
    return Reply(command_id, None, _object(message, "error") or {"message": "an error of an unknown form"})


def _object(message: Json, key: str) -> Json:
    value = message.get(key)
    return cast("Json", value) if isinstance(value, dict) else {}


def shown(data: bytes | bytearray | str) -> str:
    """The head of a message, safe to print, with its size."""
    if isinstance(data, str):
        return f"{data[:SHOWN_CHARS]!r} ({len(data)} characters)"
    return f"{bytes(data[:SHOWN_CHARS])!r} ({len(data)} bytes)"
