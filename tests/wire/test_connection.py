"""Commands, replies and events between a connection and a fake browser."""

import json

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from bridge import limits
from bridge.errors import CommandFailed
from bridge.wire.commands import inspector, page, target
from bridge.wire.connection import open_connection
from bridge.wire.router import Json, RawEvent, SessionId
from bridge.wire.transports import Transport
from bridge.wire.watched import CONSOLE_EVENTS, LogAdded

S1 = SessionId("S1")
CRASHED: Json = {"method": "Inspector.targetCrashed", "params": {}, "sessionId": "S1"}


# Replies


async def test_each_command_gets_its_own_reply_whatever_their_order(peer):
    async with peer.open_link() as link:
        first = link.start(target.create_target("https://a.example"), S1)
        asked_first = await peer.next_command()
        second = link.start(target.create_target("https://b.example"))
        asked_second = await peer.next_command()
        await peer.say({"id": asked_second["id"], "result": {"targetId": "B"}})
        await peer.say({"id": asked_first["id"], "result": {"targetId": "A"}})

    assert asked_first["params"]["url"] == "https://a.example"
    assert asked_first["sessionId"] == "S1"
    assert "sessionId" not in asked_second
    assert (first.value, second.value) == ("A", "B")


@pytest.mark.threat("L2")
async def test_a_reply_that_came_before_its_command_is_not_its_answer_and_only_the_first_counts(peer):
    async with peer.open_link() as link:
        await peer.say({"id": 1, "result": {"targetId": "early"}})
        await wait_all_tasks_blocked()
        call = link.start(target.create_target("about:blank"))
        assert (await peer.next_command())["id"] == 1
        await peer.say({"id": 1, "result": {"targetId": "right"}}, {"id": 1, "result": {"targetId": "late"}})

    assert call.value == "right"


async def test_a_reply_that_comes_while_its_command_is_still_being_sent_is_kept():
    class Instant(Transport):
        def __init__(self) -> None:
            self._answers, self._received = trio.open_memory_channel[bytes](1)

        async def send(self, message: bytes) -> None:
            answer = {"id": json.loads(message)["id"], "result": {"targetId": "T"}}
            self._answers.send_nowait(json.dumps(answer).encode())
            await wait_all_tasks_blocked()

        async def receive(self) -> bytes:
            return await self._received.receive()

        async def aclose(self) -> None:
            pass

    with trio.fail_after(2):
        async with open_connection(Instant()) as connection:
            assert await connection.run(target.create_target("about:blank")) == "T"


async def test_a_refused_command_says_which_and_why(peer):
    async with peer.open_link() as link:
        call = link.start(page.enable(), S1)
        await peer.next_command()
        await peer.say({"id": 1, "error": {"code": -32000, "message": "Not allowed", "data": "for you"}})

    assert isinstance(call.error, CommandFailed)
    assert str(call.error).startswith("Page.enable failed: Not allowed: for you. Try again")
    assert (call.error.method, call.error.error_code) == ("Page.enable", -32000)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("no", "an error of an unknown form"),
        ({}, "an error of an unknown form"),
        ([1], "an error of an unknown form"),
        ({"message": {"deep": 1}, "code": "x", "data": 7}, "no reason given"),
        ({"message": "\n", "data": "\t"}, "no reason given"),
        ({"message": "No,\r\nand no", "data": "\n"}, "No, and no"),
    ],
)
async def test_a_refusal_of_an_unknown_form_is_never_a_success(peer, error, reason):
    async with peer.open_link() as link:
        call = link.start(page.enable())
        await peer.next_command()
        await peer.say({"id": 1, "result": {}, "error": error})

    assert isinstance(call.error, CommandFailed)
    assert (call.error.method, call.error.reason, call.error.error_code) == ("Page.enable", reason, None)


@pytest.mark.parametrize("answer", [{"result": {}}, {"result": 7}, {}])
async def test_an_answer_that_lacks_a_field_fails_its_command_alone(peer, answer):
    async with peer.open_link() as link:
        call = link.start(target.create_target("about:blank"))
        await peer.next_command()
        await peer.say({"id": 1} | answer)
        await call.wait_ended()
        await link.check_alive()

    assert isinstance(call.error, CommandFailed)
    assert "Target.createTarget failed: its answer cannot be read, for it lacks 'targetId'." in str(call.error)


async def test_a_command_that_cannot_be_json_is_refused_before_it_is_sent(peer):
    async with peer.open_link() as link:
        call = link.start(page.add_script_to_evaluate_on_new_document(float("nan")))  # type: ignore[arg-type]
        await call.wait_ended()
        await link.check_alive()

    assert isinstance(call.error, CommandFailed)
    assert "Page.addScriptToEvaluateOnNewDocument failed: its parameters cannot be sent" in str(call.error)


async def test_a_command_that_nobody_waits_for_is_sent_and_its_refusal_dropped(peer):
    async with peer.open_link() as link:
        link.connection.send_nowait(page.enable(), S1)
        command = await peer.next_command()
        await peer.say({"id": command["id"], "error": {"code": -32000, "message": "no"}})
        await link.check_alive()

    assert (command["method"], command["sessionId"]) == ("Page.enable", "S1")


# Cancelling


