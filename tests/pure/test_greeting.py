"""The answer to a client's first word: what the SDK would say, or nothing."""

import json
from functools import partial
from typing import Any, cast

import pytest
import trio
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from trio.testing import memory_stream_one_way_pair

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.calls.results import Spill
from bridge.calls.toolbox import Toolbox
from bridge.serve.greeting import VERSIONS, Greeter, greet
from bridge.serve.mcp import serve_agent
from bridge.serve.stdio import Stdio
from bridge.serve.streams import Incoming, Outgoing
from bridge.settings import AgentSettings, PageSettings
from bridge.tools.skills.skill import Skill
from bridge.wire.nursery import open_background


def initialize(version: object = "2025-11-25", **more: Any) -> dict[str, Any]:
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {"roots": {"listChanged": True}}, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params | more}


class Unchanging:
    """A project, as far as the handshake needs one."""

    async def wait_change(self, _: int) -> int:
        await trio.sleep_forever()
        raise AssertionError


async def no_skills() -> list[Skill]:
    return []


async def ask_sdk(
    message: dict[str, Any], *, direct: bool, project: bool = False, prompts: bool = False
) -> dict[str, Any]:
    """What the SDK answers as this server."""
    toolbox = Toolbox(Agent(Bridge(Spill(), PageSettings()), AgentSettings(direct=direct)))
    if project:
        toolbox.project = cast("Any", Unchanging())
    _, stdin = memory_stream_one_way_pair()
    stdout, from_bridge = memory_stream_one_way_pair()
    stdio = Stdio(stdin, stdout)
    to_sdk, lines = trio.open_memory_channel[bytes](1)
    with trio.fail_after(10), to_sdk:
        async with open_background() as nursery:
            nursery.start_soon(stdio.write)
            incoming = Incoming(lines, stdio)
            outgoing = Outgoing(stdio, Greeter("7", 0, 1, direct=direct))
            skills = no_skills if prompts else None
            nursery.start_soon(partial(serve_agent, toolbox, "7", incoming, outgoing, skills=skills))
            stdio.requests.hand_on(None)
            await to_sdk.send(json.dumps(message).encode())
            return json.loads(await from_bridge.receive_some(1_000_000))


@pytest.mark.parametrize("prompts", [False, True])
@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("version", VERSIONS)
async def test_what_is_answered_is_what_the_sdk_answers(version: str, direct: bool, project: bool, prompts: bool):
    message = initialize(version)

    greeted = greet(json.dumps(message).encode(), "7", direct=direct, project=project, prompts=prompts)

    assert greeted is not None
    request_id, result = greeted
    by_sdk = await ask_sdk(message, direct=direct, project=project, prompts=prompts)
    assert by_sdk == {"jsonrpc": "2.0", "id": request_id, "result": result}
    assert ("prompts" in result["capabilities"]) is prompts


@pytest.mark.feature("mcp.versions")
def test_every_version_that_has_a_handshake_is_known():
    assert VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[1]",
        b"[" * 100_000,
        b"\xff",
        json.dumps(initialize("2026-07-28")).encode(),
        json.dumps(initialize("1999-01-01")).encode(),
        json.dumps(initialize(7)).encode(),
        json.dumps(initialize(capabilities=7)).encode(),
        json.dumps(initialize(clientInfo={})).encode(),
        json.dumps(initialize(capabilities={"roots": []})).encode(),
        json.dumps(initialize(capabilities={"roots": None})).encode(),
        json.dumps(initialize(capabilities={"roots": {"listChanged": {}}})).encode(),
        json.dumps(initialize(capabilities={"tasks": {"requests": {"sampling": 5}}})).encode(),
        json.dumps(initialize(capabilities={"experimental": {"x": 5}})).encode(),
        json.dumps(initialize(clientInfo={"name": "a", "version": "1", "title": 5})).encode(),
        json.dumps(initialize(clientInfo={"name": "a", "version": "1", "icons": [{"src": 5}]})).encode(),
        json.dumps(initialize(clientInfo={"name": "a", "version": "1", "icons": {}})).encode(),
        json.dumps(initialize(_meta=5)).encode(),
        json.dumps(initialize(capabilities={"x": {"y": float("inf")}})).encode(),
        json.dumps(initialize() | {"result": {}}).encode(),
        json.dumps(initialize() | {"id": "\ud800"}).encode(),
        json.dumps(initialize() | {"id": "\ud800"}, ensure_ascii=False).encode(errors="surrogatepass"),
        json.dumps(initialize()).encode("utf-8-sig"),
        json.dumps(initialize()).encode("utf-16"),
        json.dumps(initialize() | {"id": None}).encode(),
        json.dumps(initialize() | {"id": True}).encode(),
        json.dumps(initialize() | {"id": 1.5}).encode(),
        json.dumps(initialize() | {"jsonrpc": "1.0"}).encode(),
        json.dumps(initialize() | {"method": "ping"}).encode(),
        json.dumps({"jsonrpc": "2.0", "method": "initialize", "params": {}}).encode(),
    ],
)
def test_anything_else_is_left_to_the_sdk(line: bytes):
    assert greet(line, "7", direct=False) is None


CAPABLE: dict[str, Any] = {
    "roots": {"listChanged": True},
    "sampling": {"tools": {}},
    "elicitation": {"form": {}, "url": {}},
    "experimental": {"mine": {"on": True}},
    "tasks": {"list": {}, "requests": {"elicitation": {"create": {}}}},
    "someday": {},
}
WHO: dict[str, Any] = {
    "name": "a",
    "version": "1",
    "title": "A",
    "websiteUrl": "https://a.example/",
    "icons": [{"src": "data:,", "mimeType": "image/png", "sizes": ["any"]}],
}


@pytest.mark.parametrize("version", VERSIONS)
async def test_clients_that_can_do_everything_are_greeted_as_the_sdk_does(version: str):
    message = initialize(version, capabilities=CAPABLE, clientInfo=WHO)

    greeted = greet(json.dumps(message).encode(), "7", direct=False)

    assert greeted is not None
    assert (await ask_sdk(message, direct=False))["result"] == greeted[1]


def test_an_id_may_be_a_string():
    greeted = greet(json.dumps(initialize() | {"id": "first"}).encode(), "7", direct=False)

    assert cast("Any", greeted)[0] == "first"
