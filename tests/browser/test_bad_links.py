"""The faults of `tests/faults`, with a real Chromium: it speaks as the fake one does, and the link to it is as bad."""

import json
import re
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.request import Request, urlopen

import pytest
import trio

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.errors import PageCrashed
from bridge.wire.address import Address, open_stream
from bridge.wire.commands import page
from bridge.wire.router import Json
from bridge.wire.transports import Transport
from bridge.wire.websocket import open_websocket, websocket_over
from tests.browser.asking import page_of, run_script
from tests.browsers import run_chromium
from tests.faults.bridges import OpenTransport, open_bridge_over
from tests.faults.fake_chromium import WORDS, FakeChromium
from tests.faults.fake_links import DirectTransport, Wrap
from tests.faults.messages import Path, Recorder, SpoiltTransport
from tests.faults.session import check_well, codes, find_page, use, wait_found_again
from tests.faults.streams import End, Faults, FaultyStream
from tests.faults.test_fields import KINDS
from tests.sites import Site, offering, tool


@pytest.fixture
def shop(site: Site) -> Site:
    """The pages of the fake Chromium."""
    say = tool("say", f"() => {json.dumps(WORDS)}.repeat(20)")
    ask = tool("ask", f"() => {json.dumps(WORDS)} + confirm('Sure?')")
    fail = tool("fail", "() => { throw new Error('x') }")
    hang = tool("hang", "() => new Promise(() => {})")
    tools = offering(say, ask, fail, hang, group="Shop")
    site.page("/frame", offering(say.replace("say", "pay", 1)))
    site.page("/1", f'{tools}<iframe src="{site.elsewhere().origin}/frame"></iframe>')
    for path in ("/2", "/opened"):
        site.page(path, tools)
    site.page("/next", f"{tools}<iframe id=own src=about:blank></iframe>")
    return site


@pytest.fixture
def shop_chromium(shop: Site) -> Iterator[str]:
    """The websocket of a browser that shows its first two pages."""
    with run_chromium(f"{shop.origin}/1") as browser:

        def ask(path: str, method: str = "GET") -> Any:
            with urlopen(Request(browser.http + path, method=method), timeout=30) as answer:
                return json.load(answer)

        ask(f"/json/new?{shop.origin}/2", "PUT")
        # Both documents are there before the bridge is.
        while not {"/1", "/2"} <= {shown["title"] for shown in ask("/json/list")}:
            time.sleep(0.05)
        yield browser.websocket


async def happen(bridge: Bridge, shop: Site, what: str) -> None:
    """What is a method of `FakeChromium`, in a real one."""
    shown = await page_of(bridge, await find_page(Agent(bridge), f"{shop.origin}/next"))
    match what:
        case "empty":
            keep = "const kept = document.documentElement.outerHTML;"
            await run_script(shown, f"own.remove(); {keep} document.open(); document.write(kept); document.close()")
            await shown.wait_loaded()
        case _:
            shown._session.send_nowait(page.crash())
            with suppress(PageCrashed):
                await shown.wait_changed(lambda: False)


async def wait_tools(agent: Agent) -> None:
    """Return once both pages have loaded, and the iframe of the first."""
    wanted = ["pay", "say", "say"]
    while sorted(re.findall("pay|say", (await agent.list_pages()).text)) != wanted:  # noqa: ASYNC110  # as an agent would
        await trio.sleep(0.05)


async def use_shop(open_transport: OpenTransport, shop: Site) -> list[str]:
    """Use the first page, and see that the second is well; returns what came of each request."""
    with trio.fail_after(60):
        async with open_bridge_over(open_transport) as bridge:
            agent = Agent(bridge)
            await wait_tools(agent)
            answers = await use(agent, partial(happen, bridge, shop), origin=shop.origin)
            await check_well(agent, origin=shop.origin)
    return codes(answers)


async def use_fake(recorder: Recorder) -> list[str]:
    """The same with the fake one."""
    transport = DirectTransport(FakeChromium())
    async with open_bridge_over(lambda: nullcontext(SpoiltTransport(transport, recorder))) as bridge:
        return codes(await use(Agent(bridge), transport.happen))


def shapes(recorder: Recorder, kind: str) -> set[tuple[Path, str]]:
    """The fields of messages of a kind, and what type of JSON each is. All answers of the kit are of one kind."""
    same = [other for other in recorder.fields if other == kind or ("evaluate" in kind and other.startswith(kind[:22]))]
    return {(path, type(value).__name__) for one in same for path, value in recorder.fields[one].items()}


