"""Pages that offer tools in bad faith: what is wrong costs only itself, and what was listed is what runs."""

import json
from pathlib import Path

import pytest
import trio

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.page.discovery import BOUNDS
from tests.browser.asking import call, code, list_parts, list_tools, names, page_of, read, run_script
from tests.browser.conftest import OpenHostile
from tests.odd_names import NAMES, serve_names
from tests.sites import Site


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What never comes, or never ends, is waited for no longer than what does takes."""
    monkeypatch.setattr(limits, "LISTENER_SECONDS", 0.3)
    monkeypatch.setattr(limits, "DISCOVERY_SECONDS", 0.2)
    monkeypatch.setattr(limits, "ASKED_SECONDS", 0.2)
    monkeypatch.setitem(BOUNDS, "patience", 200)


# Properties that are read


@pytest.mark.threat("P5")
async def test_each_property_of_what_a_page_offers_is_read_once(agent: Agent, hostile: OpenHostile):
    page = await hostile("reads_counted")

    first = read(await call(agent, page, "reads"))
    await list_tools(agent, page)
    second = read(await call(agent, page, "reads"))

    parts = {f"group.{part}" for part in ("name", "description", "tools")}
    parts |= {f"tool.{part}" for part in ("name", "description", "inputSchema", "execute")}
    assert parts <= set(first)
    # How often the page was asked is up to the bridge; what counts is that nothing is read twice on the way.
    assert len({first[part] for part in parts}) == 1
    assert {second[part] - first[part] for part in parts} == {1}
    assert all(second[part] <= second["group.name"] for part in second)


@pytest.mark.threat("P5")
async def test_what_was_listed_is_what_runs_though_each_reading_gives_another(agent: Agent, hostile: OpenHostile):
    page = await hostile("reads_differ")

    [listed] = (await list_tools(agent, page))["groups"][0]["tools"]

    assert (listed["name"], listed["description"]) == ("tool0", "reading 1")
    assert (await call(agent, page, "tool0")).text == "3"


@pytest.mark.threat("P5")
async def test_what_throws_when_it_is_read_costs_only_its_own_tool_or_group(agent: Agent, hostile: OpenHostile):
    page = await hostile("reads_bad", "throws")

    listing = await list_tools(agent, page)

    assert [(one["name"], "unusable" in one) for group in listing["groups"] for one in group["tools"]] == [
        ("bad schema", True),
        ("bad keys", True),
        ("ping", False),
    ]
    assert len(listing["problems"]) == 4 + 7, "one for each group and each tool"
    assert (await call(agent, page, "ping")).text == "pong"


@pytest.mark.threat("P5")
async def test_a_getter_that_loops_is_ended_and_the_page_answers_again(
    agent: Agent, bridge: Bridge, hostile: OpenHostile
):
    page = await hostile("reads_bad", "loops")

    with trio.fail_after(10):
        assert code(await agent.list_page_tools(page, None, None)) == "timed_out"
    await run_script(await page_of(bridge, page), "calm = true")

    assert names(await list_tools(agent, page))[-1] == "ping"
    assert (await call(agent, page, "ping")).text == "pong"


@pytest.mark.threat("P16")
@pytest.mark.parametrize(
    "swap",
    [
        "assigned",
        "spliced",
        "a getter",
        "another list",
        "inherited",
        "a proxy",
        "a proxy of the list",
        "its call",
        "every call",
    ],
)
async def test_a_tool_that_is_swapped_after_it_was_listed_runs_as_listed(
    agent: Agent, bridge: Bridge, hostile: OpenHostile, swap: str
):
    page = await hostile("swaps")
    await list_tools(agent, page)

    await run_script(await page_of(bridge, page), f"swaps[{swap!r}]()")

    assert (await call(agent, page, "pay")).text == "as listed"


# Names


@pytest.mark.threat("P1")
async def test_a_tool_is_reached_by_its_id_and_by_its_name_whatever_that_is(
    agent: Agent, site: Site, hostile: OpenHostile
):
    serve_names(site)
    page = await hostile("names")
    parts = await list_parts(agent, page)
    groups = [group for part in parts for group in part["groups"] if group["name"] != "Spy"]
    found = {tool["id"]: tool["name"] for group in groups for tool in group["tools"]}

    assert list(found.values()) == NAMES
    assert "at most 128 characters" in parts[0]["problems"][0]
    for tool_id, name in found.items():
        for word in (tool_id, name):
            reached = found.get(word, name)  # an id is an id, though another tool has it as its name
            assert read(await call(agent, page, word)) == {"name": reached}


# Listeners

LISTENERS = {
    "throws": "not today",
    "throws no error": "Uncaught null",
    "is no function": None,
    "never answers": None,
    "only waits": None,
    "promises for ever": None,
    "promises many times": "99981 more answers",
    "promises and breaks it": "a promised answer was rejected with an object",
    "answers a million times": "999981 more answers came after the first 20 and were left out.",
    "answers after it has ended": None,
    "answers later": None,
    "undefined": "must be an object, and is nothing",
    "nothing": "must be an object, and is nothing",
    "null": "must be an object, and is null",
    "number": "must be an object, and is the number 5",
    "string": "must be an object, and is",
    "array": "name must be a string",
    "function": "must be an object, and is a function",
    "symbol": "must be an object, and is a symbol",
    "window": "tools must be an array",
    "stops the event": None,
    "dispatches its own": "respondWith is not a function",
    "listens more and more": None,
}
"""Each with what is said of it, or None where nothing is to be said."""


@pytest.mark.threat("P6")
@pytest.mark.parametrize("how", LISTENERS)
async def test_a_bad_listener_is_named_and_costs_the_good_one_nothing(
    agent: Agent, bridge: Bridge, hostile: OpenHostile, how: str
):
    page = await hostile("listeners", how)

    with trio.fail_after(10):
        listing = await list_tools(agent, page)

    told, problems = LISTENERS[how], " ".join(listing["problems"])
    assert "ping" in names(listing)
    assert told in problems if told else len(listing["problems"]) <= ("more" in listing), problems
    assert (await call(agent, page, "ping")).text == "pong"
    await run_script(await page_of(bridge, page), "calm = true")
    if how not in ("only waits", "promises for ever"):
        assert "ping" in names(await list_tools(agent, page))


@pytest.mark.threat("P6")
@pytest.mark.parametrize(
    "how",
    [
        "hangs",
        "hangs after a wait",
        "throws a proxy",
        "promises and hangs in a getter",
        "hangs in then",
        "resolves to itself",
        "hangs in a late getter",
        "hangs in a proxy",
    ],
)
async def test_a_page_that_hangs_when_it_is_asked_is_let_go_and_its_other_tools_work(
    agent: Agent, bridge: Bridge, hostile: OpenHostile, how: str
):
    page = await hostile("listeners", how)

    with trio.fail_after(10):
        listing = await agent.list_page_tools(page, None, None)
        answer = await call(agent, page, "ping", seconds=5)

    if listing.is_error:
        assert code(listing) == "timed_out"
        assert "listener" in listing.text
    else:
        assert "ping" in names(read(listing)["pages"][0])
    assert answer.text == "pong" or code(answer) == "timed_out"
    await run_script(await page_of(bridge, page), "calm = true")
    assert names(await list_tools(agent, page)) == ["ping"]
    assert (await call(agent, page, "ping")).text == "pong"


@pytest.mark.threat("P6")
@pytest.mark.parametrize("when", ["now", "later"])
async def test_an_event_that_the_page_keeps_answers_nothing_of_a_later_round(
    agent: Agent, hostile: OpenHostile, when: str
):
    page = await hostile("keeps_event")
    await list_tools(agent, page)
    await list_tools(agent, page)

    await call(agent, page, when)

    assert names(await list_tools(agent, page)) == ["now", "later"]


# Sizes

CLEAR_PEAK = Path("/proc/self/clear_refs")
"""Where Linux is told to forget the peak of a process's memory."""

