"""The tools that one agent has, whatever their source but pages, and the one way in which they run:

    name → is it there, and seen? → arguments → context → run in time → hooks → masks → frame → notes → log

What is not offered can't be called either, by the agent or by a tool that it calls. The tools for pages themselves
(`bridge.calls.built_ins`) answer in their own way, through the pipeline of page tools; all else of this holds for them.
"""

import json
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

import trio

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.answers import Answer, answer_error, answer_own, answer_result, beside, with_origin
from bridge.calls.arguments import check_arguments, read_arguments
from bridge.calls.binary import read_value
from bridge.calls.bridge import moved_since
from bridge.calls.built_ins import (
    BY_NAME,
    RESOLVE_ACTION,
    WHY_NO_ACTIONS,
    BuiltIn,
    browser_tools,
    why_not_offered,
)
from bridge.calls.context import CallContext, Json, NoUi, PatientUi, Ui
from bridge.calls.log import CallLog, Record, recorded
from bridge.calls.loops import Loops
from bridge.calls.masks import Masks
from bridge.calls.pipeline import Attempt, Call, run_within
from bridge.calls.progress import Send, open_progress
from bridge.calls.results import shorten
from bridge.errors import (
    ArgumentsInvalid,
    BridgeError,
    CallFailed,
    CallRejected,
    ModuleThrew,
    NavigatedDuringCall,
    NotAllowed,
    PageThrew,
    ToolNotFound,
)
from bridge.page.invocation import Ending
from bridge.page.place import Place
from bridge.page.session import Page
from bridge.settings import SchemaProfile
from bridge.tools.naming import PREFIX, Owned
from bridge.tools.own import Content, OwnTool, PastCall
from bridge.tools.schema import CheckedSchema, check_schema
from bridge.tools.sources.content import write_blocks
from bridge.wire.nursery import open_background

if TYPE_CHECKING:
    from bridge.calls.project import Project
    from bridge.tools.skills.skill import Skill

logger = logging.getLogger(__name__)

AnyTool = BuiltIn | OwnTool

BUILT_IN: Final = "builtin:"
"""Before the name of a tool: the one that is built in, also where the project has another one of that name."""

CALL_PAGE_TOOL: Final = "call_page_tool"

AGAIN: Final = frozenset({"busy", "browser_starting", "dialog_open"})
"""Codes of answers that ask for the same call again."""

NO_UI: Final = NoUi()


@dataclass(frozen=True)
class Offering:
    """What a list of tools has in it.

    Attributes:
        titles: those that are not in English.
        direct: page tools that are tools of their own.
    """

    tools: tuple[AnyTool, ...]
    schema_profile: SchemaProfile = "standard"
    titles: Mapping[str, str] = field(default_factory=dict[str, str])
    direct: Mapping[str, Owned] = field(default_factory=dict[str, Owned])


@runtime_checkable
class Rendered(Protocol):
    """A tool that may have a say in how its calls are shown to people. None where it has not."""

    @property
    def renders(self) -> bool: ...
    async def render_call(self, arguments: dict[str, Any], /) -> str | None: ...
    async def render_result(self, result: Json, /) -> str | None: ...


@lru_cache(maxsize=256)
def checked(tool: AnyTool) -> CheckedSchema:
    """The schema of a tool's arguments, compiled."""
    return check_schema(json.dumps(tool.parameters))


def prepare() -> None:
    """Compile the schemas of the tools for pages, and load what that takes, before the first call needs it."""
    for tool in BY_NAME.values():
        checked(tool)


