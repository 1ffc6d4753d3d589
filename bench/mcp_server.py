"""An MCP server behind plain pipes, asked in raw JSON: the same few lines for each, so that none is favoured."""

import json
import os
import subprocess
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import trio

ANSWER_SECONDS = 30
END_SECONDS = 10


class Server:
    """A running server. Made by `open_server`.

    Attributes:
        version: what it calls itself.
    """

    def __init__(self, process: trio.Process) -> None:
        self.version = ""
        self._process = process
        self._buffer = bytearray()
        self._last_id = 0

    async def call(self, tool: str, /, **arguments: object) -> str:
        """The text that a tool answers, an error's too."""
        result = await self.ask("tools/call", name=tool, arguments=arguments)
        return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")

    async def ask(self, method: str, **params: object) -> dict[str, Any]:
        self._last_id += 1
        await self._send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        with trio.fail_after(ANSWER_SECONDS):
            while (message := await self._receive()).get("id") != self._last_id:
                pass
        if "error" in message:
            raise SystemExit(f"A server refused {method} {params}: {message['error']}")
        return message["result"]

    async def initialize(self) -> None:
        told = await self.ask(
            "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "bench", "version": "1"}
        )
        self.version = told["serverInfo"]["version"]
        await self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        await self._process.stdin.send_all(json.dumps(message).encode() + b"\n")

    async def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        while b"\n" not in self._buffer:
            chunk = await self._process.stdout.receive_some()
            if not chunk:
                raise SystemExit("A server ended before it answered; what it said is above.")
            self._buffer += chunk
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer = bytearray(rest)
        return json.loads(line)


@asynccontextmanager
async def open_server(command: Sequence[str], env: Mapping[str, str] | None = None) -> AsyncGenerator[Server]:
    """Start a server, and end it at the end by closing its stdin, as a client does."""
    process = await trio.lowlevel.open_process(
        list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **(env or {})}
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        server = Server(process)
        await server.initialize()
        yield server
    finally:
        with trio.CancelScope(shield=True):
            await process.stdin.aclose()
            with trio.move_on_after(END_SECONDS):
                await process.wait()
            if process.returncode is None:
                process.kill()
                await process.wait()
            await process.stdout.aclose()
