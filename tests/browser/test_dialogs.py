"""Dialogs that pages show: those of our calls are answered or told of, those of a person are left to the person."""

import json
import signal
from functools import partial

import pytest
import trio

from bridge import limits
from bridge.calls import pipeline
from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.bridge import Bridge, open_bridge
from bridge.page.run import Why
from bridge.settings import AttachOptions, LaunchOptions, PageSettings
from bridge.wire.commands import DialogOpening, runtime
from bridge.wire.commands import page as cdp_page
from tests.browser.asking import answer_dialog, call, code, facts, list_tools, open_page, page_of, read, run_script
from tests.browser.conftest import OpenHostile
from tests.browser.other_client import open_other_client
from tests.browser.test_deadlines import Renderers
from tests.browsers import run_chromium
from tests.sites import Site, offering, tool

PING = tool("ping", "() => 'pong'")
ALERT = tool("alert", "() => { alert('Saved \\u2028 7'); return 'after' }")
CONFIRM = tool("confirm", "() => confirm('Really?') ? 'yes' : 'no'")
PROMPT = tool("prompt", "() => prompt('How many?', 'one')")
TWICE = tool("twice", "() => [confirm('First?'), confirm('Second?')]")
TOOLS = offering(PING, ALERT, CONFIRM, PROMPT, TWICE)


async def show_dialog(bridge: Bridge, handle: str, expression: str) -> None:
    """What the page does by itself, or a person in it."""
    page = await page_of(bridge, handle)
    page._session.send_nowait(runtime.evaluate(f"setTimeout(() => {{ {expression} }})"))
    await page.wait_changed(lambda: page.dialog is not None)


async def described(agent: Agent, handle: str) -> dict:
    return next(page for page in read(await agent.list_pages())["pages"] if page["page"] == handle)


def dialogs(answer: Answer) -> list[dict]:
    [note] = answer.notes
    return json.loads(note)["dialogs"]


@pytest.mark.feature("dialogs.answer")
@pytest.mark.threat("P12")
@pytest.mark.usefixtures("hostile")
async def test_an_alert_during_a_call_is_accepted_and_reported(agent: Agent, site: Site):
    url = site.page("/alert", TOOLS)
    page = await open_page(agent, url)

    answer = await call(agent, page, "alert")

    assert answer.text == "after"
    assert dialogs(answer) == [{"type": "alert", "message": "Saved \u2028 7", "url": url, "answer": "accepted"}]
    assert (await call(agent, page, "ping")).notes == ()


@pytest.mark.feature("dialogs.answer")
@pytest.mark.parametrize(
    ("name", "accept", "text", "outcome"),
    [
        ("confirm", True, None, "yes"),
        ("confirm", False, None, "no"),
        ("prompt", True, "two", "two"),
        ("prompt", True, "", ""),
        ("prompt", True, None, "one"),
        ("prompt", False, "two", "null"),
    ],
)
async def test_whoever_answers_the_dialog_of_a_call_gets_what_became_of_the_call(
    agent: Agent, site: Site, name: str, accept: bool, text: str | None, outcome: str
):
    page = await open_page(agent, site.page("/asks", TOOLS))

    with trio.fail_after(2):
        asked = await call(agent, page, name)
    answer = await answer_dialog(agent, page, accept, text)

    assert facts(asked) == ("dialog_open", "unknown", True)
    assert asked.structured is not None
    assert asked.structured["dialog"]["type"] == name
    assert json.dumps(asked.structured["dialog"]["message"]) in asked.text
    assert (answer.is_error, answer.text) == (False, outcome)
    assert (await call(agent, page, "ping")).text == "pong"


@pytest.mark.feature("dialogs.answer")
async def test_a_second_dialog_of_one_call_is_asked_about_as_well(agent: Agent, site: Site):
    page = await open_page(agent, site.page("/twice", TOOLS))

    first = await call(agent, page, "twice")
    second = await answer_dialog(agent, page, True, None)
    answer = await answer_dialog(agent, page, False, None)

    assert "First?" in first.text
    assert code(second) == "dialog_open"
    assert "Second?" in second.text
    assert answer.text == "[true,false]"


