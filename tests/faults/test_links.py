"""A bridge whose link to its browser is bad: slow, in slivers, cut off, reset, half-open."""

from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from random import Random

import pytest
import trio
from trio.testing import MockClock

from bridge import limits
from bridge.calls.agent import Agent
from bridge.wire.transports import Transport
from tests.faults.bridges import open_bridge_over
from tests.faults.fake_chromium import FakeChromium
from tests.faults.fake_links import OpenLink, Wrap, open_fake_websocket, open_pipe
from tests.faults.forms import SHORT_AND_FULL
from tests.faults.session import check_well, codes, use, wait_found_again
from tests.faults.streams import End, Faults, FaultyStream

pytestmark = pytest.mark.parametrize("open_link", [open_pipe, open_fake_websocket])

SLOW = {
    "latency": Faults(latency_seconds=0.05),
    "jitter": Faults(latency_seconds=0.01, jitter_seconds=0.1),
    "bandwidth": Faults(bytes_per_second=200_000),
    "bytes": Faults(slice_bytes=1),
    "slices": Faults(slice_bytes=7),
    "slow close": Faults(close_seconds=60),
    "all": Faults(latency_seconds=0.005, jitter_seconds=0.01, bytes_per_second=1e6, slice_bytes=1000, close_seconds=9),
}
ENDS = {
    "closed": Faults(end=End.CLOSE),
    "closed after a while": Faults(end=End.CLOSE, end_seconds=7),
    "reset": Faults(end=End.RESET),
    "half-open": Faults(end=End.SILENCE),
}


def unchanged(stream: trio.abc.Stream) -> trio.abc.Stream:
    return stream


@pytest.mark.parametrize("fault", SLOW)
async def test_a_link_that_is_only_slow_loses_nothing(autojump_clock: MockClock, open_link: OpenLink, fault: str):
    def wrap(stream: trio.abc.Stream) -> trio.abc.Stream:
        # What goes is three scripts of 100 KB and little else; what comes is read in each of the pieces.
        out = replace(SLOW[fault], slice_bytes=max(SLOW[fault].slice_bytes, 4096))
        return FaultyStream(stream, out=out, back=SLOW[fault], seed=3)

    async with open_bridge_over(lambda: open_link(FakeChromium(), unchanged)) as bridge:
        well = codes(await use(Agent(bridge)))
    async with open_bridge_over(lambda: open_link(FakeChromium(), wrap)) as bridge:
        agent = Agent(bridge)
        assert codes(await use(agent)) == well
        await check_well(agent)
        left = trio.current_time()
    assert trio.current_time() - left <= 2 * limits.CLOSE_SECONDS + limits.GRACE_SECONDS


@SHORT_AND_FULL
@pytest.mark.parametrize("direction", ["out", "back"])
@pytest.mark.parametrize("end", ENDS)
async def test_a_link_that_ends_anywhere_leaves_no_call_without_an_answer(
    autojump_clock: MockClock, open_link: OpenLink, end: str, direction: str, full: bool
):
    whole = await carried_bytes(open_link, direction)

    for place in Random(end + direction).sample(range(whole), 30 if full else 4):
        faulty = partial(FaultyStream, **{direction: replace(ENDS[end], byte_limit=place)})
        links: list[Wrap] = [unchanged, faulty]

        def open_next(links: list[Wrap] = links) -> AbstractAsyncContextManager[Transport]:
            return open_link(FakeChromium(), links.pop())

        async with open_bridge_over(open_next) as bridge:
            agent = Agent(bridge)
            await use(agent)
            if ENDS[end].end is not End.SILENCE:
                await wait_found_again(agent)
                while links:  # it ends, maybe a while after that
                    await use(agent)
                    await wait_found_again(agent)
                await check_well(agent)
        assert faulty not in links


async def carried_bytes(open_link: OpenLink, direction: str) -> int:
    """How much a well session carries in that direction."""
    streams: list[FaultyStream] = []

    def wrap(stream: trio.abc.Stream) -> FaultyStream:
        streams.append(FaultyStream(stream))
        return streams[-1]

    async with open_bridge_over(lambda: open_link(FakeChromium(), wrap)) as bridge:
        await use(Agent(bridge))
        [stream] = streams
        return stream.sent_bytes if direction == "out" else stream.received_bytes
