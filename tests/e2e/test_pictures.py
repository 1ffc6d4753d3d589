"""Pictures, as the real MCP client gets them over real stdio."""

import base64

import pytest
from mcp_types import AudioContent, BlobResourceContents, EmbeddedResource, ImageContent, TextContent

from bridge.calls.frame import unframe
from tests.e2e.client import ERAS, Era, open_agent
from tests.sites import Site, offering, tool

GIF = "R0lGODlhAQABAIAAAMhkMgAAACwAAAAAAQABAAACAkQBADs="
WAV = base64.b64encode(b"RIFF\x24\0\0\0WAVEfmt " + bytes(28)).decode()

PAGE = offering(
    tool("shoot", "() => new OffscreenCanvas(64, 48).getContext('2d').canvas"),
    tool("play", f"() => 'data:;base64,{WAV}'"),
    tool(
        "answer",
        f"""() => ({{content: [{{type: 'text', text: 'See'}}, {{type: 'image', data: '{GIF}', mimeType: 'x'}},
          {{type: 'resource', resource: {{uri: 'https://shop.example/a', mimeType: 'x', blob: '{GIF}'}}}}]}})""",
    ),
)


@pytest.mark.feature("results.pictures")
@pytest.mark.parametrize("era", ERAS)
async def test_an_agent_sees_what_a_tool_paints(era: Era, site: Site):
    async with open_agent("--open", site.page("/paints", PAGE), "--trust-origin", site.origin, era=era) as agent:
        painted = await agent.call_tool("call_page_tool", {"page": "p1", "tool": "shoot"})
        played = await agent.call_tool("call_page_tool", {"page": "p1", "tool": "play"})
        answered = await agent.call_tool("call_page_tool", {"page": "p1", "tool": "answer"})

    [line, image] = painted.content
    assert isinstance(line, TextContent)
    assert isinstance(image, ImageContent)
    assert line.text.startswith("[image image/png, 64\u00d748, ")
    assert image.mime_type == "image/png"
    assert base64.b64decode(image.data).startswith(b"\x89PNG")
    assert played.content[1:] == [AudioContent(data=WAV, mime_type="audio/wav")]
    [words, *blocks] = answered.content
    assert isinstance(words, TextContent)
    assert unframe(words.text) == "See\n[image image/gif]\n[resource image/gif, https://shop.example/a]"
    assert blocks == [
        ImageContent(data=GIF, mime_type="image/gif"),
        EmbeddedResource(resource=BlobResourceContents(uri="https://shop.example/a", mime_type="image/gif", blob=GIF)),
    ]


@pytest.mark.feature("results.content")
@pytest.mark.threat("P10")
async def test_only_an_origin_that_was_named_answers_in_the_form_of_mcp(site: Site):
    words = ("--open", site.page("/paints", PAGE), "--trust-origin", "https://shop.example")
    async with open_agent(*words) as agent:
        answered = await agent.call_tool("call_page_tool", {"page": "p1", "tool": "answer"})

    [data] = answered.content
    assert isinstance(data, TextContent)
    assert unframe(data.text).startswith('{"content":[{"type":"text","text":"See"}')
