"""A page whose schemas do their worst: each costs its own tool alone, and nothing is fetched."""

import os
from pathlib import Path

import pytest

from bridge.calls.agent import Agent
from tests.browser.asking import call, facts, list_tools, open_page, read
from tests.sites import Site, offering, tool

DOUBLING = """(() => {
  const definitions = {a40: {}};
  for (let n = 0; n < 40; n++)
    definitions[`a${n}`] = {allOf: [{$ref: `#/definitions/a${n + 1}`}, {$ref: `#/definitions/a${n + 1}`}]};
  return {$ref: '#/definitions/a0', definitions};
})()"""
DEEP = "(() => { let schema = {}; for (let n = 0; n < 1e5; n++) schema = {not: schema}; return schema })()"

UNUSABLE = {
    "doubles": (DOUBLING, "multiplies too much"),
    "circles": ("{$ref: '#'}", "never ends"),
    "deep": (DEEP, "nested deeper than 32 levels"),
    "enumerates": ("{enum: Array.from({length: 10001}, (_, n) => n)}", "enum of 10,001 values"),
    "unheard-of": ("{$schema: 'urn:mine'}", "unknown dialect"),
    "wrong": ("{type: 'strng'}", "is not valid Draft 7"),
}
USABLE = {
    "backtracks": ("{properties: {a: {pattern: '^(a+)+$'}}}", {"a": "a" * 100_000 + "b"}, "arguments_invalid"),
    "remembers": ("{properties: {a: {pattern: '[a-z]{1,1000}$'}}}", {"a": "a" * 200_000 + "1"}, "schema_unusable"),
    "compares": (
        "{properties: {a: {allOf: Array(500).fill({uniqueItems: true})}}}",
        {"a": [[number] for number in range(20_000)]},
        "schema_unusable",
    ),
    "divides": ("{properties: {a: {items: {multipleOf: 1e-300}}}}", {"a": [1.5e300] * 20_000}, "schema_unusable"),
    "looks ahead": ("{properties: {a: {pattern: '(?=x)('}}}", {"a": "y"}, None),
}


@pytest.mark.threat("P17")
async def test_hostile_schemas_cost_their_own_tools_alone(agent: Agent, site: Site):
    schemas = {name: schema for name, (schema, *_) in {**UNUSABLE, **USABLE}.items()}
    offered = [tool(name, "input => input", schema) for name, schema in schemas.items()]
    page = await open_page(agent, site.page("/hostile-schemas", offering(*offered)))
    healthy = await open_page(agent, site.page("/healthy", offering(tool("ping", "() => 'pong'"))))

    (group,) = (await list_tools(agent, page))["groups"]

    told = {one["name"]: one.get("unusable") for one in group["tools"]}
    assert told.keys() == schemas.keys()
    assert [name for name, (_, reason) in UNUSABLE.items() if reason not in (told[name] or "")] == []
    for name in UNUSABLE:
        assert facts(await call(agent, page, name)) == ("schema_unusable", "rejected", False)
    for name, (_, arguments, code) in USABLE.items():
        answer = await call(agent, page, name, arguments)
        assert (facts(answer) if code else read(answer)) == ((code, "rejected", False) if code else arguments), name
        assert (await call(agent, healthy, "ping")).text == "pong"


@pytest.mark.threat("P18")
async def test_what_a_schema_names_is_never_fetched(agent: Agent, site: Site, tmp_path: Path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)  # who reads it waits for ever
    places = [f"{site.origin}/canary", f"file://{fifo}", str(fifo)]
    schemas = [f"{{{keyword!r}: {place!r}}}" for place in places for keyword in ("$ref", "$id", "$schema")]
    offered = [tool(f"t{number}", "() => 1", schema) for number, schema in enumerate(schemas)]
    page = await open_page(agent, site.page("/fetching", offering(*offered)))

    (group,) = (await list_tools(agent, page))["groups"]
    answers = [await call(agent, page, one["name"], {"a": 1}) for one in group["tools"]]

    assert len(answers) == len(schemas)
    assert site.asked["/canary"] == 0
