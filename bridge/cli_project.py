"""The commands over a project, its skills and its secrets, and over tools of all kinds: words to functions, no logic.

Apart from bridge.cli, since `pagebridge serve` begins without them.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final, get_args

import click

from bridge.cli import AGENT_ALONE, AGENTS, MODULES, OPEN, PROJECT, PathType, main, with_browser, with_pages
from bridge.errors import UsageError
from bridge.origins import address
from bridge.settings import AgentSettings, AttachOptions, LaunchOptions, Mode, PageSettings

IN_PROJECT: Final = click.option(
    "--project",
    "root",
    type=PathType(path_type=Path, exists=True, file_okay=False),
    default=Path(),
    metavar="DIR",
    help="Folder of the project, which has its pagebridge.toml; the working folder without it.",
)


@main.command("tools ls")
@click.option("--json", is_flag=True, help="As JSON.")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Only those that [agents.NAME] gets.")
@IN_PROJECT
def list_project_tools(root: Path, agents: tuple[str, ...], json: bool) -> None:
    """Show which tools agents get in a project.

    Below them: built-in tools that were removed and how to get them back, and what does not load, with the reason.
    Modules are not run for this: a module that has several tools is shown with the one that the manifest names.
    """
    from bridge.serve import project

    project.show_project_tools(root, agents, json=json)


@main.command(
    "tools call",
    epilog="""\b
