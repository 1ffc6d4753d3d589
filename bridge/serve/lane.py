"""The short way of a call: from a line of stdin to a tool and back, past the SDK.

Most of what an agent sends is `tools/call`, and most of what the SDK does for one is to make objects of its JSON and
JSON of them again: a third of the time that a call takes. So a call that is plain is taken out of the stream before the
SDK sees it, and so is `tools/list`, with which each session begins. The client can't tell: the same function runs it,
the same function makes its result, and tests send the same requests both ways. Everything else stays with the SDK:
whatever is not exactly of the form below, the handshake, every error of the protocol, and all of 2026-07-28.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast

import trio
from pydantic_core import from_json, to_json

from bridge.calls.progress import Send
from bridge.calls.toolbox import Toolbox
from bridge.limits import CLOSE_SECONDS
from bridge.serve.shapes import as_list, as_result
from bridge.serve.stdio import RequestId, Stdio

logger = logging.getLogger(__name__)

CONNECTION_CLOSED: Final = -32000
INTERNAL_ERROR: Final = -32603
SAFE_INTEGER: Final = 2**53 - 1
WORDS: Final = {"name", "arguments", "_meta"}
WORDS_OF_A_LIST: Final = {"_meta"}


class Lane:
    """Takes the plain calls of one client.

    Args:
        nursery: where they run.
        asks: whether the tool of a name may ask the person; such a call is the SDK's.
    """

    def __init__(
        self, toolbox: Toolbox, stdio: Stdio, nursery: trio.Nursery, asks: Callable[[str], bool] = lambda _: False
    ) -> None:
        self._toolbox = toolbox
        self._asks = asks
        self._stdio = stdio
        self._requests = stdio.requests
        self._nursery = nursery
        self._is_open = False
        self._calls: dict[RequestId, trio.CancelScope] = {}

    def open(self) -> None:
        """The handshake of a version that has one is over."""
        self._is_open = True

    def takes(self, line: bytes) -> bool:
        """Whether a line is done with here: a plain request, which runs from now on, or the end of one."""
        if not self._is_open:
            return False
        if b'"tools/' in line:
            return self._take_call(line)
        return self._take_back(line)

    def _take_call(self, line: bytes) -> bool:
        call = _read_call(line)
        if call is None or call.request_id in self._requests or self._requests.is_being_taken_back(call.request_id):
            return False
        if call.name is not None and (self._asks(call.name) or not self._toolbox.has(call.name)):
            return False
        self._requests.came_in(call.request_id, "tools/call")
        scope = self._calls[call.request_id] = trio.CancelScope()
        self._nursery.start_soon(self._run, call, scope)
        return True

    def _take_back(self, line: bytes) -> bool:
        request_id = taken_back_by(line)
        scope = self._calls.get(request_id) if request_id is not None else None
        if request_id is None or scope is None:
            return False
        self._settle(request_id)
        scope.cancel()
        return True

    def _settle(self, request_id: RequestId) -> None:
        del self._calls[request_id]
        self._requests.settle(request_id)

    async def _run(self, call: "_Call", scope: trio.CancelScope) -> None:
        try:
            with scope:
                try:
                    line = _line(id=call.request_id, result=await self._result(call))
                except Exception as error:
                    logger.exception("A request for %s met a bug of ours.", call.name or "the tools")
                    fault = {"code": INTERNAL_ERROR, "message": f"Internal error: {type(error).__name__}"}
                    line = _line(id=call.request_id, error=fault)
                await self._stdio.send(line)
        except trio.Cancelled:
            # The bridge ends, and a call is answered whatever happens.
            fault = {"code": CONNECTION_CLOSED, "message": "Connection closed"}
            with trio.move_on_after(CLOSE_SECONDS, shield=True):
                await self._stdio.send(_line(id=call.request_id, error=fault))
            raise
        finally:
            # Its client may have taken it back, and used the id anew.
            if self._calls.get(call.request_id) is scope:
                self._settle(call.request_id)

    async def _result(self, call: "_Call") -> dict[str, Any]:
        if call.name is None:
            return as_list(await self._toolbox.offer())
        send = None if call.progress_token is None else self._progress(call.progress_token)
        return as_result(await self._toolbox.run(call.name, call.arguments, send))

    def _progress(self, token: RequestId) -> Send:
        async def send(done: float, total: float | None, message: str | None) -> None:
            told = {"progressToken": token, "progress": done, "total": total, "message": message}
            params = {name: word for name, word in told.items() if word is not None}
            await self._stdio.send(_line(method="notifications/progress", params=params))

        return send


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of the tool `name`, or where that is None, a request for the list of them."""

    request_id: RequestId
    name: str | None
    arguments: dict[str, Any]
    progress_token: RequestId | None


def _read_call(line: bytes) -> _Call | None:
    """A plain request, or None where a line is anything else: of that the SDK knows what to make."""
    message = _read(line)
    match message:
        case {"jsonrpc": "2.0", "id": int() | str() as request_id, "method": "tools/call", "params": {**params}}:
            members, known = 4, WORDS
        case {"jsonrpc": "2.0", "id": int() | str() as request_id, "method": "tools/list", "params": {**params}}:
            members, known = 4, WORDS_OF_A_LIST
        case {"jsonrpc": "2.0", "id": int() | str() as request_id, "method": "tools/list"}:
            members, known, params = 3, WORDS_OF_A_LIST, {}
        case _:
            return None
    words = cast("dict[str, Any]", params)
    name, arguments, meta = words.get("name"), words.get("arguments"), words.get("_meta")
    if not isinstance(name, str | None) or not isinstance(arguments, dict | None) or not isinstance(meta, dict | None):
        return None
    told = cast("dict[str, Any]", meta or {})
    token = told.get("progressToken")
    is_plain = (
        len(message) == members
        and words.keys() <= known
        and (name is not None or known is WORDS_OF_A_LIST)
        and _is_id(request_id)
        and (token is None or _is_id(token))
        and not any(word.startswith("io.modelcontextprotocol/") for word in told)
    )
    return _Call(request_id, name, cast("dict[str, Any]", arguments or {}), token) if is_plain else None


def taken_back_by(line: bytes) -> RequestId | None:
    """The id of the request that a line takes back, or None where a line is anything else."""
    if b'"notifications/cancelled"' not in line:
        return None
    match message := _read(line):
        case {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": int() | str() as request_id},
        } if _is_id(request_id) and "id" not in message:
            return request_id
        case _:
            return None


def _read(line: bytes) -> Any:  # noqa: ANN401  # JSON
    """What a line holds, as the SDK reads it; None where it is no JSON."""
    try:
        return from_json(line, allow_inf_nan=False)
    except ValueError:
        return None


def _is_id(found: object) -> bool:
    """Whether JSON may have this for an id or a token, and every JSON library reads it alike."""
    if isinstance(found, int) and not isinstance(found, bool):
        return abs(found) <= SAFE_INTEGER
    return isinstance(found, str)


def _line(**message: Any) -> bytes:  # noqa: ANN401  # JSON
    return to_json({"jsonrpc": "2.0", **message})
