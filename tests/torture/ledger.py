"""What a cell leaves behind, counted."""

import os
import socket
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import trio
from trio.testing import wait_all_tasks_blocked

from bridge.calls.bridge import Bridge

QUIET_SECONDS = 10.0
"""Everything that ends has ended by then, on a busy machine too."""


@dataclass
class Ledger:
    """Figures of all cells of this run."""

    cells: int = 0
    calls: int = 0
    answers: int = 0
    hangs: list[str] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)
    slowest_end_seconds: float = 0.0

    def rows(self) -> list[tuple[str, int]]:
        lists = {"hangs": self.hangs, "leaks": self.leaks, "orphans": self.orphans}
        return [
            ("cells", self.cells),
            ("calls", self.calls),
            ("answers", self.answers),
            ("slowest end, ms", round(1000 * self.slowest_end_seconds)),
            *((name, len(found)) for name, found in lists.items()),
        ]


LEDGER = Ledger()


def tasks() -> Counter[str]:
    """Every task of this run, by name."""
    root = trio.lowlevel.current_root_task()
    assert root is not None
    found = [root]
    for task in found:
        found += [child for nursery in task.child_nurseries for child in nursery.child_tasks]
    return Counter(task.name for task in found)


@dataclass(frozen=True)
class Holdings:
    """What a bridge holds while nothing goes on."""

    tasks: Counter[str]
    commands: Counter[str]
    sessions: int
    pages: int

    @classmethod
    def of(cls, bridge: Bridge) -> "Holdings":
        assert bridge._pages is not None
        connection = bridge._pages._browser.connection
        return cls(
            tasks=tasks(),
            commands=Counter(pending._method for pending in connection._pending.values()),
            sessions=len(connection._handlers),
            pages=len(list(bridge._pages)),
        )

    def beyond(self, before: "Holdings") -> list[str]:
        """What was not there before, in words."""
        surplus = [f"task {name}" for name in (self.tasks - before.tasks).elements()]
        surplus += [f"waiter of {name}" for name in (self.commands - before.commands).elements()]
        surplus += ["session"] * (self.sessions - before.sessions)
        surplus += ["page"] * (self.pages - before.pages)
        return surplus


async def find_leaks(bridge: Bridge, before: Holdings) -> list[str]:
    """What the bridge holds more than before, once it has had time to let it go."""
    with trio.move_on_after(QUIET_SECONDS):
        while Holdings.of(bridge).beyond(before) or _kept_of_calls(bridge):
            await wait_all_tasks_blocked(0.01)
    return Holdings.of(bridge).beyond(before) + _kept_of_calls(bridge)


def _kept_of_calls(bridge: Bridge) -> list[str]:
    """What is kept for calls that were answered, and for pages that are gone."""
    assert bridge._pages is not None
    pages = list(bridge._pages)
    handles = {page.handle for page in pages}
    kept = [f"call in flight on {page.handle if page else 'no page'}" for page in bridge.order._in_flight]
    kept += [f"call held for a dialog of {page.handle}" for page, held in bridge._held.items() if held]
    kept += [f"tools of {handle}" for handle in bridge.registry.snapshot if handle not in handles]
    kept += [f"documents of {handle}" for handle in bridge.source._told if handle not in handles]
    return kept + [
        f"run in {page.handle}" for page in pages for document in page._documents.values() for _ in document.runs
    ]


def descriptors(ports_of_sites: Collection[int]) -> Counter[str]:
    """Open files of this process by kind, without the connections of the test's own sites."""
    found: Counter[str] = Counter()
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            name = os.readlink(entry)
            if name.startswith("socket:"):
                with socket.socket(fileno=os.dup(int(entry.name))) as one:
                    address = one.getsockname()
                if isinstance(address, tuple) and address[1] in ports_of_sites:
                    continue
            found[name.partition(":")[0] if ":" in name else name] += 1
    return found


async def find_descriptors(ports_of_sites: Collection[int], before: Counter[str]) -> list[str]:
    """Files that are open and were not before, once they have had time to be closed."""
    with trio.move_on_after(QUIET_SECONDS):
        while descriptors(ports_of_sites) - before:  # noqa: ASYNC110  # nobody tells
            await trio.sleep(0.01)
    return [f"open {name}" for name in (descriptors(ports_of_sites) - before).elements()]


def descendants(pid: int) -> set[int]:
    """All children of a process and theirs, as /proc has them now; those that have ended and are not reaped, too."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return set(found[1:])


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


async def find_orphans(pids: Collection[int]) -> list[str]:
    """Which of these run still, once they have had time to end."""
    with trio.move_on_after(QUIET_SECONDS):
        # Nothing tells of the end of a process that is not a child of ours.
        while any(is_running(pid) for pid in pids):  # noqa: ASYNC110
            await trio.sleep(0.01)
    return [f"{pid}: {command_of(pid)[:120]}" for pid in pids if is_running(pid)]


async def find_files(folder: Path) -> list[str]:
    """What is in there, once it has had time to go."""
    with trio.move_on_after(QUIET_SECONDS):
        while os.listdir(folder):  # noqa: ASYNC110  # no more does a file tell
            await trio.sleep(0.01)
    return [f"file {name}" for name in os.listdir(folder)]
