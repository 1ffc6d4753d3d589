"""What a person may choose: which browser, how pages are looked at, what an agent is offered. Frozen values."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, get_args

from bridge.folders import Folders
from bridge.origins import ANY_ORIGIN, OriginRules

ATTACH_VARIABLE: Final = "PAGEBRIDGE_ATTACH"
HEADERS_VARIABLE: Final = "PAGEBRIDGE_ATTACH_HEADERS"
"""Variables of the environment, which only their user can read, for what may hold secrets."""

FramePolicy = Literal["none", "same-origin", "all"]
"""Which iframes may offer tools beside their page."""

DialogPolicy = Literal["ask", "accept", "dismiss"]
"""What becomes of a confirm or prompt that a call causes: the agent is asked, or it is answered at once."""

Inspected = Literal["frames", "console", "network", "input"]
"""What of pages is watched for tools that tell of it later. Each costs all pages time, so without such a tool there is
none: iframes of other sites, what the console says, which requests are made, and drags that we begin."""

SchemaProfile = Literal["standard", "strict"]
"""In which form agents get input schemas; `strict` is for the pickiest APIs."""

Mode = Literal["ask", "act", "dev"]
"""What an agent may do: `ask` has what changes nothing, and of page tools runs only what a trusted origin marks
read-only; `act` has all that pages offer, and real input; `dev` also looks into pages and runs scripts there."""

MODES: Final[tuple[Mode, ...]] = get_args(Mode)
"""Each has what the one before has, and more."""

Tier = Literal["compact", "mid", "full"]
"""How many of the built-in tools for debugging an agent gets, in modes `act` and `dev`."""

TIERS: Final[tuple[Tier, ...]] = get_args(Tier)
"""Each has what the one before has, and more."""

Language = Literal["en", "fr"]
"""In which the titles of tools are."""


@dataclass(frozen=True, kw_only=True)
class LaunchOptions:
    """How to start a browser."""

    browser_path: Path | None = None
    headed: bool = False
    profile: Path | None = None
    """A folder to keep, made if it is not there. Without one, a fresh profile is removed at the end."""
    debug_port: int | None = None
    """Also listen on this port of the loopback interface, open to every local user; 0 takes any free one."""
    no_sandbox: bool = False
    webmcp: bool = False
    """Switch on `document.modelContext`, where this browser has it."""
    extra_args: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AttachOptions:
    """A running browser: `where` is an http, https, ws or wss address or a profile folder."""

    where: str
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class PageSettings:
    """How pages are looked at."""

    frames: FramePolicy = "none"
    allow_file: bool = False
    """Open file: pages, too, and look for tools there; each file is an origin of its own."""
    folders: Folders = field(default_factory=Folders)
    """Those that an agent's paths may lead into, file: pages among them."""
    dialogs: DialogPolicy = "ask"
    origins: OriginRules = ANY_ORIGIN
    """Where tools may come from."""
    inspected: frozenset[Inspected] = frozenset()

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
    may answer in MCP's form and run in mode `ask` where they are marked read-only, as loopback ones may not."""
    mode: Mode = "act"
    pins: Path | None = None
    """A file that says which tools of some origins were approved: no others of these run."""
    tools: tuple[str, ...] = ()
    """Names of the built-in tools that it gets; those for pages alone where there are none."""
    tier: Tier = "full"
    loop_stop: bool = False
    """A call that looks at the same again, or fails again, does not run where the agent was told of that."""
    project: Path | None = None
    """The folder of a project whose manifest, modules and skills count."""
    modules: tuple[Path, ...] = ()
    """Further modules, and folders of them."""
    agents: tuple[str, ...] = ()
    """Names that the manifest has rules for; the agent gets what all of them get."""
    language: Language | None = None
    """Of the titles of tools; that of the environment if None."""
