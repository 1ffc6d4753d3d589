"""Log lines where nobody reads them."""

import logging
import os

from bridge.serve.stderr import StderrHandler


def test_a_full_pipe_loses_lines_and_holds_up_nothing():
    reader, writer = os.pipe()
    with open(reader, "rb", buffering=0) as read, open(writer, "w", encoding="utf-8") as stream:
        handler = StderrHandler(stream)
        for number in range(3000):
            handler.emit(logging.makeLogRecord({"msg": f"{number} {'é' * number}"}))
        before = os.read(read.fileno(), 1_000_000)
        handler.emit(logging.makeLogRecord({"msg": "again"}))
        after = os.read(read.fileno(), 1_000_000)

    assert before.startswith("0 \n1 é\n2 éé\n".encode())
    assert after == b"again\n"


def test_a_stderr_that_is_closed_holds_up_nothing(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    StderrHandler().emit(logging.makeLogRecord({"msg": "lost"}))
