"""Which events are read for those who watch a page. A page can cause as many as it likes, and each costs all pages
time: so there is a measure, and what goes beyond it is counted and nothing else."""

from collections import Counter

from bridge import limits
from bridge.wire.commands import Readers


class Hearing:
    """The events of one connection that are acted on besides those that always are.

    Attributes:
        missed: how many events of each method were too many, or too large.
    """

    def __init__(self) -> None:
        self.missed: Counter[str] = Counter()
        self.readers: Readers = {}
        self._room = float(limits.WATCHED_EVENTS_AT_ONCE)
        self._filled_at = 0.0

    def add(self, readers: Readers) -> None:
        """Read these events from now on."""
        self.readers = {**self.readers, **readers}

    def takes(self, method: str, size: int, now: float) -> bool:
        """Whether an event that has come is to be read.

        Args:
            size: of the message, in bytes or characters.
            now: in seconds, of a clock that never goes back.
        """
        if method not in self.readers:
            return False
        if size <= limits.WATCHED_EVENT_BYTES and self._has_room(now):
            return True
        self.missed[method] += 1
        return False

    def _has_room(self, now: float) -> bool:
        filled = self._room + (now - self._filled_at) * limits.WATCHED_EVENTS_PER_SECOND
        self._room, self._filled_at = min(filled, float(limits.WATCHED_EVENTS_AT_ONCE)), now
        if self._room < 1:
            return False
        self._room -= 1
        return True
