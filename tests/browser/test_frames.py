"""Tools of iframes: listed under their frame with the origin of its realm, run there and nowhere else."""

import signal
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.bridge import Bridge, open_bridge
from bridge.page.session import Page
from bridge.settings import AttachOptions, PageSettings
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
    wait_offered,
    wait_registered,
    wait_shown,
    wait_until,
)
from tests.browser.other_client import OtherClient, open_other_client
from tests.sites import Site, offering, tool

SAME_ORIGIN = pytest.mark.parametrize("page_settings", [PageSettings(frames="same-origin")], ids=["same-origin"])
ALL = pytest.mark.parametrize("page_settings", [PageSettings(frames="all")], ids=["all"])


@pytest.fixture
async def other_client(chromium: str) -> AsyncIterator[OtherClient]:
    async with open_other_client(chromium) as client:
        yield client


def naming(name: str) -> str:
    """A page with one tool, which tells where it runs."""
    return offering(tool(name, "() => location.href"), group=name)


def framed(**sources: str) -> str:
    """One iframe for each address; its name is its id."""
    return "".join(f'<iframe id="{name}" src="{url}"></iframe>' for name, url in sources.items())


def frames_in(listing: dict[str, Any]) -> dict[str, str]:
    """Group names with the origins of the frames that offer them; "" is the page itself."""
    return {group["name"]: group.get("origin", "") for group in listing["groups"]}


def id_of(listing: dict[str, Any], name: str) -> str:
    [found] = [tool["id"] for group in listing["groups"] for tool in group["tools"] if tool["name"] == name]
    return found


async def wait_frames(bridge: Bridge, page: Page, *expected: str) -> None:
    """Return once the bridge knows of exactly these groups in any order, without asking for them."""

    def offered() -> list[str]:
        known = bridge.registry.find(page.handle)
        return sorted(group.name for group in known.groups) if known is not None else []

    await wait_registered(bridge, lambda: offered() == sorted(expected))


def page_with_all_kinds(site: Site, other_site: Site) -> str:
    """A page that offers `page`, with an iframe of each kind that offers its own name."""
    for name in ("own", "sandboxed", "process"):
        site.page(f"/{name}", naming(name))
    sources = {"own": "/own", "foreign": other_site.page("/foreign", naming("foreign"))}
    sources["process"] = site.elsewhere().origin + "/process"
    blank = """blank.contentWindow.addEventListener('devtoolstooldiscovery', event => event.respondWith({name: 'blank',
      tools: [{name: 'blank', description: '', inputSchema: {type: 'object'}, execute: () => 'blank'}]}));"""
    srcdoc = naming("srcdoc").replace("&", "&amp;").replace('"', "&quot;")
    return site.page(
        "/kinds",
        f"""{naming("page")}{framed(**sources)}
        <iframe id="sandboxed" sandbox="allow-scripts" src="/sandboxed"></iframe>
        <iframe id="srcdoc" srcdoc="{srcdoc}"></iframe><iframe id="blank"></iframe>
        <iframe id="data" src="data:text/html,{naming("data").replace('"', "%22")}"></iframe>
        <script>{blank}</script>""",
    )


@pytest.mark.feature("pages.frames")
@pytest.mark.threat("F1")
async def test_iframes_offer_nothing_unless_that_is_asked_for(agent: Agent, site: Site, other_site: Site):
    page = await open_page(agent, page_with_all_kinds(site, other_site))

    assert frames_in(await list_tools(agent, page)) == {"page": ""}
    for name in ("own", "foreign", "process"):
        assert code(await call(agent, page, name)) == "tool_not_found"


@pytest.mark.feature("pages.frames")
@pytest.mark.threat("F1", "F2")
@SAME_ORIGIN
async def test_iframes_of_the_same_origin_are_those_whose_realm_has_it(agent: Agent, site: Site, other_site: Site):
    page = await open_page(agent, page_with_all_kinds(site, other_site))

    listing = await list_tools(agent, page)

    assert frames_in(listing) == {"page": "", "own": site.origin, "srcdoc": site.origin, "blank": site.origin}
    assert (await call(agent, page, "own")).text == site.origin + "/own"
    assert (await call(agent, page, "srcdoc")).text == "about:srcdoc"
    assert (await call(agent, page, "blank")).text == "blank"


