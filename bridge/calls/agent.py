"""One connected agent: what it was shown, and what it may ask for."""

from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final

import trio

from bridge import limits
from bridge.calls.answers import Answer, answer_error, answer_json, beside, with_origin
from bridge.calls.bridge import Bridge, moved_since, wait_loaded
from bridge.calls.direct import DirectTools
from bridge.calls.gate import Gate
from bridge.calls.listing import Offer, cut_listing, name_tools, problems_of
from bridge.calls.log import CallLog, recorded
from bridge.calls.pipeline import (
    Attempt,
    Call,
    answer_within,
    await_call,
    present_tools,
    run_call,
    run_within,
    shape,
)
from bridge.calls.progress import Progress, Send, open_progress
from bridge.errors import (
    ArgumentsInvalid,
    BridgeError,
    BrowserGone,
    CallRejected,
    DialogOpen,
    NavigatedDuringCall,
    PageGone,
    PageUnresponsive,
    ToolNotFound,
    UsageError,
)
from bridge.origins import address
from bridge.page.invocation import Ending
from bridge.page.pages import Pages
from bridge.page.place import Place
from bridge.page.session import Page
from bridge.page.values import read_pointer
from bridge.settings import AgentSettings
from bridge.tools.export import export_schema
from bridge.tools.naming import Owned
from bridge.tools.tool import PageTools
from bridge.tools.turns import in_turns

ACTIONS: Final = ("back", "forward", "reload")

Rewrite = Callable[[Call, Ending, str], Awaitable[Ending]]


