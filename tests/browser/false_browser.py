"""A server on a browser's port that is none, or an evil one, until it hands all connections on to a real one."""

import json
import re
from base64 import b64encode
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from hashlib import sha1
from typing import Any, Final

import trio

from bridge.wire.nursery import open_background
from bridge.wire.router import Json
from tests.faults.fake_chromium import FakeChromium

JSON_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
TEXT: Final = 0x81
"""First byte of a frame that is a whole message of text."""


def frame(payload: bytes, first: int = TEXT, *, claimed_bytes: int | None = None) -> bytes:
    """A websocket frame as a server sends it.

    Args:
        claimed_bytes: what it says its length is, if that is a lie.
    """
    size = len(payload) if claimed_bytes is None else claimed_bytes
    if size < 126:
        return bytes([first, size]) + payload
    if size < 1 << 16:
        return bytes([first, 126]) + size.to_bytes(2, "big") + payload
    return bytes([first, 127]) + size.to_bytes(8, "big") + payload


def event(method: str, session: str | None = None, **params: Any) -> bytes:
    message = {"method": method, "params": params} | ({"sessionId": session} if session else {})
    return frame(json.dumps(message).encode())


Say = Callable[[bytes], Awaitable[None]]
Evil = Callable[["Link", Json, list[Json]], Awaitable[None]]
"""Says what it likes to a command, instead of the right answers, or beside them."""
Http = Callable[[Say], Awaitable[None]]
"""What it says to a request for `/json/version`."""


class Link:
    """A websocket to the bridge."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self.chromium = FakeChromium()
        self.began = False
        """Whether the evil has begun: for what is done once."""

    async def say(self, data: bytes) -> None:
        await self._stream.send_all(data)

    async def tell(self, messages: list[Json]) -> None:
        await self.say(b"".join(frame(json.dumps(message).encode()) for message in messages))

    async def serve(self, unread: bytearray, evil: Evil) -> None:
        """Answer each command."""
        while True:
            while (read := _read_frame(unread)) is None:
                chunk = await self._stream.receive_some()
                if not chunk:
                    return
                unread += chunk
            kind, payload = read
            if kind == 1:
                command = json.loads(payload)
                await evil(self, command, self.chromium.answer(command))
            elif kind == 8:
                return


def _read_frame(unread: bytearray) -> tuple[int, bytes] | None:
    """A client's frame, taken from what is unread, if it is there whole."""
    if len(unread) < 2:
        return None
    size, start = unread[1] & 0x7F, 2
    if size > 125:
        start += 2 if size == 126 else 8
        size = int.from_bytes(unread[2:start], "big")
    end = start + 4 + size
    if len(unread) < end:
        return None
    mask, kind = bytes(unread[start : start + 4]) * (size // 4 + 1), unread[0] & 0x0F
    # As numbers, since the shims are large, and byte by byte they take longer than a command has.
    payload = int.from_bytes(unread[start + 4 : end], "big") ^ int.from_bytes(mask[:size], "big")
    del unread[:end]
    return kind, payload.to_bytes(size, "big")


class FalseBrowser:
    """Made by `open_false_browser`.

    Attributes:
        requests: the first line and the headers of each.
    """

    def __init__(self, evil: Evil, http: Http | None) -> None:
        self._evil = evil
        self._http = http
        self._real_port: int | None = None
        self._scopes: set[trio.CancelScope] = set()
        self.port = 0
        self.requests: list[str] = []

    def become(self, port: int) -> None:
        """From now on it is the browser at that port; connections from before end."""
        self._real_port = port
        for scope in self._scopes:
            scope.cancel()

    async def serve(self, stream: trio.SocketStream) -> None:
        with trio.CancelScope() as scope, suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            self._scopes.add(scope)
            if self._real_port is None:
                await self._serve_falsely(stream)
            else:
                await self._hand_on(stream, self._real_port)

    async def _serve_falsely(self, stream: trio.SocketStream) -> None:
        unread = bytearray()
        while b"\r\n\r\n" not in unread:
            chunk = await stream.receive_some()
            if not chunk:
                return
            unread += chunk
        head, _, rest = bytes(unread).partition(b"\r\n\r\n")
        self.requests.append(head.decode())
        if key := re.search(rb"(?i)sec-websocket-key: *(\S+)", head):
            accept = b64encode(sha1(key[1] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            await stream.send_all(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
            )
            await Link(stream).serve(bytearray(rest), self._evil)
        elif self._http is not None:
            await self._http(stream.send_all)
        else:
            url = f"ws://127.0.0.1:{self.port}/devtools/browser/u"
            body = json.dumps({"webSocketDebuggerUrl": url}).encode()
            await stream.send_all(JSON_HEAD + b"Connection: close\r\n\r\n" + body)

    async def _hand_on(self, stream: trio.SocketStream, port: int) -> None:
        async with await trio.open_tcp_stream("127.0.0.1", port) as real, trio.open_nursery() as nursery:
            nursery.start_soon(_carry, real, stream)
            await _carry(stream, real)
            nursery.cancel_scope.cancel()


async def _carry(source: trio.SocketStream, target: trio.SocketStream) -> None:
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        async for chunk in source:
            await target.send_all(chunk)
        await target.send_eof()


@asynccontextmanager
async def open_false_browser(evil: Evil, http: Http | None = None) -> AsyncGenerator[FalseBrowser]:
    server = FalseBrowser(evil, http)
    async with open_background() as nursery:
        listener, *_ = await nursery.start(partial(trio.serve_tcp, server.serve, 0, host="127.0.0.1"))
        server.port = listener.socket.getsockname()[1]
        yield server
