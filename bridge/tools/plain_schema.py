"""Schemas in plain 2020-12: the form that exporting starts from, without references, ids and names of anything."""

from collections.abc import Mapping
from typing import Any, Final, cast

from bridge.tools.keywords import Json

Schema = dict[str, Any]

ANNOTATIONS: Final[Mapping[str, type]] = {
    "contentEncoding": str,
    "contentMediaType": str,
    "default": object,
    "deprecated": bool,
    "description": str,
    "examples": list,
    "readOnly": bool,
    "title": str,
    "writeOnly": bool,
}
"""What tells without asking for anything, and the type that 2020-12 has for it."""
NEVER: Final[Schema] = {"not": {}}
"""The schema `false`, in the form that more clients take."""


def described(schema: Schema, *texts: str | None) -> Schema:
    """The schema with more in its description."""
    text = " ".join(filter(None, [schema.get("description"), *texts]))
    return {**schema, "description": text} if text else schema


def is_trivial(schema: Json) -> bool:
    """True where everything fits."""
    return isinstance(schema, dict) and cast("Schema", schema).keys() <= ANNOTATIONS.keys()


def joined(schema: Schema, parts: list[Schema]) -> Schema:
    """The schema with parts that must fit too; without `allOf` where it says nothing else."""
    needed: list[Schema] = []
    for part in parts:
        if is_trivial(part):
            schema = {**part, **schema}
        else:
            needed.append(part)
    if len(needed) == 1 and is_trivial(schema):
        return {**needed[0], **schema}
    return {**schema, "allOf": needed} if needed else schema


def completed(schema: Schema) -> Schema:
    """Some clients refuse an object without `properties`, and an array without `items`."""
    types = schema.get("type", ())
    if "object" in types:
        schema.setdefault("properties", {})
    if "array" in types:
        schema.setdefault("items", {})
    return schema
