"""Where files of skills are kept: in one folder that a person has named, under names that lead nowhere else."""

import os
import re
import unicodedata
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from email.message import Message
from email.utils import collapse_rfc2231_value
from pathlib import Path
from typing import BinaryIO, Final

from bridge import limits
from bridge.errors import NotAllowed
from bridge.files import open_new, why_failed

_NEVER: Final = re.compile(r'[<>:"|?*%]')
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\..*)?[ .]*", re.IGNORECASE)
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


def check_folder(folder: Path | None) -> Path:
    """The folder that the user has declared: as it is written, without a link in it.

    Raises:
        NotAllowed: there is none, or it is something else.
    """
    if folder is None:
        raise NotAllowed("There is no folder for files: the user has to declare one, as `downloads` of the skill.")
    if os.path.realpath(folder) != str(folder) or not folder.is_dir():
        raise NotAllowed(
            f"{folder} is no folder, or leads through a link: the user has to make it, or declare another."
        )
    return folder


@contextmanager
def open_download(folder: Path, name: str) -> Generator[tuple[Path, BinaryIO]]:
    """Make a file of that name, or with a number if there is one. It is removed again where the block fails.

    Args:
        name: one that `safe_name` gave.

    Raises:
        NotAllowed: nothing can be kept there.
    """
    check_folder(folder)
    with ExitStack() as stack:
        for path in _candidates(folder, name):
            try:
                file = stack.enter_context(open_new(path))
            except FileExistsError:
                continue
            except OSError as error:
                raise NotAllowed(f"{path} can't be made: {why_failed(error)}. Name another folder.") from error
            yield path, file
            return
    raise NotAllowed(f"There are {limits.DOWNLOAD_NAMES} files named like {name!r} in {folder}: remove some.")


def _candidates(folder: Path, name: str) -> Generator[Path]:
    stem, dot, extension = name.rpartition(".") if "." in name else (name, "", "")
    yield folder / name
    for number in range(2, limits.DOWNLOAD_NAMES + 1):
        yield folder / f"{stem}-{number}{dot}{extension}"


def told_name(disposition: str) -> str:
    """The name in a Content-Disposition, as it is; empty where it has none, or is longer than any needs to be."""
    if len(disposition) > limits.PATH_BYTES:
        return ""
    message = Message()
    try:
        message["Content-Disposition"] = disposition
        # The standard library takes what comes first; the second of the two is said to be meant.
        parameters = {name.lower(): value for name, value in message.get_params([], "Content-Disposition")}
        return collapse_rfc2231_value(parameters.get("filename", "")).strip()
    except (ValueError, LookupError, UnicodeError):
        return ""


def safe_name(wanted: str, otherwise: str) -> str:
    """A name for a file on any system: the last part of what is wanted, without what has a meaning somewhere.

    Args:
        otherwise: what it is called where nothing is left of that.
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", wanted.encode("utf-8", "replace").decode()))[-1]
    shown = "".join(char for char in last if unicodedata.category(char) not in _HIDDEN)
    name = _shorten(_NEVER.sub("_", shown).strip(" .")).strip(" .")
    if not name:
        return otherwise
    return f"_{name}" if name.startswith(("-", "~")) or _DEVICE.fullmatch(name) else name


def _shorten(name: str) -> str:
    """At most so many bytes, with the extension where that is short."""
    stem, dot, extension = name.rpartition(".")
    end = f"{dot}{extension}" if stem and len(extension) <= 10 else ""
    room = limits.DOWNLOAD_NAME_BYTES - len(end.encode())
    return name.removesuffix(end).encode()[:room].decode(errors="ignore") + end
