"""What does not fit, and what would: a validator's errors as short sentences about the value.

Each clause reads on from the name of the place: `/b` + `is missing (a number is required)`. Nothing here quotes
more than `limits.SHOWN_CHARS` of a value.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, cast

from bridge import limits
from bridge.tools.bounds import escape
from bridge.tools.elements import ASKED_FOR, MARK
from bridge.tools.keywords import ERROR_STEPS, Json, OutOfSteps, extra_names, spend

TYPES: Final = {
    "array": "an array",
    "boolean": "a boolean",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}
CHOICES_SHOWN: Final = 10
ALTERNATIVES_SHOWN: Final = 3
ANY: Final = "a value"
NOTHING: Final = "no value at all"

Path = tuple[str | int, ...]
ValidationError = Any
"""jsonschema's, which has no types to speak of."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One place that does not fit: what would, and what is wrong there."""

    pointer: str
    expected: str
    problem: str

    def sentence(self, root: str) -> str:
        """The place and its problem; `root` is what to call the whole value."""
        return f"{self.pointer or root} {self.problem}"


def find_faults(errors: Iterable[ValidationError]) -> list[Fault]:
    """The faults, each once, in the order of their places: all of them, or as many as the budget lasts for.

    Raises:
        OutOfSteps: it does not last for one.
    """
    found: set[Fault] = set()
    try:
        for error in errors:
            for fault in _faults(error, ()):
                spend(ERROR_STEPS)
                found.add(fault)
    except OutOfSteps:
        if not found:
            raise
    return sorted(found, key=lambda fault: (fault.pointer, fault.problem))


def find_misfits(errors: Iterable[ValidationError]) -> dict[Path, set[str]]:
    """The places that do not fit, those that are missing among them, each with the types that are asked for there: all
    of them, or as many as the budget lasts for. Each alternative that was tried has its say.
    """
    found: dict[Path, set[str]] = {}
    with suppress(OutOfSteps):
        for error in errors:
            for path, kinds in _misfits(error, ()):
                spend(ERROR_STEPS)
                found.setdefault(path, set()).update(kinds)
    return found


def shown(value: object) -> str:
    """A value as it may stand in a sentence: JSON while it is small, otherwise what it is."""
    match value:
        case str() if len(value) > limits.SHOWN_CHARS:
            return f'{cut(quoted(value[: limits.SHOWN_CHARS // 2])[:-1])}…" ({len(value):,} characters)'
        case str():
            return cut(quoted(value))
        case None | bool() | int() | float():
            return cut(json.dumps(value))
        case list():
            return f"an array of {counted(cast('list[Any]', value), 'item')}"
        case dict():
            return f"an object of {counted(cast('dict[str, Any]', value), 'property')}"
        case _:
            return f"a {type(value).__name__}"


def literal(value: Json) -> str:
    """A value that the schema names, as JSON."""
    if isinstance(value, str):
        return cut(quoted(value[: limits.SHOWN_CHARS + 1]))
    text = json.dumps(value, ensure_ascii=False)
    spend(len(text) >> 6)
    return plain(text)


def quoted(text: str) -> str:
    """As JSON, on one line; what a person could not see or a terminal would obey is escaped."""
    literal = json.dumps(text, ensure_ascii=False)
    if literal.isprintable():
        return literal
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in literal)


def plain(text: str) -> str:
    """Text that stays on its line, without quotes."""
    head = text[: limits.SHOWN_CHARS + 1]
    return cut(head if head.isprintable() else quoted(head)[1:-1])


def cut(text: str) -> str:
    return text if len(text) <= limits.SHOWN_CHARS else f"{text[: limits.SHOWN_CHARS]}…"


def counted(amount: int | Sequence[Any] | Mapping[str, Any], unit: str) -> str:
    """`1 item`, `2 items`, `0 properties`."""
    number = amount if isinstance(amount, int | float) else len(amount)
    plural = "properties" if unit == "property" else f"{unit}s"
    return f"{number:,} {unit if number == 1 else plural}"


