"""Events that nobody asked for: one that is huge, and very many at once."""

import pytest
import trio

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from tests.browser.asking import call, list_tools, page_of
from tests.browser.conftest import OpenHostile


@pytest.mark.threat("P13")
async def test_an_event_of_many_megabytes_ends_no_link(bridge: Bridge, agent: Agent, hostile: OpenHostile):
    page = await hostile("says_much")
    connection = (await page_of(bridge, page))._session.connection

    assert (await call(agent, page, "say")).text == "said"
    assert (await call(agent, page, "say")).text == "said"
    assert connection.lost is None
    assert (await page_of(bridge, page))._session.connection is connection


async def test_no_navigation_is_lost_in_a_burst_of_events(bridge: Bridge, agent: Agent, hostile: OpenHostile):
    shown = await page_of(bridge, await hostile("says_much"))
    url = shown.url
    moves = shown._frames.moves
    await list_tools(agent, shown.handle)

    assert not (await call(agent, shown.handle, "burst")).is_error
    with trio.fail_after(20):
        await shown.wait_changed(lambda: shown.url == f"{url}#9900")

    assert shown._frames.moves - moves == 100
