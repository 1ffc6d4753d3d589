"""Tools that tell what a page's console and network have said."""

import base64
from collections.abc import Generator, Sequence
from datetime import UTC, datetime
from typing import Any

from bridge import limits
from bridge.errors import CommandFailed, UsageError
from bridge.page.console import Console, Message
from bridge.page.media import recognise
from bridge.page.network import Network, Request
from bridge.page.session import Page
from bridge.tools.browser.value import Arguments, Context
from bridge.wire.connection import Session
from bridge.wire.devtools import Body, request_body, response_body
from bridge.wire.router import Json
from bridge.wire.watched import CONSOLE_EVENTS, NETWORK_EVENTS


async def list_console_messages(args: Arguments, context: Context) -> object:
    page = context.page.find(args["page"])
    console = _console(page)
    levels = args.get("levels")
    after = args.get("after", 0)
    found = [
        one
        for one in console.messages
        if one.number > after
        and (args.get("earlier_documents") or one.document == page.place.documents)
        and (not levels or one.level in levels)
    ]
    # The last are what somebody looks for who does not say where to begin.
    shown = found[: limits.CONSOLE_SHOWN] if after else found[-limits.CONSOLE_SHOWN :]
    left = len(found) - len(shown)
    return {
        "page": page.handle,
        "messages": [_message(one) for one in shown],
        **({"more": left} if left else {}),
        **_missed(page, [*CONSOLE_EVENTS]),
    }


def _message(one: Message) -> dict[str, Any]:
    at = f"{one.url}:{one.line}" if one.url and one.line else one.url
    return {
        "number": one.number,
        "level": one.level,
        **({"source": one.source} if one.source != "console" else {}),
        "text": one.text,
        **({"at": at} if at else {}),
        **({"times": one.times} if one.times > 1 else {}),
        "time": datetime.fromtimestamp(one.timestamp_ms / 1000, UTC).strftime("%H:%M:%S.%f")[:-3],
    }


async def list_network_requests(args: Arguments, context: Context) -> object:
    page = context.page.find(args["page"])
    network = _network(page)
    kinds = {kind.lower() for kind in args.get("types", ())}
    part = args.get("url", "").lower()
    after = args.get("after", "n0")
    if not after[1:].isdecimal():
        raise UsageError(f"{after!r} is no id of a request. Take one from the list before.")
    found = [
        one
        for one in network.requests.values()
        if one.number > int(after[1:])
        and (args.get("earlier_documents") or one.document == page.place.documents)
        and (not kinds or one.kind.lower() in kinds)
        and part in one.url.lower()
        and (not args.get("failed") or one.failed or one.status >= 400)
    ]
    shown = found[: limits.CONSOLE_SHOWN] if "after" in args else found[-limits.CONSOLE_SHOWN :]
    left = len(found) - len(shown)
    return {
        "page": page.handle,
        "requests": [_request(one) for one in shown],
        **({"more": left} if left else {}),
        **_missed(page, [*NETWORK_EVENTS]),
    }


def _request(one: Request) -> dict[str, Any]:
    return {
        "id": one.id,
        "method": one.method,
        "url": one.url,
        "type": one.kind,
        "status": one.status or ("failed" if one.failed else "pending"),
        **({"failed": one.failed} if one.failed else {}),
        **({"redirected_to": one.redirected_to} if one.redirected_to else {}),
        **({"bytes": one.encoded_bytes} if one.encoded_bytes else {}),
        **({"from_cache": True} if one.from_cache else {}),
        **({"ms": round((one.ended - one.began) * 1000)} if one.ended and one.began else {}),
    }


async def get_network_request(args: Arguments, context: Context) -> object:
    page = context.page.find(args["page"])
    network = _network(page)
    one = network.find(args["request"])
    if one is None:
        raise UsageError(
            f"Page {page.handle} has no request {args['request']!r}: the last {limits.REQUESTS} are kept. Take an id "
            "from list_network_requests."
        )
    session = Session(page.session.connection, one.session_id)
    told = _request(one) | {
        "request_headers": one.request_headers,
        "response_headers": one.response_headers,
        **({"status_text": one.status_text} if one.status_text else {}),
        **({"mime": one.mime} if one.mime else {}),
        **({"protocol": one.protocol, "remote": one.remote} if one.remote else {}),
    }
    if one.has_body:
        told["request_body"] = await _body(session, request_body(one.chromium_id))
    if one.ended and not one.failed and not one.redirected_to and one.kind != "WebSocket":
        told["response_body"] = await _body(session, response_body(one.chromium_id))
    return told


async def _body(session: Session, command: Generator[Json, Json, Body]) -> str:
    """The text of a body, or a line in its place."""
    try:
        body = await session.run(command)
    except CommandFailed as error:
        return f"[not kept: {error.reason.rstrip('.')}]"
    text = body.text
    if body.is_base64:
        data = base64.b64decode(text)
        found = recognise(data)
        if found.kind != "text":
            return f"[{found.mime}, {len(data):,} bytes]"
        text = data.decode()
    if len(text) <= limits.BODY_BYTES:
        return text
    return f"{text[: limits.BODY_BYTES]}… [{len(text) - limits.BODY_BYTES:,} more characters]"


def _console(page: Page) -> Console:
    console = page.watch.console if page.watch is not None else None
    if console is None:
        raise _not_watched("console")
    return console


def _network(page: Page) -> Network:
    network = page.watch.network if page.watch is not None else None
    if network is None:
        raise _not_watched("network")
    return network


def _not_watched(what: str) -> UsageError:
    return UsageError(f"The {what} of pages is not watched. Start pagebridge with a profile that has this tool.")


def _missed(page: Page, methods: Sequence[str]) -> dict[str, int]:
    """How many events came too fast, or were too large, of all pages."""
    missed = sum(page.session.connection.hearing.missed[method] for method in methods)
    return {"missed_in_all_pages": missed} if missed else {}
