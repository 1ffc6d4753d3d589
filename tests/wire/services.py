"""A service of skills on this machine: real TLS with an authority of the test's own, and answers byte by byte."""

import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import trio
import trustme

HOSTS: Final = ("localhost", "api.tides.example", "127.0.0.1")


@dataclass(frozen=True)
class Asked:
    """One request as it came. Names of headers are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


Handler = Callable[[Asked, trio.abc.Stream], Awaitable[None]]


@dataclass
class Service:
    """Who answers, and what it was asked."""

    port: int
    tls: ssl.SSLContext
    authority: trustme.CA
    asked: list[Asked] = field(default_factory=list[Asked])
    connections: int = 0
    names: list[str | None] = field(default_factory=list[str | None])

    @property
    def origin(self) -> str:
        return self.at("localhost")

    def at(self, host: str) -> str:
        return f"https://{host}:{self.port}"


def answer(body: bytes | str = b"{}", *, status: int = 200, kind: str = "application/json", **headers: str) -> bytes:
    """A whole answer. Underscores in names of headers are dashes."""
    content = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Type: {kind}", f"Content-Length: {len(content)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + content


def always(reply: bytes) -> Handler:
    async def handle(_: Asked, stream: trio.abc.Stream) -> None:
        await stream.send_all(reply)

    return handle


@asynccontextmanager
async def open_service(handler: Handler, *, hosts: tuple[str, ...] = HOSTS) -> AsyncGenerator[Service]:
    """Serve on a free port for the block. A handler that breaks off is a service that did."""
    authority = trustme.CA()
    client, server = ssl.create_default_context(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.configure_trust(client)
    authority.issue_cert(*hosts).configure_cert(server)
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        service = Service(listener.socket.getsockname()[1], client, authority)
        server.sni_callback = lambda _, name, __: service.names.append(name)

        async def serve(transport: trio.SocketStream) -> None:
            service.connections += 1
            stream = trio.SSLStream(transport, server, server_side=True, https_compatible=True)
            try:
                while (asked := await _read(stream)) is not None:
                    service.asked.append(asked)
                    await handler(asked, stream)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass  # the client had enough of it
            finally:
                await trio.aclose_forcefully(stream)

        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield service
        nursery.cancel_scope.cancel()


async def _read(stream: trio.abc.Stream) -> Asked | None:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = await stream.receive_some()
        if not chunk:
            return None
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += await stream.receive_some()
    method, target, _ = first.split(" ")
    return Asked(method, target, headers, body)
