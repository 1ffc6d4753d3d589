"""The server that offers an agent its tools in MCP. The SDK speaks the protocol."""

from typing import Any, Final

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
    SubscriptionsListenRequestParams,
)

from bridge.calls.agent import Agent
from bridge.calls.direct import DirectTools
from bridge.serve.built_ins import BY_NAME, as_result, has_tool, list_tools, run_tool
from bridge.serve.greeting import NAME, instructions
from bridge.wire.nursery import open_background

LISTEN_STREAMS: Final = 16
"""Of one client; it needs one."""


async def serve_agent(
    agent: Agent,
    version: str,
    incoming: ReadStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
) -> None:
    """Serve one agent in both protocol eras, until `incoming` ends."""
    server = _make_server(agent, version)
    if agent.direct is None:
        await server.run(incoming, outgoing, server.create_initialization_options())
        return
    notices = Notices(server)
    async with open_background() as nursery:
        nursery.start_soon(notices.send, agent.direct)
        options = server.create_initialization_options(NotificationOptions(tools_changed=True))
        await server.run(incoming, outgoing, options)


class Notices:
    """Tells a client that the list of tools changed: to whoever is initialized in the older era, and on the streams
    that it listens to in 2026-07-28."""

    def __init__(self, server: Server[Any]) -> None:
        self._bus = InMemorySubscriptionBus()
        self._session: ServerSession | None = None
        listen = ListenHandler(self._bus, max_subscriptions=LISTEN_STREAMS)
        server.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, listen)
        server.add_notification_handler("notifications/initialized", NotificationParams, self._take_session)

    async def _take_session(self, context: ServerRequestContext[Any], _: NotificationParams) -> None:
        self._session = context.session

    async def send(self, direct: DirectTools) -> None:
        """Send one notice for each change of the list, for ever."""
        while True:
            await direct.wait_news()
            await self._bus.publish(ToolsListChanged())
            if self._session is not None:
                await self._session.send_tool_list_changed()


def _make_server(agent: Agent, version: str) -> Server[Any]:
    async def answer_list(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult.model_validate(list_tools(agent))

    async def answer_call(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        if not has_tool(agent, params.name):
            raise MCPError(
                code=INVALID_PARAMS,
                message=f"Unknown tool: {params.name}. There are {', '.join(BY_NAME)}; "
                "tools of a page are run with call_page_tool.",
            )
        wants_progress = (context.meta or {}).get("progress_token") is not None
        send = context.session.report_progress if wants_progress else None
        answer = await run_tool(agent, params.name, params.arguments or {}, send)
        return CallToolResult.model_validate(as_result(answer))

    return Server(
        NAME,
        version=version,
        title=NAME,
        instructions=instructions(direct=agent.direct is not None),
        on_list_tools=answer_list,
        on_call_tool=answer_call,
    )
