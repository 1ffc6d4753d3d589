"""An agent takes its calls back: the tools are told, nobody is answered, and nothing is left of them."""

import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import memory_stream_one_way_pair, wait_all_tasks_blocked

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge, open_bridge
from bridge.calls.toolbox import Toolbox
from bridge.page.session import Page
from bridge.serve.client import Client as ServedClient
from bridge.serve.greeting import Greeter
from bridge.serve.stdio import Stdio
from bridge.settings import AttachOptions
from bridge.wire.commands import runtime
from bridge.wire.nursery import open_background
from tests.browser.asking import call, facts, list_tools, open_page, page_of, run_script
from tests.browser.test_navigation_races import connection_of, count_tasks
from tests.sites import Site, offering, tool

NEVER = "() => new Promise(() => {})"
TOLD = """(input, {signal}) => new Promise((done, fail) => {
  signal.onabort = () => { globalThis.why = String(signal.reason); fail(signal.reason) };
})"""
WHY = tool("why", "() => globalThis.why")
QUICK = tool("quick", "() => 'quick'")
SPINS = "async () => { await null; while (true) {} }"


class Client:
    """An MCP client of the older era over the bridge's own stdio streams, and all that it was told."""

    def __init__(self, stdin: trio.abc.SendStream) -> None:
        self._stdin = stdin
        self._sending = trio.Lock()
        self._answered: dict[int, trio.Event] = {}
        self.messages: list[dict[str, Any]] = []
        self._asked = 0

    async def send(self, **message: Any) -> None:
        async with self._sending:
            await self._stdin.send_all(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def ask(self, method: str, **params: Any) -> int:
        self._asked += 1
        request = self._asked
        self._answered[request] = trio.Event()
        await self.send(id=request, method=method, params=params)
        return request

    async def cancel(self, request: int) -> None:
        await self.send(method="notifications/cancelled", params={"requestId": request})

    async def wait_answer(self, request: int) -> None:
        await self._answered[request].wait()

    async def read(self, stdout: trio.abc.ReceiveStream) -> None:
        rest = b""
        async for chunk in stdout:
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                message = json.loads(line)
                self.messages.append(message)
                if "id" in message:
                    self._answered[message["id"]].set()

    def answers(self) -> set[int]:
        return {message["id"] for message in self.messages if "id" in message}


@asynccontextmanager
async def open_client(agent: Agent, bridge: Bridge) -> AsyncIterator[Client]:
    to_bridge, stdin = memory_stream_one_way_pair()
    stdout, from_bridge = memory_stream_one_way_pair()
    stdio = Stdio(stdin, stdout)
    client = Client(to_bridge)
    async with open_background() as nursery:
        nursery.start_soon(stdio.write)
        nursery.start_soon(client.read, from_bridge)
        nursery.start_soon(ServedClient(Toolbox(agent), bridge, stdio, Greeter("0", 0, 1, direct=False)).serve)
        request = await client.ask(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "test", "version": "1"},
        )
        await client.wait_answer(request)
        await client.send(method="notifications/initialized")
        yield client


async def count_controllers(page: Page) -> int:
    """AbortControllers that live in the page: each run that the kit knows of has one."""
    prototype, _ = await page._session.run(runtime.evaluate("AbortController.prototype"))
    assert prototype.object_id is not None
    found = await page._session.run(runtime.query_objects(prototype.object_id))
    length, _ = await page._session.run(
        runtime.call_function_on("function() { return this.length }", object_id=found.object_id, return_by_value=True)
    )
    assert found.object_id is not None
    for held in (prototype.object_id, found.object_id):
        await page._session.run(runtime.release_object(held))
    assert isinstance(length.value, int)
    return length.value


@pytest.mark.threat("C5")
@pytest.mark.parametrize("hang", [NEVER, SPINS, TOLD])
async def test_what_is_left_of_1000_calls_that_were_taken_back_at_random_moments_is_nothing(
    agent: Agent, bridge: Bridge, site: Site, hang: str
):
    """A third of the thousand for each way to hang; all of them among calls that end by themselves."""
    chance = random.Random(hang)
    tools = offering(tool("hang", hang), QUICK)
    handles = [await open_page(agent, site.page(f"/taken{number}", tools)) for number in range(4)]
    for handle in handles:
        await list_tools(agent, handle)
    connection = await connection_of(bridge)
    # Each page has been looked at, and is waited for to say more.
    await wait_all_tasks_blocked(4 * limits.NEWS_SECONDS)
    before = count_tasks(), len(connection._pending)
    cancelled: set[int] = set()
    kept: set[int] = set()

    async def ask_and_cancel(client: Client, page: str, times: int) -> None:
        for _ in range(times):
            name = chance.choice(["hang", "quick"])
            # What the SDK alone knows sends a call through it; others take the lane.
            meta = chance.choice([{}, {"io.modelcontextprotocol/x": 1}])
            words = {"page": page, "tool": name}
            request = await client.ask("tools/call", name="call_page_tool", arguments=words, _meta=meta)
            await trio.sleep(chance.choice([0, 0, 0.0005, 0.002, 0.01]))
            if request in client.answers() or (name == "quick" and chance.random() < 0.2):
                kept.add(request)
                await client.wait_answer(request)
            else:
                cancelled.add(request)
                await client.cancel(request)

    with trio.fail_after(50):
        async with open_client(agent, bridge) as client:
            async with trio.open_nursery() as nursery:
                for handle in handles:
                    nursery.start_soon(ask_and_cancel, client, handle, 84)
            late = client.answers() & cancelled
            for handle in handles:
                request = await client.ask(
                    "tools/call", name="call_page_tool", arguments={"page": handle, "tool": "quick"}
                )
                await client.wait_answer(request)
        # What had been answered when the cancellation came in was answered before it.
        assert client.answers() & cancelled == late
        assert kept <= client.answers()
        # The last ones are still being let go.
        while (count_tasks(), len(connection._pending)) != before:  # noqa: ASYNC110  # nothing tells of it
            await trio.sleep(0.01)
    for handle in handles:
        page = await page_of(bridge, handle)
        assert page.document is not None
        assert page.document.runs == set()
        assert await count_controllers(page) == 0


