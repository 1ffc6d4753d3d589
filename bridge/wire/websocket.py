"""Carry whole CDP messages over a websocket. The one importer of trio-websocket, for those who attach."""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Final

import h11
import trio
import trio_websocket
from wsproto.utilities import ProtocolError

from bridge.errors import BrowserFailedToStart, BrowserRefused
from bridge.limits import CDP_MESSAGE_BYTES, CLOSE_SECONDS, HANDSHAKE_SECONDS, WEBSOCKET_QUEUE_MESSAGES
from bridge.wire.address import Address, open_stream
from bridge.wire.nursery import open_background
from bridge.wire.transports import Transport, TransportEnded

logger = logging.getLogger(__name__)

WEBSOCKET_READ_BYTES: Final = 64 * 1024
"""A buffer that is made anew for each read; above this, that costs many times what the read does."""
REFUSAL_BYTES: Final = 1024

_PROTOCOL_FAULTS: Final = (trio_websocket.HandshakeError, ProtocolError, h11.ProtocolError)
"""What trio-websocket's reader raises: a refusal, or a message that the state of the link does not allow."""


class WebSocketTransport(Transport):
    """A websocket that somebody else opened; `open_websocket` is the usual way to have one."""

    def __init__(self, websocket: trio_websocket.WebSocketConnection) -> None:
        self._websocket = websocket

    async def send(self, message: bytes) -> None:
        try:
            await self._websocket.send_message(message.decode())
        except trio_websocket.ConnectionClosed as closed:
            raise _ended(closed) from closed

    async def receive(self) -> bytes | bytearray | str:
        try:
            return await self._websocket.get_message()
        except trio_websocket.ConnectionClosed as closed:
            raise _ended(closed) from closed

    async def aclose(self) -> None:
        with trio.move_on_after(CLOSE_SECONDS, shield=True):
            await self._websocket.aclose()


def _ended(closed: trio_websocket.ConnectionClosed) -> TransportEnded:
    reason = closed.reason
    if reason is None:
        return TransportEnded("the websocket was closed")
    if reason.code == 1009:
        return TransportEnded("a message over the websocket's limit came", close_code=reason.code)
    words = f" ({reason.reason})" if reason.reason else ""
    return TransportEnded(f"the websocket was closed with code {reason.code}{words}", close_code=reason.code)


@asynccontextmanager
async def open_websocket(
    url: str,
    headers: Sequence[tuple[str, str]] = (),
    *,
    message_bytes: int = CDP_MESSAGE_BYTES,
    handshake_seconds: float = HANDSHAKE_SECONDS,
) -> AsyncGenerator[WebSocketTransport]:
    """Open a websocket for the length of the block; it is closed whatever happens.

    The URL is used as it is. No `Origin` header is sent, because Chromium refuses any.

    Raises:
        BrowserFailedToStart: nothing is there, or it has other troubles.
        BrowserRefused: it said no, or nothing at all.
        UsageError: the URL is none.
    """
    address = Address.parse(url)
    async with (
        open_stream(address) as stream,
        websocket_over(
            stream, address, headers, message_bytes=message_bytes, handshake_seconds=handshake_seconds
        ) as transport,
    ):
        yield transport


@asynccontextmanager
async def websocket_over(
    stream: trio.abc.Stream,
    address: Address,
    headers: Sequence[tuple[str, str]] = (),
    *,
    message_bytes: int = CDP_MESSAGE_BYTES,
    handshake_seconds: float = HANDSHAKE_SECONDS,
) -> AsyncGenerator[WebSocketTransport]:
    """As `open_websocket`, over a stream to that address; who opened the stream closes it.

    Raises:
        BrowserFailedToStart, BrowserRefused: as there.
    """
    async with open_background() as nursery:
        handshake = _Handshake(stream)
        nursery.start_soon(handshake.run, address, headers, message_bytes)
        try:
            with trio.move_on_after(handshake_seconds):
                await handshake.settled.wait()
            if handshake.websocket is None:
                # A proxy whose browser is on its way says 502, and asks nobody.
                kind = BrowserFailedToStart if "HTTP/1.1 5" in (handshake.refusal or "") else BrowserRefused
                raise kind(_why_refused(address, handshake.refusal, handshake_seconds))
            transport = WebSocketTransport(handshake.websocket)
            try:
                yield transport
            finally:
                await transport.aclose()
        finally:
            handshake.reading.cancel()


