"""A browser that asks a person before it lets a debugger in: it is asked once, and calls say what they wait for."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import open_bridge
from bridge.settings import AttachOptions
from bridge.wire.nursery import open_background
from tests.browser.asking import facts, read

Person = Callable[[trio.SocketStream], Awaitable[None]]


class Door:
    """Stands before a browser. Who comes waits until a person has an answer.

    Attributes:
        came: how many have come.
    """

    def __init__(self, chromium: str) -> None:
        self._port, _, self._path = chromium.removeprefix("ws://127.0.0.1:").partition("/")
        self.url = ""
        self.came = 0
        self.answer: Person | None = None
        """What the person does about each who comes; None while nobody is there."""
        self._changed = trio.Event()

    def change(self, answer: Person | None) -> None:
        self.answer = answer
        self._wake()

    async def wait_came(self, times: int) -> None:
        while self.came < times:
            await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    async def stand(self, stream: trio.SocketStream) -> None:
        self.came += 1
        self._wake()
        while self.answer is None:
            await self._changed.wait()
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await self.answer(stream)

    async def allow(self, stream: trio.SocketStream) -> None:
        async with await trio.open_tcp_stream("127.0.0.1", int(self._port)) as browser, open_background() as nursery:
            nursery.start_soon(carry, browser, stream)
            await carry(stream, browser)

    async def deny(self, stream: trio.SocketStream) -> None:
        await stream.receive_some(4096)
        await stream.send_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")


async def carry(source: trio.SocketStream, target: trio.SocketStream) -> None:
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        async for chunk in source:
            await target.send_all(chunk)


@asynccontextmanager
async def open_door(chromium: str) -> AsyncGenerator[Door]:
    door = Door(chromium)
    async with open_background() as nursery:
        listener, *_ = await nursery.start(partial(trio.serve_tcp, door.stand, 0, host="127.0.0.1"))
        door.url = f"ws://127.0.0.1:{listener.socket.getsockname()[1]}/{door._path}"
        yield door


@pytest.fixture
async def door(chromium: str, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Door]:
    monkeypatch.setattr(limits, "ATTACH_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(limits, "CONNECTING_SECONDS", 0)
    monkeypatch.setattr(limits, "RECONNECT_SECONDS", 0.01)
    monkeypatch.setattr(limits, "RECONNECT_SECONDS_MAX", 0.01)
    with trio.fail_after(20):
        async with open_door(chromium) as door:
            yield door


@pytest.mark.feature("browser.allow")
async def test_while_a_person_is_asked_calls_say_so_and_nobody_asks_twice(door: Door):
    async with open_bridge(AttachOptions(where=door.url)) as bridge:
        agent = Agent(bridge)

        answers = [await agent.list_pages() for _ in range(10)]

        assert {facts(answer) for answer in answers} == {("browser_starting", "rejected", False)}
        assert "click Allow" in answers[0].text
        door.change(door.allow)
        await bridge.wait_pages(10)
        assert read(await agent.list_pages())["pages"]
        assert door.came == 1


async def test_a_person_who_says_no_is_asked_again_only_when_an_agent_wants_something(door: Door):
    door.change(door.deny)
    async with open_bridge(AttachOptions(where=door.url)) as bridge:
        agent = Agent(bridge)
        await door.wait_came(1)
        await wait_all_tasks_blocked(0.1)
        assert door.came == 1

        refused = await agent.list_pages()

        assert facts(refused) == ("browser_gone", "rejected", False)
        assert "403" in refused.text
        assert "asked again now" in refused.text
        await door.wait_came(2)
        await wait_all_tasks_blocked(0.1)
        assert door.came == 2
        door.change(None)
        await agent.list_pages()
        await door.wait_came(3)
        assert facts(await agent.list_pages()) == ("browser_starting", "rejected", False)
        door.change(door.allow)
        await bridge.wait_pages(10)
        assert door.came == 3


async def test_a_link_that_is_lost_leads_to_one_new_question_and_calls_say_what_they_wait_for(door: Door):
    async with open_bridge(AttachOptions(where=door.url)) as bridge:
        agent = Agent(bridge)
        lose = trio.Event()

        async def allow_for_a_while(stream: trio.SocketStream) -> None:
            async with open_background() as nursery:
                nursery.start_soon(door.allow, stream)
                await lose.wait()

        door.change(allow_for_a_while)
        await bridge.wait_pages(10)
        door.change(None)
        lose.set()
        await door.wait_came(2)

        assert facts(await agent.list_pages()) == ("browser_starting", "rejected", False)
        door.change(door.allow)
        await bridge.wait_pages(10)
        assert door.came == 2
