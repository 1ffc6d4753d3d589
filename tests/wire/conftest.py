"""A fake browser on the other end of a debugging pipe, and calls that run while a test plays its part."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import lockstep_stream_one_way_pair, memory_stream_one_way_pair

from bridge.wire.commands import Command, target
from bridge.wire.connection import Connection, open_connection
from bridge.wire.router import Json, SessionId
from bridge.wire.transports import PipeTransport

StreamPair = Callable[[], tuple[trio.abc.SendStream, trio.abc.ReceiveStream]]


class FakePeer:
    """It says what a test makes it say, also what no browser would."""

    def __init__(self, stream_pair: StreamPair) -> None:
        to_browser, self._commands = stream_pair()
        self._messages, from_browser = stream_pair()
        self._unread = bytearray()
        self.transport = PipeTransport(to_browser, from_browser, message_bytes=1_000_000)

    async def read(self, at_most: int) -> None:
        """Take some bytes off the pipe, for `next_command` to find."""
        chunk = await self._commands.receive_some(at_most)
        assert chunk, "the bridge closed the pipe"
        self._unread += chunk

    async def next_command(self) -> Json:
        """Wait for a whole command."""
        while (end := self._unread.find(b"\0")) < 0:
            await self.read(4096)
        command = json.loads(self._unread[:end])
        del self._unread[: end + 1]
        return command

    async def say(self, *messages: object) -> None:
        """Send messages in one go: JSON values, or bytes as they are."""
        frames = (m if isinstance(m, bytes) else json.dumps(m).encode() for m in messages)
        await self._messages.send_all(b"".join(frame + b"\0" for frame in frames))

    async def hang_up(self) -> None:
        await self._messages.aclose()
        await self._commands.aclose()

    async def wait_closed(self) -> None:
        """Wait until the bridge has closed both directions, whatever it still sent."""
        while await self._commands.receive_some(4096):
            pass
        with pytest.raises(trio.BrokenResourceError):
            await self._messages.send_all(b"x")

    @asynccontextmanager
    async def open_link(self) -> AsyncGenerator["Link"]:
        """Connect to this browser; every call of the link ends before the link does."""
        with trio.fail_after(5):
            async with open_connection(self.transport) as connection, trio.open_nursery() as nursery:
                yield Link(self, connection, nursery)


class Call:
    """One call in a task of its own, and what became of it."""

    value: Any = None
    error: Exception | None = None

    def __init__(self, nursery: trio.Nursery, call: Callable[..., Awaitable[object]], *args: object) -> None:
        self._scope = trio.CancelScope()
        self._ended = trio.Event()
        nursery.start_soon(self._keep, call, *args)

    async def wait_ended(self) -> None:
        await self._ended.wait()

    async def cancel(self) -> None:
        self.cancel_nowait()
        await self._ended.wait()

    def cancel_nowait(self) -> None:
        self._scope.cancel()

    async def _keep(self, call: Callable[..., Awaitable[object]], *args: object) -> None:
        try:
            with self._scope:
                self.value = await call(*args)
        except Exception as error:
            self.error = error
        finally:
            self._ended.set()


class Link:
    """A connection to a fake browser."""

    def __init__(self, peer: FakePeer, connection: Connection, nursery: trio.Nursery) -> None:
        self._peer = peer
        self._nursery = nursery
        self.connection = connection

    def start(self, command: Command, session_id: SessionId | None = None) -> Call:
        return Call(self._nursery, self.connection.run, command, session_id)

    async def check_alive(self, session_id: SessionId | None = None) -> None:
        """A command still finds its way to the browser, and its answer back."""
        call = self.start(target.create_target("about:blank"), session_id)
        command = await self._peer.next_command()
        assert command["method"] == "Target.createTarget"
        await self._peer.say({"id": command["id"], "result": {"targetId": "alive"}})
        await call.wait_ended()
        assert call.value == "alive"


@pytest.fixture
def peer() -> FakePeer:
    """A browser that reads as fast as we write."""
    return FakePeer(memory_stream_one_way_pair)


@pytest.fixture
def slow_peer() -> FakePeer:
    """A browser that takes a byte only when the test lets it."""
    return FakePeer(lockstep_stream_one_way_pair)


@pytest.fixture
def start_call() -> type[Call]:
    """For a call in a nursery that outlives the connection."""
    return Call
