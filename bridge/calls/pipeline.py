"""The way of a call: find → choose → allow → check → run → shape. The only place that sets deadlines."""

import logging
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TypeVar

import trio

from bridge import limits
from bridge.calls.answers import Answer, answer_about, answer_error, answer_result
from bridge.calls.arguments import check_arguments, read_arguments
from bridge.calls.binary import answer_binary
from bridge.calls.bridge import Bridge, wait_loaded
from bridge.calls.gate import Gate
from bridge.calls.progress import Progress
from bridge.calls.results import shorten
from bridge.calls.scope import choose
from bridge.errors import (
    BridgeError,
    BrowserStarting,
    CallTimedOut,
    DialogOpen,
    ToolNotFound,
    ToolStale,
)
from bridge.origins import is_trusted
from bridge.page.document import DocumentEnded
from bridge.page.invocation import Ending
from bridge.page.run import Why
from bridge.page.session import Page
from bridge.tools.sources.page import PageCall, no_tools
from bridge.tools.tool import PageTools, Tool
from bridge.wire.nursery import open_background

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Attempt:
    """How far a request came, and when its time is over.

    Attributes:
        tool: the one that it means, once that is known.
        dispatched: what was asked for was begun.
        advice: what to do where its time was over by then.
    """

    def __init__(self, scope: trio.CancelScope, what: str, seconds: float) -> None:
        self.what = what
        self.seconds = seconds
        self.deadline = scope.deadline
        self.browser_is_up = False
        self.waits_for_turn = False
        self.tool: Tool | None = None
        self.dispatched = False
        self.advice = "It was stopped; look at what it has done before you call it again."
        self._scope = scope
        self._pauses = 0
        self._left = inf

    def begin(self, advice: str) -> None:
        """Note that something may come of it from here on, also where its time is over, and what to do then."""
        self.dispatched, self.advice = True, advice

    def mind_deadline(self, *, by_itself: bool) -> None:
        """Whether what follows ends in time by itself, as it has more to do then than to leave."""
        self._scope.deadline = inf if by_itself else self.deadline

    @contextmanager
    def pause(self) -> Generator[None]:
        """For the length of the block its time stands still: a person is asked."""
        if not self._pauses:
            self._left = self._scope.deadline - trio.current_time()
            self._scope.deadline = inf
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                self.deadline = self._scope.deadline = trio.current_time() + self._left


async def answer_within(seconds: float, what: str, operation: Callable[[Attempt], Awaitable[Answer]]) -> Answer:
    """Run one operation to its one answer: its own, or one that says why there is none.

    Args:
        what: names the operation in a sentence, such as `Tool 'add'`.
    """
    try:
        return await run_within(seconds, what, operation)
    except BridgeError as error:
        logger.debug("%s: %s", what, error)
        return answer_error(error)