async def test_the_fake_chromium_speaks_as_the_real_one_does(shop: Site, shop_chromium: str):
    fake, real = Recorder(), Recorder()

    @asynccontextmanager
    async def open_transport() -> AsyncGenerator[Transport]:
        async with open_websocket(shop_chromium) as transport:
            yield SpoiltTransport(transport, real)

    assert await use_shop(open_transport, shop) == await use_fake(fake)
    for kind in fake.fields:
        assert kind in real.fields, f"Chromium never sends {kind}"
        unknown = shapes(fake, kind) - shapes(real, kind)
        assert not unknown, f"{kind} of the fake Chromium has what the real one has not"


class SpoilKind:
    """Renames every field of one kind of message of the first page, of its iframes, and of the browser itself."""

    def __init__(self, kind: str, url: str) -> None:
        self._kind = kind
        self._url = url
        self._others: set[object] = set()
        """Sessions of other pages."""

    def __call__(self, kind: str, message: Json) -> Sequence[Json]:
        told = message.get("params", {})
        of_other = message.get("sessionId") in self._others or told.get("targetInfo", {}).get("url") == self._url
        if kind == "Target.attachedToTarget" and of_other:
            self._others.add(told["sessionId"])
        if kind != self._kind or of_other:
            return [message]
        return [message | {part: renamed(message[part]) for part in ("params", "result") if part in message}]


def renamed(value: Any) -> Any:
    """The same with other names."""
    match value:
        case dict():
            return {f"{key}Renamed": renamed(inner) for key, inner in value.items()}
        case list():
            return [renamed(inner) for inner in value]
        case _:
            return value


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind == "Page.frameNavigated" else pytest.mark.torture) for kind in KINDS]
)
async def test_a_kind_of_message_that_a_real_browser_changes_costs_one_page_at_most(
    shop: Site, shop_chromium: str, monkeypatch: pytest.MonkeyPatch, kind: str
):
    for name in ("CALL_SECONDS", "LOAD_SECONDS", "NAVIGATION_SECONDS", "PAGE_ANSWER_SECONDS"):
        monkeypatch.setattr(limits, name, 1.0)

    @asynccontextmanager
    async def open_transport() -> AsyncGenerator[Transport]:
        async with open_websocket(shop_chromium) as transport:
            yield SpoiltTransport(transport, SpoilKind(kind, f"{shop.origin}/2"))

    with trio.fail_after(60):
        async with open_bridge_over(open_transport) as bridge:
            agent = Agent(bridge)
            await use(agent, origin=shop.origin)
            monkeypatch.undo()
            await check_well(agent, origin=shop.origin)


def bad_link(url: str, wrap: Wrap) -> OpenTransport:
    """To a real browser, over a stream with faults."""

    @asynccontextmanager
    async def open_transport() -> AsyncGenerator[Transport]:
        address = Address.parse(url)
        async with open_stream(address) as stream, websocket_over(wrap(stream), address) as transport:
            yield transport

    return open_transport


async def test_a_real_browser_is_used_over_a_link_that_is_late_and_in_slivers(shop: Site, shop_chromium: str):
    late = Faults(latency_seconds=0.001, jitter_seconds=0.003, slice_bytes=2000)
    wrap = partial(FaultyStream, out=replace(late, slice_bytes=100_000), back=late, seed=5)

    assert await use_shop(bad_link(shop_chromium, wrap), shop) == await use_fake(Recorder())


@pytest.mark.parametrize("end", [End.CLOSE, End.RESET])
async def test_a_real_browser_is_found_again_when_the_link_breaks_in_a_session(
    shop: Site, shop_chromium: str, end: End
):
    places = [None, 40_000, 20_000, 3_000]

    def wrap(stream: trio.abc.Stream) -> trio.abc.Stream:
        return FaultyStream(stream, back=Faults(byte_limit=places.pop(), end=end))

    with trio.fail_after(60):
        async with open_bridge_over(bad_link(shop_chromium, wrap)) as bridge:
            agent = Agent(bridge)
            await wait_tools(agent)
            while places:
                await use(agent, origin=shop.origin)
                await wait_found_again(agent)
            await check_well(agent, origin=shop.origin)
