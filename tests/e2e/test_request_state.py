"""A client hands back a `requestState` of MCP's multi round-trip requests. No built-in tool asks the client anything,
so none was ever given: each is forged, and has no effect. `tests/wire/test_asking.py` tells of tools that ask."""

import base64
import copy
import json
from typing import Any, Final

import pytest
from mcp_types import INVALID_PARAMS

from bridge.calls.built_ins import BUILT_INS
from tests.e2e.client import Era, RawClient, open_raw
from tests.fuzz.lines import META_OF_2026
from tests.sites import Site, offering, tool

Json = dict[str, Any]

COUNT = offering(tool("count", "() => window.runs = 1 + (window.runs ?? 0)"))
APPROVED: Final = {"tool": "count", "page": "p1", "mode": "act", "approved": True}
FORGED: Final = [
    "",
    "forged",
    json.dumps(APPROVED),
    base64.urlsafe_b64encode(json.dumps(APPROVED).encode()).decode(),
    "v1." + base64.urlsafe_b64encode(bytes(range(64))).decode(),
    "eyJhbGciOiJub25lIn0." + base64.urlsafe_b64encode(json.dumps(APPROVED).encode()).decode() + ".",
    "\0\u202e../../etc/passwd",
    "x" * 1_000_000,
]
NO_STATES: Final[list[Any]] = [7, True, ["forged"], APPROVED]
ACCEPTED: Final = {"approve": {"action": "accept", "content": {"approved": True}}}


class Asking:
    """A raw client of one of the eras."""

    def __init__(self, client: RawClient, era: Era) -> None:
        self._client = client
        self._meta = {} if era == "legacy" else {"_meta": META_OF_2026}

    async def call(self, name: str, given: Json, **more: Any) -> Json:
        """The whole answer but for its id, and for the note that the same call was refused before."""
        message = await self._client.answer(
            await self._client.ask("tools/call", name=name, arguments=given, **self._meta, **more)
        )
        del message["id"]
        if "result" in message:
            del message["result"]["content"][1:]
        return message

    async def count(self, **more: Any) -> Json:
        return await self.call("call_page_tool", {"page": "p1", "tool": "count"}, **more)


@pytest.mark.threat("C6")
@pytest.mark.parametrize(("mode", "era"), [("ask", "2026-07-28"), ("act", "legacy"), ("act", "2026-07-28")])
async def test_a_state_that_a_client_hands_back_has_no_effect_as_none_was_ever_given(mode: str, era: Era, site: Site):
    async with open_raw("--mode", mode, "--open", site.page("/counts", COUNT)) as client:
        if era == "legacy":
            await client.initialize()
        asking = Asking(client, era)
        await asking.call("list_pages", {})
        first = await asking.count()
        answers = [
            await asking.count(requestState=state, **more)
            for state in FORGED
            for more in ({}, {"inputResponses": ACCEPTED})
        ]
        answers.append(await asking.count(inputResponses=ACCEPTED))
        odd = [await asking.count(requestState=state) for state in NO_STATES]
        answers.append(await asking.count())
        for tool_ in BUILT_INS:
            await asking.call(tool_.name, {"page": "p1"} if "page" in tool_.properties else {})

    # Each is the answer that the same call without one has; in mode `act`, the tool ran once for each.
    assert answers == [as_after(first, number + 1) for number in range(len(answers))]
    assert {answer["error"]["code"] for answer in odd} == {INVALID_PARAMS}
    for word in (b"requestState", b"inputRequests", b"input_required"):
        assert word not in client.said


def as_after(first: Json, calls: int) -> Json:
    """What the call that counts says when it has run so often since its first answer; the same where it must not."""
    result = copy.deepcopy(first)
    if not first["result"]["isError"]:
        assert first["result"]["content"][0]["text"] == "1"
        result["result"]["content"][0]["text"] = str(1 + calls)
        result["result"]["structuredContent"]["result"] = str(1 + calls)
    return result
