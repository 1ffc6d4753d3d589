"""What readers of a page's schema get: plain 2020-12 that every client takes, and that never allows less."""

import json
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge import limits
from bridge.calls.listing import Offer, list_offer
from bridge.errors import SchemaUnusable
from bridge.settings import SchemaProfile
from bridge.tools.export import NOTHING_FITS, export_schema
from bridge.tools.portable import is_portable
from bridge.tools.schema import CheckedSchema, check_schema
from bridge.tools.strict import NULLABLE
from bridge.tools.translate import A_SCHEMA, AGAIN, OMITTED
from tests.pure.offers import offer

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
PROFILES: tuple[SchemaProfile, ...] = get_args(SchemaProfile)
MORE = "The page checks more exactly than this schema says."
TEXT = {"type": "string"}
NEVER = {"not": {}}


def checked(schema: dict[str, Any], dialect: str | None = None) -> CheckedSchema:
    return check_schema(json.dumps({**schema, "$schema": dialect} if dialect else schema))


def exported(schema: dict[str, Any], profile: SchemaProfile = "standard", dialect: str | None = None) -> dict[str, Any]:
    return export_schema(checked(schema, dialect), profile)


def inner(
    part: object,
    profile: SchemaProfile = "standard",
    dialect: str | None = DRAFT_2020,
    definitions: dict[str, Any] | None = None,
) -> object:
    """What becomes of a property's schema."""
    found = exported({"properties": {"p": part}, "definitions": definitions or {}}, profile, dialect)
    return found["properties"].get("p", "left out")


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


# The root


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "schema", [{}, {"type": "object"}, {"type": ["object", "null"]}, {"minLength": 1, "items": TEXT}, {"$id": "x"}]
)
def test_the_root_is_an_object_with_properties_whatever_the_page_gave(schema: dict[str, Any], profile: SchemaProfile):
    assert exported(schema, profile) == {"type": "object", "properties": {}}


@pytest.mark.parametrize("schema", [TEXT, {"not": {}}, {"enum": [1]}, {"anyOf": [TEXT, {"type": "array"}]}])
def test_a_root_that_no_object_fits_says_so(schema: dict[str, Any]):
    assert exported(schema) == {"description": NOTHING_FITS, "type": "object", "properties": {}}


def test_alternatives_that_require_different_things_are_named_in_the_description():
    schema = {
        "description": "Finds one.",
        **closed(id={"type": "integer"}, name=TEXT, kind=TEXT),
        "anyOf": [{"required": ["id"]}, {"required": ["name", "kind"]}],
    }

    assert exported(schema) == {
        "description": f'Finds one. Needs one of: "id"; "name" and "kind". {MORE}',
        **closed(id={"type": "integer"}, name=TEXT, kind=TEXT),
    }


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_closed_alternatives_become_one_object_with_all_properties(keyword: str):
    first = {**closed(kind={"const": "a"}, x=TEXT), "required": ["kind", "x"]}
    second = {**closed(kind={"const": "b"}, y={"type": "null"}), "required": ["kind"]}

    assert exported({keyword: [first, second, TEXT]}) == {
        "description": MORE,
        **closed(kind={"enum": ["a", "b"]}, x=TEXT, y={"type": "null"}),
        "required": ["kind"],
    }


def test_what_only_some_open_alternatives_name_is_a_hint():
    schema = {"oneOf": [{"properties": {"x": TEXT, "z": TEXT}}, {"properties": {"z": {"type": "null"}}}]}

    assert exported(schema)["properties"] == {
        "x": {"anyOf": [TEXT, {}]},
        "z": {"anyOf": [TEXT, {"type": "null"}]},
    }


def test_all_of_is_merged_and_says_as_much():
    schema = {
        "allOf": [
            {"properties": {"x": TEXT}, "required": ["x"], "minProperties": 1},
            {"properties": {"x": {"minLength": 2}, "y": {}}, "required": ["y", "x"], "minProperties": 1},
        ]
    }

    assert exported(schema) == {
        "type": "object",
        "properties": {"x": {"allOf": [TEXT, {"minLength": 2}]}, "y": {}},
        "required": ["x", "y"],
        "minProperties": 1,
    }


