"""Act on a page's elements with the input events that a person's mouse and keyboard cause.

Before a click, its element is waited for: it has to be enabled, to stand still, and to be what is on top where the
click goes. Whatever else is there is named, and gets no click in its place.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

import trio

from bridge import limits
from bridge.errors import CommandFailed, ElementGone, NotActionable
from bridge.page.effect import send_input
from bridge.page.hands import HELD, Element, Held, RealmGone, call_hand, open_label
from bridge.page.keys import MODIFIERS, Key, find_key
from bridge.page.masks import MASKED, is_secret_field
from bridge.page.session import Page
from bridge.wire.commands import Command, ask
from bridge.wire.connection import Session
from bridge.wire.devtools import (
    content_corner,
    describe_node,
    frame_owner,
    get_layout,
    get_quads,
    name_of,
    node_at,
    release,
    resolve_node,
)

Button = Literal["left", "middle", "right"]
_MouseKind = Literal["mouseMoved", "mousePressed", "mouseReleased"]
_KeyKind = Literal["keyDown", "keyUp", "rawKeyDown"]

_PICKED: Final = frozenset({"color", "date", "datetime-local", "month", "range", "time", "week"})
"""Types of inputs that a person fills with a picker."""
_PRESSED: Final = frozenset({"button", "image", "reset", "submit"})
_NOT_SHOWN: Final = "it is not shown, or has no size"
_PARTS: Final = {
    "option": "it is an option of a closed list: use select_option on that list",
    "area": "it is an area of a picture: use press_key with Enter on it",
}
"""What has no place of its own, however long it is waited for, and the way to it."""
_LABEL_PIXELS: Final = 4
"""How far inside of a label it is clicked: its box is drawn there, and links are in the text behind that."""


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a viewport, in CSS pixels."""

    x: float
    y: float

    def __add__(self, other: "Point") -> "Point":
        return Point(self.x + other.x, self.y + other.y)


@dataclass(frozen=True, slots=True)
class Control:
    """What an element is to somebody who wants to fill it: page_shims/shims.d.ts describes it."""

    kind: str
    type: str
    disabled: bool
    read_only: bool
    checked: bool
    value: str
    is_secret: bool


async def read_control(element: Element) -> Control:
    """What it is now.

    Raises:
        ElementGone: it is gone.
    """
    match await element.ask("controlOf"):
        case {
            "kind": str(kind),
            "type": str(type_),
            "disabled": bool(disabled),
            "readOnly": bool(read_only),
            "checked": bool(checked),
            "value": str(value),
            "field": words,
        }:
            is_secret = isinstance(words, list) and is_secret_field(*map(str, words))  # pyright: ignore[reportUnknownArgumentType]  # JSON
            return Control(kind, type_, disabled, read_only, checked, value, is_secret)
        case _:
            raise CommandFailed("Runtime.callFunctionOn", "the page broke the shim")


# Where


async def find_point(element: Element, *, enabled: bool = True) -> Point:
    """Where a click on an element goes, once it can: to itself, or else to its label, in the viewport of its process.

    Args:
        enabled: wait until it is.

    Raises:
        NotActionable: it could not within `limits.ELEMENT_SECONDS`; says why.
        ElementGone: it went away.
    """
    return await _find_point(element, trio.current_time() + limits.ELEMENT_SECONDS, enabled=enabled)


async def _find_point(element: Element, deadline: float, *, enabled: bool = True, done: str = "") -> Point:
    before: dict[Held, Point] = {}
    why: dict[Held, str] = {}
    async with open_label(element) as label:
        shown = element
        for looks in count(1):
            try:
                if enabled and (await read_control(element)).disabled:
                    raise NotActionable("it is disabled")
                point = await _point_in_view(shown, at_start=shown is label)
                if point == before.get(shown.held):
                    await _check_on_top(element, point)
                    return point
                before[shown.held], why[shown.held] = point, "it does not stand still"
            except NotActionable as error:
                why[shown.held] = str(error)
                if str(error) == _NOT_SHOWN and (kind := (await read_control(element)).kind) in _PARTS:
                    raise _not_actionable(element, _PARTS[kind], done=done) from error
                shown = label if label is not None and shown is element else element
            if looks > 1 and trio.current_time() >= deadline:
                raise _not_actionable(element, why[element.held], done=done)
            await _next_look(element)
    raise AssertionError("unreachable")


