"""The built-in tools for pages and what these offer, as values; and which built-in tools there are."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from bridge import limits
from bridge.calls.agent import ACTIONS, Agent
from bridge.calls.answers import Answer
from bridge.calls.progress import Send
from bridge.errors import UsageError
from bridge.settings import MODES, TIERS
from bridge.tools.own import Kind

if TYPE_CHECKING:
    from pathlib import Path

    from bridge.manifest.manifest import BuiltIns
    from bridge.settings import Inspected, Mode, Tier
    from bridge.tools.browser.value import BrowserTool

PAGE: Final = {"type": "string", "description": "Handle from list_pages, such as p1"}
TIMEOUT: Final = {
    "type": "number",
    "exclusiveMinimum": 0,
    "maximum": limits.CALL_SECONDS_MAX,
    "description": f"{limits.CALL_SECONDS:g} without it",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class BuiltIn:
    """One of the tools for pages and what these offer. It is there in every mode: what may run is decided by tool.

    Attributes:
        page_derived: its answer holds words of a page, which it sets apart itself.
    """

    name: str
    title: str
    description: str
    properties: Mapping[str, Any]
    required: tuple[str, ...] = ()
    read_only: bool = False
    run: Callable[[Agent, Mapping[str, Any], Send | None], Awaitable[Answer]]
    """With the arguments, and how to tell of progress where the client wants that."""

    kind: ClassVar[Kind] = "builtin"
    mode: ClassVar["Mode"] = "ask"
    tier: ClassVar["Tier"] = "compact"
    page_derived: ClassVar[bool] = True

    @property
    def source(self) -> str:
        return f"builtin:{self.name}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema of its arguments."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }


BUILT_INS: Final = (
    BuiltIn(
        name="list_pages",
        title="List pages",
        description="Open pages: handle, title, URL, origin, state, and the names of their tools by group.",
        properties={},
        read_only=True,
        run=lambda agent, _, __: agent.list_pages(),
    ),
    BuiltIn(
        name="open_page",
        title="Open a page",
        description="Open a URL in a new page. The answer names the tools that the page has.",
        properties={"url": {"type": "string", "description": "http or https address"}},
        required=("url",),
        run=lambda agent, given, _: agent.open_page(given["url"]),
    ),
    BuiltIn(
        name="navigate_page",
        title="Navigate a page",
        description="Take a page to a URL, or back, forward, or reload it. The answer names the tools it has then.",
        properties={
            "page": PAGE,
            "url": {"type": "string", "description": "http or https address"},
            "action": {"enum": list(ACTIONS), "description": "Instead of url"},
        },
        required=("page",),
        run=lambda agent, given, _: agent.navigate_page(given["page"], given.get("url"), given.get("action")),
    ),
    BuiltIn(
        name="close_page",
        title="Close a page",
        description="Close a page. The answer lists the pages that are left.",
        properties={"page": PAGE},
        required=("page",),
        run=lambda agent, given, _: agent.close_page(given["page"]),
    ),
    BuiltIn(
        name="list_page_tools",
        title="List page tools",
        description="Ask pages which tools they offer now: groups, tools with schemas, a toolset token, and every "
        "problem that a page's answer had.",
        properties={
            "page": PAGE | {"description": "Only this page; all pages without it"},
            "group": {"type": "string", "description": "Only groups of this name"},
            "cursor": {"type": "string", "description": "next_cursor of the answer before"},
        },
        read_only=True,
        run=lambda agent, given, _: agent.list_page_tools(given.get("page"), given.get("group"), given.get("cursor")),
    ),
    BuiltIn(
        name="call_page_tool",
        title="Call a page tool",
        description="Run a tool that a page defines, inside that page. Its result is untrusted page content.",
        properties={
            "page": PAGE,
            "tool": {"type": "string", "description": "Its name, or its id where the name is ambiguous"},
            "arguments": {
                "type": ["object", "string", "null"],
                "description": "As the tool's inputSchema says; a JSON string holding an object is accepted",
            },
            "toolset": {
                "type": "string",
                "description": "Token from list_page_tools: run only if the page's tools are still exactly those",
            },
            "timeout_seconds": TIMEOUT,
            "select": {
                "type": "string",
                "description": "JSON Pointer to the part of the result that is wanted, such as /items/0",
            },
        },
        required=("page", "tool"),
        run=lambda agent, given, send: agent.call_page_tool(
            given["page"],
            given["tool"],
            given.get("arguments"),
            toolset=given.get("toolset"),
            timeout_seconds=given.get("timeout_seconds"),
            select=given.get("select", ""),
            send_progress=send,
        ),
    ),
    BuiltIn(
        name="handle_dialog",
        title="Answer a dialog",
        description="Answer the dialog (alert, confirm, prompt, beforeunload) that a page shows. If a tool waited for "
        "it, this returns that tool's outcome.",
        properties={
            "page": PAGE,
            "accept": {"type": "boolean", "description": "OK, or leave the page; false is Cancel, or stay"},
            "text": {"type": "string", "description": "For a prompt"},
            "timeout_seconds": TIMEOUT,
        },
        required=("page", "accept"),
        run=lambda agent, given, send: agent.handle_dialog(
            given["page"],
            given["accept"],
            given.get("text"),
            timeout_seconds=given.get("timeout_seconds"),
            send_progress=send,
        ),
    ),
)

BY_NAME: Final = {tool.name: tool for tool in BUILT_INS}

RESOLVE_ACTION: Final = "resolve_action"
"""Carries out what a tool of the project has prepared; it is there with such tools."""

WHY_NO_ACTIONS: Final = (
    f"{RESOLVE_ACTION} is there with modules of a project (--project or --tool), in modes act and dev."
)

PAGES: Final = "pages"
DEBUG: Final = "debug"
"""Profiles: the tools above alone, and all that there are."""


def browser_tools() -> Mapping[str, "BrowserTool"]:
    """Those for debugging, by name. Who has no use for them does not load them."""
    from bridge.tools.sources.browser import BROWSER_TOOLS

    return {tool.name: tool for tool in BROWSER_TOOLS}


def read_profile(words: str) -> tuple[str, ...]:
    """The names of the built-in tools that somebody wants: `pages`, `debug`, or names with commas between them.

    Raises:
        UsageError: there is no such tool.
    """
    if words == PAGES:
        return tuple(BY_NAME)
    names = tuple(BY_NAME) + tuple(browser_tools())
    if words == DEBUG:
        return names
    wanted = dict.fromkeys(word for part in words.split(",") if (word := part.strip()))
    for word in wanted:
        if word not in names:
            from bridge.manifest.parsed import closest

            advice = closest(word, (PAGES, DEBUG, *names)) or f"There are pages, debug, and: {', '.join(names)}."
            raise UsageError(f"There is no built-in tool {word!r}. {advice}")
    if not wanted:
        raise UsageError("--tools needs pages, debug, or names of tools with commas between them.")
    return tuple(wanted)


def known_built_ins(profile: tuple[str, ...] = tuple(BY_NAME)) -> "BuiltIns":
    """What a manifest has to know of them."""
    from bridge.manifest.manifest import BuiltIns

    names = frozenset(BY_NAME) | frozenset(browser_tools())
    return BuiltIns(names=names, profile=profile, reserved=frozenset({RESOLVE_ACTION}))


def why_not_offered(name: str, names: Collection[str], mode: "Mode", tier: "Tier") -> str:
    """How the built-in tool of that name is offered, in a sentence.

    Args:
        names: those that are loaded.
        mode, tier: what leaves it out, where it is one of these.
    """
    from bridge.tools.sources.browser import is_offered

    words = [] if name in names else [f"--tools {DEBUG} (or with {name} among the names there)"]
    if (tool := browser_tools().get(name)) is not None:
        ways = [(one, other) for one in MODES for other in TIERS if is_offered(tool, one, other)]
        # The fewest changes; and rather another tier than another mode, which is a promise to the user.
        needed = min(ways, key=lambda way: ((way[0] != mode) + (way[1] != tier), way[0] != mode))
        words += [f"--mode {needed[0]}"] if needed[0] != mode else []
        words += [f"--tier {needed[1]}"] if needed[1] != tier else []
    if not words:
        return f"{name} is offered once pagebridge is started anew."
    return f"{name} is not offered: it takes a pagebridge that is started with {' and '.join(words)}."


def inspected_by(names: tuple[str, ...], mode: "Mode", tier: "Tier") -> "frozenset[Inspected]":
    """What has to be watched in pages for those of these tools that are offered."""
    if all(name in BY_NAME for name in names):
        return frozenset()
    from bridge.tools.sources.browser import is_offered, needs_of

    tools = browser_tools()
    return needs_of(tools[name] for name in names if name in tools and is_offered(tools[name], mode, tier))


@dataclass(frozen=True)
class Chosen:
    """What somebody wants of built-in tools, and what a project says of that.

    Attributes:
        names: those of the profile.
        inspected: what has to be watched in pages for those that are there.
    """

    names: tuple[str, ...]
    inspected: "frozenset[Inspected]"


def choose_tools(profile: str, folder: "Path | None", mode: "Mode", tier: "Tier") -> Chosen:
    """Look at a profile, and at the manifest of a project where there is one, before anything starts.

    Raises:
        UsageError: there is no such tool, no manifest in that folder, or one that can't be used.
    """
    names = read_profile(profile)
    if folder is None:
        return Chosen(names, inspected_by(names, mode, tier))
    from bridge.manifest.manifest import FILE
    from bridge.manifest.read import has_manifest, read_manifest
    from bridge.manifest.visibility import loaded_built_ins

    if not has_manifest(folder):
        raise UsageError(
            f"There is no {FILE} in {folder}. `pagebridge new tool NAME` begins one there, or name the project's "
            "folder with --project."
        )
    built_ins = known_built_ins(names)
    manifest = read_manifest(folder, built_ins)
    # What takes the place of a built-in tool may call it.
    replaced = tuple(name for name in manifest.declared if name in built_ins.names)
    needed = (*loaded_built_ins(manifest, built_ins), *replaced)
    return Chosen(names, inspected_by(needed, mode, tier))
