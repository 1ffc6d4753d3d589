"""One cell of the matrix: a fault that strikes while a call is in a state.

A state is forced: the page or the test holds the call there until the fault has struck.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from bridge import limits
from bridge.calls.answers import Answer
from bridge.calls.order import Order
from bridge.page.session import Page
from bridge.settings import AttachOptions, LaunchOptions, PageSettings
from bridge.tools.sources.page import PageCall
from bridge.wire.router import Json, RawEvent, Reply, Router, SessionId
from tests.browser.asking import facts
from tests.e2e.client import RawClient, open_raw
from tests.sites import Site
from tests.torture.faults import COMPLETED, Fate, Fault, reload
from tests.torture.ledger import (
    LEDGER,
    Holdings,
    descendants,
    descriptors,
    find_descriptors,
    find_files,
    find_leaks,
    find_orphans,
    tasks,
)
from tests.torture.scene import OWN, STALL_SECONDS, Browsers, Scene, open_scene, open_way

CELL_SECONDS: Final = 45
"""A cell that takes longer hangs."""
PATIENT_SECONDS: Final = 20
DELAY_SECONDS: Final = 0.05
"""A seed strikes up to so much later."""

Sites = tuple[Site, Site]
"""The victim's and the healthy page's."""


@dataclass(frozen=True)
class Cell:
    """One of the matrix.

    Attributes:
        seed: 0 strikes at once, another some moments later.
        stall_seconds: what a call gets where the fault is a stall.
    """

    fault: Fault
    state: str
    seed: int = 0
    stall_seconds: float = STALL_SECONDS

    def __str__(self) -> str:
        return f"{self.fault.name} in {self.state}"

    @property
    def call_seconds(self) -> float:
        return self.stall_seconds if self.fault.is_stall else PATIENT_SECONDS

    @property
    def fate(self) -> Fate:
        return getattr(self.fault.fates, self.state)

    async def strike(self, scene: Scene) -> None:
        """Make it happen, and return when the bridge has heard of it, where it can."""
        pages = await scene.pages()
        page = await scene.page()
        step = page.step
        if self.seed:
            await trio.sleep(Random(self.seed).uniform(0, DELAY_SECONDS))
        await self.fault.strike(scene)
        if self.fault.link_ends:
            await pages._browser.connection.wait_lost()
        elif self.fault.takes_step:
            await page.wait_step(step)


# The states


async def idle(scene: Scene, cell: Cell) -> Fate:
    """Nothing goes on; the call comes afterwards."""
    await cell.strike(scene)
    await scene.pages()
    return expect(await scene.call(timeout_seconds=cell.call_seconds), cell.fate)


async def discovering(scene: Scene, cell: Cell) -> Fate:
    """The page has promised an answer, and a listing and a call wait for it."""
    answers: dict[str, Answer] = {}
    await scene.run_in_victim("holding = true")
    asked = scene.site.asked["/discovering"]

    async def keep(name: str, ask: Awaitable[Answer]) -> None:
        answers[name] = await ask

    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep, "listing", scene.list())
        await scene.site.wait_asked("/discovering", asked + 1)
        # What is not known of a page is asked.
        scene.bridge.registry.withdraw(scene.victim)
        nursery.start_soon(keep, "call", scene.call(timeout_seconds=cell.call_seconds))
        await wait_all_tasks_blocked()
        await cell.strike(scene)
        if cell.fate == COMPLETED == cell.fault.fates.stale:
            await scene.run_in_victim("let_go()")
    expect(answers["listing"], cell.fault.fates.listing)
    if cell.fault.comes_back and not answers["call"].is_error:
        # It was decided over the document that is back, and not over the one that was there in between.
        return COMPLETED
    return expect(answers["call"], cell.fate)


async def validating(scene: Scene, cell: Cell) -> Fate:
    """The tool is chosen and the arguments are checked; nothing was sent."""
    order = scene.bridge.order

    class Late(Order):
        async def start(self, page: Page, start: Callable[[], PageCall]) -> PageCall:
            scene.bridge.order = order
            await cell.strike(scene)
            return await order.start(page, start)

    scene.bridge.order = Late()
    return expect(await scene.call(timeout_seconds=cell.call_seconds), cell.fate)


async def calling(scene: Scene, cell: Cell) -> Fate:
    """The tool runs, and waits."""
    answers: list[Answer] = []
    ran = scene.site.asked["/ran"]

    async def keep() -> None:
        answers.append(await scene.call({"wait": True}, timeout_seconds=cell.call_seconds))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep)
        await scene.site.wait_asked("/ran", ran + 1)
        await cell.strike(scene)
        if cell.fate == COMPLETED:
            await scene.run_in_victim("let_go()")
    [answer] = answers
    return expect(answer, cell.fate)


State = Callable[[Scene, Cell], Awaitable[Fate]]
STATES: Final[dict[str, State]] = {state.__name__: state for state in (idle, discovering, validating, calling)}


def expect(answer: Answer, fate: Fate) -> Fate:
    if fate == COMPLETED:
        assert not answer.is_error, answer.text
    else:
        assert facts(answer) == fate, answer.text
    return fate


# A cell from its beginning to its end


async def play(cell: Cell, browsers: Browsers, sites: Sites, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one process; a call that fails otherwise than it should, and whatever is left behind, fails the test."""
    monkeypatch.setattr(limits, "RECONNECT_SECONDS_MAX", 0.4)
    if cell.fault.is_stall:
        monkeypatch.setattr(limits, "CALL_SECONDS", 2 * cell.stall_seconds)
    # The page itself says when it has an answer.
    monkeypatch.setattr(limits, "DISCOVERY_SECONDS", 4 * PATIENT_SECONDS)
    if cell.fault.link in browsers.restartable:
        await trio.to_thread.run_sync(browsers.restartable[cell.fault.link].running)
    handles = Handles(monkeypatch)
    with counted(cell), open_folders(monkeypatch, everything=cell.fault.link in OWN) as (temporary, folder):
        with trio.fail_after(CELL_SECONDS + 3 * cell.stall_seconds):
            leaks, orphans = await _play(cell, browsers, sites, temporary, folder)
        report(cell, leaks + handles.find_leaks(), orphans)


