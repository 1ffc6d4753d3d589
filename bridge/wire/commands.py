"""The one importer of PyCDP: its commands and events, and those that are newer than it.

PyCDP (on PyPI: chrome-devtools-protocol) writes a command as a generator that yields `{method, params}` and
is sent the result. What it lacks is written here in the same way. What it cannot read becomes a `RawEvent`.
"""

import logging
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar

from cdp import browser, emulation, inspector, page, runtime, target

from bridge.wire.router import Json, RawEvent

__all__ = [
    "Command",
    "ContextCreated",
    "ContextDestroyed",
    "Departure",
    "DialogClosed",
    "DialogOpening",
    "DocumentOpened",
    "Evaluated",
    "Event",
    "FrameDetached",
    "FrameNavigated",
    "Lifecycle",
    "browser",
    "emulation",
    "evaluate_in",
    "finish_command",
    "inspector",
    "main_frame",
    "navigate",
    "navigation_history",
    "page",
    "parse_event",
    "runtime",
    "set_auto_attach",
    "set_discover_targets",
    "target",
]

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
Command = Generator[Json, Json, Any]
Event = Any
"""A PyCDP event class, one of the classes below, or `RawEvent`."""

_UNREADABLE: Final = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What parsers raise on a field or an enum value that they do not know, or on a number without end."""


@dataclass(frozen=True, slots=True)
class ContextCreated:
    """Runtime.executionContextCreated, with the `uniqueId` that PyCDP drops.

    `origin` is the realm's own; `://` stands for an opaque one. `is_default`: it is a frame's main world.
    """

    unique_id: str
    origin: str
    frame_id: str
    is_default: bool

    @classmethod
    def from_json(cls, params: Json) -> Self:
        context: Json = params["context"]
        aux: Json = context.get("auxData") or {}
        return cls(
            unique_id=str(context["uniqueId"]),
            origin=str(context["origin"]),
            frame_id=str(aux.get("frameId", "")),
            is_default=aux.get("isDefault") is True,
        )


@dataclass(frozen=True, slots=True)
class ContextDestroyed:
    """Runtime.executionContextDestroyed, with the `executionContextUniqueId` that PyCDP drops."""

    unique_id: str

    @classmethod
    def from_json(cls, params: Json) -> Self:
        return cls(unique_id=str(params["executionContextUniqueId"]))


@dataclass(frozen=True, slots=True)
class DialogOpening:
    """Page.javascriptDialogOpening. PyCDP fails where Chromium leaves out `frameId` or adds a type.

    `kind` is `alert`, `confirm`, `prompt` or `beforeunload`.
    """

    kind: str
    message: str
    url: str
    default_text: str

    @classmethod
    def from_json(cls, params: Json) -> Self:
        return cls(
            kind=str(params["type"]),
            message=str(params.get("message") or ""),
            url=str(params.get("url") or ""),
            default_text=str(params.get("defaultPrompt") or ""),
        )


@dataclass(frozen=True, slots=True)
class DialogClosed:
    """Page.javascriptDialogClosed, which PyCDP can't read without `userInput`."""

    @classmethod
    def from_json(cls, _: Json) -> Self:
        return cls()


@dataclass(frozen=True, slots=True)
class DocumentOpened:
    """Page.documentOpened, which is newer than PyCDP: a script called `document.open()`."""

    frame_id: str

    @classmethod
    def from_json(cls, params: Json) -> Self:
        return cls(frame_id=str(params["frame"]["id"]))


@dataclass(frozen=True, slots=True)
class FrameDetached:
    """Page.frameDetached, with the `reason` that PyCDP drops.

    `is_removed`: the frame is gone; else it goes on in another process.
    """

    frame_id: str
    is_removed: bool

    @classmethod
    def from_json(cls, params: Json) -> Self:
        return cls(frame_id=str(params["frameId"]), is_removed=params.get("reason") != "swap")


@dataclass(frozen=True, slots=True)
class FrameNavigated:
    """Page.frameNavigated, with the `type` that PyCDP drops.

    `url` has its fragment, and is the address that was asked for where the browser shows an error page of its own.
    `is_restored`: the document comes out of the back/forward cache as it was.
    """

    frame_id: str
    url: str
    is_main: bool
    is_error: bool
    is_restored: bool

    @classmethod
    def from_json(cls, params: Json) -> Self:
        frame: Json = params["frame"]
        unreachable = str(frame.get("unreachableUrl") or "")
        return cls(
            frame_id=str(frame["id"]),
            url=unreachable or str(frame["url"]) + str(frame.get("urlFragment") or ""),
            is_main=frame.get("parentId") is None,
            is_error=unreachable != "",
            is_restored=params.get("type") == "BackForwardCacheRestore",
        )


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """Page.lifecycleEvent. `name` is `DOMContentLoaded`, `load`, …, of one frame.

    PyCDP reads it too, with a time and a loader that nobody here needs.
    """

    frame_id: str
    name: str

    @classmethod
    def from_json(cls, params: Json) -> Self:
        return cls(frame_id=str(params["frameId"]), name=str(params["name"]))