def test_a_property_that_a_closed_part_does_not_know_is_not_shown():
    assert exported({"allOf": [closed(x=TEXT), {"properties": {"x": TEXT, "y": TEXT}}]}) == closed(x=TEXT)


def test_a_condition_at_the_root_shows_what_either_outcome_names():
    schema = {"if": {"required": ["a"]}, "then": closed(x=TEXT), "else": closed(y=TEXT)}

    assert exported(schema) == {"description": MORE, **closed(x=TEXT, y=TEXT)}


def test_one_and_true_are_different_alternatives():
    schema = {"anyOf": [closed(x={"const": 1}), closed(x={"const": True})]}

    assert exported(schema)["properties"] == {"x": {"enum": [1, True]}}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"anyOf": [{"patternProperties": {"x": TEXT}}, {}]}, {"x": 1}),
        ({"anyOf": [{"additionalProperties": TEXT}, {"additionalProperties": {"type": "number"}}]}, {"a": 1}),
        ({"anyOf": [{"patternProperties": {"x": {}}, "additionalProperties": False}, closed()]}, {"x": 1}),
        ({"anyOf": [{"patternProperties": {"x": {}}, "additionalProperties": False}, closed(x=TEXT)]}, {"x": 1}),
        ({"anyOf": [{"minProperties": 2}, {}]}, {}),
        ({"anyOf": [closed(x=TEXT), closed(x={})]}, {"x": 1}),
        ({"anyOf": [closed(x={**TEXT, "enum": ["a"]}), closed(x={"type": "integer", "enum": [1]})]}, {"x": 1}),
        ({"anyOf": [{"const": {"x": 1}}, closed()]}, {"x": 1}),
        ({"allOf": [{"additionalProperties": TEXT}, {"properties": {"x": {}}}]}, {"x": "a"}),
        ({"properties": {"x": {"type": "array", "prefixItems": [TEXT]}}}, {"x": ["a", 1]}),
        ({"properties": {"x": {"type": "array", "prefixItems": [TEXT], "maxItems": 2}}}, {"x": ["a", 1]}),
        ({"properties": {"x": {"anyOf": [TEXT, {}]}}}, {"x": 1}),
    ],
    ids=lambda case: json.dumps(case)[:60],
)
def test_merging_allows_no_less(schema: dict[str, Any], value: dict[str, Any], profile: SchemaProfile):
    assert checked(schema, DRAFT_2020).check(value) == []
    assert checked(exported(schema, profile, DRAFT_2020), DRAFT_2020).check(value) == []


# Keyword by keyword: what the page wrote, and what becomes of it in each profile


