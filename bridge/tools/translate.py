"""A page's schema, whatever its dialect, as one 2020-12 schema that needs nothing else: no references, no names.

The result means the same or allows more, never less. What allows more must not stand where more means less: below
`not`, in `if`, and in the branches of `oneOf`. There a part is kept only while nothing in it was lost.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, cast

from bridge import limits
from bridge.tools.bounds import IN_PLACE, nesting
from bridge.tools.dialects import DIALECTS, NotThere, Resolver, look_up, make_registry, validator_class
from bridge.tools.keywords import Json
from bridge.tools.plain_schema import ANNOTATIONS, NEVER, Schema, completed, joined
from bridge.tools.portable import is_portable
from bridge.tools.schema import CheckedSchema

Keywords = Iterable[tuple[str, Json]]

AGAIN: Final = "Of the same form again, as deep as needed."
OMITTED: Final = "Not spelled out here, since it is too large. The page checks it."
A_SCHEMA: Final = "A JSON Schema."

_REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


def translate(schema: CheckedSchema) -> Schema:
    """The schema in plain 2020-12, its references spelled out while that stays within limits."""
    translation = _Translation(schema, repeats=1)
    result = translation.run()
    if translation.omitted:
        result = _Translation(schema, repeats=0).run()
    # Also turns our own kinds of text and lists into plain ones.
    return json.loads(json.dumps(result))


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a subschema will stand.

    Attributes:
        depth: how many lists and objects are around it.
        inside: ids of the schemas that were referred to on the way here.
    """

    resolver: Resolver
    depth: int
    inside: tuple[int, ...]


