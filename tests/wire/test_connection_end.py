"""What a connection must survive, what must end it, and who is told."""

from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from bridge import limits
from bridge.errors import CommandFailed, ConnectionLost, PageGone
from bridge.limits import CLOSE_SECONDS
from bridge.wire.commands import page, target
from bridge.wire.connection import open_connection
from bridge.wire.router import SessionId
from bridge.wire.transports import Transport, TransportEnded

S1, S2 = SessionId("S1"), SessionId("S2")


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"id": 4711, "result": {}}, id="reply with an unknown id"),
        pytest.param({"id": -1, "error": {"message": "no"}}, id="refusal with an unknown id"),
        pytest.param({"id": 10**30, "result": {}}, id="reply with a huge id"),
        pytest.param(b'{"id":4711,"id":4712}', id="duplicate keys"),
        pytest.param({"error": {"code": -32700, "message": "JSON: stack limit"}}, id="refusal without an id"),
        pytest.param({"method": "Foo.barHappened", "sessionId": "S1"}, id="unknown event"),
        pytest.param({"method": "Foo.barHappened", "sessionId": "S2"}, id="event of an unknown session"),
        pytest.param({"method": "Page.frameNavigated", "params": {}, "sessionId": "S1"}, id="missing field"),
        pytest.param(
            {"method": "Page.frameNavigated", "params": {"frame": 7}, "sessionId": "S1"}, id="field of another type"
        ),
        pytest.param(
            {
                "method": "Page.javascriptDialogOpening",
                "params": {"url": "", "message": "", "type": "newer than PyCDP", "hasBrowserHandler": True},
                "sessionId": "S1",
            },
            id="unknown enum value",
        ),
    ],
)
async def test_the_link_survives_a(peer, message):
    async with peer.open_link() as link:
        link.connection.listen(S1, lambda _: None)
        pending = link.start(target.create_target("about:blank"))
        command = await peer.next_command()
        await peer.say(message)
        await link.check_alive(S1)
        await peer.say({"id": command["id"], "result": {"targetId": "T"}})

    assert pending.value == "T"


async def test_a_message_of_ours_that_the_browser_could_not_read_is_logged(peer, caplog):
    async with peer.open_link() as link:
        await peer.say({"error": {"code": -32700, "message": "JSON: stack limit exceeded"}})
        await link.check_alive()

    assert [(record.levelname, record.name) for record in caplog.records] == [("WARNING", "bridge.wire.connection")]
    assert "JSON: stack limit exceeded" in caplog.text


@pytest.mark.threat("L2")
@pytest.mark.parametrize(
    ("message", "words"),
    [
        pytest.param(b"<html>", "sent a message that is not JSON: b'<html>' (6 bytes)", id="not JSON"),
        pytest.param(b'"\xff"', "sent a message that is not UTF-8: b'\"\\xff\"' (3 bytes)", id="not UTF-8"),
        pytest.param(b"[" * 100_000, "sent a message that is nested too deeply: b'[[[", id="deep"),
        pytest.param([], "sent a message that is neither reply nor event: b'[]' (2 bytes)", id="list"),
        pytest.param(7, "sent a message that is neither reply nor event: b'7' (1 bytes)", id="number"),
        pytest.param({"id": True}, "neither reply nor event: b'{\"id\": true}' (12 bytes)", id="bool id"),
        pytest.param({"id": 1.0}, "neither reply nor event: b'{\"id\": 1.0}' (11 bytes)", id="float id"),
        pytest.param(b"x" * 1_000_001, "a message over the limit of 1000000 bytes came", id="too large"),
    ],
)
async def test_what_is_not_cdp_ends_the_link_and_each_waiter_is_told_what_came(peer, message, words):
    await check_each_is_told(peer, peer.say, message, words=words)


async def test_a_browser_that_hangs_up_ends_the_link_and_each_waiter_is_told(peer):
    await check_each_is_told(peer, peer.hang_up, words="the browser closed its debugging pipe")


