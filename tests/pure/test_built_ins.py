"""What an agent may give the bridge's own tools, before any of them looks for a browser."""

from typing import Any, Final, get_args

import pytest
import trio

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.calls.built_ins import BUILT_INS, BuiltIn
from bridge.calls.results import Spill
from bridge.calls.toolbox import Toolbox
from bridge.serve.shapes import as_list
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
                answer = await Toolbox(agent).run(tool.name, with_needed(tool, **{name: value}))

            assert answer.structured is not None
            told = answer.structured
            assert (told["code"], told["outcome"], told["dispatched"]) == ("arguments_invalid", "rejected", False)
            assert [fault["pointer"] for fault in told["faults"]] == [f"/{name}"]
            assert f"/{name} is not known" in answer.text
            assert answer.text.endswith("Mend them and call again.")
            assert "\n" not in answer.text


@pytest.mark.threat("C7")
@pytest.mark.parametrize("mode", get_args(Mode))
async def test_no_mode_has_a_tool_that_evaluates_a_script_unless_it_is_asked_for(mode: Mode):
    toolbox = Toolbox(Agent(Bridge(Spill(), PageSettings()), AgentSettings(mode=mode, direct=True)))
    listed = as_list(await toolbox.offer())["tools"]

    assert {tool["name"]: sorted(tool["inputSchema"]["properties"]) for tool in listed} == {
        "list_pages": [],
        "open_page": ["url"],
        "navigate_page": ["action", "page", "url"],
        "close_page": ["page"],
        "list_page_tools": ["cursor", "group", "page"],
        "call_page_tool": ["arguments", "page", "select", "timeout_seconds", "tool", "toolset"],
        "handle_dialog": ["accept", "page", "text", "timeout_seconds"],
    }
