"""Ways from the bridge to a fake Chromium: none at all, a pipe, a websocket."""

import json
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import trio
import trio_websocket
from trio.testing import memory_stream_pair, wait_all_tasks_blocked

from bridge.wire.address import Address
from bridge.wire.nursery import open_background
from bridge.wire.router import Json
from bridge.wire.transports import PipeTransport, Transport, TransportEnded
from bridge.wire.websocket import websocket_over
from tests.faults.fake_chromium import FakeChromium

Wrap = Callable[[trio.abc.Stream], trio.abc.Stream]
"""Puts faults on the bridge's end of a stream."""

OpenLink = Callable[[FakeChromium, Wrap], AbstractAsyncContextManager[Transport]]


class DirectTransport(Transport):
    """Hands messages to a fake Chromium and back, with nothing between."""

    def __init__(self, chromium: FakeChromium) -> None:
        self._chromium = chromium
        self._put, self._get = trio.open_memory_channel[bytes](math.inf)

    async def send(self, message: bytes) -> None:
        await trio.lowlevel.checkpoint()
        self._tell(self._chromium.answer(json.loads(message)))

    async def happen(self, what: str) -> None:
        """Have something happen to its first page: a method of `FakeChromium`. Nobody hears it over a lost link."""
        with suppress(trio.ClosedResourceError):
            self._tell(getattr(self._chromium, what)("T1"))
        await wait_all_tasks_blocked()

    def _tell(self, messages: list[Json]) -> None:
        for message in messages:
            self._put.send_nowait(json.dumps(message).encode())

    async def receive(self) -> bytes:
        try:
            return await self._get.receive()
        except trio.EndOfChannel as error:
            raise TransportEnded("the fake browser has ended") from error

    async def aclose(self) -> None:
        await self._put.aclose()


@asynccontextmanager
async def open_pipe(chromium: FakeChromium, wrap: Wrap) -> AsyncGenerator[Transport]:
    """A debugging pipe."""
    near, far = memory_stream_pair()
    ours = wrap(near)
    async with open_background() as nursery:
        nursery.start_soon(_serve_pipe, chromium, far)
        yield PipeTransport(ours, ours)


async def _serve_pipe(chromium: FakeChromium, stream: trio.abc.Stream) -> None:
    unread = b""
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        async for chunk in stream:
            *whole, unread = (unread + chunk).split(b"\0")
            for message in whole:
                answers = chromium.answer(json.loads(message))
                await stream.send_all(b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\0" for one in answers))
        await stream.aclose()


@asynccontextmanager
async def open_fake_websocket(chromium: FakeChromium, wrap: Wrap) -> AsyncGenerator[Transport]:
    """A websocket, as `open_websocket` makes one."""
    near, far = memory_stream_pair()
    async with open_background() as nursery:
        nursery.start_soon(_serve_websocket, chromium, far)
        async with wrap(near) as ours, websocket_over(ours, Address.parse("ws://127.0.0.1:9222/")) as transport:
            yield transport


async def _serve_websocket(chromium: FakeChromium, stream: trio.abc.Stream) -> None:
    with suppress(trio_websocket.ConnectionClosed, trio_websocket.HandshakeError, trio.BrokenResourceError):
        async with open_background() as nursery:
            request = await trio_websocket.wrap_server_stream(nursery, stream)
            websocket = await request.accept()
            while True:
                for answer in chromium.answer(json.loads(await websocket.get_message())):
                    await websocket.send_message(json.dumps(answer, ensure_ascii=False))
