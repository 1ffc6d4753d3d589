"""The one importer of PyCDP: its commands and events, and those that are newer than it.

PyCDP (on PyPI: chrome-devtools-protocol) writes a command as a generator that yields `{method, params}` and
is sent the result. What it lacks is written here in the same way. What it cannot read becomes a `RawEvent`.
"""

import logging
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar

from bridge.wire.router import Json, RawEvent
from bridge.wire.submodules import import_when_asked

import_when_asked("cdp")

from cdp import inspector, page, runtime, target  # noqa: E402

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
    "Readers",
    "add_script",
    "ask",
    "evaluate_in",
    "finish_command",
    "get_command_line",
    "get_targets",
    "get_version",
    "inspector",
    "is_for_nobody",
    "is_unread",
    "main_frame",
    "method_of",
    "navigate",
    "navigation_history",
    "page",
    "parse_event",
    "release_thrown",
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

HEAD: Final = 80
_BEFORE_METHOD: Final = '{"method":"'
"""How Chromium begins an event."""

_UNREADABLE: Final = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What parsers raise on a field or an enum value that they do not know, or on a number without end."""


def _text(json: Json, key: str) -> str:
    """A field that has to be there."""
    value = json[key]
    if not isinstance(value, str):
        raise TypeError(f"{key} is no string")
    return value


def _text_if_any(json: Json, key: str) -> str:
    """A field that may be missing, and is "" then."""
    value = json.get(key)
    return value if isinstance(value, str) else ""


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
            unique_id=_text(context, "uniqueId"),
            origin=_text(context, "origin"),
            frame_id=_text_if_any(aux, "frameId"),
            is_default=aux.get("isDefault") is True,
        )


@dataclass(frozen=True, slots=True)
class ContextDestroyed:
    """Runtime.executionContextDestroyed, with the `executionContextUniqueId` that PyCDP drops."""

    unique_id: str

    @classmethod
    def from_json(cls, params: Json) -> Self:
        return cls(unique_id=_text(params, "executionContextUniqueId"))


@dataclass(frozen=True, slots=True)
class DialogOpening:
    """Page.javascriptDialogOpening. PyCDP fails where Chromium leaves out `frameId` or adds a type.

    `kind` is `alert`, `confirm`, `prompt` or `beforeunload`, and `dialog` where Chromium does not say.
    """

    kind: str
    message: str
    url: str
    default_text: str

    @classmethod
    def from_json(cls, params: Json) -> Self:
        return cls(
            kind=_text_if_any(params, "type") or "dialog",
            message=_text_if_any(params, "message"),
            url=_text_if_any(params, "url"),
            default_text=_text_if_any(params, "defaultPrompt"),
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
        return cls(frame_id=_text(params["frame"], "id"))


@dataclass(frozen=True, slots=True)
class FrameDetached:
    """Page.frameDetached, with the `reason` that PyCDP drops.

    `is_removed`: the frame is gone; else it goes on in another process.
    """

    frame_id: str
    is_removed: bool

    @classmethod
    def from_json(cls, params: Json) -> Self:
        return cls(frame_id=_text(params, "frameId"), is_removed=params.get("reason") != "swap")


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
        return cls.from_frame(params["frame"], is_restored=params.get("type") == "BackForwardCacheRestore")

    @classmethod
    def from_frame(cls, frame: Json, *, is_restored: bool = False) -> Self:
        """Of a frame as it is now."""
        unreachable = _text_if_any(frame, "unreachableUrl")
        return cls(
            frame_id=_text(frame, "id"),
            url=unreachable or _text(frame, "url") + _text_if_any(frame, "urlFragment"),
            is_main=frame.get("parentId") is None,
            is_error=unreachable != "",
            is_restored=is_restored,
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
        return cls(frame_id=_text(params, "frameId"), name=_text(params, "name"))


def _target_info(info: Json) -> target.TargetInfo:
    """PyCDP's own reader fails where a field is missing that nobody here needs. So with the two below."""
    return target.TargetInfo(
        target_id=target.TargetID(_text(info, "targetId")),
        type_=_text(info, "type"),
        title=_text_if_any(info, "title"),
        url=_text_if_any(info, "url"),
        attached=info.get("attached") is True,
    )


def _attached_to_target(params: Json) -> target.AttachedToTarget:
    return target.AttachedToTarget(
        session_id=target.SessionID(_text(params, "sessionId")),
        target_info=_target_info(params["targetInfo"]),
        waiting_for_debugger=params.get("waitingForDebugger") is True,
    )


def _target_info_changed(params: Json) -> target.TargetInfoChanged:
    return target.TargetInfoChanged(_target_info(params["targetInfo"]))


Readers = Mapping[str, Callable[[Json], Event]]
"""How events are read that somebody acts on, by their methods."""

