"""Loopback web sites for tests. Two sites are two origins; each counts what it was asked."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import trio

PAGES = Path(__file__).parent / "pages"


@dataclass
class Site:
    """One origin. `origin` has no slash at its end."""

    origin: str
    bodies: dict[str, str] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter[str])
    changed: threading.Condition = field(default_factory=threading.Condition)
    gates: dict[str, threading.Event] = field(default_factory=dict)
    """A path with a gate is answered only once the gate is set."""

    def page(self, path: str, html: str, **headers: str) -> str:
        """Serve `html` at `path`, and return its URL."""
        self.bodies[path] = f"<!doctype html><meta charset=utf-8><title>{path}</title>{html}"
        self.headers[path] = {name.replace("_", "-"): value for name, value in headers.items()}
        self.statuses[path] = 200
        return self.origin + path

    def script(self, path: str, source: str) -> str:
        """Serve a script, and return its URL."""
        url = self.page(path, "", Content_Type="text/javascript")
        self.bodies[path] = source
        return url

    def answer(self, path: str, status: int, **headers: str) -> str:
        """Answer with a status that brings no page, and return the URL."""
        url = self.page(path, "", **headers)
        self.bodies[path] = ""
        self.statuses[path] = status
        return url

    async def wait_asked(self, path: str, times: int) -> None:
        """Return once `path` was asked for that often."""

        def wait() -> None:
            with self.changed:
                assert self.changed.wait_for(lambda: self.asked[path] >= times, 30), f"{path} was never asked for"

        await trio.to_thread.run_sync(wait)

    def elsewhere(self) -> "Site":
        """The same pages under another host name: another site to Chromium, and so another process."""
        return Site(
            self.origin.replace("127.0.0.1", "localhost"),
            self.bodies,
            self.headers,
            self.statuses,
            self.asked,
            self.changed,
            self.gates,
        )


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        with self.site.changed:
            self.site.asked[path] += 1
            self.site.changed.notify_all()
        gate = self.site.gates.get(path)
        if gate is not None:
            gate.wait(30)
        body = self.site.bodies.get(path)
        file = PAGES / path.lstrip("/")
        if body is None and path != "/" and file.is_file():
            body = file.read_text()
        payload = ("not here" if body is None else body).encode()
        self.send_response(404 if body is None else self.site.statuses.get(path, 200))
        self.send_header("Content-Length", str(len(payload)))
        kind = {"Content-Type": "text/html; charset=utf-8"}
        for name, value in (kind | self.site.headers.get(path, {})).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class names it so
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle of an answer is part of the tests."""


@contextmanager
def serve_site() -> Iterator[Site]:
    """One more origin on a free loopback port."""
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    site = handler.site = Site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def offering(*tools: str, group: str = "Test tools", before: str = "") -> str:
    """A page script that answers the discovery event with these tools, given as JavaScript object literals."""
    return f"""<script>{before}
window.addEventListener('devtoolstooldiscovery', event => event.respondWith({{
  name: {group!r}, description: 'For tests', tools: [{", ".join(tools)}] }}));
</script>"""


def tool(name: str, execute: str, schema: str = "{type: 'object'}", description: str = "A tool") -> str:
    """A tool as a JavaScript object literal."""
    return f"{{name: {name!r}, description: {description!r}, inputSchema: {schema}, execute: {execute}}}"
