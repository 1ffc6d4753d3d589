"""Import much at once, while something else starts."""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

SWITCH_SECONDS: Final = 0.001
"""For how long one thread keeps the others waiting; five times as long is usual."""
GARBAGE: Final = (50_000, 20, 20)
"""A call makes some hundred objects, and with Python's own 700 each other call would wait for a look through them."""


@contextmanager
def importing() -> Generator[None]:
    """For a block that imports: nothing looks for garbage, as there is none, and other threads have their turn sooner.

    Modules live as long as the process, so they are never looked through again.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(*GARBAGE)
        sys.setswitchinterval(before)
