"""Wherever a page goes, and whoever sends it there: the tools of what it shows now, or none, and never yesterday's."""

import socket
import threading
from pathlib import Path

import pytest
import trio

from bridge import limits
from bridge.browser.browser import open_browser
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge, open_bridge
from bridge.folders import Folders
from bridge.page.session import Page
from bridge.settings import AttachOptions, LaunchOptions, PageSettings
from bridge.wire.commands import Event
from bridge.wire.router import RawEvent
from tests.browser.asking import (
    call,
    code,
    facts,
    list_tools,
    names,
    open_page,
    page_of,
    read,
    run_script,
    wait_registered,
    wait_shown,
)
from tests.browser.other_client import OtherClient, open_other_client
from tests.sites import Site, offering, tool

OLD = offering(tool("old", "() => 'old'"))
NEW = offering(tool("new", "() => 'new'"))
GO = tool("go", "({url}) => { setTimeout(() => { location.href = url }) }")


async def describe(agent: Agent, handle: str) -> dict:
    """What the list of pages says of one; asks nothing of the page."""
    pages = {page["page"]: page for page in read(await agent.list_pages())["pages"]}
    return pages[handle]


def tools_in(described: dict) -> list[str]:
    return [name for group in described["groups"] for name in group["tools"]]


async def wait_offers(bridge: Bridge, page: Page, *expected: str) -> None:
    """Return once the bridge knows, without asking for it, that the page offers exactly these tools."""

    def offered() -> list[str]:
        return [tool.name for tool in bridge.registry.find(page.handle) or ()]

    await wait_registered(bridge, lambda: offered() == list(expected))


@pytest.mark.feature("pages.navigation")
async def test_a_navigation_that_takes_too_long_is_not_said_to_be_nothing(
    agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "NAVIGATION_SECONDS", 1)
    url = site.page("/takes-long", NEW)
    handle = await open_page(agent, site.page("/old", OLD))
    gate = site.gates["/takes-long"] = threading.Event()
    try:
        moved, opened = await agent.navigate_page(handle, url, None), await agent.open_page(url)
        assert facts(moved) == facts(opened) == ("timed_out", "unknown", True)
        assert moved.text.endswith("The page may still get there: list_pages shows where it is.")
        assert opened.text.endswith("It was closed again; its server may have been asked for it.")
    finally:
        gate.set()


async def test_a_page_that_never_finishes_loading_is_waited_for_once(
    agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "LOAD_SECONDS", 1.5)
    gate = site.gates["/never.png"] = threading.Event()
    try:
        handle = await open_page(agent, site.page("/endless", OLD + "<img src=/never.png>"))
        with trio.fail_after(1):
            for _ in range(3):
                assert names(await list_tools(agent, handle)) == ["old"]
            assert code(await call(agent, handle, "nope")) == "tool_not_found"
    finally:
        gate.set()


STOPS = {"stop": "window.stop()", "mail": "location = 'mailto:a@b.example'", "nothing": "location = '/nothing'"}


@pytest.mark.parametrize("page_settings", [PageSettings(), PageSettings(frames="all")], ids=["page", "frames"])
@pytest.mark.parametrize("stop", STOPS)
async def test_a_page_that_stops_its_own_loading_is_asked_at_once(
    agent: Agent, site: Site, stop: str, page_settings: PageSettings
):
    site.answer("/nothing", 204)
    stops = f"{OLD}<script>{STOPS[stop]}</script>" + "<p>more" * 2000
    framed = page_settings.frames == "all"
    url = site.page("/stops", stops)
    with trio.fail_after(limits.PAGE_ANSWER_SECONDS):
        handle = await open_page(agent, site.page("/around", f"<iframe src={url}></iframe>") if framed else url)
        assert names(await list_tools(agent, handle)) == ["old"]


async def test_a_page_that_is_nobodys_is_opened_at_once(agent: Agent, site: Site):
    with trio.fail_after(limits.PAGE_ANSWER_SECONDS):
        answer = await agent.open_page(site.page("/nobodys", OLD, Content_Security_Policy="sandbox allow-scripts"))

    assert ["opaque origin" in problem for problem in read(answer)["problems"]] == [True]


