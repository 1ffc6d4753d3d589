"""Calls past the SDK: the same answers as through it, and nothing that only the SDK knows what to make of."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from mcp_types import METHOD_NOT_FOUND
from trio.testing import memory_stream_one_way_pair, wait_all_tasks_blocked

from bridge.calls.agent import Agent
from bridge.calls.answers import Answer, answer_error, answer_json
from bridge.calls.bridge import Bridge
from bridge.calls.built_ins import BUILT_INS
from bridge.calls.results import Spill
from bridge.calls.toolbox import Toolbox
from bridge.errors import PageThrew
from bridge.page.media import Media, Resource
from bridge.serve import lane, mcp, shapes
from bridge.serve.client import Client
from bridge.serve.elicitation import AskingTools
from bridge.serve.greeting import Greeter
from bridge.serve.lane import _read_call
from bridge.serve.stdio import Stdio
from bridge.settings import PageSettings
from bridge.wire.nursery import open_background

HANDSHAKE = (
    {
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
)
THE_LONG_WAY = {"io.modelcontextprotocol/x": 1}


class Wire:
    """A client's end of stdio."""

    def __init__(self, stdin: trio.abc.SendStream, stdout: trio.abc.ReceiveStream) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._unread = b""

    async def say(self, *messages: dict[str, Any]) -> None:
        """All at once."""
        lines = [json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages]
        await self._stdin.send_all(b"".join(lines))

    async def hear(self) -> dict[str, Any]:
        while b"\n" not in self._unread:
            self._unread += await self._stdout.receive_some(1_000_000)
        line, _, self._unread = self._unread.partition(b"\n")
        return json.loads(line)

    async def call(self, request_id: object, meta: dict[str, Any]) -> None:
        params = {"name": "list_pages", "arguments": {"a": 1}, "_meta": meta}
        await self.say({"id": request_id, "method": "tools/call", "params": params})


@asynccontextmanager
async def open_wire(asking: AskingTools | None = None) -> AsyncIterator[Wire]:
    bridge = Bridge(Spill(), PageSettings())
    to_bridge, stdin = memory_stream_one_way_pair()
    stdout, from_bridge = memory_stream_one_way_pair()
    stdio = Stdio(stdin, stdout)
    wire = Wire(to_bridge, from_bridge)
    with trio.fail_after(10):
        async with open_background() as nursery:
            nursery.start_soon(stdio.write)
            greeter = Greeter("7", 0, 1, direct=False)
            nursery.start_soon(Client(Toolbox(Agent(bridge)), bridge, stdio, greeter, asking=asking).serve)
            for message in HANDSHAKE:
                await wire.say(message)
            assert (await wire.hear())["id"] == 0
            yield wire


ANSWERS = [
    Answer("text"),
    Answer('"\u2028\x00é😀"', notes=("one", "two")),
    answer_json({"pages": [{"page": "p1", "tools": 0.5, "none": None}]}),
    answer_error(PageThrew("It threw", said="\ud800 <b>", origin="https://shop.example", stack="at x")),
    Answer(
        "media",
        media=(
            Media("image", "image/png", "eA=="),
            Media("audio", "audio/wav", "eQ=="),
            Resource("http://a/", "text/plain", "words", None),
            Resource("http://a/", "application/pdf", None, "eA=="),
        ),
        facts={"origin": "https://shop.example", "untrusted": True},
    ),
]


