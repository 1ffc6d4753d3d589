"""Tools as the bridge knows them: frozen values, whatever the page does afterwards."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from json import dumps

from bridge.page.discovery import Discovery
from bridge.tools.schema import CheckedSchema


@dataclass(frozen=True, slots=True)
class ToolId:
    """Where a tool is in one answer of its page, counted from 0. Written `#group.tool`."""

    group: int
    tool: int

    def __str__(self) -> str:
        return f"#{self.group}.{self.tool}"


@dataclass(frozen=True)
class Tool:
    """One tool of one document.

    Attributes:
        schema: what calls are checked against, or None where the page's schema is unusable.
        schema_problem: why it is unusable.
        group: name of the group that it came in.
    """

    id: ToolId
    name: str
    description: str
    schema_text: str
    schema: CheckedSchema | None
    schema_problem: str | None
    group: str

    @property
    def fingerprint(self) -> tuple[str, str, str]:
        """What an agent was told about the tool; equal fingerprints mean that nothing it knows has changed."""
        return self.name, self.description, self.schema_text


@dataclass(frozen=True)
class ToolGroup:
    name: str
    description: str
    tools: tuple[Tool, ...]


@dataclass(frozen=True)
class PageTools:
    """Everything that one document offers: an immutable snapshot.

    Attributes:
        problems: one sentence for each thing in the page's answer that could not be used.
        discovery: the handle through which the page floor runs these very tools.
    """

    page: str
    groups: tuple[ToolGroup, ...]
    problems: tuple[str, ...]
    discovery: Discovery

    @property
    def origin(self) -> str:
        return self.discovery.realm.origin

    def __iter__(self) -> Iterator[Tool]:
        for group in self.groups:
            yield from group.tools

    @cached_property
    def toolset(self) -> str:
        """A token for exactly these tools in exactly this document."""
        realm = self.discovery.realm
        told = [realm.unique_context_id, realm.generation, [[str(tool.id), *tool.fingerprint] for tool in self]]
        return f"{self.page}-{realm.generation}-{sha256(dumps(told).encode()).hexdigest()[:12]}"

    def says_the_same_as(self, other: "PageTools") -> bool:
        """True where an agent that knows `other` would learn nothing new."""
        return (self.toolset, self.problems) == (other.toolset, other.problems)
