"""Tools that act on a page as a person does, and tell what that has started."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import trio

from bridge import limits
from bridge.errors import BridgeError, PartlyFilled
from bridge.page import input as hand
from bridge.page.effect import act
from bridge.page.hands import open_element
from bridge.page.keys import MODIFIERS, read_keys
from bridge.page.media import Media
from bridge.page.session import Page
from bridge.tools.browser.value import Arguments, Context
from bridge.tools.own import Content


async def _act(
    context: Context, args: Arguments, operation: Callable[[Page], Awaitable[dict[str, Any] | None]]
) -> dict[str, Any] | Content:
    """Do something, and tell what came of it: what the operation says, what it has started, and the picture of that
    where one is wanted."""
    page = context.page.find(args["page"])
    before = set(context.page.handles())
    windows = page.watch.windows if page.watch is not None else 0
    told, effect = await act(page, lambda: operation(page))
    windows = page.watch.windows - windows if page.watch is not None else 0
    opened: list[str] = []
    with trio.move_on_after(limits.LAST_WORD_SECONDS):
        while True:
            opened = [handle for handle in context.page.handles() if handle not in before]
            if len(opened) >= windows:
                break
            await trio.sleep(limits.NEWS_SECONDS)  # nothing tells of it but the list of pages
    answer = {"page": page.handle, **(told or {}), **effect.told(), **({"opened": opened} if opened else {})}
    return await _with_picture(answer, context) if args.get("include_screenshot") else answer


async def _with_picture(answer: dict[str, Any], context: Context) -> Content:
    """The same with what the page shows now, or why there is no picture: what was done is done."""
    pictures: list[Media] = []
    said: object = f"none: the page was not drawn within {limits.PICTURE_SECONDS:g} s"
    with trio.move_on_after(limits.PICTURE_SECONDS):
        try:
            said = await context.page.call("take_screenshot", {"page": answer["page"]})
        except BridgeError as error:
            said = f"none: {error}"
    match said:
        case {"content": [{"text": str(text)}, {"type": "image", "data": str(data), "mimeType": str(mime)}]}:
            said = text
            pictures.append(Media("image", mime, data))
        case str():
            pass
        case _:
            said = "none: this project's take_screenshot gives something else than a picture"
    return Content(json.dumps({**answer, "screenshot": said}, ensure_ascii=False), tuple(pictures), is_json=True)


async def click(args: Arguments, context: Context) -> object:
    modifiers = sum(MODIFIERS[name] for name in dict.fromkeys(args.get("modifiers", ())))

    async def operation(page: Page) -> None:
        async with open_element(page, args["uid"]) as element:
            times = 2 if args.get("double") else 1
            await hand.click(element, button=args.get("button", "left"), times=times, modifiers=modifiers)

    return await _act(context, args, operation)


async def hover(args: Arguments, context: Context) -> object:
    async def operation(page: Page) -> None:
        async with open_element(page, args["uid"]) as element:
            point = await hand.find_point(element, enabled=False)
            await hand.hover(element, point)

    return await _act(context, args, operation)


async def fill(args: Arguments, context: Context) -> object:
    async def operation(page: Page) -> dict[str, Any]:
        async with open_element(page, args["uid"]) as element:
            return await hand.fill(element, args["value"])

    return await _act(context, args, operation)


async def fill_form(args: Arguments, context: Context) -> object:
    fields: list[dict[str, str]] = args["fields"]

    async def operation(page: Page) -> dict[str, Any]:
        for given in fields:
            async with open_element(page, given["uid"]):
                pass  # all are there, or none is filled
        others: list[dict[str, Any]] = []
        for number, given in enumerate(fields):
            try:
                async with open_element(page, given["uid"]) as element:
                    told = await hand.fill(element, given["value"])
            except BridgeError as error:
                if not number:
                    raise
                raise PartlyFilled(number, len(fields), error) from error
            if told:
                others.append({"uid": given["uid"], **told})
        return {"filled": len(fields), **({"fields": others} if others else {})}

    return await _act(context, args, operation)


async def press_key(args: Arguments, context: Context) -> object:
    modifiers, key = read_keys(args["key"])

    async def operation(page: Page) -> None:
        if (uid := args.get("uid")) is not None:
            async with open_element(page, uid) as element:
                await hand.focus(element)
        for _ in range(args.get("times", 1)):
            await hand.press(page, modifiers, key)

    return await _act(context, args, operation)


async def select_option(args: Arguments, context: Context) -> object:
    async def operation(page: Page) -> dict[str, Any]:
        async with open_element(page, args["uid"]) as element:
            return {"chosen": await hand.choose(element, args["options"])}

    return await _act(context, args, operation)


async def upload_file(args: Arguments, context: Context) -> object:
    files = [context.page.folders.find_file(path) for path in args["files"]]

    async def operation(page: Page) -> None:
        async with open_element(page, args["uid"]) as element:
            await hand.upload(element, files)

    return await _act(context, args, operation)


async def drag(args: Arguments, context: Context) -> object:
    async def operation(page: Page) -> None:
        async with open_element(page, args["from"]) as start, open_element(page, args["to"]) as end:
            await hand.drag(page, start, end)

    return await _act(context, args, operation)
