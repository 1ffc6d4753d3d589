"""Which tools a person has approved: a file of JSON, and what it says.

`{"pagebridge_pins": 1, "origins": {ORIGIN: [TOOL, …]}}`, where a TOOL has all that an agent is told of it, each part as
the text that the page gave: `name`, `description`, `schema`, `kind`, `annotations`. The whole text is kept, and no hash
of it, so that a change can be shown.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, cast

from bridge import limits
from bridge.errors import UsageError
from bridge.files import read_own, stamp_of, why_failed, write_whole

VERSION: Final = 1
PARTS: Final = ("name", "description", "schema", "kind", "annotations")
"""Of a fingerprint, in its order."""

Fingerprint = tuple[str, ...]
Pins = Mapping[str, frozenset[Fingerprint]]
"""The approved tools of each origin that has any; one that is not among them has not been looked at."""


class PinFile:
    """The pins in a file, as they are at each moment: what is approved or taken back counts at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._name = os.fspath(path)
        self._seen: object = None
        self._pins: Pins = {}

    def read(self) -> Pins:
        """What the file says now; the same object for as long as it is the same file.

        Raises:
            UsageError: it can't be read.
        """
        try:
            found = os.lstat(self._name)
        except (OSError, ValueError):
            return read_pins(self._path)  # says why not
        seen = stamp_of(found)
        if seen != self._seen:
            self._pins = read_pins(self._path)
            self._seen = seen
        return self._pins


def read_pins(path: Path) -> Pins:
    """What a file of pins says.

    Raises:
        UsageError: there is none, it is none, or others than its owner could have written it.
    """
    try:
        data = read_own(path, limits.PIN_BYTES)
    except FileNotFoundError as error:
        raise UsageError(f"There are no pins in {path}: `pagebridge pin URL --pin {path}` makes that file.") from error
    except (OSError, ValueError) as error:
        raise UsageError(
            f"The pins in {path} can't be read: {why_failed(error)}. Name a plain file of your own."
        ) from error
    try:
        found = json.loads(data)
        version = found["pagebridge_pins"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise _broken(path) from error
    if version != VERSION:
        raise UsageError(
            f"The pins in {path} are of version {version!r}, and this pagebridge knows version {VERSION}. Use the "
            "pagebridge that wrote them, or approve the tools anew into another file."
        )
    try:
        return {_text(origin): frozenset(map(_fingerprint, tools)) for origin, tools in found["origins"].items()}
    except (AttributeError, LookupError, TypeError) as error:
        raise _broken(path) from error


def write_pins(path: Path, pins: Pins) -> None:
    """Write a file of pins anew, for its owner alone: it is there whole, or as it was.

    Raises:
        UsageError: it can't be written.
    """
    origins = {origin: [_entry(one) for one in sorted(tools)] for origin, tools in sorted(pins.items())}
    data = json.dumps({"pagebridge_pins": VERSION, "origins": origins}, indent=1).encode() + b"\n"
    if len(data) > limits.PIN_BYTES:
        raise UsageError(f"The pins for {path} would have more than {limits.PIN_BYTES:,} bytes. Use several files.")
    try:
        write_whole(path, data)
    except (OSError, ValueError) as error:
        reason = why_failed(error)
        raise UsageError(f"The pins can't be written to {path}: {reason}. Name a file that you may write.") from error


def approve(before: Iterable[Fingerprint], offered: Iterable[Fingerprint]) -> frozenset[Fingerprint]:
    """What is approved of an origin once these tools are: of each name they take the place of those before; names that
    are not among them may be another page's, and stay."""
    offered = frozenset(offered)
    names = {one[0] for one in offered}
    return offered | {one for one in before if one[0] not in names}


def _entry(fingerprint: Fingerprint) -> dict[str, str]:
    return dict(zip(PARTS, fingerprint, strict=True))


def _fingerprint(entry: Any) -> Fingerprint:  # noqa: ANN401  # JSON
    if set(entry) != set(PARTS):
        raise TypeError("other parts")
    return tuple(_text(cast("dict[str, Any]", entry)[part]) for part in PARTS)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _broken(path: Path) -> UsageError:
    return UsageError(
        f"{path} is not a file of pins, or a broken one. Bring back the right one, or remove it and approve the tools "
        "anew with `pagebridge pin`."
    )
