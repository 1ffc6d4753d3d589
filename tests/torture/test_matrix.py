"""Every fault in every state: one answer to each call, a true one, and nothing left behind."""

from dataclasses import replace
from typing import Final

import pytest

from bridge import limits
from tests.torture.cell import STATES, Cell, Sites, play, play_end
from tests.torture.faults import FAULTS
from tests.torture.scene import Browsers

STALLS: Final = [name for name, fault in FAULTS.items() if fault.is_stall]

SENSELESS: Final = {
    (
        "session detached",
        "shutting down",
    ): "nobody else can end a session of a bridge in a process of its own, and at its end the bridge ends them all",
}
"""Cells that are not there, and why. All others are."""

ENDS: Final = [name for name in FAULTS if (name, "shutting down") not in SENSELESS]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_costs_each_call_one_true_answer_and_leaves_nothing(
    name: str, state: str, browsers: Browsers, sites: Sites, monkeypatch: pytest.MonkeyPatch
):
    await play(Cell(FAULTS[name], state), browsers, sites, monkeypatch)


@pytest.mark.parametrize("name", ENDS)
async def test_a_fault_while_the_bridge_ends_costs_a_running_call_one_answer_and_leaves_nothing(
    name: str, browsers: Browsers, sites: Sites, monkeypatch: pytest.MonkeyPatch
):
    await play_end(Cell(FAULTS[name], "shutting down"), browsers, sites, monkeypatch)


@pytest.mark.torture
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("seed", range(4))
async def test_so_it_is_at_other_moments_and_in_a_browser_of_our_own(
    seed: int, name: str, state: str, browsers: Browsers, sites: Sites, monkeypatch: pytest.MonkeyPatch
):
    fault = FAULTS[name]
    if seed % 2 and fault.link == "shared":
        fault = replace(fault, link="own")
    await play(Cell(fault, state, seed=seed), browsers, sites, monkeypatch)


@pytest.mark.torture
@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("seed", range(4))
async def test_so_it_is_at_other_moments_of_the_end(
    seed: int, name: str, browsers: Browsers, sites: Sites, monkeypatch: pytest.MonkeyPatch
):
    await play_end(Cell(FAULTS[name], "shutting down", seed=seed), browsers, sites, monkeypatch)


@pytest.mark.torture
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", STALLS)
async def test_so_it_is_when_a_stall_lasts_as_long_as_a_call_may(
    name: str, state: str, browsers: Browsers, sites: Sites, monkeypatch: pytest.MonkeyPatch
):
    await play(Cell(FAULTS[name], state, stall_seconds=limits.CALL_SECONDS), browsers, sites, monkeypatch)
