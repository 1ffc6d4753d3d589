"""Binary data of pages: pictures, sounds and files, known by their first bytes and by nothing that a page says."""

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["image", "audio", "text", "file"]


@dataclass(frozen=True, slots=True)
class Media:
    """A picture or a sound that an agent gets.

    Attributes:
        mime: what the bytes are, such as `image/png`.
        data: the bytes in base64.
    """

    kind: Literal["image", "audio"]
    mime: str
    data: str


@dataclass(frozen=True, slots=True)
class Resource:
    """A text or a file that a page embeds in its answer in MCP's form. `uri` is http or https.

    Attributes:
        text: the text, or None where it is a file.
        blob: the file's bytes in base64.
    """

    uri: str
    mime: str
    text: str | None
    blob: str | None


@dataclass(frozen=True, slots=True)
class Recognised:
    """What bytes are. `suffix` is for a file that holds them."""

    kind: Kind
    mime: str
    suffix: str


_MAGIC: Final[tuple[tuple[re.Pattern[bytes], Recognised], ...]] = tuple(
    (re.compile(pattern, re.DOTALL), recognised)
    for pattern, recognised in (
        (rb"\x89PNG\r\n\x1a\n", Recognised("image", "image/png", ".png")),
        (rb"\xff\xd8\xff", Recognised("image", "image/jpeg", ".jpg")),
        (rb"RIFF....WEBP", Recognised("image", "image/webp", ".webp")),
        (rb"GIF8[79]a", Recognised("image", "image/gif", ".gif")),
        (rb"RIFF....WAVE", Recognised("audio", "audio/wav", ".wav")),
        (rb"ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]", Recognised("audio", "audio/mpeg", ".mp3")),
        (rb"\xff[\xf0\xf1\xf8\xf9]", Recognised("audio", "audio/aac", ".aac")),
        (rb"OggS.{24}(OpusHead|\x01vorbis|Speex   |\x7fFLAC)", Recognised("audio", "audio/ogg", ".ogg")),
        (rb"fLaC", Recognised("audio", "audio/flac", ".flac")),
        (rb"....ftypM4[AB] ", Recognised("audio", "audio/mp4", ".m4a")),
        (rb"....ftypavi[fs]", Recognised("file", "image/avif", ".avif")),
        (rb"....ftyp", Recognised("file", "video/mp4", ".mp4")),
        (rb"OggS", Recognised("file", "application/ogg", ".ogx")),
        (rb"\x1aE\xdf\xa3", Recognised("file", "video/webm", ".webm")),
        (rb"%PDF-", Recognised("file", "application/pdf", ".pdf")),
        (rb"PK(\x03\x04|\x05\x06)", Recognised("file", "application/zip", ".zip")),
        (rb"\x1f\x8b", Recognised("file", "application/gzip", ".gz")),
        (rb"\0asm", Recognised("file", "application/wasm", ".wasm")),
        (rb"SQLite format 3\0", Recognised("file", "application/vnd.sqlite3", ".sqlite")),
    )
)
_CONTROL: Final = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")


def recognise(data: bytes) -> Recognised:
    """What the bytes are. Text is what is UTF-8, without control characters that no text has."""
    for pattern, recognised in _MAGIC:
        if pattern.match(data):
            return recognised
    try:
        data.decode()
    except UnicodeDecodeError:
        return Recognised("file", "application/octet-stream", ".bin")
    if _CONTROL.search(data):
        return Recognised("file", "application/octet-stream", ".bin")
    return Recognised("text", "text/plain", ".txt")


def read_base64(text: str, limit_bytes: int) -> bytes | None:
    """The bytes that the text stands for; None where it is no base64, or stands for too many."""
    if len(text) > (limit_bytes + 2) // 3 * 4:
        return None
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if len(data) <= limit_bytes else None