class _Handshake:
    """An opening handshake, and then the reader of its websocket. It is settled by an agreement or by a refusal."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        # Who is cancelled still wants to close properly, and the peer's goodbye has to be read for that.
        self.reading = trio.CancelScope(shield=True)
        self.settled = trio.Event()
        self.websocket: trio_websocket.WebSocketConnection | None = None
        self.refusal: str | None = None

    async def run(self, address: Address, headers: Sequence[tuple[str, str]], message_bytes: int) -> None:
        """Shake hands, then read until the link ends; the websocket itself tells its receivers how it ended."""
        try:
            with self.reading:
                await self._read(address, headers, message_bytes)
        except* _PROTOCOL_FAULTS as faults:
            logger.debug("the websocket to %s ended: %r", address.described, faults)
        finally:
            self.refuse("it did not keep to the websocket protocol")

    async def _read(self, address: Address, headers: Sequence[tuple[str, str]], message_bytes: int) -> None:
        async with trio.open_nursery() as nursery:
            websocket = await trio_websocket.wrap_client_stream(
                nursery,
                _Witness(self._stream, self),  # pyright: ignore[reportArgumentType]  # any Stream is enough
                address.authority,
                address.target,
                extra_headers=[(name.encode(), value.encode()) for name, value in headers],
                max_message_size=message_bytes,
                message_queue_size=WEBSOCKET_QUEUE_MESSAGES,
                receive_buffer_size=WEBSOCKET_READ_BYTES,
            )
            if not self.settled.is_set():
                self.websocket = websocket
                self.settled.set()

    def refuse(self, reason: str) -> None:
        """What comes after the handshake was settled changes nothing."""
        if not self.settled.is_set():
            self.refusal = reason
            self.settled.set()


class _Witness(trio.abc.Stream):
    """Hands bytes through, and reads a refusal from the first of them.

    trio-websocket waits for ever when the peer refuses without a length, sends garbage or just hangs up.
    """

    def __init__(self, stream: trio.abc.Stream, handshake: _Handshake) -> None:
        self._stream = stream
        self._handshake = handshake
        self._head = bytearray()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        try:
            await self._stream.send_all(data)
        except trio.BrokenResourceError:
            self._handshake.refuse("it hung up")
            raise

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        try:
            data = await self._stream.receive_some(max_bytes)
        except trio.BrokenResourceError:
            self._handshake.refuse("it hung up")
            raise
        if not self._handshake.settled.is_set():
            self._head += data[:REFUSAL_BYTES]
            reason = refusal_in(bytes(self._head), ended=not data)
            if reason is not None:
                self._handshake.refuse(reason)
        return data

    async def aclose(self) -> None:
        await self._stream.aclose()


def refusal_in(head: bytes, *, ended: bool) -> str | None:
    """Why the first bytes of an answer are no agreement; None while they may become one, or are."""
    headers, headers_end, body = head.partition(b"\r\n\r\n")
    line, line_end, _ = (headers + headers_end).partition(b"\r\n")
    if line.startswith(b"HTTP/1.1 101"):
        return "it hung up" if ended and not headers_end else None
    if not (line.startswith(b"HTTP/") or b"HTTP/".startswith(line)):
        return f"it does not speak HTTP, for it sent {line[:80]!r}"
    if line_end and (headers_end or ended or len(head) >= REFUSAL_BYTES):
        said = body[:200].decode(errors="replace").split()
        return f"it answered {' '.join([line.decode(errors='replace'), *said])!r}"
    return "it hung up" if ended else None


def _why_refused(address: Address, refusal: str | None, seconds: float) -> str:
    if refusal is None:
        return (
            f"{address.described} did not answer the websocket handshake within {seconds:g} s. "
            "If the browser asks whether to allow remote debugging, click Allow; then try again."
        )
    next_step = "Check that its address is of this run of the browser: a restart changes the path."
    if "Host header is specified" in refusal:
        next_step = "Name it by its IP address."
    elif " 401 " in refusal or " 403 " in refusal:
        next_step = "Check the token or the headers."
    return f"{address.described} refused the websocket: {refusal}. {next_step}"