class _Translation:
    """One schema on its way. `omitted` tells that there was not room enough for it.

    Args:
        repeats: how often a schema that refers to itself is spelled out inside itself.
    """

    def __init__(self, schema: CheckedSchema, *, repeats: int) -> None:
        self.omitted = False
        self._root: Schema = schema.validator.schema
        self._dialect = next(dialect for dialect in DIALECTS if dialect.name == schema.dialect)
        self._keywords = frozenset[str](validator_class(self._dialect).VALIDATORS)
        self._is_modern = "dependentSchemas" in self._keywords
        self._repeats = repeats
        self._chars = limits.EXPORT_REFERENCE_CHARS
        self._sizes: dict[int, tuple[int, int]] = {}
        self._lost = 0

    def run(self) -> Schema:
        resource = self._dialect.resource(self._root)
        uri = resource.id() or ""
        resolver = make_registry([(uri, resource)]).resolver(uri)
        return self._schema(self._root, _Spot(resolver, 0, (id(self._root),)))

    def _below(self, part: Json, spot: _Spot, levels: int) -> Schema:
        """A subschema that stands `levels` of lists and objects deeper."""
        if not isinstance(part, dict):
            return {} if part else NEVER
        source = cast("Schema", part)
        resolver = spot.resolver
        if not source.keys().isdisjoint({"$id", "id"}):
            resolver = resolver.in_subresource(self._dialect.resource(source))
        return self._schema(source, replace(spot, resolver=resolver, depth=spot.depth + levels))

    def _schema(self, source: Schema, spot: _Spot) -> Schema:
        result: Schema = {}
        parts: list[Schema] = []
        # Up to Draft 7, what stands beside a reference means nothing.
        meant = {"$ref"} if "$ref" in source and not self._is_modern else self._keywords
        for keyword, value in source.items():
            if keyword in meant and keyword != "additionalItems":
                for name, translated in self._keyword(keyword, value, source, spot):
                    if name == "allOf":
                        parts += translated
                    else:
                        result[name] = translated
            elif isinstance(value, ANNOTATIONS.get(keyword, ())):
                result[keyword] = value
        return completed(joined(result, parts))

    def _keyword(self, keyword: str, value: Json, source: Schema, spot: _Spot) -> Keywords:
        """What becomes of one keyword; `allOf` stands for what must fit too."""
        match keyword:
            case "$ref":
                return [("allOf", [self._reference(value, spot)])]
            case "$dynamicRef" | "$recursiveRef":
                # Where it leads depends on the way here; nearly always it means the whole again.
                return [("allOf", [self._cut(AGAIN)])]
            case "x-mcp-type":
                return [("anyOf", value)]
            case "additionalProperties":
                return self._additional_properties(value, source, spot)
            case "allOf":
                return [(keyword, [self._below(part, spot, 2) for part in value])]
            case "anyOf" | "oneOf":
                return [self._branches(keyword, value, source, spot)]
            case "contains":
                return self._contains(value, source, spot)
            case "dependencies":
                return self._dependencies(value, spot)
            case "if":
                return self._condition(value, source, spot)
            case "items":
                return self._items(value, source, spot)
            case "maximum" | "minimum":
                return [(self._bound(keyword, source), value)]
            case "not":
                translated, exact = self._exactly(value, spot)
                return [(keyword, translated)] if exact else []
            case "pattern":
                return [(keyword, value)] if self._is_kept(value) else []
            case "patternProperties":
                return [(keyword, {name: self._below(value[name], spot, 2) for name in filter(self._is_kept, value)})]
            case "prefixItems":
                return self._row(value, spot)
            case "properties" | "dependentSchemas":
                return [(keyword, {name: self._below(part, spot, 2) for name, part in value.items()})]
            case "propertyNames":
                return [(keyword, self._below(value, spot, 1))]
            case "type":
                return [(keyword, self._type(value))]
            case "unevaluatedItems":
                return self._unevaluated_items(value, source, spot)
            case "unevaluatedProperties":
                return self._unevaluated_properties(value, source, spot)
            case _:
                return [(keyword, value)]

    def _exactly(self, part: Json, spot: _Spot) -> tuple[Schema, bool]:
        """A subschema, and whether it still means the same."""
        before = self._lost
        return self._below(part, spot, 1), self._lost == before

    # References

    def _reference(self, value: str, spot: _Spot) -> Schema:
        try:
            target = look_up(spot.resolver, "$ref", value)
        except NotThere:
            # It was there when the schema was checked, so it is one of the meta-schemas.
            return self._cut(A_SCHEMA)
        contents = target.contents
        if isinstance(contents, bool):
            return self._below(contents, spot, 0)
        chars, depth = self._measure(contents)
        if spot.inside.count(id(contents)) > self._repeats:
            return self._cut(AGAIN)
        if chars > self._chars or spot.depth + depth > limits.SCHEMA_DEPTH:
            self.omitted = True
            return self._cut(OMITTED)
        self._chars -= chars
        # A level too, so that a chain of references ends.
        return self._schema(contents, _Spot(target.resolver, spot.depth + 1, (*spot.inside, id(contents))))

    def _cut(self, description: str) -> Schema:
        self._lost += 1
        return {"description": description}

    def _measure(self, contents: Schema) -> tuple[int, int]:
        if id(contents) not in self._sizes:
            told = {name: part for name, part in contents.items() if name not in {"$defs", "definitions"}}
            self._sizes[id(contents)] = len(json.dumps(told)), nesting(told)
        return self._sizes[id(contents)]

    # Any value

    def _branches(self, keyword: str, value: list[Json], source: Schema, spot: _Spot) -> tuple[str, list[Schema]]:
        before = self._lost
        possible = [branch for branch in (self._below(part, spot, 2) for part in value) if branch != NEVER]
        if len(possible) <= 1:
            return "allOf", possible or [NEVER]
        if keyword == "oneOf" and self._lost == before:
            return keyword, possible
        if keyword == "oneOf" and "anyOf" in source:
            return "allOf", [{"anyOf": possible}]
        return "anyOf", possible

    def _condition(self, value: Json, source: Schema, spot: _Spot) -> Keywords:
        condition, exact = self._exactly(value, spot)
        branches = [(name, self._below(source[name], spot, 1)) for name in ("then", "else") if name in source]
        return [("if", condition), *branches] if exact and branches else []

    def _type(self, value: Json) -> Json:
        if self._dialect.name == "Draft 4" and "integer" in value:
            # There 1.0 is none.
            self._lost += 1
        return value[0] if isinstance(value, list) and len(value) == 1 else value  # pyright: ignore

    def _bound(self, keyword: str, source: Schema) -> str:
        """In Draft 4 the exclusive form is a flag beside the limit, since then it has the limit itself."""
        exclusive = f"exclusive{keyword.capitalize()}"
        return exclusive if source.get(exclusive) is True else keyword

    def _is_kept(self, pattern: str) -> bool:
        if is_portable(pattern, look_around=True):
            return True
        self._lost += 1
        return False

    # Objects

    def _additional_properties(self, value: Json, source: Schema, spot: _Spot) -> Keywords:
        if not all(map(self._is_kept, source.get("patternProperties", {}))):
            # What fits a pattern that we leave out is no extra.
            return []
        if isinstance(value, bool):
            return [("additionalProperties", value)]
        return [("additionalProperties", self._below(value, spot, 1) or True)]

    def _unevaluated_properties(self, value: Json, source: Schema, spot: _Spot) -> Keywords:
        if "additionalProperties" in source:
            return []
        if source.keys() & (IN_PLACE | _REFERENCES):
            self._lost += 1
            return []
        return self._additional_properties(value, source, spot)

    def _dependencies(self, value: Schema, spot: _Spot) -> Keywords:
        # Preparing the schema has made schemas of the lists.
        lists = {name: part["required"] for name, part in value.items() if _is_list_of_names(part)}
        schemas = {name: self._below(part, spot, 2) for name, part in value.items() if name not in lists}
        found = [("dependentRequired", lists), ("dependentSchemas", schemas)]
        return [(keyword, named) for keyword, named in found if named]

    # Arrays

    def _row(self, value: list[Json], spot: _Spot) -> Keywords:
        return [("prefixItems", [self._below(part, spot, 2) for part in value])] if value else []

    def _items(self, value: Json, source: Schema, spot: _Spot) -> Keywords:
        if not isinstance(value, list):
            return [("items", self._below(value, spot, 1))]
        rest = [("items", self._below(source["additionalItems"], spot, 1))] if "additionalItems" in source else []
        return [*self._row(cast("list[Json]", value), spot), *rest]

    def _unevaluated_items(self, value: Json, source: Schema, spot: _Spot) -> Keywords:
        if ("additionalItems" if isinstance(source.get("items"), list) else "items") in source:
            return []
        if source.keys() & (IN_PLACE | _REFERENCES | {"contains"}):
            self._lost += 1
            return []
        return [("items", self._below(value, spot, 1))]

    def _contains(self, value: Json, source: Schema, spot: _Spot) -> Keywords:
        item, exact = self._exactly(value, spot)
        counts = ("minContains", "maxContains")[: 1 + exact] if self._is_modern else ()
        return [("contains", item), *((name, source[name]) for name in counts if name in source)]


def _is_list_of_names(part: Json) -> bool:
    return isinstance(part, dict) and cast("Schema", part).keys() == {"required"}
