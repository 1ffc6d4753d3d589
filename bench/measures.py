"""How each figure is measured. Each measure asks all systems for the same work by turns, in one run."""

import json
import time
import timeit
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Final

import trio

from bench.figures import Check, Figure, compared, sample_of
from bench.process_costs import cpu_seconds, resident_kb
from bench.raw import RawPage, call_expression, open_raw
from bench.registry_delay import DelayBridge, open_delay_bridge
from bench.servers import PEER, SANDBOX_WORDS, Ours, Peer, start_ours, start_peer
from bench.timing import Work, no_gc, time_by_turns, time_once
from bench.tool_pages import TYPICAL_ARGUMENTS, TYPICAL_SCHEMA, serve_tools
from bridge.calls.arguments import check_arguments
from bridge.settings import LaunchOptions
from bridge.tools.schema import check_schema
from tests.sites import Site

ADD, TEXT = 0, 1
"""Where these tools are in the page."""
SUM: Final = {"a": 1, "b": 2}
_numbers: Final = count(1)
LIFTED: Final = "bench.lifted_serve"
MB: Final = 1_000_000
FLAT: Final = 1.3


def another_sum() -> dict[str, int]:
    """Other numbers each time, as in any work: who calls the same again and again is told so beside the answer."""
    return {"a": next(_numbers) % 10_000, "b": 2}


@dataclass(frozen=True)
class Effort:
    """How much is done for a figure: all of it, or what fits into 90 seconds."""

    starts: int
    turns: int
    loads: int
    large: int
    bursts: int
    pages: tuple[int, ...]
    idle_seconds: float


FULL: Final = Effort(starts=10, turns=40, loads=30, large=10, bursts=7, pages=(1, 10, 100), idle_seconds=60)
QUICK: Final = Effort(starts=4, turns=15, loads=10, large=4, bursts=3, pages=(1, 10), idle_seconds=10)
IDLE_PAGES: Final = 20
TOOLS: Final = 9
IN_A_ROW: Final = 5


