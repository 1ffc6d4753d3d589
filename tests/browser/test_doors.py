"""Every door to a tool, in every mode and under every rule: what the listing does not allow runs at none."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import trio

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge, open_bridge
from bridge.calls.gate import Gate
from bridge.calls.pins import write_pins
from bridge.errors import CallRejected
from bridge.origins import OriginRules
from bridge.serve.terminal import call_tool
from bridge.settings import AgentSettings, AttachOptions, Mode, PageSettings
from tests.browser.asking import facts, open_page, page_of, plain, run_script
from tests.browser.test_cancelling import Client, open_client
from tests.browser.webmcp import registering
from tests.sites import Site, offering, tool

Json = dict[str, Any]

TOOLS: Final = ("look", "buy", "plain")
"""One that claims to change nothing, one that claims the contrary, one that claims nothing."""

WAYS: Final[dict[str, Json]] = {"lane": {}, "sdk": {"io.modelcontextprotocol/x": 1}}


def claiming_page(site: Site) -> str:
    """Each of its tools notes in `ran` that it runs."""

    def noting(name: str) -> str:
        return f"() => {{ ran.push({name!r}); return {name!r} }}"

    def claiming(name: str, read_only: str) -> str:
        annotations = f"{{readOnlyHint: {read_only}}}"
        return f"{{name: {name!r}, description: 'A tool', annotations: {annotations}, execute: {noting(name)}}}"

    claims = registering(claiming("look", "true"), claiming("buy", "false"))
    return site.page("/claims", claims + offering(tool("plain", noting("plain"))))


def page_rules(site: Site, *, kept_out: bool) -> PageSettings:
    return PageSettings(origins=OriginRules(blocked=(site.origin,) if kept_out else ()))


@asynccontextmanager
async def open_claiming(chromium: str, site: Site, *, kept_out: bool) -> AsyncIterator[tuple[Bridge, str]]:
    """A bridge, and the handle of that page."""
    settings = page_rules(site, kept_out=kept_out)
    async with open_bridge(AttachOptions(where=chromium), settings=settings) as bridge:
        handle = await open_page(Agent(bridge), claiming_page(site))
        yield bridge, handle
        pages = await bridge.wait_pages()
        await pages.close(pages.find(handle))


async def pin_all_but(name: str, chromium: str, site: Site, pins: Path) -> None:
    """Approve the other tools of the page."""
    async with open_claiming(chromium, site, kept_out=False) as (bridge, page):
        tools = bridge.registry.snapshot[page]
        write_pins(pins, {site.origin: frozenset(tool.fingerprint for tool in tools if tool.name != name)})


RULES: Final[list[tuple[Mode, str, set[str]]]] = [
    ("ask", "", set()),
    ("ask", "trusted", {"look"}),
    ("ask", "trusted, plain not approved", {"look"}),
    ("ask", "trusted, look not approved", set()),
    ("ask", "trusted, kept out", set()),
    ("act", "", {"look", "buy", "plain"}),
    ("act", "plain not approved", {"look", "buy"}),
    ("act", "trusted, kept out", set()),
    ("dev", "", {"look", "buy", "plain"}),
    ("dev", "trusted, look not approved", {"buy", "plain"}),
    ("dev", "kept out", set()),
]
"""Mode, what else a person has said, and the tools that may run."""


@pytest.fixture
async def settings(mode: Mode, said: str, webmcp_chromium: str, site: Site, tmp_path: Path) -> AgentSettings:
    pins = tmp_path / "pins.json"
    if "not approved" in said:
        await pin_all_but("look" if "look" in said else "plain", webmcp_chromium, site, pins)
    return AgentSettings(
        mode=mode,
        trusted_origins=frozenset({site.origin} if "trusted" in said else ()),
        direct=True,
        pins=pins if pins.exists() else None,
    )


class Caller:
    """A client of the bridge, all of whose calls go one way."""

    def __init__(self, client: Client, way: str) -> None:
        self._client = client
        self._meta = WAYS[way]

    async def ask(self, method: str, **params: Any) -> Json:
        request = await self._client.ask(method, _meta=self._meta, **params)
        await self._client.wait_answer(request)
        [answer] = [message for message in self._client.messages if message.get("id") == request]
        return answer

    async def call(self, name: str, **given: Any) -> Json:
        return await self.ask("tools/call", name=name, arguments=given)


def spellings(page: str, name: str, listed: Json) -> Iterator[tuple[str, Json]]:
    """All that could mean a tool of the page: the name of an MCP tool, and what it is given.

    Args:
        listed: the tool in the listing, and the page's toolset; empty where the tool is not there.
    """
    ids = [listed["id"]] if listed else ["#0.0", "#0.1", "#1.0"]
    for word in (name, *ids, name.upper(), f"{name} ", f"{name}\0", f"page_{name}", *(f"f0{one}" for one in ids)):
        yield "call_page_tool", {"page": page, "tool": word}
        yield "call_page_tool", {"page": page, "tool": word, "arguments": "{}", "toolset": listed.get("toolset", "")}
    for word in (name, f"page_{name}", f"PAGE_{name}", f"page_{name} ", f"page_{name}_{page}", f"page_{ids[0]}"):
        yield word, {}


def has_run(answer: Json) -> bool:
    """Whether a call ran its tool; where it did not, the answer says that nothing ran, or knows no such tool."""
    if "error" in answer:
        assert "Unknown tool" in answer["error"]["message"]
        return False
    result = answer["result"]
    if result["isError"]:
        told = result["structuredContent"]
        assert (told["outcome"], told["dispatched"]) == ("rejected", False), told
        assert told["code"] in ("not_allowed", "tool_not_found", "tool_stale"), told
    return not result["isError"]


@pytest.mark.threat("C3")
@pytest.mark.parametrize(("mode", "said", "runs"), RULES)
async def test_what_the_listing_does_not_allow_runs_at_no_door_of_a_client(
    said: str, runs: set[str], settings: AgentSettings, webmcp_chromium: str, site: Site
):
    kept_out = "kept out" in said
    async with (
        open_claiming(webmcp_chromium, site, kept_out=kept_out) as (bridge, page),
        open_client(Agent(bridge, settings), bridge) as client,
    ):
        for way in WAYS:
            caller = Caller(client, way)
            [listing] = (await caller.call("list_page_tools", page=page))["result"]["structuredContent"]["pages"]
            tools = [tool for group in listing["groups"] for tool in group["tools"]]
            assert {tool["name"] for tool in tools} == (set() if kept_out else set(TOOLS))
            assert {tool["name"] for tool in tools if "not_allowed" not in tool} == runs
            direct = {tool["name"] for tool in (await caller.ask("tools/list"))["result"]["tools"]}
            assert {name for name in direct if name.startswith("page_")} == {f"page_{name}" for name in runs}

            listed = {tool["name"]: tool | {"toolset": listing["toolset"]} for tool in tools}
            assert await doors_to_tools(bridge, caller, page, listed) == {
                name: {"call_page_tool", f"page_{name}"} for name in runs
            }


async def doors_to_tools(bridge: Bridge, caller: Caller, page: str, listed: Json) -> dict[str, set[str]]:
    """Try every door, and return by which ones each tool ran; the page itself says which one did."""
    page_itself = await page_of(bridge, page)
    doors: dict[str, set[str]] = {}
    for name in TOOLS:
        for called, given in spellings(page, name, listed.get(name, {})):
            ran = has_run(await caller.call(called, **given))
            assert await run_script(page_itself, "ran.splice(0)") == ([name] if ran else []), (called, given)
            if ran:
                doors.setdefault(name, set()).add(called)
    return doors


@pytest.mark.threat("C3")
@pytest.mark.parametrize(("mode", "said", "runs"), RULES[1::2])
async def test_what_may_not_run_does_not_run_from_the_command_line_either(
    said: str, runs: set[str], settings: AgentSettings, webmcp_chromium: str, site: Site
):
    rules = page_rules(site, kept_out="kept out" in said)
    gate = Gate(rules, settings)
    for name in TOOLS:
        words = AttachOptions(where=webmcp_chromium), rules, claiming_page(site), name
        if name in runs:
            ending = await call_tool(*words, {}, 5.0, gate, trio.CancelScope())
            assert ending is not None
            assert ending.text == name
        else:
            with pytest.raises(CallRejected) as refused:
                await call_tool(*words, {}, 5.0, gate, trio.CancelScope())
            assert refused.value.code == "not_allowed"


@pytest.mark.threat("C3")
async def test_a_direct_name_that_was_listed_does_not_outlive_what_allowed_it(
    webmcp_chromium: str, site: Site, tmp_path: Path
):
    async with open_claiming(webmcp_chromium, site, kept_out=False) as (bridge, page):
        tools = bridge.registry.snapshot[page]
        pins = tmp_path / "pins.json"
        write_pins(pins, {site.origin: frozenset(tool.fingerprint for tool in tools)})
        agent = Agent(bridge, AgentSettings(direct=True, pins=pins))
        assert agent.direct is not None
        assert "page_plain" in agent.direct.show()
        assert plain(await agent.call_directly("page_plain", {})).text == "plain"

        write_pins(pins, {site.origin: frozenset(tool.fingerprint for tool in tools if tool.name != "plain")})

        assert facts(await agent.call_directly("page_plain", {})) == ("not_allowed", "rejected", False)
        assert "page_plain" not in agent.direct.show()
