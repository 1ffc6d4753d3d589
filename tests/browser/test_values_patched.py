"""Pages that replace the built-ins, out of malice or not, do not bend what is listed, called and read there."""

import json
import re
from pathlib import Path

import pytest

from bridge.calls.agent import Agent
from tests.browser.asking import call, code, list_tools, names, open_page
from tests.browser.giving import ELEMENT, without_stacks, without_uids
from tests.sites import Site, offering, tool

ROOT = Path(__file__).parents[2]

BUILT = """<script>
  const values = [
    undefined, NaN, -0, 1n, Symbol('s'), function f() {}, class A {}, new Date(0), /a/gi, new URL('http://a/'), '[NaN]',
    new Map([[1, {a: 2}]]), new Set([1]), new URLSearchParams('a=1'), new TypeError('e', {cause: new Map()}), [1, , 2],
    new (class Cart { total = 5; items = [1, 'two', {three: 3}] }), new Float32Array([1.5]), new ArrayBuffer(2), window,
    {toJSON() { return {j: 1} }}, new (class Money { toJSON() { return 5 } }), Promise.resolve(1), new Blob(['b']),
    element('<a href="/x" id=y>Go <b>on</b></a>'), Object.create(null), {get bad() { throw new RangeError('b') }, b: 1},
    new Proxy({p: 1}, {__proto__: null}), 'x'.repeat(50), new (class extends Map {})([[2, 3]]), new Number(5) ];
  values.push({again: values[11], list: values});
  let done = false;
  const PagePromise = Promise, timer = setTimeout, listen = addEventListener.bind(window);
  const root = document.documentElement;
  const fail = () => { throw new RangeError('sold out', {cause: {code: 7}}) };
</script>"""

PROMISED = """<script>
  const inputSchema = {type: 'object', properties: {n: {default: 5}}};
  const tellLater = async name => ({name, description: 'For tests', tools: [
    {name, description: 'Promised', inputSchema, execute: async ({n}) => [name, n]} ]});
  const offer = name => event => event.respondWith(tellLater(name));
  addEventListener('devtoolstooldiscovery', offer('promised'));
</script>"""

TOOLS = (
    offering(
        tool("values", "() => values"),
        tool("sum", "async ({a}) => a[0] + a[1]"),
        tool("later", "({a}) => new PagePromise(resolve => timer(() => resolve({a})))"),
        tool("fail", "() => fail()"),
        tool("failLater", "async () => { await new PagePromise(resolve => timer(resolve)); fail() }"),
        tool("failPlainly", "async () => { throw 'sold out' }"),
        tool("grow", "() => { listen('devtoolstooldiscovery', offer('grown')) }"),
        tool("done", "() => done"),
        tool("root", "() => root"),
        tool("isRoot", "({at}) => at === root", "{properties: {at: {'x-mcp-type': 'HTMLElement'}}}"),
    )
    + PROMISED
)
TOOL_NAMES = [
    "values",
    "sum",
    "later",
    "fail",
    "failLater",
    "failPlainly",
    "grow",
    "done",
    "root",
    "isRoot",
    "promised",
]


def names_in_shims() -> list[str]:
    """Every property that a shim writes or reads: a page may have put any of them on Object.prototype."""
    sources = "\n".join(file.read_text() for file in (ROOT / "page_shims").glob("*.js"))
    found = set(re.findall(r"(?<=\.)[A-Za-z]\w+|\b[A-Za-z]\w+(?=:)|(?<=[{,] )[A-Za-z]\w+(?=[,} ])", sources))
    # Without what every object has anyway, and what would make a promise of every object.
    return sorted(found - {"constructor", "hasOwnProperty", "isPrototypeOf", "then", "toString", "valueOf"})


HOSTILE = f"""<script>
  const bad = () => {{ throw new TypeError('replaced') }};
  const define = Object.defineProperty, own = Object.getOwnPropertyNames, propertyOf = Object.getOwnPropertyDescriptor;
  const classes = [Array, BigInt, Date, Error, Function, Map, Number, Promise, RegExp, Set, String];
  const owners = [JSON, Reflect, Array, String, Number, BigInt, Date, Promise, [].values().__proto__, Node.prototype,
    new Map().entries().__proto__, Element.prototype, EventTarget.prototype, URL.prototype, URLSearchParams.prototype,
    WeakMap.prototype, WeakRef.prototype, Document.prototype, Symbol.prototype, Float32Array.prototype.__proto__,
    ArrayBuffer.prototype, Blob.prototype];
  for (let i = 0; i < classes.length; i++) owners.push(classes[i].prototype);
  for (let i = 0; i < classes.length; i++) define(classes[i], Symbol.hasInstance, {{value: bad}});
  for (let i = 0; i < classes.length; i++) define(classes[i].prototype, Symbol.toStringTag, {{get: bad}});
  for (let i = 0; i < owners.length; i++) {{
    const names = own(owners[i]);
    for (let k = 0; k < names.length; k++) {{
      const was = propertyOf(owners[i], names[k]);
      if (names[k] === 'constructor' || !was.configurable) continue;
      if (typeof was.value === 'function') define(owners[i], names[k], {{value: bad}});
      if (was.get) define(owners[i], names[k], {{get: bad, set: bad}});
    }}
  }}
  define(Array.prototype, Symbol.iterator, {{value: bad}});
  define(Array.prototype, 'toJSON', {{value: bad}});
  define(Object.prototype, 'toJSON', {{get: bad, set: bad}});
  Error.prepareStackTrace = bad;
  for (let i = 0; i < 20; i++) define(Array.prototype, i, {{get: bad, set: bad}});
  const traps = {json.dumps(names_in_shims())};
  const trap = {{__proto__: null, get: bad, set: bad}};
  for (let i = 0; i < traps.length; i++) if (!(traps[i] in Object.prototype)) define(Object.prototype, traps[i], trap);
  window.Map = window.Set = window.Promise = window.CustomEvent = window.Error = window.Date = window.Symbol = bad;
  done = true;
</script>"""

