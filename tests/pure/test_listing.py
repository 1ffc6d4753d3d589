"""Listings, and the registry that they are made from."""

import pytest

from bridge import limits
from bridge.calls.listing import Offer, cut_listing
from bridge.errors import UsageError
from bridge.tools.registry import Registry
from bridge.tools.tool import PageTools
from tests.pure.offers import offer


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


def test_a_group_can_be_asked_for_alone():
    listing = cut_listing([as_offer(offer("A/one", "B/two"))], "B", None)

    assert [group["name"] for group in listing["pages"][0]["groups"]] == ["B"]


@pytest.mark.parametrize("cursor", ["", "25", "25.", "x.12345678", "-1.12345678", "²5.12345678"])
def test_a_cursor_that_is_none_of_ours_is_refused(cursor: str):
    with pytest.raises(UsageError, match="another listing"):
        cut_listing([as_offer(offer("add"))], None, cursor)


def test_a_cursor_of_a_listing_that_changed_is_refused():
    many = [f"tool{number}" for number in range(limits.TOOLS_PER_LISTING + 1)]
    cursor = cut_listing([as_offer(offer(*many))], None, None)["next_cursor"]

    with pytest.raises(UsageError):
        cut_listing([as_offer(offer(*many, document="2"))], None, cursor)


def test_a_page_that_could_not_be_asked_is_there_with_its_reason():
    listing = cut_listing([Offer("p1", "http://a.test/", None, ("It hangs.",))], None, None)

    assert listing["pages"][0]["problems"] == ["It hangs."]
    assert listing["pages"][0]["toolset"] is None


def test_the_registry_counts_real_changes_alone():
    registry = Registry()

    assert registry.publish(offer("add"))
    assert not registry.publish(offer("add"))
    assert registry.publish(offer("add", "more"))
    registry.withdraw("p1")
    registry.withdraw("p1")
    assert registry.version == 3
    assert registry.find("p1") is None


def test_a_snapshot_does_not_change_under_its_reader():
    registry = Registry()
    registry.publish(offer("add"))
    snapshot = registry.snapshot
    registry.withdraw("p1")

    assert [tool.name for tool in snapshot["p1"]] == ["add"]
