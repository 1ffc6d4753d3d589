"""Names of page tools as tools of their own."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.calls.built_ins import BUILT_INS
from bridge.tools.naming import PREFIX, Owned, Owner, name_tools, own
from bridge.tools.schema import check_schema
from bridge.tools.tool import DocumentTools, Home, PageTools, Tool, ToolGroup, ToolId
from tests.pure.offers import home

Groups = Mapping[str, Sequence[str]]
SCHEMA = check_schema("{}")


def page_of(groups: Groups, page: str = "p1", document: str = "1", frames: Sequence[tuple[str, Groups]] = ()):
    """A page that offers these groups, and in iframes (by handle) others."""
    documents = [document_of(groups, home("http://a.test", document, page=page))]
    for frame, offered in frames:
        documents.append(document_of(offered, home("http://frame.test", document, frame, page)))
    return PageTools(page, tuple(documents))


def document_of(groups: Groups, at: Home) -> DocumentTools:
    frame = at.document.frame
    return DocumentTools(
        at,
        tuple(
            ToolGroup(
                group,
                "",
                tuple(
                    Tool(ToolId(frame, number, place), name, "", "{}", SCHEMA, None, group, at, "page", {})
                    for place, name in enumerate(names)
                ),
                frame,
                at.origin,
            )
            for number, (group, names) in enumerate(groups.items())
        ),
        (),
    )


def names_of(*pages: PageTools, kept: Mapping[str, Owner] | None = None) -> dict[str, Owned]:
    return name_tools([one for tools in pages for one in own(tools)], kept or {})


def owners_of(*pages: PageTools, kept: Mapping[str, Owner] | None = None) -> dict[Owner, str]:
    return {one.owner: name for name, one in names_of(*pages, kept=kept).items()}


def named(*names: str) -> list[str]:
    """What these tools of one page are called, in their order."""
    tools = names_of(page_of({"G": names}))
    return sorted(tools, key=lambda name: tools[name].tool.id.tool)


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("add", "page_add"),
        ("getGlobalState", "page_getGlobalState"),
        ("list_page_tools", "page_list_page_tools"),
        ("angular:signal_graph", "page_angular_signal_graph"),
        ("a/b", "page_a_b"),
        ("get user", "page_get_user"),
        ("_private-1", "page__private-1"),
        ("Ünter: alles", "page_nter_alles"),
        ("x" * 35, "page_" + "x" * 35),
    ],
)
def test_a_name_is_the_pages_own_as_far_as_that_may_be(name: str, called: str):
    assert named(name) == [called]


@pytest.mark.parametrize("name", ["", "日本", "😀", "список", "\ud800", " ", "x" * 36, "x" * 100, "é" * 128])
def test_what_is_lost_of_a_name_becomes_a_hash(name: str):
    [called] = named(name)

    assert re.fullmatch(r"page_(x+_)?[0-9a-f]{6}", called)
    assert len(called) <= limits.DIRECT_NAME_CHARS
    assert named(name) == [called]


def test_names_that_differ_in_what_is_cut_stay_apart():
    assert len({*named("x" * 100, "x" * 100 + "y", "日本", "日本語")}) == 4


def test_a_name_that_may_be_used_as_it_is_goes_before_one_that_was_changed_to_it():
    changed, own_name = named("a/b", "a_b")

    assert own_name == "page_a_b"
    assert re.fullmatch(r"page_a_b_[0-9a-f]{6}", changed)


@pytest.mark.threat("P1")
@pytest.mark.parametrize("twins", [("add", "Add"), ("a b", "A/B"), ("add", "add"), ("page_add", "PAGE_add")])
def test_names_alike_but_for_case_or_cleaning_collide(twins: tuple[str, str]):
    called = named(*twins)

    assert len({name.lower() for name in called}) == 2
    assert sum(re.fullmatch(r"page_\w+_[0-9a-f]{6}", name) is not None for name in called) == 1


def test_the_twin_in_another_page_or_iframe_is_told_by_where_it_is():
    pages = [
        page_of({"G": ["add"]}, "p10"),
        page_of({"G": ["add"]}, "p2", frames=[("f3", {"G": ["add", "own"]})]),
    ]

    tools = names_of(*pages)
    assert {name: (one.tools.page, str(one.tool.id)) for name, one in tools.items()} == {
        "page_add": ("p2", "#0.0"),
        "page_add_p2f1": ("p2", "f3#0.0"),
        "page_own": ("p2", "f3#0.1"),
        "page_add_p10": ("p10", "#0.0"),
    }


def test_a_tool_that_is_named_as_a_twin_would_be_has_its_name():
    called = owners_of(page_of({"G": ["add_p2", "add"]}), page_of({"G": ["add"]}, "p2"))

    [hashed] = set(called.values()) - {"page_add", "page_add_p2"}
    assert re.fullmatch(r"page_add_[0-9a-f]{6}", hashed)


@pytest.mark.threat("P1")
def test_no_name_is_that_of_a_tool_of_the_bridge():
    assert not [tool.name for tool in BUILT_INS if tool.name.lower().startswith(PREFIX)]


def test_an_iframe_keeps_its_names_though_a_reload_gives_it_another_handle():
    before = page_of({"G": ["add"]}, frames=[("f1", {"G": ["add"]}), ("f2", {"G": ["add"]})])
    after = page_of({"G": ["add"]}, document="2", frames=[("f10", {"G": ["add"]}), ("f9", {"G": ["add"]})])

    assert [(name, str(one.tool.id)) for name, one in names_of(before).items()] == [
        ("page_add", "#0.0"),
        ("page_add_p1f1", "f1#0.0"),
        ("page_add_p1f2", "f2#0.0"),
    ]
    assert [(name, str(one.tool.id)) for name, one in names_of(after).items()] == [
        ("page_add", "#0.0"),
        ("page_add_p1f1", "f9#0.0"),
        ("page_add_p1f2", "f10#0.0"),
    ]


@pytest.mark.feature("direct.names")
@pytest.mark.threat("P1")
def test_a_name_that_was_given_is_never_another_pages():
    both = page_of({"G": ["add"]}), page_of({"G": ["add"]}, "p2")
    kept = {name: one.owner for name, one in names_of(*both).items()}

    assert list(names_of(both[1], kept=kept)) == ["page_add_p2"]
    assert list(names_of(page_of({"G": ["add"]}, "p3"), kept=kept)) == ["page_add_p3"]
    assert list(names_of(page_of({"G": ["add"]}, document="7"), kept=kept)) == ["page_add"]


def test_a_name_that_was_given_stays_though_a_better_claim_comes():
    alone = page_of({"G": ["a/b"]})
    kept = {name: one.owner for name, one in names_of(alone).items()}

    joined = names_of(page_of({"G": ["a_b", "a/b"]}), kept=kept)
    assert joined["page_a_b"].tool.name == "a/b"


letters = st.sampled_from(["a", "A", "b", "_", "-", "/", ":", " ", "é", "日", "\ud800", "_p2", "xxxxxxxxxxxxxxxxxxx"])
tool_names = st.lists(letters, max_size=8).map("".join)
groups = st.dictionaries(st.sampled_from(["G", "H", ""]), st.lists(tool_names, max_size=6), max_size=3)
frames = st.lists(groups, max_size=2).map(lambda offered: [(f"f{nth}", one) for nth, one in enumerate(offered, 1)])
sites = st.dictionaries(st.integers(1, 30).map("p{}".format), st.tuples(groups, frames), max_size=4)


def pages_of(offered: Mapping[str, tuple[Groups, Sequence[tuple[str, Groups]]]], document: str = "1"):
    return [page_of(own_groups, page, document, framed) for page, (own_groups, framed) in offered.items()]


@pytest.mark.feature("direct.names")
@pytest.mark.threat("P1")
@given(sites)
def test_every_tool_has_one_name_which_is_valid_unique_and_leads_back(offered):
    pages = pages_of(offered)
    tools = names_of(*pages)

    assert all(re.fullmatch(r"page_[A-Za-z0-9_-]{1,35}", name) for name in tools)
    assert len({name.lower() for name in tools}) == len(tools)
    back = sorted((one.tools.page, str(one.tool.id)) for one in tools.values())
    assert back == sorted((tools.page, str(tool.id)) for tools in pages for tool in tools)


@given(sites)
def test_names_depend_neither_on_documents_nor_on_the_order_of_pages_and_tools(offered):
    reversed_ = {
        page: ({group: names[::-1] for group, names in reversed(own_groups.items())}, framed)
        for page, (own_groups, framed) in reversed(offered.items())
    }

    assert owners_of(*pages_of(offered)) == owners_of(*pages_of(reversed_, "2"))


@given(sites, st.lists(st.from_regex(r"zz[a-z]{0,50}", fullmatch=True), max_size=5))
def test_tools_with_other_names_change_nothing(offered, others):
    """Whatever comes or goes, in this page or in another."""
    before = owners_of(*pages_of(offered))
    pages = pages_of(offered)
    [first, *rest] = pages or [page_of({})]
    main, *framed = first.documents
    more = document_of({"Z": others}, main.home)
    joined = replace(first, documents=(replace(main, groups=(*more.groups, *main.groups)), *framed))
    after = owners_of(joined, page_of({"Z": others}, "p99"), *rest)

    assert {owner: name for owner, name in after.items() if owner in before} == before


@given(sites, sites)
def test_a_name_that_is_kept_stays_whatever_comes_and_goes(before, after):
    kept = {name: one.owner for name, one in names_of(*pages_of(before)).items()}
    later = names_of(*pages_of(after), kept=kept)

    assert all(kept[name] == one.owner for name, one in later.items() if name in kept)
    assert all(one.owner not in kept.values() for name, one in later.items() if name not in kept)
    assert len({name.lower() for name in later} | {name.lower() for name in kept}) == len({*later, *kept})