async def _next_look(element: Element) -> None:
    """Block until what moves is somewhere else, and what changes had a moment to."""
    with trio.move_on_after(limits.ELEMENT_LOOK_SECONDS):
        try:
            await call_hand(element.page, element.realm, "twoFrames", await_promise=True)
        except RealmGone:
            raise ElementGone(element.page.handle, element.uid, "its document was left") from None


def _not_actionable(element: Element, why: str, *, done: str = "") -> NotActionable:
    """The same as an agent reads it. `done` is what became of the element, where input was sent."""
    error = NotActionable(
        f"Element {element.uid!r} of page {element.page.handle} was {done or 'left alone'}: {why}. "
        "Take a snapshot to see what there is now."
    )
    error.dispatched = bool(done)
    return error


async def _point_in_view(element: Element, *, at_start: bool = False) -> Point:
    """The middle of what of an element is in view, in the viewport of its process; or of where that begins."""
    try:
        await element.run(ask("DOM.scrollIntoViewIfNeeded", objectId=element.held.object_id))
        quads = await element.run(get_quads(element.held.object_id))
        layout = await element.session.run(get_layout())
    except CommandFailed as error:
        raise NotActionable(_NOT_SHOWN) from error
    width, height = layout.view_width, layout.view_height
    best: tuple[float, Point] | None = None
    for quad in quads:
        xs, ys = quad[0::2], quad[1::2]
        left, right = max(0.0, min(xs)), min(width, max(xs))
        top, bottom = max(0.0, min(ys)), min(height, max(ys))
        area = (right - left) * (bottom - top)
        if right > left and bottom > top and (best is None or area > best[0]):
            middle = Point(sum(xs) / 4, sum(ys) / 4)
            if at_start:
                middle = Point(left + min(_LABEL_PIXELS, (right - left) / 2), (top + bottom) / 2)
            is_in_view = 0 <= middle.x < width and 0 <= middle.y < height
            best = area, middle if is_in_view else Point((left + right) / 2, (top + bottom) / 2)
    if best is None:
        raise NotActionable("nothing of it is in view" if quads else _NOT_SHOWN)
    return best[1]


async def _check_on_top(element: Element, point: Point) -> None:
    """See whether an element is on top at a place, in its process and in each around that.

    Raises:
        NotActionable: something else is.
    """
    page, session = element.page, element.session
    hit = await _hit(session, point)
    try:
        object_id = await session.run(resolve_node(hit, HELD)) if hit else ""
    except CommandFailed as error:
        raise NotActionable("what is on top of it changes all the time") from error
    if object_id:
        held = Held(object_id)
        try:
            problem = await element.ask("hitProblem", held)
        except CommandFailed:
            # What is on top is of another document, such as that of an iframe.
            problem = {"uid": "", "text": "another document", "isAround": False}
        finally:
            session.send_nowait(release(held.object_id))
        match problem:
            case {"uid": str(uid), "text": str(text), "isAround": bool(is_around)}:
                top = f"{text} ({uid})" if uid else text
                raise NotActionable(
                    f"it takes no clicks there: {top} around it gets them" if is_around else f"{top} covers it"
                )
            case _:
                pass
    while (holder := page.holder_of(session)) is not None:
        session, frame = holder
        try:
            owner = await session.run(frame_owner(frame))
            point += Point(*await session.run(content_corner(owner)))
        except CommandFailed as error:
            raise NotActionable("its iframe is not shown") from error
        if await _hit(session, point) != owner:
            raise NotActionable("something covers its iframe")


async def _hit(session: Session, point: Point) -> int:
    """Chromium's number of the node that is on top there, 0 for none."""
    layout = await session.run(get_layout())
    try:
        return await session.run(node_at(point.x + layout.view_x, point.y + layout.view_y))
    except CommandFailed:
        return 0


# Mouse


async def click(element: Element, *, button: Button = "left", times: int = 1, modifiers: int = 0) -> None:
    """Move to where an element is, and press and let go, so often. Its own process gets that, and no other.

    What the mouse itself moves is followed, as the layout does where a menu closes that the mouse has left.

    Raises:
        NotActionable: it could not be reached within `limits.ELEMENT_SECONDS`; says why.
        ElementGone: it went away; what another document shows there gets no click.
    """
    deadline = trio.current_time() + limits.ELEMENT_SECONDS
    done = ""
    while True:
        point = await _find_point(element, deadline, done=done)
        await hover(element, point, modifiers=modifiers)
        done = "left alone once the mouse had come to it"
        try:
            await _check_on_top(element, point)
            break
        except NotActionable as error:
            if trio.current_time() >= deadline:
                raise _not_actionable(element, str(error), done=done) from error
    await _press_at(element, point, button=button, times=times, modifiers=modifiers)


