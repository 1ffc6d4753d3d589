"""One call: its arguments, its result, its deadline."""

import json
import os
import re
import stat
from pathlib import Path

import pytest

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import open_bridge
from bridge.settings import AttachOptions
from tests.browser.asking import call, code, facts, list_tools, open_page, read
from tests.sites import Site, offering, tool

ADD = tool(
    "add",
    "({a, b}) => a + b",
    "{type: 'object', properties: {a: {type: 'number'}, b: {type: 'number'}}, required: ['a', 'b'],"
    " additionalProperties: false}",
)


@pytest.mark.feature("calls.arguments")
async def test_arguments_that_do_not_fit_never_reach_the_page(agent: Agent, site: Site):
    page = await open_page(agent, site.page("/add", offering(ADD)))

    wrong = await call(agent, page, "add", {"a": "one", "c": 3})

    assert facts(wrong) == ("arguments_invalid", "rejected", False)
    assert "add" in wrong.text
    assert wrong.structured is not None
    assert {fault["pointer"] for fault in wrong.structured["faults"]} == {"/a", "/b", "/c"}
    assert (await call(agent, page, "add", {"a": 1, "b": 2})).text == "3"


@pytest.mark.feature("calls.arguments")
async def test_arguments_may_come_as_a_json_string_or_not_at_all(agent: Agent, site: Site):
    echo = tool("echo", "input => input")
    page = await open_page(agent, site.page("/echo", offering(ADD, echo)))

    assert (await call(agent, page, "add", '{"a": 1, "b": 2}')).text == "3"
    assert [(await call(agent, page, "echo", given)).text for given in (None, {}, "{}")] == ["{}", "{}", "{}"]
    assert code(await call(agent, page, "echo", "[1]")) == "arguments_invalid"


@pytest.mark.feature("calls.defaults")
async def test_defaults_of_missing_properties_reach_the_tool(agent: Agent, site: Site):
    schema = "{type: 'object', properties: {limit: {type: 'integer', default: 5}, page: {type: 'object',"
    schema += " properties: {size: {default: 20}}}}}"
    page = await open_page(agent, site.page("/defaults", offering(tool("echo", "input => input", schema))))

    assert (await call(agent, page, "echo")).text == '{"limit":5}'
    assert json.loads((await call(agent, page, "echo", {"page": {}})).text) == {"limit": 5, "page": {"size": 20}}


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("'plain  text\\n'", "plain  text\n"),
        ("''", ""),
        ("42", "42"),
        ("null", "null"),
        ("({a: [1, {b: true}]})", '{"a":[1,{"b":true}]}'),
        ("undefined", "The tool ran and returned no value (undefined)."),
        ("Promise.resolve('later')", "later"),
        ("'\\ud83d'", "\ufffd"),
        ("({'\\ud83d': 'x\\udc00'})", '{"\ufffd":"x\ufffd"}'),
        ("({date: new Date(0)})", '{"date":"[date 1970-01-01T00:00:00.000Z]"}'),
        ("new Map([[1, 2]])", '{"[Map]":[[1,2]]}'),
        ("new Set(['a'])", '{"[Set]":["a"]}'),
        ("(() => { const o = {}; o.self = o; return o })()", '{"self":"[circular]"}'),
        ("({f() {}, big: 1n, nan: NaN})", '{"f":"[function f]","big":"[bigint 1]","nan":"[NaN]"}'),
        ("({get bad() { throw 1 }, good: 2})", '{"bad":"[threw the number 1]","good":2}'),
        ("Object.assign(Object.create(null), {a: 1})", '{"a":1}'),
    ],
)
async def test_results_are_read_as_they_are(agent: Agent, site: Site, expression: str, text: str):
    page = await open_page(agent, site.page("/results", offering(tool("give", f"() => {expression}"))))

    answer = await call(agent, page, "give")

    assert (answer.text, answer.is_error) == (text, False)


@pytest.mark.feature("calls.failures")
@pytest.mark.parametrize(
    ("execute", "text"),
    [
        ("() => { throw new TypeError('no cart') }", "Tool 'fail' ran and threw: TypeError: no cart"),
        ("async () => { throw 'plain' }", "Tool 'fail' ran and threw: plain"),
        ("() => Promise.reject(undefined)", "Tool 'fail' ran and threw: \"[undefined]\""),
        ("() => Promise.reject({code: 7})", "Tool 'fail' ran and threw: {\"code\":7}"),
    ],
)
async def test_what_a_tool_throws_is_its_failure(agent: Agent, site: Site, execute: str, text: str):
    page = await open_page(agent, site.page("/throws", offering(tool("fail", execute))))

    answer = await call(agent, page, "fail")

    assert facts(answer) == ("tool_threw", "failed", True)
    assert answer.text == text