@pytest.mark.feature("dialogs.person")
@pytest.mark.threat("P12")
async def test_while_a_dialog_is_open_its_page_says_so_at_once_and_others_work(agent: Agent, site: Site):
    page = await open_page(agent, site.page("/held", TOOLS))
    other = await open_page(agent, site.page("/other", TOOLS))
    await call(agent, page, "confirm")

    with trio.fail_after(2):
        again = await call(agent, page, "ping")
        listing = await agent.list_page_tools(page, None, None)
        every = await agent.list_page_tools(None, None, None)
        pong = await call(agent, other, "ping")

    assert facts(again) == ("dialog_open", "rejected", False)
    assert code(listing) == "dialog_open"
    assert {one["page"]: one["problems"] for one in read(every)["pages"]}[page][0].count("Really?") == 1
    assert pong.text == "pong"
    assert (await described(agent, page))["dialog"]["message"] == "Really?"
    assert (await answer_dialog(agent, page, True, None)).text == "yes"


async def test_calls_that_wait_their_turn_are_told_of_the_dialog(agent: Agent, site: Site):
    slow = tool("slow", "() => new Promise(done => { globalThis.go = () => done(confirm('Really?')) })")
    go = tool("go", "() => globalThis.go()")
    page = await open_page(agent, site.page("/turns", offering(slow, go, PING)))
    await list_tools(agent, page)
    answers: list[Answer] = []

    async def keep(name: str) -> None:
        answers.append(await call(agent, page, name))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep, "slow")
        await trio.testing.wait_all_tasks_blocked(0.05)
        nursery.start_soon(keep, "ping")
        await trio.testing.wait_all_tasks_blocked(0.05)
        found = await page_of(agent.bridge, page)
        found._session.send_nowait(runtime.evaluate("globalThis.go()"))

    assert sorted(facts(answer) for answer in answers) == [
        ("dialog_open", "rejected", False),
        ("dialog_open", "unknown", True),
    ]
    assert (await answer_dialog(agent, page, True, None)).text == "true"


async def test_there_may_be_no_dialog_to_answer(agent: Agent, site: Site):
    page = await open_page(agent, site.page("/none", TOOLS))

    assert code(await answer_dialog(agent, page, True, None)) == "no_dialog"


@pytest.mark.feature("dialogs.person")
@pytest.mark.parametrize("expression", ["alert('mine')", "confirm('mine')", "prompt('mine')"])
async def test_a_dialog_that_we_did_not_cause_is_left_to_the_person(
    agent: Agent, bridge: Bridge, site: Site, expression: str
):
    page = await open_page(agent, site.page("/person", TOOLS))
    await show_dialog(bridge, page, expression)

    assert (await described(agent, page))["dialog"]["message"] == "mine"
    assert code(await call(agent, page, "ping")) == "dialog_open"

    # The person clicks.
    found = await page_of(bridge, page)
    await found._session.run(cdp_page.handle_java_script_dialog(accept=True))
    await found.wait_changed(lambda: found.dialog is None)

    assert "dialog" not in await described(agent, page)
    assert (await call(agent, page, "ping")).text == "pong"


async def test_a_call_that_waited_for_a_person_keeps_its_outcome_for_who_asks(agent: Agent, bridge: Bridge, site: Site):
    page = await open_page(agent, site.page("/clicked", TOOLS))
    await call(agent, page, "confirm")
    found = await page_of(bridge, page)
    await found._session.run(cdp_page.handle_java_script_dialog(accept=True))
    await found.wait_changed(lambda: found.dialog is None)

    assert (await call(agent, page, "ping")).text == "pong"
    assert (await answer_dialog(agent, page, True, None)).text == "yes"
    assert code(await answer_dialog(agent, page, True, None)) == "no_dialog"


