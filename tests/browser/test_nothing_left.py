"""What a bridge leaves in a browser that it only attached to, and what another one beside it sees of it: nothing."""

import json
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
import trio

from bridge.calls.agent import Agent
from bridge.calls.bridge import open_bridge
from bridge.settings import AttachOptions, PageSettings
from bridge.wire.commands import ContextCreated
from bridge.wire.router import RawEvent
from tests.browser.asking import answer_dialog, call, facts, list_tools, names, page_of, wait_offered
from tests.browser.other_client import OtherClient, open_other_client
from tests.sites import Site, offering, tool

PING = tool("ping", "() => 'pong'")
SEEN = """(() => {
  const seen = Object.getOwnPropertyNames(window);
  for (const owner of [EventTarget, Function, Document, globalThis.ModelContext]) {
    for (const [name, how] of Object.entries(Object.getOwnPropertyDescriptors(owner?.prototype ?? {}))) {
      seen.push(`${owner.name}.${name}: ${how.value}, ${how.get}, ${how.configurable}, ${how.enumerable}`);
    }
  }
  seen.push(document.visibilityState, document.hasFocus(), innerWidth, navigator.userAgent, navigator.webdriver);
  return JSON.stringify(seen);
})()"""
"""Everything that a script of a page could know us by."""


@pytest.fixture
async def other(chromium: str) -> AsyncIterator[OtherClient]:
    async with open_other_client(chromium) as other:
        yield other


async def traces(other: OtherClient, target_id: str) -> list[str]:
    """What the debugger knows of ours in a page: names of scripts, of global constants, and of worlds."""
    session_id = await other.attach(target_id)
    found: list[str] = []

    def note(event: Any) -> None:
        match event:
            case RawEvent(method="Debugger.scriptParsed"):
                found.append(event.params["url"])
            case ContextCreated(is_default=False):
                found.append("bridge/world")
            case _:
                pass

    other.connection.listen(session_id, note)
    await other.run("Debugger.enable", session_id)
    await other.run("Runtime.enable", session_id)
    found += (await other.run("Runtime.globalLexicalScopeNames", session_id))["names"]
    await other.run("Target.detachFromTarget", sessionId=session_id)
    return [name for name in found if name.startswith(("bridge/", "k_"))]


USER = """
import sys, trio
from bridge.settings import AttachOptions, PageSettings
from bridge.calls.agent import Agent
from bridge.calls.bridge import open_bridge

async def main(address, url):
    async with open_bridge(AttachOptions(where=address), settings=PageSettings(frames="all")) as bridge:
        [page] = [page for page in await bridge.wait_pages() if page.url == url]
        agent = Agent(bridge)
        await agent.list_page_tools(page.handle, None, None)
        await agent.call_page_tool(page.handle, "ping", None)
        print("ready", flush=True)
        await trio.sleep_forever()

trio.run(main, *sys.argv[1:])
"""


