"""Time work that is done by turns, so that whatever else the machine does hits all alike."""

import gc
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Final

Work = Callable[[], object]

WARM_UP: Final = 5


def time_by_turns(
    works: Mapping[str, Work], *, turns: int, in_a_row: int = 1, warm_up: int = WARM_UP
) -> dict[str, list[float]]:
    """Milliseconds of each work, A B A B …

    Args:
        in_a_row: how often a work is done in one turn. What is done once a turn pays for caches that the others filled.
    """
    times: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        for _ in range(warm_up):
            work()
    with no_gc():
        for _ in range(turns):
            for name, work in works.items():
                for _ in range(in_a_row):
                    times[name].append(time_once(work))
    return times


def time_once(work: Work) -> float:
    """In milliseconds."""
    start = time.perf_counter_ns()
    work()
    return (time.perf_counter_ns() - start) / 1e6


@contextmanager
def no_gc() -> Generator[None]:
    """This process, which measures, does not stop to tidy up."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
