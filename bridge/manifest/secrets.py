"""The secrets of a project: in a file beside no project, for its user alone, and read anew each time."""

import json
import os
import re
import stat
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

import platformdirs

from bridge import limits
from bridge.errors import UsageError
from bridge.files import is_ours, open_plain, why_failed, write_whole
from bridge.manifest.parsed import VARIABLE_RULE, is_variable, show

VERSION: Final = 1


def find_secrets(root: Path) -> Path:
    """Where the secrets of a project are: in its user's own folder, where no commit of the project takes them along."""
    real = os.path.realpath(root)
    label = re.sub(r"[^A-Za-z0-9_-]+", "-", os.path.basename(real))[:32]
    folder = platformdirs.user_data_path("pagebridge") / "secrets"
    return folder / f"{label}-{sha256(os.fsencode(real)).hexdigest()[:16]}.json"


def read_secrets(path: Path) -> dict[str, str]:
    """The secrets as they are now; where there is no file, there are none.

    Raises:
        UsageError: the file can't be read, is none of ours, or others may read it.
    """
    try:
        data = _read(path)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(
            f"The secrets in {path} can't be read: {why_failed(error)}. Make it a plain file of yours with `chmod 600`."
        ) from error
    try:
        found = json.loads(data)
        if found["pagebridge_secrets"] == VERSION:
            return {_text(name): _text(value) for name, value in found["secrets"].items()}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    raise UsageError(
        f"{path} is not a file of secrets of this version, or a broken one. Remove it, and set the secrets again with "
        "`pagebridge secrets set NAME`."
    )


def check_name(name: str) -> None:
    """Raises UsageError where no secret can be called so."""
    if "=" in name:
        raise UsageError("Give the name of the secret alone, and type it, or pipe it into stdin: others read commands.")
    if not is_variable(name):
        raise UsageError(f"{show(name)} can't be a secret's name. {VARIABLE_RULE}.")


def set_secret(path: Path, name: str, text: str) -> None:
    """Keep a secret, in place of one of that name.

    Args:
        text: what was typed or piped in; one line end at its end is not of the secret.

    Raises:
        UsageError: the name or the text can't be one, or the file can't be written.
    """
    check_name(name)
    value = text.removesuffix("\n").removesuffix("\r")
    if not value:
        raise UsageError(f"There is nothing to keep as {name}. Type the secret, or pipe it into stdin.")
    if "\0" in value or not _is_sound(value):
        raise UsageError(
            f"{name} has a NUL or half a character in it. A secret has to be text: encode it, as base64 does."
        )
    if len(value.encode()) > limits.SECRET_BYTES:
        raise UsageError(
            f"{name} has more than {limits.SECRET_BYTES:,} bytes. Keep it in a file, and its path as the secret."
        )
    secrets = read_secrets(path) | {name: value}
    if len(secrets) > limits.SECRETS:
        raise UsageError(f"There are {limits.SECRETS} secrets already. Remove one first.")
    _write(path, secrets)


def remove_secret(path: Path, name: str) -> None:
    """Keep a secret no longer.

    Raises:
        UsageError: there is none of that name, or the file can't be written.
    """
    secrets = read_secrets(path)
    if name not in secrets:
        there = f"Those that are kept: {', '.join(secrets)}." if secrets else "None is kept."
        raise UsageError(f"There is no secret {show(name)}. {there}")
    _write(path, {key: value for key, value in secrets.items() if key != name})


def _read(path: Path) -> bytes:
    with os.fdopen(open_plain(path, os.O_RDONLY), "rb") as file:
        found = os.fstat(file.fileno())
        if not is_ours(found) or (os.name != "nt" and stat.S_IMODE(found.st_mode) & 0o077):
            raise ValueError("other users may read or write it")
        return file.read()


def _write(path: Path, secrets: Mapping[str, str]) -> None:
    data = json.dumps({"pagebridge_secrets": VERSION, "secrets": secrets}, indent=1).encode() + b"\n"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, data)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"The secret can't be written to {path}: {why_failed(error)}. Make that folder one that you may write."
        ) from error


def _is_sound(text: str) -> bool:
    try:
        text.encode()
    except UnicodeError:
        return False
    return True


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