async def _play(
    cell: Cell, browsers: Browsers, sites: Sites, temporary: Path, folder: Path
) -> tuple[list[str], list[str]]:
    """Return what it left behind, and which processes."""
    fault = cell.fault
    ports = {int(site.origin.rpartition(":")[2]) for site in sites}
    files, tasks_before = descriptors(ports), tasks()
    started: set[int] = set()
    async with open_scene(fault.link, browsers, sites, PageSettings(frames=fault.frames), folder) as scene:
        before = Holdings.of(scene.bridge)
        await scene.open_victim(fault.html(scene))
        if fault.prepare is not None:
            await fault.prepare(scene)
        started |= scene.processes()
        ran = scene.site.asked["/ran"]
        try:
            fate = await STATES[cell.state](scene, cell)
            if fault.spares_others:
                assert await scene.ping() == "pong", "the healthy page, while the other one is not"
        finally:
            if fault.mend is not None:
                await fault.mend(scene)
        if fault.fates.stale == COMPLETED:
            await scene.run_in_victim("let_go()")
        check_runs(fate, scene.site.asked["/ran"] - ran)

        await scene.find_healthy()
        await scene.list()
        expect(await scene.call(toolset=scene.toolset), fault.fates.stale)
        assert await scene.ping() == "pong"
        started |= scene.processes()

        await scene.close_victim()
        leaks = await find_leaks(scene.bridge, before)
    leaks += [f"task {name}" for name in (tasks() - tasks_before).elements()]
    leaks += await find_files(temporary)
    leaks += await find_descriptors(ports, files)
    return leaks, await find_orphans(started)


def check_runs(fate: Fate, runs: int) -> None:
    """What was rejected did not run, what completed ran once, and nothing ran twice."""
    assert runs <= 1
    if fate[1] != "unknown":
        assert runs == (fate == COMPLETED), f"answered {fate[1]}, and ran {runs} times"