@pytest.mark.feature("dialogs.answer")
@pytest.mark.parametrize(
    ("page_settings", "outcome"),
    [
        (PageSettings(dialogs="accept"), ("yes", "one", "[true,true]")),
        (PageSettings(dialogs="dismiss"), ("no", "null", "[false,false]")),
    ],
)
async def test_the_settings_may_answer_for_the_agent(agent: Agent, site: Site, outcome: tuple[str, ...]):
    page = await open_page(agent, site.page("/settled", TOOLS))

    answers = [await call(agent, page, name) for name in ("confirm", "prompt", "twice")]

    assert tuple(answer.text for answer in answers) == outcome
    assert [len(dialogs(answer)) for answer in answers] == [1, 1, 2]
    assert code(await call(agent, page, "nope")) == "tool_not_found"


BEFORE_UNLOAD = "<script>onbeforeunload = event => { event.preventDefault(); return 'x' }</script>"


@pytest.mark.threat("P12")
@pytest.mark.usefixtures("hostile")
async def test_leaving_a_page_that_asks_before_it_is_left_is_accepted_where_the_agent_asked(
    agent: Agent, bridge: Bridge, site: Site
):
    page = await open_page(agent, site.page("/dirty", BEFORE_UNLOAD + TOOLS))
    await run_script(await page_of(bridge, page), "1")  # as a click, without which browsers do not ask

    with trio.fail_after(5):
        there = read(await agent.navigate_page(page, site.page("/clean", TOOLS), None))

    assert there["dialogs"][0] | {"url": ""} == {
        "type": "beforeunload",
        "message": "",
        "url": "",
        "answer": "accepted",
    }


@pytest.mark.parametrize("how", ["url", "reload"])
async def test_leaving_such_a_page_is_accepted_also_while_a_tool_runs_there(
    agent: Agent, bridge: Bridge, site: Site, how: str
):
    runs = tool("runs", "() => { fetch('/runs'); return new Promise(() => {}) }")
    clean = site.page("/clean", TOOLS)
    page = await open_page(agent, site.page("/busy", BEFORE_UNLOAD + offering(runs)))
    await run_script(await page_of(bridge, page), "1")
    answers: list[Answer] = []

    async def run() -> None:
        answers.append(await call(agent, page, "runs"))

    with trio.fail_after(10):
        asked = site.asked["/runs"]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await site.wait_asked("/runs", asked + 1)
            there = await agent.navigate_page(page, *((clean, None) if how == "url" else (None, "reload")))

    assert code(answers[0]) == "navigated_during_call"
    assert read(there)["url"].startswith(clean if how == "url" else site.origin)
    # Whose answer comes first tells of it.
    assert '"answer":"accepted"' in "".join([there.text, *answers[0].notes])


async def test_who_lets_such_a_page_go_is_told_where_it_went(agent: Agent, bridge: Bridge, site: Site):
    clean = site.page("/clean", TOOLS)
    page = await open_page(agent, site.page("/asks-first", BEFORE_UNLOAD + TOOLS))
    await run_script(await page_of(bridge, page), "1")
    await show_dialog(bridge, page, f"location.href = '{clean}'")

    answer = await answer_dialog(agent, page, True, None)

    assert read(answer)["url"] == clean


async def test_a_tool_that_leaves_such_a_page_asks_the_agent(agent: Agent, bridge: Bridge, site: Site):
    clean = site.page("/clean", TOOLS)
    leave = tool("leave", f"() => {{ location.href = '{clean}'; return new Promise(() => {{}}) }}")
    page = await open_page(agent, site.page("/leaves", BEFORE_UNLOAD + offering(leave)))
    await run_script(await page_of(bridge, page), "1")

    asked = await call(agent, page, "leave")
    answer = await answer_dialog(agent, page, True, None)

    assert facts(asked) == ("dialog_open", "unknown", True)
    assert code(answer) == "navigated_during_call"


