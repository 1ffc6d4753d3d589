"""A file with options of the command line, for what is said each time:

    allow-origin = ["https://*.shop.example"]   # for every command that has --allow-origin

    [serve]                                     # for `pagebridge serve` alone
    mode = "ask"

What the command line says replaces what the file says.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import click

from bridge import limits
from bridge.errors import UsageError
from bridge.files import read_own, why_failed


def read_settings(path: Path, commands: Mapping[str, click.Command]) -> dict[str, dict[str, Any]]:
    """The options of each command that a file has something for, in the form of click's `default_map`.

    Paths in the file are relative to its folder.

    Raises:
        UsageError: it can't be read, others may write it, or it says what no option can be.
    """
    given = _read(path)
    options = {name: _options_of(command) for name, command in commands.items()}
    tables = {name: cast("dict[str, Any]", part) for name, part in given.items() if isinstance(part, dict)}
    common = {name: value for name, value in given.items() if name not in tables}
    for name in tables:
        if name not in options:
            raise UsageError(f"{path}: there is no command {name!r}; there are {', '.join(options)}.")
    for key in common:
        if not any(key in those for those in options.values()):
            raise UsageError(f"{path}: no command has an option --{key}.")
    found: dict[str, dict[str, Any]] = {}
    for name, those in options.items():
        wanted = {key: value for key, value in common.items() if key in those} | tables.get(name, {})
        for key, value in wanted.items():
            if key not in those:
                raise UsageError(f"{path}: `pagebridge {name}` has no option --{key}.")
            option = those[key]
            found.setdefault(name, {})[option.name or key] = _value(path, key, option, value)
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_own(path, limits.SETTINGS_BYTES).decode())
    except FileNotFoundError as error:
        raise UsageError(f"There is no settings file {path}.") from error
    except RecursionError as error:
        raise UsageError(f"The settings in {path} can't be read: they are nested too deeply.") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"The settings in {path} can't be read: {why_failed(error)}.") from error


def _options_of(command: click.Command) -> dict[str, click.Option]:
    options = [one for one in command.params if isinstance(one, click.Option)]
    return {word[2:]: one for one in options for word in one.opts if word.startswith("--")}


def _value(path: Path, key: str, option: click.Option, value: object) -> object:
    """What the option takes for it.

    Raises:
        UsageError: it is of another kind.
    """
    parts = cast("list[object]", value) if option.multiple and isinstance(value, list) else [value]
    if option.is_flag:
        kind, fits = "true or false", all(isinstance(part, bool) for part in parts)
    elif option.count or isinstance(option.type, (click.types.IntParamType, click.types.FloatParamType)):
        kind, fits = "a number", all(isinstance(part, (int, float)) and not isinstance(part, bool) for part in parts)
    else:
        kind, fits = "a list of texts" if option.multiple else "a text", all(isinstance(part, str) for part in parts)
    if not fits:
        raise UsageError(f"{path}: {key} takes {kind}.")
    if isinstance(option.type, click.Path):
        parts = [path.parent / cast("str", part) for part in parts]
    return parts if option.multiple else parts[0]
