"""What a person is told of a browser that they attach to, by its address and by how it was started."""

import re

import pytest

from bridge.browser.risks import risks_of
from bridge.wire.address import Address

HERE = Address.parse("ws://127.0.0.1:9222/devtools/browser/secret")
OWN = "/usr/bin/chromium --user-data-dir=/tmp/p --remote-debugging-port=0"


def told(command_line: str, address: Address = HERE) -> str:
    risks = risks_of(address, command_line)
    for risk in risks:
        assert "\n" not in risk
        assert risk.endswith(".")
        assert len(re.findall(r"\.(?: |$)", risk)) == 1, "it is one sentence"
        assert address.described in risk
        assert "secret" not in risk
    return " ".join(risks)


def test_a_browser_of_this_machine_in_a_profile_of_its_own_is_no_risk():
    assert told(OWN) == told("") == ""


@pytest.mark.threat("L2")
@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ws://127.0.0.1:1/", ""),
        ("ws://127.8.9.1/", ""),
        ("ws://[::1]:1/", ""),
        ("ws://localhost/", ""),
        ("ws://a.localhost:9/", ""),
        ("ws://0.0.0.0:9/", ""),
        ("ws://192.168.1.5:9222/secret", "no TLS"),
        ("ws://127.0.0.1.example:9222/", "no TLS"),
        ("ws://localhost.example/", "no TLS"),
        ("ws://[::ffff:8.8.8.8]/", "no TLS"),
        ("ws://box:9222/", "ssh -L 9222:127.0.0.1:9222 HOST"),
        ("wss://browsers.example/secret?token=secret", "on another machine"),
    ],
)
def test_a_browser_of_another_machine_is(url: str, words: str):
    address = Address.parse(url)
    assert words in told(OWN, address) if words else told(OWN, address) == ""
    assert ("no TLS" in told(OWN, address)) is (bool(words) and address.scheme == "ws")


@pytest.mark.parametrize(
    ("switch", "is_open"),
    [
        ("--remote-allow-origins=*", True),
        ("'--remote-allow-origins=*'", True),
        ('"--remote-allow-origins=*"', True),
        ('--remote-allow-origins="*"', True),
        ("--remote-allow-origins=http://localhost:3000,*", True),
        ("--remote-allow-origins=a --remote-allow-origins=*", True),
        ("--remote-allow-origins=* --remote-allow-origins=http://localhost:3000", False),
        ("--remote-allow-origins=http://*.example", False),
        ("--remote-allow-origins=", False),
        ("--x-remote-allow-origins=*", False),
        ("--host-rules=--remote-allow-originsx=*", False),
    ],
)
def test_one_that_lets_in_every_web_page_is(switch: str, is_open: bool):
    assert ("--remote-allow-origins=*" in told(f"{OWN} {switch} about:blank")) is is_open


@pytest.mark.parametrize(
    ("words", "is_own"),
    [
        ("--remote-debugging-port=9222", True),
        ("--user-data-dir=/home/zoe/.config/google-chrome --x", True),
        ("--user-data-dir=/home/zoe/.config/google-chrome-beta", True),
        ("--user-data-dir=/home/zoe/.config/chromium/ about:blank", True),
        ('"--user-data-dir=/Users/Zoe B/Library/Application Support/Google/Chrome" --x', True),
        ("--user-data-dir=/Users/zoe/Library/Application Support/BraveSoftware/Brave-Browser --x", True),
        (r'"--user-data-dir=C:\Users\Zoe\AppData\Local\Google\Chrome\User Data" --x', True),
        (r"--user-data-dir=C:\Users\Zoe\AppData\Local\Microsoft\Edge\User Data", True),
        ("--user-data-dir=/home/zoe/.config/chromium/test", False),
        ("--user-data-dir=/home/zoe/.config/my-profile --x", False),
        (r"--user-data-dir=C:\Temp\p", False),
        ("--headless=new", False),
    ],
)
def test_one_in_the_profile_of_its_user_is(words: str, is_own: bool):
    assert ("its user's own profile" in told(f"/opt/google/chrome/chrome {words}")) is is_own
