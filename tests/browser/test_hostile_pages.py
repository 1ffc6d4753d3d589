"""Pages that do their worst: what a page does costs only itself, and each call has one answer that is true."""

import threading

import pytest
import trio

from bridge.browser.process import LaunchOptions
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge, open_bridge
from bridge.wire.commands import runtime
from tests.browser.asking import call, facts, list_tools, names, open_page, page_of, read
from tests.sites import Site, offering, tool

PING = tool("ping", "() => 'pong'")
SPIN = "for (;;) {}"
SECONDS = 0.3


def answering(listener: str, *, before: str = "") -> str:
    return f"<script>{before}; addEventListener('devtoolstooldiscovery', {listener})</script>"


async def test_a_page_that_breaks_the_promise_of_a_call_is_told_to_have_run(agent: Agent, site: Site):
    before = """Object.defineProperty(Promise.prototype, 'constructor', {get: () => function () {}});
      const then = Promise.prototype.then;
      Promise.prototype.then = function (done, fail) { armed ? done(undefined) : then.call(this, done, fail) };
      let armed = false"""
    page = await open_page(agent, site.page("/bent", offering(tool("bend", "() => { armed = true }"), before=before)))
    await list_tools(agent, page)

    answer = await call(agent, page, "bend", seconds=1)

    assert answer.structured is not None
    assert (answer.structured["dispatched"], answer.structured["outcome"]) == (True, "unknown")


async def test_frames_are_drawn_also_in_a_page_behind_another_one(site: Site):
    twice = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done('drawn'))))"
    url = site.page("/frames", offering(tool("draw", twice)))
    async with open_bridge(LaunchOptions(no_sandbox=True)) as bridge:
        agent = Agent(bridge)
        pages = [await open_page(agent, url) for _ in range(3)]

        assert [(await call(agent, page, "draw", seconds=5)).text for page in pages] == ["drawn"] * 3


async def test_a_page_whose_script_never_ends_can_be_loaded_anew(
    agent: Agent, bridge: Bridge, site: Site, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("bridge.limits.PAGE_ANSWER_SECONDS", SECONDS)
    page = await open_page(agent, site.page("/spins", offering(PING)))
    found = await page_of(bridge, page)
    found._session.send_nowait(runtime.evaluate(f"setTimeout(() => {{ fetch('/spinning'); {SPIN} }})"))
    await site.wait_asked("/spinning", 1)

    with trio.fail_after(5):
        there = read(await agent.navigate_page(page, None, "reload"))

    assert there["state"] == "ready"
    assert (await call(agent, page, "ping")).text == "pong"


async def test_a_page_that_is_freed_while_it_loads_anew_is_asked_and_called_as_ever(
    agent: Agent, bridge: Bridge, site: Site
):
    site.gates["/open"] = gate = threading.Event()
    asks = "() => { const r = new XMLHttpRequest(); r.open('GET', '/open', false); r.send(); return 1 }"
    page = await open_page(agent, site.page("/cut", offering(tool("asks", asks), PING)))
    await list_tools(agent, page)
    await call(agent, page, "asks", seconds=SECONDS)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.navigate_page, page, None, "reload")
        await trio.sleep(1)  # the page is on its way, and nothing tells of it
        await call(agent, page, "ping", seconds=SECONDS)
        gate.set()

    assert (await call(agent, page, "ping")).text == "pong"
    assert names(await list_tools(agent, page)) == ["asks", "ping"]


async def test_a_script_that_another_client_ends_is_told_to_have_run(agent: Agent, bridge: Bridge, site: Site):
    spins = tool("spins", f"() => {{ fetch('/spins-now'); {SPIN} }}")
    page = await open_page(agent, site.page("/ended", offering(spins, PING)))
    await list_tools(agent, page)
    answers = []

    async def keep() -> None:
        answers.append(await call(agent, page, "spins"))

    with trio.fail_after(10):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep)
            await site.wait_asked("/spins-now", 1)
            (await page_of(bridge, page))._session.send_nowait(runtime.terminate_execution())

    assert facts(answers[0]) == ("tool_threw", "failed", True)
    assert "ended by force" in answers[0].text
    assert (await call(agent, page, "ping")).text == "pong"
