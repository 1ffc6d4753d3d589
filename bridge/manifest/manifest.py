"""What a project's manifest says, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

FILE: Final = "pagebridge.toml"
BUILT_IN: Final = "builtin:"
"""Before the name of a built-in tool, where a path could be."""

Severity = Literal["error", "warning"]
Entry = tuple[str, str]
"""`tools` or `skills`, and a name in it."""


@dataclass(frozen=True, kw_only=True)
class Issue:
    """What is wrong with a manifest, in whole sentences that say what to do.

    Attributes:
        file: which one, from the project's folder on.
        line: from 1; None where it is about the whole file.
        entry: the one that alone is left out because of it; without one, an error is about the whole manifest.
    """

    file: str
    line: int | None
    severity: Severity
    message: str
    entry: Entry | None = None

    def __str__(self) -> str:
        return f"{self.file}{'' if self.line is None else f':{self.line}'}: {self.severity}: {self.message}"


@dataclass(frozen=True, kw_only=True)
class BuiltIns:
    """What a manifest has to know of the bridge's own tools.

    Attributes:
        names: of all there are.
        profile: those that a project without `[tools]` gets, in the order in which they are shown.
        retired: names that were a built-in tool's once, and that nobody else gets.
        reserved: names of built-in tools that no manifest lists: they are there where the project has modules.
    """

    names: frozenset[str]
    profile: tuple[str, ...]
    retired: frozenset[str] = frozenset()
    reserved: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class ToolEntry:
    """One line of `[tools]`.

    Attributes:
        source: `builtin:click`, or the path of a module such as `tools/weather.py`.
        file, line: where it is declared.
    """

    name: str
    source: str
    file: str
    line: int

    @property
    def is_built_in(self) -> bool:
        return self.source.startswith(BUILT_IN)


@dataclass(frozen=True, kw_only=True)
class SkillEntry:
    """One table of `[skills]`.

    Attributes:
        path: of a Markdown file.
        sha256: of the file that was approved; None as long as none was.
        trusted: its results need no frame, where the skill says so, too.
        downloads: the folder that its downloads go to; without one, it has none.
        local_origins: those on this machine that it may ask, such as https://localhost:8443.
        file, line: where it is declared.
    """

    name: str
    path: str
    sha256: str | None = None
    trusted: bool = False
    downloads: str | None = None
    local_origins: frozenset[str] = frozenset()
    file: str
    line: int


@dataclass(frozen=True, kw_only=True)
class AgentEntry:
    """One table of `[agents]`.

    Attributes:
        shown: the only tools it gets; None for all that are not hidden.
        hidden: tools it does not get.
        secrets: the only ones that tools get when it calls them; None for all that the project grants.
        lines: where a tool is named.
        file, line: where it is declared.
    """

    name: str
    shown: frozenset[str] | None = None
    hidden: frozenset[str] = frozenset()
    secrets: frozenset[str] | None = None
    lines: Mapping[str, int] = field(default_factory=dict[str, int])
    file: str
    line: int


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """All files of a manifest together.

    Attributes:
        root: the project's folder; all paths begin there.
        files: those that were read, the main one first; none where the project has no manifest.
        tools: None where no file has `[tools]`: then the built-in tools of the profile are there.
        secrets: those that the project's tools may get; None for all.
        env: variables of the environment that they may get.
        failed: the entries that are left out, and why.
    """

    root: Path
    files: tuple[str, ...] = ()
    tools: Mapping[str, ToolEntry] | None = None
    skills: Mapping[str, SkillEntry] = field(default_factory=dict[str, SkillEntry])
    agents: Mapping[str, AgentEntry] = field(default_factory=dict[str, AgentEntry])
    secrets: frozenset[str] | None = frozenset()
    env: frozenset[str] = frozenset()
    failed: Mapping[Entry, str] = field(default_factory=dict[Entry, str])

    @property
    def declared(self) -> Mapping[str, ToolEntry]:
        """What `[tools]` says, where it is there."""
        return {} if self.tools is None else self.tools