@pytest.mark.feature("calls.failures")
async def test_an_error_value_is_a_result(agent: Agent, site: Site):
    page = await open_page(agent, site.page("/value", offering(tool("give", "() => ({error: 'no such user'})"))))

    answer = await call(agent, page, "give")

    assert (answer.text, answer.is_error) == ('{"error":"no such user"}', False)


@pytest.mark.parametrize("size", [1, 1_000_000, 20_000_000])
async def test_a_result_of_any_size_keeps_the_link_up(agent: Agent, site: Site, size: int):
    page = await open_page(agent, site.page("/size", offering(tool("give", "({size}) => 'x'.repeat(size)"))))

    answer = await call(agent, page, "give", {"size": size})

    assert not answer.is_error, answer.text
    assert len(answer.text.encode()) <= limits.INLINE_BYTES
    if size > limits.INLINE_BYTES:
        assert f"{size:,} bytes" in answer.text
        check_file(path_in(answer.text), "x" * size)
    assert (await call(agent, page, "give", {"size": 2})).text == "xx"


def path_in(text: str) -> Path:
    """The file that a shortened result names."""
    found = re.search(r"/\S+\.(?:txt|json)", text.splitlines()[-1])
    assert found is not None, text[-300:]
    return Path(found[0])


def check_file(file: Path, content: str) -> None:
    assert file.read_text() == content
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.threat("P13")
@pytest.mark.usefixtures("hostile")
async def test_a_result_over_the_hard_limit_is_cut_in_the_page(agent: Agent, site: Site):
    page = await open_page(agent, site.page("/huge", offering(tool("give", "({size}) => 'x'.repeat(size)"))))

    answer = await call(agent, page, "give", {"size": limits.RESULT_CHARS + 1})

    assert not answer.is_error, answer.text
    assert path_in(answer.text).read_text().endswith("x…[1 more character]")
    assert (await call(agent, page, "give", {"size": 2})).text == "xx"


@pytest.mark.feature("calls.deadline")
async def test_a_call_ends_at_its_deadline_and_the_page_goes_on(agent: Agent, site: Site):
    page = await open_page(
        agent, site.page("/never", offering(tool("never", "() => new Promise(() => {})"), tool("now", "() => 'now'")))
    )

    answer = await call(agent, page, "never", seconds=0.2)

    assert facts(answer) == ("timed_out", "unknown", True)
    assert (await call(agent, page, "now")).text == "now"


@pytest.mark.threat("C4")
async def test_an_unknown_page_and_an_unknown_tool_name_what_there_is(agent: Agent, site: Site):
    page = await open_page(agent, site.page("/known", offering(ADD)))

    nowhere = await call(agent, "p999", "add")
    nothing = await call(agent, page, "subtract")

    assert facts(nowhere) == ("page_gone", "rejected", False)
    assert page in nowhere.text
    assert facts(nothing) == ("tool_not_found", "rejected", False)
    assert "'add'" in nothing.text


async def test_a_page_that_cannot_be_opened_says_why_and_leaves_nothing(agent: Agent):
    before = read(await agent.list_pages())

    refused = await agent.open_page("http://127.0.0.1:1/")
    nonsense = await agent.open_page("javascript:alert(1)")

    assert code(refused) == "navigation_failed"
    assert "net::ERR_" in refused.text
    assert code(nonsense) == "usage"
    assert read(await agent.list_pages()) == before


@pytest.mark.feature("results.long")
async def test_the_spill_folder_goes_with_the_bridge(chromium: str, site: Site):
    async with open_bridge(AttachOptions(where=chromium)) as bridge:
        agent = Agent(bridge)
        page = await open_page(agent, site.page("/spill", offering(tool("give", "() => 'y'.repeat(100000)"))))
        file = path_in((await call(agent, page, "give")).text)
        check_file(file, "y" * 100_000)
        await agent.close_page(page)
    assert not os.path.exists(file.parent)  # noqa: ASYNC240  # a test may block


async def test_a_tool_with_an_unusable_schema_is_listed_and_refused_alone(agent: Agent, site: Site):
    page = await open_page(
        agent, site.page("/schema", offering(tool("odd", "() => 1", "{type: 'strng'}"), tool("good", "() => 2")))
    )

    listing = await list_tools(agent, page)

    [odd, good] = listing["groups"][0]["tools"]
    assert "strng" in odd["unusable"]
    assert "inputSchema" in good
    assert any("odd" in problem for problem in listing["problems"])
    assert facts(await call(agent, page, "odd")) == ("schema_unusable", "rejected", False)
    assert (await call(agent, page, "good")).text == "2"
