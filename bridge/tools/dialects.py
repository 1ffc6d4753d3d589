"""The dialects of JSON Schema, each with a validator that is safe to run. The only importer of jsonschema.

jsonschema and referencing are imported when the first schema comes, since that takes as long as starting to
listen.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast

from bridge.tools.bounds import IN_PLACE, INNER, STORES
from bridge.tools.elements import MARK, NOTED, may_name_element, note
from bridge.tools.keywords import ERROR_STEPS, KEYWORD_STEPS, QUESTIONS, REFERENCE_STEPS, Json, cost, extra_names, spend

# Neither library has types to speak of.
Validator = Any
ValidationError = Any
Registry = Any
Resource = Any
Resolver = Any
Keyword = Callable[[Validator, Json, Json, Json], Iterable[ValidationError] | None]


class NotThere(Exception):
    """A reference leads to nothing that we have."""


@dataclass(frozen=True)
class Dialect:
    """One dialect, and what it is called: by us, in `$schema`, by jsonschema, by referencing."""

    name: str
    uri: str
    validator: str
    specification: str

    def resource(self, schema: Json) -> Resource:
        """The schema as referencing sees it: with its id and anchors."""
        import referencing.jsonschema

        return getattr(referencing.jsonschema, self.specification).create_resource(schema)


DIALECTS: Final = (
    Dialect("Draft 4", "json-schema.org/draft-04/schema", "Draft4Validator", "DRAFT4"),
    Dialect("Draft 6", "json-schema.org/draft-06/schema", "Draft6Validator", "DRAFT6"),
    Dialect("Draft 7", "json-schema.org/draft-07/schema", "Draft7Validator", "DRAFT7"),
    Dialect("2019-09", "json-schema.org/draft/2019-09/schema", "Draft201909Validator", "DRAFT201909"),
    Dialect("2020-12", "json-schema.org/draft/2020-12/schema", "Draft202012Validator", "DRAFT202012"),
)
DRAFT_7: Final = DIALECTS[2]


@cache
def validator_class(dialect: Dialect) -> Validator:
    """jsonschema's own, with safe keywords, each of which spends from the budget. Formats are not asserted."""
    import jsonschema
    from jsonschema import validators

    stock: Validator = getattr(jsonschema, dialect.validator)
    safe: dict[str, Keyword] = {
        **stock.VALIDATORS,
        **{name: _asking(question) for name, question in QUESTIONS.items()},
        **_DESCENDING,
        MARK: _asking(may_name_element),
    }
    names = [*stock.VALIDATORS, MARK]
    return cast("Any", validators).extend(stock, {name: _metered(name, safe[name]) for name in names})


@cache
def asserted_keywords(dialect: Dialect) -> Set[str]:
    """Keywords that ask something of a value."""
    return frozenset(validator_class(dialect).VALIDATORS)


@cache
def schema_keywords(dialect: Dialect) -> Set[str]:
    """Keywords whose values are, or hold, subschemas."""
    evaluated = set(validator_class(dialect).VALIDATORS)
    if "if" in evaluated:
        evaluated |= {"then", "else"}
    stores = STORES if "dependentSchemas" in evaluated else {"definitions"}
    return evaluated & (IN_PLACE | INNER) | stores


@cache
def reference_keywords(dialect: Dialect) -> Set[str]:
    return {"$ref", "$dynamicRef", "$recursiveRef"} & set(validator_class(dialect).VALIDATORS)


@cache
def meta_schemas() -> tuple[tuple[str, Dialect, dict[str, Any]], ...]:
    """What jsonschema brings along: URI, dialect and contents of each."""
    from jsonschema_specifications import REGISTRY  # pyright: ignore[reportMissingTypeStubs]  # has none

    found = ((uri, cast("dict[str, Any]", REGISTRY.contents(uri))) for uri in REGISTRY)
    return tuple(
        (uri, dialect, contents)
        for uri, contents in found
        for dialect in DIALECTS
        if dialect.uri in contents["$schema"]
    )


def make_registry(resources: Iterable[tuple[str, Resource]]) -> Registry:
    """A registry that knows these and their parts by name, and fetches nothing."""
    import referencing

    registry: Registry = cast("Any", referencing.Registry)()
    return registry.with_resources(resources).crawl()


def look_up(resolver: Resolver, keyword: str, reference: str) -> Any:  # noqa: ANN401  # referencing's Resolved
    """What a reference leads to, with `contents` and the `resolver` for references in there.

    Raises:
        NotThere: nothing that we have; nothing is fetched.
    """
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import lookup_recursive_ref

    try:
        return lookup_recursive_ref(resolver) if keyword == "$recursiveRef" else resolver.lookup(reference)
    # A pointer that goes on through a number or a string raises whatever Python does there.
    except (Unresolvable, AttributeError, LookupError, TypeError, ValueError) as error:
        raise NotThere(reference) from error


def iter_errors(validator: Validator, value: Json) -> Iterator[ValidationError]:
    """What does not fit, found while it is asked for.

    Raises:
        NotThere: a reference that was followed from elsewhere before leads nowhere from here.
    """
    from referencing.exceptions import Unresolvable

    try:
        yield from validator.iter_errors(value)
    except Unresolvable as error:
        raise NotThere(str(error)) from error


# How our keywords become jsonschema's


