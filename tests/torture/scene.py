"""Where a cell is played: a browser, a way to it, a page that the fault hits, and one that it must not harm."""

import os
import shlex
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

import trio

from bridge.browser.executable import find_browser
from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.bridge import Bridge, open_bridge
from bridge.errors import BridgeError, CommandFailed
from bridge.page.lifecycle import Stage
from bridge.page.pages import Pages
from bridge.page.session import Page
from bridge.settings import AttachOptions, LaunchOptions, PageSettings
from tests.browser.asking import list_tools, open_page, plain, run_script
from tests.browser.other_client import OtherClient, open_other_client
from tests.browsers import RunningBrowser, is_told_by, run_chromium
from tests.sites import Site, offering, tool
from tests.torture.ledger import LEDGER, command_of, descendants
from tests.torture.proxy import Proxy, open_proxy

Link = Literal["shared", "proxy", "port", "folder", "pipe", "relay", "own"]
"""How the bridge comes to its browser: to one that runs for all cells, directly or through a proxy; to one that can be
started again, by its port or by its profile folder; to one of its own, by a pipe, directly or through a relay, or
beside another client that comes by a port."""

OWN: Final = frozenset[Link]({"pipe", "relay", "own"})

STALL_SECONDS: Final = 0.5
"""What a call gets in a page that answers nothing."""

CLOSE_SECONDS = 5
FLAGS = ("--site-per-process",)
DISCARDS_ALLOWED = '{"internal_only_uis_enabled": true}'
"""For chrome://discards, in the file Local State of a profile."""

_numbers = count(1)

_SCRIPT = """
let finish = () => {};
let holding = false;
const let_go = () => { holding = false; finish() };
const until = answer => new Promise(done => { finish = () => done(answer) });
addEventListener('devtoolstooldiscovery', event => {
  const answer = {name: 'Victim', description: '', tools: [work]};
  if (!holding) return event.respondWith(answer);
  event.respondWith(until(answer));
  fetch('/discovering');
});
addEventListener('pageshow', event => {
  if (event.persisted) let_go();
  fetch(event.persisted ? '/restored' : '/shown');
});
const work = {name: 'work', description: '', inputSchema: {type: 'object', properties: {wait: {type: 'boolean'}}},
  execute: async ({wait}, context) => {
    context?.signal?.addEventListener('abort', () => { fetch('/aborted') });
    if (!wait) { await fetch('/ran'); return 'worked' }
    fetch('/ran');
    return until('worked');
  }};
"""
"""A tool that ends at once, or waits until `let_go()`; a listener that does so once `holding` is true."""

VICTIM = f"<script>{_SCRIPT}</script>"


class Restartable:
    """A browser with a profile of its own that a cell may end and start again."""

    def __init__(self, profile: Path) -> None:
        self._profile = profile
        self._stack = ExitStack()
        self._running: RunningBrowser | None = None

    def running(self) -> RunningBrowser:
        """The browser, started where it has ended."""
        if self._running is None:
            self.start()
        assert self._running is not None
        return self._running

    def start(self, *, port: int = 0) -> None:
        flags = (*FLAGS, f"--remote-debugging-port={port}") if port else FLAGS
        self._running = self._stack.enter_context(run_chromium("about:blank", *flags, profile=self._profile))

    def kill(self) -> None:
        self._running = None
        self._stack.close()


@dataclass
class Browsers:
    """Those that live longer than a cell."""

    shared: RunningBrowser
    restartable: dict[Link, Restartable]


