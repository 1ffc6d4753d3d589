"""The SDK's client connected to the bridge by lines of bytes in memory: all of stdio, but for the pipes."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final, Literal

import anyio
import trio
from mcp import Client
from mcp.client.session import ElicitationFnT
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from trio.testing import memory_stream_one_way_pair

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.calls.results import Spill
from bridge.calls.toolbox import Toolbox
from bridge.serve.client import Client as BridgeClient
from bridge.serve.elicitation import AskingTools
from bridge.serve.greeting import Greeter
from bridge.serve.prompts import Skills
from bridge.serve.stdio import Stdio
from bridge.settings import PageSettings
from bridge.wire.nursery import open_background

Era = Literal["legacy", "2026-07-28"]
ERAS: Final[tuple[Era, ...]] = ("legacy", "2026-07-28")
Json = dict[str, Any]


class Wire:
    """What goes back and forth.

    Attributes:
        sent: by the client.
        received: by the client.
    """

    def __init__(self, to_bridge: trio.abc.SendStream, from_bridge: trio.abc.ReceiveStream) -> None:
        self.sent: list[Json] = []
        self.received: list[Json] = []
        self._to_bridge = to_bridge
        self._from_bridge = from_bridge

    async def forge(self, **message: Any) -> None:
        """Say what the client would not."""
        await self._to_bridge.send_all(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    @asynccontextmanager
    async def open_transport(self) -> AsyncGenerator[Any]:
        """The two streams that the SDK's client wants."""
        heard, read = anyio.create_memory_object_stream[SessionMessage | Exception](100)
        write, said = anyio.create_memory_object_stream[SessionMessage](100)
        async with heard, read, write, said, open_background() as nursery:
            nursery.start_soon(self._say, said)
            nursery.start_soon(self._hear, heard)
            yield read, write

    async def _say(self, said: Any) -> None:
        async for item in said:
            line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            self.sent.append(json.loads(line))
            await self._to_bridge.send_all(line.encode() + b"\n")

    async def _hear(self, heard: Any) -> None:
        unread = b""
        async for chunk in self._from_bridge:
            *lines, unread = (unread + chunk).split(b"\n")
            for line in lines:
                self.received.append(json.loads(line))
                await heard.send(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))


@asynccontextmanager
async def open_agent(
    era: Era,
    *,
    asking: AskingTools | None = None,
    skills: Skills | None = None,
    on_question: ElicitationFnT | None = None,
    seconds: float = 20,
) -> AsyncGenerator[tuple[Client, Wire]]:
    """A client of the bridge, and what it says and hears.

    Args:
        on_question: answers for the person; without it, the client can't ask.
        seconds: the most that a test takes.
    """
    bridge = Bridge(Spill(), PageSettings())
    to_bridge, stdin = memory_stream_one_way_pair()
    stdout, from_bridge = memory_stream_one_way_pair()
    stdio = Stdio(stdin, stdout)
    greeter = Greeter("7", 0, 1, direct=False, prompts=skills is not None)
    served = BridgeClient(Toolbox(Agent(bridge)), bridge, stdio, greeter, asking=asking, skills=skills)
    wire = Wire(to_bridge, from_bridge)
    with trio.fail_after(seconds):
        async with open_background() as nursery:
            nursery.start_soon(stdio.write)
            nursery.start_soon(served.serve)
            async with Client(wire.open_transport(), mode=era, elicitation_callback=on_question) as client:
                yield client, wire
