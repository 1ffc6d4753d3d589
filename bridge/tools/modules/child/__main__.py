"""The process of one module. Its one argument is the descriptor of the pipe to the bridge."""

import logging
import os
import signal
import socket
import sys
import traceback

from bridge import limits
from bridge.tools.modules.child.context import LOGGER
from bridge.tools.modules.child.link import Link
from bridge.tools.modules.child.server import Server


class _ToBridge(logging.Handler):
    """Log records, for the log of the bridge."""

    def __init__(self, link: Link) -> None:
        super().__init__()
        self._link = link

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = self.format(record)[: limits.MODULE_LOG_CHARS]
            self._link.send({"tell": "log", "with": [record.levelno, text]})
        except Exception:  # as the base has it: a log that fails ends no call
            self.handleError(record)


def main() -> None:
    pipe = socket.socket(fileno=int(sys.argv[1]))
    pipe.set_inheritable(False)
    sys.argv[1:] = []
    # What a module prints is seen at once, also of one that ends the hard way.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    server = Server()
    server.link = Link(pipe, server.take, server.cancel)
    logging.getLogger().addHandler(_ToBridge(server.link))
    LOGGER.setLevel(logging.DEBUG)
    server.link.start()
    try:
        server.run()
    except BaseException:  # it stopped our loop
        traceback.print_exc()
        os._exit(1)  # nobody waits for its threads
    while True:  # it did not load: the bridge ends us
        signal.pause()


main()