def requirement(schema: Json) -> str:
    """What a schema asks for, in a few words: `a number`, `one of "a", "b"`."""
    match schema:
        case {"x-mcp-type": [*_]}:
            return ASKED_FOR
        case {"const": value}:
            return literal(value)
        case {"enum": [*choices]}:
            return one_of(choices)
        case {"type": str(kind)}:
            return TYPES.get(kind, ANY)
        case {"type": [*kinds]}:
            return _either(TYPES.get(kind, ANY) for kind in kinds)
        case {"anyOf": [*branches]} | {"oneOf": [*branches]}:
            words = [requirement(branch) for branch in branches]
            return ANY if ANY in words else _either(words)
        case _:
            return ANY


def one_of(choices: Sequence[Any]) -> str:
    named = ", ".join(literal(choice) for choice in choices[:CHOICES_SHOWN])
    if len(choices) <= 1:
        return named or "one of no values at all"
    rest = f", … ({len(choices):,} in all)" if len(choices) > CHOICES_SHOWN else ""
    return f"one of {named}{rest}"


def _either(words: Iterable[str]) -> str:
    each = list(dict.fromkeys(words))
    if len(each) > CHOICES_SHOWN:
        return f"{', '.join(each[:CHOICES_SHOWN])}, … ({len(each):,} in all)"
    return " or ".join([", ".join(each[:-1]), each[-1]]) if len(each) > 1 else "".join(each)


def _pointer(path: Path) -> str:
    """A JSON Pointer that fits on a line, whatever the names in it are."""
    return plain("".join(f"/{escape(token)}" for token in path))


def _faults(error: ValidationError, around: Path) -> Iterator[Fault]:
    """The faults behind one error, which is itself found at `around`."""
    path: Path = (*around, *error.path)
    value, instance, schema = error.validator_value, error.instance, error.schema
    match error.validator:
        case "required":
            yield from _missing(path, value, instance, schema, "is required")
        case "dependentRequired":
            for name, needed in value.items():
                if name in instance:
                    yield from _missing(path, needed, instance, schema, f"is required beside {shown(name)}")
        case "additionalProperties" if value is False:
            for name in extra_names(instance, schema):
                yield _unknown((*path, name), schema.get("properties", {}))
        case "unevaluatedProperties" | "unevaluatedItems" if value is False:
            yield Fault(_pointer(path), NOTHING, "is not known")
        case "not" if not value:
            yield Fault(_pointer(path), NOTHING, "is not allowed")
        case "not":
            yield Fault(_pointer(path), "another value", "is what the schema excludes")
        case "oneOf" if not error.context:
            yield Fault(_pointer(path), "exactly one alternative", "fits more than one of its alternatives")
        case "propertyNames":
            for inner in error.context:
                for fault in _faults(inner, ()):
                    yield Fault(_pointer(path), fault.expected, f"has a name that does not fit: it {fault.problem}")
        case "anyOf" | "oneOf" if error.context:
            yield from _alternatives(error, path)
        case None:
            yield Fault(_pointer(path), NOTHING, "is not allowed")
        case _:
            expected = _expected(error)
            yield Fault(_pointer(path), expected, f"must be {expected}, not {shown(instance)}")


def _missing(path: Path, names: Sequence[str], instance: Json, schema: Json, why: str) -> Iterator[Fault]:
    properties = schema.get("properties", {})
    for name in names:
        if name not in instance:
            expected = requirement(properties.get(name))
            yield Fault(_pointer((*path, name)), expected, f"is missing ({expected} {why})")


def _unknown(path: Path, known: Mapping[str, Any]) -> Fault:
    names = ", ".join(plain(name) for name in islice(known, CHOICES_SHOWN))
    rest = f", … ({len(known):,} in all)" if len(known) > CHOICES_SHOWN else ""
    expected = f"known: {names}{rest}" if known else "no properties are known"
    return Fault(_pointer(path), expected, f"is not known ({expected})")


def _misfits(error: ValidationError, around: Path) -> Iterator[tuple[Path, Sequence[str]]]:
    path: Path = (*around, *error.path)
    for inner in error.context:
        yield from _misfits(inner, path)
    match error.validator, error.validator_value:
        case "type", str(kind):
            yield path, [kind]
        case "type", kinds:
            yield path, kinds
        case "required", names:
            yield from (((*path, name), []) for name in names if name not in error.instance)
        case _:
            yield path, []


