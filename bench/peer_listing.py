"""Which tools chrome-devtools-mcp and pagebridge list on the same pages. Writes docs/peer.md.

Run as `make peer`, which installs the peer's pinned version into a folder of its own.
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import trio

from bench.listing_pages import Sample, make_samples
from bench.mcp_server import Server, open_server
from bridge.browser.executable import find_browser
from bridge.calls.frame import unframe
from tests.sites import Site, serve_site

ROOT = Path(__file__).parents[1]
PEER = ROOT / "bench/node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"
REPORT = ROOT / "docs/peer.md"
PAUSE_SECONDS = 2.0
"""Between the two looks at a page; longer than any page here takes."""

Names = tuple[str, ...]


class Bridge(Protocol):
    """What both servers can do, each in its own words."""

    server: Server

    async def open(self, url: str) -> str: ...
    async def list_tools(self, page: str) -> Names: ...
    async def count_known(self, page: str) -> int: ...
    async def call(self, page: str, tool: str) -> str: ...


@dataclass
class Peer:
    server: Server

    async def open(self, url: str) -> str:
        told = await self.server.call("new_page", url=url)
        [page] = re.findall(r"^(\d+): .*\[selected\]$", told, re.MULTILINE)
        return page

    async def list_tools(self, page: str) -> Names:
        told = await self.server.call("list_3p_developer_tools", pageId=int(page))
        return tuple(re.findall(r'^name="([^"]*)", description=', told, re.MULTILINE))

    async def count_known(self, page: str) -> int:
        return 0  # it tells of tools only when it is asked for them

    async def call(self, page: str, tool: str) -> str:
        return await self.server.call("execute_3p_developer_tool", pageId=int(page), toolName=tool, params="{}")


@dataclass
class Pagebridge:
    server: Server

    async def open(self, url: str) -> str:
        return json.loads(await self.server.call("open_page", url=url))["page"]

    async def list_tools(self, page: str) -> Names:
        [listing] = json.loads(await self.server.call("list_page_tools", page=page))["pages"]
        return tuple(tool["name"] for group in listing["groups"] for tool in group["tools"])

    async def count_known(self, page: str) -> int:
        pages = json.loads(await self.server.call("list_pages"))["pages"]
        return next(one["tools"] for one in pages if one["page"] == page)

    async def call(self, page: str, tool: str) -> str:
        return unframe(await self.server.call("call_page_tool", page=page, tool=tool))


@asynccontextmanager
async def open_peer(browser: Path) -> AsyncGenerator[Peer]:
    words = [
        "node",
        str(PEER),
        "--categoryExperimentalThirdParty",
        "--headless",
        "--isolated",
        f"--executablePath={browser}",
        "--no-usage-statistics",
        "--no-performance-crux",
        *(["--chromeArg=--no-sandbox"] if is_root() else []),
    ]
    async with open_server(words, {"CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS": "1"}) as server:
        yield Peer(server)


@asynccontextmanager
async def open_pagebridge(browser: Path) -> AsyncGenerator[Pagebridge]:
    words = [sys.executable, "-m", "bridge", "serve", f"--browser={browser}", "--frames=all"]
    async with open_server([*words, *(["--no-sandbox"] if is_root() else [])]) as server:
        yield Pagebridge(server)


def is_root() -> bool:
    """Chromium refuses to run as root with its sandbox."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


@dataclass(frozen=True)
class Look:
    """What one bridge listed of a page: right after it was opened, and a little later.

    Attributes:
        known: how many tools it knew of, before it was asked for the second time.
    """

    first: Names
    known: int
    then: Names


async def look(bridge: Bridge, site: Site, sample: Sample) -> Look:
    page = await bridge.open(site.origin + sample.path)
    first = await bridge.list_tools(page)
    if sample.act is not None:
        await bridge.call(page, sample.act)
    await trio.sleep(PAUSE_SECONDS)
    return Look(first, await bridge.count_known(page), await bridge.list_tools(page))


