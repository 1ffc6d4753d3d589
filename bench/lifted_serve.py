"""`pagebridge serve` with a result's inline limit, the number of calls in flight and their rate lifted, to measure
beyond them.

There is no option for any, and should be none: they protect an agent's context, and pages. The product's code runs as
it is, and looks at these numbers as ever; only the numbers are others.
"""

from typing import Final

from bridge import limits
from bridge.cli import main

LIFTED: Final = {
    "INLINE_BYTES": 1 << 30,
    "CALLS_PER_PAGE": 10_000,
    "CALLS": 10_000,
    "CALLS_PER_SECOND": 1e6,
    "CALLS_AT_ONCE": 1_000_000,
}


def lift() -> None:
    for name, value in LIFTED.items():
        assert hasattr(limits, name), name
        setattr(limits, name, value)


if __name__ == "__main__":
    lift()
    main(prog_name="pagebridge")