async def _press_at(element: Element, point: Point, *, button: Button, times: int, modifiers: int) -> None:
    for number in range(1, times + 1):
        element.check_there()
        for kind in ("mousePressed", "mouseReleased"):
            event = _mouse_event(kind, point, button=button, clicks=number, modifiers=modifiers)
            await send_input(element.page, event, element.session)


async def hover(element: Element, point: Point, *, modifiers: int = 0) -> None:
    """Move the mouse to where an element is.

    Args:
        point: as `find_point` has it.

    Raises:
        ElementGone: its document was left.
    """
    element.check_there()
    await send_input(element.page, _mouse_event("mouseMoved", point, modifiers=modifiers), element.session)


async def _mouse(
    page: Page, kind: _MouseKind, point: Point, *, button: Button | None = None, clicks: int | None = None
) -> None:
    """As `_mouse_event`, sent to whatever is there on the screen."""
    await send_input(page, _mouse_event(kind, point, button=button, clicks=clicks))


def _mouse_event(
    kind: _MouseKind,
    point: Point,
    *,
    button: Button | None = None,
    clicks: int | None = None,
    modifiers: int | None = None,
) -> Command:
    return ask(
        "Input.dispatchMouseEvent",
        type=kind,
        x=point.x,
        y=point.y,
        button=button,
        buttons=1 if button == "left" and kind != "mouseReleased" else 0,
        clickCount=clicks,
        modifiers=modifiers,
    )


async def drag(page: Page, start: Element, end: Element) -> None:
    """Take one element to another: with the mouse alone, or as a drag with data where the page begins one.

    Raises:
        NotActionable: one of them can't be reached.
        ElementGone: one of them went away.
    """
    await place_of(end)  # before anything is begun
    await find_point(start, enabled=False)
    begin, _, _ = await place_of(start)
    await page.session.run(ask("Input.setInterceptDrags", enabled=True))
    if page.watch is not None:
        page.watch.drag = None
    try:
        start.check_there()
        await _mouse(page, "mouseMoved", begin)
        start.check_there()
        await _mouse(page, "mousePressed", begin, button="left", clicks=1)
        # Far enough that it is no click, and not so far that it leaves the element.
        await _mouse(page, "mouseMoved", begin + Point(4, 4), button="left")
        target, _, _ = await place_of(end)
        for step in range(1, limits.DRAG_STEPS + 1):
            part = step / limits.DRAG_STEPS
            between = Point(begin.x + (target.x - begin.x) * part, begin.y + (target.y - begin.y) * part)
            await _mouse(page, "mouseMoved", between, button="left")
        await _drop(page, target)
        await _mouse(page, "mouseReleased", target, button="left", clicks=1)
    except BaseException:
        # Nothing is to stay in the hand of a mouse that nobody moves any more.
        page.session.send_nowait(_mouse_event("mouseReleased", begin, button="left", clicks=1))
        raise
    finally:
        page.session.send_nowait(ask("Input.setInterceptDrags", enabled=False))


async def _drop(page: Page, target: Point) -> None:
    """Where the page began a drag with data, drop that; Chromium leaves it to us, and tells of it a moment later."""
    watch = page.watch
    if watch is None:
        return
    with trio.move_on_after(limits.SETTLE_QUIET_SECONDS):
        await page.wait_changed(lambda: watch.drag is not None)
    if watch.drag is not None:
        # The first may have a list put the dragged item there; Chromium drops only on what was dragged over last.
        for kind in ("dragEnter", "dragOver", "dragOver", "drop"):
            command = ask("Input.dispatchDragEvent", type=kind, x=target.x, y=target.y, data=watch.drag)
            await send_input(page, command)