FREEZING = """<script>
  for (const name of Object.getOwnPropertyNames(window)) {
    if (typeof window[name] !== 'function' || !window[name].prototype) continue;
    Object.freeze(window[name].prototype);
    Object.freeze(window[name]);
  }
  done = true;
</script>"""

PATCHING = """<script>
  for (const owner of [Object, Array, String, Number, Date, Map, Error, URL]) owner.prototype.toJSON = () => 'patched';
  Object.prototype.extend = Array.prototype.each = function () {};
  Array.prototype[1] = 'inherited';
  done = true;
</script>"""


FROZEN = HOSTILE.replace(
    "done = true;",
    """const freeze = Object.freeze;
  for (let i = 0; i < owners.length; i++) freeze(owners[i]);
  freeze(Object.prototype);
  freeze(window.constructor.prototype);
  done = true;""",
)


async def check_page(agent: Agent, page: str, expected: str) -> None:
    """What is listed, what calls do and how they fail, and what values read as: as on any page."""
    assert names(await list_tools(agent, page)) == TOOL_NAMES
    assert without_uids(without_stacks((await call(agent, page, "values")).text)) == expected
    assert (await call(agent, page, "sum", {"a": [1, 2]})).text == "3"
    assert (await call(agent, page, "later", {"a": [1, {"b": None}]})).text == '{"a":[1,{"b":null}]}'
    assert (await call(agent, page, "promised")).text == '["promised",5]'
    root = json.loads((await call(agent, page, "root")).text)
    for at in (root, {"selector": "html"}):
        assert (await call(agent, page, "isRoot", {"at": at})).text == "true"
    for name in ("fail", "failLater"):
        failed = await call(agent, page, name)
        assert code(failed) == "tool_threw"
        assert failed.text == f'Tool {name!r} ran and threw: RangeError: sold out, with {{"cause":{{"code":7}}}}'
    assert (await call(agent, page, "failPlainly")).text == "Tool 'failPlainly' ran and threw: sold out"
    assert code(await call(agent, page, "nope")) == "tool_not_found"


async def plain_values(agent: Agent, site: Site) -> str:
    """What the values read as on a page that patches nothing."""
    page = await open_page(agent, site.page("/plain", ELEMENT + BUILT + TOOLS))
    return without_uids(without_stacks((await call(agent, page, "values")).text))


@pytest.mark.threat("P7")
@pytest.mark.parametrize(
    "patch", [HOSTILE, FROZEN, FREEZING, PATCHING], ids=["hostile", "hostile and frozen", "freezing", "patching"]
)
async def test_a_page_that_bends_the_built_ins_bends_nothing_of_ours(agent: Agent, site: Site, patch: str):
    expected = await plain_values(agent, site)

    page = await open_page(agent, site.page("/patched", ELEMENT + BUILT + TOOLS + patch))

    assert '"three":3' in expected
    assert (await call(agent, page, "done")).text == "true"
    await check_page(agent, page, expected)


PACKAGES = {
    "zone.js/bundles/zone.umd.js": "done = Zone.current.name === '<root>' && Promise.name === 'ZoneAwarePromise'",
    "core-js-bundle/index.js": "done = '__core-js_shared__' in window",
}
"""Where each is, and what tells that it has done its work."""


@pytest.mark.threat("P7")
@pytest.mark.parametrize("package", PACKAGES)
async def test_all_is_right_beside_packages_that_patch_everything(agent: Agent, site: Site, package: str):
    expected = await plain_values(agent, site)
    site.bodies["/package.js"] = (ROOT / "node_modules" / package).read_text()
    before = "<script src=/package.js></script>" + ELEMENT + BUILT
    after = f"<script>{PACKAGES[package]}</script>"

    page = await open_page(agent, site.page("/package", before + TOOLS + after))

    assert (await call(agent, page, "done")).text == "true"
    await check_page(agent, page, expected)
    await call(agent, page, "grow")
    assert names(await list_tools(agent, page)) == [*TOOL_NAMES, "grown"]
    assert (await call(agent, page, "grown", {"n": 1})).text == '["grown",1]'
