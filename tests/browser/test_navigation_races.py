"""Navigations at the worst moments: all the time, and between a decision and what follows from it."""

import threading
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.page.session import Page
from bridge.tools.sources.page import PageCall
from bridge.wire.connection import Connection
from bridge.wire.transports import Transport
from tests.browser.asking import (
    call,
    facts,
    list_tools,
    names,
    open_page,
    page_of,
    run_script,
    wait_shown,
)
from tests.browser.conftest import OpenHostile
from tests.browser.other_client import OtherClient, open_other_client
from tests.sites import Site, offering, tool

TICK = offering(tool("tick", "() => { localStorage.ticks = 1 + +(localStorage.ticks ?? 0); return 'ticked' }"))


async def connection_of(bridge: Bridge) -> Connection:
    return (await bridge.wait_pages())._browser.connection


def count_tasks() -> int:
    """Every task of this run."""
    root = trio.lowlevel.current_root_task()
    assert root is not None
    tasks = [root]
    for task in tasks:
        tasks += [child for nursery in task.child_nurseries for child in nursery.child_tasks]
    return len(tasks)


class Wire(Transport):
    """Between the bridge and Chromium: every message passes here.

    Attributes:
        handles: how many replies held a handle of an object in a page.
    """

    def __init__(self, connection: Connection) -> None:
        self._transport = connection._transport
        self._hears = trio.Event()
        self._hears.set()
        self._held = ""
        self._meanwhile: Callable[[], Awaitable[object]] | None = None
        self._kept_word: bytes | None = None
        self._kept = b""
        self.has_kept = trio.Event()
        self.handles = 0
        connection._transport = self
        connection._outbox._sender = self

    def hold(self, word: str, meanwhile: Callable[[], Awaitable[object]], *, deaf: bool = False) -> None:
        """Let something happen while the next message to a kit that has this word is on its way.

        Args:
            deaf: nothing reaches the bridge meanwhile.
        """
        self._held, self._meanwhile = f'[\\\\\\"{word}\\\\\\"', meanwhile
        if deaf:
            self._hears = trio.Event()

    def keep(self, method: str) -> None:
        """Keep the next command of that name until `let_go`; what comes after it overtakes it."""
        self._kept_word = method.encode()

    async def let_go(self) -> None:
        await self._transport.send(self._kept)

    async def receive(self) -> bytes | bytearray | str:
        message = await self._transport.receive()
        self.handles += '"objectId"' in (message if isinstance(message, str) else message.decode())
        await self._hears.wait()
        return message

    async def send(self, message: bytes) -> None:
        if self._kept_word is not None and self._kept_word in message:
            self._kept_word, self._kept = None, message
            self.has_kept.set()
            return
        meanwhile = self._meanwhile
        if meanwhile is not None and self._held.encode() in message:
            self._meanwhile = None
            await meanwhile()
        await self._transport.send(message)
        if self._meanwhile is None:
            self._hears.set()

    async def aclose(self) -> None:
        await self._transport.aclose()


@pytest.mark.parametrize(
    ("reload", "listings", "calls"),
    [
        ("setTimeout(() => location.reload(), 50)", 200, 1),
        ("onload = () => setTimeout(() => location.reload())", 15, 0),
    ],
    ids=["every 50 ms", "as soon as it has loaded"],
)
async def test_a_page_that_reloads_all_the_time_is_listed_and_leaves_nothing_behind(
    agent: Agent, bridge: Bridge, site: Site, reload: str, listings: int, calls: int
):
    connection = await connection_of(bridge)
    calm, storm = site.page("/calm", TICK), site.page("/storm", f"{TICK}<script>{reload}</script>")
    handle = await open_page(agent, calm)
    await run_script(await page_of(bridge, handle), "localStorage.clear()")
    await list_tools(agent, handle)
    await wait_all_tasks_blocked(0.05)
    before = count_tasks(), len(connection._pending)
    reloads = site.asked["/storm"]
    wire = Wire(connection)

    ticked = lost = 0
    await agent.navigate_page(handle, storm, None)
    for _ in range(listings):
        listing = await list_tools(agent, handle)
        assert (names(listing), listing["origin"], listing["url"]) == (["tick"], site.origin, storm)
        assert len(connection._pending) <= before[1] + 2
        for _ in range(calls):
            answer = await call(agent, handle, "tick")
            if answer.is_error:
                assert facts(answer) == ("navigated_during_call", "unknown", True)
            ticked, lost = ticked + (not answer.is_error), lost + answer.is_error
    assert site.asked["/storm"] - reloads > 5
    await agent.navigate_page(handle, calm, None)
    await list_tools(agent, handle)
    with trio.fail_after(10):
        while (count_tasks(), len(connection._pending)) != before:
            await wait_all_tasks_blocked(0.01)

    assert wire.handles == 0
    # Nothing ran twice, and nothing that was said to have run did not.
    ran = await run_script(await page_of(bridge, handle), "+(localStorage.ticks ?? 0)")
    assert isinstance(ran, int)
    assert ticked <= ran <= ticked + lost


