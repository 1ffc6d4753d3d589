"""What an agent reads of a result: clean text, short enough, with the whole in a file where it was cut."""

import contextlib
import re
import shutil
import tempfile
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bridge import limits
from bridge.calls.frame import escape
from bridge.files import is_private, open_new

_BROKEN_ESCAPE: Final = re.compile(r"(?:\\ud[89ab][0-9a-f]{2})?(?:\\(?:u[0-9a-f]{0,3})?)?\Z")
"""What may be left of an escape, or of a pair of them, at the place of a cut."""


def clean_text(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD, so that it can be written as UTF-8."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        # Two halves that belong together become the character that they are.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class Spill:
    """A folder of ours for results that are too long to show. It is made when the first one comes.

    Args:
        parent: where to make it; the system's place for temporary files if None.
        quota_bytes: beyond this the oldest goes.
    """

    def __init__(self, parent: Path | None = None, *, quota_bytes: int = limits.SPILL_BYTES) -> None:
        self._parent = parent
        self._quota_bytes = quota_bytes
        self._folder: Path | None = None
        self._number = 0
        self._kept: deque[tuple[Path, int]] = deque()

    @property
    def folder(self) -> Path | None:
        """Where it is, once there is something in it."""
        return self._folder

    def write(self, text: str, *, suffix: str) -> Path:
        """Keep a text that was cleaned.

        Raises:
            OSError: it can't be kept.
        """
        return self.write_bytes(text.encode(), suffix=suffix)

    def write_bytes(self, data: bytes, *, suffix: str) -> Path:
        """Keep bytes.

        Args:
            suffix: one of ours, such as `.pdf`, and never a page's word.

        Raises:
            OSError: they can't be kept.
        """
        if len(data) > self._quota_bytes:
            raise OSError(f"{len(data):,} bytes are more than the {self._quota_bytes:,} that are kept")
        while sum(size for _, size in self._kept) + len(data) > self._quota_bytes:
            oldest, _ = self._kept.popleft()
            oldest.unlink(missing_ok=True)
        self._number += 1
        path = self._open_folder() / f"{self._number}{suffix}"
        with open_new(path) as file:
            file.write(data)
        self._kept.append((path, len(data)))
        return path

    def close(self) -> None:
        """Remove everything. Safe to repeat."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None
        self._kept.clear()

    def _open_folder(self) -> Path:
        """The folder; a new one where a cleaner of temporary files, or somebody else, took its place."""
        if self._folder is None or not is_private(self._folder):
            self._folder = Path(tempfile.mkdtemp(prefix="pagebridge-", dir=self._parent))
            self._kept.clear()
        return self._folder


@contextlib.contextmanager
def open_spill(parent: Path | None = None, *, quota_bytes: int = limits.SPILL_BYTES) -> Generator[Spill]:
    """A spill folder that is removed at the end."""
    spill = Spill(parent, quota_bytes=quota_bytes)
    try:
        yield spill
    finally:
        spill.close()


@dataclass(frozen=True)
class Shown:
    """A result as an agent reads it.

    Attributes:
        text: the whole or its head, as `bridge.calls.frame.escape` writes it.
        notice: where something was cut, the line that says where the whole is.
        full_path: the file with the whole; None where nothing was cut, or where it could not be kept.
    """

    text: str
    notice: str
    full_path: Path | None
    total_bytes: int
    total_lines: int

    @property
    def truncated(self) -> bool:
        return self.notice != ""


def shorten(text: str, spill: Spill, *, json: bool) -> Shown:
    """Cut a result to `limits.INLINE_BYTES` and `limits.INLINE_LINES`, and keep the whole in a file, as it is."""
    text = clean_text(text)
    total_bytes = _size(text)
    total_lines = (text.count("\n") if "\n" in text else 0) + bool(text and text[-1] != "\n")  # to look is faster
    if total_bytes <= limits.INLINE_BYTES and total_lines <= limits.INLINE_LINES:
        shown = escape(text, json=json)
        if shown is text or _size(shown) <= limits.INLINE_BYTES:
            return Shown(shown, "", None, total_bytes, total_lines)
    path = None
    size = f"{total_bytes:,} bytes in {total_lines:,} {'line' if total_lines == 1 else 'lines'}"
    try:
        path = spill.write(text, suffix=".json" if json else ".txt")
        notice = f"[Cut here: the result has {size}. The whole is in {path}]"
    except OSError as error:
        notice = f"[Cut here: the result has {size}. The whole could not be kept: {error.strerror or error}]"
    return Shown(_head(text, notice, json=json), notice, path, total_bytes, total_lines)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _head(text: str, notice: str, *, json: bool) -> str:
    """As much of the text as leaves room for the notice on a line of its own; no character is cut in two."""
    room = limits.INLINE_BYTES - len(notice.encode()) - 1
    head = escape(_cut(text, room), json=json)
    if _size(head) > room:
        head = _BROKEN_ESCAPE.sub("", _cut(head, room))
    return "\n".join(head.split("\n", limits.INLINE_LINES)[: limits.INLINE_LINES - 1]).removesuffix("\n")


def _cut(text: str, room: int) -> str:
    return text[:room].encode()[:room].decode(errors="ignore")