async def play_end(cell: Cell, browsers: Browsers, sites: Sites, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over real stdio: stdin is closed while a call runs, and then it happens."""
    with counted(cell), open_folders(monkeypatch, everything=False) as (temporary, folder):
        async with open_way(cell.fault.link, browsers, sites, folder) as (scene, options):
            words = [*words_of(options), "--frames", cell.fault.frames]
            with trio.fail_after(CELL_SECONDS):
                async with open_raw(*words, env={"TMPDIR": str(temporary)}) as client:
                    request = await start_call(scene, cell, client)
                    started = descendants(client.process.pid)
                    await end_under_fault(scene, cell, client, request)
                leaks, orphans = await find_files(temporary), await find_orphans(started)
                await scene.close_leftovers()
        report(cell, leaks, orphans)


async def start_call(scene: Scene, cell: Cell, client: RawClient) -> int:
    """A call of the victim's tool that waits there."""
    await client.initialize()
    url = scene.site.page(f"/victim{scene.number}", cell.fault.html(scene))
    opened = await client.result(await client.call("open_page", url=url))
    assert not opened["isError"], opened
    if scene.beside is not None:
        [scene.target_id] = await scene.beside.find_targets(url)
    if cell.fault.prepare is not None:
        await cell.fault.prepare(scene)
    ran = scene.site.asked["/ran"]
    page = json.loads(opened["content"][0]["text"])["page"]
    request = await client.call("call_page_tool", page=page, tool="work", arguments={"wait": True})
    await scene.site.wait_asked("/ran", ran + 1)
    return request


async def end_under_fault(scene: Scene, cell: Cell, client: RawClient, request: int) -> None:
    await client.close_stdin()
    closed = trio.current_time()
    if cell.seed:
        await trio.sleep(Random(cell.seed).uniform(0, 2 * limits.LAST_ANSWERS_SECONDS))
    try:
        if not scene.is_browser_over:  # one who has ended in time has nothing left to be struck
            await cell.fault.strike(scene)
        assert await client.process.wait() == 0
    finally:
        if cell.fault.mend is not None and cell.fault.mend is not reload:
            await cell.fault.mend(scene)
    LEDGER.slowest_end_seconds = max(LEDGER.slowest_end_seconds, trio.current_time() - closed)
    LEDGER.calls += 1
    answers = await client.rest()
    LEDGER.answers += len(answers)
    assert [answer["id"] for answer in answers] == [request]
    structured = answers[0].get("result", {}).get("structuredContent")
    assert structured is None or structured["outcome"] == "unknown"
    assert b"Traceback" not in client.errors


def words_of(options: AttachOptions | LaunchOptions) -> list[str]:
    """The same on the command line."""
    if isinstance(options, AttachOptions):
        return ["--attach", options.where]
    browser = [] if options.browser_path is None else ["--browser", str(options.browser_path)]
    return [*browser, "--no-sandbox"]


# Figures


@contextmanager
def counted(cell: Cell) -> Generator[None]:
    LEDGER.cells += 1
    try:
        yield
    except trio.TooSlowError:
        LEDGER.hangs.append(str(cell))
        raise


def report(cell: Cell, leaks: list[str], orphans: list[str]) -> None:
    LEDGER.leaks += (f"{cell}: {leak}" for leak in leaks)
    LEDGER.orphans += (f"{cell}: {orphan}" for orphan in orphans)
    assert (leaks, orphans) == ([], [])


@contextmanager
def open_folders(monkeypatch: pytest.MonkeyPatch, *, everything: bool) -> Generator[tuple[Path, Path]]:
    """Where the bridge puts what it makes, and where the test does. Chromium wants short paths.

    Args:
        everything: what its browser makes goes there, too.
    """
    with tempfile.TemporaryDirectory(prefix="m") as temporary, tempfile.TemporaryDirectory(prefix="m") as folder:
        monkeypatch.setattr(tempfile, "tempdir", temporary)
        if everything:
            monkeypatch.setenv("TMPDIR", temporary)
        yield Path(temporary), Path(folder)


class Handles:
    """Handles of objects in pages that commands gave and nobody has released, by session."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._held: Counter[str | None] = Counter()
        decode, encode = Router.decode, Router.encode

        def decode_and_count(router: Router, message: bytes | bytearray | str) -> Reply | RawEvent:
            text = message if isinstance(message, str) else message.decode(errors="replace")
            if "objectId" in text:
                answer = json.loads(text)
                self._held[answer.get("sessionId")] += "id" in answer
            return decode(router, message)

        def encode_and_count(router: Router, method: str, params: Json, session_id: SessionId | None):
            if method == "Runtime.releaseObjectGroup":
                self._held[session_id] = 0
            return encode(router, method, params, session_id)

        monkeypatch.setattr(Router, "decode", decode_and_count)
        monkeypatch.setattr(Router, "encode", encode_and_count)

    def find_leaks(self) -> list[str]:
        return ["handle of an object"] * self._held.total()