@pytest.mark.parametrize("url", ["http://", "https://", "http://[::1", "http://%zz/"])
async def test_an_address_that_no_browser_can_read_is_told_as_that(agent: Agent, site: Site, url: str):
    handle = await open_page(agent, site.page("/old", OLD))

    for answer in (await agent.navigate_page(handle, url, None), await agent.open_page(url)):
        assert code(answer) == "navigation_failed"
        assert "Give a whole http or https address" in answer.text


@pytest.mark.feature("pages.navigation")
@pytest.mark.threat("P14")
@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize(
    ("where", "old_code"),
    [
        ("same origin", "tool_stale"),
        ("same site, another origin", "origin_changed"),
        ("another site in another process", "origin_changed"),
    ],
)
async def test_a_page_that_goes_elsewhere_by_itself_is_listed_with_its_new_tools_alone(
    agent: Agent, bridge: Bridge, site: Site, other_site: Site, where: str, old_code: str
):
    there = {"same origin": site, "same site, another origin": other_site}.get(where, site.elsewhere())
    handle = await open_page(agent, site.page("/old", OLD))
    await list_tools(agent, handle)
    page = await page_of(bridge, handle)
    url = there.page("/new", NEW)

    await run_script(page, f"setTimeout(() => {{ location.href = '{url}' }})")
    await wait_shown(page, url)

    described = await describe(agent, handle)
    assert (described["url"], described["origin"], tools_in(described)) == (url, there.origin, ["new"])
    assert facts(await call(agent, handle, "old")) == (old_code, "rejected", False)
    assert (await call(agent, handle, "new")).text == "new"


async def test_two_tabs_with_the_same_tool_are_told_apart(agent: Agent, site: Site):
    whoami = offering(tool("whoami", "() => location.pathname"))
    one, two = [await open_page(agent, site.page(path, whoami)) for path in ("/one", "/two")]
    for handle in (one, two):
        await list_tools(agent, handle)

    for handle, path in ((one, "/one"), (two, "/two"), (one, "/one")):
        assert (await call(agent, handle, "whoami")).text == path
    await agent.navigate_page(one, None, "reload")
    assert (await call(agent, one, "whoami")).text == "/one"
    assert (await call(agent, two, "whoami")).text == "/two"


@pytest.mark.feature("pages.navigation")
async def test_a_move_within_the_document_keeps_its_tools(agent: Agent, bridge: Bridge, site: Site):
    handle = await open_page(agent, site.page("/spa", OLD))
    toolset = (await list_tools(agent, handle))["toolset"]
    page = await page_of(bridge, handle)

    await run_script(page, "history.pushState({}, '', '/route')")
    await wait_shown(page, site.origin + "/route")
    assert (await call(agent, handle, "old", toolset=toolset)).text == "old"
    for _ in range(2):
        answer = read(await agent.navigate_page(handle, site.origin + "/route#part", None))
        assert (answer["url"], tools_in(answer)) == (site.origin + "/route#part", ["old"])
    for fragment in ("#part", ""):
        answer = read(await agent.navigate_page(handle, None, "back"))
        assert (answer["url"], tools_in(answer)) == (site.origin + "/route" + fragment, ["old"])

    assert (await call(agent, handle, "old", toolset=toolset)).text == "old"


@pytest.mark.feature("pages.navigation")
async def test_a_way_over_other_origins_and_back_shows_the_right_tools_after_each_step(
    agent: Agent, site: Site, other_site: Site
):
    stops = [
        site.page("/first", offering(tool("first", "() => 1"))),
        site.page("/second", offering(tool("second", "() => 2"))),
        other_site.elsewhere().page("/third", offering(tool("third", "() => 3"))),
    ]
    page = await open_page(agent, stops[0])
    seen = [names(await list_tools(agent, page))]
    for move in ({"url": stops[1]}, {"url": stops[2]}, {"action": "back"}, {"action": "back"}, {"action": "forward"}):
        answer = await agent.navigate_page(page, move.get("url"), move.get("action"))
        assert not answer.is_error, answer.text
        seen.append(names(await list_tools(agent, page)))

    assert seen == [["first"], ["second"], ["third"], ["second"], ["first"], ["second"]]
    assert (await call(agent, page, "second")).text == "2"


