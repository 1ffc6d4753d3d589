"""Where a URL leads, and the stream to it."""

import socket
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from socket import gaierror
from typing import Final, Self, cast
from urllib.parse import urlsplit

import trio

from bridge import limits
from bridge.errors import BrowserFailedToStart, UsageError
from bridge.limits import CONNECT_SECONDS

_PORTS: Final = {"http": 80, "ws": 80, "https": 443, "wss": 443}


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of an http, https, ws or wss URL that a connection needs."""

    scheme: str
    host: str
    port: int
    authority: str
    """Host and port as the URL has them, without user and password: the Host header."""
    target: str
    """Path and query, byte for byte."""

    @classmethod
    def parse(cls, url: str) -> Self:
        """Read a URL.

        Raises:
            UsageError: it is none; the message has nothing of it, for it may hold a password.
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise UsageError("That is not a URL: its host or port cannot be read.") from error
        if parts.scheme not in _PORTS or not parts.hostname:
            raise UsageError("That is not a URL of http, https, ws or wss with a host in it.")
        if not url.isascii() or not url.isprintable() or " " in url:
            raise UsageError("That is not a URL: percent-encode spaces and letters beyond ASCII.")
        query = f"?{parts.query}" if "?" in url.partition("#")[0] else ""
        return cls(
            scheme=parts.scheme,
            host=parts.hostname,
            port=_PORTS[parts.scheme] if port is None else port,
            authority=parts.netloc.rpartition("@")[2],
            target=(parts.path or "/") + query,
        )

    @property
    def tls(self) -> bool:
        return self.scheme in {"https", "wss"}

    @property
    def described(self) -> str:
        """Safe to show: a path or a query may hold a secret."""
        return f"{self.scheme}://{self.authority}"

    @property
    def numeric(self) -> bool:
        """Chromium answers only to hosts such as these: an IP address, or localhost."""
        try:
            ip_address(self.host)
        except ValueError:
            return self._local
        return True

    @property
    def is_loopback(self) -> bool:
        """It leads to this machine alone, whoever answers for names; another name for it is not known as one."""
        try:
            address = ip_address(self.host)
        except ValueError:
            return self._local
        return address.is_loopback or address.is_unspecified

    @property
    def hosts(self) -> tuple[str, ...]:
        """What to connect to, in this order. Localhost is both loopback addresses, whatever the system says of it."""
        return ("127.0.0.1", "::1") if self._local else (self.host,)

    @property
    def _local(self) -> bool:
        return self.host == "localhost" or self.host.endswith(".localhost")


@asynccontextmanager
async def open_stream(address: Address) -> AsyncGenerator[trio.abc.Stream]:
    """Connect for the length of the block, with TLS where the scheme says so, through no proxy.

    Closing it never waits for the peer.

    Raises:
        BrowserFailedToStart: nothing can be reached there.
    """
    async with await _connect(address) as stream:
        yield await _agree_on_tls(stream, address) if address.tls else stream


async def _connect(address: Address) -> trio.SocketStream:
    failures: list[Exception] = []
    try:
        with trio.fail_after(CONNECT_SECONDS):
            for host in address.hosts:
                try:
                    return _kept_alive(await trio.open_tcp_stream(host, address.port))
                except (OSError, UnicodeError) as error:
                    failures.append(error)
    except trio.TooSlowError as error:
        raise BrowserFailedToStart(
            f"Could not connect to {address.described} within {CONNECT_SECONDS:g} s. "
            "Check the address, and that a firewall lets you through."
        ) from error
    raise BrowserFailedToStart(_why_unreachable(address, failures[0])) from failures[0]


def _kept_alive(stream: trio.SocketStream) -> trio.SocketStream:
    """Notice a peer that has vanished without a word, as behind a laptop's sleep.

    The peer's system answers for it, so one that is merely busy, or stopped, keeps its link: pings would cut it.
    """
    seconds = int(limits.KEEP_ALIVE_SECONDS)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", seconds),
        ("TCP_KEEPALIVE", seconds),  # macOS's name for it
        ("TCP_KEEPINTVL", seconds),
        ("TCP_KEEPCNT", limits.KEEP_ALIVE_PROBES),
        # Where something was sent and is not acknowledged, Linux asks nothing, and tries for a quarter of an hour.
        ("TCP_USER_TIMEOUT", 1000 * seconds * (1 + limits.KEEP_ALIVE_PROBES)),
    ):
        if hasattr(socket, name):
            stream.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return stream


async def _agree_on_tls(stream: trio.SocketStream, address: Address) -> trio.SSLStream[trio.SocketStream]:
    tls = trio.SSLStream(stream, ssl.create_default_context(), server_hostname=address.host, https_compatible=True)
    try:
        with trio.fail_after(CONNECT_SECONDS):
            await tls.do_handshake()
    except (trio.TooSlowError, trio.BrokenResourceError) as error:
        cause = error.__cause__
        reason = cause.args[-1] if isinstance(cause, ssl.SSLError) else "no answer to the handshake"
        raise BrowserFailedToStart(
            f"No TLS with {address.described}: {reason}. Check its certificate; "
            "a server without TLS takes http:// or ws:// instead."
        ) from error
    return tls


def _why_unreachable(address: Address, error: Exception) -> str:
    if isinstance(error, (gaierror, UnicodeError)):
        return f"There is no host named {address.host}. Check the address."
    attempts = cast("ExceptionGroup[OSError] | None", error.__cause__)
    failures = attempts.exceptions if attempts else (error,)
    if not all(isinstance(failure, ConnectionRefusedError) for failure in failures):
        return f"Could not connect to {address.described}: {failures[0]}. Check the address."
    return (
        f"Nothing listens at {address.described}. Start Chromium with "
        f"--remote-debugging-port={address.port} and a --user-data-dir of its own, or switch on remote "
        "debugging in Chrome at chrome://inspect/#remote-debugging."
    )
