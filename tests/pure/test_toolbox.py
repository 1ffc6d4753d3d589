"""Which tools an agent has, what is said of those that it has not, and what has to be known of each."""

import re
from pathlib import Path
from typing import Final, cast, get_args

import pytest
import trio
from trio.testing import MockClock

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.calls.built_ins import BUILT_INS, BY_NAME, browser_tools, inspected_by, read_profile, why_not_offered
from bridge.calls.results import Spill
from bridge.calls.toolbox import Toolbox
from bridge.errors import UsageError
from bridge.settings import AgentSettings, Mode, PageSettings, Tier
from bridge.tools.own import PastCall
from bridge.tools.sources.browser import BROWSER_TOOLS, is_offered
from scripts.tools_reference import DOCUMENT, RESOLVER, debug, list_bytes, write
from tests.pure.test_browser_tools import CELLS

ASK, ACT, DEV = get_args(Mode)
PAGES, ALL = read_profile("pages"), read_profile("debug")

CLASSES: Final = {
    # name: the least mode, the least tier, whether it changes nothing, whether its answer holds words of a page
    "list_pages": (ASK, "compact", True, True),
    "open_page": (ASK, "compact", False, True),
    "navigate_page": (ASK, "compact", False, True),
    "close_page": (ASK, "compact", False, True),
    "list_page_tools": (ASK, "compact", True, True),
    "call_page_tool": (ASK, "compact", False, True),
    "handle_dialog": (ASK, "compact", False, True),
    "resolve_action": (ACT, "compact", False, False),
    "take_snapshot": (ASK, "compact", True, True),
    "take_screenshot": (ASK, "mid", True, True),
    "wait_for": (ACT, "compact", False, True),
    "click": (ACT, "compact", False, True),
    "hover": (ACT, "mid", False, True),
    "fill": (ACT, "compact", False, True),
    "fill_form": (ACT, "mid", False, True),
    "press_key": (ACT, "compact", False, True),
    "select_option": (ACT, "mid", False, True),
    "upload_file": (ACT, "mid", False, True),
    "drag": (ACT, "mid", False, True),
    "evaluate_script": (DEV, "mid", False, True),
    "list_console_messages": (DEV, "mid", True, True),
    "list_network_requests": (DEV, "mid", True, True),
    "get_network_request": (DEV, "mid", True, True),
    "emulate": (ACT, "full", False, False),
    "resize_page": (ACT, "full", False, False),
}
"""A tool that is new is written here by whoever has thought about what it may do."""


def toolbox(mode: Mode, tier: Tier, tools: tuple[str, ...] = ALL) -> Toolbox:
    pages = PageSettings(inspected=inspected_by(tools, mode, tier))
    return Toolbox(Agent(Bridge(Spill(), pages), AgentSettings(mode=mode, tier=tier, tools=tools)))


async def names(box: Toolbox) -> list[str]:
    return [tool.name for tool in (await box.offer()).tools]


@pytest.mark.threat("P20")
@pytest.mark.feature("debugging.classes")
def test_of_each_built_in_tool_somebody_has_said_what_it_may_do():
    found = {
        tool.name: (tool.mode, tool.tier, tool.read_only, tool.page_derived)
        for tool in (*BUILT_INS, RESOLVER, *BROWSER_TOOLS)
    }

    assert found == CLASSES


@pytest.mark.feature("debugging.offered")
@pytest.mark.parametrize(("mode", "tier"), CELLS)
async def test_what_a_mode_and_a_tier_leave_out_is_told_with_the_words_that_bring_it(mode: Mode, tier: Tier):
    box = toolbox(mode, tier)
    offered = await names(box)

    assert sorted(offered) == sorted([*PAGES, *CELLS[mode, tier]])
    for tool in BROWSER_TOOLS:
        assert box.has(tool.name) == (tool.name in offered)
        if tool.name in offered:
            continue
        why = box.why_missing(tool.name)
        answer = await box.run(tool.name, {"page": "p1"})
        assert (answer.is_error, answer.text, (answer.structured or {})["code"]) == (True, why, "tool_not_found")

        # What the sentence says brings the tool.
        given = why.partition("started with ")[2].removesuffix(".").replace(" and ", " ").split()
        words = dict(zip(given[::2], given[1::2], strict=True))
        assert words
        assert words.keys() <= {"--mode", "--tier"}
        assert is_offered(tool, cast("Mode", words.get("--mode", mode)), cast("Tier", words.get("--tier", tier)))