class Toolbox:
    """What one agent has. Made by `open_toolbox`."""

    def __init__(self, agent: Agent, titles: Mapping[str, str] | None = None) -> None:
        self.agent = agent
        self.project: Project | None = None
        self.session_id = token_hex(8)
        self.bridge = agent.bridge
        self._inner = Agent(agent.bridge, replace(agent.settings, direct=False), agent.log)
        """Who calls for tools of ours: what these are shown is not shown to the agent, and no hook rewrites it."""
        self._settings = agent.settings
        self._titles = titles or {}
        self._loops = Loops()
        self._calls: deque[PastCall] = deque(maxlen=limits.MODULE_CALLS_SEEN)
        names = self._settings.tools or tuple(BY_NAME)
        self._built_ins = {name: tool for name in names if (tool := self._find_built_in(name)) is not None}
        self._told = 0
        """The version of the project that the client was told of last."""
        self._nursery: trio.Nursery | None = None
        """Where lines of the log are made that a module has a say in."""

    def lend(self, nursery: trio.Nursery) -> None:
        """Where what nobody waits for may run, for as long as there are calls."""
        self._nursery = nursery

    # what there is

    def _find_built_in(self, name: str) -> AnyTool | None:
        """The built-in tool of that name, where this mode and this tier have it."""
        if name in BY_NAME:
            return BY_NAME[name]
        from bridge.tools.sources.browser import is_offered

        tool = browser_tools().get(name)
        if tool is None or not tool.needs <= self.bridge.settings.inspected:
            return None
        return tool if is_offered(tool, self._settings.mode, self._settings.tier) else None

    def _offered(self) -> Mapping[str, AnyTool]:
        """What the agent has now: what is hidden is not among it."""
        if self.project is None:
            return self._built_ins
        return self.project.offer(self._built_ins, self._find_built_in, self._settings.mode)

    def has(self, name: str) -> bool:
        """Whether the client can mean a tool of ours, or of a page, by this name."""
        return name in self._offered() or (self._has_page_tools and name.startswith(PREFIX))

    @property
    def _has_page_tools(self) -> bool:
        """Whether page tools are tools of their own for this agent, as they are not where it can't call any."""
        return self.agent.direct is not None and CALL_PAGE_TOOL in self._offered()

    def asks(self, name: str) -> str | None:
        """Where the tool of that name comes from, if its calls may ask the person."""
        tool = self._offered().get(name) if self.project is not None else None
        return tool.source if tool is not None and tool.kind == "project" else None

    @property
    def can_change(self) -> bool:
        """Whether there may be other tools at another time."""
        return self.project is not None or self.agent.direct is not None

    async def wait_project(self) -> None:
        """Block until the project has other tools."""
        if self.project is None:
            await trio.sleep_forever()
        else:
            self._told = await self.project.wait_change(self._told)

    async def skills(self) -> Sequence["Skill"]:
        """The skills of the project, as they are now."""
        await self.refresh()
        return self.project.skills if self.project is not None else ()

    async def refresh(self, name: str | None = None) -> None:
        """Take in what has changed in the project since the last call.

        Args:
            name: the tool that is to be called, where that is why.
        """
        if self.project is not None:
            may_wait = name is None or not self._is_of_pages(name) or self.project.replaces(name)
            await self.project.refresh(name, wait=may_wait)

    def _is_of_pages(self, name: str) -> bool:
        """Whether it has nothing to do with modules, and does not wait for them."""
        return name in self._built_ins or name in BY_NAME or name.startswith(PREFIX)

    async def offer(self) -> Offering:
        """What a list of tools has in it; from then on page tools are known by its names."""
        await self.refresh()
        offering = Offering(tuple(self._offered().values()), self._settings.schema_profile, self._titles)
        if self.agent.direct is None or not self._has_page_tools:
            return offering
        return replace(offering, direct=self.agent.direct.show())

    async def find(self, name: str) -> AnyTool:
        """The tool of that name.

        Raises:
            ToolNotFound: there is none, or it is not offered.
        """
        await self.refresh()
        if (tool := self._offered().get(name)) is None:
            raise ToolNotFound(self.why_missing(name))
        return tool

    def why_missing(self, name: str) -> str:
        """Why there is no tool of that name, in sentences that say what to do."""
        if self.project is not None:
            return self.project.why_missing(name)
        if name == RESOLVE_ACTION:
            return WHY_NO_ACTIONS
        if name in BY_NAME or name in browser_tools():
            names = self._settings.tools or tuple(BY_NAME)
            return why_not_offered(name, names, self._settings.mode, self._settings.tier)
        return (
            f"Unknown tool: {name}. There are {', '.join(self._offered())}; tools of a page are run with "
            "call_page_tool."
        )

    # how one runs

    async def run(self, name: str, arguments: dict[str, Any], send: Send | None = None, ui: Ui = NO_UI) -> Answer:
        """Run a tool that `has` says yes to, to its one answer.

        Args:
            send: how to tell of progress, where that is wanted.
            ui: how to ask the person, where that can be done.
        """
        if self.project is None:
            return await self._run(name, arguments, send, ui)
        await self.refresh(name)
        answer = await self._run(name, arguments, self._masking(send), ui)
        return self.project.masks().answer(answer)

    def masks(self) -> Masks:
        """What takes the project's secrets out of words that others are to see."""
        return NO_MASKS if self.project is None else self.project.masks()

    def _masking(self, send: Send | None) -> Send | None:
        """How to tell of progress, without secrets."""
        if send is None:
            return None

        async def send_masked(done: float, total: float | None, message: str | None) -> None:
            await send(done, total, None if message is None else self.masks().text(message))

        return send_masked

    async def _run(self, name: str, arguments: dict[str, Any], send: Send | None, ui: Ui) -> Answer:
        tool = self._offered().get(name)
        if tool is None and not (self._has_page_tools and name.startswith(PREFIX)):
            return answer_error(ToolNotFound(self.why_missing(name)))
        read_only = tool is not None and tool.read_only
        circle = self._loops.foresee(name, arguments, read_only) if self._settings.loop_stop else None
        start, outcome = trio.current_time(), "unknown"
        try:
            if circle is not None:
                error = NotAllowed(
                    f"{circle} Nothing ran, since --loop-stop wants no circles: call something else first."
                )
                answer = self._refuse(tool, name, arguments, error)
            elif tool is None:
                answer = await self.agent.call_directly(name, arguments, send_progress=send)
            elif isinstance(tool, BuiltIn):
                answer = await self._run_built_in(tool, arguments, send)
            else:
                answer = await self._run_own(tool, arguments, send, ui)
            outcome = answer.outcome
        finally:
            seconds = round(trio.current_time() - start, 3)
            self._calls.append(PastCall(CALL_PAGE_TOOL if tool is None else name, outcome, seconds))
        if answer.code in AGAIN or circle is not None:
            return answer
        told = answer.structured or {}
        # What is told of a result is the same each time, where its frame is not.
        text = answer.text if "result" not in told else str(told["result"])
        note = self._loops.note(name, arguments, read_only, outcome, text)
        return answer if note is None else replace(answer, notes=(*answer.notes, note))

    def _refuse(self, tool: AnyTool | None, name: str, arguments: dict[str, Any], error: CallRejected) -> Answer:
        """The answer to a call that does not run, and its line in the log where such a call has one."""
        if tool is None:
            return self.agent.refuse(error, None, name, arguments)
        if not isinstance(tool, BuiltIn):
            with recorded(self.agent.log, _page_of(arguments), name, arguments, source=tool.source) as record:
                record.answer = answer_error(error)
                return record.answer
        if tool.name == CALL_PAGE_TOOL:
            return self.agent.refuse(error, *_words_of_a_call(arguments))
        return answer_error(error)

    async def _run_built_in(self, tool: BuiltIn, arguments: dict[str, Any], send: Send | None) -> Answer:
        try:
            given = check_arguments(checked(tool), arguments, tool=tool.name)
        except ArgumentsInvalid as error:
            return self._refuse(tool, tool.name, arguments, error)
        page = given.get("page")
        if page is None or tool.name == CALL_PAGE_TOOL:  # which tells of moves itself
            return await tool.run(self.agent, given, send)
        before = self._places(page)
        answer = await tool.run(self.agent, given, send)
        told = answer.structured or answer.facts
        return answer if "navigated" in told else await self._with_moves(answer, before, page)

    async def _run_own(self, tool: OwnTool, arguments: dict[str, Any], send: Send | None, ui: Ui) -> Answer:
        page = _page_of(arguments)
        moving = page if tool.kind == "builtin" else None
        before: dict[Page, Place] = {}
        given: dict[str, Any] = {}
        value: object = None
        context = self.context(tool.name, ui)
        with recorded(self.agent.log, page, tool.name, arguments, source=tool.source) as record:
            try:
                given = _check_own(tool, arguments)
                async with open_progress(send) if send else nullcontext() as progress:
                    context.tell = progress.tell if progress is not None else None
                    what = f"Tool {tool.name!r}"
                    value = await self._run_in_time(
                        tool, given, context, what, record, begin=lambda: before.update(self._places(moving))
                    )
                    answer = await self._shape(tool, given, value, context)
            except BridgeError as error:
                answer = _answer_error(error, tool, context)
            record.answer = await self._with_moves(answer, before, moving, value)
            if value is not None:
                self._write_later(tool, given, value, record)
            return record.answer

    async def _run_in_time(
        self,
        tool: OwnTool,
        given: dict[str, Any],
        context: CallContext,
        what: str,
        record: Record,
        begin: Callable[[], None] = lambda: None,
    ) -> object:
        """What a tool returns.

        Args:
            begin: called when it begins.

        Raises:
            BridgeError: its own, or it took too long.
        """

        async def operation(attempt: Attempt) -> object:
            record.attempt = attempt
            if tool.kind == "builtin":
                await self.bridge.wait_pages()
            attempt.browser_is_up = True
            context.ui = PatientUi(context.ui, attempt.pause, lambda text: self.masks().text(text))
            with self.bridge.order.enter(None):
                attempt.dispatched = True
                begin()
                return await tool.execute(given, context)

        return await run_within(tool.seconds(given), what, operation)

    async def value(self, name: str, arguments: dict[str, Any], context: CallContext) -> Json:
        """Run a tool for a tool.

        Raises:
            BridgeError: there is none of that name for this agent, or as its call.
        """
        if context.depth >= limits.CALLS_NESTED:
            raise NotAllowed(f"Tools call each other {limits.CALLS_NESTED} deep, which is the most. Nothing ran.")
        plain = name.removeprefix(BUILT_IN)
        tool = self._offered().get(plain)
        if tool is not None and plain != name:
            tool = self._find_built_in(plain)
            if tool is None and (plain in BY_NAME or plain in browser_tools()):
                raise ToolNotFound(why_not_offered(plain, (plain,), self._settings.mode, self._settings.tier))
        if tool is None:
            raise ToolNotFound(self.why_missing(plain))
        if isinstance(tool, BuiltIn):
            return await self._value_of_built_in(tool, arguments, context)
        page = _page_of(arguments)
        with recorded(self.agent.log, page, tool.name, arguments, source=tool.source) as record:
            given = _check_own(tool, arguments)
            inner = self.context(tool.name, context.ui, depth=context.depth + 1)
            try:
                value = await self._run_in_time(tool, given, inner, f"Tool {tool.name!r}", record)
            finally:
                context.origins |= inner.origins
                if tool.page_derived and not inner.origins:
                    context.origins[_origin(tool, inner)] = None
            if isinstance(value, Content) and value.is_error:
                raise CallFailed(f"Tool {tool.name!r} says that it failed: {value.text}")
            if isinstance(value, Content) and tool.name == context.name:
                context.notes |= dict.fromkeys(value.notes)
            record.answer = Answer("")
        return _plain(value)

    async def finished_value(self, name: str, arguments: dict[str, Any], context: CallContext) -> Json:
        """What a tool returns to who is no tool, as the project's `on_result` has it. Raises as `value`."""
        value = await self.value(name, arguments, context)
        if self.project is None:
            return value
        value, is_error = await self.project.rewrite(name, arguments, value, context, is_error=False)
        if is_error:
            said = value if isinstance(value, str) else _write(value)
            raise CallFailed(f"Tool {name!r} failed, as a module of the project has it: {said}")
        return value

    async def _value_of_built_in(self, tool: BuiltIn, arguments: dict[str, Any], context: CallContext) -> Json:
        given = check_arguments(checked(tool), arguments, tool=tool.name)
        if tool.name == CALL_PAGE_TOOL:
            await self.bridge.wait_pages()
            context.page.find(given["page"])  # from here on the caller has had words of that page
            ending = await self._inner.run_page_tool(**given)
            return read_value(ending, self.bridge.spill)
        answer = await tool.run(self._inner, given, None)
        context.origins |= {page.realm.origin: None for page in self.bridge.open_pages() if page.realm is not None}
        match answer.cause:
            case BridgeError() as error:
                raise error
            case Ending() as ending:
                return read_value(ending, self.bridge.spill)
            case None:
                return dict(answer.structured or {})

    def context(self, name: str, ui: Ui = NO_UI, depth: int = 0) -> CallContext:
        """What a call of the tool of that name gets.

        Args:
            depth: how many tools wait for it.
        """
        return CallContext(
            self.bridge,
            self.agent.gate,
            name=name,
            session_id=self.session_id,
            agent_name=next(iter(self._settings.agents), None),
            directory=self.project.root if self.project is not None else Path.cwd(),
            env=self.project.granted if self.project is not None else dict,
            calls=self._calls,
            ui=ui,
            run=self.value,
            depth=depth,
        )

    def session_context(self) -> CallContext:
        """For what a module does outside of any call."""
        return self.context("session")

    # what the agent gets

    async def _shape(self, tool: OwnTool, given: dict[str, Any], value: object, context: CallContext) -> Answer:
        content = value if isinstance(value, Content) else None
        result: Json = value if content is None else _value_of(content)
        is_error = content is not None and content.is_error
        if self.project is not None:
            result, is_error = await self.project.rewrite(tool.name, given, result, context, is_error=is_error)
        masks = self.masks()
        as_json = not isinstance(result, str)
        text = _write(result) if as_json else str(result)
        shown = shorten(masks.text(text), self.bridge.spill, json=as_json)
        media = content.media if content is not None else ()
        if tool.page_derived or context.origins:
            answer = answer_result(shown, _origin(tool, context), json=as_json, media=media)
        else:
            answer = answer_own(shown, json=as_json, media=media)
        notes = (*context.notes, *(content.notes if content is not None else ()))
        details = {} if content is None or content.details is None else {"details": masks.value(content.details)}
        if notes or details:
            answer = beside(answer, details, *notes)
        return answer if not is_error else _failed(tool, answer)

    async def rewrite(self, call: Call, ending: Ending, origin: str) -> Ending:
        """How the call of a page tool of this origin ended, as the project has it."""
        assert self.project is not None
        if ending.how != "completed" or ending.kind not in ("string", "json"):
            return ending
        text = ending.text
        await self.project.wait_loaded()  # a result that came early has no way around the hooks
        if self.project.has_hook("on_result"):
            result = json.loads(text) if ending.kind == "json" else text
            given = {"page": call.page.handle, "tool": call.wanted, "arguments": call.arguments}
            context = self.session_context()
            changed, is_error = await self.project.rewrite(CALL_PAGE_TOOL, given, result, context, is_error=False)
            if is_error:
                said = changed if isinstance(changed, str) else json.dumps(changed, ensure_ascii=False)
                raise PageThrew(
                    f"Tool {call.wanted!r} failed, as a module of the project has it:", said=said, origin=origin
                )
            if changed != result or isinstance(changed, str) != isinstance(result, str):
                is_text = isinstance(changed, str)
                text = changed if is_text else _write(changed)
                ending = replace(ending, kind="string" if is_text else "json")
        return replace(ending, text=self.project.masks().text(text))

    def _places(self, handle: str | None) -> dict[Page, Place]:
        """Where that page is, or where all are."""
        if handle is None:
            return {page: page.place for page in self.bridge.open_pages()}
        page = self.bridge.find_page(handle)
        return {} if page is None else {page: page.place}

    async def _with_moves(
        self, answer: Answer, before: Mapping[Page, Place], page: str | None, value: object = None
    ) -> Answer:
        """The answer, with where the page that the call names has gone meanwhile, and the dialogs that were answered
        for it; where it names none, with which pages have gone where."""
        moves: list[dict[str, str]] = []
        for one, place in before.items():
            if (
                moved := await moved_since(
                    one, place, has_left=page is not None and answer.code == NavigatedDuringCall.code
                )
            ) is not None:
                moves.append(moved if page is not None else {"page": one.handle, **moved})
            if page is not None and (dialogs := one.take_answered_dialogs()):
                answer = beside(answer, {"dialogs": dialogs})
        if not moves:
            return answer
        told = beside(answer, {"navigated": moves[0] if len(moves) == 1 else moves})
        # What the tool returned may say it, too: twice is too often for who reads.
        said = _value_of(value) if isinstance(value, Content) else value
        return replace(told, notes=answer.notes) if isinstance(said, dict) and "navigated" in said else told

    def _write_later(self, tool: OwnTool, given: dict[str, Any], value: object, record: Record) -> None:
        """Have a module of the project say how its call is shown in the log, without making the agent wait for it."""
        if self._nursery is not None and self.agent.log is not None and isinstance(tool, Rendered) and tool.renders:
            record.keep()
            self._nursery.start_soon(self._write_rendered, self.agent.log, tool, given, value, record)

    async def _write_rendered(
        self, log: CallLog, tool: "Rendered", given: dict[str, Any], value: object, record: Record
    ) -> None:
        shown: dict[str, str] = {}
        try:
            if (text := await tool.render_call(given)) is not None:
                shown["call"] = text
            if (text := await tool.render_result(_plain(value))) is not None:
                shown["result"] = text
        finally:
            record.shown = shown
            log.write(record)


