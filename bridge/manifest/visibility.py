"""What an agent sees of the tools that are there. What it does not see, it can't call either."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from bridge.errors import UsageError
from bridge.manifest.manifest import BUILT_IN, FILE, AgentEntry, BuiltIns, Issue, Manifest, Severity
from bridge.manifest.parsed import closest, show

HIDDEN_WITH: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "call_page_tool": frozenset({"evaluate_script"}),
        "fill": frozenset({"fill_form"}),
        "select_option": frozenset({"fill", "fill_form"}),
    }
)
"""Built-in tools with which one can do what another does: where that one is hidden, they are."""


def loaded_built_ins(manifest: Manifest, built_ins: BuiltIns) -> tuple[str, ...]:
    """The built-in tools that a project has, those that are replaced left out."""
    if manifest.tools is None:
        return built_ins.profile
    return tuple(tool.name for tool in manifest.tools.values() if tool.is_built_in)


def taken_names(manifest: Manifest, built_ins: BuiltIns) -> dict[str, str]:
    """Names that no further tool can have, each with whose it is, as the end of a sentence."""
    taken = dict.fromkeys(built_ins.retired, "a built-in tool of an earlier version")
    taken |= dict.fromkeys(built_ins.names | built_ins.reserved, "a built-in tool")
    for tool in manifest.declared.values():
        if not tool.is_built_in:
            taken[tool.name] = f"a tool of the project ({tool.source})"
    return taken


def choose_agents(manifest: Manifest, names: Iterable[str]) -> tuple[AgentEntry, ...]:
    """The agents of these names. An agent that works for another has the names of both, and gets what both get.

    Raises:
        UsageError: the manifest has none of that name; without rules of its own, an agent would see everything.
    """
    chosen: list[AgentEntry] = []
    for name in names:
        if name not in manifest.agents:
            there = f"There are these: {', '.join(manifest.agents)}." if manifest.agents else "There are none."
            advice = closest(name, manifest.agents) or there
            raise UsageError(f"{FILE} has no [agents.{show(name)}]. {advice}")
        chosen.append(manifest.agents[name])
    return tuple(chosen)


def visible(names: Iterable[str], agents: Sequence[AgentEntry]) -> frozenset[str]:
    """Those of the tools that are there which an agent sees: with all of its names, or with none all of them.

    Page tools that are MCP tools of their own are not named in a manifest: they are seen where `call_page_tool` is.
    """
    return frozenset(name for name in names if all(_sees(agent, name) for agent in agents))


def _sees(agent: AgentEntry, name: str) -> bool:
    if agent.shown is not None and name not in agent.shown:
        return False
    return not any(name == hidden or name in HIDDEN_WITH.get(hidden, ()) for hidden in agent.hidden)


def why_missing(name: str, manifest: Manifest, built_ins: BuiltIns, agents: Sequence[AgentEntry] = ()) -> str:
    """Why a tool that an agent asked for is not there for it, in sentences that say how it gets there."""
    for agent in agents:
        if not _sees(agent, name):
            rule = f"[agents.{agent.name}] in {FILE}"
            return f"Agent {agent.name} may not use {show(name)}. Only the person who writes {rule} can change that."
    if (reason := manifest.failed.get(("tools", name))) is not None:
        return f"Tool {show(name)} did not load: {reason}"
    if name in built_ins.names:
        if manifest.tools is not None:
            line = f'{name} = "{BUILT_IN}{name}"'
            return f"{FILE} does not list {name} under [tools]: the line `{line}` there brings it back."
        return f"{name} is not in this profile: start with --tools {name}, or with --tools debug for all."
    if name in built_ins.retired:
        return f"{name} was a built-in tool of an earlier version. List the tools again."
    return f"Unknown tool: {show(name)}. List the tools again."


def check_agents(
    manifest: Manifest, built_ins: BuiltIns, others: Collection[str] = (), *, all_known: bool = True
) -> Iterator[Issue]:
    """What is wrong with the names of tools that agents are given or not given.

    Args:
        others: tools that the manifest does not name: those of skills, and further ones of modules.
        all_known: no others could be meant; a name that is hidden and means nothing is an error then, as the one that
            was meant is seen. So is one that is like the name of a tool that is there.
    """
    # Without [tools], the profile says which are there, and it is not the manifest's.
    loaded = set(loaded_built_ins(manifest, built_ins) if manifest.tools is not None else built_ins.names)
    known = {
        *others,
        *built_ins.reserved,
        *manifest.declared,
        *(name for section, name in manifest.failed if section == "tools"),
    }
    for agent in manifest.agents.values():
        for name, line in agent.lines.items():
            for severity, message in _faults(agent, name, loaded, known, built_ins, all_known=all_known):
                yield Issue(file=agent.file, line=line, severity=severity, message=message)


def _faults(
    agent: AgentEntry, name: str, loaded: set[str], known: set[str], built_ins: BuiltIns, *, all_known: bool
) -> Iterator[tuple[Severity, str]]:
    is_hidden = name in agent.hidden
    if name not in known | built_ins.names:
        nothing = f"so it {'hides' if is_hidden else 'gives'} nothing"
        advice = closest(name, known | built_ins.names)
        if advice or all_known:
            advice = advice or "Correct the name, or remove it."
            told = f"{show(name)} is no tool of this project, {nothing}. {advice}"
            yield "error" if is_hidden else "warning", told
        else:
            where = "a module or a skill that does not load, or a function `tools`,"
            yield "warning", f"{show(name)} is no tool that is known here, {nothing}, unless {where} has it."
    elif not (is_hidden or name in known | loaded):
        advice = f'add `{name} = "{BUILT_IN}{name}"` under [tools], or remove it here'
        yield "warning", f"{name} is a built-in tool that this project does not load: {advice}."
    for also in sorted(HIDDEN_WITH.get(name, frozenset()) & loaded - agent.hidden) if is_hidden else ():
        yield "warning", f"{also} is hidden as well, since it can do what {name} does: name it here, too."
