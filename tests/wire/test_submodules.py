"""PyCDP without what nobody asks for."""

import subprocess
import sys

SCRIPT = """
import sys
import bridge.wire.commands
assert "cdp.page" in sys.modules
assert "cdp.audits" not in sys.modules, "what nobody asked for was imported"
import cdp
assert cdp.audits.get_encoded_response
assert "cdp.audits" in sys.modules
assert not hasattr(cdp, "nothing")
import cdp.tracing
assert cdp.tracing is sys.modules["cdp.tracing"]
"""


def test_a_domain_is_imported_when_it_is_first_asked_for_also_by_others():
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=60)


def test_a_package_that_somebody_has_imported_before_stays_as_it_is():
    script = "import cdp, bridge.wire.commands; assert 'audits' in vars(cdp); assert '__getattr__' not in vars(cdp)"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