@pytest.mark.parametrize("page_settings", [PageSettings(frames="all")])
async def test_a_dialog_of_a_frame_holds_its_page(agent: Agent, site: Site, other_site: Site):
    inner = other_site.elsewhere().page("/inner", offering(CONFIRM, ALERT))
    page = await open_page(agent, site.page("/outer", f"<iframe src='{inner}'></iframe>" + offering(PING)))
    await list_tools(agent, page)

    alerted = await call(agent, page, "alert")
    asked = await call(agent, page, "confirm")
    held = await call(agent, page, "ping")

    assert alerted.text == "after"
    assert dialogs(alerted)[0]["message"] == "Saved \u2028 7"
    assert code(asked) == "dialog_open"
    assert facts(held) == ("dialog_open", "rejected", False)
    assert (await answer_dialog(agent, page, True, None)).text == "yes"


async def test_alerts_of_a_browser_of_our_own_hold_up_nobody(site: Site):
    url = site.page("/greets", "<script>alert('Welcome')</script>" + TOOLS)
    async with open_bridge(LaunchOptions(no_sandbox=True)) as bridge:
        agent = Agent(bridge)

        with trio.fail_after(20):
            opened = read(await agent.open_page(url))
            again = read(await agent.open_page(url))

        assert opened["dialogs"] == [{"type": "alert", "message": "Welcome", "url": url, "answer": "accepted"}]
        assert (await call(agent, again["page"], "ping")).text == "pong"


async def test_a_dialog_while_a_page_is_asked_for_its_tools_is_told_and_the_tools_come_later(
    agent: Agent, bridge: Bridge, site: Site
):
    asks = "() => { if (!globalThis.asked) { asked = true; confirm('Tools?') } }"
    listens = f"<script>window.addEventListener('devtoolstooldiscovery', {asks})</script>"
    page = await open_page(agent, site.page("/listens", listens + offering(PING)))

    listing = await agent.list_page_tools(page, None, None)
    assert code(listing) == "dialog_open"
    await answer_dialog(agent, page, True, None)

    assert (await call(agent, page, "ping")).text == "pong"


@pytest.mark.threat("P12")
async def test_a_page_that_asks_without_end_can_be_left_loaded_anew_and_closed(
    agent: Agent, site: Site, hostile: OpenHostile, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "PAGE_ANSWER_SECONDS", 0.5)
    page = await hostile("asks_for_ever")

    assert code(await call(agent, page, "loop")) == "dialog_open"
    assert code(await answer_dialog(agent, page, True, None)) == "dialog_open"
    with trio.fail_after(15):
        there = await agent.navigate_page(page, site.page("/left", TOOLS), None)
    assert not there.is_error, there.text
    assert "dialog" not in read(there)
    assert (await call(agent, page, "ping")).text == "pong"
    # A dialog that the next document opens is asked about again.
    assert code(await call(agent, page, "confirm")) == "dialog_open"
    assert (await answer_dialog(agent, page, False, None)).text == "no"

    asks = site.origin + "/hostile/asks_for_ever.html"
    await agent.navigate_page(page, asks, None)
    assert code(await call(agent, page, "loop")) == "dialog_open"
    with trio.fail_after(15):
        back = await agent.navigate_page(page, None, "back")
    assert read(back)["url"] == site.origin + "/left"

    await agent.navigate_page(page, asks, None)
    assert code(await call(agent, page, "loop")) == "dialog_open"
    with trio.fail_after(15):
        anew = await agent.navigate_page(page, None, "reload")
    assert (read(anew)["url"], "dialog" in read(anew)) == (asks, False)
    assert (await call(agent, page, "ping")).text == "pong"
    await call(agent, page, "loop")
    with trio.fail_after(5):
        assert not (await agent.close_page(page)).is_error


