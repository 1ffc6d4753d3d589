"""The decision about a call, as plain functions over snapshots."""

from dataclasses import replace

import pytest

from bridge.calls.scope import choose
from bridge.errors import CallRejected, OriginChanged, SchemaUnusable, ToolAmbiguous, ToolNotFound, ToolStale
from bridge.tools.tool import PageTools
from tests.pure.offers import offer, with_frame


def with_change(page: PageTools, **change: object) -> PageTools:
    """A page of one tool, with other parts of that."""
    [document] = page.documents
    [group] = document.groups
    [tool] = group.tools
    changed = replace(tool, **change)  # pyright: ignore[reportArgumentType]  # of each part, what the test gives
    return replace(page, documents=(replace(document, groups=(replace(group, tools=(changed,)),)),))


ADD, TWINS = offer("add"), offer("A/same", "B/same")


def test_a_tool_of_the_listed_document_runs():
    shown = offer("add", "buy")

    assert choose(shown, shown, "buy").name == "buy"


def test_a_tool_runs_without_a_listing():
    assert choose(None, offer("add"), "add").name == "add"


def test_an_equal_tool_of_a_later_document_runs():
    assert choose(offer("add"), offer("new", "add", document="2"), "add").name == "add"


@pytest.mark.feature("calls.scope")
@pytest.mark.threat("P14")
def test_another_origin_is_rejected_even_with_an_equal_tool():
    with pytest.raises(OriginChanged, match=r"http://a\.test to http://b\.test"):
        choose(offer("add"), offer("add", origin="http://b.test"), "add")


@pytest.mark.parametrize("wanted", ["new", "gone", "#0.1"])
def test_another_origin_is_rejected_whatever_of_it_is_wanted(wanted: str):
    with pytest.raises(OriginChanged):
        choose(offer("add", "gone"), offer("add", "new", origin="http://b.test", document="2"), wanted)
    with pytest.raises(OriginChanged):
        choose(offer("add"), offer("add", "new", origin="http://b.test", document="2"), wanted)


@pytest.mark.threat("P14")
def test_another_origin_is_rejected_before_its_toolset_is_looked_at():
    shown = offer("add")
    with pytest.raises(OriginChanged):
        choose(shown, offer("add", origin="http://b.test"), "add", shown.toolset)


@pytest.mark.threat("P14", "P16")
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"description": "other"}, "its description changed"),
        ({"schema_text": '{"type":"object"}'}, "its input schema changed"),
        ({"kind": "webmcp"}, "its kind changed"),
        ({"annotations": {"readOnlyHint": True}}, "its claims changed"),
        ({"description": "other", "kind": "webmcp"}, "its description and its kind changed"),
    ],
)
def test_a_tool_that_is_not_as_listed_is_stale_and_what_changed_is_told(change: dict[str, object], told: str):
    with pytest.raises(ToolStale) as caught:
        choose(ADD, with_change(ADD, **change), "add")

    assert str(caught.value) == (
        f"Tool 'add' is not what it was when it was listed: {told}. "
        "It was not run; look at it again before you call it."
    )


def test_what_an_agent_is_not_told_of_a_tool_may_change():
    assert choose(ADD, with_change(offer("add", document="2"), group="Other"), "add").group == "Other"


@pytest.mark.parametrize(
    ("shown", "present", "wanted", "told"),
    [
        (
            ADD,
            offer("add", origin="http://b.test"),
            "add",
            "Page p1 went from http://a.test to http://b.test since its tools were listed, so 'add' was not run. "
            "Look at the tools that are there now before you call one.",
        ),
        (
            with_frame(ADD, "tool"),
            with_frame(ADD, "tool", origin="http://b.test"),
            "f1#0.0",
            "A frame of page p1 went from http://frame.test to http://b.test since its tools were listed, so 'tool' "
            "was not run. Look at the tools that are there now before you call one.",
        ),
        (
            TWINS,
            TWINS,
            "same",
            "Page p1 has 2 tools named 'same'. Call one of them by its id: #0.0 (group 'A'), #1.0 (group 'B').",
        ),
        (
            None,
            with_frame(offer("A/same"), "same"),
            "same",
            "Page p1 has 2 tools named 'same'. Call one of them by its id: #0.0 (group 'A'), "
            "f1#0.0 (group 'Group' in a frame of http://frame.test).",
        ),
        (
            None,
            with_change(ADD, schema=None, schema_problem="it is odd."),
            "add",
            "Tool 'add' can't be called, because its schema is unusable: it is odd. "
            "Only the page's author can mend that.",
        ),
        (
            ADD,
            offer(),
            "add",
            "Tool 'add' is gone from page p1, where it was when the page was listed, so it was not run. "
            "It offers no tools: list_page_tools says why.",
        ),
        (
            None,
            offer(*(f"tool{number}" for number in range(10))),
            "none",
            "Page p1 has no tool 'none'. Use one of those that it offers: 'tool0', 'tool1', 'tool2', 'tool3', 'tool4', "
            "'tool5', 'tool6', 'tool7', 'tool8', 'tool9'.",
        ),
    ],
    ids=["page left", "frame left", "shown twins", "twins", "unusable", "gone", "ten others"],
)
def test_a_rejection_says_what_is_so_of_which_page_and_what_to_do(
    shown: PageTools | None, present: PageTools, wanted: str, told: str
):
    with pytest.raises(CallRejected) as caught:
        choose(shown, present, wanted)

    assert str(caught.value) == told


def test_a_tool_that_left_is_stale_and_one_that_never_was_is_not_found():
    shown, present = offer("old", "kept"), offer("kept", document="2")

    with pytest.raises(ToolStale, match=r"'old' is gone .* 'kept'"):
        choose(shown, present, "old")
    with pytest.raises(ToolNotFound, match=r"no tool 'never'.* 'kept'"):
        choose(shown, present, "never")


