"""Faults of a stream: what a bad network, or a bad peer, does to bytes. Seeded, and told by trio's clock alone."""

from dataclasses import dataclass
from enum import Enum
from math import inf
from random import Random

import trio


class End(Enum):
    """What becomes of a direction that has carried all it may."""

    CLOSE = "closed: its end is seen at once"
    RESET = "reset: whoever uses it next gets an error"
    SILENCE = "half-open: nothing comes any more, and what goes is lost"


@dataclass(frozen=True)
class Faults:
    """What is wrong with one direction; the default is nothing.

    Attributes:
        latency_seconds, jitter_seconds: each piece is late by the one, and by up to the other.
        bytes_per_second: bandwidth.
        slice_bytes: a piece has between 1 and so many bytes, wherever that cuts.
        byte_limit: after so many bytes comes `end`.
        end_seconds: the time between, in which nothing comes: with `CLOSE` what is called a timeout.
        close_seconds: how long closing it takes.
    """

    latency_seconds: float = 0
    jitter_seconds: float = 0
    bytes_per_second: float = inf
    slice_bytes: int = 1 << 20
    byte_limit: int | None = None
    end: End = End.CLOSE
    end_seconds: float = 0
    close_seconds: float = 0


class FaultyStream(trio.abc.Stream):
    """A stream between us and the other side, with faults on the way there and on the way back.

    Cancelling loses no byte that was on its way to us.
    """

    def __init__(
        self, inner: trio.abc.Stream, *, out: Faults | None = None, back: Faults | None = None, seed: int = 0
    ) -> None:
        self._inner = inner
        self._out = _Direction(out or Faults(), Random(seed))
        self._back = _Direction(back or Faults(), Random(seed + 1))
        self._coming = bytearray()
        self._due = -inf
        self.sent_bytes = 0
        """As far as they reached the other side."""
        self.received_bytes = 0

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        rest = memoryview(data)
        while rest:
            piece = bytes(rest[: self._out.piece_bytes()])
            if not piece:
                await self._out.wait_end()
                await self._end_sending(self._out.faults.end)
                return
            await trio.sleep_until(self._out.due(len(piece)))
            await self._inner.send_all(piece)
            self._out.carried += len(piece)
            self.sent_bytes += len(piece)
            rest = rest[len(piece) :]

    async def _end_sending(self, end: End) -> None:
        if end is not End.SILENCE:
            await self._inner.aclose()
            raise trio.BrokenResourceError

    async def wait_send_all_might_not_block(self) -> None:
        await self._inner.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        if not self._coming:
            chunk = await self._inner.receive_some(max_bytes)
            if not chunk:
                return b""
            self._coming += chunk
            self._due = self._back.due(len(chunk))
        room = self._back.piece_bytes()
        if room == 0:
            await self._back.wait_end()
            return await self._end_receiving(self._back.faults.end)
        await trio.sleep_until(self._due)
        piece = bytes(self._coming[: room if max_bytes is None else min(room, max_bytes)])
        del self._coming[: len(piece)]
        self._back.carried += len(piece)
        self.received_bytes += len(piece)
        return piece

    async def _end_receiving(self, end: End) -> bytes:
        match end:
            case End.CLOSE:
                return b""
            case End.RESET:
                await self._inner.aclose()
                raise trio.BrokenResourceError
            case End.SILENCE:
                await trio.sleep_forever()
        raise AssertionError

    async def aclose(self) -> None:
        try:
            await trio.sleep(max(self._out.faults.close_seconds, self._back.faults.close_seconds))
        finally:
            await self._inner.aclose()


class _Direction:
    def __init__(self, faults: Faults, random: Random) -> None:
        self.faults = faults
        self.carried = 0
        self._random = random

    def piece_bytes(self) -> int:
        """How many bytes may go next; 0 where none may."""
        piece = self._random.randint(1, self.faults.slice_bytes)
        limit = self.faults.byte_limit
        return piece if limit is None else min(piece, limit - self.carried)

    def due(self, size: int) -> float:
        """When a piece of that size is there, that leaves now."""
        faults = self.faults
        late = faults.latency_seconds + self._random.uniform(0, faults.jitter_seconds)
        return trio.current_time() + late + size / faults.bytes_per_second

    async def wait_end(self) -> None:
        await trio.sleep(self.faults.end_seconds)
