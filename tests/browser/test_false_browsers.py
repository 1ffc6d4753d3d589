"""Who listens on the port to attach to can make calls fail, and do nothing else: the bridge says so in time, keeps its
memory, and uses a real browser that comes after."""

import json
import os
import resource
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Final

import pytest
import trio

import bridge.browser.endpoint
from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.bridge import open_bridge
from bridge.settings import AttachOptions
from bridge.wire.router import Json
from tests.browser.asking import call
from tests.browser.false_browser import JSON_HEAD, TEXT, FalseBrowser, Link, Say, event, frame, open_false_browser
from tests.browsers import RunningBrowser, run_chromium
from tests.faults.session import check, find_page
from tests.sites import Site, offering, tool

GROWTH_BYTES: Final = 100_000_000
"""More than this, and something is kept."""
ANSWER_SECONDS: Final = 10.0
"""With the limits below, every request has its answer by then."""
FLOOD: Final = 20_000
CHUNK: Final = 1 << 20


def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What never comes is waited for no longer than a moment, and what is not taken does not pile up for long."""
    for name in ("CALL_SECONDS", "NAVIGATION_SECONDS", "LOAD_SECONDS", "PAGE_ANSWER_SECONDS", "LIST_SECONDS"):
        monkeypatch.setattr(limits, name, 1.0)
    for name in ("START_SECONDS", "ATTACH_WAIT_SECONDS"):
        monkeypatch.setattr(limits, name, 2.0)
    monkeypatch.setattr(limits, "RECONNECT_SECONDS_MAX", 0.5)
    monkeypatch.setattr(bridge.browser.endpoint, "CONNECT_SECONDS", 1.0)
    monkeypatch.setattr(limits, "UNSENT_BYTES", 16_000_000)


@pytest.fixture(scope="module")
def healthy(site: Site) -> Iterator[RunningBrowser]:
    with run_chromium(site.page("/healthy", offering(tool("ping", "() => 'pong'")))) as browser:
        yield browser


async def tell_rightly(link: Link, _: Json, answers: list[Json]) -> None:
    await link.tell(answers)


# Websockets


async def wrong_ids(link: Link, _: Json, answers: list[Json]) -> None:
    await link.tell([answer | {"id": answer["id"] + 1000} if "id" in answer else answer for answer in answers])


async def twice(link: Link, _: Json, answers: list[Json]) -> None:
    await link.tell([one for answer in answers for one in [answer] * (1 + ("id" in answer))])


async def never(link: Link, _: Json, __: list[Json]) -> None: ...


async def never_from_pages(link: Link, command: Json, answers: list[Json]) -> None:
    if "sessionId" not in command:
        await link.tell(answers)


async def no_utf8(link: Link, command: Json, answers: list[Json]) -> None:
    await link.tell(answers)
    if "sessionId" in command:
        await link.say(frame(b'{"id":1,"result":{"x":"\xff\xc0"}}'))


async def no_utf8_at_once(link: Link, _: Json, __: list[Json]) -> None:
    await link.say(frame(b"\xff"))


async def no_json(link: Link, command: Json, answers: list[Json]) -> None:
    await link.tell(answers)
    if "sessionId" in command:
        await link.say(frame(b"[" * 200_000))


async def odd_types(link: Link, command: Json, _: list[Json]) -> None:
    await link.tell([{"id": command["id"], "result": [1], "error": None, "sessionId": {}, "method": 7}])


async def great_claim(link: Link, command: Json, answers: list[Json]) -> None:
    """A frame that says that it has 4 exabytes, and stops after a few."""
    await link.tell(answers)
    if "sessionId" in command:
        await link.say(frame(b'{"id":', claimed_bytes=1 << 62))


async def impossible_claim(link: Link, _: Json, __: list[Json]) -> None:
    await link.say(frame(b"", claimed_bytes=(1 << 64) - 1))


async def reserved_bits(link: Link, _: Json, __: list[Json]) -> None:
    await link.say(frame(b"{}", TEXT | 0x70))


async def masked(link: Link, _: Json, __: list[Json]) -> None:
    await link.say(bytes([TEXT, 0x80 | 2]) + b"\0\0\0\0{}")


async def binary(link: Link, _: Json, answers: list[Json]) -> None:
    await link.say(b"".join(frame(json.dumps(answer).encode(), 0x82) for answer in answers))


async def slivers(link: Link, command: Json, answers: list[Json]) -> None:
    """A message in many frames, that never ends."""
    await link.tell(answers)
    if "sessionId" in command and not link.began:
        link.began = True
        await link.say(frame(b"{", 0x01) + frame(b" ", 0x00) * FLOOD)


async def pings(link: Link, _: Json, answers: list[Json]) -> None:
    await link.say((bytes([0x89, 125]) + b"x" * 125) * 100)
    await link.tell(answers)


async def flood(link: Link, command: Json, answers: list[Json]) -> None:
    """Events of every kind that the bridge acts on, and of none."""
    await link.tell(answers)
    if "sessionId" not in command or link.began:
        return
    link.began = True
    session = command["sessionId"]
    for number in range(FLOOD // 20):
        name = f"N{number}"
        info = page_info(name)
        described = {"id": name, "url": f"https://x.test/{name}", "loaderId": name, "mimeType": ""}
        context = {"id": number, "uniqueId": name, "origin": "https://x.test", "name": ""}
        described_frame = {
            **described,
            "parentId": "T1",
            "securityOrigin": "https://x.test",
            "domainAndRegistry": "",
            "secureContextType": "Secure",
            "crossOriginIsolatedContextType": "NotIsolated",
            "gatedAPIFeatures": [],
        }
        aux = {"isDefault": True, "type": "default", "frameId": name}
        await link.say(
            event("Foo.happened", session, a=name)
            + event("Runtime.consoleAPICalled", session, type="log", args=[{"type": "string", "value": "x" * 1000}])
            + event("Target.targetCreated", targetInfo=info)
            + event("Target.targetInfoChanged", targetInfo=info | {"title": name * 100})
            + event("Runtime.executionContextCreated", session, context=context | {"auxData": aux})
            + event("Page.frameNavigated", session, frame=described_frame, type="Navigation")
            + event("Page.frameAttached", session, frameId=name, parentFrameId="T1")
            + event("Page.lifecycleEvent", session, frameId=name, loaderId=name, name="load", timestamp=1)
            + event("Inspector.targetCrashed", "S?")
            + event("Page.javascriptDialogOpening", session, url="x", message="x" * 1000, type="alert")
            + event("Page.javascriptDialogClosed", session, result=True)
        )


async def flood_of_pages(link: Link, command: Json, answers: list[Json]) -> None:
    """Each is to be sent what all documents are, and nothing of that is read meanwhile."""
    await link.tell(answers)
    if "sessionId" in command and not link.began:
        link.began = True
        for number in range(FLOOD // 4):
            told = {"sessionId": f"S{number}", "targetInfo": page_info(f"N{number}"), "waitingForDebugger": True}
            await link.say(event("Target.attachedToTarget", **told))


def page_info(target_id: str) -> Json:
    return {"targetId": target_id, "type": "page", "title": "", "url": "about:blank", "attached": False}


EVIL = [
    wrong_ids,
    never,
    never_from_pages,
    no_utf8,
    no_utf8_at_once,
    no_json,
    odd_types,
    great_claim,
    impossible_claim,
    reserved_bits,
    masked,
    slivers,
    flood,
    flood_of_pages,
]
HARMLESS = [twice, binary, pings]


@pytest.mark.threat("L2")
@pytest.mark.parametrize("evil", EVIL)
async def test_an_evil_browser_makes_calls_fail_and_nothing_else(evil, healthy: RunningBrowser, site: Site):
    async with open_false_browser(evil) as browser:
        codes = await use_and_recover(browser, healthy, site)

    if evil is not flood:  # it is over in time, or it is not
        assert codes


@pytest.mark.threat("L2")
@pytest.mark.parametrize("odd", HARMLESS)
async def test_a_browser_that_is_only_odd_is_used_as_any_other(odd, healthy: RunningBrowser, site: Site):
    async with open_false_browser(odd) as browser:
        codes = await use_and_recover(browser, healthy, site, hurried=False)

    assert codes == []


# Before there is a websocket


async def body_without_end(say: Say) -> None:
    await say(JSON_HEAD + b"\r\n")
    while True:
        await say(b" " * CHUNK)


async def chunks_without_end(say: Say) -> None:
    await say(JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    while True:
        await say(b"1;" + b"x" * 1000 + b"\r\n \r\n")


async def head_without_end(say: Say) -> None:
    await say(b"HTTP/1.1 200 OK\r\n")
    while True:
        await say(b"X: " + b"x" * CHUNK)


async def news_without_end(say: Say) -> None:
    while True:
        await say(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


async def drop_by_drop(say: Say) -> None:
    await say(JSON_HEAD + b"Content-Length: 1000\r\n\r\n")
    while True:
        await say(b" ")
        await trio.sleep(0.05)  # an evil one takes its time


async def great_length(say: Say) -> None:
    await say(JSON_HEAD + b"Content-Length: 99999999999999999999\r\n\r\n{")
    await trio.sleep_forever()


async def moved(say: Say) -> None:
    await say(b"HTTP/1.1 302 Found\r\nLocation: ws://192.0.2.1/devtools/browser/u\r\nContent-Length: 0\r\n\r\n")


async def says_nothing(_: Say) -> None:
    await trio.sleep_forever()


HTTP = [
    body_without_end,
    chunks_without_end,
    head_without_end,
    news_without_end,
    drop_by_drop,
    great_length,
    moved,
    says_nothing,
]


@pytest.mark.threat("L2")
@pytest.mark.parametrize("http", HTTP)
async def test_one_that_is_no_browser_makes_calls_fail_and_nothing_else(http, healthy: RunningBrowser, site: Site):
    async with open_false_browser(tell_rightly, http) as browser:
        codes = await use_and_recover(browser, healthy, site)

    assert set(codes) <= {"browser_gone", "browser_starting"}


@pytest.mark.threat("L2")
@pytest.mark.parametrize(
    "elsewhere",
    [
        "ws://192.0.2.1:9/devtools/browser/u",
        "wss://evil.test/devtools/browser/u",
        "ws://[2001:db8::1]/devtools/browser/u",
    ],
)
async def test_one_that_names_another_place_leads_nowhere_and_gets_no_secret_there(elsewhere: str):
    async def say_elsewhere(say: Say) -> None:
        await say(JSON_HEAD + b"Connection: close\r\n\r\n" + json.dumps({"webSocketDebuggerUrl": elsewhere}).encode())

    async with open_false_browser(tell_rightly, say_elsewhere) as browser:
        options = AttachOptions(where=f"http://127.0.0.1:{browser.port}", headers=(("X-Key", "hunter2"),))
        async with open_bridge(options) as bridge:
            with trio.fail_after(ANSWER_SECONDS):
                assert not (await Agent(bridge).list_pages()).is_error

    assert [request.split("\r\n")[0] for request in browser.requests] == [
        "GET /json/version HTTP/1.1",
        "GET /devtools/browser/u HTTP/1.1",
    ]


def memory_bytes() -> int:
    """What we have in memory now; elsewhere than on Linux, the most that we ever had."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def use_and_recover(
    browser: FalseBrowser, healthy: RunningBrowser, site: Site, *, hurried: bool = True
) -> list[str]:
    """Use a false browser in every way, then a healthy one in its place; returns the codes of errors before that.

    Args:
        hurried: the false one has as little time as `hurry` gives; the healthy one always has what a browser needs.
    """
    before = memory_bytes()
    codes: list[str] = []

    async def ask(coming: Awaitable[Answer]) -> None:
        with trio.fail_after(ANSWER_SECONDS):
            answer = await coming
        check(answer)
        if answer.is_error and answer.structured:
            codes.append(answer.structured["code"])

    with pytest.MonkeyPatch.context() as limited:
        if hurried:
            hurry(limited)
        async with open_bridge(AttachOptions(where=f"http://127.0.0.1:{browser.port}")) as bridge:
            agent = Agent(bridge)
            await ask(agent.list_pages())
            await ask(agent.list_page_tools(None, None, None))
            await ask(agent.call_page_tool("p1", "say", {}))
            await ask(agent.navigate_page("p1", "https://shop.test/next", None))
            await ask(agent.open_page("https://shop.test/opened"))
            await ask(agent.close_page("p1"))
            assert memory_bytes() - before < GROWTH_BYTES

            limited.undo()
            browser.become(int(healthy.http.rpartition(":")[2]))
            with trio.fail_after(20):
                page = "p99"
                # It may have started a moment ago.
                while '"ping"' not in (await agent.list_page_tools(page, None, None)).text:
                    await trio.sleep(0.05)
                    page = await find_page(agent, f"{site.origin}/healthy")
                assert (await call(agent, page, "ping")).text == "pong"
    return codes
