"""`pagebridge tools call`: one tool of the bridge's own, whatever its source, for a person or a script."""

import base64
import sys
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import click
import trio

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.arguments import parse_words
from bridge.calls.bridge import open_bridge
from bridge.calls.toolbox import checked, open_toolbox
from bridge.errors import BridgeError
from bridge.page.media import Media
from bridge.serve.printable import as_json
from bridge.serve.terminal import Given, open_page, print_text, run_bridge
from bridge.settings import AgentSettings, AttachOptions, LaunchOptions, PageSettings
from bridge.tools.modules.results import read_result
from bridge.tools.own import Content


def show_tool_call(
    options: LaunchOptions | AttachOptions,
    pages: PageSettings,
    agent: AgentSettings,
    urls: tuple[str, ...],
    name: str,
    given: Given,
) -> None:
    """Run a tool, and print what it returned.

    Args:
        urls: of pages to open before. Where it is one, the tool's `page` is that if none is given.

    Raises:
        BridgeError: there is no such tool, or as its call.
    """
    value, notes = run_bridge(partial(call_tool, options, pages, agent, urls, name, given))
    match read_result(value):
        case Content(media=(Media() as media,)) if not sys.stdout.isatty():
            sys.stdout.buffer.write(base64.b64decode(media.data))
        case Content(text=text) if sys.stdout.isatty():
            print_text(text)
        case str(text):
            print_text(text)
        case None:
            click.echo("The tool ran and returned no value.", err=True)
        case _:
            print_text(as_json(value))
    for note in notes:
        click.echo(note, err=True)


async def call_tool(
    options: LaunchOptions | AttachOptions,
    pages: PageSettings,
    settings: AgentSettings,
    urls: tuple[str, ...],
    name: str,
    given: Given,
    scope: trio.CancelScope,
) -> tuple[Any, tuple[str, ...]] | None:
    """What a tool returned, as JSON without secrets, and what to say beside it; None where `scope` was cancelled."""
    async with open_bridge(options, settings=pages, lazily=True) as bridge:
        with scope:
            async with open_toolbox(Agent(bridge, settings)) as toolbox, AsyncExitStack() as opened:
                tool = await toolbox.find(name)
                arguments = given if isinstance(given, dict) else parse_words(checked(tool), given)
                if tool.kind == "builtin":
                    await bridge.wait_pages(limits.HANDSHAKE_SECONDS)
                handles = [(await opened.enter_async_context(open_page(bridge, url)))[0].handle for url in urls]
                if len(handles) == 1 and "page" in tool.parameters.get("required", ()):
                    arguments = {"page": handles[0], **arguments}
                context = toolbox.context(name)
                try:
                    value = await toolbox.finished_value(name, arguments, context)
                except BridgeError as error:
                    raise toolbox.masks().error(error) from error
                masks = toolbox.masks()
                return masks.value(value), tuple(map(masks.text, context.notes))
    return None