@pytest.mark.parametrize(
    ("part", "standard", "strict"),
    [
        (True, {}, {}),
        (False, NEVER, "left out"),
        ({"type": "object"}, {"type": "object", "properties": {}}, {"type": "object", "properties": {}}),
        ({"type": "array"}, {"type": "array", "items": {}}, {"type": "array", "items": {}}),
        ({"type": ["string"]}, TEXT, TEXT),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}, {**TEXT, "description": NULLABLE}),
        (
            {"type": ["string", "null"], "enum": ["a", None], "description": "D."},
            {"type": ["string", "null"], "enum": ["a", None], "description": "D."},
            {**TEXT, "enum": ["a"], "description": f"D. {NULLABLE}"},
        ),
        ({"anyOf": [TEXT, {"type": "null"}]}, {"anyOf": [TEXT, {"type": "null"}]}, {**TEXT, "description": NULLABLE}),
        (
            {"type": ["string", "array"], "minLength": 1},
            {"type": ["string", "array"], "minLength": 1, "items": {}},
            {"anyOf": [{**TEXT, "minLength": 1}, {"type": "array", "items": {}}]},
        ),
        ({**TEXT, "nullable": True}, TEXT, TEXT),
        ({**TEXT, "$id": "x", "$anchor": "y", "$comment": "z", "x-mcp-type": "w", "markdown": 1}, TEXT, TEXT),
        ({**TEXT, "title": "T"}, {**TEXT, "title": "T"}, {**TEXT, "description": "T"}),
        ({**TEXT, "default": "a", "examples": ["b"]}, {**TEXT, "default": "a", "examples": ["b"]}, TEXT),
        (closed(x=TEXT), closed(x=TEXT), {"type": "object", "properties": {"x": TEXT}}),
        (
            {"type": "object", "additionalProperties": {}, "propertyNames": TEXT},
            {"type": "object", "additionalProperties": True, "propertyNames": TEXT, "properties": {}},
            {"type": "object", "properties": {}},
        ),
        (
            {"properties": {"x": {}}},
            {"properties": {"x": {}}},
            {"anyOf": [{"type": "object", "properties": {"x": {}}}, {}]},
        ),
        ({**TEXT, "properties": {"x": {}}}, {**TEXT, "properties": {"x": {}}}, TEXT),
        (
            {"type": "object", "required": ["x"]},
            {"type": "object", "required": ["x"], "properties": {}},
            {"type": "object", "required": ["x"], "properties": {"x": {}}},
        ),
        (
            {"type": "object", "properties": {"x": False, "y": TEXT}, "required": ["x", "y"]},
            {"type": "object", "properties": {"x": NEVER, "y": TEXT}, "required": ["x", "y"]},
            {"type": "object", "properties": {"y": TEXT}, "required": ["y"]},
        ),
        (
            {"type": "array", "prefixItems": [TEXT], "maxItems": 1},
            {"type": "array", "prefixItems": [TEXT], "maxItems": 1, "items": {}},
            {"type": "array", "items": TEXT, "maxItems": 1},
        ),
        (
            {"type": ["string", "integer"], "enum": ["a", 1]},
            {"type": ["string", "integer"], "enum": ["a", 1]},
            {"anyOf": [{**TEXT, "enum": ["a"]}, {"type": "integer"}]},
        ),
        (
            {"type": "object", "patternProperties": {"^a": TEXT}},
            {"type": "object", "patternProperties": {"^a": TEXT}, "properties": {}},
            {"type": "object", "properties": {}},
        ),
        ({"if": TEXT, "then": {"minLength": 1}}, {"if": TEXT, "then": {"minLength": 1}}, {}),
        ({**TEXT, "then": {"minLength": 1}}, TEXT, TEXT),
        ({"not": TEXT}, {"not": TEXT}, {}),
        (
            {"type": "object", "dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": {"required": ["c"]}}},
            {
                "type": "object",
                "dependentRequired": {"a": ["b"]},
                "dependentSchemas": {"a": {"required": ["c"]}},
                "properties": {},
            },
            {"type": "object", "properties": {}},
        ),
        (
            {"type": "object", "unevaluatedProperties": False},
            {"type": "object", "additionalProperties": False, "properties": {}},
            {"type": "object", "properties": {}},
        ),
        (
            {"type": "array", "unevaluatedItems": TEXT},
            {"type": "array", "items": TEXT},
            {"type": "array", "items": TEXT},
        ),
        (
            {"type": "array", "contains": TEXT, "minContains": 2, "uniqueItems": True},
            {"type": "array", "contains": TEXT, "minContains": 2, "uniqueItems": True, "items": {}},
            {"type": "array", "items": {}},
        ),
        (
            {"type": "array", "prefixItems": [TEXT, {"type": "null"}], "items": False},
            {"type": "array", "prefixItems": [TEXT, {"type": "null"}], "items": NEVER},
            {"type": "array", "items": {**TEXT, "description": NULLABLE}},
        ),
        ({"const": "a"}, {"const": "a"}, {**TEXT, "enum": ["a"]}),
        ({"const": 5}, {"const": 5}, {"type": "integer", "description": "Must be 5."}),
        (
            {"enum": [0.5, True]},
            {"enum": [0.5, True]},
            {"anyOf": [{"type": "number", "description": "Must be one of 0.5, true."}, {"type": "boolean"}]},
        ),
        ({**TEXT, "format": "date-time"}, {**TEXT, "format": "date-time"}, {**TEXT, "format": "date-time"}),
        ({**TEXT, "format": "email"}, {**TEXT, "format": "email"}, TEXT),
        ({**TEXT, "pattern": "^a+$"}, {**TEXT, "pattern": "^a+$"}, {**TEXT, "pattern": "^a+$"}),
        ({**TEXT, "pattern": "^(?=.*a)b$"}, {**TEXT, "pattern": "^(?=.*a)b$"}, TEXT),
        ({**TEXT, "pattern": "(?i)a"}, TEXT, TEXT),
        (
            {"oneOf": [TEXT, {"type": "boolean"}], "description": "D."},
            {"oneOf": [TEXT, {"type": "boolean"}], "description": "D."},
            {"anyOf": [{**TEXT, "description": "D."}, {"type": "boolean"}]},
        ),
        ({"anyOf": [False, TEXT]}, TEXT, TEXT),
        (
            {"allOf": [{**TEXT, "minLength": 1}], "deprecated": True},
            {**TEXT, "minLength": 1, "deprecated": True},
            {**TEXT, "minLength": 1},
        ),
        (
            {"type": ["integer", "string"], "allOf": [{"type": "number", "minimum": 1}, {"minimum": 0}]},
            {"type": ["integer", "string"], "allOf": [{"type": "number", "minimum": 1}, {"minimum": 0}]},
            {"type": "integer", "minimum": 1},
        ),
        (
            {"type": "object", "oneOf": [closed(k={"const": "a"}), closed(k={"const": "b"})]},
            {"type": "object", "oneOf": [closed(k={"const": "a"}), closed(k={"const": "b"})], "properties": {}},
            {"type": "object", "properties": {"k": {**TEXT, "enum": ["a", "b"]}}, "description": MORE},
        ),
        (
            {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 9, "multipleOf": 2, "minimum": -1},
            {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 9, "multipleOf": 2, "minimum": -1},
            {"type": "number", "minimum": -1},
        ),
    ],
    ids=lambda part: json.dumps(part)[:40],
)
def test_each_keyword_becomes_what_clients_take(part: object, standard: object, strict: object):
    assert (inner(part), inner(part, "strict")) == (standard, strict)


