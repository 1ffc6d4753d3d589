"""Limits: those that are documented are those of the code, and some are tried at their number and one beyond."""

import re
from contextlib import ExitStack
from pathlib import Path
from typing import Final, cast

import pytest
import trio

from bridge import limits
from bridge.calls.bridge import Bridge
from bridge.calls.order import Order
from bridge.calls.results import Spill, open_spill, shorten
from bridge.errors import Busy, SchemaUnusable
from bridge.page.session import Page
from bridge.serve.stdio import OpenRequests, Stdio
from bridge.settings import PageSettings
from bridge.tools.bounds import check_paths
from bridge.wire.transports import PipeTransport
from tests.pure.test_rate import Called

DOCUMENT: Final = Path(__file__).parents[2] / "docs/limits.md"
UNITS: Final = {"KB": 1024, "MB": 1024**2}
ROWS: Final = re.findall(
    r"^\| .+ \| `([A-Z_]+)` \| ([0-9.,]+)(?: (\w+))? \|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE
)

PROMISED: Final = {
    "ARGUMENT_BYTES": 256 * 1024,
    "ARGUMENT_DEPTH": 64,
    "CALLS": 64,
    "CALLS_ASKING": 16,
    "CALLS_AT_ONCE": 40,
    "CALLS_NESTED": 5,
    "CALLS_PER_PAGE": 8,
    "CALLS_PER_SECOND": 20,
    "CALL_SECONDS": 30,
    "CALL_SECONDS_MAX": 600,
    "CDP_MESSAGE_BYTES": 256 * 1024**2,
    "COERCION_PASSES": 5,
    "DESCRIPTION_CHARS": 1000,
    "DISCOVERY_SECONDS": 1,
    "FILE_BYTES": 16_000_000,
    "GROUPS_PER_PAGE": 20,
    "INLINE_BYTES": 50 * 1024,
    "INLINE_LINES": 2000,
    "LISTENER_SECONDS": 1,
    "MCP_LINE_BYTES": 16 * 1024**2,
    "MODULE_CALLS_SEEN": 100,
    "MODULE_CALL_SECONDS": 120,
    "MODULE_HOOK_SECONDS": 5,
    "MODULE_LOAD_SECONDS": 10,
    "MODULE_PROCESSES": 8,
    "NAME_CHARS": 128,
    "PATTERN_CHARS": 1000,
    "QUESTIONS_PER_CALL": 10,
    "REPLY_SECONDS": 600,
    "RESULT_CHARS": 20_000_000,
    "RESULT_STRING_CHARS": 16_000_000,
    "SCHEMA_CHARS": 64 * 1024,
    "SCHEMA_DEPTH": 32,
    "SCHEMA_REF_PATHS": 10_000,
    "SCHEMA_SUBSCHEMAS": 2000,
    "SETTLE_SECONDS": 5,
    "SKILL_ANSWER_BYTES": 16_000_000,
    "SKILL_EXCHANGE_SECONDS": 30,
    "SPILL_BYTES": 256 * 1024**2,
    "TOOLS_PER_LISTING": 25,
    "TOOLS_PER_PAGE": 200,
}
"""Whoever changes one of these changes what was promised, and says why in the document."""


def test_every_row_of_the_document_is_read():
    rows = [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]

    assert len(ROWS) == len(rows) - len(["head"])


@pytest.mark.parametrize(("name", "number", "unit"), ROWS, ids=lambda part: part or "")
def test_a_documented_limit_is_the_one_in_the_code(name: str, number: str, unit: str):
    assert float(number.replace(",", "")) * UNITS.get(unit, 1) == getattr(limits, name)


def test_what_is_promised_is_documented_and_holds():
    assert PROMISED.keys() <= {name for name, *_ in ROWS}
    assert {name: getattr(limits, name) for name in PROMISED} == PROMISED


async def test_who_is_not_told_otherwise_takes_the_limits():
    near, far = trio.testing.memory_stream_pair()

    assert PipeTransport(near, near)._message_bytes == limits.CDP_MESSAGE_BYTES
    assert Stdio(far, far)._lines._line_bytes == limits.MCP_LINE_BYTES
    assert OpenRequests()._most == limits.OPEN_REQUESTS
    with open_spill() as spill:
        assert spill._quota_bytes == Spill()._quota_bytes == limits.SPILL_BYTES
    rate = Bridge(Spill(), PageSettings()).order._rate
    assert rate._interval_seconds == 1 / limits.CALLS_PER_SECOND
    assert rate._ahead_seconds == (limits.CALLS_AT_ONCE - 1) / limits.CALLS_PER_SECOND


def test_ways_through_a_schema_are_counted_up_to_the_limit():
    most = limits.SCHEMA_REF_PATHS - len(["the way that goes nowhere"])

    check_paths({0: [1] * most}, {})
    with pytest.raises(SchemaUnusable, match="more than 10,000 paths"):
        check_paths({0: [1] * (most + 1)}, {})


def test_as_many_lines_as_are_shown_are_shown():
    with open_spill() as spill:
        at = shorten("a\n" * limits.INLINE_LINES, spill, json=False)
        beyond = shorten("a\n" * (limits.INLINE_LINES + 1), spill, json=False)

    assert (at.truncated, at.total_lines) == (False, limits.INLINE_LINES)
    assert (beyond.truncated, beyond.total_lines) == (True, limits.INLINE_LINES + 1)


async def test_so_many_calls_are_in_flight_and_the_next_is_busy_until_one_has_ended(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(limits, "CALLS_AT_ONCE", 2 * limits.CALLS)
    order = Order()
    *pages, other = (cast("Page", Called(f"p{number}")) for number in range(limits.CALLS // limits.CALLS_PER_PAGE + 1))
    with ExitStack() as stack:
        for page in pages:
            for _ in range(limits.CALLS_PER_PAGE):
                stack.enter_context(order.enter(page))
        with pytest.raises(Busy, match="64 calls are in flight"):
            order.enter(other)
    with order.enter(other):
        pass
