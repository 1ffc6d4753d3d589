"""Tools of skills ask a real server over TLS: the one that was checked, and with nothing that is the user's."""

import gzip
import json
import os
import socket
import tracemalloc
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from bridge import limits
from bridge.errors import AnswerLost, BridgeError, EndpointFailed, EndpointUnreachable, NotAllowed
from bridge.tools.skills.network import Network
from bridge.tools.skills.run import Reach, run_skill_tool
from tests.skills import LOOK_UP, ORDER, Context, at, tool_of
from tests.wire.services import Asked, Service, always, answer, open_service

TIDE = json.dumps({"metres": 3.2, "text": "Rising", "hours": [1, 2, 3]})


async def run(
    service: Service, tool: dict[str, Any] | None = None, *, host: str = "localhost", downloads: Path | None = None
) -> dict[str, Any]:
    origin = service.at(host)
    network = Network(local_origins=frozenset({origin}), tls=service.tls)
    declared = tool_of(at(tool or LOOK_UP, origin), local_origins=frozenset({origin}))
    reach = Reach(servers=network, downloads=downloads)
    with trio.fail_after(10):
        return await run_skill_tool(declared, {"place": "Brest"}, Context(), reach)


async def failure(service: Service, tool: dict[str, Any] | None = None, **options: Any) -> BridgeError:
    with pytest.raises(BridgeError) as caught:
        await run(service, tool, **options)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
    return caught.value


