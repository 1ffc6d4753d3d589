"""A page's input schema: what is refused and why, what is checked, and that nothing hangs or reaches out."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.errors import SchemaUnusable
from bridge.tools.bounds import nesting
from bridge.tools.keywords import identity
from bridge.tools.schema import CheckedSchema, check_schema

DIALECTS = {
    "Draft 4": "http://json-schema.org/draft-04/schema#",
    "Draft 6": "http://json-schema.org/draft-06/schema#",
    "Draft 7": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
LONG = "a" * 40 + "b"
HANG_SECONDS = 20.0


@pytest.fixture(autouse=True)
def ends_in_time() -> Iterator[None]:
    """A check that hangs holds the GIL, so only a signal gets through."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"still running after {HANG_SECONDS:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def checked(schema: object) -> CheckedSchema:
    return check_schema(json.dumps(schema))


def fits(schema: dict[str, Any], value: object, dialect: str = "Draft 7") -> bool:
    return not checked({"$schema": DIALECTS[dialect], **schema}).check(value)


def refusal(schema: object) -> str:
    with pytest.raises(SchemaUnusable) as caught:
        check_schema(schema if isinstance(schema, str) else json.dumps(schema))
    return str(caught.value)


# The document


def test_an_empty_schema_accepts_anything():
    schema = checked({})

    assert (schema.source, schema.text, schema.dialect, schema.unchecked) == ({}, "{}", "Draft 7", ())
    assert schema.check({"a": [1]}) == []


def test_the_canonical_text_does_not_depend_on_order_or_space():
    assert check_schema('{"type": "object",  "title": "é"}') == check_schema('{"title":"\\u00e9","type":"object"}')
    assert check_schema('{ "b":1, "a":2 }').text == '{"a":2,"b":1}'


def test_the_source_stays_as_the_page_gave_it():
    given = {"$schema": DIALECTS["Draft 7"], "properties": {"a": {"enum": [1]}}, "dependencies": {"a": ["b"]}}

    assert checked(given).source == given


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("true", "is true"),
        ("null", "is null"),
        ("[]", "is an array of 0 items"),
        ('"object"', 'is "object"'),
        ("7", "is 7"),
        ("{", "can't be read as JSON"),
        ("", "can't be read as JSON"),
        ('{"a": NaN}', "NaN is not a JSON value"),
        ('{"maximum": 1e999}', "beyond those of JavaScript"),
        ('{"maximum": ' + "9" * 5000 + "}", "5,000 digits"),
        ('{"title": "\\ud800"}', "lone surrogate"),
        ('{"title": "\n"}', "can't be read as JSON"),
    ],
)
def test_what_is_not_an_object_of_json_is_refused_with_what_it_is(text: str, found: str):
    assert found in refusal(text)


@pytest.mark.feature("pages.dialects")
@pytest.mark.parametrize("name", DIALECTS)
def test_each_dialect_is_known_by_its_uri_however_it_is_spelled(name: str):
    uri = DIALECTS[name].removesuffix("#").removeprefix("https:").removeprefix("http:")

    for spelling in (f"http:{uri}", f"https:{uri}", f"http:{uri}#", f"https:{uri}#"):
        assert checked({"$schema": spelling}).dialect == name


@pytest.mark.threat("P17")
@pytest.mark.parametrize("uri", ["http://json-schema.org/draft-03/schema#", "urn:mine", "", 7, None])
def test_an_unknown_dialect_is_refused_with_those_that_are_known(uri: object):
    assert "known: Draft 4, Draft 6, Draft 7, 2019-09, 2020-12" in refusal({"$schema": uri})


