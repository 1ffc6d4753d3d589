"""Consoles and networks as their events tell of them, whatever comes, and however much."""

from typing import Any

import pytest

from bridge import limits
from bridge.page.console import Console, describe_arguments, describe_object
from bridge.page.network import Network
from bridge.page.place import Place
from bridge.page.watch import Watch, readers_of
from bridge.wire.commands import parse_event
from bridge.wire.hearing import Hearing
from bridge.wire.router import RawEvent, SessionId
from bridge.wire.watched import CONSOLE_EVENTS, INPUT_EVENTS, NETWORK_EVENTS

S = SessionId("S")
ALL = {**CONSOLE_EVENTS, **NETWORK_EVENTS, **INPUT_EVENTS}


def parse(method: str, params: dict[str, Any]) -> Any:
    return parse_event(RawEvent(method, params, S), ALL)


# Reading


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [[]], {"x": []}], ids=str)
def test_an_event_of_any_form_is_read_or_left_and_breaks_nothing(method: str, value: object):
    watch = Watch(frozenset({"console", "network", "input"}))
    keys = [
        "args",
        "entry",
        "exceptionDetails",
        "request",
        "requestId",
        "response",
        "headers",
        "type",
        "data",
        "stackTrace",
    ]
    every = dict.fromkeys(keys, value)

    for params in ({}, every, *({**every, key: {"x": value}} for key in keys), {**every, "args": [value]}):
        watch.on_event(parse(method, params), S, 1)


# Console


def remote(value: Any) -> dict[str, Any]:
    return {"type": type(value).__name__, "value": value}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], ""),
        ([remote("a"), remote(1), remote(None), remote(True)], "a 1 null true"),
        ([remote("%s is %d%%"), remote("x"), remote(5), remote("more")], "x is 5% more"),
        ([remote("%c styled"), remote("color: red")], " styled"),
        ([remote("100%")], "100%"),
        ([remote("%s and %s"), remote("one")], "one and %s"),
        ([remote("%x"), remote("one")], "%x one"),
        ([remote("%%"), remote("one")], "% one"),
    ],
)
def test_arguments_read_as_in_the_console(arguments: list[dict[str, Any]], text: str):
    assert describe_arguments(arguments) == text


def test_objects_are_described_by_what_chromium_says_of_them():
    assert describe_object({"type": "number", "unserializableValue": "NaN"}) == "NaN"
    assert describe_object({"type": "undefined"}) == "undefined"
    assert describe_object({"type": "function", "description": "f() {}"}) == "f() {}"
    preview = {
        "description": "Object",
        "overflow": True,
        "properties": [{"name": "a", "type": "string", "value": 'x"'}],
    }
    assert describe_object({"type": "object", "preview": preview}) == '{a: "x\\"", …}'


def say(console: Console, text: str, document: int = 1) -> None:
    event = parse("Runtime.consoleAPICalled", {"type": "log", "args": [remote(text)], "timestamp": 1})
    console.on_event(event, document)


def test_a_console_keeps_its_last_messages_and_counts_the_others():
    console = Console()
    for number in range(limits.CONSOLE_MESSAGES + 5):
        say(console, str(number))

    assert len(console.messages) == limits.CONSOLE_MESSAGES
    assert console.dropped == 5
    assert console.messages[0].text == "5"


def test_what_is_said_again_is_counted_and_what_another_document_says_is_not():
    console = Console()
    for document in (1, 1, 2):
        say(console, "same", document)

    assert [(one.document, one.times) for one in console.messages] == [(1, 2), (2, 1)]


# Network


def sent(network: Network, request: str, *, document: int = 1, **more: Any) -> None:
    told = {"method": "GET", "url": f"https://a.test/{request}", "headers": {"Cookie": "SECRET"}}
    params = {"requestId": request, "request": told, "type": "Fetch", "timestamp": 1, **more}
    network.on_event(parse("Network.requestWillBeSent", params), S, document)


def finished(network: Network, request: str, session: str = "S") -> None:
    event = parse("Network.loadingFinished", {"requestId": request, "timestamp": 2, "encodedDataLength": 9})
    network.on_event(event, SessionId(session), 1)


def test_a_network_keeps_its_last_requests_and_forgets_the_others_whole():
    network = Network()
    for number in range(limits.REQUESTS + 5):
        sent(network, f"R{number}")

    assert len(network.requests) == len(network._current) == limits.REQUESTS
    assert network.dropped == 5
    assert network.find("n5") is None
    finished(network, "R0")  # for one that is not there any more


def test_requests_since_some_moment_are_open_until_they_end():
    network = Network()
    sent(network, "before")
    begun = network.begun
    sent(network, "after")
    sent(network, "socket", type="WebSocket")

    assert [one.chromium_id for one in network.open_since(begun)] == ["after"]
    finished(network, "after", "another session")
    assert network.open_since(begun) == []