@dataclass
class Scene:
    """One cell's.

    Attributes:
        url: of the victim, which no other page has.
        renderer: the process that shows the victim, where it was looked for.
    """

    site: Site
    healthy_site: Site
    browsers: Browsers
    link: Link
    folder: Path
    proxy: Proxy | None = None
    beside: OtherClient | None = None
    in_process: Bridge | None = None
    number: int = field(default_factory=lambda: next(_numbers))
    victim: str = ""
    healthy: str = ""
    toolset: str = ""
    target_id: str = ""
    renderer: int | None = None

    @property
    def has_bridge(self) -> bool:
        """It is in this process, where the test can ask it what it knows."""
        return self.in_process is not None

    @property
    def bridge(self) -> Bridge:
        assert self.in_process is not None
        return self.in_process

    @cached_property
    def agent(self) -> Agent:
        return Agent(self.bridge)

    @property
    def url(self) -> str:
        return f"{self.site.origin}/victim{self.number}"

    async def pages(self) -> Pages:
        """Those of the browser, waited for where it has to come back first."""
        while True:
            changed = self.bridge._changed
            try:
                return await self.bridge.wait_pages()
            except BridgeError:
                await changed.wait()

    async def page(self) -> Page:
        return (await self.pages()).find(self.victim)

    @property
    def other(self) -> OtherClient:
        """Another client of the same browser."""
        assert self.beside is not None
        return self.beside

    def browser_pid(self) -> int:
        """The main process of the browser that the bridge speaks with."""
        match self.link:
            case "shared" | "proxy":
                return self.browsers.shared.process.pid
            case "port" | "folder":
                return self.browsers.restartable[self.link].running().process.pid
            case "pipe" | "relay" | "own":
                [pid] = self._launched()
                return pid

    @property
    def is_browser_over(self) -> bool:
        """Whether the browser that the bridge launched is gone."""
        return self.link in OWN and not self._launched()

    def _launched(self) -> list[int]:
        return [
            pid
            for pid in descendants(os.getpid())
            if "--remote-debugging-pipe" in (words := command_of(pid).split())
            and not any(word.startswith("--type=") for word in words)
            and not any("relay" in word for word in words)
        ]

    async def run_in_victim(self, script: str) -> None:
        """In the document that has the tool."""
        if self.beside is None:
            await run_script(await self.page(), script)
            return
        frames = await self.other.find_targets(f"{self.site.elsewhere().origin}/framed{self.number}", "iframe")
        await self.other.run_script(frames[0] if frames else self.target_id, script)

    async def open_victim(self, html: str) -> None:
        url = self.site.page(f"/victim{self.number}", html)
        self.victim = await open_page(self.agent, url)
        self.toolset = (await list_tools(self.agent, self.victim))["toolset"]
        self.target_id = (await self.page()).target_id

    async def open_healthy(self) -> None:
        url = self.healthy_site.page("/healthy", offering(tool("ping", "() => 'pong'"), group="Healthy"))
        self.healthy = await open_page(self.agent, url)
        await list_tools(self.agent, self.healthy)
        pages = await self.pages()
        connection = pages._browser.connection
        documents = sum(len(page._documents) for page in pages if page.url.startswith("http"))
        while sum(pending._method == "Runtime.evaluate" for pending in connection._pending.values()) < documents:
            # Each is watched, from a moment after its first answer.
            await trio.lowlevel.checkpoint()

    async def find_healthy(self) -> None:
        """Know the healthy page by its present handle; where it went with its browser, there is another."""
        pages = await self.pages()
        url = f"{self.healthy_site.origin}/healthy"
        for page in pages:
            if page.url == url:
                self.healthy = page.handle
                return
        await self.open_healthy()

    def processes(self) -> set[int]:
        """All that the bridge has started."""
        if self.link not in OWN:
            return set()
        browser = self.browser_pid()
        above = {pid for pid in descendants(os.getpid()) if browser in descendants(pid)}
        return {browser} | descendants(browser) | above

    async def close_victim(self) -> None:
        """Whatever became of it."""
        closed = await self.close_leftovers()
        for page in await self.pages():
            while page.target_id in closed and page.stage is not Stage.GONE:
                await page.wait_step(page.step)

    async def close_leftovers(self) -> list[str]:
        """Close all but the healthy page in a browser that lives longer than the cell; return their target ids."""
        if self.link in ("pipe", "relay"):
            return []
        async with open_other_client(self.address()) as other:
            closed = await self._leftover(other)
            for target_id in closed:
                with suppress(CommandFailed):  # it is closing already
                    await other.run("Target.closeTarget", targetId=target_id)
        return closed

    def address(self) -> str:
        if self.link == "own":
            return str(self.folder / "profile")
        if self.link in ("port", "folder"):
            return self.browsers.restartable[self.link].running().websocket
        return self.browsers.shared.websocket

    async def _leftover(self, other: OtherClient) -> list[str]:
        infos = (await other.run("Target.getTargets", filter=[{"type": "page"}]))["targetInfos"]
        return [
            info["targetId"]
            for info in infos
            if info["url"] not in ("about:blank", f"{self.healthy_site.origin}/healthy")
        ]

    async def call(self, arguments: dict[str, Any] | None = None, **words: Any) -> Answer:
        """Call the victim's tool; counted."""
        LEDGER.calls += 1
        words.setdefault("timeout_seconds", 20)
        answer = plain(await self.agent.call_page_tool(self.victim, "work", arguments or {}, **words))
        LEDGER.answers += 1
        return answer

    async def list(self) -> Answer:
        LEDGER.calls += 1
        answer = await self.agent.list_page_tools(self.victim, None, None)
        LEDGER.answers += 1
        return answer

    async def ping(self) -> str:
        LEDGER.calls += 1
        answer = plain(await self.agent.call_page_tool(self.healthy, "ping", {}))
        LEDGER.answers += 1
        return answer.text


