"""What can happen to a browser, a page or the way to them, and what is true of calls then.

Each fault is made to happen and returns when it has, seen from outside of the bridge.
"""

import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import trio

from bridge.page.document import Document
from bridge.settings import FramePolicy
from bridge.wire.commands import target
from tests.browser.asking import run_script
from tests.torture.ledger import command_of, descendants, is_running
from tests.torture.scene import VICTIM, Link, Scene

Fate = tuple[str, str, bool]
"""Code, outcome, and whether anything may have run."""

Strike = Callable[[Scene], Awaitable[None]]

COMPLETED: Final = ("", "completed", True)


def rejected(code: str) -> Fate:
    return (code, "rejected", False)


def unknown(code: str) -> Fate:
    return (code, "unknown", True)


@dataclass(frozen=True, kw_only=True)
class Fates:
    """The fate of a call, by where it was.

    Attributes:
        idle: of one that comes after the fault.
        discovering: of one that waits for the page to say which tools it has.
        listing: of a listing that does.
        validating: of one whose arguments were checked, and that was not sent yet.
        calling: of one that runs.
        stale: of one with a toolset of before, once all is well again.
    """

    idle: Fate
    discovering: Fate
    listing: Fate
    validating: Fate
    calling: Fate
    stale: Fate


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault.

    Attributes:
        mend: brings things back; where None, the browser or the bridge does so by itself, or nothing can.
        prepare: what the strike has to know beforehand.
        link_ends: the bridge loses the browser, and has it again at the next need.
        spares_others: another page works all the time.
        html: of the victim's page.
        comes_back: the victim's document is there again afterwards, after another one.
    """

    name: str
    link: Link
    strike: Strike
    fates: Fates
    mend: Strike | None = None
    prepare: Strike | None = None
    link_ends: bool = False
    spares_others: bool = True
    frames: FramePolicy = "none"
    html: Callable[[Scene], str] = lambda _: VICTIM
    comes_back: bool = False

    @property
    def is_stall(self) -> bool:
        return self.fates.calling[0] == "timed_out"

    @property
    def takes_step(self) -> bool:
        """The victim's page itself is not afterwards what it was."""
        return self.frames == "none" and self.fates.calling != COMPLETED and not self.is_stall


# The browser


async def kill_browser(scene: Scene) -> None:
    os.kill(scene.browser_pid(), signal.SIGKILL)


async def end_pipe(scene: Scene) -> None:
    """The browser itself lives on, so it is for the bridge to end it."""
    [relay] = [
        pid for pid in descendants(os.getpid()) if any(word.endswith("relay.py") for word in command_of(pid).split())
    ]
    browser = scene.browser_pid()
    os.kill(relay, signal.SIGUSR1)
    assert is_running(browser)


async def reset_websocket(scene: Scene) -> None:
    assert scene.proxy is not None
    scene.proxy.reset()


async def silence(scene: Scene) -> None:
    """Whatever is sent is lost, and nobody is told: what is left of a link when a laptop has slept."""
    assert scene.proxy is not None
    scene.proxy.is_silent = True


async def break_off(scene: Scene) -> None:
    """Somebody notices at last."""
    assert scene.proxy is not None
    lost = (await scene.pages())._browser.connection.wait_lost if scene.has_bridge else trio.lowlevel.checkpoint
    scene.proxy.is_silent = False
    scene.proxy.reset()
    await lost()


async def restart_on_same_port(scene: Scene) -> None:
    browser = scene.browsers.restartable[scene.link]
    port = int(browser.running().http.rpartition(":")[2])
    await trio.to_thread.run_sync(browser.kill)
    await trio.to_thread.run_sync(lambda: browser.start(port=port))


async def restart_on_other_port(scene: Scene) -> None:
    browser = scene.browsers.restartable[scene.link]
    before = browser.running().http
    await trio.to_thread.run_sync(browser.kill)
    await trio.to_thread.run_sync(browser.start)
    assert browser.running().http != before


async def stop_browser(scene: Scene) -> None:
    os.kill(scene.browser_pid(), signal.SIGSTOP)


async def continue_browser(scene: Scene) -> None:
    os.kill(scene.browser_pid(), signal.SIGCONT)
    await wait_answering(scene)


async def wait_answering(scene: Scene) -> None:
    """The page answers in the order of what it was asked, so all of that has been answered then."""
    if scene.has_bridge:
        await run_script(await scene.page(), "0")


# The page


async def find_renderer(scene: Scene) -> None:
    """Learn which process shows the victim: the one that works whenever the victim does.

    Others work as well while a browser starts, so it takes several rounds with the same winner.
    """
    script = "{ const end = performance.now() + 60; while (performance.now() < end); } 0"
    winners: list[int] = []
    while len(winners) < 4 or len(set(winners[-4:])) > 1:
        renderers = [pid for pid in descendants(scene.browser_pid()) if "--type=renderer" in command_of(pid)]
        before = {pid: _ticks(pid) for pid in renderers}
        await scene.other.run_script(scene.target_id, script)
        spent = sorted(((_ticks(pid) - before[pid], pid) for pid in renderers), reverse=True)
        if spent[0][0] >= 2 and all(ticks * 4 <= spent[0][0] for ticks, _ in spent[1:]):
            winners.append(spent[0][1])
    scene.renderer = winners[-1]


