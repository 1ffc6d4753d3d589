"""Tools of pages that are named as ours are, or oddly: no name reaches anything but what it is a name of."""

import json

import pytest
from mcp import Client, MCPError
from mcp_types import INVALID_PARAMS

from bridge.calls.built_ins import BUILT_INS
from bridge.tools.naming import PREFIX
from tests.e2e.client import ERAS, Era, read, text_of
from tests.e2e.hostile import open_hostile
from tests.odd_names import NAMES, ODD_NAMES, TOO_LONG, serve_names
from tests.sites import Site


async def what_ran(agent: Client) -> list[str]:
    """Since it was asked last."""
    answer = await agent.call_tool("call_page_tool", {"page": "p2", "tool": "what ran"})
    return json.loads(text_of(answer))


@pytest.mark.threat("P1")
@pytest.mark.parametrize("era", ERAS)
async def test_whatever_a_tool_of_a_page_is_named_ours_stay_what_they_are(era: Era, site: Site):
    serve_names(site)
    ours = [tool.name for tool in BUILT_INS]
    async with open_hostile(site, "names", "--direct", era=era) as agent:
        listed = (await agent.list_tools()).tools
        assert await what_ran(agent) == []

        # By the name of one, a tool of ours is reached: those that need arguments say so.
        for name in ours:
            answer = await agent.call_tool(name, {})
            assert answer.structured_content is not None
            assert "pages" in answer.structured_content or answer.structured_content["code"] == "arguments_invalid"
        for name in (*ODD_NAMES, TOO_LONG):
            if not name.startswith(PREFIX):
                with pytest.raises(MCPError) as unknown:
                    await agent.call_tool(name, {})
                assert unknown.value.error.code == INVALID_PARAMS
        assert await what_ran(agent) == []

        # A tool of the page has a name of the bridge's making, and is reached by that.
        theirs = {tool.name: (tool.meta or {})["pagebridge"] for tool in listed[len(ours) :]}
        named = {name: told["name"] for name, told in theirs.items() if told["name"] in NAMES}
        for name in (*(f"{PREFIX}{name}" for name in ours), "page_list_pages_p2", *list(named)[-10:]):
            if name in named:
                assert read(await agent.call_tool(name, {})) == {"name": named[name]}

    assert [tool.name for tool in listed[: len(ours)]] == ours
    assert len(theirs) == len(NAMES) + 2, "two are no part of the test"
    assert all(name.startswith(PREFIX) for name in theirs)
    assert sorted(named.values()) == sorted(NAMES)
