"""Origins as a person writes them, held against what Chromium itself makes of them."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.errors import UsageError
from bridge.origins import OriginRules, read_origin, read_pattern
from bridge.page.session import Page
from tests.browser.asking import open_page, page_of, run_script

READ = """texts => texts.map(text => {
  try {
    const {origin} = new URL(text);
    const {protocol, hostname, port} = new URL(origin === 'null' ? text : origin);
    return [origin, protocol, hostname, port];
  }
  catch { return null }
})"""


class Url(NamedTuple):
    """What Chromium makes of a text: its origin, and the parts of that."""

    origin: str
    protocol: str
    hostname: str
    port: str


@pytest.fixture
async def page(agent: Agent, bridge: Bridge) -> Page:
    return await page_of(bridge, await open_page(agent, "about:blank"))


async def read_in(page: Page, texts: list[str]) -> list[Url | None]:
    found: Any = await run_script(page, f"({READ})({json.dumps(texts)})")
    return [None if one is None else Url(*one) for one in found]


def ours(text: str) -> str | None:
    try:
        return read_origin(text)
    except UsageError:
        return None


def allows(pattern: str, origin: str) -> bool | None:
    """Whether the pattern means the origin; None where it is no pattern."""
    try:
        return OriginRules(allowed=(read_pattern(pattern),)).why_not(origin) is None
    except UsageError:
        return None


CONFUSING = {
    # as they are
    "http://a.test": "http://a.test",
    "https://a.test": "https://a.test",
    "http://a.test:8080": "http://a.test:8080",
    # case, and the ports that schemes have anyhow
    "HTTP://A.Test": "http://a.test",
    "http://a.test:80": "http://a.test",
    "https://a.test:443/": "https://a.test",
    "http://a.test:443": "http://a.test:443",
    "http://a.test:00080": "http://a.test",
    "http://a.test:0": "http://a.test:0",
    # addresses
    "http://127.0.0.1:3000": "http://127.0.0.1:3000",
    "http://[::1]": "http://[::1]",
    "http://[0:0:0:0:0:0:0:1]": "http://[::1]",
    "http://[::FFFF:127.0.0.1]": "http://[::ffff:7f00:1]",
    "http://[::127.0.0.1]": "http://[::7f00:1]",
    "http://[1:0:0:2:0:0:0:3]": "http://[1:0:0:2::3]",
    "http://[2001:db8:0:1:1:1:1:1]": "http://[2001:db8:0:1:1:1:1:1]",
    # names beyond ASCII, in the form that a person may write
    "https://xn--bcher-kva.example": "https://xn--bcher-kva.example",
    "https://XN--BCHER-KVA.example": "https://xn--bcher-kva.example",
}
"""What we take, and which origin it means."""

REFUSED = {
    "http://a.test.": "http://a.test.",
    "http://user@a.test": "http://a.test",
    "http://a.test@b.test": "http://b.test",
    "http://a.test:80@b.test": "http://b.test",
    "http://127.1": "http://127.0.0.1",
    "http://0x7f.1": "http://127.0.0.1",
    "http://0177.0.0.1": "http://127.0.0.1",
    "http://2130706433": "http://127.0.0.1",
    "http://127.0.0.1.": "http://127.0.0.1",
    "http://a.test\\@b.test": "http://a.test",
    "http:\\\\a.test": "http://a.test",
    "http:a.test": "http://a.test",
    "http://%61.test": "http://a.test",
    "https://bücher.example": "https://xn--bcher-kva.example",
    "https://\uff42ücher.example": "https://xn--bcher-kva.example",
    "http://\u0430.test": "http://xn--80a.test",
    "http://a\u3002test": "http://a.test",
    "http://a.test:": "http://a.test",
    "data:text/html,x": "null",
    "file:///srv/page.html": "file://",
    "about:blank": "null",
    "javascript:1": "null",
}
"""What Chromium reads and we refuse, as it is easily taken for something else; and what Chromium makes of it."""
ACCEPTED_ANYHOW = {"http://a.test:"}
"""An empty port says nothing, and is the scheme's own for both."""


@pytest.mark.threat("F7")
async def test_what_is_easily_confused_is_read_as_chromium_reads_it_or_refused(page: Page):
    meant = await read_in(page, list(CONFUSING))
    refused = await read_in(page, list(REFUSED))

    assert {text: url and url.origin for text, url in zip(CONFUSING, meant, strict=True)} == CONFUSING
    assert {text: ours(text) for text in CONFUSING} == CONFUSING
    assert {text: url and url.origin for text, url in zip(REFUSED, refused, strict=True)} == REFUSED
    assert {text for text in REFUSED if ours(text) is not None} == ACCEPTED_ANYHOW
    assert {text for text in REFUSED if allows(text, REFUSED[text]) is not None} == set()


