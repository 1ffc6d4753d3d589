"""Page tools as MCP tools of their own: which ones, under which names, and what the agent was shown of them."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import trio

from bridge import limits
from bridge.calls.gate import Gate
from bridge.origins import is_trusted
from bridge.settings import AgentSettings
from bridge.tools.naming import Owned, Owner, name_tools, own
from bridge.tools.registry import Registry
from bridge.tools.tool import PageTools

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Offering:
    """What is offered at one moment.

    Attributes:
        tools: by name, in the order of a list.
        left_out: how many more each page has.
    """

    tools: Mapping[str, Owned]
    left_out: Mapping[str, int]


def offer_directly(
    pages: Mapping[str, PageTools], settings: AgentSettings, kept: Mapping[str, Owner], gate: Gate
) -> Offering:
    """Choose and name the tools that may be MCP tools of their own: those of the user's own origins that may run."""
    trusted = [
        one
        for tools in pages.values()
        if is_trusted(tools.origin, settings.trusted_origins)
        for one in own(tools)
        if is_trusted(one.tool.origin, settings.trusted_origins)
    ]
    named = [
        (name, one)
        for name, one in name_tools(trusted, kept).items()
        if one.tool.schema is not None and gate.why_not(one.tool) is None
    ]
    left_out: dict[str, int] = {}
    for _, one in named[limits.DIRECT_TOOLS :]:
        left_out[one.tools.page] = left_out.get(one.tools.page, 0) + 1
    return Offering(MappingProxyType(dict(named[: limits.DIRECT_TOOLS])), MappingProxyType(left_out))


class DirectTools:
    """The page tools that one agent has as tools of their own. It remembers what each name was shown to mean.

    Args:
        settled: waits a bounded time for pages that are between two documents.
        gate: says which of them may run; the others are not offered.
    """

    def __init__(
        self, registry: Registry, settings: AgentSettings, settled: Callable[[], Awaitable[None]], gate: Gate
    ) -> None:
        self._registry = registry
        self._settings = settings
        self._settled = settled
        self._gate = gate
        # Pages may have been there first.
        self._version = 0
        self._shown: dict[str, Owned] = {}
        self._listed: object = ()
        self._announced: object = ()

    def show(self) -> Mapping[str, Owned]:
        """What there is now, by name; from then on the agent knows these tools by these names."""
        offering = self._offer()
        self._listed = _told(offering)
        self._shown = _newest(self._shown, offering.tools)
        return offering.tools

    def find(self, name: str) -> Owned | None:
        """What the agent was shown last under this name, whether it is there still or not."""
        return self._shown.get(name)

    def tell(self, tools: PageTools) -> None:
        """The agent is being told anew of a page: from then on its names for that page's tools mean these."""
        anew = {one.owner: one for one in own(tools)}
        for name, one in self._shown.items():
            new = anew.get(one.owner)
            if new is not None and (one.tools.origin, one.tool.origin) == (tools.origin, new.tool.origin):
                self._shown[name] = new

    def notes(self, tools: PageTools) -> tuple[str, ...]:
        """Why tools of a page are not offered."""
        if not any(tools):
            return ()
        origins = {tools.origin} | {tool.origin for tool in tools}
        foreign = sorted(origin for origin in origins if not is_trusted(origin, self._settings.trusted_origins))
        notes = [
            f"Tools of {origin} are not offered as tools of their own, because it is neither loopback nor named with "
            "--trust-origin. Run them with call_page_tool."
            for origin in foreign
        ]
        if left := self._offer().left_out.get(tools.page):
            notes.append(
                f"{left} tools of this page are not offered as tools of their own: {limits.DIRECT_TOOLS} tools are, "
                "and more is too much for many clients. Run them with call_page_tool."
            )
        return tuple(notes)

    async def wait_news(self) -> None:
        """Block until the list is not what the agent was told of last.

        Changes that come together are one, and what is the same again when a page has settled is none.
        """
        while True:
            self._version = await self._registry.wait_change(self._version)
            await trio.sleep(limits.NOTICE_SECONDS)
            await self._settled()
            offering = self._offer()
            told = _told(offering)
            if not told == self._announced == self._listed:
                self._announced = self._listed = told
                _log(offering)
                return

    def _offer(self) -> Offering:
        kept = {name: one.owner for name, one in self._shown.items()}
        return offer_directly(self._registry.snapshot, self._settings, kept, self._gate)


def _newest(shown: Mapping[str, Owned], tools: Mapping[str, Owned]) -> dict[str, Owned]:
    """The last names shown, those of now among them; of what is there no more, the oldest is forgotten first."""
    gone = {name: one for name, one in shown.items() if name not in tools}
    room = limits.DIRECT_NAMES_KEPT - len(tools)
    return {**dict(list(gone.items())[-room:]), **tools}


def _told(offering: Offering) -> object:
    """All that a list says of its tools."""
    return tuple(
        (name, one.tools.page, str(one.tool.id), one.tool.group, one.tool.origin, one.tool.fingerprint)
        for name, one in offering.tools.items()
    )


def _log(offering: Offering) -> None:
    left = sum(offering.left_out.values())
    if left:
        logger.warning(
            "%d page tools are offered as tools of their own, and %d more are not: they are run with call_page_tool.",
            len(offering.tools),
            left,
        )
