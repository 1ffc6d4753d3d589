"""Where a running browser is: its websocket, found from what a person can name."""

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import unquote, urlsplit, urlunsplit

import h11
import trio

from bridge.browser.wsl import is_windows_folder
from bridge.errors import BrowserFailedToStart, UsageError
from bridge.files import read_plain, why_failed
from bridge.limits import CONNECT_SECONDS, HTTP_BODY_BYTES
from bridge.wire.address import Address, open_stream

Headers = tuple[tuple[str, str], ...]

_VERSION_PATH: Final = "/json/version"
_ACTIVE_PORT: Final = "DevToolsActivePort"
_ACTIVE_PORT_BYTES: Final = 4096
_FORMS: Final = "Pass http://HOST:PORT, a ws:// or wss:// URL, or the profile folder of a running browser."
_OURS: Final = frozenset({"host", "connection", "upgrade", "content-length", "transfer-encoding"})
"""Headers that belong to the connection."""


@dataclass(frozen=True)
class Endpoint:
    """A websocket to a browser. Its `repr` shows neither the URL nor the headers: both may hold secrets."""

    url: str = field(repr=False)
    headers: Headers = field(repr=False)
    described: str
    """Safe to log: no user, no path, no query."""


@dataclass(frozen=True)
class _Answer:
    status: int
    reason: str
    body: bytes
    peer: str
    """The IP address that answered, where it is known."""

    @property
    def refuses_host(self) -> bool:
        """Source: Chromium, content/browser/devtools/devtools_http_handler.cc, RequestIsSafeToServe."""
        return self.status == 500 and b"Host header is specified" in self.body


async def find_endpoint(where: str, headers: Sequence[tuple[str, str]] = ()) -> Endpoint:
    """Find the websocket of a running browser.

    Args:
        where: `http(s)://HOST[:PORT][/PREFIX][?QUERY]`, which is asked for `/json/version`; a `ws://` or `wss://`
            URL, used as it is; or a profile folder, whose browser is not spoken to here: Chrome asks a person
            about each connection when remote debugging was switched on at chrome://inspect.
        headers: sent with every request. User and password in a URL become one, too.
    Raises:
        BrowserFailedToStart: no browser was found there; says what to do.
        UsageError: `where` or a header cannot be used.
    """
    sent = checked_headers(headers)
    if "://" not in where:
        url = find_active_port(Path(where))
        return Endpoint(url, sent, Address.parse(url).described)
    url, authorization = without_user(where)
    if authorization and not any(name.lower() == "authorization" for name, _ in sent):
        sent = (*sent, ("Authorization", authorization))
    address = Address.parse(url)
    if address.scheme in {"http", "https"}:
        url = await _ask_version(address, sent)
    return Endpoint(url, sent, Address.parse(url).described)


def checked_headers(headers: Sequence[tuple[str, str]]) -> Headers:
    """Raises UsageError for a header that cannot be sent; the message never has its value."""
    for name, value in headers:
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or re.search(r"[\x00-\x08\x0a-\x1f\x7f]", value):
            raise UsageError(f"Header {name!r} cannot be sent: a character in its name or value is not allowed.")
        if name.lower() in _OURS or name.lower().startswith("sec-websocket-"):
            raise UsageError(f"Header {name!r} belongs to the connection and cannot be chosen.")
    return tuple((name, value.strip()) for name, value in headers)


def without_user(url: str) -> tuple[str, str | None]:
    """Take user and password out of a URL; return the rest, and them as an Authorization header's value."""
    head, separator, tail = url.partition("://")
    authority = re.match(r"[^/?#]*", tail)
    user, at, _ = (authority.group() if authority else "").rpartition("@")
    if not at:
        return url, None
    name, _, password = user.partition(":")
    credentials = f"{unquote(name)}:{unquote(password)}".encode()
    return head + separator + tail[len(user) + 1 :], f"Basic {b64encode(credentials).decode()}"


def version_target(target: str) -> str:
    """The path and query to ask, for the path and query that a person gave."""
    path, mark, query = target.partition("?")
    prefix = path.rstrip("/").removesuffix(_VERSION_PATH)
    return prefix + _VERSION_PATH + mark + query


def repaired(answered: str, asked: Address) -> str:
    """Make a browser's own websocket URL one that leads back to it: it may not know how it was reached.

    Scheme, host and port are those that were asked; so is the query if the answer has none, for it may be a token.
    A prefix is put before Chromium's own path, because a proxy must have taken it away.
    """
    parts = urlsplit(answered)
    path, _, query = asked.target.partition("?")
    prefix = path.rstrip("/").removesuffix(_VERSION_PATH)
    own_path = prefix + parts.path if parts.path.startswith("/devtools/") else parts.path
    return urlunsplit(("wss" if asked.tls else "ws", asked.authority, own_path, parts.query or query, ""))