@pytest.mark.feature("pages.frames")
@pytest.mark.threat("F1", "F2")
@ALL
async def test_all_iframes_are_listed_with_their_origins_but_never_opaque_ones(
    agent: Agent, site: Site, other_site: Site
):
    page = await open_page(agent, page_with_all_kinds(site, other_site))

    listing = await list_tools(agent, page)

    assert frames_in(listing) == {
        "page": "",
        "own": site.origin,
        "srcdoc": site.origin,
        "blank": site.origin,
        "foreign": other_site.origin,
        "process": site.elsewhere().origin,
    }
    assert len({group.get("frame", "") for group in listing["groups"]}) == 6
    assert (await call(agent, page, "process")).text == site.elsewhere().origin + "/process"
    assert (await call(agent, page, "foreign")).text == other_site.origin + "/foreign"


@pytest.mark.threat("F1")
@pytest.mark.parametrize(
    ("page_settings", "middle"), [(PageSettings(frames="all"), True), (PageSettings(frames="same-origin"), False)]
)
async def test_an_iframe_in_an_iframe_is_judged_by_its_own_origin(
    agent: Agent, site: Site, page_settings: PageSettings, middle: bool
):
    site.page("/inner", naming("inner"))
    site.page("/middle", naming("middle") + framed(inner=site.origin + "/inner"))
    page = await open_page(
        agent, site.page("/outer", naming("outer") + framed(middle=site.elsewhere().origin + "/middle"))
    )

    listing = await list_tools(agent, page)

    assert frames_in(listing) == {"outer": "", "inner": site.origin} | (
        {"middle": site.elsewhere().origin} if middle else {}
    )
    assert (await call(agent, page, "inner")).text == site.origin + "/inner"


@pytest.mark.threat("F1")
@SAME_ORIGIN
async def test_the_same_name_in_page_and_iframe_is_ambiguous_and_has_two_ids(agent: Agent, site: Site):
    site.page("/twin", naming("same"))
    page = await open_page(agent, site.page("/twins", naming("same") + framed(twin="/twin")))
    listing = await list_tools(agent, page)

    answer = await call(agent, page, "same")

    assert facts(answer) == ("tool_ambiguous", "rejected", False)
    assert "#0.0" in answer.text
    assert f"f1#0.0 (group 'same' in a frame of {site.origin})" in answer.text
    assert [tool["id"] for group in listing["groups"] for tool in group["tools"]] == ["#0.0", "f1#0.0"]
    assert (await call(agent, page, "#0.0")).text == site.origin + "/twins"
    assert (await call(agent, page, "f1#0.0")).text == site.origin + "/twin"


@SAME_ORIGIN
async def test_iframes_that_answer_before_their_page_are_known_without_being_asked_for(
    agent: Agent, bridge: Bridge, site: Site
):
    site.page("/early", naming("early"))
    url = site.page("/late", f"{framed(early='/early')}<script src='/slow.js'></script>{naming('late')}")
    handle = await open_page(agent, site.page("/calm", naming("calm")))
    page = await page_of(bridge, handle)
    gate = site.gates["/slow.js"] = threading.Event()
    await page.navigate(url)
    await page.wait_changed(lambda: any(one.frame and one.asked for one in page._documents.values()))
    assert bridge.registry.find(handle) is None
    gate.set()

    await wait_frames(bridge, page, "late", "early")

    described = read(await agent.list_pages())["pages"]
    [groups] = [page["groups"] for page in described if page["page"] == handle]
    assert [group["name"] for group in groups] == ["late", "early"]