NO_MASKS: Final = Masks(())


def _check_own(tool: OwnTool, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments as `check_arguments` has them, or coerced where a tool wants that.

    Raises:
        ArgumentsInvalid, SchemaUnusable: as `read_arguments` and `check_arguments`.
    """
    arguments = read_arguments(arguments)
    schema = checked(tool)
    try:
        return check_arguments(schema, arguments, tool=tool.name)
    except ArgumentsInvalid:
        if not getattr(tool, "coerce", False):
            raise
        from bridge.calls.coercion import coerce_arguments

        if (coerced := coerce_arguments(schema, arguments)) is None:
            raise
        return coerced


def _answer_error(error: BridgeError, tool: OwnTool, context: CallContext) -> Answer:
    """Why there is no result; words of pages or services that may be in it are told for what they are."""
    if not (tool.page_derived or context.origins):
        return answer_error(error)
    origin = _origin(tool, context)
    return with_origin(answer_error(error.quoted(origin) if isinstance(error, ModuleThrew) else error), origin)


def _origin(tool: OwnTool, context: CallContext) -> str:
    """Whose words a result is: of pages, or of a service."""
    own = getattr(tool, "origin", "")
    origins = [*([own] if own else []), *context.origins] or [tool.source]
    return " ".join(origins)


def _plain(value: object) -> Json:
    """What a tool gets of another one's result, and can hand back as its own: a text, MCP's content, or other JSON."""
    if not isinstance(value, Content):
        return value
    return {"content": write_blocks(value.text, value.media)} if value.media else _value_of(value)


def _write(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _page_of(arguments: Mapping[str, Any]) -> str | None:
    """The handle of the page that a call names, whether its arguments fit or not."""
    return handle if isinstance(handle := arguments.get("page"), str) else None


def _value_of(content: Content) -> Json:
    return json.loads(content.text) if content.is_json else content.text


def _failed(tool: OwnTool, answer: Answer) -> Answer:
    """The tool says itself that it failed."""
    facts = {"code": "tool_threw", "outcome": "failed", "dispatched": True}
    return replace(answer, is_error=True, structured={**facts, **(answer.structured or {})})


def _words_of_a_call(arguments: dict[str, Any]) -> tuple[str | None, str | None, object]:
    """What of a call that can't be read says which page and tool it was for; all of it stands for its arguments."""
    page, tool = (word if isinstance(word := arguments.get(name), str) else None for name in ("page", "tool"))
    return page, tool, arguments


@asynccontextmanager
async def open_toolbox(agent: Agent, titles: Mapping[str, str] | None = None) -> AsyncGenerator[Toolbox]:
    """The tools of an agent, and what they need running, for the length of the block. Nothing is waited for: a project
    loads in the background, and the first list and call wait for it."""
    toolbox = Toolbox(agent, titles)
    settings = agent.settings
    if settings.project is None and not settings.modules:
        yield toolbox
        return
    from bridge.calls.project import open_project

    async with open_project(settings, toolbox) as toolbox.project, open_background() as nursery:
        agent.rewrite = toolbox.rewrite
        if agent.log is not None:
            agent.log.hide(toolbox.project.masks)
        toolbox.lend(nursery)
        yield toolbox
