"""The limit: a Chromium of its own with the same flags, asked in CDP by a client that does nothing else."""

import json
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from bench.channel import Channel
from bench.websocket import WebSocket
from bridge.browser.executable import find_browser
from bridge.browser.spawn import PIPE_TO_3_AND_4, arguments_of
from bridge.settings import LaunchOptions

CAPTURE = """(() => {
  const groups = [];
  const event = new CustomEvent('devtoolstooldiscovery');
  event.respondWith = (group) => { groups.push(group); };
  window.dispatchEvent(event);
  window.tools = groups.flatMap((group) => group.tools);
  return JSON.stringify(groups);
})()"""
"""Dispatches the event, keeps the tools, and tells of them as JSON."""


class Link(Protocol):
    """A `Channel` or a `WebSocket`."""

    def send(self, message: bytes) -> None: ...

    def receive(self) -> bytes: ...

    def exchange(self, messages: Sequence[bytes], count: int) -> list[bytes]: ...


class RawBrowser:
    """Commands to one browser, one after the other. Made by `open_raw`."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._last_id = 0
        self._events: list[dict[str, Any]] = []

    def run(self, method: str, session: str | None = None, **params: object) -> dict[str, Any]:
        command_id, message = self.encode(method, session, params)
        self._link.send(message)
        while (reply := json.loads(self._link.receive())).get("id") != command_id:
            self._events.append(reply)
        if "error" in reply:
            raise SystemExit(f"Chromium refused {method}: {reply['error']}")
        return reply["result"]

    def encode(self, method: str, session: str | None, params: dict[str, Any]) -> tuple[int, bytes]:
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        return self._last_id, json.dumps(message, separators=(",", ":")).encode()

    def run_at_once(self, messages: Sequence[bytes]) -> None:
        """Send commands without waiting in between, and read a reply to each."""
        replies = [json.loads(reply) for reply in self._link.exchange(messages, len(messages))]
        assert all("result" in reply for reply in replies), replies

    def wait_event(self, method: str, session: str) -> dict[str, Any]:
        """The first such event since it was asked for one last."""
        while True:
            for index, event in enumerate(self._events):
                if event.get("method") == method and event.get("sessionId") == session:
                    del self._events[: index + 1]
                    return event["params"]
            self._events.append(json.loads(self._link.receive()))

    def open_page(self, url: str) -> "RawPage":
        """A tab that has loaded `url` and whose tools are captured."""
        target = self.run("Target.createTarget", url="about:blank")["targetId"]
        session = self.run("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = RawPage(self, session)
        self.run("Page.enable", session)
        self.run("Runtime.enable", session)
        self.wait_event("Runtime.executionContextCreated", session)
        page.go(url)
        return page


class RawPage:
    """One tab.

    Attributes:
        realm: the `uniqueContextId` that everything is bound to.
    """

    def __init__(self, browser: RawBrowser, session: str) -> None:
        self.realm = ""
        self._browser = browser
        self._session = session

    def go(self, url: str) -> float:
        """Go somewhere, and ask for the tools there as soon as it has loaded.

        Returns:
            Milliseconds from the `load` event, as Chromium tells its time, until the tools were there.
        """
        self._browser.run("Page.navigate", self._session, url=url)
        self.realm = self._browser.wait_event("Runtime.executionContextCreated", self._session)["context"]["uniqueId"]
        loaded = self._browser.wait_event("Page.loadEventFired", self._session)["timestamp"]
        self.list_tools()
        return (time.monotonic() - loaded) * 1000

    def evaluate(self, expression: str) -> Any:  # noqa: ANN401  # JSON
        return self._browser.run("Runtime.evaluate", self._session, **self._params(expression))["result"]["value"]

    def encode_evaluate(self, expression: str) -> bytes:
        return self._browser.encode("Runtime.evaluate", self._session, self._params(expression))[1]

    def _params(self, expression: str) -> dict[str, Any]:
        return {
            "expression": expression,
            "uniqueContextId": self.realm,
            "returnByValue": True,
            "awaitPromise": True,
        }

    def list_tools(self) -> list[Any]:
        """Dispatch the event anew, and read what the tools say of themselves."""
        return json.loads(self.evaluate(CAPTURE))


def call_expression(tool: int, arguments: object) -> str:
    return f"tools[{tool}].execute({json.dumps(arguments)})"


@contextmanager
def open_raw(*, over_websocket: bool = False) -> Generator[RawBrowser]:
    """Start a browser as pagebridge does, for the length of the block."""
    options = LaunchOptions(no_sandbox=os.geteuid() == 0, debug_port=0 if over_websocket else None)
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [*PIPE_TO_3_AND_4, str(find_browser()), *arguments_of(options, Path(profile))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if over_websocket else subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            if over_websocket:
                url = _read_url(process)
                # So that Chromium never waits for somebody to read what it has to say.
                drain = subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL)
                with drain, WebSocket(url) as websocket:
                    yield RawBrowser(websocket)
                    os.killpg(process.pid, signal.SIGKILL)
            else:
                assert process.stdin is not None
                assert process.stdout is not None
                yield RawBrowser(Channel(process.stdin.fileno(), process.stdout.fileno(), end=b"\0"))
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for file in (process.stdin, process.stdout, process.stderr):
                if file is not None:
                    file.close()


def _read_url(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    return next(found[0].decode() for line in process.stderr if (found := re.search(rb"ws://\S+", line)))
