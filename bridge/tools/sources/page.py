"""The tools that pages define: from the answer of a document to tools, and from a call to the document."""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any, Final

from bridge.errors import BrowserGone, CallTimedOut, CommandFailed, PageGone, PageThrew, PartNotFound, SchemaUnusable
from bridge.page.discovery import Discovery
from bridge.page.document import Document, DocumentEnded
from bridge.page.invocation import Ending
from bridge.page.run import Run, Why
from bridge.page.session import Page
from bridge.page.state import PageState
from bridge.tools.elements import ElementPlace
from bridge.tools.registry import Registry
from bridge.tools.schema import check_schema
from bridge.tools.sources.content import read_completed
from bridge.tools.sources.elements import find_elements, not_there, words_of
from bridge.tools.tool import SILENT, DocumentTools, Home, PageTools, Tool, ToolGroup, ToolId
from bridge.tools.turns import in_turns

_encode: Final = json.JSONEncoder(separators=(",", ":")).encode

logger = logging.getLogger(__name__)

NOT_THE_KITS: Final = (AttributeError, LookupError, TypeError, ValueError)
"""What reading an answer raises that the page has broken."""


class PageSource:
    """Keeps the registry true to the pages. A `PageObserver`."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._told: dict[str, dict[Document, DocumentTools]] = {}

    async def prepare(self, discovery: Discovery) -> None:
        try:
            texts = [_text(entry["schema"]) for group in discovery.answer["groups"] for entry in group["tools"]]
        except NOT_THE_KITS:
            return  # `discovered` says so
        await in_turns((len(text), partial(_try_schema, text)) for text in texts)

    def discovered(self, page: PageState, document: Document, discovery: Discovery) -> None:
        told = self._told.setdefault(page.handle, {})
        told[document] = read_discovery(Home(document, discovery.round), discovery)
        self._publish(page)

    def withdrawn(self, page: PageState, document: Document) -> None:
        told = self._told.get(page.handle, {})
        if told.pop(document, None) is not None:
            self._publish(page)

    def clear(self) -> None:
        """The browser is gone, with all its pages."""
        self._told.clear()
        self._registry.clear()

    def _publish(self, page: PageState) -> None:
        """What the page itself says comes first. An iframe may answer before it, and counts only beside it."""
        told = self._told[page.handle]
        documents = sorted(told.values(), key=lambda one: one.home.document.frame != "")
        if documents and documents[0].home.document.frame == "":
            self._registry.publish(PageTools(page.handle, tuple(documents)))
        else:
            self._registry.withdraw(page.handle)
        if not told:
            del self._told[page.handle]

    def start(
        self, tool: Tool, arguments: dict[str, Any], *, select: Sequence[str] = (), trusted: bool = False
    ) -> "PageCall":
        """Run one tool in its home; `arguments` were checked.

        Args:
            select: the path to the part of the result that is wanted.
            trusted: the tool may answer in MCP's form, see `read_completed`.

        Raises:
            DocumentEnded: its home is of the past; nothing ran.
            ArgumentsInvalid: they name an element, and it can't get any.
            PageUnresponsive, ConnectionLost: it can't be run.
        """
        text = _encode(arguments)
        elements = find_elements(tool, arguments, text)
        words = [words_of(place) for place in elements]
        home = tool.home
        run = Run(home.document, home.round, tool.id.group, tool.id.tool, text, select=select, elements=words)
        return PageCall(tool, run, elements, trusted=trusted)


class PageCall:
    """A tool that was sent to its page."""

    def __init__(self, tool: Tool, run: Run, elements: Sequence[ElementPlace], *, trusted: bool = False) -> None:
        self.tool = tool
        self.run = run
        self.trusted = trusted
        self._elements = elements

    async def wait(self) -> Ending:
        """Block until it has ended, and return its result.

        Raises:
            DocumentEnded: its home was of the past; nothing ran.
            ArgumentsInvalid: its arguments name an element that is not there; nothing ran.
            DialogOpen: a dialog waits for an answer, and the tool for the dialog.
            PageThrew: the tool threw, its promise was rejected, or somebody else ended its script by force.
            PartNotFound: its result has nothing where a part of it is wanted.
            PageGone: the page navigated, crashed or was closed while it ran.
            CommandFailed: it was sent, and its answer can't be read.
        """
        try:
            return await self._wait()
        except PageStopped:
            raise PageThrew(
                f"Tool {self.tool.name!r} ran, and its script was ended by force, though not for this call. {_LOOK}"
            ) from None

    async def _wait(self) -> Ending:
        """As `wait`. Raises PageStopped as well."""
        try:
            ending = await self.run.wait()
        except (PageGone, BrowserGone, CommandFailed) as error:
            raise error.after_dispatch() from None
        match ending.how:
            case "completed":
                return read_completed(self.tool, ending, trusted=self.trusted)
            case "failed":
                raise thrown(self.tool, ending)
            case "no such element" if (place := self._place(ending.text)) is not None:
                raise not_there(self.tool, place, ending.name)
            case "no such part":
                raise PartNotFound(f"Tool {self.tool.name!r} ran, and its result has {ending.text}.")
            case "stale":
                raise DocumentEnded
            case "abandoned" | "terminated" | "stuck" as how:
                raise PageStopped(how)
            case _:
                raise CommandFailed("Runtime.evaluate", "the page broke the shim").after_dispatch()

    def _place(self, number: str) -> ElementPlace | None:
        return dict(zip(map(str, count()), self._elements, strict=False)).get(number)

    async def stop(self, what: str, seconds: float) -> Ending:
        """Its time is over: end it, and return its result if it has one at the last moment.

        Args:
            what: names the call in a sentence.
            seconds: the time that it had.

        Raises:
            CallTimedOut: saying what became of it.
            BridgeError: as `wait`.
        """
        await self.run.stop(Why.TIME_OUT)
        try:
            return await self._wait()
        except PageThrew as error:
            late = CallTimedOut(what, seconds, f"It stopped when it was told to. {_LOOK}", dispatched=True)
            raise late.ending_with(error) from None
        except PageStopped as stopped:
            advice = _ADVICE[stopped.how]
        raise CallTimedOut(what, seconds, advice, dispatched=True)


class PageStopped(Exception):
    """A run was ended by us: `abandoned`, `terminated` or `stuck`."""

    def __init__(self, how: str) -> None:
        super().__init__(how)
        self.how = how


_BROKEN: Final = "The page's answer can't be read: something broke the shim in it. Reload the page."
_LOOK: Final = "It may have done part of its work: look at the page before you call again."
_ADVICE: Final = {
    "abandoned": "It was told to stop, and may be at it still: look at the page before you call again.",
    "terminated": f"Its script held the page and was ended by force; the page answers again. {_LOOK}",
    "stuck": "It may have done part of its work, and the page answers nothing any more and could not be freed: close "
    "it with close_page, and open its address anew.",
}


def thrown(tool: Tool, ending: Ending) -> PageThrew:
    """What a tool threw, as an error."""
    what = ending.text or "an empty string"
    if ending.kind == "error":
        what = f"{ending.name}: {ending.text}" if ending.text else ending.name
    carrying = f", with {ending.more}" if ending.more else ""
    ran = f"Tool {tool.name!r} ran and threw:"
    return PageThrew(ran, said=f"{what}{carrying}", origin=tool.origin, stack=ending.stack)


def no_tools(page: Page, document: Document, reason: str) -> PageTools:
    """What a page offers whose document is never asked."""
    return PageTools(page.handle, (DocumentTools(Home(document, 0), (), (f"No tools: {reason}.",)),))


def read_discovery(home: Home, discovery: Discovery) -> DocumentTools:
    """Turn the kit's answer into tools; what can't be used becomes a sentence in `problems`."""
    try:
        return _read_discovery(home, discovery)
    except NOT_THE_KITS as error:
        logger.debug("an answer of page %s is none of the kit's: %r", home.document.page, error)
        return DocumentTools(home, (), (_BROKEN,))


def _read_discovery(home: Home, discovery: Discovery) -> DocumentTools:
    groups: list[ToolGroup] = []
    problems: list[str] = []
    for number, given in enumerate(discovery.answer["groups"]):
        name = _text(given["name"])
        tools = tuple(_read_tool(home, number, name, entry) for entry in given["tools"])
        groups.append(ToolGroup(name, _text(given["description"]), tools, home.document.frame, home.origin))
        problems += _group_problems(number, given)
        problems += (f"Tool {tool.name!r}: {tool.schema_problem}" for tool in tools if tool.schema_problem)
    problems += (f"A listener for the event failed: {thrown}" for thrown in discovery.answer["thrown"])
    if discovery.answer.get("scriptless"):
        problems.append(
            "Scripts do not run in this document, so it offers no tools. Switch JavaScript on, or give its sandbox "
            "allow-scripts, and load it anew."
        )
    if refused := discovery.answer.get("refused"):
        problems.append(f"The tools of document.modelContext could not be read: {refused}")
    if not groups and not problems and not discovery.more:
        problems.append(SILENT)
    if surplus := discovery.answer["surplus"]:
        problems.append(f"{surplus} more answers came after the first {len(groups)} and were left out.")
    return DocumentTools(home, tuple(groups), tuple(problems), discovery.more)


def _try_schema(text: str) -> None:
    """What comes of it is known from then on."""
    with suppress(SchemaUnusable):
        check_schema(text)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no string")
    return value


def _read_tool(home: Home, group: int, group_name: str, entry: dict[str, Any]) -> Tool:
    text = _text(entry["schema"])
    schema = problem = None
    try:
        schema = check_schema(text)
    except SchemaUnusable as error:
        problem = str(error)
    return Tool(
        id=ToolId(home.document.frame, group, int(entry["index"])),
        name=_text(entry["name"]),
        description=_text(entry["description"]),
        schema_text=text,
        schema=schema,
        schema_problem=problem,
        group=group_name,
        home=home,
        kind="page" if "annotations" not in entry else "webmcp",
        annotations=entry.get("annotations", {}),
    )


def _group_problems(number: int, given: dict[str, Any]) -> Iterator[str]:
    label = f"Group {given['name']!r}" if given["name"] else f"Answer {number}"
    for fault in given["faults"]:
        where = label
        if fault["tool"] >= 0:
            where += f", tool {fault['tool']}"
            where += f" ({fault['name']!r})" if fault["name"] is not None else ""
        yield f"{where}: {fault['part']} must be {fault['expected']}, and is {fault['found']}."
    for entry in given["tools"]:
        if entry["cut"]:
            yield f"{label}, tool {entry['name']!r}: its description of {entry['cut']} characters was cut."
    if given["dropped"]:
        yield f"{label}: {given['dropped']} tools were left out, because the page offers too many."
