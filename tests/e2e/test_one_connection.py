"""What a browser sees of us that asks a person about each connection: one, with our headers, that no log shows."""

import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import pytest
import trio

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import open_bridge
from bridge.settings import AttachOptions
from bridge.wire.nursery import open_background
from tests.browsers import RunningBrowser, run_chromium
from tests.e2e.client import open_raw
from tests.e2e.test_life import start_with_page
from tests.sites import Site, offering, tool

SECRET = "hunter2"


@pytest.fixture(scope="module")
def running() -> Iterator[RunningBrowser]:
    with run_chromium() as browser:
        yield browser


class Relay:
    """Stands between a client and a browser, and keeps the beginning of each connection."""

    def __init__(self, port: int | None) -> None:
        self._to = port
        self.port = 0
        self.began: list[bytes] = []
        self.connected = trio.Event()

    async def serve(self, client: trio.SocketStream) -> None:
        number = len(self.began)
        self.began.append(b"")
        self.connected.set()
        if self._to is None:
            await trio.sleep_forever()  # as while a person has not clicked yet
            return
        async with await trio.open_tcp_stream("127.0.0.1", self._to) as browser, trio.open_nursery() as nursery:
            nursery.start_soon(self._carry, browser, client, None)
            await self._carry(client, browser, number)
            nursery.cancel_scope.cancel()

    async def _carry(self, source: trio.SocketStream, target: trio.SocketStream, number: int | None) -> None:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            async for chunk in source:
                if number is not None and not self.began[number]:
                    self.began[number] = bytes(chunk)
                await target.send_all(chunk)


@asynccontextmanager
async def open_relay(port: int | None) -> AsyncGenerator[Relay]:
    relay = Relay(port)
    async with open_background() as nursery:
        listener, *_ = await nursery.start(partial(trio.serve_tcp, relay.serve, 0, host="127.0.0.1"))
        relay.port = listener.socket.getsockname()[1]
        yield relay


async def test_a_session_is_one_connection_with_our_headers_and_past_every_proxy(running: RunningBrowser, site: Site):
    url = site.page("/one", offering(tool("ping", "() => 'pong'")))
    port = int(running.http.rpartition(":")[2])
    proxies: dict[str, str] = dict.fromkeys(
        ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:1"
    )
    async with open_relay(port) as relay:
        path = re.sub(r"^ws://[^/]*", "", running.websocket)
        words = ("--attach", f"ws://127.0.0.1:{relay.port}{path}?token={SECRET}", "-vv")
        header = ("--attach-header", f"Authorization: Bearer {SECRET}")
        async with open_raw(*words, *header, "--open", url, env=proxies) as client:
            await start_with_page(client)
            listed = await client.result(await client.call("list_pages"))
            [page] = [page["page"] for page in listed["structuredContent"]["pages"] if page["url"] == url]
            for _ in range(10):
                answer = await client.result(await client.call("call_page_tool", page=page, tool="ping"))
                assert answer["content"][0]["text"] == "pong"
            await client.result(await client.call("close_page", page=page))
            await client.close_stdin()
            await client.rest()

    [request] = relay.began
    assert request.startswith(f"GET {path}?token={SECRET} HTTP/1.1\r\n".encode())
    assert f"\r\nAuthorization: Bearer {SECRET}\r\n".encode().lower() in request.lower()
    assert client.errors
    assert SECRET.encode() not in client.errors


async def test_while_a_person_is_asked_calls_answer_early_and_nobody_asks_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "ATTACH_WAIT_SECONDS", 0.1)
    async with open_relay(None) as relay, open_bridge(AttachOptions(where=f"ws://127.0.0.1:{relay.port}/x")) as bridge:
        agent = Agent(bridge)
        with trio.fail_after(10):
            await relay.connected.wait()
            answers = [await agent.list_pages() for _ in range(5)]

    assert [answer.structured["code"] for answer in answers if answer.structured] == ["browser_starting"] * 5
    assert len(relay.began) == 1
