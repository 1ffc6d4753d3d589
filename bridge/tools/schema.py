"""A page's `inputSchema`, made safe to use: bounded before it is compiled, and never a reason to fetch anything.

jsonschema works on a copy in which every reference is known to stay inside the document.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, Final, cast
from urllib.parse import unquote

from bridge import limits
from bridge.errors import SchemaUnusable
from bridge.tools.bounds import Place, check_paths, check_subschemas, escape, nesting, walk
from bridge.tools.dialects import (
    DIALECTS,
    DRAFT_7,
    Dialect,
    NotThere,
    Registry,
    Resolver,
    Resource,
    Validator,
    asserted_keywords,
    iter_errors,
    look_up,
    make_registry,
    meta_schemas,
    reference_keywords,
    schema_keywords,
    validator_class,
)
from bridge.tools.elements import ElementPlace, mark_element, noting
from bridge.tools.faults import Fault, Path, cut, find_faults, find_misfits, shown
from bridge.tools.json_text import refuse_constant
from bridge.tools.keywords import Choices, Json, OutOfSteps, Pattern, QuietDict, budget, quiet
from bridge.tools.unsure import loosen
from bridge.tools.verdict import Test, Verdict

TOO_LARGE: Final = Fault("", "a smaller value", "does not fit, and is too large to say where: send less at a time")


@dataclass(frozen=True)
class CheckedSchema:
    """A schema that may be used. Schemas are equal where their canonical text is.

    Attributes:
        source: as the page gave it; not to be changed.
        text: compact JSON with sorted keys.
        dialect: `Draft 4`, `Draft 6`, `Draft 7`, `2019-09` or `2020-12`.
        validator: a jsonschema validator; `check` is the way to use it within bounds.
        verdict: quick tests of values, which the validator need not be asked for then.
        unchecked: JSON Pointers of the patterns that are not checked, since google-re2 can't express them, or they
            are too large together.
        exports: what `export_schema` made of it, by profile.
    """

    source: dict[str, Any] = field(compare=False, repr=False)
    text: str
    dialect: str = field(compare=False)
    validator: Validator = field(compare=False, repr=False)
    verdict: Verdict = field(compare=False, repr=False)
    unchecked: tuple[str, ...] = field(compare=False)
    exports: dict[str, dict[str, Any]] = field(default_factory=dict[str, Any], compare=False, repr=False)

    def check(self, value: object, *, steps: int = limits.SCHEMA_STEPS) -> list[Fault]:
        """What does not fit; empty where everything does. Of many faults only some are found.

        Raises:
            SchemaUnusable: the check took more than `steps`, or nested too deeply.
        """
        fits = None
        try:
            with budget(steps):
                fits = self.verdict.fits(value) if self.verdict.fits else None
                return [] if fits else find_faults(iter_errors(self.validator, quiet(value)))
        except (OutOfSteps, RecursionError, NotThere) as error:
            if fits is False and isinstance(error, OutOfSteps):
                return [TOO_LARGE]
            raise _too_much(error) from error

    def find_misfits(self, value: Json) -> dict[Path, set[str]]:
        """The places that do not fit, those that are missing among them, each with the types that are asked for there.

        Raises:
            SchemaUnusable: as `check`.
        """
        try:
            with budget(limits.SCHEMA_STEPS):
                if self.verdict.fits and self.verdict.fits(value):
                    return {}
                return find_misfits(iter_errors(self.validator, quiet(value)))
        except (OutOfSteps, RecursionError, NotThere) as error:
            raise _too_much(error) from error

    def find_elements(self, value: Json) -> list[ElementPlace]:
        """Where arguments that fit name elements.

        Raises:
            SchemaUnusable: as `check`.
        """
        copy = quiet(value)
        try:
            with noting() as notes, budget(limits.SCHEMA_STEPS):
                if self.verdict.fits_noting is None or not self.verdict.fits_noting(copy):
                    find_faults(iter_errors(self.validator, copy))
        except (OutOfSteps, RecursionError, NotThere) as error:
            raise _too_much(error) from error
        return notes.places(copy)


def _too_much(error: OutOfSteps | RecursionError | NotThere) -> SchemaUnusable:
    reason = "its references nest too deeply for this value"
    if isinstance(error, OutOfSteps):
        reason = f"checking this value against it takes more than {error.steps:,} steps"
    return SchemaUnusable(f"The input schema can't be used: {reason}. Send smaller arguments.")


def check_schema(text: str) -> CheckedSchema:
    """Check and compile the JSON text of an input schema.

    Raises:
        SchemaUnusable: one sentence with the reason.
    """
    if len(text) > limits.SCHEMA_CHARS:
        raise SchemaUnusable(f"The input schema has {len(text):,} characters, and {limits.SCHEMA_CHARS:,} are allowed.")
    checked = _KNOWN.get(text)
    if checked is None:
        checked = _check(text)
        _KNOWN.add(text, checked)
    if isinstance(checked, str):
        raise SchemaUnusable(checked)
    return checked


class _Known:
    """The schemas of last time: a page is asked for its own again and again. One takes many times its text."""

    def __init__(self) -> None:
        self._found: dict[str, CheckedSchema | str] = {}
        self._chars = 0

    def get(self, text: str) -> "CheckedSchema | str | None":
        found = self._found.pop(text, None)
        if found is not None:
            self._found[text] = found
        return found

    def add(self, text: str, checked: "CheckedSchema | str") -> None:
        self._found[text] = checked
        self._chars += len(text)
        while self._chars > limits.KNOWN_SCHEMA_CHARS or len(self._found) > limits.KNOWN_SCHEMAS:
            oldest = next(iter(self._found))
            del self._found[oldest]
            self._chars -= len(oldest)


_KNOWN: Final = _Known()


def _check(text: str) -> CheckedSchema | str:
    try:
        source, canonical = _parse(text)
        dialect = _dialect_of(source.get("$schema", f"http://{DRAFT_7.uri}#"))
        compilation = _Compilation(dialect)
        validator, verdict = compilation.compile(quiet(source))
    except RecursionError:
        return str(_too_deep())
    except SchemaUnusable as error:
        return str(error)
    return CheckedSchema(source, canonical, dialect.name, validator, verdict, tuple(compilation.unchecked))


def _parse(text: str) -> tuple[dict[str, Any], str]:
    try:
        source = json.loads(text, parse_constant=refuse_constant, parse_int=_integer)
    except ValueError as error:
        raise SchemaUnusable(f"The input schema can't be read as JSON: {error}.") from error
    if not isinstance(source, dict):
        raise SchemaUnusable(f"The input schema is {shown(source)}, where an object is needed.")
    if nesting(cast("object", source)) > limits.SCHEMA_DEPTH:
        raise _too_deep()
    try:
        canonical = json.dumps(source, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
        canonical.encode()
    except UnicodeEncodeError as error:
        raise SchemaUnusable("The input schema holds half a character (a lone surrogate).") from error
    except ValueError as error:
        raise SchemaUnusable("The input schema holds a number beyond those of JavaScript.") from error
    return cast("dict[str, Any]", source), canonical


def _too_deep() -> SchemaUnusable:
    return SchemaUnusable(f"The input schema is nested deeper than {limits.SCHEMA_DEPTH} levels.")


def _integer(digits: str) -> int:
    if len(digits) > limits.NUMBER_CHARS:
        raise ValueError(f"a number of {len(digits):,} digits")
    return int(digits)


def _dialect_of(uri: object) -> Dialect:
    if isinstance(uri, str):
        name = uri.removesuffix("#").removeprefix("https://").removeprefix("http://")
        for dialect in DIALECTS:
            if dialect.uri == name:
                return dialect
    known = ", ".join(dialect.name for dialect in DIALECTS)
    raise SchemaUnusable(f"The input schema is written in an unknown dialect, {shown(uri)}; known: {known}.")


class _Compilation:
    """One schema on its way to a validator. It is prepared in place, so it must be a copy of ours."""

    def __init__(self, dialect: Dialect) -> None:
        self.unchecked: dict[str, int] = {}
        self._dialect = dialect
        self._patterns: dict[str, Pattern] = {}
        self._weight_left = limits.PATTERNS_WEIGHT
        self._pointers: dict[int, str] = {}
        self._schemas: dict[int, dict[str, Any]] = {}
        self._edges: dict[int, list[int]] = {}
        self._holders: dict[int, list[int]] = {}
        self._anchors: dict[str, list[int]] = {}
        self._dynamic: list[tuple[int, str]] = []
        self._referred: dict[tuple[int, str], Json] = {}

    def compile(self, root: dict[str, Any]) -> tuple[Validator, Verdict]:
        """Bound, check and prepare everything that can be reached from `root`."""
        places = self._adopt(root, "")
        registry, resolver = self._open(root)
        waiting = [(places, resolver)]
        while waiting:
            for found, name in self._follow(*waiting.pop()):
                if id(found.contents) not in self._pointers:
                    waiting.append((self._adopt(found.contents, name), found.resolver))
        for node, anchor in self._dynamic:
            for target in self._anchors.get(anchor, []):
                self._edges[node].append(target)
                self._holders.setdefault(target, []).append(node)
        check_paths(self._edges, self._pointers)
        if self.unchecked:
            loosen(self.unchecked.values(), self._schemas, self._holders)
        verdict = Verdict(root, asserted_keywords(self._dialect), self._referred)
        return validator_class(self._dialect)(root, registry=registry), verdict

    def _adopt(self, schema: dict[str, Any], pointer: str) -> list[Place]:
        """Take in one schema with its subschemas: bounds first, since the rest takes longer."""
        places = walk(schema, pointer, schema_keywords(self._dialect))
        if not _meta_test(self._dialect)(schema):
            raise SchemaUnusable(f"The input schema is not valid {self._dialect.name}: {self._find_fault(places)}.")
        self.prepare(places)
        return places

    def _find_fault(self, places: list[Place]) -> str:
        """What is wrong: jsonschema is asked of the innermost subschema only, since of all it would take too long."""
        fits = _meta_test(self._dialect)
        number = 0
        fault = None
        with suppress(OutOfSteps), budget(limits.SCHEMA_STEPS):
            while inner := next((child for child in _children(places, number) if not fits(places[child].schema)), 0):
                number = inner
            errors = iter_errors(_meta_validator(self._dialect), places[number].schema)
            fault = next(iter(find_faults(islice(errors, limits.FAULTS_SHOWN))), None)
        where = cut(places[number].pointer + (fault.pointer if fault else "")) or "its root"
        return f"{where} {fault.problem if fault else 'does not fit the meta-schema'}"

    def prepare(self, places: list[Place]) -> None:
        """Work out what can be known before there is a value."""
        for place in places:
            self._pointers.setdefault(id(place.schema), place.pointer)
            self._schemas.setdefault(id(place.schema), place.schema)
            self._edges.setdefault(id(place.schema), [])
            self._prepare_place(place)
        check_subschemas(len(self._pointers))

    def _follow(self, places: list[Place], resolver: Resolver) -> Iterator[tuple[Any, str]]:
        """What the references in these places lead to, with names for it. Their edges are noted on the way."""
        resolvers: list[Resolver] = []
        for place in places:
            here = resolver if place.parent < 0 else self._enter(resolvers[place.parent], place.schema)
            resolvers.append(here)
            if place.parent >= 0:
                self._holders.setdefault(id(place.schema), []).append(id(places[place.parent].schema))
            if place.in_place:
                self._edges[id(places[place.parent].schema)].append(id(place.schema))
            for target, name in self._targets(here, place):
                self._edges[id(place.schema)].append(id(target.contents))
                self._holders.setdefault(id(target.contents), []).append(id(place.schema))
                yield target, name

    def _prepare_place(self, place: Place) -> None:
        schema = place.schema
        # jsonschema would leave our validator for its own at every `$schema`.
        named = schema.pop("$schema", None)
        if named is not None and _dialect_of(named) is not self._dialect:
            raise SchemaUnusable(f"The input schema mixes dialects: {place.pointer} names {shown(named)}.")
        mark_element(schema, is_root=not place.pointer)
        if isinstance(anchor := schema.get("$dynamicAnchor"), str):
            self._anchors.setdefault(anchor, []).append(id(schema))
        if schema.get("$recursiveAnchor") is True:
            self._anchors.setdefault("", []).append(id(schema))
        if isinstance(choices := schema.get("enum"), list) and not isinstance(choices, Choices):
            schema["enum"] = self._choices(place, cast("list[Any]", choices))
        if isinstance(pattern := schema.get("pattern"), str):
            schema["pattern"] = self._pattern(place, pattern, f"{place.pointer}/pattern")
        if isinstance(named := schema.get("patternProperties"), dict):
            where = f"{place.pointer}/patternProperties"
            schema["patternProperties"] = QuietDict(
                (self._pattern(place, name, f"{where}/{escape(name)}"), part)
                for name, part in cast("dict[str, Any]", named).items()
            )
        _mend(schema)

    def _choices(self, place: Place, values: list[Any]) -> Choices:
        if len(values) > limits.SCHEMA_ENUM_VALUES:
            raise SchemaUnusable(
                f"The input schema has an enum of {len(values):,} values at {place.pointer or 'its root'}, and "
                f"{limits.SCHEMA_ENUM_VALUES:,} are allowed."
            )
        return Choices(values)

    def _pattern(self, place: Place, text: str, pointer: str) -> Pattern:
        if isinstance(text, Pattern):
            return text
        if text not in self._patterns:
            self._patterns[text] = self._compile(text, pointer)
        if self._patterns[text].regex is None:
            self.unchecked[pointer] = id(place.schema)
        return self._patterns[text]

    def _compile(self, text: str, pointer: str) -> Pattern:
        if len(self._patterns) == limits.SCHEMA_PATTERNS:
            raise SchemaUnusable(f"The input schema has more than {limits.SCHEMA_PATTERNS} patterns.")
        if len(text) > limits.PATTERN_CHARS:
            raise SchemaUnusable(
                f"The input schema has a pattern of {len(text):,} characters at {cut(pointer)}, and "
                f"{limits.PATTERN_CHARS:,} are allowed."
            )
        pattern = Pattern(text, self._weight_left)
        self._weight_left -= pattern.weight
        return pattern

    def _open(self, root: dict[str, Any]) -> tuple[Registry, Resolver]:
        """All names in the document, and where to resolve references from."""
        try:
            resource = self._dialect.resource(root)
            uri = resource.id() or ""
            registry = _meta_registry().with_resource(uri, resource).crawl()
        except ValueError as error:
            raise SchemaUnusable(f"The input schema has an id that is not a URI: {error}.") from error
        return registry, registry.resolver(uri)

    def _enter(self, resolver: Resolver, schema: dict[str, Any]) -> Resolver:
        """A subschema may have a base URI of its own."""
        if not schema.keys() & {"$id", "id"}:
            return resolver
        try:
            return resolver.in_subresource(self._dialect.resource(schema))
        except ValueError as error:
            raise SchemaUnusable(f"The input schema has an id that is not a URI: {error}.") from error

    def _targets(self, resolver: Resolver, place: Place) -> Iterator[tuple[Any, str]]:
        """What the references of one subschema point at, and what to call it."""
        for keyword in reference_keywords(self._dialect) & place.schema.keys():
            reference = place.schema[keyword]
            where = f"{shown(reference)} at {cut(place.pointer) or 'its root'}"
            try:
                target = look_up(resolver, keyword, reference)
            except NotThere as error:
                raise SchemaUnusable(
                    f"The input schema refers to {where}, which is not in it; schemas are never fetched."
                ) from error
            if keyword == "$ref":
                self._referred[id(place.schema), keyword] = target.contents
            else:
                self._dynamic.append((id(place.schema), str(reference).rpartition("#")[2]))
            if isinstance(target.contents, dict):
                yield target, unquote(reference[1:]) if reference.startswith("#/") else reference
            elif not isinstance(target.contents, bool):
                raise SchemaUnusable(
                    f"The input schema refers to {where}, which is {shown(target.contents)} and not a schema."
                )


@cache
def _meta_registry() -> Registry:
    """The meta-schemas, prepared like any other schema, in a registry that fetches nothing."""
    resources: list[tuple[str, Resource]] = []
    for uri, dialect, contents in meta_schemas():
        copy = quiet(contents)
        _Compilation(dialect).prepare(walk(copy, uri, schema_keywords(dialect)))
        resources.append((uri, dialect.resource(copy)))
    return make_registry(resources)


@cache
def _meta_validator(dialect: Dialect) -> Validator:
    checker = validator_class(dialect)
    uri = checker.ID_OF(checker.META_SCHEMA)
    return checker(_meta_registry()[uri].contents, registry=_meta_registry())


def _children(places: list[Place], number: int) -> Iterator[int]:
    return (child for child, place in enumerate(places) if place.parent == number)


@cache
def _meta_test(dialect: Dialect) -> Test:
    """The quick form of the meta-validator. A dynamic reference leads to where that starts: the dialect's own."""
    registry, root = _meta_registry(), _meta_validator(dialect).schema
    targets: dict[tuple[int, str], Json] = {}
    for uri in (uri for uri, of, _ in meta_schemas() if of is dialect):
        for place in walk(registry[uri].contents, uri, schema_keywords(dialect)):
            for keyword in reference_keywords(dialect) & place.schema.keys():
                found = look_up(registry.resolver(uri), keyword, place.schema[keyword]) if keyword == "$ref" else None
                targets[id(place.schema), keyword] = found.contents if found else root
    test = Verdict(root, asserted_keywords(dialect), targets).fits
    assert test is not None
    return test


def _mend(schema: dict[str, Any]) -> None:
    """Write otherwise, with the same meaning, what jsonschema or referencing stumble over."""
    if isinstance(named := schema.get("dependencies"), dict):
        # Both forms mixed in one object: referencing takes the lists for schemas.
        for name, needed in cast("dict[str, Any]", named).items():
            if isinstance(needed, list):
                named[name] = quiet({"required": needed})
    if isinstance(items := schema.get("items"), bool):
        # Beside `additionalItems`: jsonschema counts what is in it.
        schema["items"] = _as_object(items)
    for keyword in ("properties", "patternProperties", "items", "prefixItems"):
        # An error of `false` has lost its path.
        parts = schema.get(keyword)
        if isinstance(parts, list):
            parts[:] = map(_as_object, cast("list[Json]", parts))
        elif isinstance(parts, dict) and keyword != "items":
            schema[keyword] = QuietDict(
                (name, _as_object(part)) for name, part in cast("dict[str, Json]", parts).items()
            )


def _as_object(schema: Json) -> Json:
    if isinstance(schema, bool):
        return quiet({} if schema else {"not": {}})
    return schema