def test_parameters_may_be_called_like_keywords():
    names = [
        "properties",
        "type",
        "required",
        "$ref",
        "items",
        "enum",
        "$defs",
        "default",
        "not",
        "$schema",
        "x-mcp-type",
    ]
    schema = {"properties": dict.fromkeys(names, TEXT), "required": names}

    for profile in PROFILES:
        assert exported(schema, profile) == {"type": "object", **schema}


def test_data_is_not_touched():
    data = {"$ref": "#/gone", "x-mcp-type": 1, "type": ["null"], "items": [True]}

    assert inner({"const": data, "default": data, "examples": [data]}) == {
        "const": data,
        "default": data,
        "examples": [data],
    }


# Dialects


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (
            {"minimum": 1, "exclusiveMinimum": True, "maximum": 5, "exclusiveMaximum": False},
            {"exclusiveMinimum": 1, "maximum": 5},
        ),
        ({"const": 1, "if": {}, "contains": {}, "propertyNames": {}, "prefixItems": [{}], "examples": "no list"}, {}),
        ({"id": "http://a.test/x", "type": "string"}, TEXT),
        ({"not": {"type": "integer"}}, {}),
    ],
)
def test_draft_4(part: dict[str, Any], expected: object):
    assert inner(part, dialect=DRAFT_4) == expected


@pytest.mark.parametrize("dialect", [None, DRAFT_7])
@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "array", "items": [TEXT, True]}, {"type": "array", "prefixItems": [TEXT, {}], "items": {}}),
        ({"items": [TEXT], "additionalItems": False}, {"prefixItems": [TEXT], "items": NEVER}),
        ({"items": TEXT, "additionalItems": False}, {"items": TEXT}),
        ({"prefixItems": [TEXT], "dependentRequired": {"a": ["b"]}, "minContains": 1, "unevaluatedItems": False}, {}),
        (
            {"dependencies": {"a": ["b"], "c": {"required": ["d"], "minProperties": 3}, "e": False}},
            {
                "dependentRequired": {"a": ["b"]},
                "dependentSchemas": {"c": {"required": ["d"], "minProperties": 3}, "e": NEVER},
            },
        ),
    ],
)
def test_draft_7(part: dict[str, Any], expected: object, dialect: str | None):
    assert inner(part, dialect=dialect) == expected


