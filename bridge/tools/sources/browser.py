"""The tools for debugging that are built in, each a small value; and which of them an agent is offered."""

from collections.abc import Iterable
from typing import Any, Final

from bridge import limits
from bridge.page.console import LEVELS
from bridge.page.keys import MODIFIERS
from bridge.settings import TIERS, Inspected, Mode, Tier
from bridge.tools.browser import acting, looking, staging, watching
from bridge.tools.browser.value import BrowserTool

_PAGE: Final = {"type": "string", "description": "Handle from list_pages, such as p1"}
_UID: Final = {"type": "string", "description": "Of an element, from take_snapshot or a page tool's result"}
_VALUE: Final = {"type": "string", "maxLength": limits.FIELD_CHARS}
_PIXELS: Final = {"type": "integer", "minimum": 1, "maximum": limits.VIEWPORT_PIXELS}
_EARLIER: Final = {"type": "boolean", "description": "Also those of documents that the page showed before"}

_SEES: Final[frozenset[Inspected]] = frozenset({"frames"})
_CONSOLE: Final[frozenset[Inspected]] = frozenset({"frames", "console"})
_NETWORK: Final[frozenset[Inspected]] = frozenset({"frames", "network"})
_ACTS: Final[frozenset[Inspected]] = frozenset({"frames", "network", "input"})


