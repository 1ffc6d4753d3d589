"""Titles of the built-in tools, one file a language.

English ones are in the tools as well, so that a start in English reads no file; a test holds the two against each
other.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final, get_args

from bridge.settings import Language

LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)
_VARIABLES: Final = ("LC_ALL", "LC_MESSAGES", "LANG")


@cache
def titles(language: Language) -> Mapping[str, str]:
    """By the name of the tool."""
    return MappingProxyType(json.loads(files(__name__).joinpath(f"{language}.json").read_bytes()))


def language(environ: Mapping[str, str]) -> Language:
    """What the environment asks for, as POSIX says; English where it asks for what is not there."""
    locale = next(filter(None, map(environ.get, _VARIABLES)), "")
    code, after = locale[:2].lower(), locale[2:3]
    return code if code in LANGUAGES and not after.isalpha() else "en"
