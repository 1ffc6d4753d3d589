"""The debugging session of docs/debugging.md, step by step as it stands there: what an agent reads, what follows."""

import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from mcp import Client
from mcp_types import TextContent

from tests.e2e.client import open_agent
from tests.frames import take_out

ROOT: Final = Path(__file__).parents[2]
DOCUMENT: Final = ROOT / "docs/debugging.md"
STEP: Final = re.compile(r"`(\w+)` with `(\{[^`]*\})`\n\n```\n(.*?)\n```\n", re.DOTALL)
TOOLS: Final = ("list_pages", "call_page_tool", "take_snapshot", "click")

sys.path.insert(0, str(ROOT / "examples/shop"))

from server import serve_shop  # noqa: E402  # the shop is no package

Json = dict[str, Any]


@dataclass
class Walk:
    """A session whose names are those of the page: each run has other ones.

    Attributes:
        real: what stands for a name of the page in this run.
    """

    agent: Client
    port: str
    document: str = "7"
    said: list[str] = field(default_factory=list[str])

    async def step(self, tool: str, arguments: str) -> str:
        """Go one step, and return what the agent reads of it, as it is written."""
        given: Json = json.loads(arguments)
        if "uid" in given:
            given["uid"] = given["uid"].partition("-")[0] + "-" + self.document
        result = await self.agent.call_tool(tool, given)
        assert not result.is_error, result
        text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
        if found := re.search(r"^ *e\d+-(\d+) ", text, re.MULTILINE):
            self.document = found[1]
        self.said.append(take_out(text))
        return self._as_written(text)

    def _as_written(self, text: str) -> str:
        text = re.sub(r"(?<=page_content_)[0-9a-f]{32}", "6f0c1f5bbd1b4dbd9c7a4d3be0b5a2e4", text)
        text = re.sub(rf"\b(e\d+)-{self.document}\b", r"\1-7", text)
        return text.replace(f"127.0.0.1:{self.port}", "127.0.0.1:40123")


def as_pattern(written: str) -> str:
    return ".*?".join(map(re.escape, written.split("…")))


@pytest.mark.feature("debugging.walk_through")
async def test_an_agent_finds_the_bug_of_the_shop_as_the_documentation_says():
    document = DOCUMENT.read_text()
    steps = STEP.findall(document)
    with serve_shop() as shop:
        async with open_agent("--tools", ",".join(TOOLS), "--open", shop) as agent:
            assert {tool.name for tool in (await agent.list_tools()).tools} == set(TOOLS)
            walk = Walk(agent, shop.rstrip("/").rpartition(":")[2])
            for tool, arguments, written in steps:
                read = await walk.step(tool, arguments)
                assert re.fullmatch(as_pattern(written), read, re.DOTALL), f"{tool} {arguments} says\n{read}"

    check_conclusion(document, walk.said)


def check_conclusion(document: str, said: list[str]) -> None:
    """What the page concludes follows from what was read, and from nothing else."""
    _, quote, seen, products, _, placed, orders, _, without_coupon, flags = said

    amounts = re.findall(r'definition\n *text "(.*)"', seen)
    assert amounts == ["€120.00", "−€18.00", "Free", "€126.00"]  # noqa: RUF001  # as the page writes it

    quoted = json.loads(quote)
    assert quoted["totalCents"] == quoted["subtotalCents"] - quoted["discountCents"] + quoted["taxCents"]
    assert {row["tax_percent"] for row in json.loads(products)["rows"]} == {20}
    assert quoted["taxCents"] == quoted["subtotalCents"] * 20 // 100 != right_tax(quoted)

    number = re.search(r"Your order has the number (\d+)\.", placed)
    assert number is not None
    rows = {row["id"]: row for row in json.loads(orders)["rows"]}
    assert rows[int(number[1])]["tax_cents"] == quoted["taxCents"]
    since = json.loads(flags)["taxEngineV2"]["since"]
    wrong = [order for order, row in rows.items() if row["tax_cents"] != right_tax(row)]
    assert wrong == [order for order, row in rows.items() if row["coupon"] and row["placed_at"] >= since]
    assert f"| since 1 September | {', '.join(map(str, reversed(wrong)))} |" in document
    assert since == "2025-09-01"

    plain = json.loads(without_coupon)
    assert plain["coupon"] is None
    assert plain["taxCents"] == right_tax(plain)


def right_tax(amounts: Json) -> int:
    """20 % of what is paid, half a cent rounded up; of an order, or of a quote."""
    names = ("subtotal_cents", "discount_cents") if "id" in amounts else ("subtotalCents", "discountCents")
    subtotal, discount = (amounts[name] for name in names)
    return ((subtotal - discount) * 20 + 50) // 100


def test_the_session_needs_four_tools_and_two_of_the_page():
    steps = [(tool, json.loads(arguments)) for tool, arguments, _ in STEP.findall(DOCUMENT.read_text())]

    assert {tool for tool, _ in steps} == set(TOOLS)
    assert {given["tool"] for _, given in steps if "tool" in given} == {"getGlobalState", "queryDatabaseTable"}
    assert f"--tools {','.join(TOOLS)} " in DOCUMENT.read_text()
