"""What the tool of a module may ask of the bridge, and may be told, while it runs."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Protocol, cast

from bridge import limits
from bridge.errors import UsageError
from bridge.tools.modules.frames import Json
from bridge.tools.modules.programs import ExecResult
from bridge.tools.own import PastCall, Ui

_LEAST: Final = -1e300
_MOST: Final = 1e300


class PageAccess(Protocol):
    """Pages and tools, through the same gate as an agent's own calls."""

    async def evaluate(self, expression: str, page: str | None = None) -> Json: ...
    async def call_tool(self, page: str, tool: str, arguments: dict[str, Any]) -> Json: ...
    async def call(self, name: str, arguments: dict[str, Any]) -> Json: ...


class Context(Protocol):
    """What a call, or a hook, of a module has to do with.

    Attributes:
        env: what the module was granted, as it is now.
        calls: the last ones of the agent, oldest first.
        depth: how many tools wait for this one.
    """

    @property
    def session_id(self) -> str: ...
    @property
    def agent(self) -> str | None: ...
    @property
    def directory(self) -> Path: ...
    @property
    def env(self) -> Mapping[str, str]: ...
    @property
    def calls(self) -> Iterable[PastCall]: ...
    @property
    def page(self) -> PageAccess: ...
    @property
    def ui(self) -> Ui: ...
    @property
    def logger(self) -> logging.Logger: ...
    @property
    def depth(self) -> int: ...
    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None: ...
    async def exec(self, command: list[str], *, timeout: float | None = None, cwd: str | None = None) -> ExecResult: ...  # noqa: ASYNC109  # the contract's own word


def facts_of(context: Context) -> dict[str, Any]:
    """What the process of the module is told of it at once; the rest it asks for."""
    return {
        "session_id": context.session_id,
        "agent": context.agent,
        "directory": str(context.directory),
        "env": dict(context.env),
        "calls": [vars(call) for call in context.calls],
        "has_ui": context.ui.has_ui,
    }


async def answer_asked(context: Context, do: str, given: object) -> Json:
    """Do what a module asks for.

    Returns:
        JSON.

    Raises:
        BridgeError: it was refused, or failed.
        UsageError: what was given is not what it takes.
    """
    match do, cast("Json", given):
        case "exec", {"command": [*command], "timeout": timeout, "cwd": cwd}:
            words = [_text("exec", word) for word in command]
            where = None if cwd is None else _text("exec", cwd)
            return asdict(await context.exec(words, timeout=_seconds(timeout), cwd=where))
        case "page.evaluate", {"expression": str(expression), "page": None | str() as page}:
            return await context.page.evaluate(expression, page)
        case "page.call_tool", {"page": str(page), "tool": str(tool), "arguments": {**arguments}}:
            return await context.page.call_tool(page, tool, arguments)
        case "page.call", {"name": str(name), "arguments": {**arguments}}:
            return await context.page.call(name, arguments)
        case "ui.confirm", {"text": str(text)}:
            return await context.ui.confirm(text)
        case "ui.select", {"text": str(text), "options": [*options]}:
            return await context.ui.select(text, [_text(do, option) for option in options])
        case "ui.input", {"text": str(text)}:
            return await context.ui.input(text)
        case _:
            raise UsageError(f"context.{do} was given something that it does not take: look at its parameters.")


def read_progress(given: object) -> tuple[float, float | None, str | None] | None:
    """A report of progress, or None where it is none."""
    match given:
        case [int() | float() as done, None | int() | float() as total, None | str() as message]:
            if not all(_LEAST <= number <= _MOST for number in (done, total or 0)):
                return None
            return float(done), total, None if message is None else message[: limits.MODULE_LOG_CHARS]
        case _:
            return None


def _text(do: str, word: object) -> str:
    if isinstance(word, str) and "\0" not in word:
        return word
    raise UsageError(f"context.{do} takes texts, and none with a NUL in it.")


def _seconds(given: object) -> float | None:
    if given is None:
        return None
    if isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= _MOST:
        return given
    raise UsageError("context.exec takes as `timeout` a number of seconds.")