@pytest.mark.threat("P12")
@pytest.mark.parametrize("page_settings", [PageSettings(dialogs="accept"), PageSettings(dialogs="dismiss")])
async def test_a_tool_that_asks_without_end_ends_in_time_where_the_settings_answer(
    agent: Agent, bridge: Bridge, hostile: OpenHostile
):
    page = await hostile("asks_for_ever")
    await list_tools(agent, page)

    with trio.fail_after(5):
        answer = await call(agent, page, "loop", seconds=0.3)

    assert facts(answer) == ("timed_out", "unknown", True)
    assert len(dialogs(answer)) <= limits.DIALOGS_TOLD
    # What could not be ended in that time is ended a little later.
    found = await page_of(bridge, page)
    assert found.document is not None
    while found.document.is_stuck:  # noqa: ASYNC110  # nothing tells of it
        await trio.sleep(0.01)
    assert (await call(agent, page, "ping")).text == "pong"


async def test_a_tool_that_asks_when_its_time_is_over_waits_for_the_answer(agent: Agent, site: Site):
    asks = "(input, {signal}) => new Promise(done => { signal.onabort = () => done(confirm('Stop?')) })"
    page = await open_page(agent, site.page("/over", offering(tool("asks", asks), PING)))
    await list_tools(agent, page)

    with trio.fail_after(5):
        asked = await call(agent, page, "asks", seconds=0.3)

    assert facts(asked) == ("dialog_open", "unknown", True)
    assert (await answer_dialog(agent, page, True, None)).text == "true"
    assert (await call(agent, page, "ping")).text == "pong"


async def test_a_call_that_is_cancelled_while_its_dialog_is_open_leaves_the_dialog_and_a_page_that_works(
    agent: Agent, bridge: Bridge, site: Site
):
    slow = tool(
        "slow",
        """(input, {signal}) => new Promise(done => {
      signal.onabort = () => { globalThis.told = signal.reason.name };
      setTimeout(() => { confirm('Sure?'); setTimeout(done, 100) }, 100);
    })""",
    )
    page = await open_page(agent, site.page("/cancels", offering(slow, tool("told", "() => globalThis.told"), PING)))
    await list_tools(agent, page)
    [found] = [one for one in bridge.registry.snapshot[page] if one.name == "slow"]
    shown = await page_of(bridge, page)

    running = bridge.source.start(found, {})
    await shown.wait_changed(lambda: shown.dialog is not None)
    shown.let_go(running.run, Why.CANCELLED)
    with trio.fail_after(5):
        await running.run.wait_ended()
        while not running.run.is_ended:  # noqa: ASYNC110  # a dialog holds it, which `wait_ended` tells of
            await trio.sleep(0.01)

    told = await described(agent, page)
    assert (told["state"], told["dialog"]["message"]) == ("ready", "Sure?")
    assert not (await answer_dialog(agent, page, True, None)).is_error
    assert (await call(agent, page, "ping")).text == "pong"
    assert (await call(agent, page, "told")).text == "AbortError"


async def test_of_several_who_answer_one_dialog_each_gets_an_answer_and_the_page_one(
    agent: Agent, bridge: Bridge, site: Site
):
    page = await open_page(agent, site.page("/several", TOOLS))
    await call(agent, page, "twice")
    answers: list[Answer] = []

    async def handle(accept: bool) -> None:
        answers.append(await answer_dialog(Agent(bridge), page, accept, None))

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            for accept in (True, False, True):
                nursery.start_soon(handle, accept)
        while not any(answer.text.startswith("[") for answer in answers):
            answers.append(await answer_dialog(agent, page, True, None))

    [outcome] = [json.loads(answer.text) for answer in answers if answer.text.startswith("[")]
    assert [type(answered) for answered in outcome] == [bool, bool]
    assert (await call(agent, page, "ping")).text == "pong"


