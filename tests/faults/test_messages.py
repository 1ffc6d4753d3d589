"""Messages that come not at all, twice, in another order, under a wrong number, or in a form that is no CDP."""

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from random import Random
from typing import Final

import pytest
from trio.testing import MockClock, wait_all_tasks_blocked

from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.wire.router import Json
from bridge.wire.transports import Transport
from tests.faults.bridges import open_bridge_over
from tests.faults.fake_chromium import FakeChromium
from tests.faults.fake_links import DirectTransport
from tests.faults.forms import SHORT_AND_FULL
from tests.faults.messages import SpoiltTransport
from tests.faults.session import check_well, codes, use, wait_found_again

Spoilt = Callable[[Json], Sequence[Json | bytes]]
"""What comes in a message's place."""

UNKNOWN: Final = {"method": "Foo.barHappened", "params": {"a": [1]}}
HARMLESS: Final[dict[str, Spoilt]] = {
    "comes twice": lambda message: [message, message],
    "comes behind one with an unknown id": lambda message: [{"id": 4711, "result": {}}, message],
    "comes behind unknown events": lambda message: [UNKNOWN, UNKNOWN | {"sessionId": "S?"}, message],
    "comes behind an error without an id": lambda message: [{"error": {"code": -32700, "message": "?"}}, message],
}
LOST: Final[dict[str, Spoilt]] = {
    "never comes": lambda _: [],
    "has another id": lambda message: [message | {"id": -1}],
    "refuses": lambda message: [{"id": message["id"], "error": {"code": -32000, "message": "Not allowed"}}],
    "refuses in an unknown form": lambda message: [message | {"error": ["no"]}],
    "is empty": lambda message: [{"id": message["id"]}],
}
NO_CDP: Final[dict[str, Spoilt]] = {
    "cut": lambda message: [as_bytes(message)[:-3]],
    "not UTF-8": lambda message: [as_bytes(message)[:-1] + b',"x":"\xff"}'],
    "not JSON": lambda _: [b"<html>"],
    "no object": lambda _: [b"[]"],
    "deep": lambda _: [b'{"a":' * 100_000],
}


def every(full: bool, total: int = 1000) -> range:
    """Numbers of messages of a session: all, or some."""
    return range(0, total, 1 if full else 9)


def as_bytes(message: Json) -> bytes:
    return json.dumps(message).encode()


class SpoilNth:
    """Spoils the `number`th reply, counted from 0: of the browser itself, or of a page but the second."""

    def __init__(self, number: int, spoilt: Spoilt, *, of_pages: bool) -> None:
        self._spoilt = spoilt
        self._of_pages = of_pages
        self.left = number
        """Below 0: it came."""
        self.chromium = FakeChromium()

    def __call__(self, _: str, message: Json) -> Sequence[Json | bytes]:
        if "id" not in message or ("sessionId" in message) != self._of_pages or self.chromium.is_of("T2", message):
            return [message]
        self.left -= 1
        return self._spoilt(message) if self.left == -1 else [message]


async def use_over(spoil: SpoilNth, *, well: bool = True, links: int = 1) -> list[Answer]:
    """Use a browser whose first link is spoilt; then its second page is well, over the last of so many links."""
    transports: list[DirectTransport] = []

    @asynccontextmanager
    async def open_transport() -> AsyncGenerator[Transport]:
        transports.append(DirectTransport(FakeChromium() if transports else spoil.chromium))
        yield SpoiltTransport(transports[-1], spoil) if len(transports) == 1 else transports[-1]

    async with open_bridge_over(open_transport) as bridge:
        agent = Agent(bridge)
        answers = await use(agent, lambda what: transports[-1].happen(what))
        if well:
            await wait_found_again(agent)
            await check_well(agent)
            assert len(transports) == links
    return answers


@pytest.mark.threat("L2")
@SHORT_AND_FULL
@pytest.mark.parametrize("what", HARMLESS)
async def test_nothing_is_lost_where_a_reply(autojump_clock: MockClock, what: str, full: bool):
    untouched = codes(await use_over(SpoilNth(-1, HARMLESS[what], of_pages=True)))

    for of_pages in (True, False):
        for number in every(full):
            spoil = SpoilNth(number, HARMLESS[what], of_pages=of_pages)
            assert codes(await use_over(spoil)) == untouched
            if spoil.left >= 0:
                break


