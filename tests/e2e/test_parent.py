"""Those who start `pagebridge serve` may end without a word, and without the end of stdin."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from tests.e2e.client import COMMAND
from tests.e2e.test_life import END_SECONDS, children_of, wait_gone
from tests.sites import Site, offering, tool

CLIENT = """
import json, subprocess, sys, time

bridge = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
pipes = (bridge.stdin.fileno(), bridge.stdout.fileno())
holder = subprocess.Popen(["sleep", "600"], pass_fds=pipes, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

def ask(request_id, method, params):
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    bridge.stdin.write(json.dumps(message).encode() + b"\\n")
    bridge.stdin.flush()
    while json.loads(bridge.stdout.readline()).get("id") != request_id:
        pass

info = {"name": "client", "version": "1"}
ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})
ask(2, "tools/call", {"name": "list_pages", "arguments": {}})
print(f"{bridge.pid} {holder.pid}\\n", end="", flush=True)
time.sleep(600)
"""


BEHIND_SH = ["sh", "-c", '"$0" "$@"; true']
NO_PIDFD = """
import errno, os

def pidfd_open(pid, flags=0):
    raise OSError(errno.ENOSYS, "as on another system")

os.pidfd_open = pidfd_open
"""


@pytest.mark.feature("mcp.end")
@pytest.mark.threat("L5")
@pytest.mark.parametrize(
    ("wrapper", "killed", "patch"),
    [
        ([], "client", ""),
        ([], "client", NO_PIDFD),
        (BEHIND_SH, "client", ""),
        (BEHIND_SH, "wrapper", ""),
    ],
    ids=["alone", "polling", "behind sh", "sh alone"],
)
async def test_a_parent_that_is_killed_takes_everything_with_it_though_stdin_stays_open(
    wrapper: list[str], killed: str, patch: str, site: Site, tmp_path: Path, temporary: Path
):
    url = site.page("/parent", offering(tool("ping", "() => 'pong'")))
    command = [sys.executable, "-c", CLIENT, *wrapper, *COMMAND, "serve", "--open", url]
    (tmp_path / "sitecustomize.py").write_text(patch)
    env = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(tmp_path)}
    with trio.fail_after(60):
        client = await trio.lowlevel.open_process(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=env)
        assert client.stdout is not None
        async with client.stdout as lines:
            said = bytearray()
            while b"\n" not in said:
                said += await lines.receive_some()
            child, holder = map(int, said.split())
            started = children_of(client.pid) - {holder}
            try:
                assert len(started) > 4
                assert os.listdir(temporary)

                os.kill(client.pid if killed == "client" else child, signal.SIGKILL)

                with trio.fail_after(END_SECONDS):
                    await wait_gone(started)
                assert os.listdir(temporary) == []
            finally:
                os.kill(holder, signal.SIGKILL)
                client.kill()
                await client.wait()
