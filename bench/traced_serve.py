"""`pagebridge serve` that notes when each step of a call begins and ends. The product's code runs as it is, without
the limits that `bench/lifted_serve.py` lifts.

The notes go to the file that TRACE names, one `[nanoseconds, step]` a line, on the clock of `time.perf_counter_ns`,
which is the same for all processes on Linux.
"""

import importlib
import inspect
import json
import os
import sys
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final

from bench.lifted_serve import lift

WAITS: Final = "waits for I/O"

STEPS: Final = (
    ("bridge.serve.stdio:LineReader.read", "a line of stdin"),
    ("bridge.serve.lane:_read_call", "call read"),
    ("bridge.serve.lane:run_tool", "tool of ours"),
    ("bridge.serve.built_ins:check_arguments", "arguments of call_page_tool"),
    ("bridge.calls.agent:Agent.call_page_tool", "agent"),
    ("bridge.calls.agent:run_call", "pipeline"),
    ("bridge.calls.pipeline:check_arguments", "arguments of the tool"),
    ("bridge.page.run:Run.__init__", "run sent"),
    ("bridge.page.run:Run.wait", "run waited for"),
    ("bridge.wire.transports:PipeTransport.send_now", "CDP command written"),
    ("bridge.wire.transports:PipeTransport.receive", "CDP message"),
    ("bridge.wire.router:Router.decode", "CDP message read"),
    ("bridge.calls.agent:shape", "result shaped"),
    ("bridge.serve.lane:as_result", "MCP result"),
    ("bridge.serve.lane:_line", "answer as JSON"),
    ("bridge.serve.stdio:Stdio.send", "answer sent"),
    ("trio._core._io_epoll:EpollIOManager.get_events", WAITS),
    ("os:readv", "read(2)"),
    ("os:writev", "write(2)"),
)
"""Function, and what it is called in a trace. One that is not there any more is left out."""

_notes: list[tuple[int, str]] = []


def trace(place: str, step: str) -> bool:
    """Note when a function begins and ends; False where there is none of that name."""
    module_name, _, path = place.partition(":")
    owner: Any = importlib.import_module(module_name)
    *outer, name = path.split(".")
    for part in outer:
        owner = getattr(owner, part, None)
    function = getattr(owner, name, None)
    if function is None:
        return False
    setattr(owner, name, _noted(function, step))
    return True


def _noted(function: Callable[..., Any], step: str) -> Callable[..., Any]:
    begin, end = f"> {step}", f"< {step}"

    @wraps(function)
    async def wait(*args: Any, **words: Any) -> Any:  # noqa: ANN401  # whatever the function takes and gives
        _notes.append((time.perf_counter_ns(), begin))
        try:
            return await function(*args, **words)
        finally:
            _notes.append((time.perf_counter_ns(), end))

    @wraps(function)
    def run(*args: Any, **words: Any) -> Any:  # noqa: ANN401  # as above
        _notes.append((time.perf_counter_ns(), begin))
        try:
            return function(*args, **words)
        finally:
            _notes.append((time.perf_counter_ns(), end))

    return wait if inspect.iscoroutinefunction(function) else run


def main() -> None:
    from bridge.cli import main as pagebridge

    lift()
    for place, step in STEPS:
        if not trace(place, step):
            print(f"There is no {place} to trace.", file=sys.stderr)
    try:
        pagebridge(prog_name="pagebridge")
    finally:
        Path(os.environ["TRACE"]).write_text("\n".join(json.dumps(note) for note in _notes))


if __name__ == "__main__":
    main()
