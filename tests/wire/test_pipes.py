"""Bytes over real pipes: whole messages in their order, however full the pipe is, and whoever is cancelled."""

import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from bridge.wire.pipes import ChunkReader, MessageWriter, Outbox

LARGE = 3_000_000
"""More than a pipe holds."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="There are no such pipes on Windows")


@pytest.fixture
async def ends() -> AsyncIterator[tuple[trio.lowlevel.FdStream, trio.lowlevel.FdStream]]:
    read, write = os.pipe()
    async with trio.lowlevel.FdStream(write) as sender, trio.lowlevel.FdStream(read) as receiver:
        yield sender, receiver


async def read_messages(receiver: trio.lowlevel.FdStream, count: int) -> list[bytes]:
    reader, data = ChunkReader(receiver), b""
    while data.count(b"\n") < count:
        data += await reader.receive()
    return data.split(b"\n")[:count]


async def test_a_message_that_the_pipe_takes_needs_no_other_task(ends):
    sender, receiver = ends
    outbox = Outbox(MessageWriter(sender, end=b"\n"))

    outbox.post(b"one")
    await outbox.send(b"two")

    assert os.read(receiver.fileno(), 100) == b"one\ntwo\n"
    assert outbox.carried == 0


async def test_what_does_not_fit_is_carried_and_nothing_overtakes_it(ends, nursery: trio.Nursery):
    sender, receiver = ends
    outbox = Outbox(MessageWriter(sender, end=b"\n"))
    messages = [b"a" * LARGE, b"b", b"c" * LARGE, b"d"]
    for message in messages:
        outbox.post(message)
    nursery.start_soon(outbox.carry)

    assert await read_messages(receiver, 4) == messages
    await wait_all_tasks_blocked()
    assert outbox.carried == 4
    outbox.post(b"e")
    assert os.read(receiver.fileno(), 100) == b"e\n"
    outbox.close()


async def test_a_message_whose_sender_is_cancelled_is_whole_or_not_there(ends, nursery: trio.Nursery):
    sender, receiver = ends
    outbox = Outbox(MessageWriter(sender, end=b"\n"), places=1)
    await outbox.send(b"a" * LARGE)
    for message in (b"b" * LARGE, b"c" * LARGE):
        with trio.move_on_after(0):
            await outbox.send(message)
    with trio.CancelScope() as scope:
        scope.cancel()
        await outbox.send(b"d")
    nursery.start_soon(outbox.carry)
    await outbox.send(b"e")

    assert await read_messages(receiver, 2) == [b"a" * LARGE, b"e"]
    await wait_all_tasks_blocked()
    await outbox.send(b"f")
    assert os.read(receiver.fileno(), 100) == b"f\n"
    outbox.close()


async def test_a_chunk_that_was_there_gives_others_their_turn(ends, nursery: trio.Nursery):
    sender, receiver = ends
    reader, turns = ChunkReader(receiver), []

    async def note() -> None:
        for number in range(3):
            turns.append(number)
            await trio.lowlevel.checkpoint()

    nursery.start_soon(note)
    for _ in range(3):
        await sender.send_all(b"x")
        assert await reader.receive() == b"x"

    assert turns == [0, 1, 2]


async def test_the_end_of_a_pipe_is_an_empty_chunk_and_a_closed_one_an_error(ends):
    sender, receiver = ends
    reader = ChunkReader(receiver)
    await sender.aclose()
    assert not await reader.receive()

    await receiver.aclose()
    with pytest.raises(trio.ClosedResourceError):
        await reader.receive()


async def test_a_pipe_that_was_read_empty_is_waited_for_and_read_once(ends, nursery, monkeypatch):
    sender, receiver = ends
    reader, reads, readv = ChunkReader(receiver), [], os.readv

    def count_read(descriptor: int, buffers: Sequence[memoryview]) -> int:
        reads.append(descriptor)
        return readv(descriptor, buffers)

    async def receive(expected: bytes) -> None:
        assert await reader.receive() == expected
        seen.append(expected)

    seen: list[bytes] = []
    monkeypatch.setattr(os, "readv", count_read)
    for chunk in (b"a", b"b", b"c"):
        nursery.start_soon(receive, chunk)
        await wait_all_tasks_blocked()
        await sender.send_all(chunk)
        await wait_all_tasks_blocked()

    assert seen == [b"a", b"b", b"c"]
    # Only the first time it could not know that nothing is there.
    assert len(reads) == 1 + 3


async def test_a_pipe_that_is_closed_after_it_was_waited_for_is_an_error(ends, nursery: trio.Nursery):
    sender, receiver = ends
    reader = ChunkReader(receiver)
    nursery.start_soon(reader.receive)
    await wait_all_tasks_blocked()
    await sender.send_all(b"x")
    await wait_all_tasks_blocked()

    await receiver.aclose()
    with pytest.raises(trio.ClosedResourceError):
        await reader.receive()


async def test_a_file_can_be_read_though_it_can_not_be_waited_for(tmp_path: Path):
    path = tmp_path / "lines"
    path.write_bytes(b"one\ntwo\n")
    async with trio.lowlevel.FdStream(os.open(path, os.O_RDONLY)) as file:
        reader = ChunkReader(file)

        assert await reader.receive() == b"one\ntwo\n"
        assert not await reader.receive()


async def test_closing_a_pipe_wakes_who_reads_it(ends, nursery: trio.Nursery):
    _, receiver = ends
    woken: list[type[Exception]] = []

    async def read() -> None:
        with pytest.raises(trio.ClosedResourceError) as raised:
            await ChunkReader(receiver).receive()
        woken.append(raised.type)

    nursery.start_soon(read)
    await wait_all_tasks_blocked()
    receiver.close()
    await wait_all_tasks_blocked()

    assert woken == [trio.ClosedResourceError]


async def test_nobody_at_the_other_end_is_told_by_who_carries(ends):
    sender, receiver = ends
    outbox = Outbox(MessageWriter(sender, end=b"\n"))
    await receiver.aclose()
    outbox.post(b"one")

    with pytest.raises(trio.BrokenResourceError):
        await outbox.carry()


@pytest.mark.parametrize("over", [0, 1])
async def test_so_much_may_wait_and_no_more(ends, nursery: trio.Nursery, over: int):
    sender, receiver = ends
    outbox = Outbox(MessageWriter(sender, end=b"\n"), most_bytes=LARGE + 1)
    outbox.post(b"a" * LARGE)
    if over:
        with pytest.raises(trio.WouldBlock):
            outbox.post(b"bc")
    outbox.post(b"b")
    with pytest.raises(trio.WouldBlock):
        outbox.post(b"c")
    nursery.start_soon(outbox.carry)

    assert await read_messages(receiver, 2) == [b"a" * LARGE, b"b"]
    await wait_all_tasks_blocked()
    outbox.post(b"d" * (LARGE + 1))
    assert await read_messages(receiver, 1) == [b"d" * (LARGE + 1)]
    outbox.close()
