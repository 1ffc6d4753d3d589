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
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.measures import another_sum
from bench.raw import call_expression, open_raw
from bench.servers import SANDBOX_WORDS, Ours, start_ours
from bench.stdio_client import open_client
from bench.timing import no_gc, time_once
from bench.tool_pages import serve_tools
from bench.traced_serve import WAITS
from tests.sites import serve_site

CALLS: Final = 300
WARM_UP: Final = 30
STARTS: Final = 3
SLOWEST: Final = 15
SUM: Final = {"a": 1, "b": 2}
SHORT_WAIT_NS: Final = 20_000
"""A shorter one is the loop's look for more to do, and no step of its own."""

PHASES: Final = (
    ("the request is read from stdin and parsed", "< call read"),
    ("its task begins", "> tool of ours"),
    ("its words are checked, as arguments of `call_page_tool`", "< arguments of call_page_tool"),
    ("page and tool are found", "> arguments of the tool"),
    ("the tool's arguments are checked", "< arguments of the tool"),
    ("the command is made and written", "< CDP command written"),
    ("Chromium runs the tool and answers", f"< {WAITS}"),
    ("the answer is read from the pipe and parsed", "< CDP message read"),
    ("the call's task hears of it", "< run waited for"),
    ("the result is made", "< tool of ours"),
    ("it is made JSON", "< answer as JSON"),
    ("it is written, and the client reads it", "< the client has the answer"),
)
"""What goes on, until the last such step of a call; of FIRST, until the first."""

FIRST: Final = (f"< {WAITS}", "< CDP command written")

Notes = list[tuple[int, str]]
Import = tuple[int, int, str]
Steps = list[tuple[str, float]]
"""Each with the µs since the step before it."""


@dataclass(frozen=True)
class CallProfile:
    """Medians in µs of one `call_page_tool`.

    Attributes:
        steps: from a server that takes notes; they cost a few µs themselves.
        traced: the whole call there.
        untraced: the whole call without that.
        raw: the same as plain Runtime.evaluate.
    """

    steps: Steps
    traced: float
    untraced: float
    raw: float


def main() -> None:
    logging.disable(logging.WARNING)
    profile = profile_call()
    print(f"One call_page_tool, median of {CALLS}, in µs: {profile.traced:.0f} with notes being taken,")
    print(f"{profile.untraced:.0f} without, {profile.raw:.0f} as raw Runtime.evaluate.\n")
    for title, part in phases_of(profile.steps):
        print(f"{part:7.0f}  {title}")
    print(f"\n{'at':>7} {'since':>7}  `>` a step begins, `<` it ends")
    at = 0.0
    for step, since in profile.steps:
        at += since
        print(f"{at:7.0f} {since:7.0f}  {step}")
    profile_start("`initialize`", asks=False)
    profile_start("`list_pages`, which waits for the browser,", asks=True)


def profile_call() -> CallProfile:
    """Take the times of one call's steps."""
    with serve_site() as site, tempfile.TemporaryDirectory(prefix="bench-") as folder, open_raw() as browser:
        url = serve_tools(site, 9)
        raw = browser.open_page(url)
        trace = Path(folder) / "trace"
        with (
            start_ours(module="bench.traced_serve", env={"TRACE": str(trace)}) as traced,
            start_ours(module="bench.lifted_serve") as untraced,
        ):
            for ours in (traced, untraced):
                ours.client.initialize()
                ours.open(url)
            calls = _time_calls(traced)
            whole = _median(_time_calls(untraced))
            raws = [time_once(lambda: raw.evaluate(call_expression(0, SUM))) * 1000 for _ in range(CALLS)]
        notes: Notes = [tuple(json.loads(line)) for line in trace.read_text().splitlines()]
    return CallProfile(steps_of(calls, notes), _median(calls), whole, statistics.median(raws))


def _time_calls(ours: Ours) -> list[tuple[int, int]]:
    """Nanoseconds at which each call was sent and its answer had come."""
    times: list[tuple[int, int]] = []
    with no_gc():
        for number in range(WARM_UP + CALLS):
            begin = time.perf_counter_ns()
            ours.call("add", another_sum())
            if number >= WARM_UP:
                times.append((begin, time.perf_counter_ns()))
    return times