def test_what_would_mean_more_elsewhere_is_left_out():
    some = {"items": TEXT, "unevaluatedItems": False, "additionalProperties": TEXT, "unevaluatedProperties": False}
    closed_later = {"allOf": [closed(), closed()], "unevaluatedProperties": False, "unevaluatedItems": False}

    assert inner(some) == {"items": TEXT, "additionalProperties": TEXT}
    assert inner(closed_later) == {"allOf": [closed(), closed()]}


def test_a_pattern_that_is_left_out_opens_the_object():
    part = {"patternProperties": {"(?i)a": TEXT, "b": TEXT}, "additionalProperties": False}

    assert inner(part) == {"patternProperties": {"b": TEXT}}


# Where less means more


LOST = {"pattern": "(?i)a"}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"not": LOST}, {}),
        ({"not": {"not": LOST}}, {}),
        ({"if": LOST, "then": {"minLength": 1}}, {}),
        ({"if": TEXT, "then": LOST, "else": {"minimum": 1}}, {"if": TEXT, "then": {}, "else": {"minimum": 1}}),
        ({"oneOf": [LOST, TEXT]}, {"anyOf": [{}, TEXT]}),
        ({"oneOf": [LOST, TEXT], "anyOf": [TEXT, {}]}, {"anyOf": [TEXT, {}], "allOf": [{"anyOf": [{}, TEXT]}]}),
        ({"contains": LOST, "minContains": 1, "maxContains": 2}, {"contains": {}, "minContains": 1}),
    ],
)
def test_what_was_loosened_is_kept_only_where_it_loosens_the_whole(part: dict[str, Any], expected: object):
    assert inner(part) == expected


# References


@pytest.mark.parametrize("store", ["definitions", "$defs"])
@pytest.mark.parametrize("dialect", [None, DRAFT_4, DRAFT_7, DRAFT_2019, DRAFT_2020])
def test_references_are_spelled_out_and_their_stores_are_gone(store: str, dialect: str | None):
    schema = {
        "$ref": f"#/{store}/args",
        store: {"args": {"type": "object", "properties": {"a": {"$ref": f"#/{store}/text"}}}, "text": TEXT},
    }

    assert exported(schema, dialect=dialect) == {"type": "object", "properties": {"a": TEXT}}


def test_references_follow_the_ids_and_anchors_of_the_page():
    part = {
        "$id": "http://a.test/folder/",
        "items": {"$ref": "text#name"},
        "$defs": {"t": {"$id": "text", "$defs": {"n": {"$anchor": "name", **TEXT}}}},
    }

    assert inner(part) == {"items": TEXT}


def test_what_stands_beside_a_reference_counts_from_2019_on():
    part = {"$ref": "#/definitions/t", "minLength": 3, "description": "Mine."}
    store = {"t": {**TEXT, "description": "Theirs."}}

    assert inner(part, dialect=DRAFT_7, definitions=store) == {**TEXT, "description": "Mine."}
    assert inner(part, dialect=DRAFT_2019, definitions=store) == {
        "minLength": 3,
        "description": "Mine.",
        "allOf": [{**TEXT, "description": "Theirs."}],
    }
    assert inner(part, "strict", DRAFT_2019, store) == {**TEXT, "minLength": 3, "description": "Mine."}


def test_a_schema_that_refers_to_itself_is_spelled_out_once_more():
    node = {"type": "object", "properties": {"name": TEXT, "next": {"$ref": "#/definitions/node"}}}
    once = {"type": "object", "properties": {"name": TEXT, "next": {"description": AGAIN}}}

    assert inner({"$ref": "#/definitions/node"}, dialect=DRAFT_7, definitions={"node": node}) == {
        "type": "object",
        "properties": {"name": TEXT, "next": once},
    }
    assert exported({"properties": {"name": TEXT, "next": {"$ref": "#"}}})["properties"] == {
        "name": TEXT,
        "next": {"properties": {"name": TEXT, "next": {"description": AGAIN}}},
    }


def test_what_is_not_spelled_out_does_not_stand_where_less_means_more():
    assert inner({"not": {"items": {"$ref": "#/properties/p"}}}) == {}