@pytest.mark.parametrize(
    ("name", "loaded", "mode", "tier", "why"),
    [
        ("click", PAGES, ACT, "full", "--tools debug (or with click among the names there)."),
        ("click", ALL, ASK, "full", "--mode act."),
        ("click", ALL, DEV, "compact", "--tier mid."),
        ("hover", ALL, ASK, "compact", "--mode act and --tier mid."),
        ("evaluate_script", ("click",), ACT, "compact",
         "--tools debug (or with evaluate_script among the names there) and --mode dev and --tier mid."),
        ("take_screenshot", ALL, ACT, "compact", "--tier mid."),
        ("emulate", ALL, ACT, "mid", "--tier full."),
        ("list_pages", ("click",), ACT, "full", "--tools debug (or with list_pages among the names there)."),
    ],
)  # fmt: skip
def test_as_little_as_can_be_is_asked_for(name: str, loaded: tuple[str, ...], mode: Mode, tier: Tier, why: str):
    assert why_not_offered(name, loaded, mode, tier) == (
        f"{name} is not offered: it takes a pagebridge that is started with {why}"
    )


async def test_what_the_pages_are_not_watched_for_is_offered_by_a_new_start():
    bridge = Bridge(Spill(), PageSettings())
    box = Toolbox(Agent(bridge, AgentSettings(tools=ALL)))

    assert "click" not in await names(box)
    assert box.why_missing("click") == "click is offered once pagebridge is started anew."


@pytest.mark.feature("modules.context")
async def test_a_module_sees_so_many_of_the_last_calls_and_no_more():
    box = toolbox(ACT, "full")
    await box.run("call_page_tool", {})
    for _ in range(limits.MODULE_CALLS_SEEN - 1):
        await box.run("click", {})

    assert [call.tool for call in box.context("sees").calls] == ["call_page_tool", *["click"] * 99]
    await box.run("drag", {})
    assert [call.tool for call in box.context("sees").calls] == [*["click"] * 99, "drag"]
    assert {call.outcome for call in box.context("sees").calls} == {"rejected"}


@pytest.mark.feature("modules.context")
async def test_a_call_that_was_taken_back_is_among_them(autojump_clock: MockClock):
    box = toolbox(ACT, "full")
    with trio.move_on_after(0.5):
        await box.run("hover", {"page": "p1", "uid": "e1"})

    assert list(box.context("sees").calls) == [PastCall("hover", "unknown", 0.5)]


@pytest.mark.feature("debugging.offered")
async def test_a_list_of_names_is_all_that_is_there_in_the_order_of_the_list():
    tools = read_profile(" click , list_pages,,click,take_snapshot ")
    box = toolbox(ACT, "full", tools)

    assert tools == ("click", "list_pages", "take_snapshot")
    assert await names(box) == ["click", "list_pages", "take_snapshot"]
    assert not box.has("call_page_tool")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("take_snapsot", "There is no built-in tool 'take_snapsot'. Did you mean take_snapshot?"),
        ("click,list_page", "There is no built-in tool 'list_page'. Did you mean list_pages?"),
        ("debugg", "There is no built-in tool 'debugg'. Did you mean debug?"),
        ("a\nb", "There is no built-in tool 'a\\nb'. There are pages, debug, and: " + ", ".join(ALL) + "."),
        (" , ", "--tools needs pages, debug, or names of tools with commas between them."),
        ("", "--tools needs pages, debug, or names of tools with commas between them."),
    ],
)
def test_a_name_that_no_tool_has_is_one_sentence(words: str, sentence: str):
    with pytest.raises(UsageError) as caught:
        read_profile(words)

    assert str(caught.value) == sentence


def test_nobody_has_two_tools_of_one_name():
    assert len({*BY_NAME, *browser_tools(), RESOLVER.name}) == len(BUILT_INS) + len(BROWSER_TOOLS) + 1
    assert {tool.kind for tool in BROWSER_TOOLS} == {"builtin"}
    assert RESOLVER.kind == "project", "it runs a module's code, which may ask the person and needs no browser"


# The reference


@pytest.fixture
def told() -> str:
    return (Path(__file__).parents[2] / DOCUMENT).read_text("utf-8")


@pytest.mark.feature("mcp.small")
async def test_the_reference_says_what_the_code_does(told: str):
    assert told == write(), "run `make tools`"
    assert re.findall("^### (.*)$", told, re.MULTILINE) == [*ALL, RESOLVER.name]
    assert list_bytes(BUILT_INS) < 4096
    for mode, tier in CELLS:
        tools = debug(mode, tier)
        assert [tool.name for tool in tools] == await names(toolbox(mode, tier))
        assert f"{list_bytes(tools):,} bytes, {len(tools)} tools" in told
