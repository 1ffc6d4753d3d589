"""How values of a page are written, and that they are told apart when they are read back."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.page.values import CutText, Element, Instance, Marker, decode
from tests.browser.giving import Give, open_giver, without_stacks, without_uids
from tests.sites import Site

DOCUMENTATION = (Path(__file__).parents[2] / "docs/values.md").read_text()


@pytest.fixture
async def give(bridge: Bridge, agent: Agent, site: Site) -> Give:
    return await open_giver(bridge, agent, site)


# What the documentation says


def documented() -> dict[str, str]:
    """The examples: what is written in the page, and what it reads as."""
    rows = [row.removesuffix(" |").split(" | ") for row in DOCUMENTATION.splitlines()]
    return {row[1].strip("`"): row[2].strip("`") for row in rows if len(row) == 3 and row[1].startswith("`")}


@pytest.mark.feature("results.values")
async def test_every_example_of_the_documentation_reads_as_it_says(give: Give):
    told = {source: without_uids(without_stacks((await give(f"({source})")).text)) for source in documented()}

    assert told == documented()
    assert len(told) > 20


def test_the_bounds_of_the_documentation_are_those_of_the_code():
    for bound in (
        f"{limits.RESULT_CHARS // 1_000_000} million characters in all",
        f"{limits.RESULT_STRING_CHARS // 1_000_000} million a string",
        f"{limits.RESULT_ITEMS:,} items an array",
        f"{limits.RESULT_NODES:,} values in all",
        f"{limits.RESULT_KEYS:,} keys an object",
        f"{limits.RESULT_DEPTH} levels",
        f"more than {limits.MEDIA_PIXELS:,} pixels, or more than {limits.MEDIA_BYTES:,} bytes",
        f"of more than {limits.DECODED_PIXELS:,} pixels",
        f"more than {limits.FILE_BYTES:,} bytes",
        f"up to {limits.MEDIA_BLOCKS} images",
        f"over {limits.RESULT_INSIDERS:,} objects, or of over {limits.RESULT_CLASSES} classes",
    ):
        assert bound in DOCUMENTATION


# Beside JSON.stringify

PLAIN = [
    *("null", "true", "false", "0", "1", "-1", "1.5", "1e21", "1e-7", "5e-324", "2 ** 53", "0.1 + 0.2"),
    *("''", "'a'", "'é😀中'", "'\\n\\t\\u0000\\u2028\"\\\\/'", "'[1,2]'", "'[INFO] x'", "'[]'", "'[object Object]'"),
    *("[]", "[[]]", "[1, [2, [3]]]", "({})", "({a: {}})", "({a: 1, b: [2, {c: 3}]})", "({2: 'b', 1: 'a', '': 0})"),
    *("({['__proto__']: 1})", "({toJSON: 5})", "({length: 3})", "({then: 1})", "Object.create({a: 1})"),
    *("new Number(5)", "new String('s')", "new Boolean(false)", "({toJSON() { return {j: [1]} }})"),
    *("new (class { toJSON(key) { return key } })", "Object.assign([1], {toJSON() { return 'list' }})"),
    *("new DOMRect(1, 2, 3, 4)", "new Proxy({a: 1}, {})", "new Proxy([1, 2], {})", "({get a() { return 5 }})"),
    *("Object.defineProperty({b: 1}, 'a', {value: 1})", "({[Symbol('s')]: 1, a: 2})", "new (class extends Array {})"),
    *("Object.create(null)", "(five => [five, five])({toJSON: () => 5})"),
]


@pytest.mark.feature("results.values")
async def test_what_json_can_say_is_said_as_json_stringify_says_it(give: Give):
    values = ",".join(PLAIN)

    expected = (await give(f"JSON.stringify([{values}])")).text

    assert (await give(f"[{values}]")).text == expected
    assert len(PLAIN) > 40


@pytest.mark.feature("results.values")
async def test_a_string_is_returned_as_it_is_and_undefined_as_nothing(give: Give):
    endings = [await give(source) for source in ("'[NaN]'", "undefined", "NaN")]

    assert [(ending.kind, ending.text) for ending in endings] == [
        ("string", "[NaN]"),
        ("none", ""),
        ("json", '"[NaN]"'),
    ]


# Read back

NEIGHBOURS = [
    *("undefined", "null", "0", "-0", "NaN", "'[NaN]'", "'\\\\[NaN]'", "'\\\\\\\\[NaN]'", "'0'", "false", "''"),
    *("1n", "1", "'1'", "'[bigint 1]'", "Infinity", "-Infinity", "Symbol('a')", "Symbol('b')", "'[symbol a]'"),
    *("function a() {}", "class a {}", "'[class a]'", "new Date(0)", "'1970-01-01T00:00:00.000Z'", "new Date(NaN)"),
    *("/a/", "/a/g", "'/a/'", "new URL('http://a/')", "'http://a/'", "[]", "({})", "[[]]", "[undefined]", "[null]"),
    *(
        "[,]",
        "[, ,]",
        "new Map()",
        "new Set()",
        "new Map([[1, 2]])",
        "[[1, 2]]",
        "new Set([1])",
        "[1]",
        "new Set(['1'])",
    ),
    *("({'[Map]': []})", "({'\\\\[Map]': []})", "new (class Cart {})", "({'[class]': 'Cart'})", "new (class Kart {})"),
    *("new (class Cart extends Map {})", "new Uint8Array(1)", "new Int8Array(1)", "new Uint8Array(2)"),
    *(
        "new ArrayBuffer(1)",
        "new DataView(new ArrayBuffer(1))",
        "new Error('a')",
        "new TypeError('a')",
        "new Error('b')",
    ),
    *("new Error('a', {cause: undefined})", "new Error('a', {cause: null})", "({a: undefined})", "({a: null})"),
    *(
        "Promise.resolve()",
        "window",
        "document",
        "new Blob([])",
        "new File([], 'a')",
        "new FormData()",
        "new Headers()",
    ),
    *("new URLSearchParams()", "element('<b>')", "element('<i>')", "element('text')", "'a…[5 more characters]'"),
    *("({uid: 'e1', describe: '<b>'})", "({uid: 'e1', '\\\\describe': '<b>'})", "({uid: 'e1'})", "'e1'"),
    *("'a…\\\\[5 more characters]'", "'[function …[5 more characters]'", "'[hole]'", "'[2 holes]'", "'[1 more item]'"),
]


@pytest.mark.feature("results.values")
async def test_neighbours_that_json_does_not_tell_apart_are_told_apart(give: Give):
    text = (await give(f"[{','.join(NEIGHBOURS)}]")).text

    values = [canonical(value) for value in decode(text)]
    assert len(values) == len(NEIGHBOURS)
    assert [NEIGHBOURS[i] for i, value in enumerate(values) if value in values[:i]] == []


def canonical(value: Any) -> Any:
    """A form that is equal where JavaScript's values are: True is not 1, a plain object no instance."""
    match value:
        case int() | float() if not isinstance(value, bool):
            return ("number", float(value))
        case list():
            return ("list", tuple(canonical(item) for item in value))
        case dict():
            return ("dict", frozenset((key, canonical(item)) for key, item in value.items()))
        case Instance(heads, fields):
            fields = {key: item for key, item in fields.items() if key != "stack"}
            return ("Instance", canonical(heads), canonical(fields))
        case _:
            return (type(value).__name__, value)


