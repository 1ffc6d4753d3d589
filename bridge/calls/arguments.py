"""What an agent or a person gives a tool: read, filled up with defaults, and checked before the page sees it."""

import json
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final, cast
from urllib.parse import unquote

from bridge import limits
from bridge.calls.results import clean_text
from bridge.errors import ArgumentFault, ArgumentsInvalid
from bridge.tools.faults import TYPES, Fault, plain, requirement, shown
from bridge.tools.json_text import refuse_constant
from bridge.tools.keywords import Json
from bridge.tools.schema import CheckedSchema

Arguments = dict[str, Any]

_ANYTHING: Final = frozenset(TYPES)
_encode: Final = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode
_FOLLOWED: Final = 8
"""References one behind the other, when a word on the command line looks for its type."""


def read_arguments(given: object) -> Arguments:
    """The arguments as an object: None is an empty one, and JSON text that holds an object is read.

    Half characters become U+FFFD, since no page and no log could take them.

    Raises:
        ArgumentsInvalid: something else, not JSON, or beyond `limits.ARGUMENT_BYTES` or `limits.ARGUMENT_DEPTH`.
    """
    if given is None:
        return {}
    value = _read_text(given) if isinstance(given, str) else given
    if not isinstance(value, dict):
        raise ArgumentsInvalid(
            f"Arguments must be an object, not {shown(value)}. Send one that fits the tool's inputSchema."
        )
    try:
        # First, since it also finds an object that holds itself.
        text = _encode(value)
    except RecursionError as error:
        raise _too_deep() from error
    except (TypeError, ValueError) as error:
        raise ArgumentsInvalid(f"Arguments must be JSON: {error}. Mend them and call again.") from error
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > limits.ARGUMENT_BYTES:
        raise ArgumentsInvalid(
            f"Arguments have {size:,} bytes as JSON, and {limits.ARGUMENT_BYTES:,} are allowed. Send less at a time."
        )
    return _clean_object(cast("dict[Json, Json]", value), 1)


def check_arguments(schema: CheckedSchema, arguments: Arguments, *, tool: str) -> Arguments:
    """The arguments as the page gets them: filled up with defaults, and fit for the schema.

    Raises:
        ArgumentsInvalid: they do not fit; the message names each place, what is needed and what came.
        SchemaUnusable: the schema is too costly to check these arguments against.
    """
    filled = fill_defaults(schema.source, arguments)
    faults = schema.check(filled)
    if not faults:
        return filled
    given = set(schema.check(arguments)) if filled != arguments else set(faults)
    told = "; ".join(_told(fault, given) for fault in faults[: limits.FAULTS_SHOWN])
    more = f"; and {len(faults) - limits.FAULTS_SHOWN} more" if len(faults) > limits.FAULTS_SHOWN else ""
    raise ArgumentsInvalid(
        f"Arguments for {tool!r} do not fit its schema: {told}{more}. Mend them and call again.",
        [ArgumentFault(fault.pointer, fault.expected) for fault in faults[: limits.FAULTS_SHOWN]],
    )


def _told(fault: Fault, given: set[Fault]) -> str:
    own = "" if fault in given else " (the schema's own default; give a value)"
    return fault.sentence("the whole object") + own


def fill_defaults(schema: Mapping[str, Json], arguments: Arguments) -> Arguments:
    """A copy with the defaults of missing properties, at every depth of plain `properties`.

    An object is never made only to be filled; one that is a default itself is filled like one that was given.
    """
    filled = dict(arguments)
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return filled
    for name, part in cast("dict[str, Any]", properties).items():
        if not isinstance(part, dict):
            continue
        if "default" in part and name not in filled:
            filled[name] = deepcopy(cast("Json", part["default"]))
        if "properties" in part and isinstance(filled.get(name), dict):
            filled[name] = fill_defaults(cast("dict[str, Json]", part), filled[name])
    return filled


def parse_words(schema: CheckedSchema, words: Sequence[str]) -> Arguments:
    """Arguments from `key=value` words, each value read as the type that the schema gives its key.

    A string stays as it is, anything else is JSON; where a string is only one of the types, or none is given,
    JSON comes first.

    Raises:
        ArgumentsInvalid: a word of another form, a key twice, a value of another type.
    """
    arguments: Arguments = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not name or not equals:
            raise ArgumentsInvalid(f"{shown(word)} is not of the form key=value.")
        if name in arguments:
            raise ArgumentsInvalid(f"{plain(name)} is given twice.")
        part = schema.source.get("properties", {}).get(name)
        arguments[name] = _read_word(name, text, _kinds(part, schema.source))
    return read_arguments(arguments)


