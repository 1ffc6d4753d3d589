"""A way to a port that the test can break."""

import socket
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import trio

_RESET: Final = struct.pack("ii", 1, 0)
"""SO_LINGER of no time: closing drops what is queued, and the peer gets an RST."""


class Proxy:
    """Hands bytes through, both ways. Made by `open_proxy`."""

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._lines: dict[trio.CancelScope, trio.SocketStream] = {}
        self.is_silent = False
        """Whatever comes is lost, and nobody is told: what a laptop that slept finds."""

    def reset(self) -> None:
        """Break every connection there is with an RST; new ones work."""
        for scope, stream in self._lines.items():
            stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            scope.cancel()

    async def serve(self, stream: trio.SocketStream) -> None:
        with trio.CancelScope() as scope:
            self._lines[scope] = stream
            try:
                async with stream, await trio.open_tcp_stream(*self._target) as onward, trio.open_nursery() as nursery:
                    nursery.start_soon(self._copy, stream, onward, scope)
                    nursery.start_soon(self._copy, onward, stream, scope)
            finally:
                del self._lines[scope]

    async def _copy(self, source: trio.SocketStream, sink: trio.SocketStream, scope: trio.CancelScope) -> None:
        try:
            async for data in source:
                if not self.is_silent:
                    await sink.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        if not self.is_silent:
            scope.cancel()


@asynccontextmanager
async def open_proxy(websocket: str) -> AsyncGenerator[tuple[Proxy, str]]:
    """A proxy for the length of the block, and the websocket's address through it."""
    scheme, _, rest = websocket.partition("://")
    authority, _, path = rest.partition("/")
    host, _, port = authority.partition(":")
    proxy = Proxy((host, int(port)))
    async with trio.open_nursery() as nursery:
        [listener] = await nursery.start(partial(trio.serve_tcp, proxy.serve, 0, host="127.0.0.1"))
        own_port = listener.socket.getsockname()[1]
        try:
            yield proxy, f"{scheme}://127.0.0.1:{own_port}/{path}"
        finally:
            nursery.cancel_scope.cancel()
