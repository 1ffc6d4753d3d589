"""Origins and addresses that a person writes, and what they mean. Chromium's own word is in tests/browser."""

from string import ascii_lowercase, digits, hexdigits

import pytest

from bridge.errors import UsageError
from bridge.origins import OriginRules, address, read_origin, read_pattern


def allows(pattern: str, origin: str) -> bool:
    return OriginRules(allowed=(read_pattern(pattern),)).why_not(origin) is None


def blocks(pattern: str, origin: str) -> bool:
    return OriginRules(blocked=(read_pattern(pattern),)).why_not(origin) is not None


MEANT = [
    ("https://shop.example", "https://shop.example"),
    ("HTTPS://Shop.Example/", "https://shop.example"),
    ("https://shop.example:443", "https://shop.example"),
    ("https://shop.example:8443", "https://shop.example:8443"),
    ("http://shop.example:443", "http://shop.example:443"),
    ("http://shop.example:*", "http://shop.example"),
    ("http://shop.example:*", "http://shop.example:8080"),
    ("http://shop.example:*", "http://shop.example:65529"),
    ("https://*.shop.example", "https://a.shop.example"),
    ("https://*.shop.example", "https://a.b.shop.example"),
    ("https://*.shop.example:*", "https://a.shop.example:1"),
    ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
    ("http://[::1]:3000", "http://[::1]:3000"),
    ("http://[0:0::0:1]:*", "http://[::1]:3000"),
    ("http://[::FFFF:127.0.0.1]", "http://[::ffff:7f00:1]"),
    ("http://127.0.0.1:*", "http://127.0.0.1:3000"),
]
NOT_MEANT = [
    ("https://shop.example", "http://shop.example"),
    ("https://shop.example", "https://shop.example:8443"),
    ("https://shop.example", "https://shop.example."),
    ("https://shop.example", "https://a.shop.example"),
    ("https://shop.example", "https://shop.example.evil.test"),
    ("https://shop.example", "https://evil-shop.example"),
    ("https://shop.example", "https://shopXexample"),
    ("https://shop.example:8443", "https://shop.example"),
    ("https://shop.example:80", "https://shop.example:8080"),
    ("https://shop.example:*", "https://shop.example:1.evil.test"),
    ("https://shop.example:*", "http://shop.example"),
    ("https://*.shop.example", "https://shop.example"),
    ("https://*.shop.example", "https://.shop.example"),
    ("https://*.shop.example", "https://evilshop.example"),
    ("https://*.shop.example", "https://a.shop.example:8443"),
    ("https://*.shop.example", "https://a.shop.example.evil.test"),
    ("https://*.shop.example", "https://evil.test/a.shop.example"),
    ("https://*.shop.example", "https://evil.test:1.shop.example"),
    ("https://xn--bcher-kva.example", "https://bucher.example"),
    ("http://[::1]", "http://[::2]"),
    ("http://127.0.0.1", "http://127.0.0.2"),
    ("http://localhost:*", "http://localhost.evil.test"),
]
NO_ORIGINS_OF_SITES = [
    "opaque",
    "://",
    "null",
    "",
    "file:///srv/page.html",
    "chrome://version",
    "http://",
    "about:blank",
]


@pytest.mark.feature("rules.origins")
@pytest.mark.parametrize(("pattern", "origin"), MEANT)
def test_a_pattern_means_these_origins(pattern: str, origin: str):
    assert allows(pattern, origin)
    assert blocks(pattern, origin)


@pytest.mark.threat("F7")
@pytest.mark.parametrize(("pattern", "origin"), NOT_MEANT)
def test_a_pattern_means_no_other_origin(pattern: str, origin: str):
    assert not allows(pattern, origin)


@pytest.mark.threat("F2", "F7")
@pytest.mark.parametrize("origin", NO_ORIGINS_OF_SITES)
def test_what_is_no_origin_of_a_site_is_never_allowed_by_a_pattern(origin: str):
    assert not any(allows(pattern, origin) for pattern, _ in MEANT)


@pytest.mark.threat("F7")
def test_a_dot_at_the_end_of_a_host_is_no_way_around_a_block():
    assert blocks("https://shop.example", "https://shop.example.")
    assert blocks("https://*.shop.example:*", "https://a.shop.example.:8443")
    assert not blocks("https://shop.example", "https://shop.example..")
    assert not blocks("https://shop.example", "https://shop.examplee")


