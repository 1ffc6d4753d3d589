"""Where each key of a TOML text stands, whether it is TOML or not."""

import time
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.manifest.lines import Place, TextFault, find_lines

ODD = r'''# "not = here" [nor.here]
import = [ # a comment ] with a bracket
  "a.toml",

  "b.toml" , # and one "with" quotes
]
text = """
[tools]
x = 1 \""" y = 2
""""
other = \'\'\'
[tools]''\'\'\'
"quoted \"key\" \u00e9" = 'literal \'
a . "b" . c = {d = [1, {e = "}"}], 'f g' = 2} # ends
when = 1979-05-27 07:32:00

[tools]	# more
  click="builtin:click"
[ agents . "x.y" ]
tools = {exclude = [
  "click",
]}
[[many]]
z = 1
[[many]]
z = 2
[many.deep]
q = true'''.replace(r"\'\'\'", "'''")


def places(data: object, place: Place = ()) -> Iterator[Place]:
    if place:
        yield place
    items: Any = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from places(value, (*place, key))


def test_every_key_and_item_has_the_line_that_it_stands_on():
    lines = find_lines(ODD)

    assert set(places(tomllib.loads(ODD))) <= set(lines)
    assert {place: lines[place] for place in lines if place[0] != "a"} == {
        ("import",): 2,
        ("import", 0): 3,
        ("import", 1): 5,
        ("text",): 7,
        ("other",): 11,
        ('quoted "key" é',): 13,
        ("when",): 15,
        ("tools",): 17,
        ("tools", "click"): 18,
        ("agents",): 19,
        ("agents", "x.y"): 19,
        ("agents", "x.y", "tools"): 20,
        ("agents", "x.y", "tools", "exclude"): 20,
        ("agents", "x.y", "tools", "exclude", 0): 21,
        ("many",): 23,
        ("many", 0): 23,
        ("many", 0, "z"): 24,
        ("many", 1): 25,
        ("many", 1, "z"): 26,
        ("many", 1, "deep"): 27,
        ("many", 1, "deep", "q"): 28,
    }


def test_lines_that_end_as_on_windows_count_once():
    assert find_lines("a = 1\r\nb = 2\r\n") == {("a",): 1, ("b",): 2}


KEYS = st.one_of(
    st.from_regex(r"[A-Za-z0-9_-]{1,5}", fullmatch=True),
    st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=5).map(
        lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    ),
    st.text('ab #=.[]{}"', max_size=5).map(lambda text: f"'{text}'"),
)
VALUES = st.recursive(
    st.sampled_from(
        ["1", "true", '"#"', "'\\'", '""', "''", '"""\n[x]\na=1"""', "'''\n'''", '"""\\""""""', "1.5", "2020-01-01"]
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(inner, max_size=3).map(lambda items: "[ # [\n" + "".join(f"{item},\n" for item in items) + "]"),
        st.lists(inner, max_size=3).map(
            lambda items: "{" + ", ".join(f"k{number} = {item}" for number, item in enumerate(items)) + "}"
        ),
    ),
    max_leaves=6,
)
LINES = st.one_of(
    st.tuples(st.lists(KEYS, min_size=1, max_size=3), VALUES).map(lambda pair: f"{'.'.join(pair[0])} = {pair[1]}"),
    st.lists(KEYS, min_size=1, max_size=3).map(lambda parts: f"[{' . '.join(parts)}]"),
    KEYS.map(lambda key: f"[[{key}]] # c"),
    st.sampled_from(["", "# [x]", "   "]),
)


@given(st.lists(LINES, max_size=8).map("\n".join))
def test_whatever_the_parser_takes_is_found(text: str):
    try:
        data = tomllib.loads(text)
    except ValueError:
        return
    lines = find_lines(text)

    assert set(places(data)) <= set(lines)
    for place, line in lines.items():
        assert 1 <= line <= text.count("\n") + 1, place


@given(st.one_of(st.text("[]{}=.,#\"'\\\n\r\t ab1", max_size=60), st.text(max_size=40)))
def test_what_is_no_toml_is_left_to_the_parser(text: str):
    with suppress(TextFault):
        assert all(1 <= line <= text.count("\n") + 1 for line in find_lines(text).values())


@pytest.mark.threat("S2")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(".".join("a" * 30_000) + " = 1", id="a key of thirty thousand parts"),
        pytest.param("[" + ".".join("a" * 30_000) + "]", id="the same in a header"),
        pytest.param("\n\nx = {y = " + ".".join("a" * 30_000) + "}", id="after a fault"),
        pytest.param("a = " + "[" * 60_000, id="brackets"),
        pytest.param("a = " + "{a = " * 12_000, id="braces"),
        pytest.param("a = [" + "{a = [" * 9_000, id="both"),
        pytest.param("[[" * 30_000, id="headers"),
        pytest.param("a = " + '"""' * 20_000, id="quotes"),
        pytest.param('a = "' + "\\" * 60_000, id="backslashes"),
        pytest.param('a = """' + "\\" * 60_001, id="backslashes to the end"),
        pytest.param("a = '" * 12_000, id="half strings"),
        pytest.param("\n".join('a = """' + '"' * (number % 7) for number in range(5_000)), id="mixed quotes"),
        pytest.param("".join(f"k{number}=1\n" for number in range(8_000)), id="many keys"),
        pytest.param("# x\r" * 16_000, id="comments"),
    ],
)
def test_a_text_that_is_made_to_be_slow_is_looked_through_at_once(text: str):
    assert len(text) <= limits.MANIFEST_BYTES
    before = time.process_time()
    try:
        find_lines(text)
        tomllib.loads(text)
    except (ValueError, RecursionError):
        pass
    # Without the bound, one of these takes the parser minutes.
    assert time.process_time() - before < 2


@pytest.mark.threat("S2")
@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("\n" + ".".join("a" * 9) + " = 1", 2, "A key has more than 8 parts here."),
        ("\n\na = " + "[\n" * 9 + "]" * 9, 11, "More than 8 brackets are inside of each other here."),
        ("a = 1\nb = 2\na = 3", 3, "a is there a second time, after line 1. Keep one of the two."),
        ("[tools]\na = 1\n\n[tools]", 4, "tools is there a second time, after line 1. Keep one of the two."),
        ('[tools]\na = 1\n"a" = 2', 3, "tools.a is there a second time, after line 2. Keep one of the two."),
    ],
)
def test_what_no_manifest_needs_is_refused_where_it_stands(text: str, line: int, message: str):
    with pytest.raises(TextFault) as caught:
        find_lines(text)
    assert (caught.value.line, str(caught.value)) == (line, message)


def test_as_much_as_is_allowed_is_taken():
    text = ".".join("abcdefgh") + " = " + "[" * 8 + "1" + "]" * 8
    assert set(places(tomllib.loads(text))) <= set(find_lines(text))