class Bench:
    """What the measures share."""

    def __init__(self, site: Site, effort: Effort) -> None:
        self.site = site
        self.effort = effort
        self.has_peer = PEER.exists()
        self.url = serve_tools(site, TOOLS)

    def measures(self) -> Iterator[Callable[[], list[Figure]]]:
        yield self.measure_start
        yield self.measure_calls
        yield self.measure_websocket
        yield self.measure_registry
        yield self.measure_in_flight
        yield self.measure_pages
        yield self.measure_idle
        yield self.measure_arguments

    # Start

    def measure_start(self) -> list[Figure]:
        """Each run starts both anew. The page is given to pagebridge with its start, to the peer as its first call:
        that has no option for it."""
        answered: dict[str, list[float]] = defaultdict(list)
        called: dict[str, list[float]] = defaultdict(list)
        memory: dict[str, list[float]] = defaultdict(list)
        starts: dict[str, Callable[[], tuple[float, float, float]]] = {"ours": self._start_ours}
        if self.has_peer:
            starts["peer"] = self._start_peer
        for run in range(self.effort.starts + 1):
            for name, start in starts.items():
                times = start()
                if run == 0:
                    continue  # the files of both are in memory from now on
                answered[name].append(times[0])
                called[name].append(times[1])
                memory[name].append(times[2])
            if run > 0:
                called["raw"].append(self._start_raw())
        return [
            compared("initialize", "`initialize` answered after the start", answered, bars={"peer": 0.5}),
            compared("first_result", "start → first result of a page tool", called, bars={"peer": 0.6}),
            compared("memory", "memory after the start, with one page", memory, unit="MB", bars={"peer": 0.5}),
        ]

    def _start_ours(self) -> tuple[float, float, float]:
        start = time.perf_counter_ns()
        with start_ours("--open", self.url) as ours:
            ours.client.initialize()
            answered = time.perf_counter_ns()
            ours.find_first()
            _check_sum(ours.call("add", SUM))
            called = time.perf_counter_ns()
            ours.client.settle()
            memory = resident_kb(ours.client.pid) / 1024
        return (answered - start) / 1e6, (called - start) / 1e6, memory

    def _start_peer(self) -> tuple[float, float, float]:
        start = time.perf_counter_ns()
        with start_peer() as peer:
            peer.client.initialize()
            answered = time.perf_counter_ns()
            peer.open(self.url)
            _check_sum(peer.call("add", SUM))
            called = time.perf_counter_ns()
            peer.client.settle()
            memory = resident_kb(peer.client.pid) / 1024
        return (answered - start) / 1e6, (called - start) / 1e6, memory

    def _start_raw(self) -> float:
        start = time.perf_counter_ns()
        with open_raw() as raw:
            raw.open_page(self.url).evaluate(call_expression(ADD, SUM))
            return (time.perf_counter_ns() - start) / 1e6

    # One request after the other

    def measure_calls(self) -> list[Figure]:
        effort = self.effort
        with ExitStack() as stack:
            ours, raw, peer = self._open_all(stack)
            adds = _works(ours, raw, peer, lambda one: one.call("add", another_sum()), call_expression(ADD, SUM))
            listings: dict[str, Work] = {"ours": ours.list_tools, "raw": raw.list_tools}
            if peer is not None:
                listings["peer"] = peer.list_tools
            figures = [
                compared(
                    "call",
                    "`call_page_tool` add(1, 2), over the pipe",
                    time_by_turns(adds, turns=effort.turns, in_a_row=IN_A_ROW, warm_up=20),
                    bars={"raw": 2.0, "peer": 0.25},
                ),
                compared(
                    "listing",
                    f"`list_page_tools`, {TOOLS} tools, asked afresh",
                    time_by_turns(listings, turns=effort.turns, in_a_row=IN_A_ROW, warm_up=20),
                    bars={"peer": 0.5},
                ),
            ]
            for size, name in ((MB, "1 MB"), (10 * MB, "10 MB")):
                given = {"size": size}
                texts = _works(ours, raw, peer, partial(_call_text, size=size), call_expression(TEXT, given))
                times = time_by_turns(texts, turns=effort.large, warm_up=2)
                title = f"a result of {name}"
                bars = {"raw": 1.3, "peer": 0.9}
                figures.append(compared(f"result_{name.replace(' ', '_')}", title, times, bars=bars))
            return figures

    def _open_all(self, stack: ExitStack) -> tuple[Ours, RawPage, Peer | None]:
        ours = stack.enter_context(start_ours(module=LIFTED))
        raw = stack.enter_context(open_raw()).open_page(self.url)
        peer = stack.enter_context(start_peer()) if self.has_peer else None
        for server in (ours, peer):
            if server is not None:
                server.client.initialize()
                server.open(self.url)
                _check_sum(server.call("add", SUM))
        return ours, raw, peer

    def measure_websocket(self) -> list[Figure]:
        with start_ours("--debug-port=0", module=LIFTED) as ours, open_raw(over_websocket=True) as browser:
            raw = browser.open_page(self.url)
            ours.client.initialize()
            ours.open(self.url)
            adds = _works(ours, raw, None, lambda one: one.call("add", another_sum()), call_expression(ADD, SUM))
            times = time_by_turns(adds, turns=self.effort.turns, in_a_row=IN_A_ROW, warm_up=20)
        return [compared("call_websocket", "`call_page_tool` add(1, 2), over the websocket", times, bars={"raw": 2.0})]

    # What a page offers

    def measure_registry(self) -> list[Figure]:
        with open_raw() as browser:
            return [
                self._measure_delay(browser.open_page(serve_tools(self.site, tools)), tools, limit)
                for tools, limit in ((9, 5.0), (200, 20.0))
            ]

    def _measure_delay(self, raw: RawPage, tools: int, limit_ms: float) -> Figure:
        url = serve_tools(self.site, tools)
        times: dict[str, list[float]] = {"ours": [], "raw": []}

        async def measure() -> None:
            async with open_delay_bridge(LaunchOptions(no_sandbox=bool(SANDBOX_WORDS))) as bridge:
                await _warm_up(bridge, url, tools)
                for _ in range(self.effort.loads):
                    times["ours"].append(await bridge.measure(url, tools))
                    times["raw"].append(raw.go(url))

        raw.go(url)
        with no_gc():
            trio.run(measure)
        more = sample_of(times["ours"]).median - sample_of(times["raw"]).median
        check = Check("ms more than raw", more, limit_ms, is_ratio=False)
        title = f"`load` event → {tools} tools in the registry"
        return compared(f"registry_{tools}", title, times, bars={}, checks=[check])

    # Many at once

    def measure_in_flight(self) -> list[Figure]:
        calls, pages = 1000, 10
        times: dict[str, list[float]] = {"ours": [], "raw": []}
        with start_ours(module=LIFTED) as ours, open_raw() as browser:
            ours.client.initialize()
            raw = [browser.open_page(self.url) for _ in range(pages)]
            handles: list[str] = []
            for _ in range(pages):
                ours.open(self.url)
                handles.append(ours.page)
            for run in range(self.effort.bursts + 1):
                words = [
                    {"page": handles[number % pages], "tool": "add", "arguments": another_sum()}
                    for number in range(calls)
                ]
                requests = [ours.client.encode_call("call_page_tool", word) for word in words]
                commands = [raw[number % pages].encode_evaluate(call_expression(ADD, SUM)) for number in range(calls)]
                for name, work in (
                    ("ours", partial(ours.client.call_at_once, requests)),
                    ("raw", partial(browser.run_at_once, commands)),
                ):
                    spent = time_once(work)
                    if run > 0:
                        times[name].append(spent)
        throughput = sample_of(times["raw"]).median / sample_of(times["ours"]).median
        check = Check("throughput ÷ raw", throughput, 0.5, at_least=True)
        return [compared("in_flight", f"{calls:,} calls in flight over {pages} pages", times, bars={}, checks=[check])]

    def measure_pages(self) -> list[Figure]:
        """A bridge for each number of pages, so that what many pages take of the machine hits all alike."""
        url = serve_tools(self.site, 20)
        with ExitStack() as stack:
            bridges = {pages: stack.enter_context(start_ours(module=LIFTED)) for pages in self.effort.pages}
            for pages, ours in bridges.items():
                _open_pages(ours, url, pages)
                ours.client.settle()
            works: dict[str, Work] = {str(pages): partial(_add, ours) for pages, ours in bridges.items()}
            times = time_by_turns(works, turns=self.effort.turns, in_a_row=IN_A_ROW, warm_up=20)
            memory = {pages: resident_kb(ours.client.pid) for pages, ours in bridges.items()}
        return list(_page_figures({int(pages): values for pages, values in times.items()}, memory))

    def measure_idle(self) -> list[Figure]:
        seconds = self.effort.idle_seconds
        with start_ours() as ours:
            _open_pages(ours, serve_tools(self.site, 20), IDLE_PAGES)
            ours.client.settle()
            time.sleep(1)  # what the last page's loading left to do is over
            before = cpu_seconds(ours.client.pid)
            time.sleep(seconds)
            percent = (cpu_seconds(ours.client.pid) - before) / seconds * 100
        title = f"CPU while idle with {IDLE_PAGES} pages, over {seconds:g} s"
        check = Check("% of a core", percent, 0.5, is_ratio=False)
        return [compared("idle", title, {"ours": [percent]}, unit="%", bars={}, checks=[check])]

    # Inside

    def measure_arguments(self) -> list[Figure]:
        schema = check_schema(TYPICAL_SCHEMA)
        check_arguments(schema, TYPICAL_ARGUMENTS, tool="findOrders")
        number = 200
        work = partial(check_arguments, schema, TYPICAL_ARGUMENTS, tool="findOrders")
        times = [seconds / number * 1000 for seconds in timeit.repeat(work, number=number, repeat=20)]
        check = Check("ms", sample_of(times).median, 0.2, is_ratio=False)
        title = "check of arguments by a typical schema"
        return [compared("arguments", title, {"ours": times}, bars={}, checks=[check])]


