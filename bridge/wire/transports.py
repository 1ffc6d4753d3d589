"""Carry whole CDP messages: what a connection needs for that, and Chromium's debugging pipe."""

from abc import ABC, abstractmethod

import trio

from bridge.limits import CDP_MESSAGE_BYTES
from bridge.wire.pipes import ChunkReader, MessageWriter


class TransportEnded(Exception):
    """No more messages can come or go; `str()` says why."""

    def __init__(self, reason: str, *, close_code: int | None = None) -> None:
        super().__init__(reason)
        self.close_code = close_code


class Transport(ABC):
    """What the connection needs. One task sends and one receives; neither is ever cancelled mid-message
    except to end the transport."""

    def send_now(self, message: bytes) -> bool:
        """Send one message if that takes no waiting. Where it does, `send` has to send the same one next."""
        return False

    @abstractmethod
    async def send(self, message: bytes) -> None:
        """Send one message whole. Raises TransportEnded."""

    @abstractmethod
    async def receive(self) -> bytes | bytearray | str:
        """Return the next message whole. Raises TransportEnded."""

    @abstractmethod
    async def aclose(self) -> None:
        """End it; never raises for a link that is already gone."""


class PipeTransport(Transport):
    """`--remote-debugging-pipe`: JSON messages, each ended by a NUL byte.

    Source: Chromium, content/browser/devtools/devtools_pipe_handler.cc.
    """

    def __init__(
        self,
        to_browser: trio.abc.SendStream,
        from_browser: trio.abc.ReceiveStream,
        *,
        message_bytes: int = CDP_MESSAGE_BYTES,
    ) -> None:
        self._to_browser = to_browser
        self._from_browser = from_browser
        self._message_bytes = message_bytes
        self._reader = ChunkReader(from_browser)
        self._buffer = bytearray()
        self._scanned = 0
        self._writer = MessageWriter(to_browser, end=b"\0")

    def send_now(self, message: bytes) -> bool:
        return self._writer.send_now(message)

    async def send(self, message: bytes) -> None:
        try:
            await self._writer.send(message)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise TransportEnded("the browser closed its debugging pipe") from error

    async def receive(self) -> bytes | bytearray | str:
        while (end := self._buffer.find(b"\0", self._scanned)) < 0:
            self._scanned = len(self._buffer)
            if self._scanned > self._message_bytes:
                raise TransportEnded(f"a message over the limit of {self._message_bytes} bytes came")
            try:
                chunk = await self._reader.receive()
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise TransportEnded("the browser closed its debugging pipe") from error
            if not chunk:
                raise TransportEnded("the browser closed its debugging pipe")
            self._buffer += chunk
        message = self._take(end)
        if end > self._message_bytes:
            raise TransportEnded(f"a message over the limit of {self._message_bytes} bytes came")
        return message

    def _take(self, end: int) -> bytearray:
        """The first message; the buffer itself where nothing comes after that, since it may be large."""
        self._scanned = 0
        if end == len(self._buffer) - 1:
            message, self._buffer = self._buffer, bytearray()
            del message[end]
            return message
        message = self._buffer[:end]
        del self._buffer[: end + 1]
        return message

    async def aclose(self) -> None:
        try:
            await self._to_browser.aclose()
        finally:
            await self._from_browser.aclose()
