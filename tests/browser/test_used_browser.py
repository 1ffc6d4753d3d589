"""A browser that somebody uses: with many tabs, some of which answer nothing, and with others who look at it, too."""

import json
import os
import signal
import threading
import urllib.request
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from bridge import limits
from bridge.browser.targets import LEFT_ALONE
from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.bridge import Bridge, open_bridge
from bridge.errors import CommandFailed, PageGone
from bridge.settings import AttachOptions
from bridge.wire.router import RawEvent
from tests.browser.asking import call, facts, list_tools, names, open_page, page_of, read, run_script, wait_offered
from tests.browser.other_client import OtherClient, open_other_client
from tests.browser.test_navigation import DISCARD
from tests.browsers import RunningBrowser, run_chromium
from tests.sites import Site, offering, tool

PING = tool("ping", "() => 'pong'")
TABS = 290
EXTENSION = "chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai/index.html"
"""The viewer of PDF files, which Chromium brings along."""
FLAGS = ("--disable-popup-blocking", "--renderer-process-limit=4")
"""Tabs without a site share processes; what has a site of its own has a process of its own."""


@contextmanager
def run_used_chromium(tmp_path: Path, url: str = "about:blank") -> Generator[RunningBrowser]:
    """With the pages that Chromium has for its developers."""
    (tmp_path / "Local State").write_text('{"internal_only_uis_enabled": true}')
    with run_chromium(url, *FLAGS, profile=tmp_path) as browser:
        yield browser


async def renderer_of(other: OtherClient, target_id: str) -> int:
    """The process of a page, as the head of a trace of it says."""
    session_id = await other.attach(target_id)
    traced: list[Any] = []
    complete = trio.Event()

    def note(event: Any) -> None:
        match event:
            case RawEvent(method="Tracing.dataCollected"):
                traced.extend(event.params["value"])
            case RawEvent(method="Tracing.tracingComplete"):
                complete.set()
            case _:
                pass

    other.connection.listen(session_id, note)
    categories = ["disabled-by-default-devtools.timeline"]
    await other.run("Tracing.start", session_id, traceConfig={"includedCategories": categories})
    await other.run("Tracing.end", session_id)
    await complete.wait()
    await other.run("Target.detachFromTarget", sessionId=session_id)
    [head] = [event for event in traced if event["name"] == "TracingStartedInBrowser"]
    [frame] = head["args"]["data"]["frames"]
    return frame["processId"]


@contextmanager
def stopped(process: int) -> Generator[None]:
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGCONT)


def tabs_of(browser: RunningBrowser) -> Counter[str]:
    """The addresses of its pages that are for us, as the browser itself tells over HTTP."""
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{browser.http}/json/list") as answer:
        urls = [tab["url"] for tab in json.load(answer) if tab["type"] == "page"]
    return Counter(url for url in urls if not url.startswith(LEFT_ALONE))


async def kits_in(other: OtherClient, target_id: str) -> list[str]:
    """The names of ours in a page's global scope, which no script of it can list."""
    session_id = await other.attach(target_id)
    constants = (await other.run("Runtime.globalLexicalScopeNames", session_id))["names"]
    await other.run("Target.detachFromTarget", sessionId=session_id)
    return [name for name in constants if name.startswith("k_")]


async def list_pages(agent: Agent) -> list[dict[str, Any]]:
    answer = await agent.list_pages()
    assert not answer.is_error, answer.text
    return read(answer)["pages"]


def at(pages: list[dict[str, Any]], url: str) -> dict[str, Any]:
    [page] = [page for page in pages if page["url"] == url]
    return page


async def open_crowd(other: OtherClient, site: Site) -> dict[str, str]:
    """Everything that a browser of many may hold; returns the target ids of what is looked at by name."""
    async with trio.open_nursery() as nursery:
        for _ in range(TABS):
            nursery.start_soon(partial(other.run, "Target.createTarget", url="about:blank", background=True))
    workers = "<script>for (let i = 0; i < 20; i++) new Worker('data:,onmessage=_=>0')</script>"
    html = {"good": offering(PING), "frozen": offering(PING), "slept": offering(PING), "workers": workers}
    tabs = {name: await other.open_loaded(site.page(f"/{name}", page)) for name, page in html.items()}
    for name, url in {"settings": "chrome://settings/", "extension": EXTENSION, "desk": "chrome://discards/"}.items():
        tabs[name] = await other.open_tab(url)
    await other.run("Target.openDevTools", targetId=tabs["good"])
    return tabs


