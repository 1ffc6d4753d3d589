"""Finding a running browser: a real one in each of the three forms, and servers that are none."""

import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
import trio

from bridge.browser.endpoint import find_endpoint
from bridge.browser.process import open_process
from bridge.errors import BrowserFailedToStart, UsageError
from bridge.limits import CONNECT_SECONDS, HTTP_BODY_BYTES
from bridge.settings import LaunchOptions
from bridge.wire.nursery import open_background
from bridge.wire.websocket import open_websocket

IDLE_SECONDS = 0.2

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


class Server:
    """Says one thing to each request, and keeps what was asked."""

    def __init__(self, answer: bytes | None) -> None:
        self._answer = answer
        self.port = 0
        self.requests: list[list[str]] = []

    async def serve_one(self, stream: trio.SocketStream) -> None:
        request = b""
        while b"\r\n\r\n" not in request:
            request += await stream.receive_some(4096)
        self.requests.append(request.decode().split("\r\n"))
        if self._answer is None:
            await trio.sleep_forever()
        else:
            await stream.send_all(self._answer)


@asynccontextmanager
async def open_server(answer: bytes | None, host: str = "127.0.0.1") -> AsyncGenerator[Server]:
    server = Server(answer)
    async with open_background() as nursery:
        listener, *_ = await nursery.start(partial(trio.serve_tcp, server.serve_one, 0, host=host))
        server.port = listener.socket.getsockname()[1]
        yield server


def version_of(url: str) -> bytes:
    return HEAD + b"Connection: close\r\n\r\n" + json.dumps({"webSocketDebuggerUrl": url}).encode()


async def ask_version(url: str, headers: tuple[tuple[str, str], ...]) -> str:
    async with open_websocket(url, headers) as websocket:
        await websocket.send(b'{"id":1,"method":"Browser.getVersion"}')
        return json.loads(await websocket.receive())["result"]["product"]


async def fail_to_find(where: str) -> str:
    with pytest.raises(BrowserFailedToStart) as caught:
        await find_endpoint(where)
    return str(caught.value)


@pytest.mark.feature("browser.attach")
async def test_running_browser_is_found_in_every_form(tmp_path, named_box):
    with trio.fail_after(30):
        async with open_process(LaunchOptions(debug_port=0, profile=tmp_path)):
            port, path = (tmp_path / "DevToolsActivePort").read_text().split()
            for where in (
                f"http://127.0.0.1:{port}",
                f"http://localhost:{port}/",
                f"http://{named_box}:{port}/json/version",
                f"ws://127.0.0.1:{port}{path}",
                f"ws://localhost:{port}{path}",
                str(tmp_path),
            ):
                endpoint = await find_endpoint(where)
                assert "Chrome" in await ask_version(endpoint.url, endpoint.headers), where
                assert path not in endpoint.described
                assert port in endpoint.described


async def test_websocket_to_a_name_that_chromium_refuses_says_to_use_the_address(tmp_path, named_box):
    with trio.fail_after(30):
        async with open_process(LaunchOptions(debug_port=0, profile=tmp_path)):
            port, path = (tmp_path / "DevToolsActivePort").read_text().split()
            with pytest.raises(BrowserFailedToStart, match="Name it by its IP address"):
                await ask_version(f"ws://{named_box}:{port}{path}", ())


async def test_websocket_url_is_used_byte_for_byte_and_not_probed():
    with trio.fail_after(5):
        endpoint = await find_endpoint("wss://nowhere.invalid/a%2Fb?token=%41&x", [("X-A", "1")])
    assert endpoint.url == "wss://nowhere.invalid/a%2Fb?token=%41&x"
    assert endpoint.headers == (("X-A", "1"),)
    assert endpoint.described == "wss://nowhere.invalid"


async def test_query_headers_and_user_go_along():
    with trio.fail_after(5):
        async with open_server(version_of("ws://10.0.0.1:1/devtools/browser/u")) as server:
            endpoint = await find_endpoint(f"http://me:pw@127.0.0.1:{server.port}/p/?token=t", [("X-A", "1")])
    assert server.requests[0][0] == "GET /p/json/version?token=t HTTP/1.1"
    said = {"X-A: 1", "Authorization: Basic bWU6cHc=", f"Host: 127.0.0.1:{server.port}", "Accept: application/json"}
    assert said <= set(server.requests[0])
    assert endpoint.url == f"ws://127.0.0.1:{server.port}/p/devtools/browser/u?token=t"
    assert endpoint.headers == (("X-A", "1"), ("Authorization", "Basic bWU6cHc="))