def _median(calls: Sequence[tuple[int, int]]) -> float:
    return statistics.median(end - begin for begin, end in calls) / 1000


def steps_of(calls: Sequence[tuple[int, int]], notes: Notes) -> Steps:
    """The steps that most calls take, in the order of most, with medians."""
    runs: dict[tuple[str, ...], list[list[int]]] = defaultdict(list)
    for begin, end in calls:
        inside = without_short_waits([note for note in notes if begin < note[0] < end])
        names = ("> the client sends", *(step for _, step in inside), "< the client has the answer")
        runs[names].append([begin, *(at for at, _ in inside), end])
    names, times = max(runs.items(), key=lambda item: len(item[1]))
    since = [
        statistics.median(run[number] - run[number - 1] for run in times) / 1000 for number in range(1, len(names))
    ]
    return [(names[0], 0.0), *zip(names[1:], since, strict=True)]


def without_short_waits(notes: Notes) -> Notes:
    kept: Notes = []
    for at, step in notes:
        if step == f"< {WAITS}" and kept and kept[-1][1] == f"> {WAITS}" and at - kept[-1][0] < SHORT_WAIT_NS:
            kept.pop()
        else:
            kept.append((at, step))
    return kept


def phases_of(steps: Steps) -> Iterator[tuple[str, float]]:
    """The µs of each phase; one whose last step is not there any more counts to the next."""
    rest = steps
    for title, last in PHASES:
        # Of commands and of waits the first is meant: others may follow, of what else goes on.
        places = [number for number, (step, _) in enumerate(rest) if step == last]
        if places:
            place = places[0] if last in FIRST else places[-1]
            yield title, sum(since for _, since in rest[: place + 1])
            rest = rest[place + 1 :]


def profile_start(what: str, *, asks: bool) -> None:
    """Print what the import of modules takes until the first answer, the slowest first.

    Args:
        asks: until the first answer of a tool, and not that of `initialize`.
    """
    answered_ms, imports = min((_start_once(asks=asks) for _ in range(STARTS)), key=lambda start: start[0])
    print(f"\n{what} was answered {answered_ms:.0f} ms after the start, with the times of imports being taken.")
    print(f"{len(imports)} modules were imported by then, in {sum(own for own, _, _ in imports) / 1000:.0f} ms.")
    by_package: dict[str, int] = defaultdict(int)
    for own, _, name in imports:
        by_package[name.partition(".")[0]] += own
    print(f"\n{'own ms':>8}  package, the {SLOWEST} slowest")
    for name, own in sorted(by_package.items(), key=lambda item: -item[1])[:SLOWEST]:
        print(f"{own / 1000:8.1f}  {name}")
    print(f"\n{'with all':>8} {'own ms':>8}  module, the {SLOWEST} slowest with all that they import")
    for own, whole, name in sorted(imports, key=lambda item: -item[1])[:SLOWEST]:
        print(f"{whole / 1000:8.1f} {own / 1000:8.1f}  {name}")
    print(f"\n{'own ms':>8}  module, the {SLOWEST} slowest by themselves")
    for own, _, name in sorted(imports, key=lambda item: -item[0])[:SLOWEST]:
        print(f"{own / 1000:8.1f}  {name}")


def _start_once(*, asks: bool) -> tuple[float, list[Import]]:
    """Milliseconds until the answer, and what was imported by then."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        stderr = Path(folder) / "stderr"
        words = [sys.executable, "-X", "importtime", "-m", "bridge", "serve", *SANDBOX_WORDS]
        with stderr.open("wb") as file:
            start = time.perf_counter_ns()
            with open_client(words, stderr=file) as client:
                client.initialize()
                if asks:
                    client.call("list_pages", {})
                answered_ms = (time.perf_counter_ns() - start) / 1e6
                size = stderr.stat().st_size
        return answered_ms, list(read_imports(stderr.read_bytes()[:size].decode()))


def read_imports(text: str) -> Iterator[Import]:
    """What `-X importtime` tells of each module: its own µs, those with all that it imports, and its name."""
    for found in re.finditer(r"^import time:\s+(\d+) \|\s+(\d+) \|\s*(.*)$", text, re.MULTILINE):
        yield int(found[1]), int(found[2]), found[3]


if __name__ == "__main__":
    main()
