"""Events of the tools for debugging: what consoles and networks say, and what an input event of ours brings about.

None of PyCDP's: its readers fail on values that came after it, here more than anywhere else, and most of what they read
nobody needs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self, cast

from bridge.wire.router import Json


def _text(json: Json, key: str) -> str:
    value = json.get(key)
    return value if isinstance(value, str) else ""


def _number(json: Json, key: str) -> float:
    value = json.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def object_in(json: Json, key: str) -> Json:
    """A field that is an object, empty where it is none."""
    value = json.get(key)
    return cast("Json", value) if isinstance(value, dict) else {}


def objects_in(json: Json, key: str) -> list[Json]:
    """The objects of a field that is a list of them."""
    values = json.get(key)
    listed = cast("list[object]", values) if isinstance(values, list) else []
    return [cast("Json", value) for value in listed if isinstance(value, dict)]


@dataclass(frozen=True, slots=True)
class ConsoleCalled:
    """Runtime.consoleAPICalled. `kind` is `log`, `warning`, `error`, …; `arguments` are RemoteObjects."""

    kind: str
    arguments: list[Json]
    url: str
    line: int
    timestamp_ms: float

    @classmethod
    def from_json(cls, params: Json) -> Self:
        url, line = _top_of(object_in(params, "stackTrace"))
        return cls(_text(params, "type"), objects_in(params, "args"), url, line, _number(params, "timestamp"))


@dataclass(frozen=True, slots=True)
class ExceptionThrown:
    """Runtime.exceptionThrown: nobody caught it. `thrown` is a RemoteObject, empty where Chromium has none."""

    text: str
    thrown: Json
    url: str
    line: int
    timestamp_ms: float

    @classmethod
    def from_json(cls, params: Json) -> Self:
        details: Json = params["exceptionDetails"]
        return cls(
            _text(details, "text"),
            object_in(details, "exception"),
            _text(details, "url") or _top_of(object_in(details, "stackTrace"))[0],
            int(_number(details, "lineNumber")) + 1,
            _number(params, "timestamp"),
        )


@dataclass(frozen=True, slots=True)
class LogAdded:
    """Log.entryAdded: what the browser itself has to say, such as a request that failed."""

    level: str
    source: str
    text: str
    url: str
    line: int
    timestamp_ms: float

    @classmethod
    def from_json(cls, params: Json) -> Self:
        entry: Json = params["entry"]
        return cls(
            _text(entry, "level"),
            _text(entry, "source"),
            _text(entry, "text"),
            _text(entry, "url"),
            int(_number(entry, "lineNumber")) + 1 if "lineNumber" in entry else 0,
            _number(entry, "timestamp"),
        )


def _top_of(stack: Json) -> tuple[str, int]:
    """Address and line of the call that a stack trace begins with."""
    frames = objects_in(stack, "callFrames")
    return (_text(frames[0], "url"), int(_number(frames[0], "lineNumber")) + 1) if frames else ("", 0)


@dataclass(frozen=True, slots=True)
class RequestSent:
    """Network.requestWillBeSent. `redirected` is the answer that led here, of the same id, or empty."""

    request_id: str
    method: str
    url: str
    kind: str
    headers: Json
    has_body: bool
    redirected: Json
    time_seconds: float
    frame_id: str

    @classmethod
    def from_json(cls, params: Json) -> Self:
        request: Json = params["request"]
        return cls(
            str(params["requestId"]),
            _text(request, "method"),
            _text(request, "url") + _text(request, "urlFragment"),
            _text(params, "type"),
            object_in(request, "headers"),
            request.get("hasPostData") is True,
            object_in(params, "redirectResponse"),
            _number(params, "timestamp"),
            _text(params, "frameId"),
        )


@dataclass(frozen=True, slots=True)
class RequestHeaders:
    """Network.requestWillBeSentExtraInfo: the headers as they went, with those that the network stack adds."""

    request_id: str
    headers: Json

    @classmethod
    def from_json(cls, params: Json) -> Self:
        return cls(str(params["requestId"]), object_in(params, "headers"))


@dataclass(frozen=True, slots=True)
class ResponseReceived:
    """Network.responseReceived. `response` is Chromium's Response."""

    request_id: str
    kind: str
    response: Json

    @classmethod
    def from_json(cls, params: Json) -> Self:
        return cls(str(params["requestId"]), _text(params, "type"), object_in(params, "response"))