Case = tuple[str, Any]
"""A JavaScript expression, and what its text is read back as."""

MARKERS = (
    *("[undefined]", "[NaN]", "[-0]", "[hole]", "[3 holes]", "[12 more items]", "[promise]", "[Window]", "[circular]"),
    *(
        "[bigint 1]",
        "[symbol]",
        "[symbol a]",
        "[class A]",
        "[function ]",
        "[date invalid]",
        "[regexp /a/]",
        "[url x:y]",
    ),
    *("[circular /a]", "[same as /a]", "[threw x]", "[blob 0 bytes]", "[file a, 1 bytes]", "[node a]"),
    *(
        "[document x]",
        "[nested too deeply]",
        "[not shown: A]",
        "…[1 more character]",
        "[Map]",
        "[class]",
        "[more keys]",
    ),
    *("[Error]", "[Uint8Array]", "[DataView]", "[", "]", "\\", "…", " "),
)
WORDS = ("undefined", "NaN", "Infinity", "-Infinity", "-0")
FIXED: list[Case] = [
    *(("null", None), ("true", True), ("false", False), ("[,]", [Marker("hole")]), ("[, , ,]", [Marker("holes", "3")])),
    *(("Promise.resolve()", Marker("promise")), ("class A {}", Marker("class", "A"))),
    *((word, Marker(word)) for word in WORDS),
]
texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.lists(st.sampled_from(MARKERS), max_size=3).map("".join),
    st.builds(str.__add__, st.text("\\", max_size=3), st.sampled_from(MARKERS)),
)
scalars: st.SearchStrategy[Case] = st.one_of(
    st.sampled_from(FIXED),
    texts.map(lambda text: (json.dumps(text), text)),
    st.integers(-(2**53), 2**53).map(lambda number: (f"({number})", number)),
    st.floats(allow_nan=False, allow_infinity=False).filter(bool).map(lambda number: (f"({number!r})", number)),
    st.integers().map(lambda number: (f"({number}n)", Marker("bigint", f"{number}"))),
    texts.filter(bool).map(lambda text: (f"Symbol({json.dumps(text)})", Marker("symbol", text))),
    st.from_regex("[a-z]{1,5}", fullmatch=True)
    .map(lambda name: (f"{{f_{name}() {{}}}}.f_{name}", name))
    .map(lambda case: (f"({case[0]})", Marker("function", f"f_{case[1]}"))),
    st.dates().map(lambda day: (f"new Date('{day.isoformat()}')", Marker("date", f"{day.isoformat()}T00:00:00.000Z"))),
)


