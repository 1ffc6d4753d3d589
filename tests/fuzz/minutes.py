"""Try a property with one seed after the other until its time is over."""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import SystemRandom
from typing import Final, TypeVar, cast

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from bridge.serve import greeting

Example = TypeVar("Example")

MINUTES: Final = float(os.environ.get("MINUTES", "20"))
SEED: Final = os.environ.get("SEED")
"""The seed of a round that is to be tried again; that round alone is tried then."""

CPU_SECONDS: Final = 5.0
"""Of one example. More is a stall: what is waited for costs none."""


def fuzz(
    try_one: Callable[[Example], None], examples: SearchStrategy[Example], *, share: float, round_examples: int = 200
) -> None:
    """Args:
    share: of all the minutes that there are.
    """
    tried = 0

    def watched(example: Example) -> None:
        nonlocal tried
        tried += 1
        began = time.process_time()
        with no_bugs_logged():
            try_one(example)
        assert time.process_time() - began < CPU_SECONDS, "it stalls"

    began = time.monotonic()
    while True:
        number = int(SEED) if SEED else SystemRandom().getrandbits(32)
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
        if SEED or minutes >= share * MINUTES:
            break
    say(f"{tried} examples, {tried / minutes:.0f} a minute")


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