@asynccontextmanager
async def clicking(other: OtherClient, target_id: str) -> AsyncGenerator[list[str]]:
    """A person who opens tabs all the time; what opened is in the list."""
    opened: list[str] = []

    async def click() -> None:
        while True:
            with trio.CancelScope(shield=True):
                opened.append(await other.open_tab("about:blank"))
            await other.run("Target.activateTarget", targetId=target_id)
            await trio.sleep(0.2)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(click)
        yield opened
        nursery.cancel_scope.cancel()


def attach(browser: RunningBrowser) -> AttachOptions:
    return AttachOptions(where=browser.websocket)


@pytest.mark.feature("browser.tabs")
async def test_a_crowd_of_tabs_is_listed_at_once_and_the_bad_ones_are_marked(tmp_path: Path, site: Site):
    elsewhere = site.elsewhere()
    with run_used_chromium(tmp_path) as browser, trio.fail_after(180):
        async with open_other_client(browser.websocket) as other, open_bridge(attach(browser)) as second:
            bad = await other.open_loaded(elsewhere.page("/stopped", offering(PING)))
            process = await renderer_of(other, bad)
            tabs = await open_crowd(other, site)
            await other.run_script(tabs["desk"], DISCARD % f"{site.origin}/slept")
            holding = await other.attach(tabs["frozen"])
            await other.run("Page.setWebLifecycleState", holding, state="frozen")
            await (await second.wait_pages()).wait_set_up()
            async with clicking(other, tabs["good"]) as opened, open_bridge(attach(browser)) as bridge:
                agent = Agent(bridge)
                with stopped(process):
                    await bridge.wait_pages()
                    began = trio.current_time()
                    pages = await list_pages(agent)
                    took = trio.current_time() - began

                    assert at(pages, f"{site.origin}/slept")["state"] == "asleep"
                    stopped_page = at(pages, f"{elsewhere.origin}/stopped")
                    assert stopped_page["state"] == "unresponsive"
                    assert took < 10, "some of them never answer"
                    assert len(pages) > TABS
                    for name in ("good", "frozen"):
                        page = at(pages, f"{site.origin}/{name}")["page"]
                        assert (await call(agent, page, "ping")).text == "pong"
                    refused = await call(agent, stopped_page["page"], "ping", seconds=0.5)
                    assert facts(refused) == ("timed_out", "rejected", False)
                assert (await call(agent, stopped_page["page"], "ping")).text == "pong"
                assert len(opened) > 1
            await check_left_alone(other, tabs)
            listed = Counter(page["url"] for page in await list_pages(Agent(second)))
            assert listed == await trio.to_thread.run_sync(tabs_of, browser)


async def check_left_alone(other: OtherClient, tabs: dict[str, str]) -> None:
    """Nobody but pages was attached to while two bridges are there, nor anything put into an extension's page."""
    infos = (await other.run("Target.getTargets", filter=[{}]))["targetInfos"]
    attached = {info["type"] for info in infos if info["attached"] and info["targetId"] != tabs["extension"]}
    assert len([info for info in infos if info["type"] == "worker"]) == 20
    assert [info["attached"] for info in infos if info["targetId"] == tabs["extension"]] == [False]
    assert attached <= {"page", "tab"}, attached
    for name in ("extension", "settings"):
        await check_untouched(other, tabs[name])


