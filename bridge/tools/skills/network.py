"""HTTPS to services of skills, and to nowhere else.

Nothing of the machine goes along: no cookies, no passwords of a .netrc, no proxy of the environment. A host is resolved
once, all its addresses are checked, and one of these is connected to: so what was checked is what is asked, whatever
the resolver would say a moment later. The certificate and the `Host` are the host's.
"""

import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final, cast

import httpx2
import trio

from bridge import limits
from bridge.errors import AnswerLost, EndpointFailed, EndpointUnreachable, NotAllowed
from bridge.tools.faults import plain
from bridge.tools.skills.addresses import Address, read_address, why_not_public
from bridge.tools.skills.exchange import JSON
from bridge.tools.skills.urls import Url, read_endpoint

USER_AGENT: Final = "pagebridge"


class Network:
    """How services are reached.

    Args:
        local_origins: origins that may be on this machine, such as `https://localhost:8443`: for tests, and for those
            who run such a service.
        tls: whose certificates are believed; those that the system believes, or SSL_CERT_FILE names, if None.
    """

    def __init__(self, *, local_origins: frozenset[str] = frozenset(), tls: ssl.SSLContext | None = None) -> None:
        self.local_origins = local_origins
        self._tls = tls

    @asynccontextmanager
    async def open_server(self, origin: str) -> AsyncGenerator["HttpServer"]:
        """Find a service, once for the block.

        Raises:
            EndpointUnreachable: its host is not known.
            NotAllowed: one of its addresses is none of the public internet.
        """
        url = _endpoint(origin, self.local_origins)
        addresses = await self._find(url)
        if self._tls is None:
            self._tls = await trio.to_thread.run_sync(httpx2.create_ssl_context)
        # A connection for each request: one that was kept may be gone when a job looks again some seconds later, and
        # nobody could tell whether the request was.
        one_each = httpx2.Limits(max_connections=1, max_keepalive_connections=0)
        transport = httpx2.AsyncHTTPTransport(verify=self._tls, limits=one_each)
        async with transport:
            yield HttpServer(url, addresses, transport)

    async def _find(self, url: Url) -> list[Address]:
        host = url.host.strip("[]")
        try:
            with trio.fail_after(limits.SKILL_CONNECT_SECONDS):
                found = await trio.socket.getaddrinfo(host, url.port, type=socket.SOCK_STREAM)
            addresses = list(dict.fromkeys(read_address(str(where[4][0])) for where in found))
        except (OSError, UnicodeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise EndpointUnreachable(f"The host {host} was not found: {reason}. Try again later.") from error
        except trio.TooSlowError as error:
            raise EndpointUnreachable(
                f"The host {host} was not found within {limits.SKILL_CONNECT_SECONDS:g} s. Try again later."
            ) from error
        for address in addresses:
            is_local = url.origin in self.local_origins and address.is_loopback
            if not is_local and (reason := why_not_public(address)) is not None:
                raise NotAllowed(
                    f"{url.origin} is at {address}, {reason}: skills ask services of the public internet alone. "
                    "Nothing was sent."
                )
        return addresses[: limits.SKILL_ADDRESSES]


class HttpServer:
    """A `bridge.tools.skills.exchange.Server`."""

    def __init__(self, url: Url, addresses: list[Address], transport: httpx2.AsyncHTTPTransport) -> None:
        self._url = url
        self._addresses = addresses
        self._transport = transport

    @property
    def origin(self) -> str:
        return self._url.origin

    @asynccontextmanager
    async def send(
        self, method: str, target: str, *, content: bytes | None = None, packed: bool = True
    ) -> AsyncGenerator["HttpReply"]:
        response = await self._request(method, target, content, packed=packed)
        try:
            if 300 <= response.status_code < 400:
                raise EndpointFailed(
                    f"{self.origin} answered {target.partition('?')[0]} with a redirect ({response.status_code}), and "
                    "those are not followed: the skill has to name the address itself."
                )
            yield HttpReply(self.origin, response)
        finally:
            await response.aclose()

    async def _request(self, method: str, target: str, content: bytes | None, *, packed: bool) -> httpx2.Response:
        """Send it to the first address that takes the connection. Only that which was not sent is sent again."""
        while True:
            request = self._make(self._addresses[0], method, target, content, packed=packed)
            try:
                return await self._transport.handle_async_request(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                if len(self._addresses) > 1:
                    del self._addresses[0]
                    continue
                raise EndpointUnreachable(
                    f"{self.origin} can't be reached: {_reason(error)}. Try again later."
                ) from error
            except httpx2.HTTPError as error:
                raise _lost(self.origin, error) from error

    def _make(
        self, address: Address, method: str, target: str, content: bytes | None, *, packed: bool
    ) -> httpx2.Request:
        host = f"[{address}]" if address.version == 6 else str(address)
        headers = {
            "Host": self._url.netloc,
            "User-Agent": USER_AGENT,
            "Accept": f"{JSON}, text/*;q=0.9, */*;q=0.5",
            "Accept-Encoding": "gzip" if packed else "identity",
        }
        if content is not None:
            headers["Content-Type"] = JSON
        return httpx2.Request(
            method,
            f"https://{host}:{self._url.port}{target}",
            headers=headers,
            content=content,
            extensions={
                "sni_hostname": self._url.host.strip("[]"),
                "timeout": {"connect": limits.SKILL_CONNECT_SECONDS},
            },
        )


class HttpReply:
    """A `bridge.tools.skills.exchange.Reply`."""

    def __init__(self, origin: str, response: httpx2.Response) -> None:
        self._origin = origin
        self._response = response

    @property
    def status(self) -> int:
        return self._response.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        return self._response.headers

    @asynccontextmanager
    async def chunks(self) -> AsyncGenerator[AsyncIterator[bytes]]:
        stream = aiter(cast("httpx2.AsyncByteStream", self._response.stream))
        try:
            try:
                yield stream
            finally:
                # httpx2 leaves generators of its own behind where one stops in the middle; without a connection
                # they come to their end.
                await self._response.aclose()
                with suppress(httpx2.HTTPError):
                    async for _ in stream:
                        pass
        except httpx2.HTTPError as error:
            raise _lost(self._origin, error) from error


def _endpoint(origin: str, local_origins: frozenset[str]) -> Url:
    try:
        return read_endpoint(origin, local_origins)
    except ValueError as error:
        raise NotAllowed(f"{plain(origin)} {error}. Nothing was sent.") from error


def _lost(origin: str, error: Exception) -> AnswerLost:
    return AnswerLost(
        f"{origin} was asked, and its answer was lost: {_reason(error)}. What it was asked may be done; try again "
        "later."
    )


def _reason(error: BaseException) -> str:
    """The innermost cause: a certificate's own fault is wrapped several times."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return plain((getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip("."))
