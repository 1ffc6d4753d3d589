"""What a browser writes for people."""

import re
from collections import deque

import trio

from bridge.limits import STDERR_TAIL_CHARS


class BrowserStderr:
    """Keeps a bounded tail, and notices where the browser listens.

    Chromium writes its port into the profile only if it was free to choose it, and an old file may lie there.
    """

    def __init__(self) -> None:
        self.ended = trio.Event()
        self.port_settled = trio.Event()
        self.url: str | None = None
        self._lines: deque[str] = deque()
        self._unfinished = bytearray()

    def feed(self, data: bytes | bytearray) -> None:
        self._unfinished += data
        *lines, rest = self._unfinished.split(b"\n")
        if len(rest) > STDERR_TAIL_CHARS:
            lines, rest = [*lines, rest], bytearray()
        self._unfinished = rest
        for line in lines:
            self._take(line.decode(errors="replace").rstrip())

    def tail(self) -> str:
        return "\n".join(self._lines)[-STDERR_TAIL_CHARS:]

    def _take(self, line: str) -> None:
        if not line or ":ERROR:dbus/" in line:
            return  # a machine without a desktop has dozens of these, and they push the reason out of the tail
        if listening := re.fullmatch(r"DevTools listening on (wss?://\S+)", line):
            self.url = listening[1]
            self.port_settled.set()
        elif "Cannot start http server for devtools" in line:
            self.port_settled.set()
        self._lines.append(line)
        while sum(map(len, self._lines)) > STDERR_TAIL_CHARS and len(self._lines) > 1:
            self._lines.popleft()