def test_a_dialect_has_its_own_keywords():
    tuples = {"properties": {"a": {"items": [{"type": "string"}]}}}
    prefixes = {"properties": {"a": {"prefixItems": [{"type": "string"}]}}}

    assert not fits(tuples, {"a": [1]}, "Draft 7")
    assert fits(prefixes, {"a": [1]}, "Draft 7")
    assert not fits(prefixes, {"a": [1]}, "2020-12")
    assert fits({"properties": {"a": {"minimum": 5, "exclusiveMinimum": True}}}, {"a": 6}, "Draft 4")
    assert not fits({"properties": {"a": {"minimum": 5, "exclusiveMinimum": True}}}, {"a": 5}, "Draft 4")
    assert not fits({"properties": {"a": {"type": "integer"}}}, {"a": 1.0}, "Draft 4")
    assert fits({"properties": {"a": {"type": "integer"}}}, {"a": 1.0}, "Draft 6")


def test_two_dialects_in_one_document_are_refused():
    assert "mixes dialects: /properties/a" in refusal({"properties": {"a": {"$schema": DIALECTS["2020-12"]}}})


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"properties": {"a": {"type": "strng"}}}, '/properties/a/type must be one of "array"'),
        ({"properties": {"a": {"minimum": "x"}}}, '/properties/a/minimum must be a number, not "x"'),
        ({"required": "a"}, '/required must be an array, not "a"'),
        ({"$schema": DIALECTS["2020-12"], "items": [{}]}, "/items must be an object or a boolean"),
        ({"$schema": DIALECTS["Draft 4"], "properties": {"a": True}}, "/properties/a must be an object"),
        ({"$ref": "#/x", "x": {"type": "strng"}}, "/x/type must be one of"),
    ],
)
def test_a_schema_that_breaks_its_meta_schema_is_refused_with_the_place_and_the_reason(schema: object, reason: str):
    assert reason in refusal(schema)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_also_of_a_large_schema_it_is_told_where_it_is_wrong(dialect: str):
    many: dict[str, Any] = {f"p{number}": {} for number in range(900)}
    inner = {"properties": {**many, "z": {"type": "strng"}}}

    reason = refusal({"$schema": DIALECTS[dialect], "properties": {"a": inner}})

    assert "/properties/a/properties/z/type must be one of" in reason


def test_formats_are_not_asserted():
    assert fits({"properties": {"a": {"type": "string", "format": "date"}}}, {"a": "tomorrow"})


# Bounds, each at the limit and one beyond


def test_text_over_the_limit_is_refused():
    text = '{"title":"' + "x" * (limits.SCHEMA_CHARS - 12) + '"}'

    assert check_schema(text)
    assert "65,537 characters" in refusal(text + " ")


@pytest.mark.threat("P17")
def test_depth_over_the_limit_is_refused():
    def nested(depth: int) -> str:
        return '{"default":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"

    assert check_schema(nested(limits.SCHEMA_DEPTH))
    assert "deeper than 32" in refusal(nested(limits.SCHEMA_DEPTH + 1))
    assert "deeper than 32" in refusal("[" * 60_000)


def test_too_many_subschemas_are_refused():
    def wide(number: int) -> dict[str, Any]:
        return {"properties": {f"p{count}": {} for count in range(number - 1)}}

    assert checked(wide(limits.SCHEMA_SUBSCHEMAS))
    assert "more than 2,000 subschemas" in refusal(wide(limits.SCHEMA_SUBSCHEMAS + 1))


@pytest.mark.threat("P17")
def test_too_long_an_enum_is_refused():
    assert checked({"enum": [1] * limits.SCHEMA_ENUM_VALUES})
    assert "enum of 10,001 values" in refusal({"enum": [1] * (limits.SCHEMA_ENUM_VALUES + 1)})


def test_too_long_a_pattern_is_refused():
    assert checked({"pattern": "a" * limits.PATTERN_CHARS})
    assert "1,001 characters at /pattern" in refusal({"pattern": "a" * (limits.PATTERN_CHARS + 1)})
    assert "1,001 characters" in refusal({"patternProperties": {"a" * (limits.PATTERN_CHARS + 1): {}}})


def test_too_many_patterns_are_refused():
    def many(number: int) -> dict[str, Any]:
        return {"patternProperties": {f"a{count}": {} for count in range(number)}}

    assert checked(many(limits.SCHEMA_PATTERNS))
    assert "more than 100 patterns" in refusal(many(limits.SCHEMA_PATTERNS + 1))


