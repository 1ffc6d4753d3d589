"""Memory for large messages, kept from one to the next."""

import ctypes
import sys
from contextlib import suppress
from typing import Final

KEPT_BYTES: Final = 64 * 1024 * 1024
_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3


def keep_memory() -> None:
    """Have the C library keep some of what is freed, where it is glibc, instead of giving it back at once.

    A result of 10 MB is copied some five times on its way to an agent, and a copy into memory that the system has only
    just given takes twice as long as one into memory that was there: a fiftieth of the whole way each time.
    """
    if sys.platform != "linux":
        return
    with suppress(AttributeError, OSError):  # musl has no such function
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_TRIM_THRESHOLD, KEPT_BYTES)
        mallopt(_MMAP_THRESHOLD, KEPT_BYTES // 2)
