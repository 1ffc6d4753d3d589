"""Pictures, as the real MCP client gets them over real stdio."""

import base64

import pytest
from mcp_types import AudioContent, ImageContent, TextContent

from tests.e2e.client import ERAS, Era, open_agent
from tests.sites import Site, offering, tool

WAV = base64.b64encode(b"RIFF\x24\0\0\0WAVEfmt " + bytes(28)).decode()

PAGE = offering(
    tool("shoot", "() => new OffscreenCanvas(64, 48).getContext('2d').canvas"),
    tool("play", f"() => 'data:;base64,{WAV}'"),
)


@pytest.mark.parametrize("era", ERAS)
async def test_an_agent_sees_what_a_tool_paints(era: Era, site: Site):
    async with open_agent("--open", site.page("/paints", PAGE), era=era) as agent:
        painted = await agent.call_tool("call_page_tool", {"page": "p1", "tool": "shoot"})
        played = await agent.call_tool("call_page_tool", {"page": "p1", "tool": "play"})

    [line, image] = painted.content
    assert isinstance(line, TextContent)
    assert isinstance(image, ImageContent)
    assert line.text.startswith("[image image/png, 64\u00d748, ")
    assert image.mime_type == "image/png"
    assert base64.b64decode(image.data).startswith(b"\x89PNG")
    assert played.content[1:] == [AudioContent(data=WAV, mime_type="audio/wav")]
