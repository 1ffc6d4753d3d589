"""How often calls may come. The clock is ours: the tests say what time it is."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import cast

import pytest
import trio
from trio.testing import MockClock

from bridge import limits
from bridge.calls.order import Order
from bridge.calls.rate import Rate
from bridge.errors import Busy
from bridge.page.session import Page


def taken(rate: Rate, now: float, tries: int) -> int:
    return sum(rate.take(now) == 0 for _ in range(tries))


def test_so_many_come_at_once_and_no_more():
    rate = Rate(20, 40)

    assert taken(rate, 7.0, 40) == 40
    assert rate.take(7.0) == 0.05


def test_who_waits_as_long_as_told_gets_its_turn_and_the_next_waits_again():
    rate, now = Rate(20, 40), 1e6
    taken(rate, now, 40)
    for _ in range(1000):
        wait_seconds = rate.take(now)
        assert 0 < wait_seconds < 0.051
        now += wait_seconds
        assert rate.take(now) == 0


def test_the_rate_holds_however_long_it_is_tried():
    rate = Rate(20, 40)

    assert sum(taken(rate, step / 1000, 3) for step in range(10_000)) == pytest.approx(40 + 10 * 20, abs=1)


def test_being_refused_costs_nothing():
    rate = Rate(20, 40)
    taken(rate, 0.0, 10_000)

    assert taken(rate, 0.5, 100) == 10


def test_a_pause_earns_no_more_than_a_burst():
    rate = Rate(20, 40)
    taken(rate, 0.0, 40)

    assert taken(rate, 1000.0, 100) == 40


@dataclass(frozen=True)
class Called:
    handle: str


@pytest.mark.feature("calls.busy")
@pytest.mark.threat("C2")
async def test_calls_that_come_too_fast_are_busy_at_once_with_when_to_try_again(autojump_clock: MockClock):
    order = Order()
    page = cast("Page", Called("p1"))
    for _ in range(limits.CALLS_AT_ONCE):
        with order.enter(page):
            pass

    with pytest.raises(Busy) as caught, order.enter(page):
        pass

    told = caught.value.facts()
    assert told == {"retry_after_seconds": 0.05}
    assert "again in 0.05 s" in str(caught.value)
    assert not caught.value.dispatched
    await trio.sleep(told["retry_after_seconds"])
    with order.enter(page):
        pass


async def test_a_call_that_is_one_too_many_in_flight_does_not_count_as_one_that_came(autojump_clock: MockClock):
    order = Order()
    page, other = cast("Page", Called("p1")), cast("Page", Called("p2"))
    with ExitStack() as stack:
        for _ in range(limits.CALLS_PER_PAGE):
            stack.enter_context(order.enter(page))
        for _ in range(100):
            with pytest.raises(Busy, match="in flight"):
                stack.enter_context(order.enter(page))
    for _ in range(limits.CALLS_AT_ONCE - limits.CALLS_PER_PAGE):
        with order.enter(other):
            pass
    with pytest.raises(Busy, match="a second"), order.enter(other):
        pass
