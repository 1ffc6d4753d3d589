"""What is read of a client's lines, what the end of stdin waits for, and a client that takes no answers."""

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial

import pytest
import trio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from trio.testing import MemorySendStream, memory_stream_one_way_pair, wait_all_tasks_blocked

from bridge.limits import LAST_ANSWERS_SECONDS, MCP_LINE_BYTES
from bridge.serve.greeting import Greeter
from bridge.serve.stdio import INVALID_REQUEST, PARSE_ERROR, LineReader, NoMessage, OpenRequests, Stdio
from bridge.serve.streams import Incoming, Outgoing, read_message
from bridge.wire.nursery import open_background

MANY = 5000
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def request(method: str = "ping", request_id: int | str = 1) -> JSONRPCRequest:
    return JSONRPCRequest(jsonrpc="2.0", id=request_id, method=method, params={})


def response(request_id: int | str = 1) -> JSONRPCResponse:
    return JSONRPCResponse(jsonrpc="2.0", id=request_id, result={})


def cancelled(request_id: object) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params={"requestId": request_id})


def with_id(written: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","method":"ping","id":' + written + b"}"


@pytest.mark.threat("C1")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", PARSE_ERROR),
        (b'{"jsonrpc":', PARSE_ERROR),
        (b"\xff\xfe", PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xc3"}', PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', PARSE_ERROR),
        (PING + b"\0", PARSE_ERROR),
        (PING.replace(b"ping", b"pi\0ng"), PARSE_ERROR),
        (b"\xef\xbb\xbf" + PING, PARSE_ERROR),
        (PING.decode().encode("utf-16"), PARSE_ERROR),
        (PING + PING, PARSE_ERROR),
        (b"[" * 100_000, PARSE_ERROR),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}', PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":-Infinity}}', PARSE_ERROR),
        (with_id(b"9" * 5000), PARSE_ERROR),
        (b"[]", INVALID_REQUEST),
        (b"[" + PING + b"]", INVALID_REQUEST),
        (with_id(b"null"), INVALID_REQUEST),
        (with_id(b"1.5"), INVALID_REQUEST),
        (with_id(b"1.0"), INVALID_REQUEST),
        (with_id(b"1e400"), INVALID_REQUEST),
        (with_id(b"true"), INVALID_REQUEST),
        (with_id(b"{}"), INVALID_REQUEST),
        (with_id(b"[1]"), INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', INVALID_REQUEST),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', INVALID_REQUEST),
        (b'{"id":1,"method":"ping"}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1}', INVALID_REQUEST),
        (b"null", INVALID_REQUEST),
        (b'"ping"', INVALID_REQUEST),
        (b"0", INVALID_REQUEST),
    ],
    ids=lambda value: repr(value[:40]) if isinstance(value, bytes) else None,
)
def test_a_line_that_is_no_message_has_an_error_without_an_id(line: bytes, code: int):
    with pytest.raises(NoMessage) as refused:
        read_message(line)

    answer = json.loads(refused.value.answer())
    assert (answer["jsonrpc"], answer["id"], answer["error"]["code"]) == ("2.0", None, code)


@pytest.mark.threat("C1")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b"0", 0),
        (b"-1", -1),
        (b"9" * 400, 10**400 - 1),
        (b'""', ""),
        (b'"5"', "5"),
        (b'"\\u0000"', "\0"),
        (b'"' + b"x" * 1000 + b'"', "x" * 1000),
        (b'7,"id":8', 8),
    ],
    ids=["zero", "negative", "huge", "empty", "digits", "NUL", "long", "twice"],
)
def test_an_id_comes_back_as_it_was_and_the_last_of_equal_keys_counts(written: bytes, read: int | str):
    message = read_message(with_id(written))

    assert isinstance(message, JSONRPCRequest)
    assert message.id == read
    assert type(message.id) is type(read)


def test_a_line_may_end_as_on_windows():
    assert read_message(PING + b"\r") == read_message(PING)


