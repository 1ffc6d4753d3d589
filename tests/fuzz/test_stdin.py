"""Whatever a client sends, it is served on: in process with a fake browser, and as a process with a real one."""

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import pytest
import trio
from hypothesis import strategies as st
from trio.testing import MockClock, memory_stream_one_way_pair, wait_all_tasks_blocked

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.toolbox import Toolbox
from bridge.serve.client import Client
from bridge.serve.greeting import Greeter
from bridge.serve.stdio import Stdio
from bridge.settings import AgentSettings
from bridge.wire.nursery import open_background
from tests.e2e.client import open_raw
from tests.e2e.test_life import HANGING, start_with_page, wait_exit
from tests.faults.bridges import open_bridge_over
from tests.faults.fake_chromium import ORIGIN, WORDS, FakeChromium
from tests.faults.fake_links import DirectTransport
from tests.faults.session import LONGEST_SECONDS
from tests.frames import take_out
from tests.fuzz.lines import META_OF_2026, Transcript, greetings, lines
from tests.fuzz.minutes import Steps, fuzz
from tests.sites import Site, serve_site

pytestmark = pytest.mark.fuzz

Opening = Literal["handshake", "2026-07-28", "nothing"]
Json = dict[str, Any]

HELLO: Final[Json] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "fuzz", "version": "1"},
}
SURE: Final[tuple[Json, ...]] = (
    {"name": "list_pages"},
    {"name": "list_page_tools", "arguments": {"page": "p2"}},
    {"name": "call_page_tool", "arguments": {"page": "p1", "tool": "say"}, "_meta": {"progressToken": 1}},
    {"name": "call_page_tool", "arguments": {"page": "p2", "tool": "hang", "timeout_seconds": 1}},
    {"name": "call_page_tool", "arguments": {"page": "p1", "tool": "hang"}},
    {"name": "navigate_page", "arguments": {"page": "p1", "action": "reload"}},
)
"""Calls with nothing wrong about them, that are answered whatever comes between them."""


@dataclass(frozen=True)
class Conversation:
    """What a client does.

    Attributes:
        said: lines as they are, or numbers of calls that are `SURE`.
        pauses: seconds before each of these, and again from the first one.
    """

    opening: Opening
    settings: AgentSettings
    said: Sequence[bytes | int]
    pauses: Sequence[float]
    at_once: bool = field(default=False)


said = st.lists(lines() | st.integers(0, len(SURE) - 1), max_size=25)
openings: Final[dict[Opening, st.SearchStrategy[list[bytes | int]]]] = {
    "handshake": said,
    "2026-07-28": said,
    "nothing": said | st.builds(lambda greeting, then: [greeting, *then], greetings(), said),
}
OFTEN: Final[Sequence[Opening]] = ("handshake", "handshake", "2026-07-28", "nothing")
conversations = st.sampled_from(OFTEN).flatmap(
    lambda opening: st.builds(
        Conversation,
        opening=st.just(opening),
        settings=st.builds(AgentSettings, direct=st.booleans(), mode=st.sampled_from(["act", "ask"])),
        said=openings[opening],
        pauses=st.lists(st.sampled_from([0, 0, 0, 0.1, 3]), min_size=1, max_size=5),
        at_once=st.booleans(),
    )
)


class Peer:
    """The client's end of stdio; all that is said and heard is held against the rules."""

    def __init__(self, stdin: trio.abc.SendStream, *, modern: bool) -> None:
        self.transcript = Transcript()
        self.answers: dict[str, Json] = {}
        self._stdin = stdin
        self._modern = modern
        self._changed = trio.Event()
        self._last_id = 0

    async def say(self, line: bytes) -> None:
        self.transcript.send(line)
        await self._stdin.send_all(line + b"\n")

    async def ask(self, method: str, params: Json, *, plain: bool = False) -> str:
        """Send a request with nothing wrong about it, and return its id."""
        self._last_id += 1
        if self._modern and not plain:
            params = params | {"_meta": params.get("_meta", {}) | META_OF_2026}
        request_id = f"sure {self._last_id}"
        await self.say(json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}).encode())
        return request_id

    async def answer(self, method: str, params: Json, *, plain: bool = False) -> Json:
        request_id = await self.ask(method, params, plain=plain)
        while request_id not in self.answers:
            await self._changed.wait()
        return self.answers[request_id]

    async def listen(self, stdout: trio.abc.ReceiveStream) -> None:
        unread = b""
        async for chunk in stdout:
            *whole, unread = (unread + chunk).split(b"\n")
            for line in whole:
                message = self.transcript.hear(line)
                if isinstance(message.get("id"), str):
                    self.answers[message["id"]] = message
            self._changed.set()
            self._changed = trio.Event()

    @property
    def unanswered(self) -> set[str]:
        return {f"sure {number + 1}" for number in range(self._last_id)} - self.answers.keys()