@pytest.mark.threat("F1", "P14")
@ALL
@pytest.mark.parametrize(
    ("before", "after"), [("own", "foreign"), ("own", "process"), ("process", "own"), ("process", "foreign")]
)
async def test_an_iframe_that_went_to_another_origin_takes_no_call_of_the_one_before(
    agent: Agent, bridge: Bridge, site: Site, other_site: Site, before: str, after: str
):
    taking = offering(tool("take", "() => fetch('/taken').then(() => 'taken')"))
    urls = {
        "own": site.page("/take", taking),
        "foreign": other_site.page("/take", taking),
        "process": site.elsewhere().origin + "/take",
    }
    handle = await open_page(agent, site.page("/around", naming("around") + framed(frame=urls[before])))
    page = await page_of(bridge, handle)
    tool_id = id_of(await list_tools(agent, handle), "take")
    taken = [there.asked["/taken"] for there in (site, other_site)]

    await run_script(page, f"new Promise(done => {{ frame.onload = done; frame.src = '{urls[after]}' }}).then(() => 1)")
    answers = [await call(agent, handle, "take", {"secret": 1}), await call(agent, handle, tool_id, {"secret": 1})]

    assert facts(answers[0]) == ("origin_changed", "rejected", False)
    # The first rejection told of what is there now, so the second call meant it.
    assert answers[1].text == "taken"
    assert sum(there.asked["/taken"] for there in (site, other_site)) == sum(taken) + 1


@ALL
async def test_one_iframe_keeps_its_handle_over_every_process_that_shows_it(agent: Agent, bridge: Bridge, site: Site):
    site.page("/inner", naming("inner"))
    local = site.page("/local", naming("local"))
    remote = site.elsewhere().page("/remote", naming("remote") + framed(inner=site.origin + "/inner"))
    handle = await open_page(agent, site.page("/swapping", naming("swapping") + framed(frame=local)))
    page = await page_of(bridge, handle)
    assert id_of(await list_tools(agent, handle), "local") == "f1#0.0"
    sessions = len(page._session.connection._handlers)

    for _ in range(2):
        for name, url, more in (("remote", remote, ["inner"]), ("local", local, [])):
            await run_script(page, f"frame.src = '{url}'")
            await wait_frames(bridge, page, "swapping", name, *more)

            listing = await list_tools(agent, handle)
            assert sorted(names(listing)) == sorted(["swapping", name, *more])
            assert id_of(listing, name) == "f1#0.0"
            assert (await call(agent, handle, name)).text == url
    assert len(page._session.connection._handlers) == sessions


@ALL
async def test_tools_of_iframes_go_with_their_page(agent: Agent, bridge: Bridge, site: Site, other_site: Site):
    handle = await open_page(agent, page_with_all_kinds(site, other_site))
    await list_tools(agent, handle)
    page = await page_of(bridge, handle)
    empty = site.page("/empty", naming("empty"))

    answer = read(await agent.navigate_page(handle, empty, None))

    assert [group["tools"] for group in answer["groups"]] == [["empty"]]
    for name in ("own", "process", "foreign"):
        assert facts(await call(agent, handle, name)) == (
            "tool_stale" if name == "own" else "tool_not_found",
            "rejected",
            False,
        )
    assert len(page._documents) == 1


@pytest.mark.threat("F6")
@pytest.mark.parametrize("page_settings", [PageSettings(frames="same-origin"), PageSettings(frames="all")])
async def test_iframes_come_back_with_their_page_out_of_the_cache(
    agent: Agent, bridge: Bridge, site: Site, page_settings: PageSettings
):
    site.page("/own", naming("own"))
    site.page("/process", naming("process"))
    url = site.page("/back", naming("back") + framed(own="/own", process=site.elsewhere().origin + "/process"))
    expected = ["back", "own"] + (["process"] if page_settings.frames == "all" else [])
    handle = await open_page(agent, url)
    page = await page_of(bridge, handle)
    await wait_frames(bridge, page, *expected)
    before = page.realm
    await agent.navigate_page(handle, site.page("/away", naming("away")), None)
    await wait_frames(bridge, page, "away")

    await run_script(page, "history.back()")
    await wait_shown(page, url)
    await wait_frames(bridge, page, *expected)

    assert before is not None
    assert page.realm is not None
    assert page.realm.unique_context_id == before.unique_context_id
    assert (await call(agent, handle, "own")).text == site.origin + "/own"


REMOVALS = {
    "its page removes it": "() => { parent.postMessage('remove', '*'); return new Promise(() => {}) }",
    "it removes itself": "() => { parent.frame.remove(); return 'done' }",
}


