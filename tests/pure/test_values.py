"""Values read back from text, and paths into them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.page.values import CutText, Element, Instance, Marker, decode, read_pointer


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ('{"a":[1,"x",true]}', {"a": [1, "x", True]}),
        ('"[undefined]"', Marker("undefined")),
        (r'"\\[undefined]"', "[undefined]"),
        (r'"\\\\[undefined]"', "\\[undefined]"),
        (r'"\\[INFO] x"', "\\[INFO] x"),
        ('"[bigint -12]"', Marker("bigint", "-12")),
        ('"[bigint x]"', "[bigint x]"),
        ('"[regexp /a\\nb/]"', Marker("regexp", "/a\nb/")),
        ('"[same as /a/b]"', Marker("same as", "/a/b")),
        ('"[3 holes]"', Marker("holes", "3")),
        ('"[1 more item]"', Marker("more items", "1")),
        ('"[not shown: View]"', Marker("not shown:", "View")),
        ('"head…[5 more characters]"', CutText("head", 5)),
        (r'"head…\\[5 more characters]"', "head…[5 more characters]"),
        (r'"\\[url …\\[5 more characters]"', "[url …[5 more characters]"),
        (r'"\\[url …[5 more characters]"', CutText("[url ", 5)),
        ('{"[Map]":[[1,"[NaN]"]]}', Instance({"Map": [[1, Marker("NaN")]]})),
        ('{"[class]":"[NaN]","a":"[NaN]"}', Instance({"class": "[NaN]"}, {"a": Marker("NaN")})),
        (r'{"\\[Map]":1,"\\\\[Set]":2,"[x]":3}', {"[Map]": 1, "\\[Set]": 2, "[x]": 3}),
        ('{"uid":"e3-7","describe":"<b> “[NaN]”"}', Element("e3-7", "<b> “[NaN]”")),
        ('{"uid":"e3-7","describe":"<b …[5 more characters]"}', Element("e3-7", CutText("<b ", 5))),
        (r'{"uid":"[NaN]","\\\\describe":"[NaN]"}', {"uid": Marker("NaN"), "\\describe": Marker("NaN")}),
        (r'{"\\describe":1,"uid":"e3"}', {"\\describe": 1, "uid": "e3"}),
        ('{"uid":"e3-7","describe":1,"a":2}', {"uid": "e3-7", "describe": 1, "a": 2}),
        ('{"a":1,"[more keys]":7}', Instance({"more keys": 7}, {"a": 1})),
    ],
)
def test_text_is_read_back_as_the_value_that_it_says(text: str, value: object):
    assert decode(text) == value


def test_what_is_no_result_is_refused():
    with pytest.raises(ValueError, match="Expecting"):
        decode("[undefined]")


@given(st.lists(st.text()))
def test_a_pointer_is_read_as_the_steps_that_it_was_made_of(steps: list[str]):
    pointer = "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)

    assert read_pointer(pointer) == tuple(steps)


@pytest.mark.parametrize(
    ("pointer", "why"), [("a/b", "starts with /"), ("#/a", "starts with /"), ("/a~b", "written ~0")]
)
def test_what_is_no_pointer_says_why(pointer: str, why: str):
    with pytest.raises(ValueError, match=why):
        read_pointer(pointer)