async def test_own_authorization_wins_over_user_and_password():
    endpoint = await find_endpoint("ws://me:pw@h/", [("authorization", "Bearer x")])
    assert endpoint.headers == (("authorization", "Bearer x"),)
    assert endpoint.url == "ws://h/"


async def test_proxy_in_the_environment_is_not_used(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with trio.fail_after(5):
        async with open_server(version_of("ws://h/devtools/browser/u")) as server:
            endpoint = await find_endpoint(f"http://127.0.0.1:{server.port}")
    assert endpoint.url == f"ws://127.0.0.1:{server.port}/devtools/browser/u"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_localhost_is_tried_in_both_address_families(host):
    if host == "::1" and not has_ipv6():
        pytest.skip("this machine has no IPv6")
    with trio.fail_after(5):
        async with open_server(version_of("ws://h/devtools/browser/u"), host) as server:
            endpoint = await find_endpoint(f"http://localhost:{server.port}")
    assert endpoint.url == f"ws://localhost:{server.port}/devtools/browser/u"


@pytest.mark.threat("L2")
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", ["404 Not Found", "profile folder", "ws://"]),
        (b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", ["401", "--attach-header"]),
        (b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", ["302 Found"]),
        (HEAD + b"Content-Length: 6\r\n\r\n<html>", ["<html>", "no JSON"]),
        (HEAD + b"Content-Length: 2\r\n\r\n{}", ["webSocketDebuggerUrl"]),
        (HEAD + b"Content-Length: 9\r\n\r\n{", ["HTTP properly"]),
        (HEAD + b"\r\n" + b"[" * (HTTP_BODY_BYTES + 1), [f"more than {HTTP_BODY_BYTES} bytes"]),
        (HEAD + b"\r\n" + b"[" * 30_000, ["no JSON"]),
        (b"SSH-2.0-OpenSSH\r\n", ["HTTP properly"]),
        (b"", ["HTTP properly"]),
    ],
    ids=["404", "401", "302", "html", "other-json", "cut", "long", "deep", "ssh", "nothing"],
)
async def test_server_that_is_no_browser_is_told_apart(answer, words):
    with trio.fail_after(5):
        async with open_server(answer) as server:
            message = await fail_to_find(f"http://u:secret@127.0.0.1:{server.port}/?token=secret")
    assert f"http://127.0.0.1:{server.port}" in message
    assert all(word in message for word in words), message
    assert "secret" not in message


@pytest.mark.threat("L2")
async def test_silent_server_is_given_up(mock_clock):
    mock_clock.autojump_threshold = IDLE_SECONDS
    async with open_server(None) as server:
        message = await fail_to_find(f"http://127.0.0.1:{server.port}")
    assert f"within {CONNECT_SECONDS:g} s" in message


async def test_nobody_listening_says_how_to_start_a_browser():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with trio.fail_after(5):
            message = await fail_to_find(f"http://127.0.0.1:{port}")
    assert f"--remote-debugging-port={port}" in message
    assert "--user-data-dir" in message


@pytest.mark.usefixtures("named_box")
async def test_name_that_does_not_exist_is_named():
    with trio.fail_after(5):
        assert "no host named nowhere.invalid" in await fail_to_find("http://nowhere.invalid")


async def test_folder_without_a_debugged_browser_says_what_to_do(tmp_path):
    assert "--remote-debugging-port=0" in await fail_to_find(str(tmp_path))
    (tmp_path / "DevToolsActivePort").write_text("half")
    assert "not what Chromium writes" in await fail_to_find(str(tmp_path))
    assert "There is no folder" in await fail_to_find(str(tmp_path / "absent"))


async def test_what_cannot_be_an_address_is_a_usage_error():
    for where in ("ftp://127.0.0.1", "http://", "ws://h:port"):
        with pytest.raises(UsageError):
            await find_endpoint(where)


class Names(trio.abc.HostnameResolver):
    """Knows one box by name, and needs no network to know that it knows no other."""

    async def getaddrinfo(self, host, port, family=0, type=0, proto=0, flags=0) -> Any:  # noqa: A002  # as the base has it
        if host != b"box.test":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return socket.getaddrinfo("127.0.0.1", port, family, type, proto, flags)

    async def getnameinfo(self, sockaddr, flags):
        return socket.getnameinfo(sockaddr, flags)


@pytest.fixture
async def named_box():
    """A host name that leads to this machine, but is not localhost."""
    trio.socket.set_custom_hostname_resolver(Names())
    yield "box.test"
    trio.socket.set_custom_hostname_resolver(None)


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True
