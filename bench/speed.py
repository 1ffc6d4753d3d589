"""How fast pagebridge is, beside plain CDP and beside chrome-devtools-mcp, on one machine in one run.

Run as `make bench`, which records the figures, or as `make bench-quick`, which compares with them.
"""

import argparse
import json
import logging
import platform
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from bench.figures import Figure, faults, record
from bench.measures import FULL, QUICK, Bench
from bench.plot import plot
from bench.profile_call import CALLS, CallProfile, phases_of, profile_call
from bench.servers import PEER
from bench.table import MEANING, as_columns, as_markdown
from bridge.browser.executable import find_browser
from tests.sites import serve_site

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = ROOT / "bench/results.json"
PLOT: Final = ROOT / "docs/performance.svg"
PAGE: Final = ROOT / "docs/performance.md"


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--quick", action="store_true", help="fewer runs; record nothing, compare with what is recorded")
    words.add_argument("--only", default="", help="only measures whose name has this in it; record nothing")
    given = words.parse_args()
    # That the browser runs without its sandbox was said by whoever runs this as root.
    logging.disable(logging.WARNING)
    figures = measure(quick=given.quick, only=given.only)
    print(f"\n{as_columns(figures)}\n")
    recorded = json.loads(RESULTS.read_text(encoding="utf-8"))["figures"] if RESULTS.exists() else {}
    found = faults(figures, recorded)
    if not given.quick and not given.only:
        if PEER.exists():
            write(figures)
        else:
            print("Nothing is recorded without chrome-devtools-mcp.", file=sys.stderr)
    if found:
        raise SystemExit("\n".join(found))


def measure(*, quick: bool, only: str) -> list[Figure]:
    figures: list[Figure] = []
    with serve_site() as site:
        bench = Bench(site, QUICK if quick else FULL)
        if not bench.has_peer:
            print("chrome-devtools-mcp is not installed, so nothing is compared with it.", file=sys.stderr)
        for one in bench.measures():
            if only in one.__name__:
                start = time.monotonic()
                figures += one()
                name = one.__name__.replace("_", " ")
                print(f"{name}: done in {time.monotonic() - start:.0f} s", file=sys.stderr)
    return figures


def write(figures: Sequence[Figure]) -> None:
    """Record the figures: for the next comparison, as a plot, and in the docs."""
    told = {"versions": versions(), "figures": record(figures)}
    RESULTS.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    PLOT.write_text(plot(figures), encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    page = between_marks(page, "figures", figures_text(figures))
    page = between_marks(page, "one call", call_text(profile_call()))
    PAGE.write_text(page, encoding="utf-8")
    print(f"Wrote {', '.join(str(path.relative_to(ROOT)) for path in (RESULTS, PLOT, PAGE))}.")


def figures_text(figures: Sequence[Figure]) -> str:
    told = ", ".join(f"{name} {value}" for name, value in versions().items())
    return f"{as_markdown(figures)}\n\n{MEANING} {told}."


def call_text(profile: CallProfile) -> str:
    lines = [f"| {title} | {part:.0f} |" for title, part in phases_of(profile.steps)]
    return "\n".join(
        [
            "| what goes on | µs |",
            "| --- | ---: |",
            *lines,
            "",
            f"Medians of {CALLS} calls. A whole call takes {profile.untraced:.0f} µs, or {profile.traced:.0f} µs where "
            f"its steps are noted; the same as raw `Runtime.evaluate` takes {profile.raw:.0f} µs.",
        ]
    )


def between_marks(page: str, name: str, text: str) -> str:
    """The page with what is between the marks of that name replaced."""
    begin, end = f"<!-- {name}: made by `make bench` -->", f"<!-- end of {name} -->"
    before, found, rest = page.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise SystemExit(f"docs/performance.md must have the lines {begin!r} and {end!r}.")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def versions() -> dict[str, Any]:
    told = subprocess.run([find_browser(), "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"[\d.]+\d", told)
    peer = json.loads((PEER.parents[3] / "package.json").read_text())["version"] if PEER.exists() else "not measured"
    return {
        "pagebridge": version("pagebridge"),
        "chrome-devtools-mcp": peer,
        "Chromium": found[0] if found else told.strip(),
        "Python": platform.python_version(),
    }


if __name__ == "__main__":
    main()
