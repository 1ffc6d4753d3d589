"""Schemas and values that are made to take for ever hold nothing up, counted in calls of functions and not in time.

A million calls take about 60 ms on the machine that this was written on.
"""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from cProfile import Profile
from functools import partial
from typing import Any

import pytest
import trio

from bridge import limits
from bridge.errors import SchemaUnusable
from bridge.page.discovery import Discovery
from bridge.tools.export import export_schema
from bridge.tools.keywords import Pattern
from bridge.tools.registry import Registry
from bridge.tools.schema import check_schema
from bridge.tools.sources.page import PageSource
from bridge.tools.turns import in_turns

DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
AT_ONCE = 800_000
"""Calls in one step. No call takes longer than the others but those of google-re2, whose cost is counted below."""


def calls_of(work: Callable[[], object]) -> int:
    """How many functions it calls, those of C too."""
    profile = Profile()
    with profile, suppress(SchemaUnusable):
        work()
    return sum(entry.callcount for entry in profile.getstats())


def a(**part: Any) -> dict[str, Any]:
    return {"properties": {"a": part}}


def nested(levels: int, wrap: Callable[[Any], Any], value: Any) -> Any:
    for _ in range(levels):
        value = wrap(value)
    return value


TOWER = nested(3, lambda part: {"oneOf": [part] * 5}, {"type": "null"})
ROW = {"properties": {name: {"type": "number"} for name in "abcd"}, "required": list("abcd")}
WIDE = {"$schema": DRAFT_2020, "$dynamicAnchor": "n", "properties": {"a": {"items": {"$dynamicRef": "#n"}}}}

CHECKS: dict[str, tuple[dict[str, Any], Any]] = {
    "a large table that fits": (a(items=ROW), {"a": [dict.fromkeys("abcd", 1)] * 7_000}),
    "a large table whose last row does not fit": (a(items=ROW), {"a": [dict.fromkeys("abcd", 1)] * 6_999 + [{}]}),
    "alternatives of alternatives": (a(items=TOWER), {"a": [1] * 100_000}),
    "references that double": (
        {"properties": {"x": {"$ref": "#"}}, "patternProperties": {"x": {"$ref": "#"}}},
        nested(60, lambda part: {"x": part}, {}),
    ),
    "many different items": (a(uniqueItems=True), {"a": list(range(40_000))}),
    "many different items, deep inside": (
        {"items": {"$ref": "#"}, "uniqueItems": True, "properties": {"a": {"$ref": "#"}}},
        {"a": [nested(60, lambda part: [part], [])] * 1_000},
    ),
    "a large enum of objects": (
        a(items={"enum": [{"a": number} for number in range(5_000)]}),
        {"a": [{"a": number} for number in range(9_000)]},
    ),
    "a long text among many": (a(anyOf=[{"enum": ["a"]}] * 1_900), {"a": "y" * 250_000}),
    "fractions of 600 digits": (a(items={"multipleOf": 1e-300}), {"a": [1.2345678912345678e300] * 10_000}),
    "names that are missing": (a(items={"required": [str(n) for n in range(5_000)]}), {"a": [{}] * 60_000}),
    "names that no pattern has": (
        a(patternProperties={f"x{n}": {} for n in range(100)}, additionalProperties=False),
        {"a": {str(n): 1 for n in range(20_000)}},
    ),
    "a pattern that remembers": (a(pattern="[a-z]{1,1000}$"), {"a": "y" * 250_000 + "1"}),
    "what nothing has looked at": (
        {"$schema": DRAFT_2020, "anyOf": [{"properties": {"x": {"$ref": "#"}}}] * 3, "unevaluatedProperties": False},
        nested(60, lambda part: {"x": part}, {}),
    ),
    "what nothing has looked at, behind references": (
        {
            "$schema": DRAFT_2020,
            "$ref": "#/$defs/a0",
            "$defs": {
                f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}], "unevaluatedProperties": False} for n in range(12)
            }
            | {"a12": {}},
        },
        {},
    ),
    "lists in lists that are equal": (
        a(allOf=[{"uniqueItems": True}] * 500),
        {"a": [nested(50, lambda part: [part], [])] * 1_500},
    ),
    "no alternative for many": (a(items={"anyOf": [{"required": [f"r{n}"]} for n in range(60)]}), {"a": [{}] * 60_000}),
    "references that depend on the way": (WIDE, {"a": [{"a": [{"a": [{}] * 20}] * 20}] * 40}),
    "contained in contained": (a(items={"contains": {"contains": {"type": "null"}}}), {"a": [[[1] * 10] * 10] * 500}),
    "many faults": (a(additionalProperties={"type": "null"}), {"a": {str(n): 1 for n in range(20_000)}}),
}


