"""Arguments: read from whatever came, filled up with defaults, checked with messages that help, typed from words."""

import json
import math
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.calls.arguments import check_arguments, fill_defaults, parse_words, read_arguments
from bridge.errors import ArgumentsInvalid, SchemaUnusable
from bridge.tools.schema import CheckedSchema, check_schema

ADD = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(st.characters()), parts, max_size=4),
    max_leaves=15,
)


def checked(schema: object) -> CheckedSchema:
    return check_schema(json.dumps(schema))


def complaint(schema: object, arguments: dict[str, Any], tool: str = "add") -> str:
    with pytest.raises(ArgumentsInvalid) as caught:
        check_arguments(checked(schema), arguments, tool=tool)
    return str(caught.value)


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value


# Reading


@pytest.mark.feature("calls.arguments")
@pytest.mark.parametrize(
    ("given_", "read"),
    [
        (None, {}),
        ({}, {}),
        ("{}", {}),
        ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
        (' {"a": "é", "b": 1.5} ', {"a": "é", "b": 1.5}),
        ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
    ],
)
def test_an_object_is_read_from_each_form(given_: object, read: object):
    assert read_arguments(given_) == read


@pytest.mark.parametrize(
    ("given_", "reason"),
    [
        ([1], "must be an object, not an array of 1 item"),
        ("[1]", "must be an object, not an array of 1 item"),
        ("null", "must be an object, not null"),
        (5, "must be an object, not 5"),
        (b"{}", "must be an object, not a bytes"),
        ("", "can't be read"),
        ("{a: 1}", '"{a: 1}" can\'t be read'),
        ('{"a": NaN}', "NaN is not a JSON value"),
        ('{"a": 1e999}', "Out of range float values"),
        ({"a": math.inf}, "Out of range float values"),
        ({"a": {1}}, "set is not JSON serializable"),
        ({"a": (1,)}, "a tuple is not"),
        ({1: 2}, "1 can't be a name"),
        ({"a": 10**309}, "a page can hold"),
        ({"a": 10**5000}, "must be JSON"),
        (dict.fromkeys(["\ud800", "\ud801"]), "can't be a name"),
    ],
)
def test_anything_else_is_refused_with_one_clear_sentence(given_: object, reason: str):
    with pytest.raises(ArgumentsInvalid) as caught:
        read_arguments(given_)

    assert reason in str(caught.value)
    assert len(str(caught.value)) < 400


def test_an_object_that_holds_itself_is_refused():
    loop: dict[str, Any] = {}
    loop["a"] = [loop, loop]

    with pytest.raises(ArgumentsInvalid, match="Circular"):
        read_arguments(loop)


@pytest.mark.parametrize("as_text", [False, True])
def test_depth_is_bounded(as_text: bool):
    deepest, deeper = nested(limits.ARGUMENT_DEPTH), nested(limits.ARGUMENT_DEPTH + 1)

    assert read_arguments(json.dumps(deepest) if as_text else deepest) == deepest
    with pytest.raises(ArgumentsInvalid, match="deeper than 64"):
        read_arguments(json.dumps(deeper) if as_text else deeper)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"])
def test_text_that_nests_beyond_python_is_refused(text: str):
    with pytest.raises(ArgumentsInvalid):
        read_arguments(text)


@pytest.mark.parametrize("character", ["x", "é", "\n"])
def test_size_is_bounded_in_bytes_of_compact_json(character: str):
    each = len(json.dumps(character, ensure_ascii=False).encode()) - 2
    most = (limits.ARGUMENT_BYTES - len('{"a":""}')) // each

    assert read_arguments({"a": character * most})
    assert read_arguments(json.dumps({"a": character * most}, ensure_ascii=False, indent=8))
    with pytest.raises(ArgumentsInvalid, match="262,144 are allowed"):
        read_arguments({"a": character * (most + 1)})


def test_half_characters_become_visible_marks():
    assert read_arguments({"a\ud800": ["\udfff", "\ud83d\ude00"]}) == {"a�": ["�", "😀"]}


@given(json_values | st.dictionaries(st.text(), json_values))
def test_whatever_came_it_is_read_or_refused(value: object):
    try:
        arguments = read_arguments(value)
    except ArgumentsInvalid:
        return
    json.dumps(arguments, allow_nan=False, ensure_ascii=False).encode()