@pytest.mark.threat("F7")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "shop.example",
        "*.shop.example",
        "*://shop.example",
        "https://*",
        "https://*:*",
        "https://shop.*",
        "https://a.*.example",
        "https://*shop.example",
        "https://**.shop.example",
        "https://shop.example:4*",
        "https://shop.example:80:*",
        "https://shop.example:99999",
        "https://shop.example/cart",
        "https://shop.example/*",
        "https://shop.example?a",
        "https://me@shop.example",
        "https://shop.example.",
        "https://bücher.example",
        "https://shop.example,https://other.example",
        "http://127.1",
        "http://0x7f.0.0.1",
        "http://0177.0.0.1",
        "http://2130706433",
        "http://127.0.0.256",
        "http://*.127.0.0.1",
        "http://*.[::1]",
        "http://[::1",
        "http://[fe80::1%eth0]",
        "file:///srv",
        "ws://shop.example",
        "null",
        "opaque",
        "://",
        " https://shop.example",
        "https://shop.example\n",
        "https:\\\\shop.example",
    ],
)
def test_what_is_no_pattern_is_refused_with_how_to_write_one(text: str):
    with pytest.raises(UsageError) as caught:
        read_pattern(text)

    assert str(caught.value) == (
        f"{text!r} is not a pattern of origins. Write scheme, host and port, such as https://shop.example, "
        "https://*.shop.example for all hosts below it, or http://localhost:* for all ports; a host beyond ASCII in "
        "its xn-- form."
    )


def test_a_pattern_is_read_once():
    """What was read is in the form in which it is read again."""
    for pattern, _ in (*MEANT, *NOT_MEANT):
        assert read_pattern(read_pattern(pattern)) == read_pattern(pattern)


@pytest.mark.threat("F7")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "http://",
        "http://[::1",
        "http://shop.example/cart",
        "http://me@shop.example",
        "http://127.1",
        "http://0x7f000001",
        "http://a.1",
        "http://1.2.3.4.5",
    ],
)
def test_what_is_no_origin_is_refused_with_how_to_write_one(text: str):
    with pytest.raises(UsageError) as caught:
        read_origin(text)

    assert str(caught.value) == (
        f"{text!r} is not an origin. Write scheme, host and port, such as https://shop.example or "
        "http://192.168.1.5:8080; a host beyond ASCII in its xn-- form."
    )


@pytest.mark.parametrize("number", [*digits, *(f"0x{digit}" for digit in ("", *hexdigits)), "00", "09", "256"])
def test_a_host_that_ends_in_a_number_that_browsers_write_otherwise_is_no_origin(number: str):
    for host in (number, f"a.{number}"):
        with pytest.raises(UsageError):
            read_origin(f"http://{host}")


def test_a_name_may_have_any_letter_digit_hyphen_and_underscore_in_each_of_its_labels():
    label = f"{ascii_lowercase}{digits}-_"

    for origin in (f"https://{label}", f"https://{label}.{label}.{label}"):
        assert read_origin(origin) == origin
        assert allows(origin, origin)


def test_without_patterns_every_origin_is_allowed():
    assert OriginRules().why_not("https://shop.example") is None
    assert OriginRules().why_not("opaque") is None
    assert OriginRules().why_not("") is None


def test_of_several_patterns_each_counts():
    both = ("https://shop.example", "http://localhost:*")
    allowed, blocked = OriginRules(allowed=both), OriginRules(blocked=both)

    for origin in ("https://shop.example", "http://localhost:3000"):
        assert allowed.why_not(origin) is None
        assert blocked.why_not(origin) is not None
    assert allowed.why_not("https://other.example") is not None
    assert blocked.why_not("https://other.example") is None


def test_a_block_is_stronger_than_an_allowance_and_says_so():
    rules = OriginRules(allowed=("https://*.shop.example",), blocked=("https://pay.shop.example",))

    assert rules.why_not("https://cart.shop.example") is None
    assert rules.why_not("https://pay.shop.example") == "--block-origin keeps the tools of that origin out"
    assert rules.why_not("https://other.example") == "that origin is none of those that --allow-origin names"


def test_a_pattern_that_is_none_is_an_error_and_never_passed_over():
    with pytest.raises(UsageError):
        OriginRules(blocked=("https://shop.example", "shop.example")).why_not("https://shop.example")


@pytest.mark.parametrize("url", ["http://a.test/", "https://a.test/?q=a:b#c", "HTTPS://a.test", "about:blank"])
def test_an_address_of_the_web_is_gone_to_as_it_is(url: str):
    assert address(url) == address(url, allow_file=True) == url


@pytest.mark.parametrize("url", ["", "a.test", "localhost:3000", "about:config", "data:text/html,x", "javascript:1"])
def test_what_is_no_address_of_the_web_is_refused_with_one_that_is(url: str):
    for allow_file in (False, True):
        with pytest.raises(UsageError) as caught:
            address(url, allow_file=allow_file)

        assert str(caught.value) == (
            f"Cannot open {url!r}: give a whole http or https address, such as http://localhost:3000/."
        )


def test_a_file_is_opened_only_where_that_is_allowed():
    assert address("file:///srv/page.html", allow_file=True) == "file:///srv/page.html"
    with pytest.raises(UsageError, match=r"localhost:3000/\. Files are opened with --allow-file alone\.$"):
        address("file:///srv/page.html")
