"""`pagebridge pin`: show what a page's tools are, and what has changed about them, and have that approved."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import Final

import click
import trio

from bridge import limits
from bridge.calls.bridge import open_bridge
from bridge.calls.pins import PARTS, Fingerprint, Pins, approve, read_pins, write_pins
from bridge.errors import UsageError
from bridge.origins import address
from bridge.serve.printable import printable
from bridge.serve.terminal import open_page, run_bridge
from bridge.settings import AttachOptions, LaunchOptions, PageSettings

_PLAIN: Final[Fingerprint] = ("", "", "", "page", "{}")
"""What a new tool is shown in comparison with."""

Offered = Mapping[str, frozenset[Fingerprint]]
"""The tools that a page and its iframes offer, by origin."""


def pin_tools(options: LaunchOptions | AttachOptions, pages: PageSettings, url: str, path: Path, *, ask: bool) -> None:
    """Approve the tools of the page at `url` in a file of pins, one origin after the other.

    Args:
        ask: a person says yes or no to each origin in which something has changed.

    Raises:
        UsageError: the file can't be read or written, or the page offers no tools.
    """
    where = address(url, allow_file=pages.allow_file)
    _read_if_there(path)  # before a browser starts
    for origin, tools in run_bridge(partial(_find_tools, options, pages, where)).items():
        before = _read_if_there(path).get(origin)
        if before is not None and tools <= before:
            click.echo(f"{_visible(origin)}: nothing has changed, {_count(len(tools), 'tool')} approved already.")
            continue
        click.echo("\n".join(describe(origin, before or frozenset(), tools)))
        if ask and not click.confirm("Approve?"):
            click.echo("Left as it was.")
            continue
        # Another one may have written meanwhile.
        pins = _read_if_there(path)
        write_pins(path, {**pins, origin: approve(pins.get(origin, ()), tools)})
        click.echo(f"Approved in {path}.")


def describe(origin: str, before: Iterable[Fingerprint], tools: Iterable[Fingerprint]) -> Iterator[str]:
    """What would be approved of an origin, for a person to read: line by line, and nothing that a terminal obeys."""
    before, tools = frozenset(before), frozenset(tools)
    old = {name: sorted(one for one in before if one[0] == name) for name, *_ in before}
    fresh = sorted(tools - before)
    changed = sum(one[0] in old for one in fresh)
    absent = len(old.keys() - {one[0] for one in tools})
    counts = [f"{len(fresh) - changed} new", f"{changed} changed", f"{len(tools & before)} as approved"]
    rest = f"; {absent} not on this page stay approved" if absent else ""
    yield f"{_visible(origin)}: {', '.join(counts)}{rest}"
    for tool in fresh:
        known = old.get(tool[0], [])
        yield f"\n{'changed' if known else 'new'}: {_quoted(tool[0])}"
        for part, was, now in zip(PARTS[1:], (known or [_PLAIN])[0][1:], tool[1:], strict=True):
            if was != now:
                yield f"  {part}"
                yield from (f"    {line}" for line in _difference(_lines(part, was), _lines(part, now)))
    yield ""


def _difference(was: Sequence[str], now: Sequence[str]) -> Iterator[str]:
    """The lines that went, with `-`, and those that came, with `+`."""
    if max(len(was), len(now)) > limits.PIN_DIFFERENCE_LINES:
        # To find out which lines are alike takes as long as a page wants it to.
        yield from (f"-{line}" for line in was)
        yield from (f"+{line}" for line in now)
        return
    yield from (line for line in list(unified_diff(was, now, n=0, lineterm=""))[2:] if not line.startswith("@@"))


def _lines(part: str, text: str) -> list[str]:
    if part in ("schema", "annotations"):
        with suppress(ValueError):  # an integer that is too long for Python
            text = json.dumps(json.loads(text), ensure_ascii=False, indent=2) if text else ""
    return [_visible(line) for line in text.split("\n")] if text else []


def _quoted(text: str) -> str:
    return _visible(json.dumps(text, ensure_ascii=False))


def _visible(text: str) -> str:
    """With nothing in it that a person would not see, or a terminal would obey."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in printable(text))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _read_if_there(path: Path) -> Pins:
    return read_pins(path) if path.exists() or path.is_symlink() else {}


async def _find_tools(
    options: LaunchOptions | AttachOptions, pages: PageSettings, url: str, scope: trio.CancelScope
) -> Offered | None:
    async with open_bridge(options, settings=pages) as bridge:
        with scope:
            async with open_page(bridge, url) as (_, tools):
                offered: dict[str, set[Fingerprint]] = {}
                for tool in tools:
                    offered.setdefault(tool.origin, set()).add(tool.fingerprint)
                if not offered:
                    why = " ".join(tools.problems)
                    raise UsageError(f"The page at {url} offers no tools to approve. {why}".rstrip())
                return {origin: frozenset(found) for origin, found in offered.items()}
    return None