async def test_a_tab_that_goes_from_an_extension_to_a_site_and_back_is_a_page_in_between(
    chromium: str, bridge: Bridge, agent: Agent, site: Site
):
    pages = await bridge.wait_pages()
    async with open_other_client(chromium) as other:
        tab = await other.open_loaded(EXTENSION)
        await pages.refresh()
        assert not await is_attached(other, tab)
        driver = await other.attach(tab)

        await other.run("Page.navigate", driver, url=site.page("/between", offering(PING)))
        while not (found := [page for page in pages if page.target_id == tab]):
            await pages._changed.wait()
        [page] = found
        assert (await call(agent, page.handle, "ping")).text == "pong"

        await other.run("Page.navigate", driver, url=EXTENSION)
        with pytest.raises(PageGone):
            await page.wait_changed(lambda: False)
        assert facts(await call(agent, page.handle, "ping")) == ("page_gone", "rejected", False)
        assert page.handle not in [listed["page"] for listed in await list_pages(agent)]
        await other.run("Target.detachFromTarget", sessionId=driver)
        assert not await is_attached(other, tab)
        await check_untouched(other, tab)
        await other.run("Target.closeTarget", targetId=tab)


async def check_untouched(other: OtherClient, target_id: str) -> None:
    """A script of ours may have begun there before we knew; it saw where it was, and did nothing."""
    for kit in await kits_in(other, target_id):
        assert await other.run_script(target_id, kit) is False


async def is_attached(other: OtherClient, target_id: str) -> bool:
    return (await other.run("Target.getTargetInfo", targetId=target_id))["targetInfo"]["attached"]


