"""`pagebridge tools` and `pagebridge call`: one page, for a person or a script at a terminal."""

import json
import logging
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click
import trio

from bridge import limits
from bridge.calls.arguments import parse_words, read_arguments
from bridge.calls.binary import describe_bytes, describe_problem, read_bytes
from bridge.calls.bridge import Bridge, open_bridge
from bridge.calls.gate import Gate
from bridge.calls.listing import Offer, list_offer, problems_of
from bridge.calls.pipeline import Attempt, Call, present_tools, run_call, run_within
from bridge.calls.results import clean_text
from bridge.calls.scope import choose
from bridge.errors import BridgeError, DialogOpen, UsageError
from bridge.origins import address
from bridge.page.invocation import Ending
from bridge.page.media import recognise
from bridge.page.pages import Pages
from bridge.page.session import Page
from bridge.serve.printable import as_json, printable
from bridge.settings import AgentSettings, AttachOptions, LaunchOptions, PageSettings, SchemaProfile
from bridge.tools.tool import PageTools
from bridge.wire.nursery import open_background

T = TypeVar("T")

Given = tuple[str, ...] | dict[str, Any]
"""Arguments as they were written: words to be read by the tool's schema, or an object."""


def show_tools(
    options: LaunchOptions | AttachOptions, pages: PageSettings, url: str, json_profile: SchemaProfile | None
) -> None:
    """Print what the page at `url` offers, as JSON with schemas of that profile, or as a table."""
    where = address(url, allow_file=pages.allow_file)
    listing = run_bridge(partial(list_tools, options, pages, where, json_profile or "standard"))
    if json_profile is not None:
        print_text(as_json(listing))
    else:
        from bridge.serve.table import print_tools  # rich is for people

        print_tools(listing)


def show_call(
    options: LaunchOptions | AttachOptions,
    pages: PageSettings,
    url: str,
    tool: str,
    given: Given,
    seconds: float,
    pins: Path | None,
) -> None:
    """Run a tool of the page at `url`, and print its result."""
    where = address(url, allow_file=pages.allow_file)
    gate = Gate(pages, AgentSettings(pins=pins))
    ending = run_bridge(partial(call_tool, options, pages, where, tool, given, seconds, gate))
    match ending.kind:
        case "none":
            click.echo("The tool ran and returned no value (undefined).", err=True)
        case "bytes":
            _print_bytes(ending)
        case "json" if sys.stdout.isatty():
            print_text(as_json(json.loads(ending.text)))
        case _:
            print_text(ending.text)


def run_bridge(operation: Callable[[trio.CancelScope], Awaitable[T | None]]) -> T:
    """As `run_to_end`, with what the operation's bridge logs of its browser left out."""
    # It logs a browser that failed. We print that as the error which it is, and once is enough.
    logging.getLogger("bridge.calls.bridge").setLevel(logging.ERROR)
    return run_to_end(operation)


def run_to_end(operation: Callable[[trio.CancelScope], Awaitable[T | None]]) -> T:
    """`trio.run`, but SIGINT and SIGTERM first end what was started.

    Args:
        operation: gets a scope that a signal cancels. What has to be tidied up through the browser is inside it, what
            it is tidied up with is outside. Returns None where it was cancelled.

    Raises:
        SystemExit: with the shell's code for the signal that came.
    """
    came: list[int] = []
    scope = trio.CancelScope()

    async def watch(signals: AsyncIterator[int], nursery: trio.Nursery) -> None:
        async for number in signals:
            came.append(number)
            scope.cancel()
            await trio.sleep(limits.CLOSE_SECONDS)
            nursery.cancel_scope.cancel()

    async def until_signal() -> T | None:
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async with open_background() as nursery:
                nursery.start_soon(watch, signals, nursery)
                return await operation(scope)

    result = trio.run(until_signal)
    if result is None:
        raise SystemExit(128 + came[0])
    return result


async def list_tools(
    options: LaunchOptions | AttachOptions,
    pages: PageSettings,
    url: str,
    profile: SchemaProfile,
    scope: trio.CancelScope,
) -> dict[str, Any] | None:
    """What the page at `url` offers, all of it as an agent gets it in parts; None where `scope` was cancelled."""
    async with open_bridge(options, settings=pages) as bridge:
        with scope:
            async with open_page(bridge, url) as (page, tools):
                return list_offer(Offer(page.handle, page.url, tools, problems_of(tools)), profile)
    return None


