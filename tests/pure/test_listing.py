"""Listings, from snapshots."""

import json
from dataclasses import replace

import pytest

from bridge import limits
from bridge.calls.listing import Offer, cut_listing, list_offer, name_tools, problems_of
from bridge.errors import UsageError
from bridge.settings import SchemaProfile
from bridge.tools.export import export_schema
from bridge.tools.tool import PageTools
from tests.pure.offers import offer, with_frame


def as_offer(tools: PageTools) -> Offer:
    return Offer(tools.page, "http://a.test/", tools, tools.problems)


def test_the_parts_of_a_listing_hold_each_tool_once_and_in_order():
    names = [f"g{number % 3}/tool{number}" for number in range(2 * limits.TOOLS_PER_LISTING + 3)]
    offers = [as_offer(offer(*names)), as_offer(offer("last", page="p2"))]
    whole = [tool.name for one in offers if one.tools for tool in one.tools]
    found: list[str] = []
    cursor = None
    parts = 0
    while True:
        listing = cut_listing(offers, None, cursor)
        part = [tool["name"] for page in listing["pages"] for group in page["groups"] for tool in group["tools"]]
        assert len(part) <= limits.TOOLS_PER_LISTING
        found += part
        parts += 1
        cursor = listing.get("next_cursor")
        if cursor is None:
            break

    assert found == whole
    assert parts == 3


@pytest.mark.feature("pages.listing")
def test_a_group_can_be_asked_for_alone():
    listing = cut_listing([as_offer(offer("A/one", "B/two"))], "B", None)

    assert [group["name"] for group in listing["pages"][0]["groups"]] == ["B"]


@pytest.mark.threat("C4")
@pytest.mark.parametrize("cursor", ["", "25", "25.", "x.12345678", "-1.12345678", "²5.12345678"])
def test_a_cursor_that_is_none_of_ours_is_refused(cursor: str):
    with pytest.raises(UsageError, match="another listing"):
        cut_listing([as_offer(offer("add"))], None, cursor)


@pytest.mark.feature("pages.listing")
@pytest.mark.threat("C4")
def test_a_cursor_of_a_listing_that_changed_is_refused():
    many = [f"tool{number}" for number in range(limits.TOOLS_PER_LISTING + 1)]
    cursor = cut_listing([as_offer(offer(*many))], None, None)["next_cursor"]

    with pytest.raises(UsageError):
        cut_listing([as_offer(offer(*many, document="2"))], None, cursor)


@pytest.mark.feature("pages.faults")
def test_a_page_that_could_not_be_asked_is_there_with_its_reason():
    listing = cut_listing([Offer("p1", "http://a.test/", None, ("It hangs.",))], None, None)

    assert listing["pages"][0]["problems"] == ["It hangs."]
    assert listing["pages"][0]["toolset"] is None


def test_an_iframes_group_is_told_with_its_frame_and_origin():
    tools = with_frame(offer("own"), "framed")
    [own, framed] = list_offer(as_offer(tools))["groups"]

    assert ("frame" in own, "origin" in own) == (False, False)
    assert (framed["frame"], framed["origin"]) == ("f1", "http://frame.test")
    assert [tool["id"] for tool in framed["tools"]] == ["f1#0.0"]
    assert cut_listing([as_offer(tools)], None, None)["pages"][0]["groups"] == [own, framed]
    assert name_tools(tools)[1] == {
        "name": "Group",
        "frame": "f1",
        "origin": "http://frame.test",
        "tools": ["framed"],
    }


def test_that_more_may_come_is_said_in_words_and_for_programs():
    [document] = offer("early").documents
    tools = PageTools("p1", (replace(document, more=True),))
    listing = list_offer(Offer("p1", "http://a.test/", tools, problems_of(tools)))

    assert listing["more"] is True
    assert "More answers may come" in listing["problems"][-1]
    assert "more" not in list_offer(as_offer(offer("early")))
    assert problems_of(offer("early")) == ()


def test_a_long_group_is_named_in_part_and_the_rest_is_counted():
    tools = offer(*(f"tool{number}" for number in range(30)))

    [group] = name_tools(tools, 25)
    assert (len(group["tools"]), group["left_out"]) == (25, 5)
    assert len(name_tools(tools)[0]["tools"]) == 30


@pytest.mark.parametrize("profile", ["standard", "strict"])
def test_listed_schemas_are_exported_ones(profile: SchemaProfile):
    schema = '{"properties": {"a": {"type": "array", "items": [{"type": "string"}]}}, "anyOf": [{"required": ["a"]}]}'
    tools = offer("add", schema=schema)
    [tool] = tools

    assert tool.schema is not None
    exported = export_schema(tool.schema, profile)
    assert exported != tool.schema.source
    [group] = list_offer(as_offer(tools), profile)["groups"]
    assert group["tools"][0]["inputSchema"] == exported
    [group] = cut_listing([as_offer(tools)], None, None, profile)["pages"][0]["groups"]
    assert group["tools"][0]["inputSchema"] == exported


@pytest.mark.feature("pages.listing")
def test_a_site_with_dozens_of_tools_is_told_group_by_group_within_bounds():
    described = offer(*(f"g{number // 20}/tool{number}" for number in range(120)))
    offers = [as_offer(described)]

    first = cut_listing(offers, None, None)
    group = cut_listing(offers, "g3", None)

    assert len(json.dumps(first)) < 25 * limits.TOOLS_PER_LISTING * 40
    assert [one["name"] for page in group["pages"] for one in page["groups"]] == ["g3"]
    assert sum(len(one["tools"]) for page in group["pages"] for one in page["groups"]) == 20


def test_patterns_that_are_not_checked_are_named_and_many_counted():
    def listed(number: int) -> object:
        parts = {f"p{count}": {"pattern": "(?=x)"} for count in range(number)}
        offered = Offer("p1", "http://a.test/", offer("look", schema=json.dumps({"properties": parts})), ())
        return cut_listing([offered], None, None)["pages"][0]["groups"][0]["tools"][0].get("unchecked_patterns")

    pointers = [f"/properties/p{number}/pattern" for number in range(limits.UNCHECKED_SHOWN)]

    assert listed(0) is None
    assert listed(limits.UNCHECKED_SHOWN) == pointers
    assert listed(limits.UNCHECKED_SHOWN + 1) == [*pointers, "… (11 in all)"]
