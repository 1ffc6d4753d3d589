"""Memory that is kept: where the C library can keep it, a large message is made in memory that was there."""

import platform
import subprocess
import sys

SCRIPT = """
import resource, sys
from bridge.serve.memory import keep_memory
if sys.argv[1] == "kept":
    keep_memory()

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def use():
    parts = [b"x" * 10_000_000 for _ in range(3)]

use()
before = faults()
for _ in range(10):
    use()
print(faults() - before)
"""


def faults(*words: str) -> int:
    done = subprocess.run([sys.executable, "-c", SCRIPT, *words], check=True, capture_output=True, timeout=60)
    return int(done.stdout)


def test_large_messages_take_memory_that_was_there_where_it_can_be_kept():
    kept, given_back = faults("kept"), faults("not")

    assert given_back > 10_000
    assert kept < 1000 or platform.libc_ver()[0] != "glibc"
