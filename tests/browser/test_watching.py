"""What the console and the network of a page have said: kept within bounds, without what logs a user in."""

import json
import threading
from contextlib import suppress

import pytest
import trio
import trio_websocket

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.page.console import Console
from bridge.page.network import Network
from bridge.settings import PageSettings
from tests.browser.asking import call, open_page
from tests.browser.using import INSPECTED, Use, refused
from tests.sites import Site, offering, tool


@pytest.fixture
def page_settings() -> PageSettings:
    return INSPECTED


@pytest.fixture
def use(bridge: Bridge, agent: Agent) -> Use:
    return Use(bridge, agent)


def console_of(use: Use, page: str) -> Console:
    watch = use.access.find(page).watch
    assert watch is not None
    assert watch.console is not None
    return watch.console


def network_of(use: Use, page: str) -> Network:
    watch = use.access.find(page).watch
    assert watch is not None
    assert watch.network is not None
    return watch.network


# Console


async def messages(use: Use, page: str, **arguments):
    return (await use("list_console_messages", page, **arguments))["messages"]


async def wait_message(use: Use, page: str, text: str) -> None:
    """Return once the console has said that."""
    console = console_of(use, page)
    await use.access.find(page).wait_changed(lambda: any(text in one.text for one in console.messages))


@pytest.mark.feature("debugging.console")
async def test_console_messages_are_told_with_level_text_and_place(use: Use, agent: Agent, site: Site):
    script = """<script>
      console.log('plain', 1, true, null, undefined, 12n, NaN);
      console.warn('%s of %d%%', 'part', 50, {a: 1, b: 'x'});
      console.error(new TypeError('bad'));
      console.info([1, 'two', {}], new Map([[1, 2]]), document.body);
      console.debug('low');
      console.clear();
      setTimeout(() => { throw new RangeError('uncaught') });
      Promise.reject(new Error('rejected'));
    </script>"""
    page = await open_page(agent, site.page("/console", script))
    await wait_message(use, page, "rejected")
    await wait_message(use, page, "uncaught")

    told = [one for one in await messages(use, page) if "favicon" not in one["text"] + one.get("at", "")]

    assert [(one["level"], one["text"].partition("\n")[0]) for one in told[:5]] == [
        ("info", "plain 1 true null undefined 12n NaN"),
        ("warning", 'part of 50% {a: 1, b: "x"}'),
        ("error", "TypeError: bad"),
        ("info", '[1, "two", Object] Map(1) {1 => 2} null'),
        ("debug", "low"),
    ]
    assert told[0]["at"] == f"{site.origin}/console:2"
    thrown = {one["text"].partition("\n")[0] for one in told if one.get("source") == "exception"}
    assert thrown == {"Uncaught RangeError: uncaught", "Uncaught (in promise) Error: rejected"}


async def test_messages_are_those_of_the_present_document_unless_others_are_wanted(use: Use, agent: Agent, site: Site):
    page = await open_page(agent, site.page("/a", "<script>console.log('from a')</script>"))
    await agent.navigate_page(page, site.page("/b", "<script>console.log('from b')</script>"), None)
    await wait_message(use, page, "from b")

    present = [one["text"] for one in await messages(use, page, levels=["info"])]
    earlier = await messages(use, page, levels=["info"], earlier_documents=True)

    assert present == ["from b"]
    assert [one["text"] for one in earlier] == ["from a", "from b"]
    assert [one["text"] for one in await messages(use, page, after=earlier[0]["number"], levels=["info"])] == ["from b"]


@pytest.mark.feature("debugging.console")
async def test_repeated_messages_are_counted(use: Use, agent: Agent, site: Site):
    page = await open_page(
        agent, site.page("/again", "<script>for (let i = 0; i < 5; i++) console.log('again')</script>")
    )
    await wait_message(use, page, "again")
    await use.run(page, "0")

    assert [(one["text"], one["times"]) for one in await messages(use, page, levels=["info"])] == [("again", 5)]


@pytest.mark.threat("P13")
async def test_a_console_that_floods_costs_no_more_than_its_bounds(use: Use, agent: Agent, site: Site, monkeypatch):
    monkeypatch.setattr(limits, "WATCHED_EVENTS_PER_SECOND", 100.0)
    monkeypatch.setattr(limits, "WATCHED_EVENTS_AT_ONCE", 100)
    healthy = await open_page(agent, site.page("/healthy", offering(tool("add", "({a}) => a + 1"))))
    page = await open_page(agent, site.page("/flood", ""))

    await use.run(page, "for (let i = 0; i < 20000; i++) console.log('flood', i)")

    assert (await call(agent, healthy, "add", {"a": 1})).text == "2"
    answer = await use("list_console_messages", page)
    assert len(answer["messages"]) <= limits.CONSOLE_SHOWN
    assert answer["missed_in_all_pages"] > 10_000
    assert len(console_of(use, page).messages) <= limits.CONSOLE_MESSAGES


