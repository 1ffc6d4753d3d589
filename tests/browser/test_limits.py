"""What pages may offer and return: everything at its limit comes whole, and one more is cut, counted or named."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.tools.tool import Tool
from tests.browser.asking import answer_dialog, call, code, list_tools, open_page, read
from tests.browser.giving import open_giver
from tests.sites import Site, offering, tool

PING = tool("ping", "() => 'pong'")


TOOL = {"name": "'big'", "description": "''", "inputSchema": "{}", "execute": "() => 1"}


def group_with(**parts: str) -> str:
    """A list of one group with one tool."""
    words = ", ".join(f"{name}: {word}" for name, word in (TOOL | parts).items())
    return f"[{{name: 'Big', tools: [{{{words}}}]}}]"


@dataclass(frozen=True)
class Offered:
    """What a page answers beside a tool that is well.

    Attributes:
        groups: JavaScript, in which SIZE is how much of it there is; one of it is the tool that is well.
        measure: how much of it there is in the registry.
        beyond: what is said of one more.
    """

    limit: int
    groups: str
    measure: Callable[[list[Tool]], int]
    beyond: str


OFFERED = {
    "groups": Offered(
        limits.GROUPS_PER_PAGE,
        "Array.from({length: SIZE - 1}, () => ({name: 'G', tools: [{name: 't', description: '', inputSchema: {}, "
        "execute() {}}]}))",
        lambda tools: len({str(tool.id).partition(".")[0] for tool in tools}),
        "1 more answers came after the first 20",
    ),
    "tools": Offered(
        limits.TOOLS_PER_PAGE,
        "[{name: 'Many', tools: Array.from({length: SIZE - 1}, () => ({name: 't', description: '', inputSchema: {}, "
        "execute() {}}))}]",
        len,
        "1 tools were left out",
    ),
    "name": Offered(
        limits.NAME_CHARS,
        group_with(name="'n'.repeat(SIZE)"),
        lambda tools: max(len(tool.name) for tool in tools),
        "name must be at most 128 characters",
    ),
    "description": Offered(
        limits.DESCRIPTION_CHARS,
        group_with(description="'d'.repeat(SIZE)"),
        lambda tools: max(len(tool.description) for tool in tools),
        "its description of 1001 characters was cut",
    ),
    "schema": Offered(
        limits.SCHEMA_CHARS,
        group_with(inputSchema="{title: 's'.repeat(SIZE - '{\"title\":\"\"}'.length)}"),
        lambda tools: max(len(tool.schema_text) for tool in tools),
        "inputSchema must be at most 65536 characters of JSON",
    ),
}


async def offer(agent: Agent, bridge: Bridge, site: Site, offered: Offered, size: int) -> tuple[int, list[str]]:
    """How much of it there is, and what is said to be wrong."""
    script = f"""<script>addEventListener('devtoolstooldiscovery', event => {{
      event.respondWith({{name: 'Ping', tools: [{PING}]}});
      for (const group of {offered.groups.replace("SIZE", str(size))}) event.respondWith(group);
    }})</script>"""
    handle = await open_page(agent, site.page(f"/limit{size}", script))
    problems = (await list_tools(agent, handle))["problems"]
    assert (await call(agent, handle, "ping")).text == "pong"
    return offered.measure(list(bridge.registry.snapshot[handle])), problems


@pytest.mark.parametrize("what", OFFERED)
async def test_what_a_page_offers_comes_whole_at_its_limit_and_beyond_it_that_is_said(
    agent: Agent, bridge: Bridge, site: Site, what: str
):
    offered = OFFERED[what]

    at, none = await offer(agent, bridge, site, offered, offered.limit)
    beyond, problems = await offer(agent, bridge, site, offered, offered.limit + 1)

    assert (at, none) == (offered.limit, [])
    assert beyond <= offered.limit
    assert offered.beyond in problems[0], problems


@pytest.mark.parametrize(
    ("limit", "source", "mark"),
    [
        (limits.RESULT_CHARS, "'x'.repeat({})", "[1 more character]"),
        (limits.RESULT_STRING_CHARS, "['x'.repeat({})]", "[1 more character]"),
        (limits.RESULT_ITEMS, "new Array({}).fill(0)", "[1 more item]"),
        (limits.RESULT_KEYS, "Object.fromEntries(new Array({}).fill(0).map((_, n) => [n, n]))", '"[more keys]":1'),
        (limits.RESULT_DEPTH, "[...Array({} - 1)].reduce(inside => [inside], [])", "[nested too deeply]"),
    ],
    ids=["whole", "string", "items", "keys", "depth"],
)
async def test_a_result_comes_whole_at_its_limit_and_one_more_is_cut_and_counted(
    agent: Agent, bridge: Bridge, site: Site, limit: int, source: str, mark: str
):
    give = await open_giver(bridge, agent, site)

    at = (await give(f"({source.format(limit)})")).text
    beyond = (await give(f"({source.format(limit + 1)})")).text

    assert mark not in at
    assert mark in beyond


@pytest.mark.threat("P13")
async def test_an_address_is_shown_whole_at_its_limit_and_a_longer_one_is_cut(agent: Agent, site: Site):
    url = site.page("/address", offering(PING)) + "#"
    page = await open_page(agent, url)
    longest = url.ljust(limits.URL_CHARS, "x")

    at = read(await agent.navigate_page(page, longest, None))["url"]
    beyond = read(await agent.navigate_page(page, longest + "x", None))["url"]

    assert at == longest
    assert beyond == longest + "…"


@pytest.mark.threat("P13")
@pytest.mark.parametrize(
    ("size", "shown", "accepted"),
    [
        (limits.DIALOG_CHARS, limits.DIALOG_CHARS, limits.DIALOG_CHARS),
        (limits.DIALOG_CHARS + 1, limits.DIALOG_CHARS, limits.DIALOG_CHARS + 1),
        (limits.ARGUMENT_BYTES, limits.DIALOG_CHARS, limits.ARGUMENT_BYTES),
        (limits.ARGUMENT_BYTES + 1, limits.DIALOG_CHARS, limits.ARGUMENT_BYTES),
    ],
)
async def test_what_a_prompt_suggests_is_shown_and_accepted_up_to_a_limit_each(
    agent: Agent, site: Site, size: int, shown: int, accepted: int
):
    asks = tool("asks", f"() => prompt('?', 'x'.repeat({size})).length")
    page = await open_page(agent, site.page(f"/suggests{size}", offering(asks)))

    assert code(await call(agent, page, "asks")) == "dialog_open"
    [told] = [each for each in read(await agent.list_pages())["pages"] if each["page"] == page]
    answer = await answer_dialog(agent, page, True, None)

    assert len(told["dialog"]["default_text"]) == shown
    assert answer.text == str(accepted)
