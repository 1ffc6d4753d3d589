"""What a person should know of a browser that they attach to: who else can reach it, and whose it is. No I/O."""

import re
from typing import Final

from bridge.wire.address import Address

_HOMES: Final = (
    r"\.config/(?:google-chrome|chromium|microsoft-edge|BraveSoftware/Brave-Browser)[\w-]*",
    r"Library/Application Support/(?:Google/Chrome|Chromium|Microsoft Edge|BraveSoftware/Brave-Browser)[\w -]*",
    r"AppData/Local/(?:Google/Chrome|Chromium|Microsoft/Edge|BraveSoftware/Brave-Browser)[\w -]*/User Data",
)
"""Where browsers keep what people do in them, unless they are told otherwise."""


def risks_of(address: Address, command_line: str) -> tuple[str, ...]:
    """One sentence for each risk, with what to do about it.

    Args:
        address: of the browser's websocket.
        command_line: that it was started with; "" where it does not say.
    """
    where = address.described
    risks: list[str] = []
    if not address.is_loopback and not address.tls:
        risks.append(
            f"{where} is on another machine, and the link has no TLS, so who is on the way can read all of it and "
            "drive that browser: attach by wss:// or https://, or through a tunnel such as "
            f"`ssh -L {address.port}:127.0.0.1:{address.port} HOST`."
        )
    elif not address.is_loopback:
        risks.append(
            f"{where} is on another machine, whose owner sees all that is done in that browser: attach only to one "
            "that you would log in on."
        )
    if "*" in _values(command_line, "remote-allow-origins"):
        risks.append(
            f"The browser at {where} was started with --remote-allow-origins=*, so it also lets in web pages that find "
            "out its address: start it without that, which pagebridge does not need."
        )
    if command_line and _is_default(command_line):
        risks.append(
            f"The browser at {where} runs in its user's own profile, so pages and their tools act as that user "
            "wherever they are logged in: for work that needs no logins, start it with a --user-data-dir of its own."
        )
    return tuple(risks)


def _values(command_line: str, name: str) -> list[str]:
    """The parts of a switch's value, "" for none; of several such switches the last one counts."""
    found = re.findall(rf'(?:^|[\s"\'])--{name}=("[^"]*"|\'[^\']*\'|\S*)', command_line)
    return [part.strip() for part in found[-1].strip("\"'").split(",")] if found else []


def _is_default(command_line: str) -> bool:
    """Whether it runs in the profile of its user; without windows, some make one for each run."""
    _, found, rest = command_line.replace("\\", "/").rpartition("--user-data-dir=")
    if not found:
        return "--headless" not in command_line
    folder = rest.partition(" --")[0]
    return any(re.search(rf"(?:^|/){home}/?(?=[\"'\s]|$)", folder) for home in _HOMES)
