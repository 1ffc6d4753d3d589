"""Documents that are not what they seem: sandboxed, at odd addresses, in windows of others, or meddled with."""

import json
from collections.abc import AsyncIterator

import pytest
import trio

from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.bridge import Bridge
from bridge.origins import OriginRules
from bridge.settings import AgentSettings, PageSettings
from tests.browser.asking import (
    call,
    facts,
    list_tools,
    names,
    open_page,
    page_of,
    read,
    run_script,
    wait_shown,
    wait_until,
)
from tests.browser.other_client import OtherClient, open_other_client
from tests.browser.test_navigation import open_popup
from tests.sites import Site, offering, tool

REFUSED = ("not_allowed", "rejected", False)
PING = tool("ping", "() => 'pong'")


def watched(site: Site, name: str = "run") -> str:
    """A script that stands anywhere, and whose site hears when it is asked for its tool and when that runs."""
    site.asked.clear()
    tell = f"path => fetch('{site.origin}' + path, {{mode: 'no-cors'}})"
    return offering(
        tool(name, f"() => {{ tell('/ran-{name}'); return origin }}"),
        before=f"const tell = {tell}; addEventListener('devtoolstooldiscovery', () => tell('/asked-{name}'));",
    ).replace("\n", "")


@pytest.fixture
async def other_client(chromium: str) -> AsyncIterator[OtherClient]:
    async with open_other_client(chromium) as client:
        yield client


async def assert_nobodys(agent: Agent, site: Site, handle: str, tool_name: str = "run") -> str:
    """No tool is listed, asked for or run. The reason that the listing gives."""
    listing = await list_tools(agent, handle)
    assert names(listing) == []
    for word in (tool_name, "#0.0"):
        assert facts(await call(agent, handle, word))[1:] == ("rejected", False)
    healthy = await open_page(agent, site.page("/healthy", offering(PING)))
    assert (await call(agent, healthy, "ping")).text == "pong"
    assert (site.asked[f"/asked-{tool_name}"], site.asked[f"/ran-{tool_name}"]) == (0, 0)
    [problem] = listing["problems"]
    return problem


# Sandboxes


@pytest.fixture
def page_settings(site: Site) -> PageSettings:
    """Whatever is of this site may be used, in iframes too."""
    return PageSettings(frames="all", origins=OriginRules(allowed=(site.origin,)))


@pytest.mark.threat("F2")
async def test_a_sandboxed_page_of_an_allowed_origin_is_nobodys(bridge: Bridge, site: Site):
    agent = Agent(bridge, AgentSettings(trusted_origins=frozenset({site.origin}), direct=True))
    url = site.page("/sandboxed", watched(site), Content_Security_Policy="sandbox allow-scripts")
    handle = await open_page(agent, url)
    page = await page_of(bridge, handle)

    assert page.realm is not None
    assert page.realm.is_opaque
    assert "an opaque origin" in await assert_nobodys(agent, site, handle)
    assert agent.direct is not None
    assert list(agent.direct.show()) == ["page_ping"]


# Pages whose scripts do not run

OFF = (
    "Scripts do not run in this document, so it offers no tools. Switch JavaScript on, or give its sandbox "
    "allow-scripts, and load it anew."
)


@pytest.mark.feature("pages.faults")
async def test_a_page_whose_scripts_are_switched_off_is_said_to_be_so_until_they_are_on_again(
    agent: Agent, bridge: Bridge, other_client: OtherClient, site: Site
):
    handle = await open_page(agent, site.page("/off", offering(tool("ping", "() => 1"))))
    session = await other_client.attach((await page_of(bridge, handle)).target_id)

    for off, tools, problems in ((True, [], [OFF]), (False, ["ping"], [])):
        await other_client.run("Emulation.setScriptExecutionDisabled", session, value=off)
        assert not (await agent.navigate_page(handle, None, "reload")).is_error
        listing = await list_tools(agent, handle)
        assert (names(listing), listing["problems"]) == (tools, problems)
    assert (await call(agent, handle, "ping")).text == "1"


async def test_an_iframe_whose_scripts_do_not_run_holds_up_no_listing(agent: Agent, site: Site):
    inner = site.page("/inner", offering(tool("inner", "() => 1")))
    outer = f"<iframe sandbox=allow-same-origin src={inner}></iframe>{offering(tool('ping', '() => 1'))}"
    handle = await open_page(agent, site.page("/outer", outer))

    listing = await list_tools(agent, handle)

    assert names(listing) == ["ping"]
    assert listing["problems"] == [f"Frame f1: {OFF}"]


