"""Coercion: what does not fit is taken for what it says, and what fits is never touched."""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.calls.arguments import fill_defaults
from bridge.calls.coercion import coerce_arguments
from bridge.tools.schema import check_schema

POINT = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "number"}}, "required": ["x"]}
SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer", "maximum": 9},
        "is_on": {"type": "boolean"},
        "nothing": {"type": "null"},
        "size": {"type": "integer", "default": 3},
        "point": {"$ref": "#/$defs/point"},
        "points": {"type": "array", "items": {"$ref": "#/$defs/point"}},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "color": {"enum": ["red", "null and void"]},
    },
    "$defs": {"point": POINT},
}
TYPES = ["string", "integer", "number", "boolean", "null", "array", "object"]

plain_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.sampled_from(["", "5", "true", "null", "x"]),
    lambda parts: st.lists(parts, max_size=2) | st.dictionaries(st.sampled_from("ab"), parts, max_size=2),
    max_leaves=8,
)
values = plain_values | plain_values.map(json.dumps) | plain_values.map(json.dumps).map(json.dumps)
defaults = st.fixed_dictionaries({}, optional={"default": values})
schemas = st.recursive(
    st.builds(lambda kind, more: {"type": kind, **more}, st.sampled_from(TYPES), defaults),
    lambda parts: st.one_of(
        st.builds(lambda part: {"type": "array", "items": part}, parts),
        st.builds(lambda branches: {"anyOf": branches}, st.lists(parts, min_size=1, max_size=2)),
        st.builds(
            lambda properties, required: {"type": "object", "properties": properties, "required": required},
            st.dictionaries(st.sampled_from("ab"), parts, max_size=2),
            st.lists(st.sampled_from("ab"), unique=True),
        ),
    ),
    max_leaves=6,
)
objects = st.builds(
    lambda properties, required: {"type": "object", "properties": properties, "required": required},
    st.dictionaries(st.sampled_from("ab"), schemas, min_size=1, max_size=2),
    st.lists(st.sampled_from("ab"), unique=True),
)


def coerced(schema: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any] | None:
    return coerce_arguments(check_schema(json.dumps(schema)), arguments)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.feature("calls.arguments")
@pytest.mark.parametrize(
    ("given_", "got"),
    [
        ({"count": "5", "text": "5"}, {"count": 5, "text": "5"}),
        ({"is_on": "true"}, {"is_on": True}),
        ({"nothing": "null"}, {"nothing": None}),
        ({"point": '{"x": 1}'}, {"point": {"x": 1}}),
        ({"point": '{"x": "1", "y": null}'}, {"point": {"x": 1}}),
        ({"points": ['{"x": 1}', {"x": "2"}]}, {"points": [{"x": 1}, {"x": 2}]}),
        ({"count": None, "text": None, "color": "null"}, {}),
        ({"size": "null"}, {"size": 3}),
        ({"maybe": "5"}, {"maybe": 5}),
        ({"maybe": "null"}, {"maybe": None}),
    ],
)
def test_what_does_not_fit_is_taken_for_what_it_says(given_: dict[str, Any], got: dict[str, Any]):
    assert coerced(SCHEMA, given_) == {"size": 3, "maybe": None, **got}


@pytest.mark.feature("calls.arguments")
@pytest.mark.parametrize(
    "given_",
    [
        {"count": "five"},
        {"count": "1.5"},
        {"count": "10"},  # beyond its maximum
        {"count": '"5"'},  # a text in a text
        {"count": "5", "is_on": "maybe"},
        {"text": 5},
        {"point": {"x": "null"}},  # required
        {"point": '{"x": 1, "x": 2}'},
        {"point": '{"x": 1, "y": NaN}'},
        {"point": '{"x": 1, "y": 1e999}'},
        {"points": [None]},
        {"points": nested(limits.ARGUMENT_DEPTH)},
        {"points": nested(100_000)},
        {"count": "9" * 5000},
    ],
)
def test_what_fits_neither_way_stays_out(given_: dict[str, Any]):
    assert coerced(SCHEMA, given_) is None


def test_a_default_takes_no_required_place_that_was_given_as_null():
    size = {"type": "object", "properties": {"size": {"type": "integer", "default": 3}}, "required": ["size"]}

    assert coerced(size, {}) == {"size": 3}
    assert coerced(size, {"size": None}) is None


def test_as_many_texts_in_each_other_are_read_as_there_are_passes():
    schema: dict[str, Any] = {"type": "integer"}
    value: object = 5
    for depth in range(1, limits.COERCION_PASSES + 2):
        schema, value = {"type": "object", "properties": {"a": schema}}, {"a": json.dumps(value)}
        assert (coerced(schema, value) is not None) is (depth <= limits.COERCION_PASSES)


@pytest.mark.feature("calls.arguments")
@given(objects, st.dictionaries(st.sampled_from("ab"), values, max_size=2))
def test_what_fits_is_unchanged_and_what_comes_of_the_rest_fits(schema: dict[str, Any], arguments: dict[str, Any]):
    checked = check_schema(json.dumps(schema))
    before = deepcopy(arguments)

    result = coerce_arguments(checked, arguments)

    assert arguments == before
    assert result is None or checked.check(result) == []
    filled = fill_defaults(schema, arguments)
    if not checked.check(filled):
        assert json.dumps(result) == json.dumps(filled)
