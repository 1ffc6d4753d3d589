"""stdin and stdout of this process, as lines: one JSON object each, and nothing else ever on stdout."""

import json
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import trio

from bridge.limits import CLOSE_SECONDS, LAST_ANSWERS_SECONDS, MCP_LINE_BYTES
from bridge.wire.pipes import MessageWriter, Outbox, receive_some

READ_BYTES: Final = 64 * 1024
LINES_QUEUED: Final = 16
INVALID_REQUEST: Final = -32600


class OpenRequests:
    """Requests that were read and not answered yet, by their ids."""

    def __init__(self) -> None:
        self._ids: set[int | str] = set()
        self._changed = trio.Event()

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._ids

    def came_in(self, request_id: int | str) -> None:
        self._ids.add(request_id)

    def settle(self, request_id: int | str) -> None:
        """It has its answer, or its client took it back."""
        self._ids.discard(request_id)
        self._changed.set()
        self._changed = trio.Event()

    async def wait_answered(self) -> None:
        """Block until there is none."""
        while self._ids:
            await self._changed.wait()

    async def wait_last_answers(self) -> None:
        """Block until there is none, up to `limits.LAST_ANSWERS_SECONDS`: nothing more is read."""
        with trio.move_on_after(LAST_ANSWERS_SECONDS):
            await self.wait_answered()


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
            ValueError: a line over the limit was dropped.
        """
        while True:
            end = self._buffer.find(b"\n", self._scanned)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                self._scanned = 0
                if self._dropping or len(line) > self._line_bytes:
                    self._dropping = False
                    raise ValueError(f"a line of more than {self._line_bytes} bytes was dropped")
                return line
            self._scanned = len(self._buffer)
            if self._scanned > self._line_bytes:
                self._dropping = True
                self._buffer.clear()
                self._scanned = 0
            chunk = await receive_some(self._stream, READ_BYTES)
            if not chunk:
                rest, self._buffer = bytes(self._buffer), bytearray()
                return rest or None
            self._buffer += chunk


class Stdio:
    """Both ends of one client. Made by `open_stdio`."""

    def __init__(self, stdin: trio.abc.ReceiveStream, stdout: trio.abc.SendStream, read: bytes = b"") -> None:
        """Args:
        read: what was read of stdin before.
        """
        self._lines = LineReader(stdin, read=read)
        self._outbox = Outbox(MessageWriter(stdout, end=b"\n"), places=LINES_QUEUED)
        self._reading = trio.CancelScope()
        self._stopped = False

    def stop(self) -> None:
        """Read no more."""
        self._stopped = True
        self._reading.cancel()

    async def next_line(self) -> bytes | None:
        """The next line that says something; None at the end of stdin, or when told to `stop`."""
        if self._stopped:
            return None
        with trio.CancelScope() as self._reading:
            while True:
                try:
                    line = await self._lines.read()
                except ValueError as error:
                    await self.send(error_line(INVALID_REQUEST, f"Invalid request: {error}"))
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    return None
                else:
                    if line is None or line.strip():
                        return line
        return None

    async def send(self, line: bytes) -> None:
        """Write a line, or have it written. Raises trio.ClosedResourceError after the end."""
        await self._outbox.send(line)

    async def write(self) -> None:
        """Write what waits, whole lines only, until there is nobody left to send or to read."""
        try:
            await self._outbox.carry()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            # Nobody reads stdout any more: a client that went away is the end of its stdin too.
            self.stop()
            await self._outbox.discard()

    def close(self) -> None:
        """Nothing more will be sent."""
        self._outbox.close()


def error_line(code: int, text: str) -> bytes:
    """An error for a message whose id is not known."""
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": text}}).encode()


@contextmanager
def divert_stdio() -> Generator[tuple[int, int]]:
    """Take stdin and stdout for MCP alone; yield private descriptors of both.

    From then on fd 0 reads nothing and fd 1 is stderr, so a stray `print` or a child process can't break the stream.
    The descriptors are the caller's to close.
    """
    private = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        os.dup2(nothing, 0)
        os.dup2(_stderr_or(nothing), 1)
        yield private
    finally:
        os.close(nothing)


def _stderr_or(nothing: int) -> int:
    try:
        os.fstat(2)
    except OSError:
        return nothing
    return 2


@asynccontextmanager
async def open_stdio(read: bytes = b"") -> AsyncGenerator[Stdio]:
    """This process's stdin and stdout, for the length of the block.

    Args:
        read: what was read of stdin before.
    """
    with divert_stdio() as (fd_in, fd_out):
        if os.name == "posix":
            stdin, stdout = trio.lowlevel.FdStream(fd_in), trio.lowlevel.FdStream(fd_out)
        else:
            stdin, stdout = _ThreadStream(fd_in), _ThreadStream(fd_out)
        stdio = Stdio(stdin, stdout, read)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(stdio.write)
                yield stdio
                stdio.close()
                nursery.cancel_scope.deadline = trio.current_time() + CLOSE_SECONDS
        finally:
            await trio.aclose_forcefully(stdin)
            await trio.aclose_forcefully(stdout)


class _ThreadStream(trio.abc.SendStream, trio.abc.ReceiveStream):
    """A file descriptor where none can be waited for without a thread, as on Windows."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        try:
            return await trio.to_thread.run_sync(
                os.read, self._descriptor, max_bytes or READ_BYTES, abandon_on_cancel=True
            )
        except OSError as error:
            raise trio.BrokenResourceError from error

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[await trio.to_thread.run_sync(os.write, self._descriptor, left) :]
        except OSError as error:
            raise trio.BrokenResourceError from error

    async def wait_send_all_might_not_block(self) -> None:
        pass

    async def aclose(self) -> None:
        """The descriptor goes with the process: a thread may read it still."""
