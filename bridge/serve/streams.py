"""stdin and stdout as the SDK's server takes them: what its messages are in lines."""

from contextlib import suppress
from types import TracebackType
from typing import Any, Self, cast

import anyio
import trio
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import from_json

from bridge.serve.greeting import Greeter
from bridge.serve.stdio import INVALID_REQUEST, PARSE_ERROR, NoMessage, Stdio


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


class _Stream:
    """What both of the SDK's streams are besides."""

    async def aclose(self) -> None:
        pass

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


class Incoming(_Stream):
    """The SDK's read stream: the messages in those lines that are for the SDK."""

    def __init__(self, lines: trio.MemoryReceiveChannel[bytes], stdio: Stdio) -> None:
        self._lines = lines
        self._stdio = stdio

    async def __anext__(self) -> SessionMessage:
        with suppress(trio.BrokenResourceError):  # as good as the end
            async for line in self._lines:
                self._stdio.requests.arrive()
                try:
                    message = read_message(line)
                    self._note(message)
                except NoMessage as refused:
                    await self._stdio.refuse(refused)
                else:
                    return SessionMessage(message)
        await self._stdio.requests.wait_last_answers()
        raise StopAsyncIteration

    def _note(self, message: JSONRPCMessage) -> None:
        match message:
            case JSONRPCRequest(method=method, id=request_id):
                self._stdio.requests.came_in(request_id, method)
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as taken}):
                if _is_id(taken):
                    self._stdio.requests.settle(taken)
            case _:
                pass

    async def receive(self) -> SessionMessage:
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    def __aiter__(self) -> Self:
        return self


class Outgoing(_Stream):
    """The SDK's write stream: each message becomes a line, but for an answer that the greeter has given, or that the
    client does not want any more."""

    def __init__(self, stdio: Stdio, greeter: Greeter) -> None:
        self._stdio = stdio
        self._greeter = greeter

    async def send(self, item: SessionMessage, /) -> None:
        match item.message:
            case JSONRPCResponse(id=request_id, result=told) | JSONRPCError(id=str() | int() as request_id, error=told):
                if request_id not in self._stdio.requests:
                    return
                if not self._greeter.has_answered(request_id, told):
                    await self._send(item.message)
                self._stdio.requests.settle(request_id)
            case message:
                await self._send(message)

    async def _send(self, message: JSONRPCMessage) -> None:
        try:
            await self._stdio.send(message.model_dump_json(by_alias=True, exclude_unset=True).encode())
        except trio.ClosedResourceError as error:
            raise anyio.ClosedResourceError from error
