"""Addresses in a skill: those that it asks, and those that it may be given.

Each is read by one strict grammar, and what is sent is put together anew from the parts that were checked: so it does
not matter how somebody else would have read it.
"""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, quote, unquote

import idna

from bridge import limits
from bridge.errors import UsageError
from bridge.origins import read_origin
from bridge.tools.faults import plain
from bridge.tools.skills.addresses import read_address, why_not_public

PLACEHOLDER: Final = "{job_id}"

_URL: Final = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?P<fragment>#.*)?",
    re.IGNORECASE | re.DOTALL,
)
_AUTHORITY: Final = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[^:\[\]@%]+)(?::(?P<port>[0-9]{1,5}))?", re.IGNORECASE)
_NEVER: Final = re.compile(r'[\x00-\x20\x7f\\"<>]')
_UNSAFE: Final = re.compile(r"[\^`{|}]|%(?![0-9A-Fa-f]{2})")
"""Browsers leave these as they are in some places. Who writes an address encodes them."""
_SAFE: Final = "/%!$&'()*+,;=:@~?"
_LABEL: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_PORTS: Final = {"http": 80, "https": 443}
_LOCAL_HINT: Final = " (a service on this machine must be in `local_origins` of the skill in pagebridge.toml)"
_LOCAL_NAMES: Final = ("localhost", "local", "internal", "home.arpa")


@dataclass(frozen=True)
class Url:
    """An address, read.

    Attributes:
        host: in its A-label form and in lower case, an IPv6 address in brackets.
        path: begins with a slash; percent-encoded.
        query: with its `?`, or empty.
        fragment: with its `#`, or empty.
    """

    scheme: str
    host: str
    port: int
    path: str
    query: str = ""
    fragment: str = ""

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.netloc}"

    @property
    def netloc(self) -> str:
        return self.host if self.port == _PORTS[self.scheme] else f"{self.host}:{self.port}"

    @property
    def target(self) -> str:
        """What a request names."""
        return self.path + self.query

    @property
    def query_names(self) -> frozenset[str]:
        return frozenset(name for name, _ in parse_qsl(self.query[1:], keep_blank_values=True))

    def __str__(self) -> str:
        return self.origin + self.target + self.fragment


def read_url(text: str) -> Url:
    """Read an http or https address.

    Raises:
        ValueError: says what is wrong with it, as the end of a sentence.
    """
    found = _URL.fullmatch(text)
    if found is None:
        raise ValueError("is no whole address, such as https://api.example/v1")
    scheme = found["scheme"].lower()
    if scheme not in _PORTS:
        raise ValueError(f"has the scheme {plain(scheme)}, and only https and http are addresses of the web")
    if (bad := _NEVER.search(text)) is not None:
        raise ValueError(f"has {bad[0]!r} in it: percent-encode that")
    if "@" in found["authority"]:
        raise ValueError("has a user name in it: leave that out")
    authority = _AUTHORITY.fullmatch(found["authority"])
    if authority is None:
        raise ValueError("has no host that can be read")
    host = read_host(authority["host"], scheme)
    port = int(authority["port"] or _PORTS[scheme])
    if not 0 < port < 0x1_0000:
        raise ValueError(f"has the port {port}, which there is not")
    path = _encode(found["path"] or "/")
    if _has_dots(path):
        raise ValueError("has `.` or `..` as a part of its path: write where that leads")
    query, fragment = (_encode(found[part] or "", also="#[]") for part in ("query", "fragment"))
    return Url(scheme, host, port, path, query, fragment)


def _encode(part: str, also: str = "") -> str:
    """Percent-encoded, but for what is so already."""
    return quote(_UNSAFE.sub(lambda found: quote(found[0]), part), safe=_SAFE + also)


def read_host(text: str, scheme: str = "https") -> str:
    """A host in the form that is compared: in lower case, beyond ASCII as an A-label.

    Raises:
        ValueError: as `read_url`.
    """
    host = text.lower()
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True, std3_rules=True).decode()
        except idna.IDNAError as error:
            raise ValueError(f"has the host {plain(text)}, which can be none: {error}") from error
    if not host.startswith("[") and (len(host) > 253 or not all(map(_LABEL.fullmatch, host.split(".")))):
        raise ValueError(f"has the host {plain(text)}, which can be none")
    try:
        return read_origin(f"{scheme}://{host}").partition("://")[2]
    except UsageError as error:
        raise ValueError(f"has the host {plain(text)}, which is an address in a form that nobody needs") from error


