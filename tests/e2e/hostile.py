"""A hostile page beside a healthy one, as an agent meets them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import trio
from mcp import Client

from tests.e2e.client import Era, open_agent, text_of
from tests.sites import Site


@asynccontextmanager
async def open_hostile(site: Site, name: str, *words: str, era: Era = "legacy") -> AsyncGenerator[Client]:
    """An agent with the page of that name in `tests/pages/hostile/` as p2. The healthy one, p1, works in the end."""
    async with open_agent("--open", site.elsewhere().origin + "/healthy.html", *words, era=era) as agent:
        opened = await agent.call_tool("open_page", {"url": f"{site.origin}/hostile/{name}.html"})
        assert not opened.is_error, text_of(opened)
        yield agent
        with trio.fail_after(5):
            added = {"page": "p1", "tool": "add", "arguments": {"a": 1, "b": 2}}
            assert text_of(await agent.call_tool("call_page_tool", added)) == "3"
