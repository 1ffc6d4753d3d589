"""What the source of a module says of its tool, without running it."""

import pytest

from bridge import limits
from bridge.manifest.module import has_one_tool, remarks_on, why_no_python

SCHEMA = "{'type': 'object', 'properties': {'city': {'type': 'string'}, 'days': {'description': 'From today'}}}"
NO_CITY = "The parameter city has no description. Say what is meant by it."
EMPTY = "The description is empty. Say what the tool does, and when to use it."


@pytest.mark.parametrize(
    ("source", "line", "reason"),
    [
        ("x = 1\nx = = 2\n", 2, "invalid syntax"),
        ("x = '", 1, "unterminated string literal"),
        ("x = 1\0", 1, "null bytes"),
        ("# coding: nonsense\n", 1, "unknown encoding: nonsense"),
        (b"x = '\xff'\n", 1, "'utf-8' codec can't decode byte 0xff"),
        ("x = " + "-" * 100_000 + "1", 1, "nested too deeply for Python"),
        ("x = 1" + "+1" * 100_000, 1, "nested too deeply for Python"),
        ("x = " + "(" * 5000 + ")" * 5000, 1, "too many nested parentheses"),
    ],
)
def test_a_source_that_is_not_python_is_told_with_its_line(source: str | bytes, line: int, reason: str):
    data = source.encode() if isinstance(source, str) else source
    fault = why_no_python(data)
    assert fault is not None
    assert fault[0] == line
    assert fault[1].startswith("This is n")
    assert reason in fault[1]
    assert list(remarks_on(data)) == []
    assert not has_one_tool(data)


@pytest.mark.parametrize("source", ["", "raise SystemExit", "x = '\\d'\nassert (1, 'x')\n", "\ufeffx = 1"])
def test_what_python_reads_is_not_run_and_warns_of_nothing(source: str):
    assert why_no_python(source.encode()) is None


@pytest.mark.parametrize(
    ("source", "remarks"),
    [
        (f"description = 'Weather'\nparameters = {SCHEMA}\n", [(2, NO_CITY)]),
        (f"description: str = ' '\nparameters: dict = {SCHEMA}\n", [(1, EMPTY), (2, NO_CITY)]),
        (f"tool = {{\n'description': '',\n'parameters': {SCHEMA}}}\n", [(2, EMPTY), (3, NO_CITY)]),
        (f"class tool:\n    description = ''\n    parameters = {SCHEMA}\n", [(2, EMPTY), (3, NO_CITY)]),
        (
            f"description = ''\ntool = {{'description': 'Weather', 'execute': run, 'parameters': {SCHEMA}}}",
            [(2, NO_CITY)],
        ),
        ("description = 'x' * 9999\nparameters = make()\n", []),
        ("tool = Tool()\ndescription = ''\n", []),
        ("parameters = {**shared, 'properties': {name: {}, 'a': CITY, 'b': {**CITY}, 'c': True}}", []),
        (f"description = {'x' * limits.DESCRIPTION_CHARS!r}", []),
    ],
)
def test_what_an_agent_would_miss_is_told_with_its_line(source: str, remarks: list[tuple[int, str]]):
    assert list(remarks_on(source.encode())) == remarks


def test_a_description_that_is_too_long_is_told():
    [(line, told)] = remarks_on(f"\ndescription = ({'x' * 600!r}\n{'x' * 600!r})".encode())
    assert line == 2
    assert told.startswith("The description has 1,200 characters, and 1,000 are allowed.")


@pytest.mark.parametrize(
    ("source", "one"),
    [
        ("tool = {}", True),
        ("class tool: pass", True),
        ("async def execute(args, context): pass", True),
        ("def tools(api): return []", False),
        ("tools = []\ndef execute(args, context): pass", False),
        ("from other import *", False),
    ],
)
def test_a_module_that_can_have_further_tools_is_known(source: str, one: bool):
    assert has_one_tool(source.encode()) is one