@pytest.mark.threat("P13")
async def test_an_enormous_message_is_cut_or_left_out(use: Use, agent: Agent, site: Site):
    page = await open_page(agent, site.page("/large", ""))

    await use.run(page, "console.log('x'.repeat(100_000)); console.log('y'.repeat(5_000_000)); console.log('last')")
    await wait_message(use, page, "last")

    answer = await use("list_console_messages", page, levels=["info"])
    assert [one["text"][:1] for one in answer["messages"]] == ["x", "l"]
    assert len(answer["messages"][0]["text"]) < limits.CONSOLE_CHARS + 50
    assert answer["missed_in_all_pages"] == 1


async def test_the_console_of_an_iframe_of_another_site_is_heard(use: Use, agent: Agent, site: Site):
    inner = site.elsewhere().page("/inner", "<script>console.log('from inside')</script>")
    page = await open_page(agent, site.page("/outside", f"<iframe src={inner}></iframe>"))

    await wait_message(use, page, "from inside")
    assert [one["text"] for one in await messages(use, page)] == ["from inside"]


# Network


async def requests(use: Use, page: str, **arguments):
    return (await use("list_network_requests", page, **arguments))["requests"]


async def wait_request(use: Use, page: str, part: str) -> None:
    """Return once a request to that address has ended."""
    network = network_of(use, page)
    await use.access.find(page).wait_changed(
        lambda: any(part in one.url and one.ended for one in network.requests.values())
    )


@pytest.mark.feature("debugging.network")
async def test_requests_are_told_with_what_came_of_them(use: Use, agent: Agent, site: Site):
    site.page("/data", "the data", Content_Type="text/plain")
    site.answer("/gone", 404)
    site.answer("/old", 302, Location="/data")
    page = await open_page(agent, site.page("/requests", "<p>"))

    await use.run(
        page,
        "Promise.all([fetch('/data'), fetch('/gone'), fetch('/old'), fetch('http://127.0.0.1:1/').catch(() => 0)])",
    )
    await wait_request(use, page, ":1/")
    await wait_request(use, page, "/gone")

    told = await requests(use, page, types=["fetch"])
    assert [(one["url"].removeprefix(site.origin), one["status"]) for one in told[:3]] == [
        ("/data", 200),
        ("/gone", 404),
        ("/old", 302),
    ]
    by_url = {one["url"]: one for one in told}
    assert by_url["http://127.0.0.1:1/"]["status"] == "failed"
    redirected = next(one for one in told if one["url"].endswith("/old"))
    assert next(one for one in told if one["id"] == redirected["redirected_to"])["url"].endswith("/data")
    assert [one["url"] for one in await requests(use, page, url="GONE")] == [f"{site.origin}/gone"]
    assert {one["url"] for one in await requests(use, page, failed=True, types=["fetch"])} == {
        f"{site.origin}/gone",
        "http://127.0.0.1:1/",
    }
    assert (await requests(use, page))[0]["type"] == "Document"


async def test_an_answer_without_a_body_is_no_failure(use: Use, agent: Agent, site: Site):
    page = await open_page(agent, site.page("/deletes", "<p>"))

    await use.run(page, f"fetch('{site.answer('/no-content', 204)}')")  # Chromium calls it aborted
    await wait_request(use, page, "/no-content")

    [one] = await requests(use, page, url="/no-content")
    assert (one["status"], one.get("failed")) == (204, None)
    assert await requests(use, page, url="/no-content", failed=True) == []


@pytest.mark.feature("debugging.masks")
@pytest.mark.threat("P20")
async def test_what_logs_a_user_in_is_masked_before_it_is_kept(use: Use, agent: Agent, site: Site):
    site.page("/login", "<p>in", Set_Cookie="sid=SECRET; HttpOnly", X_Auth_Token="SECRET", X_Plain="told")
    page = await open_page(agent, site.page("/secrets", "<script>document.cookie = 'mine=SECRET'</script>"))

    await use.run(
        page,
        """fetch('/login', {method: 'POST', body: 'a=1',
          headers: {Authorization: 'Bearer SECRET', 'X-Api-Key': 'SECRET', 'X-Plain': 'asked'}}).then(r => r.text())""",
    )
    await wait_request(use, page, "/login")
    [one] = await requests(use, page, url="/login")
    # The headers as they went may be told of last.
    kept_one = network_of(use, page).requests[one["id"]]
    await use.access.find(page).wait_changed(lambda: "Cookie" in kept_one.request_headers)
    answer = await use("get_network_request", page, request=one["id"])

    assert answer["request_headers"]["X-Plain"] == "asked"
    assert answer["request_body"] == "a=1"
    assert answer["request_headers"]["Authorization"] == "(masked)"
    assert answer["request_headers"]["Cookie"] == "(masked)"
    kept = repr(network_of(use, page).__dict__)
    assert "SECRET" not in kept
    assert "SECRET" not in json.dumps(answer)