def chain(length: int, *, twice: int = 2) -> dict[str, Any]:
    links: dict[str, Any] = {
        f"a{number}": {"allOf": [{"$ref": f"#/definitions/a{number + 1}"}] * twice} for number in range(length)
    }
    return {"$ref": "#/definitions/a0", "definitions": {**links, f"a{length}": {}}}


@pytest.mark.threat("P17")
@pytest.mark.parametrize("length", [18, 40])
def test_references_that_multiply_are_refused(length: int):
    assert "multiplies too much" in refusal(chain(length))


def test_references_that_multiply_a_little_are_fine():
    assert checked(chain(8)).check({}) == []


@pytest.mark.threat("P17")
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"not": {"$ref": "#/definitions/a"}}}},
        {"dependencies": {"a": {"$ref": "#"}}},
        {"if": {}, "then": {"$ref": "#"}},
        {"$schema": DIALECTS["2020-12"], "$dynamicAnchor": "x", "anyOf": [{"$dynamicRef": "#x"}]},
        {"$schema": DIALECTS["2019-09"], "$recursiveAnchor": True, "oneOf": [{"$recursiveRef": "#"}]},
    ],
)
def test_a_cycle_that_never_goes_into_the_value_is_refused(schema: object):
    assert "never ends" in refusal(schema)


def test_a_cycle_through_a_property_or_an_item_is_a_tree():
    tree = {"properties": {"children": {"type": "array", "items": {"$ref": "#"}}}, "required": ["name"]}

    assert fits(tree, {"name": "a", "children": [{"name": "b"}]})
    assert not fits(tree, {"name": "a", "children": [{}]})


def test_a_long_chain_of_references_ends_in_an_error_of_ours():
    schema = checked(chain(900, twice=1))

    with pytest.raises(SchemaUnusable, match="nest too deeply"):
        schema.check({})


def test_a_linked_list_as_deep_as_arguments_may_be_is_checked():
    schema = {"properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}
    value: Any = None
    for _ in range(limits.ARGUMENT_DEPTH):
        value = {"next": value}

    assert fits(schema, value, "2020-12")


# References


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/n", "$defs": {"n": {"type": "number"}}},
        {"$ref": "#/definitions/n", "definitions": {"n": {"type": "number"}}},
        {"$ref": "#n", "definitions": {"n": {"$id": "#n", "type": "number"}}},
        {"$ref": "n.json", "definitions": {"n": {"$id": "n.json", "type": "number"}}},
        {"$id": "http://a.test/x", "allOf": [{"$ref": "n"}], "definitions": {"n": {"$id": "n", "type": "number"}}},
        {"$ref": "#/anywhere/0", "anywhere": [{"type": "number"}]},
        {"$schema": DIALECTS["2020-12"], "$ref": "#n", "$defs": {"n": {"$anchor": "n", "type": "number"}}},
        {"$schema": DIALECTS["Draft 4"], "$ref": "#n", "definitions": {"n": {"id": "#n", "type": "number"}}},
    ],
)
def test_references_inside_the_document_are_followed(schema: object):
    assert [fault.expected for fault in checked(schema).check("text")] == ["a number"]


@pytest.mark.parametrize(
    "reference",
    [
        "#/definitions/gone",
        "#gone",
        "#/properties/a/type/0/x",
        "gone.json",
        "http://127.0.0.1:9/x.json",
        "https://example.com/x.json#/a",
        "file:///etc/passwd",
        "ftp://127.0.0.1/x",
        "data:application/json,{}",
        "//host/share",
        "http://[",
        "urn:gone",
    ],
)
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_a_reference_to_nothing_in_the_document_is_refused_by_name(keyword: str, reference: str):
    schema = {"$schema": DIALECTS["2020-12"], "properties": {"a": {"type": "string", "not": {keyword: reference}}}}

    reason = refusal(schema)

    assert json.dumps(reference) in reason
    assert "/properties/a/not" in reason


