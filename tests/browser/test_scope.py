"""A call runs in exactly the document whose tool was listed, or not at all."""

import json
import threading
from typing import Any

import pytest
import trio
import trio.testing

from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.bridge import Bridge
from bridge.calls.toolbox import Toolbox
from bridge.errors import CommandFailed
from bridge.page.kit import ask_kit, is_realm_gone
from bridge.wire.commands import runtime
from tests.browser.asking import (
    call,
    code,
    evaluate_at,
    facts,
    list_tools,
    names,
    number_of_realm,
    open_page,
    page_of,
    reach_number,
    read,
    run_script,
    wait_shown,
    wait_until,
)
from tests.browser.conftest import OpenHostile
from tests.sites import Site, offering, tool

COUNTING = offering(
    tool("whoami", "() => { sessionStorage.runs = 1 + +(sessionStorage.runs ?? 0); return location.origin }"),
    tool("runs", "() => +(sessionStorage.runs ?? 0)"),
    tool("go", "({url}) => { setTimeout(() => { location.href = url }) }"),
)
"""Counts its runs where the next document of the origin can read them."""


async def send_elsewhere(agent: Agent, bridge: Bridge, handle: str, url: str) -> None:
    """Let the page navigate by itself, and wait until it is there."""
    await call(agent, handle, "go", {"url": url})
    await wait_shown(await page_of(bridge, handle), url)


@pytest.mark.feature("calls.scope")
@pytest.mark.threat("P14")
async def test_a_tool_of_the_same_name_on_another_origin_never_runs(
    agent: Agent, bridge: Bridge, site: Site, other_site: Site, hostile: OpenHostile
):
    page = await open_page(agent, site.page("/counting", COUNTING))
    await list_tools(agent, page)
    await send_elsewhere(agent, bridge, page, other_site.page("/counting", COUNTING))

    answer = await call(agent, page, "whoami")

    assert facts(answer) == ("origin_changed", "rejected", False)
    assert site.origin in answer.text
    assert other_site.origin in answer.text
    assert answer.structured is not None
    assert names(answer.structured["listing"]["pages"][0]) == ["whoami", "runs", "go"]
    # The new listing was in the answer, so from here on the agent means the new origin.
    assert (await call(agent, page, "runs")).text == "0"
    assert (await call(agent, page, "whoami")).text == other_site.origin


@pytest.mark.threat("P14")
async def test_equal_context_numbers_do_not_carry_a_call_to_another_origin(
    agent: Agent, bridge: Bridge, site: Site, hostile: OpenHostile
):
    """No decision of ours is in the way here: a call is sent as it would be if the page left at the last moment."""
    elsewhere = site.elsewhere()
    handle = await open_page(agent, site.page("/counting", COUNTING))
    await list_tools(agent, handle)
    page = await page_of(bridge, handle)
    old = page.document
    assert old is not None
    number = await number_of_realm(page)
    await reach_number(page, elsewhere.origin + "/counting", number)

    with pytest.raises(CommandFailed) as refused:
        await ask_kit(page._session, old.realm, page._kit, "call", 1, 0, 0, "{}", {})

    assert is_realm_gone(refused.value)
    assert await evaluate_at(page, "sessionStorage.runs ?? 'never'", number) == "never"
    # The number alone would have led there without a word.
    assert await evaluate_at(page, "location.origin", number) == elsewhere.origin


@pytest.mark.feature("calls.scope")
async def test_a_reload_between_listing_and_calling_runs_in_the_new_document(agent: Agent, bridge: Bridge, site: Site):
    stamp = offering(tool("stamp", "() => performance.timeOrigin"))
    handle = await open_page(agent, site.page("/stamp", stamp))
    await list_tools(agent, handle)
    before = await call(agent, handle, "stamp")
    await (await page_of(bridge, handle)).reload()

    after = await call(agent, handle, "stamp")

    assert not after.is_error, after.text
    assert float(after.text) > float(before.text)


