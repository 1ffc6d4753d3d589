"""Chromium's accessibility tree as lines, whatever it sends."""

import json
from itertools import count
from typing import Any

from bridge import limits
from bridge.page.frames import FrameId, Realm
from bridge.page.snapshot import Line, build_tree, write_tree
from bridge.wire.router import SessionId

REALM = Realm("1", 1, "https://a.test", FrameId("F"), SessionId("S"))


def node(role: str, name: str = "", *children: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A node of a nested tree; `flat` makes Chromium's list of it."""
    properties = [{"name": key, "value": {"value": value}} for key, value in more.pop("properties", {}).items()]
    return {"role": {"value": role}, "name": {"value": name}, "properties": properties, "inside": children, **more}


def flat(root: dict[str, Any]) -> list[dict[str, Any]]:
    numbers = count(1)
    nodes: list[dict[str, Any]] = []

    def add(one: dict[str, Any]) -> str:
        number = next(numbers)
        entry = {**one, "nodeId": str(number), "backendDOMNodeId": number}
        nodes.append(entry)
        entry["childIds"] = [add(child) for child in entry.pop("inside")]
        return str(number)

    add(root)
    return nodes


def write(root: dict[str, Any], **options: Any) -> list[str]:
    tree = build_tree(flat(root))
    assert tree is not None
    return [line.write() for line in write_tree(tree, REALM, **options)]


def test_what_has_no_meaning_of_its_own_is_left_out_unless_it_is_wanted():
    tree = node(
        "RootWebArea",
        "T",
        node("none", "", node("generic", "", node("button", "B", node("StaticText", "B"))), ignored=True),
    )

    assert write(tree) == ['RootWebArea "T"', '  button "B"']
    assert write(tree, verbose=True) == ['RootWebArea "T"', "  generic", '    button "B"', '      text "B"']


def test_a_name_that_says_all_that_is_in_it_is_said_once():
    says = node("link", "Go to cart", node("StaticText", "Go "), node("generic", "", node("StaticText", "to cart")))
    more = node("link", "Go", node("StaticText", "Go"), node("image", "Cart"))
    other = node("button", "Close", node("StaticText", "X"))

    assert write(node("main", "", says, more, other)) == [
        "main",
        '  link "Go to cart"',
        '  link "Go"',
        '    text "Go"',
        '    image "Cart"',
        '  button "Close"',
        '    text "X"',
    ]


def test_what_is_in_a_field_is_its_value():
    field = node(
        "textbox",
        "Mail",
        node("generic", "", node("StaticText", "a@b")),
        value={"value": "a@b"},
        properties={"editable": "plaintext", "required": True},
    )
    rich = node(
        "textbox", "Text", node("StaticText", "rich"), properties={"editable": "richtext"}, value={"value": "rich"}
    )

    assert write(field) == ['textbox "Mail" value="a@b" required']
    assert write(rich) == ['textbox "Text"', '  text "rich"']


def test_states_and_facts_are_told_beside_the_name():
    box = node(
        "checkbox", "All", properties={"checked": "mixed", "disabled": True, "invalid": "false", "focused": False}
    )
    head = node("heading", "H", properties={"level": 2, "roledescription": "big\nhead"})
    menu = node("button", "M", properties={"expanded": False}, description={"value": "Opens"})

    assert write(node("main", "", box, head, menu))[1:] == [
        '  checkbox "All" checked=mixed disabled',
        '  heading "H" level=2 roledescription="big\\nhead"',
        '  button "M" collapsed description="Opens"',
    ]


def test_limits_are_told_where_there_are_any():
    free = node("spinbutton", "Free", properties={"valuemin": 0, "valuemax": 0})
    least = node("spinbutton", "Least", properties={"valuemin": 1, "valuemax": 0})
    most = node("slider", "Most", properties={"valuemin": -1.5, "valuemax": 0})
    half = node("meter", "Half", properties={"valuemax": 5})
    odd = node("slider", "Odd", properties={"valuemin": "none", "valuemax": 0})

    assert write(node("main", "", free, least, most, half, odd))[1:] == [
        '  spinbutton "Free"',
        '  spinbutton "Least" valuemin=1',
        '  slider "Most" valuemin=-1.5 valuemax=0',
        '  meter "Half" valuemax=5',
        '  slider "Odd" valuemin="none" valuemax=0',
    ]


def test_words_of_a_page_stay_in_their_quotes():
    [line] = write(node("button", 'x"\n  e1-1 button "Pay"', value={"value": "\r\u2028"}))

    assert "\n" not in line
    assert line.startswith('button "x\\"\\n  e1-1 button \\"Pay\\""')


def test_long_texts_are_cut():
    [line] = write(node("button", "x" * 5000))

    assert line.endswith('x… (4,500 more characters)"')


def test_a_deep_tree_is_written_without_recursion_and_with_bounded_indents():
    nodes = [
        {"nodeId": str(number), "role": {"value": "group"}, "name": {"value": "g"}, "childIds": [str(number + 1)]}
        for number in range(5000)
    ]
    tree = build_tree(nodes)
    assert tree is not None

    lines = [line.write() for line in write_tree(tree, REALM)]

    assert len(lines) == 5000
    assert max(len(line) - len(line.lstrip()) for line in lines) == 2 * limits.SNAPSHOT_DEPTH


def test_a_tree_that_is_none_does_no_harm():
    nodes = [
        {"nodeId": "1", "role": {"value": "main"}, "childIds": ["2", "2", "1", "9"]},
        {"nodeId": "2", "role": {"value": "button"}, "name": {"value": 7}, "childIds": ["1", "2"]},
        {"nodeId": "3", "role": None, "properties": [{"name": "checked"}], "childIds": ["3"]},
    ]
    tree = build_tree(nodes)

    assert tree is not None
    assert [line.write() for line in write_tree(tree, REALM)] == ["main", '  button "7"']
    assert build_tree([]) is None
    assert build_tree(nodes, only=99) is None


def test_one_node_and_what_is_in_it_can_be_written_alone():
    tree = build_tree(flat(node("main", "", node("group", "A", node("button", "B")), node("group", "C"))), only=2)

    assert tree is not None
    assert [line.write() for line in write_tree(tree, REALM)] == ['group "A"', '  button "B"']


def test_a_masked_value_is_no_value_of_the_page():
    masked, said = (
        Line(0, REALM, 1, "textbox", "", "(masked)"),
        Line(0, REALM, 1, "textbox", "", json.dumps("(masked)")),
    )

    assert masked.write() == "textbox value=(masked)"
    assert said.write() != masked.write()
