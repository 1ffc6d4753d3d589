"""Which requests a page makes: the last of them, without what logs its user in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count, takewhile
from typing import Any, Final

from bridge import limits
from bridge.page.masks import mask_headers
from bridge.wire.commands import Event, FrameNavigated
from bridge.wire.router import Json, SessionId
from bridge.wire.watched import (
    LoadingFailed,
    LoadingFinished,
    RequestHeaders,
    RequestSent,
    ResponseHeaders,
    ResponseReceived,
    ServedFromCache,
    object_in,
)

_NEVER_QUIET: Final = frozenset({"WebSocket", "EventSource", "Ping", "Prefetch", "Media", "Preflight"})
"""Types of requests that an action is not held up for: they last, or the page does not wait for them."""
_WITHOUT_BODY: Final = frozenset({204, 205, 304})
"""Statuses of answers that are whole as they come: Chromium calls them aborted where nobody reads their bodies."""


@dataclass(slots=True)
class Request:
    """One request, and what came of it.

    Attributes:
        id: `n1`, `n2`, …: counts the page's requests.
        chromium_id: Chromium's own, on that session; one that is redirected keeps it.
        kind: what it is for, in Chromium's words: `Document`, `Fetch`, `Image`, …
        status: of the answer, 0 for none yet.
        failed: why it came to nothing, "" otherwise.
        began, ended: in seconds of Chromium's clock; 0 where that is not known, and where it has not ended.
        document: which of the page's documents made it, counted.
        redirected_to: the id of the request that it led to.
    """

    id: str
    chromium_id: str
    session_id: SessionId
    method: str
    url: str
    kind: str
    began: float
    document: int
    frame_id: str
    has_body: bool
    request_headers: dict[str, str] = field(default_factory=dict[str, str])
    response_headers: dict[str, str] = field(default_factory=dict[str, str])
    status: int = 0
    status_text: str = ""
    mime: str = ""
    remote: str = ""
    protocol: str = ""
    from_cache: bool = False
    failed: str = ""
    encoded_bytes: int = 0
    ended: float = 0
    redirected_to: str = ""

    @property
    def number(self) -> int:
        return int(self.id[1:])

    @property
    def is_open(self) -> bool:
        """Its answer is not whole yet, and somebody may wait for that."""
        return not self.ended and self.kind not in _NEVER_QUIET

    def break_off(self, why: str, time_seconds: float) -> None:
        """No more comes of it."""
        self.failed = "" if self.status in _WITHOUT_BODY else why
        self.ended = time_seconds


class Network:
    """The last `limits.REQUESTS` requests of one page.

    Attributes:
        begun: how many there were.
    """

    def __init__(self) -> None:
        self.requests: dict[str, Request] = {}
        self.begun = 0
        self.document = 0
        self._numbers = count(1)
        self._current: dict[str, Request] = {}
        """By what Chromium calls them, on whichever session: what a frame is to show is asked for on another than the
        one on which it comes."""
        self._early: dict[str, tuple[RequestHeaders | ResponseHeaders, ...]] = {}
        """Headers that came before the request that they belong to."""

    @property
    def dropped(self) -> int:
        """How many there were before the first that is kept."""
        return self.begun - len(self.requests)

    def find(self, request_id: str) -> Request | None:
        """The request of that id, if it is kept still."""
        return self.requests.get(request_id)

    def open_since(self, begun: int) -> list[Request]:
        """Those that began after `begun` of them, and are not over."""
        later = takewhile(lambda request: request.number > begun, reversed(self.requests.values()))
        return [request for request in later if request.is_open]

    def on_event(self, event: Event, session_id: SessionId, documents: int) -> None:
        """Take in one event of the page."""
        match event:
            case RequestSent():
                self._begin(event, session_id, documents)
            case RequestHeaders() | ResponseHeaders():
                self._take_headers(event)
            case ResponseReceived():
                if (request := self._current.get(event.request_id)) is not None:
                    request.kind = event.kind or request.kind
                    request.session_id = session_id
                    _take_response(request, event.response)
            case ServedFromCache():
                if (request := self._current.get(event.request_id)) is not None:
                    request.from_cache = True
            case LoadingFinished():
                if (request := self._current.get(event.request_id)) is not None:
                    request.encoded_bytes = event.encoded_bytes
                    request.ended = event.time_seconds
            case LoadingFailed():
                if (request := self._current.get(event.request_id)) is not None:
                    request.break_off(event.reason or "failed", event.time_seconds)
            case FrameNavigated(is_main=True):
                self._begin_document(event.frame_id, documents)
            case _:
                pass

    def _begin_document(self, main_frame: str, documents: int) -> None:
        """What brought the document belongs to it. Of what the one before waited for, Chromium may say no more."""
        self.document = documents
        brought = [one for one in self.requests.values() if one.kind == "Document" and one.frame_id == main_frame]
        for request in self.requests.values():
            if brought and request.chromium_id == brought[-1].chromium_id:
                request.document = documents
            elif not request.ended and request.document < documents:
                request.break_off("its document ended", request.began)

    def _begin(self, event: RequestSent, session_id: SessionId, documents: int) -> None:
        key = event.request_id
        number = next(self._numbers)
        self.begun = number
        request = Request(
            f"n{number}",
            event.request_id,
            session_id,
            event.method,
            event.url[: limits.REQUEST_URL_CHARS],
            event.kind,
            event.time_seconds,
            documents,
            event.frame_id,
            event.has_body,
            _masked(event.headers),
        )
        before = self._current.get(key)
        if before is not None and event.redirected:
            _take_response(before, event.redirected)
            before.ended = event.time_seconds
            before.redirected_to = request.id
        self.requests[request.id] = self._current[key] = request
        for early in self._early.pop(key, ()):
            self._take_headers(early)
        while len(self.requests) > limits.REQUESTS:
            oldest = self.requests.pop(next(iter(self.requests)))
            if self._current.get(oldest.chromium_id) is oldest:
                del self._current[oldest.chromium_id]

    def _take_headers(self, event: RequestHeaders | ResponseHeaders) -> None:
        key = event.request_id
        request = self._current.get(key)
        if request is None:
            masked = _masked(event.headers)
            match event:
                case RequestHeaders():
                    told = RequestHeaders(event.request_id, masked)
                case ResponseHeaders():
                    told = ResponseHeaders(event.request_id, event.status, masked)
            # A quick answer may be told of as well before the request is.
            self._early[key] = (*self._early.get(key, ())[-1:], told)
            while len(self._early) > limits.HEADERS:
                del self._early[next(iter(self._early))]
            return
        match event:
            case RequestHeaders():
                request.request_headers = _masked(event.headers)
            case ResponseHeaders():
                request.response_headers = _masked(event.headers)
                request.status = event.status or request.status


def _masked(headers: Mapping[str, Any]) -> dict[str, str]:
    return mask_headers(headers, limit=limits.HEADERS, limit_chars=limits.HEADER_CHARS)


def _take_response(request: Request, response: Json) -> None:
    status = response.get("status")
    request.status = status if isinstance(status, int) else request.status
    request.status_text = str(response.get("statusText") or "")[:100]
    request.mime = str(response.get("mimeType") or "")[:100]
    request.protocol = str(response.get("protocol") or "")[:50]
    request.from_cache |= response.get("fromDiskCache") is True or response.get("fromPrefetchCache") is True
    address, port = response.get("remoteIPAddress"), response.get("remotePort")
    request.remote = f"{address}:{port}"[:100] if isinstance(address, str) and address else ""
    if not request.request_headers:
        request.request_headers = _masked(object_in(response, "requestHeaders"))
    if not request.response_headers:
        request.response_headers = _masked(object_in(response, "headers"))
