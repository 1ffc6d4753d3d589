"""Commands of the tools for debugging, in PyCDP's form and none of its own: its readers fail on values that came after
it. What an answer lacks is told as with any other command.
"""

import base64
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypedDict

from bridge.wire.commands import Command, Evaluated, ask
from bridge.wire.router import Json
from bridge.wire.watched import object_in, objects_in

NOT_THERE: Final = -32601
"""Chromium's number for a command that it does not have."""

Format = Literal["png", "jpeg", "webp"]

Quad = Sequence[float]
"""Four corners, x and y of each."""


def release(object_id: str) -> Command:
    """Runtime.releaseObject."""
    return ask("Runtime.releaseObject", objectId=object_id)


def release_group(group: str) -> Command:
    """Runtime.releaseObjectGroup."""
    return ask("Runtime.releaseObjectGroup", objectGroup=group)


# Nodes


def get_tree(frame: str) -> Generator[Json, Json, list[Json]]:
    """Accessibility.getFullAXTree of one frame: AXNodes, as Chromium has them."""
    result = yield from ask("Accessibility.getFullAXTree", frameId=frame)
    return [node for node in objects_in(result, "nodes") if isinstance(node.get("nodeId"), str)]


def name_of(object_id: str) -> Generator[Json, Json, str]:
    """Accessibility.getPartialAXTree of one node alone: what it is called for a person, "" for nothing."""
    result = yield from ask("Accessibility.getPartialAXTree", objectId=object_id, fetchRelatives=False)
    return next((_word(object_in(node, "name"), "value") for node in objects_in(result, "nodes")), "")


@dataclass(frozen=True, slots=True)
class Node:
    """A DOM node: Chromium's number of it, the frame that it holds, "" for none, and the names of its attributes."""

    number: int
    frame: str
    attributes: frozenset[str]


def describe_node(*, number: int | None = None, object_id: str | None = None) -> Generator[Json, Json, Node]:
    """DOM.describeNode."""
    result = yield from ask("DOM.describeNode", backendNodeId=number, objectId=object_id)
    node: Json = result["node"]
    attributes: list[str] = node.get("attributes", [])
    return Node(int(node["backendNodeId"]), str(node.get("frameId") or ""), frozenset(attributes[::2]))


def resolve_node(number: int, group: str) -> Generator[Json, Json, str]:
    """DOM.resolveNode: the id of the node as an object of its document's main world, "" where it is none."""
    result = yield from ask("DOM.resolveNode", backendNodeId=number, objectGroup=group)
    return _word(result["object"], "objectId")


def frame_owner(frame: str) -> Generator[Json, Json, int]:
    """DOM.getFrameOwner: Chromium's number of the iframe that holds a frame."""
    result = yield from ask("DOM.getFrameOwner", frameId=frame)
    return int(result["backendNodeId"])


# Places, in CSS pixels


def get_quads(object_id: str) -> Generator[Json, Json, list[Quad]]:
    """DOM.getContentQuads: what an element covers, in the viewport of its process."""
    result = yield from ask("DOM.getContentQuads", objectId=object_id)
    return [[float(one) for one in quad] for quad in result["quads"] if len(quad) == 8]


def content_corner(number: int) -> Generator[Json, Json, tuple[float, float]]:
    """DOM.getBoxModel: where the content of a node begins."""
    result = yield from ask("DOM.getBoxModel", backendNodeId=number)
    content: Quad = result["model"]["content"]
    return float(content[0]), float(content[1])


@dataclass(frozen=True, slots=True)
class Layout:
    """What is seen of a document (`view`), how far it is scrolled (`page`), how large it is, and how many pixels of the
    screen are one of CSS."""

    view_x: float
    view_y: float
    view_width: float
    view_height: float
    page_x: float
    page_y: float
    width: float
    height: float
    density: float


def get_layout() -> Generator[Json, Json, Layout]:
    """Page.getLayoutMetrics."""
    result = yield from ask("Page.getLayoutMetrics")
    view, layout, content = result["cssVisualViewport"], result["cssLayoutViewport"], result["cssContentSize"]
    return Layout(
        float(view["pageX"]),
        float(view["pageY"]),
        float(view["clientWidth"]),
        float(view["clientHeight"]),
        float(layout["pageX"]),
        float(layout["pageY"]),
        float(content["width"]),
        float(content["height"]),
        max(float(result["layoutViewport"]["clientWidth"]) / max(float(layout["clientWidth"]), 1), 0.1),
    )