def test_a_reference_to_what_is_no_schema_is_refused():
    assert "is 5 and not a schema" in refusal({"$ref": "#/x", "x": 5})


def test_a_name_that_only_looks_like_a_keyword_is_a_property():
    schema = {"properties": {"$ref": {"type": "string"}, "$schema": {"type": "string"}, "properties": {"type": "null"}}}

    assert fits(schema, {"$ref": "#/gone", "$schema": "x", "properties": None})
    assert not fits(schema, {"$ref": 1})


def test_data_is_not_taken_for_references():
    assert checked({"enum": [{"$ref": "http://a.test"}], "default": {"$ref": "x"}, "examples": [{"$ref": "#/x"}]})


CANARY = """
import json, sys
from bridge.errors import SchemaUnusable
from bridge.tools.export import export_schema
from bridge.tools.schema import check_schema

def attempt(schema, value):
    try:
        checked = check_schema(json.dumps(schema))
        checked.check(value)
        export_schema(checked, "strict")
    except SchemaUnusable:
        pass

dialects, urls = json.loads(sys.argv[1])
for dialect in dialects:
    attempt({"$schema": dialect, "properties": {"a": {"pattern": "x"}}}, {"a": "y"})

seen = []
sys.addaudithook(lambda event, args: seen.append((event, args)) if event.startswith(
    ("open", "socket.", "urllib.", "http.", "subprocess.", "os.open", "os.system", "ftplib.", "import")) else None)
for url in urls:
    attempt({"$schema": url}, {})
    for dialect in dialects:
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef", "$id", "id", "$schema"):
            attempt({"$schema": dialect, "properties": {"a": {keyword: url}}}, {"a": {}})
            attempt({keyword: url, "$schema": dialect, "$ref": "x", "definitions": {"x": {"$id": "x"}}}, {"a": 1})
            attempt({"$schema": dialect, "$id": url, "not": {"$ref": "#/x"}, "x": {keyword: url}}, {"a": 1})
        attempt({"$schema": dialect, "$vocabulary": {url: True}, "$comment": url, "format": url}, {})
print(json.dumps(seen, default=str))
"""


@pytest.mark.threat("P18")
def test_no_schema_opens_a_file_or_a_socket(tmp_path: Path):
    fifo, file = tmp_path / "fifo", tmp_path / "schema.json"
    os.mkfifo(fifo)  # reading it would block for ever
    file.write_text('{"type": "string"}')
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        port = server.getsockname()[1]
        urls = [
            f"http://127.0.0.1:{port}/x",
            f"ftp://127.0.0.1:{port}/x",
            f"file://{fifo}",
            f"file://{file}",
            str(file),
            "http://169.254.169.254/latest",
            "//127.0.0.1/share",
            "\\\\127.0.0.1\\share",
            'data:application/json,{"type":"string"}',
        ]
        ran = subprocess.run(
            [sys.executable, "-c", CANARY, json.dumps([list(DIALECTS.values()), urls])],
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS - 1,
            check=False,
        )
        with pytest.raises(BlockingIOError):
            server.accept()

    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout) == []


# Hostile schemas and values: each of these hangs or crashes a plain validator


