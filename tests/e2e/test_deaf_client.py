"""A client that calls ten thousand times and never reads an answer."""

from collections import Counter
from contextlib import suppress

import pytest
import trio

from bridge import limits
from tests.e2e.client import RawClient, open_raw
from tests.e2e.test_client_side import peak_bytes
from tests.e2e.test_life import END_SECONDS, children_of, start_with_page, wait_exit, wait_gone
from tests.sites import Site, offering, tool

CALLS = 10_000
PADDING = {"padding": "x" * 8000}
"""Ten thousand of these are much more than may be kept."""
GROWN_BYTES = 20_000_000
TICKS = 3

TICKING = offering(
    tool("give", "() => 'given'"),
    before="setInterval(() => { alert('tick'); fetch('/tick') }, 50);",
)
"""Each of its ticks needs the bridge: no script of a page goes on until somebody has answered its dialog."""


class Flood:
    """The calls, as far as they could be sent."""

    def __init__(self, client: RawClient) -> None:
        self._client = client
        self.sent: list[int] = []
        self.ended = trio.Event()

    async def send(self) -> None:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            for number in range(CALLS):
                name, given = ("list_pages", {}) if number % 2 else ("call_page_tool", {"page": "p1", "tool": "give"})
                params = {"name": name, "arguments": given, "_meta": PADDING}
                self.sent.append(await self._client.ask("tools/call", **params))
        self.ended.set()

    async def wait_stuck(self, site: Site) -> None:
        """Return once the bridge reads no further, though its page goes on."""
        while True:
            sent = len(self.sent)
            await site.wait_asked("/tick", site.asked["/tick"] + TICKS)
            if limits.OPEN_REQUESTS < sent == len(self.sent):
                return


@pytest.mark.threat("C2")
@pytest.mark.parametrize("end", ["reads", "stdin", "SIGTERM"])
async def test_ten_thousand_calls_that_nobody_reads_cost_bounded_memory_and_hold_up_nothing(end: str, site: Site):
    async with open_raw("--open", site.page("/ticking", TICKING)) as client, trio.open_nursery() as nursery:
        await start_with_page(client)
        before = peak_bytes(client.process)
        flood = Flood(client)
        nursery.start_soon(flood.send)

        await flood.wait_stuck(site)
        assert len(flood.sent) < CALLS
        if end == "reads":
            answered = Counter([message["id"] for _ in range(CALLS) if (message := await client.receive())])
            await flood.ended.wait()
            assert len(flood.sent) == CALLS
            assert answered == Counter(flood.sent)
        grown = peak_bytes(client.process) - before

        browsers = children_of(client.process.pid)
        if end == "SIGTERM":
            client.process.terminate()
        else:
            await client.close_stdin()
        if end == "reads":
            assert await client.rest() == []
        assert await wait_exit(client) == 0
        with trio.fail_after(END_SECONDS):
            await wait_gone(browsers)
    assert grown < GROWN_BYTES, f"{grown:,} bytes"
    assert b"Traceback" not in client.errors
