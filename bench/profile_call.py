"""Where the time goes: that of one call, and that of the start. Run as `make profile`."""

import json
import logging
import re
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from bench.raw import call_expression, open_raw
from bench.servers import SANDBOX_WORDS, Ours, start_ours
from bench.stdio_client import open_client
from bench.timing import no_gc, time_once
from bench.tool_pages import serve_tools
from tests.sites import serve_site

CALLS: Final = 300
WARM_UP: Final = 30
SLOWEST: Final = 15
SUM: Final = {"a": 1, "b": 2}

Notes = list[tuple[int, str]]


def main() -> None:
    logging.disable(logging.WARNING)
    profile_call()
    profile_start()


def profile_call() -> None:
    """Print the steps of one call, each with the median of its time, in the order in which they are taken."""
    with serve_site() as site, tempfile.TemporaryDirectory(prefix="bench-") as folder, open_raw() as browser:
        url = serve_tools(site, 9)
        raw = browser.open_page(url)
        trace = Path(folder) / "trace"
        with start_ours(module="bench.traced_serve", env={"TRACE": str(trace)}) as traced, start_ours() as untraced:
            for ours in (traced, untraced):
                ours.client.initialize()
                ours.open(url)
            calls = _time_calls(traced)
            whole = statistics.median(spent(begin, end) for begin, end in _time_calls(untraced))
            raws = [time_once(lambda: raw.evaluate(call_expression(0, SUM))) * 1000 for _ in range(CALLS)]
        notes: Notes = [tuple(json.loads(line)) for line in trace.read_text().splitlines()]
    traced_whole = statistics.median(spent(begin, end) for begin, end in calls)
    print(
        f"One call_page_tool, median of {len(calls)}, in µs (with the tracing {traced_whole:.0f}, without {whole:.0f};"
    )
    print(f"the same as raw Runtime.evaluate {statistics.median(raws):.0f}). `>` a step begins, `<` it ends.\n")
    print(f"{'at':>7} {'since':>7}  step")
    at = 0.0
    for step, since in timeline(calls, notes):
        at += since
        print(f"{at:7.0f} {since:7.0f}  {step}")


def _time_calls(ours: Ours) -> list[tuple[int, int]]:
    """Nanoseconds at which each call was sent and its answer had come."""
    times: list[tuple[int, int]] = []
    with no_gc():
        for number in range(WARM_UP + CALLS):
            begin = time.perf_counter_ns()
            ours.call("add", SUM)
            if number >= WARM_UP:
                times.append((begin, time.perf_counter_ns()))
    return times


def spent(begin: int, end: int) -> float:
    """In microseconds."""
    return (end - begin) / 1000


def timeline(calls: Sequence[tuple[int, int]], notes: Notes) -> Iterator[tuple[str, float]]:
    """The steps that most calls take, in the order of most, each with the median µs since the step before it."""
    runs: dict[tuple[str, ...], list[list[int]]] = defaultdict(list)
    for begin, end in calls:
        inside = [note for note in notes if begin < note[0] < end]
        steps = ("> the client sends", *(step for _, step in inside), "< the client has the answer")
        runs[steps].append([begin, *(at for at, _ in inside), end])
    steps, times = max(runs.items(), key=lambda item: len(item[1]))
    yield steps[0], 0.0
    for number in range(1, len(steps)):
        yield steps[number], statistics.median(spent(run[number - 1], run[number]) for run in times)


def profile_start() -> None:
    """Print what the import of modules takes until `initialize` is answered, the slowest first."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        stderr = Path(folder) / "stderr"
        words = [sys.executable, "-X", "importtime", "-m", "bridge", "serve"]
        with stderr.open("wb") as file:
            start = time.perf_counter_ns()
            with open_client([*words, *SANDBOX_WORDS], stderr=file) as client:
                client.initialize()
                answered = spent(start, time.perf_counter_ns()) / 1000
                # Chromium is up, or not: what is imported for pages is imported by then.
                size = stderr.stat().st_size
        imports = list(read_imports(stderr.read_bytes()[:size].decode()))
    print(f"\n`initialize` was answered {answered:.0f} ms after the start, with the times of imports being taken.")
    print(f"{len(imports)} modules were imported by then, in {sum(own for own, _, _ in imports) / 1000:.0f} ms.")
    by_package: dict[str, int] = defaultdict(int)
    for own, _, name in imports:
        by_package[name.strip().partition(".")[0]] += own
    print(f"\n{'own ms':>8}  package, the {SLOWEST} slowest")
    for name, own in sorted(by_package.items(), key=lambda item: -item[1])[:SLOWEST]:
        print(f"{own / 1000:8.1f}  {name}")
    print(f"\n{'with all':>8} {'own ms':>8}  module, the {SLOWEST} slowest with all that they import")
    for own, whole, name in sorted(imports, key=lambda item: -item[1])[:SLOWEST]:
        print(f"{whole / 1000:8.1f} {own / 1000:8.1f}  {name.strip()}")
    print(f"\n{'own ms':>8}  module, the {SLOWEST} slowest by themselves")
    for own, _, name in sorted(imports, key=lambda item: -item[0])[:SLOWEST]:
        print(f"{own / 1000:8.1f}  {name.strip()}")


def read_imports(text: str) -> Iterator[tuple[int, int, str]]:
    """What `-X importtime` tells of each module: its own µs, those with all that it imports, and its name."""
    for found in re.finditer(r"^import time:\s+(\d+) \|\s+(\d+) \|(.*)$", text, re.MULTILINE):
        yield int(found[1]), int(found[2]), found[3]


if __name__ == "__main__":
    main()