def test_a_tool_that_came_after_the_listing_runs():
    assert choose(offer("old"), offer("old", "new"), "new").name == "new"


def test_the_toolset_of_the_same_document_and_tools_lets_a_call_run():
    assert choose(offer("add"), offer("add"), "add", offer("add").toolset).name == "add"


@pytest.mark.feature("calls.scope")
@pytest.mark.threat("P14")
@pytest.mark.parametrize(
    "present", [offer("add", document="2"), offer("add", "more"), offer("add", description="other")]
)
def test_any_difference_makes_a_toolset_stale(present):
    with pytest.raises(ToolStale, match="toolset"):
        choose(None, present, "add", offer("add").toolset)


@pytest.mark.threat("P14")
@pytest.mark.parametrize(
    ("listed", "present"),
    [
        (with_frame(ADD, "more"), with_frame(ADD, "more", document="10")),
        (with_frame(ADD, "more"), with_frame(ADD, "more", frame="f2")),
        (offer("A/add", "B/more"), offer("A/add", "A/more")),
    ],
    ids=["an iframe was loaded anew", "another iframe", "another place in the answers"],
)
def test_the_same_words_from_another_place_make_a_toolset_stale(listed: PageTools, present: PageTools):
    with pytest.raises(ToolStale, match="toolset"):
        choose(None, present, "add", listed.toolset)


@pytest.mark.feature("pages.twins")
def test_an_ambiguous_name_names_the_ids_and_an_id_is_never_ambiguous():
    twins = offer("A/same", "B/same")

    with pytest.raises(ToolAmbiguous, match=r"#0\.0 \(group 'A'\), #1\.0 \(group 'B'\)"):
        choose(twins, twins, "same")
    assert choose(twins, twins, "#1.0").group == "B"


def test_an_id_means_the_listed_tool_when_the_page_has_shuffled_its_groups():
    shown, present = offer("A/one", "B/two"), offer("B/two", "A/one", document="2")

    assert choose(shown, present, "#0.0").name == "one"
    assert choose(shown, present, "#1.0").name == "two"


@pytest.mark.threat("P1")
def test_an_id_means_one_tool_even_where_another_has_it_as_its_name():
    present = offer("real", "#0.0")

    assert choose(present, present, "#0.0").name == "real"


def test_a_name_that_became_ambiguous_still_means_the_listed_tool():
    present = offer("A/same", "B/other")
    added = offer("A/same", "B/other", "C/same")

    assert choose(present, added, "same").group == "A"


def test_a_tool_without_a_usable_schema_is_refused():
    odd = with_change(ADD, schema=None, schema_problem="it is odd")

    with pytest.raises(SchemaUnusable, match="it is odd"):
        choose(odd, odd, "add")


def test_a_long_list_of_names_is_cut():
    with pytest.raises(ToolNotFound, match="and 90 more"):
        choose(None, offer(*(f"tool{number}" for number in range(100))), "none")


@pytest.mark.threat("F1")
def test_the_same_name_in_page_and_frame_is_ambiguous_and_told_with_the_frames_origin():
    both = with_frame(offer("same"), "same")

    with pytest.raises(ToolAmbiguous, match=r"#0\.0 \(group 'Group'\), f1#0\.0 .* in a frame of http://frame\.test"):
        choose(both, both, "same")
    assert choose(both, both, "f1#0.0").origin == "http://frame.test"


@pytest.mark.threat("F1", "P14")
def test_a_frame_that_went_to_another_origin_takes_no_call_of_the_one_before():
    before, now = (with_frame(offer("own"), "tool", origin=f"http://{host}.test") for host in "xy")

    with pytest.raises(OriginChanged, match=r"http://x\.test to http://y\.test"):
        choose(before, now, "tool")
    with pytest.raises(OriginChanged):
        choose(before, now, "f1#0.0")
    assert choose(before, now, "own").name == "own"


def test_a_frame_that_is_gone_leaves_its_tools_stale():
    with pytest.raises(ToolStale, match="gone"):
        choose(with_frame(offer("own"), "tool"), offer("own"), "tool")


@pytest.mark.threat("F1", "P14")
def test_no_other_frame_of_the_page_takes_the_call_of_one_that_is_gone():
    page, grown = offer("own"), offer("own", "tool", origin="http://frame.test")
    with pytest.raises(ToolStale, match="gone"):
        choose(with_frame(page, "tool"), with_frame(page, "tool", frame="f2"), "tool")
    with pytest.raises(ToolStale, match="gone"):
        choose(with_frame(offer("own", origin="http://frame.test"), "tool"), grown, "f1#0.0")


def test_a_page_that_was_loaded_anew_has_its_iframes_under_other_ids():
    before, now = with_frame(offer("own"), "tool"), with_frame(offer("own", document="2"), "tool", frame="f2")

    assert choose(before, now, "tool").id.frame == "f2"
    assert choose(before, now, "f1#0.0").id.frame == "f2"
    with pytest.raises(ToolAmbiguous):
        choose(before, with_frame(now, "tool", frame="f3"), "tool")


@pytest.mark.threat("P1")
def test_names_are_told_apart_by_case():
    with pytest.raises(ToolNotFound):
        choose(None, offer("add"), "Add")
    assert choose(None, offer("add", "Add"), "Add").name == "Add"


def test_of_two_that_have_its_name_the_one_that_is_as_it_was_is_meant_wherever_it_is_now():
    present = offer("add", "add", document="2")
    [changed, same] = present
    object.__setattr__(changed, "description", "other")
    object.__setattr__(same, "description", "as it was")

    assert choose(offer("add", description="as it was"), present, "add") is same
