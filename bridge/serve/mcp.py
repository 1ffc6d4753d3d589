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
    Tool,
    ToolAnnotations,
)

from bridge.calls.agent import Agent
from bridge.calls.direct import DirectTools
from bridge.calls.results import clean_text
from bridge.serve.built_ins import BUILT_INS, BY_NAME, BuiltIn, as_result, has_tool, run_tool
from bridge.serve.greeting import NAME, instructions
from bridge.settings import SchemaProfile
from bridge.tools.export import export_schema
from bridge.tools.naming import Owned
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
    listing = [_as_mcp(tool) for tool in BUILT_INS]

    async def list_tools(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        if agent.direct is None:
            return ListToolsResult(tools=listing)
        profile = agent.settings.schema_profile
        direct = [_page_tool_as_mcp(name, offered, profile) for name, offered in agent.direct.show().items()]
        return ListToolsResult(tools=[*listing, *direct])

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
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
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _as_mcp(tool: BuiltIn) -> Tool:
    return Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        annotations=ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=None if tool.read_only else True,
            open_world_hint=True,
        ),
    )


def _page_tool_as_mcp(name: str, offered: Owned, profile: SchemaProfile) -> Tool:
    """Says whose words these are, and vouches for nothing: hints of a page's own are not passed on."""
    tool, page = offered.tool, offered.tools.page
    assert tool.schema is not None
    told = {"page": page, "id": str(tool.id), "name": tool.name, "group": tool.group, "origin": tool.origin}
    return Tool(
        name=name,
        title=clean_text(tool.name),
        description=clean_text(f"Tool of page {page} ({tool.origin}), described by it: {tool.description}"),
        input_schema=export_schema(tool.schema, profile),
        annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True),
        _meta={"pagebridge": {key: clean_text(value) for key, value in told.items()}},
    )
