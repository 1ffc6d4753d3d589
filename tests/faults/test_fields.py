"""Every field of every message that the bridge reads, renamed, null, or of another type: none of it ends the reader,
and a page is lost only where what is spoilt of it is needed.

What is not in `NEEDED` may go: a new Chromium that renames it breaks nothing.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from itertools import accumulate
from typing import Any, Final

import pytest
from trio.testing import MockClock

from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.wire.commands import _READERS
from bridge.wire.router import Json
from bridge.wire.transports import Transport
from tests.faults.bridges import open_bridge_over
from tests.faults.fake_chromium import FakeChromium
from tests.faults.fake_links import DirectTransport
from tests.faults.forms import SHORT_AND_FULL
from tests.faults.messages import Path, Recorder, Spoil, SpoiltTransport
from tests.faults.session import check_well, codes, use

GONE: Final = object()
"""The field has another name."""

NEEDED: Final[dict[str, set[str]]] = {
    "Target.attachedToTarget": {
        "params.sessionId",
        "params.targetInfo.targetId",
        "params.targetInfo.type",
    },
    "Target.createTarget reply": {"result.targetId"},
    "Target.detachedFromTarget": {"params.sessionId"},
    "Page.frameNavigated": {"params.frame.id", "params.frame.url"},
    "Page.getNavigationHistory reply": {"result.currentIndex", "result.entries.0.id"},
    "Page.navigatedWithinDocument": {"params.frameId", "params.url"},
    "Runtime.executionContextCreated": {
        "params.context.auxData.frameId",
        "params.context.auxData.isDefault",
        "params.context.origin",
        "params.context.uniqueId",
    },
    "Runtime.evaluate reply call": {
        "result.result.value.how",
        "result.result.value.kind",
        "result.result.value.text",
    },
    "Runtime.evaluate reply discover": {
        "result.result.value.round",
        "result.result.value.groups.0.name",
        "result.result.value.groups.0.description",
        "result.result.value.groups.0.dropped",
        "result.result.value.groups.0.faults",
        "result.result.value.groups.0.tools.0.cut",
        "result.result.value.groups.0.tools.0.description",
        "result.result.value.groups.0.tools.0.index",
        "result.result.value.groups.0.tools.0.name",
        "result.result.value.groups.0.tools.0.schema",
        "result.result.value.surplus",
        "result.result.value.thrown",
    },
}
"""By kind of message: without these fields something can't be done with a page. The kit's are our own."""


async def use_spoilt(spoil: Spoil, chromium: FakeChromium | None = None) -> list[Answer]:
    """Use the first page of a fake Chromium; the second page is well afterwards, and the link was never lost."""
    transport = DirectTransport(chromium or FakeChromium())
    links = 0

    @asynccontextmanager
    async def open_transport() -> AsyncGenerator[Transport]:
        nonlocal links
        links += 1
        yield SpoiltTransport(transport, spoil)

    async with open_bridge_over(open_transport) as bridge:
        agent = Agent(bridge)
        answers = await use(agent, transport.happen)
        await check_well(agent)
    assert links == 1
    return answers


class SpoilField:
    """Spoils one field of one kind of message of the first page, of its iframes, and of the browser itself."""

    def __init__(self, chromium: FakeChromium, kind: str, path: Path, odd: object) -> None:
        self._chromium = chromium
        self._kind = kind
        self._path = path
        self._odd = odd

    def __call__(self, kind: str, message: Json) -> Sequence[Json]:
        if kind != self._kind or self._chromium.is_of("T2", message):
            return [message]
        return [with_odd_field(message, self._path, self._odd)]


def with_odd_field(message: Json, path: Path, odd: object) -> Json:
    """A copy with something odd at that place, or as it is where it has no such place."""
    spoilt = deepcopy(message)
    place: Any = spoilt
    try:
        for step in path[:-1]:
            place = place[step]
        value = place[path[-1]]
    except LookupError:
        return message
    if odd is not GONE:
        place[path[-1]] = odd
    elif isinstance(place, dict):
        place[f"{path[-1]}Renamed"] = place.pop(path[-1])
    else:
        place.remove(value)
    return spoilt


def odd_values(value: object, number: int, *, full: bool) -> list[object]:
    """What to put in the place of a value, the `number`th of a message; the full form leaves no type of JSON out."""
    if full:
        return [GONE, None, True, -1, 1e300, "", "odd", [], ["odd"], {}, {"odd": {}}]
    return [GONE, None if number % 2 else 7 if isinstance(value, str) else "odd"]


KINDS: Final = sorted(
    [
        *_READERS,
        "Browser.getVersion reply",
        "Inspector.enable reply",
        "Page.addScriptToEvaluateOnNewDocument reply",
        "Page.enable reply",
        "Page.getFrameTree reply",
        "Page.getNavigationHistory reply",
        "Page.handleJavaScriptDialog reply",
        "Page.navigate reply",
        "Page.navigateToHistoryEntry reply",
        "Page.reload reply",
        "Page.setLifecycleEventsEnabled reply",
        "Runtime.enable reply",
        "Runtime.evaluate reply",
        "Runtime.evaluate reply abort",
        "Runtime.evaluate reply call",
        "Runtime.evaluate reply discover",
        "Runtime.evaluate reply drop",
        "Runtime.evaluate reply leave",
        "Runtime.evaluate reply report",
        "Runtime.evaluate reply watch",
        "Runtime.releaseObjectGroup reply",
        "Runtime.runIfWaitingForDebugger reply",
        "Target.closeTarget reply",
        "Target.createTarget reply",
        "Target.getTargets reply",
        "Target.setAutoAttach reply",
        "Target.setDiscoverTargets reply",
    ]
)


async def test_every_message_that_is_read_comes_in_the_session(autojump_clock: MockClock):
    recorder = Recorder()
    await use_spoilt(recorder)

    assert {kind for kind in recorder.fields if kind in _READERS or "reply" in kind} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
@SHORT_AND_FULL
async def test_no_field_that_changes_ends_the_reader_and_few_are_needed_in(
    autojump_clock: MockClock, kind: str, full: bool
):
    recorder = Recorder()
    well = codes(await use_spoilt(recorder))
    needed = {above for path in NEEDED.get(kind, ()) for above in accumulate(path.split("."), "{}.{}".format)}
    found: set[str] = set()

    for number, (path, value) in enumerate(recorder.fields[kind].items()):
        name = ".".join(map(str, path))
        for odd in odd_values(value, number, full=full):
            chromium = FakeChromium()
            answers = await use_spoilt(SpoilField(chromium, kind, path, odd), chromium)
            if codes(answers) != well:
                assert name in needed, f"{name} is {odd!r}: {codes(answers)}"
                found.add(name)

    assert found == needed
