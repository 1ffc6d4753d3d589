"""The `pagebridge` command: words to functions, no logic.

What takes long to import is imported by the command that needs it.
"""

import errno
import functools
import io
import logging
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, get_args

import click

from bridge import __version__, limits
from bridge.errors import ArgumentsInvalid, BridgeError, UsageError
from bridge.folders import read_folders
from bridge.origins import OriginRules, address, read_origin, read_pattern
from bridge.serve.stderr import StderrHandler
from bridge.settings import (
    ATTACH_VARIABLE,
    HEADERS_VARIABLE,
    AgentSettings,
    AttachOptions,
    DialogPolicy,
    FramePolicy,
    Language,
    LaunchOptions,
    Mode,
    PageSettings,
    SchemaProfile,
    Tier,
)

if TYPE_CHECKING:
    from bridge.calls.log import CallLog

INTERRUPTED: Final = 130
"""The shell's exit code for a command that Ctrl-C ended."""


class _Misuse(click.ClickException):
    """The command line, or what it says to a tool, is wrong; click's own errors of that kind exit so, too."""

    exit_code = 2


class PathType(click.Path):
    """An empty word, as of a variable that is not set, is not the working folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401  # as click has it
        if value == "":
            self.fail("It is empty: give a path, or leave it out.", param, ctx)
        return super().convert(value, param, ctx)


class _Commands(click.Group):
    def load_all(self) -> Mapping[str, click.Command]:
        """Those that `serve`, which is started the most, has no use for, as well."""
        import_module("bridge.cli_project")
        return self.commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which they are below, and in bridge.cli_project."""
        return list(self.load_all())

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A name may have two words: `tools ls` is a command beside `tools`."""
        if args[0] == "serve":
            return super().resolve_command(ctx, args)
        self.load_all()
        if (name := " ".join(args[:2])) in self.commands:
            return name, self.commands[name], args[2:]
        longer = [name for name in self.commands if name.startswith(f"{args[0]} ")]
        if longer and args[0] not in self.commands:
            ctx.fail(f"{args[0]} alone is no command: there are {', '.join(longer)}.")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; what it raises of ours is a sentence for people, anything else is a bug to be seen."""
        try:
            return super().invoke(ctx)
        except BridgeError as error:
            from bridge.serve.printable import printable

            is_misuse = isinstance(error, (UsageError, ArgumentsInvalid))
            raise (_Misuse if is_misuse else click.ClickException)(printable(str(error))) from error
        except OSError as error:
            if isinstance(error, FileNotFoundError) and _is_lost():
                raise click.ClickException("The working folder is gone. Change to one that is there.") from error
            if error.errno != errno.ENOSPC or error.filename is not None:
                raise
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # what is left of it is not tried again at the end
            raise click.ClickException(f"The output can't be written: {error.strerror}. Make room there.") from error
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)


def _is_lost() -> bool:
    """Whether the folder that we are in was removed."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  pagebridge doctor                                    is everything in place?
  pagebridge tools http://localhost:3000               what does this page offer?
  pagebridge call http://localhost:3000 add a=1 b=2    run one of its tools
  pagebridge serve                                     what an agent starts, over stdio
  pagebridge log calls.jsonl -f                        what do agents call? with serve --log calls.jsonl
  pagebridge pin https://shop.example --pin tools.json   approve its tools; then serve --pin tools.json
  pagebridge new tool weather                          a tool of this project; then tools ls, and validate""",
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.option(
    "--settings",
    type=PathType(path_type=Path),
    metavar="FILE",
    help="Take options from FILE (TOML): for every command that has them, or in a table such as [serve] for one. What "
    "the command line says replaces what FILE says.",
)
@click.pass_context
def main(ctx: click.Context, settings: Path | None) -> None:
    """Give coding agents the tools that a web page defines for them."""
    if settings is not None:
        from bridge.serve.settings_file import read_settings

        ctx.default_map = read_settings(settings, cast("_Commands", ctx.command).load_all())
    stdout = cast("io.TextIOWrapper | io.StringIO", sys.stdout)
    if isinstance(stdout, io.TextIOWrapper):
        # Pages write in all scripts; a terminal that has not all of them gets escapes, and not a traceback of ours.
        stdout.reconfigure(errors="backslashreplace")


