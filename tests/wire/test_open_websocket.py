"""Opening and closing a websocket, on real sockets: what trio-websocket leaves to us.

Sockets need a moment of real time, so a clock that jumps does so when the peer tells it to, or else only after a
while in which nothing came.
"""

import ipaddress
import socket
import ssl
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
import trio
import trio_websocket
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from bridge import limits
from bridge.errors import BrowserFailedToStart
from bridge.limits import CLOSE_SECONDS, HANDSHAKE_SECONDS
from bridge.wire.address import Address, open_stream
from bridge.wire.nursery import open_background
from bridge.wire.transports import TransportEnded
from bridge.wire.websocket import open_websocket

IDLE_SECONDS = 1.0

Handler = Callable[[Any], Awaitable[None]]


class Server:
    """On a free port of the loopback interface. It never closes first, so it sees whether the client does."""

    def __init__(self, handler: Handler, ssl_context: ssl.SSLContext | None) -> None:
        self._handler = handler
        self._ssl_context = ssl_context
        self.url = ""
        self.client_left = trio.Event()

    async def serve_one(self, stream: trio.SocketStream) -> None:
        context = self._ssl_context
        async with stream:
            await self._handler(trio.SSLStream(stream, context, server_side=True) if context else stream)
            # trio-websocket closes the stream of a server by itself once both have said goodbye.
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                while await stream.receive_some(4096):
                    pass
            self.client_left.set()


@asynccontextmanager
async def open_server(handler: Handler, ssl_context: ssl.SSLContext | None = None) -> AsyncGenerator[Server]:
    server = Server(handler, ssl_context)
    async with open_background() as nursery:
        listener, *_ = await nursery.start(partial(trio.serve_tcp, server.serve_one, 0, host="127.0.0.1"))
        port = listener.socket.getsockname()[1]
        server.url = f"{'wss' if ssl_context else 'ws'}://127.0.0.1:{port}/path?token=t"
        yield server


async def read_request(stream) -> bytes:
    request = b""
    while b"\r\n\r\n" not in request:
        request += await stream.receive_some(4096)
    return request


async def echo(stream) -> None:
    async with open_background() as nursery:
        request = await trio_websocket.wrap_server_stream(nursery, stream, max_message_size=10**8)
        websocket = await request.accept()
        with suppress(trio_websocket.ConnectionClosed):
            while True:
                await websocket.send_message(await websocket.get_message())


def saying(*answers: bytes, hang_up: bool = False) -> Handler:
    """A server that reads the request and says something, whatever was asked."""

    async def handler(stream):
        await read_request(stream)
        for answer in answers:
            await stream.send_all(answer)
        if hang_up:
            await stream.send_eof()

    return handler


async def test_large_messages_go_both_ways_whole():
    message = "é" * 1_500_000
    with trio.fail_after(10):
        async with open_server(echo) as server, open_websocket(server.url) as websocket:
            await websocket.send(message.encode())
            assert await websocket.receive() == message


async def test_request_has_our_headers_and_no_origin():
    seen = []

    async def handler(stream):
        seen.append(await read_request(stream))
        await stream.send_eof()

    with trio.fail_after(5):
        async with open_server(handler) as server:
            with pytest.raises(BrowserFailedToStart):
                async with open_websocket(server.url, [("X-Token", "abc")]):
                    pytest.fail("nobody agreed")
    lines = seen[0].decode().split("\r\n")
    assert lines[0] == "GET /path?token=t HTTP/1.1"
    assert "X-Token: abc" in lines
    assert f"Host: {server.url.split('/')[2]}" in lines
    assert not any(line.lower().startswith("origin") for line in lines)


