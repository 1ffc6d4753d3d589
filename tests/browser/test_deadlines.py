"""A call ends in time, whatever its tool and its page do, and leaves the page healthy or says what is wrong."""

import os
import signal
import threading
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from pathlib import Path

import pytest
import trio

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.bridge import Bridge, open_bridge
from bridge.settings import AttachOptions
from bridge.wire.commands import runtime
from tests.browser.asking import call, code, facts, list_tools, open_page, page_of, read, run_script
from tests.browser.conftest import OpenHostile
from tests.browsers import run_chromium
from tests.sites import Site, offering, tool

SPIN = "while (true) {}"
PING = tool("ping", "() => 'pong'")
SECONDS = 0.3


@pytest.mark.feature("calls.deadline")
@pytest.mark.threat("P11", "P12", "P13")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("never settles", "may be at it still"),
        ("waits for ever", "may be at it still"),
        ("spins", "ended by force"),
        ("spins after a wait", "ended by force"),
        ("spins in a timer", "ended by force"),
        ("resolves to itself", "ended by force"),
        ("spins in a getter", "ended by force"),
        ("spins in a trap", "ended by force"),
        ("spins in toJSON", "ended by force"),
        ("spins in what it throws", "ended by force"),
        ("spins when it is told to stop", "before you call"),
    ],
)
async def test_a_tool_that_does_not_end_is_ended_in_time_and_its_page_works_on(
    agent: Agent, hostile: OpenHostile, name: str, words: str
):
    page = await hostile("hangs")
    await list_tools(agent, page)

    with trio.fail_after(SECONDS + 5):
        answer = await call(agent, page, name, seconds=SECONDS)

    assert facts(answer) == ("timed_out", "unknown", True)
    assert words in answer.text
    with trio.fail_after(5):
        assert (await call(agent, page, "ping")).text == "pong"


@pytest.mark.feature("calls.signal")
async def test_a_tool_that_heeds_its_signal_is_told_why_and_says_its_last_word(agent: Agent, site: Site):
    heeds = "(input, {signal}) => new Promise((done, fail) => { signal.onabort = () => fail(signal.reason) })"
    saves = "(input, {signal}) => new Promise(done => { signal.onabort = () => done('half of it') })"
    page = await open_page(agent, site.page("/heeds", offering(tool("heeds", heeds), tool("saves", saves))))

    stopped = await call(agent, page, "heeds", seconds=SECONDS)
    saved = await call(agent, page, "saves", seconds=SECONDS)

    assert facts(stopped) == ("timed_out", "unknown", True)
    assert "TimeoutError: The time for this call is over." in stopped.text
    assert (saved.is_error, saved.text) == (False, "half of it")


@pytest.mark.parametrize("hang", ["() => new Promise(() => {})", f"async () => {{ await null; {SPIN} }}"])
async def test_a_cancelled_call_is_stopped_and_the_next_one_waits_for_that(
    agent: Agent, bridge: Bridge, site: Site, hang: str
):
    told = (
        "(input, {signal}) => { signal.onabort = () => { globalThis.why = signal.reason.name }; return ("
        + hang
        + ")() }"
    )
    page = await open_page(
        agent, site.page("/cancelled", offering(tool("hang", told), tool("why", "() => globalThis.why"), PING))
    )
    await list_tools(agent, page)

    with trio.move_on_after(SECONDS):
        await call(agent, page, "hang")

    with trio.fail_after(2):
        assert (await call(agent, page, "why")).text == "AbortError"


async def test_a_call_frees_a_page_that_a_script_of_its_own_holds(agent: Agent, bridge: Bridge, site: Site):
    page = await open_page(agent, site.page("/busy", offering(PING)))
    await list_tools(agent, page)
    holds = f"setTimeout(() => {{ fetch('/holds'); {SPIN} }})"
    (await page_of(bridge, page))._session.send_nowait(runtime.evaluate(holds))
    await site.wait_asked("/holds", 1)

    with trio.fail_after(SECONDS + 5):
        answer = await call(agent, page, "ping", seconds=SECONDS)

    # The tool could run when its time was over, and before it was let go; or not.
    assert answer.text == "pong" or "ended by force" in answer.text
    assert (await call(agent, page, "ping", seconds=5)).text == "pong"