# Odd addresses


ODD = {
    "data": ("data:text/html,{html}", "an opaque origin"),
    "view-source": ("view-source:{url}", "Nothing answered"),
}
"""Where a person can take a page, and why it has no tools there."""


@pytest.mark.threat("F3")
@pytest.mark.parametrize("name", ODD)
async def test_a_page_that_a_person_takes_to_an_odd_address_has_no_tools(
    agent: Agent, bridge: Bridge, other_client: OtherClient, site: Site, name: str
):
    handle = await open_page(agent, site.page("/watched", watched(site)))
    page = await page_of(bridge, handle)
    assert names(await list_tools(agent, handle)) == ["run"]
    before = page.realm
    html = watched(site, "odd")
    address, reason = ODD[name]
    url = address.format(html=html, url=site.page("/odd", html))

    await other_client.run("Page.navigate", await other_client.attach(page.target_id), url=url)
    await page.wait_changed(lambda: page.realm not in (None, before))
    await page.wait_loaded()

    assert reason in await assert_nobodys(agent, site, handle, "odd")
    assert facts(await call(agent, handle, "run"))[1:] == ("rejected", False)


@pytest.mark.threat("F3")
async def test_a_page_that_becomes_one_of_the_developer_tools_is_none_of_ours(
    agent: Agent, bridge: Bridge, other_client: OtherClient, site: Site
):
    handle = await open_page(agent, site.page("/watched", watched(site)))
    page = await page_of(bridge, handle)
    await list_tools(agent, handle)

    url = "devtools://devtools/bundled/inspector.html"
    await other_client.run("Page.navigate", await other_client.attach(page.target_id), url=url)
    await page.wait_changed(lambda: page.why_gone() is not None)

    assert facts(await call(agent, handle, "run")) == ("page_gone", "rejected", False)
    assert url not in [page["url"] for page in read(await agent.list_pages())["pages"]]
    await other_client.run("Target.closeTarget", targetId=page.target_id)


@pytest.mark.threat("F3")
async def test_what_a_page_makes_itself_is_of_its_origin_under_whatever_address(
    agent: Agent, bridge: Bridge, site: Site, other_site: Site
):
    """A `blob:` address names an origin, and its document has that; so it is allowed, or not, as its maker is."""
    for maker, offered in ((other_site, []), (site, ["odd"])):
        page = await page_of(bridge, await open_page(agent, maker.page("/maker", "")))
        before = page.realm
        html = watched(site, "odd")
        go = f"location.href = URL.createObjectURL(new Blob([{html!r}], {{type: 'text/html'}}))"
        await run_script(page, f"setTimeout(() => {{ {go} }}) && 1")
        await page.wait_changed(lambda page=page, before=before: page.realm not in (None, before))
        await page.wait_loaded()

        listing = await list_tools(agent, page.handle)
        answer = await call(agent, page.handle, "odd")

        assert page.url.startswith(f"blob:{maker.origin}/")
        assert (listing["origin"], names(listing)) == (maker.origin, offered)
        if not offered:
            assert facts(answer) == REFUSED
            assert (site.asked["/asked-odd"], site.asked["/ran-odd"]) == (0, 0)
    assert answer.text == site.origin


NOT_OPENED = [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>1</script>",
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "\tfile:///etc/passwd",
    "view-source:http://127.0.0.1/",
    "chrome://version/",
    "chrome-extension://aaaabbbbccccddddeeeeffffgggghhhh/x.html",
    "chrome-error://chromewebdata/",
    "devtools://devtools/bundled/inspector.html",
    "about:srcdoc",
    "about:blank#x",
    "blob:http://127.0.0.1/x",
    "filesystem:http://127.0.0.1/temporary/x",
    "ftp://127.0.0.1/",
    "ws://127.0.0.1/",
    "mailto:a@b.test",
    "//127.0.0.1/",
    "127.0.0.1:3000",
    "",
]


