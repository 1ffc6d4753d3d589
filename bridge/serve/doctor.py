"""`pagebridge doctor`: go the way of an agent's call step by step, and say where it ends.

The server runs as an agent would run it, in a process of its own, and is spoken to by the SDK's client.
"""

import os
import shutil
import sys
import tempfile
import textwrap
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, cast

import click
import trio
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp_types import TextContent

from bridge import limits
from bridge.browser.browser import open_browser
from bridge.browser.endpoint import find_endpoint
from bridge.browser.executable import find_browser
from bridge.calls.frame import unframe
from bridge.errors import BridgeError
from bridge.serve.printable import printable
from bridge.serve.sample_page import serve_sample
from bridge.serve.terminal import run_to_end
from bridge.settings import ATTACH_VARIABLE, HEADERS_VARIABLE, AttachOptions, LaunchOptions

ANSWER_SECONDS: Final = limits.HANDSHAKE_SECONDS + limits.NAVIGATION_SECONDS
"""Every request of the client ends by then; the server's own deadlines are shorter."""
STDERR_CHARS: Final = 2000
"""Of a server that failed: its last words."""
COLOURS: Final = {"ok": "green", "failed": "red", "skipped": "yellow"}
STATE_COLUMNS: Final = 9
CHECK_COLUMNS: Final = 18
TEXT_COLUMNS: Final = 40
"""Where there is less room beside a check, its text goes below."""


WEBMCP_RISK: Final = (
    "With it on, Chromium 156 can end as a whole where a page that is being left is asked for its registered tools; "
    "pagebridge avoids that as far as it can."
)


class CheckFailed(BridgeError):
    """What was found instead, and what to do about it."""


@dataclass(frozen=True)
class Finding:
    """What became of one check; `text` is what was seen, or what to do."""

    check: str
    state: Literal["ok", "failed", "skipped"]
    text: str


class Examination:
    """Checks, one after the other; each is reported when it ends."""

    def __init__(self, report: Callable[[Finding], None]) -> None:
        self._report = report
        self.failed = 0

    async def run(self, check: str, step: Callable[[], Awaitable[str]]) -> bool:
        """Make one check; True where it found what it should."""
        try:
            text = await step()
        except BridgeError as error:
            self.failed += 1
            self._report(Finding(check, "failed", str(error)))
            return False
        self._report(Finding(check, "ok", text))
        return True

    def skip(self, check: str, why: str) -> None:
        self._report(Finding(check, "skipped", why))


def show_checks(options: LaunchOptions | AttachOptions, url: str | None) -> None:
    """Check one thing after the other, and print what was found.

    Raises:
        SystemExit: with 1 if anything failed.
    """
    examination = Examination(_print)
    well = run_to_end(partial(examine, examination, options, url))
    click.echo(_summary(examination.failed))
    if not well:
        raise SystemExit(1)


async def examine(
    examination: Examination, options: LaunchOptions | AttachOptions, url: str | None, scope: trio.CancelScope
) -> bool | None:
    """Go the way of a call: to the browser, to the server, through both to a tool of a page.

    Returns:
        None where `scope` was cancelled, else whether all is well.
    """
    there = await _examine_browser(examination, options)
    async with AsyncExitStack() as stack:
        clients: list[Client] = []

        async def shake_hands() -> str:
            client = await stack.enter_async_context(open_client(options))
            clients.append(client)
            return await _describe_server(client)

        served = await examination.run("MCP handshake", shake_hands)
        checks = [
            ("Page tool called", partial(_call_sample, options)),
            ("WebMCP", partial(_look_for_webmcp, options)),
        ]
        if url is not None:
            checks.append(("Your page", partial(_look_at_page, url)))
        with scope:
            for check, step in checks:
                if there and served:
                    await examination.run(check, partial(step, clients[0]))
                else:
                    examination.skip(check, "a check before it failed")
    return None if scope.cancel_called else not examination.failed


