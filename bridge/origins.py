"""Origins: which are the user's own, which ones a person let tools come from; and addresses to go to.

An origin is scheme, host and port, exactly as Chromium writes it: the host in lower case and in its `xn--` form, no
port where it is the scheme's own. One that is of no site is `OPAQUE`, and nothing that a person can write means that.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

from bridge.errors import UsageError

OPAQUE: Final = "opaque"
_NAME: Final = r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*"
_ORIGIN: Final = re.compile(rf"https?://(\[[0-9a-f:.]+\]|{_NAME})(?::[0-9]{{1,5}})?")
# Compiled when they are needed, and that is seldom.
_PATTERN: Final = rf"(?P<scheme>https?)://(?P<below>\*\.)?(?P<host>\[[0-9a-f:.]+\]|{_NAME})(?P<port>:(?:\*|[0-9]+))?/?"
_NUMBER: Final = r"[0-9]+|0x[0-9a-f]*"
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


@dataclass(frozen=True)
class OriginRules:
    """Where tools may come from.

    Attributes:
        allowed: patterns, see `read_pattern`; without any, every origin is.
        blocked: patterns, too. They come first, and also hold for a host that is written with a dot at its end.
    """

    allowed: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()

    def why_not(self, origin: str) -> str | None:
        """Why tools of this origin are not to be used, or None where they may be."""
        if self.blocked and self._blocked.fullmatch(origin):
            return "--block-origin keeps the tools of that origin out"
        if self.allowed and not self._allowed.fullmatch(origin):
            return "that origin is none of those that --allow-origin names"
        return None

    @cached_property
    def _allowed(self) -> re.Pattern[str]:
        return _compile(self.allowed, after_host="")

    @cached_property
    def _blocked(self) -> re.Pattern[str]:
        return _compile(self.blocked, after_host=r"\.?")


ANY_ORIGIN: Final = OriginRules()


def read_origin(text: str) -> str:
    """An origin that a person wrote, as Chromium writes it.

    Raises:
        UsageError: it is none, or more than one.
    """
    try:
        parts = urlsplit(text)
        port, host = parts.port, _read_host(parts.hostname or "")
    except ValueError as error:
        raise _no_origin(text) from error
    origin = f"{parts.scheme}://{host}"
    if port is not None and port != _PORTS.get(parts.scheme):
        origin += f":{port}"
    extra = parts.username is not None or parts.path not in ("", "/") or "?" in text or "#" in text
    if extra or _ORIGIN.fullmatch(origin) is None:
        raise _no_origin(text)
    return origin


def read_pattern(text: str) -> str:
    """A pattern that a person wrote, in the form that `OriginRules` takes.

    It is an origin, in which `*.` before the host means every host below that one, though not itself, and `*` as the
    port means every port. There is nothing else: a scheme is always named, and a host, too.

    Raises:
        UsageError: it is none.
    """
    found = re.fullmatch(_PATTERN, text.lower())
    if found is None:
        raise _no_pattern(text)
    below, port = found["below"] or "", found["port"] or ""
    any_port = port if port == ":*" else ""
    try:
        origin = read_origin(f"{found['scheme']}://{found['host']}{'' if any_port else port}")
    except UsageError as error:
        raise _no_pattern(text) from error
    scheme, _, rest = origin.partition("://")
    if below and _is_address(found["host"]):
        raise _no_pattern(text)
    return f"{scheme}://{below}{rest}{any_port}"


def _compile(patterns: tuple[str, ...], *, after_host: str) -> re.Pattern[str]:
    return re.compile("|".join(_expression(pattern, after_host) for pattern in patterns))


def _expression(pattern: str, after_host: str) -> str:
    found = re.fullmatch(_PATTERN, read_pattern(pattern))
    assert found is not None
    below = r"[^/:]+\." if found["below"] else ""
    port = "(?::[0-9]+)?" if found["port"] == ":*" else found["port"] or ""
    return f"{found['scheme']}://{below}{re.escape(found['host'])}{after_host}{port}"


def _read_host(host: str) -> str:
    """A host as Chromium writes it.

    Raises:
        ValueError: it is a number in a form that no origin has (`127.1`, `0x7f.0.0.1`).
    """
    if ":" in host:
        address = IPv6Address(host)
        high, low = divmod(int(address) & 0xFFFF_FFFF, 0x1_0000)
        # Python writes these as Chromium does not.
        return f"[::ffff:{high:x}:{low:x}]" if address.ipv4_mapped else f"[{address.compressed}]"
    if _is_address(host):
        return str(IPv4Address(host))
    return host


def _is_address(host: str) -> bool:
    """Whether browsers take a host for an address: its last label is a number."""
    return host.startswith("[") or re.fullmatch(_NUMBER, host.rpartition(".")[2]) is not None


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


def _no_pattern(text: str) -> UsageError:
    return UsageError(
        f"{text!r} is not a pattern of origins. Write scheme, host and port, such as https://shop.example, "
        "https://*.shop.example for all hosts below it, or http://localhost:* for all ports; a host beyond ASCII in "
        "its xn-- form."
    )
