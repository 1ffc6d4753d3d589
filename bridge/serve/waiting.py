"""Calls that wait between two requests. From 2026-07-28 on, a server doesn't ask the client anything by itself: a
request is answered with what is to be asked, and comes again with the replies. The tool runs on meanwhile."""

import json
import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import Any, Final

import trio

from bridge import limits
from bridge.calls.answers import Answer
from bridge.calls.progress import Send
from bridge.errors import CannotAsk
from bridge.serve.elicitation import Ask, Question, Reply

logger = logging.getLogger(__name__)

STATE_BYTES: Final = 24
"""Of the word that stands for a call that waits: nobody guesses it."""

Work = Callable[[Ask, Send], Awaitable[Answer]]


class StateUnknown(Exception):
    """The state that a request brings is of no call that waits, or of another one."""


@dataclass(frozen=True, slots=True)
class Request:
    """One of the requests for a call.

    Attributes:
        state: of the answer before; None in the first one.
        replies: by the keys of what was asked.
        can_ask: its client can ask its user.
        send: how to tell of progress, where that is wanted.
    """

    name: str
    arguments: Mapping[str, Any]
    state: str | None
    replies: Mapping[str, Reply]
    can_ask: bool
    send: Send | None

    @property
    def call(self) -> tuple[str, str]:
        """The same in all requests for one call. JSON tells true from 1, as Python doesn't."""
        return self.name, json.dumps(self.arguments, sort_keys=True)


@dataclass(frozen=True, slots=True)
class InputRequired:
    """An answer that asks.

    Attributes:
        key: by which the next request has the reply.
        state: which the next request has to bring.
    """

    key: str
    question: Question
    state: str


class Waiting:
    """The calls of one client that may wait so.

    A call has a task of its own. It ends with the request that it has at the time when that is taken back, and where
    none comes for `limits.REPLY_SECONDS`.

    Args:
        nursery: where they run.
    """

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._waiting: dict[str, _Call] = {}

    async def answer(self, request: Request, work: Work) -> Answer | InputRequired:
        """Begin a call, or go on with the one that waits.

        Args:
            work: what the call does, with how to ask and how to tell of progress.

        Raises:
            StateUnknown: nothing ran, and nothing waits less.
        """
        call = self._begin(request, work) if request.state is None else self._resume(request)
        call.send = request.send
        try:
            while not call.has_ended:
                if call.question is not None:
                    refused = self._refusal(request)
                    if refused is None:
                        return self._keep(call, call.question)
                    call.settle(refused)
                await call.wait_news()
        except trio.Cancelled:
            call.scope.cancel()
            raise
        finally:
            call.send = None
        return call.take()

    def _begin(self, request: Request, work: Work) -> "_Call":
        call = _Call(request.call)
        self._nursery.start_soon(self._run, call, work)
        return call

    async def _run(self, call: "_Call", work: Work) -> None:
        with call.scope:
            await call.run(work)
        if call.state is not None:
            del self._waiting[call.state]
            logger.warning("Tool %r ends: its client never came back with a reply.", call.told[0], exc_info=call.error)

    def _resume(self, request: Request) -> "_Call":
        call = self._waiting.get(request.state or "")
        # One whose time is over may have its end still before it.
        if call is None or call.scope.cancel_called or call.told != request.call:
            raise StateUnknown
        del self._waiting[request.state or ""]
        call.state = None
        call.scope.deadline = math.inf
        if (reply := request.replies.get(call.key)) is not None:
            call.settle(reply)
        return call

    def _refusal(self, request: Request) -> CannotAsk | None:
        if not request.can_ask:
            return CannotAsk(f"Tool {request.name!r} can't ask any more: its client no longer says that it can.")
        if len(self._waiting) == limits.CALLS_ASKING:
            return too_many()
        return None

    def _keep(self, call: "_Call", question: Question) -> InputRequired:
        call.state = token_urlsafe(STATE_BYTES)
        call.scope.deadline = trio.current_time() + limits.REPLY_SECONDS
        self._waiting[call.state] = call
        return InputRequired(call.key, question, call.state)


def too_many() -> CannotAsk:
    """The error of a question beyond the most that may be open."""
    return CannotAsk(f"{limits.CALLS_ASKING} calls wait for the person already. Call again when some have an answer.")


class _Call:
    """A call's task, and what it is to be told.

    Attributes:
        told: what its requests say.
        question: what it waits to know.
        key: of that question.
        state: of the request that it waits for.
        send: how to tell the request of now of progress.
    """

    def __init__(self, told: tuple[str, str]) -> None:
        self.told = told
        self.scope = trio.CancelScope()
        self.question: Question | None = None
        self.state: str | None = None
        self.send: Send | None = None
        self._asked = 0
        self._reply: Reply | CannotAsk | None = None
        self._outcome: Answer | Exception | None = None
        self._taken = trio.Event()
        self._changed = trio.Event()

    @property
    def key(self) -> str:
        return f"question_{self._asked}"

    @property
    def has_ended(self) -> bool:
        return self._outcome is not None

    @property
    def error(self) -> Exception | None:
        """What the work raised."""
        return self._outcome if isinstance(self._outcome, Exception) else None

    async def run(self, work: Work) -> None:
        """Do the work, and hold its outcome until it is taken."""
        try:
            self._outcome = await work(self._ask, self._tell)
        except Exception as error:
            self._outcome = error
        self._wake()
        await self._taken.wait()

    def take(self) -> Answer:
        """The outcome. Raises what the work raised."""
        self._taken.set()
        match self._outcome:
            case Answer():
                return self._outcome
            case Exception():
                raise self._outcome
            case None:
                raise AssertionError("it goes on still")

    def settle(self, reply: Reply | CannotAsk) -> None:
        """Answer its question, where it has one still."""
        if self.question is not None:
            self.question, self._reply = None, reply
            self._wake()

    async def wait_news(self) -> None:
        """Block until it asks or ends, or its question is settled."""
        await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    async def _ask(self, question: Question) -> Reply:
        """One at a time."""
        self._asked += 1
        self.question = question
        self._wake()
        try:
            while self.question is question:
                await self._changed.wait()
        finally:
            self.question = None
        return self._heard()

    def _heard(self) -> Reply:
        match self._reply:
            case Reply():
                return self._reply
            case CannotAsk():
                raise self._reply
            case None:
                raise AssertionError("its question is open still")

    async def _tell(self, done: float, total: float | None, message: str | None) -> None:
        if self.send is not None:
            await self.send(done, total, message)
