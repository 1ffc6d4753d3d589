"""The back end of a small tea shop: its page, a JSON API, and a read-only look into the orders database.

Run it, or load it and use `serve_shop`. It needs nothing but Python. One mistake is planted here on purpose;
README.md finds it with the tools that the page offers.
"""

import argparse
import json
import signal
import socket
import socketserver
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import parse_qs

HERE: Final = Path(__file__).resolve().parent
HOST: Final = "127.0.0.1"
BODY_BYTES: Final = 16_384
CART_LINES: Final = 20
LINE_QUANTITY: Final = 99
DEBUG_ROWS: Final = 50
DEBUG_ROWS_UNASKED: Final = 5

STATIC_FILES: Final = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/app.js": ("app.js", "text/javascript; charset=utf-8"),
    "/api.js": ("api.js", "text/javascript; charset=utf-8"),
    "/tools.js": ("tools.js", "text/javascript; charset=utf-8"),
    "/style.css": ("style.css", "text/css; charset=utf-8"),
}
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

FLAGS: Final = {
    "giftNote": {"enabled": False, "since": "2025-08-18"},
    "relatedProducts": {"enabled": True, "since": "2025-08-18"},
    "taxEngineV2": {"enabled": True, "since": "2025-09-01"},
}
CUSTOMER: Final = {"id": 3, "name": "Ines Duarte"}
SAVED_CART: Final = {
    "lines": [
        {"sku": "sencha", "quantity": 2},
        {"sku": "teapot", "quantity": 1},
        {"sku": "cups", "quantity": 2},
    ],
    "coupon": "LEAF15",
}

# A table's name picks a whole statement: nothing that a caller sends ever becomes SQL.
DEBUG_TABLES: Final = {
    "coupons": ("SELECT * FROM coupons ORDER BY code LIMIT ?", "SELECT count(*) FROM coupons"),
    "orders": ("SELECT * FROM orders ORDER BY id DESC LIMIT ?", "SELECT count(*) FROM orders"),
    "products": ("SELECT * FROM products ORDER BY rowid LIMIT ?", "SELECT count(*) FROM products"),
}


# As socketserver types them; the pair is what UDP has.
Request: TypeAlias = socket.socket | tuple[bytes, socket.socket]
Address: TypeAlias = tuple[str, int]


