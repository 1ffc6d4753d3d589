"""A page with tools for `pagebridge doctor` to call."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final

SAMPLE: Final = b"""<!doctype html>
<title>pagebridge doctor</title>
<script>
addEventListener('devtoolstooldiscovery', event => event.respondWith({
  name: 'doctor',
  description: 'Shows that tools of a page can be called',
  tools: [{
    name: 'add',
    description: 'Add two numbers',
    inputSchema: {
      type: 'object',
      properties: {a: {type: 'number'}, b: {type: 'number'}},
      required: ['a', 'b'],
    },
    execute: ({a, b}) => a + b,
  }, {
    name: 'hasWebMcp',
    description: 'Tell whether this browser has WebMCP',
    inputSchema: {type: 'object'},
    execute: () => 'modelContext' in document,
  }],
}));
</script>
"""


@contextmanager
def serve_sample() -> Generator[str]:
    """Serve that page on the loopback interface; yields its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            # A browser that ends hangs up where it likes.
            with suppress(ConnectionError):
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(SAMPLE)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it so
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
