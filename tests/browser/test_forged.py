"""Handles, tokens and words of a call that are stale, of somebody else, or made up: nothing runs, and the answer says
so in a sentence. What a tool is given under any name at all is its data."""

import json
import re
from typing import Any, Final

import pytest

from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.bridge import Bridge, open_bridge
from bridge.calls.toolbox import Toolbox
from bridge.settings import AgentSettings, AttachOptions
from tests.browser.asking import facts, list_tools, open_page, page_of, plain, read, run_script
from tests.sites import Site, offering, tool

COUNTS: Final = offering(tool("count", "() => { sessionStorage.runs = 1 + +(sessionStorage.runs ?? 0) }"))


async def runs(bridge: Bridge, handle: str) -> object:
    """How often the tool of the page ran, in whatever document."""
    return await run_script(await page_of(bridge, handle), "+(sessionStorage.runs ?? 0)")


def sentence(answer: Answer) -> str:
    """What an agent reads first of a refusal."""
    first = answer.text.partition("\n")[0]
    assert re.fullmatch(r"[A-Z].*\.", first), first
    assert not re.search(r"Traceback|Error\(|None|object at 0x", first), first
    return first


@pytest.mark.threat("C4")
async def test_a_handle_of_a_closed_page_is_refused_by_every_tool_and_no_other_page_is_meant(
    agent: Agent, bridge: Bridge, site: Site
):
    url = site.page("/counts", COUNTS)
    gone, there = await open_page(agent, url), await open_page(agent, url)
    await list_tools(agent, there)
    await agent.close_page(gone)

    for name, given in (
        ("list_page_tools", {}),
        ("call_page_tool", {"tool": "count"}),
        ("call_page_tool", {"tool": "count", "toolset": (await list_tools(agent, there))["toolset"]}),
        ("navigate_page", {"action": "reload"}),
        ("handle_dialog", {"accept": True}),
        ("close_page", {}),
    ):
        answer = await Toolbox(agent).run(name, {"page": gone, **given})
        assert facts(answer) == ("page_gone", "rejected", False), name
        assert gone in sentence(answer)

    assert await runs(bridge, there) == 0
    assert (await page_of(bridge, there)).url == url


@pytest.mark.threat("C4")
async def test_a_toolset_that_is_not_exactly_that_of_the_page_runs_nothing(
    agent: Agent, bridge: Bridge, site: Site, webmcp_chromium: str
):
    url = site.page("/counts", COUNTS)
    handle, another = await open_page(agent, url), await open_page(agent, url)
    async with open_bridge(AttachOptions(where=webmcp_chromium)) as elsewhere:
        foreigner = Agent(elsewhere)
        foreign = await open_page(foreigner, url)
        tokens = {"of another session": (await list_tools(foreigner, foreign))["toolset"]}
        await foreigner.close_page(foreign)
    tokens["of another page"] = (await list_tools(agent, another))["toolset"]
    tokens["of the document before"] = (await list_tools(agent, handle))["toolset"]
    await agent.navigate_page(handle, None, "reload")
    own = (await list_tools(agent, handle))["toolset"]
    tokens |= {
        "of another session, under our handle": re.sub("^[^-]*", handle, tokens["of another session"]),
        "of the document before, as of now": "-".join([*own.split("-")[:2], tokens["of the document before"][-12:]]),
        "guessed": own[:-1] + ("0" if own[-1] != "0" else "1"),
        "cut": own[:-1],
        "longer": own + "0",
        "in capitals": own.upper(),
        "empty": "",
        "with a space": own + " ",
    }

    for whose, token in tokens.items():
        given = {"page": handle, "tool": "count", "toolset": token}
        answer = await Toolbox(agent).run("call_page_tool", given)
        assert facts(answer) == ("tool_stale", "rejected", False), whose
        assert repr(token) in sentence(answer), whose
    assert await runs(bridge, handle) == 0
    assert await runs(bridge, another) == 0

    assert not (await Toolbox(agent).run("call_page_tool", {"page": handle, "tool": "count", "toolset": own})).is_error
    assert await runs(bridge, handle) == 1


PRIVATE: Final[list[dict[str, Any]]] = [
    {"_page": "p9", "_frame": "f1", "_realm": 1, "_toolset": "p9-1-0"},
    {"page": "p9", "tool": "other", "toolset": "p9-1-0", "select": "/x", "timeout_seconds": 1e9},
    {"signal": {"aborted": True}, "progress": "none", "call": 1, "round": 99, "trusted": True},
    {"_meta": {"progressToken": 1}, "requestState": "x", "mode": "dev", "readOnlyHint": True},
    {"": 1, " ": 2, "toJSON": 3, "then": 4, "length": 5, "toString": 6},
]


@pytest.mark.threat("C4")
@pytest.mark.parametrize("given", PRIVATE, ids=lambda given: " ".join(given))
async def test_what_a_tool_is_given_is_its_data_whatever_its_names(bridge: Bridge, site: Site, given: dict[str, Any]):
    look = (
        "(input, more) => [JSON.stringify(Object.entries(input)), Object.keys(more).sort().join(), more.signal.aborted]"
    )
    agent = Agent(bridge, AgentSettings(direct=True))
    handle = await open_page(agent, site.page("/looks", offering(tool("look", look))))
    assert agent.direct is not None
    [name] = agent.direct.show()

    for answer in (
        await Toolbox(agent).run("call_page_tool", {"page": handle, "tool": "look", "arguments": given}),
        await Toolbox(agent).run(name, given),
    ):
        entries, more, aborted = read(plain(answer))
        assert json.loads(entries) == [list(entry) for entry in given.items()]
        assert (more, aborted) == ("progress,signal", False)