class Refused(Exception):
    """The request cannot be answered as it is; the message says what the client has to change."""

    def __init__(self, message: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(message)
        self.status = status


class Cart(NamedTuple):
    """What a client wants to buy. Its shape is sound; whether the shop sells that is not known yet."""

    quantities: list[tuple[str, int]]
    coupon: str | None


class Line(NamedTuple):
    """What one line of a cart costs before tax, and how it is taxed."""

    cents: int
    tax_percent: int


# --- prices ---------------------------------------------------------------------------------------------


def percent_of(cents: int, percent: int) -> int:
    """Return a share of an amount, half a cent rounded up."""
    return (cents * percent + 50) // 100


def tax_v1(lines: list[Line], coupon_percent: int) -> int:
    """Tax the order as a whole, at the one rate that every product had."""
    subtotal_cents = sum(line.cents for line in lines)
    return percent_of(subtotal_cents - percent_of(subtotal_cents, coupon_percent), 20)


def tax_v2(lines: list[Line], coupon_percent: int) -> int:
    """Tax each line at its own product's rate."""
    return sum(percent_of(line.cents, line.tax_percent) for line in lines)


def price_cart(database: sqlite3.Connection, cart: Cart) -> dict[str, Any]:
    """Return what a cart costs.

    Raises:
        Refused: the shop has no such product or coupon.
    """
    lines = [find_line(database, sku, quantity) for sku, quantity in cart.quantities]
    coupon_percent = find_coupon_percent(database, cart.coupon)
    subtotal_cents = sum(line.cents for line in lines)
    discount_cents = percent_of(subtotal_cents, coupon_percent)
    tax = tax_v2 if FLAGS["taxEngineV2"]["enabled"] else tax_v1
    tax_cents = tax(lines, coupon_percent)
    return {
        "coupon": cart.coupon,
        "subtotalCents": subtotal_cents,
        "discountCents": discount_cents,
        "taxCents": tax_cents,
        "totalCents": subtotal_cents - discount_cents + tax_cents,
    }


def find_line(database: sqlite3.Connection, sku: str, quantity: int) -> Line:
    row = database.execute("SELECT price_cents, tax_percent FROM products WHERE sku = ?", (sku,)).fetchone()
    if row is None:
        raise Refused(f"No product {sku!r} in this shop.")
    return Line(row["price_cents"] * quantity, row["tax_percent"])


def find_coupon_percent(database: sqlite3.Connection, code: str | None) -> int:
    if code is None:
        return 0
    row = database.execute("SELECT percent FROM coupons WHERE code = ?", (code,)).fetchone()
    if row is None:
        raise Refused(f"No coupon {code!r} in this shop.")
    return row["percent"]


def place_order(database: sqlite3.Connection, cart: Cart) -> dict[str, Any]:
    if not cart.quantities:
        raise Refused("The cart is empty; add a product first.")
    quote = price_cart(database, cart)
    placed_at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    with database:
        cursor = database.execute(
            "INSERT INTO orders (placed_at, customer_id, coupon,"
            " subtotal_cents, discount_cents, tax_cents, total_cents)"
            " VALUES (:placedAt, :customerId, :coupon,"
            " :subtotalCents, :discountCents, :taxCents, :totalCents)",
            {"placedAt": placed_at, "customerId": CUSTOMER["id"], **quote},
        )
    return {"orderId": cursor.lastrowid, **quote}


# --- database -------------------------------------------------------------------------------------------


@contextmanager
def open_database(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """Open the database in one of SQLite's own modes: `ro`, `rw` or `rwc` (create it)."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True)) as database:
        database.row_factory = sqlite3.Row
        yield database


def create_database(path: Path) -> None:
    with open_database(path, "rwc") as database:
        database.executescript((HERE / "seed.sql").read_text(encoding="utf-8"))


def list_products(database: sqlite3.Connection) -> list[dict[str, Any]]:
    rows = database.execute("SELECT sku, name, note, price_cents AS priceCents FROM products ORDER BY rowid")
    return [dict(row) for row in rows]


def read_table(database: sqlite3.Connection, query: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the first rows of one of `DEBUG_TABLES`; of the orders, the newest come first."""
    name = query.get("name", [""])[0]
    if name not in DEBUG_TABLES:
        known = ", ".join(DEBUG_TABLES)
        raise Refused(f"No table {name[:40]!r} to look into; there are: {known}.", HTTPStatus.NOT_FOUND)
    limit = read_limit(query.get("limit", [str(DEBUG_ROWS_UNASKED)])[0])
    select, count = DEBUG_TABLES[name]
    rows = [dict(row) for row in database.execute(select, (limit,))]
    return {"table": name, "rowCount": database.execute(count).fetchone()[0], "rows": rows}


def read_limit(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 2 and 1 <= int(text) <= DEBUG_ROWS:
        return int(text)
    raise Refused(f"limit must be a whole number from 1 to {DEBUG_ROWS}, not {text[:20]!r}.")


# --- requests -------------------------------------------------------------------------------------------


def read_cart(body: bytes) -> Cart:
    """Read a cart as the page sends it: `{"lines": [{"sku": …, "quantity": …}], "coupon": … or null}`."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError) as cause:
        raise Refused("The body must be a cart as JSON.") from cause
    match sent:
        case {"lines": list(lines), "coupon": None} if len(lines) <= CART_LINES:
            return Cart([read_cart_line(line) for line in lines], None)
        case {"lines": list(lines), "coupon": str(code)} if len(lines) <= CART_LINES and is_code(code):
            return Cart([read_cart_line(line) for line in lines], code)
        case _:
            raise Refused(f"A cart has lines (at most {CART_LINES}) and a coupon (a code or null).")


def read_cart_line(line: object) -> tuple[str, int]:
    match line:
        case {"sku": str(sku), "quantity": int(quantity)} if is_code(sku) and 1 <= quantity <= LINE_QUANTITY:
            return sku, quantity
        case _:
            raise Refused(f"A cart's line has a sku and a quantity from 1 to {LINE_QUANTITY}.")


def is_code(text: str) -> bool:
    return text.isascii() and text.isprintable() and len(text) <= 40


class Reply(NamedTuple):
    """A whole answer, ready to send."""

    kind: str
    body: bytes
    status: HTTPStatus = HTTPStatus.OK


def json_reply(value: object, status: HTTPStatus = HTTPStatus.OK) -> Reply:
    return Reply("application/json", json.dumps(value).encode(), status)


class ShopHandler(BaseHTTPRequestHandler):
    """Answer one request on a thread of its own, with a database connection of its own."""

    timeout = 10

    def __init__(
        self, database_path: Path, request: Request, client_address: Address, server: socketserver.BaseServer
    ) -> None:
        self.database_path = database_path
        super().__init__(request, client_address, server)

    def do_GET(self) -> None:
        self.answer(self.get)

    def do_POST(self) -> None:
        self.answer(self.post)

    def answer(self, method: Callable[[], Reply]) -> None:
        try:
            self.check_host()
            reply = method()
        except Refused as refusal:
            reply = json_reply({"error": str(refusal)}, refusal.status)
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def get(self) -> Reply:
        path, _, query = self.path.partition("?")
        match path:
            case _ if path in STATIC_FILES:
                name, kind = STATIC_FILES[path]
                return Reply(kind, (HERE / name).read_bytes())
            case "/api/session":
                return json_reply({"customer": CUSTOMER, "cart": SAVED_CART})
            case "/api/flags":
                return json_reply(FLAGS)
            case "/api/products":
                with open_database(self.database_path, "ro") as database:
                    return json_reply(list_products(database))
            case "/debug/table":
                with open_database(self.database_path, "ro") as database:
                    return json_reply(read_table(database, parse_qs(query, keep_blank_values=True)))
            case _:
                raise Refused(f"Nothing to read at {path[:80]!r}.", HTTPStatus.NOT_FOUND)

    def post(self) -> Reply:
        match self.path:
            case "/api/quote":
                with open_database(self.database_path, "ro") as database:
                    return json_reply(price_cart(database, read_cart(self.read_body())))
            case "/api/orders":
                with open_database(self.database_path, "rw") as database:
                    return json_reply(place_order(database, read_cart(self.read_body())), HTTPStatus.CREATED)
            case path:
                raise Refused(f"Nothing to send to at {path[:80]!r}.", HTTPStatus.NOT_FOUND)

    def check_host(self) -> None:
        """Refuse a page of another site that made its own name point at this machine (DNS rebinding)."""
        name = self.headers.get("Host", "").split(":")[0].lower()
        if name in {HOST, "localhost"} or name.endswith(".localhost"):
            return
        status = HTTPStatus.MISDIRECTED_REQUEST
        raise Refused(f"This shop is at {HOST} and localhost, not at {name[:80]!r}.", status)

    def read_body(self) -> bytes:
        # Another site's page can send JSON only after a preflight request, which gets no permission here.
        if self.headers.get_content_type() != "application/json":
            status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
            raise Refused("The body must have the content type application/json.", status)
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and len(length) <= 9):
            raise Refused("The request needs a Content-Length.", HTTPStatus.LENGTH_REQUIRED)
        if int(length) > BODY_BYTES:
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            raise Refused(f"The body must be at most {BODY_BYTES} bytes, not {length}.", status)
        return self.rfile.read(int(length))

    def end_headers(self) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Stay quiet: stdout carries the shop's URL and nothing else."""


# --- server ---------------------------------------------------------------------------------------------


class ShopServer(ThreadingHTTPServer):
    """A server whose `server_close` also ends the connections that browsers keep open without a request."""

    daemon_threads = False
    request_queue_size = 64

    def __init__(self, port: int, database_path: Path) -> None:
        self.connections: set[Request] = set()
        self.connections_lock = threading.Lock()
        super().__init__((HOST, port), partial(ShopHandler, database_path))

    def server_bind(self) -> None:
        # HTTPServer would look up this machine's name, which can take seconds where there is no DNS.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def process_request(self, request: Request, client_address: Address) -> None:
        with self.connections_lock:
            self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Request) -> None:
        with self.connections_lock:
            self.connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        with self.connections_lock:
            for connection in self.connections:
                if isinstance(connection, socket.socket):
                    with suppress(OSError):
                        connection.shutdown(socket.SHUT_RDWR)
        super().server_close()

    def handle_error(self, request: Request, client_address: Address) -> None:
        # A client that leaves before its answer is no error of ours.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serve_shop(port: int = 0) -> Iterator[str]:
    """Serve the shop with fresh data while the context lasts; give its URL, `http://127.0.0.1:PORT/`.

    Leaving ends the server, its connections and threads, and removes the database.

    Args:
        port: 0 lets the system choose a free one.
    Raises:
        OSError: the port is taken.
    """
    with TemporaryDirectory(prefix="shop-") as folder:
        database_path = Path(folder).resolve() / "shop.sqlite3"
        create_database(database_path)
        with ShopServer(port, database_path) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="shop")
            thread.start()
            try:
                yield f"http://{HOST}:{server.server_port}/"
            finally:
                server.shutdown()
                thread.join()


def main() -> int:
    parser = argparse.ArgumentParser(description="Serve the example shop until SIGINT or SIGTERM.")
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: any free one)")
    port = parser.parse_args().port
    # Blocked before any thread starts: sigwait gets them all, and a second one cannot cut the end short.
    endings = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, endings)
    try:
        with serve_shop(port) as url:
            print(url, flush=True)
            signal.sigwait(endings)
    except (OSError, OverflowError) as error:
        print(f"The shop cannot be served on port {port} ({error}); choose another.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