@pytest.mark.feature("pages.navigation")
@pytest.mark.threat("P14", "F6")
@pytest.mark.usefixtures("hostile")
async def test_a_document_out_of_the_back_forward_cache_is_asked_again(agent: Agent, bridge: Bridge, site: Site):
    count = offering(tool("count", "() => { window.times = (window.times ?? 0) + 1; return window.times }"))
    handle = await open_page(agent, site.page("/counting", count))
    page = await page_of(bridge, handle)
    toolset = (await list_tools(agent, handle))["toolset"]
    assert (await call(agent, handle, "count")).text == "1"
    before = page.realm
    await agent.navigate_page(handle, site.page("/new", NEW), None)

    await run_script(page, "history.back()")
    await wait_shown(page, site.origin + "/counting")

    assert tools_in(await describe(agent, handle)) == ["count"]
    now = page.realm
    assert before is not None
    assert now is not None
    # Chromium's own key is the old one; ours is not.
    assert now.unique_context_id == before.unique_context_id
    assert now != before
    assert facts(await call(agent, handle, "count", toolset=toolset)) == ("tool_stale", "rejected", False)
    assert (await call(agent, handle, "count")).text == "2"
    assert code(await call(agent, handle, "new")) == "tool_not_found"


@pytest.mark.feature("pages.navigation")
async def test_a_chain_of_redirects_ends_with_the_tools_of_its_end(agent: Agent, site: Site, other_site: Site):
    end = other_site.page("/end", NEW)
    second = site.answer("/second", 302, Location=end)
    first = site.answer("/first", 307, Location=second)
    handle = await open_page(agent, site.page("/start", offering(tool("old", "() => 'old'"), GO)))
    await list_tools(agent, handle)

    answer = read(await agent.navigate_page(handle, first, None))

    assert (answer["url"], answer["origin"], tools_in(answer)) == (end, other_site.origin, ["new"])
    assert code(await call(agent, handle, "old")) == "tool_not_found"


@pytest.mark.threat("P14")
@pytest.mark.usefixtures("hostile")
async def test_a_redirect_to_another_origin_takes_no_call_of_the_one_before(
    agent: Agent, bridge: Bridge, site: Site, other_site: Site
):
    end = other_site.page("/end", offering(tool("go", "() => { fetch('/redirected') }")))
    start = offering(GO)
    handle = await open_page(agent, site.page("/start", start))
    await list_tools(agent, handle)
    await call(agent, handle, "go", {"url": site.answer("/away", 302, Location=end)})
    await wait_shown(await page_of(bridge, handle), end)

    answer = await call(agent, handle, "go", {"url": "a secret of the first origin"})

    assert facts(answer) == ("origin_changed", "rejected", False)
    assert other_site.asked["/redirected"] == 0


@pytest.mark.threat("P14")
@pytest.mark.usefixtures("hostile")
async def test_a_document_that_is_written_anew_offers_what_is_in_it_then(agent: Agent, bridge: Bridge, site: Site):
    rewrite = tool("rewrite", "({html}) => { document.open(); document.write(html); document.close(); return 'done' }")
    clear = tool("clear", "() => { document.open(); return 'cleared' }")
    handle = await open_page(agent, site.page("/written", offering(rewrite)))
    page = await page_of(bridge, handle)
    await list_tools(agent, handle)

    assert (await call(agent, handle, "rewrite", {"html": offering(clear)})).text == "done"
    await wait_offers(bridge, page, "clear")

    assert tools_in(await describe(agent, handle)) == ["clear"]
    assert facts(await call(agent, handle, "rewrite", {"html": ""})) == ("tool_stale", "rejected", False)
    assert (await call(agent, handle, "clear")).text == "cleared"
    # It is still being written, so nothing is asked; what there was is not there any more all the same.
    assert tools_in(await describe(agent, handle)) == []
    assert facts(await call(agent, handle, "clear")) == ("tool_stale", "rejected", False)


