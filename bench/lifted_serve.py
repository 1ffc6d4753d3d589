"""`pagebridge serve` with a result's inline limit and the number of calls in flight lifted, to measure beyond them.

There is no option for either, and should be none: they protect an agent's context, and pages. The product's code runs
as it is; only these numbers are others.
"""

from bridge import limits
from bridge.cli import main

for name, value in (("INLINE_BYTES", 1 << 30), ("CALLS_PER_PAGE", 10_000), ("CALLS", 10_000)):
    setattr(limits, name, value)

if __name__ == "__main__":
    main(prog_name="pagebridge")
