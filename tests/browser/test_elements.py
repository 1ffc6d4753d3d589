"""Elements of a page: named in results, named again in arguments, and never another one than was meant."""

import json
from collections.abc import Generator
from typing import Any

import pytest

from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.bridge import Bridge
from bridge.settings import PageSettings
from tests.browser.asking import call, facts, list_tools, open_page, page_of, run_script
from tests.sites import Site, offering, tool

REJECTED = ("arguments_invalid", "rejected", False)

MARKED = """{type: 'object', properties: {
  at: {type: 'object', description: 'Where', 'x-mcp-type': 'HTMLElement'},
  all: {type: 'array', items: {'x-mcp-type': 'HTMLElement'}},
  deep: {type: 'object', properties: {at: {$ref: '#/definitions/Spot'}}} },
  definitions: {Spot: {type: ['object', 'null'], 'x-mcp-type': 'HTMLElement'}} }"""
"""Elements right below the root, in an array, and behind a reference."""

TELL = (
    """input => { ran++; return JSON.stringify(input, (key, value) => value instanceof Element ? value.id : value) }"""
)
"""A tool that tells what it got, each element as its id in capitals."""

TOOLS = """<p id=ONE class=p>1</p><p id=TWO class=p>2</p>""" + offering(
    tool("find", "({selector}) => [...document.querySelectorAll(selector)]"),
    tool("mark", TELL, MARKED),
    tool("open", TELL),
    tool("data", TELL, "{properties: {user: {type: 'object', properties: {uid: {type: 'string'}}}}}"),
    tool("ran", "() => ran"),
    before="let ran = 0;",
)


async def find(agent: Agent, page: str, selector: str) -> list[dict[str, Any]]:
    """The elements that a selector matches, as a result tells them."""
    return json.loads((await call(agent, page, "find", {"selector": selector})).text)


def told(answer: Answer) -> object:
    """What the tool got."""
    assert not answer.is_error, answer.text
    return json.loads(answer.text)


@pytest.mark.feature("calls.elements")
async def test_a_schema_takes_an_element_by_uid_or_selector_wherever_it_says_so(agent: Agent, site: Site):
    page = await open_page(agent, site.page("/elements", TOOLS))
    one, two = await find(agent, page, "p")

    for at in (one, one["uid"], {"uid": one["uid"]}, {"selector": ".p"}):
        assert told(await call(agent, page, "mark", {"at": at})) == {"at": "ONE"}
    spread = {"all": [two["uid"], {"selector": "#ONE"}], "deep": {"at": two}}
    assert told(await call(agent, page, "mark", spread)) == {"all": ["TWO", "ONE"], "deep": {"at": "TWO"}}
    assert told(await call(agent, page, "mark", {"deep": {"at": None}})) == {"deep": {"at": None}}


async def test_the_listing_says_how_to_name_an_element(agent: Agent, site: Site):
    listing = await list_tools(agent, await open_page(agent, site.page("/elements", TOOLS)))

    [at] = [tool["inputSchema"]["properties"]["at"] for tool in listing["groups"][0]["tools"] if tool["name"] == "mark"]
    by_uid, by_selector, alone = at["anyOf"]
    assert at["description"] == "Where"
    assert (by_uid["required"], by_selector["required"], alone["type"]) == (["uid"], ["selector"], "string")
    assert "x-mcp-type" not in json.dumps(listing)


@pytest.mark.threat("C4")
async def test_what_names_no_element_is_rejected_before_the_tool_runs(agent: Agent, site: Site):
    page = await open_page(agent, site.page("/elements", TOOLS))
    [one, _] = await find(agent, page, "p")

    for at, why in (
        ({"uid": "e99-1"}, 'the uid "e99-1"'),
        ({"uid": one["uid"] + "0"}, f'the uid "{one["uid"]}0"'),
        ({"uid": "__proto__"}, 'the uid "__proto__"'),
        ({"selector": "app-cart"}, 'the selector "app-cart", and nothing'),
        ({"selector": "a["}, "not valid CSS"),
        ("app-cart", "must be an element, named as"),
        ({"uid": one["uid"], "selector": "p"}, "must be an element, named as"),
        (7, "must be an element, named as"),
    ):
        answer = await call(agent, page, "mark", {"all": [{"selector": "p"}, at]})
        assert facts(answer) == REJECTED
        assert answer.structured
        assert [fault["pointer"] for fault in answer.structured["faults"]] == ["/all/1"]
        assert "/all/1" in answer.text
        assert why in answer.text
    assert (await call(agent, page, "ran")).text == "0"


