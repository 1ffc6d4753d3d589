"""What a tool answered in the form of MCP, as an agent gets it. WebMCP tools may answer so, and those of origins that
the user named; from all others it is data like any. Nothing in it is fetched, and no type that it declares counts."""

import base64
import json
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from bridge import limits
from bridge.errors import PageThrew
from bridge.page.invocation import Ending
from bridge.page.media import Media, Resource, read_base64, recognise
from bridge.page.values import decode
from bridge.tools.tool import Tool

Block = str | Media | Resource

_SIGN: Final = '"content":['
_URI: Final = re.compile(r"https?://[!-~]{1,2000}")
_TEXT_MIME: Final = re.compile(r"text/[a-z0-9.+-]{1,60}|application/(?:json|xml)")


def read_completed(tool: Tool, ending: Ending, *, trusted: bool = False) -> Ending:
    """The ending of a tool that completed: MCP's content becomes one text, and the media that come with it.

    One block that is not taken, or one key too many, and the whole stays data.

    Args:
        trusted: the user named the tool's origin. It may embed sounds and resources, too.

    Raises:
        PageThrew: the tool said itself that it failed.
    """
    if ending.kind == "form":
        return replace(ending, kind="note", text=_waits(tool))
    may_answer_so = trusted or tool.kind == "webmcp"
    if not may_answer_so or ending.kind != "json" or _SIGN not in ending.text:
        return ending
    content = _content(ending.text, encoded=tool.kind == "page")
    if content is None:
        return ending
    blocks = read_blocks(content, trusted=trusted)
    text = ending.text if blocks is None else "\n".join(map(describe_block, blocks))
    if content.get("isError") is True and (blocks is not None or tool.kind == "webmcp"):
        raise PageThrew(f"Tool {tool.name!r} ran and says that it failed:", said=text, origin=tool.origin)
    if blocks is None:
        return ending
    media = tuple(block for block in blocks if not isinstance(block, str))
    return replace(ending, kind="string", text=text, media=media)


def _waits(tool: Tool) -> str:
    return (
        f"Tool {tool.name!r} has filled in its form, and the form waits for a person to submit it: nothing was sent. "
        "Ask the person to look at the page; afterwards, look at it yourself to see what came of it."
    )


def _content(text: str, *, encoded: bool) -> Mapping[str, Any] | None:
    """An object whose `content` is a list, or None.

    Args:
        encoded: the text is that of a result, in which strings may have been escaped or cut.
    """
    try:
        value = decode(text) if encoded else json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    found = cast("dict[str, Any]", value)
    return found if isinstance(found.get("content"), list) else None


def read_blocks(content: Mapping[str, Any], *, trusted: bool) -> list[Block] | None:
    """The blocks, or None where there is anything else, or nothing, to tell."""
    if not content["content"] or not content.keys() <= {"content", "isError"}:
        return None
    read = [_read_block(block, trusted=trusted) for block in content["content"]]
    blocks = [block for block in read if block is not None]
    media = sum(not isinstance(block, str) for block in blocks)
    return blocks if len(blocks) == len(read) and media <= limits.MEDIA_BLOCKS else None


def _read_block(block: Mapping[str, Any], *, trusted: bool) -> Block | None:
    match block:
        case {"type": "text", "text": str(text), **rest} if not rest:
            return text
        case {"type": str(kind), "data": str(data), "mimeType": str(), **rest} if not rest:
            return _read_media(kind, data) if trusted or kind == "image" else None
        case {"type": "resource", "resource": inner, **rest} if trusted and not rest:
            return _read_resource(inner)
        case _:
            return None


def _read_media(kind: str, text: str) -> Media | None:
    data = read_base64(text, limits.MEDIA_BYTES)
    found = recognise(data) if data else None
    if data is None or found is None or found.kind != kind or found.kind not in ("image", "audio"):
        return None
    return Media(found.kind, found.mime, base64.b64encode(data).decode())


def _read_resource(inner: Mapping[str, Any]) -> Resource | None:
    match inner:
        case {"uri": str(uri), "text": str(text), **rest} if rest.keys() <= {"mimeType"}:
            mime = str(rest.get("mimeType", ""))
            mime = mime if _TEXT_MIME.fullmatch(mime) else "text/plain"
            fits = len(text) <= limits.INLINE_BYTES
            return Resource(uri, mime, text, None) if fits and _URI.fullmatch(uri) else None
        case {"uri": str(uri), "blob": str(blob), **rest} if rest.keys() <= {"mimeType"}:
            data = read_base64(blob, limits.MEDIA_BYTES)
            if data is None or not _URI.fullmatch(uri):
                return None
            return Resource(uri, recognise(data).mime, None, base64.b64encode(data).decode())
        case _:
            return None


def write_blocks(text: str, media: Sequence[Media | Resource]) -> list[dict[str, Any]]:
    """Blocks of MCP for a text, and media that have a line each in it: each comes behind its line.

    `read_blocks` and `describe_blocks` make the same of them again.
    """
    blocks: list[dict[str, Any]] = []
    waiting = deque(media)
    lines: list[str] = []
    for line in text.split("\n"):
        lines.append(line)
        if waiting and _tells_of(line, waiting[0]):
            blocks += [{"type": "text", "text": "\n".join(lines)}, write_block(waiting.popleft())]
            lines.clear()
    if lines:
        blocks.append({"type": "text", "text": "\n".join(lines)})
    return [*blocks, *map(write_block, waiting)]


def write_block(media: Media | Resource) -> dict[str, Any]:
    """The block of MCP that it is."""
    match media:
        case Media():
            return {"type": media.kind, "data": media.data, "mimeType": media.mime}
        case Resource():
            told = {"blob": media.blob or ""} if media.text is None else {"text": media.text}
            return {"type": "resource", "resource": {"uri": media.uri, "mimeType": media.mime, **told}}


def describe_blocks(blocks: Sequence[Block]) -> str:
    """The text that these blocks are, with a line for each of the media, unless the text before ends in it."""
    lines: list[str] = []
    for before, block in zip(("", *blocks), blocks, strict=False):
        last = before.rpartition("\n")[2] if isinstance(before, str) else ""
        if isinstance(block, str) or not _tells_of(last, block):
            lines.append(describe_block(block))
    return "\n".join(lines)


def _tells_of(line: str, media: Media | Resource) -> bool:
    """Whether a line is that of these media: as below, or with more facts."""
    start = describe_block(media).removesuffix("]")
    return line.startswith((f"{start}]", f"{start}, ")) and line.endswith("]")


def describe_block(block: Block) -> str:
    """What the text says of a block, at its place."""
    match block:
        case str():
            return block
        case Media():
            return f"[{block.kind} {block.mime}]"
        case Resource():
            return f"[resource {block.mime}, {block.uri}]"
