"""The public API, as a program of somebody else uses it."""

import subprocess
import sys
from pathlib import Path

import pytest

import bridge
from bridge import AgentSettings, LaunchOptions, open_bridge, open_toolbox

NAMES = [
    "Agent",
    "AgentSettings",
    "Answer",
    "AttachOptions",
    "Bridge",
    "BridgeError",
    "LaunchOptions",
    "PageSettings",
    "Toolbox",
    "open_bridge",
    "open_toolbox",
]


def test_the_public_names_are_these():
    assert bridge.__all__ == NAMES
    assert all(getattr(bridge, name).__name__ == name for name in NAMES)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        bridge.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_they_are_loaded_when_they_are_asked_for():
    code = "import bridge, sys; print([name for name in sys.modules if name.startswith('bridge.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.feature("modules.api")
async def test_a_program_gives_an_agent_a_module_and_runs_its_tool(tmp_path: Path):
    module = tmp_path / "twice.py"
    module.write_text(
        "description = 'Doubles a number.'\n"
        "parameters = {'type': 'object', 'properties': {'n': {'type': 'number'}}, 'required': ['n']}\n"
        "def execute(args, context):\n    return args['n'] * 2\n"
    )
    settings = AgentSettings(modules=(module,))

    # No browser is needed, so none starts.
    async with (
        open_bridge(LaunchOptions(no_sandbox=True), lazily=True) as opened,
        open_toolbox(bridge.Agent(opened, settings)) as toolbox,
    ):
        names = [tool.name for tool in (await toolbox.offer()).tools]
        answer = await toolbox.run("twice", {"n": 21})
        refused = await toolbox.run("twice", {"n": "x"})

    assert names[-1] == "twice"
    assert (answer.text, answer.is_error) == ("42", False)
    assert refused.is_error
    assert refused.structured is not None
    assert refused.structured["code"] == "arguments_invalid"
