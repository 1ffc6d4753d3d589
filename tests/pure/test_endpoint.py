"""Reading what a person names, and repairing what a browser answers."""

import pytest

from bridge.browser.endpoint import (
    Endpoint,
    active_port_url,
    checked_headers,
    repaired,
    version_target,
    without_user,
)
from bridge.errors import UsageError
from bridge.wire.address import Address
from bridge.wire.websocket import refusal_in


@pytest.mark.parametrize(
    ("url", "host", "port", "authority", "target"),
    [
        ("http://localhost:9222", "localhost", 9222, "localhost:9222", "/"),
        ("https://grid.example/a/?token=x", "grid.example", 443, "grid.example", "/a/?token=x"),
        ("ws://[::1]:9/devtools/browser/1#x", "::1", 9, "[::1]:9", "/devtools/browser/1"),
        ("wss://connect.example?apiKey=%2F", "connect.example", 443, "connect.example", "/?apiKey=%2F"),
        ("ws://me:pw@h/", "h", 80, "h", "/"),
        ("HTTP://Host:0/", "host", 0, "Host:0", "/"),
    ],
)
def test_url_is_taken_apart_without_loss(url, host, port, authority, target):
    address = Address.parse(url)
    assert (address.host, address.port, address.authority, address.target) == (host, port, authority, target)


@pytest.mark.parametrize(
    "url",
    ["ftp://secret", "http://", "http://secret:port", "http://[secret", "ws://secret/a b", "ws://h/\r\nsecret: 1"],
)
def test_what_is_no_url_is_refused_without_repeating_it(url):
    with pytest.raises(UsageError) as caught:
        Address.parse(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "numeric"),
    [("127.0.0.1", True), ("[::1]", True), ("localhost", True), ("a.localhost", True), ("box.lan", False)],
)
def test_hosts_that_chromium_answers_to(host, numeric):
    assert Address.parse(f"http://{host}:1").numeric is numeric


def test_localhost_is_both_loopback_addresses_whatever_the_system_says():
    assert Address.parse("http://a.localhost").hosts == Address.parse("ws://LOCALHOST:1").hosts == ("127.0.0.1", "::1")
    assert Address.parse("http://box.lan").hosts == ("box.lan",)


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("/", "/json/version"),
        ("/prefix/", "/prefix/json/version"),
        ("/prefix?token=a%2Fb", "/prefix/json/version?token=a%2Fb"),
        ("/json/version", "/json/version"),
    ],
)
def test_version_is_asked_under_the_prefix_and_with_the_query(given, asked):
    assert version_target(given) == asked


@pytest.mark.threat("L2")
@pytest.mark.parametrize(
    ("asked", "answered", "expected"),
    [
        ("http://1.2.3.4:5", "ws://127.0.0.1:9222/devtools/browser/u", "ws://1.2.3.4:5/devtools/browser/u"),
        ("https://h", "ws://127.0.0.1:9222/devtools/browser/u", "wss://h/devtools/browser/u"),
        ("https://h/?token=t", "ws://0.0.0.0:3000", "wss://h?token=t"),
        ("http://h?token=t", "ws://h/x?own=1", "ws://h/x?own=1"),
        ("http://h/p/", "ws://h/devtools/browser/u", "ws://h/p/devtools/browser/u"),
        ("http://h/p", "ws://h/p/devtools/browser/u", "ws://h/p/devtools/browser/u"),
        ("http://h/p/json/version", "ws://h/devtools/browser/u", "ws://h/p/devtools/browser/u"),
        ("http://[::1]:7", "ws://[::]:9222/devtools/browser/u", "ws://[::1]:7/devtools/browser/u"),
    ],
)
def test_answer_is_led_back_to_where_it_came_from(asked, answered, expected):
    assert repaired(answered, Address.parse(asked)) == expected


@pytest.mark.parametrize(
    ("url", "bare", "authorization"),
    [
        ("http://h:1/p?q", "http://h:1/p?q", None),
        ("wss://me:p%40w@h/p@q", "wss://h/p@q", "Basic bWU6cEB3"),
        ("ws://token@h", "ws://h", "Basic dG9rZW46"),
        ("http://h/a@b", "http://h/a@b", None),
        ("http://h?a@b", "http://h?a@b", None),
    ],
)
def test_user_and_password_become_a_header(url, bare, authorization):
    assert without_user(url) == (bare, authorization)


def test_headers_are_checked_and_never_repeated():
    assert checked_headers([("X-Token", " abc ")]) == (("X-Token", "abc"),)
    for name, value in [("X-Token", "secret\r\nX: 1"), ("X Token", "secret"), ("", "secret"), ("Host", "secret")]:
        with pytest.raises(UsageError) as caught:
            checked_headers([(name, value)])
        assert "secret" not in str(caught.value)


@pytest.mark.threat("L4")
def test_endpoint_shows_no_secret():
    endpoint = Endpoint("wss://h/secret?token=secret", (("Authorization", "secret"),), "wss://h")
    assert "secret" not in repr(endpoint)
    assert "wss://h" in repr(endpoint)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("9222\n/devtools/browser/u", "ws://127.0.0.1:9222/devtools/browser/u"),
        ("9222\r\n/devtools/browser/u\r\n", "ws://127.0.0.1:9222/devtools/browser/u"),
        ("", None),
        ("9222", None),
        ("port\n/x", None),
        ("9222\nx", None),
    ],
)
def test_active_port_file_is_read(text, url):
    assert active_port_url(text) == url


@pytest.mark.parametrize(
    ("head", "ended", "words"),
    [
        (b"", False, None),
        (b"HT", False, None),
        (b"HTTP/1.1 403 Forbidden\r\n", False, None),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n", True, None),
        (b"HTTP/1.1 403 Forbidden\r\n\r\nno\r\nentry", False, "403 Forbidden no entry"),
        (b"HTTP/1.1 403 Forbidden\r\nx", True, "403 Forbidden"),
        (b"HTTP/1.1 500 x\r\n" + b"x" * 2000, False, "500"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgr", True, "hung up"),
        (b"", True, "hung up"),
        (b"HTTP/1", True, "hung up"),
        (b"SSH-2.0-OpenSSH", False, "not speak HTTP"),
    ],
)
def test_refusal_is_seen_in_the_first_bytes(head, ended, words):
    reason = refusal_in(head, ended=ended)
    assert reason is None if words is None else reason is not None and words in reason