class _Lines(click.types.StringParamType):
    """Text; several in one variable of the environment are lines."""

    name = "text"
    envvar_list_splitter = "\n"

    def split_envvar_value(self, rv: str) -> list[str]:
        return [line for line in super().split_envvar_value(rv) if line.strip()]


def _read_header(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The values are secrets: no message may hold one."""
    pairs = [value.partition(":") for value in values]
    if not all(name.strip() and colon for name, colon, _ in pairs):
        raise click.BadParameter("write NAME:VALUE, such as Authorization:'Bearer …'.")
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)


def _read_seconds(_: click.Context, __: click.Parameter, value: float) -> float:
    if not 0 < value <= limits.CALL_SECONDS_MAX:
        raise click.BadParameter(f"a call may take more than 0 and at most {limits.CALL_SECONDS_MAX:g} seconds.")
    return value


def _read_origins(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> frozenset[str]:
    return frozenset(read_origin(value) for value in values)


def _read_patterns(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(read_pattern(value) for value in values))


_BROWSER_OPTIONS: Final = (
    click.option(
        "--browser",
        "browser_path",
        type=PathType(path_type=Path),
        metavar="PATH",
        help="Browser to start. Without it, PAGEBRIDGE_BROWSER, or the first Chrome, Chromium, Edge or Brave found.",
    ),
    click.option(
        "--profile",
        type=PathType(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Profile folder to keep. Without it, a fresh one is removed at the end.",
    ),
    click.option("--headed", is_flag=True, help="Show the browser's window."),
    click.option(
        "--debug-port",
        type=click.IntRange(0, 65535),
        metavar="N",
        help="Let the browser also listen on this port, open to every user of this machine; 0 takes a free one.",
    ),
    click.option("--no-sandbox", is_flag=True, help="Start the browser without its sandbox."),
    click.option("--webmcp", is_flag=True, help="Switch WebMCP (document.modelContext) on, where the browser has it."),
    click.option(
        "--attach",
        envvar=ATTACH_VARIABLE,
        metavar="WHERE",
        help="Use a running browser instead: http://HOST:PORT, a ws:// or wss:// URL, or its profile folder. Put it "
        f"into {ATTACH_VARIABLE} where it is a secret: all users of a machine can read command lines.",
    ),
    click.option(
        "--attach-header",
        multiple=True,
        type=_Lines(),
        envvar=HEADERS_VARIABLE,
        callback=_read_header,
        metavar="NAME:VALUE",
        help="Header to send with --attach; may be repeated. Its value is never logged. Put headers into "
        f"{HEADERS_VARIABLE}, one a line, where they are secrets.",
    ),
    click.option("-v", "--verbose", count=True, help="Say more on stderr; -vv says everything."),
)


_LAUNCH_NAMES: Final = ("browser_path", "profile", "headed", "debug_port", "no_sandbox", "webmcp")

_PAGE_OPTIONS: Final = (
    click.option(
        "--frames",
        type=click.Choice(get_args(FramePolicy)),
        default=PageSettings.frames,
        help="Also look for tools in iframes: those of the page's own origin, or all. Without it, in none.",
    ),
    click.option(
        "--dialogs",
        type=click.Choice(get_args(DialogPolicy)),
        default=PageSettings.dialogs,
        help="What to do when a tool opens a confirm or prompt: ask the agent, or answer it. Alerts are accepted.",
    ),
    click.option(
        "--allow-file",
        is_flag=True,
        help="Also open file: addresses, and look for tools there: in the working folder, unless that has your home "
        "folder in it, and in each --allow-dir.",
    ),
    click.option(
        "--allow-dir",
        "dirs",
        type=PathType(path_type=Path),
        multiple=True,
        metavar="DIR",
        help="Let paths that an agent gives also lead into this folder; may be repeated.",
    ),
    click.option(
        "--allow-origin",
        "allowed",
        multiple=True,
        callback=_read_patterns,
        metavar="PATTERN",
        help="Use tools of these origins alone, such as https://shop.example, https://*.shop.example (every host below "
        "it) or http://localhost:* (every port); may be repeated.",
    ),
    click.option(
        "--block-origin",
        "blocked",
        multiple=True,
        callback=_read_patterns,
        metavar="PATTERN",
        help="Use no tools of these origins, even where --allow-origin names them; may be repeated.",
    ),
)

_PIN_FILE: Final = PathType(path_type=Path, dir_okay=False)
_PIN: Final = click.option(
    "--pin",
    "pins",
    type=_PIN_FILE,
    metavar="FILE",
    help="Of each origin in FILE run only the tools that were approved there with `pagebridge pin`.",
)


PROJECT: Final = click.option(
    "--project",
    type=PathType(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of a project whose pagebridge.toml counts: its tools and skills, and who gets which. Its code runs as "
    "you.",
)
MODULES: Final = click.option(
    "--tool",
    "modules",
    type=PathType(path_type=Path),
    multiple=True,
    metavar="PATH",
    help="Also offer the tools of this Python module, or of all those in this folder; may be repeated. Their code runs "
    "as you.",
)
AGENTS: Final = click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME",
    help="Offer what the project's [agents.NAME] lets this agent have; with several, what all of them have.",
)
OPEN: Final = click.option(
    "--open", "urls", multiple=True, metavar="URL", help="Page to open at the start; may be repeated."
)

_SCHEMA_PROFILE: Final = click.option(
    "--schema-profile",
    type=click.Choice(get_args(SchemaProfile)),
    default=AgentSettings.schema_profile,
    help="Form of the input schemas: standard, or strict for clients and APIs that refuse parts of JSON Schema.",
)


def with_browser(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that choose a browser; it gets what they say as `options`."""

    @functools.wraps(command)
    def run(*, verbose: int, **words: Any) -> None:  # noqa: ANN401  # whatever the command's options are
        plain = "pagebridge: %(message)s"
        logging.basicConfig(
            level=(logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)],
            format="%(asctime)s %(levelname)s %(name)s: %(message)s" if verbose else plain,
            handlers=[StderrHandler()],
        )
        command(options=_take_options(words), **words)

    for option in reversed(_BROWSER_OPTIONS):
        run = option(run)
    return run


