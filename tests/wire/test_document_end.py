"""What becomes of those who wait for a document that ends, shows a dialog or answers nothing, in every order of
Chromium's words."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NamedTuple

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from bridge import limits
from bridge.errors import (
    BridgeError,
    CommandFailed,
    ConnectionLost,
    DialogOpen,
    NavigatedDuringCall,
    PageGone,
    PageStuck,
    PageUnresponsive,
)
from bridge.page.dialogs import Dialog
from bridge.page.discovery import BOUNDS
from bridge.page.document import Document, DocumentEnded
from bridge.page.frames import FrameId, Realm
from bridge.page.invocation import RESULT_BOUNDS
from bridge.page.kit import FRAME_GONE
from bridge.page.run import TERMINATED, Run, Why
from bridge.tools.sources.page import PageCall
from bridge.wire.commands import evaluate_in
from bridge.wire.connection import Session, open_connection
from bridge.wire.router import SessionId
from tests.pure.offers import offer
from tests.wire.conftest import Call, FakePeer, Link

SESSION = SessionId("S")
REALM = Realm("1.2", 1, "http://a.test", FrameId("F"), SESSION)
COMPLETED = {"how": "completed", "kind": "string", "text": "done"}
ABANDONED = {"how": "abandoned", "kind": "none", "text": ""}
DIALOG = Dialog("confirm", "Sure?", "http://a.test/")
GONE = PageGone("closed")
LOST = (
    "Page p1 navigated while the tool ran, so its answer is lost. "
    "It may have done its work: look at the page before you call again."
)


@pytest.fixture
async def link(peer: FakePeer) -> AsyncIterator[Link]:
    async with peer.open_link() as link:
        yield link


def start_run(link: Link, document: Document) -> Call:
    return Call(link._nursery, Run(document, 1, 0, 0, "{}").wait)


def document_of(link: Link, *, frame: str = "") -> Document:
    return Document(Session(link.connection, SESSION), REALM, page="p1", frame=frame, kit="k")


def answer(command_id: int, value: object) -> dict:
    return {"id": command_id, "sessionId": SESSION, "result": {"result": {"type": "object", "value": value}}}


def threw(command_id: int, class_name: str) -> dict:
    details = {"exceptionId": 1, "text": "Uncaught", "lineNumber": 0, "columnNumber": 0}
    result = {"result": {"type": "object", "className": class_name}, "exceptionDetails": details}
    return {"id": command_id, "sessionId": SESSION, "result": result}


class Asked(NamedTuple):
    """What the kit was asked: by which command, under which name, in which words."""

    command_id: int
    name: str
    words: list[Any]
    awaits_promise: bool
    timeout_ms: float | None


async def next_asked(peer: FakePeer) -> Asked:
    while (command := await peer.next_command())["method"] != "Runtime.evaluate":
        assert command["method"] == "Runtime.releaseObjectGroup"
    params = command["params"]
    assert params["uniqueContextId"] == REALM.unique_context_id
    assert command["sessionId"] == SESSION
    name, _, words = params["expression"].rpartition("\n")[2].partition("(")
    words = json.loads(json.loads(words.removesuffix(")")))
    return Asked(command["id"], name, words, params["awaitPromise"], params.get("timeout"))


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
    assert document.runs == set()
    if error is NavigatedDuringCall:
        assert str(run.error) == LOST


@pytest.mark.parametrize(
    "message", ["Inspected target navigated or closed", "Execution context was destroyed.", FRAME_GONE]
)
async def test_a_call_whose_answer_is_lost_has_ended_before_anything_else_says_so(
    peer: FakePeer, link: Link, message: str
):
    run = start_run(link, document_of(link))
    asked = await next_asked(peer)

    await peer.say(refusal(asked.command_id, message))
    await run.wait_ended()

    assert str(run.error) == LOST


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


async def test_a_call_is_for_its_realm_alone_and_has_a_number_of_its_own(peer: FakePeer, link: Link):
    document = document_of(link)
    start_run(link, document)
    start_run(link, document)
    first, second = [await next_asked(peer) for _ in range(2)]

    assert (first.name, first.words[:-2], first.words[-1]) == ("k", ["call", 1, 0, 0, "{}", []], [])
    assert (first.awaits_promise, first.timeout_ms) == (True, None)
    assert first.words[-2] != second.words[-2]
    document.end(GONE)


async def test_what_a_call_threw_is_no_answer_whatever_it_looks_like_and_the_page_need_not_keep_it(
    peer: FakePeer, link: Link
):
    run = start_run(link, document_of(link))
    command = await peer.next_command()
    thrown = threw(command["id"], "Object")
    thrown["result"]["result"]["value"] = COMPLETED

    await peer.say(thrown)
    await run.wait_ended()
    released = await peer.next_command()

    assert isinstance(run.error, CommandFailed)
    assert (released["method"], released["sessionId"]) == ("Runtime.releaseObjectGroup", SESSION)
    assert released["params"] == {"objectGroup": command["params"]["objectGroup"]}


async def test_only_the_first_outcome_of_a_run_counts(peer: FakePeer, link: Link):
    document = document_of(link)
    run = Run(document, 1, 0, 0, "{}")
    command_id, *_ = await next_asked(peer)

    document.end(GONE)
    assert link.connection._pending == {}
    await peer.say(answer(command_id, COMPLETED))
    await link.check_alive()

    assert run.is_ended
    with pytest.raises(PageGone) as caught:
        await run.wait()
    assert caught.value is GONE


@pytest.mark.parametrize("message", ["Script execution was terminated", "Internal error"])
async def test_a_run_whose_script_was_ended_by_force_has_ended_so(peer: FakePeer, link: Link, message: str):
    run = start_run(link, document_of(link))
    command_id, *_ = await next_asked(peer)

    await peer.say(refusal(command_id, message))
    await run.wait_ended()

    assert run.value is TERMINATED


async def test_a_run_that_is_refused_for_another_reason_is_told_that(peer: FakePeer, link: Link):
    run = start_run(link, document_of(link))
    command_id, *_ = await next_asked(peer)

    await peer.say(refusal(command_id, "No"))
    await run.wait_ended()

    assert isinstance(run.error, CommandFailed)
    assert run.error.reason == "No"


async def test_a_run_that_is_let_go_in_its_page_has_not_ended_by_that(peer: FakePeer, link: Link):
    document = document_of(link)
    run = Run(document, 1, 0, 0, "{}")
    command_id, *_ = await next_asked(peer)

    await peer.say(answer(command_id, ABANDONED))
    await link.check_alive()

    assert not run.is_ended
    assert document.runs == {run}
    document.end(GONE)
    assert run.is_ended


async def test_a_run_that_ends_while_it_is_let_go_has_ended_as_it_says(
    peer: FakePeer, link: Link, autojump_clock: MockClock
):
    run = Run(document_of(link), 1, 0, 0, "{}")
    called = await next_asked(peer)
    stops = Call(link._nursery, run.stop, Why.CANCELLED)
    told, let_go = [await next_asked(peer) for _ in range(2)]

    await peer.say(answer(called.command_id, COMPLETED), answer(let_go.command_id, None))
    await stops.wait_ended()

    assert [asked.words[0] for asked in (told, let_go)] == ["abort", "drop"]
    assert (await run.wait()).text == "done"


async def test_a_run_ends_with_its_link(peer: FakePeer, link: Link):
    run = start_run(link, document_of(link))
    await next_asked(peer)

    await peer.hang_up()
    await run.wait_ended()

    assert isinstance(run.error, ConnectionLost)


async def test_a_run_waits_for_a_dialog_and_its_callers_do_not(peer: FakePeer, link: Link):
    document = document_of(link)
    run = Run(document, 1, 0, 0, "{}")
    before = Call(link._nursery, run.wait)
    command_id, *_ = await next_asked(peer)

    document.show_dialog(DIALOG)
    await before.wait_ended()
    meanwhile = Call(link._nursery, run.wait)
    await meanwhile.wait_ended()
    document.close_dialog()
    after = Call(link._nursery, run.wait)
    await peer.say(answer(command_id, COMPLETED))
    await after.wait_ended()

    for call in (before, meanwhile):
        assert isinstance(call.error, DialogOpen)
        assert (call.error.dispatched, str(call.error)) == (True, str(DIALOG.error("p1", dispatched=True)))
    assert after.value.text == "done"


async def test_a_dialog_that_is_answered_as_it_opens_turns_nobody_away(peer: FakePeer, link: Link):
    document = document_of(link)
    run = start_run(link, document)
    asked = await next_asked(peer)

    document.show_dialog(DIALOG)
    document.close_dialog()
    await wait_all_tasks_blocked()
    assert (run.value, run.error) == (None, None)
    await peer.say(answer(asked.command_id, COMPLETED))
    await run.wait_ended()

    assert run.value.text == "done"


# Those who ask


@pytest.mark.parametrize(
    ("ask", "words", "awaits_promise", "timeout_ms"),
    [
        (Document.report, ["report"], False, None),
        (Document.wait_news, ["watch"], True, None),
        (
            lambda document: document.discover(0.5),
            ["discover", BOUNDS, 500, RESULT_BOUNDS],
            True,
            limits.LISTENER_SECONDS * 1000,
        ),
        (lambda document: document.ask("abort", 7, timeout_ms=125), ["abort", 7], False, 125),
    ],
    ids=["report", "news", "discover", "bounded"],
)
async def test_a_question_says_what_it_waits_for_also_when_it_is_asked_again_under_another_name(
    peer: FakePeer,
    link: Link,
    ask: Callable[[Document], Awaitable[object]],
    words: list[Any],
    awaits_promise: bool,
    timeout_ms: float | None,
):
    document = document_of(link)
    Call(link._nursery, ask, document)
    for known_as in ("k", "k", "k", "k_"):
        asked = await next_asked(peer)
        assert asked == (asked.command_id, known_as, words, awaits_promise, timeout_ms)
        if known_as == "k":
            await peer.say(threw(asked.command_id, "ReferenceError"))
    document.end(GONE)


async def test_a_round_of_discovery_begins_when_the_one_before_has_ended(peer: FakePeer, link: Link):
    document = document_of(link)
    rounds = [Call(link._nursery, document.discover, 0) for _ in range(2)]
    for number in (1, 2):
        asked = await next_asked(peer)
        await link.check_alive()
        await peer.say(answer(asked.command_id, {"round": number}))
    for call in rounds:
        await call.wait_ended()

    assert {call.value.round for call in rounds} == {1, 2}
    assert document.asked


async def test_a_document_whose_scripts_are_held_when_it_is_asked_is_asked_again_a_moment_later(
    peer: FakePeer, link: Link, autojump_clock: MockClock
):
    discovers = Call(link._nursery, document_of(link).discover, 0)
    held = await next_asked(peer)
    start = trio.current_time()
    await peer.say(answer(held.command_id, None))
    again = await next_asked(peer)
    assert trio.current_time() - start == pytest.approx(limits.NEWS_SECONDS)
    await peer.say(answer(again.command_id, {"round": 2}))
    await discovers.wait_ended()

    assert again.words == held.words
    assert discovers.value.round == 2


async def test_a_document_that_does_not_answer_in_time_is_unresponsive(
    peer: FakePeer, link: Link, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "PAGE_ANSWER_SECONDS", 1)
    document = document_of(link)
    start = trio.current_time()
    discovers = Call(link._nursery, document.discover, 0.5)
    await discovers.wait_ended()

    assert type(discovers.error) is PageUnresponsive
    assert str(discovers.error) == str(PageUnresponsive("p1", 1))
    assert trio.current_time() - start == pytest.approx(1.5)
    assert document.asked


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("Script execution was terminated", PageUnresponsive("p1", limits.LISTENER_SECONDS)),
        ("No", CommandFailed("Runtime.evaluate", "No")),
    ],
)
async def test_a_round_that_fails_is_told_with_its_reason(peer: FakePeer, link: Link, message: str, error: BridgeError):
    document = document_of(link)
    discovers = Call(link._nursery, document.discover, 0)
    asked = await next_asked(peer)
    await peer.say(refusal(asked.command_id, message))
    await discovers.wait_ended()

    assert (type(discovers.error), str(discovers.error)) == (type(error), str(error))
    assert document.asked


@pytest.mark.parametrize(
    "happens", [Document.end, lambda document: document.show_dialog(DIALOG)], ids=["end", "dialog"]
)
async def test_an_answer_that_comes_just_before_its_document_ends_or_a_dialog_opens_counts(
    peer: FakePeer, link: Link, happens: Callable[[Document], None]
):
    document = document_of(link)
    link.connection.listen(SESSION, lambda _: happens(document))
    asks = Call(link._nursery, document.report)
    asked = await next_asked(peer)

    cleared = {"method": "Runtime.executionContextsCleared", "params": {}, "sessionId": SESSION}
    await peer.say(answer(asked.command_id, {"round": 1}), cleared)
    await asks.wait_ended()

    assert (asks.error, asks.value.round) == (None, 1)
    with pytest.raises((DocumentEnded, DialogOpen)):
        document.check_answers()


async def test_a_document_keeps_nothing_of_who_has_asked_it(peer: FakePeer, link: Link):
    document = document_of(link)
    calls = [Call(link._nursery, document.report) for _ in range(4)]
    asked = [await next_asked(peer) for _ in calls]

    await peer.say(answer(asked[0].command_id, None), refusal(asked[1].command_id, "No"))
    await calls[2].cancel()
    document.show_dialog(DIALOG)
    for call in calls:
        await call.wait_ended()

    assert document._scopes == set()


@pytest.mark.parametrize(("gone", "error"), [(None, DocumentEnded), (GONE, PageGone)])
async def test_who_asks_a_document_leaves_when_it_ends_and_finds_it_ended_later(
    peer: FakePeer, link: Link, gone: PageGone | None, error: type[Exception]
):
    document = document_of(link)
    calls = [Call(link._nursery, ask) for ask in (document.report, document.wait_news, document.wait_ready)]
    for _ in range(2):
        await next_asked(peer)

    document.end(gone)
    calls += [Call(link._nursery, ask) for ask in (document.report, document.wait_news, document.wait_ready)]
    for call in calls:
        await call.wait_ended()

    assert {type(call.error) for call in calls} == {error}
    assert document.wanted.is_set()
    for ask in (document.check_answers, lambda: Run(document, 1, 0, 0, "{}")):
        with pytest.raises(error):
            ask()
    await link.check_alive()


async def test_a_dialog_turns_away_who_asks_and_lets_who_waits_for_news_look_afterwards(peer: FakePeer, link: Link):
    document = document_of(link)
    asks, news = Call(link._nursery, document.report), Call(link._nursery, document.wait_news)
    for _ in range(2):
        await next_asked(peer)

    document.show_dialog(DIALOG)
    await asks.wait_ended()
    late = Call(link._nursery, document.wait_ready)
    await late.wait_ended()
    with pytest.raises(DialogOpen):
        document.check_answers()
    assert news.value is None
    document.close_dialog()
    await news.wait_ended()

    for call in (asks, late):
        assert isinstance(call.error, DialogOpen)
        assert (call.error.dispatched, str(call.error)) == (False, str(DIALOG.error("p1", dispatched=False)))
    assert news.value == "answers"
    document.check_answers()
    asks = Call(link._nursery, document.report)
    asked = await next_asked(peer)
    await peer.say(answer(asked.command_id, None))
    await asks.wait_ended()
    assert (asked.words, asks.error, asks.value) == (["report"], None, None)


async def test_each_dialog_is_waited_for_anew_by_who_waits_for_news(peer: FakePeer, link: Link):
    document = document_of(link)
    document.show_dialog(DIALOG)
    document.close_dialog()
    document.show_dialog(DIALOG)
    news = Call(link._nursery, document.wait_news)
    await wait_all_tasks_blocked()

    assert (news.value, news.error) == (None, None)
    document.end()
    await news.wait_ended()
    assert news.value == "answers"


async def test_a_document_is_ready_once_its_own_scripts_have_run(peer: FakePeer, link: Link):
    document = document_of(link)
    waits = Call(link._nursery, document.wait_ready)
    await wait_all_tasks_blocked()
    assert not document.is_ready
    assert not document.wanted.is_set()

    document.scripts_have_run()
    await waits.wait_ended()

    assert waits.error is None
    assert document.is_ready
    assert document.wanted.is_set()


@pytest.mark.parametrize("is_refused", [False, True])
async def test_a_document_that_has_not_answered_since_a_run_was_stopped_takes_no_call(
    peer: FakePeer, link: Link, is_refused: bool
):
    document = document_of(link)
    document.check_answers()
    document.is_forced = True
    document.probe, answered = document.begin_probe(evaluate_in(REALM.unique_context_id, 'k("[]")'))
    command_id, *_ = await next_asked(peer)

    assert document.is_stuck
    for ask in (document.check_answers, lambda: Run(document, 1, 0, 0, "{}")):
        with pytest.raises(PageStuck, match=r"^Page p1 answers nothing"):
            ask()
    with pytest.raises(PageStuck):
        await document.discover(0)
    await peer.say(refusal(command_id, "No") if is_refused else answer(command_id, None))
    await answered.wait()

    assert not document.is_stuck
    assert not document.is_forced
    document.check_answers()


@pytest.mark.parametrize(
    "message",
    [
        "uniqueContextId not found",
        "Cannot find context with specified id",
        "Inspected target navigated or closed",
        "Execution context was destroyed.",
        FRAME_GONE,
    ],
)
@pytest.mark.parametrize(("gone", "error"), [(None, DocumentEnded), (GONE, PageGone)])
async def test_a_document_that_chromium_knows_no_more_has_ended_and_how_is_still_heard(
    peer: FakePeer, link: Link, message: str, gone: PageGone | None, error: type[Exception]
):
    document = document_of(link)
    asks = Call(link._nursery, document.report)
    command_id, *_ = await next_asked(peer)

    await peer.say(refusal(command_id, message))
    await wait_all_tasks_blocked()
    assert asks.error is None
    document.end(gone)
    await asks.wait_ended()

    assert type(asks.error) is error


async def test_a_document_that_chromium_knows_no_more_has_ended_also_when_nothing_else_says_so(
    peer: FakePeer, link: Link, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "PAGE_ANSWER_SECONDS", 1)
    asks = Call(link._nursery, document_of(link).report)
    command_id, *_ = await next_asked(peer)

    start = trio.current_time()
    await peer.say(refusal(command_id, "uniqueContextId not found"))
    await asks.wait_ended()

    assert type(asks.error) is DocumentEnded
    assert trio.current_time() - start == pytest.approx(1)


async def test_a_question_that_chromium_refuses_for_another_reason_is_told_that(peer: FakePeer, link: Link):
    asks = Call(link._nursery, document_of(link).report)
    command_id, *_ = await next_asked(peer)

    await peer.say(refusal(command_id, "No"))
    await asks.wait_ended()

    assert isinstance(asks.error, CommandFailed)
    assert asks.error.reason == "No"


async def test_a_kit_that_was_cut_short_is_asked_for_under_another_name_and_not_without_end(peer: FakePeer, link: Link):
    document = document_of(link)
    asks = Call(link._nursery, document.report)
    for known_as in ("k", "k_", "k__", "k___"):
        for _ in range(3):
            asked = await next_asked(peer)
            assert asked.name == known_as
            await peer.say(threw(asked.command_id, "ReferenceError"))
    await asks.wait_ended()

    assert isinstance(asks.error, CommandFailed)
    assert str(asks.error) == (
        "Runtime.evaluate failed: its script was ended by force again and again. "
        "Try again; reload the page if it stays so."
    )


async def test_two_who_find_the_same_kit_cut_short_go_on_under_one_name(peer: FakePeer, link: Link):
    document = document_of(link)
    both = [Call(link._nursery, document.report) for _ in range(2)]
    for _ in range(6):
        asked = await next_asked(peer)
        assert asked.name == "k"
        await peer.say(threw(asked.command_id, "ReferenceError"))
    for _ in range(2):
        asked = await next_asked(peer)
        assert asked.name == "k_"
        await peer.say(answer(asked.command_id, None))
    for call in both:
        await call.wait_ended()

    assert [call.error for call in both] == [None, None]


async def test_who_finds_late_that_a_kit_was_cut_short_asks_under_the_name_that_is_known_by_then(
    peer: FakePeer, link: Link
):
    document = document_of(link)
    for _ in range(2):
        Call(link._nursery, document.report)
    late = await next_asked(peer)
    for known_as in ("k", "k_"):
        for _ in range(3):
            asked = await next_asked(peer)
            assert asked.name == known_as
            await peer.say(threw(asked.command_id, "ReferenceError"))
    assert (await next_asked(peer)).name == "k__"

    for _ in range(3):
        assert late.name == "k"
        await peer.say(threw(late.command_id, "ReferenceError"))
        late = await next_asked(peer)
    assert late.name == "k__"
    document.end(GONE)


async def test_a_document_has_its_time_to_answer_to_the_last_moment_and_not_a_moment_more(
    autojump_clock: MockClock, peer: FakePeer
):
    seconds = limits.PAGE_ANSWER_SECONDS + limits.DISCOVERY_SECONDS
    async with open_connection(peer.transport) as connection, trio.open_nursery() as nursery:
        document = document_of(Link(peer, connection, nursery))

        in_time = Call(nursery, document.discover, limits.DISCOVERY_SECONDS)
        asked, *_ = await next_asked(peer)
        await trio.sleep(seconds - 0.001)
        await peer.say(answer(asked, {"round": 7, "groups": []}))
        await in_time.wait_ended()

        began = trio.current_time()
        late = Call(nursery, document.discover, limits.DISCOVERY_SECONDS)
        await next_asked(peer)
        await late.wait_ended()
        took = trio.current_time() - began

    assert in_time.value.round == 7
    assert isinstance(late.error, PageUnresponsive)
    assert took == pytest.approx(seconds)


async def test_a_document_is_told_how_long_its_listeners_and_its_late_answers_may_take(peer: FakePeer, link: Link):
    call = Call(link._nursery, document_of(link).discover, limits.DISCOVERY_SECONDS)
    command = await peer.next_command()
    word, bounds, grace, _ = json.loads(json.loads(command["params"]["expression"].partition("(")[2][:-1]))
    await peer.say(refusal(command["id"], "Internal error"))
    await call.wait_ended()

    assert "1 s" in str(call.error)
    assert (word, command["params"]["timeout"]) == ("discover", 1000)
    assert (bounds["patience"], grace) == (1000, 1000)
