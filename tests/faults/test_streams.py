"""The faults of `streams.py` do what they say."""

from dataclasses import replace

import pytest
import trio
from trio.testing import MockClock, memory_stream_pair

from tests.faults.streams import End, Faults, FaultyStream

DATA = "añ☃😀".encode() * 100


async def pieces(faults: Faults, *, seed: int = 0, ends: bool = True) -> list[tuple[float, bytes]]:
    """What comes through of `DATA`, and when."""
    near, far = memory_stream_pair()
    stream = FaultyStream(near, back=faults, seed=seed)
    began = trio.current_time()
    await far.send_all(DATA)
    if ends:
        await far.aclose()
    came: list[tuple[float, bytes]] = []
    while piece := await stream.receive_some():
        came.append((trio.current_time() - began, piece))
    return came


async def test_a_stream_without_faults_changes_nothing(autojump_clock: MockClock):
    assert await pieces(Faults()) == [(0, DATA)]


async def test_slices_cut_characters_and_lose_nothing(autojump_clock: MockClock):
    cut = [piece for _, piece in await pieces(Faults(slice_bytes=3))]

    assert b"".join(cut) == DATA
    assert max(map(len, cut)) == 3
    with pytest.raises(UnicodeDecodeError):
        "".join(map(bytes.decode, cut))


async def test_the_same_seed_brings_the_same_faults_and_another_one_others(autojump_clock: MockClock):
    faults = Faults(latency_seconds=0.1, jitter_seconds=1, slice_bytes=9)

    first, again, other = [await pieces(faults, seed=seed) for seed in (1, 1, 2)]

    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("faults", "seconds"),
    [
        (Faults(latency_seconds=2), (2, 2)),
        (Faults(latency_seconds=2, jitter_seconds=1), (2, 3)),
        (Faults(bytes_per_second=len(DATA) / 4), (4, 4)),
    ],
)
async def test_time_passes_in_both_directions(autojump_clock: MockClock, faults: Faults, seconds: tuple[float, float]):
    [(came, _)] = await pieces(faults)
    near, _far = memory_stream_pair()
    began = trio.current_time()
    await FaultyStream(near, out=faults).send_all(DATA)
    went = trio.current_time() - began

    assert seconds[0] <= came <= seconds[1]
    assert seconds[0] <= went <= seconds[1]


async def test_a_limit_ends_what_comes_in_each_way(autojump_clock: MockClock):
    limit = Faults(byte_limit=5)

    assert await pieces(limit, ends=False) == [(0, DATA[:5])]
    with pytest.raises(trio.BrokenResourceError):
        await pieces(replace(limit, end=End.RESET))
    with trio.move_on_after(1000) as scope:
        await pieces(replace(limit, end=End.SILENCE), ends=False)
    assert scope.cancelled_caught


@pytest.mark.parametrize("end", End)
async def test_a_limit_ends_what_goes(autojump_clock: MockClock, end: End):
    near, far = memory_stream_pair()
    stream = FaultyStream(near, out=Faults(byte_limit=5, end=end, end_seconds=3))

    if end is End.SILENCE:
        await stream.send_all(DATA)
        await stream.send_all(DATA)
    else:
        with pytest.raises(trio.BrokenResourceError):
            await stream.send_all(DATA)

    assert trio.current_time() >= 3
    assert await far.receive_some() == DATA[:5]


async def test_a_cancelled_receive_loses_no_byte(autojump_clock: MockClock):
    near, far = memory_stream_pair()
    stream = FaultyStream(near, back=Faults(latency_seconds=5))
    await far.send_all(DATA)

    with trio.move_on_after(1):
        await stream.receive_some()

    assert await stream.receive_some() == DATA


async def test_closing_takes_its_time_and_is_cut_short_by_who_can_not_wait(autojump_clock: MockClock):
    near, far = memory_stream_pair()

    with trio.move_on_after(2) as scope:
        await FaultyStream(near, out=Faults(close_seconds=60)).aclose()

    assert scope.cancelled_caught
    assert await far.receive_some() == b""
