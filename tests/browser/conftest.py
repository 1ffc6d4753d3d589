"""One Chromium for the whole run; each test attaches anew, has its own tabs, and leaves none behind."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from typing import Protocol
from urllib.parse import urlencode

import pytest
import trio

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge, open_bridge
from bridge.settings import AttachOptions, PageSettings
from tests.browser.asking import call, open_page
from tests.browsers import RunningBrowser, run_chromium
from tests.sites import Site, serve_site

HEALTHY_SECONDS = 5.0
"""A call that takes some milliseconds has to be done by then, also on a busy machine."""


@pytest.fixture(autouse=True)
def _calls_as_fast_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many there may be in a second is tested by itself; a fast machine is no reason for a test to fail."""
    monkeypatch.setattr(limits, "CALLS_PER_SECOND", 1e6)
    monkeypatch.setattr(limits, "CALLS_AT_ONCE", 1_000_000)


@pytest.fixture(scope="session")
def chromium() -> Iterator[str]:
    """The websocket address of a browser that is not the bridge's own."""
    with run_chromium() as browser:
        yield browser.websocket


@pytest.fixture(scope="session")
def running_webmcp_chromium() -> Iterator[Callable[[], RunningBrowser]]:
    """Gives the one that runs, and starts another where that has ended."""
    with ExitStack() as stack:
        started: list[RunningBrowser] = []

        def give() -> RunningBrowser:
            if not started or started[-1].process.poll() is not None:
                started.append(stack.enter_context(run_chromium("about:blank", "--enable-features=WebMCP")))
            return started[-1]

        yield give


@pytest.fixture
def webmcp_chromium(running_webmcp_chromium: Callable[[], RunningBrowser]) -> str:
    """Another one, whose pages have `document.modelContext`.

    With that feature on, Chromium 156 ends as a whole where a document that is left is asked for its tools at the
    wrong moment. No test is to pay for another one's navigation.
    """
    return running_webmcp_chromium().websocket


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with serve_site() as site:
        yield site


@pytest.fixture(scope="session")
def other_site() -> Iterator[Site]:
    """Another origin."""
    with serve_site() as site:
        yield site


@pytest.fixture
def page_settings() -> PageSettings:
    """For the bridge; a test that needs others is parametrized with them."""
    return PageSettings()


@pytest.fixture
async def bridge(chromium: str, page_settings: PageSettings) -> AsyncIterator[Bridge]:
    """A bridge attached to the shared browser. At its end the pages of this test are closed."""
    with trio.fail_after(60):
        async with open_bridge(AttachOptions(where=chromium), settings=page_settings) as bridge:
            pages = await bridge.wait_pages()
            before = {page.handle for page in pages}
            yield bridge
            with trio.CancelScope(shield=True), trio.fail_after(10):
                for page in pages:
                    if page.handle not in before:
                        await pages.close(page)


@pytest.fixture
def agent(bridge: Bridge) -> Agent:
    return Agent(bridge)


class OpenHostile(Protocol):
    """Open a page of `tests/pages/hostile/`, and return its handle.

    Args:
        how: which of its ways to be hostile, where it has several.
    """

    async def __call__(self, name: str, how: str = "") -> str: ...


@pytest.fixture
async def hostile(agent: Agent, site: Site) -> AsyncIterator[OpenHostile]:
    """Hostile pages; what a test does with them costs a healthy page beside them nothing."""
    healthy = await open_page(agent, site.elsewhere().origin + "/healthy.html")

    async def open_hostile(name: str, how: str = "") -> str:
        return await open_page(agent, f"{site.origin}/hostile/{name}.html?{urlencode({'how': how})}")

    yield open_hostile
    with trio.fail_after(HEALTHY_SECONDS):
        assert (await call(agent, healthy, "add", {"a": 1, "b": 2})).text == "3"
