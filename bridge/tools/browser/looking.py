"""Tools that look at a page: as text, as a picture, until something is there, or with a script."""

import base64
import json
from typing import Any, Final, cast

import trio

from bridge import limits
from bridge.errors import CommandFailed, DialogOpen, PageGone, PageThrew, UsageError, WaitedInVain
from bridge.page.document import DocumentEnded
from bridge.page.hands import Held, RealmGone, attend, call_hand, open_element
from bridge.page.invocation import Ending
from bridge.page.lifecycle import Stage
from bridge.page.media import Media, read_base64, recognise
from bridge.page.screen import Shot
from bridge.page.screen import take_screenshot as draw
from bridge.page.script import CallTool, run_script
from bridge.page.session import Page
from bridge.page.snapshot import read_text
from bridge.page.snapshot import take_snapshot as write_down
from bridge.tools.browser.value import Arguments, Context
from bridge.tools.own import Content
from bridge.tools.schema import check_schema

WAIT_SECONDS: Final = 10.0


async def take_snapshot(args: Arguments, context: Context) -> object:
    page = context.page.find(args["page"])
    first = args.get("line", 0)
    shot = await write_down(page, uid=args.get("uid"), first=first, verbose=args.get("verbose", False))
    notes: list[str] = []
    if shot.next_line is not None:
        notes.append(
            f"Lines {first + 1} to {shot.next_line} of {shot.lines}. line={shot.next_line} shows what follows, and uid "
            "only what is in one element."
        )
    if page.stage is Stage.LOADING:
        notes.append("The page has not finished loading: a later snapshot may show more.")
    if shot.cut:
        notes.append("The page has more than is looked at: give a uid to see what is in one element.")
    return Content(shot.text or "(nothing)", notes=tuple(notes))


async def take_screenshot(args: Arguments, context: Context) -> object:
    page = context.page.find(args["page"])
    kind = args.get("format", "png")
    to_file = args.get("to_file", False)
    options: dict[str, Any] = {
        "full_page": args.get("full_page", False),
        "kind": kind,
        "quality": args.get("quality"),
        "small": not to_file,
    }

    async def look() -> Shot:
        if (uid := args.get("uid")) is None:
            return await draw(page, **options)
        async with open_element(page, uid) as element:
            return await draw(page, element=element, **options)

    shot = await attend(page, look)
    notes = (
        *(
            (f"It is drawn at {shot.scale:g} of its size: {shot.width} by {shot.height} CSS pixels.",)
            if shot.scale != 1
            else ()
        ),
        *((f"The page is longer than the {limits.SCREENSHOT_PIXELS:,} pixels that can be drawn.",) if shot.cut else ()),
    )
    facts = f"{shot.found.mime}, {len(shot.data):,} bytes"
    if to_file or len(shot.data) > limits.MEDIA_BYTES:
        try:
            path = context.page.keep(shot.data, suffix=shot.found.suffix)
        except OSError as error:
            raise UsageError(
                f"The picture could not be kept: {error.strerror or error}. Take one without to_file."
            ) from error
        return Content(f"[{facts}, kept in {path}]", notes=notes)
    return Content(f"[image {facts}]", (Media("image", shot.found.mime, base64.b64encode(shot.data).decode()),), notes)


async def wait_for(args: Arguments, context: Context) -> object:
    page = context.page.find(args["page"])
    wanted = [name for name in ("text", "selector", "tool") if name in args]
    if len(wanted) != 1:
        raise UsageError("Give one of text, selector and tool to wait for.")
    if "schema" in args and "tool" not in args:
        raise UsageError("A schema is for the result of a tool: name that, too.")
    look = {"text": _look_for_text, "selector": _look_for_selector, "tool": _look_at_tool}[wanted[0]]
    seconds = float(args.get("seconds", WAIT_SECONDS))
    place = page.place
    last = ""
    with trio.move_on_after(seconds):
        while True:
            try:
                found, last = await look(page, args, context)
            except (RealmGone, DocumentEnded):
                found = None
            if found is not None:
                navigated = place.navigated_to(page.place)
                return {"page": page.handle, **found, **({"navigated": navigated} if navigated else {})}
            await trio.sleep(limits.WAIT_FOR_SECONDS)
    what = json.dumps(args[wanted[0]], ensure_ascii=False)
    raise WaitedInVain(
        f"The {wanted[0]} {what}" if wanted[0] != "tool" else f"Such a result of the tool {what}",
        page.handle,
        seconds,
        last,
        dispatched=wanted[0] == "tool",
    )