@pytest.mark.threat("P17")
@pytest.mark.parametrize("name", CHECKS)
def test_a_check_ends_before_it_holds_others_up(name: str):
    schema, value = CHECKS[name]
    checked = check_schema(json.dumps(schema))
    calls_of(lambda: checked.check({}))

    assert calls_of(lambda: checked.check(value)) < AT_ONCE


def many(number: int, part: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
    return {"properties": {f"p{count}": part(count) for count in range(number)}}


SCHEMAS: dict[str, dict[str, Any]] = {
    "properties": many(1_999, lambda _: {}),
    "ids": many(1_900, lambda number: {"$id": f"u{number}"}),
    "references": {**many(1_500, lambda _: {"$ref": "#/definitions/a"}), "definitions": {"a": {"type": "string"}}},
    "deep defaults": many(1_500, lambda _: {"default": nested(7, lambda part: [part], 1)}),
    "an enum": {"enum": [{} for _ in range(10_000)]},
    "dependencies": {"dependencies": {f"p{number}": ["a"] for number in range(1_990)}},
    "the last is wrong": {"properties": {**many(1_900, lambda _: {})["properties"], "z": {"type": "x"}}},
    "large patterns": {"patternProperties": {"[\\w\\p{L}]{500}" + "a" * number: {} for number in range(100)}},
}


@pytest.mark.threat("P17")
@pytest.mark.parametrize("dialect", ["http://json-schema.org/draft-07/schema#", DRAFT_2020])
@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_taken_in_and_exported_before_it_holds_others_up(name: str, dialect: str):
    check_schema(json.dumps({"$schema": dialect}))
    text = json.dumps({**SCHEMAS[name], "$schema": dialect, "title": "counted"})

    assert len(text) <= limits.SCHEMA_CHARS
    assert calls_of(lambda: check_schema(text)) < AT_ONCE
    assert calls_of(lambda: export_schema(check_schema(text))) < AT_ONCE


def test_what_a_pattern_costs_grows_with_what_it_repeats():
    places = [Pattern(pattern).places for pattern in ("a", "a{1,1000}", "(ab|c){3}d+", r"(?:\w{10}){10}", "a{5,}")]

    assert places == [1, 1000, 10, 100, 6]


@pytest.mark.threat("P17")
def test_patterns_that_are_too_large_together_are_not_checked_and_cost_little():
    heavy = {f"{'a' * number}\\p{{L}}{{20}}": {} for number in range(10)}

    checked = check_schema(json.dumps({"patternProperties": heavy}))

    assert len(checked.unchecked) == 7


class LongestStep(trio.abc.Instrument):
    """Counts the calls in each task's step, from one checkpoint to the next."""

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.profile = Profile()

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.profile = Profile()
        self.profile.enable()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self.profile.disable()
        self.calls.append(sum(entry.callcount for entry in self.profile.getstats()))


@asynccontextmanager
async def counting_steps() -> AsyncGenerator[LongestStep]:
    longest = LongestStep()
    trio.lowlevel.add_instrument(longest)
    await trio.lowlevel.checkpoint()
    try:
        yield longest
    finally:
        await trio.lowlevel.checkpoint()
        trio.lowlevel.remove_instrument(longest)
        longest.profile.disable()


@pytest.mark.threat("P17")
async def test_a_page_full_of_large_schemas_leaves_others_their_turn():
    ids = many(1_800, lambda number: {"$id": f"urn:{number}"})
    documents = [json.dumps({**ids, "title": str(number)}) for number in range(4)]
    entries = [{"schema": text} for text in documents]
    source = PageSource(Registry())

    async with counting_steps() as steps:
        await source.prepare(Discovery(1, {"groups": [{"tools": entries}]}))

    assert sum(steps.calls) > AT_ONCE
    assert max(steps.calls) < AT_ONCE
    assert [calls_of(partial(check_schema, text)) < 100 for text in documents] == [True] * 4


async def test_small_schemas_are_worked_through_at_once_and_large_ones_in_turns():
    async def steps_of(sizes: list[int]) -> int:
        done: list[int] = []
        async with counting_steps() as steps:
            await in_turns((size, partial(done.append, size)) for size in sizes)
        assert done == sizes
        return len(steps.calls)

    assert await steps_of([limits.SCHEMA_CHARS] * 3) == await steps_of([10] * 100) + 2
