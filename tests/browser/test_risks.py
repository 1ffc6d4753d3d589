"""What a person is told of a real browser that they attach to."""

import logging
from pathlib import Path

import pytest
import trio

from bridge import limits
from bridge.browser.browser import open_browser
from bridge.calls.agent import Agent
from bridge.calls.bridge import open_bridge
from bridge.serve.doctor import _greet_browser
from bridge.settings import AttachOptions, LaunchOptions
from tests.browsers import run_chromium


async def wait_said(caplog: pytest.LogCaptureFixture, words: str) -> None:
    with trio.fail_after(20):
        while words not in caplog.text:  # noqa: ASYNC110  # a log tells nobody of its lines
            await trio.sleep(0.01)


@pytest.mark.feature("browser.risks")
@pytest.mark.threat("L2")
async def test_an_open_browser_in_its_users_profile_is_told_of_once_and_by_doctor(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    profile = tmp_path / ".config" / "chromium"
    with run_chromium("about:blank", "--remote-allow-origins=*", profile=profile) as browser:
        options = AttachOptions(where=browser.http)
        with caplog.at_level(logging.WARNING):
            async with open_bridge(options) as bridge:
                assert not (await Agent(bridge).list_pages()).is_error
                await wait_said(caplog, "own profile")
                # As it is looked for again.
                async with open_browser(options) as again:
                    await bridge._warn_of(again)
        examined = await _greet_browser(options)

    warnings = [record.getMessage() for record in caplog.records]
    assert len(warnings) == 2
    assert examined.splitlines()[0].startswith("Chrome/")
    assert examined.splitlines()[1:] == [f"- {warning}" for warning in warnings]


async def test_nothing_is_told_of_one_that_is_as_it_should_be(chromium: str):
    with trio.fail_after(20):
        async with open_browser(AttachOptions(where=chromium)) as browser:
            assert await browser.find_risks(limits.START_SECONDS) == ()


async def test_nothing_is_asked_of_one_that_we_have_launched():
    with trio.fail_after(20):
        async with open_browser(LaunchOptions()) as browser:
            assert await browser.find_risks(0) == ()
