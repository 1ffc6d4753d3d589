"""Whatever comes instead of what a browser says, each request is answered in time, and the next page works."""

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import pytest
import trio
from hypothesis import strategies as st
from trio.testing import MockClock

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.frame import unframe
from bridge.settings import AgentSettings
from bridge.wire.router import Json
from bridge.wire.transports import Transport
from tests.faults.bridges import open_bridge_over
from tests.faults.fake_chromium import ORIGIN, WORDS, FakeChromium
from tests.faults.fake_links import DirectTransport
from tests.faults.messages import SpoiltTransport, fields_of
from tests.faults.session import LONGEST_SECONDS, use
from tests.fuzz.lines import values
from tests.fuzz.minutes import Steps, fuzz

pytestmark = pytest.mark.fuzz

Instead = Callable[["Spoiler", Json], Sequence[Json | bytes]]
"""What comes in the place of one message."""

EVENTS: Final = (
    "Inspector.detached",
    "Inspector.targetCrashed",
    "Inspector.targetReloadedAfterCrash",
    "Page.documentOpened",
    "Page.frameAttached",
    "Page.frameDetached",
    "Page.frameNavigated",
    "Page.frameStartedLoading",
    "Page.frameStoppedLoading",
    "Page.frameStartedNavigating",
    "Page.javascriptDialogClosed",
    "Page.javascriptDialogOpening",
    "Page.lifecycleEvent",
    "Page.navigatedWithinDocument",
    "Runtime.executionContextCreated",
    "Runtime.executionContextDestroyed",
    "Runtime.executionContextsCleared",
    "Target.attachedToTarget",
    "Target.detachedFromTarget",
    "Target.targetCrashed",
    "Target.targetCreated",
    "Target.targetDestroyed",
    "Target.targetInfoChanged",
)


class Spoiler:
    """Lets what a browser says be spoilt by a plan, as long as it is `on`."""

    def __init__(self, plan: Sequence[tuple[int, Instead]]) -> None:
        self.on = True
        self.seen: list[Json] = []
        self.held: list[Json | bytes] = []
        """What is to come after the next message."""
        self._plan = iter(plan)
        self._take_next()

    def _take_next(self) -> None:
        self._left, self._instead = next(self._plan, (-1, None))

    def __call__(self, _: str, message: Json) -> Sequence[Json | bytes]:
        held, self.held = self.held, []
        self.seen.append(message)
        if not self.on or self._instead is None:
            return [message, *held]
        if self._left > 0:
            self._left -= 1
            return [message, *held]
        instead = self._instead
        self._take_next()
        return [*instead(self, message), *held]


def again(back: int) -> Instead:
    """A message that came before comes again, first."""
    return lambda spoiler, message: [spoiler.seen[-1 - back % len(spoiler.seen)], message]


def late(spoiler: Spoiler, message: Json) -> Sequence[Json]:
    spoiler.held.append(message)
    return []


def with_field(place: int, odd: object) -> Instead:
    """One field has another value, or none where `odd` is `...`."""

    def spoil(_: Spoiler, message: Json) -> Sequence[Json]:
        spoilt = json.loads(json.dumps(message))
        paths = [path for path, _ in fields_of(spoilt)]
        *way, last = paths[place % len(paths)]
        inner: Any = spoilt
        for step in way:
            inner = inner[step]
        if odd is ...:
            del inner[last]
        else:
            inner[last] = odd
        return [spoilt]

    return spoil


def with_field_of_another(place: int, back: int) -> Instead:
    """One field has the value that another message had there."""

    def spoil(spoiler: Spoiler, message: Json) -> Sequence[Json | bytes]:
        other = dict(fields_of(spoiler.seen[-1 - back % len(spoiler.seen)]))
        shared = [number for number, (path, _) in enumerate(fields_of(message)) if path in other]
        if not shared:
            return [message]
        number = shared[place % len(shared)]
        path, _ = list(fields_of(message))[number]
        return with_field(number, other[path])(spoiler, message)

    return spoil


