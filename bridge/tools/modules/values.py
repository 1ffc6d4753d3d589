"""Whether what a tool returned is JSON, and if not, where and why."""

import math
from collections.abc import Iterator
from typing import Any, Final, cast

from bridge import limits

_LARGEST: Final = 10**limits.NUMBER_CHARS


class NotJson(Exception):
    """`str(error)` is a clause that says what is wrong, and where."""


def check_json(value: object) -> None:
    """Look through a value before any of it is written.

    Raises:
        NotJson: it is none, or beyond `limits.RESULT_CHARS`, `limits.RESULT_NODES` or `limits.RESULT_DEPTH`.
    """
    chars = 0
    for nodes, (place, part, depth) in enumerate(_walk(value), 1):
        chars += _chars_of(place, part)
        if depth > limits.RESULT_DEPTH:
            raise NotJson(
                f"it is more than {limits.RESULT_DEPTH} lists and objects deep, or holds itself: return a part of it"
            )
        if nodes > limits.RESULT_NODES:
            raise NotJson(f"it has more than {limits.RESULT_NODES:,} values: return a part of it, or write a file")
        if chars > limits.RESULT_CHARS:
            raise NotJson(f"it has more than {limits.RESULT_CHARS:,} characters: return a part of it, or write a file")


Place = tuple[Any, ...]


def _walk(value: object) -> Iterator[tuple[Place, object, int]]:
    """Every value in it, depth first, with the way there as `(parent's place, key)`."""
    todo: list[tuple[Place, object, int]] = [((), value, 0)]
    while todo:
        place, part, depth = todo.pop()
        yield place, part, depth
        if isinstance(part, dict | list | tuple) and len(cast("list[object]", part)) > limits.RESULT_NODES:
            raise NotJson(f"{shown(place)} has more than {limits.RESULT_NODES:,} values: return a part of it")
        if isinstance(part, dict):
            for key, inner in cast("dict[object, object]", part).items():
                if not isinstance(key, str):
                    raise NotJson(f"{shown(place)} has a key that is no string, but {_kind(key)}")
                todo.append(((place, key), inner, depth + 1))
        elif isinstance(part, list | tuple):
            todo.extend(((place, index), inner, depth + 1) for index, inner in enumerate(cast("list[object]", part)))


def _chars_of(place: Place, part: object) -> int:
    """About as many characters as it has as JSON."""
    chars = len(place[1]) + 4 if place and isinstance(place[1], str) else 1
    if isinstance(part, str):
        return chars + len(part) + 2
    if part is None or isinstance(part, bool | dict | list | tuple):
        return chars + 5
    if isinstance(part, int):
        if not -_LARGEST < part < _LARGEST:
            raise NotJson(f"{shown(place)} is an integer of more than {limits.NUMBER_CHARS} digits: return text")
        return chars + 20
    if isinstance(part, float):
        if not math.isfinite(part):
            raise NotJson(f"{shown(place)} is {part}, which JSON has not: return null or text")
        return chars + 20
    raise NotJson(f"{shown(place)} is {_kind(part)}: {_advice(part)}")


def _advice(part: object) -> str:
    if isinstance(part, bytes | bytearray | memoryview):
        return "return text, or base64 in a content block"
    return "return strings, numbers, booleans, null, lists and dicts of these"


def _kind(part: object) -> str:
    name = type(part).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def shown(place: Place) -> str:
    """The way to a value, such as `result.days[2]`."""
    parts: list[str] = []
    while place:
        place, key = place
        parts.append(f"[{key}]" if isinstance(key, int) else f".{key[: limits.SHOWN_CHARS]}")
    return "result" + "".join(reversed(parts))