def _with_page(**properties: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON Schema
    return {"page": _PAGE, **properties}


def _to_act(**properties: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON Schema
    return _with_page(**properties, include_screenshot={"type": "boolean", "description": "Of the page after that"})


BROWSER_TOOLS: Final = (
    BrowserTool(
        name="take_snapshot",
        title="Take a snapshot",
        description="What a page shows, as lines of its accessibility tree; each element has a uid to name it by. "
        "Passwords and one-time codes are masked.",
        properties=_with_page(
            uid={**_UID, "description": "Only this element and what is in it"},
            verbose={"type": "boolean", "description": "Also what has no meaning of its own"},
            line={"type": "integer", "minimum": 0, "description": "Where to begin, as the answer before says"},
        ),
        mode="ask",
        tier="compact",
        read_only=True,
        needs=_SEES,
        execute=looking.take_snapshot,
    ),
    BrowserTool(
        name="take_screenshot",
        title="Take a screenshot",
        description="A picture of what a page shows, of all of it, or of one element. Brings the page to the front.",
        properties=_with_page(
            uid={**_UID, "description": "Only this element"},
            full_page={"type": "boolean"},
            format={"enum": ["png", "jpeg", "webp"], "description": "png without it"},
            quality={"type": "integer", "minimum": 0, "maximum": 100, "description": "Of jpeg and webp"},
            to_file={"type": "boolean", "description": "Not scaled down, into a file whose path is told"},
        ),
        mode="ask",
        tier="mid",
        read_only=True,
        needs=_SEES,
        execute=looking.take_screenshot,
    ),
    BrowserTool(
        name="wait_for",
        title="Wait for something",
        description="Wait until a page says a text, shows what a selector matches, or a page tool gives a result.",
        properties=_with_page(
            text={
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "minItems": 1,
                "maxItems": 20,
                "description": "Any of these",
            },
            selector={"type": "string", "minLength": 1, "maxLength": 2000, "description": "CSS"},
            tool={"type": "string", "description": "Name of a page tool; it is called again and again"},
            arguments={"type": "object", "description": "For that tool"},
            schema={"type": ["object", "boolean"], "description": "JSON Schema that its result has to fit"},
            seconds={
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": limits.CALL_SECONDS_MAX,
                "description": f"{looking.WAIT_SECONDS:g} without it",
            },
        ),
        mode="act",
        tier="compact",
        needs=_SEES,
        waits=("seconds", looking.WAIT_SECONDS),
        execute=looking.wait_for,
    ),
    BrowserTool(
        name="click",
        title="Click",
        description="Click an element with the mouse. The answer tells what that has started, such as a navigation.",
        properties=_to_act(
            uid=_UID,
            double={"type": "boolean"},
            button={"enum": ["left", "middle", "right"]},
            modifiers={"type": "array", "items": {"enum": list(MODIFIERS)}, "description": "Keys that are held"},
        ),
        required=("page", "uid"),
        tier="compact",
        needs=_ACTS,
        execute=acting.click,
    ),
    BrowserTool(
        name="hover",
        title="Point at an element",
        description="Move the mouse onto an element.",
        properties=_to_act(uid=_UID),
        required=("page", "uid"),
        needs=_ACTS,
        execute=acting.hover,
    ),
    BrowserTool(
        name="fill",
        title="Fill a field",
        description="Have a field hold a text in place of what it held; a checkbox true or false; a list of options "
        "one of them. The answer has a value where the page made another of it.",
        properties=_to_act(uid=_UID, value=_VALUE),
        required=("page", "uid", "value"),
        tier="compact",
        needs=_ACTS,
        execute=acting.fill,
    ),
    BrowserTool(
        name="fill_form",
        title="Fill a form",
        description="Fill several fields, each as fill does.",
        properties=_to_act(
            fields={
                "type": "array",
                "minItems": 1,
                "maxItems": limits.FORM_FIELDS,
                "items": {
                    "type": "object",
                    "properties": {"uid": {"type": "string"}, "value": _VALUE},
                    "required": ["uid", "value"],
                    "additionalProperties": False,
                },
            }
        ),
        required=("page", "fields"),
        needs=_ACTS,
        execute=acting.fill_form,
    ),
    BrowserTool(
        name="press_key",
        title="Press a key",
        description="Press a key or a combination, such as Enter, a, ArrowDown or Control+Shift+K.",
        properties=_to_act(
            key={"type": "string", "minLength": 1, "maxLength": 60},
            uid={**_UID, "description": "The element that gets it; without it, the one that has the focus"},
            times={"type": "integer", "minimum": 1, "maximum": 100},
        ),
        required=("page", "key"),
        tier="compact",
        needs=_ACTS,
        execute=acting.press_key,
    ),
    BrowserTool(
        name="select_option",
        title="Choose options",
        description="Choose options of a list (select) by value or label, and no others.",
        properties=_to_act(
            uid=_UID, options={"type": "array", "items": {"type": "string"}, "maxItems": limits.FORM_FIELDS}
        ),
        required=("page", "uid", "options"),
        needs=_ACTS,
        execute=acting.select_option,
    ),
    BrowserTool(
        name="upload_file",
        title="Upload files",
        description="Give files to an input for files, or to the one that a click on the element opens.",
        properties=_to_act(
            uid=_UID,
            files={
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": limits.UPLOAD_FILES,
                "description": "Paths",
            },
        ),
        required=("page", "uid", "files"),
        needs=_ACTS,
        execute=acting.upload_file,
    ),
    BrowserTool(
        name="drag",
        title="Drag an element",
        description="Drag an element onto another one.",
        properties=_to_act(
            **{"from": {"type": "string", "description": "uid"}, "to": {"type": "string", "description": "uid"}}
        ),
        required=("page", "from", "to"),
        needs=_ACTS,
        execute=acting.drag,
    ),
    BrowserTool(
        name="evaluate_script",
        title="Run a script",
        description="Run a JavaScript expression in a page, and return its value; a function is called with the "
        "elements of uids. In it, await callTool(name, args) calls a tool of the page.",
        properties=_with_page(
            expression={"type": "string", "minLength": 1, "maxLength": limits.SCRIPT_CHARS},
            uids={"type": "array", "items": {"type": "string"}, "maxItems": 20},
        ),
        required=("page", "expression"),
        mode="dev",
        needs=_SEES,
        execute=looking.evaluate_script,
    ),
    BrowserTool(
        name="list_console_messages",
        title="List console messages",
        description="What the console of a page has said, and errors that nobody caught.",
        properties=_with_page(
            levels={"type": "array", "items": {"enum": list(LEVELS)}, "description": "Only these"},
            after={"type": "integer", "minimum": 0, "description": "Only what came after the message of this number"},
            earlier_documents=_EARLIER,
        ),
        mode="dev",
        read_only=True,
        needs=_CONSOLE,
        execute=watching.list_console_messages,
    ),
    BrowserTool(
        name="list_network_requests",
        title="List network requests",
        description="Requests that a page has made: id, method, URL, type, status, size, time.",
        properties=_with_page(
            types={"type": "array", "items": {"type": "string"}, "description": "Such as fetch, xhr, script, document"},
            url={"type": "string", "description": "Only with this in their address"},
            failed={"type": "boolean", "description": "Only those that failed"},
            after={"type": "string", "description": "Only those after this id"},
            earlier_documents=_EARLIER,
        ),
        mode="dev",
        read_only=True,
        needs=_NETWORK,
        execute=watching.list_network_requests,
    ),
    BrowserTool(
        name="get_network_request",
        title="Show a network request",
        description="One request with its headers and bodies. What logs a user in is masked in headers.",
        properties=_with_page(request={"type": "string", "description": "id from list_network_requests"}),
        required=("page", "request"),
        mode="dev",
        read_only=True,
        needs=_NETWORK,
        execute=watching.get_network_request,
    ),
    BrowserTool(
        name="emulate",
        title="Emulate a device",
        description="Set what a page takes its screen, its user's wishes, its network and its machine for.",
        properties=_with_page(
            viewport={
                "type": ["object", "null"],
                "description": "null for the real one",
                "properties": {
                    "width": _PIXELS,
                    "height": _PIXELS,
                    "density": {"type": "number", "minimum": 0, "maximum": 5},
                    "mobile": {"type": "boolean"},
                    "touch": {"type": "boolean"},
                },
                "required": ["width", "height"],
                "additionalProperties": False,
            },
            color_scheme={"enum": ["light", "dark", "auto"]},
            offline={"type": "boolean"},
            cpu_rate={"type": "number", "minimum": 1, "maximum": 20, "description": "So many times slower"},
        ),
        tier="full",
        is_extra=True,
        page_derived=False,
        needs=_NETWORK,
        execute=staging.emulate,
    ),
    BrowserTool(
        name="resize_page",
        title="Resize a page",
        description="Give the window of a page another size, and bring the page to the front.",
        properties=_with_page(width=_PIXELS, height=_PIXELS),
        required=("page", "width", "height"),
        tier="full",
        is_extra=True,
        page_derived=False,
        execute=staging.resize_page,
    ),
)


def is_offered(tool: BrowserTool, mode: Mode, tier: Tier) -> bool:
    """Whether a tool is offered in that mode and tier.

    `ask` has what changes nothing, whatever the tier. `act` has that and more, as far as the tier goes. `dev` has what
    `act` has, and what looks into a page; a model that can't take more than the compact tier is not for that, and gets
    none of these tools.
    """
    is_in_tier = TIERS.index(tool.tier) <= TIERS.index(tier)
    match mode:
        case "ask":
            return tool.mode == "ask"
        case "act":
            return tool.mode != "dev" and is_in_tier
        case "dev":
            return tier != "compact" and (tool.mode == "dev" or tool.is_extra or is_in_tier)


def needs_of(tools: Iterable[BrowserTool]) -> frozenset[Inspected]:
    """What has to be watched in pages for these tools."""
    return frozenset[Inspected]().union(*(tool.needs for tool in tools))