class Resolver(trio.abc.HostnameResolver):
    """Says what a test wants a host to be, and counts who asks."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[object] = []

    async def getaddrinfo(self, host: Any, port: Any, *_: Any, **__: Any) -> Any:
        self.asked.append(host)
        addresses = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [
            (socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in addresses
        ]

    async def getnameinfo(self, sockaddr: Any, flags: int):
        raise NotImplementedError

    def install(self) -> "Resolver":
        trio.socket.set_custom_hostname_resolver(self)
        return self


# What is asked, and what comes


@pytest.mark.feature("skills.lookup")
async def test_a_look_up_asks_its_service_and_says_what_came():
    async with open_service(always(answer(TIDE))) as service:
        result = await run(service)

    assert result == {
        "success": True,
        "status": 200,
        "provider": f"localhost:{service.port}",
        "skillTool": "tide_now",
        "skillName": "tides",
        "data": json.loads(TIDE),
    }
    assert [(asked.method, asked.target) for asked in service.asked] == [("GET", "/v1/tide?place=Brest")]


@pytest.mark.feature("skills.lookup")
async def test_a_post_sends_its_arguments_as_json():
    async with open_service(always(answer(TIDE))) as service:
        await run(service, {**LOOK_UP, "method": "POST", "defaultArgs": {"unit": "m", "place": "Nantes"}})

    (asked,) = service.asked
    assert (asked.method, asked.target, asked.headers["content-type"]) == ("POST", "/v1/tide", "application/json")
    assert json.loads(asked.body) == {"unit": "m", "place": "Brest"}


@pytest.mark.feature("skills.network")
@pytest.mark.threat("S7")
async def test_nothing_of_the_user_goes_along(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine localhost login me password secret\ndefault login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://me:secret@127.0.0.1:9")
    async with open_service(always(answer(TIDE, Set_Cookie="id=1; Secure"))) as service:
        await run(service)
        await run(service)

    for asked in service.asked:
        assert asked.headers == {
            "host": f"localhost:{service.port}",
            "user-agent": "pagebridge",
            "accept": "application/json, text/*;q=0.9, */*;q=0.5",
            "accept-encoding": "gzip",
        }


@pytest.mark.threat("S7")
async def test_the_host_is_named_and_its_certificate_checked_though_the_address_is_connected_to():
    async with open_service(always(answer(TIDE))) as service:
        resolver = Resolver(["127.0.0.1"]).install()
        await run(service, host="api.tides.example")

    assert resolver.asked == [b"api.tides.example"]
    assert service.names == ["api.tides.example"]
    assert service.asked[0].headers["host"] == f"api.tides.example:{service.port}"


@pytest.mark.feature("skills.lookup")
async def test_a_service_that_refuses_is_a_result_with_the_beginning_of_its_reason():
    async with open_service(always(answer("x" * 1001, status=404, kind="text/plain"))) as service:
        result = await run(service)

    assert (result["success"], result["status"], result["detail"]) == (False, 404, "x" * limits.SKILL_DETAIL_CHARS)
    assert "data" not in result


@pytest.mark.parametrize(
    ("reply", "data"),
    [
        (answer("[1, 2]"), [1, 2]),
        (answer("high water", kind="text/plain"), "high water"),
        (answer("[1, 2", kind="application/json"), "[1, 2"),
        (answer("[NaN]"), "[NaN]"),
        (answer("9" * 400), "9" * 400),
        (answer("[" * 100_000), "[" * 100_000),
        (answer("[" + "0," * 199_999 + "0]"), [0] * 200_000),
        (answer("[" + "0," * 200_000 + "0]"), "[" + "0," * 200_000 + "0]"),
        (answer("[" * 65 + "]" * 65), "[" * 65 + "]" * 65),
        (answer("é", kind="text/plain"), "é"),
        (answer("é".encode("latin-1"), kind="text/plain; charset=iso-8859-1"), "é"),
        (answer(b"\xe9", kind="text/plain; charset=punycode"), "\ufffd"),
        (answer(b"\xe9", kind="text/plain; charset=iso-8859-12"), "\ufffd"),
        (answer(b"\xe9", kind="text/plain; charset=windows-1259"), "\ufffd"),
        (answer(b"\xe9", kind='text/plain; charset="cp1252"'), "é"),
        (answer("é".encode("utf-16-le"), kind="text/plain; charset=utf-16le"), "é"),
        (answer("[1e999]"), "[1e999]"),
        (answer(b"\xe9", kind="text/plain"), "\ufffd"),
        (answer(b"\xef\xbb\xbf{}"), {}),
        (answer("", status=204), ""),
        (answer(gzip.compress(TIDE.encode()), Content_Encoding="gzip"), json.loads(TIDE)),
        (answer(zlib.compress(TIDE.encode()), Content_Encoding="deflate"), json.loads(TIDE)),
        (b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + answer("[]"), []),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[7\r\n1\r\n]\r\n0\r\n\r\n", [7]),
    ],
    ids=lambda part: repr(part)[-30:] if isinstance(part, bytes) else "",
)
async def test_an_answer_is_json_where_it_is_that_and_text_otherwise(reply: bytes, data: object):
    async with open_service(always(reply)) as service:
        assert (await run(service))["data"] == data


@pytest.mark.feature("skills.bounds")
async def test_a_skill_may_ask_for_less_of_an_answer():
    tool = {**LOOK_UP, "responseLimits": {"maxTextChars": 4, "maxArrayItems": {"hours": 2}}}
    async with open_service(always(answer(TIDE))) as service:
        less = await run(service, tool)
        all_of_it = await run(service, {**tool, "responseLimits": {"maxTextChars": "unlimited"}})

    assert less["data"] == {"metres": 3.2, "text": "Risi", "hours": [1, 2]}
    assert (less["truncated"], less["originalLength"]) == (True, len(TIDE))
    assert all_of_it["data"] == json.loads(TIDE)
    assert "truncated" not in all_of_it


# What is not done


@pytest.mark.feature("skills.network")
@pytest.mark.threat("S7")
@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(status: int):
    async with open_service(always(answer(status=status, Location="https://169.254.169.254/"))) as service:
        error = await failure(service)

    assert isinstance(error, EndpointFailed)
    assert f"answered /v1/tide with a redirect ({status}), and those are not followed" in str(error)
    assert len(service.asked) == 1


@pytest.mark.feature("skills.network")
@pytest.mark.threat("S7")
@pytest.mark.parametrize(
    "addresses",
    [["10.0.0.7"], ["169.254.169.254"], ["::ffff:127.0.0.1"], ["8.8.8.8", "192.168.1.1"], ["fd00:ec2::254"]],
    ids=str,
)
async def test_a_host_that_is_not_public_is_not_connected_to(addresses: list[str]):
    resolver = Resolver(addresses).install()
    tool = tool_of(LOOK_UP)

    with pytest.raises(NotAllowed, match=r"api\.tides\.example is at .*Nothing was sent\."):
        await run_skill_tool(tool, {}, Context(), Reach(servers=Network()))

    assert len(resolver.asked) == 1


@pytest.mark.feature("skills.network")
@pytest.mark.threat("S7")
async def test_an_origin_that_is_named_as_local_is_allowed_this_machine_alone():
    async with open_service(always(answer(TIDE))) as service:
        Resolver(["10.0.0.7"]).install()
        assert "is at 10.0.0.7, which is in a private network" in str(await failure(service, host="api.tides.example"))


@pytest.mark.feature("skills.network")
@pytest.mark.threat("S7")
async def test_a_resolver_that_changes_its_mind_changes_nothing():
    async with open_service(charts()) as service:
        resolver = Resolver(["127.0.0.1"], ["169.254.169.254"]).install()
        origin = service.at("api.tides.example")
        network = Network(local_origins=frozenset({origin}), tls=service.tls)
        async with network.open_server(origin) as server:
            for _ in range(3):
                async with server.send("GET", "/v1/charts/7") as reply:
                    assert reply.status == 200

    assert len(resolver.asked) == 1
    assert service.connections == 3


async def test_the_next_address_is_tried_where_one_takes_no_connection():
    async with open_service(always(answer(TIDE))) as service:
        Resolver(["127.0.0.9", "127.0.0.1"]).install()
        result = await run(service, host="api.tides.example")

    assert result["success"]
    assert len(service.asked) == 1


@pytest.mark.threat("S7")
async def test_a_certificate_of_another_host_or_of_nobody_known_is_refused():
    async with open_service(always(answer(TIDE)), hosts=("other.example",)) as service:
        other = await failure(service)
        origin = service.origin
        network = Network(local_origins=frozenset({origin}))
        with pytest.raises(EndpointUnreachable, match="certificate verify failed"):
            await run_skill_tool(
                tool_of(at(LOOK_UP, origin), local_origins=frozenset({origin})), {}, Context(), Reach(servers=network)
            )

    assert isinstance(other, EndpointUnreachable)
    assert "can't be reached: " in str(other)
    assert "certificate" in str(other)
    assert service.asked == []


async def test_a_host_that_is_not_there_was_sent_nothing():
    Resolver([]).install()
    with pytest.raises(EndpointUnreachable, match=r"api\.tides\.example was not found: .*later\."):
        await run_skill_tool(tool_of(LOOK_UP), {}, Context(), Reach(servers=Network()))


class Silent(Resolver):
    async def getaddrinfo(self, host: Any, port: Any, *_: Any, **__: Any) -> Any:
        await trio.sleep_forever()


async def test_a_resolver_that_does_not_answer_is_given_up(autojump_clock: MockClock):
    Silent().install()
    start = trio.current_time()

    with pytest.raises(EndpointUnreachable, match=r"api\.tides\.example was not found within 10 s"):
        await run_skill_tool(tool_of(LOOK_UP), {}, Context(), Reach(servers=Network()))

    assert trio.current_time() - start == limits.SKILL_CONNECT_SECONDS


async def test_a_port_that_nobody_listens_on_was_sent_nothing():
    async with open_service(always(answer())) as service:
        pass

    assert isinstance(await failure(service), EndpointUnreachable)


# Answers that do harm


@pytest.mark.threat("S7")
@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (b"", "its answer was lost: Server disconnected without sending a response"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", "its answer was lost: "),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "its answer was lost: "),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "its answer was lost: "),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n", "its answer was lost: "),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "its answer was lost: "),
        (answer(b"\x89PNG\0\0", kind="image/png"), "answered with image/png that is no text"),
        (answer(b"x", Content_Encoding="br"), "packed its answer as br, which nobody asked for"),
        (answer(b"no gzip", Content_Encoding="gzip"), "sent an answer that can't be unpacked"),
        (answer(gzip.compress(b"x" * 999)[:-9], Content_Encoding="gzip"), "ends within what it packed"),
        (answer(gzip.compress(b"x") * 2, Content_Encoding="gzip"), "sent something behind what it packed"),
    ],
    ids=[
        "nothing",
        "half",
        "two lengths",
        "other protocol",
        "huge header",
        "bad chunk",
        "picture",
        "br",
        "no gzip",
        "cut",
        "twice",
    ],
)
async def test_an_answer_that_is_of_no_use_is_told(reply: bytes, why: str):
    async def handle(_: Asked, stream: trio.abc.Stream) -> None:
        await stream.send_all(reply)
        await stream.aclose()

    async with open_service(handle) as service:
        error = await failure(service)

    assert isinstance(error, AnswerLost if "lost" in why else EndpointFailed)
    assert error.dispatched
    assert why in str(error)


@pytest.mark.feature("skills.bounds")
@pytest.mark.threat("S7")
async def test_a_small_answer_that_unpacks_to_a_huge_one_is_not_unpacked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "SKILL_ANSWER_BYTES", 100_000)
    bomb = gzip.compress(b"\0" * 50_000_000)
    async with open_service(always(answer(bomb, Content_Encoding="gzip"))) as service:
        tracemalloc.start()
        try:
            error = await failure(service)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert len(bomb) < 100_000
    assert peak < 20_000_000
    assert "sent more than 100,000 bytes, and the rest was not taken" in str(error)


@pytest.mark.threat("S7")
@pytest.mark.parametrize(("size", "fits"), [(5000, True), (5001, False)])
@pytest.mark.parametrize("packed", [False, True])
async def test_an_answer_may_be_as_large_as_the_limit(
    monkeypatch: pytest.MonkeyPatch, size: int, fits: bool, packed: bool
):
    monkeypatch.setattr(limits, "SKILL_ANSWER_BYTES", 5000)
    body = b"x" * size
    reply = answer(gzip.compress(body), Content_Encoding="gzip") if packed else answer(body)
    async with open_service(always(reply)) as service:
        if fits:
            assert (await run(service))["data"] == body.decode()
        else:
            assert "sent more than 5,000 bytes" in str(await failure(service))


@pytest.mark.feature("skills.bounds")
@pytest.mark.threat("S7")
@pytest.mark.parametrize("chunked", [True, False])
async def test_an_answer_without_end_is_ended(monkeypatch: pytest.MonkeyPatch, chunked: bool):
    monkeypatch.setattr(limits, "SKILL_ANSWER_BYTES", 300_000)
    sent = 0

    async def handle(_: Asked, stream: trio.abc.Stream) -> None:
        nonlocal sent
        await stream.send_all(
            b"HTTP/1.1 200 OK\r\n" + (b"Transfer-Encoding: chunked\r\n" if chunked else b"") + b"\r\n"
        )
        part = b"x" * 0x8000
        while True:
            await stream.send_all(b"8000\r\n" + part + b"\r\n" if chunked else part)
            sent += len(part)

    async with open_service(handle) as service:
        assert "sent more than 300,000 bytes" in str(await failure(service))

    assert sent < 30_000_000


@pytest.mark.threat("S7")
@pytest.mark.parametrize("part", [b"x", b"HTTP/1.1 100 Continue\r\n\r\n", b""], ids=["body", "head", "silence"])
async def test_an_answer_that_drips_is_ended_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch, part: bytes):
    monkeypatch.setattr(limits, "SKILL_EXCHANGE_SECONDS", 0.3)

    async def handle(_: Asked, stream: trio.abc.Stream) -> None:
        if part == b"x":
            await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        while part:
            await stream.send_all(part)
            await trio.sleep(0.005)
        await trio.sleep_forever()

    async with open_service(handle) as service:
        error = await failure(service)

    assert isinstance(error, AnswerLost)
    assert error.outcome == "unknown"
    assert "did not end its answer within 0.3 s. What it was asked may be done" in str(error)


@pytest.mark.threat("S7")
async def test_a_server_that_does_not_begin_to_speak_tls_was_sent_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "SKILL_CONNECT_SECONDS", 0.3)
    async with open_service(always(answer())) as service:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        # Its connections are taken by the system, and by nobody else.
        service.port = listener.socket.getsockname()[1]
        error = await failure(service)
        await listener.aclose()

    assert isinstance(error, EndpointUnreachable)


@pytest.mark.threat("S7")
async def test_a_call_that_is_cancelled_leaves_its_connection():
    started, left = trio.Event(), trio.Event()

    async def handle(_: Asked, stream: trio.abc.Stream) -> None:
        started.set()
        try:
            await stream.receive_some()
        finally:
            left.set()

    async with open_service(handle) as service, trio.open_nursery() as nursery:
        nursery.start_soon(run, service)
        await started.wait()
        nursery.cancel_scope.cancel()
        with trio.fail_after(5, shield=True):
            await left.wait()


# Files


def charts(file: bytes = answer(b"PNG", kind="image/png"), states: Sequence[str] = ("complete",)):
    """A service that draws charts."""
    left = list(states)

    async def handle(asked: Asked, stream: trio.abc.Stream) -> None:
        match asked.method, asked.target:
            case "POST", _:
                await stream.send_all(answer('{"job_id": 7}', status=201))
            case "GET", target if target.endswith("/file"):
                await stream.send_all(file)
            case "GET", _:
                await stream.send_all(answer(json.dumps({"status": left.pop(0) if len(left) > 1 else left[0]})))
            case _:
                await stream.send_all(answer("", status=204))

    return handle


QUICK = {**ORDER, "job": {**ORDER["job"], "pollIntervalMs": 250}}


@pytest.mark.feature("skills.jobs")
async def test_a_job_is_ordered_waited_for_fetched_kept_and_removed(tmp_path: Path):
    file = answer(b"PNG", kind="image/png", Content_Disposition='attachment; filename="../brest.png"')
    async with open_service(charts(file, ["queued", "complete"])) as service:
        result = await run(service, QUICK, downloads=tmp_path)

    assert result == {
        "success": True,
        "status": 200,
        "provider": f"localhost:{service.port}",
        "skillTool": "tide_chart",
        "skillName": "tides",
        "data": {"jobId": "7", "file": str(tmp_path / "brest.png"), "bytes": 3, "cleanup": "done"},
    }
    assert (tmp_path / "brest.png").read_bytes() == b"PNG"
    assert [f"{asked.method} {asked.target}" for asked in service.asked] == [
        "POST /v1/charts",
        "GET /v1/charts/7",
        "GET /v1/charts/7",
        "GET /v1/charts/7/file",
        "DELETE /v1/charts/7",
    ]
    assert service.connections == len(service.asked)


@pytest.mark.threat("S7", "S8")
@pytest.mark.parametrize(
    ("file", "why"),
    [
        (answer(b"x", Content_Encoding="gzip"), "packed the file as gzip, which nobody asked for"),
        (answer(status=302, Location="https://10.0.0.1/"), "with a redirect (302)"),
        (answer(status=404), "made the file, and did not give it: status 404"),
        (answer(b"x" * 5001), "sent more than 5,000 bytes"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6000\r\n\r\n", "sent more than 5,000 bytes"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1400\r\n" + b"x" * 0x1400 + b"\r\n", "sent more than"),
    ],
    ids=["packed", "redirect", "missing", "large", "said to be large", "chunks"],
)
async def test_a_file_that_can_not_be_kept_leaves_nothing_here_or_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: bytes, why: str
):
    monkeypatch.setattr(limits, "DOWNLOAD_BYTES", 5000)
    async with open_service(charts(file)) as service:
        error = await failure(service, QUICK, downloads=tmp_path)

    assert why in str(error)
    assert os.listdir(tmp_path) == []
    assert [asked.method for asked in service.asked].count("DELETE") == 1


async def test_a_file_may_be_as_large_as_the_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(limits, "DOWNLOAD_BYTES", 5000)
    async with open_service(charts(answer(b"x" * 5000))) as service:
        result = await run(service, QUICK, downloads=tmp_path)

    assert result["data"]["bytes"] == 5000
    # The address of the file ends so, and the service said nothing else.
    assert result["data"]["file"] == str(tmp_path / "file")


@pytest.mark.threat("S8")
async def test_a_file_whose_connection_breaks_is_removed(tmp_path: Path):
    async def handle(asked: Asked, stream: trio.abc.Stream) -> None:
        await charts(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", ["done"])(asked, stream)
        if asked.target.endswith("/file"):
            await stream.aclose()

    async with open_service(handle) as service:
        error = await failure(service, QUICK, downloads=tmp_path)

    assert "its answer was lost" in str(error)
    assert os.listdir(tmp_path) == []
    assert service.asked[-1].method == "DELETE"


async def test_a_job_is_not_ordered_where_no_folder_is_declared():
    async with open_service(charts()) as service:
        error = await failure(service, QUICK)

    assert isinstance(error, NotAllowed)
    assert "the user has to declare one, as `downloads` of the skill" in str(error)
    assert service.asked == []
