"""The tools for debugging as values: each is classified, and offered where its mode and tier say so."""

import json

import pytest

from bridge.settings import TIERS, Mode
from bridge.tools.browser.value import BrowserTool, Tier
from bridge.tools.schema import check_schema
from bridge.tools.sources.browser import BROWSER_TOOLS, is_offered, needs_of

LOOKS = ("take_snapshot", "take_screenshot")
DEV = ("evaluate_script", "list_console_messages", "list_network_requests", "get_network_request")
EXTRA = ("emulate", "resize_page")
COMPACT = ("take_snapshot", "wait_for", "click", "fill", "press_key")
MID = (*COMPACT, "take_screenshot", "hover", "fill_form", "select_option", "upload_file", "drag")

CELLS: dict[tuple[Mode, Tier], tuple[str, ...]] = {
    ("ask", "compact"): LOOKS,
    ("ask", "mid"): LOOKS,
    ("ask", "full"): LOOKS,
    ("act", "compact"): COMPACT,
    ("act", "mid"): MID,
    ("act", "full"): (*MID, *EXTRA),
    ("dev", "compact"): (),
    ("dev", "mid"): (*MID, *DEV, *EXTRA),
    ("dev", "full"): (*MID, *DEV, *EXTRA),
}
"""What a model gets: the more it can take, and the more it may do, the more."""


@pytest.mark.feature("debugging.offered")
@pytest.mark.parametrize(("mode", "tier"), CELLS)
def test_each_mode_and_tier_has_its_tools(mode: Mode, tier: Tier):
    offered = [tool.name for tool in BROWSER_TOOLS if is_offered(tool, mode, tier)]

    assert sorted(offered) == sorted(CELLS[mode, tier])


@pytest.mark.feature("debugging.offered")
def test_there_is_a_cell_for_each_mode_and_tier():
    assert len(CELLS) == 3 * len(TIERS)


@pytest.mark.parametrize("tool", BROWSER_TOOLS, ids=lambda tool: tool.name)
@pytest.mark.threat("P20")
def test_a_tool_says_all_that_has_to_be_known_of_it(tool: BrowserTool):
    assert check_schema(json.dumps(tool.parameters)).check({"page": "p1", "unknown": 1})
    assert tool.parameters["required"][0] == "page"
    assert set(tool.required) <= set(tool.properties)
    assert tool.title
    assert 10 < len(tool.description) < 250
    # What changes nothing is what a person lets run unseen; what holds words of a page is set apart from ours.
    assert not (tool.mode == "ask" and not tool.read_only)
    assert tool.page_derived or tool.name in EXTRA
    assert tool.source == f"builtin:{tool.name}"


def test_names_are_there_once():
    names = [tool.name for tool in BROWSER_TOOLS]

    assert len(set(names)) == len(names)


def test_only_what_tools_need_is_watched():
    by_name = {tool.name: tool for tool in BROWSER_TOOLS}

    assert needs_of([]) == frozenset()
    assert needs_of([by_name["resize_page"]]) == frozenset()
    assert needs_of([by_name["take_snapshot"]]) == {"frames"}
    assert needs_of([by_name["click"]]) == {"frames", "network", "input"}
    assert needs_of(BROWSER_TOOLS) == {"frames", "network", "input", "console"}
