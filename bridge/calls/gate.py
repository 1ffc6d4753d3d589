"""May a tool run, as far as a person has a say in it? Every door asks here: each listing, and each call.

The decision is pure. It is about the realm that the tool lives in, and a call runs in that very realm or not at all:
so what was decided is still true when the tool begins, wherever its page has gone meanwhile.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from bridge.calls.pins import Fingerprint, PinFile, Pins
from bridge.errors import NotAllowed, UsageError
from bridge.origins import ANY_ORIGIN, OPAQUE, OriginRules
from bridge.settings import AgentSettings, Mode, PageSettings
from bridge.tools.tool import PageTools, Tool, ToolId


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a person has said.

    Attributes:
        trusted_origins: those whose word counts that a tool changes nothing.
        pins: the tools that were approved, by origin; those of other origins need no approval.
    """

    origins: OriginRules = ANY_ORIGIN
    mode: Mode = "act"
    trusted_origins: frozenset[str] = frozenset()
    pins: Pins = field(default_factory=dict[str, frozenset[Fingerprint]])


def why_not(tool: Tool, rules: Rules) -> str | None:
    """Why a tool must not run, as the end of a sentence; None where it may."""
    origin = tool.origin
    if (reason := rules.origins.why_not(origin)) is not None:
        return f"it is of {_shown(origin)}, and {reason}"
    if rules.mode == "ask" and not (origin in rules.trusted_origins and tool.annotations.get("readOnlyHint") is True):
        return "in mode ask only those run that an origin named with --trust-origin marks read-only"
    approved = rules.pins.get(origin)
    if approved is not None and tool.fingerprint not in approved:
        return f"it is new or has changed since the tools of {origin} were approved: `pagebridge pin` does that again"
    return None


class Gate:
    """The rules of one agent, or of one command.

    Raises:
        UsageError: there are pins, and they can't be read.
    """

    def __init__(self, pages: PageSettings, agent: AgentSettings) -> None:
        self._file = PinFile(agent.pins) if agent.pins is not None else None
        self._rules = Rules(
            origins=pages.origins,
            mode=agent.mode,
            trusted_origins=agent.trusted_origins,
            pins={} if self._file is None else self._file.read(),
        )

    def why_not(self, tool: Tool) -> str | None:
        """Why a tool must not run by the rules of now, or None. Pins that can't be read any more hold up every tool."""
        if self._file is not None:
            try:
                pins = self._file.read()
            except UsageError as error:
                return str(error).rstrip(".")
            if pins is not self._rules.pins:
                self._rules = replace(self._rules, pins=pins)
        return why_not(tool, self._rules)

    def refused(self, tools: PageTools) -> Mapping[ToolId, str]:
        """Those of a page that must not run, and why."""
        return {tool.id: reason for tool in tools if (reason := self.why_not(tool)) is not None}

    def check_page(self, tools: PageTools) -> None:
        """Refuse a page whose tools must not be used, whichever they are.

        Raises:
            NotAllowed: saying why.
        """
        if (reason := self._rules.origins.why_not(tools.origin)) is not None:
            raise NotAllowed(
                f"No tool of page {tools.page} is run: it is of {_shown(tools.origin)}, and {reason}. {_WHO}"
            )

    def check_origin(self, page: str, origin: str) -> None:
        """Refuse to look into a page, or to do something in it, where its tools must not be used.

        Raises:
            NotAllowed: saying why.
        """
        if (reason := self._rules.origins.why_not(origin)) is not None:
            raise NotAllowed(f"Page {page} is left alone: it is of {_shown(origin)}, and {reason}. {_WHO}")

    def check(self, tool: Tool) -> None:
        """Refuse a tool that must not run.

        Raises:
            NotAllowed: saying why.
        """
        if (reason := self.why_not(tool)) is not None:
            raise NotAllowed(f"Tool {tool.name!r} was not run: {reason}. {_WHO}")


def _shown(origin: str) -> str:
    return "an opaque origin" if origin == OPAQUE else origin


_WHO: Final = "Only the person who started pagebridge can change that."
