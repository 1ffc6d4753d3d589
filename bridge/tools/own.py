"""A tool of the bridge's own, whatever its source: built in, of the project, of a skill. Those of pages are none."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from bridge.page.media import Media, Resource
from bridge.settings import Mode, Tier

Kind = Literal["builtin", "project", "skill"]


class OwnTool(Protocol):
    """What the pipeline has to know of a tool.

    Attributes:
        parameters: JSON Schema of its arguments.
        source: `builtin:click`, or the file that it is in.
        mode, tier: the least in which it is offered.
        page_derived: its result holds words of a page or a service, and comes in a frame.
        seconds: how long a call may take.
        execute: runs it with arguments that fit `parameters`; returns a text, JSON, or a `Content`.
    """

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> Mapping[str, Any]: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def source(self) -> str: ...
    @property
    def mode(self) -> Mode: ...
    @property
    def tier(self) -> Tier: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def page_derived(self) -> bool: ...
    @property
    def execute(self) -> Callable[[dict[str, Any], Any], Awaitable[object]]: ...
    def seconds(self, arguments: Mapping[str, Any], /) -> float: ...


class Ui(Protocol):
    """Asks the person; raises a BridgeError where there is nobody to ask."""

    @property
    def has_ui(self) -> bool: ...
    async def confirm(self, text: str, /) -> bool: ...
    async def select(self, text: str, options: list[str], /) -> str | None: ...
    async def input(self, text: str, /) -> str | None: ...


@dataclass(frozen=True)
class PastCall:
    """A call of the agent's that has ended. It has no words of the agent's or of a page.

    Attributes:
        tool: its name; `call_page_tool` for one of a page, under whichever name it was called.
        outcome: `unknown` also where the call was taken back.
        seconds: how long it took.
    """

    tool: str
    outcome: str
    seconds: float


@dataclass(frozen=True, kw_only=True, eq=False)
class PlainTool:
    """An `OwnTool` that needs no more than that.

    Attributes:
        most_seconds: how long a call may take.
        origin: whose words its results are, where that is always the same.
    """

    name: str
    title: str
    description: str
    parameters: Mapping[str, Any]
    kind: Kind
    source: str
    mode: Mode
    tier: Tier = "compact"
    read_only: bool
    page_derived: bool
    origin: str = ""
    most_seconds: float
    execute: Callable[[dict[str, Any], Any], Awaitable[object]]

    def seconds(self, _: Mapping[str, Any], /) -> float:
        return self.most_seconds


@dataclass(frozen=True, slots=True)
class Content:
    """What a tool answers where that is more than a text or JSON.

    Attributes:
        text: has a line for each of the media, where there are several blocks.
        media: pictures, sounds and resources.
        notes: what we have to say of it, apart from it.
        details: JSON for programs beside it, or None.
        is_error: the tool says itself that it failed.
        is_json: the text is JSON, and stands for the value that it tells.
    """

    text: str
    media: tuple[Media | Resource, ...] = ()
    notes: tuple[str, ...] = ()
    details: Any = None
    is_error: bool = False
    is_json: bool = False
