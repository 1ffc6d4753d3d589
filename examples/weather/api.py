"""Plays the weather API that tools/weather.py asks, so that the example needs no account anywhere.

Run it, or load it and use `serve_api`. It needs nothing but Python.
"""

import argparse
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import parse_qs, urlsplit

KEY: Final = "sunny-side-up"
WEATHER: Final = {
    "brest": {"city": "Brest", "sky": "rain", "celsius": 11, "wind": 38, "station": 7110},
    "lisbon": {"city": "Lisbon", "sky": "clear", "celsius": 24, "wind": 12, "station": 8535},
}


class Handler(BaseHTTPRequestHandler):
    """Answers `GET /v1/weather?city=NAME` for who has the key."""

    api: "Api"

    def do_GET(self) -> None:
        self.api.asked.append(self.path)
        given = self.headers["Authorization"] or "none"
        city = parse_qs(urlsplit(self.path).query).get("city", [""])[0]
        if given != f"Bearer {KEY}":
            self.answer(401, {"error": f"{given.removeprefix('Bearer ')} is not a key of ours"})
        elif city.lower() not in WEATHER:
            self.answer(404, {"error": f"there is no station in {city}", "cities": [*WEATHER]})
        else:
            self.answer(200, WEATHER[city.lower()])

    def answer(self, status: int, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it so
        pass


class Api(ThreadingHTTPServer):
    """It listens on this machine alone.

    Attributes:
        asked: paths and queries, so far.
    """

    def __init__(self, port: int) -> None:
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", port), type("ApiHandler", (Handler,), {"api": self}))

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def serve_api(port: int = 0) -> Iterator[Api]:
    """Serve the API while the context lasts.

    Args:
        port: 0 lets the system choose a free one.
    Raises:
        OSError: the port is taken.
    """
    with Api(port) as api:
        thread = threading.Thread(target=api.serve_forever, args=(0.05,), name="weather API")
        thread.start()
        try:
            yield api
        finally:
            api.shutdown()
            thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description="Play the weather API until Ctrl-C.")
    parser.add_argument("--port", type=int, default=8040, help="port to listen on (default: 8040)")
    with suppress(KeyboardInterrupt), serve_api(parser.parse_args().port) as api:
        print(f"{api.address}, for who has the key {KEY}", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
