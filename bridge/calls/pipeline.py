"""The way of a call: find → choose → check → run → shape. The only place that sets deadlines."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import trio

from bridge import limits
from bridge.calls.answers import Answer, answer_error
from bridge.calls.arguments import check_arguments, read_arguments
from bridge.calls.bridge import Bridge, wait_loaded
from bridge.calls.results import shorten
from bridge.calls.scope import choose
from bridge.errors import (
    BridgeError,
    BrowserStarting,
    CallTimedOut,
    ToolNotFound,
    ToolStale,
)
from bridge.page.document import DocumentEnded
from bridge.page.invocation import Ending
from bridge.page.session import Page
from bridge.tools.sources.page import no_tools
from bridge.tools.tool import PageTools

logger = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass
class Progress:
    """How far a request came, for the words of its time-out."""

    browser_is_up: bool = False
    dispatched: bool = False


async def answer_within(seconds: float, what: str, operation: Callable[[Progress], Awaitable[Answer]]) -> Answer:
    """Run one operation to its one answer: its own, or one that says why there is none.

    Args:
        what: names the operation in a sentence, such as `Tool 'add'`.
    """
    try:
        return await run_within(seconds, what, operation)
    except BridgeError as error:
        logger.debug("%s: %s", what, error)
        return answer_error(error)


async def run_within(seconds: float, what: str, operation: Callable[[Progress], Awaitable[T]]) -> T:
    """Run one operation, and return what it returns.

    Raises:
        BridgeError: the operation's own, or one that says how far it was when its time was over.
    """
    progress = Progress()
    with trio.move_on_after(seconds):
        return await operation(progress)
    if not progress.browser_is_up:
        raise BrowserStarting(
            f"The browser was not up within {seconds:g} s. Try again in a moment; `pagebridge doctor` says "
            "what is wrong if it stays so."
        )
    raise CallTimedOut(what, seconds, dispatched=progress.dispatched)


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a page tool, as the agent sent it.

    Attributes:
        wanted: the tool's name or id.
        arguments: an object, or JSON text that holds one.
        toolset: run only if the page's tools are exactly those of this token.
    """

    page: Page
    wanted: str
    arguments: object
    toolset: str | None
    shown: PageTools | None
    """What the agent was told last of this page's tools."""


async def run_call(bridge: Bridge, call: Call, progress: Progress) -> Ending:
    """Run one call in the document that it is for, or not at all.

    A document that ends before the call was dispatched leads to a new decision over the next one; a call that
    was dispatched is never sent again.

    Raises:
        BridgeError: see `bridge.errors`; `CallRejected` where nothing ran.
    """
    given = read_arguments(call.arguments)
    fresh = False
    while True:
        present = await present_tools(bridge, call.page, fresh=fresh)
        try:
            tool = choose(call.shown, present, call.wanted, call.toolset)
        except (ToolNotFound, ToolStale):
            if fresh:
                raise
            fresh = True
            continue
        assert tool.schema is not None
        arguments = check_arguments(tool.schema, given, tool=tool.name)
        progress.dispatched = True
        try:
            return await bridge.source.run(tool, arguments)
        except DocumentEnded:
            progress.dispatched = False
            fresh = True


async def present_tools(bridge: Bridge, page: Page, *, fresh: bool) -> PageTools:
    """What the page's present document offers: as known, or asked for now.

    A page that is loading is given `limits.LOAD_SECONDS` to finish first.

    Raises:
        PageGone, PageUnresponsive: it can't be asked.
    """
    known = bridge.registry.find(page.handle)
    if known is not None and not fresh:
        return known
    await wait_loaded(page)
    while True:
        document, reason = page.document, page.why_no_tools
        if document is not None and reason is not None:
            return no_tools(page, document, reason)
        await page.discover(limits.DISCOVERY_SECONDS)
        tools = bridge.registry.find(page.handle)
        if tools is not None:
            return tools


def shape(bridge: Bridge, ending: Ending) -> Answer:
    """What the agent reads of a call that completed: a string as it is, another value as compact JSON."""
    if ending.kind == "none":
        return Answer("The tool ran and returned no value (undefined).")
    shown = shorten(ending.text, bridge.spill, json=ending.kind == "json")
    return Answer(shown.text)