def ways_of(shape: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which way each answer goes, by the module that gives it the form of MCP."""
    ways: list[str] = []
    for way in (lane, mcp):

        def note(told: Any, way: str = way.__name__) -> dict[str, Any]:
            ways.append(way)
            return getattr(shapes, shape)(told)

        monkeypatch.setattr(way, shape, note)
    return ways


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.text[:5])
async def test_a_client_can_not_tell_which_way_its_call_went(answer: Answer, monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[str, dict[str, Any]]] = []
    ways = ways_of("as_result", monkeypatch)

    async def run(_: Toolbox, name: str, arguments: dict[str, Any], send: Any) -> Answer:
        asked.append((name, arguments))
        if send is not None:
            await send(1, None, None)
            await send(2.5, 3, "half")
        return answer

    monkeypatch.setattr(Toolbox, "run", run)

    async with open_wire() as wire:
        told: list[list[dict[str, Any]]] = []
        for meta in ({}, THE_LONG_WAY):
            await wire.call(1, meta)
            await wire.call("two", meta | {"progressToken": "t", "mine": 5})
            told.append([await wire.hear() for _ in range(4)])

    by_lane, by_sdk = told
    assert sorted(by_lane, key=str) == sorted(by_sdk, key=str)
    assert ways == ["bridge.serve.lane"] * 2 + ["bridge.serve.mcp"] * 2
    assert asked == [("list_pages", {"a": 1})] * 4


async def test_the_list_of_tools_is_the_same_both_ways(monkeypatch: pytest.MonkeyPatch):
    ways = ways_of("as_list", monkeypatch)

    told: list[dict[str, Any]] = []
    async with open_wire() as wire:
        for more in ({}, {"params": {}}, {"params": {"_meta": {"progressToken": 1}}}, {"params": {"cursor": None}}):
            await wire.say({"id": 1, "method": "tools/list", **more})
            told.append(await wire.hear())

    assert told[0] == told[1] == told[2] == told[3]
    assert len(told[0]["result"]["tools"]) == len(BUILT_INS)
    assert ways == ["bridge.serve.lane"] * 3 + ["bridge.serve.mcp"]


async def test_a_call_that_may_ask_the_person_goes_the_way_on_which_that_can_be(monkeypatch: pytest.MonkeyPatch):
    async def run(_: Toolbox, name: str, *__: object) -> Answer:
        return Answer(f"lane: {name}")

    async def ask(name: str, *_: object) -> Answer:
        return Answer(f"sdk: {name}")

    monkeypatch.setattr(Toolbox, "run", run)
    asking = AskingTools(lambda name: "tools/list.py" if name == "list_pages" else None, ask)
    async with open_wire(asking) as wire:
        told: list[str] = []
        for name in ("list_pages", "close_page"):
            await wire.say({"id": 1, "method": "tools/call", "params": {"name": name, "arguments": {}}})
            told.append((await wire.hear())["result"]["content"][0]["text"])

    assert told == ["sdk: list_pages", "lane: close_page"]


@pytest.mark.parametrize("meta", [{}, THE_LONG_WAY], ids=["lane", "sdk"])
async def test_what_a_client_took_back_is_not_answered(meta: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    began = trio.Event()
    ends: list[str] = []

    async def run(*_: object) -> Answer:
        began.set()
        try:
            await trio.sleep_forever()
        finally:
            ends.append("cancelled")
        raise AssertionError

    monkeypatch.setattr(Toolbox, "run", run)

    async with open_wire() as wire:
        await wire.call(1, meta)
        await began.wait()
        for nothing in (True, 1.0, None, 2, "x"):
            await wire.say({"method": "notifications/cancelled", "params": {"requestId": nothing}})
        # With an id it is a request, which there is not.
        await wire.say({"id": 3, "method": "notifications/cancelled", "params": {"requestId": 1}})
        assert (await wire.hear())["error"]["code"] == METHOD_NOT_FOUND
        await wait_all_tasks_blocked()
        assert ends == []
        await wire.say({"method": "notifications/cancelled", "params": {"requestId": 1}})
        await wait_all_tasks_blocked()
        assert ends == ["cancelled"]
        await wire.say({"id": 2, "method": "ping"})
        assert (await wire.hear())["id"] == 2


@pytest.mark.threat("C5")
async def test_a_call_does_not_overtake_the_end_of_another_one_of_its_id(monkeypatch: pytest.MonkeyPatch):
    may_end = trio.Event()

    async def run(_: Toolbox, name: str, *__: object) -> Answer:
        await may_end.wait()
        return Answer(name)

    monkeypatch.setattr(Toolbox, "run", run)

    call = {"id": 5, "method": "tools/call"}
    first = call | {"params": {"name": "close_page", "arguments": {}, "_meta": THE_LONG_WAY}}
    second = call | {"params": {"name": "list_pages", "arguments": {}}}
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": 5}}
    async with open_wire() as wire:
        await wire.say(first, cancelled, second, {"id": 6, "method": "ping"})
        ping = await wire.hear()
        may_end.set()
        answer = await wire.hear()

    assert ping["id"] == 6
    assert (answer["id"], answer["result"]["content"][0]["text"]) == (5, "list_pages")


async def test_a_bug_of_ours_in_a_call_is_an_answer_too(monkeypatch: pytest.MonkeyPatch, caplog: Any):
    async def run(*_: object) -> Answer:
        raise LookupError("a bug")

    monkeypatch.setattr(Toolbox, "run", run)
    async with open_wire() as wire:
        await wire.call(1, {})
        answer = await wire.hear()

    assert answer["id"] == 1
    assert answer["error"] == {"code": -32603, "message": "Internal error: LookupError"}
    assert "a bug" in caplog.text


async def test_no_call_is_taken_before_the_handshake_is_over(monkeypatch: pytest.MonkeyPatch):
    def refuse(_: Answer) -> dict[str, Any]:
        raise AssertionError("it was taken")

    monkeypatch.setattr(lane, "as_result", refuse)
    monkeypatch.setitem(globals(), "HANDSHAKE", HANDSHAKE[:1])
    async with open_wire() as wire:
        await wire.call(1, {})
        answer = await wire.hear()

    assert answer["id"] == 1
    assert answer["result"]["isError"]


PLAIN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "list_pages", "arguments": {}},
}


def with_params(**more: Any) -> bytes:
    return json.dumps(PLAIN | {"params": PLAIN["params"] | more}).encode()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"\xff",
        b"[" + json.dumps(PLAIN).encode() + b"]",
        b"\xef\xbb\xbf" + json.dumps(PLAIN).encode(),
        json.dumps(PLAIN | {"id": None}).encode(),
        json.dumps(PLAIN | {"id": True}).encode(),
        json.dumps(PLAIN | {"id": 1.0}).encode(),
        json.dumps(PLAIN | {"id": 2**53}).encode(),
        json.dumps(PLAIN | {"jsonrpc": 2}).encode(),
        json.dumps(PLAIN | {"more": 1}).encode(),
        json.dumps(PLAIN | {"params": []}).encode(),
        json.dumps({name: PLAIN[name] for name in ("jsonrpc", "method", "params")}).encode(),
        with_params(name=5),
        json.dumps(PLAIN | {"params": {"arguments": {}}}).encode(),
        json.dumps(PLAIN | {"method": "tools/list"}).encode(),
        json.dumps(PLAIN | {"method": "tools/list", "params": {"cursor": "x"}}).encode(),
        with_params(arguments=[]),
        with_params(arguments=float("nan")),
        with_params(arguments={"a": float("inf")}),
        with_params(task={}),
        with_params(_meta=[]),
        with_params(_meta={"progressToken": True}),
        with_params(_meta={"progressToken": 1.5}),
        with_params(_meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"}),
    ],
)
def test_what_is_not_plain_is_left_to_the_sdk(line: bytes):
    assert _read_call(json.dumps(PLAIN).encode()) is not None
    assert _read_call(line) is None