async def test_a_renderer_that_is_killed_while_its_dialog_waits_ends_the_call(site: Site):
    with run_chromium() as browser:
        async with open_bridge(AttachOptions(where=browser.websocket)) as bridge:
            agent = Agent(bridge)
            page = await open_page(agent, site.page("/dies", TOOLS))
            await call(agent, page, "confirm")
            Renderers(agent, browser.process.pid).send(signal.SIGKILL)

            with trio.fail_after(5):
                answer = await answer_dialog(agent, page, True, None)

            assert facts(answer) == ("page_crashed", "unknown", True)
            assert "dialog" not in await described(agent, page)
            await agent.navigate_page(page, None, "reload")
            assert (await call(agent, page, "ping")).text == "pong"


async def test_a_dialog_that_was_open_before_we_came_holds_only_its_page(
    chromium: str, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
):
    """Chromium tells who comes later nothing of it: the page looks as one that sleeps, and its error says so."""
    monkeypatch.setattr(limits, "PAGE_ANSWER_SECONDS", 0.5)
    url = site.page("/before", TOOLS)
    other_page = await open_page(agent, site.page("/beside", TOOLS))
    async with open_other_client(chromium) as other:
        target = await other.open_tab(url)
        session = await other.attach(target)
        await other.run("Page.enable", session)
        while True:  # until it shows that page, and no longer the empty one before
            where = await other.run("Runtime.evaluate", session, expression="location.href + document.readyState")
            if where["result"]["value"] == f"{url}complete":
                break
        async with trio.open_nursery() as nursery:
            opened = trio.Event()
            other.connection.listen(session, lambda event: opened.set() if is_opening(event) else None)
            nursery.start_soon(partial(other.run, "Runtime.evaluate", session, expression="confirm('Old?')"))
            await opened.wait()

            async with open_bridge(AttachOptions(where=chromium)) as bridge:
                late = Agent(bridge)
                with trio.fail_after(5):
                    pages = read(await late.list_pages())["pages"]
                    held = next(one["page"] for one in pages if one["url"] == url)
                    answer = await call(late, held, "ping")
                    [beside] = [one["page"] for one in pages if one["url"].endswith("/beside")]
                    assert (await call(late, beside, "ping")).text == "pong"
                assert facts(answer) == ("timed_out", "rejected", False)
                assert "dialog" in answer.text
                await other.run("Page.handleJavaScriptDialog", session, accept=True)
                with trio.fail_after(5):
                    await (await page_of(bridge, held)).wait_attached()
                    assert (await call(late, held, "ping")).text == "pong"
        await other.run("Target.closeTarget", targetId=target)
    assert (await call(agent, other_page, "ping")).text == "pong"


def is_opening(event: object) -> bool:
    return isinstance(event, DialogOpening)


async def test_of_two_calls_that_one_dialog_holds_no_outcome_is_lost(
    agent: Agent, bridge: Bridge, site: Site, monkeypatch: pytest.MonkeyPatch
):
    """As with tools that a trusted origin marks read-only: they run side by side."""
    monkeypatch.setattr(pipeline, "_changes_nothing", lambda *_: True)
    waits = tool("waits", "() => new Promise(done => { globalThis.go = done })")
    page = await open_page(agent, site.page("/both", offering(waits, CONFIRM, PING)))
    await list_tools(agent, page)
    asked: list[Answer] = []

    async def keep(name: str) -> None:
        asked.append(await call(agent, page, name))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep, "waits")
        await trio.testing.wait_all_tasks_blocked(0.05)
        nursery.start_soon(keep, "confirm")
    outcomes = {(await answer_dialog(agent, page, True, None, timeout_seconds=1)).text[:9]}
    await run_script(await page_of(bridge, page), "globalThis.go('went on')")
    outcomes.add((await answer_dialog(agent, page, True, None)).text[:9])

    assert [facts(answer) for answer in asked] == [("dialog_open", "unknown", True)] * 2
    assert "yes" in outcomes
    assert code(await answer_dialog(agent, page, True, None)) == "no_dialog"