@pytest.mark.threat("L2")
@SHORT_AND_FULL
@pytest.mark.parametrize("what", LOST)
async def test_no_more_than_one_page_is_lost_where_a_reply_of_it(autojump_clock: MockClock, what: str, full: bool):
    for number in every(full):
        spoil = SpoilNth(number, LOST[what], of_pages=True)
        await use_over(spoil)
        if spoil.left >= 0:
            break


@pytest.mark.threat("L2")
@pytest.mark.parametrize("what", LOST)
async def test_every_request_has_its_answer_in_time_where_a_reply_of_the_browser(autojump_clock: MockClock, what: str):
    for number in range(1000):
        spoil = SpoilNth(number, LOST[what], of_pages=False)
        await use_over(spoil, well=False)
        if spoil.left >= 0:
            break


@pytest.mark.parametrize("number", range(3))
async def test_a_browser_that_does_not_answer_the_first_words_is_given_up_and_looked_for_again(
    autojump_clock: MockClock, number: int
):
    answers = await use_over(SpoilNth(number, LOST["never comes"], of_pages=False), links=2)

    assert codes(answers)[0] == "browser_starting"


@pytest.mark.threat("L2")
@SHORT_AND_FULL
@pytest.mark.parametrize("what", NO_CDP)
async def test_the_browser_is_looked_for_again_after_a_message_that_is(
    autojump_clock: MockClock, what: str, full: bool
):
    for number in every(full, 50):
        answers = await use_over(SpoilNth(number, NO_CDP[what], of_pages=True), links=2)
        assert "browser_gone" in codes(answers)


class Shuffled(FakeChromium):
    """What a command of its first page brings comes in any order."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = Random(seed)

    def answer(self, command: Json) -> list[Json]:
        said = super().answer(command)
        if command.get("sessionId") not in (None, self.frames["T2"].session):
            self._random.shuffle(said)
        return said


@SHORT_AND_FULL
async def test_events_in_any_order_cost_no_more_than_their_page(autojump_clock: MockClock, full: bool):
    for seed in range(300 if full else 25):
        spoil = SpoilNth(-1, lambda message: [message], of_pages=True)
        spoil.chromium = Shuffled(seed)
        await use_over(spoil)


async def test_a_page_that_can_not_be_attached_says_why(autojump_clock: MockClock):
    def spoil(kind: str, message: Json) -> Sequence[Json]:
        refusal = {"id": message.get("id"), "error": {"code": -32000, "message": "Not allowed"}}
        return [refusal] if kind == "Page.enable reply" else [message]

    async with open_bridge_over(lambda: nullcontext(SpoiltTransport(DirectTransport(FakeChromium()), spoil))) as bridge:
        answer = await Agent(bridge).list_page_tools("p1", None, None)

    assert codes([answer]) == ["page_gone"]
    assert answer.text.startswith("Page p1 can't be followed: Page.enable failed: Not allowed.")


async def test_a_tab_that_never_shows_up_is_closed_again(autojump_clock: MockClock):
    chromium = FakeChromium()
    pages = set(chromium.frames)

    def hide(kind: str, message: Json) -> Sequence[Json]:
        known = message.get("params", {}).get("targetInfo", {}).get("targetId") in pages
        return [] if kind == "Target.attachedToTarget" and not known else [message]

    async with open_bridge_over(lambda: nullcontext(SpoiltTransport(DirectTransport(chromium), hide))) as bridge:
        answer = await Agent(bridge).open_page("https://shop.test/hidden")
        await wait_all_tasks_blocked()

    assert codes([answer]) == ["timed_out"]
    assert set(chromium.frames) == pages


async def test_an_event_that_can_not_be_read_is_told_of_once(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
):
    def spoil(kind: str, message: Json) -> Sequence[Json]:
        return [message | {"params": {}}] if kind == "Page.lifecycleEvent" else [message]

    async with open_bridge_over(lambda: nullcontext(SpoiltTransport(DirectTransport(FakeChromium()), spoil))) as bridge:
        await use(Agent(bridge))

    assert caplog.text.count("sends Page.lifecycleEvent in a form that cannot be read") == 1
