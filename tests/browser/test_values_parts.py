"""A part of a result: a JSON Pointer, followed in the page."""

import pytest

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.errors import PartNotFound
from tests.browser.giving import Give, open_giver
from tests.sites import Site

SHOP = """({
  cart: {items: [{id: 1, name: 'pen'}, {id: 2, owner: new Map([['k', {deep: [7, , 9]}]])}], total: 5},
  'a/b~c': {'': 1}, '[Map]': 'mine', made: new Date(0), error: new Error('e', {cause: [1]}), text: 'hello',
  price: new (class { toJSON() { return {amount: [5]} } }), one: new (class Cart { total = 3 }),
  get self() { return this }, get bad() { throw new Error('no') } })"""


@pytest.fixture
async def give(bridge: Bridge, agent: Agent, site: Site) -> Give:
    return await open_giver(bridge, agent, site)


@pytest.mark.feature("results.part")
async def test_a_part_of_a_result_is_taken_in_the_page(give: Give):
    parts = {
        "": (await give(SHOP)).text,
        "/cart/total": "5",
        "/cart/items/0": '{"id":1,"name":"pen"}',
        "/cart/items/1/owner/[Map]/0/1/deep": '[7,"[hole]",9]',
        "/cart/items/1/owner/[Map]/0/1/deep/2": "9",
        "/a~1b~0c/": "1",
        "/\\[Map]": "mine",
        "/made": '"[date 1970-01-01T00:00:00.000Z]"',
        "/price/amount/0": "5",
        "/error/cause": "[1]",
        "/error/[Error]": "Error: e",
        "/one/[class]": "Cart",
        "/one/total": "3",
        "/self/self/cart/items/0/id": "1",
        "/text": "hello",
    }

    assert {pointer: (await give(SHOP, pointer)).text for pointer in parts} == parts


async def test_the_parts_of_an_element_are_the_two_that_are_told(give: Give):
    source = "({at: element('<b>x</b>'), no: {uid: 1, describe: 2}})"

    assert (await give(source, "/at/describe")).text == "<b> “x”"
    assert (await give(source, "/at/uid")).text.startswith("e2-")
    assert (await give(source, "/no/\\describe")).text == "2"
    with pytest.raises(PartNotFound, match='"/at" is an element, <b>'):
        await give(source, "/at/id")


async def test_paths_in_a_part_count_from_the_whole_result(give: Give):
    source = "(() => { const x = {}; x.list = [{x}, 2]; x.list.push(x.list[0]); return {x} })()"

    part = (await give(source, "/x/list")).text

    assert part == '[{"x":{"list":"[circular /x/list]"}},2,"[same as /x/list/0]"]'
    assert (await give(source, "/x/list/0/x/list/1")).text == "2"


async def test_a_part_of_a_flood_is_taken_from_where_it_was_cut(give: Give):
    source = "({list: Array.from({length: 1e6}, (_, n) => 'item ' + n)})"

    assert (await give(source)).text.endswith('"item 99999","[900000 more items]"]}')
    assert (await give(source, "/list/999999")).text == "item 999999"


@pytest.mark.feature("results.part")
@pytest.mark.parametrize(
    ("pointer", "told"),
    [
        (
            "/basket",
            'nothing at "/basket": the result is an object with the keys "cart", "a/b~c", "\\\\[Map]", "made",',
        ),
        ("/cart/items/7", 'nothing at "/cart/items/7": "/cart/items" is an array of 2 items.'),
        ("/cart/items/length", '"/cart/items" is an array of 2 items.'),
        ("/cart/items/01", '"/cart/items" is an array of 2 items.'),
        ("/cart/items/0/price/x", '"/cart/items/0/price": "/cart/items/0" is an object with the keys "id", "name".'),
        ("/cart/items/1/owner/k", '"/cart/items/1/owner" is an object with the keys "[Map]".'),
        ("/cart/toString", '"/cart" is an object with the keys "items", "total".'),
        ("/a~1b~0c//x", '"/a~1b~0c/" is the number 1.'),
        ("/[Map]", 'nothing at "/[Map]": the result is an object'),
        ("/made/year", '"/made" is [date 1970-01-01T00:00:00.000Z].'),
        ("/text/0", '"/text" is the string "hello".'),
        ("/bad/x", 'nothing at "/bad": the result is a value that threw Error: no.'),
    ],
)
async def test_a_path_that_leads_nowhere_names_what_is_there(give: Give, pointer: str, told: str):
    with pytest.raises(PartNotFound) as failure:
        await give(SHOP, pointer)

    assert told in str(failure.value)
    assert (failure.value.outcome, failure.value.dispatched) == ("completed", True)
