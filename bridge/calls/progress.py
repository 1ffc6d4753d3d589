"""Progress of a call as MCP wants it: values that rise, now and then, until the answer."""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import trio

from bridge import limits
from bridge.calls.frame import escape
from bridge.wire.nursery import open_background

Send = Callable[[float, float | None, str | None], Awaitable[None]]
"""Sends one notice: done, total, message."""


class Progress:
    """What a client that asked for progress is told of one call. Made by `open_progress`."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._latest: float | None = None
        self._told = trio.current_time()

    async def tell(self, report: dict[str, Any]) -> None:
        """Hand on what a tool reports: `{done, total, message}`. What does not rise is told as the least that does."""
        match report:
            case {"done": int() | float() as done}:
                total, message = report.get("total"), report.get("message")
                await self._tell(
                    max(float(done), self._least()),
                    total if isinstance(total, int | float) else None,
                    escape(message) if isinstance(message, str) else None,
                )
            case _:
                pass

    async def beat(self) -> None:
        """Say that the call is at it still, whenever nothing else was said for `limits.HEARTBEAT_SECONDS`."""
        while True:
            due = self._told + limits.HEARTBEAT_SECONDS
            await trio.sleep_until(due)
            if self._told + limits.HEARTBEAT_SECONDS <= due:
                await self._tell(self._least(), None, "The call is still running.")

    def _least(self) -> float:
        if self._latest is None:
            return 0.0
        return max(self._latest + 0.001, math.nextafter(self._latest, math.inf))

    async def _tell(self, done: float, total: float | None, message: str | None) -> None:
        self._latest = done
        self._told = trio.current_time()
        await self._send(done, total, message)


@asynccontextmanager
async def open_progress(send: Send) -> AsyncGenerator[Progress]:
    """Tell of a call for the length of the block; nothing is sent after it."""
    progress = Progress(send)
    async with open_background() as nursery:
        nursery.start_soon(progress.beat)
        yield progress
