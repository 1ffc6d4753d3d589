"""Try a property with one seed after the other until its time is over."""

import faulthandler
import gc
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from random import SystemRandom
from typing import Final, TypeVar, cast

import trio
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from bridge.serve import greeting

Example = TypeVar("Example")

MINUTES: Final = float(os.environ.get("MINUTES", "20"))
SEED: Final = int(os.environ.get("SEED") or SystemRandom().getrandbits(32))
"""Of the first round; each round counts one on. With MINUTES=0 one round is all."""

STALL_SECONDS: Final = 0.2
"""CPU time. A task that holds the others up for longer is a stall."""
HANG_SECONDS: Final = 120.0
"""For one example. Then the run ends, and says where it hung."""


class Steps(trio.abc.Instrument):
    """Keeps the longest step of a task: in that time no other one had a turn."""

    def __init__(self) -> None:
        self.longest_seconds = 0.0
        self._task = ""
        self._began = 0.0

    def __str__(self) -> str:
        return f"the longest step took {self.longest_seconds:.3f} s, in {self._task}"

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._began = time.thread_time()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        seconds = time.thread_time() - self._began
        if seconds > self.longest_seconds:
            self.longest_seconds, self._task = seconds, task.name


Try = Callable[[Example, Steps], None]
"""Tries one example in a run of Trio with that instrument."""


def fuzz(try_one: Try[Example], examples: SearchStrategy[Example], *, share: float, round_examples: int = 200) -> None:
    """Args:
    share: of all the minutes that there are.
    """
    tried, longest = 0, Steps()

    def watched(example: Example) -> None:
        nonlocal tried, longest
        tried += 1
        steps = Steps()
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        gc.disable()  # hypothesis and pytest have so many objects that a collection is a stall by itself
        try:
            with no_bugs_logged():
                try_one(example, steps)
        finally:
            gc.enable()
            faulthandler.cancel_dump_traceback_later()
        longest = max(longest, steps, key=lambda each: each.longest_seconds)
        assert steps.longest_seconds < STALL_SECONDS, str(steps)

    began = time.monotonic()
    for number in count(SEED):
        say(f"seed {number}")
        seed(number)(
            settings(
                max_examples=round_examples,
                deadline=None,
                database=None,
                phases=[Phase.generate, Phase.shrink],
                suppress_health_check=cast("list[HealthCheck]", [*HealthCheck]),
                print_blob=False,
            )(given(examples)(watched))
        )()
        minutes = (time.monotonic() - began) / 60
        if minutes >= share * MINUTES:
            say(f"{tried} examples, {tried / minutes:.0f} a minute; {longest}")
            return


def say(words: str) -> None:
    """Past pytest, at once."""
    print(f"[{os.environ['PYTEST_CURRENT_TEST'].partition(' ')[0]}] {words}", file=sys.__stderr__, flush=True)


class _Bugs(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR or record.name == greeting.__name__:
            self.said.append(logging.Formatter().format(record))


@contextmanager
def no_bugs_logged() -> Iterator[None]:
    """Errors in the log of this process are bugs of ours, as what comes from outside is a warning at most; and so is it
    where the greeter answers otherwise than the SDK."""
    bugs = _Bugs()
    logging.getLogger().addHandler(bugs)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(bugs)
    assert not bugs.said, bugs.said[0]