async def check_each_is_told(peer, end: Callable[..., Awaitable[object]], *args: object, words: str) -> None:
    async with peer.open_link() as link:
        calls = [link.start(page.enable(), session_id) for session_id in (None, S1, S2)]
        await wait_all_tasks_blocked()
        await end(*args)
        lost = await link.connection.wait_lost()
        calls += [link.start(page.enable()) for _ in range(2)]
        link.connection.send_nowait(page.enable())
        for call in calls:
            await call.wait_ended()

    errors = [call.error for call in calls]
    assert all(isinstance(error, ConnectionLost) and words in str(error) for error in errors)
    assert len({id(error) for error in errors}) == 5
    assert str(link.connection.lost) == str(lost)
    assert words in str(lost)


async def test_a_reply_that_came_before_the_end_still_counts(peer):
    async with peer.open_link() as link:
        answered = link.start(target.create_target("about:blank"))
        await peer.next_command()
        left = link.start(page.enable())
        await peer.next_command()
        await peer.say({"id": 1, "result": {"targetId": "T"}}, b"<html>")
        await left.wait_ended()

    assert answered.value == "T"
    assert isinstance(left.error, ConnectionLost)


async def test_a_link_that_breaks_in_sending_ends_too():
    class Deaf(Transport):
        async def send(self, message: bytes) -> None:
            raise TransportEnded("it takes nothing", close_code=1006)

        async def receive(self) -> bytes:
            await trio.sleep_forever()
            raise AssertionError

        async def aclose(self) -> None:
            pass

    with trio.fail_after(2):
        async with open_connection(Deaf()) as connection:
            with pytest.raises(ConnectionLost, match="it takes nothing") as caught:
                await connection.run(page.enable())

    assert caught.value.close_code == 1006


# The end of one session


async def test_the_end_of_a_session_settles_its_waiters_and_no_others(peer):
    events: list[object] = []

    async with peer.open_link() as link:
        link.connection.listen(S1, events.append)
        gone = [link.start(page.enable(), S1) for _ in range(2)]
        others = [link.start(target.create_target("about:blank"), session_id) for session_id in (S2, None)]
        commands = [await peer.next_command() for _ in range(4)]
        link.connection.end_session(S1, lambda: PageGone("it was closed"))
        for call in gone:
            await call.wait_ended()
        await peer.say({"method": "Inspector.targetCrashed", "params": {}, "sessionId": "S1"})
        await peer.say(*({"id": command["id"], "result": {"targetId": "T"}} for command in commands))

    assert [call.value for call in others] == ["T", "T"]
    assert [str(call.error) for call in gone] == ["it was closed", "it was closed"]
    assert gone[0].error is not gone[1].error
    assert events == []


async def test_a_reply_that_came_before_the_end_of_its_session_still_counts(peer):
    async with peer.open_link() as link:

        def end_it(_: object) -> None:
            link.connection.end_session(S1, lambda: PageGone("it was closed"))

        link.connection.listen(None, end_it)
        call = link.start(target.create_target("about:blank"), S1)
        await peer.next_command()
        await peer.say({"id": 1, "result": {"targetId": "T"}}, {"method": "Target.detachedFromTarget"})

    assert call.value == "T"


async def test_a_command_to_a_session_that_ended_is_answered_by_the_browser(peer):
    async with peer.open_link() as link:
        link.connection.end_session(S1, lambda: PageGone("it was closed"))
        call = link.start(page.enable(), S1)
        await peer.next_command()
        await peer.say({"id": 1, "error": {"code": -32001, "message": "Session with given id not found."}})

    assert isinstance(call.error, CommandFailed)


# Leaving


async def test_leaving_closes_the_pipe_and_tells_who_still_waits(peer, start_call):
    with trio.fail_after(2):
        async with trio.open_nursery() as nursery, open_connection(peer.transport) as connection:
            call = start_call(nursery, connection.run, page.enable())
            await peer.next_command()
        with pytest.raises(ConnectionLost, match="the bridge closed it"):
            await connection.run(page.enable())
        await peer.wait_closed()

    assert isinstance(call.error, ConnectionLost)
    assert "the bridge closed it" in str(call.error)


