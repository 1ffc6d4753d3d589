"""How often something may happen. No I/O, and no clock: who asks says what time it is."""

from math import ceil
from typing import Final

_ROUNDING_MS: Final = 1e-6


class Rate:
    """A token bucket: so many a second, and after a pause so many at once.

    It remembers one time alone, when the next one would be due if they came evenly: that may lie ahead by what is
    allowed at once.
    """

    def __init__(self, per_second: float, at_once: int) -> None:
        self._interval_seconds = 1 / per_second
        self._ahead_seconds = (at_once - 1) / per_second
        self._due = float("-inf")

    def take(self, now: float) -> float:
        """Take the right to one, and return 0; or where there is none yet, the seconds until there is, in whole
        milliseconds."""
        due = max(self._due, now)
        if (wait_ms := ceil((due - now - self._ahead_seconds) * 1000 - _ROUNDING_MS)) > 0:
            return wait_ms / 1000
        self._due = due + self._interval_seconds
        return 0.0
