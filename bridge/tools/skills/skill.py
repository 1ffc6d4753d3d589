"""Skills as they were read: frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from bridge.settings import Mode, Tier
from bridge.tools.skills.urls import Url, UrlRule

Kind = Literal["http", "httpDownloadJob"]
Method = Literal["GET", "POST"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """How a file is made by a service: the addresses have `{job_id}` in them.

    Attributes:
        id_field: where the answer to the first request has the id.
        poll_seconds: between two looks at how far it is.
        seconds: for all of it.
    """

    id_field: str
    status: str
    file: str
    cleanup: str
    poll_seconds: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class AnswerLimits:
    """What of an answer an agent gets.

    Attributes:
        text_chars: of one string, or None for all of it.
        array_items: of the arrays of that name, at any depth.
    """

    text_chars: int | None = None
    array_items: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, kw_only=True)
class SkillTool:
    """A tool that is nothing but a declaration.

    Attributes:
        source: the file, as the user names it.
        parameters: JSON Schema of its arguments, as an agent gets it: with defaults, and closed unless it says
            otherwise; `page` is among them where a page's address can be sent.
        defaults: what is sent where the call does not give it; those that are no parameters are always sent.
        page_url_argument: the argument that gets the address of the page that the call names.
        input_url_arguments: those that must fit `input_urls`, where there are any.
        wants_trust: the skill says that its results need no frame. It is not the skill that decides.
        mode: the least in which it is offered.
        tier: the least in which it is offered.
        job: for `httpDownloadJob`.
    """

    name: str
    title: str
    description: str
    skill: str
    source: str
    kind: Kind
    method: Method
    endpoint: Url
    parameters: Mapping[str, Any]
    defaults: Mapping[str, Any]
    page_url_argument: str | None
    input_url_arguments: tuple[str, ...]
    input_urls: tuple[UrlRule, ...]
    answer_limits: AnswerLimits
    wants_trust: bool
    mode: Mode
    tier: Tier
    job: Job | None

    @cached_property
    def constants(self) -> frozenset[str]:
        """What the skill has said once and for all: no call may say it otherwise."""
        return self.endpoint.query_names | (self.defaults.keys() - self.parameters["properties"].keys())

    @property
    def read_only(self) -> bool:
        return self.job is None


@dataclass(frozen=True, kw_only=True)
class Skill:
    """One file.

    Attributes:
        title: its first heading.
        text: the body, without what declares its tools.
        sha256: of the file's bytes, in hexadecimal digits.
    """

    name: str
    title: str
    summary: str
    intents: tuple[str, ...]
    text: str
    tools: tuple[SkillTool, ...]
    source: str
    sha256: str

    @cached_property
    def prompt(self) -> str:
        """The text as an agent gets it when it asks for it, with whose words these are."""
        return (
            f"This is the skill {self.name!r}, from the file {self.source}; pagebridge did not write it.\n\n{self.text}"
        )

    @property
    def consequences(self) -> tuple[str, ...]:
        """What a person lets it do by adding it: a sentence for each thing."""
        return tuple(sentence for tool in self.tools for sentence in _consequences(tool))


def _consequences(tool: SkillTool) -> list[str]:
    told = [f"{tool.name} sends its arguments to {tool.endpoint.origin}."]
    if tool.page_url_argument is not None:
        told.append(f"{tool.name} sends the address of a page there, with all that is in it.")
    if tool.job is not None:
        told.append(f"{tool.name} keeps files that come from there in the folder for downloads.")
    if tool.wants_trust:
        told.append(f"{tool.name} wants its results to be trusted, which it is not unless the manifest says so.")
    return told
