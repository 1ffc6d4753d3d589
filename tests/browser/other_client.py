"""A second debugging client: what it does, the bridge hears of only through Chromium."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bridge.browser.browser import open_browser
from bridge.settings import AttachOptions
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
        yield OtherClient(browser.connection)