@pytest.mark.feature("calls.signal")
@pytest.mark.threat("C5")
async def test_the_tool_is_told_that_its_agent_took_the_call_back(agent: Agent, bridge: Bridge, site: Site):
    page = await open_page(agent, site.page("/told", offering(tool("hang", TOLD), WHY)))
    await list_tools(agent, page)

    with trio.move_on_after(0.2):
        await call(agent, page, "hang")

    assert (await call(agent, page, "why")).text == "AbortError: The agent cancelled this call."


async def test_the_tool_is_told_that_the_bridge_ends(
    chromium: str, agent: Agent, bridge: Bridge, site: Site, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "GRACE_SECONDS", 10.0)
    page = await open_page(agent, site.page("/ends", offering(tool("hang", TOLD))))
    url = (await page_of(bridge, page)).url

    async with open_bridge(AttachOptions(where=chromium)) as other:
        [found] = [one for one in await other.wait_pages() if one.url == url]
        await list_tools(Agent(other), found.handle)
        [hang] = other.registry.snapshot[found.handle]
        other.source.start(hang, {})

    assert await run_script(await page_of(bridge, page), "globalThis.why") == "AbortError: The bridge ends."


async def wait_running(page: Page) -> None:
    """Return once the tool that was called runs in the page."""
    await wait_all_tasks_blocked()
    assert page.document is not None
    assert page.document.runs


@pytest.mark.feature("calls.cancel")
@pytest.mark.threat("C5")
async def test_a_call_that_waits_its_turn_and_is_taken_back_never_runs(agent: Agent, bridge: Bridge, site: Site):
    slow = tool("slow", "() => new Promise(done => { globalThis.go = done })")
    counts = tool("counts", "() => { globalThis.ran = 1 }")
    ran = tool("ran", "() => globalThis.ran ?? 0")
    page = await open_page(agent, site.page("/line", offering(slow, counts, ran)))
    await list_tools(agent, page)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(call, agent, page, "slow")
        await wait_running(await page_of(bridge, page))
        with trio.move_on_after(0.05):
            await call(agent, page, "counts")
        await run_script(await page_of(bridge, page), "globalThis.go()")

    assert (await call(agent, page, "ran")).text == "0"


async def test_a_call_whose_time_ends_while_it_waits_its_turn_says_that_nothing_ran(
    agent: Agent, bridge: Bridge, site: Site
):
    page = await open_page(agent, site.page("/late", offering(tool("hang", NEVER), QUICK)))
    await list_tools(agent, page)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(call, agent, page, "hang")
        await wait_running(await page_of(bridge, page))
        answer = await call(agent, page, "quick", seconds=0.1)
        nursery.cancel_scope.cancel()

    assert facts(answer) == ("timed_out", "rejected", False)
    assert "another call" in answer.text


async def test_agents_that_come_and_go_in_one_nursery_leave_nothing(agent: Agent, bridge: Bridge, site: Site):
    page = await open_page(agent, site.page("/comes", offering(tool("hang", NEVER), QUICK)))
    await list_tools(agent, page)
    await wait_all_tasks_blocked(4 * limits.NEWS_SECONDS)
    before = count_tasks()

    async def come_and_go(number: int) -> None:
        async with open_client(Agent(bridge), bridge) as client:
            name = "hang" if number % 3 == 0 else "quick"
            request = await client.ask("tools/call", name="call_page_tool", arguments={"page": page, "tool": name})
            if name == "quick":
                await client.wait_answer(request)

    with trio.fail_after(30):
        for number in range(15):
            await come_and_go(number)
        async with trio.open_nursery() as nursery:
            for number in range(6):
                nursery.start_soon(come_and_go, number)
        while count_tasks() != before:  # noqa: ASYNC110  # nothing tells of it
            await trio.sleep(0.01)
    assert (await call(agent, page, "quick")).text == "quick"


async def test_bridges_that_come_and_go_leave_nothing(chromium: str):
    before = count_tasks()

    async def come_and_go() -> None:
        async with open_bridge(AttachOptions(where=chromium)) as bridge:
            assert not (await Agent(bridge).list_pages()).is_error

    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                await come_and_go()
                nursery.start_soon(come_and_go)
    assert count_tasks() == before
