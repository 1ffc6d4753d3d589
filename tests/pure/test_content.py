"""What a WebMCP tool answered in the form of MCP: texts are read, all else stays data."""

import json
from dataclasses import replace

import pytest

from bridge.errors import PageThrew
from bridge.page.invocation import Ending
from bridge.tools.sources.content import read_completed
from bridge.tools.tool import Tool
from tests.pure.offers import offer

TEXT = {"type": "text", "text": "fine"}


def webmcp_tool() -> Tool:
    [tool] = offer("give")
    return replace(tool, kind="webmcp")


def ending(value: object) -> Ending:
    return Ending("completed", "json", json.dumps(value, separators=(",", ":")), "", "", "")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"content": [TEXT]}, "fine"),
        ({"content": [TEXT, TEXT], "isError": False}, "fine\nfine"),
        ({"isError": False, "content": [{"text": "", "type": "text"}]}, ""),
    ],
)
def test_texts_alone_become_one_text(value: object, text: str):
    read = read_completed(webmcp_tool(), ending(value))

    assert (read.kind, read.text) == ("string", text)


@pytest.mark.parametrize(
    "value",
    [
        {"content": []},
        {"content": [TEXT, {"type": "image", "data": "eA==", "mimeType": "image/png"}]},
        {"content": [{"type": "resource_link", "uri": "file:///etc/passwd"}]},
        {"content": [{"type": "resource", "resource": {"uri": "file:///etc/passwd", "text": "x"}}]},
        {"content": [{**TEXT, "_meta": {"secret": 1}}]},
        {"content": [TEXT], "structuredContent": {"a": 1}},
        {"content": [TEXT], "_meta": {"done": True}},
        {"content": [TEXT], "_attachImage": "x"},
        {"content": [{"type": "text", "text": 7}]},
        {"content": ["fine"]},
        {"content": "fine", "more": ['"content":[']},
        {"inner": {"content": [TEXT]}},
        [{"content": [TEXT]}],
    ],
)
def test_all_else_stays_data(value: object):
    given = ending(value)

    assert read_completed(webmcp_tool(), given) is given


def test_a_tool_that_says_it_failed_has_failed_in_its_own_words():
    with pytest.raises(PageThrew, match=r"says that it failed: fine$"):
        read_completed(webmcp_tool(), ending({"content": [TEXT], "isError": True}))
    with pytest.raises(PageThrew, match="resource_link"):
        read_completed(webmcp_tool(), ending({"content": [{"type": "resource_link"}], "isError": True}))


def test_the_form_of_mcp_means_nothing_in_an_answer_to_the_discovery_event():
    [tool] = offer("give")
    given = ending({"content": [TEXT], "isError": True})

    assert read_completed(tool, given) is given


def test_text_that_is_nested_too_deeply_to_be_read_stays_text():
    given = replace(ending(None), text='{"content":[' + "[" * 100_000 + "]" * 100_000 + "]}")

    assert read_completed(webmcp_tool(), given) is given


def test_a_string_stays_a_string():
    given = Ending("completed", "string", '{"content":[{"type":"text","text":"x"}]}', "", "", "")

    assert read_completed(webmcp_tool(), given) is given
