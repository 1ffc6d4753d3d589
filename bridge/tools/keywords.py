"""Keywords whose stock form a page could turn against us, as plain questions about a value.

Two things make them cheap. A schema is copied once into values that carry what was worked out beforehand
(`Pattern`, `Choices`), and every keyword that a value is checked against spends from the budget of that check.
"""

import json
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, Final, cast

from bridge import limits

Json = Any
"""Any JSON value."""
Regex = Any
"""Of google-re2, whose types say less than it takes."""

ERROR_STEPS: Final = 5
"""jsonschema's errors are dear: each is made, kept, and touched again on every level on its way up."""


class OutOfSteps(Exception):
    """One check took more than its budget."""


class _Budget:
    def __init__(self, steps: int) -> None:
        self.left = steps


_BUDGET: ContextVar[_Budget | None] = ContextVar("budget", default=None)


@contextmanager
def budget(steps: int) -> Generator[None]:
    """Bound the work of the checks inside: beyond it they raise OutOfSteps."""
    token = _BUDGET.set(_Budget(steps))
    try:
        yield
    finally:
        _BUDGET.reset(token)


def spend(steps: int) -> None:
    current = _BUDGET.get()
    if current is not None:
        current.left -= steps
        if current.left < 0:
            raise OutOfSteps


def cost(value: object, instance: object) -> int:
    """Steps of one keyword: more where it goes through a list or an object."""
    wide = 0 if isinstance(value, Choices) else _width(value)
    return 1 + (wide + _width(instance) >> 3)


def _width(value: object) -> int:
    return len(cast("list[Any]", value)) if isinstance(value, list | dict) else 0


class _Quiet:
    """jsonschema puts the `repr` of what it checks into each message; ours are made from the values themselves."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "…"


class QuietText(_Quiet, str):
    __slots__ = ()


class QuietList(_Quiet, list[Any]):
    __slots__ = ()


class QuietDict(_Quiet, dict[str, Any]):
    __slots__ = ()


def quiet(value: Json) -> Json:
    """A deep copy that is cheap to mention."""
    match value:
        case str():
            return QuietText(value)
        case dict():
            return QuietDict((name, quiet(part)) for name, part in cast("dict[str, Any]", value).items())
        case list():
            return QuietList(quiet(part) for part in cast("list[Any]", value))
        case _:
            return value


# Patterns


class Pattern(QuietText):
    """A regular expression with its compiled form, or None where google-re2 can't express it."""

    regex: Regex | None

    def __new__(cls, text: str) -> "Pattern":
        self = super().__new__(cls, text)
        self.regex = compile_pattern(text)
        return self

    def may_match(self, text: str) -> bool:
        """True also where we can't tell: then the page still sees the value."""
        spend(1 + (len(text) >> 5))
        return self.regex is None or self.regex.search(text.encode("utf-8", "replace")) is not None


_ESCAPES: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|.)", re.DOTALL)


def compile_pattern(text: str) -> Regex | None:
    """An ECMAScript pattern in google-re2, whose time is linear in the text; None where it has no such form."""
    import re2  # here, since most runs never meet a pattern

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = limits.PATTERN_BYTES
    try:
        return re2.compile(_ESCAPES.sub(_to_re2, text), options)
    except (re2.error, UnicodeEncodeError):
        return None


def _to_re2(escaped: re.Match[str]) -> str:
    digits = escaped[1] or escaped[2]
    return f"\\x{{{digits}}}" if digits else escaped[0]


def extra_names(instance: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """The properties that a schema does not name; none where a pattern that we can't check may name them."""
    known: Mapping[str, Any] = schema.get("properties", {})
    patterns: list[Pattern] = list(schema.get("patternProperties", {}))
    return [name for name in instance if name not in known and not any(pattern.may_match(name) for pattern in patterns)]


# Equality


class Choices(QuietList):
    """The values of an `enum`, found in constant time."""

    def __init__(self, values: list[Any]) -> None:
        super().__init__(values)
        self.identities = {identity(value) for value in values}


def identity(value: object) -> str:
    """Text that is equal for equal JSON values: 1 and 1.0 are one number, true is not 1, order of keys is nothing.

    Text and not a hash of Python's, because a page can choose integers that collide.
    """
    if isinstance(value, str):
        return f'"{value}'
    text = json.dumps(_normal(value), sort_keys=True)
    spend(len(text) >> 6)
    return text


def _normal(value: Json) -> Json:
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: _normal(part) for name, part in cast("dict[str, Any]", value).items()}
        case list():
            return [_normal(part) for part in cast("list[Any]", value)]
        case _:
            return value


# Questions: does `instance` fit `value`, the keyword's value in `schema`?


def _matches(value: Pattern, instance: Json) -> bool:
    return not isinstance(instance, str) or value.may_match(instance)


def _is_among(value: Choices, instance: Json) -> bool:
    return identity(instance) in value.identities


def _is_unique(value: bool, instance: Json) -> bool:
    if not value or not isinstance(instance, list):
        return True
    seen: set[str] = set()
    for item in cast("list[Any]", instance):
        name = identity(item)
        if name in seen:
            return False
        seen.add(name)
    return True


def _is_multiple(value: float, instance: Json) -> bool:
    """In decimal, as a person reads it: 19.99 is a multiple of 0.01."""
    if isinstance(instance, bool) or not isinstance(instance, int | float):
        return True
    return (Fraction(str(instance)) / Fraction(str(value))).denominator == 1


def _has_all(value: list[str], instance: Json) -> bool:
    return not isinstance(instance, dict) or all(name in instance for name in value)


def _has_dependents(value: dict[str, list[str]], instance: Json) -> bool:
    return not isinstance(instance, dict) or all(
        _has_all(needed, instance) for name, needed in value.items() if name in instance
    )


QUESTIONS: Final[Mapping[str, Callable[[Json, Json], bool]]] = {
    "dependentRequired": _has_dependents,
    "enum": _is_among,
    "multipleOf": _is_multiple,
    "pattern": _matches,
    "required": _has_all,
    "uniqueItems": _is_unique,
}