# Defaults


@pytest.mark.feature("calls.defaults")
def test_defaults_of_missing_properties_are_filled_at_every_depth():
    schema = {
        "properties": {
            "limit": {"default": 20},
            "page": {"properties": {"size": {"default": 5}, "number": {"default": 1}}},
        }
    }

    assert fill_defaults(schema, {"page": {"number": 2}}) == {"limit": 20, "page": {"number": 2, "size": 5}}


@pytest.mark.parametrize("value", [None, 0, False, "", [], {}])
def test_a_value_that_was_given_stays_whatever_it_is(value: object):
    assert fill_defaults({"properties": {"a": {"default": 1}}}, {"a": value}) == {"a": value}


def test_no_object_is_made_only_to_be_filled():
    assert fill_defaults({"properties": {"page": {"properties": {"size": {"default": 5}}}}}, {}) == {}


def test_an_object_that_is_a_default_is_filled_too():
    schema = {"properties": {"page": {"default": {"number": 1}, "properties": {"size": {"default": 5}}}}}

    assert fill_defaults(schema, {}) == {"page": {"number": 1, "size": 5}}


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"properties": {"a": {"default": 1}}}]},
        {"anyOf": [{"properties": {"a": {"default": 1}}}]},
        {"$ref": "#/definitions/x", "definitions": {"x": {"properties": {"a": {"default": 1}}}}},
        {"patternProperties": {"a": {"default": 1}}},
        {"additionalProperties": {"default": 1}},
        {"default": {"a": 1}},
        {"properties": {"a": True}},
        {"properties": {"a": {"items": {"default": 1}}}},
    ],
)
def test_defaults_come_from_plain_properties_only(schema: dict[str, Any]):
    assert fill_defaults(schema, {}) == {}


def test_neither_the_input_nor_the_schema_is_ever_shared():
    schema = {"properties": {"a": {"default": {"x": []}}, "b": {"properties": {"c": {"default": [1]}}}}}
    arguments: dict[str, Any] = {"b": {}}
    before = deepcopy((schema, arguments))

    filled = fill_defaults(schema, arguments)
    filled["a"]["x"].append(1)
    filled["b"]["c"].append(2)

    assert (schema, arguments) == before
    assert fill_defaults(schema, arguments) == {"a": {"x": []}, "b": {"c": [1]}}


def containers(value: object) -> set[int]:
    if not isinstance(value, dict | list):
        return set()
    parts = value.values() if isinstance(value, dict) else value
    return {id(value)}.union(*map(containers, parts))


schemas = st.recursive(
    st.fixed_dictionaries({}, optional={"default": json_values}),
    lambda parts: st.fixed_dictionaries(
        {"properties": st.dictionaries(st.sampled_from("abc"), parts, max_size=3)}, optional={"default": json_values}
    ),
    max_leaves=8,
)


@given(schemas, st.dictionaries(st.sampled_from("abc"), json_values))
def test_filling_mutates_nothing_aliases_no_default_and_keeps_what_was_given(
    schema: dict[str, Any], arguments: dict[str, Any]
):
    before = json.dumps([schema, arguments])

    filled = fill_defaults(schema, arguments)

    assert json.dumps([schema, arguments]) == before
    assert not containers(filled) & containers(schema)
    assert arguments.keys() <= filled.keys()
    assert json.dumps(fill_defaults(schema, filled)) == json.dumps(filled)


# Checking


def test_arguments_that_fit_come_back_filled():
    schema = checked({"properties": {"limit": {"type": "integer", "default": 5}}, "required": ["limit"]})

    assert check_arguments(schema, {}, tool="query") == {"limit": 5}


@pytest.mark.feature("calls.arguments")
def test_the_message_names_tool_field_what_is_needed_and_what_came():
    assert complaint(ADD, {"a": "1", "c": 2}) == (
        "Arguments for 'add' do not fit its schema: /a must be a number, not \"1\"; /b is missing (a number is "
        "required); /c is not known (known: a, b). Mend them and call again."
    )


def test_the_facts_name_each_place():
    with pytest.raises(ArgumentsInvalid) as caught:
        check_arguments(checked(ADD), {"a": 1, "c": 2}, tool="add")

    assert caught.value.facts() == {
        "faults": [{"pointer": "/b", "expected": "a number"}, {"pointer": "/c", "expected": "known: a, b"}]
    }