@dataclass(frozen=True, slots=True)
class ResponseHeaders:
    """Network.responseReceivedExtraInfo: status and headers as they came."""

    request_id: str
    status: int
    headers: Json

    @classmethod
    def from_json(cls, params: Json) -> Self:
        return cls(str(params["requestId"]), int(_number(params, "statusCode")), object_in(params, "headers"))


@dataclass(frozen=True, slots=True)
class LoadingFinished:
    """Network.loadingFinished."""

    request_id: str
    encoded_bytes: int
    time_seconds: float

    @classmethod
    def from_json(cls, params: Json) -> Self:
        return cls(str(params["requestId"]), int(_number(params, "encodedDataLength")), _number(params, "timestamp"))


@dataclass(frozen=True, slots=True)
class LoadingFailed:
    """Network.loadingFailed. `reason` is Chromium's word, such as `net::ERR_FAILED`."""

    request_id: str
    reason: str
    time_seconds: float

    @classmethod
    def from_json(cls, params: Json) -> Self:
        blocked = _text(params, "blockedReason")
        reason = _text(params, "errorText")
        return cls(
            str(params["requestId"]), f"{reason} ({blocked})" if blocked else reason, _number(params, "timestamp")
        )


@dataclass(frozen=True, slots=True)
class ServedFromCache:
    """Network.requestServedFromCache."""

    request_id: str

    @classmethod
    def from_json(cls, params: Json) -> Self:
        return cls(str(params["requestId"]))


def _socket_created(params: Json) -> RequestSent:
    """Network.webSocketCreated. When that was is not told."""
    return RequestSent(str(params["requestId"]), "GET", _text(params, "url"), "WebSocket", {}, False, {}, 0, "")


def _socket_answered(params: Json) -> ResponseReceived:
    """Network.webSocketHandshakeResponseReceived."""
    response: Json = params["response"]
    told = {name: response.get(name) for name in ("status", "statusText", "headers", "requestHeaders")}
    return ResponseReceived(str(params["requestId"]), "WebSocket", told)


def _socket_failed(params: Json) -> LoadingFailed:
    """Network.webSocketFrameError, also of a handshake. `reason` is a sentence."""
    return LoadingFailed(str(params["requestId"]), _text(params, "errorMessage"), _number(params, "timestamp"))


def _socket_closed(params: Json) -> LoadingFinished:
    """Network.webSocketClosed, whoever closed it."""
    return LoadingFinished(str(params["requestId"]), 0, _number(params, "timestamp"))


@dataclass(frozen=True, slots=True)
class DragIntercepted:
    """Input.dragIntercepted: a drag began that we carry on. `data` is Chromium's DragData."""

    data: Json

    @classmethod
    def from_json(cls, params: Json) -> Self:
        return cls(params["data"])


@dataclass(frozen=True, slots=True)
class FileChooserOpened:
    """Page.fileChooserOpened. `backend_node_id` is the number of the input, 0 where there is none."""

    backend_node_id: int

    @classmethod
    def from_json(cls, params: Json) -> Self:
        return cls(int(_number(params, "backendNodeId")))


@dataclass(frozen=True, slots=True)
class WindowOpen:
    """Page.windowOpen: a page is about to come that this one opens."""

    @classmethod
    def from_json(cls, _: Json) -> Self:
        return cls()


Reader = Callable[[Json], Any]

CONSOLE_EVENTS: Final[Mapping[str, Reader]] = {
    "Log.entryAdded": LogAdded.from_json,
    "Runtime.consoleAPICalled": ConsoleCalled.from_json,
    "Runtime.exceptionThrown": ExceptionThrown.from_json,
}
NETWORK_EVENTS: Final[Mapping[str, Reader]] = {
    "Network.loadingFailed": LoadingFailed.from_json,
    "Network.loadingFinished": LoadingFinished.from_json,
    "Network.requestServedFromCache": ServedFromCache.from_json,
    "Network.requestWillBeSent": RequestSent.from_json,
    "Network.requestWillBeSentExtraInfo": RequestHeaders.from_json,
    "Network.responseReceived": ResponseReceived.from_json,
    "Network.responseReceivedExtraInfo": ResponseHeaders.from_json,
    "Network.webSocketClosed": _socket_closed,
    "Network.webSocketCreated": _socket_created,
    "Network.webSocketFrameError": _socket_failed,
    "Network.webSocketHandshakeResponseReceived": _socket_answered,
}
INPUT_EVENTS: Final[Mapping[str, Reader]] = {
    "Input.dragIntercepted": DragIntercepted.from_json,
    "Page.fileChooserOpened": FileChooserOpened.from_json,
    "Page.windowOpen": WindowOpen.from_json,
}
