"""What a tool returns: handed on as it is, as content blocks, or said to be what no agent can be told."""

import json
from typing import Any

import pytest

from bridge import limits
from bridge.errors import ResultUnusable
from bridge.page.media import Media
from bridge.tools.modules.results import read_result
from bridge.tools.modules.values import NotJson, check_json
from bridge.tools.own import Content
from tests.modules.project import Project

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

TOLD = {
    "'text'": "text",
    "''": "",
    "None": None,
    "True": True,
    "0.1": 0.1,
    "-0.0": -0.0,
    "2 ** 64": 2**64,
    "(1, [2])": [1, [2]],
    "{}": {},
    "{'a': {'b': [None]}}": {"a": {"b": [None]}},
    "'\\u00e9\\U0001f600'": "\u00e9\U0001f600",
    "'\\ud800'": "\ufffd",
    "['\\ud83d\\ude00', {'\\udfff': '\\\\ud800'}]": ["\U0001f600", {"\ufffd": "\\ud800"}],
    "'x' * 10_000_000": "x" * 10_000_000,
    "'\\u00e9' * 10_000_000": "\u00e9" * 10_000_000,
}

UNTOLD = {
    "float('nan')": "result is nan, which JSON has not",
    "{'a': [1, float('-inf')]}": r"result\.a\[1\] is -inf",
    "b'bytes'": "result is a bytes: return text, or base64",
    "[bytearray(1)]": r"result\[0\] is a bytearray",
    "(n for n in [1])": "result is a generator",
    "{1, 2}": "result is a set",
    "object()": "result is an object",
    "print": "result is a builtin_function_or_method",
    "{1: 2}": "result has a key that is no string, but an int",
    "{'a': {None: 2}}": r"result\.a has a key that is no string, but a NoneType",
    "10 ** 400": "an integer of more than 309 digits",
    "10 ** 5000": "an integer of more than 309 digits",
    "nested(65)": "more than 64 lists and objects deep",
    "itself()": "more than 64 lists and objects deep, or holds itself",
    "[0] * 300_000": "more than 200,000 values",
    "[[0] * 1000] * 1000": "more than 200,000 values",
    "'x' * 1_000_000_000": "more than 20,000,000 characters",
    "['x' * 1_000_000] * 100": "more than 20,000,000 characters",
    "{'x' * 30_000_000: 1}": "more than 20,000,000 characters",
    "'\\0' * 10_000_000": "it has 60,000,0.. bytes",
    "Lies()": r"result\.a is an object",
}

HEAD = """
def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value
def itself():
    value = {}
    value["itself"] = value
    return value
class Lies(dict):
    def items(self):
        return [("a", object())]
"""


@pytest.fixture(name="returns")
def _returns(project: Project) -> Project:
    project.add_tool("returns", "return eval(args['value'])", head=HEAD)
    return project


@pytest.mark.feature("modules.results")
@pytest.mark.threat("S5")
async def test_what_is_json_arrives_as_it_is(returns: Project):
    async with returns.open() as opened:
        for value, told in TOLD.items():
            result = await opened.call("returns", value=value)
            assert json.dumps(result) == json.dumps(told), value


@pytest.mark.feature("modules.results")
@pytest.mark.threat("S5")
async def test_what_is_none_is_said_with_its_place_and_the_process_goes_on(returns: Project):
    async with returns.open() as opened:
        processes = opened.processes
        for value, says in UNTOLD.items():
            with pytest.raises(ResultUnusable, match=says) as raised:
                await opened.call("returns", value=value)
            assert (raised.value.outcome, raised.value.dispatched) == ("failed", True)
            assert "Tool 'returns' ran" in str(raised.value)
        assert await opened.call("returns", value="1") == 1
        assert opened.processes == processes


@pytest.mark.threat("S5")
async def test_what_our_side_of_the_process_was_made_to_send_is_looked_through_again(project: Project):
    values = {"1e999": "result is inf", "[" * 70 + "]" * 70: "more than 64", "9" * 400: "more than 309 digits"}
    project.add_tool(
        "lies",
        """
        data = ('{"id": %d, "value": %s}' % (context._request, args["value"])).encode()
        context._link._write(len(data).to_bytes(4, "big") + data)
        """,
    )

    async with project.open() as opened:
        for value, says in values.items():
            with pytest.raises(ResultUnusable, match=says):
                await opened.call("lies", value=value)


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ("x" * (limits.RESULT_CHARS - 3), True),
        ("x" * (limits.RESULT_CHARS - 2), False),
        ([0] * (limits.RESULT_NODES - 1), True),
        ([0] * limits.RESULT_NODES, False),
        (10**limits.NUMBER_CHARS - 1, True),
        (10**limits.NUMBER_CHARS, False),
    ],
    ids=range(6),
)
def test_a_result_has_so_much_and_no_more(value: Any, fits: bool):
    if fits:
        check_json(value)
    else:
        with pytest.raises(NotJson):
            check_json(value)


@pytest.mark.feature("modules.results")
async def test_content_blocks_are_told_from_data(project: Project):
    block = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
    content = {"content": [{"type": "text", "text": "a pixel"}, block], "details": {"pixels": 1}}
    project.add_tool("draws", f"return {content!r}")

    async with project.open() as opened:
        result = await opened.call("draws")
    assert result == Content("a pixel\n[image image/png]", (Media("image", "image/png", PIXEL),), details={"pixels": 1})


@pytest.mark.parametrize(
    "value",
    [
        {"content": []},
        {"content": "text"},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "resource_link", "uri": "file:///etc/passwd"}]},
        {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]},
        {"content": [{"type": "text", "text": "a"}], "_meta": {}},
        {"content": [{"type": "text", "text": "a"}], "structuredContent": {}},
    ],
)
def test_what_is_not_whole_content_stays_data(value: Any):
    assert read_result(value) is value


def test_a_tool_may_say_that_it_failed():
    assert read_result({"content": [{"type": "text", "text": "no"}], "isError": True}).is_error