@pytest.mark.threat("P12")
@pytest.mark.usefixtures("hostile")
async def test_a_page_that_holds_itself_again_and_again_costs_each_call_no_more_than_its_time(agent: Agent, site: Site):
    again = tool("again", f"() => {{ setInterval(() => {{ {SPIN} }}); return 1 }}")
    page = await open_page(agent, site.page("/again", offering(again, PING)))
    other = await open_page(agent, site.page("/else", offering(PING)))
    await call(agent, page, "again")

    for _ in range(3):
        with trio.fail_after(SECONDS + 5):
            await call(agent, page, "ping", seconds=SECONDS)
        assert (await call(agent, other, "ping")).text == "pong"
    with trio.fail_after(5):
        assert not (await agent.close_page(page)).is_error


@pytest.mark.threat("P12")
async def test_a_request_without_an_answer_holds_its_page_which_is_said_until_it_is_answered(
    agent: Agent, bridge: Bridge, site: Site, hostile: OpenHostile
):
    site.gates["/never"] = gate = threading.Event()
    page = await hostile("waits_for_server")
    await list_tools(agent, page)

    with trio.fail_after(SECONDS + 5):
        answer = await call(agent, page, "asks", seconds=SECONDS)
    with trio.fail_after(5):
        again = await call(agent, page, "ping")
        listing = await agent.list_page_tools(page, None, None)
    state = await state_of(agent, page)
    gate.set()
    await (await page_of(bridge, page))._session.run(runtime.evaluate("1"))

    assert facts(answer) == ("timed_out", "unknown", True)
    assert "close_page" in answer.text
    assert facts(again) == ("timed_out", "rejected", False)
    assert code(listing) == "timed_out"
    assert state == "stuck"
    assert await state_of(agent, page) == "ready"
    assert (await call(agent, page, "ping")).text == "pong"


class Renderers:
    """The renderer processes of a browser of its own."""

    def __init__(self, agent: Agent, browser: int) -> None:
        self.agent = agent
        self._browser = browser

    def send(self, number: int) -> None:
        parents, todo = children(), [self._browser]
        for parent in todo:
            todo += parents.get(parent, [])
        for process in todo:
            with suppress(OSError):  # one that has ended meanwhile
                if b"--type=renderer" in Path(f"/proc/{process}/cmdline").read_bytes():
                    os.kill(process, number)


def children() -> dict[int, list[int]]:
    """Every process's children."""
    found: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            found.setdefault(parent, []).append(int(status.parent.name))
    return found


@pytest.fixture
async def renderers() -> AsyncIterator[Renderers]:
    with run_chromium() as browser:
        async with open_bridge(AttachOptions(where=browser.websocket)) as bridge:
            yield Renderers(Agent(bridge), browser.process.pid)


@pytest.mark.feature("calls.lost")
@pytest.mark.threat("L5")
async def test_a_renderer_that_is_killed_ends_the_call_at_once(renderers: Renderers, site: Site):
    agent = renderers.agent
    hangs = tool("hangs", "() => { fetch('/hangs'); return new Promise(() => {}) }")
    page = await open_page(agent, site.page("/killed", offering(hangs, PING)))
    await list_tools(agent, page)
    answers: list[Answer] = []

    async def keep() -> None:
        answers.append(await call(agent, page, "hangs"))

    with trio.fail_after(10):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep)
            await site.wait_asked("/hangs", 1)
            renderers.send(signal.SIGKILL)

    assert facts(answers[0]) == ("page_crashed", "unknown", True)
    assert await state_of(agent, page) == "crashed"
    assert facts(await call(agent, page, "ping")) == ("page_crashed", "rejected", False)
    await agent.navigate_page(page, None, "reload")
    assert (await call(agent, page, "ping")).text == "pong"