@pytest.mark.parametrize("keyword", ["$dynamicRef", "$recursiveRef"])
def test_a_dynamic_reference_is_taken_for_recursion(keyword: str):
    dialect = DRAFT_2020 if keyword == "$dynamicRef" else DRAFT_2019

    assert inner({keyword: "#", "title": "T"}, dialect=dialect) == {"description": AGAIN, "title": "T"}


def test_a_reference_to_a_meta_schema_is_not_spelled_out():
    assert inner({"$ref": DRAFT_7}, dialect=DRAFT_7) == {"description": A_SCHEMA}


def test_what_is_too_large_to_repeat_is_spelled_out_once():
    long = "x" * (limits.EXPORT_REFERENCE_CHARS * 2 // 3)
    node = {"properties": {"title": {"title": long}, "next": {"$ref": "#/definitions/node"}}}

    assert inner({"$ref": "#/definitions/node"}, definitions={"node": node}) == {
        "properties": {"title": {"title": long}, "next": {"description": AGAIN}}
    }


def test_definitions_do_not_count_where_the_whole_is_referred_to():
    long = {"title": "x" * (limits.EXPORT_REFERENCE_CHARS + 1)}

    assert "properties" in str(inner({"$ref": "#"}, definitions={"unused": long}))


@pytest.mark.parametrize("fields", [2, 10])
def test_references_that_multiply_stay_within_their_room(fields: int):
    names = [f"a{number}" for number in range(12)]
    store: dict[str, Any] = {
        name: {"properties": {f"f{at}": {"$ref": f"#/definitions/{following}"} for at in range(fields)}}
        for name, following in zip(names, [*names[1:], "end"], strict=True)
    }

    text = json.dumps(inner({"$ref": "#/definitions/a0"}, definitions={**store, "end": TEXT}))

    assert len(text) < 4 * limits.EXPORT_REFERENCE_CHARS
    assert "$ref" not in text
    assert OMITTED in text


def test_a_long_chain_of_references_ends():
    store = {f"a{number}": {"$ref": f"#/definitions/a{number + 1}"} for number in range(400)}

    assert inner({"$ref": "#/definitions/a0"}, dialect=DRAFT_7, definitions={**store, "a400": TEXT}) == {
        "description": OMITTED
    }


# Patterns


@pytest.mark.parametrize(
    ("pattern", "is_common", "with_look_around"),
    [
        (r"^\d{3}-\d{4}$", True, True),
        (r"^[\w\-.]+@(?:a|b){1,2}\/$", True, True),
        ("", True, True),
        ("^(?=.*a)(?!b)c$", False, True),
        ("(?i)a", False, False),
        ("(?P<a>b)", False, False),
        (r"^https\:", False, False),
        (r"\p{L}", False, False),
        (r"[\w-.]", False, False),
        ("[a[b]", False, False),
        ("[^]", False, False),
        ("[a&&b]", False, False),
        ("(", False, False),
        ("^*", False, False),
        ("{", False, False),
        (r"(a)\1", False, False),
    ],
)
def test_a_pattern_is_portable_if_every_engine_takes_it(pattern: str, is_common: bool, with_look_around: bool):
    assert is_portable(pattern, look_around=False) == is_common
    assert is_portable(pattern, look_around=True) == with_look_around


# Use


@pytest.mark.feature("pages.schemas")
def test_a_listing_shows_what_clients_take_and_calls_are_checked_against_the_page_s_own():
    text = '{"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}'
    tools = offer("add", schema=text)
    schema = next(iter(tools)).schema

    listed = list_offer(Offer("p1", "http://a.test/", tools, ()))["groups"][0]["tools"][0]["inputSchema"]

    assert listed == {"description": f'Needs one of: "a"; "b". {MORE}', "type": "object", "properties": {}}
    assert schema
    assert schema.source == json.loads(text)
    assert schema.check({})


def test_a_schema_is_exported_once():
    first, second = checked({"title": "same"}), checked({"title": "same"})

    for profile in PROFILES:
        assert export_schema(first, profile) is export_schema(second, profile)


# Any schema


class Tape:
    """Choices that hypothesis makes, and makes smaller: much faster than its strategies for nested schemas."""

    def __init__(self, numbers: list[int]) -> None:
        self._numbers = iter(numbers)

    def pick(self, options: Any) -> Any:
        return options[next(self._numbers, 0) % len(options)]

    def names(self, most: int = 2) -> list[str]:
        return list(dict.fromkeys(self.pick("abc") for _ in range(self.pick(range(most + 1)))))

    def value(self, depth: int = 0) -> Any:
        kind = self.pick(range(10 if depth < 2 else 8))
        if kind < 8:
            return ["", "a", "ab", 0, 1, True, 1.5, None][kind]
        parts = [self.value(depth + 1) for _ in range(self.pick(range(3)))]
        return parts if kind == 8 else dict(zip("ab", parts, strict=False))

    def schema(self, depth: int = 0) -> Any:
        if depth > 3:
            return {"type": self.pick(TYPES)}
        keywords = [self.pick(KEYWORDS) for _ in range(self.pick(range(1 if depth else 2, 5)))]
        return {keyword: self.keyword(keyword, depth + 1) for keyword in keywords}

    def keyword(self, keyword: str, depth: int) -> Any:
        match keyword:
            case "properties" | "patternProperties" | "dependentSchemas" | "dependencies":
                return {name: self.schema(depth) for name in self.names()}
            case "allOf" | "anyOf" | "oneOf" | "prefixItems":
                return [self.schema(depth) for _ in range(self.pick((2, 1)))]
            case "items":
                return self.pick((self.schema(depth), [self.schema(depth)]))
            case "additionalProperties" | "additionalItems" | "unevaluatedProperties" | "unevaluatedItems":
                return self.pick((False, self.schema(depth)))
            case "type":
                return self.pick((self.pick(TYPES), ["object", self.pick(TYPES[1:])]))
            case "required":
                return self.names() or ["a"]
            case "dependentRequired":
                return {"a": self.names()}
            case "enum":
                return [self.value(), {}]
            case "const":
                return self.value()
            case "pattern":
                return self.pick(("a", "(?i)A", "(?=a)"))
            case "$ref":
                return self.pick(("#/definitions/a", "#/properties/a", "#"))
            case "not" | "if" | "then" | "else" | "contains" | "propertyNames":
                return self.schema(depth)
            case _:
                return self.pick(range(3))


TYPES = ["object", "string", "integer", "number", "array", "null", "boolean"]
KEYWORDS = [
    *("type", "properties", "required", "additionalProperties", "anyOf", "oneOf", "allOf", "not", "$ref", "enum"),
    *("items", "additionalItems", "prefixItems", "contains", "minContains", "maxContains", "unevaluatedItems"),
    *("patternProperties", "unevaluatedProperties", "propertyNames", "if", "then", "else", "const", "pattern"),
    *("dependencies", "dependentSchemas", "dependentRequired", "minimum", "exclusiveMaximum", "minLength"),
    *("minItems", "maxItems", "minProperties", "maxProperties"),
]
NOT_AT_THE_ROOT = {"$ref", "allOf", "anyOf", "const", "else", "enum", "if", "not", "oneOf", "then"}
tapes = st.lists(st.integers(0, 209), min_size=40, max_size=80).map(Tape)


def holds_null(value: object) -> bool:
    return "null" in json.dumps(value)


@pytest.mark.feature("pages.schemas")
@settings(max_examples=40, deadline=None)
@given(tapes, st.sampled_from([DRAFT_4, DRAFT_7, DRAFT_2019, DRAFT_2020]))
def test_whatever_the_schema_is_its_export_is_plain_and_allows_no_less(tape: Tape, dialect: str):
    try:
        schema = checked({**tape.schema(), "definitions": {"a": tape.schema(2)}}, dialect)
    except SchemaUnusable:
        return
    values = [{}, *({name: tape.value() for name in tape.names(3)} for _ in range(8))]
    fitting = [value for value in values if not schema.check(value)]
    for profile in PROFILES:
        found = export_schema(schema, profile)
        again = checked(found, DRAFT_2020)

        jsonschema.Draft202012Validator.check_schema(found)
        assert found["type"] == "object"
        assert not NOT_AT_THE_ROOT & found.keys()
        assert export_schema(again, profile) == found
        # `strict` knows null in words alone.
        told = [value for value in fitting if profile == "standard" or not holds_null(value)]
        assert [value for value in told if again.check(value)] == []
