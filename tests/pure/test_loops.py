"""When an agent that goes in circles is told so, and when one that makes headway is not."""

import pickle
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.calls.frame import frame
from bridge.calls.loops import Loops


def notes(steps: Iterable[str], *, read_only: bool = True) -> list[str]:
    """What is told after each step: `same`, `turns`, `failed` or nothing.

    Args:
        steps: such as `a` (tool a gave its answer), `a1` (it gave another one) or `!a` (it failed).
    """
    loops = Loops()
    return [told(_run(loops, step, read_only)) for step in steps]


def _run(loops: Loops, step: str, read_only: bool) -> str | None:
    tool = step.strip("!")
    return loops.note(tool[0], {"page": "p1"}, read_only, "failed" if step[0] == "!" else "completed", step)


def told(note: str | None) -> str:
    words = {"same answer three times": "same", "Two calls take turns": "turns", "has failed before": "failed"}
    return next(word for begin, word in words.items() if begin in note) if note else ""


def changes(*calls: object, tool: str = "t") -> list[str]:
    """What is told after each of these calls that change something, all of which fail, each with words of its own."""
    loops = Loops()
    return [told(loops.note(tool, given, False, "failed", f"no {n}")) for n, given in enumerate(calls)]


@pytest.mark.feature("calls.loops")
def test_the_third_same_call_with_the_same_answer_is_noted_and_each_one_after_it():
    assert notes("aaaaaaaa") == ["", "", *["same"] * 6]
    assert notes(["!a"] * 4) == ["", "", "same", "same"]


def test_a_call_whose_answer_changes_is_no_loop():
    assert not any(notes(["a1", "a2", "a3", "a4"] * 5))
    assert not any(notes(["a1", "a1", "a2", "a2", "a1", "a1"]))
    assert not any(notes(["a1", "a2"] * 5))


@pytest.mark.feature("calls.loops")
def test_two_calls_that_take_turns_with_the_same_answers_are_noted():
    assert notes("abababa") == ["", "", "", "turns", "turns", "turns", "turns"]
    assert not any(notes(["a", "b1", "a", "b2", "a", "b3", "a", "b4"]))
    assert not any(notes("abcabcabc"))
    assert not any(notes("aabbaabb"))


def test_a_call_that_works_and_fails_by_turns_is_not_two_calls():
    assert "turns" not in notes(["a", "!a", "a", "!a", "a", "!a"])


@pytest.mark.parametrize("read_only", [True, False])
def test_a_different_call_that_works_makes_a_new_beginning(read_only: bool):
    assert not any(notes("aabaac" * 3, read_only=read_only))


def test_a_different_call_that_fails_makes_none():
    assert notes(["a", "!x", "a", "!y", "a"]) == ["", "", "", "", "same"]
    assert notes(["!a", "!b", "!a"], read_only=False) == ["", "", "failed"]


def test_what_lies_further_back_than_the_last_few_calls_is_forgotten():
    between = ["!u", "!v", "!w", "!x", "!y", "!z"]

    assert notes(["!a", *between[: limits.LOOP_CALLS - 2], "!a"], read_only=False)[-1] == "failed"
    assert not any(notes(["!a", *between[: limits.LOOP_CALLS - 1], "!a"], read_only=False))


@pytest.mark.feature("calls.loops")
@pytest.mark.parametrize("outcome", ["failed", "rejected", "unknown"])
def test_the_same_change_that_failed_twice_is_noted_whatever_it_said(outcome: str):
    loops = Loops()

    first, second = (loops.note("buy", {"n": 1}, False, outcome, said) for said in ("No.", "Not now."))
    assert (first, told(second)) == (None, "failed")


def test_what_only_looks_may_fail_twice_and_a_change_may_work_twice():
    assert not any(notes(["!a1", "!a2"], read_only=True))
    assert not any(notes(["a", "a"], read_only=False))


def test_a_change_that_failed_before_something_worked_is_not_held_against_the_agent():
    assert not any(notes(["!a", "a", "!a", "b", "!a"], read_only=False))


MANY = {f"k{number}": 0 for number in range(limits.LOOP_PARTS - 1)}
"""With its length, as many parts as are looked at."""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"url": "https://shop.example/a/b?page=1"}, {"url": "https://shop.example/a/b?page=2#top"}),
        ({"url": "https://shop.example/x/1/2/3"}, {"url": "HTTPS://zoe@Shop.example/y/1//2/3/"}),
        ({"deep": [{"link": "http://h/a?b=c/d"}]}, {"deep": [{"link": "https://h/a"}]}),
        ({"x": 101, "y": 200}, {"x": 104, "y": 200.9}),
        ({"at": {"x": -1, "y": 0.0}}, {"at": {"x": -4.5, "y": 4}}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ([0] * limits.LOOP_PARTS + [1], [0] * limits.LOOP_PARTS + [2]),
        (MANY | {"y": 1}, MANY | {"z": 1}),
        (None, None),
    ],
)
def test_calls_that_mean_the_same_are_the_same(one: object, other: object):
    assert changes(one, other) == ["", "failed"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"url": "https://a.example/1"}, {"url": "https://b.example/1"}),
        ({"url": "https://a.example/1/2/3"}, {"url": "https://a.example/1/2/4"}),
        ({"url": "https://a.example/x/2/3"}, {"url": "https://a.example/y/2/3"}),
        ({"url": "https://a.example/", "method": "GET"}, {"url": "https://a.example/", "method": "POST"}),
        ({"url": "https://a.example/", "offset": 0}, {"url": "https://a.example/", "offset": 500}),
        ({"text": "/a/b?c=1"}, {"text": "/a/b?c=2"}),
        ({"x": 104, "y": 0}, {"x": 105, "y": 0}),
        ({"x": 1}, {"x": 2}),
        ({"x": 1, "y": "1"}, {"x": 2, "y": "1"}),
        ({"x": 10**7, "y": 1}, {"x": 10**7 + 1, "y": 1}),
        ({"a": -1}, {"a": -2}),
        ({"a": -1.0}, {"a": -2.0}),
        ({"a": None}, {"a": "None"}),
        ({"a": 1}, {"a": True}),
        ({"a": "x"}, {"b": "x"}),
        ([[1], 2], [[1, 2]]),
        ([1, []], [[1]]),
        (None, {}),
    ],
)
def test_calls_that_differ_are_different(one: object, other: object):
    assert changes(one, other) == ["", ""]