Examples:
  pagebridge tools call take_snapshot --open http://localhost:3000
  pagebridge tools call take_screenshot format=jpeg --open http://localhost:3000 > page.jpg
  pagebridge tools call weather city=Brest --project examples/weather
  echo '{"text": "one two"}' | pagebridge tools call count_words - --tool tools/count_words.py""",
)
@click.argument("name")
@click.argument("words", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--json", "text", metavar="JSON", help="All arguments as one JSON object; - reads it from stdin.")
@PROJECT
@MODULES
@AGENTS
@click.option(
    "--tools",
    "built_ins",
    default="debug",
    metavar="PROFILE",
    help="Built-in tools that there are: debug (all; without it), pages, or names with commas between them.",
)
@click.option(
    "--mode",
    type=click.Choice(get_args(Mode)),
    default="dev",
    help="What may run: in ask what changes nothing, in act also input and page tools, in dev (without it) also "
    "scripts.",
)
@OPEN
@with_pages
@with_browser
def call_own_tool(
    options: LaunchOptions | AttachOptions,
    pages: PageSettings,
    name: str,
    words: tuple[str, ...],
    text: str | None,
    project: Path | None,
    modules: tuple[Path, ...],
    agents: tuple[str, ...],
    built_ins: str,
    mode: Mode,
    urls: tuple[str, ...],
) -> None:
    """Run the tool NAME: a built-in one, or one of a project or of its skills.

    It runs as for an agent, with the arguments as `pagebridge call` takes them. A browser is started where the tool
    needs one. With one --open, `page` need not be given.

    What the tool returned goes to stdout whole: a text as it is, a picture as its bytes, other values as JSON. An error
    goes to stderr; the exit code is then 1, or 2 where the command or the arguments are wrong.
    """
    from bridge.calls.built_ins import choose_tools
    from bridge.serve import terminal, tool_call

    addresses = tuple(address(url, allow_file=pages.allow_file) for url in urls)
    chosen = choose_tools(built_ins, project, mode, AgentSettings.tier)
    if agents and project is None:
        raise UsageError(AGENT_ALONE)
    agent = AgentSettings(mode=mode, tools=chosen.names, project=project, modules=modules, agents=agents)
    given = terminal.read_given(words, text)
    tool_call.show_tool_call(options, replace(pages, inspected=chosen.inspected), agent, addresses, name, given)


@main.command("tools eject")
@click.argument("name")
@click.option("--force", is_flag=True, help="Overwrite tools/NAME.py, or let it replace the file that is named now.")
@IN_PROJECT
def eject_tool(root: Path, name: str, force: bool) -> None:
    """Write the built-in tool NAME as a module of the project.

    Writes tools/NAME.py, which does what the built-in tool does until you change it, and names it in pagebridge.toml.
    """
    from bridge.serve import project

    project.eject_tool(root, name, force=force)


@main.command("tools restore")
@click.argument("name")
@IN_PROJECT
def restore_tool(root: Path, name: str) -> None:
    """Let NAME be the built-in tool again.

    Changes its line in pagebridge.toml; the module that it was stays where it is.
    """
    from bridge.serve import project

    project.restore_tool(root, name)


@main.command()
@click.option("--json", is_flag=True, help='As JSON: {"issues": [{"file", "line", "message", "severity"}]}.')
@click.option("--tracked", is_flag=True, help="Warn of files that git does not track: a clone lacks them.")
@IN_PROJECT
@click.pass_context
def validate(ctx: click.Context, root: Path, json: bool, tracked: bool) -> None:
    """Say what is wrong with a project's manifest.

    Also with the modules and skills that it names; none of them is run. The exit code is 1 where something is an
    error, 0 where there are only warnings, and 2 where there is no manifest, or git can't say what it
    tracks.
    """
    from bridge.serve import project

    ctx.exit(project.show_issues(root, json=json, tracked=tracked))


@main.command("new tool")
@click.argument("name")
@IN_PROJECT
def begin_tool(root: Path, name: str) -> None:
    """Begin a tool of the project: a module that works, with a test.

    Writes tools/NAME.py and tests/test_NAME.py, and names the module in pagebridge.toml, which is made where there is
    none.
    """
    from bridge.serve import project

    project.begin_tool(root, name)


@main.command("skills add")
@click.argument("path", metavar="FILE")
@click.option("--name", metavar="NAME", help="What pagebridge.toml calls it; without it, as FILE is called.")
@click.option("-y", "--yes", is_flag=True, help="Approve without asking.")
@IN_PROJECT
def add_skill(root: Path, path: str, name: str | None, yes: bool) -> None:
    """Approve the skill in FILE, a Markdown file of the project.

    Shows what its tools may do, and asks. FILE is written from the project's folder on. Its hash is recorded: a file
    that has changed is not loaded until you add it again.
    """
    from bridge.calls.built_ins import known_built_ins
    from bridge.serve import skills

    skills.add_skill(root, known_built_ins(), path, name, ask=not yes)


@main.command("skills ls")
@IN_PROJECT
def list_skills(root: Path) -> None:
    """Show the skills of a project, and why one of them does not load."""
    from bridge.calls.built_ins import known_built_ins
    from bridge.serve import skills

    skills.show_skills(root, known_built_ins())


@main.command("skills rm")
@click.argument("name")
@IN_PROJECT
def remove_skill(root: Path, name: str) -> None:
    """Take the skill NAME out of pagebridge.toml. Its file stays where it is."""
    from bridge.calls.built_ins import known_built_ins
    from bridge.serve import skills

    skills.remove_skill(root, known_built_ins(), name)


@main.command("secrets set")
@click.argument("name")
@IN_PROJECT
def keep_secret(root: Path, name: str) -> None:
    """Keep a secret for the project's tools, in a file that only you can read.

    It is read from stdin, or typed without being shown. Tools get it as context.env["NAME"] where `secrets` in
    pagebridge.toml names it.
    """
    from bridge.calls.built_ins import known_built_ins
    from bridge.serve import secrets

    secrets.keep_secret(root, known_built_ins(), name)


@main.command("secrets ls")
@IN_PROJECT
def list_secrets(root: Path) -> None:
    """Show the names of the project's secrets."""
    from bridge.serve import secrets

    secrets.show_secrets(root)


@main.command("secrets rm")
@click.argument("name")
@IN_PROJECT
def drop_secret(root: Path, name: str) -> None:
    """Keep the secret NAME no longer."""
    from bridge.serve import secrets

    secrets.drop_secret(root, name)
