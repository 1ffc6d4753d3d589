"""How one run of a tool ended, as the kit tells it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bridge import limits

BOUNDS: Final = {
    "chars": limits.RESULT_CHARS,
    "stringChars": limits.RESULT_STRING_CHARS,
    "depth": limits.RESULT_DEPTH,
    "nodes": limits.RESULT_NODES,
    "keys": limits.RESULT_KEYS,
    "items": limits.RESULT_ITEMS,
    "insiders": limits.RESULT_INSIDERS,
    "classes": limits.RESULT_CLASSES,
    "stacks": True,
}
"""With `select`, what page_shims/values.d.ts calls ValueBounds."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a tool ended, as page_shims/shims.d.ts describes it.

    Attributes:
        how: `completed`, `failed`, `stale` (a newer round replaced the one that was named; nothing ran),
            `no such element` (an argument names one that is not there, see `name` and `text`; nothing ran) or
            `no such part` (it ran, and its result has nothing at the path that was asked for).
        kind: `none`, `string`, `json`, or for a thrown Error `error`.
        text: the value: as it is for a string, else as compact JSON; the message for an error.
        more: what an error carries besides its message, as compact JSON.
    """

    how: str
    kind: str
    text: str
    name: str
    stack: str
    more: str


def bounds_of(select: Sequence[str]) -> dict[str, Any]:
    """The bounds of one result, and the path to the part of it that is wanted; see `values.read_pointer`."""
    return {**BOUNDS, "select": list(select)}


def read_ending(told: Mapping[str, Any]) -> Ending:
    return Ending(*(str(told.get(part, "")) for part in ("how", "kind", "text", "name", "stack", "more")))
