"""What a page's answer to the discovery event becomes."""

import pytest

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from tests.browser.asking import call, code, facts, list_tools, names, open_page, read
from tests.browser.conftest import OpenHostile
from tests.sites import Site, offering, tool


@pytest.mark.feature("pages.faults")
async def test_a_bad_tool_is_left_out_alone_and_named_with_its_reason(agent: Agent, site: Site):
    page = await open_page(
        agent, site.page("/bad", offering(tool("one", "() => 1"), tool("two", "42"), tool("three", "() => 3")))
    )

    listing = await list_tools(agent, page)

    assert names(listing) == ["one", "three"]
    assert listing["problems"] == [
        "Group 'Test tools', tool 1 ('two'): execute must be a function, and is the number 42."
    ]
    assert (await call(agent, page, "one")).text == "1"
    assert (await call(agent, page, "three")).text == "3"
    assert code(await call(agent, page, "two")) == "tool_not_found"


@pytest.mark.feature("pages.faults")
async def test_each_part_of_a_tool_that_is_wrong_is_named(agent: Agent, site: Site):
    page = await open_page(
        agent,
        site.page(
            "/parts",
            offering(
                "{name: 7, description: '', inputSchema: {}, execute() {}}",
                "{name: 'a', inputSchema: {}, execute() {}}",
                "{name: 'b', description: '', inputSchema: null, execute() {}}",
                "{name: 'c', description: '', inputSchema: [], execute() {}}",
                "{name: 'd', description: '', inputSchema: {}}",
                "null",
                "{name: 'e', description: '', inputSchema: {}, get execute() { throw new Error('no') }}",
                tool("good", "() => 'fine'"),
            ),
        ),
    )

    listing = await list_tools(agent, page)

    assert names(listing) == ["good"]
    assert [problem.partition("tool ")[2] for problem in listing["problems"]] == [
        "0: name must be a string, and is the number 7.",
        "1 ('a'): description must be a string, and is nothing.",
        "2 ('b'): inputSchema must be an object, and is null.",
        "3 ('c'): inputSchema must be an object, and is an array.",
        "4 ('d'): execute must be a function, and is nothing.",
        "5: tool must be an object, and is null.",
        "6: tool must be properties that can be read, and is a getter that threw an object.",
    ]


@pytest.mark.feature("pages.discovery")
async def test_several_listeners_and_several_answers_all_count(agent: Agent, site: Site):
    page = await open_page(
        agent,
        site.page(
            "/several",
            offering(tool("a", "() => 'a'"), group="First")
            + f"""<script>window.addEventListener('devtoolstooldiscovery', event => {{
              event.respondWith({{name: 'Second', tools: [{tool("b", "() => 'b'")}]}});
              event.respondWith({{name: 'Third', description: 'x', tools: []}});
            }})</script>""",
        ),
    )

    listing = await list_tools(agent, page)

    assert [(group["name"], len(group["tools"])) for group in listing["groups"]] == [
        ("First", 1),
        ("Second", 1),
        ("Third", 0),
    ]
    assert listing["problems"] == []
    assert (await call(agent, page, "b")).text == "b"


@pytest.mark.feature("pages.twins")
async def test_two_tools_of_one_name_are_both_listed_and_called_by_id(agent: Agent, site: Site):
    page = await open_page(
        agent,
        site.page(
            "/twins",
            offering(tool("same", "() => 'first'"), group="A") + offering(tool("same", "() => 'second'"), group="B"),
        ),
    )

    ids = [tool["id"] for group in (await list_tools(agent, page))["groups"] for tool in group["tools"]]
    ambiguous = await call(agent, page, "same")

    assert ids == ["#0.0", "#1.0"]
    assert code(ambiguous) == "tool_ambiguous"
    assert "#0.0 (group 'A'), #1.0 (group 'B')" in ambiguous.text
    assert [(await call(agent, page, name)).text for name in ids] == ["first", "second"]


@pytest.mark.feature("pages.faults")
@pytest.mark.threat("P6")
@pytest.mark.usefixtures("hostile")
async def test_a_listener_that_throws_is_told_apart_from_none(agent: Agent, site: Site):
    throwing = "<script>addEventListener('devtoolstooldiscovery', () => { throw new Error('not today') })</script>"
    silent = await open_page(agent, site.page("/silent", "<p>Nothing here"))
    thrower = await open_page(agent, site.page("/throws", throwing))

    assert (await list_tools(agent, silent))["problems"] == [
        "Nothing answered the devtoolstooldiscovery event: this page offers no tools now."
    ]
    assert (await list_tools(agent, thrower))["problems"] == [
        "A listener for the event failed: Uncaught Error: not today"
    ]


@pytest.mark.threat("P6")
@pytest.mark.usefixtures("hostile")
async def test_a_listener_that_throws_or_says_nothing_costs_its_neighbours_nothing(agent: Agent, site: Site):
    listen = "addEventListener('devtoolstooldiscovery', {})".format
    around = [listen("() => { throw new Error('not today') }"), listen("() => {}")]
    silent = await open_page(agent, site.page("/says-nothing", f"<script>{around[1]}</script>"))
    page = await open_page(
        agent,
        site.page(
            "/among", f"<script>{around[0]}</script>{offering(tool('good', '() => 1'))}<script>{around[1]}</script>"
        ),
    )

    assert (await list_tools(agent, silent))["groups"] == []
    listing = await list_tools(agent, page)
    assert names(listing) == ["good"]
    assert listing["problems"] == ["A listener for the event failed: Uncaught Error: not today"]
    assert (await call(agent, page, "good")).text == "1"