def test_five_faults_are_told_in_order_and_the_rest_counted():
    schema = {"properties": {name: {"type": "null"} for name in "gfedcba"}}

    message = complaint(schema, dict.fromkeys("gfedcba", 1))

    assert message.index("/a must") < message.index("/b must") < message.index("/e must")
    assert "/f" not in message
    assert "; and 2 more. Mend" in message


@pytest.mark.parametrize(
    ("part", "value", "problem"),
    [
        ({"type": ["string", "null"]}, 3, "/x must be a string or null, not 3"),
        ({"type": "integer"}, 1.5, "/x must be an integer, not 1.5"),
        ({"type": "boolean"}, "true", '/x must be a boolean, not "true"'),
        ({"type": "array"}, {"a": 1}, "/x must be an array, not an object of 1 property"),
        ({"type": "object"}, [1, 2], "/x must be an object, not an array of 2 items"),
        ({"enum": ["fast", "slow"]}, "quick", '/x must be one of "fast", "slow", not "quick"'),
        ({"enum": list(range(12))}, 99, "/x must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … (12 in all), not 99"),
        ({"const": {"a": 1}}, 2, '/x must be {"a": 1}, not 2'),
        ({"minimum": 5}, 4, "/x must be at least 5, not 4"),
        ({"maximum": 5}, 6, "/x must be at most 5, not 6"),
        ({"exclusiveMinimum": 5}, 5, "/x must be more than 5, not 5"),
        ({"exclusiveMaximum": 5}, 5, "/x must be less than 5, not 5"),
        ({"multipleOf": 0.5}, 0.7, "/x must be a multiple of 0.5, not 0.7"),
        ({"minLength": 2}, "a", '/x must be a string of at least 2 characters, not "a"'),
        ({"maxLength": 1}, "ab", '/x must be a string of at most 1 character, not "ab"'),
        ({"pattern": r"^\d+$"}, "a", r'/x must be a string that matches ^\d+$, not "a"'),
        ({"minItems": 1}, [], "/x must be an array of at least 1 item, not an array of 0 items"),
        ({"maxItems": 1}, [1, 2], "/x must be an array of at most 1 item, not an array of 2 items"),
        ({"uniqueItems": True}, [1, 1.0], "/x must be an array without equal items, not an array of 2 items"),
        ({"contains": {"type": "null"}}, [1], "/x must be an array with an item that fits `contains`"),
        ({"minProperties": 1}, {}, "/x must be an object of at least 1 property, not an object of 0 properties"),
        ({"items": {"type": "string"}}, ["a", 1], "/x/1 must be a string, not 1"),
        ({"items": [{}], "additionalItems": False}, [1, 2], "/x must be an array of at most 1 item"),
        ({"properties": {"y": False}}, {"y": 1}, "/x/y is not allowed"),
        ({"not": {"type": "string"}}, "a", "/x is what the schema excludes"),
        ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, "/x/ab has a name that does not fit: it must be a string of"),
        ({"required": ["a/b~"]}, {}, "/x/a~1b~0 is missing (a value is required)"),
        ({"dependencies": {"a": ["b"]}}, {"a": 1}, "/x/b is missing"),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}, "/x/b is missing"),
        ({"additionalProperties": False}, {"a": 1}, "/x/a is not known (no properties are known)"),
    ],
)
def test_each_kind_of_fault_has_its_words(part: dict[str, Any], value: object, problem: str):
    assert problem in complaint({"properties": {"x": part}}, {"x": value})


@pytest.mark.parametrize(
    ("part", "value", "problem"),
    [
        ({"prefixItems": [{}], "items": False}, [1, 2], "/x/1 is not allowed"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, '/x/b is missing (a value is required beside "a")'),
        ({"properties": {"a": {}}, "unevaluatedProperties": False}, {"b": 1}, "/x/b is not known"),
        ({"prefixItems": [{}], "unevaluatedItems": False}, [1, 2], "/x/1 is not known"),
        (
            {"contains": {"type": "null"}, "minContains": 2},
            [None],
            "/x must be an array with at least 2 items of a kind",
        ),
    ],
)
def test_newer_keywords_have_their_words_too(part: dict[str, Any], value: object, problem: str):
    assert problem in complaint({"$schema": DRAFT_2020, "properties": {"x": part}}, {"x": value})