def _ticks(pid: int) -> int:
    """User time of a process that may have ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])
    except OSError:
        return 0


def signal_renderer(number: signal.Signals) -> Strike:
    async def strike(scene: Scene) -> None:
        assert scene.renderer is not None
        os.kill(scene.renderer, number)
        if number is signal.SIGCONT:
            await wait_answering(scene)

    return strike


async def crash(scene: Scene) -> None:
    other = scene.other
    session = await other.attach(scene.target_id)
    # It is never answered: its process is gone.
    other.connection.send_nowait(_command("Page.crash"), session)


def _command(method: str, **params: Any):
    yield {"method": method, "params": params}


async def reload(scene: Scene) -> None:
    await scene.agent.navigate_page(scene.victim, None, "reload")


async def close(scene: Scene) -> None:
    await scene.other.run("Target.closeTarget", targetId=scene.target_id)


async def navigate_to(scene: Scene, url: str) -> None:
    """As a person does: the bridge was not asked for it."""
    other = scene.other
    session = await other.attach(scene.target_id)
    await other.run("Page.navigate", session, url=url)
    await other.run("Target.detachFromTarget", sessionId=session)


def elsewhere(scene: Scene) -> str:
    """Another origin, and another process, with a tool of the same name."""
    return scene.healthy_site.page("/elsewhere", VICTIM)


async def leave(scene: Scene) -> None:
    asked = scene.healthy_site.asked["/shown"]
    await navigate_to(scene, elsewhere(scene))
    await scene.healthy_site.wait_asked("/shown", asked + 1)


async def reload_by_itself(scene: Scene) -> None:
    asked = scene.site.asked["/shown"]
    other = scene.other
    session = await other.attach(scene.target_id)
    await other.run("Page.reload", session)
    await scene.site.wait_asked("/shown", asked + 1)


async def leave_and_come_back(scene: Scene) -> None:
    """Into the back/forward cache, and out of it."""
    restored = scene.site.asked["/restored"]
    page = await scene.page() if scene.has_bridge else None
    url = page.url if page is not None else ""
    await leave(scene)
    if page is not None:
        # Long enough elsewhere that whoever waits for the page decides over that.
        await page.wait_changed(
            lambda: page.url == elsewhere(scene) and page.document is not None and page.document.asked
        )
    other = scene.other
    session = await other.attach(scene.target_id)
    history = await other.run("Page.getNavigationHistory", session)
    entry = history["entries"][history["currentIndex"] - 1]["id"]
    await other.run("Page.navigateToHistoryEntry", session, entryId=entry)
    await scene.site.wait_asked("/restored", restored + 1)
    if page is not None:
        # The page says so before Chromium does.
        await page.wait_changed(lambda: page.url == url and page.document is not None)


async def swap_frame(scene: Scene) -> None:
    """The iframe with the tool goes to its page's own process, and comes back to one of its own."""
    other, there = scene.other, scene.site.elsewhere().origin
    before = await frames_of(scene)
    scene.site.page("/local", "<script>fetch('/local-shown')</script>")
    local, shown = scene.site.asked["/local-shown"], scene.site.asked["/shown"]
    await other.run_script(scene.target_id, "frame = document.querySelector('iframe'); frame.src = '/local'; 0")
    await scene.site.wait_asked("/local-shown", local + 1)
    await other.run_script(scene.target_id, f"frame.src = '{there}/framed{scene.number}'; 0")
    await scene.site.wait_asked("/shown", shown + 1)
    if scene.has_bridge:
        # The bridge asks a frame when it has heard of it, and whoever asks for its page does not wait for that.
        page = await scene.page()
        await page.wait_changed(
            lambda: any(new.asked and new.realm.origin == there for new in {*page._documents.values()} - before)
        )


async def frames_of(scene: Scene) -> set[Document]:
    return {*(await scene.page())._documents.values()} if scene.has_bridge else set()


def framed(scene: Scene) -> str:
    url = scene.site.elsewhere().page(f"/framed{scene.number}", VICTIM)
    return f"<iframe src='{url}'></iframe>"


async def detach(scene: Scene) -> None:
    """What a client does that shares our link, behind a proxy that speaks CDP: it ends our session with the page."""
    connection = (await scene.pages())._browser.connection
    session = (await scene.page())._session.session_id
    await connection.run(target.detach_from_target(session_id=target.SessionID(session)))


async def debug_beside(scene: Scene) -> None:
    """DevTools opens on the page, pauses it, lets it go on, and is closed."""
    other = scene.other
    session = await other.attach(scene.target_id)
    for method in ("Page.enable", "Runtime.enable", "Debugger.enable", "Network.enable", "Debugger.pause"):
        await other.run(method, session)
    await other.run("Target.detachFromTarget", sessionId=session)


