"""What a page looks like, and what it takes its screen, its machine and its network for."""

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import trio

from bridge import limits
from bridge.errors import CommandFailed, NotActionable
from bridge.page.hands import Element, RealmGone, call_hand
from bridge.page.input import Point, place_of
from bridge.page.media import Recognised, recognise
from bridge.page.session import Page
from bridge.wire.commands import ask
from bridge.wire.connection import Session
from bridge.wire.devtools import NOT_THERE, Clip, Format, capture, get_layout, get_window
from bridge.wire.router import Json

ColorScheme = Literal["light", "dark", "auto"]


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture of a page.

    Attributes:
        width, height: of what it shows, in CSS pixels.
        scale: how large it is drawn, 1 for a pixel of the picture for one of CSS.
        cut: more of the page than this can't be drawn.
    """

    data: bytes
    found: Recognised
    width: int
    height: int
    scale: float
    cut: bool


@dataclass(frozen=True, slots=True)
class _Area:
    """In CSS pixels, of the document."""

    x: float
    y: float
    width: float
    height: float


async def take_screenshot(
    page: Page,
    *,
    element: Element | None = None,
    full_page: bool = False,
    kind: Format = "png",
    quality: int | None = None,
    small: bool = True,
) -> Shot:
    """Draw what a page shows, the whole of it, or one element.

    The page is brought to the front of its window for that.

    Args:
        quality: of a JPEG or WebP, 0 to 100.
        small: as large as an agent gets to see a picture; else as it is.

    Raises:
        NotActionable: the element is not shown.
        ElementGone: it went away.
        CommandFailed: Chromium could not draw it.
    """
    point, width, height = await place_of(element) if element is not None else (Point(0, 0), 0, 0)
    layout = await page.session.run(get_layout())
    density = layout.density
    if element is not None:
        left, top = point.x - width / 2 + layout.view_x, point.y - height / 2 + layout.view_y
        area = _Area(max(left, 0), max(top, 0), width, height)
    elif full_page:
        area = _Area(0, 0, layout.width, layout.height)
    else:
        area = _Area(layout.view_x, layout.view_y, layout.view_width, layout.view_height)
    most = limits.SCREENSHOT_PIXELS / density
    cut = area.width > most or area.height > most
    area = _Area(area.x, area.y, max(min(area.width, most), 1), max(min(area.height, most), 1))
    scale = min(1.0, limits.MEDIA_PIXELS / (max(area.width, area.height) * density)) if small else 1.0
    while True:
        data = await _capture(page, area, scale, kind, quality, beyond=full_page or element is not None)
        if not small or len(data) <= limits.MEDIA_BYTES or scale < 0.05:
            return Shot(data, recognise(data), round(area.width), round(area.height), round(scale * density, 3), cut)
        # Its bytes go about with its pixels.
        scale *= 0.9 * math.sqrt(limits.MEDIA_BYTES / len(data))


async def _capture(page: Page, area: _Area, scale: float, kind: Format, quality: int | None, *, beyond: bool) -> bytes:
    """Only a page in front is drawn for sure, and another may be brought there at any moment: then it is tried anew.

    The caller's deadline is the only one.
    """
    seconds = limits.DRAW_SECONDS
    while True:
        clip: Clip = {"x": area.x, "y": area.y, "width": area.width, "height": area.height, "scale": scale}
        await page.session.run(ask("Page.bringToFront"))
        with trio.move_on_after(seconds):
            return await page.session.run(capture(clip, kind, quality if kind != "png" else None, beyond=beyond))
        seconds *= 2


@dataclass(frozen=True, slots=True)
class Viewport:
    """What a page takes its window for, in CSS pixels; `density` of its screen, 0 for that of the machine."""

    width: int
    height: int
    density: float = 0
    mobile: bool = False
    touch: bool = False


async def emulate_viewport(page: Page, viewport: Viewport | None) -> None:
    """Have a page take its window for another one; None for the one that it has."""
    if viewport is None:
        await page.session.run(ask("Emulation.clearDeviceMetricsOverride"))
        await page.session.run(ask("Emulation.setTouchEmulationEnabled", enabled=False))
        return
    await page.session.run(
        ask(
            "Emulation.setDeviceMetricsOverride",
            width=viewport.width,
            height=viewport.height,
            deviceScaleFactor=viewport.density,
            mobile=viewport.mobile,
        )
    )
    await page.session.run(ask("Emulation.setTouchEmulationEnabled", enabled=viewport.touch))


async def emulate_color_scheme(page: Page, scheme: ColorScheme) -> None:
    """Have a page think that its user prefers that."""
    value = "" if scheme == "auto" else scheme
    features = [{"name": "prefers-color-scheme", "value": value}]
    await _everywhere(page, "Emulation.setEmulatedMedia", {"features": features}, keeps=scheme != "auto")


async def emulate_offline(page: Page, *, offline: bool) -> None:
    """Take a page's network away, or give it back. Frames of other sites lose theirs with it."""
    params = {"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    await _everywhere(page, "Network.emulateNetworkConditions", params, keeps=offline)


async def emulate_cpu(page: Page, rate: float) -> None:
    """Have a page's scripts run so many times more slowly; 1 for as fast as they are."""
    await page.session.run(ask("Emulation.setCPUThrottlingRate", rate=rate))


async def _everywhere(page: Page, method: str, params: Json, *, keeps: bool) -> None:
    """Send a command to every process that shows a part of the page, and to those that will."""
    if page.watch is not None:
        page.watch.emulate(method, params if keeps else None)
    for session_id in dict.fromkeys([page.session.session_id, *(realm.session_id for realm in page.realms)]):
        session = Session(page.session.connection, session_id)
        try:
            await session.run(ask(method, **params))
        except CommandFailed:
            if session_id == page.session.session_id:
                raise


async def resize(page: Page, width: int, height: int) -> tuple[int, int]:
    """Give the window of a page another size, and return the one that it has then: of its content, in CSS pixels.

    Raises:
        NotActionable: it has no window of its own.
    """
    await page.session.run(ask("Page.bringToFront"))  # others keep their size until then
    try:
        number, is_normal = await page.session.run(get_window())
        if not is_normal:
            await page.session.run(ask("Browser.setWindowBounds", windowId=number, bounds={"windowState": "normal"}))
        try:
            await page.session.run(ask("Browser.setContentsSize", windowId=number, width=width, height=height))
        except CommandFailed as error:
            if error.error_code != NOT_THERE:
                raise
            bounds = {"width": width, "height": height}
            await page.session.run(ask("Browser.setWindowBounds", windowId=number, bounds=bounds))
    except CommandFailed as error:
        raise NotActionable(
            f"The window of page {page.handle} was left as it is: {error.reason.rstrip('.')}. "
            "Use emulate with a viewport: that needs no window."
        ) from error
    # The page is told a moment later.
    now = 0, 0
    with trio.move_on_after(limits.SETTLE_QUIET_SECONDS * 10):
        while True:
            now = await _view_size(page)
            if now == (width, height):
                break
            await trio.sleep(limits.NEWS_SECONDS)
    return now


async def _view_size(page: Page) -> tuple[int, int]:
    """As a page's own scripts have it. Chromium's layout leaves scrollbars out, and is what there is while it loads."""
    if page.realm is not None:
        with suppress(RealmGone, CommandFailed):
            match (await call_hand(page, page.realm, "viewSize")).evaluated.value:
                case {"width": int(width), "height": int(height)}:
                    return width, height
                case _:
                    pass
    layout = await page.session.run(get_layout())
    return round(layout.view_width), round(layout.view_height)
