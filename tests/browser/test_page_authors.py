"""What docs/page-authors.md promises to those who write pages."""

import re
from pathlib import Path

import pytest

from bridge import limits
from bridge.calls.agent import Agent
from tests.browser.asking import call, list_tools, names, open_page
from tests.sites import Site, offering, tool

GUIDE = Path(__file__).parents[2] / "docs/page-authors.md"


def test_the_bounds_of_the_guide_are_those_of_the_code():
    guide = " ".join(GUIDE.read_text(encoding="utf-8").split())
    for bound in (
        f"At most {limits.TOOLS_PER_PAGE} tools in {limits.GROUPS_PER_PAGE} groups count",
        f"at most {limits.NAME_CHARS} characters;",
        f"Cut at {limits.DESCRIPTION_CHARS:,} characters",
        f"at most {limits.SCHEMA_CHARS // 1024} KB |",
    ):
        assert bound in guide
    # In words.
    assert limits.LISTENER_SECONDS == 1
    assert "listeners has one second" in guide
    assert limits.DISCOVERY_SECONDS == 1
    assert "slow answers for up to a second" in guide


@pytest.mark.feature("pages.typed")
async def test_the_page_of_the_guide_works_as_it_is_written(agent: Agent, site: Site):
    [html] = re.findall(r"^```html\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    page = await open_page(agent, site.page("/guide", html))

    listing = await list_tools(agent, page)

    assert (names(listing), listing["problems"]) == (["getCartLines"], [])
    assert (await call(agent, page, "getCartLines")).text == '[{"product":"Tea","amount":2,"price":480}]'
    assert (await call(agent, page, "getCartLines", {"product": "Coffee"})).text == "[]"


@pytest.mark.feature("pages.typed")
async def test_the_typed_script_of_the_guide_works_in_a_page(agent: Agent, site: Site):
    [script] = re.findall(r"^```js\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    page = await open_page(
        agent, site.page("/typed", f"<script>window.state = {{cart: {{total: 12}}}};{script}</script>")
    )

    assert (await call(agent, page, "getState", {"path": "cart.total"})).text == "12"


async def test_a_tool_gets_a_signal_and_progress_beside_its_arguments(agent: Agent, site: Site):
    looks = tool(
        "looks",
        "(input, {signal, progress}) => [input, signal instanceof AbortSignal, signal.aborted, "
        "progress({done: 1, total: 2})]",
    )
    page = await open_page(agent, site.page("/context", offering(looks)))

    assert (await call(agent, page, "looks", {"a": 1})).text == '[{"a":1},true,false,"[undefined]"]'
