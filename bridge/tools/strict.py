"""The small part of JSON Schema that the pickiest APIs take: one type a schema, and only what belongs to that type.

It is what Gemini's function declarations know. What can't be said there is left out, which allows more. Only null
beside another type is no longer allowed: the description names it instead.
"""

from typing import Final

from bridge.tools.faults import one_of
from bridge.tools.keywords import Json
from bridge.tools.plain_schema import NEVER, Schema, described, is_trivial
from bridge.tools.portable import is_portable
from bridge.tools.shape import Shape, distinct, either, shape_of

NULLABLE: Final = "May be null."

_NUMBER: Final = frozenset({"format", "maximum", "minimum"})
_KEYWORDS: Final = {
    "array": frozenset({"maxItems", "minItems"}),
    "boolean": frozenset[str](),
    "integer": _NUMBER,
    "null": frozenset[str](),
    "number": _NUMBER,
    "object": frozenset({"maxProperties", "minProperties"}),
    "string": frozenset({"format", "maxLength", "minLength", "pattern"}),
}
_FORMATS: Final = {
    "integer": {"int32", "int64"},
    "number": {"double", "float"},
    "string": {"date-time", "enum"},
}
_HINTS: Final = {"properties": "object", "items": "array"}


def narrow(schema: Schema) -> Schema:
    """A schema in plain 2020-12, in that part of it."""
    whole = _merged(schema)
    branches = _branches(whole, schema)
    told = [branch for branch in branches if branch.get("type") != "null"] or branches
    notes = [NULLABLE] if len(told) < len(branches) else []
    values = [value for value in whole.get("enum", ()) if value is not None]
    if values and not any("enum" in branch for branch in told):
        notes.insert(0, f"Must be {one_of(values)}.")
    # Beside `anyOf` even a description is refused.
    first = dict(told[0])
    texts = (whole.get("description", whole.get("title")), first.pop("description", None))
    told[0] = described(first, *texts, *notes)
    return told[0] if len(told) == 1 else {"anyOf": told}


def _merged(schema: Schema) -> Schema:
    """The schema without `allOf`; of keywords that are said twice the first counts."""
    merged = {keyword: value for keyword, value in schema.items() if keyword != "allOf"}
    if "const" in merged:
        merged["enum"] = [merged.pop("const")]
    if "prefixItems" in merged:
        row = merged.pop("prefixItems")
        is_whole = merged.get("maxItems", len(row) + 1) <= len(row)
        merged["items"] = either(row if is_whole else [*row, merged.get("items", {})], is_open=False)
    for part in map(_merged, schema.get("allOf", ())):
        common = [kind for kind in _kinds(merged) if kind in _widened(_kinds(part))]
        common += [kind for kind in _kinds(part) if kind in _widened(_kinds(merged)) and kind not in common]
        merged = {**part, **merged, **({"type": common} if common else {})}
    return merged


def _kinds(schema: Schema) -> list[str]:
    """The types that the schema names, or that the values it lists have."""
    kinds = schema.get("type") or distinct(map(_kind, schema.get("enum", ())))
    return [kinds] if isinstance(kinds, str) else kinds


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "integer" if value == int(value) else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _widened(kinds: list[str]) -> list[str]:
    return [*kinds, "integer"] if "number" in kinds else kinds


def _branches(whole: Schema, schema: Schema) -> list[Schema]:
    """What the schema allows, each with one type; at the end `{}` where that is a hint only."""
    if kinds := _kinds(whole):
        return [_typed(kind, whole, schema) for kind in kinds]
    for keyword, kind in _HINTS.items():
        if keyword in whole:
            return [_typed(kind, whole, schema), {}]
    found: list[Schema] = []
    for part in whole.get("anyOf", whole.get("oneOf", ())):
        narrowed = narrow(part)
        if part != NEVER:
            found += narrowed.get("anyOf", [narrowed])
    told = [branch for branch in distinct(found) if not is_trivial(branch)]
    return [*told, {}] if any(map(is_trivial, found)) or not told else told


def _typed(kind: str, whole: Schema, schema: Schema) -> Schema:
    """The schema for values of one type."""
    kept = {keyword: whole[keyword] for keyword in whole if keyword in _KEYWORDS[kind]}
    if kept.get("format") not in _FORMATS.get(kind, ()):
        kept.pop("format", None)
    if not is_portable(kept.get("pattern", ""), look_around=False):
        del kept["pattern"]
    if kind == "object":
        kept |= _object(shape_of(schema) or Shape())
    if kind == "array":
        kept["items"] = narrow(whole.get("items", {}))
    if kind == "string" and (texts := [value for value in whole.get("enum", ()) if isinstance(value, str)]):
        kept["enum"] = texts
    return {"type": kind, **kept}


def _object(shape: Shape) -> Schema:
    possible = {name: part for name, part in shape.properties.items() if part != NEVER}
    required = [name for name in shape.required if shape.properties.get(name) != NEVER]
    properties = {name: narrow(possible.get(name, {})) for name in (*possible, *required)}
    return described({"properties": properties, **({"required": required} if required else {})}, *shape.notes)
