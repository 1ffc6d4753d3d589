"""The service that the skills of this project ask: heights of the tide, by the plainest of all models.

Run it with a certificate, or load it and use `serve_tides`. It needs nothing but Python.
"""

import argparse
import json
import math
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, urlsplit

LOOKS: Final = 2
"""How often somebody has to look at a table before it is made."""
DAYS: Final = 31
ROUND: Final = timedelta(hours=12, minutes=25)
"""From one high water to the next."""


class Harbour(NamedTuple):
    """Metres, and a moment of high water."""

    mean: float
    rise: float
    high: datetime


HARBOURS: Final = {
    "Brest": Harbour(4.1, 2.9, datetime(2026, 1, 1, 2, 40, tzinfo=UTC)),
    "Lisbon": Harbour(2.2, 1.4, datetime(2026, 1, 1, 1, 10, tzinfo=UTC)),
}


def height(place: str, at: datetime) -> float:
    """Metres above chart datum."""
    mean, rise, high = HARBOURS[place]
    return round(mean + rise * math.cos(2 * math.pi * ((at - high) / ROUND)), 2)


def find_harbour(text: str) -> str | None:
    """The harbour whose name is in a text."""
    return next((name for name in HARBOURS if name.lower() in text.lower()), None)


class Handler(BaseHTTPRequestHandler):
    """Look-ups with `GET`, and tables, which are jobs: `POST`, look, fetch, `DELETE`."""

    protocol_version = "HTTP/1.1"
    tides: "Tides"

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        given = dict(parse_qsl(address.query))
        match address.path.split("/"):
            case ["", "v1", "tide"]:
                self.tell_tide(given.get("place", ""), given.get("at"))
            case ["", "v1", "harbour"]:
                self.answer(200, {"harbour": find_harbour(urlsplit(given.get("address", "")).path)})
            case ["", "v1", "tables", job] if job in self.tides.jobs:
                self.tides.looks[job] += 1
                self.answer(200, {"status": "done" if self.tides.looks[job] >= LOOKS else "working"})
            case ["", "v1", "tables", job, "file"] if self.tides.looks.get(job, 0) >= LOOKS:
                self.answer(200, self.tides.jobs[job], content_type="text/csv")
            case _:
                self.refuse()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
        self.tides.asked.append(f"POST {self.path} {body}")
        try:
            given = json.loads(body)
            place, days = find_harbour(given["place"]), given["days"]
            start = datetime.fromisoformat(given["from"]).replace(tzinfo=UTC)
        except (ValueError, LookupError, TypeError):
            self.answer(400, {"error": "order a table with `place`, `days`, and `from`, such as 2026-05-01"})
            return
        if self.path != "/v1/tables" or place is None or not 0 < days <= DAYS:
            self.refuse()
            return
        job = f"table-{next(self.tides.numbers)}"
        hours = [start + timedelta(hours=hour) for hour in range(24 * days)]
        lines = [f"{hour:%Y-%m-%dT%H:%MZ},{height(place, hour)}" for hour in hours]
        self.tides.jobs[job], self.tides.looks[job] = "\n".join(["time,metres", *lines, ""]), 0
        self.answer(201, {"job_id": job})

    def do_DELETE(self) -> None:
        if self.tides.jobs.pop(self.path.rpartition("/")[2], None) is None:
            self.refuse()
        else:
            self.answer(200, {})

    def tell_tide(self, place: str, at: str | None) -> None:
        harbour = find_harbour(place)
        try:
            when = datetime.fromisoformat(at) if at else datetime.now(UTC)
        except ValueError:
            self.answer(400, {"error": "`at` is no moment, such as 2026-05-01T12:00"})
            return
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        if harbour is None:
            self.refuse()
            return
        metres, later = height(harbour, when), height(harbour, when + timedelta(minutes=10))
        self.answer(200, {"place": harbour, "at": when.isoformat(), "metres": metres, "rising": later > metres})

    def refuse(self) -> None:
        self.answer(404, {"error": "there is no such thing here", "harbours": [*HARBOURS]})

    def answer(self, status: int, value: object, *, content_type: str = "application/json") -> None:
        if self.command != "POST":
            self.tides.asked.append(f"{self.command} {self.path}")
        body = (value if isinstance(value, str) else json.dumps(value)).encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it so
        pass


class Tides(ThreadingHTTPServer):
    """It listens on this machine alone.

    Attributes:
        asked: methods, paths, queries and bodies, so far.
        jobs: tables that were ordered.
        looks: how often somebody has looked at each.
    """

    def __init__(self, port: int, certificate: ssl.SSLContext) -> None:
        self.asked: list[str] = []
        self.jobs: dict[str, str] = {}
        self.looks: dict[str, int] = {}
        self.numbers = count(1)
        super().__init__(("127.0.0.1", port), type("TidesHandler", (Handler,), {"tides": self}))
        # Each connection shakes hands in its own thread: one that does not must not stop all others.
        self.socket = certificate.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    @property
    def origin(self) -> str:
        return f"https://localhost:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  # as the base class has it
        # A client that leaves, or that does not believe the certificate, is no error of ours.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


@contextmanager
def serve_tides(certificate: ssl.SSLContext, port: int = 0) -> Iterator[Tides]:
    """Serve while the context lasts.

    Args:
        port: 0 lets the system choose a free one.
    Raises:
        OSError: the port is taken.
    """
    with Tides(port, certificate) as tides:
        thread = threading.Thread(target=tides.serve_forever, args=(0.05,), name="tides")
        thread.start()
        try:
            yield tides
        finally:
            tides.shutdown()
            thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve heights of the tide until Ctrl-C.")
    parser.add_argument("certificate", help="its file, in PEM")
    parser.add_argument("key", help="its private key's file, in PEM")
    parser.add_argument("--port", type=int, default=8443, help="port to listen on (default: 8443)")
    words = parser.parse_args()
    certificate = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.load_cert_chain(words.certificate, words.key)
    with suppress(KeyboardInterrupt), serve_tides(certificate, words.port) as tides:
        print(tides.origin, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
