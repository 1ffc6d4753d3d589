"""The real command over a project: what takes a terminal or a process of its own."""

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from bridge.manifest.secrets import read_secrets
from tests.e2e.client import COMMAND

SECONDS = 60


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run([*COMMAND, *words], capture_output=True, timeout=SECONDS, cwd=folder)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done


@pytest.mark.feature("manifest.new")
def test_a_project_is_begun_and_checked(tmp_path: Path):
    assert run(tmp_path, "new", "tool", "weather").returncode == 0
    listed = json.loads(run(tmp_path, "tools", "ls", "--json").stdout)
    assert listed["tools"][-1] == {"name": "weather", "kind": "project", "source": "tools/weather.py"}

    (tmp_path / "tools" / "weather.py").unlink()
    checked = run(tmp_path, "validate")
    assert (checked.returncode, checked.stderr) == (1, b"")
    assert b"error: tools/weather.py does not exist in the project's folder." in checked.stdout


@pytest.mark.feature("manifest.secrets")
def test_a_secret_that_is_typed_is_not_shown(tmp_path: Path):
    (tmp_path / "pagebridge.toml").write_text('secrets = ["KEY"]')
    master, slave = pty.openpty()
    env = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")}
    words = [*COMMAND, "secrets", "set", "KEY"]
    # Without a session of its own it would ask at the terminal that the tests run in.
    with subprocess.Popen(
        words, stdin=slave, stdout=slave, stderr=slave, cwd=tmp_path, env=env, start_new_session=True
    ) as process:
        os.close(slave)
        seen = bytearray()
        try:
            while chunk := os.read(master, 65536):
                if b"KEY: " in (seen := seen + chunk) and b"\n" not in seen:
                    os.write(master, b"hunter2\n")
        except OSError:
            pass  # Linux says so when the last one has closed the terminal
        finally:
            os.close(master)
        assert process.wait(SECONDS) == 0, seen.decode()

    [file] = (tmp_path / "data" / "pagebridge" / "secrets").iterdir()
    assert read_secrets(file) == {"KEY": "hunter2"}
    assert seen.decode().replace("\r\n", "\n") == "KEY: \nKept KEY.\n"
