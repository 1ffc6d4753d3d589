"""The server that offers an agent its tools in MCP. The SDK speaks the protocol."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import trio
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, PromptsListChanged, ToolsListChanged
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
    SubscriptionsListenRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from bridge import limits
from bridge.calls.answers import Answer
from bridge.calls.frame import escape
from bridge.calls.progress import Send
from bridge.calls.toolbox import Toolbox
from bridge.errors import BridgeError, CannotAsk, UsageError
from bridge.serve.elicitation import Ask, AskingTools, ClientUi, Question, Reply
from bridge.serve.greeting import NAME, instructions
from bridge.serve.prompts import Skills, get_prompt, list_prompts
from bridge.serve.shapes import as_list, as_result
from bridge.serve.waiting import InputRequired, Request, StateUnknown, Waiting, too_many
from bridge.wire.nursery import open_background

LISTEN_STREAMS: Final = 16
"""Of one client; it needs one."""

Context = ServerRequestContext[Any]


async def serve_agent(
    toolbox: Toolbox,
    version: str,
    incoming: ReadStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
    *,
    asking: AskingTools | None = None,
    skills: Skills | None = None,
) -> None:
    """Serve one agent in both protocol eras, until `incoming` ends.

    Args:
        skills: those that are prompts; None where there are no prompts at all.
    """
    agent = toolbox.agent
    server = _make_server(toolbox, version)
    if skills is not None:
        _add_prompts(server, skills)
    async with open_background() as nursery:
        if asking is not None:
            _add_asking(server, asking, Waiting(nursery))
        if toolbox.can_change:
            notices = Notices(server)
            nursery.start_soon(partial(notices.send, toolbox.wait_project, prompts=skills is not None))
            if agent.direct is not None:
                nursery.start_soon(notices.send, agent.direct.wait_news)
        changes = NotificationOptions(prompts_changed=toolbox.can_change, tools_changed=toolbox.can_change)
        options = server.create_initialization_options(changes)
        await server.run(incoming, outgoing, options)


class Notices:
    """Tells a client that a list changed: to whoever is initialized in the older era, and on the streams
    that it listens to in 2026-07-28."""

    def __init__(self, server: Server[Any]) -> None:
        self._bus = InMemorySubscriptionBus()
        self._session: ServerSession | None = None
        listen = ListenHandler(self._bus, max_subscriptions=LISTEN_STREAMS)
        server.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, listen)
        server.add_notification_handler("notifications/initialized", NotificationParams, self._take_session)

    async def _take_session(self, context: Context, _: NotificationParams) -> None:
        self._session = context.session

    async def send(self, wait_news: Callable[[], Awaitable[None]], *, prompts: bool = False) -> None:
        """Send one notice for each change of the list of tools, for ever.

        Args:
            prompts: the list of prompts may be another one then, too.
        """
        while True:
            await wait_news()
            await self._bus.publish(ToolsListChanged())
            if self._session is not None:
                await self._session.send_tool_list_changed()
            if prompts:
                await self._bus.publish(PromptsListChanged())
                if self._session is not None:
                    await self._session.send_prompt_list_changed()


def _make_server(toolbox: Toolbox, version: str) -> Server[Any]:
    async def answer_list(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult.model_validate(as_list(await toolbox.offer()))

    async def answer_call(context: Context, params: CallToolRequestParams) -> CallToolResult:
        await toolbox.refresh(params.name)
        if not toolbox.has(params.name):
            raise MCPError(code=INVALID_PARAMS, message=toolbox.why_missing(params.name))
        answer = await toolbox.run(params.name, params.arguments or {}, _progress_of(context))
        return CallToolResult.model_validate(as_result(answer))

    return Server(
        NAME,
        version=version,
        title=NAME,
        instructions=instructions(direct=toolbox.agent.direct is not None),
        on_list_tools=answer_list,
        on_call_tool=answer_call,
    )


def _progress_of(context: Context) -> Send | None:
    wants_progress = (context.meta or {}).get("progress_token") is not None
    return context.session.report_progress if wants_progress else None


def _add_asking(server: Server[Any], tools: AskingTools, waiting: Waiting) -> None:
    """Have calls of these tools answered here, and all others as before."""
    before = server.get_request_handler("tools/call")
    assert before is not None
    open_questions = trio.CapacityLimiter(limits.CALLS_ASKING)

    async def answer_call(context: Context, params: CallToolRequestParams) -> Any:  # noqa: ANN401  # the SDK's union
        if tools.refresh is not None:
            await tools.refresh(params.name)
        source = tools.source_of(params.name)
        if source is None:
            return await before.handler(context, params)
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return await _answer_round(context, params, source, tools, waiting)
        ui = ClientUi(params.name, source, _ask_of(context, open_questions), has_ui=_can_ask(context))
        answer = await tools.run(params.name, params.arguments or {}, _progress_of(context), ui)
        return CallToolResult.model_validate(as_result(answer))

    server.add_request_handler("tools/call", CallToolRequestParams, answer_call)


async def _answer_round(
    context: Context, params: CallToolRequestParams, source: str, tools: AskingTools, waiting: Waiting
) -> CallToolResult | InputRequiredResult:
    """What a request of 2026-07-28 gets: it begins a call, or goes on with one."""
    send, can_ask, arguments = _progress_of(context), _can_ask(context), params.arguments or {}

    async def work(ask: Ask, tell: Send) -> Answer:
        ui = ClientUi(params.name, source, ask, has_ui=can_ask)
        return await tools.run(params.name, arguments, None if send is None else tell, ui)

    replies = {key: _as_reply(reply) for key, reply in (params.input_responses or {}).items()}
    request = Request(params.name, arguments, params.request_state, replies, can_ask, send)
    try:
        answer = await waiting.answer(request, work)
    except StateUnknown:
        text = "Invalid or expired requestState: no call of this tool waits for it. Call the tool again without it."
        raise MCPError(code=INVALID_PARAMS, message=text) from None
    if isinstance(answer, Answer):
        return CallToolResult.model_validate(as_result(answer))
    return _as_input_required(answer)


def _as_input_required(asked: InputRequired) -> InputRequiredResult:
    question = asked.question
    form = ElicitRequestFormParams(message=question.message, requested_schema=dict(question.schema))
    return InputRequiredResult(input_requests={asked.key: ElicitRequest(params=form)}, request_state=asked.state)


def _as_reply(found: object) -> Reply:
    return Reply(found.action, found.content) if isinstance(found, ElicitResult) else Reply("none")


def _can_ask(context: Context) -> bool:
    """Whether the client shows forms: those that say nothing but that they ask do, as there was nothing else once."""
    capabilities = context.session.client_capabilities
    asks = capabilities.elicitation if capabilities is not None else None
    return asks is not None and (asks.form is not None or asks.url is None)


def _ask_of(context: Context, open_questions: trio.CapacityLimiter) -> Ask:
    """How to ask the client of a call while it waits, in versions up to 2025-11-25."""

    async def ask(question: Question) -> Reply:
        place = object()
        try:
            open_questions.acquire_on_behalf_of_nowait(place)
        except trio.WouldBlock:
            raise too_many() from None
        try:
            with trio.fail_after(limits.REPLY_SECONDS):
                return _as_reply(await _elicit(context, question))
        except trio.TooSlowError:
            raise CannotAsk(
                f"Nobody answered within {limits.REPLY_SECONDS:g} s. Call again when somebody is there."
            ) from None
        finally:
            open_questions.release_on_behalf_of(place)

    return ask


async def _elicit(context: Context, question: Question) -> ElicitResult:
    """Raises CannotAsk."""
    try:
        return await context.session.elicit_form(question.message, dict(question.schema), context.request_id)
    except ValidationError:
        raise CannotAsk(
            "The client's answer to a question is not of the form that MCP has for one: use another client."
        ) from None
    except MCPError as error:
        said = error.error.message[: limits.SHOWN_CHARS]
        raise CannotAsk(f"The client did not ask its user, and says why: {said}") from None


def _add_prompts(server: Server[Any], skills: Skills) -> None:
    async def answer_list(_: Context, __: PaginatedRequestParams | None) -> ListPromptsResult:
        with _told_as_fault():
            return ListPromptsResult.model_validate(list_prompts(await skills()))

    async def answer_get(_: Context, params: GetPromptRequestParams) -> GetPromptResult:
        with _told_as_fault():
            return GetPromptResult.model_validate(get_prompt(await skills(), params.name))

    server.add_request_handler("prompts/list", PaginatedRequestParams, answer_list)
    server.add_request_handler("prompts/get", GetPromptRequestParams, answer_get)


@contextmanager
def _told_as_fault() -> Generator[None]:
    """A prompt has no form for an error, so that is one of the protocol."""
    try:
        yield
    except UsageError as error:
        raise MCPError(code=INVALID_PARAMS, message=escape(str(error), json=True)) from None
    except BridgeError as error:
        raise MCPError(code=INTERNAL_ERROR, message=escape(str(error), json=True)) from None
