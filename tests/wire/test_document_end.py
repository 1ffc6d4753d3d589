"""What becomes of a call whose document ends while it is on its way, in every order of Chromium's words."""

from collections.abc import AsyncIterator

import pytest
import trio
from trio.testing import MockClock

from bridge import limits
from bridge.errors import CommandFailed, NavigatedDuringCall, PageGone
from bridge.page.document import Document, DocumentEnded
from bridge.page.frames import FrameId, Realm
from bridge.page.run import Run
from bridge.tools.sources.page import PageCall
from bridge.wire.connection import Session
from bridge.wire.router import SessionId
from tests.pure.offers import offer
from tests.wire.conftest import Call, FakePeer, Link

SESSION = SessionId("S")
REALM = Realm("1.2", 1, "http://a.test", FrameId("F"), SESSION)
COMPLETED = {"how": "completed", "kind": "string", "text": "done"}


@pytest.fixture
async def link(peer: FakePeer) -> AsyncIterator[Link]:
    async with peer.open_link() as link:
        yield link


def start_run(link: Link, document: Document) -> Call:
    return Call(link._nursery, Run(document, 1, 0, 0, "{}").wait)


def document_of(link: Link, *, frame: str = "") -> Document:
    return Document(Session(link.connection, SESSION), REALM, page="p1", frame=frame, kit="k")


def refusal(command_id: int, message: str) -> dict:
    return {"id": command_id, "sessionId": SESSION, "error": {"code": -32000, "message": message}}


@pytest.mark.parametrize(
    ("message", "frame", "error"),
    [
        ("uniqueContextId not found", "", DocumentEnded),
        ("uniqueContextId not found", "f1", DocumentEnded),
        ("Cannot find context with specified id", "", DocumentEnded),
        ("Cannot find context with specified id", "f1", NavigatedDuringCall),
        ("Inspected target navigated or closed", "", NavigatedDuringCall),
        ("Execution context was destroyed.", "f1", NavigatedDuringCall),
    ],
)
async def test_what_chromium_says_last_tells_a_call_that_ran_from_one_that_came_too_late(
    peer: FakePeer, link: Link, message: str, frame: str, error: type[Exception]
):
    document = document_of(link, frame=frame)
    run = start_run(link, document)
    command = await peer.next_command()

    document.end()
    await peer.say(refusal(command["id"], message))
    await run.wait_ended()

    assert type(run.error) is error


async def test_an_answer_that_overtakes_the_end_counts(peer: FakePeer, link: Link):
    document = document_of(link)
    run = start_run(link, document)
    command = await peer.next_command()

    document.end()
    await peer.say(
        {"id": command["id"], "sessionId": SESSION, "result": {"result": {"type": "object", "value": COMPLETED}}}
    )
    await run.wait_ended()

    assert (run.error, run.value.text) == (None, "done")


async def test_a_document_that_ended_without_a_last_word_leaves_nothing_known(
    peer: FakePeer, link: Link, autojump_clock: MockClock
):
    document = document_of(link)
    run = start_run(link, document)
    await peer.next_command()
    start = trio.current_time()

    document.end()
    await run.wait_ended()

    assert type(run.error) is NavigatedDuringCall
    assert trio.current_time() - start == pytest.approx(limits.LAST_WORD_SECONDS)


async def test_a_page_that_is_gone_says_nothing_more_and_is_not_waited_for(peer: FakePeer, link: Link):
    document, gone = document_of(link), PageGone("closed")
    run = start_run(link, document)
    await peer.next_command()

    document.end(gone)
    await run.wait_ended()

    assert run.error is gone
    with pytest.raises(PageGone):
        Run(document, 1, 0, 0, "{}")


@pytest.mark.parametrize(
    "reply",
    [
        {"result": {"type": "undefined"}},
        {
            "result": {"type": "object"},
            "exceptionDetails": {"exceptionId": 1, "text": "Uncaught", "lineNumber": 0, "columnNumber": 0},
        },
        {},
    ],
)
async def test_a_call_whose_answer_can_not_be_read_has_run(peer: FakePeer, link: Link, reply: dict):
    [tool] = offer("add")
    run = Run(document_of(link), 1, 0, 0, "{}")
    call = Call(link._nursery, PageCall(tool, run, ()).wait)
    command = await peer.next_command()

    await peer.say({"id": command["id"], "sessionId": SESSION, "result": reply})
    await call.wait_ended()

    assert isinstance(call.error, CommandFailed)
    assert (call.error.dispatched, call.error.outcome) == (True, "unknown")