async def call_tool(
    options: LaunchOptions | AttachOptions,
    pages: PageSettings,
    url: str,
    wanted: str,
    given: Given,
    seconds: float,
    gate: Gate,
    scope: trio.CancelScope,
) -> Ending | None:
    """Run one tool of the page at `url`; None where `scope` was cancelled."""
    async with open_bridge(options, settings=pages) as bridge:
        with scope:
            async with open_page(bridge, url) as (page, tools):

                async def operation(attempt: Attempt) -> Ending:
                    attempt.browser_is_up = True
                    gate.check_page(tools)
                    arguments = given if isinstance(given, dict) else _parse(tools, wanted, given)
                    call = Call(page=page, wanted=wanted, arguments=arguments, shown=tools, gate=gate)
                    try:
                        return await run_call(bridge, call, attempt, None)
                    except DialogOpen as held:
                        raise UsageError(f"{held.situation} Run it again with --dialogs accept or dismiss.") from held

                return await run_within(seconds, f"Tool {wanted!r}", operation)
    return None


def _parse(tools: PageTools, wanted: str, words: tuple[str, ...]) -> dict[str, Any]:
    tool = choose(None, tools, wanted)
    assert tool.schema is not None
    return parse_words(tool.schema, words)


@asynccontextmanager
async def open_page(bridge: Bridge, url: str) -> AsyncGenerator[tuple[Page, PageTools]]:
    """Open a page for the length of the block, and ask it for its tools."""

    async def wait_pages(attempt: Attempt) -> Pages:
        pages = await bridge.wait_pages(limits.HANDSHAKE_SECONDS)
        attempt.browser_is_up = True
        return pages

    async def open_empty(attempt: Attempt) -> Page:
        attempt.browser_is_up = True
        return await pages.open("about:blank")

    async def go_there(attempt: Attempt) -> PageTools:
        attempt.browser_is_up = True
        await page.navigate(url)
        return await present_tools(bridge, page, fresh=True)

    pages = await run_within(limits.HANDSHAKE_SECONDS, "Starting the browser", wait_pages)
    page = await run_within(limits.CALL_SECONDS, "Opening a page", open_empty)
    try:
        yield page, await run_within(limits.NAVIGATION_SECONDS, f"Opening {url}", go_there)
    finally:
        # In a browser that we attached to, the tab would stay.
        with trio.move_on_after(limits.CLOSE_SECONDS, shield=True), suppress(BridgeError):
            await pages.close(page)


def read_given(words: tuple[str, ...], text: str | None) -> Given:
    """Arguments as they were written on the command line: as words, or as JSON there or in stdin.

    Raises:
        UsageError: both were given.
        ArgumentsInvalid: they are not a JSON object.
    """
    if text is None and words == ("-",):
        words, text = (), "-"
    if text is None:
        return words
    if words:
        raise UsageError("Give the arguments either as NAME=VALUE or with --json, and not both.")
    return read_arguments(_read_stdin() if text == "-" else text)


def _read_stdin() -> str:
    data = sys.stdin.buffer.read(limits.ARGUMENT_BYTES + 1)
    if len(data) > limits.ARGUMENT_BYTES:
        raise UsageError(f"The arguments in stdin have more than {limits.ARGUMENT_BYTES:,} bytes.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"The arguments in stdin are not UTF-8: {error.reason}.") from error


def _print_bytes(ending: Ending) -> None:
    """To a program or into a file the bytes as they are; on a terminal, which they would garble, what they are."""
    data = read_bytes(ending)
    if data is None:
        click.echo(describe_problem(ending.binary), err=True)
        return
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(data)
        return
    found = recognise(data)
    print_text(data.decode() if found.kind == "text" else f"[{describe_bytes(found, ending.binary, data)}]")


def print_text(text: str) -> None:
    """Print a page's text: to a program as it is, to a terminal with nothing in it that a terminal would obey."""
    text = clean_text(text)
    click.echo(printable(text) if sys.stdout.isatty() else text)
