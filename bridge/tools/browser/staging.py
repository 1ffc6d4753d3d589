"""Tools that set what a page takes its screen, its user and its machine for."""

from bridge.errors import UsageError
from bridge.page.hands import attend
from bridge.page.screen import (
    Viewport,
    emulate_color_scheme,
    emulate_cpu,
    emulate_offline,
    emulate_viewport,
    resize,
)
from bridge.tools.browser.value import Arguments, Context


async def emulate(args: Arguments, context: Context) -> object:
    page = context.page.find(args["page"])
    if len(args) == 1:
        raise UsageError("Say what to emulate: viewport, color_scheme, offline or cpu_rate.")

    async def work() -> None:
        if "viewport" in args:
            given = args["viewport"]
            await emulate_viewport(page, None if given is None else Viewport(**given))
        if "color_scheme" in args:
            await emulate_color_scheme(page, args["color_scheme"])
        if "offline" in args:
            await emulate_offline(page, offline=args["offline"])
        if "cpu_rate" in args:
            await emulate_cpu(page, args["cpu_rate"])

    await attend(page, work)
    return args


async def resize_page(args: Arguments, context: Context) -> object:
    page = context.page.find(args["page"])
    width, height = await attend(page, lambda: resize(page, args["width"], args["height"]))
    return {"page": page.handle, "width": width, "height": height}
