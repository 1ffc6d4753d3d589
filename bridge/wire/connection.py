"""The one owner of a transport: sends commands, hands out replies and events.

One task reads and one writes. The reader never waits for anybody: a reply sets its waiter, an event goes to a
synchronous handler. The writer sends whole messages, so a cancelled command can never cut one in two.
"""

import logging
import math
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager

import trio

from bridge.errors import BridgeError, CommandFailed, ConnectionLost
from bridge.limits import CLOSE_SECONDS
from bridge.wire.commands import Command, Event, Result, finish_command, parse_event
from bridge.wire.nursery import open_background
from bridge.wire.router import Json, RawEvent, Reply, Router, SessionId, WireFault
from bridge.wire.transports import Transport, TransportEnded

logger = logging.getLogger(__name__)

Handler = Callable[[Event], None]


class _Waiter:
    """One command on its way. Exactly one of `reply` and `error` is set when `done` is."""

    __slots__ = ("done", "error", "reply", "session_id")

    def __init__(self, session_id: SessionId | None) -> None:
        self.session_id = session_id
        self.done = trio.Event()
        self.reply: Reply | None = None
        self.error: BridgeError | None = None

    def fail(self, error: BridgeError) -> None:
        if not self.done.is_set():
            self.error = error
            self.done.set()


class Connection:
    """Commands and events over one transport. Made by `open_connection`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._router = Router()
        self._waiters: dict[int, _Waiter] = {}
        self._handlers: dict[SessionId | None, Handler] = {}
        self._outbox, self._queue = trio.open_memory_channel[bytes](math.inf)
        self._lost: ConnectionLost | None = None
        self._ended = trio.Event()

    @property
    def lost(self) -> ConnectionLost | None:
        """Why the link ended, or None while it is up."""
        return self._lost

    async def wait_lost(self) -> ConnectionLost:
        """Block until the link ends, and return why."""
        await self._ended.wait()
        assert self._lost is not None
        return self._lost

    def listen(self, session_id: SessionId | None, handler: Handler) -> None:
        """Hand each event of a session to `handler`, which must neither block nor raise."""
        self._handlers[session_id] = handler

    def end_session(self, session_id: SessionId, error: Callable[[], BridgeError]) -> None:
        """A session ended: no reply of it will ever come, so each of its waiters gets an error of its own."""
        self._handlers.pop(session_id, None)
        for waiter in self._waiters.values():
            if waiter.session_id == session_id:
                waiter.fail(error())

    async def run(self, command: Generator[Json, Json, Result], session_id: SessionId | None = None) -> Result:
        """Send one command and return what its generator makes of the reply.

        Waits for the reply; the caller's cancel scope is the deadline. Leaving early drops the reply.

        Raises:
            ConnectionLost: the link ended first.
            CommandFailed: Chromium refused it, its reply cannot be read, or it cannot be sent.
        """
        if self._lost is not None:
            raise _copy(self._lost)
        method, command_id, message = self._encode(command, session_id)
        waiter = self._waiters[command_id] = _Waiter(session_id)
        try:
            self._outbox.send_nowait(message)
            await waiter.done.wait()
        finally:
            del self._waiters[command_id]
        return self._conclude(method, command, waiter)

    def send_nowait(self, command: Command, session_id: SessionId | None = None) -> None:
        """Send a command whose reply nobody needs; it does nothing once the link is gone."""
        if self._lost is None:
            self._outbox.send_nowait(self._encode(command, session_id)[2])

    def start(self, nursery: trio.Nursery) -> None:
        """Begin to carry messages. For `open_connection`, once."""
        nursery.start_soon(self._read)
        nursery.start_soon(self._write)

    def end(self, reason: str) -> None:
        """The link is over: each waiter gets an error of its own. Only the first reason counts."""
        self._lose(ConnectionLost(reason))

    def _encode(self, command: Command, session_id: SessionId | None) -> tuple[str, int, bytes]:
        request = next(command)
        method: str = request["method"]
        try:
            return method, *self._router.encode(method, request.get("params", {}), session_id)
        except ValueError as error:
            raise CommandFailed(method, f"its parameters cannot be sent ({error})") from error

    def _conclude(self, method: str, command: Generator[Json, Json, Result], waiter: _Waiter) -> Result:
        if waiter.error is not None:
            raise waiter.error
        reply = waiter.reply
        assert reply is not None
        if reply.error is not None:
            raise _refused(method, reply.error)
        try:
            return finish_command(command, reply.result or {})
        except ValueError as error:
            raise CommandFailed(method, str(error)) from error

    async def _read(self) -> None:
        """Read until the transport ends or breaks the protocol; then tell every waiter."""
        try:
            while True:
                # No name for the message: a large one would live on until the next comes.
                self._take(self._router.decode(await self._transport.receive()))
        except TransportEnded as ended:
            self._lose(ConnectionLost(str(ended), close_code=ended.close_code))
        except WireFault as fault:
            self._lose(ConnectionLost(f"the browser sent {fault}"))

    async def _write(self) -> None:
        try:
            async for message in self._queue:
                await self._transport.send(message)
        except TransportEnded as ended:
            self._lose(ConnectionLost(str(ended), close_code=ended.close_code))

    def _take(self, message: Reply | RawEvent) -> None:
        match message:
            case Reply():
                self._settle(message)
            case RawEvent():
                self._hand_out(message)

    def _settle(self, reply: Reply) -> None:
        if reply.command_id is None:
            logger.warning("the browser could not read a message of ours: %.200s", reply.error)
            return
        waiter = self._waiters.get(reply.command_id)
        if waiter is None or waiter.done.is_set():
            logger.debug("reply to command %d: nobody waits for it any more", reply.command_id)
            return
        waiter.reply = reply
        waiter.done.set()

    def _hand_out(self, raw: RawEvent) -> None:
        handler = self._handlers.get(raw.session_id)
        if handler is not None:
            handler(parse_event(raw))

    def _lose(self, error: ConnectionLost) -> None:
        if self._lost is not None:
            return
        self._lost = error
        for waiter in self._waiters.values():
            waiter.fail(_copy(error))
        self._ended.set()


class Session:
    """One target's end of the connection."""

    def __init__(self, connection: Connection, session_id: SessionId) -> None:
        self.connection = connection
        self.session_id = session_id

    async def run(self, command: Generator[Json, Json, Result]) -> Result:
        """As `Connection.run`, for this target."""
        return await self.connection.run(command, self.session_id)

    def send_nowait(self, command: Command) -> None:
        """As `Connection.send_nowait`, for this target."""
        self.connection.send_nowait(command, self.session_id)


def _copy(error: ConnectionLost) -> ConnectionLost:
    """One exception object for each waiter, so that tracebacks do not mix."""
    return ConnectionLost(error.reason, close_code=error.close_code)


def _refused(method: str, error: Json) -> CommandFailed:
    code = error.get("code")
    data = error.get("data")
    message = error.get("message")
    if not isinstance(message, str):
        message = "no reason given"
    return CommandFailed(
        method,
        f"{message}: {data}" if isinstance(data, str) and data else message,
        error_code=code if isinstance(code, int) else None,
    )


@asynccontextmanager
async def open_connection(transport: Transport) -> AsyncGenerator[Connection]:
    """Own `transport` for the length of the block, and close it at the end.

    What the block raises comes out as it is, not in a group.
    """
    connection = Connection(transport)
    try:
        async with open_background() as nursery:
            connection.start(nursery)
            try:
                yield connection
            finally:
                connection.end("the bridge closed it")
    finally:
        with trio.move_on_after(CLOSE_SECONDS, shield=True):
            await transport.aclose()
