"""What Python's reader of JSON takes, and we don't: for its `parse_constant`, `parse_int` and `parse_float`."""

import math
from typing import NoReturn

from bridge import limits


def refuse_constant(constant: str) -> NoReturn:
    """NaN and infinity are no JSON."""
    raise ValueError(f"{constant} is not a JSON value")


def read_integer(digits: str) -> int:
    """A number that JavaScript has as well."""
    if len(digits) > limits.NUMBER_CHARS:
        raise ValueError(f"a number has {len(digits):,} digits")
    return int(digits)


def read_float(digits: str) -> float:
    """A number that JavaScript has as well: 1e999 would become infinity, which is no JSON."""
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[: limits.NUMBER_CHARS]} is larger than any number can be")
    return number
