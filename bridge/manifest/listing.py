"""The tools of a project as `pagebridge tools ls` shows them: which there are, which were removed, which failed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bridge.manifest.manifest import BUILT_IN, FILE, AgentEntry, BuiltIns, Manifest
from bridge.manifest.visibility import loaded_built_ins, visible

Kind = Literal["builtin", "builtin (overridden)", "project", "skill"]


@dataclass(frozen=True)
class Row:
    """One tool.

    Attributes:
        source: `builtin:click`, or the path of the file that it is in.
    """

    name: str
    kind: Kind
    source: str


@dataclass(frozen=True, kw_only=True)
class ToolTable:
    """What there is.

    Attributes:
        has_tools: the manifest has `[tools]`.
        removed: built-in tools that would be there without it.
        failed: why a tool, a skill or a module did not load, by its name.
        agents: whose tools these are; without a name, everybody's.
        hidden: tools that are there, and that these agents do not get.
    """

    has_tools: bool
    rows: tuple[Row, ...]
    removed: tuple[str, ...]
    failed: Mapping[str, str]
    agents: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "manifest": FILE,
            "tools_key": self.has_tools,
            "tools": [{"name": row.name, "kind": row.kind, "source": row.source} for row in self.rows],
            "removed": list(self.removed),
            "failed": [{"name": name, "error": error} for name, error in self.failed.items()],
        }

    def as_text(self) -> str:
        """For people. It may have words of files in it that no terminal should be sent as they are."""
        cells = [("NAME", "KIND", "SOURCE"), *((row.name, row.kind, row.source) for row in self.rows)]
        lines = align(cells)
        if not self.has_tools:
            lines += ["", f"{FILE} has no [tools], so sessions get every built-in tool of their profile."]
        elif self.removed:
            example = self.removed[0]
            lines += ["", f"Removed built-in tools: {', '.join(self.removed)}"]
            lines += [f'Add `{example} = "{BUILT_IN}{example}"` under [tools] to get one back.']
        if self.hidden:
            lines += ["", f"Hidden from {' and '.join(self.agents)}: {', '.join(self.hidden)}"]
        if self.failed:
            lines += ["", "Did not load:", *(f"  {name}: {error}" for name, error in self.failed.items())]
        return "\n".join(lines)


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, each column as wide as its longest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def list_tools(
    manifest: Manifest,
    built_ins: BuiltIns,
    *,
    modules: Iterable[tuple[str, str]] = (),
    skills: Iterable[tuple[str, str]] = (),
    failed: Mapping[str, str] | None = None,
    agents: Sequence[AgentEntry] = (),
) -> ToolTable:
    """Put together what there is.

    Args:
        modules: tools that the manifest does not name, each with its file: of `--tool`, or one of several in a module.
        skills: tools of skills, each with its file.
        failed: what did not load for other reasons than those in the manifest.
        agents: show what these get.
    """
    failed = {name: reason for (_, name), reason in manifest.failed.items()} | dict(failed or {})
    rows = [Row(name, "builtin", f"{BUILT_IN}{name}") for name in loaded_built_ins(manifest, built_ins)]
    own = [tool for tool in manifest.declared.values() if not tool.is_built_in and tool.name not in failed]
    modules = tuple(modules)
    if own or modules:
        rows += [Row(name, "builtin", f"{BUILT_IN}{name}") for name in sorted(built_ins.reserved)]
    rows += [Row(tool.name, "builtin (overridden)", tool.source) for tool in own if tool.name in built_ins.names]
    rows += [Row(tool.name, "project", tool.source) for tool in own if tool.name not in built_ins.names]
    rows += [Row(name, "project", source) for name, source in modules]
    rows += [Row(name, "skill", source) for name, source in skills]
    seen = visible((row.name for row in rows), agents)
    kept = {*manifest.declared, *failed}
    return ToolTable(
        has_tools=manifest.tools is not None,
        rows=tuple(row for row in rows if row.name in seen),
        removed=tuple(name for name in built_ins.profile if manifest.tools is not None and name not in kept),
        failed=failed,
        agents=tuple(agent.name for agent in agents),
        hidden=tuple(row.name for row in rows if row.name not in seen),
    )