async def open_popup(bridge: Bridge, opener: str, script: str, url: str) -> Page:
    """Let the opener run `script`, which opens one popup, and return the popup once it shows `url`."""
    pages = await bridge.wait_pages()
    before = {page.handle for page in pages}
    arrived = pages._changed
    await run_script(await page_of(bridge, opener), f"{{ {script} }} null")
    await arrived.wait()
    [popup] = [page for page in pages if page.handle not in before]
    await wait_shown(popup, url)
    return popup


@pytest.mark.feature("pages.handles")
@pytest.mark.threat("F4")
async def test_a_popup_is_a_page_of_its_own_and_changes_nothing_for_its_opener(
    agent: Agent, bridge: Bridge, site: Site
):
    opener = await open_page(agent, site.page("/opener", offering(tool("own", "() => location.pathname"))))
    toolset = (await list_tools(agent, opener))["toolset"]
    url = site.page("/popup", offering(tool("own", "() => location.pathname")))

    popup = await open_popup(bridge, opener, "open('/popup')", url)

    assert tools_in(await describe(agent, popup.handle)) == ["own"]
    assert (await call(agent, popup.handle, "own")).text == "/popup"
    assert (await call(agent, opener, "own", toolset=toolset)).text == "/opener"
    # The shim was there before any script: a listener that comes late is noticed, and nobody has to ask.
    await run_script(popup, f"window.addEventListener('devtoolstooldiscovery', {answering('late')})")
    await wait_offers(bridge, popup, "own", "late")


def answering(name: str) -> str:
    return f"event => event.respondWith({{name: 'Late', description: '', tools: [{tool(name, '() => 1')}]}})"


@pytest.mark.threat("F4")
async def test_a_popup_that_its_opener_writes_has_the_openers_origin(agent: Agent, bridge: Bridge, site: Site):
    opener = await open_page(agent, site.page("/opener", OLD))
    await list_tools(agent, opener)

    write = f"window.popup = open(''); popup.addEventListener('devtoolstooldiscovery', {answering('written')})"
    popup = await open_popup(bridge, opener, write, "about:blank")

    assert names(await list_tools(agent, popup.handle)) == ["written"]
    assert (await describe(agent, popup.handle))["origin"] == site.origin
    assert tools_in(await describe(agent, opener)) == ["old"]


@pytest.fixture
async def other_client(chromium: str):
    async with open_other_client(chromium) as client:
        yield client


@pytest.mark.threat("F6")
async def test_a_page_that_is_rendered_in_advance_is_no_page_until_it_is_shown(
    chromium: str, other_client: OtherClient, site: Site
):
    """Chromium renders nothing in advance where a client like us is attached already, so the bridge comes later."""
    advance = """if (document.prerendering) fetch('/rendered')
      addEventListener('devtoolstooldiscovery', () => { if (document.prerendering) fetch('/asked-too-early') })
      </script><script>"""
    url = site.page("/advance", offering(tool("new", "() => 'new'"), before=advance))
    rules = '<script type="speculationrules">{"prerender": [{"urls": ["/advance"], "eagerness": "immediate"}]}</script>'
    tab = await other_client.open_tab(site.page("/here", OLD + rules))
    with trio.fail_after(20):
        await site.wait_asked("/rendered", 1)
        async with open_bridge(AttachOptions(where=chromium)) as bridge:
            agent = Agent(bridge)
            pages = {page["url"]: page for page in read(await agent.list_pages())["pages"]}
            assert url not in pages
            handle = pages[site.origin + "/here"]["page"]
            assert names(await list_tools(agent, handle)) == ["old"]
            page = await page_of(bridge, handle)

            await run_script(page, "setTimeout(() => { location.href = '/advance' })")
            await wait_shown(page, url)

            assert await run_script(page, "performance.getEntriesByType('navigation')[0].activationStart > 0")
            assert site.asked["/asked-too-early"] == 0
            await wait_offers(bridge, page, "new")
            assert tools_in(await describe(agent, handle)) == ["new"]
            assert facts(await call(agent, handle, "old")) == ("tool_stale", "rejected", False)
            assert (await call(agent, handle, "new")).text == "new"
            # From here on it is a page as any other.
            assert tools_in(read(await agent.navigate_page(handle, None, "reload"))) == ["new"]
            await agent.close_page(handle)
            assert await other_client.find_targets(url) == []
    assert tab


