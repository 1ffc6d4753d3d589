"""What a tool of a module returned: a text, any JSON, or content blocks."""

from bridge.tools.modules.frames import Json
from bridge.tools.own import Content
from bridge.tools.sources.content import describe_blocks, read_blocks


def read_result(value: Json) -> Json:
    """The value itself, or a Content where it has MCP's form. One block that is none, and the whole stays data."""
    match value:
        case {"content": [*blocks], **rest} if rest.keys() <= {"details", "isError"}:
            blocks = read_blocks({"content": blocks}, trusted=True)
            if blocks is None:
                return value
            media = tuple(block for block in blocks if not isinstance(block, str))
            return Content(
                describe_blocks(blocks), media, details=rest.get("details"), is_error=rest.get("isError") is True
            )
        case _:
            return value
