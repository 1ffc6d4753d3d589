"""What a skill declares → tools. Every rule that is broken is told, each with its line; nothing is cut or corrected."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar, cast

from bridge import limits
from bridge.settings import MODES, TIERS, Mode
from bridge.tools.faults import plain, shown
from bridge.tools.skills.fields import Fields, Names
from bridge.tools.skills.parameters import PAGE, offer, read_defaults, read_parameters, read_rules, read_url_arguments
from bridge.tools.skills.places import Node
from bridge.tools.skills.problems import Problems
from bridge.tools.skills.skill import AnswerLimits, Job, Kind, Method, SkillTool
from bridge.tools.skills.urls import Url, read_endpoint, read_template

NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_T = TypeVar("_T")
_KINDS: Final[Mapping[str, Kind]] = {"http": "http", "httpdownloadjob": "httpDownloadJob"}
_JOB_ENDPOINTS: Final = ("statusEndpoint", "fileEndpoint", "cleanupEndpoint")
_JOB: Final[Names] = {
    "idField": ("jobIdField", "id_field", "job_id_field"),
    "statusEndpoint": ("status_endpoint", "statusUrlTemplate", "status_url_template"),
    "fileEndpoint": ("file_endpoint", "fileUrlTemplate", "file_url_template"),
    "cleanupEndpoint": ("cleanup_endpoint", "deleteEndpoint", "delete_endpoint"),
    "pollIntervalMs": ("poll_interval_ms",),
    "timeoutMs": ("timeout_ms",),
}
_FLAT_JOB: Final[Names] = {**_JOB, "jobIdField": ("idField", "id_field", "job_id_field")}
"""The same on the tool itself, as most skills have it."""
_TOOL: Final[Names] = {
    "id": (),
    "name": ("expose_as", "exposeAs"),
    "title": (),
    "description": (),
    "kind": ("type",),
    "readOnly": ("read_only",),
    "method": (),
    "endpoint": ("url",),
    "credentials": (),
    "defaultArgs": ("default_args",),
    "activeTabUrlArg": ("active_tab_url_arg",),
    "inputUrlArg": ("input_url_arg",),
    "inputUrlAllowlist": ("input_url_allowlist", "allowedInputUrls", "allowed_input_urls"),
    "resultPolicy": ("result_policy",),
    "responseLimits": ("response_limits",),
    "parameters": ("inputSchema", "input_schema"),
    "requiresDownloadPermission": ("requires_download_permission",),
    "modes": (),
    "tiers": (),
    "job": (),
    **{name: aliases for name, aliases in _FLAT_JOB.items() if name != "idField"},
}
_LIMITS: Final[Names] = {"maxTextChars": ("max_text_chars",), "maxArrayItems": ("max_array_items",)}


@dataclass(frozen=True)
class Origin:
    """Which skill a tool is of.

    Attributes:
        mode: the least in which the skill lets its tools be offered.
        local_origins: those of services that may be on this machine.
    """

    skill: str
    source: str
    mode: Mode
    local_origins: frozenset[str]


def declare_tools(nodes: Iterable[Node], origin: Origin, problems: Problems) -> tuple[SkillTool, ...]:
    """The tools of the skill's fences. Those that are returned count only where no error was found."""
    found: list[SkillTool] = []
    lines: dict[str, int] = {}
    items = [item for node in nodes for item in _items(node, problems)]
    if len(items) > limits.SKILL_TOOLS:
        beyond = items[limits.SKILL_TOOLS].line
        problems.error(beyond, f"The skill has {len(items)} tools, and {limits.SKILL_TOOLS} are allowed: split it.")
        return ()
    for item in items:
        tool = _Declaration(item, origin, problems).read()
        if tool is not None and tool.name in lines:
            problems.error(
                item.line, f"There are two tools {tool.name!r}, here and in line {lines[tool.name]}: rename one."
            )
        elif tool is not None:
            lines[tool.name] = item.line
            found.append(tool)
    return tuple(found)


def _items(node: Node, problems: Problems) -> list[Node]:
    """The tools of one fence: a list, or an object that has one."""
    if isinstance(node.value, list):
        return list(node.items())
    if node.object is not None:
        fields = Fields(node, {"tools": ()}, "The fence of tools", problems)
        listed = fields.get("tools")
        if listed is not None and isinstance(listed.value, list):
            return list(listed.items())
    problems.error(node.line, 'The fence of tools must hold {"tools": [...]}, or a list of tools.')
    return []


