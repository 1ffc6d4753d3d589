"""What a person may choose about pages and about what an agent is offered: frozen values, made where words are read."""

from dataclasses import dataclass
from typing import Literal

FramePolicy = Literal["none", "same-origin", "all"]
"""Which iframes may offer tools beside their page."""

DialogPolicy = Literal["ask", "accept", "dismiss"]
"""What becomes of a confirm or prompt that a call causes: the agent is asked, or it is answered at once."""

SchemaProfile = Literal["standard", "strict"]
"""In which form agents get input schemas; `strict` is for the pickiest APIs."""


@dataclass(frozen=True, kw_only=True)
class PageSettings:
    """How pages are looked at."""

    frames: FramePolicy = "none"
    allow_file: bool = False
    """Look for tools on file: pages too; each file is an origin of its own."""
    dialogs: DialogPolicy = "ask"

    @property
    def schemes(self) -> tuple[str, ...]:
        """Schemes of the documents that are asked for tools."""
        return ("http", "https", "file") if self.allow_file else ("http", "https")


@dataclass(frozen=True, kw_only=True)
class AgentSettings:
    """What an agent is offered, and in which form."""

    schema_profile: SchemaProfile = "standard"
    direct: bool = False
    """Each tool of a trusted page is an MCP tool of its own as well."""
    trusted_origins: frozenset[str] = frozenset()
    """Origins, as Chromium writes them, whose tools may be MCP tools of their own, as loopback ones always may; and
    may answer in MCP's form, as loopback ones may not."""
