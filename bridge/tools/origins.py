"""Which origins are the user's own, those of this machine and those that the user named; and addresses to go to."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

from bridge.errors import UsageError

_ORIGIN: Final = re.compile(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::[0-9]{1,5})?")
"""As Chromium writes an origin: lower case, and no port where it is the scheme's own."""
_PORTS: Final = {"http": 80, "https": 443}


def is_loopback(origin: str) -> bool:
    """True for http and https on 127.0.0.0/8, ::1, localhost and what is below it."""
    found = _ORIGIN.fullmatch(origin)
    if found is None:
        return False
    host = found[1]
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return False
    return address == IPv6Address("::1") or (isinstance(address, IPv4Address) and address.is_loopback)


def is_trusted(origin: str, named: frozenset[str]) -> bool:
    """Whether what a page of that origin says of its own tools counts: it is on this machine, or a person named it."""
    return origin in named or is_loopback(origin)


def read_origin(text: str) -> str:
    """An origin that a person wrote, as Chromium writes it.

    Raises:
        UsageError: it is none, or more than one.
    """
    try:
        parts = urlsplit(text)
        port, host = parts.port, parts.hostname or ""
        numeric = ip_address(host).compressed if ":" in host else None
    except ValueError as error:
        raise _no_origin(text) from error
    origin = f"{parts.scheme}://{host if numeric is None else f'[{numeric}]'}"
    if port is not None and port != _PORTS.get(parts.scheme):
        origin += f":{port}"
    extra = parts.username is not None or parts.path not in ("", "/") or "?" in text or "#" in text
    if extra or _ORIGIN.fullmatch(origin) is None:
        raise _no_origin(text)
    return origin


def address(url: str, *, allow_file: bool = False) -> str:
    """The address to go to: https is assumed for nothing, a missing scheme is an error that says so.

    Raises:
        UsageError: not an http or https address, nor a file's where those are allowed.
    """
    scheme = url.partition(":")[0].lower()
    if scheme in ("http", "https") or url == "about:blank" or (allow_file and scheme == "file"):
        return url
    hint = " Files are opened with --allow-file alone." if scheme == "file" else ""
    raise UsageError(f"Cannot open {url!r}: give a whole http or https address, such as http://localhost:3000/.{hint}")


def _no_origin(text: str) -> UsageError:
    return UsageError(
        f"{text!r} is not an origin. Write scheme, host and port, such as https://shop.example or "
        "http://192.168.1.5:8080; a host beyond ASCII in its xn-- form."
    )