async def lines_of(data: bytes, line_bytes: int) -> AsyncIterator[bytes | str]:
    sender, receiver = memory_stream_one_way_pair()
    await sender.send_all(data)
    await sender.aclose()
    reader = LineReader(receiver, line_bytes=line_bytes)
    while True:
        try:
            line = await reader.read()
        except NoMessage as refused:
            yield str(refused)
            continue
        if line is None:
            return
        yield line


@pytest.mark.threat("C1")
@pytest.mark.parametrize("size", [11, 12, 500_000])
@pytest.mark.parametrize("after", [[b"after"], []])
async def test_a_line_over_the_limit_is_dropped_whole_and_said_once(size: int, after: list[bytes]):
    read = [line async for line in lines_of(b"\n".join([b"before", b"x" * size, *after, b""]), 10)]

    assert read == [b"before", "Invalid request: a line of more than 10 bytes was dropped", *after]


@pytest.mark.threat("C1")
async def test_a_line_of_as_many_bytes_as_may_be_is_a_message_and_one_byte_more_is_not():
    most = PING[:-1] + b',"params":{"a":"' + b"x" * (MCP_LINE_BYTES - len(PING) - 18) + b'"}}'
    stdin, receiver = memory_stream_one_way_pair()
    stdio = Stdio(receiver, MemorySendStream())
    await stdin.send_all(most + b"\n" + most + b" \n" + PING + b"\n")

    fits = await stdio.next_line()
    after = await stdio.next_line()

    assert len(most) == MCP_LINE_BYTES
    assert fits == most
    assert isinstance(read_message(most), JSONRPCRequest)
    assert after == PING


async def test_stdin_may_end_inside_a_line_over_the_limit():
    read = [line async for line in lines_of(b"before\n" + b"x" * 500_000, 10)]

    assert read == [b"before", "Invalid request: a line of more than 10 bytes was dropped"]


async def test_a_request_is_open_until_it_is_answered(nursery: trio.Nursery):
    requests = OpenRequests()
    requests.came_in(1, "tools/call")
    ended = trio.Event()

    async def wait() -> None:
        await requests.wait_answered()
        ended.set()

    nursery.start_soon(wait)
    await wait_all_tasks_blocked()
    assert not ended.is_set()
    requests.settle(1)
    with trio.fail_after(1):
        await ended.wait()


async def test_a_request_to_listen_holds_no_end_up():
    requests = OpenRequests()
    requests.came_in(1, "subscriptions/listen")

    with trio.fail_after(1):
        await requests.wait_answered()


@pytest.mark.threat("C1", "C5")
def test_an_id_that_is_open_belongs_to_one_request():
    requests = OpenRequests()
    requests.came_in(1, "ping")

    with pytest.raises(NoMessage, match="1 is not answered yet"):
        requests.came_in(1, "ping")
    requests.came_in("1", "ping")
    requests.settle(1)
    requests.came_in(1, "ping")


class SdkSide:
    """What the SDK reads and writes, with a client at the other end."""

    def __init__(self) -> None:
        _, stdin = memory_stream_one_way_pair()
        self._stdout = MemorySendStream()
        self._to_sdk, lines = trio.open_memory_channel[bytes](10)
        self.stdio = Stdio(stdin, self._stdout)
        self._incoming = Incoming(lines, self.stdio)
        self._outgoing = Outgoing(self.stdio, Greeter("7", 0, 1, direct=False))

    async def hear(self, message: JSONRPCRequest | JSONRPCNotification) -> None:
        self.stdio.requests.hand_on(None)
        await self._to_sdk.send(message.model_dump_json(exclude_unset=True).encode())
        await self._incoming.receive()

    async def answer(self) -> bool:
        """Whether the answer to request 1 goes out."""
        async with open_background() as nursery:
            nursery.start_soon(self.stdio.write)
            await self._outgoing.send(SessionMessage(response()))
            await wait_all_tasks_blocked()
        try:
            return self._stdout.get_data_nowait() != b""
        except trio.WouldBlock:
            return False


@pytest.mark.threat("C5")
async def test_what_was_taken_back_gets_no_answer_and_its_id_may_be_used_again():
    sdk = SdkSide()
    await sdk.hear(request())
    await sdk.hear(cancelled(1))
    assert not await sdk.answer()

    await sdk.hear(cancelled(1))
    await sdk.hear(request())
    assert await sdk.answer()
    assert not await sdk.answer()


