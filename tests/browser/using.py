"""Use the tools for debugging as an agent does, past the pipeline."""

import json
import re
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.errors import BridgeError, CallFailed, ToolNotFound
from bridge.folders import Folders
from bridge.page.session import Page
from bridge.settings import PageSettings
from bridge.tools.own import Content
from bridge.tools.schema import check_schema
from bridge.tools.sources.browser import BROWSER_TOOLS, needs_of
from tests.browser.asking import call, run_script

INSPECTED = PageSettings(inspected=needs_of(BROWSER_TOOLS))
"""For a bridge whose agent has all of these tools."""

BY_NAME = {tool.name: tool for tool in BROWSER_TOOLS}


class Access:
    """Pages, as a tool reaches them."""

    def __init__(self, bridge: Bridge, agent: Agent) -> None:
        self.folders = Folders()
        self._bridge = bridge
        self._agent = agent

    @property
    def page(self) -> "Access":
        return self

    def find(self, page: str) -> Page:
        assert self._bridge._pages is not None
        return self._bridge._pages.find(page)

    def handles(self) -> list[str]:
        return [page.handle for page in self._bridge._pages or ()]

    async def call_tool(self, page: str, tool: str, arguments: dict[str, Any]) -> object:
        answer = await call(self._agent, page, tool, arguments)
        if answer.is_error:
            raise CallFailed(answer.text)
        try:
            return json.loads(answer.text)
        except ValueError:
            return answer.text

    async def call(self, name: str, arguments: dict[str, Any]) -> object:
        raise ToolNotFound(f"There is no tool {name!r} here.")

    def keep(self, data: bytes, *, suffix: str) -> Path:
        return self._bridge.spill.write_bytes(data, suffix=suffix)


class Use:
    """Use one tool; its arguments have to fit its schema."""

    def __init__(self, bridge: Bridge, agent: Agent) -> None:
        self.access = Access(bridge, agent)

    async def __call__(self, name: str, page: str, **arguments: Any) -> Any:
        tool = BY_NAME[name]
        given = {"page": page, **arguments}
        assert check_schema(json.dumps(tool.parameters)).check(given) == []
        return await tool.execute(given, self.access)

    async def run(self, page: str, expression: str) -> Any:
        """What a page's own script does, past the tools."""
        return await run_script(self.access.find(page), expression)


async def snapshot(use: Use, page: str, **arguments: Any) -> str:
    content = await use("take_snapshot", page, **arguments)
    assert isinstance(content, Content)
    return content.text


def uid_of(text: str, part: str) -> str:
    """The uid of the one line of a snapshot that has this in it."""
    found = [line for line in text.splitlines() if part in line]
    assert len(found) == 1, f"{part!r} in {text}"
    uid = re.match(r" *(e\d+-\d+) ", found[0])
    assert uid is not None, found[0]
    return uid[1]


async def refused(awaited: Awaitable[object]) -> BridgeError:
    """The error that a tool ends in."""
    with pytest.raises(BridgeError) as caught:
        await awaited
    return caught.value
