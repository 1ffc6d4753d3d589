"""stdin and stdout as the SDK's server takes them: what its messages are in lines."""

from types import TracebackType
from typing import Final, Self

import anyio
import trio
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from bridge.serve.greeting import Greeter
from bridge.serve.stdio import INVALID_REQUEST, OpenRequests, Stdio, error_line

PARSE_ERROR: Final = -32700


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

    def __init__(self, lines: trio.MemoryReceiveChannel[bytes], stdio: Stdio, requests: OpenRequests) -> None:
        self._lines = lines
        self._stdio = stdio
        self._requests = requests

    async def __anext__(self) -> SessionMessage:
        async for line in self._lines:
            try:
                message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
            except ValidationError as error:
                await self._refuse(error)
                continue
            self._note(message)
            return message
        await self._requests.wait_last_answers()
        raise StopAsyncIteration

    def _note(self, message: SessionMessage) -> None:
        match message.message:
            # One to listen is answered when there is nothing more to hear.
            case JSONRPCRequest(method=method, id=request_id) if method != "subscriptions/listen":
                self._requests.came_in(request_id)
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as taken}):
                self._requests.settle(taken)
            case _:
                pass

    async def _refuse(self, error: ValidationError) -> None:
        if error.errors()[0]["type"] == "json_invalid":
            await self._stdio.send(error_line(PARSE_ERROR, "Parse error: a line that is not JSON was dropped"))
        else:
            text = "Invalid request: a line that is not a JSON-RPC 2.0 message was dropped"
            await self._stdio.send(error_line(INVALID_REQUEST, text))

    async def receive(self) -> SessionMessage:
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    def __aiter__(self) -> Self:
        return self


class Outgoing(_Stream):
    """The SDK's write stream: each message becomes a line, but for the answer that the greeter has given."""

    def __init__(self, stdio: Stdio, requests: OpenRequests, greeter: Greeter) -> None:
        self._stdio = stdio
        self._requests = requests
        self._greeter = greeter

    async def send(self, item: SessionMessage, /) -> None:
        request_id = told = None
        match item.message:
            case JSONRPCResponse(id=request_id, result=told) | JSONRPCError(id=request_id, error=told):
                pass
            case _:
                pass
        if request_id is None or not self._greeter.has_answered(request_id, told):
            try:
                await self._stdio.send(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
            except trio.ClosedResourceError as error:
                raise anyio.ClosedResourceError from error
        if request_id is not None:
            self._requests.settle(request_id)
