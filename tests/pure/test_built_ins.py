"""What an agent may give the bridge's own tools, before any of them looks for a browser."""

from typing import Any, Final, get_args

import pytest
import trio

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.calls.results import Spill
from bridge.serve.built_ins import BUILT_INS, BuiltIn, list_tools, run_tool
from bridge.settings import AgentSettings, Mode, PageSettings

VALID: Final[dict[str, Any]] = {"page": "p1", "url": "http://127.0.0.1/", "tool": "add", "accept": True}
PRIVATE: Final = (
    "_private",
    "_page",
    "_frame",
    "_meta",
    "__proto__",
    "constructor",
    "ctx",
    "realm",
    "requestState",
    "",
)


@pytest.fixture
def agent() -> Agent:
    return Agent(Bridge(Spill(), PageSettings()), AgentSettings(direct=True))


def with_needed(tool: BuiltIn, **more: Any) -> dict[str, Any]:
    return {name: VALID[name] for name in tool.required} | more


@pytest.mark.threat("C4")
@pytest.mark.parametrize("tool", BUILT_INS, ids=lambda tool: tool.name)
async def test_a_word_that_is_not_a_tools_own_is_named_and_nothing_begins(agent: Agent, tool: BuiltIn):
    for name in PRIVATE:
        for value in ("p2", {"page": "p2"}, None):
            with trio.fail_after(1):
                answer = await run_tool(agent, tool.name, with_needed(tool, **{name: value}), None)

            assert answer.structured is not None
            told = answer.structured
            assert (told["code"], told["outcome"], told["dispatched"]) == ("arguments_invalid", "rejected", False)
            assert [fault["pointer"] for fault in told["faults"]] == [f"/{name}"]
            assert f"/{name} is not known" in answer.text
            assert answer.text.endswith("Mend them and call again.")
            assert "\n" not in answer.text


@pytest.mark.threat("C7")
@pytest.mark.parametrize("mode", get_args(Mode))
def test_no_mode_has_a_tool_that_evaluates_a_script(mode: Mode):
    """A tool that does has to be kept from modes `ask` and `act`, and from what may not run."""
    listed = list_tools(Agent(Bridge(Spill(), PageSettings()), AgentSettings(mode=mode, direct=True)))["tools"]

    assert {tool["name"]: sorted(tool["inputSchema"]["properties"]) for tool in listed} == {
        "list_pages": [],
        "open_page": ["url"],
        "navigate_page": ["action", "page", "url"],
        "close_page": ["page"],
        "list_page_tools": ["cursor", "group", "page"],
        "call_page_tool": ["arguments", "page", "select", "timeout_seconds", "tool", "toolset"],
        "handle_dialog": ["accept", "page", "text", "timeout_seconds"],
    }
