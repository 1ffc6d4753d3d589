"""Answers that come late, listeners that come late, and listeners that do not behave."""

import pytest

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from tests.browser.asking import call, list_tools, names, open_page, read, wait_offered
from tests.sites import Site, offering, tool

GROUP = "{name: 'Late', tools: [" + tool("late", "() => 'late'") + "]}"
ANSWER_LATE = f"async event => {{ await new Promise(done => setTimeout(done, 50)); event.respondWith({GROUP}) }}"
PROMISE = f"event => event.respondWith(new Promise(done => setTimeout(done, 50, {GROUP})))"
ADD_LATER = f"addEventListener('devtoolstooldiscovery', event => event.respondWith({GROUP}))"


def answering(script: str) -> str:
    return f"<script>addEventListener('devtoolstooldiscovery', {script})</script>"


@pytest.mark.feature("pages.late")
async def test_a_promise_of_a_group_is_awaited(agent: Agent, site: Site):
    page = await open_page(
        agent,
        site.page("/promise", answering(PROMISE)),
    )

    assert names(await list_tools(agent, page)) == ["late"]
    assert (await call(agent, page, "late")).text == "late"


@pytest.mark.feature("pages.late")
async def test_an_answer_after_an_await_counts(agent: Agent, site: Site):
    page = await open_page(agent, site.page("/await", answering(ANSWER_LATE)))

    assert names(await list_tools(agent, page)) == ["late"]
    assert (await call(agent, page, "late")).text == "late"


async def test_a_group_that_comes_at_once_does_not_hide_one_that_comes_late(agent: Agent, site: Site):
    page = await open_page(agent, site.page("/both", offering(tool("now", "() => 'now'")) + answering(ANSWER_LATE)))

    assert names(await list_tools(agent, page)) == ["now", "late"]
    assert [(await call(agent, page, name)).text for name in ("now", "late")] == ["now", "late"]


@pytest.mark.feature("pages.late")
async def test_a_listener_that_is_added_later_is_noticed_without_asking(agent: Agent, bridge: Bridge, site: Site):
    later = f"<script>window.start = () => {{ {ADD_LATER} }}</script>"
    page = await open_page(agent, site.page("/later", later + offering(tool("start", "() => start()"))))
    await wait_offered(bridge, page, "start")

    await call(agent, page, "start")

    await wait_offered(bridge, page, "start", "late")
    assert (await call(agent, page, "late")).text == "late"


async def test_a_listener_on_a_page_without_any_is_noticed_without_asking(agent: Agent, bridge: Bridge, site: Site):
    page = await open_page(agent, site.page("/first", f"<script>setTimeout(() => window.{ADD_LATER}, 300)</script>"))

    await wait_offered(bridge, page, "late")
    assert names(await list_tools(agent, page)) == ["late"]


@pytest.mark.feature("pages.late")
async def test_an_answer_that_takes_longer_than_the_listing_waits_is_promised_and_then_there(
    agent: Agent, bridge: Bridge, site: Site
):
    slow = f"event => event.respondWith(new Promise(done => {{ window.answer = () => done({GROUP}) }}))"
    page = await open_page(agent, site.page("/slow", answering(slow) + offering(tool("go", "() => answer()"))))

    listing = await list_tools(agent, page)
    assert names(listing) == ["go"]
    assert listing["more"] is True
    await call(agent, page, "go")

    await wait_offered(bridge, page, "go", "late")
    assert (await call(agent, page, "late")).text == "late"


async def test_an_answer_in_the_last_moment_of_its_time_is_listed_and_one_a_moment_later_is_promised(
    agent: Agent, site: Site
):
    """Chromium keeps timers in the order of when they are due, so these are before and behind ours on any machine."""
    time = limits.DISCOVERY_SECONDS * 1000
    answers = f"""event => {{
      const group = name => ({{name, tools: [{{name, description: '', inputSchema: {{}}, execute() {{}}}}]}});
      event.respondWith(new Promise(done => setTimeout(done, {time}, group('last'))));
      event.respondWith(new Promise(done => setTimeout(() => setTimeout(done, {time}, group('too late')))));
    }}"""
    page = await open_page(agent, site.page("/last", answering(answers)))

    listing = await list_tools(agent, page)

    assert (names(listing), listing["more"]) == (["last"], True)


@pytest.mark.threat("P6")
@pytest.mark.usefixtures("hostile")
async def test_listeners_that_are_added_all_the_time_do_not_drown_the_bridge(agent: Agent, site: Site):
    add = "addEventListener('devtoolstooldiscovery', () => {})"
    flood = f"<script>setInterval(() => {{ for (let i = 0; i < 100; i++) {add} }})</script>"
    page = await open_page(agent, site.page("/adding", flood + offering(tool("good", "() => 'good'"))))

    assert (await call(agent, page, "good")).text == "good"
    assert "good" in names(await list_tools(agent, page))


@pytest.mark.threat("P21")
async def test_watching_for_listeners_leaves_nothing_to_see(agent: Agent, site: Site):
    native = """() => {
      const add = EventTarget.prototype.addEventListener, text = Function.prototype.toString;
      const frame = document.body.appendChild(document.createElement('iframe')).contentWindow;
      const same = (ours, theirs) => JSON.stringify([ours.name, ours.length, typeof ours, 'prototype' in ours,
          Reflect.ownKeys(ours), String(ours), text.call(ours)])
        === JSON.stringify([theirs.name, theirs.length, typeof theirs, 'prototype' in theirs,
          Reflect.ownKeys(theirs), String(theirs), frame.Function.prototype.toString.call(theirs)]);
      const described = (owner, name) => JSON.stringify({...Object.getOwnPropertyDescriptor(owner, name), value: 0});
      let refused = '';
      try { new add() } catch (error) { refused = error.constructor.name }
      return {
        add: same(add, frame.EventTarget.prototype.addEventListener),
        text: same(text, frame.Function.prototype.toString),
        window: window.addEventListener === add && !Object.hasOwn(window, 'addEventListener'),
        place: described(EventTarget.prototype, 'addEventListener')
          === described(frame.EventTarget.prototype, 'addEventListener'),
        refused,
      };
    }"""
    page = await open_page(agent, site.page("/native", offering(tool("look", native))))

    assert read(await call(agent, page, "look")) == {
        "add": True,
        "text": True,
        "window": True,
        "place": True,
        "refused": "TypeError",
    }