def _alternatives(error: ValidationError, path: Path) -> Iterator[Fault]:
    """Of the branches that all failed, those that the value most likely means."""
    branches: dict[str | int | None, list[ValidationError]] = {}
    for inner in error.context:
        branches.setdefault(next(iter(inner.schema_path), None), []).append(inner)
    nearest = min(_distance(branch) for branch in branches.values())
    meant = [branch for branch in branches.values() if _distance(branch) == nearest]
    if nearest[0]:
        expected = _either(_expected(inner) for inner in error.context if _is_other_kind(inner))
        yield Fault(_pointer(path), expected, f"must be {expected}, not {shown(error.instance)}")
    elif len(meant) == 1:
        for inner in meant[0]:
            yield from _faults(inner, path)
    else:
        firsts = [next(_faults(branch[0], path), None) for branch in meant[:ALTERNATIVES_SHOWN]]
        told = "; or ".join(first.sentence("it") for first in firsts if first)
        expected = f"one of {len(branches)} alternatives"
        yield Fault(_pointer(path), expected, f"fits none of its {len(branches)} alternatives ({told})")


def _is_other_kind(error: ValidationError) -> bool:
    """The value as a whole is of another type or value than this error's schema is about."""
    if error.path:
        return False
    if error.validator in {"anyOf", "oneOf"} and error.context:
        return all(_is_other_kind(inner) for inner in error.context)
    return error.validator in {"type", "enum", "const", MARK, None}


def _distance(branch: Sequence[ValidationError]) -> tuple[bool, int, int]:
    """How far a value is from a branch: another kind of value, another kind of object, then by faults."""
    told = sum(error.validator in {"enum", "const"} for error in branch)
    return any(_is_other_kind(error) for error in branch), told, len(branch)


_EXPECTED: Final[dict[str, Callable[[Any], str]]] = {
    "const": literal,
    "contains": lambda _: "an array with an item that fits `contains`",
    "enum": one_of,
    "exclusiveMaximum": lambda limit: f"less than {shown(limit)}",
    "exclusiveMinimum": lambda limit: f"more than {shown(limit)}",
    "maxContains": lambda limit: f"an array with at most {counted(limit, 'item')} of a kind",
    "maxItems": lambda limit: f"an array of at most {counted(limit, 'item')}",
    "maxLength": lambda limit: f"a string of at most {counted(limit, 'character')}",
    "maxProperties": lambda limit: f"an object of at most {counted(limit, 'property')}",
    "maximum": lambda limit: f"at most {shown(limit)}",
    "minContains": lambda limit: f"an array with at least {counted(limit, 'item')} of a kind",
    "minItems": lambda limit: f"an array of at least {counted(limit, 'item')}",
    "minLength": lambda limit: f"a string of at least {counted(limit, 'character')}",
    "minProperties": lambda limit: f"an object of at least {counted(limit, 'property')}",
    "minimum": lambda limit: f"at least {shown(limit)}",
    "multipleOf": lambda step: f"a multiple of {shown(step)}",
    "pattern": lambda pattern: f"a string that matches {plain(pattern)}",
    "uniqueItems": lambda _: "an array without equal items",
    MARK: lambda _: ASKED_FOR,
}


def _expected(error: ValidationError) -> str:
    """What would have satisfied the keyword that failed."""
    value = error.validator_value
    match error.validator:
        case None:
            return NOTHING
        case "type":
            return requirement({"type": value})
        case "anyOf" | "oneOf" if error.context:
            return _either(_expected(inner) for inner in error.context)
        case "additionalItems":
            return f"an array of at most {counted(error.schema['items'], 'item')}"
        case "minimum" if error.schema.get("exclusiveMinimum") is True:
            return f"more than {shown(value)}"
        case "maximum" if error.schema.get("exclusiveMaximum") is True:
            return f"less than {shown(value)}"
        case keyword:
            words = _EXPECTED.get(keyword)
            return words(value) if words else f"what `{plain(keyword)}` allows"