async def launch_options(link: Link, folder: Path) -> LaunchOptions:
    """Options for a browser of the bridge's own, in this empty folder."""
    if link == "own":
        profile = folder / "profile"
        profile.mkdir()
        (profile / "Local State").write_text(DISCARDS_ALLOWED)
        return LaunchOptions(profile=profile, no_sandbox=True, extra_args=(*FLAGS, "--remote-debugging-port=0"))
    if link == "pipe":
        return LaunchOptions(no_sandbox=True, extra_args=FLAGS)
    script = trio.Path(folder / "browser")
    relay = Path(__file__).with_name("relay.py")
    words = shlex.join([sys.executable, "-S", str(relay), str(find_browser())])
    await script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    await script.chmod(0o755)
    return LaunchOptions(browser_path=Path(script), no_sandbox=True, extra_args=FLAGS)


@asynccontextmanager
async def open_way(
    link: Link, browsers: Browsers, sites: tuple[Site, Site], folder: Path
) -> AsyncGenerator[tuple[Scene, AttachOptions | LaunchOptions]]:
    """How a bridge is to come to its browser, and a scene without one."""
    scene = Scene(*sites, browsers, link, folder)
    async with AsyncExitStack() as stack:
        match link:
            case "shared":
                running = browsers.shared
                options = AttachOptions(where=running.websocket)
            case "proxy":
                running = browsers.shared
                scene.proxy, through = await stack.enter_async_context(open_proxy(running.websocket))
                options = AttachOptions(where=through)
            case "port" | "folder":
                running = await trio.to_thread.run_sync(browsers.restartable[link].running)
                options = AttachOptions(where=running.http if link == "port" else str(running.profile))
            case "pipe" | "relay" | "own":
                running = None
                options = await launch_options(link, folder)
        if running is not None:
            scene.beside = await stack.enter_async_context(open_other_client(running.websocket))
        yield scene, options


@asynccontextmanager
async def open_scene(
    link: Link, browsers: Browsers, sites: tuple[Site, Site], settings: PageSettings, folder: Path
) -> AsyncGenerator[Scene]:
    """A bridge on a browser, and a healthy page in it."""
    async with (
        open_way(link, browsers, sites, folder) as (scene, options),
        open_bridge(options, settings=settings) as scene.in_process,
    ):
        await scene.pages()
        async with AsyncExitStack() as stack:
            if link == "own":
                while not is_told_by(folder / "profile"):  # noqa: ASYNC110  # nothing tells of it
                    await trio.sleep(0.005)
                scene.beside = await stack.enter_async_context(open_other_client(scene.address()))
            try:
                await scene.open_healthy()
                yield scene
            finally:
                if link not in OWN:
                    with trio.CancelScope(shield=True), trio.move_on_after(CLOSE_SECONDS):
                        await scene.close_leftovers()
                        await scene.agent.close_page(scene.healthy)