@pytest.mark.parametrize(
    ("handler", "words"),
    [
        (saying(b"HTTP/1.1 503 Busy\r\n\r\n"), "503 Busy"),
        (saying(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone"), "404 Not Found gone"),
        (saying(b"HTTP/1.1 401 No\r\n", b"\r\n"), "Check the token"),
        (saying(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\n\r\n"), "200 OK"),
        (saying(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"), "websocket protocol"),
        (saying(b"\x00\x01garbage"), "does not speak HTTP"),
        (saying(hang_up=True), "hung up"),
        (saying(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade:", hang_up=True), "hung up"),
    ],
    ids=["no-length", "length", "in-two-parts", "bad-length", "bad-101", "garbage", "hang-up", "cut-101"],
)
async def test_refusal_is_reported_at_once_with_its_reason(handler, words):
    with trio.fail_after(5):
        async with open_server(handler) as server:
            with pytest.raises(BrowserFailedToStart) as caught:
                async with open_websocket(server.url):
                    pytest.fail("it was refused")
            await server.client_left.wait()
    assert words in str(caught.value)
    assert "token=t" not in str(caught.value)


async def test_connection_that_is_reset_is_reported_at_once():
    async def reset(stream):
        await read_request(stream)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await stream.aclose()

    with trio.fail_after(5):
        async with open_server(reset) as server:
            with pytest.raises(BrowserFailedToStart, match="hung up"):
                async with open_websocket(server.url):
                    pytest.fail("it was reset")


@pytest.mark.threat("L2")
async def test_silent_server_is_given_up_with_a_word_about_allow(mock_clock):
    mock_clock.autojump_threshold = IDLE_SECONDS

    async def fall_silent(stream):
        await read_request(stream)
        mock_clock.jump(HANDSHAKE_SECONDS)

    async with open_server(fall_silent) as server:
        began = trio.current_time()
        with pytest.raises(BrowserFailedToStart, match="click Allow"):
            async with open_websocket(server.url):
                pytest.fail("nobody answered")
        assert trio.current_time() - began >= HANDSHAKE_SECONDS
        await server.client_left.wait()


async def test_nobody_listening_says_how_to_start_a_browser(unused_port):
    with trio.fail_after(5), pytest.raises(BrowserFailedToStart, match=f"--remote-debugging-port={unused_port}"):
        async with open_websocket(f"ws://127.0.0.1:{unused_port}/"):
            pytest.fail("nobody is there")


async def test_localhost_finds_a_server_that_listens_on_one_family_only():
    with trio.fail_after(5):
        async with open_server(echo) as server, open_websocket(server.url.replace("127.0.0.1", "localhost")) as link:
            await link.send(b"1")
            assert await link.receive() == "1"


async def test_peer_that_hangs_up_leaves_no_socket():
    async def accept_and_hang_up(stream):
        async with open_background() as nursery:
            await (await trio_websocket.wrap_server_stream(nursery, stream)).accept()
        await stream.send_eof()

    with trio.fail_after(5):
        async with open_server(accept_and_hang_up) as server:
            async with open_websocket(server.url) as websocket:
                with pytest.raises(TransportEnded):
                    await websocket.receive()
                with pytest.raises(TransportEnded):
                    await websocket.send(b"x")
            await server.client_left.wait()


async def test_peer_that_does_not_say_goodbye_holds_us_only_for_the_clean_up(mock_clock):
    mock_clock.autojump_threshold = IDLE_SECONDS
    silent = trio.Event()

    async def accept_and_fall_silent(stream):
        async with open_background() as nursery:
            await (await trio_websocket.wrap_server_stream(nursery, stream)).accept()
        silent.set()
        assert await stream.receive_some(4096), "the goodbye"
        mock_clock.jump(CLOSE_SECONDS)

    async with open_server(accept_and_fall_silent) as server:
        async with open_websocket(server.url):
            await silent.wait()
            began = trio.current_time()
        assert trio.current_time() - began <= CLOSE_SECONDS + 0.1
        await server.client_left.wait()


@pytest.mark.threat("L2")
async def test_a_message_at_the_limit_comes_whole_and_one_over_it_ends_the_link_by_name():
    limit = 1_000_000

    async def send_both(stream):
        async with open_background() as nursery:
            websocket = await (await trio_websocket.wrap_server_stream(nursery, stream)).accept()
            with suppress(trio_websocket.ConnectionClosed):
                await websocket.send_message("x" * limit)
                await websocket.send_message("x" * (limit + 1))
                await websocket.get_message()

    with trio.fail_after(5):
        async with open_server(send_both) as server, open_websocket(server.url, message_bytes=limit) as websocket:
            assert len(await websocket.receive()) == limit
            with pytest.raises(TransportEnded, match="over the websocket's limit"):
                await websocket.receive()


async def test_who_names_no_limit_has_the_one_of_all_messages():
    with trio.fail_after(5):
        async with open_server(echo) as server, open_websocket(server.url) as websocket:
            assert websocket._websocket._max_message_size == limits.CDP_MESSAGE_BYTES


@pytest.mark.threat("L2")
@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(b"\x81\x03a\xff\xfe", id="text that is not UTF-8"),
        pytest.param(b"\xff\xff\xff\xff", id="reserved bits"),
        pytest.param(b"\x81\x83abcd\x00\x00\x00", id="a masked frame"),
        pytest.param(b"\x80\x00", id="the rest of no message"),
        pytest.param(b"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", id="a frame of 16 exabytes"),
    ],
)
async def test_what_is_no_websocket_ends_the_link_with_a_reason(frame):
    async def send_frame(stream):
        async with open_background() as nursery:
            await (await trio_websocket.wrap_server_stream(nursery, stream)).accept()
        await stream.send_all(frame)

    with trio.fail_after(5):
        async with open_server(send_frame) as server, open_websocket(server.url) as websocket:
            with pytest.raises(TransportEnded, match="the websocket"):
                await websocket.receive()
        await server.client_left.wait()


async def test_error_in_the_block_comes_out_as_it_is():
    cause = ValueError()
    with trio.fail_after(5):
        async with open_server(echo) as server:
            with pytest.raises(LookupError) as caught:
                async with open_websocket(server.url):
                    raise LookupError("mine") from cause
    assert caught.value.__cause__ is cause


async def test_cancelled_block_still_says_goodbye(mock_clock):
    mock_clock.autojump_threshold = IDLE_SECONDS
    async with open_server(echo) as server:
        began = trio.current_time()
        with trio.CancelScope() as scope:
            async with open_websocket(server.url) as websocket:
                scope.cancel()
                await websocket.receive()
        assert scope.cancelled_caught
        assert trio.current_time() == began
        await server.client_left.wait()


async def test_certificate_that_is_trusted_is_enough_for_wss(server_tls, monkeypatch):
    certificate, context = server_tls
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with trio.fail_after(5):
        async with open_server(echo, context) as server, open_websocket(server.url) as websocket:
            await websocket.send(b"1")
            assert await websocket.receive() == "1"


async def test_certificate_that_is_not_trusted_is_named(server_tls):
    async def shake_hands(stream):
        with suppress(trio.BrokenResourceError):
            await stream.do_handshake()

    with trio.fail_after(5):
        async with open_server(shake_hands, server_tls[1]) as server:
            with pytest.raises(BrowserFailedToStart, match="certificate"):
                async with open_websocket(server.url):
                    pytest.fail("nobody trusts it")
            await server.client_left.wait()


async def test_a_peer_that_vanishes_is_asked_after_by_the_system():
    async with open_server(echo) as server, open_stream(Address.parse(server.url)) as stream:
        assert isinstance(stream, trio.SocketStream)
        assert stream.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        options = ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT")
        set_to = [stream.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in options]
    seconds = limits.KEEP_ALIVE_SECONDS
    assert set_to == [seconds, seconds, limits.KEEP_ALIVE_PROBES, 4000 * seconds]


@pytest.fixture
async def unused_port():
    with trio.socket.socket() as probe:
        await probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def server_tls(tmp_path):
    """A certificate for 127.0.0.1 that signs itself, and a context that shows it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "certificate.pem"
    file.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file)
    return file, context
