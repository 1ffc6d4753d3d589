"""One client from its first word to its last: which of its lines go which way."""

from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import trio

from bridge.calls.bridge import Bridge
from bridge.calls.toolbox import Toolbox
from bridge.errors import BridgeError
from bridge.serve.greeting import Greeter
from bridge.serve.imports import importing
from bridge.serve.lane import Lane, taken_back_by
from bridge.serve.stdio import LINES_QUEUED, Stdio
from bridge.wire.nursery import open_background

if TYPE_CHECKING:
    from bridge.serve.elicitation import AskingTools
    from bridge.serve.prompts import Skills


class Client:
    """Whoever is at the other end of stdio.

    Its plain calls take the lane, all else goes to the SDK. That is loaded when a line needs it, or else in the first
    quiet moment: loading it takes as long as it takes a browser to start, and both would wait for each other.

    Args:
        asking: tools that may ask the person.
        skills: those that are prompts; None where there are no prompts at all, which the greeter has said.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        bridge: Bridge,
        stdio: Stdio,
        greeter: Greeter,
        *,
        asking: "AskingTools | None" = None,
        skills: "Skills | None" = None,
    ) -> None:
        self._toolbox = toolbox
        self._bridge = bridge
        self._stdio = stdio
        self._greeter = greeter
        self._asking = asking
        self._skills = skills
        self._to_sdk, self._lines = trio.open_memory_channel[bytes](LINES_QUEUED)
        self._load = trio.Event()
        self._sdk_is_needed = False
        self._has_ended = False

    async def serve(self) -> None:
        """Serve until stdin ends, or its reading is stopped, and what was read has its answers."""
        async with open_background() as nursery:
            nursery.start_soon(self._read, self._open_lane(nursery))
            nursery.start_soon(self._load_when_quiet)
            await self._load.wait()
            if self._has_ended and not self._sdk_is_needed:
                await self._stdio.requests.wait_last_answers()
            else:
                await self._serve_by_sdk()

    def _open_lane(self, nursery: trio.Nursery) -> Lane:
        if self._asking is None:
            return Lane(self._toolbox, self._stdio, nursery)
        return Lane(self._toolbox, self._stdio, nursery, self._asking.has)

    async def _read(self, lane: Lane) -> None:
        with suppress(trio.BrokenResourceError), self._stdio.until_stopped():  # as good as the end
            while (line := await self._stdio.next_line()) is not None:
                if lane.takes(line):
                    # Calls begin in the order in which they came, also those that came together.
                    await trio.lowlevel.checkpoint()
                else:
                    await self._hand_on(line, lane)
        self._has_ended = True
        self._to_sdk.close()
        self._load.set()

    async def _hand_on(self, line: bytes, lane: Lane) -> None:
        if (answer := self._greeter.answer(line)) is not None:
            await self._stdio.send(answer)
        elif self._greeter.has_greeted and b'"notifications/initialized"' in line:
            lane.open()
        elif not (self._greeter.has_greeted and b'"initialize"' in line):
            self._need_sdk()
        self._stdio.requests.hand_on(taken_back_by(line))
        await self._stdio.wait_for_client(partial(self._to_sdk.send, line))

    def _need_sdk(self) -> None:
        self._sdk_is_needed = True
        self._load.set()

    async def _load_when_quiet(self) -> None:
        with suppress(BridgeError):
            await self._bridge.wait_pages()
        await self._stdio.requests.wait_quiet()
        self._load.set()

    async def _serve_by_sdk(self) -> None:
        with importing():
            await trio.to_thread.run_sync(import_module, "bridge.serve.mcp", abandon_on_cancel=True)

        from bridge.serve.mcp import serve_agent
        from bridge.serve.streams import Incoming, Outgoing

        incoming = Incoming(self._lines, self._stdio)
        outgoing = Outgoing(self._stdio, self._greeter)
        version = self._greeter.version
        await serve_agent(self._toolbox, version, incoming, outgoing, asking=self._asking, skills=self._skills)
