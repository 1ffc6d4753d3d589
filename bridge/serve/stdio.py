"""stdin and stdout of this process, as lines: one JSON object each, and nothing else ever on stdout."""

import json
import os
import select
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Final

import trio

from bridge.limits import CLOSE_SECONDS, LAST_ANSWERS_SECONDS, MCP_LINE_BYTES, OPEN_REQUESTS, QUIET_SECONDS
from bridge.wire.pipes import CHUNK_BYTES, ChunkReader, MessageWriter, Outbox, widen

RequestId = int | str

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


class OpenRequests:
    """Requests that were read and not answered yet, by their ids."""

    def __init__(self, most: int = OPEN_REQUESTS) -> None:
        self._most = most
        self._methods: dict[RequestId, str] = {}
        self._handed_on: deque[RequestId | None] = deque()
        """For each line that is on its way to the SDK, the id that it takes back."""
        self._changed = trio.Event()
        self._noted = 0
        """Counts what came in and what was settled."""

    @property
    def are_too_many(self) -> bool:
        return len(self._methods) >= self._most

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._methods

    def came_in(self, request_id: RequestId, method: str) -> None:
        """Raises NoMessage where another one that is open has this id."""
        if request_id in self._methods:
            raise NoMessage(INVALID_REQUEST, f"Invalid request: request {request_id!r:.100} is not answered yet")
        self._methods[request_id] = method
        self._wake()

    def hand_on(self, taken_back: RequestId | None) -> None:
        """A line is on its way to the SDK.

        Args:
            taken_back: the id of the request that it takes back, where it does that.
        """
        self._handed_on.append(taken_back)

    def arrive(self) -> None:
        """The first of these lines is there, and from now on noted."""
        self._handed_on.popleft()

    def is_being_taken_back(self, request_id: RequestId) -> bool:
        """Whether a line on its way takes such a request back: another one of that id must not overtake it."""
        return request_id in self._handed_on

    def settle(self, request_id: RequestId) -> None:
        """It has its answer, or its client took it back."""
        self._methods.pop(request_id, None)
        self._wake()

    def _wake(self) -> None:
        self._noted += 1
        self._changed.set()
        self._changed = trio.Event()

    async def wait_fewer(self) -> None:
        """Block while they are too many."""
        while self.are_too_many:
            await self._changed.wait()

    async def wait_answered(self) -> None:
        """Block until none waits. One to listen is answered when there is nothing more to hear."""
        while any(method != "subscriptions/listen" for method in self._methods.values()):
            await self._changed.wait()

    async def wait_quiet(self) -> None:
        """Block until none has been there for `limits.QUIET_SECONDS`."""
        noted = -1
        while self._methods or self._noted != noted:
            noted = self._noted
            await trio.sleep(QUIET_SECONDS)

    async def wait_last_answers(self) -> None:
        """Block until none waits, up to `limits.LAST_ANSWERS_SECONDS`: nothing more is read."""
        with trio.move_on_after(LAST_ANSWERS_SECONDS):
            await self.wait_answered()


class LineReader:
    """Whole lines of a stream. A line over the limit is dropped, and the next one is read."""

    def __init__(self, stream: trio.abc.ReceiveStream, *, line_bytes: int = MCP_LINE_BYTES, read: bytes = b"") -> None:
        """Args:
        read: what was read of the stream before.
        """
        self._chunks = ChunkReader(stream)
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
            chunk = await self._chunks.receive()
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


class Stdio:
    """Both ends of one client. Made by `open_stdio`.

    A client that does not take its answers is read no further: what waits for it is bounded, and all else goes on.

    Attributes:
        requests: what it waits for.
    """

    def __init__(
        self,
        stdin: trio.abc.ReceiveStream,
        stdout: trio.abc.SendStream,
        read: bytes = b"",
        *,
        has_hung_up: Callable[[], bool] = lambda: False,
    ) -> None:
        """Args:
        read: what was read of stdin before.
        has_hung_up: whether stdin has ended behind what was not read of it yet.
        """
        self.requests = OpenRequests()
        self._lines = LineReader(stdin, read=read)
        self._outbox = Outbox(MessageWriter(stdout, end=b"\n"), places=LINES_QUEUED)
        self._has_hung_up = has_hung_up
        self._waits: set[trio.CancelScope] = set()
        self._stopped = False

    def stop(self) -> None:
        """Read no more."""
        self._stopped = True
        for scope in self._waits:
            scope.cancel()

    async def next_line(self) -> bytes | None:
        """The next line that says something; None at the end of stdin. To be asked for in `until_stopped`."""
        try:
            while True:
                if self.requests.are_too_many:
                    await self.wait_for_client(self.requests.wait_fewer)
                try:
                    line = await self._lines.read()
                except NoMessage as refused:
                    await self.refuse(refused)
                else:
                    if line is None or line.strip():
                        return line
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return None

    async def wait_for_client(self, step: Callable[[], Awaitable[None]]) -> None:
        """Do what may have to wait until the client takes its answers.

        Raises:
            trio.BrokenResourceError: it has closed stdin, and takes none; or reading was stopped.
        """
        while True:
            carried = self._outbox.carried
            with trio.move_on_after(LAST_ANSWERS_SECONDS), self.until_stopped():
                return await step()
            takes_none = carried == self._outbox.carried and not self._outbox.is_empty
            if takes_none and self._has_hung_up():
                raise trio.BrokenResourceError

    @contextmanager
    def until_stopped(self) -> Generator[None]:
        """What is waited for in the block ends when reading is stopped.

        Raises:
            trio.BrokenResourceError: it was.
        """
        with trio.CancelScope() as scope:
            self._waits.add(scope)
            try:
                if not self._stopped:
                    yield
                    return
            finally:
                self._waits.discard(scope)
        raise trio.BrokenResourceError

    async def refuse(self, refused: NoMessage) -> None:
        """Answer a line that is no message. Raises as `wait_for_client`."""
        await self.wait_for_client(partial(self.send, refused.answer()))

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


@asynccontextmanager
async def open_stdio(fd_in: int, fd_out: int, read: bytes = b"") -> AsyncGenerator[Stdio]:
    """The client at the other end of two descriptors, for the length of the block.

    Args:
        read: what was read of stdin before.
    """
    # The streams close theirs.
    own_in, own_out = os.dup(fd_in), os.dup(fd_out)
    if os.name == "posix":
        stdin, stdout = trio.lowlevel.FdStream(own_in), trio.lowlevel.FdStream(own_out)
        widen(own_in)
        widen(own_out)
        stdio = Stdio(stdin, stdout, read, has_hung_up=partial(_has_hung_up, fd_in))
    else:
        stdin, stdout = _ThreadStream(own_in), _ThreadStream(own_out)
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


def _has_hung_up(descriptor: int) -> bool:
    """Whether nobody is left who could write to a pipe, be it empty or not."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return bool(poll.poll(0))


class _ThreadStream(trio.abc.SendStream, trio.abc.ReceiveStream):
    """A file descriptor where none can be waited for without a thread, as on Windows."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        try:
            return await trio.to_thread.run_sync(
                os.read, self._descriptor, max_bytes or CHUNK_BYTES, abandon_on_cancel=True
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
