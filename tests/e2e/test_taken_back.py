"""A client that takes back what it asked for at random moments: each line of a real stdio is held against the rules."""

import json
import random
from typing import Any

import pytest
import trio

from tests.e2e.client import RawClient, open_raw
from tests.e2e.test_life import start_with_page, wait_exit
from tests.e2e.transcript import RequestId, Transcript
from tests.sites import Site, offering, tool

Json = dict[str, Any]

PAGE = offering(
    tool("hang", "() => new Promise(() => {})"),
    tool("now", "() => 'now'"),
    tool("soon", "() => new Promise(done => setTimeout(done, 5, 'soon'))"),
    tool("tells", "(input, {progress}) => { progress({done: 1}); return new Promise(() => {}) }"),
)
ENDLESS = ("hang", "tells")
ROUNDS = 25
SEVERAL = 8
"""Requests of one round."""

THE_LONG_WAY = {"io.modelcontextprotocol/x": 1}
"""With it, a call goes through the SDK, as what is no call does."""

NOISE: list[Json] = [
    {"method": "notifications/cancelled", "params": {"requestId": "nothing"}},
    {"method": "notifications/cancelled", "params": {"requestId": -1, "reason": "none"}},
    {"method": "notifications/cancelled", "params": {}},
    {"method": "notifications/cancelled"},
    {"method": "notifications/progress", "params": {"progressToken": "t1", "progress": 1}},
    {"method": "notifications/roots/list_changed"},
    {"method": "notifications/nothing", "params": {"a": 1}},
    {"method": "tools/call", "params": {"name": "call_page_tool", "arguments": {"page": "p1", "tool": "now"}}},
    {"method": "tools/list"},
    {"method": "ping"},
]
"""Notifications, be it by their name or for want of an id."""


class Fickle:
    """A client that changes its mind."""

    def __init__(self, client: RawClient, seed: int) -> None:
        self.transcript = Transcript()
        self.taken_back = 0
        self._client = client
        self._chance = random.Random(seed)
        self._answered: dict[RequestId, trio.Event] = {}
        self._last_id = 0

    async def listen(self) -> None:
        while (message := await self._client.receive()) is not None:
            self.transcript.hear(message)
            if "id" in message:
                self._answered[message["id"]].set()

    async def run(self) -> None:
        for _ in range(ROUNDS):
            await self._round()

    async def _round(self) -> None:
        """Ask for several things, and take back whatever would not end, and some of what would."""
        chance = self._chance
        lines: list[Json] = []
        left: list[RequestId] = []
        for _ in range(chance.randint(1, SEVERAL)):
            request = self._request()
            lines.append(request)
            endless = request["params"].get("arguments", {}).get("tool") in ENDLESS
            if endless or chance.random() < 0.5:
                moment = chance.random()
                if moment < 0.3:  # before it can have begun
                    lines.append(self._cancellation(request["id"]))
                    if chance.random() < 0.5:
                        lines.append(self._request(request["id"]))
                        left.append(request["id"])
                else:
                    left.append(request["id"])
            if chance.random() < 0.3:
                lines.append(chance.choice(NOISE))
        await self._say(*lines)
        chance.shuffle(left)
        for request_id in left:
            await trio.sleep(chance.choice([0, 0, 0.001, 0.005, 0.02]))
            again = [self._cancellation(request_id) for _ in range(chance.choice([1, 1, 2]))]
            await self._say(*again)
        await self._pass_a_mark()

    def _request(self, request_id: RequestId | None = None) -> Json:
        """Args:
        request_id: one that was taken back.
        """
        chance = self._chance
        if request_id is None:
            self._last_id += 1
            request_id = self._last_id if self._last_id % 3 else f"id {self._last_id}"
        self._answered.setdefault(request_id, trio.Event())
        # Some have a token that another one has had, or has.
        token = chance.choice([None, f"t{request_id}", "t1"])
        method = chance.choice(["ping", "tools/list", *["tools/call"] * 6])
        params: Json = {
            "_meta": chance.choice([{}, THE_LONG_WAY]) | ({} if token is None else {"progressToken": token})
        }
        name = ""
        if method == "tools/call":
            name = chance.choice(["list_pages", "list_page_tools", "hang", "now", "soon", "tells"])
            if name.startswith("list"):
                params |= {"name": name, "arguments": {}}
            else:
                params |= {"name": "call_page_tool", "arguments": {"page": "p1", "tool": name}}
        self.transcript.ask(request_id, token)
        return {"id": request_id, "method": method, "params": params}

    def _cancellation(self, request_id: RequestId) -> Json:
        self.taken_back += self.transcript.requests[request_id].is_owed
        self.transcript.take_back(request_id)
        return {"method": "notifications/cancelled", "params": {"requestId": request_id}}

    async def _pass_a_mark(self) -> None:
        self._last_id += 1
        request_id = f"mark {self._last_id}"
        self._answered[request_id] = trio.Event()
        self.transcript.mark(request_id)
        await self._say({"id": request_id, "method": "ping", "params": {}})
        await self._answered[request_id].wait()

    async def _say(self, *messages: Json) -> None:
        """In one write."""
        await self._client.send(b"\n".join(json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages))


@pytest.mark.threat("C5")
@pytest.mark.parametrize("seed", [1, 2])
async def test_whatever_is_taken_back_whenever_no_answer_is_missing_and_none_too_many(seed: int, site: Site):
    async with open_raw("--open", site.page("/fickle", PAGE)) as client, trio.open_nursery() as nursery:
        await start_with_page(client)
        fickle = Fickle(client, seed)
        nursery.start_soon(fickle.listen)

        await fickle.run()
        await client.close_stdin()
        assert await wait_exit(client) == 0

    fickle.transcript.end()
    assert fickle.taken_back > ROUNDS
    assert sum(request.answers for request in fickle.transcript.requests.values()) > ROUNDS * 2
    assert b"Traceback" not in client.errors
