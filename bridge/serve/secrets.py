"""`pagebridge secrets`: what a project's tools get and nobody else reads."""

import sys
from pathlib import Path

import click

from bridge import limits
from bridge.manifest.manifest import FILE, BuiltIns
from bridge.manifest.read import check_manifest, read_manifest
from bridge.manifest.secrets import check_name, find_secrets, read_secrets, remove_secret, set_secret


def keep_secret(root: Path, built_ins: BuiltIns, name: str) -> None:
    """Keep what a person types, or a program writes into stdin, as a secret of a project.

    Raises:
        UsageError: there is no manifest, or that can't be a secret.
    """
    check_name(name)
    check_manifest(root)
    granted = read_manifest(root, built_ins).secrets
    text = click.prompt(name, hide_input=True, err=True) if sys.stdin.isatty() else _read_stdin()
    set_secret(find_secrets(root), name, text)
    click.echo(f"Kept {name}.")
    if granted is not None and name not in granted:
        click.echo(f'No tool gets it yet: add "{name}" to the list `secrets` at the top of {FILE}.')


def _read_stdin() -> str:
    """All of it, or so much that it is seen to be too much."""
    most = limits.SECRET_BYTES + len("\r\n")
    data = sys.stdin.buffer.read(most + 4)
    return data.decode(errors="surrogateescape" if len(data) <= most else "ignore")


def show_secrets(root: Path) -> None:
    """Print the names of a project's secrets, one a line.

    Raises:
        UsageError: there are none, as there is no manifest; or they can't be read.
    """
    names = list(read_secrets(find_secrets(root)))
    if not names:
        check_manifest(root)
        click.echo("No secret is kept for this project.", err=True)
    for name in names:
        click.echo(name)


def drop_secret(root: Path, name: str) -> None:
    """Keep a secret of a project no longer.

    Raises:
        UsageError: there is none of that name.
    """
    remove_secret(find_secrets(root), name)
    click.echo(f"Removed {name}.")
