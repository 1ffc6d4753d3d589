"""A page whose one tool evaluates JavaScript, for tests of values."""

import re
from collections.abc import Awaitable
from itertools import count
from typing import Protocol

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.page.invocation import Ending
from bridge.page.values import read_pointer
from tests.browser.asking import list_tools, open_page
from tests.sites import Site, offering, tool

ELEMENT = """<script>const element = html => {
  const template = document.createElement('template');
  template.innerHTML = html;
  return template.content.firstChild;
}</script>"""
"""What tests write elements with: `element('<b>bold</b>')`."""

numbers = count()


class Give(Protocol):
    """Evaluate an expression in the page; what it gives is the tool's result, or the part of it at `select`."""

    def __call__(self, source: str, select: str = "") -> Awaitable[Ending]: ...


async def open_giver(bridge: Bridge, agent: Agent, site: Site, before: str = "") -> Give:
    run = tool("run", "({source}) => (0, eval)(source)", "{}")
    return await make_giver(
        bridge, agent, await open_page(agent, site.page(f"/gives{next(numbers)}", ELEMENT + before + offering(run)))
    )


async def make_giver(bridge: Bridge, agent: Agent, handle: str) -> Give:
    """For a page whose one tool, the first, evaluates `source`."""
    await list_tools(agent, handle)
    [found] = bridge.registry.snapshot[handle]

    async def give(source: str, select: str = "") -> Ending:
        return await bridge.source.start(found, {"source": source}, select=read_pointer(select)).wait()

    return give


def without_uids(text: str) -> str:
    """The text of a result, each uid in it replaced by that of the documentation."""
    return re.sub(r'"uid":"e[0-9]+-[0-9]+"', '"uid":"e12-40371"', text)


def without_stacks(text: str) -> str:
    """The text of a result, each stack of an error in it replaced by three dots."""
    return re.sub(r'"stack":"(?:[^"\\]|\\.)*"', '"stack":"…"', text)
