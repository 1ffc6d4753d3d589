"""A browser that was started before anybody could speak with it."""

import os
from pathlib import Path

import pytest
import trio

from bridge.browser.ahead import _ahead, start_ahead, take_ahead
from bridge.browser.browser import open_browser
from bridge.browser.process import open_process
from bridge.settings import AttachOptions, LaunchOptions

OPTIONS = LaunchOptions(no_sandbox=os.geteuid() == 0)


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_who_launches_it_gets_the_one_that_runs_already():
    with start_ahead(OPTIONS):
        [ahead] = _ahead
        async with open_process(OPTIONS) as process:
            assert process.pid == ahead.process.pid
            assert take_ahead(OPTIONS) is None
        async with open_browser(OPTIONS) as browser:
            assert browser.product
    assert not is_there(process.pid)
    assert not ahead.profile.folder.exists()


async def test_one_with_other_options_is_started_anew():
    other = LaunchOptions(no_sandbox=OPTIONS.no_sandbox, extra_args=("--lang=de",))
    with start_ahead(OPTIONS):
        [ahead] = _ahead
        async with open_process(other) as process:
            assert process.pid != ahead.process.pid


async def test_one_that_nobody_took_is_ended_and_leaves_nothing():
    with start_ahead(OPTIONS):
        [ahead] = _ahead
        assert is_there(ahead.process.pid)
    assert not is_there(ahead.process.pid)
    assert not ahead.profile.folder.exists()
    assert not _ahead


@pytest.mark.parametrize(
    "options",
    [
        LaunchOptions(profile=Path("kept")),
        LaunchOptions(browser_path=Path("/nowhere/chromium")),
        AttachOptions(where="http://127.0.0.1:9222"),
    ],
    ids=["kept profile", "no browser", "attached"],
)
def test_where_it_can_not_be_started_so_nothing_is(options: LaunchOptions | AttachOptions):
    with start_ahead(options):
        assert not _ahead


async def test_several_may_wait_for_the_end_of_one(nursery: trio.Nursery):
    codes: list[int] = []
    async with open_process(OPTIONS) as process:

        async def wait() -> None:
            codes.append(await process.wait_exit())

        async with trio.open_nursery() as waiting:
            for _ in range(3):
                waiting.start_soon(wait)
            os.kill(process.pid, 9)

    assert codes == [-9, -9, -9]
