"""Keywords whose stock form a page could turn against us, as plain questions about a value.

Two things make them cheap. A schema is copied once into values that carry what was worked out beforehand
(`Pattern`, `Choices`), and every keyword that a value is checked against spends from the budget of that check.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, Final, cast

from bridge import limits
from bridge.tools.ecmascript import Inexpressible, translate_pattern

Json = Any
"""Any JSON value."""
Regex = Any
"""Of google-re2, whose types say less than it takes."""

KEYWORD_STEPS: Final = 6
"""What jsonschema takes for one keyword, beside the test that it asks."""
REFERENCE_STEPS: Final = 40
"""What it takes to follow one reference, or to enter one subschema beside those that descend."""
ERROR_STEPS: Final = 25
"""Its errors are dear: each is made, kept, and touched again on every level on its way up."""


class OutOfSteps(Exception):
    """One check took more than its budget."""

    def __init__(self, steps: int) -> None:
        super().__init__(steps)
        self.steps = steps


class _Budget:
    def __init__(self, steps: int) -> None:
        self.steps = self.left = steps


_BUDGET: ContextVar[_Budget | None] = ContextVar("budget", default=None)


class budget:  # noqa: N801  # used as `with budget(steps):`; a generator would take as long as a small check
    """Bound the work of the checks inside: beyond it they raise OutOfSteps."""

    def __init__(self, steps: int) -> None:
        self._budget = _Budget(steps)

    def __enter__(self) -> None:
        self._token = _BUDGET.set(self._budget)

    def __exit__(self, *_: object) -> None:
        _BUDGET.reset(self._token)


def spend(steps: int) -> None:
    current = _BUDGET.get()
    if current is not None:
        current.left -= steps
        if current.left < 0:
            raise OutOfSteps(current.steps)


def cost(value: object, instance: object) -> int:
    """Steps of one test: more where it goes through a list or an object."""
    wide = 0 if isinstance(value, Choices) else _width(value)
    return 1 + (wide + _width(instance) >> 2)


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
            spend(1)
            return QuietText(value)
        case dict():
            spend(2 + (len(cast("dict[str, Any]", value)) >> 1))
            return QuietDict((name, quiet(part)) for name, part in cast("dict[str, Any]", value).items())
        case list():
            spend(2 + (len(cast("list[Any]", value)) >> 1))
            return QuietList(map(quiet, cast("list[Any]", value)))
        case _:
            return value


# Patterns


class Pattern(QuietText):
    """A regular expression with its compiled form, or None where google-re2 can't express it.

    Attributes:
        places: see `Translation`.
        weight: likewise.
    """

    regex: Regex | None
    places: int
    weight: int

    def __new__(cls, text: str, most: int = limits.PATTERNS_WEIGHT) -> "Pattern":
        """Args: `most` is the weight that it may have."""
        self = super().__new__(cls, text)
        self.regex, self.places, self.weight = None, 0, 0
        with suppress(Inexpressible):
            form = translate_pattern(text)
            if form.weight <= most:
                self.regex, self.places, self.weight = _compile(form.text), form.places, form.weight
        return self

    def may_match(self, text: str) -> bool:
        """True also where we can't tell: then the page still sees the value."""
        if self.regex is None:
            return True
        spend(4 + (len(text) * self.places >> 5))
        return self.regex.search(text.encode("utf-8", "replace")) is not None


def _compile(text: str) -> Regex | None:
    """Its time is linear in what it searches, and None where it would be too large."""
    import re2  # here, since most runs never meet a pattern

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = limits.PATTERN_BYTES
    try:
        return re2.compile(text, options)
    except re2.error:
        return None


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
        spend(len(value) >> 10)
        return f'"{value}'
    return _encode(_normal(value))


_encode: Final = json.JSONEncoder(sort_keys=True).encode


def _normal(value: Json) -> Json:
    spend(2)
    match value:
        case str():
            spend(len(value) >> 7)
            return value
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
    spend(len(cast("list[Any]", instance)))
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
    if isinstance(instance, int) and isinstance(value, int):
        return instance % value == 0
    spend(25 if _is_handy(instance) and _is_handy(value) else 250)
    return (Fraction(str(instance)) / Fraction(str(value))).denominator == 1


def _is_handy(number: float) -> bool:
    """Its fraction has few digits."""
    return number == 0 or 1e-20 < abs(number) < 1e20


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