LABELS = [
    "a", "A", "b", "test", "localhost", "a_b", "-a", "xn--bcher-kva", "bücher", "faß", "xn--fa-hia",
    "\uff41", "\u0430", "\u212a", "1", "127", "0x7f", "010", "256", "0", "", "%61", "a b", "*", "a!",
    "xn--", "x" * 64, "\u00ad", "\u200d", "BÜCHER", "XN--BCHER-KVA", "bu\u0308cher", "例え", "أ",
    "0x", "08", "4294967296",
]  # fmt: skip
HOSTS = st.one_of(
    st.lists(st.sampled_from(LABELS), min_size=1, max_size=4).map(".".join),
    st.sampled_from(["a.test", "b.a.test", "A.test", "a.test.", "a\u3002test", "127.0.0.1", "127.1", "localhost"]),
    st.sampled_from(["[::1]", "[0::1]", "[::FFFF:1.2.3.4]", "[1::1:0:0:2]", "[::1%25a]", "[::", "[v1.a]", "[::1]a"]),
    st.ip_addresses(v=6).map(lambda address: f"[{address.exploded}]"),
    st.ip_addresses(v=4).map(str),
    st.sampled_from(["0x7f000001", "2130706433", "1.2.3", "127.0.0.1.", "1.2.3.4.", "a.test..", "[::1].", "a\\b.test"]),
    st.text(st.characters(codec="utf-8"), max_size=3),
)
SCHEMES = st.sampled_from(
    ["http", "https", "http", "https", "HTTP", "hTtps", "ftp", "ws", "file", "blob:http", " http"]
)
PORTS = st.sampled_from(["", "", "", ":", ":80", ":443", ":0080", ":8080", ":0", ":65535", ":65536", ":a", ":8\t0"])
REST = st.sampled_from(["", "", "", "", "/", "/a", "?", "?a", "#", "#a", "\\", "//", "/a@b", " ", "\n"])
USERS = st.sampled_from(["", "", "", "", "", "@", "a@", "a:b@", "a.test:80@"])
SEPARATORS = st.sampled_from(["://"] * 9 + [":", ":/", ":///", ":\\\\", "//", "\t://"])
PLAIN = st.builds(
    "{}://{}{}".format,
    st.sampled_from(["http", "https"]),
    st.one_of(
        st.lists(st.sampled_from(["a", "b", "test", "xn--bcher-kva"]), min_size=1, max_size=4).map(".".join),
        st.ip_addresses().map(lambda address: f"[{address}]" if address.version == 6 else str(address)),
    ),
    st.sampled_from(["", "", ":80", ":443", ":8080"]),
)
ODD = st.tuples(SCHEMES, SEPARATORS, USERS, HOSTS, PORTS, REST).map("".join)


@cache
def made_texts() -> list[str]:
    """Many of them, found by Hypothesis before Chromium is asked once for all."""
    made: dict[str, None] = {}

    for texts, examples in ((PLAIN, 200), (ODD, 400), (st.text(), 50)):

        @settings(
            max_examples=examples,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        )
        @given(texts)
        def make(text: str) -> None:
            made[text] = None

        make()
    return list(made)


@pytest.mark.threat("F7")
async def test_any_text_is_no_origin_or_the_one_that_it_is_to_chromium(page: Page):
    texts = made_texts()
    urls = await read_in(page, texts)

    read = [(text, mine, url.origin) for text, url in zip(texts, urls, strict=True) if url and (mine := ours(text))]
    assert [each for each in read if each[1] != each[2]] == []
    assert len(read) > 100


@pytest.mark.threat("F7")
async def test_any_origin_of_chromium_can_be_written_as_it_is(page: Page):
    origins = {url.origin for url in await read_in(page, made_texts()) if url and url.protocol in ("http:", "https:")}

    assert {origin for origin in origins if ours(origin) != origin and not is_odd(origin)} == set()
    assert len(origins) > 100


def is_odd(origin: str) -> bool:
    """With a host that no name server knows, or a dot at its end: such a one can't be named."""
    host = origin.partition("://")[2].rpartition(":")[0] or origin.partition("://")[2]
    return (
        host.endswith(".") or ".." in host or host.startswith(".") or any(char in host for char in "!*%&'()+,;=$~\"`{}")
    )


@pytest.mark.threat("F7")
async def test_for_any_two_origins_a_pattern_means_the_other_exactly_where_chromium_says_that_they_are_one(page: Page):
    texts = made_texts()
    known = {text: url for text, url in zip(texts, await read_in(page, texts), strict=True) if url is not None}
    others = set(known.values())
    compared: Counter[bool] = Counter()
    for pattern, means in {
        each: means for text, url in known.items() for each, means in patterns_of(text, url)
    }.items():
        try:
            allowed, blocked = OriginRules(allowed=(read_pattern(pattern),)), OriginRules(blocked=(pattern,))
        except UsageError:
            continue
        for other in others:
            assert (allowed.why_not(other.origin) is None) == means(other), (pattern, other)
            undotted = other._replace(hostname=other.hostname.removesuffix("."))
            assert (blocked.why_not(other.origin) is not None) == means(undotted), (pattern, other)
            compared[means(other)] += 1
    assert compared[False] > 10_000
    assert compared[True] > 300


def patterns_of(text: str, url: Url) -> Iterator[tuple[str, Callable[[Url], bool]]]:
    """Patterns that are made of an address, each with what it means in Chromium's parts of another."""
    same_host = (url.protocol, url.hostname).__eq__
    port = url.port and f":{url.port}"

    def is_same(other: Url) -> bool:
        return other[1:] == url[1:]

    def is_below(other: Url) -> bool:
        below, is_there, rest = other.hostname.rpartition(f".{url.hostname}")
        return other.protocol == url.protocol and below != "" and is_there != "" and rest == ""

    yield text, is_same
    yield url.origin, is_same
    yield f"{url.protocol}//{url.hostname}:*", lambda other: same_host((other.protocol, other.hostname))
    yield f"{url.protocol}//*.{url.hostname}{port}", lambda other: is_below(other) and other.port == url.port
    yield f"{url.protocol}//*.{url.hostname}:*", is_below
