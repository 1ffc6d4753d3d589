"""What the end of stdin waits for."""

import json

import trio
from trio.testing import memory_stream_one_way_pair, wait_all_tasks_blocked

from bridge.serve.stdio import OpenRequests, Stdio
from bridge.serve.streams import Incoming


async def test_a_request_is_open_until_it_is_answered(nursery: trio.Nursery):
    requests = OpenRequests()
    requests.came_in(1)
    ended = trio.Event()

    async def wait() -> None:
        await requests.wait_answered()
        ended.set()

    nursery.start_soon(wait)
    await wait_all_tasks_blocked()
    assert not ended.is_set()
    requests.settle(1)
    with trio.fail_after(1):
        await ended.wait()


async def test_a_request_to_listen_holds_no_end_up():
    """It is answered when there is nothing more to hear."""
    _, stdin = memory_stream_one_way_pair()
    stdout, _ = memory_stream_one_way_pair()
    requests = OpenRequests()
    to_sdk, lines = trio.open_memory_channel[bytes](2)
    listens = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {}}

    with trio.fail_after(1), to_sdk:
        await to_sdk.send(json.dumps(listens).encode())
        await to_sdk.send(json.dumps(listens | {"id": 2, "method": "ping"}).encode())
        incoming = Incoming(lines, Stdio(stdin, stdout), requests)
        await incoming.receive()
        await requests.wait_answered()
        await incoming.receive()

    assert 2 in requests
