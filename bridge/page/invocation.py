"""How one run of a tool ended, as the kit tells it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from bridge import limits
from bridge.errors import CommandFailed
from bridge.page.media import Media, Resource

RESULT_BOUNDS: Final = {
    "chars": limits.RESULT_CHARS,
    "stringChars": limits.RESULT_STRING_CHARS,
    "depth": limits.RESULT_DEPTH,
    "nodes": limits.RESULT_NODES,
    "keys": limits.RESULT_KEYS,
    "items": limits.RESULT_ITEMS,
    "insiders": limits.RESULT_INSIDERS,
    "classes": limits.RESULT_CLASSES,
    "stacks": True,
    "media": {
        "side": limits.MEDIA_PIXELS,
        "bytes": limits.MEDIA_BYTES,
        "pixels": limits.DECODED_PIXELS,
        "fileBytes": limits.FILE_BYTES,
    },
}
"""What page_shims/values.d.ts calls ValueBounds, but for `select`."""


HOWS: Final = frozenset({"completed", "failed", "stale", "no such part", "no such element", "abandoned"})
"""How a run ends, as the kit says it; what each means is at `Ending`."""


@dataclass(frozen=True, slots=True)
class Binary:
    """What is known of a result that is binary data.

    Attributes:
        size: in bytes; where there are too many of them, they were not sent.
        width, height: of a picture as it was sent, in pixels; 0 where the browser can't show it as one.
        whole_width, whole_height: of the picture before it was drawn anew; 0 where it is as the page had it.
        problem: why there are no bytes: `too large`, `tainted`, `empty` or `unreadable`.
    """

    size: int = 0
    width: int = 0
    height: int = 0
    whole_width: int = 0
    whole_height: int = 0
    problem: str = ""


NO_BINARY: Final = Binary()


@dataclass(frozen=True, slots=True)
class Ending:
    """How a tool ended, as page_shims/shims.d.ts describes it.

    Attributes:
        how: `completed`, `failed`, `stale` (a newer round replaced the one that was named; nothing ran),
            `no such element` (an argument names one that is not there, see `name` and `text`; nothing ran) or
            `no such part` (it ran, and its result has nothing at the path that was asked for).
        kind: `none`, `string`, `json`, `bytes`, for a thrown Error `error`, or where the text is a sentence of ours
            `note`.
        text: the value: as it is for a string, in base64 for bytes, else as compact JSON; the message for an error.
        more: what an error carries besides its message, as compact JSON.
        binary: what is known of bytes.
        media: what comes along with the text, of a tool that answered in MCP's form.
    """

    how: str
    kind: str
    text: str
    name: str
    stack: str
    more: str
    binary: Binary = NO_BINARY
    media: tuple[Media | Resource, ...] = ()


def read_ending(answer: Any) -> Ending:  # noqa: ANN401  # JSON
    """What the kit answered of a run.

    Raises:
        CommandFailed: that was not the kit.
    """
    # Without a pattern, which takes longer than all the rest.
    told = cast("dict[str, Any]", answer if isinstance(answer, dict) else {})
    how, kind, text = told.get("how"), told.get("kind"), told.get("text")
    if not (isinstance(how, str) and isinstance(kind, str) and isinstance(text, str) and how in HOWS):
        raise CommandFailed("Runtime.evaluate", "the page broke the shim")
    name, stack, more = str(told.get("name", "")), str(told.get("stack", "")), str(told.get("more", ""))
    return Ending(how, kind, text, name, stack, more, _read_binary(told) if kind == "bytes" else NO_BINARY)


def _read_binary(told: Mapping[str, Any]) -> Binary:
    def number(part: str) -> int:
        found = told.get(part)
        return found if isinstance(found, int) else 0

    return Binary(
        size=number("size"),
        width=number("width"),
        height=number("height"),
        whole_width=number("wholeWidth"),
        whole_height=number("wholeHeight"),
        problem=str(told.get("problem", "")),
    )
