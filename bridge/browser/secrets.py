"""What of the words that choose a running browser is nobody's business: texts that no log may show."""

import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote, unquote

from bridge.browser.endpoint import without_user

_CREDENTIAL_CHARS: Final = 4
"""A shorter header or password is no secret, and to hide it would make other words unreadable."""
_VALUE_CHARS: Final = 6
"""Of a cookie or a parameter: `true` is no token."""
_PATH_CHARS: Final = 16
"""`devtools` and `session` are no tokens either."""


def secrets_in(where: str, headers: Sequence[tuple[str, str]]) -> frozenset[str]:
    """The secrets of an `--attach` and its headers, in each form in which they may turn up.

    They are: headers' values and the tokens in them, user and password with their base64 form, and those parts of
    the address that are long enough to be tokens.
    """
    found = {secret for _, value in headers for secret in _of_header(value.strip())}
    if "://" in where:
        found |= set(_of_address(where))
    return frozenset(found | {quote(secret, safe="") for secret in found})


def _of_header(value: str) -> Iterator[str]:
    """All of it, what follows `Bearer` or the like, and the values of cookies and parameters."""
    if len(value) < _CREDENTIAL_CHARS:
        return
    yield value
    scheme, space, rest = value.partition(" ")
    if space and len(rest) >= _CREDENTIAL_CHARS:
        yield rest
    if scheme.lower() == "basic":
        yield from _of_credentials(_decoded(rest.strip()))
    values = rest if space and scheme.isalpha() else value
    yield from (part for part in re.split(r"[ ;,=\"]", values) if len(part) >= _VALUE_CHARS)


def _of_address(where: str) -> Iterator[str]:
    rest, authorization = without_user(where)
    tail = rest.partition("://")[2]
    if authorization is not None:
        yield from _of_credentials(where.partition("://")[2].removesuffix(tail)[:-1])
        yield from _of_header(authorization)
    _, *pieces = re.split(r"[/?#&]", tail)
    for piece in pieces:
        _, equals, value = piece.partition("=")
        if len(value) >= _VALUE_CHARS if equals else len(piece) >= _PATH_CHARS:
            yield from {value or piece, unquote(value or piece)}


def _of_credentials(user: str) -> Iterator[str]:
    """Of `user:password`: both, the password alone, and a user without a password, as some tokens are given."""
    name, colon, password = user.partition(":")
    for part in (user, password if colon else name):
        yield from {form for form in (part, unquote(part)) if len(form) >= _CREDENTIAL_CHARS}


def _decoded(text: str) -> str:
    try:
        return b64decode(text + "=" * (-len(text) % 4)).decode("utf-8", "replace")
    except ValueError:
        return ""
