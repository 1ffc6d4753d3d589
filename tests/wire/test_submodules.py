"""PyCDP without what nobody asks for."""

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
import bridge.wire.commands
assert "cdp.audits" not in sys.modules, "what nobody asked for was imported"
network = sys.modules["cdp.network"]
assert "LoaderId" not in object.__getattribute__(network, "__dict__"), "what is asked for in annotations alone has run"
import cdp
assert cdp.network is network
assert network.LoaderId
assert cdp.audits.get_encoded_response
assert "cdp.audits" in sys.modules
assert not hasattr(cdp, "nothing")
import cdp.tracing
assert cdp.tracing is sys.modules["cdp.tracing"]
assert cdp.tracing.TraceConfig
"""


def test_a_domain_runs_when_something_in_it_is_first_asked_for_also_by_others():
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=60)


def test_a_package_that_somebody_has_imported_before_stays_as_it_is():
    script = "import cdp, bridge.wire.commands; assert 'audits' in vars(cdp); assert '__getattr__' not in vars(cdp)"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_submodules_that_need_each_other_run_once(tmp_path: Path):
    package = tmp_path / "some"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "one.py").write_text("print('one')\nfrom . import two\nfirst = two.second\n")
    (package / "two.py").write_text("print('two')\nfrom . import one\nsecond = 2\n")
    script = """
from bridge.wire.submodules import import_when_asked
import_when_asked("some")
import some.one
assert some.one.first == 2
assert some.two.one is some.one
"""
    told = subprocess.run([sys.executable, "-c", script], check=True, timeout=60, cwd=tmp_path, stdout=subprocess.PIPE)

    assert told.stdout == b"one\ntwo\n"
