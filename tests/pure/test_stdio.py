"""What the end of stdin waits for."""

import trio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse
from trio.testing import wait_all_tasks_blocked

from bridge.serve.stdio import OpenRequests


def request(method: str) -> SessionMessage:
    return SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method=method, params={}))


async def test_a_request_is_open_until_it_is_answered(nursery: trio.Nursery):
    requests = OpenRequests()
    requests.came_in(request("tools/call"))
    ended = trio.Event()

    async def wait() -> None:
        await requests.wait_answered()
        ended.set()

    nursery.start_soon(wait)
    await wait_all_tasks_blocked()
    assert not ended.is_set()
    requests.went_out(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result={})))
    with trio.fail_after(1):
        await ended.wait()


async def test_a_request_to_listen_holds_no_end_up():
    requests = OpenRequests()
    requests.came_in(request("subscriptions/listen"))

    with trio.fail_after(1):
        await requests.wait_answered()
