"""Log lines on stderr, which a client may never read: a full pipe must not hold up a bridge."""

import logging
import os
import select
from typing import Final, TextIO

PART_CHARS: Final = 1000
"""In no encoding more bytes than a pipe takes at once when it takes any."""


class StderrHandler(logging.StreamHandler[TextIO]):
    """Writes what stderr takes at once; the rest is lost."""

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record) + self.terminator
        try:
            for start in range(0, len(text), PART_CHARS):
                if not self._takes_more():
                    return
                self.stream.write(text[start : start + PART_CHARS])
                self.flush()
        except Exception:  # as the base has it: a log that fails ends no call
            self.handleError(record)

    def _takes_more(self) -> bool:
        if os.name != "posix":
            return True  # nothing there tells
        try:
            descriptor = self.stream.fileno()
        except OSError:
            return True  # no file, so it takes all
        return bool(select.select([], [descriptor], [], 0)[1])