@ALL
@pytest.mark.parametrize(
    ("where", "how"),
    [("own", "its page removes it"), ("own", "it removes itself"), ("process", "its page removes it")],
)
async def test_an_iframe_that_is_removed_during_its_call_gives_one_answer_of_which_nothing_is_known(
    agent: Agent, bridge: Bridge, site: Site, where: str, how: str
):
    there = site if where == "own" else site.elsewhere()
    inner = there.page("/removed", offering(tool("vanish", REMOVALS[how])))
    obeying = "<script>onmessage = event => { if (event.data === 'remove') frame.remove() }</script>"
    handle = await open_page(agent, site.page("/removing", naming("removing") + obeying + framed(frame=inner)))
    await list_tools(agent, handle)

    # Far below its own deadline.
    answer = await call(agent, handle, "vanish", seconds=30)

    assert facts(answer) == ("navigated_during_call", "unknown", True)
    assert names(await list_tools(agent, handle)) == ["removing"]
    assert facts(await call(agent, handle, "vanish")) == ("tool_not_found", "rejected", False)


@ALL
async def test_iframes_that_come_and_go_leave_a_call_in_the_page_alone(agent: Agent, bridge: Bridge, site: Site):
    site.page("/guest", naming("guest"))
    wait = tool(
        "wait", "() => { waiting = true; return new Promise(done => { finish = () => done(location.pathname) }) }"
    )
    handle = await open_page(
        agent, site.page("/host", "<script>var waiting = false, finish</script>" + offering(wait, group="host"))
    )
    page = await page_of(bridge, handle)
    await list_tools(agent, handle)
    answers: list[Answer] = []

    async def call_wait() -> None:
        answers.append(await call(agent, handle, "wait"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(call_wait)
        await wait_until(page, "waiting")
        for origin in (site.origin, site.elsewhere().origin):
            await run_script(
                page,
                f"guest = document.createElement('iframe'); guest.src = '{origin}/guest'; document.body.append(guest)",
            )
            await wait_frames(bridge, page, "host", "guest")
            await run_script(page, "guest.remove()")
            await wait_frames(bridge, page, "host")
        assert answers == []
        await run_script(page, "finish()")

    assert [answer.text for answer in answers] == ["/host"]


@pytest.mark.parametrize("page_settings", [PageSettings(frames="same-origin"), PageSettings(frames="all")])
async def test_a_page_older_than_the_bridge_is_known_with_its_iframes_without_being_asked(
    chromium: str, other_client: OtherClient, site: Site, page_settings: PageSettings
):
    tell = "<script>onload = () => { fetch('/there') }</script>"
    site.page("/inner", naming("inner"))
    site.page("/middle", naming("middle") + framed(inner=site.origin + "/inner"))
    url = site.page("/older", naming("older") + framed(middle=site.elsewhere().origin + "/middle", own="/inner") + tell)
    site.asked.clear()
    target_id = await other_client.open_tab(url)
    with trio.fail_after(20):
        await site.wait_asked("/there", 1)
        async with open_bridge(AttachOptions(where=chromium), settings=page_settings) as bridge:
            [page] = [page for page in await bridge.wait_pages() if page.url == url]

            middle = ["middle"] if page_settings.frames == "all" else []
            await wait_frames(bridge, page, "older", "inner", "inner", *middle)
            await Agent(bridge).close_page(page.handle)
    assert target_id


BRIDGE = """
import sys, trio
from bridge.settings import AttachOptions
from bridge.calls.bridge import open_bridge
from bridge.settings import PageSettings

async def main(address):
    async with open_bridge(AttachOptions(where=address), settings=PageSettings(frames="all")) as bridge:
        pages = await bridge.wait_pages()
        await pages.wait_set_up()
        print("ready", flush=True)
        await trio.sleep_forever()

trio.run(main, sys.argv[1])
"""


@ALL
@pytest.mark.feature("pages.frames")
async def test_a_page_that_is_opened_is_told_with_the_tools_of_its_iframes(agent: Agent, site: Site):
    inner = site.page("/inner", naming("inner"))
    url = site.page("/outer", naming("outer") + framed(inner=inner))
    opened = read(await agent.open_page(url))
    moved = read(await agent.navigate_page(opened["page"], url + "?again", None))

    for told in (opened, moved):
        assert [tool for group in told["groups"] for tool in group["tools"]] == ["outer", "inner"]
        assert told["tools"] == 2


@ALL
@pytest.mark.feature("pages.faults")
@pytest.mark.parametrize(
    ("outer", "inner", "problems"),
    [
        (naming("outer"), "", []),
        ("", naming("inner"), []),
        ("", "", ["Nothing answered the devtoolstooldiscovery event: this page offers no tools now."]),
        (naming("outer"), offering("{}"), ["Frame f1: "]),
    ],
    ids=["outer", "inner", "none", "bad"],
)
async def test_that_nothing_answers_is_told_of_a_page_and_not_of_a_part_of_it(
    agent: Agent, site: Site, outer: str, inner: str, problems: list[str]
):
    page = await open_page(agent, site.page("/parts", outer + framed(inner=site.page("/part", inner))))

    listing = await list_tools(agent, page)

    assert [told[: len(wanted)] for told, wanted in zip(listing["problems"], problems, strict=True)] == problems


WORKERS = {
    "a worker": "new Worker('/echo.js')",
    "a worker of a module": "new Worker('/echo.js', {type: 'module'})",
    "a worker of a blob": "new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])))",
    "a worker of a worker": "new Worker('/outer.js')",
    "a worklet": "await (async () => { const audio = new OfflineAudioContext(1, 128, 44100);"
    " await audio.audioWorklet.addModule('/worklet.js'); const node = new AudioWorkletNode(audio, 'echo');"
    " node.connect(audio.destination); audio.startRendering(); return node.port })()",
    "a shared worker": "new SharedWorker('/shared.js').port",
    "a service worker": "await navigator.serviceWorker.register('/service.js')"
    ".then(() => navigator.serviceWorker.ready).then(of => (of.active.postMessage(1), navigator.serviceWorker))",
}


@pytest.mark.feature("pages.frames")
@pytest.mark.parametrize("worker", WORKERS)
@pytest.mark.parametrize(
    "page_settings",
    [PageSettings(), PageSettings(frames="same-origin"), PageSettings(inspected=frozenset({"frames", "network"}))],
    ids=["pages", "frames", "watched"],
)
async def test_no_worker_waits_for_us(agent: Agent, bridge: Bridge, site: Site, worker: str):
    site.script("/echo.js", "postMessage(1)")
    site.script("/outer.js", "new Worker('/echo.js').onmessage = () => postMessage(1)")
    echo = "constructor() { super(); this.port.postMessage(1) } process() { return false }"
    site.script("/worklet.js", f"registerProcessor('echo', class extends AudioWorkletProcessor {{ {echo} }})")
    site.script("/shared.js", "onconnect = event => event.ports[0].postMessage(1)")
    site.script("/service.js", "onmessage = event => event.source.postMessage(1)")
    answer = f"{{ const one = {WORKERS[worker]}; return await new Promise(done => one.onmessage = done) }}"
    starts = f"(async () => {answer})"
    page = await page_of(bridge, await open_page(agent, site.page("/works", "")))
    with trio.fail_after(20):
        assert await run_script(page, f"{starts}().then(() => 'came')") == "came"
        inner = f"<script>{starts}().then(() => parent.postMessage('came', '*'))</script>"
        framed = site.elsewhere().page("/inner", inner)
        if "blob" in worker or worker == "a worker":
            waits = "new Promise(done => onmessage = event => done(event.data))"
            insert = f"document.body.innerHTML = '<iframe src={framed}></iframe>'"
            assert await run_script(page, f"{insert}; {waits}") == "came"


@pytest.mark.feature("pages.handles")
@pytest.mark.parametrize(
    "opens",
    [
        "window.open('{url}')",
        "window.open('{url}', '_blank', 'noopener')",
        "window.open('{url}', '_blank', 'noreferrer,width=300')",
        "document.body.innerHTML = '<a target=_blank href={url}>', document.links[0].click()",
        "document.body.innerHTML = '<form target=_blank action={url}>', document.forms[0].submit()",
    ],
    ids=["opener", "noopener", "window", "link", "form"],
)
async def test_a_window_that_a_page_opens_loads_and_offers_its_tools(
    agent: Agent, bridge: Bridge, site: Site, opens: str
):
    other = site.page("/opened", naming("opened"))
    page = await page_of(bridge, await open_page(agent, site.page("/opener", "")))
    before = {one.handle for one in bridge.open_pages()}

    await run_script(page, f"{opens.format(url=other)}; 1")

    opened: list[str] = []
    with trio.fail_after(20):
        while not opened:
            opened = [one.handle for one in bridge.open_pages() if one.handle not in before]
            await trio.sleep(0.01)
        assert names(await list_tools(agent, opened[0])) == ["opened"]


@pytest.mark.feature("pages.handles")
@pytest.mark.parametrize("url", ["javascript:1", "/nothing"])
async def test_a_window_to_which_nothing_comes_is_waited_for_once(
    agent: Agent, bridge: Bridge, site: Site, url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "LOAD_SECONDS", 0.2)
    site.answer("/nothing", 204)
    page = await page_of(bridge, await open_page(agent, site.page("/opener", "")))
    before = {one.handle for one in bridge.open_pages()}
    await run_script(page, f"open('{url}'); 1")
    await page.wait_changed(lambda: len(list(bridge.open_pages())) > len(before))
    [opened] = [one.handle for one in bridge.open_pages() if one.handle not in before]
    said = ["No tools: nothing has come from its address yet."]

    assert (await list_tools(agent, opened))["problems"] == said
    monkeypatch.setattr(limits, "LOAD_SECONDS", 60)
    with trio.fail_after(20):
        assert (await list_tools(agent, opened))["problems"] == said
        await run_script(await page_of(bridge, opened), f"document.write({naming('written')!r}); document.close()")
        await wait_offered(bridge, opened, "written")


@asynccontextmanager
async def killable_bridge(chromium: str) -> AsyncGenerator[trio.Process]:
    """A bridge in a process of its own, which gets no time to clean up at the end."""
    process = await trio.lowlevel.open_process([sys.executable, "-c", BRIDGE, chromium], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        said = b""
        while said != b"ready\n":
            said += await process.stdout.receive_some()
        yield process
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
        await process.stdout.aclose()


async def test_nothing_stays_paused_when_the_bridge_is_killed(chromium: str, other_client: OtherClient, site: Site):
    inner = site.elsewhere().page("/paused", "<script>fetch('/ran')</script>")
    target_id = await other_client.open_tab(site.page("/host", naming("host")))
    session_id = await other_client.attach(target_id)
    asked, ran = site.asked["/paused"], site.asked["/ran"]
    with trio.fail_after(20):
        async with killable_bridge(chromium) as bridge:
            bridge.send_signal(signal.SIGSTOP)
            new = f"document.body.innerHTML = '<iframe src={inner}></iframe>'; open('{inner}', '_blank', 'noopener'); 1"
            await other_client.run("Runtime.evaluate", session_id, expression=new, userGesture=True)
            await site.wait_asked("/paused", asked + 1)
            # Chromium has told the bridge of the iframe and of the popup, and neither may go on.
            assert site.asked["/ran"] == ran

        await site.wait_asked("/ran", ran + 2)
        for target in (target_id, *await other_client.find_targets(inner)):
            await other_client.run("Target.closeTarget", targetId=target)


async def test_nothing_is_paused_or_seen_any_more_when_the_bridge_has_ended(
    chromium: str, other_client: OtherClient, site: Site
):
    inner = site.elsewhere().page("/free", naming("inner") + "<script>fetch('/ran')</script>")
    asked = site.asked["/ran"]
    target_id = await other_client.open_tab(site.page("/host", naming("host") + framed(inner=inner)))
    await site.wait_asked("/ran", asked + 1)
    with trio.fail_after(20):
        async with open_bridge(AttachOptions(where=chromium), settings=PageSettings(frames="all")) as bridge:
            [page] = [page for page in await bridge.wait_pages() if page.target_id == target_id]
            await wait_frames(bridge, page, "host", "inner")
        before = site.asked["/ran"]
        session_id = await other_client.attach(target_id)
        await other_client.run("Page.reload", session_id)
        await site.wait_asked("/ran", before + 1)
        infos = (await other_client.run("Target.getTargets", filter=[{"type": "iframe"}]))["targetInfos"]
        assert [info["attached"] for info in infos if info["url"] == inner] == [False]
        await other_client.run("Target.closeTarget", targetId=target_id)
