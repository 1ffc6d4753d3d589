"""Work on schemas, with other tasks' turns in between: a page may send hundreds, and each may take 40 ms."""

from collections.abc import Callable, Iterable

import trio

from bridge import limits


async def in_turns(works: Iterable[tuple[int, Callable[[], object]]]) -> None:
    """Do these one after another, with a checkpoint where they would be too much at once.

    Args:
        works: each with the characters of the schema that it is about.
    """
    chars = 0
    for size, work in works:
        if chars and chars + size > limits.SCHEMA_CHARS_AT_ONCE:
            chars = 0
            await trio.lowlevel.checkpoint()
        chars += size
        work()
