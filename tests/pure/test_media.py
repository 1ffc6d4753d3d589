"""Binary data: known by its bytes, and told in a line; nothing that a page says of it counts."""

import base64
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.calls.answers import Answer
from bridge.calls.binary import answer_binary
from bridge.calls.results import Spill, open_spill
from bridge.page.invocation import Binary, Ending, read_ending
from bridge.page.media import Media, Resource, read_base64, recognise
from bridge.serve.shapes import as_result

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.mark.parametrize(
    ("data", "kind", "mime"),
    [
        (PNG, "image", "image/png"),
        (b"\xff\xd8\xff\xe0", "image", "image/jpeg"),
        (b"RIFF\n\r\0\xffWEBPVP8 ", "image", "image/webp"),
        (b"GIF87a", "image", "image/gif"),
        (b"RIFF....WAVEfmt ", "audio", "audio/wav"),
        (b"ID3\x04", "audio", "audio/mpeg"),
        (b"\xff\xfb\x90\x64", "audio", "audio/mpeg"),
        (b"\xff\xf1\x50\x80", "audio", "audio/aac"),
        (b"OggS" + bytes(24) + b"OpusHead", "audio", "audio/ogg"),
        (b"OggS" + bytes(24) + b"\x80theora", "file", "application/ogg"),
        (b"fLaC", "audio", "audio/flac"),
        (b"\0\0\0\x20ftypM4A ", "audio", "audio/mp4"),
        (b"\0\0\0\x20ftypisom", "file", "video/mp4"),
        (b"\0\0\0\x20ftypavif", "file", "image/avif"),
        (b"\x1aE\xdf\xa3", "file", "video/webm"),
        (b"%PDF-1.7", "file", "application/pdf"),
        (b"PK\x03\x04", "file", "application/zip"),
        (b"\x1f\x8b\x08", "file", "application/gzip"),
        (b"BM" + bytes(20), "file", "application/octet-stream"),
        (b"RIFF....AVI ", "text", "text/plain"),
        (b"RIFF\0\0\0\0AVI ", "file", "application/octet-stream"),
        (b"", "text", "text/plain"),
        ("né\t\x1b[1m\r\n".encode(), "text", "text/plain"),
        (b"\xff\xfeh\0i\0", "file", "application/octet-stream"),
        (b"a\0b", "file", "application/octet-stream"),
        (b"<svg xmlns=''/>", "text", "text/plain"),
    ],
)
def test_bytes_are_known_by_how_they_begin(data: bytes, kind: str, mime: str):
    found = recognise(data)

    assert (found.kind, found.mime) == (kind, mime)


@given(st.binary(max_size=100))
def test_what_is_told_as_text_is_text(data: bytes):
    if recognise(data).kind == "text":
        assert data.decode().encode() == data


def test_base64_is_read_up_to_a_limit():
    assert read_base64("YWJj", 3) == b"abc"
    assert read_base64("YWI=", 2) == b"ab"
    for text in ("YWJj", "Y", "YW J", "YW%=", "é"):
        assert read_base64(text, 2) is None


ORIGIN = "https://shop.example"


def bytes_ending(data: bytes, **known: object) -> Ending:
    told = {"how": "completed", "kind": "bytes", "text": base64.b64encode(data).decode(), "size": len(data), **known}
    return read_ending(told)


@pytest.fixture
def spill(tmp_path: Path):
    with open_spill(tmp_path) as spill:
        yield spill


def test_a_page_that_bent_the_shim_still_shows_nothing_that_is_no_picture(spill: Spill):
    """Its numbers and its type are only words about the bytes."""
    fake = answer_binary(bytes_ending(b"no picture\0", width=10, height=10), spill, ORIGIN)
    large = answer_binary(bytes_ending(PNG + bytes(limits.MEDIA_BYTES), width=10, height=10), spill, ORIGIN)
    huge = answer_binary(bytes_ending(PNG + bytes(limits.FILE_BYTES), width=10, height=10), spill, ORIGIN)
    odd = answer_binary(bytes_ending(PNG, width="<b>", height=None, wholeWidth=1.5, size=[]), spill, ORIGIN)
    torn = answer_binary(Ending("completed", "bytes", "%", "", "", "", Binary(5, 1, 1)), spill, ORIGIN)

    assert fake.text.startswith("[file application/octet-stream, 11 bytes, kept in ")
    assert large.text.startswith("[file image/png, 1,000,028 bytes")
    assert huge.text == torn.text == "The tool returned binary data or a picture that the browser could not read."
    assert odd.text.startswith("[file image/png, 28 bytes, which the browser does not show, kept in ")
    assert not any(answer.media for answer in (fake, large, huge, odd, torn))


def test_a_file_that_can_not_be_kept_is_told_with_the_reason(tmp_path: Path):
    answer = answer_binary(bytes_ending(b"%PDF-1.7"), Spill(tmp_path / "missing"), ORIGIN)

    assert answer.text == "[file application/pdf, 8 bytes, could not be kept: No such file or directory]"


def test_files_count_as_results_do(tmp_path: Path):
    with open_spill(tmp_path, quota_bytes=100) as spill:
        first = spill.write_bytes(bytes(60), suffix=".bin")
        second = spill.write_bytes(bytes(60), suffix=".pdf")

        assert not first.exists()
        assert (second.suffix, second.read_bytes()) == (".pdf", bytes(60))


def test_an_answer_in_mcp_is_its_text_then_its_media_then_its_notes():
    media = (
        Media("image", "image/png", "eA=="),
        Media("audio", "audio/wav", "eQ=="),
        Resource("http://a/", "", "\ud800", None),
    )

    result = as_result(Answer("text", media=media, notes=("one", "two")))

    assert result["content"] == [
        {"type": "text", "text": "text"},
        {"type": "image", "data": "eA==", "mimeType": "image/png"},
        {"type": "audio", "data": "eQ==", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "http://a/", "mimeType": "", "text": "\ufffd"}},
        {"type": "text", "text": "one"},
        {"type": "text", "text": "two"},
    ]
