"""Messages between the bridge and the process of a module: JSON, each behind its length. Both sides import this.

The bridge asks `{"id", "do", "with"}`, and is answered `{"id", "value"}` or `{"id", "error"}`; `{"cancel": id}` takes a
request back. While one runs, the module asks `{"ask", "for": id, "do", "with"}`, and is answered `{"ask", "value"}` or
`{"ask", "error"}`. What needs no answer comes as `{"tell", "with"}`, and where it belongs to a request with its `for`.
"""

import json
import struct
from collections.abc import Iterator
from typing import Any, Final, cast

from bridge import limits

Json = Any
Message = dict[str, Json]


def _refuse(constant: str) -> None:
    raise ValueError(constant)


_HEAD: Final = struct.Struct(">I")
# Bound here: a module may change `json`.
_encode: Final = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode
_encode_ascii: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_decode: Final = json.JSONDecoder(parse_constant=_refuse).decode


class NoMessage(Exception):
    """What came is none, and nothing behind it can be read either."""


def pack(message: Message) -> bytes:
    """A message as it is sent.

    Raises:
        TypeError, ValueError, RecursionError: it is not JSON, or beyond `limits.MODULE_MESSAGE_BYTES`.
    """
    try:
        data = _encode(message).encode()
    except UnicodeEncodeError:  # half a character, which `unpack` replaces
        data = _encode_ascii(message).encode()
    if len(data) > limits.MODULE_MESSAGE_BYTES:
        raise ValueError(f"it has {len(data):,} bytes, and {limits.MODULE_MESSAGE_BYTES:,} are allowed")
    return _HEAD.pack(len(data)) + data


def unpack(data: bytes) -> Message:
    """Read one message. Half characters in it become U+FFFD.

    Raises:
        NoMessage: it is none.
    """
    try:
        text = data.decode()
        value = _decode(text)
        if "\\u" in text:
            whole = _encode(value).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            value = _decode(whole)
    except (ValueError, RecursionError) as error:
        raise NoMessage("it is not JSON") from error
    if not isinstance(value, dict):
        raise NoMessage("it is no object")
    return cast("Message", value)


class Unpacker:
    """Finds messages in chunks of bytes."""

    def __init__(self) -> None:
        self._unread = bytearray()

    def feed(self, chunk: bytes | bytearray | memoryview) -> Iterator[Message]:
        """The messages that end in this chunk.

        Raises:
            NoMessage: something else came.
        """
        self._unread += chunk
        while len(self._unread) >= _HEAD.size:
            (size,) = _HEAD.unpack_from(self._unread)
            if size > limits.MODULE_MESSAGE_BYTES:
                raise NoMessage(f"it has {size:,} bytes, and {limits.MODULE_MESSAGE_BYTES:,} are allowed")
            end = _HEAD.size + size
            if len(self._unread) < end:
                return
            data = bytes(memoryview(self._unread)[_HEAD.size : end])
            del self._unread[:end]
            yield unpack(data)