async def test_cancelled_command_leaves_nothing_behind(peer):
    async with peer.open_link() as link:
        call = link.start(page.enable())
        command = await peer.next_command()
        await call.cancel()

        assert link.connection._pending == {}
        await peer.say({"id": command["id"], "result": {}})
        await link.check_alive()


async def test_cancelling_one_command_leaves_the_others_waiting(peer):
    async with peer.open_link() as link:
        kept = link.start(target.create_target("about:blank"))
        command = await peer.next_command()
        dropped = link.start(page.enable())
        await peer.next_command()
        await dropped.cancel()
        await peer.say({"id": command["id"], "result": {"targetId": "T"}})

    assert kept.value == "T"


async def test_a_command_cancelled_by_an_event_beside_its_reply_ends_in_peace(peer):
    async with peer.open_link() as link:
        call = link.start(page.enable())
        link.connection.listen(None, lambda _: call.cancel_nowait())
        await peer.next_command()
        await peer.say({"method": "A.b"}, {"id": 1, "result": {}}, {"method": "A.b"})
        await call.wait_ended()

        assert link.connection._pending == {}
        assert call.error is None
        await link.check_alive()


async def test_commands_cancelled_while_the_browser_does_not_read_cut_no_message(slow_peer):
    long = "https://a.example/" + "x" * 10_000

    async with slow_peer.open_link() as link:
        calls = [link.start(target.create_target(long)) for _ in range(3)]
        await slow_peer.read(at_most=10)
        for call in calls:
            await call.cancel()
        commands = [await slow_peer.next_command() for _ in calls]
        await link.check_alive()

    assert [(command["id"], command["params"]["url"]) for command in commands] == [
        (1, long),
        (2, long),
        (3, long),
    ]


# Events


async def test_events_go_to_the_handler_of_their_session(peer):
    events: dict[str, list[object]] = {"browser": [], "page": []}

    async with peer.open_link() as link:
        link.connection.listen(None, events["browser"].append)
        link.connection.listen(S1, events["page"].append)
        await peer.say(CRASHED, {"method": "A.b", "params": {"c": 1}}, CRASHED | {"sessionId": "S2"})
        await link.check_alive()

    assert events == {"browser": [RawEvent("A.b", {"c": 1}, None)], "page": [inspector.TargetCrashed()]}


async def test_events_around_a_reply_are_handed_out_in_their_order(peer):
    order: list[str] = []

    async def run_and_note(link) -> None:
        await link.connection.run(page.enable(), S1)
        order.append("reply")

    async with peer.open_link() as link, trio.open_nursery() as nursery:
        link.connection.listen(S1, lambda _: order.append("event"))
        nursery.start_soon(run_and_note, link)
        await peer.next_command()
        await peer.say(CRASHED, {"id": 1, "result": {}})

    assert order == ["event", "reply"]


async def test_no_event_of_a_burst_is_lost_and_their_order_is_kept(peer):
    numbers: list[int] = []
    burst = [{"method": "A.b", "params": {"number": number}} for number in range(10_000)]

    async with peer.open_link() as link:
        link.connection.listen(None, lambda event: numbers.append(event.params["number"]))
        await peer.say(*burst)
        await link.check_alive()

    assert numbers == list(range(10_000))


async def test_a_handler_may_send_and_may_listen_to_what_comes_next(peer):
    seen: list[object] = []

    async with peer.open_link() as link:

        def on_browser_event(_: object) -> None:
            link.connection.listen(S1, seen.append)
            link.connection.send_nowait(page.enable(), S1)

        link.connection.listen(None, on_browser_event)
        await peer.say({"method": "A.attached"}, CRASHED)
        assert (await peer.next_command())["method"] == "Page.enable"

    assert seen == [inspector.TargetCrashed()]


async def test_an_event_that_somebody_watches_is_handed_out_and_one_too_many_is_not_even_parsed(peer, monkeypatch):
    monkeypatch.setattr(limits, "WATCHED_EVENTS_AT_ONCE", 1)
    monkeypatch.setattr(limits, "WATCHED_EVENTS_PER_SECOND", 0)
    method = "Log.entryAdded"
    entry = b'{"method":"Log.entryAdded","params":{"entry":{"level":"info","text":"said"}},"sessionId":"S1"}'
    seen: list[object] = []
    async with peer.open_link() as link:
        link.connection.listen(S1, seen.append)
        call = link.start(target.create_target("about:blank"))
        command = await peer.next_command()
        await peer.say(entry)
        await wait_all_tasks_blocked()
        link.connection.hearing.add(CONSOLE_EVENTS)
        await peer.say(entry)
        await peer.say(b'{"method":"Log.entryAdded","params":{', {"id": command["id"], "result": {"targetId": "T"}})

    assert call.value == "T"
    assert [event.text for event in seen if isinstance(event, LogAdded)] == ["said"] * len(seen) == ["said"]
    assert link.connection.hearing.missed[method] == 1


async def test_an_event_that_is_for_nobody_is_not_even_parsed(peer):
    async with peer.open_link() as link:
        call = link.start(target.create_target("about:blank"))
        command = await peer.next_command()
        await peer.say(b'{"method":"Foo.barHappened","params":{', {"id": command["id"], "result": {"targetId": "T"}})

    assert call.value == "T"
