"""What was measured, and whether it is good enough: values and the bars that they are held against. No I/O."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

System = Literal["ours", "raw", "peer"]
SYSTEMS: Final[tuple[System, ...]] = ("ours", "raw", "peer")

WORSE: Final = 1.3
"""A ratio is clearly worse than the recorded one beyond this factor. Two runs of the same code on a quiet machine of
two cores differ by up to a tenth in the ratio of two medians, and the quick form, which has fewer runs, by up to a
fifth; what makes a call a third slower is a change."""


@dataclass(frozen=True)
class Sample:
    """How often the same work was measured, and what that gave: the median, and what nine in ten stay below."""

    median: float
    p90: float
    runs: int


def sample_of(values: Sequence[float]) -> Sample:
    ordered = sorted(values)
    return Sample(statistics.median(ordered), ordered[math.ceil(0.9 * len(ordered)) - 1], len(ordered))


@dataclass(frozen=True)
class Check:
    """One value that a bar is set for.

    Attributes:
        what: what the value is, such as `÷ raw`.
        limit: the bar. A value may be it, and may not be above it; below it where `at_least`.
        is_ratio: it is the same on every machine, so it is also held against the recorded one.
    """

    what: str
    value: float
    limit: float
    at_least: bool = False
    is_ratio: bool = True

    @property
    def passes(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def is_worse_than(self, recorded: float) -> bool:
        """Clearly worse than another value of the same check."""
        if not self.is_ratio:
            return False
        return self.value * WORSE < recorded if self.at_least else self.value > recorded * WORSE

    def bar(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}"


@dataclass(frozen=True)
class Figure:
    """One row.

    Attributes:
        samples: of each system that was measured, all in `unit`.
    """

    name: str
    title: str
    unit: str
    samples: Mapping[str, Sample]
    checks: tuple[Check, ...] = field(default=())

    def ratio(self, system: str) -> float | None:
        """Ours in parts of another system's, None where that was not measured."""
        other = self.samples.get(system)
        return None if other is None else self.samples["ours"].median / other.median


def compared(
    name: str,
    title: str,
    times: Mapping[str, Sequence[float]],
    *,
    unit: str = "ms",
    bars: Mapping[str, float],
    checks: Sequence[Check] = (),
) -> Figure:
    """A figure whose bars are parts of what other systems take; one that was not measured sets none."""
    figure = Figure(name, title, unit, {system: sample_of(values) for system, values in times.items() if values})
    parts = [
        Check(f"÷ {system}", ratio, limit)
        for system, limit in bars.items()
        if (ratio := figure.ratio(system)) is not None
    ]
    return Figure(name, title, unit, figure.samples, (*parts, *checks))


def faults(figures: Sequence[Figure], recorded: Mapping[str, Any]) -> list[str]:
    """A sentence for each bar that is missed, and for each ratio that is clearly worse than the recorded one.

    Args:
        recorded: the figures of `results.json`.
    """
    found: list[str] = []
    for figure in figures:
        for check in figure.checks:
            if not check.passes:
                found.append(f"{figure.title}: {check.what} is {number(check.value)}, the bar is {check.bar()}.")
            before = recorded.get(figure.name, {}).get("checks", {}).get(check.what)
            if before is not None and check.is_worse_than(before):
                found.append(
                    f"{figure.title}: {check.what} is {number(check.value)}, and {number(before)} is recorded; "
                    f"more than {WORSE:g} times worse."
                )
    return found


def record(figures: Sequence[Figure]) -> dict[str, Any]:
    """The figures as `results.json` has them: the checks are what counts, the samples are for information."""
    return {
        figure.name: {
            "title": figure.title,
            "unit": figure.unit,
            "checks": {check.what: rounded(check.value) for check in figure.checks},
            "bars": {check.what: check.bar() for check in figure.checks},
            "samples": {
                system: {"median": rounded(sample.median), "p90": rounded(sample.p90), "runs": sample.runs}
                for system, sample in figure.samples.items()
            },
        }
        for figure in figures
    }


def rounded(value: float) -> float:
    """Three digits that say something."""
    return float(f"{value:.3g}")


def number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
