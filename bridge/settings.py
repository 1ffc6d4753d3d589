"""What a person may choose about pages. Frozen values, made where words are read."""

from dataclasses import dataclass
from typing import Literal

FramePolicy = Literal["none", "same-origin", "all"]
"""Which iframes may offer tools beside their page."""


@dataclass(frozen=True, kw_only=True)
class PageSettings:
    """How pages are looked at."""

    frames: FramePolicy = "none"
    allow_file: bool = False
    """Look for tools on file: pages too; each file is an origin of its own."""

    @property
    def schemes(self) -> tuple[str, ...]:
        """Schemes of the documents that are asked for tools."""
        return ("http", "https", "file") if self.allow_file else ("http", "https")
