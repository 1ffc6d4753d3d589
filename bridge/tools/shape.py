"""What a schema says about objects, without `anyOf`, `oneOf`, `allOf`: of alternatives, what they have in common.

APIs refuse those keywords at the root of a tool's schema, and with it every tool of the session. The result allows
the same or more. A property that only some of several open alternatives name is shown beside `{}`: a hint, since
the others allow anything there.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bridge.tools.faults import shown
from bridge.tools.keywords import Json, identity
from bridge.tools.plain_schema import NEVER, Schema, is_trivial, joined

ALTERNATIVES_SHOWN: Final = 5
_OTHERS: Final = ("minProperties", "maxProperties", "propertyNames", "dependentRequired", "dependentSchemas")


@dataclass(frozen=True)
class Shape:
    """What is asked of an object.

    Attributes:
        patterns: `patternProperties`.
        extra: `additionalProperties`; True where anything goes.
        others: keywords that stay as they are.
        needs: for alternatives that differ in it, what each of them requires.
        exact: it says all that the schema says about objects.
    """

    properties: dict[str, Schema] = field(default_factory=dict[str, Schema])
    required: tuple[str, ...] = ()
    patterns: dict[str, Schema] = field(default_factory=dict[str, Schema])
    extra: Json = True
    others: Schema = field(default_factory=dict[str, Any])
    needs: tuple[tuple[str, ...], ...] = ()
    exact: bool = True

    @property
    def is_closed(self) -> bool:
        """No property but those in `properties`."""
        return self.extra is False and not self.patterns

    @property
    def notes(self) -> list[str]:
        """What it can't say but in words."""
        alternatives = "; ".join(" and ".join(map(shown, names)) for names in self.needs)
        needs = [f"Needs one of: {alternatives}."] if alternatives else []
        return needs if self.exact else [*needs, "The page checks more exactly than this schema says."]

    def as_schema(self) -> Schema:
        schema: Schema = {"type": "object", "properties": self.properties}
        if self.required:
            schema["required"] = list(self.required)
        if self.patterns:
            schema["patternProperties"] = self.patterns
        if self.extra is not True:
            schema["additionalProperties"] = self.extra
        return {**schema, **self.others}


def shape_of(schema: Schema) -> Shape | None:
    """The shape of the objects that fit a schema in plain 2020-12, or None where none can."""
    own = _own(schema)
    alternatives = [
        _one_of(map(shape_of, branches)) for branches in (*_lists(schema, "anyOf", "oneOf"), *_outcomes(schema))
    ]
    return _all_of([own, *map(shape_of, schema.get("allOf", ())), *alternatives])


def _lists(schema: Schema, *keywords: str) -> Iterator[list[Schema]]:
    return (schema[keyword] for keyword in keywords if keyword in schema)


def _outcomes(schema: Schema) -> Iterator[list[Schema]]:
    if "if" in schema:
        yield [schema.get("then", {}), schema.get("else", {})]


def _own(schema: Schema) -> Shape | None:
    """What the schema says itself."""
    values = [schema["const"]] if "const" in schema else schema.get("enum", [{}])
    if schema.get("not") == {} or "object" not in schema.get("type", "object"):
        return None
    if not any(isinstance(value, dict) for value in values):
        return None
    return Shape(
        schema.get("properties", {}),
        tuple(dict.fromkeys(schema.get("required", ()))),
        schema.get("patternProperties", {}),
        schema.get("additionalProperties", True),
        {keyword: schema[keyword] for keyword in _OTHERS if keyword in schema},
        exact=schema.keys().isdisjoint({"const", "enum", "not", "if"}),
    )


