"""Whole messages over a pair of file descriptors, each ended by one byte. Synchronous, so that it costs little."""

import os
import select
from collections.abc import Sequence
from typing import Final

READ_BYTES: Final = 1024 * 1024
ANSWER_SECONDS: Final = 60.0


class ChannelEnded(Exception):
    """The other side is gone, or says nothing any more."""


class Channel:
    """Messages of JSON text.

    Args:
        end: the byte after each message: a newline for MCP over stdio, NUL for Chromium's debugging pipe.
    """

    def __init__(self, write_fd: int, read_fd: int, *, end: bytes) -> None:
        self._write_fd = write_fd
        self._read_fd = read_fd
        self._end = end
        self._rest = b""

    def send(self, message: bytes) -> None:
        left = memoryview(message + self._end)
        while left:
            left = left[os.write(self._write_fd, left) :]

    def receive(self) -> bytes:
        """The next message.

        Raises:
            ChannelEnded: none comes within ANSWER_SECONDS, or ever.
        """
        chunks: list[bytes] = []
        chunk = self._rest
        while (end := chunk.find(self._end)) < 0:
            chunks.append(chunk)
            chunk = self._read()
        chunks.append(chunk[:end])
        self._rest = chunk[end + 1 :]
        return b"".join(chunks)

    def exchange(self, messages: Sequence[bytes], count: int) -> list[bytes]:
        """Send all of them as fast as they are taken, and meanwhile receive; return once `count` messages came."""
        left = memoryview(b"".join(message + self._end for message in messages))
        received = self._rest
        self._rest = b""
        os.set_blocking(self._write_fd, False)
        try:
            chunks, ends = [received], received.count(self._end)
            while ends < count:
                writable = [self._write_fd] if left else []
                readable, writable, _ = select.select([self._read_fd], writable, [], ANSWER_SECONDS)
                if writable:
                    left = left[os.write(self._write_fd, left[: 64 * 1024]) :]
                if readable or not writable:
                    chunks.append(self._read())
                    ends += chunks[-1].count(self._end)
        finally:
            os.set_blocking(self._write_fd, True)
        *whole, self._rest = b"".join(chunks).split(self._end)
        return whole

    def _read(self) -> bytes:
        chunk = os.read(self._read_fd, READ_BYTES) if self._is_readable() else b""
        if not chunk:
            raise ChannelEnded(f"A process that is measured ended, or said nothing for {ANSWER_SECONDS:g} s.")
        return chunk

    def _is_readable(self) -> bool:
        return bool(select.select([self._read_fd], [], [], ANSWER_SECONDS)[0])