async def test_a_page_that_is_held_while_its_popup_is_attached_is_not_taken_for_empty(
    agent: Agent, bridge: Bridge, site: Site
):
    """Chromium runs no listener of a page meanwhile, and says nothing of it."""
    handle = await open_page(agent, site.page("/opener", TICK))
    page = await page_of(bridge, handle)
    await list_tools(agent, handle)
    wire = Wire(await connection_of(bridge))
    wire.keep("Runtime.runIfWaitingForDebugger")
    listings: list[dict[str, Any]] = []

    async def list_meanwhile() -> None:
        listings.append(await list_tools(agent, handle))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run_script, page, "open('') !== null")
        await wire.has_kept.wait()
        nursery.start_soon(list_meanwhile)
        await wait_all_tasks_blocked(0.05)
        assert listings == []
        await wire.let_go()

    assert names(listings[0]) == ["tick"]


async def test_a_reload_while_answers_are_waited_for_leads_to_those_of_the_next_document(
    agent: Agent, bridge: Bridge, site: Site
):
    never = """<script>addEventListener('devtoolstooldiscovery', event => {
      event.respondWith(new Promise(() => {})); fetch('/dispatched') })</script>"""
    handle = await open_page(agent, site.page("/promising", never))
    page = await page_of(bridge, handle)
    await wait_all_tasks_blocked(0.05)
    dispatched = site.asked["/dispatched"]
    site.page("/promising", TICK)
    listings: list[dict[str, Any]] = []

    async def list_meanwhile() -> None:
        listings.append(await list_tools(agent, handle))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(list_meanwhile)
        await site.wait_asked("/dispatched", dispatched + 1)
        assert listings == []
        await page.reload()

    assert names(listings[0]) == ["tick"]


async def test_a_document_that_left_half_read_leaves_no_task(agent: Agent, bridge: Bridge, site: Site):
    calm = site.page("/calm", TICK)
    half = site.page("/half", '<script src="/never.js"></script>')
    gate = site.gates["/never.js"] = threading.Event()
    handle = await open_page(agent, calm)
    page = await page_of(bridge, handle)
    await list_tools(agent, handle)
    await wait_all_tasks_blocked(0.05)
    before = count_tasks()

    await page.navigate(half)
    await agent.navigate_page(handle, calm, None)
    await list_tools(agent, handle)
    gate.set()

    with trio.fail_after(10):
        while count_tasks() != before:
            await wait_all_tasks_blocked(0.01)


class Late:
    """Runs tools as the bridge does, but lets something happen first: the decision is made by then."""

    def __init__(self, bridge: Bridge, meanwhile: Callable[[], Awaitable[object]]) -> None:
        self._order = bridge.order
        self._meanwhile: Callable[[], Awaitable[object]] | None = meanwhile
        self.enter = bridge.order.enter
        bridge.order = cast("Any", self)

    async def start(self, page: Page, start: Callable[[], PageCall]) -> PageCall:
        meanwhile, self._meanwhile = self._meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        return await self._order.start(page, start)


Move = Callable[[], Awaitable[object]]


def make_it_happen(moment: str, bridge: Bridge, wire: Wire, page: Page, move: Move, url: str) -> None:
    """Have the page moved at that moment of the next call."""

    async def move_and_see() -> None:
        await move()
        await wait_shown(page, url)

    match moment:
        case "while the page is asked":
            # Where nothing is known of it, the page is asked before the decision.
            bridge.registry.withdraw(page.handle)
            wire.hold("discover", move_and_see)
        case "between decision and dispatch":
            Late(bridge, move_and_see)
        case "on the way to Chromium":
            wire.hold("call", move_and_see)
        case "on the way to Chromium, unseen":
            wire.hold("call", move, deaf=True)
        case _:
            raise AssertionError(moment)