def grow(inner: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    """Values that hold others."""
    lists = st.lists(inner, max_size=4)
    like_an_element = st.tuples(st.text("\\", max_size=2).map(lambda slashes: f"{slashes}describe"), inner, inner)
    fields = st.one_of(
        st.dictionaries(texts.filter(lambda key: key != "toJSON"), inner, max_size=3),
        like_an_element.map(lambda case: {"uid": case[1], case[0]: case[2]}),
    )

    def list_of(items: Sequence[Case]) -> Case:
        return f"[{','.join(source for source, _ in items)}]", [value for _, value in items]

    def object_of(given: dict[str, Case]) -> Case:
        entries = ",".join(f"[{json.dumps(key)}]:{source}" for key, (source, _) in given.items())
        return f"({{{entries}}})", {key: value for key, (_, value) in given.items()}

    def map_of(given: dict[str, Case]) -> Case:
        source, value = list_of([list_of([(json.dumps(key), key), case]) for key, case in given.items()])
        return f"new Map({source})", Instance({"Map": value})

    def set_of(items: Sequence[Case]) -> Case:
        # Each in a list of its own, so that equal ones stay apart.
        source, value = list_of([list_of([item]) for item in items])
        return f"new Set({source})", Instance({"Set": value})

    def instance_of(name: str, given: dict[str, Case]) -> Case:
        source, value = object_of(given)
        return f"Object.assign(new (class {name} {{}}), {source})", Instance({"class": name}, value)

    def error_of(message: str, cause: Case) -> Case:
        source, value = cause
        title = f"TypeError: {message}" if message else "TypeError"
        return f"new TypeError({json.dumps(message)}, {{cause: {source}}})", Instance(
            {"Error": title}, {"cause": value}
        )

    return st.one_of(
        lists.map(list_of),
        fields.map(object_of),
        fields.map(map_of),
        lists.map(set_of),
        st.builds(instance_of, st.sampled_from(["Cart", "Item"]), fields),
        st.builds(error_of, texts, inner),
    )


@pytest.mark.feature("results.values")
async def test_any_value_is_read_back_as_what_it_was(give: Give):
    @settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @given(st.lists(st.recursive(scalars, grow, max_leaves=6), min_size=5, max_size=40))
    def check(cases: list[Case]) -> None:
        text = trio.from_thread.run(give, f"[{','.join(source for source, _ in cases)}]").text

        values = [canonical(value) for value in decode(text)]
        assert values == [canonical(value) for _, value in cases]
        told = {json.dumps(value) for value in json.loads(without_stacks(text))}
        assert len(told) == len(set(values))

    await trio.to_thread.run_sync(check)


async def test_an_element_is_not_forged_by_an_object_with_its_two_keys(give: Give):
    made = "uid: 'e1-1', describe: '<b>'"

    text = (
        await give(
            f"[element('<b>'), {{{made}}}, new (class A {{ constructor() {{ Object.assign(this, {{{made}}}) }} }})]"
        )
    ).text

    real, forged, instance = decode(text)
    assert isinstance(real, Element)
    assert real.describe == "<b>"
    assert forged == {"uid": "e1-1", "describe": "<b>"}
    assert instance == Instance({"class": "A"}, {"uid": "e1-1", "describe": "<b>"})
    assert json.loads(text)[1] == {"uid": "e1-1", "\\describe": "<b>"}


@pytest.mark.feature("results.elements")
async def test_an_element_is_said_in_full_each_time_with_the_same_uid(give: Give):
    await give("void (window.b = element('<b>'))")

    again = json.loads((await give("[b, {b}, element('<b>')]")).text)

    assert again[0] == again[1]["b"] == json.loads((await give("b")).text)
    assert again[2]["uid"] != again[0]["uid"]


def test_what_was_cut_is_read_back_as_such():
    text = '["head…[5 more characters]","[12 more items]"]'

    assert decode(text) == [CutText("head", 5), Marker("more items", "12")]
    assert decode('{"a":1,"[more keys]":7}') == Instance({"more keys": 7}, {"a": 1})