@pytest.mark.threat("P17")
@pytest.mark.usefixtures("hostile")
async def test_a_schema_that_holds_itself_costs_only_its_tool(agent: Agent, site: Site):
    cyclic = (
        "(() => { const schema = {type: 'object', properties: {}}; schema.properties.a = schema; return schema })()"
    )
    tools = offering(tool("round", "() => 1", cyclic), tool("good", "() => 2"))
    page = await open_page(agent, site.page("/cyclic", tools))

    listing = await list_tools(agent, page)

    assert names(listing) == ["round", "good"]
    assert any("'round'" in problem for problem in listing["problems"])
    assert facts(await call(agent, page, "round")) == ("schema_unusable", "rejected", False)
    assert (await call(agent, page, "good")).text == "2"


@pytest.mark.feature("pages.navigation")
async def test_a_page_that_changes_its_answer_is_seen_at_the_next_listing(agent: Agent, site: Site):
    changing = f"""<script>let route = 'home'; window.go = to => {{ route = to }};
      addEventListener('devtoolstooldiscovery', event => event.respondWith({{name: route,
        tools: [{{name: 'at_' + route, description: '', inputSchema: {{}}, execute: () => route}},
                {tool("leave", "() => { go('away') }")}]}}))</script>"""
    page = await open_page(agent, site.page("/spa", changing))
    assert names(await list_tools(agent, page)) == ["at_home", "leave"]

    await call(agent, page, "leave")

    assert names(await list_tools(agent, page)) == ["at_away", "leave"]
    assert (await call(agent, page, "at_away")).text == "away"


@pytest.mark.feature("pages.listing")
async def test_opening_and_listing_pages_names_what_they_offer(agent: Agent, site: Site):
    opened = read(await agent.open_page(site.page("/named", offering(tool("one", "() => 1")))))

    assert opened["groups"] == [{"name": "Test tools", "tools": ["one"]}]
    assert opened["origin"] == site.origin
    assert opened["title"] == "/named"
    assert opened["state"] == "ready"
    pages = {page["page"]: page for page in read(await agent.list_pages())["pages"]}
    assert pages[opened["page"]]["tools"] == 1
    assert pages[opened["page"]]["groups"] == [{"name": "Test tools", "tools": ["one"]}]


async def test_equal_answers_are_announced_once(agent: Agent, bridge: Bridge, site: Site):
    page = await open_page(agent, site.page("/equal", offering(tool("one", "() => 1"))))
    await list_tools(agent, page)
    version = bridge.registry.version

    await list_tools(agent, page)
    await list_tools(agent, page)

    assert bridge.registry.version == version


@pytest.mark.threat("P7")
async def test_a_page_that_replaced_the_built_ins_is_still_read_and_called(agent: Agent, hostile: OpenHostile):
    page = await hostile("replaces")

    assert names(await list_tools(agent, page)) == ["sum"]
    answer = await call(agent, page, "sum", {"a": [1, 2]})
    assert answer.text == '{"total":3,"list":[1,"two",{"three":3}]}'


@pytest.mark.threat("P21")
async def test_the_bridge_leaves_no_trace_but_dtmcp_that_page_code_can_see(agent: Agent, site: Site):
    looking = """<script>
      const own = object => Reflect.ownKeys(object).map(String).sort().join();
      const seen = () => [window, document, EventTarget.prototype, Event.prototype, JSON, Promise.prototype]
        .map(own).join(';') + EventTarget.prototype.addEventListener + dispatchEvent + JSON.stringify;
      const start = seen();
      const reference = document.createElement('iframe');
    </script>""" + offering(tool("changed", "() => delete window.__dtmcp && seen() === start ? 'no' : 'yes'"))
    page = await open_page(agent, site.page("/looking", looking))
    await list_tools(agent, page)

    assert (await call(agent, page, "changed")).text == "no"


@pytest.mark.feature("pages.faults")
async def test_pages_that_are_not_http_are_listed_with_the_reason(agent: Agent):
    page = await open_page(agent, "about:blank")

    listing = await list_tools(agent, page)

    assert listing["groups"] == []
    assert listing["problems"] == [
        "No tools: tools are looked for on http and https pages, and this one has an opaque origin."
    ]
    assert code(await call(agent, page, "anything")) == "tool_not_found"


@pytest.mark.feature("pages.listing")
async def test_a_listing_of_many_tools_comes_in_parts(agent: Agent, site: Site):
    many = ", ".join(tool(f"tool{number}", "() => 1") for number in range(60))
    page = await open_page(agent, site.page("/many", offering(many)))
    found: list[str] = []
    cursor = None
    while True:
        listing = read(await agent.list_page_tools(page, None, cursor))
        found += names(listing["pages"][0])
        cursor = listing.get("next_cursor")
        if cursor is None:
            break

    assert found == [f"tool{number}" for number in range(60)]
    assert code(await agent.list_page_tools(page, None, "25.nonsense")) == "usage"
