"""In which order, and how many at once, the pages are set up that a browser has already."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from bridge import limits
from bridge.browser.browser import Browser
from bridge.errors import PageAsleep
from bridge.page.pages import Pages, open_pages
from bridge.settings import PageSettings
from bridge.tools.registry import Registry
from bridge.tools.sources.page import PageSource
from bridge.wire.nursery import open_background
from bridge.wire.router import Json
from tests.wire.conftest import Call, FakePeer, Link

LAST = ["Runtime.runIfWaitingForDebugger", "Page.getFrameTree"]
SITE = "site"
"""The one tab that shows a site, and so may have tools."""


class FakeBrowser:
    """It has some tabs, keeps what it is told for each, and answers for those that a test names."""

    def __init__(self, peer: FakePeer) -> None:
        self._peer = peer
        self.heard: dict[str, list[str]] = {}
        self.unanswered: dict[str, list[Json]] = {}
        self.answering: set[str] = set()
        self.shown: dict[str, str] = {}
        """The addresses of what some tabs show; the others show about:blank."""
        self._saying = trio.Lock()

    @property
    def begun(self) -> set[str]:
        """Tabs that were told anything."""
        return set(self.heard)

    async def attach(self, *tabs: str, waiting: bool = False) -> None:
        await self._say(*(attached(tab, waiting=waiting) for tab in tabs))

    async def answer(self, tab: str) -> None:
        """From now on it answers, also what it was told before."""
        self.answering.add(tab)
        for command in self.unanswered.pop(tab, []):
            shown = {"id": f"T{tab}", "url": self.shown.get(tab, "about:blank")}
            result = {"identifier": "1", "frameTree": {"frame": shown}}
            await self._say({"id": command["id"], "sessionId": tab, "result": result})

    async def refuse(self, tab: str) -> None:
        for command in self.unanswered.pop(tab, []):
            error = {"code": -32000, "message": "Target crashed"}
            await self._say({"id": command["id"], "sessionId": tab, "error": error})

    async def _say(self, *messages: Json) -> None:
        async with self._saying:
            await self._peer.say(*messages)

    async def run(self, tabs: list[str]) -> None:
        while True:
            command = await self._peer.next_command()
            tab = command.get("sessionId")
            if tab is None:
                if command["method"] == "Target.setAutoAttach":
                    await self.attach(*tabs)
                await self._say({"id": command["id"], "result": {}})
                continue
            self.heard.setdefault(tab, []).append(command["method"])
            self.unanswered.setdefault(tab, []).append(command)
            if tab in self.answering:
                await self.answer(tab)


def attached(tab: str, *, waiting: bool) -> Json:
    url = "http://a.test/" if tab == SITE else "about:blank"
    info = {"targetId": f"T{tab}", "type": "page", "title": tab, "url": url, "attached": True}
    params = {"sessionId": tab, "targetInfo": {**info, "canAccessOpener": False}, "waitingForDebugger": waiting}
    return {"method": "Target.attachedToTarget", "params": params}


def detached(tab: str) -> Json:
    return {"method": "Target.detachedFromTarget", "params": {"sessionId": tab}}


@asynccontextmanager
async def open_tabs(
    peer: FakePeer, tabs: list[str], settings: PageSettings | None = None
) -> AsyncGenerator[tuple[Pages, FakeBrowser, Link]]:
    browser = FakeBrowser(peer)
    async with peer.open_link() as link, open_background() as nursery:
        nursery.start_soon(browser.run, tabs)
        observer = PageSource(Registry())
        async with open_pages(
            Browser(link.connection, "Fake", ours=False), observer, settings or PageSettings()
        ) as pages:
            await wait_all_tasks_blocked()
            yield pages, browser, link


TABS = [f"S{number}" for number in range(3 * limits.SET_UPS)]


async def test_pages_are_set_up_a_few_at_once_and_the_next_begins_where_one_has_answered(peer: FakePeer):
    async with open_tabs(peer, TABS) as (pages, browser, _):
        assert [page.state for page in pages] == ["attaching"] * len(TABS)
        assert browser.begun == set(TABS[: limits.SET_UPS])

        for tab in (TABS[3], TABS[0]):
            await browser.answer(tab)
        await wait_all_tasks_blocked()

        assert browser.begun == set(TABS[: limits.SET_UPS + 2])
        assert [page.state for page in pages][:4] == ["ready", "attaching", "attaching", "ready"]


async def test_a_page_that_may_have_tools_goes_before_those_that_have_none(peer: FakePeer):
    async with open_tabs(peer, [*TABS, SITE]) as (_, browser, _):
        assert browser.begun == {*TABS[: limits.SET_UPS - 1], SITE}


async def test_pages_that_do_not_answer_give_their_places_up_and_are_marked_until_they_do(
    peer: FakePeer, autojump_clock: MockClock
):
    async with open_tabs(peer, TABS) as (pages, browser, _):
        for tab in TABS[limits.SET_UPS :]:
            await browser.answer(tab)

        began = trio.current_time()
        await pages.wait_set_up()

        assert trio.current_time() - began == pytest.approx(limits.SET_UP_SECONDS)
        states = [page.state for page in pages]
        assert states == ["unresponsive"] * limits.SET_UPS + ["ready"] * (len(TABS) - limits.SET_UPS)
        for tab in TABS[: limits.SET_UPS]:
            await browser.answer(tab)
        for page in pages:
            await page.wait_attached()
        assert {page.state for page in pages} == {"ready"}


@pytest.mark.feature("browser.tabs")
async def test_a_page_that_somebody_asks_for_does_not_wait_for_its_turn(peer: FakePeer):
    async with open_tabs(peer, TABS) as (pages, browser, link):
        wanted = list(pages)[-1]

        asking = Call(link._nursery, wanted.wait_awake)
        await wait_all_tasks_blocked()
        assert browser.begun == {*TABS[: limits.SET_UPS], TABS[-1]}

        await browser.answer(TABS[-1])
        await asking.wait_ended()
        assert asking.error is None
        assert wanted.state == "ready"


async def test_a_page_that_sleeps_is_waited_for_from_the_time_when_its_set_up_began(
    peer: FakePeer, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "PAGE_ANSWER_SECONDS", 2)
    async with open_tabs(peer, TABS[:1]) as (pages, _, _):
        [page] = pages
        began = trio.current_time()
        with pytest.raises(PageAsleep):
            await page.wait_awake()
        assert trio.current_time() - began == pytest.approx(limits.PAGE_ANSWER_SECONDS)


async def test_a_page_that_is_held_before_its_first_script_never_waits_for_its_turn(peer: FakePeer):
    async with open_tabs(peer, TABS) as (_, browser, _):
        await browser.attach("new", waiting=True)
        await wait_all_tasks_blocked()
        assert browser.begun == {*TABS[: limits.SET_UPS], "new"}
        # Some windows answer nothing before they may go on.
        assert browser.heard["new"][-2:] == LAST


async def test_a_page_that_goes_on_before_its_answers_are_read_is_loading(peer: FakePeer):
    async with open_tabs(peer, []) as (pages, browser, _):
        await browser.attach("new", waiting=True)
        await wait_all_tasks_blocked()

        await peer.say({"method": "Page.frameStartedLoading", "params": {"frameId": "Tnew"}, "sessionId": "new"})
        await browser.answer("new")
        await wait_all_tasks_blocked()
        assert [page.state for page in pages] == ["loading"]

        await peer.say({"method": "Page.frameStoppedLoading", "params": {"frameId": "Tnew"}, "sessionId": "new"})
        await wait_all_tasks_blocked()
        assert [page.state for page in pages] == ["ready"]


async def test_a_window_is_loading_till_something_comes_to_it_which_is_no_reload(peer: FakePeer):
    async with open_tabs(peer, []) as (pages, browser, _):
        browser.shown[SITE] = ""
        await browser.answer(SITE)
        await browser.attach(SITE)
        await wait_all_tasks_blocked()
        [page] = pages
        aux = {"isDefault": True, "type": "default", "frameId": f"T{SITE}"}
        context = {"id": 1, "uniqueId": "1", "origin": "://", "name": "", "auxData": aux}
        created = {"method": "Runtime.executionContextCreated", "params": {"context": context}, "sessionId": SITE}
        await peer.say(created)
        await wait_all_tasks_blocked()
        before = page.place
        assert (page.url, page.state, page.why_no_tools) == ("http://a.test/", "loading", None)

        frame = {"id": f"T{SITE}", "url": "http://a.test/"}
        await peer.say({"method": "Page.frameNavigated", "params": {"frame": frame}, "sessionId": SITE})
        await peer.say({"method": "Page.frameStoppedLoading", "params": {"frameId": f"T{SITE}"}, "sessionId": SITE})
        await wait_all_tasks_blocked()
        assert page.state == "ready"
        assert before.navigated_to(page.place) is None
        assert page.place.documents == 1


async def test_a_page_that_cannot_be_set_up_is_let_go_all_the_same_and_tried_again_when_it_moves(peer: FakePeer):
    async with open_tabs(peer, []) as (pages, browser, _):
        await browser.attach("new", waiting=True)
        await wait_all_tasks_blocked()
        first = list(browser.heard["new"])

        await browser.refuse("new")
        await wait_all_tasks_blocked()
        assert browser.heard["new"] == first
        assert first[-2:] == LAST

        await peer.say({"method": "Inspector.targetCrashed", "params": {}, "sessionId": "new"})
        await wait_all_tasks_blocked()
        assert browser.heard["new"] == [*first, *first]
        assert [page.state for page in pages] == ["asleep"]
        await browser.answer("new")
        await peer.say({"method": "Page.frameStartedLoading", "params": {"frameId": "Tnew"}, "sessionId": "new"})
        await peer.say({"method": "Page.frameStoppedLoading", "params": {"frameId": "Tnew"}, "sessionId": "new"})
        await wait_all_tasks_blocked()
        assert [page.state for page in pages] == ["ready"]


async def test_a_page_that_is_closed_before_its_turn_leaves_nothing_that_waits(peer: FakePeer):
    async with open_tabs(peer, TABS[: limits.SET_UPS + 1]) as (pages, browser, _):
        # Each that is being set up has a task for itself, and one for its place; the last one waits in its own.
        assert len(pages._nursery.child_tasks) == 2 * limits.SET_UPS + 1

        await peer.say(detached(TABS[limits.SET_UPS]))
        await wait_all_tasks_blocked()
        assert len(pages._nursery.child_tasks) == 2 * limits.SET_UPS

        await browser.refuse(TABS[0])
        await peer.say(detached(TABS[0]))
        await wait_all_tasks_blocked()
        assert len(pages._nursery.child_tasks) == 2 * (limits.SET_UPS - 1)
        assert browser.begun == set(TABS[: limits.SET_UPS])


@pytest.mark.feature("pages.frames")
async def test_an_iframe_whose_process_speaks_before_that_of_its_page_is_asked(peer: FakePeer):
    def opened(tab: str) -> Json:
        aux = {"isDefault": True, "type": "default", "frameId": f"T{tab}"}
        context = {"id": 1, "uniqueId": f"{tab}.1", "origin": "http://a.test", "name": "", "auxData": aux}
        return {"method": "Runtime.executionContextCreated", "params": {"context": context}, "sessionId": tab}

    def loaded(tab: str) -> Json:
        params = {"frameId": f"T{tab}", "loaderId": "L", "name": "DOMContentLoaded", "timestamp": 1}
        return {"method": "Page.lifecycleEvent", "params": params, "sessionId": tab}

    async with open_tabs(peer, [SITE], PageSettings(frames="same-origin")) as (_, browser, _):
        for tab in (SITE, "frame"):
            await browser.answer(tab)
        child = attached("frame", waiting=False)
        child["params"]["targetInfo"]["type"] = "iframe"
        await peer.say({**child, "sessionId": SITE})
        await wait_all_tasks_blocked()
        set_up = list(browser.heard["frame"])

        await peer.say(opened("frame"), loaded("frame"))
        await wait_all_tasks_blocked()
        assert browser.heard["frame"] == set_up
        await peer.say(opened(SITE))
        await wait_all_tasks_blocked()

        assert set(browser.heard["frame"][len(set_up) :]) == {"Runtime.evaluate"}