async def run_within(seconds: float, what: str, operation: Callable[[Attempt], Awaitable[T]]) -> T:
    """Run one operation, and return what it returns.

    Raises:
        BridgeError: the operation's own, or one that says how far it was when its time was over.
    """
    scope = trio.CancelScope(deadline=trio.current_time() + seconds)
    attempt = Attempt(scope, what, seconds)
    with scope:
        return await operation(attempt)
    if not attempt.browser_is_up:
        raise BrowserStarting(
            seconds, "Its start, or its answer, is still waited for; `pagebridge doctor` says what is wrong."
        )
    if attempt.dispatched:
        raise CallTimedOut(what, seconds, attempt.advice, dispatched=True)
    advice = "Nothing ran; try again, or give it more time."
    if attempt.waits_for_turn:
        advice = "Nothing ran, because another call is still running in the page: wait for its answer, then try again."
    raise CallTimedOut(what, seconds, advice, dispatched=False)


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a page tool, as the agent sent it.

    Attributes:
        wanted: the tool's name or id.
        arguments: an object, or JSON text that holds one.
        toolset: run only if the page's tools are exactly those of this token.
        select: the path to the part of the result that is wanted.
        shown: what the agent was told last of this page's tools.
        gate: whether a person lets the tool run.
        trusted_origins: those whose word counts that a tool changes nothing, and whose tools may answer in MCP's form.
    """

    page: Page
    wanted: str
    arguments: object
    shown: PageTools | None
    gate: Gate
    toolset: str | None = None
    select: Sequence[str] = ()
    trusted_origins: frozenset[str] = frozenset()


async def run_call(bridge: Bridge, call: Call, attempt: Attempt, progress: Progress | None) -> Ending:
    """Run one call in the document that it is for, or not at all.

    A document that ends before the call was dispatched leads to a new decision over the next one; a call that
    was dispatched is never sent again.

    Raises:
        BridgeError: see `bridge.errors`; `CallRejected` where nothing ran.
    """
    given = read_arguments(call.arguments)
    fresh = False
    with bridge.order.enter(call.page):
        while True:
            present = await present_tools(bridge, call.page, fresh=fresh)
            call.gate.check_page(present)
            try:
                tool = choose(call.shown, present, call.wanted, call.toolset)
            except (ToolNotFound, ToolStale):
                if fresh:
                    raise
                fresh = True
                continue
            assert tool.schema is not None
            attempt.tool = tool
            call.gate.check(tool)
            arguments = check_arguments(tool.schema, given, tool=tool.name)
            trusted = tool.origin in call.trusted_origins
            start = partial(bridge.source.start, tool, arguments, select=call.select, trusted=trusted)
            try:
                if _changes_nothing(tool, call.trusted_origins):
                    running = start()
                else:
                    attempt.waits_for_turn = True
                    running = await bridge.order.start(call.page, start)
                    attempt.waits_for_turn = False
                return await await_call(bridge, call.page, running, attempt, progress)
            except DocumentEnded:
                attempt.dispatched = False
                fresh = True


def _changes_nothing(tool: Tool, trusted_origins: frozenset[str]) -> bool:
    return tool.annotations.get("readOnlyHint") is True and is_trusted(tool.origin, trusted_origins)


async def await_call(
    bridge: Bridge, page: Page, running: PageCall, attempt: Attempt, progress: Progress | None
) -> Ending:
    """Wait for a call that was sent, until it has ended or its time is over.

    A call that waits for a dialog goes on, for whoever answers that; one that its agent cancels is stopped.

    Raises:
        DocumentEnded: the document was over before; nothing ran.
        BridgeError: as `PageCall.wait` and `PageCall.stop`.
    """
    attempt.tool, attempt.dispatched = running.tool, True
    attempt.mind_deadline(by_itself=True)
    try:
        if progress is None:
            return await _await_in_time(running, attempt)
        async with open_background() as nursery:
            nursery.start_soon(running.run.follow, progress.tell)
            return await _await_in_time(running, attempt)
    except DialogOpen:
        bridge.hold(page, running)
        raise
    except trio.Cancelled:
        page.let_go(running.run, Why.CANCELLED)
        raise
    finally:
        attempt.mind_deadline(by_itself=False)


async def _await_in_time(running: PageCall, attempt: Attempt) -> Ending:
    with trio.CancelScope(deadline=attempt.deadline):
        return await running.wait()
    return await running.stop(attempt.what, attempt.seconds)


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


def shape(bridge: Bridge, ending: Ending, origin: str) -> Answer:
    """What the agent gets of a call that completed: a string as it is, a picture, another value as compact JSON.

    Args:
        origin: whose tool it was.
    """
    match ending.kind:
        case "none":
            return answer_about("The tool ran and returned no value (undefined).", origin)
        case "note":
            return answer_about(ending.text, origin)
        case "bytes":
            return answer_binary(ending, bridge.spill, origin)
        case kind:
            shown = shorten(ending.text, bridge.spill, json=kind == "json")
            return answer_result(shown, origin, json=kind == "json", media=ending.media)
