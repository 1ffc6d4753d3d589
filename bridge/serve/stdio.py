"""MCP messages over stdin and stdout: one JSON object a line, and nothing else ever on stdout.

The file descriptors are used directly on POSIX: the SDK's own stdio hops to a thread for each line.
"""

import json
import os
import select
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Final, Self, cast

import anyio
import trio
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import from_json

from bridge.limits import CLOSE_SECONDS, LAST_ANSWERS_SECONDS, MCP_LINE_BYTES, OPEN_REQUESTS
from bridge.serve.greeting import Greeter

READ_BYTES: Final = 64 * 1024
LINES_QUEUED: Final = 16
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600


class NoMessage(Exception):
    """A line that can't be taken as a message. Its id is not known, or not to be trusted, so the answer has none."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code

    def answer(self) -> bytes:
        error = {"code": self.code, "message": str(self)}
        return json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()


def read_message(line: bytes) -> JSONRPCMessage:
    """Raises NoMessage where a line is not exactly one JSON-RPC message as MCP has them."""
    try:
        value: Any = from_json(line, allow_inf_nan=False)
    except ValueError:
        raise NoMessage(PARSE_ERROR, "Parse error: a line that is not JSON was dropped") from None
    match value:
        case list():
            raise NoMessage(INVALID_REQUEST, "Invalid request: a batch was dropped; send one message a line")
        case {"method": str(), "id": given} if not _is_id(cast("object", given)):
            # The SDK takes it for a notification, and the client would wait for ever.
            raise NoMessage(INVALID_REQUEST, "Invalid request: its id is neither a string nor an integer")
        case _:
            pass
    try:
        return jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        text = "Invalid request: a line that is not a JSON-RPC 2.0 message was dropped"
        raise NoMessage(INVALID_REQUEST, text) from None


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


class OpenRequests:
    """Requests that were read and not answered yet. One to listen is answered when there is nothing more to hear."""

    def __init__(self, most: int = OPEN_REQUESTS) -> None:
        self._most = most
        self._methods: dict[RequestId, str] = {}
        self._changed = trio.Event()

    @property
    def are_too_many(self) -> bool:
        return len(self._methods) >= self._most

    def came_in(self, message: JSONRPCMessage) -> None:
        """Raises NoMessage for a request whose id is that of another one that is open."""
        match message:
            case JSONRPCRequest(method=method, id=request_id):
                if request_id in self._methods:
                    raise NoMessage(
                        INVALID_REQUEST, f"Invalid request: request {request_id!r:.100} is not answered yet"
                    )
                self._methods[request_id] = method
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as taken}):
                if _is_id(taken):
                    self._settle(taken)
            case _:
                pass

    def goes_out(self, message: JSONRPCMessage) -> bool:
        """Whether to send it: what the client has taken back meanwhile gets no answer."""
        match message:
            case JSONRPCResponse(id=request_id) | JSONRPCError(id=str() | int() as request_id):
                return self._settle(request_id)
            case _:
                return True

    def _settle(self, request_id: RequestId) -> bool:
        was_open = self._methods.pop(request_id, None) is not None
        self._changed.set()
        self._changed = trio.Event()
        return was_open

    async def wait_fewer(self) -> None:
        """Block while they are too many."""
        while self.are_too_many:
            await self._changed.wait()

    async def wait_answered(self) -> None:
        """Block until each has its answer, or was taken back by the client."""
        while any(method != "subscriptions/listen" for method in self._methods.values()):
            await self._changed.wait()


class LineReader:
    """Whole lines of a stream. A line over the limit is dropped, and the next one is read."""

    def __init__(self, stream: trio.abc.ReceiveStream, *, line_bytes: int = MCP_LINE_BYTES, read: bytes = b"") -> None:
        """Args:
        read: what was read of the stream before.
        """
        self._stream = stream
        self._line_bytes = line_bytes
        self._buffer = bytearray(read)
        self._scanned = 0
        self._dropping = False

    async def read(self) -> bytes | None:
        """The next line without its end, None at the end of the stream.

        Raises:
            NoMessage: a line over the limit was dropped.
        """
        while True:
            end = self._buffer.find(b"\n", self._scanned)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                self._scanned = 0
                if self._dropping or len(line) > self._line_bytes:
                    self._dropping = False
                    raise self._too_long()
                return line
            self._scanned = len(self._buffer)
            if self._scanned > self._line_bytes:
                self._dropping = True
                self._buffer.clear()
                self._scanned = 0
            chunk = await self._stream.receive_some(READ_BYTES)
            if not chunk:
                rest, self._buffer = bytes(self._buffer), bytearray()
                if self._dropping:
                    self._dropping = False
                    raise self._too_long()
                return rest or None
            self._buffer += chunk

    def _too_long(self) -> NoMessage:
        text = f"Invalid request: a line of more than {self._line_bytes:,} bytes was dropped"
        return NoMessage(INVALID_REQUEST, text)


class StdioStreams:
    """Both ends of one client's stdio, in the shape that the SDK's server takes them: it is at once its read
    stream and, as `outgoing`, its write stream.

    At the end of stdin, or when told to `stop`, it lets the requests that were read have their answers first. A client
    that does not take its answers is read no further: what waits for it is bounded, and all else goes on.
    """

    def __init__(
        self,
        stdin: trio.abc.ReceiveStream,
        stdout: trio.abc.SendStream,
        greeter: Greeter | None = None,
        *,
        has_hung_up: Callable[[], bool] = lambda: False,
    ) -> None:
        """Args:
        greeter: has read the beginning of stdin, and may have answered it.
        has_hung_up: whether stdin has ended behind what was not read of it yet.
        """
        self._lines = LineReader(stdin, read=greeter.read if greeter is not None else b"")
        self._stdout = stdout
        self._greeter = greeter
        self._has_hung_up = has_hung_up
        self._open = OpenRequests()
        self._written = 0
        self._reading = trio.CancelScope()
        self._stopped = False
        self._to_writer, self._queue = trio.open_memory_channel[SessionMessage | bytes](LINES_QUEUED)
        self.outgoing = Outgoing(self._to_writer)

    def stop(self) -> None:
        """Read no more."""
        self._stopped = True
        self._reading.cancel()

    async def write(self) -> None:
        """Write what is queued, whole lines only, until there is nobody left to send or to read."""
        try:
            async for item in self._queue:
                if isinstance(item, bytes):
                    await self._stdout.send_all(item + b"\n")
                elif self._open.goes_out(item.message) and not self._was_sent(item):
                    await self._stdout.send_all(_line(item))
                self._written += 1
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            # Nobody reads stdout any more: a client that went away is the end of its stdin too.
            self.stop()
            async for _ in self._queue:
                pass

    def _was_sent(self, item: SessionMessage) -> bool:
        """Whether it answers what the greeter has answered."""
        match item.message:
            case JSONRPCResponse(id=request_id, result=result) if self._greeter is not None:
                return self._greeter.has_answered(request_id, result)
            case JSONRPCError(id=request_id, error=error) if self._greeter is not None:
                return self._greeter.has_answered(request_id, error)
            case _:
                return False

    async def __anext__(self) -> SessionMessage:
        if not self._stopped:
            with trio.CancelScope() as self._reading:
                try:
                    if (message := await self._next_message()) is not None:
                        return SessionMessage(message)
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    pass  # as good as its end
        with trio.move_on_after(LAST_ANSWERS_SECONDS):
            await self._open.wait_answered()
        raise StopAsyncIteration

    async def _next_message(self) -> JSONRPCMessage | None:
        while True:
            if self._open.are_too_many:
                await self._wait_for_client(self._open.wait_fewer)
            try:
                line = await self._lines.read()
                if line is None:
                    return None
                if line.strip():
                    message = read_message(line)
                    self._open.came_in(message)
                    return message
            except NoMessage as refused:
                await self._wait_for_client(partial(self._to_writer.send, refused.answer()))

    async def _wait_for_client(self, step: Callable[[], Awaitable[None]]) -> None:
        """Do what has to wait until the client takes its answers.

        Raises:
            trio.BrokenResourceError: it has closed stdin, and takes none.
        """
        while True:
            written = self._written
            with trio.move_on_after(LAST_ANSWERS_SECONDS):
                return await step()
            if written == self._written and self._has_hung_up():
                raise trio.BrokenResourceError

    async def receive(self) -> SessionMessage:
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def aclose(self) -> None:
        self.stop()

    def __aiter__(self) -> ReadStream[SessionMessage | Exception]:
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


class Outgoing:
    """The SDK's write stream. A message is queued whole, so a cancelled request can't cut one in two."""

    def __init__(self, to_writer: trio.MemorySendChannel[SessionMessage | bytes]) -> None:
        self._to_writer = to_writer

    async def send(self, item: SessionMessage, /) -> None:
        try:
            await self._to_writer.send(item)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise anyio.ClosedResourceError from error

    async def aclose(self) -> None:
        self._to_writer.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


def _line(message: SessionMessage) -> bytes:
    return message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


@dataclass(frozen=True)
class Stdio:
    """What a server needs of stdio; `stop` ends the reading."""

    incoming: ReadStream[SessionMessage | Exception]
    outgoing: WriteStream[SessionMessage]
    stop: Callable[[], None]


@asynccontextmanager
async def open_stdio(greeter: Greeter) -> AsyncGenerator[Stdio]:
    """MCP messages over this process's stdin and stdout: on POSIX through our streams, elsewhere the SDK's.

    Args:
        greeter: has the descriptors, has read the beginning of stdin, and may have answered it.
    """
    opened = _open_own(greeter) if os.name == "posix" else _open_sdk()
    async with opened as stdio:
        yield stdio


@asynccontextmanager
async def _open_own(greeter: Greeter) -> AsyncGenerator[Stdio]:
    # The streams close theirs.
    stdin, stdout = (trio.lowlevel.FdStream(os.dup(descriptor)) for descriptor in (greeter.stdin, greeter.stdout))
    streams = StdioStreams(stdin, stdout, greeter, has_hung_up=partial(_has_hung_up, greeter.stdin))
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(streams.write)
            yield Stdio(streams, streams.outgoing, streams.stop)
            await streams.outgoing.aclose()
            nursery.cancel_scope.deadline = trio.current_time() + CLOSE_SECONDS
    finally:
        await trio.aclose_forcefully(stdin)
        await trio.aclose_forcefully(stdout)


def _has_hung_up(descriptor: int) -> bool:
    """Whether nobody is left who could write to a pipe, be it empty or not."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return bool(poll.poll(0))


@asynccontextmanager
async def _open_sdk() -> AsyncGenerator[Stdio]:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (incoming, outgoing):
        yield Stdio(incoming, outgoing, lambda: None)