@pytest.mark.feature("calls.stuck")
@pytest.mark.threat("L5")
async def test_a_renderer_that_is_stopped_is_told_as_such_until_it_goes_on(renderers: Renderers, site: Site):
    agent = renderers.agent
    page = await open_page(agent, site.page("/stopped", offering(PING)))
    await list_tools(agent, page)

    renderers.send(signal.SIGSTOP)
    try:
        with trio.fail_after(SECONDS + 5):
            answer = await call(agent, page, "ping", seconds=SECONDS)
        state = await state_of(agent, page)
    finally:
        renderers.send(signal.SIGCONT)

    assert facts(answer) == ("timed_out", "unknown", True)
    assert state == "stuck"
    # Its replies come in the order of our commands.
    await (await page_of(agent.bridge, page))._session.run(runtime.evaluate("1"))
    assert await state_of(agent, page) == "ready"
    assert (await call(agent, page, "ping")).text == "pong"


@pytest.mark.feature("calls.stuck")
@pytest.mark.threat("P12")
async def test_a_page_that_hangs_holds_up_no_other(agent: Agent, site: Site):
    hanging = await open_page(agent, site.page("/hanging", offering(tool("hang", f"() => {{ {SPIN} }}"))))
    other = await open_page(agent, site.elsewhere().page("/brisk", offering(PING)))
    await list_tools(agent, other)
    pongs = 0

    async with trio.open_nursery() as nursery:
        nursery.start_soon(call, agent, hanging, "hang", None)
        await trio.testing.wait_all_tasks_blocked(0.02)
        with trio.fail_after(limits.CALL_SECONDS / 2):
            for _ in range(20):
                pongs += (await call(agent, other, "ping")).text == "pong"
        nursery.cancel_scope.cancel()

    assert pongs == 20


WAITS = ("a call", "a call whose turn has not come", "a listing", "a reload", "a page that opens")


@pytest.mark.threat("L5")
async def test_a_browser_that_is_killed_ends_all_that_waits_at_once_and_is_named(site: Site):
    site.gates["/gated"] = site.gates["/image"] = gate = threading.Event()
    answers: dict[str, tuple[Answer, float]] = {}
    hang = tool("hang", "() => { fetch('/hangs-now'); return new Promise(() => {}) }")
    never = "event => { fetch('/asked-now'); event.respondWith(new Promise(() => {})) }"
    slow = f"<script>addEventListener('devtoolstooldiscovery', {never})</script>"

    async def keep(name: str, operation: Awaitable[Answer]) -> None:
        answers[name] = (await operation, trio.current_time())

    with run_chromium() as browser:
        async with open_bridge(AttachOptions(where=browser.websocket)) as bridge:
            agent = Agent(bridge)
            page = await open_page(agent, site.page("/held", offering(hang)))
            reloads = await open_page(agent, site.page("/reloads", offering(PING)))
            listed = await open_page(agent, site.page("/listed", slow))
            await list_tools(agent, page)
            await run_script(await page_of(bridge, reloads), "history.pushState(0, '', '/gated')")
            hangs = site.asked["/hangs-now"]
            with trio.fail_after(20):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(keep, WAITS[0], call(agent, page, "hang"))
                    await site.wait_asked("/hangs-now", hangs + 1)
                    nursery.start_soon(keep, WAITS[1], call(agent, page, "hang"))
                    nursery.start_soon(keep, WAITS[3], agent.navigate_page(reloads, None, "reload"))
                    await site.wait_asked("/gated", 1)
                    opens = site.page("/opens", "<img src='/image'>" + offering(PING))
                    nursery.start_soon(keep, WAITS[4], agent.open_page(opens))
                    await site.wait_asked("/image", 1)
                    asked = site.asked["/asked-now"]
                    nursery.start_soon(keep, WAITS[2], agent.list_page_tools(listed, None, None))
                    await site.wait_asked("/asked-now", asked + 1)
                    killed = trio.current_time()
                    browser.process.kill()
    gate.set()

    assert {name: code(answer) for name, (answer, _) in answers.items()} == dict.fromkeys(WAITS, "browser_gone")
    assert max(at - killed for _, at in answers.values()) < 5, "each has 30 s"
    assert facts(answers["a call"][0]) == ("browser_gone", "unknown", True)
    assert facts(answers["a call whose turn has not come"][0]) == ("browser_gone", "rejected", False)


async def state_of(agent: Agent, handle: str) -> str:
    return next(page["state"] for page in read(await agent.list_pages())["pages"] if page["page"] == handle)
