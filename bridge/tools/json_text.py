"""What Python's reader of JSON takes, and we don't: for its `parse_constant` and `parse_int`."""

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
