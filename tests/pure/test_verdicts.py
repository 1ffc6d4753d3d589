"""Whatever the schema and the value are, our verdict is that of plain jsonschema."""

import json
from typing import Any

import jsonschema
import pytest
import referencing
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from bridge.errors import SchemaUnusable
from bridge.tools.keywords import quiet
from bridge.tools.schema import check_schema

STORES = {"Draft 4": "definitions", "Draft 6": "definitions", "Draft 7": "definitions", "2019-09": "$defs"}
VALIDATORS = {
    "Draft 4": jsonschema.Draft4Validator,
    "Draft 6": jsonschema.Draft6Validator,
    "Draft 7": jsonschema.Draft7Validator,
    "2019-09": jsonschema.Draft201909Validator,
    "2020-12": jsonschema.Draft202012Validator,
}

names = st.sampled_from("abc")
numbers = st.integers(-2, 3) | st.sampled_from([0.5, 1.0, -1.5])
scalars = st.none() | st.booleans() | numbers | st.sampled_from(["", "a", "ab", "b", "é"])
values = st.recursive(
    scalars,
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(names, parts, max_size=3),
    max_leaves=8,
)
sizes = st.integers(0, 2)
types = st.sampled_from(["array", "boolean", "integer", "null", "number", "object", "string"])
patterns = st.sampled_from(["^a", "b$", "a|b", "^[ab]*$", "c"])


def keywords(parts: st.SearchStrategy[Any], dialect: str) -> st.SearchStrategy[dict[str, Any]]:
    some = st.lists(parts, min_size=1, max_size=3)
    named = st.dictionaries(names, parts, max_size=3)
    needed = st.lists(names, unique=True, min_size=1, max_size=2)
    optional: dict[str, st.SearchStrategy[Any]] = {
        "type": types | st.lists(types, unique=True, min_size=1, max_size=3),
        "enum": st.lists(values, min_size=1, max_size=3, unique_by=lambda value: json.dumps([value]).lower()),
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "minimum": numbers,
        "maximum": numbers,
        **dict.fromkeys(["minLength", "minItems", "minProperties", "maxLength", "maxItems", "maxProperties"], sizes),
        "pattern": patterns,
        "uniqueItems": st.booleans(),
        "required": needed,
        "properties": named,
        "patternProperties": st.dictionaries(patterns, parts, max_size=2),
        "additionalProperties": parts | st.booleans(),
        "items": parts if dialect == "2020-12" else parts | some,
        "allOf": some,
        "anyOf": some,
        "oneOf": some,
        "not": parts,
        "$ref": st.sampled_from(["#", f"#/{STORES.get(dialect, '$defs')}/a"]),
    }
    if dialect != "2020-12":
        optional["additionalItems"] = parts | st.booleans()
    if dialect == "Draft 4":
        optional |= {"exclusiveMinimum": st.booleans(), "exclusiveMaximum": st.booleans()}
    else:
        optional |= {"const": values, "contains": parts, "propertyNames": parts}
        optional |= {"exclusiveMinimum": numbers, "exclusiveMaximum": numbers}
    if dialect in STORES and dialect != "2019-09":
        optional["dependencies"] = st.dictionaries(names, parts | needed, max_size=2)
    if dialect not in {"Draft 4", "Draft 6"}:
        optional |= {"if": parts, "then": parts, "else": parts}
    if dialect in {"2019-09", "2020-12"}:
        optional |= {"dependentRequired": st.dictionaries(names, needed, max_size=2), "dependentSchemas": named}
        optional |= {"minContains": sizes, "maxContains": sizes, "unevaluatedItems": parts}
        optional["unevaluatedProperties"] = parts
    if dialect == "2020-12":
        optional["prefixItems"] = some
    return st.lists(st.sampled_from(list(optional)), max_size=3, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({keyword: optional[keyword] for keyword in chosen})
    )


def schemas(dialect: str) -> st.SearchStrategy[dict[str, Any]]:
    plain = st.just({}) if dialect == "Draft 4" else st.booleans()
    parts = st.recursive(plain, lambda inner: keywords(inner, dialect), max_leaves=6)
    return st.tuples(keywords(parts, dialect), parts).map(
        lambda pair: (
            {"$schema": VALIDATORS[dialect].META_SCHEMA["$schema"], STORES.get(dialect, "$defs"): {"a": pair[1]}}
            | pair[0]
        )
    )


@pytest.mark.parametrize("dialect", VALIDATORS)
@given(st.data())
def test_each_way_of_ours_agrees_with_plain_jsonschema(dialect: str, data: st.DataObject):
    schema = data.draw(schemas(dialect))
    try:
        checked = check_schema(json.dumps(schema))
    except SchemaUnusable as error:
        # Draft 4 wants a limit beside what says that it is exclusive.
        assume("never ends" not in str(error) and "imum is missing" not in str(error))
        raise
    plain = VALIDATORS[dialect](schema, registry=referencing.Registry())

    for value in data.draw(st.lists(values, min_size=1, max_size=3)):
        try:
            wanted = plain.is_valid(value)
        except TypeError:
            # Beside `additionalItems`, jsonschema counts what is in a boolean.
            reject()
        assert (not checked.check(value)) is wanted
        assert checked.validator.is_valid(quiet(value)) is wanted
        assert checked.verdict.fits is None or checked.verdict.fits(value) is wanted