def read_endpoint(text: str, local_origins: frozenset[str] = frozenset()) -> Url:
    """The address of a service.

    Args:
        local_origins: those that may be on this machine.

    Raises:
        ValueError: as `read_url`.
    """
    if len(text) > limits.ENDPOINT_CHARS:
        raise ValueError(f"has {len(text):,} characters, and {limits.ENDPOINT_CHARS:,} are allowed")
    if (bad := _UNSAFE.search(text)) is not None:
        raise ValueError(f"has {bad[0]!r} in it: percent-encode that")
    url = read_url(text)
    if url.scheme != "https":
        raise ValueError("is not https, and nothing is sent where others could read it: write https://")
    if url.fragment:
        raise ValueError("has a fragment, which is never sent: remove what is behind the #")
    if url.origin not in local_origins and (name := _local_name(url.host)) is not None:
        raise ValueError(f"has a host in {name}, which is not of the public internet{_LOCAL_HINT}")
    if url.origin not in local_origins and (reason := _why_not_public(url.host)) is not None:
        raise ValueError(f"has the host {url.host}, {reason}{_LOCAL_HINT}")
    return url


def read_template(text: str, origin: str, local_origins: frozenset[str] = frozenset()) -> str:
    """An address with `{job_id}` in its path or query, checked with a sample.

    Raises:
        ValueError: as `read_url`.
    """
    place = text.find(PLACEHOLDER)
    if place < 0:
        raise ValueError(f"is missing {PLACEHOLDER}: write it where the id of the job belongs")
    found = _URL.match(text.replace(PLACEHOLDER, "job"))
    if found is not None and place < found.end("authority"):
        raise ValueError(f"has {PLACEHOLDER} in its host: write it in the path")
    url = read_endpoint(text.replace(PLACEHOLDER, "job"), local_origins)
    if url.origin != origin:
        raise ValueError(f"must stay on {origin}, where the job is made")
    return text


def fill_template(template: str, job_id: str, origin: str, local_origins: frozenset[str] = frozenset()) -> Url:
    """The address of one job, checked once more.

    Raises:
        ValueError: as `read_template`, or the id can't stand in an address.
    """
    if len(job_id) > limits.JOB_ID_CHARS:
        raise ValueError(f"has {len(job_id):,} characters, and {limits.JOB_ID_CHARS} are allowed")
    if re.search(r"[/\\%\x00-\x1f\x7f-\x9f]", job_id) or job_id.strip(". ") == "":
        raise ValueError("can't stand in an address")
    url = read_endpoint(template.replace(PLACEHOLDER, quote(job_id, safe="")), local_origins)
    if url.origin != origin:
        raise ValueError(f"leads away from {origin}")
    return url


@dataclass(frozen=True)
class UrlRule:
    """Addresses that a tool may be given.

    Attributes:
        host: it, and all hosts below it.
        port: this one alone; any where it is None.
        paths: these, and all that is below them.
    """

    host: str
    port: int | None
    paths: tuple[str, ...] = ("/",)

    def admits(self, url: Url) -> bool:
        is_below = not _is_number(self.host) and url.host.endswith(f".{self.host}")
        return (
            (url.host == self.host or is_below)
            and self.port in (None, url.port)
            and any(_is_under(url.path, path) for path in self.paths)
        )


def read_rule(host: str, paths: tuple[str, ...]) -> UrlRule:
    """A rule as a skill gives it: the host may have a port.

    Raises:
        ValueError: says what is wrong, as the end of a sentence.
    """
    found = _AUTHORITY.fullmatch(host)
    if found is None:
        raise ValueError(f"has {plain(host)} for a host: write it alone, such as youtube.com or youtube.com:8443")
    for path in paths:
        if not path.startswith("/") or "?" in path or "#" in path or _NEVER.search(path) or _has_dots(path):
            raise ValueError(f"has {plain(path)} for a path: begin it with a slash, without query, `.` and `..`")
    port = int(found["port"]) if found["port"] else None
    return UrlRule(read_host(found["host"]), port, tuple(map(_encode, paths)) or ("/",))


def _is_under(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith(prefix if prefix.endswith("/") else f"{prefix}/")


def _is_number(host: str) -> bool:
    return host.startswith("[") or host.rpartition(".")[2].isdigit()


def _local_name(host: str) -> str | None:
    return next((name for name in _LOCAL_NAMES if host == name or host.endswith(f".{name}")), None)


def _why_not_public(host: str) -> str | None:
    """Of a host that is an address. Names are looked up when they are asked."""
    return why_not_public(read_address(host.strip("[]"))) if _is_number(host) else None


def _has_dots(path: str) -> bool:
    """Whether a part of a path is one that somebody may resolve, also when it is decoded first."""
    parts = re.split(r"[/\\]", unquote(unquote(path)))
    return any(part.partition(";")[0] in (".", "..") for part in parts)
