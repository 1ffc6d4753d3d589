"""Forms that are tools: `<form toolname=… tooldescription=…>`."""

import pytest

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from tests.browser.asking import call, facts, list_tools, open_page, page_of
from tests.browser.webmcp import FORM, evaluate
from tests.sites import Site


@pytest.fixture
def chromium(webmcp_chromium: str) -> str:
    """In this file, pages have it."""
    return webmcp_chromium


@pytest.mark.feature("webmcp.forms")
async def test_a_form_is_listed_as_declarative_and_one_that_waits_for_a_person_says_so(
    agent: Agent, bridge: Bridge, site: Site
):
    handle = await open_page(agent, site.page("/form", FORM.format(name="search", more="")))

    [found] = (await list_tools(agent, handle))["groups"][0]["tools"]
    answer = await call(agent, handle, "search", {"q": "shoes"})

    assert (found["kind"], found["claims"]) == ("webmcp", {"declarative": True})
    assert found["inputSchema"]["required"] == ["q"]
    assert not answer.is_error
    assert "filled in its form, and the form waits for a person to submit it: nothing was sent" in answer.text
    assert await evaluate(await page_of(bridge, handle), "form.q.value") == "shoes"


async def test_a_form_in_a_closed_shadow_tree_says_that_it_waits_too(agent: Agent, site: Site):
    hidden = f"""<div id=host></div><script>
      host.attachShadow({{mode: 'closed'}}).innerHTML = `{FORM.format(name="hidden", more="")}`</script>"""
    page = await open_page(agent, site.page("/shadow", hidden))

    [found] = (await list_tools(agent, page))["groups"][0]["tools"]

    assert found["claims"] == {"declarative": True}
    assert "waits for a person" in (await call(agent, page, "hidden", {"q": "x"})).text


@pytest.mark.feature("webmcp.forms")
async def test_a_form_that_submits_itself_gives_what_its_page_answers(agent: Agent, site: Site):
    responding = """<script>form.addEventListener('submit', event => {
      event.preventDefault();
      event.respondWith(new Promise(done => setTimeout(done, 200, {found: form.q.value})));
    })</script>"""
    page = await open_page(agent, site.page("/auto", FORM.format(name="search", more="toolautosubmit") + responding))

    # Its answer takes longer than a form has that does not submit itself.
    assert (await call(agent, page, "search", {"q": "shoes"})).text == '{"found":"shoes"}'


async def test_a_form_that_takes_the_page_elsewhere_has_run(agent: Agent, bridge: Bridge, site: Site):
    target = site.page("/found", "<p>found")
    leaving = FORM.format(name="search", more="toolautosubmit action=/found")
    handle = await open_page(agent, site.page("/leaving", leaving))
    page = await page_of(bridge, handle)

    answer = await call(agent, handle, "search", {"q": "shoes"})
    await page.wait_changed(lambda: page.url == f"{target}?q=shoes")

    assert not answer.is_error or facts(answer) == ("navigated_during_call", "unknown", True)


@pytest.mark.feature("webmcp.forms")
async def test_what_a_form_refuses_is_a_failure(agent: Agent, site: Site):
    page = await open_page(agent, site.page("/refusing", FORM.format(name="search", more="")))

    answer = await call(agent, page, "search", {"q": "x", "colour": "red"})

    assert facts(answer) == ("tool_threw", "failed", True)
    assert "colour" in answer.text
