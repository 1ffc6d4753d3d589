"""What a skill's tool needs of the network: one server, asked one thing after the other."""

import json
import re
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from typing import Any, Final, Protocol

import trio

from bridge import limits
from bridge.errors import AnswerLost, EndpointFailed
from bridge.tools.bounds import nesting
from bridge.tools.faults import plain
from bridge.tools.json_text import read_float, read_integer, refuse_constant

JSON: Final = "application/json"
_CHARSET: Final = re.compile(
    r"charset=[\"' ]*(utf-16(?:[lb]e)?|us-ascii|latin-?1|iso-8859-(?:[1-9]|1[013-6])|(?:windows-|cp)125[0-8]|koi8-[ru]|"
    r"shift_jis|euc-jp|euc-kr|gb(?:18030|k|2312)|big5)\b",
    re.IGNORECASE,
)
"""Other than UTF-8. Python knows more, some of which take forever."""


class Reply(Protocol):
    """An answer whose body comes still.

    Attributes:
        headers: by their names in lower case.
    """

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    def chunks(self) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """The body as it comes, not unpacked."""
        ...


class Server(Protocol):
    """One origin, whose addresses were checked."""

    @property
    def origin(self) -> str: ...
    def send(
        self, method: str, target: str, *, content: bytes | None = None, packed: bool = True
    ) -> AbstractAsyncContextManager[Reply]:
        """Send a request, and close the answer at the end of the block.

        Args:
            packed: the body may come compressed.

        Raises:
            EndpointUnreachable: nothing was sent.
            AnswerLost: it was sent, and there is no answer.
            EndpointFailed: the answer is a redirect.
        """
        ...


async def ask(server: Server, method: str, target: str, *, content: bytes | None = None) -> "Answer":
    """One request, and its whole answer, within `limits.SKILL_EXCHANGE_SECONDS`.

    Raises:
        EndpointUnreachable, AnswerLost, EndpointFailed: as `Server.send`; the second also where the answer is too slow,
            the last where it is too large or packed wrongly.
    """
    with trio.move_on_after(limits.SKILL_EXCHANGE_SECONDS):
        async with server.send(method, target, content=content) as reply:
            body = await _read(reply, server.origin)
        return Answer(server.origin, reply.status, reply.headers, body)
    raise AnswerLost(
        f"{server.origin} did not end its answer within {limits.SKILL_EXCHANGE_SECONDS:g} s. What it was asked may be "
        "done. Try again later."
    )


async def _read(reply: Reply, origin: str) -> bytes:
    packing = reply.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise EndpointFailed(
            f"{origin} packed its answer as {plain(packing)}, which nobody asked for. Use another service."
        )
    unpack = _Unpacking(origin) if packing not in ("identity", "") else None
    body = bytearray()
    came = 0
    async with reply.chunks() as chunks:
        async for chunk in chunks:
            came += len(chunk)
            if came > limits.SKILL_ANSWER_BYTES:
                raise too_large(origin, limits.SKILL_ANSWER_BYTES)
            body += unpack.feed(chunk, limits.SKILL_ANSWER_BYTES - len(body)) if unpack else chunk
    if unpack and came and not unpack.is_whole:
        raise EndpointFailed(f"{origin} sent an answer that ends within what it packed. Try again later.")
    return bytes(body)


class _Unpacking:
    """gzip or zlib, never past a bound: a small answer may be packed from a huge one."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    @property
    def is_whole(self) -> bool:
        return self._inflate.eof

    def feed(self, chunk: bytes, room: int) -> bytes:
        try:
            unpacked = self._inflate.decompress(chunk, room + 1)
        except zlib.error as error:
            raise EndpointFailed(
                f"{self._origin} sent an answer that can't be unpacked: {error}. Try again later."
            ) from error
        if len(unpacked) > room:
            raise too_large(self._origin, limits.SKILL_ANSWER_BYTES)
        if self._inflate.unused_data:
            raise EndpointFailed(f"{self._origin} sent something behind what it packed. Try again later.")
        return unpacked


def too_large(origin: str, most_bytes: int) -> EndpointFailed:
    return EndpointFailed(f"{origin} sent more than {most_bytes:,} bytes, and the rest was not taken. Ask for less.")


class Answer:
    """A whole answer.

    Attributes:
        headers: by their names in lower case.
    """

    def __init__(self, origin: str, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.origin = origin
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @cached_property
    def text(self) -> str:
        found = _CHARSET.search(self.headers.get("content-type", ""))
        return self.body.decode(found[1] if found else "utf-8-sig", "replace")

    def value(self) -> Any:  # noqa: ANN401  # any JSON
        """What the body says: JSON where it is that, and not too much, or text.

        Raises:
            EndpointFailed: it is neither.
        """
        text = self.text
        if "\0" in text:
            raise EndpointFailed(
                f"{self.origin} answered with {plain(self.media_type) or 'something'} that is no text, which such a "
                "tool can't give. Ask for something else."
            )
        if sum(map(text.count, ",[{")) > limits.RESULT_NODES:
            return text  # as values it would take many times its size
        try:
            value = json.loads(text, parse_constant=refuse_constant, parse_int=read_integer, parse_float=read_float)
        except (ValueError, RecursionError):
            return text
        return text if nesting(value) > limits.RESULT_DEPTH else value
