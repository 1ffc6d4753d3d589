"""What a tool of a module gets beside its arguments.

Each method that asks the bridge for something can be used in two ways: in a coroutine it is awaited, and in a plain
function, which runs in a thread of its own, it blocks and returns the answer.
"""

import asyncio
import logging
import os
import secrets
import threading
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from bridge import limits
from bridge.tools.modules.child.link import Link
from bridge.tools.modules.child.schema import SchemaWords

Answer = Any
"""A coroutine in the loop's thread, the value itself elsewhere."""

Word = str | os.PathLike[str]


class Aborted(RuntimeError):
    """The call was taken back, or its time is over."""


class Signal:
    """Whether a call is still wanted."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._woken = asyncio.Event()

    @property
    def aborted(self) -> bool:
        return self._event.is_set()

    def raise_if_aborted(self) -> None:
        if self.aborted:
            raise Aborted("The call was taken back.")

    def wait(self, timeout: float | None = None) -> Answer:
        """Block until the call is taken back; in a plain function for at most so many seconds."""
        return self._woken.wait() if _in_loop() else self._event.wait(timeout)

    def set(self) -> None:
        """Any thread may call this."""
        self._event.set()

    def wake(self) -> None:
        """The same for who awaits it, in the loop's thread."""
        self._woken.set()


@dataclass(frozen=True)
class ExecResult:
    """What became of a command.

    Attributes:
        code: its exit code, or the negative number of the signal that ended it.
        killed: it was ended, since its time was over.
        cut: it wrote more than `stdout` or `stderr` hold.
    """

    stdout: str
    stderr: str
    code: int
    killed: bool
    cut: bool


@dataclass(frozen=True)
class PastCall:
    """A call of the agent's that has ended.

    Attributes:
        outcome: `completed`, `failed`, `rejected` or `unknown`.
        seconds: how long it took.
    """

    tool: str
    outcome: str
    seconds: float


class _Done:
    """What has been done already, for those who await it."""

    def __await__(self) -> Generator[Any, Any, None]:
        return asyncio.sleep(0).__await__()


class Context:
    """One request of the bridge, seen by the module.

    Attributes:
        session_id: of the agent's session.
        agent: its name, if it has one.
        directory: of the project.
        env: what the module was granted, as it is now; `os.environ` does not have it.
        calls: the last ones of the agent that had ended when this began, oldest first.
        signal: whether the call is still wanted.
        page: pages, and the bridge's own tools.
        ui: asks the person.
        logger: writes to the log of the bridge.
    """

    def __init__(self, link: Link, request: int, facts: dict[str, Any], actions: "Actions") -> None:
        self.session_id: str = facts["session_id"]
        self.agent: str | None = facts["agent"]
        self.directory = Path(facts["directory"])
        self.env: dict[str, str] = dict(facts["env"])
        self.calls = tuple(PastCall(**call) for call in facts["calls"])
        self.signal = Signal()
        self.page = PageAccess(self._ask)
        self.ui = Ui(self._ask, has_ui=facts["has_ui"])
        self.logger = LOGGER
        self._link = link
        self._request = request
        self._actions = actions
        self._is_over = False
        self._updates = 0

    @property
    def has_ui(self) -> bool:
        return self.ui.has_ui

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> Awaitable[None]:
        """Say how far the call is."""
        self._check()
        self._link.send({"tell": "progress", "for": self._request, "with": [done, total, message]})
        return _Done()

    def on_update(self, update: object) -> Awaitable[None]:
        """The same in the other form: what there is so far."""
        self._updates += 1
        return self.progress(self._updates, None, _text_of(update))

    def exec(
        self, command: Sequence[Word], *, timeout: float | None = None, cwd: Word | None = None
    ) -> Answer:  # the contract's own word
        """Run a program, without a shell. It is killed with the call, and after `timeout` seconds.

        Returns:
            An ExecResult.
        """
        if isinstance(command, str):
            raise TypeError("exec takes a list of words, such as ['git', 'status']: there is no shell")
        where = None if cwd is None else _text_of_word(cwd)
        given = {"command": [_text_of_word(word) for word in command], "timeout": timeout, "cwd": where}
        return self._ask("exec", given, lambda value: ExecResult(**value))

    def push_pending_action(
        self,
        label: str,
        apply: Callable[..., Any],
        discard: Callable[..., Any] | None = None,
    ) -> str:
        """Keep an action until it is said whether it is wanted. Then `apply(reason)` or `discard(reason)` runs, once.

        Returns:
            Its id, for the agent: `resolve_action` takes it.
        """
        self._check()
        action = self._actions.add(apply, discard)
        given = {"id": action, "label": label[: limits.SHOWN_CHARS]}
        try:
            self._link.send({"tell": "action", "for": self._request, "with": given})
        except BaseException:
            self._actions.take(action, "discard")
            raise
        return action

    def abort(self) -> None:
        """End this call here."""
        self.signal.set()
        raise Aborted("The tool ended its own call.")

    def close(self) -> None:
        """The request is over; what still runs of it gets no more answers."""
        self._is_over = True
        self._link.drop(self._request, Aborted("The call is over."))

    def _check(self) -> None:
        self.signal.raise_if_aborted()
        if self._is_over:
            raise Aborted("The call is over.")

    def _ask(self, do: str, given: dict[str, Any], read: Callable[[Any], Any] = lambda value: value) -> Answer:
        self._check()
        answer = self._link.ask(self._request, do, given)
        if not _in_loop():
            return read(answer.result())

        async def wait() -> Answer:
            return read(await asyncio.wrap_future(answer))

        return wait()