class Agent:
    """What one agent may do. It remembers what it was told of each page: a call is held against that.

    Attributes:
        log: where each call leaves a line.
        gate: what a person has said of what may run.
        direct: the page tools that are MCP tools of their own, or None where there are none by the settings.
        rewrite: what else becomes of how a page tool's call ended, where something does.
    """

    def __init__(self, bridge: Bridge, settings: AgentSettings | None = None, log: CallLog | None = None) -> None:
        self.settings = settings or AgentSettings()
        self.bridge = bridge
        self.log = log
        self.rewrite: Rewrite | None = None
        self._shown: dict[str, PageTools] = {}
        self.gate = Gate(bridge.settings, self.settings)
        self.direct = None
        if self.settings.direct:
            self.direct = DirectTools(bridge.registry, self.settings, bridge.wait_settled, self.gate)

    async def list_pages(self) -> Answer:
        """Every open page, with what is known of its tools."""

        async def operation(pages: Pages, _: Attempt) -> Answer:
            problems = [f"The browser did not answer within {limits.LIST_SECONDS:g} s: this is what was known before."]
            with trio.move_on_after(limits.LIST_SECONDS):
                await pages.refresh()
                problems.clear()
                await pages.wait_set_up()
                with trio.move_on_after(limits.ASKED_SECONDS):
                    for page in pages:
                        with suppress(PageGone):
                            await page.wait_asked()
            listed = [self._describe(page) for page in pages]
            return answer_json({"pages": listed, **({"problems": problems} if problems else {})})

        return await self._answer(limits.CALL_SECONDS, "list_pages", operation)

    async def open_page(self, url: str) -> Answer:
        """Open a page, and say which tools it has."""

        async def operation(pages: Pages, attempt: Attempt) -> Answer:
            address = self._address(url)
            attempt.begin("It was closed again; its server may have been asked for it.")
            page = await pages.open(address)
            attempt.begin("It is open: list_pages shows it.")
            return answer_json(await self._arrive(pages, page))

        return await self._answer(limits.NAVIGATION_SECONDS, f"Opening {url}", operation)

    async def navigate_page(self, page: str, url: str | None, action: str | None) -> Answer:
        """Take a page somewhere, and say which tools it has there."""

        async def operation(pages: Pages, attempt: Attempt) -> Answer:
            found = pages.find(page)
            before = found.place
            match url, action:
                case str(), None:
                    go = partial(found.navigate, self._address(url))
                case None, "reload":
                    go = found.reload
                case None, "back":
                    go = partial(found.go_history, -1)
                case None, "forward":
                    go = partial(found.go_history, 1)
                case _:
                    raise UsageError(f"Give either url or action (one of {', '.join(ACTIONS)}), and not both.")
            attempt.begin("The page may still get there: list_pages shows where it is.")
            await go()
            arrived = await self._arrive(pages, found)
            moved = before.navigated_to(found.place)
            return answer_json({**arrived, **({"navigated": moved} if moved else {})})

        return await self._answer(limits.NAVIGATION_SECONDS, f"Navigating page {page}", operation, page)

    async def close_page(self, page: str) -> Answer:
        """Close a page, and say which are left."""

        async def operation(pages: Pages, _: Attempt) -> Answer:
            await pages.close(pages.find(page))
            self._shown.pop(page, None)
            return answer_json({"closed": page, "pages": [self._describe(left) for left in pages]})

        return await self._answer(limits.CALL_SECONDS, f"Closing page {page}", operation, page)

    async def list_page_tools(self, page: str | None, group: str | None, cursor: str | None) -> Answer:
        """The tools of one page, or of every page, asked for now, with their schemas."""

        async def operation(pages: Pages, _: Attempt) -> Answer:
            offers = [await self._offer(pages.find(page))] if page is not None else await self._offers(list(pages))
            return answer_json(await self._list(offers, group, cursor))

        return await self._answer(limits.CALL_SECONDS, "list_page_tools", operation, page)

    async def call_page_tool(
        self,
        page: str,
        tool: str,
        arguments: object,
        *,
        toolset: str | None = None,
        timeout_seconds: float | None = None,
        select: str = "",
        shown: PageTools | None = None,
        send_progress: Send | None = None,
    ) -> Answer:
        """Run one tool of a page.

        Args:
            select: a JSON Pointer to the part of its result that is wanted.
            shown: what the agent knows the tool from; what it was told last of the page if None.
            send_progress: how to tell of its progress, where that is wanted.
        """

        async def operation(pages: Pages, attempt: Attempt) -> Answer:
            nonlocal place
            found = pages.find(page)
            place = found.place
            record.attempt, record.origin = attempt, found.realm.origin if found.realm is not None else None
            call = self._call(found, tool, arguments, toolset=toolset, select=select, shown=shown)
            try:
                async with open_progress(send_progress) if send_progress else nullcontext() as progress:
                    ending = await self._run(call, attempt, progress)
                assert attempt.tool is not None
                return shape(self.bridge, ending, attempt.tool.origin)
            except CallRejected as error:
                return await self._reject(found, error)

        place: Place | None = None
        with recorded(self.log, page, tool, arguments) as record:
            answer = await self._answer(_seconds(timeout_seconds), f"Tool {tool!r} of page {page}", operation)
            record.answer = await self._with_moves(page, place, with_origin(answer, record.whose))
            return record.answer

    async def run_page_tool(
        self,
        page: str,
        tool: str,
        arguments: object = None,
        *,
        toolset: str | None = None,
        timeout_seconds: float | None = None,
        select: str = "",
    ) -> Ending:
        """Run one tool of a page for a tool of ours, and return how it ended.

        Raises:
            BridgeError: as a call of the agent's ends.
        """

        async def operation(attempt: Attempt) -> Ending:
            pages = await self.bridge.wait_pages()
            attempt.browser_is_up = True
            found = pages.find(page)
            record.attempt, record.origin = attempt, found.realm.origin if found.realm is not None else None
            return await self._run(self._call(found, tool, arguments, toolset=toolset, select=select), attempt, None)

        with recorded(self.log, page, tool, arguments) as record:
            ending = await run_within(_seconds(timeout_seconds), f"Tool {tool!r} of page {page}", operation)
            record.answer = Answer("")
        return ending

    def _call(
        self,
        page: Page,
        tool: str,
        arguments: object,
        *,
        toolset: str | None = None,
        select: str = "",
        shown: PageTools | None = None,
    ) -> Call:
        return Call(
            page=page,
            wanted=tool,
            arguments=arguments,
            toolset=toolset,
            select=_read_select(select),
            shown=shown or self._shown.get(page.handle),
            gate=self.gate,
            trusted_origins=self.settings.trusted_origins,
        )

    async def _run(self, call: Call, attempt: Attempt, progress: Progress | None) -> Ending:
        ending = await run_call(self.bridge, call, attempt, progress)
        assert attempt.tool is not None
        return ending if self.rewrite is None else await self.rewrite(call, ending, attempt.tool.origin)

    async def handle_dialog(
        self,
        page: str,
        accept: bool,  # as MCP's own arguments
        text: str | None,
        *,
        timeout_seconds: float | None = None,
        send_progress: Send | None = None,
    ) -> Answer:
        """Answer the dialog that a page shows; the answer is the outcome of the tool that waited for it, if one did.

        Args:
            text: for a prompt; what that suggests if None.
        """

        async def operation(pages: Pages, attempt: Attempt) -> Answer:
            nonlocal place
            found = pages.find(page)
            place = found.place
            running = self.bridge.take_held(found)
            leaves = found.dialog is not None and found.dialog.kind == "beforeunload"
            if found.dialog is not None or running is None:
                try:
                    await found.answer_dialog(accept=accept, text=text)
                except BaseException:
                    if running is not None:
                        self.bridge.hold(found, running)
                    raise
            if running is None:
                if leaves and accept:
                    await moved_since(found, place, has_left=True)
                return answer_json(self._describe(found))
            attempt.what = f"Tool {running.tool.name!r} of page {page}"
            with recorded(self.log, page, running.tool.name, None) as record:
                record.attempt = attempt
                async with open_progress(send_progress) if send_progress else nullcontext() as progress:
                    ending = await await_call(self.bridge, found, running, attempt, progress)
                if self.rewrite is not None:
                    ending = await self.rewrite(self._call(found, running.tool.name, None), ending, running.tool.origin)
                record.answer = replace(shape(self.bridge, ending, running.tool.origin), cause=ending)
                return record.answer

        place: Place | None = None
        answer = await self._answer(_seconds(timeout_seconds), f"The dialog of page {page}", operation, page)
        return await self._with_moves(page, place, answer)

    async def call_directly(self, name: str, arguments: object, *, send_progress: Send | None = None) -> Answer:
        """Run a page tool under its name as a tool of its own. What counts is what a list of those showed for it."""
        found = self.direct.find(name) if self.direct is not None else None
        if found is None:
            error = ToolNotFound(
                f"No tool was listed as {name!r}. List the tools again; list_page_tools and call_page_tool reach "
                "every tool of a page."
            )
            return self.refuse(error, None, name, arguments)
        page = found.tools.page
        return await self.call_page_tool(
            page, _wanted(found), arguments, shown=found.tools, send_progress=send_progress
        )

    def refuse(self, error: CallRejected, page: str | None, tool: str | None, arguments: object) -> Answer:
        """The answer to a call of a page tool whose words lead nowhere."""
        with recorded(self.log, page, tool, arguments) as record:
            record.answer = answer_error(error)
            return record.answer

    async def _answer(
        self,
        seconds: float,
        what: str,
        operation: Callable[[Pages, Attempt], Awaitable[Answer]],
        page: str | None = None,
    ) -> Answer:
        """Args:
        page: the one whose words an error may quote.
        """

        async def with_pages(attempt: Attempt) -> Answer:
            pages = await self.bridge.wait_pages()
            attempt.browser_is_up = True
            return await operation(pages, attempt)

        answer = await answer_within(seconds, what, with_pages)
        found = self.bridge.find_page(page) if page is not None else None
        return with_origin(answer, found.realm.origin if found is not None and found.realm is not None else None)

    async def _with_moves(self, handle: str, before: Place | None, answer: Answer) -> Answer:
        """The answer of a call, with where its page has gone meanwhile, and the dialogs that were answered for it."""
        page = self.bridge.find_page(handle)
        if page is None:
            return answer
        moved = (
            await moved_since(page, before, has_left=answer.code == NavigatedDuringCall.code)
            if before is not None
            else None
        )
        dialogs = page.take_answered_dialogs()
        facts = {**({"dialogs": dialogs} if dialogs else {}), **({"navigated": moved} if moved else {})}
        return beside(answer, facts) if facts else answer

    def _describe(self, page: Page) -> dict[str, Any]:
        """One page in a line of a list; asks nothing of the page itself."""
        tools = self.bridge.registry.find(page.handle)
        return {
            "page": page.handle,
            "title": page.title,
            "url": page.url,
            "origin": page.realm.origin if page.realm is not None else None,
            "state": page.state,
            "tools": len(list(tools)) if tools else 0,
            "groups": name_tools(tools, limits.NAMES_PER_GROUP) if tools else [],
            **({"dialog": page.dialog.told()} if page.dialog is not None else {}),
        }

    async def _arrive(self, pages: Pages, page: Page) -> dict[str, Any]:
        """Describe a page that the agent has just brought somewhere, with the names of its tools."""
        await wait_loaded(page)
        try:
            tools = await present_tools(self.bridge, page, fresh=False)
        except (DialogOpen, PageGone, PageUnresponsive) as error:
            return self._describe(page) | {"problems": [str(error)]}
        await page.wait_frames_asked()
        await pages.refresh()
        tools = self.bridge.registry.find(page.handle) or tools
        shown = self._shown.get(page.handle)
        if shown is None or shown.origin != tools.origin:
            self._shown[page.handle] = tools
        dialogs = page.take_answered_dialogs()
        return {
            **self._describe(page),
            "groups": name_tools(tools),
            "problems": list(problems_of(tools)),
            **({"dialogs": dialogs} if dialogs else {}),
        }

    async def _offers(self, pages: list[Page]) -> list[Offer]:
        """Ask several pages anew, some at once. A bad one costs only itself, and holds up no other."""
        offers: dict[Page, Offer] = {}
        limiter = trio.CapacityLimiter(limits.PAGES_ASKED)
        gone: list[BrowserGone] = []

        async def ask(page: Page) -> None:
            async with limiter:
                try:
                    offers[page] = await self._offer(page)
                except BrowserGone as error:
                    gone.append(error)
                except BridgeError as error:
                    offers[page] = Offer(page.handle, page.url, None, (str(error),))

        async with trio.open_nursery() as nursery:
            for page in pages:
                nursery.start_soon(ask, page)
        if gone:
            raise gone[0]
        return [offers[page] for page in pages]

    async def _offer(self, page: Page) -> Offer:
        """Ask one page anew, and remember that the agent was told."""
        tools = await present_tools(self.bridge, page, fresh=True)
        self._shown[page.handle] = tools
        notes = ()
        if self.direct is not None:
            self.direct.tell(tools)
            notes = self.direct.notes(tools)
        return Offer(page.handle, page.url, tools, (*problems_of(tools), *notes), self.gate.refused(tools))

    async def _reject(self, page: Page, error: CallRejected) -> Answer:
        """A rejection, with what the page offers now where that is why."""
        if error.code not in ("tool_stale", "origin_changed", "tool_not_found"):
            return answer_error(error)
        try:
            offer = await self._offer(page)
        except BridgeError:
            # The page went away meanwhile; the rejection stands without a listing.
            return answer_error(error)
        listing = answer_json(await self._list([offer], None, None))
        rejection = answer_error(error, listing=listing.structured)
        return Answer(f"{rejection.text}\n{listing.text}", rejection.structured, is_error=True)

    async def _list(self, offers: list[Offer], group: str | None, cursor: str | None) -> dict[str, Any]:
        """One part of a listing; large schemas are exported beforehand."""
        profile = self.settings.schema_profile
        schemas = [tool.schema for offer in offers for tool in offer.tools or () if tool.schema is not None]
        large = [schema for schema in schemas if len(schema.text) > limits.SCHEMA_CHARS_AT_ONCE // 4]
        await in_turns((len(schema.text), partial(export_schema, schema, profile)) for schema in large)
        return cut_listing(offers, group, cursor, profile)

    def _address(self, url: str) -> str:
        """Where an agent may go by this address.

        Raises:
            UsageError: it is of a kind that is not opened.
            NotAllowed: it is that of a file in none of the agent's folders.
        """
        settings = self.bridge.settings
        there = address(url, allow_file=settings.allow_file)
        if there[:5].lower() != "file:":
            return there
        return settings.folders.also(self.bridge.spill.folder).find_page(there)


def _wanted(found: Owned) -> str:
    """Its name, which reads better in an answer, where that means this tool alone; else its id."""
    name = found.tool.name
    alike = [tool for tool in found.tools if name in (tool.name, str(tool.id))]
    return name if len(alike) == 1 else str(found.tool.id)


def _seconds(wanted: float | None) -> float:
    return min(wanted or limits.CALL_SECONDS, limits.CALL_SECONDS_MAX)


def _read_select(pointer: str) -> tuple[str, ...]:
    try:
        return read_pointer(pointer)
    except ValueError as error:
        raise ArgumentsInvalid(f"Cannot select that part: {error}. Mend it and call again; nothing ran.") from error
