"""Registered tools of pages that do not play by the rules, or that leave: the tool that was listed runs, or none."""

import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.errors import CommandFailed
from bridge.page.kit import ask_kit, is_realm_gone
from bridge.page.session import Page
from bridge.wire.commands import navigate, target
from bridge.wire.connection import Session, open_connection
from bridge.wire.router import SessionId
from bridge.wire.transports import Transport
from bridge.wire.websocket import open_websocket
from tests.browser.asking import call, facts, list_tools, names, number_of_realm, open_page, page_of, reach_number
from tests.browser.conftest import OpenHostile
from tests.browser.webmcp import evaluate, registering
from tests.sites import Site, tool


@pytest.fixture
def chromium(webmcp_chromium: str) -> str:
    """In this file, pages have it."""
    return webmcp_chromium


@pytest.mark.threat("P7")
async def test_a_page_that_replaced_the_built_ins_is_still_read_and_called(agent: Agent, hostile: OpenHostile):
    page = await hostile("replaces_registering")

    assert names(await list_tools(agent, page)) == ["sum"]
    assert (await call(agent, page, "sum", {"a": [1, 2]})).text == '{"total":3,"list":[1,"two",{"three":3}]}'


@pytest.mark.threat("P21")
async def test_the_bridge_leaves_no_trace_on_registering(agent: Agent, site: Site):
    looking = """<script>
      const describe = owner => Reflect.ownKeys(owner).map(key => {
        const {value, get, ...rest} = Reflect.getOwnPropertyDescriptor(owner, key);
        return [String(key), String(value ?? get), value?.name, value?.length, JSON.stringify(rest)].join();
      }).join(';');
      const frozen = Object.freeze({name: 'frozen', description: 'x', execute: function() {
        return describe(ModelContext.prototype) + '\\n' + arguments.length + this;
      }});
      document.modelContext.registerTool(frozen);
    </script>"""
    page = await open_page(agent, site.page("/looking", looking))

    described, told = (await call(agent, page, "frozen")).text.split("\n")

    assert "registerTool,function registerTool() { [native code] },registerTool,1,"
    assert "registerTool,function registerTool() { [native code] },registerTool,1," in described
    assert '{"writable":true,"enumerable":true,"configurable":true}' in described
    assert told == "2[object Window]"


async def test_registering_fails_as_ever(agent: Agent, site: Site):
    failing = tool(
        "tries",
        """async () => {
          const tries = [[], [5], [{}], [{name: 'a b', description: 'x', execute() {}}],
            [{name: 'x', description: 'x', execute: 5}],
            [{get name() { throw new Error('mine') }, description: 'x', execute() {}}],
            [{name: 'tries', description: 'x', execute() {}}]];
          return Promise.all(tries.map(given => register(...given).then(() => 'ok', error => error.name)));
        }""",
    )
    page = await open_page(agent, site.page("/failing", registering(failing)))

    names_of_errors = json.loads((await call(agent, page, "tries")).text)

    assert names_of_errors == ["TypeError"] * 3 + ["InvalidStateError", "TypeError", "Error", "InvalidStateError"]


@pytest.mark.threat("P16")
@pytest.mark.parametrize(
    ("swap", "words"),
    [
        ("described", "description"),
        ("claiming", "claims"),
        ("gone", "'act' is gone"),
        ("on its way", "'act'"),
    ],
)
async def test_a_tool_that_was_replaced_since_it_was_listed_does_not_run(
    agent: Agent, bridge: Bridge, hostile: OpenHostile, swap: str, words: str
):
    handle = await hostile("swaps_registered")
    await list_tools(agent, handle)
    await evaluate(await page_of(bridge, handle), f"swaps[{swap!r}]()")

    answer = await call(agent, handle, "act")

    assert facts(answer) == ("tool_stale", "rejected", False)
    assert words in answer.text
    assert await evaluate(await page_of(bridge, handle), "[armed, ran]") == [False, []]


# A navigation between listing and running: the tool of the same name on the other origin never runs

TWIN = "/hostile/registers_twin.html"


class Holding(Transport):
    """A transport that lets something happen before it passes on a call's command with that number.

    The first command names a round that the document does not know: so it is asked anew, and called again.
    """

    def __init__(self, transport: Transport, number: int, happen: Callable[[], Awaitable[None]]) -> None:
        self._transport = transport
        self._left = number
        self._happen = happen
        self._asked = False

    async def send(self, message: bytes) -> None:
        if b"Runtime.evaluate" in message and (b"discover" in message or b"call" in message):
            self._left -= 1
            if self._left == 0:
                await self._happen()
            if not self._asked:
                self._asked = True
                message, found = re.subn(rb'(call\\+", ?)\d+', rb"\g<1>999", message)
                assert found == 1
        await self._transport.send(message)

    async def receive(self) -> bytes | bytearray | str:
        return await self._transport.receive()

    async def aclose(self) -> None:
        await self._transport.aclose()


