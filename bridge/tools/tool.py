"""Tools as the bridge knows them: frozen values, whatever the page does afterwards."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from json import dumps
from typing import Any, Final

from bridge.page.document import Document
from bridge.tools.schema import CheckedSchema


@dataclass(frozen=True, slots=True)
class ToolId:
    """Where a tool is in the answers of its page, counted from 0. Written `#group.tool`, or `f1#group.tool` where
    an iframe offers it."""

    frame: str
    group: int
    tool: int

    def __str__(self) -> str:
        return f"{self.frame}#{self.group}.{self.tool}"


@dataclass(frozen=True, slots=True)
class Home:
    """Where a tool runs: one round of discovery in one document."""

    document: Document
    round: int

    @property
    def origin(self) -> str:
        return self.document.realm.origin


@dataclass(frozen=True)
class Tool:
    """One tool of one document.

    Attributes:
        schema: what calls are checked against, or None where the page's schema is unusable.
        schema_problem: why it is unusable.
        group: name of the group that it came in.
        kind: `page` for a tool of an answer to the discovery event, `webmcp` for one that is registered with
            `document.modelContext`.
        annotations: what the page claims of a `webmcp` tool, and `declarative` for one that is a form.
    """

    id: ToolId
    name: str
    description: str
    schema_text: str
    schema: CheckedSchema | None
    schema_problem: str | None
    group: str
    home: Home
    kind: str
    annotations: Mapping[str, Any]

    @property
    def origin(self) -> str:
        return self.home.origin

    @cached_property
    def fingerprint(self) -> tuple[str, ...]:
        """What an agent was told about the tool; equal fingerprints mean that nothing it knows has changed."""
        return self.name, self.description, self.schema_text, self.kind, dumps(dict(self.annotations))


@dataclass(frozen=True)
class ToolGroup:
    """Tools that came together.

    Attributes:
        frame: handle of the iframe that offers them, "" for the page itself.
    """

    name: str
    description: str
    tools: tuple[Tool, ...]
    frame: str
    origin: str


SILENT: Final = "Nothing answered the devtoolstooldiscovery event: this page offers no tools now."
"""The problem of a document that has none."""


@dataclass(frozen=True)
class DocumentTools:
    """Everything that one document offers.

    Attributes:
        problems: one sentence for each thing in its answer that could not be used.
        more: more answers may come.
    """

    home: Home
    groups: tuple[ToolGroup, ...]
    problems: tuple[str, ...]
    more: bool = False


@dataclass(frozen=True)
class PageTools:
    """Everything that a page offers: an immutable snapshot. The first document is the page's own."""

    page: str
    documents: tuple[DocumentTools, ...]

    @property
    def origin(self) -> str:
        return self.documents[0].home.origin

    @property
    def groups(self) -> Iterator[ToolGroup]:
        for document in self.documents:
            yield from document.groups

    @property
    def problems(self) -> tuple[str, ...]:
        """Those of iframes say whose they are. That nothing answered is one where nothing does in all of the page."""
        offers = any(document.groups for document in self.documents)
        return tuple(
            f"Frame {frame}: {problem}" if (frame := one.home.document.frame) else problem
            for one in self.documents
            for problem in one.problems
            if problem != SILENT or not (offers or one.home.document.frame)
        )

    @property
    def more(self) -> bool:
        return any(document.more for document in self.documents)

    def __iter__(self) -> Iterator[Tool]:
        for group in self.groups:
            yield from group.tools

    @cached_property
    def toolset(self) -> str:
        """A token for exactly these tools in exactly these documents."""
        realms = [
            (one.home.document.realm.unique_context_id, one.home.document.realm.generation) for one in self.documents
        ]
        told = [realms, [[str(tool.id), *tool.fingerprint] for tool in self]]
        return f"{self.page}-{realms[0][1]}-{sha256(dumps(told).encode()).hexdigest()[:12]}"

    def says_the_same_as(self, other: "PageTools") -> bool:
        """True where an agent that knows `other` would learn nothing new."""
        return (self.toolset, self.problems) == (other.toolset, other.problems)