def _read_word(name: str, text: str, kinds: frozenset[str]) -> Json:
    if kinds == frozenset({"string"}):
        return text
    try:
        value = _loads(text)
    except (ValueError, RecursionError):
        value = text
    else:
        if kinds == _ANYTHING or (kinds - {"string"}) & kinds_of(value):
            return value
    if "string" in kinds:
        return text
    raise ArgumentsInvalid(f"{plain(name)} must be {requirement({'type': sorted(kinds)})}, not {shown(text)}.")


def _kinds(part: Json, root: Mapping[str, Json], followed: int = 0) -> frozenset[str]:
    """The types that a subschema allows, as far as it says so plainly."""
    match part:
        case {"x-mcp-type": "HTMLElement"}:
            return frozenset({"object", "string"})
        case {"$ref": str(reference)} if reference.startswith("#/") and followed < _FOLLOWED:
            return _kinds(_at(root, reference), root, followed + 1)
        case {"type": str(kind)}:
            return frozenset({kind})
        case {"type": [*kinds]}:
            return frozenset(kinds)
        case {"const": value}:
            return kinds_of(value)
        case {"enum": [*values]}:
            return frozenset[str]().union(*map(kinds_of, values))
        case {"anyOf": [*branches]} | {"oneOf": [*branches]}:
            return frozenset[str]().union(*(_kinds(branch, root, followed) for branch in branches))
        case {"allOf": [*branches]}:
            return _ANYTHING.intersection(*(_kinds(branch, root, followed) for branch in branches))
        case _:
            return _ANYTHING


def _at(root: Mapping[str, Json], reference: str) -> Json:
    """What a local JSON Pointer names, or None."""
    value: Json = root
    for token in unquote(reference[2:]).split("/"):
        key = token.replace("~1", "/").replace("~0", "~")
        value = cast("dict[str, Json]", value).get(key) if isinstance(value, dict) else None
    return value


def kinds_of(value: Json) -> frozenset[str]:
    """The types of a schema that a value has."""
    match value:
        case None:
            return frozenset({"null"})
        case bool():
            return frozenset({"boolean"})
        case int():
            return frozenset({"integer", "number"})
        case float():
            return frozenset({"integer", "number"} if value.is_integer() else {"number"})
        case str():
            return frozenset({"string"})
        case list():
            return frozenset({"array"})
        case _:
            return frozenset({"object"})


def _read_text(text: str) -> Json:
    try:
        return _loads(text)
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        raise ArgumentsInvalid(
            f"Arguments must be an object, or JSON text that holds one; {shown(text)} can't be read: {error}. "
            "Mend them and call again."
        ) from error


def _loads(text: str) -> Json:
    return json.loads(text, parse_constant=refuse_constant)


def _too_deep() -> ArgumentsInvalid:
    return ArgumentsInvalid(f"Arguments are nested deeper than {limits.ARGUMENT_DEPTH} levels. Send flatter ones.")


def _clean(value: Json, depth: int) -> Json:
    """A copy that consists of JSON values that a page can hold; `depth` is how many lists and objects are around it."""
    match value:
        case str():
            return clean_text(value)
        case None | bool() | float():
            return value
        case int() if abs(value) <= sys.float_info.max:
            return value
        case list() if depth < limits.ARGUMENT_DEPTH:
            return [_clean(part, depth + 1) for part in cast("list[Json]", value)]
        case dict() if depth < limits.ARGUMENT_DEPTH:
            return _clean_object(cast("dict[Json, Json]", value), depth + 1)
        case list() | dict():
            raise _too_deep()
        case _:
            raise ArgumentsInvalid(
                f"Arguments must be JSON that a page can hold, which {shown(value)} is not. Mend them and call again."
            )


def _clean_object(value: dict[Json, Json], depth: int) -> Arguments:
    cleaned: Arguments = {}
    for name, part in value.items():
        key = clean_text(name) if isinstance(name, str) else ""
        if not isinstance(name, str) or key in cleaned:
            raise ArgumentsInvalid(f"Arguments must be JSON: {shown(name)} can't be a name there. Mend them.")
        cleaned[key] = _clean(part, depth)
    return cleaned
