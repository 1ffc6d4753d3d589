"""Streams of bytes, quicker: chunks that come, and whole messages that go, in their order."""

import errno
import math
import os
import sys
from contextlib import suppress
from typing import Final, Protocol

import trio

if sys.platform == "linux":
    import fcntl

CHUNK_BYTES: Final = 256 * 1024
PIPE_BYTES: Final = 1024 * 1024
"""What Linux lets anybody have by default."""


class Sender(Protocol):
    """What takes whole messages. One task at a time may use it."""

    def send_now(self, message: bytes) -> bool:
        """Send a message if that takes no waiting. Where it does, `send` has to send the same one next."""
        ...

    async def send(self, message: bytes) -> None:
        """Send a message, however long that takes."""
        ...


class MessageWriter:
    """Writes messages to a stream of bytes, each with a mark at its end."""

    def __init__(self, stream: trio.abc.SendStream, *, end: bytes) -> None:
        self._stream = stream
        self._end = end
        self._written = 0
        """What `send_now` has written of the message that is to come."""

    def send_now(self, message: bytes) -> bool:
        if os.name != "posix" or not isinstance(self._stream, trio.lowlevel.FdStream):
            return False
        try:
            # Not joined first: a copy of a large message costs as much as the writing.
            self._written = os.writev(self._stream.fileno(), (message, self._end))
        except OSError:
            # Full, or gone: who waits for it hears which.
            self._written = 0
        if self._written < len(message) + len(self._end):
            return False
        self._written = 0
        return True

    async def send(self, message: bytes) -> None:
        """Raises what the stream raises."""
        written, self._written = self._written, 0
        if len(message) < CHUNK_BYTES:
            await self._stream.send_all((message + self._end)[written:])
            return
        await self._stream.send_all(memoryview(message)[written:])
        await self._stream.send_all(self._end[max(0, written - len(message)) :])


class ChunkReader:
    """Reads what there is of a stream of bytes.

    Of a descriptor, into one buffer that stays, since a large one that is made anew costs many times what the read
    does; and with one turn of the scheduler for each chunk, where the stream itself takes two.
    """

    def __init__(self, stream: trio.abc.ReceiveStream) -> None:
        self._stream = stream
        self._buffer = memoryview(bytearray(CHUNK_BYTES))
        self._is_drained = False
        """Nothing more was there, of a descriptor that can be waited for, as a file can't: to wait comes first."""

    async def receive(self) -> memoryview:
        """The next chunk, which is gone with the next call; an empty one at the end of the stream.

        Raises:
            trio.BrokenResourceError, trio.ClosedResourceError: as the stream.
        """
        if os.name != "posix" or not isinstance(self._stream, trio.lowlevel.FdStream):
            return memoryview(await self._stream.receive_some(CHUNK_BYTES))
        await trio.lowlevel.checkpoint_if_cancelled()
        has_waited = False
        while True:
            descriptor = self._stream.fileno()
            if self._is_drained and descriptor >= 0:  # it is -1 once the stream is closed
                await trio.lowlevel.wait_readable(descriptor)
                has_waited = True
            try:
                size = os.readv(descriptor, (self._buffer,))
            except BlockingIOError:
                self._is_drained = True
            except OSError as error:
                gone = trio.ClosedResourceError if error.errno == errno.EBADF else trio.BrokenResourceError
                raise gone from error
            else:
                if not has_waited:
                    await trio.lowlevel.cancel_shielded_checkpoint()
                self._is_drained = has_waited and size < CHUNK_BYTES
                return self._buffer[:size]


def widen(descriptor: int) -> None:
    """Let a pipe hold more, so that a large message has its two ends take fewer turns. Where it can't, it stays."""
    if sys.platform == "linux":
        with suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


class Outbox:
    """Sends a message at once where none waits before it and the system takes it; else `carry` does, in its turn.

    So hardly a message needs a task to wake for it. One whose sender is cancelled is sent whole all the same.

    Attributes:
        carried: how many messages had to wait, and were sent.

    Args:
        places: how many messages may wait before `send` waits as well.
        most_bytes: how much may wait before `post` refuses more.
    """

    def __init__(self, sender: Sender, *, places: float = math.inf, most_bytes: float = math.inf) -> None:
        self._sender = sender
        self._to_carrier, self._queue = trio.open_memory_channel[bytes](places)
        self._waiting = 0
        self._most_bytes = most_bytes
        self._waiting_bytes = 0
        self.carried = 0

    @property
    def is_empty(self) -> bool:
        """Whether no message waits to be taken."""
        return not self._waiting

    def post(self, message: bytes) -> None:
        """Send a message from code that can't wait. Raises trio.WouldBlock where no place is left."""
        if not self._waiting and self._sender.send_now(message):
            return
        if self._waiting_bytes + len(message) > self._most_bytes:
            raise trio.WouldBlock
        self._to_carrier.send_nowait(message)
        self._waiting += 1
        self._waiting_bytes += len(message)

    async def send(self, message: bytes) -> None:
        """Send a message, and wait where too many wait already.

        Raises:
            trio.ClosedResourceError: it was closed.
        """
        if not self._waiting:
            # A part of it may be written: the rest must not depend on whether its sender is cancelled.
            self.post(message)
            return
        self._waiting += 1
        self._waiting_bytes += len(message)
        try:
            await self._to_carrier.send(message)
        except BaseException:
            self._waiting -= 1
            self._waiting_bytes -= len(message)
            raise

    async def carry(self) -> None:
        """Send what waits, until `close`. Raises what the sender raises."""
        async for message in self._queue:
            await self._sender.send(message)
            self._waiting -= 1
            self._waiting_bytes -= len(message)
            self.carried += 1

    async def discard(self) -> None:
        """Take what comes and send nothing, until `close`."""
        async for _ in self._queue:
            pass

    def close(self) -> None:
        """Nothing more will come."""
        self._to_carrier.close()