@pytest.mark.threat("P17")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_pattern_that_backtracks_for_ever_takes_no_time(dialect: str):
    assert not fits({"properties": {"a": {"pattern": "^(a+)+$"}}}, {"a": LONG}, dialect)
    assert not fits({"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}, {LONG: 1}, dialect)


@pytest.mark.threat("P17")
def test_no_way_leads_around_the_linear_patterns():
    root = {"$schema": DIALECTS["Draft 7"], "pattern": "^(a+)+$", "properties": {"a": {"$ref": "#"}}}
    left_over = {"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False}

    assert checked(root).check({"a": LONG})
    assert not fits(left_over, {LONG: 1}, "2019-09")
    assert not fits(left_over, {LONG: 1}, "2020-12")
    assert not fits({"propertyNames": {"pattern": "^(a+)+$"}}, {LONG: 1})


@pytest.mark.threat("P17")
def test_many_unique_items_take_linear_time():
    schema = {"properties": {"a": {"uniqueItems": True}}}
    different = [{"number": number} for number in range(10_000)]

    assert fits(schema, {"a": different})
    assert not fits(schema, {"a": [*different, {"number": 7.0}]})


@pytest.mark.threat("P17")
def test_integers_chosen_to_collide_take_linear_time():
    assert fits({"properties": {"a": {"uniqueItems": True}}}, {"a": [n * (2**61 - 1) for n in range(12_000)]})


def test_a_large_enum_is_no_loop():
    schema = {"properties": {"a": {"items": {"enum": list(range(9_000))}}}}

    assert fits(schema, {"a": list(range(5_000))})


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"x": value}
    return value


@pytest.mark.threat("P17")
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"properties": {"x": {"$ref": "#"}}, "patternProperties": {"x": {"$ref": "#"}}}, deep(60)),
        ({"properties": {"a": {"allOf": [{"pattern": f"x{n}"} for n in range(90)]}}}, {"a": "y" * 250_000}),
        ({"properties": {"a": {"items": {"anyOf": [{"type": "null"}] * 9}}}}, {"a": [None] * 60_000}),
        ({"properties": {"a": {"items": {"dependencies": {str(n): [] for n in range(900)}}}}}, {"a": [{}] * 5_000}),
        ({"properties": {"a": {"pattern": "[a-z]{1,1000}$"}}}, {"a": "y" * 50_000}),
        ({"properties": {"a": {"anyOf": [{"enum": ["a"]}] * 500}}}, {"a": "y" * 250_000}),
        ({"properties": {"a": {"items": {"multipleOf": 1e-300}}}}, {"a": [1.25e300] * 1_000}),
        ({"properties": {"a": {"allOf": [{"uniqueItems": True}] * 500}}}, {"a": [[n] for n in range(20_000)]}),
    ],
)
def test_work_beyond_the_budget_ends_as_an_unusable_schema(schema: object, value: dict[str, Any]):
    with pytest.raises(SchemaUnusable, match="more than 5,000 steps"):
        checked(schema).check(value, steps=5_000)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"anyOf": [{"properties": {"a": {"items": {"type": "null"}}}}] * 9}, {"a": [1] * 60_000}),
        ({"properties": {"a": {"items": {"required": [str(n) for n in range(5_000)]}}}}, {"a": [{}] * 5_000}),
    ],
)
def test_a_value_that_does_not_fit_is_told_so_though_it_is_too_large_to_say_where(
    schema: object, value: dict[str, Any]
):
    (fault,) = checked(schema).check(value, steps=5_000)

    assert fault.sentence("it") == "it does not fit, and is too large to say where: send less at a time"


def test_one_check_does_not_spend_the_budget_of_the_next():
    schema = checked({"properties": {"a": {"items": {"type": "number"}}}})

    for _ in range(3):
        assert schema.check({"a": [1] * 100}, steps=250) == []
    with pytest.raises(SchemaUnusable):
        schema.check({"a": [1] * 200}, steps=250)


@pytest.mark.threat("P17")
def test_extreme_numbers_are_compared_exactly():
    multiple = {"properties": {"a": {"multipleOf": 1e-300}}}

    assert fits(multiple, {"a": 1e300})
    assert fits({"properties": {"a": {"multipleOf": 0.01}}}, {"a": 19.99})
    assert not fits({"properties": {"a": {"multipleOf": 0.01}}}, {"a": 19.995})
    assert fits({"properties": {"a": {"multipleOf": 0.5}}}, {"a": 10**400})


def test_a_boolean_beside_additional_items_is_no_stumbling_block():
    assert fits({"properties": {"a": {"items": True, "additionalItems": False}}}, {"a": [1]})
    assert not fits({"properties": {"a": {"items": False, "additionalItems": False}}}, {"a": [1]})


