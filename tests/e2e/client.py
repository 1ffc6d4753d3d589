"""The official MCP client against the real command over real stdio, and a raw one that sees every byte."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import trio
from mcp import Client
from mcp.client.session import ElicitationFnT, MessageHandlerFnT
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from tests.frames import take_out

COMMAND = [sys.executable, "-m", "bridge"]
Era = Literal["legacy", "2026-07-28"]
ERAS: tuple[Era, ...] = ("legacy", "2026-07-28")


@asynccontextmanager
async def open_agent(
    *words: str,
    before: Sequence[str] = (),
    era: Era = "legacy",
    message_handler: MessageHandlerFnT | None = None,
    on_question: ElicitationFnT | None = None,
    folder: Path | None = None,
) -> AsyncGenerator[Client]:
    """`pagebridge serve` with these words, and the SDK's client connected to it.

    Args:
        before: words that stand before `serve`.
        on_question: answers for the person; without it, the client can't ask.
        folder: where it is started; here if None.
    """
    args = [*COMMAND[1:], *before, "serve", *words]
    server = StdioServerParameters(command=COMMAND[0], args=args, env=dict(os.environ), cwd=folder)
    with trio.fail_after(60):
        async with Client(
            stdio_client(server), mode=era, message_handler=message_handler, elicitation_callback=on_question
        ) as client:
            yield client


def text_of(result: CallToolResult) -> str:
    """What an answer says, a page's words as the page said them."""
    [block] = result.content
    assert isinstance(block, TextContent)
    return take_out(block.text)


def with_plain_text(message: dict[str, Any]) -> dict[str, Any]:
    """The message with a page's words as the page said them."""
    match message:
        case {"result": {"content": [*blocks]}}:
            for block in cast("list[dict[str, Any]]", blocks):
                if block["type"] == "text":
                    block["text"] = take_out(block["text"])
        case _:
            pass
    return message


def read(result: CallToolResult) -> dict[str, Any]:
    return json.loads(text_of(result))


@dataclass
class RawClient:
    """`pagebridge serve` behind plain pipes. Every line of its stdout must be a JSON-RPC message."""

    process: trio.Process
    errors: bytearray = field(default_factory=bytearray)
    said: bytearray = field(default_factory=bytearray)
    """All of stdout."""
    _buffer: bytearray = field(default_factory=bytearray)
    _last_id: int = 0

    async def send(self, message: dict[str, Any] | bytes) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        await self.process.stdin.send_all(line + b"\n")

    async def ask(self, method: str, **params: Any) -> int:
        """Send a request, and return its id."""
        self._last_id += 1
        await self.send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return self._last_id

    async def call(self, name: str, **arguments: Any) -> int:
        return await self.ask("tools/call", name=name, arguments=arguments)

    async def receive(self) -> dict[str, Any] | None:
        """The next message, None at the end of stdout."""
        assert self.process.stdout is not None
        while b"\n" not in self._buffer:
            chunk = await self.process.stdout.receive_some()
            if not chunk:
                assert not self._buffer, f"stdout ended inside a line: {bytes(self._buffer[:200])!r}"
                return None
            self._buffer += chunk
            self.said += chunk
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer = bytearray(rest)
        message = json.loads(line.decode())
        assert message["jsonrpc"] == "2.0"
        return with_plain_text(message)

    async def answer(self, request_id: int) -> dict[str, Any]:
        """The answer to one request; other messages are passed over."""
        while True:
            message = await self.receive()
            assert message is not None, f"stdout ended before the answer; stderr: {self.errors.decode()}"
            if message.get("id") == request_id:
                return message

    async def result(self, request_id: int) -> dict[str, Any]:
        message = await self.answer(request_id)
        assert "result" in message, message
        return message["result"]

    async def initialize(self) -> dict[str, Any]:
        request_id = await self.ask(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "raw", "version": "1"},
        )
        result = await self.result(request_id)
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    async def close_stdin(self) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.aclose()

    async def rest(self) -> list[dict[str, Any]]:
        """Everything that still comes, to the end of stdout."""
        messages: list[dict[str, Any]] = []
        while (message := await self.receive()) is not None:
            messages.append(message)
        return messages


@asynccontextmanager
async def open_raw(
    *words: str, env: dict[str, str] | None = None, before: Sequence[str] = ()
) -> AsyncGenerator[RawClient]:
    """Args:
    before: what the command is run by.
    """
    async with trio.open_nursery() as nursery:
        process = await trio.lowlevel.open_process(
            [*before, *COMMAND, "serve", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
        )
        client = RawClient(process)

        async def read_errors() -> None:
            assert process.stderr is not None
            async for chunk in process.stderr:
                client.errors += chunk

        nursery.start_soon(read_errors)
        try:
            with trio.fail_after(60):
                yield client
        finally:
            with trio.CancelScope(shield=True):
                if process.returncode is None:
                    process.kill()
                    await process.wait()
            assert process.stdin is not None
            assert process.stdout is not None
            await process.stdin.aclose()
            await process.stdout.aclose()