@asynccontextmanager
async def killed_bridge(chromium: str, url: str) -> AsyncGenerator[None]:
    """It lists the tools of a page and calls one, and is killed at the end of the block."""
    process = await trio.lowlevel.open_process([sys.executable, "-c", USER, chromium, url], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        said = b""
        while said != b"ready\n":
            said += await process.stdout.receive_some()
        yield
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
        await process.stdout.aclose()


@asynccontextmanager
async def ended_bridge(chromium: str, url: str) -> AsyncGenerator[None]:
    """As `killed_bridge`, and it ends as it should."""
    async with open_bridge(AttachOptions(where=chromium), settings=PageSettings(frames="all")) as bridge:
        [page] = [page for page in await bridge.wait_pages() if page.url == url]
        agent = Agent(bridge)
        await list_tools(agent, page.handle)
        assert (await call(agent, page.handle, "ping")).text == "pong"
        yield


@pytest.mark.feature("browser.attach")
@pytest.mark.threat("P21")
@pytest.mark.parametrize("use", [ended_bridge, killed_bridge])
async def test_a_bridge_that_is_gone_has_left_nothing_in_a_page_from_its_next_document_on(
    chromium: str, other: OtherClient, site: Site, use: Callable[[str, str], AbstractAsyncContextManager[None]]
):
    frame = f"<iframe src='{site.page('/inner', offering(tool('inner', '() => 1')))}'></iframe>"
    url = site.page("/left", offering(PING) + frame)
    with trio.fail_after(30):
        target_id = await other.open_loaded(url)
        before = await other.run_script(target_id, SEEN)
        async with use(chromium, url):
            assert await traces(other, target_id)
            await other.reload(target_id, url)
            await wait_seen(other, target_id, "'__dtmcp' in window")

        if use is ended_bridge:
            assert await other.run_script(target_id, SEEN) == before
        info = (await other.run("Target.getTargetInfo", targetId=target_id))["targetInfo"]
        assert not info["attached"]
        await other.reload(target_id, url)
        assert await traces(other, target_id) == []
        assert await other.run_script(target_id, SEEN) == before
        await other.run("Target.closeTarget", targetId=target_id)


async def wait_seen(other: OtherClient, target_id: str, expression: str) -> None:
    look = f"const look = () => ({expression}) ? done() : setTimeout(look, 5)"
    await other.run_script(target_id, f"new Promise(done => {{ {look}; look() }})")


WALK = """<script>
  const text = Function.prototype.toString;
  const walk = () => {
    const found = {}, known = new Set([globalThis]), todo = [['window', globalThis]];
    for (const [path, at] of todo) {
      const go = (name, value) => {
        if (Object(value) === value && !known.has(value)) {
          known.add(value);
          todo.push([`${path}.${name}`, value]);
        }
        return typeof value;
      };
      const told = {__proto__: null, '()': typeof at === 'function' ? text.call(at) : ''};
      go('[[Prototype]]', Object.getPrototypeOf(at));
      for (const key of Reflect.ownKeys(at)) {
        const name = String(key), {value, get, set, ...how} = Object.getOwnPropertyDescriptor(at, key);
        told[`.${name}`] = [go(name, value), go(`get ${name}`, get), go(`set ${name}`, set), how];
      }
      found[path] = JSON.stringify(told);
    }
    return found;
  };
</script>"""
"""`walk()`: everything that a script can reach from its global object, what it is, and how its functions read."""


@pytest.mark.threat("P21")
async def test_a_page_finds_nothing_of_a_bridge_but_dtmcp_wherever_it_looks(
    chromium: str, other: OtherClient, site: Site
):
    url = site.page("/walks", WALK + offering(PING, before="window.walk = walk;"))
    with trio.fail_after(30):
        target_id = await other.open_loaded(url)
        before = await walk_in(other, target_id)
        async with open_bridge(AttachOptions(where=chromium)) as bridge:
            agent = Agent(bridge)
            handle = await handle_at(agent, target_id)
            await list_tools(agent, handle)
            # From here on it was there before the first script of the page.
            await other.reload(target_id, url)
            await wait_offered(bridge, handle, "ping")
            assert (await call(agent, handle, "ping")).text == "pong"
            during = await walk_in(other, target_id)
        after = await walk_in(other, target_id)
        await other.run("Target.closeTarget", targetId=target_id)

    assert len(before) > 1000
    assert during["window"].pop(".__dtmcp")[0] == "object"
    found = {path: what for path, what in during.items() if not path.startswith("window.__dtmcp")}
    assert [path for path in found.keys() | before.keys() if found.get(path) != before.get(path)] == []
    assert after == before


async def walk_in(other: OtherClient, target_id: str) -> dict[str, dict[str, Any]]:
    found = await other.run_script(target_id, "walk()")
    assert isinstance(found, dict)
    return {path: json.loads(told) for path, told in found.items()}


@asynccontextmanager
async def open_two(chromium: str, **settings: Any) -> AsyncGenerator[tuple[Agent, Agent]]:
    """Two bridges on one browser; the settings are those of the second."""
    options = AttachOptions(where=chromium)
    async with open_bridge(options) as first, open_bridge(options, settings=PageSettings(**settings)) as second:
        yield Agent(first), Agent(second)


async def handle_at(agent: Agent, target_id: str) -> str:
    [page] = [page for page in await agent.bridge.wait_pages() if page.target_id == target_id]
    return page.handle


REGISTERED = """<script>document.modelContext?.registerTool({name: 'native', description: 'x',
  inputSchema: {type: 'object'}, annotations: {debugging: true}, execute: () => 'native'})</script>"""


@pytest.mark.feature("browser.shared")
@pytest.mark.threat("L6")
@pytest.mark.parametrize("fixture", ["chromium", "webmcp_chromium"])
async def test_two_bridges_on_one_browser_do_not_see_each_other(
    fixture: str, request: pytest.FixtureRequest, site: Site
):
    chromium: str = request.getfixturevalue(fixture)
    offered = ["ping", "native"] if fixture == "webmcp_chromium" else ["ping"]
    counting = "<script>heard = 0; addEventListener('devtoolstooldiscovery', () => { heard++ })</script>"
    url = site.page(f"/two-{fixture}", counting + offering(PING) + REGISTERED)
    with trio.fail_after(30):
        async with open_other_client(chromium) as other, open_two(chromium) as (first, second):
            agents = first, second
            target_id = await other.open_loaded(url)
            handles = [await handle_at(agent, target_id) for agent in agents]
            for agent, handle in zip(agents, handles, strict=True):
                await list_tools(agent, handle)
            # From here on each was there before the first script of the page.
            await other.reload(target_id, url)
            for agent, handle in zip(agents, handles, strict=True):
                await wait_offered(agent.bridge, handle, *offered)
            heard = int(str(await other.run_script(target_id, "heard")))
            listings = [await list_tools(agent, handle) for agent, handle in zip(agents, handles, strict=True)]

            # Each asks for itself, and none hears the other ask.
            assert await other.run_script(target_id, "heard") == heard + 2
            assert [names(listing) for listing in listings] == [offered, offered]
            assert listings[0]["groups"] == listings[1]["groups"]
            for name in offered:
                for agent, handle in zip(agents, handles, strict=True):
                    assert (await call(agent, handle, name)).text == name.replace("ping", "pong")
            kits = [name for name in await traces(other, target_id) if name.startswith("k_")]
            assert len(kits) == 2

            late = offering(tool("late", "() => 'late'"), group="Late")
            await other.run_script(target_id, late.removeprefix("<script>").strip().removesuffix("</script>"))
            for agent, handle in zip(agents, handles, strict=True):
                await wait_offered(agent.bridge, handle, "ping", "late", *offered[1:])
            await other.run("Target.closeTarget", targetId=target_id)


async def test_a_bridge_that_ends_takes_nothing_from_the_one_beside_it(chromium: str, other: OtherClient, site: Site):
    url = site.page("/stays", offering(PING))
    with trio.fail_after(30):
        target_id = await other.open_loaded(url)
        async with open_bridge(AttachOptions(where=chromium)) as staying:
            agent = Agent(staying)
            handle = await handle_at(agent, target_id)
            async with ended_bridge(chromium, url):
                await list_tools(agent, handle)
            assert (await call(agent, handle, "ping")).text == "pong"
            assert names(await list_tools(agent, handle)) == ["ping"]
            assert await other.run_script(target_id, "__dtmcp.toolGroups.length") == 1
            await other.reload(target_id, url)
            await wait_offered(staying, handle, "ping")
            assert (await call(agent, handle, "ping")).text == "pong"
            assert len([name for name in await traces(other, target_id) if name.startswith("k_")]) == 1
        await other.run("Target.closeTarget", targetId=target_id)


@pytest.mark.threat("L6")
async def test_a_dialog_of_one_bridges_call_is_not_answered_by_the_other(chromium: str, other: OtherClient, site: Site):
    confirm = tool("confirm", "() => String(confirm('Sure?'))")
    with trio.fail_after(30):
        target_id = await other.open_loaded(site.page("/dialog", offering(confirm)))
        async with open_two(chromium, dialogs="accept") as (first, second):
            handle = await handle_at(first, target_id)
            asked = await call(first, handle, "confirm")
            assert facts(asked) == ("dialog_open", "unknown", True)
            there = await page_of(second.bridge, await handle_at(second, target_id))
            await there.wait_changed(lambda: there.dialog is not None)
            beside = await call(second, there.handle, "confirm")
            assert facts(beside) == ("dialog_open", "rejected", False)
            assert (await answer_dialog(first, handle, False, None)).text == "false"
        await other.run("Target.closeTarget", targetId=target_id)


async def test_a_helper_of_the_pages_own_stays(chromium: str, other: OtherClient, site: Site):
    url = site.page("/own", "<script>window.__dtmcp = 'mine'</script>" + offering(PING))
    with trio.fail_after(30):
        target_id = await other.open_loaded(url)
        async with ended_bridge(chromium, url):
            pass
        assert await other.run_script(target_id, "window.__dtmcp") == "mine"
        await other.run("Target.closeTarget", targetId=target_id)
