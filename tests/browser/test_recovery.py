"""A browser that ends: what is told, and how the next one is come by."""

import os
import signal
from pathlib import Path

import pytest
import trio

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.bridge import Bridge, open_bridge
from bridge.settings import AttachOptions, LaunchOptions
from tests.browser.asking import call, code, facts, list_tools, open_page, read
from tests.browser.test_deadlines import children
from tests.browsers import run_chromium
from tests.sites import Site, offering, tool

PING = tool("ping", "() => 'pong'")
HANG = tool("hang", "() => { fetch('/hang'); return new Promise(() => {}) }")
OURS = LaunchOptions(no_sandbox=True)


def kill_launched_browsers() -> None:
    for process in children().get(os.getpid(), []):
        if b"--remote-debugging-pipe" in Path(f"/proc/{process}/cmdline").read_bytes():
            os.kill(process, signal.SIGKILL)


async def kill_browser(bridge: Bridge) -> None:
    """End the browser that this process has launched, and return when the bridge knows."""
    pages = await bridge.wait_pages()
    kill_launched_browsers()
    await pages._browser.connection.wait_lost()


@pytest.mark.feature("browser.recovery")
@pytest.mark.threat("L5")
async def test_every_call_in_a_browser_that_dies_is_told_so_at_once(site: Site):
    answers: list[Answer] = []
    async with open_bridge(OURS) as bridge:
        agent = Agent(bridge)
        handles = [await open_page(agent, site.page(f"/dies{number}", offering(HANG))) for number in range(3)]
        for handle in handles:
            await list_tools(agent, handle)

        async def keep(handle: str) -> None:
            answers.append(await call(agent, handle, "hang"))

        with trio.fail_after(10):
            async with trio.open_nursery() as nursery:
                for handle in handles:
                    nursery.start_soon(keep, handle)
                await site.wait_asked("/hang", 3)
                await kill_browser(bridge)

    assert [facts(answer) for answer in answers] == [("browser_gone", "unknown", True)] * 3


@pytest.mark.feature("browser.recovery")
@pytest.mark.threat("L5")
async def test_a_browser_of_ours_is_started_again_when_it_is_needed_and_old_handles_stay_gone(site: Site):
    url = site.page("/again", offering(PING))
    async with open_bridge(OURS, urls=(url,)) as bridge:
        agent = Agent(bridge)
        assert (await call(agent, "p1", "ping")).text == "pong"
        await kill_browser(bridge)

        with trio.fail_after(30):
            [page] = read(await agent.list_pages())["pages"]

        assert (page["page"], page["url"]) == ("p2", url)
        assert code(await call(agent, "p1", "ping")) == "page_gone"
        assert (await call(agent, "p2", "ping")).text == "pong"


@pytest.mark.threat("L5")
async def test_a_browser_that_ends_again_and_again_is_left_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "RESTARTS", 1)
    async with open_bridge(OURS) as bridge:
        agent = Agent(bridge)
        await kill_browser(bridge)
        assert not (await agent.list_pages()).is_error
        await kill_browser(bridge)

        with trio.fail_after(2):
            refused = await agent.list_pages()

    assert facts(refused) == ("browser_gone", "rejected", False)
    assert "started again 1 times" in refused.text


@pytest.mark.feature("browser.recovery")
async def test_a_browser_that_we_attached_to_is_found_again_on_another_port(tmp_path: Path, site: Site):
    url = site.page("/back", offering(PING))
    with run_chromium(url, profile=tmp_path) as first, trio.fail_after(60):
        async with open_bridge(AttachOptions(where=str(tmp_path))) as bridge:
            agent = Agent(bridge)
            # The folder says where the browser is some time after the browser itself has said so.
            while not (before := await pages_with_tools(agent)):  # noqa: ASYNC110  # as an agent would
                await trio.sleep(0.05)
            pages = await bridge.wait_pages()
            first.process.kill()
            await trio.to_thread.run_sync(first.process.wait)
            await pages._browser.connection.wait_lost()

            with trio.fail_after(2):
                gone = await agent.list_pages()

            with run_chromium(url, profile=tmp_path) as second, trio.fail_after(30):
                while not (handles := await pages_with_tools(agent)):  # noqa: ASYNC110  # as an agent would
                    await trio.sleep(0.05)
                assert second.http != first.http
                assert (await call(agent, handles[0], "ping")).text == "pong"

    assert code(gone) == "browser_gone"
    assert "looked for again" in gone.text
    assert not set(before) & set(handles)


async def test_a_browser_that_we_attached_to_is_found_again_on_its_own_port(site: Site):
    url = site.page("/same", offering(PING))
    with run_chromium(url) as first, trio.fail_after(60):
        async with open_bridge(AttachOptions(where=first.http)) as bridge:
            agent = Agent(bridge)
            while not (before := await pages_with_tools(agent)):  # noqa: ASYNC110  # as an agent would
                await trio.sleep(0.05)
            pages = await bridge.wait_pages()
            first.process.kill()
            await trio.to_thread.run_sync(first.process.wait)
            await pages._browser.connection.wait_lost()

            with run_chromium(url, f"--remote-debugging-port={first.http.rpartition(':')[2]}"), trio.fail_after(30):
                while not (handles := await pages_with_tools(agent)):  # noqa: ASYNC110  # as an agent would
                    await trio.sleep(0.05)
                assert (await call(agent, handles[0], "ping")).text == "pong"
                assert code(await call(agent, before[0], "ping")) == "page_gone"

    assert not set(before) & set(handles)


async def pages_with_tools(agent: Agent) -> list[str]:
    """Handles of those there are, as far as there is a browser."""
    listed = await agent.list_pages()
    return [] if listed.is_error else [page["page"] for page in read(listed)["pages"] if page["tools"]]


async def test_a_browser_that_takes_its_time_is_said_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(limits, "BROWSER_WAIT_SECONDS", 0.1)
    never = tmp_path / "browser"
    never.write_text("#!/bin/sh\nexec sleep 60\n")
    never.chmod(0o755)
    async with open_bridge(LaunchOptions(browser_path=never)) as bridge:
        answer = await Agent(bridge).list_pages()

    assert facts(answer) == ("browser_starting", "rejected", False)
