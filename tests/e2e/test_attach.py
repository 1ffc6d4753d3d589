"""A browser that runs already is used, and left as it was."""

import json
import urllib.request
from collections.abc import Iterator

import pytest
import trio

from tests.browsers import RunningBrowser, run_chromium
from tests.e2e.client import open_agent, read, text_of
from tests.sites import Site, offering, tool

PAGE = offering(tool("where", "() => location.pathname"))


@pytest.fixture(scope="module")
def running(site: Site) -> Iterator[RunningBrowser]:
    with run_chromium(site.page("/theirs", PAGE)) as browser:
        yield browser


def tabs_of(browser: RunningBrowser) -> dict[str, str]:
    """Target id → URL, as the browser itself tells."""
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{browser.http}/json/list") as answer:
        return {tab["id"]: tab["url"] for tab in json.load(answer) if tab["type"] == "page"}


@pytest.mark.feature("browser.attach")
@pytest.mark.parametrize("form", ["http", "websocket", "profile"])
async def test_each_form_attaches_and_leaves_the_browser_and_its_tabs(running: RunningBrowser, site: Site, form: str):
    tabs = await trio.to_thread.run_sync(tabs_of, running)
    address = site.origin + "/theirs"
    assert address in tabs.values()

    async with open_agent("--attach", str(getattr(running, form))) as agent:
        pages = read(await agent.call_tool("list_pages", {}))["pages"]
        [theirs] = [page["page"] for page in pages if page["url"] == address]
        answer = await agent.call_tool("call_page_tool", {"page": theirs, "tool": "where"})
        assert text_of(answer) == "/theirs"

    assert running.process.poll() is None
    assert await trio.to_thread.run_sync(tabs_of, running) == tabs