async def test_a_uid_that_a_result_gave_is_an_element_also_where_no_schema_says_so(agent: Agent, site: Site):
    page = await open_page(agent, site.page("/elements", TOOLS))
    [one, _] = await find(agent, page, "p")
    uid = one["uid"]

    assert told(await call(agent, page, "open", {"a": {"uid": uid}, "b": [one]})) == {"a": "ONE", "b": ["ONE"]}
    data = [
        {"a": {"uid": "abc"}},
        {"a": {"uid": "e99-1"}},
        {"a": {"uid": uid, "more": 1}},
        {"a": uid},
        {"uid": uid},
        {"a": {"selector": "p"}},
    ]
    for given in data:
        assert told(await call(agent, page, "open", given)) == given
    user = {"user": {"uid": uid}}
    assert told(await call(agent, page, "data", user)) == user


@pytest.mark.feature("results.elements")
@pytest.mark.threat("C4")
async def test_a_uid_ends_with_its_document(agent: Agent, site: Site, other_site: Site):
    page = await open_page(agent, site.page("/elements", TOOLS))
    [one, _] = await find(agent, page, "p")
    other = await open_page(agent, other_site.page("/elements", TOOLS))
    await find(agent, other, "p")
    await agent.navigate_page(page, None, "reload")
    await find(agent, page, "p")

    for where in (page, other):
        answer = await call(agent, where, "mark", {"at": one})
        assert facts(answer) == REJECTED
        assert "a uid ends with its document" in answer.text
        assert (await call(agent, where, "ran")).text == "0"


async def test_a_uid_is_back_with_a_document_out_of_the_cache(agent: Agent, site: Site):
    page = await open_page(agent, site.page("/elements", TOOLS))
    [one, _] = await find(agent, page, "p")
    await agent.navigate_page(page, site.page("/second", TOOLS), None)
    assert facts(await call(agent, page, "mark", {"at": one})) == REJECTED

    await agent.navigate_page(page, None, "back")

    assert told(await call(agent, page, "mark", {"at": one})) == {"at": "ONE"}


@pytest.mark.parametrize("page_settings", [PageSettings(frames="same-origin")], ids=["same-origin"])
async def test_a_uid_of_a_page_means_nothing_in_its_iframe(agent: Agent, site: Site):
    inside = site.page("/inside", "<p id=IN></p>" + offering(tool("inner", TELL, MARKED), before="let ran = 0;"))
    page = await open_page(agent, site.page("/outside", f"{TOOLS}<iframe src={inside}></iframe>"))
    await list_tools(agent, page)
    [one, _] = await find(agent, page, "p")

    assert facts(await call(agent, page, "inner", {"at": one})) == REJECTED
    assert told(await call(agent, page, "inner", {"at": {"selector": "p"}})) == {"at": "IN"}


def collect_garbage() -> Generator[dict[str, Any], dict[str, Any], None]:
    """The command; PyCDP's own is out of reach here."""
    yield {"method": "HeapProfiler.collectGarbage", "params": {}}


async def test_uids_keep_no_element_alive(agent: Agent, bridge: Bridge, site: Site):
    making = offering(
        tool("make", "() => [document.createElement('i'), kept]"),
        tool("mark", TELL, MARKED),
        before="let ran = 0; const kept = document.createElement('b'); kept.id = 'KEPT';",
    )
    handle = await open_page(agent, site.page("/made", making))
    gone, kept = json.loads((await call(agent, handle, "make")).text)
    page = await page_of(bridge, handle)

    await run_script(page, "new Promise(done => setTimeout(done))")
    await page._session.run(collect_garbage())

    assert told(await call(agent, handle, "mark", {"at": kept})) == {"at": "KEPT"}
    assert facts(await call(agent, handle, "mark", {"at": gone})) == REJECTED


async def test_the_last_ten_thousand_elements_of_a_document_count(agent: Agent, site: Site):
    many = """<script>const many = [];
      for (let i = 0; i < 9999; i++) many.push(document.createElement('i'));</script>"""
    page = await open_page(
        agent, site.page("/many", many + TOOLS + offering(tool("many", "() => many.length && many")))
    )
    one, two = await find(agent, page, "p")

    await call(agent, page, "many")

    assert facts(await call(agent, page, "mark", {"at": one})) == REJECTED
    assert told(await call(agent, page, "mark", {"at": two})) == {"at": "TWO"}
    [again] = await find(agent, page, "#ONE")
    assert again["uid"] != one["uid"]
    assert told(await call(agent, page, "mark", {"at": again})) == {"at": "ONE"}