class _Declaration:
    """One tool on its way to a value."""

    def __init__(self, node: Node, origin: Origin, problems: Problems) -> None:
        self._node = node
        self._origin = origin
        self._problems = problems

    def read(self) -> SkillTool | None:
        members = self._node.object
        if members is None:
            self._problems.error(self._node.line, f"A tool must be an object, not {shown(self._node.value)}.")
            return None
        given = members.get("name")
        what = f"Tool {plain(given)!r}" if isinstance(given, str) and given else "This tool"
        self._fields = fields = Fields(self._node, _TOOL, what, self._problems)
        name, description, kind = self._name(), self._description(), self._kind()
        endpoint, method = self._endpoint(), self._method(kind)
        self._check_kind(kind)
        properties, schema = read_parameters(fields)
        defaults = read_defaults(fields, schema, properties, endpoint)
        page_url_argument, input_url_arguments = read_url_arguments(fields, properties, defaults)
        input_urls = read_rules(fields)
        if input_url_arguments and not input_urls:
            fields.warn("inputUrlArg", "any address may be given to it: name the hosts in `inputUrlAllowlist`.")
        answer_limits = self._answer_limits()
        wants_trust = self._choice("resultPolicy", {"trusted": True, "untrusted": False}, default=False)
        mode, tier = self._mode(kind), TIERS[fields.least("tiers", TIERS)]
        job = self._job(endpoint) if kind == "httpDownloadJob" else None
        self._choice("credentials", {"omit": None}, default=None)
        parameters = None if schema is None else offer(fields, schema, properties, defaults, page_url_argument)
        if name is None or description is None or kind is None or endpoint is None or parameters is None:
            return None
        return SkillTool(
            name=name,
            title=self._title() or name.replace("_", " ").capitalize(),
            description=description + _page_note(page_url_argument, endpoint),
            skill=self._origin.skill,
            source=self._origin.source,
            kind=kind,
            method=cast("Method", method),
            endpoint=endpoint,
            parameters=parameters,
            defaults=defaults,
            page_url_argument=page_url_argument,
            input_url_arguments=input_url_arguments,
            input_urls=input_urls,
            answer_limits=answer_limits,
            wants_trust=wants_trust,
            mode=mode,
            tier=tier,
            job=job,
        )

    # Who it is

    def _name(self) -> str | None:
        name = self._fields.text("name")
        if name is None:
            if "name" not in self._fields:
                self._fields.error("name", "`name` is missing: give it one, such as tide_now.")
            return None
        if NAME.fullmatch(name) is None:
            self._fields.error(
                "name", f"`name` must be a lower-case letter and up to 63 of a-z, 0-9 and _, not {shown(name)}."
            )
            return None
        if name.startswith("page_"):
            self._fields.error("name", "`name` begins with `page_`, as the names of page tools do: choose another.")
            return None
        return name

    def _title(self) -> str | None:
        return self._line("title", limits.NAME_CHARS)

    def _description(self) -> str | None:
        if "description" not in self._fields:
            self._fields.error("description", "`description` is missing: say what it does, and when to use it.")
        return self._line("description", limits.DESCRIPTION_CHARS)

    def _line(self, name: str, most_chars: int) -> str | None:
        """A text on one line, in which everything can be seen."""
        text = self._fields.text(name)
        if text is None:
            return None
        if len(text) > most_chars:
            self._fields.error(name, f"`{name}` has {len(text):,} characters, and {most_chars:,} are allowed.")
            return None
        if not text.isprintable():
            hidden = next(char for char in text if not char.isprintable())
            self._fields.error(name, f"`{name}` has U+{ord(hidden):04X} in it: write one line of what can be seen.")
            return None
        return text.strip()

    def _kind(self) -> Kind | None:
        text = self._fields.text("kind")
        if "kind" not in self._fields:
            return "http"
        kind = _KINDS.get(re.sub(r"[-_ ]", "", text or "").lower())
        if kind is None and text is not None:
            self._fields.error("kind", f"`kind` is {shown(text)}, and there are http and httpDownloadJob alone.")
        elif kind is not None and kind != text:
            self._fields.warn("kind", f"`kind` is read as {kind}: write that.")
        return kind

    def _check_kind(self, kind: Kind | None) -> None:
        """What the tool says of itself must be what its kind is."""
        fields = self._fields
        if kind is None:
            return
        is_job = kind == "httpDownloadJob"
        if fields.flag("readOnly") is is_job:
            true, why = ("false", "makes a file") if is_job else ("true", "only looks things up")
            fields.error("readOnly", f"`readOnly` must be {true}, since a tool of kind {kind} {why}.")
        if fields.flag("requiresDownloadPermission") is (not is_job):
            wanted, why = ("true", "keeps a file") if is_job else ("false", "keeps no file")
            fields.error(
                "requiresDownloadPermission",
                f"`requiresDownloadPermission` must be {wanted}, since a tool of kind {kind} {why}.",
            )
        for name in () if is_job else ("job", *_FLAT_JOB):
            if name in fields:
                fields.error(name, f"`{name}` is for tools of kind httpDownloadJob: remove it, or change the kind.")

    # Whom it asks

    def _endpoint(self) -> Url | None:
        text = self._fields.text("endpoint")
        if text is None:
            if "endpoint" not in self._fields:
                self._fields.error("endpoint", "`endpoint` is missing: the address that is asked, with https://.")
            return None
        return self._address("endpoint", text)

    def _address(self, name: str, text: str) -> Url | None:
        try:
            return read_endpoint(text, self._origin.local_origins)
        except ValueError as error:
            self._fields.error(name, f"`{name}` {error}.")
            return None

    def _method(self, kind: Kind | None) -> str:
        is_job = kind == "httpDownloadJob"
        method = (self._fields.text("method") or ("POST" if is_job else "GET")).upper()
        if is_job and method != "POST":
            self._fields.error("method", "`method` must be POST, since a tool of kind httpDownloadJob makes something.")
        elif method not in ("GET", "POST"):
            self._fields.error("method", f"`method` must be GET or POST, not {shown(method)}.")
        return method

    def _job(self, endpoint: Url | None) -> Job | None:
        fields = self._job_fields()
        if fields is None:
            return None
        templates = {name: self._template(fields, name, endpoint) for name in _JOB_ENDPOINTS}
        id_field = fields.text("idField") or fields.text("jobIdField") or "job_id"
        poll_seconds = _milliseconds(
            fields, "pollIntervalMs", limits.JOB_POLL_SECONDS, limits.JOB_POLL_SECONDS_MIN, limits.JOB_POLL_SECONDS_MAX
        )
        seconds = _milliseconds(fields, "timeoutMs", limits.JOB_SECONDS, limits.JOB_SECONDS_MIN, limits.JOB_SECONDS_MAX)
        status, file, cleanup = templates.values()
        if status is None or file is None or cleanup is None:
            return None
        return Job(
            id_field=id_field, status=status, file=file, cleanup=cleanup, poll_seconds=poll_seconds, seconds=seconds
        )

    def _job_fields(self) -> Fields | None:
        """Those of `job`, or of the tool itself where it has them."""
        node = self._fields.get("job")
        if node is None:
            return self._fields
        if self._fields.object("job") is None:
            return None
        for name in _FLAT_JOB:
            if name in self._fields:
                self._fields.error(name, f"`{name}` stands beside `job`: write it there.")
        return Fields(node, _JOB, f"{self._fields.what}: `job`", self._problems)

    def _template(self, fields: Fields, name: str, endpoint: Url | None) -> str | None:
        text = fields.text(name)
        if text is None:
            if name not in fields:
                fields.error(name, f"`{name}` is missing: an address with {{job_id}} in it.")
            return None
        try:
            # Without an endpoint there is an error already.
            return text if endpoint is None else read_template(text, endpoint.origin, self._origin.local_origins)
        except ValueError as error:
            fields.error(name, f"`{name}` {error}.")
            return None

    # What of its answer counts, and who gets it

    def _answer_limits(self) -> AnswerLimits:
        node = self._fields.get("responseLimits")
        if node is None or self._fields.object("responseLimits") is None:
            return AnswerLimits()
        fields = Fields(node, _LIMITS, f"{self._fields.what}: `responseLimits`", self._problems)
        text = fields.get("maxTextChars")
        if text is not None and text.value != "unlimited" and not _is_count(text.value):
            fields.error("maxTextChars", '`maxTextChars` must be a whole number above 0, or "unlimited".')
            text = None
        items = fields.object("maxArrayItems") or {}
        for name, most in items.items():
            if not _is_count(most):
                fields.error("maxArrayItems", f"`maxArrayItems` must have a whole number above 0 for {plain(name)!r}.")
        return AnswerLimits(
            text_chars=None if text is None or text.value == "unlimited" else text.value, array_items=items
        )

    def _mode(self, kind: Kind | None) -> Mode:
        least = self._fields.least("modes", MODES)
        if kind == "httpDownloadJob":
            if "modes" in self._fields and least == MODES.index("ask"):
                self._fields.error("modes", "`modes` has ask, in which nothing is kept: leave that out.")
            least = max(least, MODES.index("act"))
        return MODES[max(least, MODES.index(self._origin.mode))]

    def _choice(self, name: str, choices: Mapping[str, _T], *, default: _T) -> _T:
        text = self._fields.text(name)
        if text is None:
            return default
        if text not in choices:
            self._fields.error(name, f"`{name}` must be {' or '.join(choices)}, not {shown(text)}.")
        return choices.get(text, default)


def _milliseconds(fields: Fields, name: str, default: float, least: float, most: float) -> float:
    given = fields.number(name)
    if given is None:
        return default
    if not least <= given / 1000 <= most:
        fields.error(name, f"`{name}` must be from {least * 1000:,.0f} to {most * 1000:,.0f}, not {shown(given)}.")
        return default
    return given / 1000


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _page_note(argument: str | None, endpoint: Url) -> str:
    if argument is None:
        return ""
    return f" With `{PAGE}`, the address of that page is sent to {endpoint.netloc}."