async def _examine_browser(examination: Examination, options: LaunchOptions | AttachOptions) -> bool:
    match options:
        case LaunchOptions():
            steps = ("Browser found", partial(_find_browser, options)), "Browser starts"
        case AttachOptions():
            steps = ("Endpoint found", partial(_find_endpoint, options)), "Browser answers"
    first, second = steps
    if await examination.run(*first):
        return await examination.run(second, partial(_greet_browser, options))
    examination.skip(second, "the check before it failed")
    return False


async def _find_browser(options: LaunchOptions) -> str:
    return str(find_browser(options.browser_path))


async def _find_endpoint(options: AttachOptions) -> str:
    return (await find_endpoint(options.where, options.headers)).described


async def _greet_browser(options: LaunchOptions | AttachOptions) -> str:
    start = trio.current_time()
    async with open_browser(options) as browser:
        took = f"{browser.product}, after {trio.current_time() - start:.1f} s"
        return "\n- ".join((took, *await browser.find_risks(limits.LIST_SECONDS)))


@asynccontextmanager
async def open_client(options: LaunchOptions | AttachOptions) -> AsyncGenerator[Client]:
    """Start `pagebridge serve` as an agent does, and connect to it.

    Raises:
        CheckFailed: it did not start, or does not speak the protocol; with what it wrote to stderr.
    """
    server = StdioServerParameters(
        command=sys.executable,
        # -P, or a folder named `bridge` where we were started would be run instead.
        args=["-P", "-m", "bridge", "serve", *option_words(options)],
        env={**os.environ, **option_variables(options)},
    )
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr:
        client = Client(stdio_client(server, errlog=stderr), read_timeout_seconds=ANSWER_SECONDS)
        try:
            async with client:
                yield client
        except* (MCPError, OSError) as group:
            stderr.seek(0)
            said = stderr.read()[-STDERR_CHARS:].strip()
            reason = "; ".join(str(error) for error in _flatten(group))
            raise CheckFailed(f"`pagebridge serve` did not answer as a server: {reason}.\n{said}") from group


def option_words(options: LaunchOptions | AttachOptions) -> list[str]:
    """The words of a command line that mean these options, with `option_variables`."""
    if isinstance(options, AttachOptions):
        return []
    named = {"browser": options.browser_path, "profile": options.profile, "debug-port": options.debug_port}
    flags = {"headed": options.headed, "no-sandbox": options.no_sandbox, "webmcp": options.webmcp}
    words = [f"--{name}={value}" for name, value in named.items() if value is not None]
    return words + [f"--{name}" for name, given in flags.items() if given]


def option_variables(options: LaunchOptions | AttachOptions) -> dict[str, str]:
    """Variables of the environment that mean these options: what may be a secret is in no command line."""
    if isinstance(options, LaunchOptions):
        return {ATTACH_VARIABLE: "", HEADERS_VARIABLE: ""}
    headers = "\n".join(f"{name}:{value}" for name, value in options.headers)
    return {ATTACH_VARIABLE: options.where, HEADERS_VARIABLE: headers}


async def _describe_server(client: Client) -> str:
    try:
        tools = (await client.list_tools()).tools
    except MCPError as error:
        raise CheckFailed(f"The server did not list its tools: {error}") from error
    server = client.server_info
    name = f"{server.name} {server.version}" if server else "a server without a name"
    return f"{name}, protocol {client.protocol_version}, {len(tools)} tools"


async def _call_sample(options: LaunchOptions | AttachOptions, client: Client) -> str:
    answer = await _ask_sample(options, client, "add", a=1, b=2)
    if answer != "3":
        raise CheckFailed(f"add(1, 2) answered {answer!r}, and not 3. Please report this.")
    return "add(1, 2) answered 3"


