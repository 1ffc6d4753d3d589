"""How one run of a tool ended, as the kit tells it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bridge import limits

BOUNDS: Final = {
    "chars": limits.RESULT_CHARS,
    "depth": limits.RESULT_DEPTH,
    "insiders": limits.RESULT_INSIDERS,
}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a tool ended, as page_shims/shims.d.ts describes it.

    Attributes:
        how: `completed`, `failed`, `stale` (a newer round replaced the one that was named; nothing ran) or
            `too large`.
        kind: `none`, `string`, `json`, or for a thrown Error `error`.
        text: the value: as it is for a string, else as compact JSON; the message for an error.
    """

    how: str
    kind: str
    text: str
    name: str
    stack: str


def read_ending(told: Mapping[str, Any]) -> Ending:
    return Ending(*(str(told.get(part, "")) for part in ("how", "kind", "text", "name", "stack")))
