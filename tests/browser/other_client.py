"""A second debugging client: what it does, the bridge hears of only through Chromium."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import trio

from bridge.browser.browser import open_browser
from bridge.settings import AttachOptions
from bridge.wire.commands import Event, FrameNavigated, page
from bridge.wire.connection import Connection
from bridge.wire.router import Json, SessionId


@dataclass(frozen=True)
class OtherClient:
    connection: Connection

    async def run(self, method: str, session_id: SessionId | None = None, **params: Any) -> Json:
        """Send one command, and return its result as it came."""

        def command():
            return (yield {"method": method, "params": params})

        return await self.connection.run(command(), session_id)

    async def open_tab(self, url: str) -> str:
        """Return its target id."""
        return (await self.run("Target.createTarget", url=url))["targetId"]

    async def open_loaded(self, url: str) -> str:
        """As `open_tab`, once the page has loaded."""
        target_id = await self.open_tab("about:blank")
        await self.load(target_id, url)
        return target_id

    async def load(self, target_id: str, url: str, method: str = "Page.navigate", **params: Any) -> None:
        """Bring a tab to `url`, by that method, and wait until the page has loaded."""
        session_id = await self.attach(target_id)
        steps = {"navigated": trio.Event(), "loaded": trio.Event()}

        def note(event: Event) -> None:
            match event:
                case FrameNavigated(url=there, is_main=True) if there == url:
                    steps["navigated"].set()
                case page.FrameStoppedLoading() if steps["navigated"].is_set():
                    steps["loaded"].set()
                case _:
                    pass

        self.connection.listen(session_id, note)
        await self.run("Page.enable", session_id)
        await self.run(method, session_id, **(params or {"url": url}))
        await steps["loaded"].wait()
        await self.run("Target.detachFromTarget", sessionId=session_id)

    async def reload(self, target_id: str, url: str) -> None:
        """Load the page at `url` anew, and wait until it has loaded."""
        await self.load(target_id, url, "Page.reload", ignoreCache=False)

    async def attach(self, target_id: str) -> SessionId:
        return SessionId((await self.run("Target.attachToTarget", targetId=target_id, flatten=True))["sessionId"])

    async def run_script(self, target_id: str, expression: str) -> object:
        """Attach, evaluate, detach."""
        session_id = await self.attach(target_id)
        answer = await self.run(
            "Runtime.evaluate", session_id, expression=expression, returnByValue=True, awaitPromise=True
        )
        await self.run("Target.detachFromTarget", sessionId=session_id)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def find_targets(self, url: str, kind: str = "page") -> list[str]:
        """The ids of all targets of that type at that address."""
        infos = (await self.run("Target.getTargets", filter=[{"type": kind}]))["targetInfos"]
        return [info["targetId"] for info in infos if info["url"] == url]


@asynccontextmanager
async def open_other_client(address: str) -> AsyncGenerator[OtherClient]:
    async with open_browser(AttachOptions(where=address)) as browser:
        browser.connection.hears_all = True
        yield OtherClient(browser.connection)