@pytest.mark.threat("F6")
async def test_a_frozen_page_answers_as_before(agent: Agent, bridge: Bridge, site: Site):
    handle = await open_page(agent, site.page("/frozen", OLD))
    toolset = (await list_tools(agent, handle))["toolset"]
    page = await page_of(bridge, handle)

    for state in ("frozen", "active"):
        await page._session.run(set_lifecycle_state(state))

        assert names(await list_tools(agent, handle)) == ["old"], state
        assert (await call(agent, handle, "old", toolset=toolset)).text == "old", state


def set_lifecycle_state(state: str):
    yield {"method": "Page.setWebLifecycleState", "params": {"state": state}}


DISCARD = """(async () => {
  const { DetailsProvider } = await import('chrome://discards/discards.mojom-webui.js');
  const details = DetailsProvider.getRemote();
  const { infos } = await details.getTabDiscardsInfo();
  await details.discardById(infos.find(info => info.tabUrl === '%s').id, 0);
})()"""
"""What the button of chrome://discards does."""


@pytest.mark.threat("F6")
async def test_a_page_that_the_browser_discards_is_another_one_that_sleeps_until_it_is_loaded_again(
    site: Site, tmp_path: Path
):
    (tmp_path / "Local State").write_text('{"internal_only_uis_enabled": true}')
    url = site.page("/sleepy", OLD)
    with trio.fail_after(30):
        async with open_bridge(LaunchOptions(profile=tmp_path)) as bridge:
            agent = Agent(bridge)
            handle = await open_page(agent, url)
            await list_tools(agent, handle)
            desk = await page_of(bridge, await open_page(agent, "about:blank"))
            await desk.navigate("chrome://discards/")
            arrived = (await bridge.wait_pages())._changed

            await run_script(desk, DISCARD % url)
            await arrived.wait()

            [asleep] = [page for page in await bridge.wait_pages() if page.url == url]
            assert facts(await call(agent, handle, "old")) == ("page_gone", "rejected", False)
            await asleep.wait_changed(lambda: asleep.is_asleep)
            described = await describe(agent, asleep.handle)
            assert (described["state"], described["tools"]) == ("asleep", 0)
            assert facts(await call(agent, asleep.handle, "old")) == ("timed_out", "rejected", False)
            offers = {offer["page"]: offer for offer in read(await agent.list_page_tools(None, None, None))["pages"]}
            assert "put the tab to sleep" in offers[asleep.handle]["problems"][0]
            assert offers[desk.handle]["problems"][0].startswith("No tools: ")
            assert tools_in(read(await agent.navigate_page(asleep.handle, None, "reload"))) == ["old"]
            assert (await call(agent, asleep.handle, "old")).text == "old"


