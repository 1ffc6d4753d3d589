"""What a process takes of the machine, from Linux's /proc."""

import os
import re
from pathlib import Path


def resident_kb(pid: int) -> float:
    """Memory that it holds, without what its children hold."""
    found = re.search(r"^VmRSS:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found is not None
    return float(found[1])


def cpu_seconds(pid: int) -> float:
    """Time that all its threads have used by now."""
    return ticks_in(Path(f"/proc/{pid}/stat").read_text()) / os.sysconf("SC_CLK_TCK")


def ticks_in(stat: str) -> int:
    """utime and stime. The process's name, which may hold anything, ends with the last bracket."""
    after_name = stat.rpartition(")")[2].split()
    return int(after_name[11]) + int(after_name[12])
