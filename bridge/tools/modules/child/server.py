"""Runs what the bridge asks for: a module's tools and hooks."""

import asyncio
import contextvars
import inspect
import queue
import sys
import traceback
from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from bridge import limits
from bridge.tools.modules.child.context import CURRENT, Aborted, Actions, Api, Context
from bridge.tools.modules.child.contract import Exported, NotATool, find_given, fitting, read_exported
from bridge.tools.modules.child.files import Noted, load_module
from bridge.tools.modules.child.link import Link
from bridge.tools.modules.frames import Message
from bridge.tools.modules.values import NotJson, check_json

Ended = dict[str, Any]
"""`{"value"}`, or `{"error": {"kind", "message", "traceback"}}`."""


class Server:
    """One module, from the first message of the bridge on."""

    def __init__(self) -> None:
        self.link: Link
        self._first: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: dict[int, tuple[Context, asyncio.Task[None]]] = {}
        self._actions = Actions()
        self._exported: Exported
        self._noted: Noted

    # In the link's thread

    def take(self, message: Message) -> None:
        if self._loop is None:
            self._first.put(message)
        else:
            self._loop.call_soon_threadsafe(self._start, message)

    def cancel(self, request: int) -> None:
        running = self._running.get(request)
        if running is None or self._loop is None:
            return  # it has just ended
        context, task = running
        context.signal.set()
        self.link.drop(request, Aborted("The call was taken back."))
        self._loop.call_soon_threadsafe(context.signal.wake)
        self._loop.call_soon_threadsafe(task.cancel)

    # In the main thread

    def run(self) -> None:
        """Load the module, then run what is asked for, until the process is ended."""
        request = self._first.get()
        given = request["with"]
        path = Path(given["path"])
        self._noted = Noted(Path(given["project"]), path.parent)
        sys.meta_path.insert(0, self._noted)
        try:
            module = load_module(path, b64decode(given["data"]))
            found = find_given(module, Api(Path(given["project"])))
        except BaseException as error:
            self._answer(request["id"], _failed(error))
            return
        # Not `asyncio.run`, which would go on for a while where the module stops the loop.
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve(request["id"], module, found))

    async def _serve(self, request: int, module: ModuleType, found: object) -> None:
        try:
            self._exported = read_exported(await _settled(found), module)
            told = {"tools": [tool.facts for tool in self._exported.tools], "hooks": [*self._exported.hooks]}
            check_json(told)
        except BaseException as error:
            self._answer(request, _failed(error))
            return
        self._answer(request, {"value": told})
        await asyncio.Event().wait()

    def _start(self, message: Message) -> None:
        try:
            request = message["id"]
            context = Context(self.link, request, message["with"]["context"], self._actions)
            with_context = contextvars.copy_context()
            with_context.run(CURRENT.set, context)
            task = asyncio.get_running_loop().create_task(self._run(message, context), context=with_context)
            self._running[request] = context, task
        except Exception as error:
            raise SystemExit from error  # it ends the loop, and with that the bridge's wait

    async def _run(self, message: Message, context: Context) -> None:
        request, given = message["id"], message["with"]
        try:
            value = await self._do(message["do"], request, given, context)
            check_json(value)
            ended = {"value": value}
        except BaseException as error:
            ended = _failed(error)
        finally:
            self._running.pop(request, None)
            context.close()
        try:
            self._answer(request, ended)
        except Exception as error:
            raise SystemExit from error

    async def _do(self, do: str, request: int, given: dict[str, Any], context: Context) -> object:
        match do:
            case "call":
                return await self._call(request, given, context)
            case "render_call" | "render_result":
                renderer = self._exported.tools[int(given["tool"])].renderers.get(do)
                return None if renderer is None else await self._apply(renderer, *given["given"])
            case "on_result":
                return await self._rewrite(given["event"], context)
            case "on_session":
                for hook in self._exported.hooks.get(do, ()):
                    await self._apply(hook, given["event"], context)
                return None
            case "resolve":
                function = self._actions.take(given["action"], given["how"])
                return None if function is None else await self._apply(function, given["reason"])
            case _:
                raise LookupError(do)

    async def _call(self, request: int, given: dict[str, Any], context: Context) -> object:
        tool = self._exported.tools[int(given["tool"])]
        arguments = given["arguments"]
        if tool.has_call_id:
            return await self._apply(
                tool.execute, f"call{request}", arguments, context.on_update, context, context.signal
            )
        return await self._apply(tool.execute, arguments, context)

    async def _rewrite(self, event: dict[str, Any], context: Context) -> dict[str, Any]:
        """What becomes of a result: each hook may return an object with `result`, `is_error` or both."""
        for hook in self._exported.hooks.get("on_result", ()):
            match cast("Any", await self._apply(hook, dict(event), context)):
                case None:
                    pass
                case {**changed} if changed.keys() <= {"result", "is_error"}:
                    event = {**event, **changed}
                case _:
                    raise TypeError("on_result must return None, or a dict with `result`, `is_error` or both")
        return {"result": event["result"], "is_error": bool(event["is_error"])}

    async def _apply(self, function: Callable[..., Any], *given: object) -> object:
        """Call a function with as much of this as it takes, and wait for what it promises.

        A coroutine runs in the loop, any other function in a thread.
        """
        given = fitting(function, *given)
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
            return await function(*given)
        thread = asyncio.ensure_future(asyncio.to_thread(self._apply_in_thread, function, *given))
        try:
            returned, raised = await asyncio.shield(thread)
        except asyncio.CancelledError:
            await asyncio.wait([thread])  # nothing can end it but itself, or the bridge, together with us
            raise
        if raised is not None:
            raise raised
        return await _settled(returned)

    def _apply_in_thread(self, function: Callable[..., Any], *given: object) -> tuple[object, BaseException | None]:
        """What it returned, or raised: some errors mean something to a future or to the loop."""
        try:
            return function(*given), None
        except BaseException as error:
            return None, error
        finally:
            self.link.check()

    def _answer(self, request: int, ended: Ended) -> None:
        files = self._noted.hashes.copy()
        try:
            self.link.send({"id": request, **ended, "files": files})
        except (TypeError, ValueError, RecursionError) as error:
            self.link.send({"id": request, **_failed(NotJson(f"it can not be written ({error})"))})


