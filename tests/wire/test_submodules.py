"""PyCDP without what nobody asks for."""

import subprocess
import sys

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
