"""Addresses that an agent gives: pages of the web, files in its folders where those are allowed, and nothing else."""

import os
from pathlib import Path

import pytest

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.folders import Folders
from bridge.settings import PageSettings
from tests.browser.asking import call, code, facts, list_tools, names, open_page, page_of, read
from tests.sites import Site, offering, tool

WHOAMI = offering(tool("whoami", "() => location.pathname"), tool("big", "() => 'x'.repeat(100_000)"))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with a page, and one beside it."""
    tmp_path = tmp_path.resolve()
    for folder in ("work", "secret"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "page.html").write_text(WHOAMI)
    return tmp_path / "work"


@pytest.fixture
def page_settings(work: Path) -> PageSettings:
    return PageSettings(allow_file=True, folders=Folders((str(work),)))


@pytest.mark.feature("rules.folders")
async def test_a_file_in_a_folder_of_the_agent_is_opened_where_it_really_is(agent: Agent, work: Path):
    work.with_name("way").symlink_to(work)

    handle = await open_page(agent, work.with_name("way").joinpath("page.html").as_uri() + "?a#b")

    listing = await list_tools(agent, handle)
    assert names(listing) == ["whoami", "big"]
    assert (listing["url"], listing["origin"]) == (
        f"file://{work}/page.html?a#b",
        f"file://{work}/page.html?a",
    )
    assert (await call(agent, handle, "whoami")).text == f"{work}/page.html"


@pytest.mark.feature("rules.folders")
@pytest.mark.threat("C8", "F3")
@pytest.mark.parametrize("what", ["elsewhere", "above", "link", "link elsewhere", "pipe", "device", "host", "folder"])
async def test_no_other_file_is_opened(agent: Agent, bridge: Bridge, work: Path, what: str):
    handle = await open_page(agent, (work / "page.html").as_uri())
    place, secret = work / "place.html", work.parent / "secret" / "page.html"
    url = place.as_uri()
    match what:
        case "elsewhere":
            url = secret.as_uri()
        case "above":
            url = f"file://{work}/%2e%2e/secret/page.html"
        case "link":
            place.symlink_to(work / "page.html")
        case "link elsewhere":
            place.symlink_to(secret)
        case "pipe":
            os.mkfifo(place)
        case "device":
            url = "file:///dev/zero"
        case "host":
            url = "file://host/share/page.html"
        case _:
            place.mkdir()
    before = len(list(await bridge.wait_pages()))

    for answer in (await agent.navigate_page(handle, url, None), await agent.open_page(url)):
        assert facts(answer) == ("not_allowed", "rejected", False)
        assert answer.text.endswith(".")

    pages = await bridge.wait_pages()
    assert len(list(pages)) == before
    assert pages.find(handle).url == (work / "page.html").as_uri()
    assert (await call(agent, handle, "whoami")).text == f"{work}/page.html"


@pytest.mark.threat("F3", "F8")
async def test_a_page_that_leaves_the_folders_by_itself_has_no_tools_there(agent: Agent, bridge: Bridge, work: Path):
    handle = await open_page(agent, (work / "page.html").as_uri())
    await list_tools(agent, handle)
    page = await page_of(bridge, handle)

    await page.navigate(work.with_name("secret").joinpath("page.html").as_uri())

    assert facts(await call(agent, handle, "whoami")) == ("origin_changed", "rejected", False)
    listing = await list_tools(agent, handle)
    assert names(listing) == []
    [problem] = listing["problems"]
    assert "this page is a file in none of the folders that an agent may use; --allow-dir adds one" in problem
    await page.navigate((work / "page.html").as_uri())
    assert names(await list_tools(agent, handle)) == ["whoami", "big"]


async def test_a_result_that_was_kept_may_be_looked_at(agent: Agent, work: Path):
    handle = await open_page(agent, (work / "page.html").as_uri())
    await list_tools(agent, handle)
    [kept] = [word for word in (await call(agent, handle, "big")).text.split() if ".txt]" in word]

    shown = await open_page(agent, Path(kept.removesuffix("]")).as_uri())

    assert (await list_tools(agent, shown))["url"] == Path(kept.removesuffix("]")).as_uri()


REFUSED = [
    "javascript:document.title='ran'",
    "JavaScript:document.title='ran'",
    "java\nscript:document.title='ran'",
    " javascript:document.title='ran'",
    "\x01javascript:document.title='ran'",
    "data:text/html,<title>ran</title>",
    "blob:{site}/0",
    "chrome://version/",
    "chrome-error://chromewebdata/",
    "chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai/index.html",
    "devtools://devtools/bundled/inspector.html",
    "view-source:{site}/web",
    "about:srcdoc",
    "about:blank#x",
    "filesystem:{site}/temporary/x",
    "ftp://127.0.0.1/",
    "ws://127.0.0.1/",
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "/etc/passwd",
    "",
]


@pytest.mark.threat("F3")
@pytest.mark.parametrize("page_settings", [PageSettings()])
async def test_an_agent_goes_to_no_address_of_another_kind(agent: Agent, bridge: Bridge, site: Site):
    handle = await open_page(agent, site.page("/web", WHOAMI))
    before = len(list(await bridge.wait_pages()))

    for url in (url.format(site=site.origin) for url in REFUSED):
        for answer in (await agent.navigate_page(handle, url, None), await agent.open_page(url)):
            assert code(answer) == "usage", url
            assert "give a whole http or https address" in answer.text

    assert len(list(await bridge.wait_pages())) == before
    [described] = [page for page in read(await agent.list_pages())["pages"] if page["page"] == handle]
    assert (described["url"], described["title"]) == (f"{site.origin}/web", "/web")