def test_a_redirect_is_two_requests():
    network = Network()
    sent(network, "R")
    sent(network, "R", redirectResponse={"status": 302, "headers": {"Set-Cookie": "SECRET", "Location": "/x"}})
    finished(network, "R")

    first, second = network.requests.values()
    assert (first.status, first.redirected_to, second.ended) == (302, "n2", 2)
    assert first.response_headers == {"Set-Cookie": "(masked)", "Location": "/x"}


@pytest.mark.threat("P20")
@pytest.mark.parametrize("told", [0, 1, 2])
def test_headers_are_masked_and_kept_whenever_they_come(told: int):
    """Also both before the request itself is told of, as it is where a service answers at once."""
    network = Network()
    asked = parse("Network.requestWillBeSentExtraInfo", {"requestId": "R", "headers": {"Authorization": "SECRET"}})
    answered = parse(
        "Network.responseReceivedExtraInfo", {"requestId": "R", "statusCode": 200, "headers": {"X-Token": "SECRET"}}
    )
    for number, event in enumerate((asked, answered)):
        if number == told:
            sent(network, "R")
        network.on_event(event, S, 1)
        assert "SECRET" not in repr(network.__dict__)
    if told == 2:
        sent(network, "R")

    assert "SECRET" not in repr(network.__dict__)
    [one] = network.requests.values()
    assert (one.request_headers, one.response_headers) == ({"Authorization": "(masked)"}, {"X-Token": "(masked)"})


def test_headers_that_belong_to_nothing_are_bounded():
    network = Network()
    for number in range(limits.HEADERS + 50):
        event = parse("Network.requestWillBeSentExtraInfo", {"requestId": f"R{number}", "headers": {}})
        network.on_event(event, S, 1)

    assert len(network._early) == limits.HEADERS


def test_a_document_owns_the_request_that_brought_it_and_ends_those_of_the_one_before():
    network = Network()
    sent(network, "fetch", document=1)
    sent(network, "D", document=1, type="Document", frameId="F")
    navigated = parse_event(RawEvent("Page.frameNavigated", {"frame": {"id": "F", "url": "https://a.test/"}}, S))
    network.on_event(navigated, S, 2)

    fetch, brought = network.requests.values()
    assert (fetch.document, fetch.failed) == (1, "its document ended")
    assert (brought.document, brought.failed) == (2, "")


# How much is heard


def test_only_what_somebody_watches_is_heard():
    hearing = Hearing()
    assert not hearing.takes("Runtime.consoleAPICalled", 10, 0)
    hearing.add(readers_of(frozenset({"console"})))

    assert hearing.takes("Runtime.consoleAPICalled", 10, 0)
    assert not hearing.takes("Network.requestWillBeSent", 10, 0)
    assert not hearing.missed


@pytest.mark.threat("P13")
def test_what_comes_too_fast_or_is_too_large_is_counted_and_not_read():
    hearing = Hearing()
    hearing.add(CONSOLE_EVENTS)
    method = "Runtime.consoleAPICalled"

    taken = sum(hearing.takes(method, 10, 5.0) for _ in range(limits.WATCHED_EVENTS_AT_ONCE + 100))
    assert taken == limits.WATCHED_EVENTS_AT_ONCE
    assert hearing.missed[method] == 100
    assert hearing.takes(method, 10, 6.0)
    assert not hearing.takes(method, limits.WATCHED_EVENT_BYTES + 1, 6.0)
    later = sum(hearing.takes(method, 10, 7.0) for _ in range(limits.WATCHED_EVENTS_AT_ONCE))
    assert later == pytest.approx(2 * limits.WATCHED_EVENTS_PER_SECOND, abs=2)


# Where a page is


@pytest.mark.parametrize(
    ("now", "kind"),
    [
        (Place("https://a.test/", 1, 1), None),
        (Place("https://a.test/#x", 2, 1), "same-document"),
        (Place("https://a.test/", 2, 2), "reload"),
        (Place("https://b.test/", 3, 2), "document"),
    ],
)
def test_a_navigation_is_told_by_its_kind(now: Place, kind: str | None):
    told = Place("https://a.test/", 1, 1).navigated_to(now)

    assert told == (None if kind is None else {"from": "https://a.test/", "to": now.url, "kind": kind})


def test_the_arrival_of_a_page_that_was_on_its_way_is_no_reload():
    on_its_way = Place("https://a.test/", 0, 0, has_document=False)

    assert on_its_way.navigated_to(Place("https://a.test/", 1, 1)) is None
    assert on_its_way.navigated_to(Place("https://b.test/", 1, 1)) is not None
    between_two = Place("https://a.test/", 1, 1, has_document=False)
    assert between_two.navigated_to(Place("https://a.test/", 2, 2)) is not None
