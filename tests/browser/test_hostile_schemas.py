"""A page whose schemas do their worst: each costs its own tool alone, and nothing is fetched."""

import json
import os
from pathlib import Path

import pytest
import trio

from bridge.calls.agent import Agent
from tests.browser.asking import call, facts, list_parts, list_tools, names, read
from tests.browser.conftest import OpenHostile
from tests.sites import Site

UNUSABLE = {
    "doubles": "multiplies too much",
    "circles": "never ends",
    "deep": "nested deeper than 32 levels",
    "enumerates": "enum of 10,001 values",
    "unheard-of": "unknown dialect",
    "wrong": "is not valid Draft 7",
}
"""Each with what is said of it."""
USABLE = {
    "backtracks": ("a" * 100_000 + "b", "arguments_invalid"),
    "remembers": ("a" * 200_000 + "1", "schema_unusable"),
    "compares": ([[number] for number in range(20_000)], "schema_unusable"),
    "divides": ([1.5e300] * 20_000, "schema_unusable"),
    "looks ahead": ("y", None),
}
"""Each with a value, and how a call with it is refused if it is."""


@pytest.mark.threat("P17")
async def test_hostile_schemas_cost_their_own_tools_alone(agent: Agent, hostile: OpenHostile):
    page = await hostile("schemas")

    listing = await list_tools(agent, page)

    told = {one["name"]: one.get("unusable") for one in listing["groups"][0]["tools"]}
    assert told.keys() == {*UNUSABLE, *USABLE}
    assert [name for name, reason in UNUSABLE.items() if reason not in (told[name] or "")] == []
    assert any("'enumerates more'" in problem for problem in listing["problems"])
    for name in UNUSABLE:
        assert facts(await call(agent, page, name)) == ("schema_unusable", "rejected", False)
    for name, (value, code) in USABLE.items():
        answer = await call(agent, page, name, {"a": value})
        assert (facts(answer) if code else read(answer)) == ((code, "rejected", False) if code else {"a": value}), name


@pytest.mark.threat("P18")
async def test_what_a_schema_names_is_never_fetched(agent: Agent, hostile: OpenHostile, site: Site, tmp_path: Path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)  # who reads it waits for ever
    canary = f"{site.origin}/canary"
    other_schemes = (
        "ftp://127.0.0.1:9/canary",
        "data:application/json,{}",
        r"\\127.0.0.1\canary",
        "//127.0.0.1/canary",
    )
    places = [canary, f"file://{fifo}", str(fifo), "http://169.254.169.254/latest", *other_schemes]
    site.bodies["/places.js"] = f"const places = {json.dumps(places)}"
    page = await hostile("schemas_elsewhere")

    with trio.fail_after(20):
        found = [name for part in await list_parts(agent, page) for name in names(part)]
        answers = [await call(agent, page, name, {"a": 1}) for name in found]

    assert len(answers) == 12 * len(places)
    assert site.asked["/canary"] == 0