_READERS: Final[Readers] = {
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
    "Target.attachedToTarget": _attached_to_target,
    "Target.detachedFromTarget": target.DetachedFromTarget.from_json,
    "Target.targetDestroyed": target.TargetDestroyed.from_json,
    "Target.targetInfoChanged": _target_info_changed,
}
"""The events that are always acted on. The others are not worth reading, and some of PyCDP's warn when read."""


def method_of(message: bytes | bytearray | str) -> str:
    """The method of an event by its first characters, "" where they do not tell: a page can send 100,000 events a
    second, and each one that is parsed holds up what comes behind it."""
    head = message[:HEAD] if isinstance(message, str) else message[:HEAD].decode("latin-1")
    if not head.startswith(_BEFORE_METHOD):
        return ""
    method, quote, _ = head[len(_BEFORE_METHOD) :].partition('"')
    return method if quote else ""


def is_for_nobody(message: bytes | bytearray | str) -> bool:
    """True for an event that nobody always acts on, by its first characters."""
    return (method := method_of(message)) != "" and method not in _READERS


def is_unread(event: Event) -> bool:
    """True for an event that somebody always acts on, and that can't be read."""
    return isinstance(event, RawEvent) and event.method in _READERS


def parse_event(raw: RawEvent, readers: Readers = _READERS) -> Event:
    """Read an event as PyCDP's class or one of ours; one that nobody reads, or nobody can, stays a `RawEvent`."""
    reader = readers.get(raw.method)
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
        why = f"it lacks {error.args[0]!r}" if isinstance(error, KeyError) else "it has another form than it should"
        raise ValueError(f"its answer cannot be read, for {why}") from error
    raise ValueError("its answer was not expected")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What Runtime.evaluate answers by value, of which PyCDP reads much more.

    `value` is a JSON value. `class_name` names the class of an object, of an error that was thrown, too.
    """

    value: Any
    class_name: str
    has_thrown: bool


_THROWN: Final = "thrown"


def ask(method: str, /, **params: object) -> Generator[Json, Json, Json]:
    """A command as it is; parameters that are None are left out."""
    return (yield {"method": method, "params": {name: value for name, value in params.items() if value is not None}})


def evaluate_in(
    unique_context_id: str,
    expression: str,
    *,
    await_promise: bool = False,
    timeout_ms: float | None = None,
) -> Generator[Json, Json, Evaluated]:
    """Runtime.evaluate bound to one realm: the check and the run are one step inside V8.

    A numeric `contextId` would run on whatever document has that number by now, even of another origin. What the
    script throws is an object that the page keeps for us, until `release_thrown`.

    Args:
        timeout_ms: end the synchronous part of the script after that; nothing else of the page is ended with it.
    """
    params: Json = {
        "expression": expression,
        "uniqueContextId": unique_context_id,
        "objectGroup": _THROWN,
        "returnByValue": True,
        "awaitPromise": await_promise,
        "silent": True,
    }
    if timeout_ms is not None:
        params["timeout"] = timeout_ms
    result = yield {"method": "Runtime.evaluate", "params": params}
    answer: Json = result["result"]
    has_thrown = result.get("exceptionDetails") is not None
    return Evaluated(answer.get("value"), _text_if_any(answer, "className"), has_thrown)


def release_thrown() -> Command:
    """Runtime.releaseObjectGroup, for what scripts of `evaluate_in` threw."""
    return runtime.release_object_group(_THROWN)


def get_version() -> Generator[Json, Json, str]:
    """Browser.getVersion: the product alone."""
    result = yield {"method": "Browser.getVersion", "params": {}}
    return _text_if_any(result, "product")


def get_command_line() -> Generator[Json, Json, str]:
    """SystemInfo.getInfo: what the browser was started with alone, "" where it does not say."""
    result = yield {"method": "SystemInfo.getInfo", "params": {}}
    return _text_if_any(result, "commandLine")


def get_targets() -> Generator[Json, Json, list[target.TargetInfo]]:
    """Target.getTargets."""
    result = yield {"method": "Target.getTargets", "params": {}}
    return [_target_info(info) for info in result["targetInfos"]]


def add_script(source: str) -> Generator[Json, Json, None]:
    """Page.addScriptToEvaluateOnNewDocument: run it in each document to come before the document's own scripts."""
    yield {"method": "Page.addScriptToEvaluateOnNewDocument", "params": {"source": source}}


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


def main_frame() -> Generator[Json, Json, FrameNavigated | None]:
    """Page.getFrameTree: what the main frame shows, None where that can't be read. PyCDP's own reads every frame."""
    result = yield {"method": "Page.getFrameTree", "params": {}}
    try:
        return FrameNavigated.from_frame(result["frameTree"]["frame"])
    except _UNREADABLE as error:
        logger.debug("what a page shows: %r", error)
        return None


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
