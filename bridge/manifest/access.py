"""`[agents]`, `secrets` and `env`: who gets what. Where there is a fault in these, nothing of the manifest is used."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from bridge.manifest.manifest import AgentEntry
from bridge.manifest.parsed import VARIABLE_RULE, Parsed, is_variable, show

_AGENT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TOOLS_RULE: Final = 'must be "all", "none", a list such as ["click"], {exclude = ["click"]} or {click = false}'


@dataclass(frozen=True)
class _Tools:
    """Names of tools, each with its line."""

    shown: Mapping[str, int] | None = None
    hidden: Mapping[str, int] = field(default_factory=dict[str, int])


def read_agents(parsed: Parsed) -> dict[str, AgentEntry]:
    """The agents of a file."""
    found: dict[str, AgentEntry] = {}
    for name in parsed.table("agents") or {}:
        if not _AGENT.fullmatch(name):
            parsed.complain(
                ("agents", name),
                f"{show(name)} can't be an agent's name. Begin with a letter or digit, and go on with letters, digits, "
                ". _ and -; 64 in all.",
            )
        elif (table := parsed.table("agents", name)) is not None:
            parsed.check_keys(table, ("tools", "secrets"), "agents", name)
            tools = _read_tools(parsed, name, table.get("tools", "all"))
            secrets = read_secrets(parsed, table.get("secrets", "all"), "agents", name, "secrets")
            found[name] = AgentEntry(
                name=name,
                shown=None if tools.shown is None else frozenset(tools.shown),
                hidden=frozenset(tools.hidden),
                secrets=secrets,
                lines={**tools.hidden, **(tools.shown or {})},
                file=parsed.name,
                line=parsed.line("agents", name, "tools"),
            )
    return found


def read_secrets(parsed: Parsed, found: object, *place: str) -> frozenset[str] | None:
    """Names of secrets; None for all."""
    match found:
        case "all":
            return None
        case "none":
            return frozenset()
        case list():
            return read_variables(parsed, cast("object", found), *place)
        case _:
            parsed.complain(place, f'{".".join(place)} must be "all", "none" or a list of names, such as ["API_KEY"].')
            return frozenset()


def read_variables(parsed: Parsed, found: object, *place: str) -> frozenset[str]:
    """Names of secrets, or of variables of the environment, in a list."""
    names = parsed.texts(*place, found=found) or []
    for index, name in enumerate(names):
        if not is_variable(name):
            parsed.complain((*place, index), f"{show(name)} can't be a variable's name. {VARIABLE_RULE}.")
    return frozenset(names)


def _read_tools(parsed: Parsed, agent: str, found: object) -> _Tools:
    place = ("agents", agent, "tools")
    match found:
        case "all":
            return _Tools()
        case "none":
            return _Tools(shown={})
        case list():
            names = _read_list(parsed, place, cast("object", found))
            return _Tools() if "*" in names else _Tools(shown=names)
        case dict():
            return _Tools(hidden=_read_hidden(parsed, place, cast("dict[str, Any]", found)))
        case _:
            parsed.complain(place, f"tools of agent {agent} {_TOOLS_RULE}.")
            return _Tools(shown={})


def _read_hidden(parsed: Parsed, place: tuple[str, ...], table: Mapping[str, Any]) -> dict[str, int]:
    hidden: dict[str, int] = {}
    for name, value in table.items():
        if name == "exclude" and isinstance(value, list):
            hidden.update(_read_list(parsed, (*place, name), cast("object", value)))
        elif value is False:
            hidden[name] = parsed.line(*place, name)
        else:
            parsed.complain((*place, name), f"tools of agent {place[1]} {_TOOLS_RULE}: {show(name)} is neither.")
    return hidden


def _read_list(parsed: Parsed, place: tuple[str, ...], found: object) -> dict[str, int]:
    return {name: parsed.line(*place, index) for index, name in enumerate(parsed.texts(*place, found=found) or ())}
