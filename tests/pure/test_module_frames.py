"""Messages to and from the process of a module."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.tools.modules.frames import NoMessage, Unpacker, pack, unpack

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.lists(st.dictionaries(st.text(), JSON), max_size=4), st.integers(1, 50))
def test_messages_arrive_as_they_were_however_they_are_cut(messages: list[dict[str, object]], size: int):
    data = b"".join(map(pack, messages))
    unpacker = Unpacker()
    arrived = [message for start in range(0, len(data), size) for message in unpacker.feed(data[start : start + size])]

    assert arrived == messages


def test_half_characters_are_replaced_and_halves_that_belong_together_joined():
    [message] = Unpacker().feed(pack({"a\ud800": "\ude00\ud83d\ude00", "b": "\\ud800"}))

    assert message == {"a\ufffd": "\ufffd\U0001f600", "b": "\\ud800"}


@pytest.mark.threat("S3", "S5")
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not JSON"),
        (b"[]", "no object"),
        (b"1", "no object"),
        (b'{"a": NaN}', "not JSON"),
        (b'{"a": -Infinity}', "not JSON"),
        (b'{"a": "\xff"}', "not JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"a": ' + b"[" * 100_000, "not JSON"),
        (b"{} {}", "not JSON"),
    ],
)
def test_what_is_no_message_is_refused(data: bytes, says: str):
    with pytest.raises(NoMessage, match=says):
        unpack(data)


def test_a_message_has_so_much_and_no_more(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "MODULE_MESSAGE_BYTES", 10)

    [message] = Unpacker().feed(pack({"a": "bc"}))
    assert message == {"a": "bc"}
    with pytest.raises(ValueError, match="11 bytes, and 10 are allowed"):
        pack({"a": "bcd"})
    with pytest.raises(NoMessage, match="11 bytes, and 10 are allowed"):
        list(Unpacker().feed(b"\0\0\0\x0b"))