Ask = Callable[..., Answer]


class PageAccess:
    """Pages, by their handle; None where there is but one."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def evaluate(self, expression: str, page: str | None = None) -> Answer:
        """Evaluate an expression in a page, and return its value."""
        return self._ask("page.evaluate", {"expression": expression, "page": page})

    def call_tool(self, page: str, tool: str, arguments: dict[str, Any] | None = None) -> Answer:
        """Call a tool of a page, and return its result."""
        return self._ask("page.call_tool", {"page": page, "tool": tool, "arguments": arguments or {}})

    def call(self, name: str, arguments: dict[str, Any] | None = None) -> Answer:
        """Call a tool of the bridge's own, and return its result."""
        return self._ask("page.call", {"name": name, "arguments": arguments or {}})


class Ui:
    """Asks the person; each raises `Refused` where there is nobody to ask."""

    def __init__(self, ask: Ask, *, has_ui: bool) -> None:
        self.has_ui = has_ui
        self._ask = ask

    def confirm(self, text: str) -> Answer:
        return self._ask("ui.confirm", {"text": text})

    def select(self, text: str, options: list[str]) -> Answer:
        return self._ask("ui.select", {"text": text, "options": list(options)})

    def input(self, text: str) -> Answer:
        return self._ask("ui.input", {"text": text})


class Actions:
    """What waits to be applied or discarded."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Callable[..., Any], Callable[..., Any] | None]] = {}

    def add(self, apply: Callable[..., Any], discard: Callable[..., Any] | None) -> str:
        if len(self._kept) >= limits.MODULE_ACTIONS:
            raise RuntimeError(f"{limits.MODULE_ACTIONS} actions wait already: have some of them resolved first.")
        action = f"a{secrets.token_hex(8)}"
        self._kept[action] = apply, discard
        return action

    def take(self, action: str, how: str) -> Callable[..., Any] | None:
        """What is to be done for it now, if anything. It is forgotten.

        Raises:
            KeyError: it is not there.
        """
        apply, discard = self._kept.pop(action)
        return apply if how == "apply" else discard


_WHILE_A_TOOL_RUNS: Final = (
    "session_id", "agent", "env", "calls", "signal", "page", "ui", "progress", "on_update", "exec",
    "push_pending_action", "abort",
)  # fmt: skip


class Api:
    """What a factory gets. It works for the call that runs at the moment; outside of one there is nobody to ask.

    Attributes:
        schema: makes JSON Schemas.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = self.cwd = directory
        self.logger = LOGGER
        self.schema = SchemaWords()

    @property
    def has_ui(self) -> bool:
        context = CURRENT.get()
        return context is not None and context.ui.has_ui

    def __getattr__(self, name: str) -> Answer:
        if name not in _WHILE_A_TOOL_RUNS:
            raise AttributeError(name)
        context = CURRENT.get()
        if context is None:
            raise RuntimeError(f"api.{name} is there while a tool runs, and not before: use it in `execute`.")
        return getattr(context, name)


LOGGER: Final = logging.getLogger("module")
CURRENT: Final[ContextVar[Context | None]] = ContextVar("CURRENT", default=None)


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _text_of_word(word: object) -> str:
    text: object = os.fspath(cast("Word", word)) if isinstance(word, os.PathLike) else word
    if isinstance(text, str):
        return text
    raise TypeError(f"exec takes texts and paths, and not {type(text).__name__}: give that as a text")


def _text_of(update: object) -> str | None:
    """The words in what `on_update` was given: a text, or content blocks."""
    content = cast("dict[str, object]", update).get("content") if isinstance(update, dict) else update
    if isinstance(content, list):
        blocks = [
            cast("dict[str, object]", block) for block in cast("list[object]", content) if isinstance(block, dict)
        ]
        return "\n".join(text for block in blocks if isinstance(text := block.get("text"), str))
    return content if isinstance(content, str) else None