async def test_pages_that_do_not_answer_hold_up_the_tools_of_no_other(site: Site, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "PAGE_ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(limits, "CALL_SECONDS", 5)
    bad = site.elsewhere().page("/bad", offering(PING))
    with run_chromium("about:blank", "--process-per-site") as browser, trio.fail_after(30):
        async with open_other_client(browser.websocket) as other:
            process = await renderer_of(other, await other.open_loaded(bad))
            for _ in range(limits.PAGES_ASKED - 2):
                await other.open_loaded(bad)
            good = await other.open_loaded(site.page("/good", offering(PING)))
            async with open_bridge(attach(browser)) as bridge:
                agent = Agent(bridge)
                await list_pages(agent)
                with stopped(process):
                    listing = await agent.list_page_tools(None, None, None)

                assert not listing.is_error, listing.text
                pages = {page["url"]: page for page in read(listing)["pages"]}
                assert names(pages[f"{site.origin}/good"]) == ["ping"]
                assert "did not answer within" in pages[bad]["problems"][0]
            await other.run("Target.closeTarget", targetId=good)


@pytest.mark.feature("browser.attach")
async def test_a_page_that_is_on_its_way_when_we_come_is_loading_and_arrives(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    for name in ("SET_UP_SECONDS", "LIST_SECONDS"):  # the browser has just begun
        monkeypatch.setattr(limits, name, 20)
    url = site.page("/late", offering(PING))
    gate = site.gates["/late"] = threading.Event()
    answers: list[Answer] = []
    try:
        with run_chromium(url) as browser, trio.fail_after(30):
            async with open_bridge(attach(browser)) as bridge:
                agent = Agent(bridge)
                late = at(await list_pages(agent), url)
                assert (late["state"], late["tools"]) == ("loading", 0)

                async def ping() -> None:
                    answers.append(await call(agent, late["page"], "ping"))

                async with trio.open_nursery() as nursery:
                    nursery.start_soon(ping)
                    await wait_all_tasks_blocked(0.1)
                    assert not answers
                    gate.set()
    finally:
        gate.set()

    [answer] = answers
    assert (answer.text, answer.facts) == ("pong", {})


@pytest.mark.threat("L5")
async def test_a_browser_that_is_busy_for_long_keeps_its_link(site: Site, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "KEEP_ALIVE_SECONDS", 1)
    monkeypatch.setattr(limits, "KEEP_ALIVE_PROBES", 1)
    monkeypatch.setattr(limits, "LIST_SECONDS", 0.2)
    with run_chromium() as browser, trio.fail_after(30):
        async with open_bridge(attach(browser)) as bridge:
            agent = Agent(bridge)
            page = await open_page(agent, site.page("/busy", offering(PING)))
            with stopped(browser.process.pid):
                listed = read(await agent.list_pages())
                assert page in [one["page"] for one in listed["pages"]]
                assert "did not answer within 0.2 s" in listed["problems"][0]
                refused = await call(agent, page, "ping", seconds=0.2)
                # Longer than a vanished one is waited for.
                await trio.sleep(3 * limits.KEEP_ALIVE_SECONDS)

            assert facts(refused) == ("timed_out", "unknown", True)
            # Its replies come in the order of our commands.
            await run_script(await page_of(bridge, page), "1")
            assert (await call(agent, page, "ping")).text == "pong"
            monkeypatch.setattr(limits, "LIST_SECONDS", 20)
            assert "problems" not in read(await agent.list_pages())


@pytest.mark.threat("L5")
async def test_a_page_that_is_killed_while_it_does_not_answer_is_a_page_again_once_it_is_loaded(site: Site):
    with run_chromium() as browser, trio.fail_after(30):
        async with open_other_client(browser.websocket) as other:
            target_id = await other.open_loaded(site.page("/hung", offering(PING)))
            process = await renderer_of(other, target_id)
            person = await other.attach(target_id)
            with stopped(process):
                async with open_bridge(attach(browser)) as bridge:
                    hung = at(await list_pages(Agent(bridge)), f"{site.origin}/hung")
                    assert hung["state"] == "unresponsive"

                    os.kill(process, signal.SIGKILL)
                    page = await page_of(bridge, hung["page"])
                    await page.wait_changed(lambda: page.is_asleep)
                    await other.run("Page.reload", person)
                    await wait_offered(bridge, page.handle, "ping")

                    assert (await call(Agent(bridge), page.handle, "ping")).text == "pong"
                    assert at(await list_pages(Agent(bridge)), page.url)["state"] == "ready"


@pytest.mark.threat("L6")
async def test_a_call_that_somebody_elses_debugger_pauses_ends_in_time(
    chromium: str, agent: Agent, bridge: Bridge, site: Site
):
    pauses = tool("pauses", "() => { debugger; return 'went on' }")
    handle = await open_page(agent, site.page("/pauses", offering(pauses, PING)))
    await list_tools(agent, handle)
    page = await page_of(bridge, handle)
    beside = await open_page(agent, site.elsewhere().page("/beside", offering(PING)))
    async with open_other_client(chromium) as other:
        devtools = await other.attach(page.target_id)
        paused = trio.Event()
        other.connection.listen(devtools, lambda event: paused.set() if is_pause(event) else None)
        await other.run("Debugger.enable", devtools)

        with trio.fail_after(3):
            answer = await call(agent, handle, "pauses", seconds=0.5)
            await paused.wait()
            assert (await call(agent, beside, "ping")).text == "pong"
        assert facts(answer) == ("timed_out", "unknown", True)

        with suppress(CommandFailed):
            # Our force may have ended the script already.
            await other.run("Debugger.resume", devtools)
        await other.run("Debugger.disable", devtools)
        assert (await call(agent, handle, "ping")).text == "pong"


def is_pause(event: object) -> bool:
    return isinstance(event, RawEvent) and event.method == "Debugger.paused"


@pytest.mark.threat("L6")
async def test_a_tab_that_somebody_else_holds_at_its_start_holds_nobody_up(site: Site):
    url = site.page("/held", offering(PING))
    with run_chromium() as browser, trio.fail_after(30):
        async with open_other_client(browser.websocket) as other:
            only_pages = [{"type": "page"}, {"exclude": True}]
            hold = partial(other.run, "Target.setAutoAttach", flatten=True)
            await hold(autoAttach=True, waitForDebuggerOnStart=True, filter=only_pages)
            target_id = await other.open_tab(url)
            async with open_bridge(attach(browser)) as bridge:
                agent = Agent(bridge)
                with trio.fail_after(5):
                    assert target_id in [page.target_id for page in await bridge.wait_pages()]
                    await list_pages(agent)
                [page] = [page for page in await bridge.wait_pages() if page.target_id == target_id]

                await hold(autoAttach=False, waitForDebuggerOnStart=False)
                await wait_offered(bridge, page.handle, "ping")
                assert (await call(agent, page.handle, "ping")).text == "pong"
