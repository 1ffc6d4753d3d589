import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.wire.router import RawEvent, Reply, Router, SessionId, WireFault

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
NEARLY_CDP = st.dictionaries(
    st.sampled_from(["id", "method", "params", "sessionId", "result", "error"]),
    JSON | st.integers(0, 3) | st.just({"code": -32000, "message": "no"}),
)


def test_commands_are_numbered_and_name_their_session():
    router = Router()

    first = router.encode("Browser.getVersion", {}, None)
    second = router.encode("Page.enable", {"a": [1]}, SessionId("S"))

    assert first == (1, b'{"id":1,"method":"Browser.getVersion","params":{}}')
    assert second == (2, b'{"id":2,"method":"Page.enable","params":{"a":[1]},"sessionId":"S"}')


@given(st.dictionaries(st.text(), st.text()))
def test_an_encoded_command_is_ascii_without_nul_and_keeps_every_value(params: dict[str, str]):
    _, message = Router().encode("Runtime.evaluate", params, None)

    assert message.isascii()
    assert b"\0" not in message
    assert json.loads(message)["params"] == params


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_lacks_is_refused_before_it_is_sent(number):
    # Chromium answers such a message without its id, so nobody would be told.
    with pytest.raises(ValueError, match="not JSON compliant"):
        Router().encode("Runtime.callFunctionOn", {"arguments": [{"value": number}]}, None)


def test_parameters_nested_too_deeply_are_refused():
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]

    with pytest.raises(ValueError, match="nested too deeply"):
        Router().encode("Runtime.callFunctionOn", {"value": nested}, None)


@pytest.mark.parametrize("as_type", [bytes, bytearray, bytes.decode])
def test_a_message_reads_the_same_from_the_pipe_and_from_a_websocket(as_type):
    data = '{"method":"Page.loaded","params":{"title":"é"},"sessionId":"S"}'.encode()

    assert Router().decode(as_type(data)) == RawEvent("Page.loaded", {"title": "é"}, SessionId("S"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"id":1,"result":{"a":1}}', Reply(1, {"a": 1}, None)),
        ('{"id":1,"result":{},"sessionId":"S"}', Reply(1, {}, None)),
        ('{"id":1}', Reply(1, {}, None)),
        ('{"id":1,"result":[1]}', Reply(1, {}, None)),
        ('{"id":1,"result":{},"error":null}', Reply(1, {}, None)),
        ('{"id":1,"error":{"code":-1,"message":"no"}}', Reply(1, None, {"code": -1, "message": "no"})),
        ('{"id":1,"result":{},"id":2}', Reply(2, {}, None)),
        ('{"id":99999999999999999999}', Reply(99999999999999999999, {}, None)),
        ('{"error":{"code":-32700,"message":"no"}}', Reply(None, None, {"code": -32700, "message": "no"})),
        ('{"method":"A.b"}', RawEvent("A.b", {}, None)),
        ('{"method":"A.b","params":[1]}', RawEvent("A.b", {}, None)),
        ('{"method":"A.b","sessionId":null}', RawEvent("A.b", {}, None)),
        ('{"method":"A.b","sessionId":""}', RawEvent("A.b", {}, SessionId(""))),
    ],
)
def test_a_message_is_either_a_reply_or_an_event(data, message):
    assert Router().decode(data) == message


@pytest.mark.parametrize("error", ["true", '"no"', "[]", "0", "{}"])
def test_an_error_of_an_unknown_form_is_still_an_error(error):
    reply = Router().decode(f'{{"id":1,"error":{error},"result":{{}}}}')

    assert isinstance(reply, Reply)
    assert reply.error == {"message": "an error of an unknown form"}


@pytest.mark.parametrize(
    "data",
    [
        "[]",
        "7",
        "null",
        '"id"',
        "{}",
        '{"id":true}',
        '{"id":false,"result":{}}',
        '{"id":1.0}',
        '{"id":1e999}',
        '{"id":"1"}',
        '{"id":null}',
        '{"method":7}',
        '{"method":"A.b","sessionId":7}',
        '{"error":"no"}',
    ],
)
def test_json_that_is_not_cdp_is_named_in_the_fault(data):
    with pytest.raises(WireFault, match="neither reply nor event") as caught:
        Router().decode(data)

    assert repr(data) in str(caught.value)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(b"", r"not JSON: b'' \(0 bytes\)", id="empty"),
        pytest.param(b'{"id":1', r"""not JSON: b'{"id":1' \(7 bytes\)""", id="cut"),
        pytest.param(b'{"id":1}{"id":2}', "not JSON", id="two in one"),
        pytest.param(b'{"id":' + b"9" * 5000 + b"}", r"not JSON: .* \(5007 bytes\)", id="endless number"),
        pytest.param(b'\xef\xbb\xbf{"id":1}', "not JSON", id="byte order mark"),
        pytest.param(b'{"id":1,"x":"\xff"}', r"not UTF-8: b'.*\\xff", id="byte of no character"),
        pytest.param(b'{"id":1,"x":"\xed\xa0\x80"}', "not UTF-8", id="lone surrogate"),
        pytest.param('{"id":1}'.encode("utf-16"), "not UTF-8", id="UTF-16"),
        pytest.param(bytearray(b"\xc3"), r"not UTF-8: b'\\xc3' \(1 bytes\)", id="cut character"),
        pytest.param("\ud800", r"not JSON: '\\ud800' \(1 characters\)", id="lone surrogate as text"),
        pytest.param(b"[" * 100_000, "nested too deeply", id="deep lists"),
        pytest.param(b'{"a":' * 100_000, "nested too deeply", id="deep objects"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, r"too deeply: .* \(200000 bytes\)", id="deep, whole"),
    ],
)
def test_a_message_that_cannot_be_read_is_named_in_the_fault(data, words):
    with pytest.raises(WireFault, match=words) as caught:
        Router().decode(data)

    assert len(str(caught.value)) < 500


@given(st.binary() | st.text() | JSON.map(json.dumps) | NEARLY_CDP.map(json.dumps))
def test_whatever_comes_is_a_message_or_a_fault(data: bytes | str):
    try:
        message = Router().decode(data)
    except WireFault:
        return

    assert isinstance(message, Reply | RawEvent)