def _all_of(shapes: Sequence[Shape | None]) -> Shape | None:
    possible = [shape for shape in shapes if shape is not None]
    if len(possible) < len(shapes):
        return None
    if len(possible) == 1:
        return possible[0]
    closed = sum(shape.is_closed for shape in possible)
    properties = {
        name: joined({}, distinct(part for part, _ in found))
        for name, found in _by_name(possible).items()
        # Whoever is closed must know it.
        if sum(shape.is_closed for _, shape in found) == closed
    }
    patterns: dict[str, list[Schema]] = {}
    others: dict[str, list[Json]] = {}
    for shape in possible:
        for pattern, part in shape.patterns.items():
            patterns.setdefault(pattern, []).append(part)
        for keyword, value in shape.others.items():
            others.setdefault(keyword, []).append(value)
    extras = [shape.extra for shape in possible if shape.extra is not True]
    needs = [shape.needs for shape in possible if shape.needs]
    return Shape(
        properties,
        tuple(dict.fromkeys(name for shape in possible for name in shape.required)),
        {pattern: joined({}, distinct(parts)) for pattern, parts in patterns.items()},
        False if False in extras else joined({}, distinct(extras)) if extras else True,
        {keyword: others[keyword][0] for keyword in _OTHERS if keyword in others},
        needs[0] if needs else (),
        exact=all(shape.exact for shape in possible)
        and all(map(_same, others.values()))
        and (not extras or (closed == len(extras) and not patterns)),
    )


def _one_of(shapes: Iterable[Shape | None]) -> Shape | None:
    possible = [shape for shape in shapes if shape is not None]
    if len(possible) <= 1:
        return possible[0] if possible else None
    first = possible[0]
    opened = sum(not shape.is_closed for shape in possible)
    properties: dict[str, Schema] = {}
    for name, found in _by_name(possible).items():
        is_open = sum(not shape.is_closed for _, shape in found) < opened
        properties[name] = either((part for part, _ in found), is_open=is_open)
    common = set(first.required).intersection(*(shape.required for shape in possible))
    patterned = _same(shape.patterns for shape in possible)
    return Shape(
        properties,
        tuple(name for name in first.required if name in common),
        first.patterns if patterned else {},
        first.extra if patterned and _same(shape.extra for shape in possible) else True,
        first.others if _same(shape.others for shape in possible) else {},
        _needs(possible, common),
        exact=all(shape.exact for shape in possible) and _same(shape.as_schema() for shape in possible),
    )


def _needs(shapes: Sequence[Shape], common: set[str]) -> tuple[tuple[str, ...], ...]:
    alternatives = dict.fromkeys(tuple(name for name in shape.required if name not in common) for shape in shapes)
    return tuple(alternatives) if all(alternatives) and len(alternatives) <= ALTERNATIVES_SHOWN else ()


def _by_name(shapes: Iterable[Shape]) -> dict[str, list[tuple[Schema, Shape]]]:
    found: dict[str, list[tuple[Schema, Shape]]] = {}
    for shape in shapes:
        for name, part in shape.properties.items():
            found.setdefault(name, []).append((part, shape))
    return found


def either(parts: Iterable[Schema], *, is_open: bool) -> Schema:
    """A schema for what fits any of these parts, or for anything."""
    possible = [part for part in distinct(parts) if part != NEVER]
    told = [part for part in possible if not is_trivial(part)]
    if not told:
        return possible[0] if possible else {} if is_open else NEVER
    choices = _merge_choices(told)
    if is_open or len(told) < len(possible):
        choices.append({})
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _merge_choices(parts: list[Schema]) -> list[Schema]:
    """Parts that list their values as one list, which is how alternatives are told apart."""
    if len(parts) == 1 or not all(part.keys() & {"const", "enum"} for part in parts):
        return parts
    values = distinct(value for part in parts for value in (part["enum"] if "enum" in part else [part["const"]]))
    kinds = distinct(part.get("type") for part in parts)
    return [{"type": kinds[0], "enum": values} if len(kinds) == 1 and kinds[0] else {"enum": values}]


def distinct(values: Iterable[Json]) -> list[Json]:
    """Each value once. Python's own equality takes 1 for true."""
    return list({identity(value): value for value in values}.values())


def _same(values: Iterable[Json]) -> bool:
    return len({identity(value) for value in values}) <= 1