async def test_a_call_while_the_page_is_still_loading_waits_for_its_tools(agent: Agent, bridge: Bridge, site: Site):
    stamp = offering(tool("stamp", "() => performance.timeOrigin"))
    handle = await open_page(agent, site.page("/slow", stamp))
    await list_tools(agent, handle)
    before = await call(agent, handle, "stamp")
    site.page("/script.js", "")
    site.page("/slow", f'<script src="/script.js"></script>{stamp}')
    gate = site.gates["/script.js"] = threading.Event()
    page = await page_of(bridge, handle)
    old = page.realm
    await page._session.run(runtime.evaluate("location.reload()"))
    await page.wait_changed(lambda: page.realm not in (None, old))
    after: list[Answer] = []

    async def call_stamp() -> None:
        after.append(await call(agent, handle, "stamp"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(call_stamp)
        await trio.testing.wait_all_tasks_blocked()
        assert after == []
        gate.set()

    assert float(after[0].text) > float(before.text)


@pytest.mark.feature("calls.scope")
@pytest.mark.threat("P14")
@pytest.mark.usefixtures("hostile")
async def test_the_toolset_of_the_document_before_is_stale(agent: Agent, bridge: Bridge, site: Site):
    handle = await open_page(agent, site.page("/counting", COUNTING))
    listing = await list_tools(agent, handle)
    assert (await call(agent, handle, "whoami", toolset=listing["toolset"])).text == site.origin
    await (await page_of(bridge, handle)).reload()

    answer = await call(agent, handle, "whoami", toolset=listing["toolset"])

    assert facts(answer) == ("tool_stale", "rejected", False)
    fresh = read_listing(answer)["toolset"]
    assert fresh != listing["toolset"]
    assert (await call(agent, handle, "whoami", toolset=fresh)).text == site.origin


@pytest.mark.feature("calls.scope")
@pytest.mark.threat("P14")
@pytest.mark.usefixtures("hostile")
async def test_a_tool_whose_schema_changed_over_a_reload_is_rejected_once(agent: Agent, bridge: Bridge, site: Site):
    def version(schema: str) -> str:
        return site.page("/versioned", offering(tool("act", "() => 'done'", schema)))

    handle = await open_page(agent, version("{type: 'object'}"))
    await list_tools(agent, handle)
    version("{type: 'object', required: ['confirm']}")
    await (await page_of(bridge, handle)).reload()

    answer = await call(agent, handle, "act")

    assert facts(answer) == ("tool_stale", "rejected", False)
    assert "input schema changed" in answer.text
    assert (await call(agent, handle, "act", {"confirm": True})).text == "done"


async def test_a_tool_that_is_gone_is_named_with_what_is_there_now(agent: Agent, bridge: Bridge, site: Site):
    handle = await open_page(agent, site.page("/gone", offering(tool("old", "() => 1"))))
    await list_tools(agent, handle)
    site.page("/gone", offering(tool("new", "() => 2")))
    await (await page_of(bridge, handle)).reload()

    answer = await call(agent, handle, "old")

    assert code(answer) == "tool_stale"
    assert "'old' is gone" in answer.text
    assert names(read_listing(answer)) == ["new"]


def read_listing(answer: Answer) -> dict[str, Any]:
    """The new listing in a rejection."""
    assert answer.structured is not None
    return answer.structured["listing"]["pages"][0]


@pytest.mark.feature("calls.lost")
async def test_a_reload_in_the_middle_of_a_call_gives_one_answer_at_once(agent: Agent, site: Site):
    leaving = offering(tool("leave", "() => { location.reload(); return new Promise(() => {}) }"))
    handle = await open_page(agent, site.page("/leaving", leaving))
    await list_tools(agent, handle)

    # Far below the call's own deadline: the end of the realm settles it.
    answer = await call(agent, handle, "leave", seconds=30)

    assert facts(answer) == ("navigated_during_call", "unknown", True)


@pytest.mark.feature("calls.lost")
async def test_closing_the_page_in_the_middle_of_a_call_gives_one_answer_at_once(
    agent: Agent, bridge: Bridge, site: Site
):
    hanging = offering(tool("hang", "() => { window.hangs = true; return new Promise(() => {}) }"))
    handle = await open_page(agent, site.page("/closing", hanging))
    page = await page_of(bridge, handle)
    answers: list[Answer] = []

    async def hang() -> None:
        answers.append(await call(agent, handle, "hang", seconds=30))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hang)
        await wait_until(page, "window.hangs")
        await agent.close_page(handle)

    assert [facts(answer) for answer in answers] == [("page_gone", "unknown", True)]


async def test_history_back_finds_the_tools_of_the_restored_document(agent: Agent, site: Site):
    handle = await open_page(agent, site.page("/first", offering(tool("first", "() => 1"))))
    await agent.navigate_page(handle, site.page("/second", offering(tool("second", "() => 2"))), None)

    answer = await agent.navigate_page(handle, None, "back")

    assert [group["tools"] for group in read(answer)["groups"]] == [["first"]]
    assert (await call(agent, handle, "first")).text == "1"
    assert read(await agent.navigate_page(handle, None, "forward"))["url"] == site.origin + "/second"
    assert code(await agent.navigate_page(handle, None, "forward")) == "navigation_failed"


@pytest.mark.threat("P14")
@pytest.mark.parametrize(
    "change",
    [
        "history.pushState(0, '', '/elsewhere')",
        "location.hash = 'elsewhere'",
        "document.open(); document.write('<p>Another'); document.close()",
        "document.documentElement.remove()",
    ],
)
async def test_a_page_that_becomes_another_without_leaving_has_the_listed_function_run_or_none(
    agent: Agent, bridge: Bridge, hostile: OpenHostile, change: str
):
    handle = await hostile("swaps")
    await list_tools(agent, handle)
    await run_script(await page_of(bridge, handle), f"{change}; swaps.assigned(); true")

    answer = await call(agent, handle, "pay")

    assert answer.text == "as listed" or facts(answer) == ("tool_stale", "rejected", False)


@pytest.mark.threat("C4")
@pytest.mark.parametrize(
    "forged",
    [
        {"page": "p99"},
        {"page": "__proto__"},
        {"page": ""},
        {"page": "P1"},
        {"page": "p1 "},
        {"page": "\ud800"},
        {"tool": "#0.1"},
        {"tool": "#9.9"},
        {"tool": "f1#0.0"},
        {"tool": "constructor"},
        {"toolset": "p1-1-0123456789ab"},
        {"_frame": "f1"},
        {"_realm": 1},
        {"generation": 7},
        {"origin": "https://shop.example"},
        {"__proto__": {"page": "p1"}},
        {"page": 1},
        {"page": None},
        {"tool": ["add"]},
        {"toolset": {}},
    ],
    ids=json.dumps,
)
async def test_forged_words_of_a_call_run_nothing(agent: Agent, site: Site, forged: dict[str, Any]):
    url = site.page("/forged", offering(tool("add", "() => { fetch('/forged-ran') }")))
    handle = await open_page(agent, url)
    await list_tools(agent, handle)

    answer = await Toolbox(agent).run("call_page_tool", {"page": handle, "tool": "add", **forged})

    assert facts(answer)[1:] == ("rejected", False)
    assert site.asked["/forged-ran"] == 0


@pytest.mark.feature("pages.handles")
@pytest.mark.threat("C4")
async def test_a_handle_of_a_page_that_was_closed_never_means_another(agent: Agent, site: Site):
    url = site.page("/closed", offering(tool("add", "() => 1")))
    first = await open_page(agent, url)
    await agent.close_page(first)
    second = await open_page(agent, url)

    assert second != first
    assert facts(await call(agent, first, "add")) == ("page_gone", "rejected", False)