Found = tuple[dict[str, Any] | None, str]


async def _look_for_text(page: Page, args: Arguments, _: Context) -> Found:
    texts: list[str] = args["text"]
    said = await read_text(page)
    squeezed = "".join(said.split())
    for text in texts:
        if " ".join(text.split()) in said or "".join(text.split()) in squeezed:
            return {"text": text}, ""
    return None, ""


async def _look_for_selector(page: Page, args: Arguments, _: Context) -> Found:
    selector: str = args["selector"]
    how = "none"

    async def look() -> str:
        best = "none"
        for realm in page.realms:
            try:
                answer = (await call_hand(page, realm, "matchSelector", selector)).evaluated.value
            except (RealmGone, CommandFailed):
                continue
            if answer == "shown":
                return "shown"
            best = str(answer) if best == "none" else best
        return best

    how = await attend(page, look)
    if how == "invalid":
        raise UsageError(f"{selector!r} is not valid CSS. Mend it and call again.")
    if how == "shown":
        return {"selector": selector}, ""
    return None, "; it is there, and hidden" if how == "hidden" else ""


async def _look_at_tool(page: Page, args: Arguments, context: Context) -> Found:
    result = await context.page.call_tool(page.handle, args["tool"], args.get("arguments", {}))
    if "schema" in args:
        schema = {"type": "object", "properties": {"result": args["schema"]}, "required": ["result"]}
        faults = check_schema(json.dumps(schema)).check({"result": result})
        if faults:
            return None, f"; the last one did not fit: {faults[0].sentence('the result')}"
    return {"tool": args["tool"], "result": result}, ""


async def evaluate_script(args: Arguments, context: Context) -> object:
    page = context.page.find(args["page"])

    async def call_tool(name: str, text: str) -> str:
        try:
            arguments = json.loads(text)
        except ValueError as error:
            raise UsageError(f"callTool takes an object for the arguments: {error}.") from error
        if not isinstance(arguments, dict):
            raise UsageError("callTool takes an object for the arguments.")
        result = await context.page.call_tool(page.handle, name, cast("dict[str, Any]", arguments))
        try:
            return json.dumps(result, allow_nan=False)
        except ValueError as error:
            raise UsageError(f"The result of {name!r} can't be told to a script: {error}.") from error

    return _answer(page, await _run(page, args["expression"], args.get("uids", ()), call_tool))


async def _run(page: Page, expression: str, uids: list[str] | tuple[()], call_tool: CallTool) -> Ending:
    await page.wait_awake()
    await page.wait_realm()
    elements: list[Held] = []
    realm = page.realm

    async def hold(left: list[str]) -> Ending:
        if not left:
            return await run_script(page, expression, elements, call_tool)
        async with open_element(page, left[0]) as element:
            if element.realm != realm:
                raise UsageError(
                    f"The script runs in the page's own document, and {left[0]!r} is of one of its iframes."
                )
            elements.append(element.held)
            return await hold(left[1:])

    try:
        return await hold(list(uids))
    except DialogOpen as error:
        held = "The script waits for it: answer it with handle_dialog. What the script returns is lost then."
        raise error.reworded(f"{error.situation} {held}" if error.dispatched else str(error), error.said) from error
    except DocumentEnded:
        raise PageGone(f"Page {page.handle} went elsewhere before the script ran. Nothing ran; call again.") from None


def _answer(page: Page, ending: Ending) -> object:
    match ending:
        case Ending(how="failed"):
            words = (
                f"{ending.name}: {ending.text}"
                if ending.kind == "error" and ending.text
                else ending.text or ending.name
            )
            origin = page.realm.origin if page.realm is not None else ""
            raise PageThrew("The script ran and threw:", said=words, origin=origin, stack=ending.stack)
        case Ending(how="completed", kind="bytes"):
            data = None if ending.binary.problem else read_base64(ending.text, limits.FILE_BYTES)
            if data is None:
                return Content("[binary data that could not be read]")
            found = recognise(data)
            if found.kind == "text":
                return Content(data.decode())
            if found.kind == "image" and len(data) <= limits.MEDIA_BYTES:
                return Content(f"[image {found.mime}]", (Media("image", found.mime, ending.text),))
            return Content(f"[{found.mime}, {len(data):,} bytes]")
        case Ending(how="completed", kind="none"):
            return Content("undefined")
        case Ending(how="completed"):
            return Content(ending.text, is_json=ending.kind == "json")
        case _:
            raise PageThrew("The script ran, and was ended by force: it held the page.")
