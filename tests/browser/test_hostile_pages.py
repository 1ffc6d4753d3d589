"""Pages that do their worst: what a page does costs only itself, and each call has one answer that is true."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
import trio

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge, open_bridge
from bridge.settings import LaunchOptions
from bridge.wire.commands import runtime
from tests.browser.asking import (
    answer_dialog,
    call,
    code,
    facts,
    list_tools,
    names,
    open_page,
    page_of,
    plain,
    read,
    run_script,
    wait_until,
)
from tests.browser.conftest import OpenHostile
from tests.browser.other_client import open_other_client
from tests.sites import Site, offering, tool

PING = tool("ping", "() => 'pong'")
SPIN = "for (;;) {}"
SECONDS = 0.3

# What a page can reach


@pytest.mark.threat("P8")
async def test_forged_messages_to_everything_that_a_page_can_find_reach_no_call(
    agent: Agent, bridge: Bridge, hostile: OpenHostile
):
    page = await hostile("forges")
    await list_tools(agent, page)
    answers = []

    async def keep() -> None:
        answers.append(await call(agent, page, "held"))

    found = await page_of(bridge, page)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep)
        await wait_until(found, "go")
        assert await run_script(found, "forge()") is True
        assert answers == []
        await run_script(found, "go('true answer')")

    assert answers[0].text == "true answer"


@pytest.mark.threat("P11")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("twice", "first"),
        ("then fails", "first"),
        ("no then", "Tool 'no then' ran and threw: Error: no then"),
        ("then is a number", '{"then":5}'),
        ("deep", "deep"),
        ("other realm", "other realm"),
        ("fails in another realm", "Tool 'fails in another realm' ran and threw: Error: other"),
        ("a proxy", "trapped"),
        ("later and again", "late"),
    ],
)
async def test_thenables_of_every_kind_give_one_answer(agent: Agent, hostile: OpenHostile, name: str, text: str):
    page = await hostile("thenables")

    assert (await call(agent, page, name, seconds=5)).text == text
    assert (await call(agent, page, "other realm")).text == "other realm"


@pytest.mark.threat("P11")
@pytest.mark.parametrize("name", ["never", "never, of another realm", "without end"])
async def test_thenables_that_never_settle_end_in_time(agent: Agent, hostile: OpenHostile, name: str):
    page = await hostile("thenables")
    await list_tools(agent, page)

    with trio.fail_after(SECONDS + 5):
        answer = await call(agent, page, name, seconds=SECONDS)

    assert facts(answer) == ("timed_out", "unknown", True)
    assert (await call(agent, page, "other realm")).text == "other realm"


@pytest.mark.threat("P7", "P11")
async def test_a_page_that_breaks_the_promises_of_a_call_has_run_its_tool(agent: Agent, hostile: OpenHostile):
    page = await hostile("bends_promises")
    await list_tools(agent, page)

    for step in range(6):
        answer = await call(agent, page, "bend", {"step": step}, seconds=1)
        # What it says of its own value is its own affair.
        assert not answer.is_error or facts(answer)[1:] in (("unknown", True), ("failed", True)), answer


# What a page does with its signal, its progress and its arguments


@pytest.mark.threat("P7", "P12")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("another signal", "may be at it still"),
        ("aborts by itself", "may be at it still"),
        ("no prototype", "may be at it still"),
        ("fails when told", "threw: 1"),
        ("throws when told", "at it still"),
    ],
)
async def test_a_tool_that_bends_its_signal_is_ended_in_time(agent: Agent, hostile: OpenHostile, name: str, words: str):
    page = await hostile("bends_signal")
    await list_tools(agent, page)

    with trio.fail_after(SECONDS + 5):
        answer = await call(agent, page, name, seconds=SECONDS)

    assert facts(answer) == ("timed_out", "unknown", True)
    assert words in answer.text
    assert (await call(agent, page, "ping")).text == "pong"


async def test_progress_after_the_end_of_a_tool_reaches_nobody(agent: Agent, bridge: Bridge, hostile: OpenHostile):
    page = await hostile("late_progress")
    told: list[Any] = []

    async def send(*notice: Any) -> None:
        told.append(notice)

    answer = plain(await agent.call_page_tool(page, "ends", None, send_progress=send))
    assert await run_script(await page_of(bridge, page), "late()") == "told"
    assert (await call(agent, page, "ends")).text == "ended"

    assert (answer.text, told) == ("ended", [])


@pytest.mark.threat("C4")
@pytest.mark.parametrize(
    "given", ['{"__proto__":{"evil":1}}', '{"constructor":{"prototype":{"evil":1}}}', '{"a":{"__proto__":{"evil":1}}}']
)
async def test_arguments_named_as_prototypes_are_plain_data(agent: Agent, site: Site, given: str):
    look = "input => [Object.getPrototypeOf(input) === Object.prototype, ({}).evil ?? 'clean', JSON.stringify(input)]"
    page = await open_page(agent, site.page("/proto", offering(tool("look", look))))

    assert read(await call(agent, page, "look", given)) == [True, "clean", given]


# What holds a page up, and what does not


@pytest.mark.threat("P12")
@pytest.mark.parametrize(
    ("name", "text"),
    [("alert", "after"), ("print", "printed"), ("debugger", "went on"), ("worker", "working")],
)
async def test_what_waits_for_nobody_holds_nobody_up(agent: Agent, hostile: OpenHostile, name: str, text: str):
    page = await hostile("holds")

    answer = await call(agent, page, name, seconds=5)
    assert answer.text == text
    assert ("Saved" in "".join(answer.notes)) == (name == "alert")
    assert (await call(agent, page, "debugger", seconds=5)).text == "went on"


@pytest.mark.threat("P12")
@pytest.mark.parametrize(
    ("name", "message", "outcome"),
    [("confirm", "Really?", "false"), ("prompt", "How many?", "null"), ("asks before it is left", "", None)],
)
async def test_what_a_page_asks_is_told_as_its_words_and_the_call_has_one_outcome(
    agent: Agent, bridge: Bridge, hostile: OpenHostile, name: str, message: str, outcome: str | None
):
    page = await hostile("holds")
    await run_script(await page_of(bridge, page), "1")  # as a click, without which browsers do not ask

    with trio.fail_after(5):
        asked = await call(agent, page, name)
        answer = await answer_dialog(agent, page, outcome is None, None)

    assert facts(asked) == ("dialog_open", "unknown", True)
    assert asked.structured is not None
    assert asked.structured["dialog"]["message"] == message
    assert answer.text == outcome if outcome else code(answer) == "navigated_during_call"
    assert (await call(agent, page, "debugger")).text == "went on"


@pytest.mark.threat("P12")
async def test_a_page_that_ends_itself_ends_its_call(agent: Agent, bridge: Bridge, hostile: OpenHostile, site: Site):
    opener = await page_of(bridge, await hostile("holds"))
    before = {page["page"] for page in read(await agent.list_pages())["pages"]}
    await run_script(opener, "open('/hostile/holds.html').closed")
    [popup] = [page["page"] for page in read(await agent.list_pages())["pages"] if page["page"] not in before]
    await list_tools(agent, popup)

    with trio.fail_after(5):
        answer = await call(agent, popup, "close")

    assert facts(answer) == ("page_gone", "unknown", True)


@pytest.mark.threat("P12")
async def test_a_tool_that_goes_elsewhere_when_it_is_told_to_stop_has_left(agent: Agent, hostile: OpenHostile):
    page = await hostile("leaves_when_stopped")
    await list_tools(agent, page)

    with trio.fail_after(SECONDS + 5):
        answer = await call(agent, page, "leaves", seconds=SECONDS)

    assert facts(answer)[1:] == ("unknown", True)
    assert code(answer) in ("navigated_during_call", "timed_out")
    assert code(await call(agent, page, "leaves")) in ("tool_stale", "tool_not_found")
    assert (await call(agent, page, "add", {"a": 2, "b": 2})).text == "4"


async def test_frames_are_drawn_also_in_a_page_behind_another_one(site: Site):
    twice = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done('drawn'))))"
    url = site.page("/frames", offering(tool("draw", twice)))
    async with open_bridge(LaunchOptions(no_sandbox=True)) as bridge:
        agent = Agent(bridge)
        pages = [await open_page(agent, url) for _ in range(3)]

        assert [(await call(agent, page, "draw", seconds=5)).text for page in pages] == ["drawn"] * 3


async def test_a_call_goes_on_beside_a_download(agent: Agent, site: Site):
    file = site.page("/file.bin", "x", Content_Disposition="attachment; filename=file.bin")
    get = f"() => {{ location.href = '{file}'; return new Promise(done => setTimeout(done, 300, 'done')) }}"
    page = await open_page(agent, site.page("/gets", offering(tool("get", get), PING)))

    assert (await call(agent, page, "get")).text == "done"
    assert (await call(agent, page, "ping")).text == "pong"


@pytest.mark.feature("calls.stuck")
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


@pytest.mark.threat("L6")
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


# Floods of events


def peak_kilobytes() -> int:
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1])


@pytest.mark.threat("P13")
@pytest.mark.parametrize("flood", ["console lines", "calls of a global", "frames", "changes of the address", "titles"])
async def test_a_flood_of_events_costs_little_memory_and_calls_go_on(
    agent: Agent, site: Site, hostile: OpenHostile, flood: str
):
    """An iframe comes in one round of 50, 1,000 in all: Chromium itself takes some 10 ms to make and remove one, so
    that 10,000 would take it more than a minute. More than 1,000 at a time it lets no page have.
    """
    page = await open_page(agent, site.elsewhere().origin + "/healthy.html")
    flooding = await hostile("floods", flood)
    before = peak_kilobytes()

    async def make(rounds: int) -> None:
        assert (await call(agent, flooding, "flood")).text == str(rounds)

    with trio.fail_after(50):
        for rounds in range(5_000, 50_001, 5_000):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(make, rounds)
                assert (await call(agent, page, "add", {"a": 1, "b": rounds})).text == str(1 + rounds)

    assert peak_kilobytes() - before < 100_000


@pytest.mark.threat("P13")
@pytest.mark.usefixtures("hostile")
async def test_many_popups_are_pages_like_others_and_hold_up_nobody(chromium: str, agent: Agent, site: Site):
    url = site.page("/popped", offering(PING))
    page = await open_page(agent, site.page("/pops", offering(PING)))
    async with open_other_client(chromium) as other:
        opened = [await other.open_tab(url) for _ in range(40)]
        try:
            with trio.fail_after(30):
                assert (await call(agent, page, "ping")).text == "pong"
                pages = [one for one in read(await agent.list_pages())["pages"] if one["url"] == url]
                assert len(pages) == len(opened)
                assert (await call(agent, pages[-1]["page"], "ping")).text == "pong"
        finally:
            for target in opened:
                await other.run("Target.closeTarget", targetId=target)


@pytest.mark.threat("P3")
async def test_half_characters_of_a_page_become_visible_marks_wherever_they_stand(agent: Agent, hostile: OpenHostile):
    page = await hostile("half_characters")

    answers = [await agent.list_pages(), await agent.list_page_tools(page, None, None), await call(agent, page, "#0.0")]

    for answer in answers:
        assert "\ufffd" in answer.text
        answer.text.encode()
        json.dumps(answer.structured, ensure_ascii=False).encode()
