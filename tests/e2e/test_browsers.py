"""A headless shell does what the whole Chromium of all other tests does, launched and attached to."""

from pathlib import Path

import pytest

from tests.browsers import NEEDS_SHELL, SHELL, run_chromium
from tests.e2e.client import open_agent, read, text_of
from tests.sites import Site, offering, tool

PAGE = offering(tool("where", "() => location.pathname"), tool("ask", "() => String(confirm('sure?'))"))


@pytest.mark.feature("browser.launch")
@NEEDS_SHELL
@pytest.mark.parametrize("words", [(), ("--debug-port", "0")], ids=["pipe", "port"])
async def test_a_browser_that_is_launched_runs_tools(words: tuple[str, ...], site: Site):
    url = site.page("/launched", PAGE)
    async with open_agent("--browser", SHELL, "--open", url, "--dialogs", "accept", *words) as agent:
        for action in ("reload", "reload"):
            answer = await agent.call_tool("call_page_tool", {"page": "p1", "tool": "where"})
            assert text_of(answer) == "/launched"
            await agent.call_tool("navigate_page", {"page": "p1", "action": action})
        asked = await agent.call_tool("call_page_tool", {"page": "p1", "tool": "ask"})

    assert not asked.is_error
    assert any("true" in block.text for block in asked.content if block.type == "text")


@NEEDS_SHELL
@pytest.mark.parametrize("form", ["http", "profile"])
async def test_a_browser_that_runs_already_is_attached_to_and_left_as_it_was(form: str, site: Site, tmp_path: Path):
    url = site.page("/attached", PAGE)
    with run_chromium(url, profile=tmp_path, program=SHELL) as running:
        async with open_agent("--attach", str(getattr(running, form))) as agent:
            pages = read(await agent.call_tool("list_pages", {}))["pages"]
            [page] = [page["page"] for page in pages if page["url"] == url]
            assert text_of(await agent.call_tool("call_page_tool", {"page": page, "tool": "where"})) == "/attached"
        assert running.process.poll() is None