DISCARD: Final = """(async () => {
  const { DetailsProvider } = await import('chrome://discards/discards.mojom-webui.js');
  const details = DetailsProvider.getRemote();
  const { infos } = await details.getTabDiscardsInfo();
  await details.discardById(infos.find(info => info.tabUrl === '%s').id, 0);
})()"""
"""What the button of chrome://discards does."""


async def discard(scene: Scene) -> None:
    other = scene.other
    desk = await other.open_tab("chrome://discards/")
    await other.run_script(
        desk, "new Promise(done => { if (document.readyState === 'complete') done(); else onload = done })"
    )
    await other.run_script(desk, DISCARD % scene.url)
    await other.run("Target.closeTarget", targetId=desk)


GONE: Final = Fates(
    idle=rejected("page_gone"),
    discovering=rejected("browser_gone"),
    listing=rejected("browser_gone"),
    validating=rejected("browser_gone"),
    calling=unknown("browser_gone"),
    stale=rejected("page_gone"),
)
"""Where the browser, or the way to it, is lost. When it is back, its pages have new handles."""

CLOSED: Final = Fates(
    idle=rejected("page_gone"),
    discovering=rejected("page_gone"),
    listing=rejected("page_gone"),
    validating=rejected("page_gone"),
    calling=unknown("page_gone"),
    stale=rejected("page_gone"),
)

CRASHED: Final = Fates(
    idle=rejected("page_crashed"),
    discovering=rejected("page_crashed"),
    listing=rejected("page_crashed"),
    validating=rejected("page_crashed"),
    calling=unknown("page_crashed"),
    stale=rejected("tool_stale"),
)

STALLED: Final = Fates(
    idle=unknown("timed_out"),
    discovering=rejected("timed_out"),
    listing=rejected("timed_out"),
    validating=unknown("timed_out"),
    calling=unknown("timed_out"),
    stale=COMPLETED,
)
"""A stall is no end: afterwards the document is the one that it was."""

RENEWED: Final = Fates(
    idle=COMPLETED,
    discovering=COMPLETED,
    listing=COMPLETED,
    validating=COMPLETED,
    calling=unknown("navigated_during_call"),
    stale=rejected("tool_stale"),
)
"""The same tool is there again, in another document."""

LEFT: Final = Fates(
    idle=rejected("origin_changed"),
    discovering=rejected("origin_changed"),
    listing=COMPLETED,
    validating=rejected("origin_changed"),
    calling=unknown("navigated_during_call"),
    stale=rejected("tool_stale"),
)

UNTOUCHED: Final = Fates(
    idle=COMPLETED,
    discovering=COMPLETED,
    listing=COMPLETED,
    validating=COMPLETED,
    calling=COMPLETED,
    stale=COMPLETED,
)

# Between two documents of its frame the tool is not there, and a frame is not waited for as a page is.
SWAPPED: Final = replace(RENEWED, discovering=rejected("tool_stale"))

# It is decided over what the page shows in between.
RESTORED: Final = replace(RENEWED, discovering=rejected("origin_changed"))


def ending_link(name: str, link: Link, strike: Strike) -> Fault:
    return Fault(name=name, link=link, strike=strike, fates=GONE, link_ends=True, spares_others=False)


def on_page(
    name: str, strike: Strike, fates: Fates, *, mend: Strike | None = None, prepare: Strike | None = None
) -> Fault:
    return Fault(name=name, link="shared", strike=strike, fates=fates, mend=mend, prepare=prepare)


stop_renderer, continue_renderer, kill_renderer = map(signal_renderer, (signal.SIGSTOP, signal.SIGCONT, signal.SIGKILL))

_ALL: Final = (
    ending_link("browser killed", "pipe", kill_browser),
    ending_link("pipe end", "relay", end_pipe),
    ending_link("websocket reset", "proxy", reset_websocket),
    ending_link("restart, same port", "port", restart_on_same_port),
    ending_link("restart, other port", "folder", restart_on_other_port),
    Fault(
        name="link silent",
        link="proxy",
        strike=silence,
        mend=break_off,
        spares_others=False,
        fates=replace(STALLED, stale=rejected("page_gone")),
    ),
    Fault(
        name="browser stalled",
        link="shared",
        strike=stop_browser,
        mend=continue_browser,
        spares_others=False,
        fates=STALLED,
    ),
    on_page("renderer stalled", stop_renderer, STALLED, mend=continue_renderer, prepare=find_renderer),
    on_page("renderer crashed", crash, CRASHED, mend=reload),
    on_page("renderer killed", kill_renderer, CRASHED, mend=reload, prepare=find_renderer),
    on_page("tab closed", close, CLOSED),
    on_page("tab discarded", discard, CLOSED),
    on_page("session detached", detach, CLOSED),
    on_page("debugged beside us", debug_beside, UNTOUCHED),
    on_page("navigation", leave, LEFT),
    on_page("reload", reload_by_itself, RENEWED),
    Fault(name="back/forward cache", link="shared", strike=leave_and_come_back, fates=RESTORED, comes_back=True),
    Fault(name="frame swap", link="shared", strike=swap_frame, fates=SWAPPED, frames="all", html=framed),
)

FAULTS: Final = {fault.name: fault for fault in _ALL}
