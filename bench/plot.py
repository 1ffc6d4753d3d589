"""The figures as bars, in an SVG that reads well on light and on dark pages."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from bench.figures import SYSTEMS, Figure, number

NAMES: Final = {"ours": "pagebridge", "raw": "raw CDP", "peer": "chrome-devtools-mcp"}
WIDTH: Final = 760
LEFT: Final = 330
LONGEST: Final = 330
"""Of a bar: each figure has a scale of its own, on which its longest bar is this long."""
TOP: Final = 56
BAR: Final = 12
GAP: Final = 14

STYLE: Final = """
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .value { font-size: 11px; fill: #57606a }
  .ours { fill: #0969da } .raw { fill: #8c959f } .peer { fill: #bc4c00 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .value { fill: #9198a1 }
    .ours { fill: #4493f8 } .raw { fill: #6e7681 } .peer { fill: #db6d28 }
  }
"""


def plot(figures: Sequence[Figure]) -> str:
    """Those figures that more than one system has."""
    shown = [figure for figure in figures if len(figure.samples) > 1]
    heights = [BAR * len(figure.samples) + GAP for figure in shown]
    height = TOP + sum(heights)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img" aria-label="Medians of each figure; shorter is better">',
        f"<style>{STYLE}</style>",
        *_legend(),
    ]
    top = TOP
    for figure, step in zip(shown, heights, strict=True):
        parts += _bars(figure, top)
        top += step
    return "\n".join([*parts, "</svg>", ""])


def _legend() -> Iterator[str]:
    yield '<text x="8" y="22">Medians; shorter is better</text>'
    x = LEFT
    for system in SYSTEMS:
        yield f'<rect class="{system}" x="{x}" y="12" width="{BAR}" height="{BAR}"/>'
        yield f'<text x="{x + BAR + 6}" y="22">{NAMES[system]}</text>'
        x += 40 + 8 * len(NAMES[system])


def _bars(figure: Figure, top: int) -> Iterator[str]:
    systems = [system for system in SYSTEMS if system in figure.samples]
    longest = max(figure.samples[system].median for system in systems)
    middle = top + BAR * len(systems) / 2 + 4
    yield f'<text x="{LEFT - 10}" y="{middle:g}" text-anchor="end">{escape(figure.title.replace("`", ""))}</text>'
    for row, system in enumerate(systems):
        median = figure.samples[system].median
        length = max(1.0, max(median, 0) / longest * LONGEST)
        y = top + row * BAR
        yield f'<rect class="{system}" x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 2}"/>'
        yield f'<text class="value" x="{LEFT + length + 6:.1f}" y="{y + 9}">{number(median)} {figure.unit}</text>'