async def _ask_version(address: Address, headers: Headers) -> str:
    answer = await _get(address, headers)
    if answer.refuses_host and answer.peer and not address.numeric:
        # Chromium answers only to an IP address or localhost; a proxy in front of it may need the name.
        host = f"[{answer.peer}]" if ":" in answer.peer else answer.peer
        address = replace(address, host=answer.peer, authority=f"{host}:{address.port}")
        answer = await _get(address, headers)
    if answer.status != 200:
        raise BrowserFailedToStart(_why_not_ok(address, answer))
    try:
        version: Any = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise BrowserFailedToStart(
            f"{address.described} answered, but not as a browser does: {answer.body[:80]!r} is no JSON. {_FORMS}"
        ) from error
    match version:
        case {"webSocketDebuggerUrl": str(answered)}:
            return repaired(answered, address)
        case _:
            raise BrowserFailedToStart(
                f"{address.described} answered without a webSocketDebuggerUrl, as no browser does. {_FORMS}"
            )


def _why_not_ok(address: Address, answer: _Answer) -> str:
    said = f"{address.described} answered {answer.status} {answer.reason}".rstrip()
    match answer.status:
        case 404:
            return (
                f"{said} for {_VERSION_PATH}. A Chrome whose remote debugging was switched on at chrome://inspect "
                "does so: pass its profile folder instead, or the ws:// URL."
            )
        case 401 | 403:
            return f"{said}. Check the token in the address, or pass one with --attach-header NAME:VALUE."
        case _:
            return f"{said} for {_VERSION_PATH}. {_FORMS}"


async def _get(address: Address, headers: Headers) -> _Answer:
    async with open_stream(address) as stream:
        try:
            with trio.fail_after(CONNECT_SECONDS):
                return await _exchange(stream, address, headers)
        except trio.TooSlowError as error:
            raise BrowserFailedToStart(
                f"{address.described} did not answer within {CONNECT_SECONDS:g} s. Check that it is a browser's "
                "debugging port, and that the browser is not hung."
            ) from error
        except (trio.BrokenResourceError, h11.RemoteProtocolError) as error:
            raise BrowserFailedToStart(
                f"{address.described} does not answer HTTP properly ({error}). Check the scheme and the port."
            ) from error


async def _exchange(stream: trio.abc.Stream, address: Address, headers: Headers) -> _Answer:
    http = h11.Connection(h11.CLIENT)
    lines = [("Host", address.authority), ("Accept", "application/json"), ("Connection", "close"), *headers]
    ask = h11.Request(
        method="GET",
        target=version_target(address.target),
        headers=[(name.encode(), value.encode()) for name, value in lines],
    )
    await stream.send_all((http.send(ask) or b"") + (http.send(h11.EndOfMessage()) or b""))
    status, reason, body = 0, "", bytearray()
    while True:
        match http.next_event():
            case h11.NEED_DATA:
                http.receive_data(bytes(await stream.receive_some()))
            case h11.Response() as response:
                status, reason = response.status_code, response.reason.decode("ascii", "replace")
            case h11.Data() as part:
                body += part.data
                if len(body) > HTTP_BODY_BYTES:
                    raise h11.RemoteProtocolError(f"more than {HTTP_BODY_BYTES} bytes came")
            case h11.EndOfMessage():
                return _Answer(status, reason, bytes(body), _peer(stream))
            case h11.InformationalResponse():
                pass
            case _:
                raise h11.RemoteProtocolError("it broke off")


def _peer(stream: trio.abc.Stream) -> str:
    """With TLS the name is what the certificate is for, so there its address is of no use."""
    return cast("str", stream.socket.getpeername()[0]) if isinstance(stream, trio.SocketStream) else ""


def find_active_port(folder: Path) -> str:
    """Read the websocket's URL from the file that Chromium leaves in its profile folder.

    It does so for `--remote-debugging-port=0` and for the switch at chrome://inspect, not for a port of one's own
    choice, and the file outlives a browser that was killed.

    Raises:
        BrowserFailedToStart: there is none to read.
    """
    folder = folder.expanduser()
    if is_windows_folder(folder):
        raise BrowserFailedToStart(
            f"{folder} is a folder of Windows, and its browser listens inside Windows only. Run pagebridge in "
            "Windows, or pass an http:// address at which Linux reaches it."
        )
    try:
        text = read_plain(folder / _ACTIVE_PORT, _ACTIVE_PORT_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        raise BrowserFailedToStart(_why_no_active_port(folder, error)) from error
    url = active_port_url(text)
    if url is None:
        raise BrowserFailedToStart(
            f"{folder / _ACTIVE_PORT} is not what Chromium writes. Restart the browser, or pass its ws:// URL."
        )
    return url


def _why_no_active_port(folder: Path, error: OSError | ValueError) -> str:
    if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return f"Could not read {folder / _ACTIVE_PORT}: {why_failed(error)}. Run pagebridge as the browser's user."
    if not folder.is_dir():
        return f"There is no folder {folder}. {_FORMS}"
    return (
        f"There is no {_ACTIVE_PORT} in {folder}, so no browser with remote debugging uses it. Start Chromium with "
        f"--remote-debugging-port=0 --user-data-dir={folder}; for another port pass http://127.0.0.1:PORT."
    )


def active_port_url(text: str) -> str | None:
    """The URL that a DevToolsActivePort file means: a port, then a path."""
    match text.split():
        case [port, path] if re.fullmatch(r"[0-9]{1,5}", port) and path.startswith("/"):
            return f"ws://127.0.0.1:{port}{path}"
        case _:
            return None