async def test_leaving_does_not_wait_for_a_browser_that_does_not_read(slow_peer):
    with trio.fail_after(2):
        async with open_connection(slow_peer.transport) as connection:
            connection.send_nowait(page.enable())
            await wait_all_tasks_blocked()


async def test_what_the_block_raises_comes_out_as_it_is(peer):
    context = KeyError("what led to it")
    error = LookupError("mine")
    error.__context__ = context

    with trio.fail_after(2):
        with pytest.raises(LookupError) as caught:
            async with open_connection(peer.transport):
                raise error
        await peer.wait_closed()

    assert caught.value is error
    assert error.__context__ is context


async def test_a_group_that_the_block_raises_comes_out_no_deeper(peer):
    errors = (LookupError(), KeyError())

    with trio.fail_after(2), pytest.raises(ExceptionGroup) as caught:
        async with open_connection(peer.transport):
            raise ExceptionGroup("mine", errors)

    assert (caught.value.message, caught.value.exceptions) == ("mine", errors)


async def test_an_error_in_a_block_that_is_also_cancelled_is_not_lost(peer):
    async def fail_while_cancelled() -> None:
        with trio.CancelScope() as scope:
            async with open_connection(peer.transport):
                await wait_all_tasks_blocked()
                scope.cancel()
                raise LookupError

    with trio.fail_after(2), pytest.raises(LookupError):
        await fail_while_cancelled()


async def test_a_cancelled_block_ends_in_peace_and_closes_the_pipe(peer):
    with trio.fail_after(2):
        with trio.CancelScope() as scope:
            async with open_connection(peer.transport) as connection:
                scope.cancel()
                await connection.run(page.enable())
        await peer.wait_closed()

    assert scope.cancelled_caught


async def test_a_handler_that_raises_is_loud_and_each_waiter_is_told(peer, start_call):
    calls = []

    def on_event(_: object) -> None:
        raise LookupError("a bug")

    async def meet_the_bug(nursery: trio.Nursery) -> None:
        async with open_connection(peer.transport) as connection:
            connection.listen(None, on_event)
            calls.append(start_call(nursery, connection.run, page.enable()))
            await peer.next_command()
            await peer.say({"method": "A.b"})
            await trio.sleep_forever()

    with trio.fail_after(2):
        async with trio.open_nursery() as nursery:
            with pytest.raises(LookupError, match="a bug"):
                await meet_the_bug(nursery)

    assert [type(call.error) for call in calls] == [ConnectionLost]


async def test_closing_a_transport_that_hangs_is_bounded(autojump_clock):
    class Stuck(Transport):
        async def send(self, message: bytes) -> None:
            pass

        async def receive(self) -> bytes:
            await trio.sleep_forever()
            raise AssertionError

        async def aclose(self) -> None:
            await trio.sleep(3600)

    with trio.fail_after(60):
        async with open_connection(Stuck()):
            left = trio.current_time()

    assert trio.current_time() - left == CLOSE_SECONDS


@pytest.mark.threat("L2")
async def test_a_browser_that_takes_nothing_loses_its_link_before_the_memory_is_full(slow_peer, monkeypatch):
    monkeypatch.setattr(limits, "UNSENT_BYTES", 10_000)
    async with slow_peer.open_link() as link:
        calls = [link.start(target.create_target("about:blank")) for _ in range(200)]
        with trio.fail_after(2):
            lost = await link.connection.wait_lost()
            for call in calls:
                await call.wait_ended()
        with pytest.raises(ConnectionLost):
            await link.connection.run(target.create_target("about:blank"))

    assert "does not take what is sent to it" in str(lost)
    assert all(isinstance(call.error, ConnectionLost) for call in calls)
    assert len({id(call.error) for call in calls}) == 200