async def compare(site: Site) -> str:
    """Look at every page with both, and write the report."""
    samples = make_samples(site)
    browser = find_browser()
    async with open_peer(browser) as peer, open_pagebridge(browser) as ours:
        rows = [(sample, await look(peer, site, sample), await look(ours, site, sample)) for sample in samples]
        reached = await reach_twins(peer, ours, site.origin + "/twins")
        versions = f"chrome-devtools-mcp {peer.server.version}, pagebridge {ours.server.version}"
    failures = [fault for row in rows for fault in faults(*row)]
    if failures:
        raise SystemExit("\n".join(failures))
    return report(rows, f"{versions}, {browser_version(browser)}", reached)


async def reach_twins(peer: Peer, ours: Pagebridge, url: str) -> str:
    """What calls of two tools with one name give."""
    page = await peer.open(url)
    await peer.list_tools(page)
    peers = await peer.call(page, "same")
    page = await ours.open(url)
    await ours.list_tools(page)
    own = [await ours.call(page, tool) for tool in ("#0.0", "#1.0")]
    return f"chrome-devtools-mcp calls `{peers}`, pagebridge {' and '.join(f'`{one}`' for one in own)} by their ids"


def faults(sample: Sample, peer: Look, ours: Look) -> list[str]:
    """Where pagebridge lists less than is there, or than the peer lists."""
    found: list[str] = []
    for when, other, own in (("at once", peer.first, ours.first), ("later", peer.then, ours.then)):
        if missing := Counter(other) - Counter(own):
            found.append(f"A page that {sample.what}: pagebridge does not list {list(missing)} {when}, the peer does.")
    if Counter(ours.then) != Counter(sample.last):
        found.append(f"A page that {sample.what}: pagebridge lists {ours.then} later, and there are {sample.last}.")
    if ours.known < len(sample.last):
        found.append(f"A page that {sample.what}: pagebridge knows {ours.known} tools, and there are {sample.last}.")
    return found


def report(rows: list[tuple[Sample, Look, Look]], versions: str, reached: str) -> str:
    lines = [
        f"| {sample.what} | {there(sample)} | {seen(peer.first)} | {seen(peer.then)} "
        f"| {seen(ours.first)} | {seen(ours.then)} |"
        for sample, peer, ours in rows
    ]
    total = sum(len(sample.last) for sample, _, _ in rows)
    peers = sum(len(peer.then) for _, peer, _ in rows)
    return TEMPLATE.format(
        versions=versions,
        date=datetime.now(UTC).date(),
        pause=f"{PAUSE_SECONDS:g} s",
        rows="\n".join(lines),
        total=total,
        pages=len(rows),
        peers=peers,
        ours=sum(len(ours.then) for _, _, ours in rows),
        known=sum(ours.known for _, _, ours in rows),
        reached=reached,
    )


def there(sample: Sample) -> str:
    return seen(sample.first) if sample.then is None else f"{seen(sample.first)}; then {seen(sample.then)}"


def seen(names: Names) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def browser_version(browser: Path) -> str:
    told = subprocess.run([browser, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.match(r"[A-Za-z ]+[\d.]+", told)
    return told.strip() if found is None else found[0]


TEMPLATE = """# The same pages, two bridges

Which tools an agent is shown: [chrome-devtools-mcp](https://github.com/ChromeDevTools/chrome-devtools-mcp), which
introduced the `devtoolstooldiscovery` event, and pagebridge. `make peer` made this page from a real run; it fails where
pagebridge lists less than is there.

Both were started headless over stdio, and both were asked for the tools of each page twice: right after they had opened
it, and {pause} later. chrome-devtools-mcp ran with `--categoryExperimentalThirdParty`, pagebridge with `--frames=all`.
Run on {date} with {versions}.

| A page that … | tools there | chrome-devtools-mcp, at once | {pause} later | pagebridge, at once | {pause} later |
|---|---|---|---|---|---|
{rows}

In the end chrome-devtools-mcp listed {peers} of {total} tools on {pages} pages, pagebridge {ours}. pagebridge's
`list_pages` counted {known} before the second question, the late ones among them; the other tells of tools only when it
is asked for them. Of the two tools with the same name, {reached}.
"""


async def main() -> None:
    with serve_site() as site:
        REPORT.write_text(await compare(site), encoding="utf-8")
    print(f"Wrote {REPORT.relative_to(ROOT)}.")


if __name__ == "__main__":
    trio.run(main)
