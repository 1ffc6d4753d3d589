"""What a client that asked for progress is told, and when."""

import pytest
import trio
from trio.testing import MockClock

from bridge import limits
from bridge.calls.progress import open_progress

Notice = tuple[float, float | None, str | None]


class Notices:
    def __init__(self) -> None:
        self.sent: list[Notice] = []

    async def send(self, done: float, total: float | None, message: str | None) -> None:
        self.sent.append((done, total, message))


def report(done: float, total: float | None = None, message: str | None = None) -> dict:
    return {"done": done, "total": total, "message": message}


async def test_reports_go_out_as_they_are_while_they_rise():
    notices = Notices()

    async with open_progress(notices.send) as progress:
        assert progress is not None
        for done in (0, 1, 2.5):
            await progress.tell(report(done, 10, f"step {done}"))

    assert notices.sent == [(0, 10, "step 0"), (1, 10, "step 1"), (2.5, 10, "step 2.5")]


@pytest.mark.threat("P3")
async def test_what_is_hidden_in_a_message_of_progress_is_shown():
    notices = Notices()

    async with open_progress(notices.send) as progress:
        assert progress is not None
        await progress.tell(report(1, None, "<b>\x1b\u202e\U000e0041\ud800"))

    assert notices.sent == [(1, None, r"\u003cb\u003e\u001b\u202e\udb40\udc41\ud800")]


@pytest.mark.parametrize("values", [(5, 5, 5), (5, 4, -3), (1e300, 1e300, 0), (-5, -4, -4)])
async def test_values_that_do_not_rise_are_made_to(values: tuple[float, ...]):
    notices = Notices()

    async with open_progress(notices.send) as progress:
        assert progress is not None
        for done in values:
            await progress.tell(report(done, None, "at it"))

    sent = [done for done, _, _ in notices.sent]
    assert sent == sorted(set(sent))
    assert len(sent) == len(values)
    assert sent[0] == max(values[0], 0)


@pytest.mark.feature("calls.progress")
async def test_a_call_that_says_nothing_is_told_to_run_every_15_seconds(autojump_clock: MockClock):
    notices = Notices()

    async with open_progress(notices.send) as progress:
        assert progress is not None
        await trio.sleep(3.5 * limits.HEARTBEAT_SECONDS)
        await progress.tell(report(7))
        await trio.sleep(1.5 * limits.HEARTBEAT_SECONDS)
    await trio.sleep(10 * limits.HEARTBEAT_SECONDS)

    *_, before, _ = sent = [done for done, _, _ in notices.sent]
    assert len(sent) == 5
    assert before == 7
    assert sent == sorted(set(sent))


async def test_a_report_makes_the_next_word_of_ours_later(autojump_clock: MockClock):
    notices = Notices()

    async with open_progress(notices.send) as progress:
        assert progress is not None
        await trio.sleep(limits.HEARTBEAT_SECONDS - 1)
        await progress.tell(report(1))
        await trio.sleep(limits.HEARTBEAT_SECONDS - 1)
        assert len(notices.sent) == 1
        await trio.sleep(2)
        assert len(notices.sent) == 2
