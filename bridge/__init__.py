"""The public API: a browser, one agent's tools over it, and what a person may choose.

    async with open_bridge(LaunchOptions()) as bridge:
        async with open_toolbox(Agent(bridge, AgentSettings(modules=(Path("tools/weather.py"),)))) as toolbox:
            answer = await toolbox.run("weather", {"city": "Bonn"})

Names are loaded when they are asked for first: the command begins without most of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bridge.calls.agent import Agent
    from bridge.calls.answers import Answer
    from bridge.calls.bridge import Bridge, open_bridge
    from bridge.calls.toolbox import Toolbox, open_toolbox
    from bridge.errors import BridgeError
    from bridge.settings import AgentSettings, AttachOptions, LaunchOptions, PageSettings

__version__ = "0.1.0"
"""Written here alone. Asking for the version of what is installed costs each start a file and a library."""

__all__ = [
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

_HOMES = {
    "Agent": "calls.agent",
    "Answer": "calls.answers",
    "Bridge": "calls.bridge",
    "open_bridge": "calls.bridge",
    "Toolbox": "calls.toolbox",
    "open_toolbox": "calls.toolbox",
    "BridgeError": "errors",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"bridge.{_HOMES.get(name, 'settings')}"), name)