@asynccontextmanager
async def open_driver(chromium: str, page: Page) -> AsyncGenerator[Session]:
    """Another way to the page: what it does is done before the bridge hears of it."""
    async with open_websocket(chromium) as transport, open_connection(transport) as connection:
        session = await connection.run(target.attach_to_target(target.TargetID(page.target_id), flatten=True))
        yield Session(connection, SessionId(session))


async def runs_at(page: Page, origin: str) -> object:
    """What the tools of the document of that origin were given."""
    await page.wait_changed(lambda: page.realm is not None and page.realm.origin == origin)
    await page.wait_loaded()
    return await evaluate(page, "ran")


@pytest.mark.threat("P15")
@pytest.mark.parametrize("process", ["same", "other"])
@pytest.mark.parametrize("number", [1, 2, 3])
async def test_a_page_that_is_elsewhere_before_any_command_of_a_call(
    agent: Agent,
    bridge: Bridge,
    chromium: str,
    site: Site,
    other_site: Site,
    number: int,
    process: str,
    hostile: OpenHostile,
):
    elsewhere = other_site if process == "same" else other_site.elsewhere()
    handle = await open_page(agent, site.origin + TWIN)
    await list_tools(agent, handle)
    page = await page_of(bridge, handle)
    async with open_driver(chromium, page) as driver:

        async def leave() -> None:
            await driver.run(navigate(elsewhere.origin + TWIN))

        connection = page._session.connection
        holding = connection._transport = connection._outbox._sender = Holding(connection._transport, number, leave)
        answer = await call(agent, handle, "act", {"from": "the first origin"})

    assert holding._left <= 0
    assert facts(answer) in (("origin_changed", "rejected", False), ("navigated_during_call", "unknown", True))
    assert await runs_at(page, elsewhere.origin) == []


@pytest.mark.threat("P15")
@pytest.mark.parametrize("first", ["call", "navigation"])
async def test_a_page_that_leaves_while_the_call_is_on_its_way(
    agent: Agent, bridge: Bridge, site: Site, other_site: Site, first: str, hostile: OpenHostile
):
    target_url = other_site.origin + TWIN
    handle = await open_page(agent, site.origin + TWIN)
    page = await page_of(bridge, handle)
    for _ in range(5):
        await page.navigate(site.origin + TWIN)
        await list_tools(agent, handle)
        async with trio.open_nursery() as nursery:
            if first == "navigation":
                page._session.send_nowait(navigate(target_url))
                await call(agent, handle, "act")
            else:
                nursery.start_soon(call, agent, handle, "act")
                await trio.testing.wait_all_tasks_blocked()
                page._session.send_nowait(navigate(target_url))
        assert await runs_at(page, other_site.origin) == []


@pytest.mark.threat("P15")
@pytest.mark.parametrize("moment", ["before it runs", "as it runs", "inside"])
async def test_a_page_that_takes_itself_elsewhere_during_a_call(
    agent: Agent, bridge: Bridge, other_site: Site, moment: str, hostile: OpenHostile
):
    handle = await hostile("leaves_registered", other_site.origin + TWIN)
    await list_tools(agent, handle)
    page = await page_of(bridge, handle)
    await evaluate(page, f"moments[{moment!r}]()")

    answer = await call(agent, handle, "act")

    assert facts(answer) == ("navigated_during_call", "unknown", True)
    assert await runs_at(page, other_site.origin) == []


@pytest.mark.threat("P15")
async def test_a_call_that_reaches_a_document_of_the_past_finds_nothing(
    agent: Agent, bridge: Bridge, site: Site, hostile: OpenHostile
):
    """No decision of ours is in the way here: the call is sent as if the page had left at the last moment, and to a
    document that has the same number in its own process."""
    elsewhere = site.elsewhere()
    handle = await open_page(agent, site.origin + TWIN)
    page = await page_of(bridge, handle)
    old = page.document
    assert old is not None
    await reach_number(page, elsewhere.origin + TWIN, await number_of_realm(page))
    await list_tools(agent, handle)
    [there] = bridge.registry.snapshot[handle]

    with pytest.raises(CommandFailed) as refused:
        await ask_kit(page._session, old.realm, page._kit, "call", there.home.round, 0, 0, "{}", {})

    assert is_realm_gone(refused.value)
    assert await runs_at(page, elsewhere.origin) == []
