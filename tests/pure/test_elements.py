"""Which places of a tool's arguments name elements, by its schema, and what is told of them."""

import json
from typing import Any, get_args

import pytest

from bridge.calls.arguments import check_arguments, parse_words
from bridge.errors import ArgumentsInvalid
from bridge.settings import SchemaProfile
from bridge.tools.elements import FORMS
from bridge.tools.export import export_schema
from bridge.tools.schema import CheckedSchema, check_schema
from tests.pure.test_schema import DIALECTS

ELEMENT: dict[str, Any] = {"type": "object", "x-mcp-type": "HTMLElement"}
UID = {"uid": "e1-2"}
SELECTOR = {"selector": "a"}


def schema_of(**properties: object) -> CheckedSchema:
    definitions = {"El": ELEMENT, "Tree": {"properties": {"at": ELEMENT, "in": {"$ref": "#/definitions/Tree"}}}}
    return check_schema(json.dumps({"properties": properties, "definitions": definitions}))


def places(schema: CheckedSchema, arguments: dict[str, Any]) -> dict[str, bool]:
    """Where arguments name elements, and whether the schema says so."""
    found = schema.find_elements(check_arguments(schema, arguments, tool="t"))
    return {"/".join(map(str, place.path)): place.certain for place in found}


@pytest.mark.parametrize(
    ("part", "value", "path"),
    [
        (ELEMENT, UID, "p"),
        (ELEMENT, {**UID, "describe": "<a>"}, "p"),
        (ELEMENT, "e1-2", "p"),
        (ELEMENT, SELECTOR, "p"),
        ({"x-mcp-type": "HTMLElement"}, SELECTOR, "p"),
        ({"x-mcp-type": "HTMLElement", "enum": [1], "properties": {"uid": {"const": 1}}}, UID, "p"),
        ({"$ref": "#/definitions/El"}, SELECTOR, "p"),
        ({"$ref": "#/definitions/Tree"}, {"in": {"in": {"at": SELECTOR}}}, "p/in/in/at"),
        ({"items": ELEMENT}, [UID], "p/0"),
        ({"additionalProperties": ELEMENT}, {"a/b": SELECTOR}, "p/a/b"),
        ({"anyOf": [{"type": "null"}, ELEMENT]}, SELECTOR, "p"),
        ({"allOf": [{"properties": {"q": ELEMENT}}]}, {"q": UID}, "p/q"),
    ],
)
def test_a_mark_is_found_wherever_the_schema_leads(part: dict[str, Any], value: object, path: str):
    assert places(schema_of(p=part), {"p": value}) == {path: True}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_has_marks(dialect: str):
    schema = check_schema(json.dumps({"$schema": DIALECTS[dialect], "properties": {"p": ELEMENT}}))

    assert places(schema, {"p": UID}) == {"p": True}


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ({}, {"uid": "abc"}),
        ({}, "e1-2"),
        ({}, SELECTOR),
        ({}, {**UID, "more": 1}),
        ({"properties": {"uid": {}}}, UID),
        ({"required": ["uid"]}, UID),
        ({"additionalProperties": {"type": "string"}}, UID),
        ({"patternProperties": {"^u": {"type": "string"}}}, UID),
        ({"x-mcp-type": "Text"}, {"uid": "abc"}),
        ({"x-mcp-type": [{"type": "null"}]}, SELECTOR),
        ({"anyOf": [{"type": "string"}, ELEMENT]}, "plain text"),
    ],
)
def test_what_only_looks_like_an_element_stays_data(part: dict[str, Any], value: object):
    assert places(schema_of(p=part), {"p": value}) == {}


@pytest.mark.parametrize("part", [{}, {"type": "object"}, {"properties": {"a": {}}, "additionalProperties": True}])
def test_a_uid_where_the_schema_says_nothing_may_be_an_element(part: dict[str, Any]):
    assert places(schema_of(p=part), {"p": [UID] if not part else UID}) == {"p" if part else "p/0": False}


def test_the_arguments_as_a_whole_are_no_element():
    schema = check_schema(json.dumps(ELEMENT))

    assert places(schema, UID) == {}
    assert places(schema, {"a": 1}) == {}


@pytest.mark.parametrize("value", ["app-cart", 7, None, {}, {"uid": 1}, {"selector": "a", "uid": "e1-2"}, ["e1-2"]])
def test_what_names_no_element_is_told_how_to(value: object):
    with pytest.raises(ArgumentsInvalid, match=r"/p must be an element, named as .*uid.* or .*selector"):
        check_arguments(schema_of(p=ELEMENT), {"p": value}, tool="t")


def test_a_missing_element_is_told_as_one():
    schema = check_schema(json.dumps({"properties": {"p": ELEMENT}, "required": ["p"]}))

    with pytest.raises(ArgumentsInvalid, match=r"/p is missing \(an element, named as .* is required\)"):
        check_arguments(schema, {}, tool="t")


def test_a_mark_that_allows_null_takes_it():
    schema = schema_of(p={**ELEMENT, "type": ["object", "null"]})

    assert places(schema, {"p": None}) == {}
    assert export_schema(schema)["properties"]["p"] == {"anyOf": [*FORMS, {"type": "null"}]}


@pytest.mark.parametrize("profile", get_args(SchemaProfile))
def test_readers_of_the_schema_get_the_forms_and_no_mark(profile: SchemaProfile):
    exported = export_schema(schema_of(p={**ELEMENT, "description": "Where."}, list={"items": ELEMENT}), profile)

    element = exported["properties"]["p"]
    assert [sorted(form.get("properties", ())) for form in element["anyOf"]] == [["describe", "uid"], ["selector"], []]
    assert "Where." in json.dumps(element)
    assert "selector" in json.dumps(exported["properties"]["list"])
    assert "mcp" not in json.dumps(exported)


def test_a_word_of_the_command_line_names_an_element():
    schema = schema_of(p=ELEMENT)

    assert parse_words(schema, ["p=e1-2"]) == {"p": "e1-2"}
    assert parse_words(schema, ['p={"selector": "a"}']) == {"p": SELECTOR}
