"""The one owner of a transport: sends commands, hands out replies and events.

One task reads. It never waits for anybody: a reply settles its command, an event goes to a synchronous handler. The
outbox sends whole messages, so a cancelled command can never cut one in two.
"""

import logging
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Generic

import trio

from bridge import limits
from bridge.errors import BridgeError, CommandFailed, ConnectionLost
from bridge.limits import CLOSE_SECONDS
from bridge.wire.commands import (
    Command,
    Event,
    Result,
    finish_command,
    is_for_nobody,
    is_unread,
    method_of,
    parse_event,
)
from bridge.wire.hearing import Hearing
from bridge.wire.nursery import open_background
from bridge.wire.pipes import Outbox
from bridge.wire.router import Json, RawEvent, Reply, Router, SessionId, WireFault
from bridge.wire.transports import Transport, TransportEnded

logger = logging.getLogger(__name__)

Handler = Callable[[Event], None]


class Pending(Generic[Result]):
    """One command on its way, until its reply is there or can't come any more. Made by `Connection.begin`."""

    __slots__ = ("_command", "_error", "_method", "_on_done", "_reply", "command_id", "session_id")

    def __init__(
        self,
        method: str,
        command: Generator[Json, Json, Result],
        command_id: int,
        session_id: SessionId | None,
        on_done: Callable[[], None],
    ) -> None:
        self.command_id = command_id
        self.session_id = session_id
        self._method = method
        self._command = command
        self._on_done = on_done
        self._reply: Reply | None = None
        self._error: BridgeError | None = None

    @property
    def is_done(self) -> bool:
        return self._reply is not None or self._error is not None

    def settle(self, reply: Reply) -> None:
        """For the connection, once: the reply is there."""
        self._reply = reply
        self._on_done()

    def fail(self, error: BridgeError) -> None:
        """For the connection, once: no reply will come."""
        self._error = error
        self._on_done()

    def result(self) -> Result:
        """What the command makes of its reply; to be asked once, when that is there.

        Raises:
            ConnectionLost, CommandFailed: as `Connection.run`.
        """
        if self._error is not None:
            raise self._error
        assert self._reply is not None
        if self._reply.error is not None:
            raise _refused(self._method, self._reply.error)
        try:
            return finish_command(self._command, self._reply.result or {})
        except ValueError as error:
            raise CommandFailed(self._method, str(error)) from error


