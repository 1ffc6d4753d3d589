"""What tools throw, and values that throw while they are read: one bad place costs only itself."""

import json

import pytest

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.errors import PageThrew
from bridge.page.values import Instance, Marker, decode
from tests.browser.giving import Give, open_giver, without_stacks, without_uids
from tests.sites import Site

REVOKED = "(() => { const {proxy, revoke} = Proxy.revocable({}, {}); revoke(); return proxy })()"


@pytest.fixture
async def give(bridge: Bridge, agent: Agent, site: Site) -> Give:
    return await open_giver(bridge, agent, site)


@pytest.mark.feature("calls.failures")
@pytest.mark.parametrize(
    ("thrown", "told"),
    [
        ("'x'", "x"),
        ("''", "an empty string"),
        ("undefined", '"[undefined]"'),
        ("null", "null"),
        ("-0", '"[-0]"'),
        ("10n", '"[bigint 10]"'),
        ("Symbol('s')", '"[symbol s]"'),
        ("{code: 1, at: new Date(0)}", '{"code":1,"at":"[date 1970-01-01T00:00:00.000Z]"}'),
        ("new (class Refusal { code = 2 })", '{"[class]":"Refusal","code":2}'),
        ("document.createElement('b')", '{"uid":"e12-40371","describe":"<b>"}'),
        ("new TypeError('no cart')", "TypeError: no cart"),
        ("new Error", "Error"),
        ("new DOMException('stopped', 'AbortError')", "AbortError: stopped"),
        ("new (class HttpError extends Error { status = 404 })('gone')", 'HttpError: gone, with {"status":404}'),
        (
            "new Error('outer', {cause: new RangeError('inner', {cause: 'root'})})",
            'Error: outer, with {"cause":{"[Error]":"RangeError: inner","cause":"root"}}',
        ),
        (
            "new AggregateError([new Error('a'), 5], 'many')",
            'AggregateError: many, with {"errors":[{"[Error]":"Error: a"},5]}',
        ),
        (
            "Object.defineProperty(new Error('kept'), 'cause', {get() { throw 1 }})",
            'Error: kept, with {"cause":"[threw the number 1]"}',
        ),
        ("(error => (error.me = error, error))(new Error('self'))", 'Error: self, with {"me":"[circular]"}'),
        ("new Proxy(new Error('behind'), {get() { throw 1 }})", "Error"),
        ("new Proxy({}, {getPrototypeOf() { throw 1 }})", '"[threw the number 1]"'),
        (REVOKED, 'that has been revoked]"'),
    ],
)
async def test_whatever_is_thrown_or_rejected_is_told(give: Give, thrown: str, told: str):
    for source in (f"(() => {{ throw {thrown} }})()", f"Promise.reject({thrown})"):
        with pytest.raises(PageThrew) as failure:
            await give(source)

        assert str(failure.value).startswith("Tool 'run' ran and threw: ")
        assert without_uids(str(failure.value)).endswith(told)


@pytest.mark.threat("P4")
async def test_a_long_message_is_cut_and_says_so(give: Give):
    with pytest.raises(PageThrew) as failure:
        await give("(() => { throw Object.assign(new Error('x'.repeat(1e6)), {list: new Array(1e6).fill(1)}) })()")

    assert "x…[990000 more characters], with " in str(failure.value)
    assert str(failure.value).endswith(' more items]"]}')
    assert len(str(failure.value)) < 15_000


@pytest.mark.feature("results.values")
async def test_a_trap_that_throws_costs_only_its_own_place(give: Give):
    traps = ("ownKeys", "getPrototypeOf", "getOwnPropertyDescriptor", "get", "has")
    targets = ("{a: 2}", "[2]", "new Map([[1, 2]])", "new Error('e')", "new Date(0)", "class {}", "document.body")
    proxies = [f"new Proxy({target}, {{{trap}() {{ throw 1 }}}})" for target in targets for trap in traps]

    text = (await give(f"[{','.join(f'1,{proxy}' for proxy in [*proxies, REVOKED])},1]")).text

    told = decode(text)
    assert told[::2] == [1] * (len(proxies) + 2)
    assert told[1] == Marker("threw", "the number 1")


async def test_what_a_getter_or_to_json_does_stays_in_its_place(give: Give):
    source = """({
      get a() { delete this.b; return 1 }, b: 2, get c() { this.d = []; return this }, d: 4,
      e: {toJSON() { throw new RangeError('no') }}, f: {toJSON() { return undefined }},
      g: {toJSON() { return this }, h: 5}, i: {toJSON() { return new Date(0) }},
      get j() { throw {} }, k: new Date(NaN), l: {get toJSON() { throw 1 }} })"""

    assert (await give(source)).text == (
        '{"a":1,"b":"[undefined]","c":"[circular]","d":[],"e":"[threw RangeError: no]","f":"[undefined]",'
        '"g":{"toJSON":"[function toJSON]","h":5},"i":"[date 1970-01-01T00:00:00.000Z]","j":"[threw an object]",'
        '"k":"[date invalid]","l":"[threw the number 1]"}'
    )


async def test_a_proxy_of_a_map_as_frameworks_make_them_is_read(give: Give):
    reactive = "target => new Proxy(target, {get(t, k) { const v = Reflect.get(t, k); return v?.bind?.(t) ?? v }})"

    text = (await give(f"[new Map([[1, 2]]), new Set([3])].map({reactive})")).text

    assert text == '[{"[Map]":[[1,2]]},{"[Set]":[3]}]'


async def test_values_of_another_frame_read_as_those_of_this_one(give: Give):
    kinds = """[new Date(0), new Map([[1, new Set([2])]]), /x/g, {a: [1]}, Object.create(null), new Uint8Array([9]),
      new URL('http://a/'), Promise.resolve(), document.createElement('b'), window, new Error('e'), class A {},
      new (class Cart { total = 1 }), new (class { toJSON() { return 'own' } }), new Blob(['b']), new ArrayBuffer(1)]"""
    in_frame = f"""(() => {{ const frame = document.createElement('iframe'); document.body.append(frame);
      return frame.contentWindow.eval({json.dumps(kinds)}) }})()"""

    told = [without_uids(without_stacks((await give(source)).text)) for source in (in_frame, kinds)]
    assert told[0] == told[1]


async def test_a_window_of_another_origin_reads_as_a_window(give: Give, other_site: Site):
    url = other_site.page("/other", "other")
    source = f"""new Promise(resolve => {{ const frame = document.createElement('iframe'); frame.src = {url!r};
      frame.onload = () => resolve([frame.contentWindow]); document.body.append(frame) }})"""

    assert (await give(source)).text == '["[Window]"]'


async def test_an_object_that_only_looks_like_a_built_in_is_read_by_its_fields(give: Give):
    fakes = ("Map", "Date", "RegExp", "URL", "Node", "Blob", "Uint8Array", "ArrayBuffer", "Number", "Window")
    source = ",".join(f"Object.assign(Object.create({fake}.prototype), {{own: 1}})" for fake in fakes)

    told = decode((await give(f"[{source}]")).text)

    assert told == [Instance({"class": fake}, {"own": 1}) for fake in fakes]