LARGE = {
    "tools": "9801 tools were left out",
    "schema": "inputSchema must be at most 65536 characters",
    "schema of many parts": "inputSchema must be at most 65536 characters",
    "description": "cut",
    "name": "name must be at most 128 characters",
    "error": "",
    "error of a listener": "A listener for the event failed: Uncaught Error: xxx",
    "groups": "9982 more answers came",
}
"""What a page offers too much of, and what is said of that."""


def peak_kilobytes() -> int:
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1])


@pytest.mark.threat("P4")
@pytest.mark.skipif(not CLEAR_PEAK.exists(), reason="only Linux tells the peak of a process")
@pytest.mark.parametrize("how", LARGE)
async def test_offers_of_any_size_are_cut_and_cost_little_memory(
    agent: Agent, hostile: OpenHostile, how: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "LISTENER_SECONDS", 10)  # what is large takes its time
    page = await hostile("large_offers", how)
    CLEAR_PEAK.write_text("5")  # noqa: ASYNC240  # it is in memory
    before = peak_kilobytes()

    with trio.fail_after(20):
        listing = await list_tools(agent, page)
        good = await call(agent, page, "ping")
        large = await call(agent, page, "large")

    assert good.text == "pong"
    assert LARGE[how] in " ".join(listing["problems"])
    assert len(names(listing)) <= limits.TOOLS_PER_LISTING
    assert len(json.dumps(listing)) < 100_000
    assert len(large.text) < limits.INLINE_BYTES
    assert peak_kilobytes() - before < 100_000
