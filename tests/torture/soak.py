"""Navigate and call for minutes, and see whether anything grows: `make soak`.

Usage: python -m tests.torture.soak [MINUTES]

Exits with 1 where something did: memory of the bridge by more than 5 MB after the first 1,000 navigations, memory of
the page's scripts by more than 1 MB, or the number of tasks, waiting commands or open files at all.
"""

import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from time import monotonic
from typing import Final

import trio
from trio.testing import wait_all_tasks_blocked

from bench.lifted_serve import lift
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge, open_bridge
from bridge.settings import LaunchOptions
from tests.browser.asking import call, page_of, read
from tests.sites import offering, tool
from tests.torture.ledger import descendants, tasks

WARM: Final = 1000
"""Navigations after which nothing may grow any more."""
GROWTH_MB: Final = 5.0
HEAP_GROWTH_MB: Final = 1.0

ADD: Final = tool(
    "add",
    "({a, b}) => a + b",
    "{type: 'object', properties: {a: {type: 'integer'}, b: {type: 'integer'}}, required: ['a', 'b']}",
)


@dataclass(frozen=True)
class Sample:
    """What there is at one moment."""

    seconds: float
    navigations: int
    bridge_mb: float
    page_heap_mb: float
    files: int
    tasks: int
    commands: int
    processes: int
    browser_mb: float

    def line(self) -> str:
        return " ".join(f"{value:>12.1f}" if isinstance(value, float) else f"{value:>12}" for value in astuple(self))

    def grown_since(self, warm: "Sample") -> list[str]:
        """What grew, in words."""
        found = [
            f"{name} grew from {getattr(warm, name)} to {getattr(self, name)}"
            for name in ("files", "tasks", "commands")
            if getattr(self, name) > getattr(warm, name)
        ]
        for name, bound in (("bridge_mb", GROWTH_MB), ("page_heap_mb", HEAP_GROWTH_MB)):
            if (growth := getattr(self, name) - getattr(warm, name)) > bound:
                found.append(f"{name} grew by {growth:.1f}, and {bound:g} are allowed")
        return found


HEAD: Final = " ".join(f"{field.name:>12}" for field in fields(Sample))


async def sample(bridge: Bridge, handle: str, navigations: int, seconds: float) -> Sample:
    page = await page_of(bridge, handle)
    await page._session.run(_command("HeapProfiler.collectGarbage"))
    heap = await page._session.run(_command("Runtime.getHeapUsage"))
    await wait_all_tasks_blocked(0.05)
    gc.collect()
    pages = await bridge.wait_pages()
    processes = descendants(os.getpid())
    return Sample(
        seconds,
        navigations,
        _resident_mb(os.getpid()),
        heap["usedSize"] / 1e6,
        len(os.listdir("/proc/self/fd")),
        tasks().total(),
        len(pages._browser.connection._pending),
        len(processes),
        sum(map(_resident_mb, processes)),
    )


def _command(method: str):
    return (yield {"method": method, "params": {}})


def _resident_mb(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return 0.0


async def soak(origin: str, minutes: float) -> list[str]:
    """Print a line a minute; return what grew."""
    warm: Sample | None = None
    lift()  # it calls as fast as it can
    async with open_bridge(LaunchOptions()) as bridge:
        agent = Agent(bridge)
        handle = read(await agent.open_page(f"{origin}/0.html"))["page"]
        begun = said = monotonic()
        print(HEAD, (await sample(bridge, handle, 0, 0)).line(), sep="\n", flush=True)
        number = 0
        while monotonic() < begun + minutes * 60 or number <= WARM:
            number += 1
            moved = await agent.navigate_page(handle, f"{origin}/{number % 2}.html", None)
            assert not moved.is_error, moved.text
            answer = await call(agent, handle, "add", {"a": number, "b": 1})
            assert answer.text == str(number + 1), answer.text
            if number == WARM or monotonic() >= said + 60:
                said = monotonic()
                now = await sample(bridge, handle, number, said - begun)
                warm = warm or (now if number >= WARM else None)
                print(now.line(), flush=True)
        last = await sample(bridge, handle, number, monotonic() - begun)
        print(last.line())
        assert warm is not None
        return last.grown_since(warm)


@contextmanager
def serve_pages() -> Generator[str]:
    """Two pages with a tool, served by a process of its own: its memory is not the bridge's."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(2):
            Path(folder, f"{number}.html").write_text(f"<!doctype html><title>{number}</title>{offering(ADD)}")
        words = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            assert server.stdout is not None
            # Serving HTTP on 127.0.0.1 port 12345 (…
            port = server.stdout.readline().partition(" port ")[2].split()[0]
            try:
                yield f"http://127.0.0.1:{port}"
            finally:
                server.kill()


def main() -> int:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    with serve_pages() as origin:
        grown = trio.run(soak, origin, minutes)
    for what in grown:
        print(what, file=sys.stderr)
    print("Something grew." if grown else "Nothing grew.")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