async def _settled(value: object) -> object:
    return await cast("Awaitable[object]", value) if inspect.isawaitable(value) else value


def _failed(error: BaseException) -> Ended:
    return {"error": {"kind": _kind(error), "message": _message(error), "traceback": _trace(error)}}


def _kind(error: BaseException) -> str:
    match error:
        case NotJson():
            return "result"
        case asyncio.CancelledError() | Aborted():
            return "cancelled"
        case _:
            return "threw"


def _message(error: BaseException) -> str:
    """What an agent reads of it."""
    lines: list[str] = []
    room = limits.MODULE_ERROR_CHARS
    try:
        for line in _lines(error):
            lines.append(line[:room])
            room -= len(line) + 1
            if room <= 0:
                break
    except BaseException:
        lines.append("(its message can't be made)")
    return "\n".join(lines)


def _lines(error: BaseException) -> Iterator[str]:
    """What it says, then the errors of a group, which says of itself only how many they are, and notes."""
    yield _said(error)
    notes = getattr(error, "__notes__", ())
    if isinstance(error, BaseExceptionGroup):
        for one in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _lines(one)
    yield from notes


def _said(error: BaseException) -> str:
    try:
        said = str(error)
    except BaseException:
        said = "(its message can't be made)"
    match error:
        case NotATool() | NotJson():
            return said
        case SystemExit():
            return f"it called sys.exit({said})"
        case SyntaxError():
            return f"{_place(error)}{error.msg}"
        case _:
            return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _place(error: SyntaxError) -> str:
    return "" if error.lineno is None else f"line {error.lineno} of {Path(error.filename or '?').name}: "


def _trace(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))[-limits.MODULE_ERROR_CHARS :]
    except BaseException:
        return ""