def invented(method: str, back: int, params: object) -> Instead:
    """An event with the words of another one, or any, comes first."""

    def spoil(spoiler: Spoiler, message: Json) -> Sequence[Json]:
        other = spoiler.seen[-1 - back % len(spoiler.seen)]
        event: Json = {"method": method, "params": other.get("params", {}) if params is None else params}
        return [event | ({"sessionId": other["sessionId"]} if "sessionId" in other else {}), message]

    return spoil


def renamed(method: str) -> Instead:
    return lambda _, message: [message | {"method": method}]


def raw(data: bytes) -> Instead:
    return lambda _, message: [data, message]


def cut(place: int) -> Instead:
    def spoil(_: Spoiler, message: Json) -> Sequence[bytes]:
        data = json.dumps(message).encode()
        return [data[: 2 + place % (len(data) - 2)]]

    return spoil


_number = st.integers(0, 200)
_names = st.sampled_from(EVENTS)
insteads: Final = st.one_of(
    st.just(lambda *_: []),
    st.just(late),
    st.builds(again, st.integers(0, 20)),
    st.builds(with_field, _number, values | st.just(...)),
    st.builds(with_field_of_another, _number, _number),
    st.builds(invented, _names, st.integers(0, 30), st.none() | values | st.dictionaries(st.just("frame"), values)),
    st.builds(renamed, _names),
    st.builds(
        lambda code, words: lambda _, message: [{"id": message.get("id"), "error": {"code": code, "message": words}}],
        values,
        values,
    ),
)
"""What costs a message, or a page, at most."""
ends: Final = st.builds(raw, st.binary(max_size=20)) | st.builds(cut, _number)
"""What may cost the link."""


@dataclass(frozen=True)
class Session:
    """What a browser says otherwise than it should: so many messages after the one before."""

    plan: Sequence[tuple[int, Instead]]
    happens: bool
    direct: bool


sessions = st.builds(
    Session,
    plan=st.lists(
        st.tuples(st.integers(0, 12) | st.integers(0, 60), insteads | insteads | insteads | ends),
        min_size=1,
        max_size=15,
    ),
    happens=st.booleans(),
    direct=st.booleans(),
)


async def use_spoilt(session: Session) -> None:
    spoiler = Spoiler(session.plan)
    transports: list[DirectTransport] = []

    @asynccontextmanager
    async def open_transport() -> AsyncGenerator[Transport]:
        transports.append(DirectTransport(FakeChromium()))
        yield SpoiltTransport(transports[-1], spoiler)

    async with open_bridge_over(open_transport) as bridge:
        agent = Agent(bridge, AgentSettings(direct=session.direct))
        await use(agent, (lambda what: transports[-1].happen(what)) if session.happens else None)
        spoiler.on = False
        await check_next_page(agent)
        left = trio.current_time()
    assert trio.current_time() - left <= 2 * limits.CLOSE_SECONDS + limits.GRACE_SECONDS


async def check_next_page(agent: Agent) -> None:
    """A page that is opened from now on lists its tools, and runs one."""
    with trio.fail_after(limits.START_SECONDS + limits.RECONNECT_SECONDS_MAX + LONGEST_SECONDS):
        while (await agent.list_pages()).is_error:  # noqa: ASYNC110  # as an agent would
            await trio.sleep(1)
    with trio.fail_after(3 * LONGEST_SECONDS):
        opened = await agent.open_page(f"{ORIGIN}/well")
        assert not opened.is_error, opened
        page = json.loads(opened.text)["page"]
        listed = await agent.list_page_tools(page, None, None)
        said = await agent.call_page_tool(page, "say", {})
    assert '"say"' in listed.text, listed.text
    assert unframe(said.text) == WORDS * 20


def test_a_browser_that_says_anything_harms_nothing_but_its_pages():
    def try_one(session: Session, steps: Steps) -> None:
        trio.run(use_spoilt, session, clock=MockClock(autojump_threshold=0), instruments=[steps])

    fuzz(try_one, sessions, share=0.5)
