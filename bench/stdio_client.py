"""An MCP client over plain pipes that does nothing else: synchronous, so that it costs all servers the same."""

import json
import os
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, Final

from bench.channel import Channel

END_SECONDS: Final = 10


class Client:
    """One running server. Made by `open_client`.

    Attributes:
        pid: of the server's process.
        version: what it calls itself, once it is initialized.
    """

    def __init__(self, channel: Channel, pid: int) -> None:
        self.pid = pid
        self.version = ""
        self._channel = channel
        self._last_id = 0

    def initialize(self) -> None:
        told = self.ask(
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
        )
        self.version = told["serverInfo"]["version"]
        self._channel.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def settle(self) -> None:
        """Ask for what a server may have put off loading until it is needed."""
        self.ask("tools/list", {})
        self.ask("ping", {})

    def call(self, tool: str, arguments: object) -> str:
        """The text that a tool answers; no error, for that is no work to be measured."""
        return text_of(self.ask("tools/call", {"name": tool, "arguments": arguments}))

    def call_at_once(self, messages: Sequence[bytes]) -> None:
        """Send requests without waiting in between, and read an answer to each."""
        for answer in self._channel.exchange(messages, len(messages)):
            text_of(json.loads(answer)["result"])

    def encode_call(self, tool: str, arguments: object) -> bytes:
        return self._encode("tools/call", {"name": tool, "arguments": arguments})

    def ask(self, method: str, params: object) -> dict[str, Any]:
        self._channel.send(self._encode(method, params))
        while (message := json.loads(self._channel.receive())).get("id") != self._last_id:
            pass
        if "error" in message:
            raise SystemExit(f"A server refused {method} {params}: {message['error']}")
        return message["result"]

    def _encode(self, method: str, params: object) -> bytes:
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        return json.dumps(message, separators=(",", ":")).encode()


def text_of(result: dict[str, Any]) -> str:
    text = "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
    if result.get("isError"):
        raise SystemExit(f"A server answered an error: {text}")
    return text


@contextmanager
def open_client(
    command: Sequence[str], env: Mapping[str, str] | None = None, *, stderr: IO[bytes] | None = None
) -> Generator[Client]:
    """Start a server, not yet initialized; at the end close its stdin, as a client does, and wait for its end.

    Args:
        stderr: where it may write what is for people; nowhere if None.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr or subprocess.DEVNULL,
        env={**os.environ, **(env or {})},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process, process.stdin, process.stdout:
        try:
            yield Client(Channel(process.stdin.fileno(), process.stdout.fileno(), end=b"\n"), process.pid)
            process.stdin.close()
            process.wait(END_SECONDS)
        finally:
            process.kill()