@pytest.mark.feature("debugging.network")
async def test_bodies_are_told_as_far_as_they_are_text(use: Use, agent: Agent, site: Site):
    site.page("/text", "the text é")
    page = await open_page(
        agent,
        site.page("/bodies", "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='>"),
    )
    await use.run(page, "fetch('/text').then(answer => answer.text())")
    await wait_request(use, page, "/text")

    [one] = await requests(use, page, url="/text")
    assert "the text é" in (await use("get_network_request", page, request=one["id"]))["response_body"]
    assert one["ms"] >= 0
    error = await refused(use("get_network_request", page, request="n999"))
    assert "Take an id from list_network_requests" in str(error)


async def test_requests_that_never_end_are_pending_and_end_with_their_document(use: Use, agent: Agent, site: Site):
    site.page("/never", "")
    gate = site.gates["/never"] = threading.Event()
    try:
        page = await open_page(agent, site.page("/waits", "<script>fetch('/never')</script>"))
        await site.wait_asked("/never", 1)
        assert [one["status"] for one in await requests(use, page, url="/never")] == ["pending"]

        await agent.navigate_page(page, site.page("/next", ""), None)

        assert [one["status"] for one in await requests(use, page, url="/never", earlier_documents=True)] == ["failed"]
        assert await requests(use, page, url="/never") == []
    finally:
        gate.set()


@pytest.mark.threat("P13")
async def test_only_the_last_requests_are_kept(use: Use, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "REQUESTS", 20)
    page = await open_page(agent, site.page("/busy", ""))

    await use.run(page, "Promise.all(Array.from({length: 60}, (_, n) => fetch('/?' + n)))")
    network = network_of(use, page)
    await use.access.find(page).wait_changed(lambda: network.begun >= 60)

    assert len(network.requests) == 20
    assert len(network._current) <= 20
    assert network.dropped >= 40


async def test_requests_of_an_iframe_of_another_site_end_too(use: Use, agent: Agent, site: Site):
    site.elsewhere().page("/inside-data", "x")
    inner = site.elsewhere().page("/inner-requests", "<script>fetch('/inside-data')</script>")
    page = await open_page(agent, site.page("/outside-requests", f"<iframe src={inner}></iframe>"))

    await wait_request(use, page, "/inner-requests")
    await wait_request(use, page, "/inside-data")
    assert [one["status"] for one in await requests(use, page)] == [200] * 3


@pytest.mark.feature("debugging.network")
async def test_websockets_are_told_with_what_came_of_them(use: Use, agent: Agent, site: Site):
    gate = trio.Event()

    async def answer(request: trio_websocket.WebSocketRequest) -> None:
        await gate.wait()
        websocket = await request.accept(extra_headers=[(b"X-Session", b"SECRET")])
        with suppress(trio_websocket.ConnectionClosed):
            await websocket.get_message()

    async with trio.open_nursery() as nursery:
        server = await nursery.start(trio_websocket.serve_websocket, answer, "127.0.0.1", 0, None)
        page = await open_page(agent, site.page("/sockets", "<p>"))
        await use.run(page, f"void (socket = new WebSocket('ws://127.0.0.1:{server.port}/?live'))")
        await use.run(page, "void new WebSocket(`ws://${location.host}/no-socket`)")
        await wait_request(use, page, "/no-socket")
        pending, denied = await requests(use, page, types=["websocket"])
        gate.set()
        opened = network_of(use, page).requests[pending["id"]]
        await use.access.find(page).wait_changed(lambda: opened.status > 0)
        await use.run(page, "socket.close()")
        await wait_request(use, page, "?live")
        told = await use("get_network_request", page, request=opened.id)
        nursery.cancel_scope.cancel()

    assert (pending["method"], pending["type"], pending["status"]) == ("GET", "WebSocket", "pending")
    assert (denied["status"], denied["failed"][-3:]) == ("failed", "404")
    assert (told["status"], told.get("failed"), "response_body" in told) == (101, None, False)
    assert told["request_headers"]["Origin"] == site.origin
    assert told["response_headers"]["X-Session"] == "(masked)"
    assert "SECRET" not in json.dumps(told)


@pytest.mark.parametrize("page_settings", [PageSettings()], ids=["pages"])
async def test_what_nobody_wants_to_know_is_not_switched_on(use: Use, agent: Agent, bridge: Bridge, site: Site):
    page = await open_page(agent, site.page("/unwatched", "<script>console.log(1)</script>"))

    assert use.access.find(page).watch is None
    assert not use.access.find(page).session.connection.hearing.readers
    for name in ("list_console_messages", "list_network_requests"):
        assert "is not watched" in str(await refused(use(name, page)))
