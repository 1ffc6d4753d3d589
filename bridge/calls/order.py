"""Whose turn it is: the calls of one page run one after the other, those of different pages side by side; and how many
there may be."""

from collections import Counter
from collections.abc import Callable
from weakref import WeakKeyDictionary

import trio

from bridge import limits
from bridge.calls.rate import Rate
from bridge.errors import Busy
from bridge.page.session import Page
from bridge.tools.sources.page import PageCall


class _Line:
    """The calls of one page."""

    def __init__(self) -> None:
        self.lock = trio.Lock()
        self.latest: PageCall | None = None


class Entry:
    """A call that counts. Made by `Order.enter`."""

    __slots__ = ("_in_flight", "_page")

    def __init__(self, in_flight: Counter[Page | None], page: Page | None) -> None:
        self._in_flight = in_flight
        self._page = page

    def __enter__(self) -> None:
        self._in_flight[self._page] += 1

    def __exit__(self, *_: object) -> None:
        self._in_flight[self._page] -= 1
        if not self._in_flight[self._page]:
            del self._in_flight[self._page]


class Order:
    """Counts the calls that are in flight and those that come, and has those of one page wait for each other."""

    def __init__(self) -> None:
        self._rate = Rate(limits.CALLS_PER_SECOND, limits.CALLS_AT_ONCE)
        self._in_flight: Counter[Page | None] = Counter()
        self._lines: WeakKeyDictionary[Page, _Line] = WeakKeyDictionary()

    def enter(self, page: Page | None) -> "Entry":
        """Count a call for the length of the block that this is entered for.

        Args:
            page: the one whose tool is called; None for a tool of our own.

        Raises:
            Busy: there are too many, or they come too fast.
        """
        if page is not None and self._in_flight[page] >= limits.CALLS_PER_PAGE:
            raise Busy(
                f"Page {page.handle} has {limits.CALLS_PER_PAGE} calls in flight, which is the most. "
                "Nothing ran; call again when one of them has been answered."
            )
        if self._in_flight.total() >= limits.CALLS:
            raise Busy(
                f"{limits.CALLS} calls are in flight, which is the most. "
                "Nothing ran; call again when one of them has been answered."
            )
        if retry_seconds := self._rate.take(trio.current_time()):
            raise Busy(
                f"{limits.CALLS_PER_SECOND:g} calls a second are the most, or {limits.CALLS_AT_ONCE} at once after a "
                f"pause. Nothing ran; call again in {retry_seconds:g} s.",
                retry_seconds=retry_seconds,
            )
        return Entry(self._in_flight, page)

    @property
    def is_idle(self) -> bool:
        """No call is in flight."""
        return not self._in_flight

    async def start(self, page: Page, start: Callable[[], PageCall]) -> PageCall:
        """Start a call when the one before it on its page has ended, whoever waits for that one.

        Raises:
            DialogOpen: a dialog holds the one before it.
            BridgeError: as `start`.
        """
        line = self._lines.setdefault(page, _Line())
        await _acquire(line.lock)
        try:
            if line.latest is not None and not await line.latest.run.wait_ended() and page.dialog is not None:
                raise page.dialog.error(page.handle, dispatched=False)
            line.latest = start()
            return line.latest
        finally:
            line.lock.release()


async def _acquire(lock: trio.Lock) -> None:
    """Without giving the others a turn where nobody else wants it."""
    try:
        lock.acquire_nowait()
    except trio.WouldBlock:
        await lock.acquire()
