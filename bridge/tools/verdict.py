"""Whether a value fits a schema, and nothing more: closures that are made once, for the values that do fit.

Most arguments fit, and jsonschema takes ten times as long to find that out. It is asked where they don't, since it
knows what is wrong and where; and where a schema has keywords whose meaning depends on the way by which it was
reached, or on what other keywords have looked at.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set, Sized
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, cast

from bridge.tools.elements import MARK, NOTED, may_name_element, note
from bridge.tools.keywords import QUESTIONS, Json, Pattern, cost, extra_names, identity, spend

Test = Callable[[Json], bool]
Schema = dict[str, Any]


class NoVerdict(Exception):
    """The schema has a keyword that only jsonschema knows."""


@dataclass(frozen=True)
class Verdict:
    """The tests of one schema, each made when it is needed first, and None where jsonschema has to be asked.

    A test spends from the budget, and raises RecursionError where a value or a chain of references is too deep.

    Attributes:
        root: prepared; it must live as long as the test.
        keywords: those of its dialect that are asserted.
        targets: what references lead to, by the identity of their subschema and their keyword; a dynamic one that
            may lead elsewhere on another way is not among them.
    """

    root: Schema
    keywords: Set[str]
    targets: Mapping[tuple[int, str], Json]

    @cached_property
    def fits(self) -> Test | None:
        return self._make(notes=False)

    @cached_property
    def fits_noting(self) -> Test | None:
        """The same, which also notes what `elements` wants to know."""
        return self._make(notes=True)

    def _make(self, *, notes: bool) -> Test | None:
        compiler = _Compiler(self.keywords, self.targets, notes=notes)
        test = compiler.node(self.root)
        try:
            compiler.compile()
        except NoVerdict:
            return None
        return test


class _Compiler:
    def __init__(self, keywords: Set[str], targets: Mapping[tuple[int, str], Json], *, notes: bool) -> None:
        self.keywords = keywords
        self._notes = notes
        self._targets = targets
        self._tests: dict[int, list[Test]] = {}
        self._waiting: list[tuple[Schema, list[Test]]] = []

    def compile(self) -> None:
        """Fill the tests that were asked for, and those that these ask for: a chain of references has any length."""
        while self._waiting:
            schema, tests = self._waiting.pop()
            tests += self._asserted(schema)

    def node(self, schema: Json) -> Test:
        """The test of one subschema. Each is made once, so that a reference may lead back to where it came from."""
        if isinstance(schema, bool):
            return _always if schema else _never
        tests = self._tests.get(id(schema))
        if tests is None:
            tests = self._tests[id(schema)] = []
            self._waiting.append((schema, tests))
        return partial(_fits_all, tests)

    def nodes(self, schemas: Iterable[Json]) -> list[Test]:
        return [self.node(schema) for schema in schemas]

    def named(self, schemas: Mapping[str, Json]) -> dict[str, Test]:
        return {name: self.node(schema) for name, schema in schemas.items()}

    def _asserted(self, schema: Schema) -> Iterator[Test]:
        # Until 2019-09, what stands beside a reference says nothing.
        alone = "$ref" in schema and "dependentSchemas" not in self.keywords
        asserted = ["$ref"] if alone else [keyword for keyword in schema if keyword in self.keywords]
        if self._notes:
            yield from (partial(_noted, keyword, schema[keyword]) for keyword in asserted if keyword in NOTED)
        for keyword in asserted:
            value = schema[keyword]
            if keyword in QUESTIONS:
                yield partial(QUESTIONS[keyword], value)
                if steps := cost(value, None) >> 1:
                    yield partial(_spent, steps)
            elif keyword in _MAKERS:
                yield _MAKERS[keyword](self, value, schema)
            elif keyword != "format":
                raise NoVerdict(keyword)

    def target(self, schema: Schema, keyword: str) -> Test:
        if (id(schema), keyword) not in self._targets:
            raise NoVerdict(keyword)
        return self.node(self._targets[id(schema), keyword])


def _fits_all(tests: list[Test], value: Json) -> bool:
    spend(1 + len(tests))
    for test in tests:  # noqa: SIM110  # a generator costs more than the tests
        if not test(value):
            return False
    return True


def _spent(steps: int, _: Json) -> bool:
    """A test that only tells what another one costs."""
    spend(steps)
    return True


def _noted(keyword: str, asked: Json, value: Json) -> bool:
    note(keyword, asked, value)
    return True


def _always(_: Json) -> bool:
    return True


def _never(_: Json) -> bool:
    return False


# Types and numbers


def _is_integer(value: Json) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Json) -> bool:
    """An integer of Draft 4, where 1.0 is none."""
    return isinstance(value, int) and not isinstance(value, bool)


_TYPES: Final[Mapping[str, Test]] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": _is_integer,
    "null": lambda value: value is None,
    "number": _is_number,
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
}


def _type(compiler: _Compiler, value: Json, _: Schema) -> Test:
    types = _TYPES if "const" in compiler.keywords else {**_TYPES, "integer": _is_whole}
    if isinstance(value, str):
        return types[value]
    tests = [types[kind] for kind in value]
    return lambda instance: any(test(instance) for test in tests)


def _const(_: _Compiler, value: Json, __: Schema) -> Test:
    wanted = identity(value)
    return lambda instance: identity(instance) == wanted


def _minimum(_: _Compiler, value: Json, schema: Schema) -> Test:
    if schema.get("exclusiveMinimum") is True:
        return lambda instance: not _is_number(instance) or instance > value
    return lambda instance: not _is_number(instance) or instance >= value


def _maximum(_: _Compiler, value: Json, schema: Schema) -> Test:
    if schema.get("exclusiveMaximum") is True:
        return lambda instance: not _is_number(instance) or instance < value
    return lambda instance: not _is_number(instance) or instance <= value


def _exclusive_minimum(_: _Compiler, value: Json, __: Schema) -> Test:
    return lambda instance: not _is_number(instance) or instance > value


def _exclusive_maximum(_: _Compiler, value: Json, __: Schema) -> Test:
    return lambda instance: not _is_number(instance) or instance < value


def _at_least(kind: type) -> "_Maker":
    return lambda _, value, __: lambda instance: not isinstance(instance, kind) or len(cast("Sized", instance)) >= value


def _at_most(kind: type) -> "_Maker":
    return lambda _, value, __: lambda instance: not isinstance(instance, kind) or len(cast("Sized", instance)) <= value


# Objects


def _properties(compiler: _Compiler, value: Json, _: Schema) -> Test:
    tests = compiler.named(value)

    def test(instance: Json) -> bool:
        if not isinstance(instance, dict):
            return True
        given = cast("Schema", instance)
        for name, part in given.items():
            fits = tests.get(name)
            if fits is not None and not fits(part):
                return False
        if len(given) > 8:
            spend(len(given) >> 3)
        return True

    return test


def _pattern_properties(compiler: _Compiler, value: Json, _: Schema) -> Test:
    tests = [(cast("Pattern", pattern), fits) for pattern, fits in compiler.named(value).items()]
    checked = [(pattern, fits) for pattern, fits in tests if pattern.regex is not None]

    def test(instance: Json) -> bool:
        return not isinstance(instance, dict) or all(
            not pattern.may_match(name) or fits(part)
            for name, part in cast("Schema", instance).items()
            for pattern, fits in checked
        )

    return test


def _additional_properties(compiler: _Compiler, value: Json, schema: Schema) -> Test:
    if value is True:
        return _always
    fits = compiler.node(value)
    known = schema.get("properties", {}).keys()
    if value is False and not schema.get("patternProperties"):
        return lambda instance: not isinstance(instance, dict) or cast("Schema", instance).keys() <= known

    def test(instance: Json) -> bool:
        if not isinstance(instance, dict):
            return True
        given = cast("Schema", instance)
        spend(len(given) >> 3)
        return all(fits(given[name]) for name in extra_names(given, schema))

    return test


def _property_names(compiler: _Compiler, value: Json, _: Schema) -> Test:
    fits = compiler.node(value)
    return lambda instance: not isinstance(instance, dict) or all(map(fits, cast("Schema", instance)))


def _dependent(compiler: _Compiler, value: Json, _: Schema) -> Test:
    tests = compiler.named(value)
    steps = len(tests) >> 3

    def test(instance: Json) -> bool:
        spend(steps)
        return not isinstance(instance, dict) or all(
            fits(cast("Schema", instance)) for name, fits in tests.items() if name in instance
        )

    return test


# Arrays


def _items(compiler: _Compiler, value: Json, schema: Schema) -> Test:
    if isinstance(value, list):
        return _prefix_items(compiler, cast("list[Json]", value), schema)
    return _items_from(compiler.node(value), len(schema.get("prefixItems", ())))


def _additional_items(compiler: _Compiler, value: Json, schema: Schema) -> Test:
    first: list[Json] | Schema = schema.get("items", {})
    return _items_from(compiler.node(value), len(first)) if isinstance(first, list) else _always


def _items_from(fits: Test, start: int) -> Test:
    def test(instance: Json) -> bool:
        if not isinstance(instance, list):
            return True
        items = cast("list[Json]", instance)
        return all(map(fits, items[start:] if start else items))

    return test


def _prefix_items(compiler: _Compiler, value: Json, _: Schema) -> Test:
    tests = compiler.nodes(value)
    return lambda instance: (
        not isinstance(instance, list)
        or all(fits(part) for fits, part in zip(tests, cast("list[Json]", instance), strict=False))
    )


def _contains(compiler: _Compiler, value: Json, schema: Schema) -> Test:
    fits = compiler.node(value)
    counts = "dependentSchemas" in compiler.keywords
    least: float = schema.get("minContains", 1) if counts else 1
    most: float | None = schema.get("maxContains") if counts else None

    def test(instance: Json) -> bool:
        if not isinstance(instance, list):
            return True
        number = sum(map(fits, cast("list[Json]", instance)))
        return number >= least and (most is None or number <= most)

    return test


# Combinations


def _all_of(compiler: _Compiler, value: Json, _: Schema) -> Test:
    tests = compiler.nodes(value)
    return lambda instance: all(fits(instance) for fits in tests)


def _any_of(compiler: _Compiler, value: Json, _: Schema) -> Test:
    tests = compiler.nodes(value)
    return lambda instance: any(fits(instance) for fits in tests)


def _one_of(compiler: _Compiler, value: Json, _: Schema) -> Test:
    tests = compiler.nodes(value)
    return lambda instance: sum(fits(instance) for fits in tests) == 1


def _not(compiler: _Compiler, value: Json, _: Schema) -> Test:
    fits = compiler.node(value)
    return lambda instance: not fits(instance)


def _if(compiler: _Compiler, value: Json, schema: Schema) -> Test:
    fits, then, otherwise = compiler.nodes([value, schema.get("then", True), schema.get("else", True)])
    return lambda instance: then(instance) if fits(instance) else otherwise(instance)


_Maker = Callable[[_Compiler, Json, Schema], Test]
_MAKERS: Final[Mapping[str, _Maker]] = {
    "$dynamicRef": lambda compiler, _, schema: compiler.target(schema, "$dynamicRef"),
    "$recursiveRef": lambda compiler, _, schema: compiler.target(schema, "$recursiveRef"),
    "$ref": lambda compiler, _, schema: compiler.target(schema, "$ref"),
    MARK: lambda _, value, __: partial(may_name_element, value),
    "additionalItems": _additional_items,
    "additionalProperties": _additional_properties,
    "allOf": _all_of,
    "anyOf": _any_of,
    "const": _const,
    "contains": _contains,
    "dependencies": _dependent,
    "dependentSchemas": _dependent,
    "exclusiveMaximum": _exclusive_maximum,
    "exclusiveMinimum": _exclusive_minimum,
    "if": _if,
    "items": _items,
    "maxItems": _at_most(list),
    "maxLength": _at_most(str),
    "maxProperties": _at_most(dict),
    "maximum": _maximum,
    "minItems": _at_least(list),
    "minLength": _at_least(str),
    "minProperties": _at_least(dict),
    "minimum": _minimum,
    "not": _not,
    "oneOf": _one_of,
    "patternProperties": _pattern_properties,
    "prefixItems": _prefix_items,
    "properties": _properties,
    "propertyNames": _property_names,
    "type": _type,
}