async def open_conversation(peer: Peer, opening: Opening) -> None:
    match opening:
        case "handshake":
            assert "result" in await peer.answer("initialize", HELLO)
            await peer.say(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        case "2026-07-28":
            assert "result" in await peer.answer("tools/list", {})
        case "nothing":
            pass


async def check_served(peer: Peer, opening: Opening, mode: str) -> None:
    """A client that does everything right has all it wants."""
    if opening == "nothing":
        # What came first decides which of the two it may be.
        enveloped = {"_meta": META_OF_2026}
        hello = await peer.answer("initialize", HELLO, plain=True)
        listed = await peer.answer("tools/list", enveloped, plain=True)
        assert "result" in hello or "result" in listed, (hello, listed)
        return
    opened = await peer.answer("tools/call", {"name": "open_page", "arguments": {"url": f"{ORIGIN}/well"}})
    assert not opened["result"]["isError"], opened
    page = json.loads(opened["result"]["content"][0]["text"])["page"]
    call = {"name": "call_page_tool", "arguments": {"page": page, "tool": "say"}}
    said = await peer.answer("tools/call", call)
    if mode == "act":
        assert take_out(said["result"]["content"][0]["text"]) == WORDS * 20
    else:
        assert said["result"]["structuredContent"]["code"] == "not_allowed"


async def converse(conversation: Conversation) -> None:
    to_bridge, stdin = memory_stream_one_way_pair()
    stdout, from_bridge = memory_stream_one_way_pair()
    stdio = Stdio(stdin, stdout)
    peer = Peer(to_bridge, modern=conversation.opening == "2026-07-28")
    ended = trio.Event()
    async with open_bridge_over(lambda: nullcontext(DirectTransport(FakeChromium()))) as bridge:
        agent = Agent(bridge, conversation.settings)
        client = Client(Toolbox(agent), bridge, stdio, Greeter("7", 0, 1, direct=conversation.settings.direct))

        async def serve() -> None:
            await client.serve()
            ended.set()

        async with open_background() as nursery:
            nursery.start_soon(stdio.write)
            nursery.start_soon(peer.listen, from_bridge)
            nursery.start_soon(serve)
            with trio.fail_after(LONGEST_SECONDS):
                await open_conversation(peer, conversation.opening)
            for number, said in enumerate(conversation.said):
                if not conversation.at_once:
                    await trio.sleep(conversation.pauses[number % len(conversation.pauses)])
                if isinstance(said, bytes):
                    await peer.say(said)
                else:
                    await peer.ask("tools/call", SURE[said])
            await trio.sleep(limits.CALLS_AT_ONCE / limits.CALLS_PER_SECOND)
            with trio.fail_after(LONGEST_SECONDS):
                await check_served(peer, conversation.opening, conversation.settings.mode)
            await trio.sleep(LONGEST_SECONDS)
            peer.transcript.check_all_answered()
            await to_bridge.aclose()
            with trio.fail_after(limits.LAST_ANSWERS_SECONDS + limits.CLOSE_SECONDS):
                await ended.wait()
            await wait_all_tasks_blocked()
            assert not peer.unanswered


async def without_a_thread(work: Callable[..., Any], *words: Any, **_: Any) -> Any:
    """The clock jumps where all tasks wait, and would do so while a thread works."""
    await trio.lowlevel.checkpoint()
    return work(*words)


def test_a_client_that_sends_anything_is_served_on(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trio.to_thread, "run_sync", without_a_thread)

    def try_one(conversation: Conversation, steps: Steps) -> None:
        trio.run(converse, conversation, clock=MockClock(autojump_threshold=0), instruments=[steps])

    fuzz(try_one, conversations, share=0.4)


def test_a_process_that_is_sent_anything_serves_on():
    async def send_all(site: Site, batch: Sequence[Sequence[bytes]]) -> None:
        async with open_raw("--open", site.page("/fuzz", HANGING)) as client:
            await start_with_page(client)
            transcript = Transcript()
            for number, said in enumerate(batch):
                for line in said:
                    transcript.send(line)
                    await client.send(line)
                healthy = json.dumps({"jsonrpc": "2.0", "id": f"well {number}", "method": "ping"}).encode()
                transcript.send(healthy)
                await client.send(healthy)
                with trio.fail_after(10):
                    while (message := await client.receive()) is not None:
                        transcript.hear(json.dumps(message).encode())
                        if message.get("id") == f"well {number}":
                            break
                assert message is not None
            await client.close_stdin()
            for message in await client.rest():
                transcript.hear(json.dumps(message).encode())
            assert await wait_exit(client) == 0
        assert b"Traceback" not in client.errors, client.errors.decode()

    with serve_site() as site:
        fuzz(
            lambda batch, steps: trio.run(send_all, site, batch, instruments=[steps]),
            st.lists(st.lists(lines(), min_size=1, max_size=10), min_size=5, max_size=20),
            share=0.1,
            round_examples=10,
        )
