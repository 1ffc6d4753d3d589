"""Floods: they are cut in the page, a cut place says how much is missing, and the bridge's memory stays what it was."""

from pathlib import Path

import pytest
import trio

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.page.values import Instance, Marker, decode
from tests.browser.conftest import OpenHostile
from tests.browser.giving import Give, make_giver, without_uids

LONG = 2 * 10**8
CLEAR_PEAK = Path("/proc/self/clear_refs")


@pytest.fixture
async def give(bridge: Bridge, agent: Agent, hostile: OpenHostile) -> Give:
    return await make_giver(bridge, agent, await hostile("floods_values"))


@pytest.mark.feature("results.long")
@pytest.mark.threat("P13")
@pytest.mark.parametrize(
    ("source", "head", "tail"),
    [
        ("{a: big(), b: 1}", '{"a":{"k0":0,', ',"k99999":99999,"[more keys]":900000},"b":1}'),
        ("Object.assign(new (class Big {}), big())", '{"[class]":"Big","k0":0,', ',"[more keys]":900000}'),
        ("deep({}, inside => ({inside}))", '{"inside":' * 64, '"[nested too deeply]"' + "}" * 64),
        ("deep([], inside => [inside])", "[" * 64, '"[nested too deeply]"' + "]" * 64),
        ("deep(1, inside => ({toJSON: () => [inside]}))", "[" * 32, '"[nested too deeply]"' + "]" * 32),
        ("sparse()", '["[4294967295 holes]"]', ""),
        ("sparse({0: 'a', 5000: 'b'})", '["a","[4999 holes]","b","[4294962294 holes]"]', ""),
        ("new Array(3e7)", '["[30000000 holes]"]', ""),
        ("new Array(1e6).fill(0)", "[0,0,", ',0,"[900000 more items]"]'),
        ("new Map(new Array(1e6).fill(0).map((_, n) => [n, n]))", '{"[Map]":[[0,0],', ' more items]"]}'),
        ("new Uint8Array(1e9)", '{"[Uint8Array]":{"length":1000000000,"head":[0,0,', ",0,0]}}"),
        ("[0, 1, 2].map(() => new Array(1e5).fill(1))", "[[1,1,", ',1,"[3 more items]"],"[1 more item]"]'),
        ("'x'.repeat(2e8)", "xxx", f"xxx…[{LONG - limits.RESULT_CHARS} more characters]"),
        ("{s: 'x'.repeat(2e8)}", '{"s":"xxx', f'xxx…[{LONG - limits.RESULT_STRING_CHARS} more characters]"}}'),
        ("['é'.repeat(1e8)]", '["ééé', ' more characters]"]'),
        (r"['\0'.repeat(1e8), 1]", r'["\u0000\u0000', ' more characters]",1]'),
        ("{['k'.repeat(1e8)]: 1}", '{"kkk', ' more characters]":1}'),
        ("window", '"[Window]"', ""),
        ("{...window, top: 0}", '{"window":"[Window]",', "}"),
        (
            "[new FiberNode(6)]",
            '[{"[class]":"FiberNode","at":{"uid":"e12-40371","describe":"<div>"},"child":"[not shown: FiberNode]",',
            "}]",
        ),
        ("twice(40)", '{"a":{"a":', ',"b":"[same as /a]"}'),
        ("2n ** 4000000n", '"[bigint 2 to the power of 4000000 or more]"', ""),
        ("forever()", "[[[", '"[1 more item]"],"[1 more item]"]'),
    ],
)
async def test_a_flood_is_cut_in_the_page_and_says_how_much_is_missing(give: Give, source: str, head: str, tail: str):
    with trio.fail_after(30):
        text = without_uids((await give(f"({source})")).text)

    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(text) < limits.RESULT_CHARS + 10_000
    assert (await give("1 + 1")).text == "2"


@pytest.mark.threat("P13")
@pytest.mark.skipif(not CLEAR_PEAK.exists(), reason="only Linux tells the peak of a process")
@pytest.mark.parametrize("source", ["'x'.repeat(2e8)", "['é'.repeat(2e8)]", r"['\0'.repeat(2e8)]", "big()"])
async def test_a_flood_costs_the_bridge_little_memory(give: Give, source: str):
    await give("'x'.repeat(1e5)")  # what a large message needs is imported
    CLEAR_PEAK.write_text("5")  # noqa: ASYNC240  # it is in memory
    before = peak_kilobytes()

    await give(source)

    # A few copies of what is sent at most, of a value that is twenty times as large.
    assert peak_kilobytes() - before < 150_000


def peak_kilobytes() -> int:
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1])


async def test_an_instance_that_leads_into_a_framework_is_shown_by_its_own_fields(give: Give):
    source = """(() => { const parts = n => Array.from({length: n}, (_, i) => new (eval(`(class Part${i} { n = i })`)));
      class Holder { name = 'h'; none = []; constructor(parts) { this.parts = parts } }
      return [new Holder(parts(16)), new Holder(parts(17)), {parts: parts(17)}] })()"""

    whole, entangled, plain = decode((await give(source)).text)

    assert [part.fields["n"] for part in whole.fields["parts"]] == list(range(16))
    assert entangled == Instance(
        {"class": "Holder"}, {"name": "h", "none": [], "parts": Marker("not shown:", "array of 17 items")}
    )
    assert len(plain["parts"]) == 17


async def test_what_an_instance_gave_up_is_shown_where_it_comes_again(give: Give):
    source = """(() => { const shared = {s: 1};
      class Big { shared = shared; none = {}; rest = Array.from({length: 20000}, () => ({})) }
      return [new Big(), shared, new Big()] })()"""

    assert (await give(source)).text == (
        '[{"[class]":"Big","shared":"[not shown: object with 1 key]","none":{},'
        '"rest":"[not shown: array of 20000 items]"},{"s":1},'
        '{"[class]":"Big","shared":"[same as /1]","none":{},"rest":"[not shown: array of 20000 items]"}]'
    )
