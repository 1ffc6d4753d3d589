"""As much of a websocket client as Chromium's debugging port needs: RFC 6455 in the standard library, synchronous."""

import base64
import os
import socket
from collections.abc import Sequence
from typing import Final, Self
from urllib.parse import urlsplit

from bench.channel import ANSWER_SECONDS, ChannelEnded

READ_BYTES: Final = 1024 * 1024
TEXT: Final = 1
PING: Final = 9
PONG: Final = 10


class WebSocket:
    """Text messages."""

    def __init__(self, url: str) -> None:
        where = urlsplit(url)
        self._socket = socket.create_connection((where.hostname, where.port), ANSWER_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray()
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET {where.path} HTTP/1.1\r\nHost: {where.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            self._read()
        if not self._buffer.startswith(b"HTTP/1.1 101"):
            raise ChannelEnded(f"Chromium refused the websocket: {bytes(self._buffer)!r}")
        del self._buffer[: end + 4]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, message: bytes) -> None:
        self._socket.sendall(frame(TEXT, message, os.urandom(4)))

    def receive(self) -> bytes:
        """The next message, put together from its frames."""
        parts: list[bytes] = []
        while True:
            opcode, is_last, payload = self._receive_frame()
            if opcode == PING:
                self._socket.sendall(frame(PONG, payload, os.urandom(4)))
            elif opcode > TEXT:
                raise ChannelEnded("Chromium closed the websocket.")
            else:
                parts.append(payload)
                if is_last:
                    return b"".join(parts)

    def exchange(self, messages: Sequence[bytes], count: int) -> list[bytes]:
        """As `Channel.exchange`; for few and small messages, for all are sent first."""
        for message in messages:
            self.send(message)
        return [self.receive() for _ in range(count)]

    def _receive_frame(self) -> tuple[int, bool, bytes]:
        first, second = self._take(2)
        size = second & 0x7F
        if size == 126:
            size = int.from_bytes(self._take(2))
        elif size == 127:
            size = int.from_bytes(self._take(8))
        return first & 0x0F, bool(first & 0x80), self._take(size)

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._read()
        taken = bytes(memoryview(self._buffer)[:size])
        del self._buffer[:size]
        return taken

    def _read(self) -> None:
        chunk = self._socket.recv(READ_BYTES)
        if not chunk:
            raise ChannelEnded("Chromium closed the websocket.")
        self._buffer += chunk


def frame(opcode: int, payload: bytes, mask: bytes) -> bytes:
    """One whole frame, masked as those of clients are."""
    size = len(payload)
    if size < 126:
        head = bytes((0x80 | opcode, 0x80 | size))
    elif size < 1 << 16:
        head = bytes((0x80 | opcode, 0x80 | 126)) + size.to_bytes(2)
    else:
        head = bytes((0x80 | opcode, 0x80 | 127)) + size.to_bytes(8)
    whole = int.from_bytes((mask * (size // 4 + 1))[:size])
    return head + mask + (int.from_bytes(payload) ^ whole).to_bytes(size)