def with_pages(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say how pages are looked at; it gets what they say as `pages`."""

    @functools.wraps(command)
    def run(
        *,
        frames: FramePolicy,
        dialogs: DialogPolicy,
        allow_file: bool,
        dirs: tuple[Path, ...],
        allowed: tuple[str, ...],
        blocked: tuple[str, ...],
        **words: Any,  # noqa: ANN401  # as above
    ) -> None:
        pages = PageSettings(
            frames=frames,
            dialogs=dialogs,
            allow_file=allow_file,
            folders=read_folders(dirs, words.get("urls") or (words.get("url", ""),)),
            origins=OriginRules(allowed, blocked),
        )
        command(pages=pages, **words)

    for option in reversed(_PAGE_OPTIONS):
        run = option(run)
    return run


def _take_options(words: dict[str, Any]) -> LaunchOptions | AttachOptions:
    """Take what chooses a browser out of a command's words.

    Raises:
        UsageError: the options contradict each other.
    """

    launch = {name: words.pop(name) for name in _LAUNCH_NAMES}
    where, headers = words.pop("attach"), words.pop("attach_header")
    if where is None:
        if headers:
            raise UsageError("--attach-header goes with --attach WHERE, and that is missing.")
        return LaunchOptions(**launch)
    if given := _names_given(_LAUNCH_NAMES):
        raise UsageError(
            f"--attach uses a browser that runs already, so {' and '.join(given)} can't be chosen: leave out either."
        )
    return AttachOptions(where=where, headers=headers)


def _names_given(names: tuple[str, ...]) -> list[str]:
    """Those of the present command's options that were written on the command line, or beside --attach in a file."""
    context = click.get_current_context()
    places = {click.core.ParameterSource.COMMANDLINE, context.get_parameter_source("attach")}
    given = (parameter for parameter in context.command.params if parameter.name in names)
    return [one.opts[0] for one in given if context.get_parameter_source(one.name or "") in places]


AGENT_ALONE: Final = "--agent goes with --project DIR, whose pagebridge.toml says what each agent has."


@main.command()
@OPEN
@with_pages
@click.option(
    "--direct",
    is_flag=True,
    help="Also offer each page tool as an MCP tool of its own. Only on loopback, and for --trust-origin.",
)
@click.option(
    "--trust-origin",
    "trusted",
    multiple=True,
    callback=_read_origins,
    metavar="ORIGIN",
    help="Origin whose tools may answer with MCP's content blocks, are offered by --direct, too, and run in mode ask "
    "where they are marked read-only; such as https://shop.example; may be repeated.",
)
@click.option(
    "--mode",
    type=click.Choice(get_args(Mode)),
    default=AgentSettings.mode,
    help="act (without it) runs page tools; ask lists them all, and runs only those that a --trust-origin marks "
    "read-only; dev is act, and has what looks into a page and runs scripts there (with --tools).",
)
@click.option(
    "--tools",
    "built_ins",
    default="pages",
    metavar="PROFILE",
    help="Built-in tools: pages (for pages and their tools; without it), debug (also for input, snapshots, console, "
    "network), or names with commas between them.",
)
@click.option(
    "--tier",
    type=click.Choice(get_args(Tier)),
    default=AgentSettings.tier,
    help="How many of the tools for debugging: compact, mid or full (without it).",
)
@click.option(
    "--loop-stop",
    is_flag=True,
    help="Refuse a call that looks at the same, or fails, once more after the agent was told so. Without it, telling "
    "is all.",
)
@PROJECT
@MODULES
@AGENTS
@click.option(
    "--lang",
    "language",
    type=click.Choice(get_args(Language)),
    metavar="en|fr",
    help="Language of the tools' titles. Without it, that of the environment.",
)
@_PIN
@_SCHEMA_PROFILE
@click.option(
    "--log",
    "log_path",
    type=PathType(path_type=Path),
    metavar="FILE",
    help="Append a line to FILE for each call of a page's tool, or of one for debugging, of a module or a skill; "
    "`pagebridge log FILE` shows them.",
)
@with_browser
def serve(
    options: LaunchOptions | AttachOptions,
    pages: PageSettings,
    urls: tuple[str, ...],
    direct: bool,
    trusted: frozenset[str],
    mode: Mode,
    pins: Path | None,
    built_ins: str,
    tier: Tier,
    loop_stop: bool,
    project: Path | None,
    modules: tuple[Path, ...],
    agents: tuple[str, ...],
    language: Language | None,
    schema_profile: SchemaProfile,
    log_path: Path | None,
) -> None:
    """Serve an agent over stdio, until it closes stdin.

    This is for an agent to start. In its MCP configuration:

    \b
      {"mcpServers": {"pagebridge": {"command": "pagebridge", "args": ["serve"]}}}
    """
    from bridge.browser.ahead import start_ahead
    from bridge.serve.descriptors import divert_stdio, is_stdout

    # What can't be is refused before anything that takes long is imported.
    addresses = tuple(address(url, allow_file=pages.allow_file) for url in urls)
    if log_path is not None and is_stdout(log_path):
        raise UsageError(f"--log can't write {log_path}: that is stdout, which carries MCP messages alone.")
    if pins is not None:
        from bridge.calls.pins import read_pins

        read_pins(pins)
    chosen = None
    if built_ins != "pages" or project is not None:
        from bridge.calls.built_ins import choose_tools

        chosen = choose_tools(built_ins, project, mode, tier)
        pages = replace(pages, inspected=chosen.inspected)
    if agents and project is None:
        raise UsageError(AGENT_ALONE)

    with (
        divert_stdio() as (stdin, stdout),
        nullcontext() if log_path is None else _open_log(log_path, options) as log,
        start_ahead(options),
    ):
        from bridge.serve.imports import importing

        with importing():
            from bridge.serve.greeting import Greeter

            has_project = project is not None or bool(modules)
            has_manifest = project is not None
            greeter = Greeter(__version__, stdin, stdout, direct=direct, project=has_project, prompts=has_manifest)
            greeter.look()
            import trio

            greeter.look()
            from bridge.calls.toolbox import prepare
            from bridge.serve.memory import keep_memory
            from bridge.serve.service import serve_stdio

            greeter.look()
            prepare()
            keep_memory()

        greeter.look()
        agent = AgentSettings(
            direct=direct,
            trusted_origins=trusted,
            schema_profile=schema_profile,
            mode=mode,
            pins=pins,
            tools=chosen.names if chosen is not None else (),
            tier=tier,
            loop_stop=loop_stop,
            project=project,
            modules=modules,
            agents=agents,
            language=language,
        )
        trio.run(serve_stdio, options, pages, agent, addresses, log, greeter)


def _open_log(path: Path, options: LaunchOptions | AttachOptions) -> "AbstractContextManager[CallLog]":
    from bridge.browser.secrets import secrets_in
    from bridge.calls.log import open_log

    secrets = secrets_in(options.where, options.headers) if isinstance(options, AttachOptions) else ()
    return open_log(path, tuple(secrets))


@main.command("log")
@click.argument("file", type=PathType(path_type=Path))
@click.option("-f", "--follow", is_flag=True, help="Go on with each call that ends, also where FILE is not there yet.")
def show_log(file: Path, follow: bool) -> None:
    """Show the calls in a log that `pagebridge serve --log FILE` writes.

    One line for each call: when it came, page and origin, tool, outcome, milliseconds, arguments; below it the
    sentence of its error, where it has one.
    """
    from bridge.serve.log import print_log

    print_log(file, follow=follow)


@main.command(
    epilog="""\b
Of the project in this folder, and not of a page:
  pagebridge tools ls              which tools agents get
  pagebridge tools call weather    run one of them, or a built-in one
  pagebridge tools eject click     begin an own tool in place of a built-in one
  pagebridge tools restore click   take the built-in one back""",
)
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with every schema, as an agent gets it.")
@with_pages
@_SCHEMA_PROFILE
@with_browser
def tools(
    options: LaunchOptions | AttachOptions,
    pages: PageSettings,
    url: str,
    as_json: bool,
    schema_profile: SchemaProfile,
) -> None:
    """Show which tools the page at URL offers.

    What is wrong with the page's answer is listed below them.
    """
    from bridge.serve import terminal

    terminal.show_tools(options, pages, url, schema_profile if as_json else None)


@main.command(
    epilog="""\b
Examples:
  pagebridge call http://localhost:3000 add a=1 b=2
  pagebridge call http://localhost:3000 findOrders 'filter={"status": "open"}'
  pagebridge call http://localhost:3000 findOrders --json '{"limit": 5}' | jq
  echo '{"limit": 5}' | pagebridge call http://localhost:3000 findOrders -""",
)
@click.argument("url")
@click.argument("tool")
@click.argument("words", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--json", "text", metavar="JSON", help="All arguments as one JSON object; - reads it from stdin.")
@click.option(
    "--timeout",
    "seconds",
    type=float,
    default=limits.CALL_SECONDS,
    callback=_read_seconds,
    metavar="SECONDS",
    help=f"Time for the tool: {limits.CALL_SECONDS:g} if not given, {limits.CALL_SECONDS_MAX:g} at most.",
)
@_PIN
@with_pages
@with_browser
def call(
    options: LaunchOptions | AttachOptions,
    pages: PageSettings,
    url: str,
    tool: str,
    words: tuple[str, ...],
    text: str | None,
    seconds: float,
    pins: Path | None,
) -> None:
    """Run a TOOL of the page at URL, and print its result.

    Each VALUE is read as the tool's schema says: text where it wants a string, else JSON. A single - in place of
    NAME=VALUE reads all arguments from stdin, as one JSON object.

    The result goes to stdout whole: a string as it is, other values as JSON. An error goes to stderr; the exit
    code is then 1, or 2 where the command or the arguments are wrong.
    """
    from bridge.serve import terminal

    terminal.show_call(options, pages, url, tool, terminal.read_given(words, text), seconds, pins)


@main.command()
@click.argument("url")
@click.option("--pin", "pins", type=_PIN_FILE, required=True, metavar="FILE", help="Where to write what is approved.")
@click.option("-y", "--yes", is_flag=True, help="Approve without asking.")
@with_pages
@with_browser
def pin(options: LaunchOptions | AttachOptions, pages: PageSettings, url: str, pins: Path, yes: bool) -> None:
    """Approve the tools that the page at URL offers now.

    Shows what is new and what has changed since the last time, and asks. Then `serve --pin FILE` and `call --pin FILE`
    run no other tools of its origins; with --frames, that is also said of the origins of its iframes.
    """
    from bridge.serve import pinning

    pinning.pin_tools(options, pages, url, pins, ask=not yes)


@main.command()
@click.argument("url", required=False)
@with_browser
def doctor(options: LaunchOptions | AttachOptions, url: str | None) -> None:
    """Check that everything is in place.

    Looks for the browser, starts it, serves an agent over stdio, and calls a tool in a page of its own. With URL,
    it also asks that page for its tools. Says what to do about what fails; the exit code is then 1.
    """
    checked = None if url is None else address(url)  # refused before what takes long is imported

    from bridge.serve import doctor

    doctor.show_checks(options, checked)