async def _look_for_webmcp(options: LaunchOptions | AttachOptions, client: Client) -> str:
    """It is no failure to be without."""
    if await _ask_sample(options, client, "hasWebMcp") == "true":
        return f"document.modelContext is there, so tools that pages register with it are found. {WEBMCP_RISK}"
    match options:
        case LaunchOptions(webmcp=True):
            return "This browser has no document.modelContext, not even with --webmcp. A newer Chromium may have it."
        case LaunchOptions():
            return "This browser shows no document.modelContext; --webmcp turns it on where it has one"
        case AttachOptions():
            return (
                "This browser shows no document.modelContext; start it with --enable-features=WebMCP, which is what "
                "--webmcp does when pagebridge starts one"
            )


async def _ask_sample(options: LaunchOptions | AttachOptions, client: Client, tool: str, **arguments: object) -> str:
    """Open the sample page, and call one of its tools."""
    with serve_sample() as url:
        try:
            async with _open_page(client, url) as page:
                answer = await _ask(client, "call_page_tool", page=page["page"], tool=tool, arguments=arguments)
        except CheckFailed as error:
            if isinstance(options, AttachOptions):
                raise CheckFailed(
                    f"{error}\nIf the browser runs on another machine, it can't reach the page that this check serves."
                ) from error
            raise
    return unframe(answer.text)


async def _look_at_page(url: str, client: Client) -> str:
    async with _open_page(client, url) as page:
        pass
    problems = "".join(f"\n- {problem}" for problem in page["problems"])
    count = page["tools"]
    if not count:
        nothing = "\nNothing there answered the devtoolstooldiscovery event."
        raise CheckFailed(f"{url} opened, but offers no tools.{problems or nothing}")
    return f"{url} offers {count} tool{'' if count == 1 else 's'}{', but:' if problems else ''}{problems}"


@asynccontextmanager
async def _open_page(client: Client, url: str) -> AsyncGenerator[dict[str, Any]]:
    """Open a page for the length of the block; yields what the server says of it."""
    handle = (await _ask(client, "open_page", url="about:blank")).facts["page"]
    try:
        yield (await _ask(client, "navigate_page", page=handle, url=url)).facts
    finally:
        # In a browser that we attached to, the tab would stay.
        with trio.move_on_after(limits.CLOSE_SECONDS, shield=True), suppress(CheckFailed):
            await _ask(client, "close_page", page=handle)


@dataclass(frozen=True)
class _Answer:
    text: str
    facts: dict[str, Any]


async def _ask(client: Client, name: str, **arguments: object) -> _Answer:
    """Call one of the server's tools.

    Raises:
        CheckFailed: with the error that an agent would have read.
    """
    try:
        result = await client.call_tool(name, arguments)
    except MCPError as error:
        raise CheckFailed(f"The server did not answer {name}: {error}") from error
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    if result.is_error:
        raise CheckFailed(text)
    return _Answer(text, result.structured_content or {})


def _flatten(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _flatten(cast("BaseExceptionGroup[BaseException]", error))
        else:
            yield error


def _print(finding: Finding) -> None:
    state = click.style(f"{finding.state:{STATE_COLUMNS}}", fg=COLOURS[finding.state])
    click.echo(state + beside(f"{finding.check:{CHECK_COLUMNS}}", printable(finding.text)))


def beside(check: str, text: str) -> str:
    """Put a text beside its check, or below it on a narrow terminal."""
    columns = shutil.get_terminal_size().columns
    indent = STATE_COLUMNS + CHECK_COLUMNS
    if columns - indent < TEXT_COLUMNS:
        indent = STATE_COLUMNS
        check = f"{check.rstrip()}\n{' ' * indent}"
    lines = (textwrap.wrap(line, max(columns - indent, 10), break_on_hyphens=False) for line in text.splitlines())
    return check + f"\n{' ' * indent}".join(line for wrapped in lines for line in wrapped)


def _summary(failed: int) -> str:
    match failed:
        case 0:
            return "Everything is in place."
        case 1:
            return "One check failed."
        case _:
            return f"{failed} checks failed."