def _metered(name: str, keyword: Keyword) -> Keyword:
    each = REFERENCE_STEPS if name in {"$ref", "$dynamicRef", "$recursiveRef"} else KEYWORD_STEPS

    def metered(validator: Validator, value: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
        spend(each * cost(value, instance))
        if name in NOTED:
            note(name, value, instance)
        for error in keyword(validator, value, instance, schema) or ():
            spend(ERROR_STEPS)
            yield error

    return metered


def _asking(question: Callable[[Json, Json], bool]) -> Keyword:
    def asking(_validator: Validator, value: Json, instance: Json, _schema: Json) -> Iterator[ValidationError]:
        if not question(value, instance):
            yield _failure()

    return asking


def _failure(path: Iterable[str | int] = (), context: Iterable[ValidationError] = ()) -> ValidationError:
    """An error without a message: `faults` makes its own."""
    import jsonschema

    return cast("Any", jsonschema.ValidationError)("", path=path, context=context)


# Keywords that apply subschemas by a pattern, or to what other keywords left over


def _pattern_properties(validator: Validator, value: Json, instance: Json, _schema: Json) -> Iterator[ValidationError]:
    for pattern, schema in value.items():
        for name, part in _parts(instance, dict):
            if pattern.regex is not None and pattern.may_match(name):
                yield from validator.descend(part, schema, path=name, schema_path=pattern)


def _additional_properties(
    validator: Validator, value: Json, instance: Json, schema: Json
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict) or value is True:
        return
    extra = extra_names(cast("dict[str, Any]", instance), schema)
    if extra and value is False:
        yield _failure()
    elif extra:
        for name in extra:
            yield from validator.descend(instance[name], value, path=name)


def _property_names(validator: Validator, value: Json, instance: Json, _schema: Json) -> Iterator[ValidationError]:
    for name, _ in _parts(instance, dict):
        if errors := list(validator.descend(name, value)):
            yield _failure(path=[name], context=errors)


def _unevaluated_properties(
    validator: Validator, value: Json, instance: Json, _schema: Json
) -> Iterator[ValidationError]:
    known = _evaluated(validator, instance, _named) if isinstance(instance, dict) else ()
    yield from _rest(validator, value, _parts(instance, dict), known)


def _unevaluated_items(validator: Validator, value: Json, instance: Json, _schema: Json) -> Iterator[ValidationError]:
    known = _evaluated(validator, instance, _counted) if isinstance(instance, list) else ()
    yield from _rest(validator, value, _parts(instance, list), known)


def _rest(
    validator: Validator, value: Json, parts: Iterable[tuple[Any, Any]], known: Collection[Any]
) -> Iterator[ValidationError]:
    for token, part in parts:
        if token not in known and value is False:
            yield _failure(path=[token])
        elif token not in known:
            yield from validator.descend(part, value, path=token)


def _parts(instance: Json, kind: type) -> Iterable[tuple[Any, Any]]:
    """Names or numbers with what they stand for; nothing where the value is of another kind."""
    if not isinstance(instance, kind):
        return ()
    return cast("Iterable[tuple[Any, Any]]", instance.items() if kind is dict else enumerate(instance))


_DESCENDING: Final[dict[str, Keyword]] = {
    "additionalProperties": _additional_properties,
    "patternProperties": _pattern_properties,
    "propertyNames": _property_names,
    "unevaluatedItems": _unevaluated_items,
    "unevaluatedProperties": _unevaluated_properties,
}


# Which parts of a value a schema speaks about, itself and by what it applies in place. jsonschema's own way there
# searches with `re`.


def _evaluated(
    validator: Validator,
    instance: Json,
    here: Callable[[Validator, Json, bool], set[Any]],
    nested: bool = False,
) -> set[Any]:
    if isinstance(validator.schema, bool):
        return set()
    spend(REFERENCE_STEPS + (len(instance) >> 1))
    known = here(validator, instance, nested)
    for other in _in_place(validator, instance):
        known |= _evaluated(other, instance, here, nested=True)
    return known


def _named(validator: Validator, instance: Json, nested: bool) -> set[Any]:
    schema = validator.schema
    if "additionalProperties" in schema or (nested and "unevaluatedProperties" in schema):
        return set(instance)
    return set(instance) - set(extra_names(instance, schema))


def _counted(validator: Validator, instance: Json, nested: bool) -> set[Any]:
    schema = validator.schema
    items = schema.get("items")
    if (
        isinstance(items, dict | bool)
        or (items is not None and "additionalItems" in schema)
        or (nested and "unevaluatedItems" in schema)
    ):
        return set(range(len(instance)))
    known = set(range(len(schema.get("prefixItems", items or ()))))
    if "contains" in schema and "prefixItems" in validator.VALIDATORS:
        contained = _below(validator, schema["contains"])
        known |= {number for number, item in enumerate(instance) if contained.is_valid(item)}
    return known


def _in_place(validator: Validator, instance: Json) -> Iterator[Validator]:
    """Validators for the subschemas that look at the same value, and accept it."""
    schema = validator.schema
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if keyword in schema and keyword in validator.VALIDATORS:
            target = look_up(validator._resolver, keyword, schema[keyword])
            yield validator.evolve(schema=target.contents, _resolver=target.resolver)
    for part in schema.get("allOf", ()):
        yield _below(validator, part)
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        other = _below(validator, part)
        if other.is_valid(instance):
            yield other
    for name, part in schema.get("dependentSchemas", {}).items():
        if name in instance:
            yield _below(validator, part)
    if "if" in schema:
        condition = _below(validator, schema["if"])
        branch = "else"
        if condition.is_valid(instance):
            yield condition
            branch = "then"
        if branch in schema:
            yield _below(validator, schema[branch])


def _below(validator: Validator, schema: Json) -> Validator:
    """As jsonschema's `descend` goes into a subschema, which may have a base URI of its own."""
    resolver = validator._resolver.in_subresource(DIALECTS[-1].resource(schema))
    return validator.evolve(schema=schema, _resolver=resolver)
