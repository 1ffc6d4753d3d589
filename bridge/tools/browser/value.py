"""What a tool of the bridge's own is, and what it gets: a small value, and a context by which it reaches pages."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from bridge import limits
from bridge.folders import Folders
from bridge.page.session import Page
from bridge.settings import Inspected, Mode, Tier

Arguments = dict[str, Any]


class PageAccess(Protocol):
    """How a tool reaches pages.

    Attributes:
        folders: those that paths which an agent gives may lead into.
    """

    folders: Folders

    def find(self, page: str) -> Page:
        """Raises PageNotFound."""
        ...

    def handles(self) -> list[str]:
        """Of all pages that are open now."""
        ...

    async def call_tool(self, page: str, tool: str, arguments: dict[str, Any]) -> object:
        """Call a tool that a page defines, as an agent does; returns the JSON value that it gave.

        Raises:
            BridgeError: as a call of an agent's.
        """
        ...

    async def call(self, name: str, arguments: dict[str, Any]) -> Any:  # noqa: ANN401  # JSON
        """Call another tool that the agent has, and return its result as JSON.

        Raises:
            BridgeError: as a call of the agent's; the agent does not have it.
        """
        ...

    def keep(self, data: bytes, *, suffix: str) -> Path:
        """Keep bytes in a file of ours. Raises OSError."""
        ...


class Context(Protocol):
    """What a tool of this kind needs of the context that all tools get."""

    @property
    def page(self) -> PageAccess: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class BrowserTool:
    """One tool that is built in.

    Attributes:
        properties: of its arguments, as JSON Schema.
        mode: the least mode in which it is offered.
        tier: the least tier in which it is.
        is_extra: in mode `dev` it is offered from tier `mid` on.
        page_derived: its answer holds words of a page.
        needs: what has to be watched in pages for it.
        waits: the argument that says for how many seconds it waits, and how many these are without it.
    """

    name: str
    title: str
    description: str
    properties: Mapping[str, Any]
    required: tuple[str, ...] = ("page",)
    mode: Mode = "act"
    tier: Tier = "mid"
    is_extra: bool = False
    read_only: bool = False
    page_derived: bool = True
    needs: frozenset[Inspected] = field(default_factory=frozenset[Inspected])
    waits: tuple[str, float] | None = None
    execute: Callable[[Arguments, Context], Awaitable[object]]

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema of its arguments."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }

    @property
    def kind(self) -> Literal["builtin"]:
        return "builtin"

    @property
    def source(self) -> str:
        return f"builtin:{self.name}"

    def seconds(self, arguments: Mapping[str, Any], /) -> float:
        """How long a call may take."""
        waited = 0.0 if self.waits is None else float(arguments.get(*self.waits))
        return min(limits.CALL_SECONDS + waited, limits.CALL_SECONDS_MAX)
