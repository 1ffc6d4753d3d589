"""NUL-terminated framing over streams in memory."""

from collections.abc import Iterable

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import memory_stream_one_way_pair, memory_stream_pair, wait_all_tasks_blocked

from bridge.wire.pipes import CHUNK_BYTES
from bridge.wire.transports import PipeTransport, TransportEnded


class Chunks(trio.abc.ReceiveStream):
    """A stream that gives exactly these chunks, then ends. It counts the bytes it gave."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self.given_bytes = 0

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        chunk = next(self._chunks, b"")
        assert max_bytes is not None
        assert len(chunk) <= max_bytes
        self.given_bytes += len(chunk)
        return chunk

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


def reader(stream: trio.abc.ReceiveStream, *, message_bytes: int = 1000) -> PipeTransport:
    to_nobody, _ = memory_stream_one_way_pair()
    return PipeTransport(to_nobody, stream, message_bytes=message_bytes)


def cut(data: bytes, at: Iterable[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in at} | {len(data)})
    starts = [0, *ends]
    return [data[start:end] for start, end in zip(starts, ends, strict=False) if end > start]


async def receive_all(transport: PipeTransport) -> list[bytes]:
    messages: list[bytes] = []
    try:
        while True:
            message = await transport.receive()
            assert isinstance(message, bytearray)
            messages.append(bytes(message))
    except TransportEnded:
        return messages


async def test_a_message_goes_out_whole_and_ends_with_nul():
    to_browser, browser_end = memory_stream_one_way_pair()
    transport = PipeTransport(to_browser, Chunks([]))

    with trio.fail_after(2):
        await transport.send(b'{"id":1}')
        await transport.send(b'{"id":2}')

        assert await browser_end.receive_some() == b'{"id":1}\0{"id":2}\0'


async def test_a_message_cut_at_any_byte_comes_whole():
    message = '{"title":"é☃😀"}'.encode()
    data = message + b"\0" + message + b"\0"

    with trio.fail_after(2):
        for place in range(1, len(data)):
            assert await receive_all(reader(Chunks(cut(data, [place])))) == [message, message]
        assert await receive_all(reader(Chunks(cut(data, range(len(data)))))) == [message, message]


@given(
    messages=st.lists(st.binary(max_size=40).map(lambda data: data.replace(b"\0", b"")), max_size=8),
    places=st.lists(st.integers(0, 400)),
)
async def test_messages_come_whole_and_in_order_however_cut(messages: list[bytes], places: list[int]):
    sent, browser_end = memory_stream_one_way_pair()
    sender = PipeTransport(sent, Chunks([]))

    with trio.fail_after(2):
        for message in messages:
            await sender.send(message)
        await sender.aclose()
        data = b"".join([chunk async for chunk in browser_end])

        assert await receive_all(reader(Chunks(cut(data, places)))) == messages


async def test_many_messages_in_one_chunk_come_one_by_one():
    messages = [b'{"id":%d}' % number for number in range(10_000)]

    with trio.fail_after(2):
        assert await receive_all(reader(Chunks([b"\0".join(messages) + b"\0"]))) == messages


async def test_a_large_message_takes_linear_time():
    # Looking for its end from the start after each of 100,000 chunks would be 1 TB to scan.
    size = 20_000_000
    chunks = [b"x" * 200] * (size // 200)

    with trio.fail_after(5):
        message = await reader(Chunks([*chunks, b"\0"]), message_bytes=size).receive()
        await trio.lowlevel.checkpoint()

    assert len(message) == size


async def test_a_message_at_the_limit_comes_and_one_byte_more_ends_it():
    with trio.fail_after(2):
        fits = await reader(Chunks([b"x" * 1000 + b"\0"])).receive()
        with pytest.raises(TransportEnded, match="over the limit of 1000 bytes"):
            await reader(Chunks([b"x" * 1001 + b"\0"])).receive()

    assert len(fits) == 1000


@pytest.mark.threat("L2")
async def test_a_message_without_end_is_given_up_within_one_chunk_of_the_limit():
    limit = 1_000_000
    stream = Chunks([b"x" * CHUNK_BYTES] * 1000)

    with trio.fail_after(2), pytest.raises(TransportEnded, match="over the limit of 1000000 bytes"):
        await reader(stream, message_bytes=limit).receive()

    assert stream.given_bytes <= limit + CHUNK_BYTES


async def test_a_cancelled_receive_loses_no_byte():
    browser_end, from_browser = memory_stream_one_way_pair()
    transport = reader(from_browser)
    await browser_end.send_all(b'{"id"')

    with trio.fail_after(2):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(transport.receive)
            await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        await browser_end.send_all(b":1}\0")

        assert await transport.receive() == b'{"id":1}'


@pytest.mark.parametrize("data", [b"", b'{"id":1', b'{"id":1}\0{"id"'])
async def test_a_pipe_that_ends_gives_its_whole_messages_first(data):
    with trio.fail_after(2):
        assert await receive_all(reader(Chunks([data] if data else []))) == data.split(b"\0")[:-1]


async def test_a_broken_pipe_ends_both_directions():
    ours, browsers = memory_stream_pair()
    transport = PipeTransport(ours, ours)
    await browsers.aclose()

    with trio.fail_after(2):
        with pytest.raises(TransportEnded, match="closed its debugging pipe"):
            await transport.send(b"{}")
        with pytest.raises(TransportEnded, match="closed its debugging pipe"):
            await transport.receive()


async def test_a_closed_transport_says_so_and_closes_again_in_peace():
    ours, _browsers = memory_stream_pair()
    transport = PipeTransport(ours, ours)

    with trio.fail_after(2):
        await transport.aclose()
        await transport.aclose()
        with pytest.raises(TransportEnded):
            await transport.send(b"{}")
        with pytest.raises(TransportEnded):
            await transport.receive()


async def test_closing_under_cancellation_still_closes_both_directions():
    to_browser, commands = memory_stream_one_way_pair()
    messages, from_browser = memory_stream_one_way_pair()
    transport = PipeTransport(to_browser, from_browser)

    with trio.CancelScope() as scope:
        scope.cancel()
        await transport.aclose()

    with trio.fail_after(2):
        assert await commands.receive_some() == b""
        with pytest.raises(trio.BrokenResourceError):
            await messages.send_all(b"x")
