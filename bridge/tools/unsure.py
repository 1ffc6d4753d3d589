"""Schemas that hold a pattern which is not checked: whatever that may decide is left to the page.

Such a pattern counts as matched. Beneath `not`, `if`, `oneOf` and `maxContains` a match is what refuses a value, so
where those look at one they ask nothing.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from bridge.tools.keywords import QuietDict, QuietList

Schema = dict[str, Any]


def loosen(unsure: Iterable[int], schemas: Mapping[int, Schema], holders: Mapping[int, Iterable[int]]) -> None:
    """Take away, in place, what could refuse a value because of a pattern that is not checked.

    Args:
        unsure: the subschemas with such a pattern, by identity, as all here.
        holders: for each subschema those that apply it.
    """
    found: set[int] = set()
    waiting = list(unsure)
    while waiting:
        if (node := waiting.pop()) not in found:
            found.add(node)
            waiting += holders.get(node, ())
    for node in found:
        _loosen(schemas[node], found)


def _loosen(schema: Schema, unsure: set[int]) -> None:
    if id(schema.get("not")) in unsure:
        del schema["not"]
    if id(schema.get("if")) in unsure:
        del schema["if"]
    if id(schema.get("contains")) in unsure:
        schema.pop("maxContains", None)
    if any(id(part) in unsure for part in schema.get("oneOf", ())):
        alternatives = QuietDict(anyOf=schema.pop("oneOf"))
        schema["allOf"] = QuietList([*schema.get("allOf", ()), alternatives])