_READERS: Final[dict[str, Callable[[Json], Event]]] = {
    "Inspector.targetCrashed": inspector.TargetCrashed.from_json,
    "Page.documentOpened": DocumentOpened.from_json,
    "Page.frameDetached": FrameDetached.from_json,
    "Page.frameNavigated": FrameNavigated.from_json,
    "Page.frameStartedLoading": page.FrameStartedLoading.from_json,
    "Page.frameStoppedLoading": page.FrameStoppedLoading.from_json,
    "Page.javascriptDialogClosed": DialogClosed.from_json,
    "Page.javascriptDialogOpening": DialogOpening.from_json,
    "Page.lifecycleEvent": Lifecycle.from_json,
    "Page.navigatedWithinDocument": page.NavigatedWithinDocument.from_json,
    "Runtime.executionContextCreated": ContextCreated.from_json,
    "Runtime.executionContextDestroyed": ContextDestroyed.from_json,
    "Runtime.executionContextsCleared": runtime.ExecutionContextsCleared.from_json,
    "Target.attachedToTarget": target.AttachedToTarget.from_json,
    "Target.detachedFromTarget": target.DetachedFromTarget.from_json,
    "Target.targetInfoChanged": target.TargetInfoChanged.from_json,
}
"""The events that somebody here acts on. The others are not worth reading, and some of PyCDP's warn when read."""


def parse_event(raw: RawEvent) -> Event:
    """Read an event as PyCDP's class or one of ours; one that nobody reads, or nobody can, stays a `RawEvent`."""
    reader = _READERS.get(raw.method)
    if reader is None:
        return raw
    try:
        return reader(raw.params)
    except _UNREADABLE as error:
        logger.debug("event %s stays raw: %r", raw.method, error)
        return raw


def finish_command(command: Generator[Json, Json, Result], result: Json) -> Result:
    """Send a command its result and return what it makes of it.

    Raises:
        ValueError: the result lacks something that the command needs.
    """
    try:
        command.send(result)
    except StopIteration as stop:
        return stop.value
    except _UNREADABLE as error:
        raise ValueError(f"its answer cannot be read ({error!r})") from error
    raise ValueError("its answer was not expected")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What Runtime.evaluate answers by value, of which PyCDP reads much more.

    `value` is a JSON value. `class_name` names the class of an object, of an error that was thrown, too.
    """

    value: Any
    class_name: str
    has_thrown: bool


def evaluate_in(
    unique_context_id: str,
    expression: str,
    *,
    await_promise: bool = False,
    timeout_ms: float | None = None,
) -> Generator[Json, Json, Evaluated]:
    """Runtime.evaluate bound to one realm: the check and the run are one step inside V8.

    A numeric `contextId` would run on whatever document has that number by now, even of another origin.

    Args:
        timeout_ms: end the synchronous part of the script after that; nothing else of the page is ended with it.
    """
    params: Json = {
        "expression": expression,
        "uniqueContextId": unique_context_id,
        "returnByValue": True,
        "awaitPromise": await_promise,
        "silent": True,
    }
    if timeout_ms is not None:
        params["timeout"] = timeout_ms
    result = yield {"method": "Runtime.evaluate", "params": params}
    answer: Json = result["result"]
    return Evaluated(answer.get("value"), str(answer.get("className", "")), result.get("exceptionDetails") is not None)


@dataclass(frozen=True, slots=True)
class Departure:
    """What Page.navigate answers, before the new document is there.

    `error` is Chromium's word, "" for none. `stays`: the document stays, as the address differs in its fragment alone.
    """

    error: str
    is_download: bool
    stays: bool


def navigate(url: str) -> Generator[Json, Json, Departure]:
    """Page.navigate, with the `isDownload` that PyCDP drops."""
    result = yield {"method": "Page.navigate", "params": {"url": url}}
    return Departure(
        error=str(result.get("errorText") or ""),
        is_download=result.get("isDownload") is True,
        stays="loaderId" not in result,
    )


def main_frame() -> Generator[Json, Json, tuple[str, str]]:
    """Page.getFrameTree: id and address of the main frame. PyCDP's own reads, and may fail on, every frame."""
    result = yield {"method": "Page.getFrameTree", "params": {}}
    frame: Json = result["frameTree"]["frame"]
    return str(frame["id"]), str(frame["url"]) + str(frame.get("urlFragment") or "")


def navigation_history() -> Generator[Json, Json, tuple[int, list[int]]]:
    """Page.getNavigationHistory: where we are, and the ids of all entries.

    PyCDP's own fails on transition types that came after it.
    """
    result = yield {"method": "Page.getNavigationHistory", "params": {}}
    return int(result["currentIndex"]), [int(entry["id"]) for entry in result["entries"]]


def set_discover_targets(*, only_types: tuple[str, ...]) -> Generator[Json, Json, None]:
    """Target.setDiscoverTargets with a `filter`: news of these types only."""
    yield {
        "method": "Target.setDiscoverTargets",
        "params": {"discover": True, "filter": _only(only_types)},
    }


def set_auto_attach(
    *, wait_for_debugger_on_start: bool, only_types: tuple[str, ...], on: bool = True
) -> Generator[Json, Json, None]:
    """Target.setAutoAttach in flat mode with a `filter`: targets of other types are left alone."""
    yield {
        "method": "Target.setAutoAttach",
        "params": {
            "autoAttach": on,
            "waitForDebuggerOnStart": wait_for_debugger_on_start,
            "flatten": True,
            "filter": _only(only_types),
        },
    }


def _only(types: tuple[str, ...]) -> list[Json]:
    """A target filter: the first entry that matches decides."""
    return [*({"type": name} for name in types), {"exclude": True}]
