"""What a tool answered in the form of MCP: what was checked is passed on, all else stays data."""

import base64
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.errors import PageThrew
from bridge.page.invocation import Ending
from bridge.page.media import Media, Resource
from bridge.tools.modules.results import read_result
from bridge.tools.own import Content
from bridge.tools.sources.content import describe_block, read_completed, write_blocks
from bridge.tools.tool import Tool
from tests.pure.offers import offer

TEXT = {"type": "text", "text": "fine"}
GIF = base64.b64encode(b"GIF89a" + bytes(20)).decode()
WAV = base64.b64encode(b"RIFF....WAVEfmt ").decode()
IMAGE = {"type": "image", "data": GIF, "mimeType": "text/html"}
AUDIO = {"type": "audio", "data": WAV, "mimeType": "audio/wav"}
LARGE = base64.b64encode(b"GIF89a" + bytes(limits.MEDIA_BYTES)).decode()
URI = "https://shop.example/terms"


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


def test_a_picture_comes_with_a_line_at_its_place_and_the_type_of_its_bytes():
    read = read_completed(webmcp_tool(), ending({"content": [IMAGE, TEXT]}))

    assert (read.kind, read.text) == ("string", "[image image/gif]\nfine")
    assert read.media == (Media("image", "image/gif", GIF),)


@pytest.mark.feature("results.content")
@pytest.mark.threat("P10")
@pytest.mark.parametrize("block", [AUDIO, {"type": "resource", "resource": {"uri": URI, "text": "x"}}])
def test_sounds_and_resources_are_for_origins_that_the_user_named(block: object):
    given = ending({"content": [TEXT, block]})

    assert read_completed(webmcp_tool(), given) is given
    assert len(read_completed(webmcp_tool(), given, trusted=True).media) == 1


@pytest.mark.parametrize(
    ("resource", "read"),
    [
        ({"uri": URI, "text": "x", "mimeType": "text/html"}, Resource(URI, "text/html", "x", None)),
        ({"uri": URI, "text": "x", "mimeType": "image/png"}, Resource(URI, "text/plain", "x", None)),
        ({"uri": URI, "text": "x"}, Resource(URI, "text/plain", "x", None)),
        ({"uri": URI, "blob": GIF, "mimeType": "text/html"}, Resource(URI, "image/gif", None, GIF)),
    ],
)
def test_a_resource_is_embedded_as_what_it_is(resource: object, read: Resource):
    [tool] = offer("give")
    given = ending({"content": [{"type": "resource", "resource": resource}]})

    assert read_completed(tool, given, trusted=True).media == (read,)
    assert read_completed(tool, given) is given


@pytest.mark.threat("P10")
@pytest.mark.parametrize(
    "block",
    [
        {**IMAGE, "data": WAV},
        {**AUDIO, "data": GIF},
        {**IMAGE, "data": LARGE},
        {**IMAGE, "data": GIF[:-1]},
        {**IMAGE, "data": "data:image/gif;base64," + GIF},
        {**IMAGE, "data": ""},
        {**IMAGE, "data": base64.b64encode(b"plain text").decode()},
        {**IMAGE, "_meta": {}},
        {"type": "image", "data": GIF},
        {"type": "resource_link", "uri": URI, "name": "terms"},
        {"type": "resource", "resource": {"uri": "file:///etc/passwd", "text": "x"}},
        {"type": "resource", "resource": {"uri": "data:,x", "text": "x"}},
        {"type": "resource", "resource": {"uri": URI + " x", "text": "x"}},
        {"type": "resource", "resource": {"uri": URI, "text": "x", "_meta": {}}},
        {"type": "resource", "resource": {"uri": URI, "text": "x", "blob": GIF}},
        {"type": "resource", "resource": {"uri": URI, "blob": LARGE}},
        {"type": "resource", "resource": {"uri": URI, "text": "x" * (limits.INLINE_BYTES + 1)}},
        {"type": "resource", "resource": "x"},
        {"type": "file", "data": GIF, "mimeType": "x"},
        "image",
    ],
)
def test_a_block_that_is_not_taken_leaves_the_whole_as_data_however_trusted(block: object):
    [tool] = offer("give")
    given = ending({"content": [TEXT, block]})
    failing = ending({"content": [TEXT, block], "isError": True})

    assert read_completed(tool, given, trusted=True) is given
    assert read_completed(tool, failing, trusted=True) is failing


@pytest.mark.threat("P10")
@pytest.mark.parametrize("key", ["structuredContent", "_meta", "_attachImage", "done"])
def test_another_key_leaves_the_whole_as_data_however_trusted(key: str):
    [tool] = offer("give")
    given = ending({"content": [TEXT], key: {}})

    assert read_completed(tool, given, trusted=True) is given


def test_more_pictures_than_an_answer_takes_are_data():
    most = ending({"content": [IMAGE] * limits.MEDIA_BLOCKS})
    more = ending({"content": [IMAGE] * (limits.MEDIA_BLOCKS + 1)})

    assert len(read_completed(webmcp_tool(), most).media) == limits.MEDIA_BLOCKS
    assert read_completed(webmcp_tool(), more) is more


@pytest.mark.threat("P10")
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
    [tool] = offer("give")
    with pytest.raises(PageThrew, match=r"says that it failed: fine\n\[image image/gif\]$"):
        read_completed(tool, ending({"content": [TEXT, IMAGE], "isError": True}), trusted=True)


@pytest.mark.threat("P10")
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


MEDIA = (Media("image", "image/gif", GIF), Media("audio", "audio/wav", WAV), Resource(URI, "text/plain", "terms", None))


@given(
    st.lists(st.sampled_from(MEDIA) | st.sampled_from(["", "fine", "[image image/gif]", "[image image/gif, 1 byte]"]))
)
def test_what_is_written_as_content_blocks_is_read_as_it_was(parts: list[str | Media | Resource]):
    parts = parts[: limits.MEDIA_BLOCKS]
    media = tuple(part for part in parts if not isinstance(part, str))
    text = "\n".join(map(describe_block, parts))

    read = read_result({"content": write_blocks(text, media)})

    assert isinstance(read, Content)
    assert (read.text, read.media) == (text, media)