MOMENTS = (
    "while the page is asked",
    "between decision and dispatch",
    "on the way to Chromium",
    "on the way to Chromium, unseen",
)


@pytest.fixture
async def other_client(chromium: str):
    async with open_other_client(chromium) as client:
        yield client


def round_of(bridge: Bridge, handle: str) -> int:
    tools = bridge.registry.find(handle)
    assert tools is not None
    return tools.documents[0].home.round


def taking(site: Site, word: str) -> str:
    """A page with a tool that reports each run to its site by that word, and that reports that it is shown."""
    return f"{site.origin}/hostile/takes.html?how={word}"


@pytest.mark.threat("P14")
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("way", ["another origin", "another process", "redirects", "back out of the cache"])
async def test_a_page_that_leaves_before_a_call_reaches_it_takes_nothing_along(
    agent: Agent,
    bridge: Bridge,
    other_client: OtherClient,
    site: Site,
    other_site: Site,
    way: str,
    moment: str,
    hostile: OpenHostile,
):
    there = site.elsewhere() if way == "another process" else other_site
    there_url = taking(there, "stolen")
    here_url = taking(site, "taken")
    handle = await open_page(agent, there_url)
    page = await page_of(bridge, handle)
    for _ in range(3):
        await list_tools(agent, handle)
    rounds = round_of(bridge, handle)
    await agent.navigate_page(handle, here_url, None)
    await list_tools(agent, handle)
    while round_of(bridge, handle) < rounds:
        await list_tools(agent, handle)
    # By the number of the round alone, a call would do for either document.
    assert round_of(bridge, handle) == rounds
    session_id = await other_client.attach(page.target_id)
    await other_client.run("Page.enable", session_id)
    history = await other_client.run("Page.getNavigationHistory", session_id)
    taken, stolen, shown = site.asked["/taken"], there.asked["/stolen"], there.asked["/shown"]

    async def move() -> None:
        if way == "back out of the cache":
            await other_client.run(
                "Page.navigateToHistoryEntry", session_id, entryId=history["entries"][history["currentIndex"] - 1]["id"]
            )
        else:
            url = site.answer("/away", 302, Location=there_url) if way == "redirects" else there_url
            await other_client.run("Page.navigate", session_id, url=url)
        await there.wait_asked("/shown", shown + 1)

    make_it_happen(moment, bridge, Wire(await connection_of(bridge)), page, move, there_url)
    answer = await call(agent, handle, "take", {"secret": "of the first origin"})

    assert facts(answer) == ("origin_changed", "rejected", False)
    assert page.url == there_url
    assert (site.asked["/taken"] - taken, there.asked["/stolen"] - stolen) == (0, 0)


@pytest.mark.feature("calls.lost")
@pytest.mark.threat("P14")
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("with_toolset", [False, True], ids=["by name", "with a toolset"])
async def test_a_reload_before_a_call_reaches_the_page_runs_it_once_or_not_at_all(
    agent: Agent,
    bridge: Bridge,
    other_client: OtherClient,
    site: Site,
    with_toolset: bool,
    moment: str,
    hostile: OpenHostile,
):
    url = taking(site, "taken")
    handle = await open_page(agent, url)
    page = await page_of(bridge, handle)
    toolset = (await list_tools(agent, handle))["toolset"]
    session_id = await other_client.attach(page.target_id)
    taken, shown, before = site.asked["/taken"], site.asked["/shown"], page.realm

    async def move() -> None:
        await other_client.run("Page.reload", session_id)
        await site.wait_asked("/shown", shown + 1)

    make_it_happen(moment, bridge, Wire(await connection_of(bridge)), page, move, url)
    answer = await call(agent, handle, "take", {}, toolset=toolset if with_toolset else None)

    assert page.realm != before
    if with_toolset:
        assert facts(answer) == ("tool_stale", "rejected", False)
    else:
        assert answer.text == "taken"
    assert site.asked["/taken"] - taken == (0 if with_toolset else 1)