def test_both_forms_of_dependencies_may_stand_together():
    schema = {"dependencies": {"a": {"required": ["b"]}, "c": ["d"]}}

    assert fits(schema, {"a": 1, "b": 1})
    assert [fault.pointer for fault in checked(schema).check({"a": 1, "c": 1})] == ["/b", "/d"]


# Patterns


def test_a_pattern_that_can_not_be_checked_is_named_and_lets_everything_pass():
    schema = checked(
        {
            "properties": {"a": {"pattern": "^(?=x)"}, "b": {"pattern": "("}, "c": {"pattern": "^x$"}},
            "patternProperties": {"~(?!y)/": {"type": "number"}},
            "additionalProperties": False,
        }
    )

    assert schema.unchecked == ("/patternProperties/~0(?!y)~1", "/properties/a/pattern", "/properties/b/pattern")
    assert schema.check({"a": "z", "b": "z", "~/": "text", "other": 1}) == []
    assert schema.check({"c": "z"})


UNKNOWN = {"pattern": "^(?=x)"}
LINKED = {"$ref": "#/definitions/unknown"}


@pytest.mark.parametrize(
    "part",
    [
        {"not": UNKNOWN},
        {"not": {"not": {"not": UNKNOWN}}},
        {"not": {"allOf": [LINKED]}},
        {"not": {"items": UNKNOWN}},
        {"not": {"patternProperties": {"(?=x)": False}}},
        {"oneOf": [UNKNOWN, {"type": ["string", "array", "object"]}]},
        {"oneOf": [LINKED, LINKED]},
        {"if": UNKNOWN, "then": False},
        {"if": {"not": LINKED}, "then": False, "else": False},
        {"propertyNames": {"not": UNKNOWN}, "items": {"not": UNKNOWN}},
        {"contains": UNKNOWN, "maxContains": 0},
        {"dependencies": {"x": {"not": UNKNOWN}}, "dependentSchemas": {"x": {"not": LINKED}}},
        {"patternProperties": {"(?=x)": {"type": "null"}}, "unevaluatedProperties": False},
    ],
)
@pytest.mark.parametrize("dialect", ["Draft 7", "2020-12"])
def test_a_pattern_that_is_not_checked_never_refuses_a_value(part: dict[str, Any], dialect: str):
    schema = {"properties": {"a": part}, "definitions": {"unknown": UNKNOWN}}

    for value in ("x", "y", ["x"], [["y"]], {"x": 1}, {"y": {"x": 2}}):
        assert fits(schema, {"a": value}, dialect), value


def test_beside_a_pattern_that_is_not_checked_all_else_is_checked():
    part = {
        "oneOf": [{**UNKNOWN, "type": "string"}, {"type": "null"}],
        "allOf": [{"maxLength": 2}],
        "not": {"const": "z"},
    }
    schema = {"properties": {"a": part}}

    assert [fits(schema, {"a": value}) for value in ("x", None, 1, "long", "z")] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"^\u4e00\d+$", "一7", "x7"),
        (r"^\u{1F600}$", "😀", "x"),
        (r"^\\u0041$", r"\u0041", "A"),
        (r"^[\w.\-]+@[\w\-]+\.[a-z]{2,}$", "a.b@c-d.org", "a@b"),
        (r"^\/a\/$", "/a/", "a"),
        (r"^a$", "a", "a\n"),
        (r"^(?<year>\d{4})-\p{L}$", "2024-é", "24-é"),
        (r"é", "café", "cafe"),
    ],
)
def test_patterns_mean_what_they_mean_in_javascript(pattern: str, good: str, bad: str):
    schema = {"properties": {"a": {"pattern": pattern}}}

    assert checked(schema).unchecked == ()
    assert (fits(schema, {"a": good}), fits(schema, {"a": bad})) == (True, False)


# Equality


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(), parts, max_size=4),
    max_leaves=12,
)