def test_a_fault_of_the_whole_is_told_as_such():
    assert "the whole object must be an object of at least 1 property" in complaint({"minProperties": 1}, {})


SHAPES = {
    "anyOf": [
        {"properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
        {"properties": {"kind": {"const": "square"}, "side": {"type": "number"}}, "required": ["kind", "side"]},
        {"type": "string"},
    ]
}


@pytest.mark.parametrize(
    ("part", "value", "problem"),
    [
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 3, "/x must be a string or null, not 3"),
        ({"oneOf": [{"enum": ["a", "b"]}, {"type": "number"}]}, "c", '/x must be one of "a", "b" or a number, not "c"'),
        ({"anyOf": [{"type": "null"}, {"anyOf": [{"type": "string"}]}]}, 1, "/x must be null or a string, not 1"),
        (SHAPES, {"kind": "square"}, "/x/side is missing (a number is required)"),
        (SHAPES, {"kind": "circle", "radius": "1"}, '/x/radius must be a number, not "1"'),
        ({"anyOf": [{"type": "string", "minLength": 3}, {"type": "number"}]}, "a", "/x must be a string of at least 3"),
        (
            {"anyOf": [{"type": "array", "items": {"type": "null"}}, {"type": "number"}]},
            [1],
            "/x/0 must be null, not 1",
        ),
        (
            {"anyOf": [{"required": ["id"]}, {"required": ["name"]}]},
            {},
            "/x fits none of its 2 alternatives (/x/id is missing (a value is required); or /x/name is missing",
        ),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1, "b": 1}, "/x fits more than one of its"),
        ({"anyOf": [False, {"type": "null"}]}, 1, "/x must be no value at all or null, not 1"),
    ],
)
def test_of_alternatives_the_one_that_was_meant_is_told(part: dict[str, Any], value: object, problem: str):
    assert problem in complaint({"properties": {"x": part}}, {"x": value})


def test_a_default_that_does_not_fit_is_told_as_the_schemas_own():
    schema = {"properties": {"a": {"type": "number", "default": "none"}, "b": {"type": "number"}}}

    message = complaint(schema, {"b": "x"})

    assert '/a must be a number, not "none" (the schema\'s own default; give a value)' in message
    assert '/b must be a number, not "x". Mend' in message


@pytest.mark.parametrize(
    "value", ["v" * 100_000, 10**300, "\n" * 100_000, ["v" * 100_000], {"v" * 100_000: 1}, "é\x1b" * 9]
)
def test_no_more_than_a_little_of_a_value_is_quoted(value: object):
    message = complaint({"properties": {"x": {"const": 1}, "y": {"type": "null"}}}, {"x": value, "y": value}, "t" * 20)

    assert len(message) < 600
    assert message.isprintable()


def test_names_of_a_page_or_an_agent_can_not_break_the_line():
    schema = {
        "properties": {"\u202ea\n": {"pattern": "\x1b\\[31m"}},
        "required": ["\r\n"],
        "additionalProperties": False,
    }

    message = complaint(schema, {"\u202ea\n": "b", "\u2028": 1}, "a\nb")

    assert message.isprintable()
    assert r"/\u202ea\n must be a string that matches \u001b\\[31m" in message


def test_a_schema_that_is_too_costly_for_the_arguments_says_so():
    schema = checked({"properties": {"a": {"items": {"required": [str(number) for number in range(5_000)]}}}})

    with pytest.raises(SchemaUnusable, match="steps"):
        check_arguments(schema, {"a": [1] * 60_000}, tool="add")


def test_arguments_of_the_full_size_against_a_plain_schema_are_checked():
    row = {"type": "object", "properties": {name: {"type": "number"} for name in "abcd"}, "required": list("abcd")}
    rows = [dict.fromkeys("abcd", 1)] * 7_000

    arguments = read_arguments({"rows": rows})

    schema = checked({"properties": {"rows": {"type": "array", "items": row}}})
    assert check_arguments(schema, arguments, tool="add") == {"rows": rows}


PLAIN = {
    "properties": {
        "text": {"type": "string", "pattern": "^a", "minLength": 2},
        "list": {"items": {"enum": [1, "a", None]}, "uniqueItems": True},
        "either": {"anyOf": [{"type": "object", "required": ["b"]}, {"type": "array", "maxItems": 1}]},
        "tree": {"$ref": "#"},
    },
    "patternProperties": {"^x": {"multipleOf": 0.1}},
    "additionalProperties": {"not": {"type": "boolean"}},
    "propertyNames": {"maxLength": 6},
    "dependencies": {"text": ["list"]},
}


