"""Binary data that a tool returned, as an agent gets it: a picture or a sound to perceive, a text, or a file."""

import json
from typing import Any, Final

from bridge import limits
from bridge.calls.answers import Answer, answer_about, answer_result
from bridge.calls.results import Spill, shorten
from bridge.page.invocation import Binary, Ending
from bridge.page.media import Media, Recognised, read_base64, recognise
from bridge.tools.sources.content import write_blocks

PROBLEMS: Final = {
    "tainted": "The tool returned a picture with pixels of another origin. The browser gives those to no script, so "
    "there is nothing to show. Only the page's author can mend that, by loading them with CORS.",
    "empty": "The tool returned a picture without pixels: it has no size, or was closed or handed over before.",
    "too large": "The tool returned binary data of {size:,} bytes. That is more than the {limit:,} that are taken "
    "out of a page, so nothing was.",
}
"""By `Binary.problem`; what else went wrong is told as `UNREADABLE`."""

UNREADABLE: Final = "The tool returned binary data or a picture that the browser could not read."


def answer_binary(ending: Ending, spill: Spill, origin: str) -> Answer:
    """What an agent reads of an ending of the kind `bytes`. Where that is not text, nothing in it is the page's word.

    Args:
        origin: whose tool it was.
    """
    data = read_bytes(ending)
    if data is None:
        return answer_about(describe_problem(ending.binary), origin)
    found = recognise(data)
    line = describe_bytes(found, ending.binary, data)
    match found.kind:
        case "text":
            return answer_result(shorten(data.decode(), spill, json=False), origin, json=False)
        case "image" | "audio" if is_perceptible(found, ending.binary, data):
            return answer_about(f"[{line}]", origin, media=(Media(found.kind, found.mime, ending.text),))
        case _:
            return answer_about(f"[{line}, {_keep(data, found, spill)}]", origin)


def read_bytes(ending: Ending) -> bytes | None:
    """The bytes, None where there are none to be had."""
    return None if ending.binary.problem else read_base64(ending.text, limits.FILE_BYTES)


def is_perceptible(found: Recognised, binary: Binary, data: bytes) -> bool:
    """Whether it can be shown or played. A picture that the browser can't decode is none to a model either."""
    if len(data) > limits.MEDIA_BYTES:
        return False
    return found.kind == "audio" or (found.kind == "image" and binary.width > 0)


def describe_problem(binary: Binary) -> str:
    problem = PROBLEMS.get(binary.problem, UNREADABLE)
    return problem.format(size=binary.size, limit=limits.FILE_BYTES)


def describe_bytes(found: Recognised, binary: Binary, data: bytes) -> str:
    """The facts in a line: of a picture type, pixels and bytes."""
    size = f"{len(data):,} {'byte' if len(data) == 1 else 'bytes'}"
    if not is_perceptible(found, binary, data):
        broken = ", which the browser does not show" if found.kind == "image" and binary.width == 0 else ""
        return f"file {found.mime}, {size}{broken}"
    if found.kind == "audio":
        return f"audio {found.mime}, {size}"
    line = f"image {found.mime}, {_in_pixels(binary.width, binary.height)}, {size}"
    if (binary.whole_width, binary.whole_height) in ((0, 0), (binary.width, binary.height)):
        return line
    return f"{line}, scaled down from {_in_pixels(binary.whole_width, binary.whole_height)}"


def _in_pixels(width: int, height: int) -> str:
    return f"{width}\N{MULTIPLICATION SIGN}{height}"


def _keep(data: bytes, found: Recognised, spill: Spill) -> str:
    try:
        return f"kept in {spill.write_bytes(data, suffix=found.suffix)}"
    except OSError as error:
        return f"could not be kept: {error.strerror or error}"


def read_value(ending: Ending, spill: Spill) -> Any:  # noqa: ANN401  # JSON
    """How a call ended, for a tool of ours that works with it: JSON, or null for no value. Binary data comes as an
    agent gets it: a text, MCP's content where that is a picture or a sound, or a line that says which file holds it."""
    match ending.kind:
        case "none":
            return None
        case "json":
            return json.loads(ending.text)
        case "bytes":
            data = read_bytes(ending)
            if data is not None and recognise(data).kind == "text":
                return data.decode()
            answer = answer_binary(ending, spill, "")
            text, media = answer.text, answer.media
        case _:
            text, media = ending.text, ending.media
    return {"content": write_blocks(text, media)} if media else text
