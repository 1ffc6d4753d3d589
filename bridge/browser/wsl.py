"""The Windows Subsystem for Linux: a Linux that shows the drives of Windows, and can't use all that is there."""

import platform
import re
from pathlib import PurePath


def is_windows_folder(path: PurePath, kernel: str | None = None) -> bool:
    """Whether a path leads to a drive of Windows, as seen from Linux.

    Args:
        kernel: its release; that of the running one if None.
    """
    release = platform.release() if kernel is None else kernel
    return "microsoft" in release.lower() and re.match(r"/mnt/[a-z](/|$)", path.as_posix()) is not None