def _works(
    ours: Ours, raw: RawPage, peer: Peer | None, ask: Callable[[Ours | Peer], object], expression: str
) -> dict[str, Work]:
    works: dict[str, Work] = {"ours": partial(ask, ours), "raw": partial(raw.evaluate, expression)}
    if peer is not None:
        works["peer"] = partial(ask, peer)
    return works


def _call_text(server: Ours | Peer, *, size: int) -> None:
    text = server.call("text", {"size": size})
    assert size <= len(text) <= size + 2, "the result was cut"  # the peer quotes it


def _open_pages(ours: Ours, url: str, count: int) -> None:
    ours.client.initialize()
    for _ in range(count):
        ours.open(url)


def _check_sum(text: str) -> None:
    assert json.loads(text) == 3, text


async def _warm_up(bridge: DelayBridge, url: str, tools: int) -> None:
    for _ in range(3):
        await bridge.measure(url, tools)


def _page_figures(calls: dict[int, list[float]], memory: dict[int, float]) -> Iterator[Figure]:
    few, *more = sorted(calls)
    base = sample_of(calls[few]).median
    for pages, times in sorted(calls.items()):
        checks = [Check(f"÷ with {few} page", sample_of(times).median / base, FLAT)] if pages != few else []
        title = f"one call, with {pages} page{'' if pages == 1 else 's'} of 20 tools"
        yield compared(f"call_at_{pages}", title, {"ours": times}, bars={}, checks=checks)
    most = more[-1]
    a_page = (memory[most] - memory[few]) / (most - few)
    yield compared(
        "page_memory",
        f"memory a page of 20 tools, of {most}",
        {"ours": [a_page]},
        unit="KB",
        bars={},
        checks=[Check("KB", a_page, 200, is_ratio=False)],
    )


def _add(ours: Ours) -> object:
    return ours.call("add", another_sum())
