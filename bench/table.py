"""Figures as a table: in columns for a terminal, and as Markdown for the docs."""

from collections.abc import Sequence

from bench.figures import SYSTEMS, Figure, Sample, number

HEAD = ("figure", "", "pagebridge", "raw", "peer", "against the bar", "")
MEANING = "Median and 90th percentile. raw: the same work in plain CDP. peer: chrome-devtools-mcp."


def rows_of(figures: Sequence[Figure]) -> list[tuple[str, ...]]:
    """One row for each check; a figure with several has its values in the first alone."""
    rows: list[tuple[str, ...]] = []
    for figure in figures:
        cells = [figure.title, figure.unit, *(_sample(figure.samples.get(system)) for system in SYSTEMS)]
        for check in figure.checks or (None,):
            verdict = ("", "") if check is None else _verdict(check.what, check.value, check.bar(), check.passes)
            rows.append((*cells, *verdict))
            cells = [""] * len(cells)
    return rows


def _sample(sample: Sample | None) -> str:
    if sample is None:
        return "-"
    return number(sample.median) if sample.runs == 1 else f"{number(sample.median)} … {number(sample.p90)}"


def _verdict(what: str, value: float, bar: str, passes: bool) -> tuple[str, str]:
    return f"{number(value)} {what} ({bar})", "ok" if passes else "MISSED"


def as_columns(figures: Sequence[Figure]) -> str:
    rows = [HEAD, *rows_of(figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([*lines, "", MEANING])


def as_markdown(figures: Sequence[Figure]) -> str:
    lines = [" | ".join(row) for row in (HEAD, ("---",) * len(HEAD), *rows_of(figures))]
    return "\n".join(f"| {line} |" for line in lines)
