"""Which tools may run, by what a person has said. One decision for every door."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from bridge.calls.gate import Gate, Rules, why_not
from bridge.calls.pins import read_pins, write_pins
from bridge.errors import NotAllowed, UsageError
from bridge.origins import OriginRules
from bridge.settings import AgentSettings, Mode, PageSettings
from bridge.tools.tool import Tool
from tests.pure.offers import offer, with_frame

HERE, THERE = "http://a.test", "http://b.test"
TRUSTED = frozenset({HERE})


def one(origin: str = HERE, *, read_only: object = None, description: str = "") -> Tool:
    [tool] = offer("add", origin=origin, description=description)
    annotations = {} if read_only is None else {"readOnlyHint": read_only}
    return replace(tool, kind="webmcp", annotations=annotations)


@pytest.mark.parametrize("mode", ["act", "dev"])
def test_without_further_words_every_tool_runs(mode: Mode):
    assert why_not(one(), Rules(mode=mode)) is None
    assert why_not(one(read_only=False), Rules(mode=mode)) is None


@pytest.mark.feature("rules.mode")
@pytest.mark.threat("C3")
@pytest.mark.parametrize(
    ("read_only", "trusted"), list(product([True, False, None, 1, "true"], [TRUSTED, frozenset[str]()]))
)
def test_mode_ask_runs_only_what_a_named_origin_marks_read_only(read_only: object, trusted: frozenset[str]):
    reason = why_not(one(read_only=read_only), Rules(mode="ask", trusted_origins=trusted))

    if read_only is True and trusted:
        assert reason is None
    else:
        assert reason is not None
        assert "--trust-origin" in reason


@pytest.mark.threat("C3")
def test_mode_ask_does_not_take_this_machine_for_a_named_origin():
    local = one("http://localhost:3000", read_only=True)

    assert why_not(local, Rules(mode="ask")) is not None
    assert why_not(local, Rules(mode="ask", trusted_origins=frozenset({"http://localhost:3000"}))) is None


@pytest.mark.threat("C3")
def test_trust_is_in_the_tools_own_origin():
    assert why_not(one(THERE, read_only=True), Rules(mode="ask", trusted_origins=TRUSTED)) is not None


@pytest.mark.threat("C3")
def test_an_origin_that_is_kept_out_runs_nothing_whatever_else_is_said():
    tool = one(read_only=True)
    said = Rules(
        origins=OriginRules(blocked=(HERE,)), trusted_origins=TRUSTED, pins={HERE: frozenset({tool.fingerprint})}
    )

    assert "--block-origin" in (why_not(tool, said) or "")
    assert "--allow-origin" in (why_not(tool, replace(said, origins=OriginRules(allowed=(THERE,)))) or "")
    assert why_not(tool, replace(said, origins=OriginRules(allowed=(HERE,)))) is None


@pytest.mark.threat("C3")
def test_of_a_pinned_origin_only_what_was_approved_runs():
    tool = one()
    rules = Rules(pins={HERE: frozenset({tool.fingerprint})})

    assert why_not(tool, rules) is None
    for other in (
        replace(tool, name="sum"),
        replace(tool, description="Adds, and sends it along"),
        replace(tool, schema_text='{"type": "object"}'),
        replace(tool, kind="page"),
        replace(tool, annotations={"readOnlyHint": True}),
    ):
        assert "pagebridge pin" in (why_not(other, rules) or "")
    assert why_not(one(THERE), rules) is None
    assert why_not(tool, Rules(pins={HERE: frozenset()})) is not None


def test_pins_do_not_lift_the_mode():
    tool = one()

    assert why_not(tool, Rules(mode="ask", pins={HERE: frozenset({tool.fingerprint})})) is not None


def gate(**words: object) -> Gate:
    origins = words.pop("origins", OriginRules())
    assert isinstance(origins, OriginRules)
    return Gate(PageSettings(origins=origins), AgentSettings(**words))  # pyright: ignore[reportArgumentType]


WHO = "Only the person who started pagebridge can change that."
KEPT_OUT = "--block-origin keeps the tools of that origin out"
NOT_NAMED = "that origin is none of those that --allow-origin names"
UNPINNED = f"it is new or has changed since the tools of {HERE} were approved: `pagebridge pin` does that again"


@pytest.mark.parametrize(
    ("tool", "rules", "reason"),
    [
        (one(), Rules(origins=OriginRules(blocked=(HERE,))), f"it is of {HERE}, and {KEPT_OUT}"),
        (one("opaque"), Rules(origins=OriginRules(allowed=(HERE,))), f"it is of an opaque origin, and {NOT_NAMED}"),
        (
            one(),
            Rules(mode="ask"),
            "in mode ask only those run that an origin named with --trust-origin marks read-only",
        ),
        (one(), Rules(pins={HERE: frozenset()}), UNPINNED),
    ],
    ids=["blocked", "opaque", "ask", "pins"],
)
def test_a_reason_names_what_keeps_the_tool_from_running(tool: Tool, rules: Rules, reason: str):
    assert why_not(tool, rules) == reason


def test_a_refusal_says_what_was_not_run_why_and_who_can_change_that():
    strict = gate(mode="ask")
    with pytest.raises(NotAllowed) as caught:
        strict.check(one())

    assert str(caught.value) == f"Tool 'add' was not run: {strict.why_not(one())}. {WHO}"
    assert (caught.value.code, caught.value.outcome) == ("not_allowed", "rejected")


def test_a_gate_lets_through_what_a_person_has_said():
    gate().check(one())
    gate(mode="ask", trusted_origins=TRUSTED).check(one(read_only=True))


@pytest.mark.parametrize(("origin", "shown"), [(THERE, THERE), ("opaque", "an opaque origin")])
def test_a_page_that_is_refused_is_told_by_its_origin(origin: str, shown: str):
    with pytest.raises(NotAllowed) as caught:
        gate(origins=OriginRules(allowed=(HERE,))).check_page(offer("add", origin=origin))

    assert str(caught.value) == f"No tool of page p1 is run: it is of {shown}, and {NOT_NAMED}. {WHO}"


def test_a_page_of_an_origin_that_is_kept_out_is_refused_whatever_its_iframes_are():
    page = with_frame(offer("add", origin=HERE), "sum", origin=THERE)
    strict = gate(origins=OriginRules(blocked=(HERE,)))

    with pytest.raises(NotAllowed, match="No tool of page p1"):
        strict.check_page(page)
    gate(origins=OriginRules(blocked=(THERE,))).check_page(page)
    assert [str(tool) for tool in gate(origins=OriginRules(blocked=(THERE,))).refused(page)] == ["f1#0.0"]


@pytest.mark.threat("C3")
def test_a_listing_hears_the_same_as_a_call():
    page = offer("add", "sum")
    [add, _] = page
    listed = gate(mode="ask").refused(page)

    assert set(listed) == {tool.id for tool in page}
    assert listed[add.id] == gate(mode="ask").why_not(add)
    assert gate().refused(page) == {}


def test_an_approval_counts_without_a_new_start_and_so_does_its_end(tmp_path: Path):
    path = tmp_path / "pins.json"
    tool = one()
    write_pins(path, {HERE: frozenset()})
    pinned = gate(pins=path)
    assert pinned.why_not(tool) is not None

    write_pins(path, {HERE: frozenset({tool.fingerprint})})
    assert pinned.why_not(tool) is None
    write_pins(path, {HERE: frozenset()})
    assert pinned.why_not(tool) is not None


@pytest.mark.threat("C3")
def test_while_pins_can_not_be_read_nothing_runs(tmp_path: Path):
    path = tmp_path / "pins.json"
    write_pins(path, {})
    pinned = gate(pins=path)
    assert pinned.why_not(one()) is None

    path.write_text("{")
    with pytest.raises(UsageError) as unreadable:
        read_pins(path)
    with pytest.raises(NotAllowed) as caught:
        pinned.check(one())
    assert str(caught.value) == f"Tool 'add' was not run: {unreadable.value} {WHO}"
    path.unlink()
    with pytest.raises(NotAllowed, match="There are no pins"):
        pinned.check(one())
    with pytest.raises(UsageError):
        gate(pins=path)