@given(
    st.recursive(
        json_values,
        lambda parts: st.dictionaries(st.sampled_from([*PLAIN["properties"], "x", "xy", "other"]), parts, max_size=4),
    ),
    st.sampled_from([PLAIN, {**PLAIN, "$schema": DRAFT_2020}]),
)
def test_whatever_the_arguments_are_only_errors_of_ours_come_out(value: object, schema: dict[str, Any]):
    try:
        check_arguments(checked(schema), read_arguments(value), tool="t")
    except ArgumentsInvalid as error:
        str(error).encode()


# Words of the command line

WORDS = checked(
    {
        "properties": {
            "string": {"type": "string"},
            "number": {"type": "number"},
            "integer": {"type": "integer"},
            "boolean": {"type": "boolean"},
            "null": {"type": "null"},
            "object": {"type": "object"},
            "array": {"type": "array"},
            "maybe": {"type": ["string", "null"]},
            "either": {"anyOf": [{"type": "number"}, {"type": "string"}]},
            "choice": {"enum": ["1", "2"]},
            "mixed": {"enum": [1, "a"]},
            "fixed": {"const": 5},
            "linked": {"$ref": "#/definitions/number"},
            "joined": {"allOf": [{"$ref": "#/definitions/number"}]},
            "loop": {"properties": {"x": {"$ref": "#/properties/loop"}}},
            "any": {"description": "no type"},
        },
        "definitions": {"number": {"type": "number"}},
    }
)


@pytest.mark.feature("terminal.call")
@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("string=5", "5"),
        ("string=", ""),
        ("string=a=b", "a=b"),
        ('string={"a": 1}', '{"a": 1}'),
        ("string=null", "null"),
        ("number=1.5e3", 1500.0),
        ("number=-1", -1),
        ("integer=3", 3),
        ("integer=3.0", 3.0),
        ("boolean=true", True),
        ("null=null", None),
        ('object={"a": [1]}', {"a": [1]}),
        ("array=[1, null]", [1, None]),
        ("maybe=null", None),
        ("maybe=5", "5"),
        ("either=5", 5),
        ("either=five", "five"),
        ("choice=1", "1"),
        ("mixed=1", 1),
        ("mixed=a", "a"),
        ("fixed=5", 5),
        ("linked=2", 2),
        ("joined=2", 2),
        ("any=2", 2),
        ("any=two", "two"),
        ('any="two"', "two"),
        ("unknown=[1]", [1]),
        ("unknown=NaN", "NaN"),
        ("unknown=" + "[" * 100_000, "[" * 100_000),
    ],
)
def test_a_word_is_read_as_the_type_of_its_key(word: str, value: object):
    read = parse_words(WORDS, [word])

    assert read == {word.partition("=")[0]: value}
    assert [type(part) for part in read.values()] == [type(value)]


def test_several_words_make_one_object():
    assert parse_words(WORDS, ["number=1", "string=x"]) == {"number": 1, "string": "x"}
    assert parse_words(WORDS, []) == {}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["number"], '"number" is not of the form key=value.'),
        (["=1"], '"=1" is not of the form key=value.'),
        (["number=1", "number=2"], "number is given twice."),
        (["number=abc"], 'number must be a number, not "abc".'),
        (["number="], 'number must be a number, not "".'),
        (["number=NaN"], 'number must be a number, not "NaN".'),
        (["number=01"], 'number must be a number, not "01".'),
        (["integer=1.5"], 'integer must be an integer, not "1.5".'),
        (["boolean=yes"], 'boolean must be a boolean, not "yes".'),
        (["object=[1]"], 'object must be an object, not "[1]".'),
        (["array=" + "[" * 100_000], "array must be an array"),
        (["string=" + "x" * 300_000], "262,144 are allowed"),
    ],
)
def test_a_word_of_another_form_or_type_is_refused_in_one_sentence(words: list[str], reason: str):
    with pytest.raises(ArgumentsInvalid) as caught:
        parse_words(WORDS, words)

    assert reason in str(caught.value)
    assert len(str(caught.value)) < 300