def refused_address() -> str:
    """Nothing listens there."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}/"


@pytest.mark.threat("F3")
@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://no-such-host.invalid/", "net::ERR_NAME_NOT_RESOLVED"),
        ("refused", "net::ERR_CONNECTION_REFUSED"),
        ("http://127.0.0.1:1/", "net::ERR_UNSAFE_PORT"),
    ],
)
async def test_an_error_page_has_no_tools_and_a_good_page_after_it_does(
    agent: Agent, site: Site, url: str, reason: str
):
    handle = await open_page(agent, site.page("/good", OLD))
    await list_tools(agent, handle)
    bad = refused_address() if url == "refused" else url

    failed = await agent.navigate_page(handle, bad, None)

    assert code(failed) == "navigation_failed"
    assert reason in failed.text
    described = await describe(agent, handle)
    assert (described["url"], described["tools"]) == (bad, 0)
    assert facts(await call(agent, handle, "old")) == ("origin_changed", "rejected", False)
    assert (await list_tools(agent, handle))["problems"] == [
        "No tools: the browser could not open the address, and shows a page of its own that says so."
    ]
    assert tools_in(read(await agent.navigate_page(handle, site.origin + "/good", None))) == ["old"]
    assert (await call(agent, handle, "old")).text == "old"


@pytest.mark.parametrize(
    ("status", "headers", "reason"),
    [
        (200, {"Content_Disposition": "attachment; filename=data.csv"}, "not a page. The browser may have kept it"),
        (204, {}, "the server sent no page"),
    ],
)
async def test_a_download_leaves_the_page_with_its_document_and_its_tools(
    agent: Agent, other_client: OtherClient, site: Site, status: int, headers: dict[str, str], reason: str
):
    await other_client.run("Browser.setDownloadBehavior", behavior="deny")
    handle = await open_page(agent, site.page("/staying", OLD))
    toolset = (await list_tools(agent, handle))["toolset"]

    answer = await agent.navigate_page(handle, site.answer("/data", status, **headers), None)

    assert code(answer) == "navigation_failed"
    assert reason in answer.text
    described = await describe(agent, handle)
    assert (described["url"], described["state"]) == (site.origin + "/staying", "ready")
    assert tools_in(described) == ["old"]
    assert (await call(agent, handle, "old", toolset=toolset)).text == "old"


async def test_a_browser_of_ours_keeps_no_download(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    url = site.page("/kept.bin", "x", Content_Disposition="attachment; filename=kept.bin")
    ended, said = trio.Event(), list[str]()

    def note(event: Event) -> None:
        match event:
            case RawEvent("Page.downloadProgress", {"state": "canceled" | "completed" as state}):
                said.append(state)
                ended.set()
            case _:
                pass

    with trio.fail_after(30):
        async with open_browser(LaunchOptions()) as browser:
            client = OtherClient(browser.connection)
            browser.connection.hears_all = True
            session_id = await client.attach(await client.open_tab("about:blank"))
            browser.connection.listen(session_id, note)
            await client.run("Page.enable", session_id)
            await client.run("Page.navigate", session_id, url=url)
            await ended.wait()

    assert not await trio.Path(tmp_path / "Downloads" / "kept.bin").exists()
    assert said == ["canceled"]


@pytest.mark.feature("pages.files")
@pytest.mark.threat("F3")
@pytest.mark.parametrize(
    "page_settings",
    [PageSettings(), PageSettings(allow_file=True, folders=Folders(("/",)))],
    ids=["not allowed", "allowed"],
)
async def test_files_have_tools_only_where_they_are_allowed(
    agent: Agent, bridge: Bridge, site: Site, page_settings: PageSettings, tmp_path: Path
):
    handle = await open_page(agent, site.page("/web", OLD))
    await list_tools(agent, handle)
    page = await page_of(bridge, handle)
    one, two = (tmp_path / name for name in ("one.html", "two.html"))
    for file in (one, two):
        file.write_text(offering(tool("whoami", "() => location.pathname")))

    await page.navigate(one.as_uri())
    await page.wait_loaded()

    assert facts(await call(agent, handle, "old")) == ("origin_changed", "rejected", False)
    listing = await list_tools(agent, handle)
    if not page_settings.allow_file:
        assert names(listing) == []
        [problem] = listing["problems"]
        assert "--allow-file" in problem
        return
    assert names(listing) == ["whoami"]
    assert listing["origin"] == one.as_uri()
    assert (await call(agent, handle, "whoami")).text == one.as_posix()
    # Chromium has one origin for all files. Here, each is its own.
    await page.navigate(two.as_uri())
    assert facts(await call(agent, handle, "whoami")) == ("origin_changed", "rejected", False)


@pytest.mark.threat("F3")
@pytest.mark.parametrize(
    ("url", "origin", "kind"),
    [
        ("chrome://version/", "chrome://version", "a chrome: address"),
        ("data:text/html,<p>Hello", "opaque", "an opaque origin"),
        ("about:blank", "opaque", "an opaque origin"),
    ],
)
async def test_other_schemes_are_pages_without_tools_and_with_the_reason(
    agent: Agent, bridge: Bridge, site: Site, url: str, origin: str, kind: str
):
    handle = await open_page(agent, site.page("/web", OLD))
    await list_tools(agent, handle)
    page = await page_of(bridge, handle)

    await page.navigate(url)

    described = await describe(agent, handle)
    assert (described["url"], described["origin"], described["tools"]) == (url, origin, 0)
    assert facts(await call(agent, handle, "old")) == ("origin_changed", "rejected", False)
    [problem] = (await list_tools(agent, handle))["problems"]
    assert kind in problem


@pytest.mark.feature("pages.handles")
async def test_a_page_that_was_closed_in_the_browser_is_gone_and_the_others_are_named(
    agent: Agent, bridge: Bridge, other_client: OtherClient, site: Site
):
    left = await open_page(agent, site.page("/left", OLD))
    gone = await open_page(agent, site.page("/gone", OLD))
    await list_tools(agent, gone)
    page = await page_of(bridge, gone)
    step = page.step

    await other_client.run("Target.closeTarget", targetId=page.target_id)
    while page.why_gone() is None:
        await page.wait_step(step)
        step = page.step

    answer = await call(agent, gone, "old")
    assert facts(answer) == ("page_gone", "rejected", False)
    assert left in answer.text
    assert gone not in [page["page"] for page in read(await agent.list_pages())["pages"]]
    assert names(await list_tools(agent, left)) == ["old"]


async def test_a_call_that_sends_its_page_away_leaves_no_tool_behind(agent: Agent, bridge: Bridge, site: Site):
    url = site.page("/new", NEW)
    leave = tool("leave", f"() => {{ location.assign('{url}'); return 'leaving' }}")
    wait = tool("wait", f"() => {{ location.assign('{url}'); return new Promise(() => {{}}) }}")
    start = site.page("/start", offering(leave, wait))
    handle = await open_page(agent, start)
    page = await page_of(bridge, handle)

    for name in ("leave", "wait"):
        await agent.navigate_page(handle, start, None)
        await list_tools(agent, handle)
        answer = await call(agent, handle, name)
        if name == "leave":
            assert answer.text == "leaving"
        else:
            assert facts(answer) == ("navigated_during_call", "unknown", True)
        await wait_shown(page, url)

        assert facts(await call(agent, handle, name)) == ("tool_stale", "rejected", False)


async def test_a_page_that_does_not_answer_again_has_no_tools_until_it_does(agent: Agent, site: Site):
    moody = f"""<script>window.mood = 'fine'; addEventListener('devtoolstooldiscovery', event => {{
      while (window.mood === 'hanging') {{}}
      event.respondWith({{name: 'Moody', tools: [{tool("hang", "() => { window.mood = 'hanging' }")},
        {tool("old", "() => 'old'")}]}}) }})</script>"""
    handle = await open_page(agent, site.page("/moody", moody))
    assert names(await list_tools(agent, handle)) == ["hang", "old"]
    await call(agent, handle, "hang")

    everything = read(await agent.list_page_tools(None, None, None))

    [offer] = [page for page in everything["pages"] if page["page"] == handle]
    assert (offer["groups"], offer["toolset"]) == ([], None)
    assert "did not answer" in offer["problems"][0]
    assert (await describe(agent, handle))["tools"] == 0
    assert facts(await call(agent, handle, "old")) == ("timed_out", "rejected", False)