class Connection:
    """Commands and events over one transport. Made by `open_connection`.

    Attributes:
        hears_all: events that nobody in this package acts on are handed out, too.
        hearing: which events are acted on besides those that always are.
    """

    def __init__(self, transport: Transport) -> None:
        self.hears_all = False
        self.hearing = Hearing()
        self._transport = transport
        self._router = Router()
        self._pending: dict[int, Pending[Any]] = {}
        self._handlers: dict[SessionId | None, Handler] = {}
        self._unread: set[str] = set()
        """Methods of events that came in a form that nobody can read."""
        self._outbox = Outbox(transport, most_bytes=limits.UNSENT_BYTES)
        self._lost: ConnectionLost | None = None
        self._ended = trio.Event()

    @property
    def is_lost(self) -> bool:
        return self._lost is not None

    @property
    def lost(self) -> ConnectionLost | None:
        """Why the link ended, or None while it is up; each who asks gets an error of its own."""
        return None if self._lost is None else _copy(self._lost)

    async def wait_lost(self) -> ConnectionLost:
        """Block until the link ends, and return why."""
        await self._ended.wait()
        assert self._lost is not None
        return self._lost

    def listen(self, session_id: SessionId | None, handler: Handler) -> None:
        """Hand each event of a session to `handler`, which must neither block nor raise."""
        self._handlers[session_id] = handler

    def end_session(self, session_id: SessionId, error: Callable[[], BridgeError]) -> None:
        """A session ended: no reply of it will ever come, so each of its commands gets an error of its own."""
        self._handlers.pop(session_id, None)
        for pending in list(self._pending.values()):
            if pending.session_id == session_id:
                self.forget(pending)
                pending.fail(error())

    async def run(self, command: Generator[Json, Json, Result], session_id: SessionId | None = None) -> Result:
        """Send one command and return what its generator makes of the reply.

        Waits for the reply; the caller's cancel scope is the deadline. Leaving early drops the reply.

        Raises:
            ConnectionLost: the link ended first.
            CommandFailed: Chromium refused it, its reply cannot be read, or it cannot be sent.
        """
        done = trio.Event()
        pending = self.begin(command, session_id, on_done=done.set)
        try:
            await done.wait()
        finally:
            self.forget(pending)
        return pending.result()

    def begin(
        self,
        command: Generator[Json, Json, Result],
        session_id: SessionId | None = None,
        *,
        on_done: Callable[[], None],
    ) -> Pending[Result]:
        """Send one command, and hear when its reply is there or can't come any more.

        Args:
            on_done: must neither block nor raise.

        Raises:
            ConnectionLost: the link is gone.
            CommandFailed: it cannot be sent.
        """
        if (lost := self.lost) is not None:
            raise lost
        method, command_id, message = self._encode(command, session_id)
        pending = self._pending[command_id] = Pending(method, command, command_id, session_id, on_done)
        self._post(message)
        return pending

    def forget(self, pending: Pending[Any]) -> None:
        """Nobody wants this reply any more. Safe to repeat."""
        self._pending.pop(pending.command_id, None)

    def send_nowait(self, command: Command, session_id: SessionId | None = None) -> None:
        """Send a command whose reply nobody needs; it does nothing once the link is gone."""
        if self._lost is None:
            self._post(self._encode(command, session_id)[2])

    def _post(self, message: bytes) -> None:
        try:
            self._outbox.post(message)
        except trio.WouldBlock:
            self._lose(ConnectionLost("the browser does not take what is sent to it"))

    def start(self, nursery: trio.Nursery) -> None:
        """Begin to carry messages. For `open_connection`, once."""
        nursery.start_soon(self._read)
        nursery.start_soon(self._write)

    def end(self, reason: str) -> None:
        """The link is over: each command gets an error of its own. Only the first reason counts."""
        self._lose(ConnectionLost(reason))

    def _encode(self, command: Command, session_id: SessionId | None) -> tuple[str, int, bytes]:
        request = next(command)
        method: str = request["method"]
        try:
            return method, *self._router.encode(method, request.get("params", {}), session_id)
        except ValueError as error:
            raise CommandFailed(method, f"its parameters cannot be sent ({error})") from error

    async def _read(self) -> None:
        """Read until the transport ends or breaks the protocol; then settle every command."""
        try:
            while self._lost is None:
                message = await self._transport.receive()
                if is_for_nobody(message) and not self.hears_all and not self._hears(message):
                    continue
                read = self._router.decode(message)
                del message  # a large one would live on until the next comes
                self._take(read)
                del read
        except TransportEnded as ended:
            self._lose(ConnectionLost(str(ended), close_code=ended.close_code))
        except WireFault as fault:
            self._lose(ConnectionLost(f"the browser sent {fault}"))

    def _hears(self, message: bytes | bytearray | str) -> bool:
        if not self.hearing.readers:
            return False
        return self.hearing.takes(method_of(message), len(message), trio.current_time())

    async def _write(self) -> None:
        try:
            await self._outbox.carry()
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
        pending = self._pending.pop(reply.command_id, None)
        if pending is None:
            logger.debug("reply to command %d: nobody waits for it any more", reply.command_id)
            return
        pending.settle(reply)

    def _hand_out(self, raw: RawEvent) -> None:
        handler = self._handlers.get(raw.session_id)
        if handler is not None:
            event = parse_event(raw)
            if event is raw and raw.method in self.hearing.readers:
                event = parse_event(raw, self.hearing.readers)
            if is_unread(event) and raw.method not in self._unread:
                self._unread.add(raw.method)
                logger.warning(
                    "the browser sends %s in a form that cannot be read, so its pages may seem to hang: "
                    "it may be newer than this pagebridge",
                    raw.method,
                )
            handler(event)

    def _lose(self, error: ConnectionLost) -> None:
        if self._lost is not None:
            return
        self._lost = error
        lost, self._pending = self._pending, {}
        for pending in lost.values():
            pending.fail(_copy(error))
        self._ended.set()


class Session:
    """One target's end of the connection."""

    def __init__(self, connection: Connection, session_id: SessionId) -> None:
        self.connection = connection
        self.session_id = session_id

    async def run(self, command: Generator[Json, Json, Result]) -> Result:
        """As `Connection.run`, for this target."""
        return await self.connection.run(command, self.session_id)

    async def run_all(self, commands: Iterable[Command]) -> list[Any]:
        """Send commands one behind the other, and return what each has for its reply.

        Raises:
            ConnectionLost, CommandFailed: as `run`, of the first of them that has no good one.
        """
        changed = trio.Event()
        sent: list[Pending[Any]] = []
        try:
            for command in commands:
                sent.append(self.begin(command, on_done=lambda: changed.set()))  # noqa: PERF401  # one by one, as some may fail
            while not all(pending.is_done for pending in sent):
                await changed.wait()
                changed = trio.Event()
        finally:
            for pending in sent:
                self.connection.forget(pending)
        return [pending.result() for pending in sent]

    def begin(self, command: Generator[Json, Json, Result], *, on_done: Callable[[], None]) -> Pending[Result]:
        """As `Connection.begin`, for this target."""
        return self.connection.begin(command, self.session_id, on_done=on_done)

    def send_nowait(self, command: Command) -> None:
        """As `Connection.send_nowait`, for this target."""
        self.connection.send_nowait(command, self.session_id)


def _copy(error: ConnectionLost) -> ConnectionLost:
    """One exception object for each waiter, so that tracebacks do not mix."""
    return ConnectionLost(error.reason, close_code=error.close_code)


def _refused(method: str, error: Json) -> CommandFailed:
    code = error.get("code")
    # On one line, since they stand in a sentence of ours.
    words = (" ".join(text.split()) for text in (error.get("message"), error.get("data")) if isinstance(text, str))
    reason = ": ".join(text for text in words if text)
    return CommandFailed(method, reason or "no reason given", error_code=code if isinstance(code, int) else None)


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
