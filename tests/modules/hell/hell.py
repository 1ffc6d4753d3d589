# ruff: noqa: T201  # it prints where it should not
"""A module from hell: each tool does what none should. `tests/modules/outcomes.py` says what becomes of each."""

import asyncio
import builtins
import contextlib
import gc
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time

LIE = b'{"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "a lie"}]}}\n'

print("hell is loaded")
os.write(1, LIE)


def prints(args, context):
    print(LIE.decode())
    sys.stdout.buffer.write(LIE)
    sys.stdout.write("x" * 1_000_000)
    sys.stderr.write("\x1b]0;title\x07 \ud800")
    return "well"


def writes(args, context):
    os.write(1, LIE)
    os.write(2, LIE)
    os.system("echo from a program; echo and so >&2")
    with open("/dev/stdout", "wb", buffering=0) as file:
        file.write(LIE)
    return "well"


async def loops(args, context):
    context.progress(1)
    while True:
        pass


def loops_in_c(args, context):
    context.progress(1)
    return sum(range(10**15))


async def takes_no_end(args, context):
    context.progress(1)
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(99)


def stops(args, context):
    context.progress(1)
    os.kill(os.getpid(), signal.SIGSTOP)


def exits(args, context):
    os._exit(3)


def crashes(args, context):
    os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(99)


def kills_all(args, context):
    os.killpg(0, signal.SIGKILL)
    time.sleep(99)


async def raises(args, context):
    raise SystemExit("\x1b[31m" + "x" * 1_000_000)


def stops_the_loop(args, context):
    loop = next(found for found in gc.get_objects() if isinstance(found, asyncio.BaseEventLoop))
    loop.call_soon_threadsafe(loop.stop)
    time.sleep(99)


def forks(args, context):
    """The fork goes on as if it were the module, and answers."""
    os.fork()
    return "well"


def leaves_much_behind(args, context):
    subprocess.Popen(["sleep", "99"])
    if os.fork() == 0:
        sum(range(10**15))
    for _ in range(20):
        threading.Thread(target=time.sleep, args=(99,)).start()
    return "well"


def closes_all(args, context):
    """Nothing can wake its loop any more."""
    context.exec(["true"])
    os.closerange(0, 1000)
    return "well"


def patches_json(args, context):
    for owner, name in ((json, "dumps"), (json, "loads"), (json.JSONEncoder, "encode")):
        setattr(owner, name, None)
    return "well"


def patches_builtins(args, context):
    context.progress(1)
    builtins.len = builtins.isinstance = builtins.print = lambda *given: 0
    return "well"


def patches_bridge(args, context):
    """Have our side of the process tell a lie, once."""
    server = sys.modules["bridge.tools.modules.child.server"].Server
    answer = server._answer

    def lie(self, request, ended):
        server._answer = answer
        answer(self, request, {"value": {"content": [{"type": "image", "data": 1, "mimeType": []}], "isError": "no"}})

    server._answer = lie
    return "well"


def not_a_number(args, context):
    return [float("nan"), float("inf")]


def not_text(args, context):
    return {"data": b"\0\xff"}


def gigabyte(args, context):
    return "x" * 1_000_000_000


def surrogates(args, context):
    return {"\udfff": "\ud800\ud83d"}


def generates(args, context):
    return (number for number in range(3))


def huge_number(args, context):
    return 1 << 4_000_000


def holds_itself(args, context):
    result = []
    result.append(result)
    return result


def floods(args, context):
    for number in range(1000):
        context.progress(number, None, "\x1b[2J" + "x" * 10_000)
        logging.getLogger("hell").warning("x" * 10_000)
        print("x" * 1000)
    return "well"


tools = [
    {"name": function.__name__, "description": "from hell", "parameters": {"type": "object"}, "execute": function}
    for function in [
        prints, writes, loops, loops_in_c, takes_no_end, stops, exits, crashes, kills_all, raises, stops_the_loop,
        forks, leaves_much_behind, closes_all, patches_json, patches_builtins, patches_bridge, not_a_number, not_text,
        gigabyte, surrogates, generates, huge_number, holds_itself, floods,
    ]
]  # fmt: skip