def same(one: Any, other: Any) -> bool:
    """Equality of JSON values, the slow way."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(part, other[name]) for name, part in one.items())
    return one == other


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (0, -0.0, True),
        (1, True, False),
        (0, False, False),
        ("1", 1, False),
        ([1, {"a": 2}], [1.0, {"a": 2.0}], True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([True], [1], False),
        (None, False, False),
        ("null", None, False),
        ("[1]", [1], False),
    ],
)
def test_identity_knows_equal_json_values(one: object, other: object, equal: bool):
    assert (identity(one) == identity(other)) is equal
    assert fits({"properties": {"a": {"uniqueItems": True}}}, {"a": [one, other]}) is not equal
    assert fits({"properties": {"a": {"enum": [one]}}}, {"a": other}) is equal


@given(json_values, json_values)
def test_identity_agrees_with_equality(one: object, other: object):
    assert (identity(one) == identity(other)) is same(one, other)
    assert identity(one) == identity(json.loads(json.dumps(one)))


# Anything at all

KEYWORDS = [
    "type", "enum", "const", "properties", "patternProperties", "additionalProperties", "required", "items",
    "additionalItems", "prefixItems", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "allOf",
    "anyOf", "oneOf", "not", "if", "then", "else", "dependencies", "dependentSchemas", "dependentRequired", "minimum",
    "exclusiveMinimum", "multipleOf", "minLength", "uniqueItems", "pattern", "$ref", "$dynamicRef", "$recursiveRef",
    "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$defs", "definitions", "$schema", "default", "a",
]  # fmt: skip
words = st.sampled_from(
    [
        "string",
        "number",
        "object",
        "array",
        "a",
        "#",
        "#/a",
        "#/$defs/a",
        "#a",
        "x",
        "http://[",
        "(",
        "^a",
        *DIALECTS.values(),
    ]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.just(0.5) | words,
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), parts, max_size=4),
    max_leaves=15,
)


@pytest.mark.threat("P17")
@given(anything, st.sampled_from(list(DIALECTS.values())), json_values)
def test_whatever_the_schema_is_only_errors_of_ours_come_out(schema: object, dialect: str, value: object):
    document: object = {**schema, "$schema": dialect} if isinstance(schema, dict) else schema
    try:
        told = [fault.sentence("it") for fault in checked(document).check(value)]
    except SchemaUnusable as error:
        told = [str(error)]

    assert all(len(sentence) < 2_500 for sentence in told)


@given(st.text())
def test_whatever_the_text_is_only_errors_of_ours_come_out(text: str):
    with contextlib.suppress(SchemaUnusable):
        check_schema(text)


# Start


def test_importing_the_module_does_not_import_jsonschema():
    code = "import sys, bridge.calls.arguments; print({'jsonschema', 'referencing', 're2'} & sys.modules.keys())"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == "set()\n"


def test_a_known_schema_is_not_checked_again():
    assert check_schema('{"title": "twice"}') is check_schema('{"title": "twice"}')


@pytest.mark.parametrize(
    ("number", "chars"),
    [(limits.KNOWN_SCHEMAS, 40), (limits.KNOWN_SCHEMA_CHARS // (limits.SCHEMA_CHARS // 2), limits.SCHEMA_CHARS // 2)],
)
def test_of_known_schemas_those_are_kept_that_were_asked_for_last(number: int, chars: int):
    texts = [f'{{"title": "{str(count) * chars}'[: chars - 2] + '"}' for count in range(1_000, 1_001 + number)]
    first, second, *others = texts
    kept, dropped = check_schema(first), check_schema(second)
    for text in others[:-1]:
        check_schema(text)
    assert check_schema(first) is kept
    check_schema(others[-1])

    assert check_schema(first) is kept
    assert check_schema(second) is not dropped


@pytest.mark.parametrize(
    ("value", "depth"), [(1, 0), ([], 1), ([1], 1), ({"a": []}, 2), ([[], [[]]], 3), ({"a": {"b": {"c": 1}}}, 3)]
)
def test_nesting_counts_lists_and_objects(value: object, depth: int):
    assert nesting(value) == depth