async def place_of(element: Element) -> tuple[Point, float, float]:
    """The middle of an element in the page's viewport, its width and its height, whatever is on top of it.

    Raises:
        NotActionable: it is not shown.
        ElementGone: it went away.
    """
    try:
        await element.run(ask("DOM.scrollIntoViewIfNeeded", objectId=element.held.object_id))
        quads = await element.run(get_quads(element.held.object_id))
        xs = [x for quad in quads for x in quad[0::2]]
        ys = [y for quad in quads for y in quad[1::2]]
        if not xs or min(xs) == max(xs) or min(ys) == max(ys):
            raise NotActionable("it has no size")
        point = Point((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2)
        session = element.session
        while (holder := element.page.holder_of(session)) is not None:
            session, frame = holder
            point += Point(*await session.run(content_corner(await session.run(frame_owner(frame)))))
    except (CommandFailed, NotActionable) as error:
        raise _not_actionable(element, _NOT_SHOWN) from error
    return point, max(xs) - min(xs), max(ys) - min(ys)


# Keyboard


async def press(page: Page, modifiers: Sequence[str], key: Key) -> None:
    """Press one key, with others held down."""
    bits = 0
    for name in modifiers:
        bits |= MODIFIERS[name]
        await _key(page, "rawKeyDown", find_key(name), bits)
    writes = key.text and not bits & ~MODIFIERS["Shift"]
    await _key(page, "keyDown" if writes else "rawKeyDown", key, bits, key.text if writes else None)
    await _key(page, "keyUp", key, bits)
    for name in reversed(modifiers):
        bits &= ~MODIFIERS[name]
        await _key(page, "keyUp", find_key(name), bits)


async def _key(page: Page, kind: _KeyKind, key: Key, modifiers: int, text: str | None = None) -> None:
    command = ask(
        "Input.dispatchKeyEvent",
        type=kind,
        key=key.name,
        code=key.code,
        windowsVirtualKeyCode=key.number,
        modifiers=modifiers,
        text=text,
        unmodifiedText=text,
    )
    await send_input(page, command)


async def focus(element: Element) -> None:
    """Raises NotActionable."""
    try:
        await element.run(ask("DOM.focus", objectId=element.held.object_id))
    except CommandFailed as error:
        raise _not_actionable(element, "it can't have the keyboard: it is not shown, or takes no input") from error


# Fields


async def fill(element: Element, value: str) -> dict[str, Any]:
    """Have a field hold a value, whatever it held.

    Args:
        value: a text; for a checkbox or radio button `true` or `false`; for a list of options one of them.

    Returns: `{}`, or `{value}` where the page has made something else of it.

    Raises:
        NotActionable: it can't hold that; says why.
        ElementGone: it went away.
    """
    control = await _wait_writable(element)
    match control:
        case Control(kind="select"):
            return {"chosen": await choose(element, [value])}
        case Control(kind="input", type="checkbox" | "radio" as kind):
            return await _check(element, control, kind, value)
        case Control(kind="input", type="file"):
            raise _not_actionable(element, "it takes files: use upload_file")
        case Control(kind="input", type=kind) if kind in _PRESSED:
            raise _not_actionable(element, f"it is a button ({kind}): use click")
        case Control(kind="input", type=kind) if kind in _PICKED:
            if await element.ask("setControl", value) is not True:
                raise _not_actionable(element, f"it is of the type {kind}, and does not take the value {value!r}")
        case Control(kind="input" | "textarea" | "editable"):
            await focus(element)
            await element.ask("selectAll")
            element.check_there()
            if value:
                await send_input(element.page, ask("Input.insertText", text=value))
            elif control.value:
                await press(element.page, (), Key("Delete", "Delete", 46))
        case _:
            raise _not_actionable(element, "it is no field that can be filled")
    return await _difference(element, value)


async def _difference(element: Element, value: str) -> dict[str, Any]:
    try:
        now = await read_control(element)
        if _written(now.kind, now.value) == _written(now.kind, value):
            return {}
        is_secret = now.is_secret or is_secret_field("", "", await element.run(name_of(element.held.object_id)))
    except ElementGone:
        return {}  # what was written there has led elsewhere
    return {"value": MASKED if is_secret else now.value}


def _written(kind: str, text: str) -> object:
    """What counts of a text; how an editor has made blank lines and spaces of it does not."""
    if kind == "editable":
        return [line.split() for line in text.splitlines() if line.strip()]
    return text.replace("\r\n", "\n").strip()


async def _wait_writable(element: Element) -> Control:
    """What a field is, once it is enabled and can be written to.

    Raises:
        NotActionable: it is neither within `limits.ELEMENT_SECONDS`.
    """
    deadline = trio.current_time() + limits.ELEMENT_SECONDS
    while True:
        control = await read_control(element)
        why = "it is disabled" if control.disabled else "it can only be read" if control.read_only else ""
        if not why:
            return control
        if trio.current_time() >= deadline:
            raise _not_actionable(element, why)
        await _next_look(element)


async def _check(element: Element, control: Control, kind: str, value: str) -> dict[str, Any]:
    if value not in ("true", "false"):
        raise _not_actionable(element, f'it is a {kind}: its value is "true" or "false"')
    wanted = value == "true"
    if control.checked == wanted:
        return {}
    if kind == "radio" and not wanted:
        raise _not_actionable(element, "a radio button is let go by choosing another one of its group")
    await click(element)
    now = await read_control(element)
    return {} if now.checked == wanted else {"value": "true" if now.checked else "false"}


async def choose(element: Element, wanted: Sequence[str]) -> list[str]:
    """Choose options of a list by value or label, and no others; return their labels.

    Raises:
        NotActionable: it has no such options; says which it has.
    """
    control = await _wait_writable(element)
    if control.kind != "select":
        raise _not_actionable(element, "it is no list of options (select)")
    match await element.ask("chooseOptions", json.dumps(list(wanted))):
        case {"fault": str(fault), "wanted": str(word), "labels": [*labels]}:
            if not fault:
                return [str(label) for label in labels]
            has = ", ".join(json.dumps(str(label), ensure_ascii=False) for label in labels)
            why = {
                "none": f"it has no option {json.dumps(word, ensure_ascii=False)}; it begins with {has}",
                "disabled": f"its option {json.dumps(word, ensure_ascii=False)} is disabled",
                "one only": "only one of its options can be chosen",
            }
            raise _not_actionable(element, why.get(fault, fault))
        case _:
            raise CommandFailed("Runtime.callFunctionOn", "the page broke the shim")


async def upload(element: Element, files: Sequence[Path]) -> None:
    """Give files to an input for files, or to the one that a click on the element opens.

    Raises:
        NotActionable: there is none, or it does not take them.
    """
    page = element.page
    control = await read_control(element)
    if control.kind == "input" and control.type == "file":
        await _wait_writable(element)
        return await _give(element, files, element.run, object_id=element.held.object_id)
    watch = page.watch
    if watch is None:
        raise _not_actionable(element, "it is no input for files")
    watch.chooser = None
    await element.session.run(ask("Page.setInterceptFileChooserDialog", enabled=True))
    try:
        await click(element)
        with trio.move_on_after(limits.ELEMENT_SECONDS):
            await page.wait_changed(lambda: watch.chooser is not None)
        if watch.chooser is None or not watch.chooser[1].backend_node_id:
            why = "it is no input for files, and this has opened none"
            raise _not_actionable(element, why, done="clicked")
        session = Session(page.session.connection, watch.chooser[0])
        await _give(element, files, session.run, number=watch.chooser[1].backend_node_id)
    finally:
        element.session.send_nowait(ask("Page.setInterceptFileChooserDialog", enabled=False))


async def _give(
    element: Element,
    files: Sequence[Path],
    run: Callable[[Command], Awaitable[Any]],
    *,
    number: int | None = None,
    object_id: str | None = None,
) -> None:
    """Give files to an input: the element itself, or the one of that number, which a click on the element has opened.

    Raises:
        NotActionable: it does not take them.
    """
    what, done = ("it", "") if number is None else ("the input that this has opened", "clicked")
    try:
        # Chromium takes any files for any input, and leaves out some of them without a word.
        attributes = (await run(describe_node(number=number, object_id=object_id))).attributes
        if "webkitdirectory" in attributes:
            raise _not_actionable(element, f"{what} takes a folder, and files can't be given to it", done=done)
        if len(files) > 1 and "multiple" not in attributes:
            raise _not_actionable(element, f"{what} takes one file, and there are {len(files)}", done=done)
        paths = [str(file) for file in files]
        await run(ask("DOM.setFileInputFiles", files=paths, backendNodeId=number, objectId=object_id))
    except CommandFailed as error:
        raise _not_actionable(element, error.reason.rstrip("."), done=done) from error