@pytest.mark.threat("F3")
async def test_an_agent_opens_http_and_https_addresses_and_no_others(
    agent: Agent, other_client: OtherClient, site: Site
):
    handle = await open_page(agent, site.page("/healthy", offering(PING)))
    before = await other_client.run("Target.getTargets")

    opened = [await agent.open_page(url) for url in NOT_OPENED]
    gone = [await agent.navigate_page(handle, url, None) for url in NOT_OPENED]

    assert {url: facts(answer) for url, answer in zip(NOT_OPENED * 2, opened + gone, strict=True)} == dict.fromkeys(
        NOT_OPENED, ("usage", "rejected", False)
    )
    assert await other_client.run("Target.getTargets") == before
    assert (await call(agent, handle, "ping")).text == "pong"


# Windows


@pytest.mark.threat("F4")
async def test_a_window_that_its_opener_writes_and_sends_elsewhere_inherits_nothing(
    agent: Agent, bridge: Bridge, site: Site, other_site: Site
):
    held = tool("held", "() => new Promise(done => { globalThis.go = done })")
    opener = await open_page(agent, site.page("/opener", offering(held, PING)))
    toolset = (await list_tools(agent, opener))["toolset"]
    opening = await page_of(bridge, opener)
    blocked = other_site.page("/blocked", watched(other_site, "written"))
    answers: list[Answer] = []

    async def hold() -> None:
        answers.append(await call(agent, opener, "held", toolset=toolset))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hold)
        await wait_until(opening, "globalThis.go")
        write = f"window.popup = open(''); popup.document.write({watched(site, 'written')!r}); popup.document.close()"
        popup = await open_popup(bridge, opener, write, "about:blank")
        listing = await list_tools(agent, popup.handle)
        assert (listing["origin"], names(listing)) == (site.origin, ["written"])
        assert (await call(agent, popup.handle, "written")).text == site.origin

        await run_script(opening, f"popup.location = {blocked!r}, 1")
        await wait_shown(popup, blocked)

        assert facts(await call(agent, popup.handle, "written")) == REFUSED
        for word in ("held", "ping"):
            assert facts(await call(agent, popup.handle, word))[1:] == ("rejected", False)
        assert names(await list_tools(agent, popup.handle)) == []
        assert answers == []
        await run_script(opening, "go('as before')")

    assert popup.handle != opener
    assert [answer.text for answer in answers] == ["as before"]
    assert (other_site.asked["/asked-written"], other_site.asked["/ran-written"]) == (0, 0)
    assert (await call(agent, opener, "ping", toolset=toolset)).text == "pong"


# Frames of the same origin


MEDDLES = [
    """const event = new CustomEvent('devtoolstooldiscovery'); event.respondWith = () => 1;
       parent.dispatchEvent(event)""",
    "parent.__dtmcp.executeTool = () => 'evil'; parent.__dtmcp.toolGroups[0].tools[0].execute = () => 'evil'",
    "parent.__dtmcp.toolGroups.push({name: 'Evil', tools: [{name: 'evil', inputSchema: {}, execute: () => 'evil'}]})",
    "parent.__dtmcp = {toolGroups: [], executeTool: () => 'evil'}",
    "parent.kept.respondWith({name: 'Evil', tools: [{name: 'evil', inputSchema: {}, execute: () => 'evil'}]})",
    """for (const name of ['stringify', 'parse']) parent.JSON[name] = () => '"evil"';
       parent.Promise.prototype.then = parent.Reflect.apply = () => 'evil'""",
]


@pytest.mark.threat("F5")
async def test_an_iframe_that_meddles_with_its_page_changes_none_of_the_listed_tools(
    agent: Agent, bridge: Bridge, site: Site
):
    site.page("/meddling", "<script>window.meddle = source => (0, eval)(`${source}; 1`)</script>")
    keep = "addEventListener('devtoolstooldiscovery', event => { window.kept ??= event });"
    good = tool("good", "({n}) => ({told: 'good' + n})")
    url = site.page("/meddled", "<iframe id=frame src=/meddling></iframe>" + offering(good, PING, before=keep))
    handle = await open_page(agent, url)
    toolset = (await list_tools(agent, handle))["toolset"]
    page = await page_of(bridge, handle)

    for meddle in MEDDLES:
        assert await run_script(page, f"frame.contentWindow.meddle({json.dumps(meddle)})") == 1

        assert read(await call(agent, handle, "good", {"n": 1}, toolset=toolset)) == {"told": "good1"}, meddle
        tools = bridge.registry.find(handle)
        assert tools is not None
        assert [tool.name for tool in tools] == ["good", "ping"], meddle
        assert facts(await call(agent, handle, "evil"))[1:] == ("rejected", False)
    assert (await call(agent, handle, "ping", toolset=toolset)).text == "pong"