def test_the_same_arguments_for_another_tool_are_another_call():
    loops = Loops()

    assert not any(loops.note(tool, {"a": 1}, False, "failed", "no") for tool in ("add", "remove"))


def test_each_page_and_each_agent_goes_its_own_way():
    loops, other = Loops(), Loops()
    for _ in range(2):
        for page in ("p1", "p2", None):
            assert loops.note("t", {"page": page}, True, "completed", "x") is None
        assert other.note("t", {"page": "p1"}, True, "completed", "x") is None

    assert told(loops.note("t", {"page": "p1"}, True, "completed", "x")) == "same"


def test_a_page_that_is_used_is_not_forgotten_for_those_that_were_left():
    loops = Loops()
    for number in range(2 * limits.LOOP_PAGES):
        said = [loops.note("t", {"page": page}, True, "completed", "x") for page in ("p", f"p{number}")]
        assert (told(said[0]), said[1]) == ("same" if number > 1 else "", None)


def test_an_answer_is_the_same_in_each_frame_it_comes_in():
    loops = Loops()
    answers = [frame("out of stock", "https://shop.example", nonce * 32) for nonce in "0af"]

    assert [told(loops.note("t", {}, True, "completed", answer)) for answer in answers] == ["", "", "same"]


def test_a_long_answer_that_differs_in_one_character_or_is_longer_is_another_one():
    loops = Loops()
    half = "x" * (limits.INLINE_BYTES // 2)

    assert not any(loops.note("t", {}, True, "completed", half + char + half) for char in "abc")
    assert not any(loops.note("t", {}, True, "completed", "x" * (limits.LOOP_ANSWER_CHARS + n)) for n in range(3))


def test_nothing_is_kept_but_a_few_numbers_for_each_of_the_last_pages():
    loops = Loops()

    def call(page: int) -> str | None:
        return loops.note("t" * 1000, {"page": f"p{page}", "text": "x" * 10_000}, True, "completed", "y" * 100_000)

    pages = range(2 * limits.LOOP_PAGES)
    for page in pages:
        for _ in range(2 * limits.LOOP_CALLS):
            call(page)

    assert len(pickle.dumps(loops)) < 100 * limits.LOOP_PAGES * limits.LOOP_CALLS
    assert (told(call(pages[-1])), call(pages[0])) == ("same", None)


def deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "arguments",
    [
        deep(100_000),
        {"a": 10**100_000},
        {"x": float("inf"), "y": float("nan")},
        {"x": 10**400, "y": 1},
        {"url": "https://[" + "/" * 1_000_000},
        {"url": "http://" + "@" * 1_000_000},
        "\ud800",
        {"page": ["p1"]},
        [0] * 1_000_000,
        dict.fromkeys(map(str, range(300_000))),
    ],
    ids=["deep", "long number", "no numbers", "far", "address", "user", "half", "page", "wide", "fields"],
)
def test_arguments_that_are_refused_are_compared_as_well(arguments: object):
    assert changes(arguments, arguments) == ["", "failed"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(st.dictionaries(st.text(), values), st.booleans(), st.text(), st.text())
def test_any_call_three_times_is_noted(arguments: dict[str, Any], read_only: bool, outcome: str, answer: str):
    loops = Loops()

    assert [bool(loops.note("t", arguments, read_only, outcome, answer)) for _ in range(3)][2]


# Calls that are not to run


def foreseen(steps: Iterable[str], nexts: str, *, read_only: bool = True) -> list[str]:
    """What is foreseen of each of these calls after those steps, see `notes`."""
    loops = Loops()
    for step in steps:
        _run(loops, step, read_only)
    return [told(loops.foresee(tool, {"page": "p1"}, read_only)) for tool in nexts]


@pytest.mark.feature("calls.loops")
def test_what_goes_on_in_a_circle_that_was_told_is_foreseen_and_nothing_else():
    assert foreseen("aa", "ab") == ["", ""]
    assert foreseen("aaa", "ab") == ["same", ""]
    assert foreseen("aaab", "ab") == ["", ""]
    assert foreseen("abab", "abc") == ["turns", "", ""]
    assert foreseen(["!a"], "a", read_only=False) == [""]
    assert foreseen(["!a", "!a"], "ab", read_only=False) == ["failed", ""]
    assert foreseen(["!a", "!a", "b"], "a", read_only=False) == [""]
    assert foreseen("aaa", "a", read_only=False) == [""]
    assert foreseen("abab", "a", read_only=False) == [""]


def test_what_is_foreseen_is_not_remembered():
    loops = Loops()
    for _ in range(3):
        _run(loops, "a", True)
    assert [told(loops.foresee("a", {"page": "p1"}, True)) for _ in range(5)] == ["same"] * 5
    assert told(_run(loops, "a1", True)) == ""
    assert loops.foresee("a", {"page": "p1"}, True) is None
    assert loops.foresee("a", {"page": "p2"}, True) is None
