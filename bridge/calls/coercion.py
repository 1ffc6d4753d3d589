"""Arguments that do not fit, taken for what they say, where a tool of a project wants that."""

import json
from typing import Any

from bridge import limits
from bridge.calls.arguments import Arguments, fill_defaults, kinds_of, read_arguments
from bridge.errors import ArgumentsInvalid, SchemaUnusable
from bridge.tools.faults import Path
from bridge.tools.json_text import refuse_constant
from bridge.tools.keywords import Json
from bridge.tools.schema import CheckedSchema


def coerce_arguments(schema: CheckedSchema, arguments: Arguments) -> Arguments | None:
    """The arguments as the tool gets them, or None where they can't be made to fit.

    At a place that does not fit, a string that is JSON of a type asked for there becomes what it says; else a property
    that is null or "null", and not required, goes away. What fits stays as it is, and so do the schema's own defaults.
    """
    dropped: set[Path] = set()
    try:
        coerced = read_arguments(arguments)
        for _ in range(limits.COERCION_PASSES):
            misfits = schema.find_misfits(fill_defaults(schema.source, coerced))
            mended = [_coerce(coerced, path, kinds, dropped) for path, kinds in misfits.items()]
            if not any(mended):
                break
            coerced = read_arguments(coerced)  # what a string held is held to the limits, too
        # A default would hide that what was dropped is required.
        if not dropped.isdisjoint(schema.find_misfits(coerced)):
            return None
        filled = fill_defaults(schema.source, coerced)
        return None if schema.check(filled) else filled
    except (ArgumentsInvalid, SchemaUnusable):
        return None


def _coerce(arguments: Arguments, path: Path, kinds: set[str], dropped: set[Path]) -> bool:
    """Mend one place, where it was given and can be. Says whether it was."""
    holder: Any = arguments
    try:
        *around, name = path
        for token in around:
            holder = holder[token]
        given = holder[name]
    except (LookupError, ValueError):
        return False
    if isinstance(given, str) and kinds & kinds_of(value := _read(given)):
        holder[name] = value
    elif given in (None, "null") and isinstance(holder, dict):
        del holder[name]
        dropped.add(path)
    else:
        return False
    return True


def _read(text: str) -> Json:
    """What a string says as JSON; itself where that is nothing, or not one thing."""
    try:
        return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=_only_once)
    except (ValueError, RecursionError):
        return text


def _only_once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found