def node_at(x: float, y: float) -> Generator[Json, Json, int]:
    """DOM.getNodeForLocation: Chromium's number of the node that a click at a place of the document reaches."""
    result = yield from ask("DOM.getNodeForLocation", x=int(x), y=int(y))
    return int(result["backendNodeId"])


# Windows and pictures


def get_window() -> Generator[Json, Json, tuple[int, bool]]:
    """Browser.getWindowForTarget: the number of a page's window, and whether that can be given another size."""
    result = yield from ask("Browser.getWindowForTarget")
    return int(result["windowId"]), object_in(result, "bounds").get("windowState", "normal") == "normal"


class Clip(TypedDict):
    """What to draw, in CSS pixels of the document, and how large."""

    x: float
    y: float
    width: float
    height: float
    scale: float


def capture(clip: Clip, kind: Format, quality: int | None, *, beyond: bool) -> Generator[Json, Json, bytes]:
    """Page.captureScreenshot."""
    result = yield from ask(
        "Page.captureScreenshot", clip=clip, format=kind, quality=quality, captureBeyondViewport=beyond
    )
    return base64.b64decode(result["data"])


# Bodies


@dataclass(frozen=True, slots=True)
class Body:
    """What a request or its answer holds; `text` may be in base64."""

    text: str
    is_base64: bool


def request_body(request_id: str) -> Generator[Json, Json, Body]:
    """Network.getRequestPostData."""
    return _body((yield from ask("Network.getRequestPostData", requestId=request_id)), "postData")


def response_body(request_id: str) -> Generator[Json, Json, Body]:
    """Network.getResponseBody."""
    return _body((yield from ask("Network.getResponseBody", requestId=request_id)), "body")


def _body(result: Json, key: str) -> Body:
    return Body(_word(result, key), result.get("base64Encoded") is True)


# Functions


class Argument(TypedDict, total=False):
    """A CallArgument: a JSON value, or an object that is held."""

    value: Any
    objectId: str


@dataclass(frozen=True, slots=True)
class Called:
    """What Runtime.callFunctionOn and Runtime.evaluate answer: as `Evaluated`, and the id of an object, or ""."""

    evaluated: Evaluated
    object_id: str
    description: str


def call_in(
    unique_context_id: str,
    declaration: str,
    arguments: Sequence[Argument],
    *,
    by_value: bool = True,
    await_promise: bool = False,
    group: str = "thrown",
) -> Generator[Json, Json, Called]:
    """Runtime.callFunctionOn bound to one realm, as `evaluate_in` is: objects of another document are refused.

    Args:
        group: in which objects are held, also what was thrown.
    """
    result = yield {
        "method": "Runtime.callFunctionOn",
        "params": {
            "functionDeclaration": declaration,
            "uniqueContextId": unique_context_id,
            "arguments": list(arguments),
            "objectGroup": group,
            "returnByValue": by_value,
            "awaitPromise": await_promise,
            "silent": True,
        },
    }
    return _called(result)


def compile_in(unique_context_id: str, expression: str, *, group: str) -> Generator[Json, Json, Called]:
    """Runtime.evaluate bound to one realm, for an object that is held in `group`."""
    result = yield {
        "method": "Runtime.evaluate",
        "params": {
            "expression": expression,
            "uniqueContextId": unique_context_id,
            "objectGroup": group,
            "silent": True,
        },
    }
    return _called(result)


def _word(json: Json, key: str) -> str:
    value = json.get(key)
    return value if isinstance(value, str) else ""


def _called(result: Json) -> Called:
    answer: Json = result["result"]
    thrown = object_in(result, "exceptionDetails")
    description = _word(object_in(thrown, "exception"), "description") or _word(answer, "description")
    evaluated = Evaluated(answer.get("value"), _word(answer, "className"), bool(thrown))
    return Called(evaluated, _word(answer, "objectId"), description)