@pytest.mark.parametrize("taken", [2, "1", True, 1.0, None, [1]])
async def test_taking_back_something_else_takes_nothing_back(taken: object):
    sdk = SdkSide()
    await sdk.hear(request())
    await sdk.hear(cancelled(taken))

    assert await sdk.answer()


class Deaf(trio.abc.SendStream):
    """A client's side of stdout that takes nothing until it is told to."""

    def __init__(self) -> None:
        self.listens = trio.Event()
        self.heard: list[int | None] = []
        self.heard_all = trio.Event()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self.listens.wait()
        self.heard.append(json.loads(bytes(data))["id"])
        if len(self.heard) == MANY:
            self.heard_all.set()

    async def wait_send_all_might_not_block(self) -> None:
        await self.listens.wait()

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


class Server:
    """Answers each request at once, and keeps what it has read."""

    def __init__(self, lines: bytes, *, hung_up: bool = False) -> None:
        self.client = Deaf()
        self.ended = trio.Event()
        self.read: list[int] = []
        self._to_server, stdin = memory_stream_one_way_pair()
        self._lines = lines
        self.stdio = Stdio(stdin, self.client, has_hung_up=lambda: hung_up)
        self._to_sdk, lines_read = trio.open_memory_channel[bytes](1)
        self._incoming = Incoming(lines_read, self.stdio)
        self._outgoing = Outgoing(self.stdio, Greeter("7", 0, 1, direct=False))

    async def serve(self, nursery: trio.Nursery) -> None:
        nursery.start_soon(self.stdio.write)
        nursery.start_soon(self._hand_on)
        await self._to_server.send_all(self._lines)
        async for item in self._incoming:
            assert isinstance(item, SessionMessage)
            assert isinstance(item.message, JSONRPCRequest)
            assert isinstance(item.message.id, int)
            self.read.append(item.message.id)
            nursery.start_soon(self._outgoing.send, SessionMessage(response(item.message.id)))
        self.ended.set()

    async def _hand_on(self) -> None:
        with suppress(trio.BrokenResourceError), self.stdio.until_stopped():
            while (line := await self.stdio.next_line()) is not None:
                self.stdio.requests.hand_on(None)
                await self.stdio.wait_for_client(partial(self._to_sdk.send, line))
        self._to_sdk.close()


REQUESTS = b"".join(with_id(str(number).encode()) + b"\n" for number in range(MANY))
GARBAGE = b"{\n" * MANY


@pytest.mark.threat("C2")
async def test_a_client_that_takes_no_answers_is_read_no_further_until_it_does(nursery: trio.Nursery):
    server = Server(REQUESTS)
    nursery.start_soon(server.serve, nursery)
    await wait_all_tasks_blocked()
    assert len(server.read) < 300

    server.client.listens.set()

    with trio.fail_after(10):
        await server.client.heard_all.wait()
    assert sorted(id_ for id_ in server.client.heard if id_ is not None) == list(range(MANY))
    nursery.cancel_scope.cancel()


@pytest.mark.parametrize("lines", [REQUESTS, GARBAGE], ids=["requests", "garbage"])
@pytest.mark.parametrize("how", ["stop", "hang-up"])
async def test_a_client_that_takes_no_answers_can_be_left(
    how: str, lines: bytes, nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
):
    server = Server(lines, hung_up=how == "hang-up")
    nursery.start_soon(server.serve, nursery)
    if how == "stop":
        await wait_all_tasks_blocked()
        server.stdio.stop()

    with trio.fail_after(3 * LAST_ANSWERS_SECONDS):
        await server.ended.wait()
    nursery.cancel_scope.cancel()


async def test_a_client_that_is_slow_and_there_is_waited_for(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
):
    server = Server(GARBAGE)
    nursery.start_soon(server.serve, nursery)

    with trio.move_on_after(3600):
        await server.ended.wait()

    assert not server.ended.is_set()
    server.client.listens.set()
    with trio.fail_after(10):
        await server.client.heard_all.wait()
    nursery.cancel_scope.cancel()
