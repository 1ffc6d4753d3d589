"""Values of pages as text: what page_shims/encodeValue.js writes, read back. docs/values.md describes the encoding."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

MARKER: Final = re.compile(
    r"(\\*)\[(?:"
    r"(?P<bare>-0|NaN|-?Infinity|undefined|hole|promise|symbol|circular|Window|nested too deeply)"
    r"|(?P<word>class|function|symbol|threw|url|document|node|not shown:|bigint(?= [-0-9])"
    r"|date(?= invalid\]\Z|.*Z\]\Z)|(?:regexp|circular|same as)(?= /)|(?:blob|file)(?= .*bytes\]\Z)) (?P<content>.*)"
    r"|(?P<count>[0-9]{1,20}) (?P<thing>hole|more item)s?"
    r")\]\Z",
    re.DOTALL,
)
"""What page_shims/isMarker.js says yes to, and its backslashes."""

CUT: Final = re.compile(r"…(\\*)\[([0-9]{1,20}) more characters?\]\Z")
KEY: Final = re.compile(
    r"(\\*)\[(?:class|more keys|Error|FormData|Headers|Map|Set|URLSearchParams|ArrayBuffer|DataView"
    r"|Big(?:Ui|I)nt64Array|Float(?:16|32|64)Array|(?:Ui|I)nt(?:8|16|32)Array|Uint8ClampedArray)\]\Z"
)
ESCAPED_DESCRIBE: Final = re.compile(r"\\+describe")
"""The second key of an object that is no element, and has the two keys of one."""


@dataclass(frozen=True)
class Marker:
    """A value that JSON has no form for, such as `Marker("bigint", "12")`, or a place that was cut."""

    word: str
    content: str = ""


@dataclass(frozen=True)
class Element:
    """An element: the uid by which a call can name it, and what it looks like."""

    uid: str
    describe: "str | CutText"


@dataclass(frozen=True)
class CutText:
    """The head of a string, and how many characters are missing."""

    head: str
    missing: int


@dataclass(frozen=True)
class Instance:
    """An object of a class: what that says of it, under `class`, `Map`, `Error` and so on, and its own fields."""

    heads: Mapping[str, Any]
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])


def decode(text: str) -> Any:  # noqa: ANN401  # any value
    """Read the JSON text of a result. Two results that differ to the encoding differ when they are decoded.

    Raises:
        ValueError: it is not such text.
    """
    return _decode(json.loads(text))


def _decode(told: Any) -> Any:  # noqa: ANN401  # JSON
    match told:
        case str():
            return _decode_text(told)
        case list():
            return [_decode(item) for item in cast("list[Any]", told)]
        case dict():
            return _decode_object(cast("dict[str, Any]", told))
        case _:
            return told


def _decode_object(told: dict[str, Any]) -> Any:  # noqa: ANN401  # a dict or an Instance
    match list(told):
        case ["uid", "describe"]:
            return Element(told["uid"], _uncut(told["describe"]))
        case ["uid", key] if ESCAPED_DESCRIBE.fullmatch(key):
            return {"uid": _decode(told["uid"]), key[1:]: _decode(told[key])}
        case _:
            pass
    heads: dict[str, Any] = {}
    fields: dict[Any, Any] = {}
    for key, value in told.items():
        found = KEY.match(key)
        if found is not None and not found[1]:
            heads[key[1:-1]] = value if key in ("[class]", "[Error]") else _decode(value)
        else:
            fields[_uncut(key[1:] if found is not None else key)] = _decode(value)
    return Instance(heads, fields) if heads else fields


def _decode_text(text: str) -> str | Marker | CutText:
    found = MARKER.match(text)
    if found is None:
        return _uncut(text)
    if found[1]:
        return _uncut(text[1:])
    if found["bare"]:
        return Marker(found["bare"])
    if found["word"]:
        return Marker(found["word"], found["content"])
    return Marker(f"{found['thing']}s", found["count"])


def _uncut(text: str) -> str | CutText:
    found = CUT.search(text)
    if found is None:
        return text
    if not found[1]:
        return CutText(text[: found.start()], int(found[2]))
    return text[: found.start() + 1] + text[found.start() + 2 :]


def read_pointer(pointer: str) -> tuple[str, ...]:
    """The steps of a JSON Pointer into a result.

    Raises:
        ValueError: it is not one; the message says why.
    """
    if pointer == "":
        return ()
    if not pointer.startswith("/"):
        raise ValueError(f"a JSON Pointer starts with /, and {pointer!r} does not")
    if re.search(r"~(?![01])", pointer):
        raise ValueError(f"in a JSON Pointer, ~ is written ~0, and in {pointer!r} it is not")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/"))
