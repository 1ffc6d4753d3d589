"""Shorthand for tests that ask as an agent does."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.bridge import Bridge
from bridge.errors import CommandFailed
from bridge.page.session import Page
from bridge.wire.commands import runtime
from tests.frames import take_out


async def open_page(agent: Agent, url: str) -> str:
    """Open a page, and return its handle."""
    answer = await agent.open_page(url)
    assert not answer.is_error, answer.text
    return read(answer)["page"]


async def list_tools(agent: Agent, page: str) -> dict[str, Any]:
    """The listing of one page."""
    answer = await agent.list_page_tools(page, None, None)
    assert not answer.is_error, answer.text
    return read(answer)["pages"][0]


async def list_parts(agent: Agent, page: str) -> list[dict[str, Any]]:
    """All parts of the listing of one page, in their order."""
    parts: list[dict[str, Any]] = []
    cursor: str | None = None
    while not parts or cursor is not None:
        listing = read(await agent.list_page_tools(page, None, cursor))
        parts += listing["pages"]
        cursor = listing.get("next_cursor")
    return parts


async def call(
    agent: Agent,
    page: str,
    tool: str,
    arguments: object = None,
    *,
    toolset: str | None = None,
    seconds: float | None = None,
) -> Answer:
    return plain(await agent.call_page_tool(page, tool, arguments, toolset=toolset, timeout_seconds=seconds))


async def answer_dialog(
    agent: Agent, page: str, accept: bool, text: str | None, *, timeout_seconds: float | None = None
) -> Answer:
    return plain(await agent.handle_dialog(page, accept, text, timeout_seconds=timeout_seconds))


def plain(answer: Answer) -> Answer:
    """The answer with what the page said in it as the page said it, out of its frame."""
    return replace(answer, text=take_out(answer.text))


def read(answer: Answer) -> dict[str, Any]:
    return json.loads(answer.text)


def code(answer: Answer) -> str:
    """The stable word of an error."""
    assert answer.is_error, answer.text
    assert answer.structured is not None
    return answer.structured["code"]


def facts(answer: Answer) -> tuple[str, str, bool]:
    """Code, outcome, and whether anything may have run."""
    assert answer.structured is not None
    return code(answer), answer.structured["outcome"], answer.structured["dispatched"]


def names(listing: dict[str, Any]) -> list[str]:
    return [tool["name"] for group in listing["groups"] for tool in group["tools"]]


async def page_of(bridge: Bridge, handle: str) -> Page:
    return (await bridge.wait_pages()).find(handle)


async def wait_registered(bridge: Bridge, is_so: Callable[[], bool]) -> None:
    """Return once the registry is as that says; nothing is asked of any page."""
    while not is_so():
        await bridge.registry.wait_change(bridge.registry.version)


async def wait_offered(bridge: Bridge, page: str, *wanted: str) -> None:
    """Return once the registry has exactly these tools; nothing is asked of the page."""

    def offered() -> bool:
        tools = bridge.registry.find(page)
        return tools is not None and [tool.name for tool in tools] == list(wanted)

    await wait_registered(bridge, offered)


async def run_script(page: Page, expression: str) -> object:
    """What a person or the page itself does, past the bridge: as with a click, popups are allowed."""
    command = runtime.evaluate(expression, return_by_value=True, await_promise=True, user_gesture=True)
    result, thrown = await page._session.run(command)
    assert thrown is None, thrown
    return result.value


async def number_of_realm(page: Page) -> int:
    """The numeric id of the page's realm, found by asking the numbers one by one."""
    for number in range(1, 50):
        try:
            if await evaluate_at(page, "1", number) == 1:
                return number
        except CommandFailed:
            continue
    raise AssertionError("no context number answers")


async def reach_number(page: Page, url: str, number: int) -> None:
    """Bring a page to a URL of another process, and to a document there whose realm has that number."""
    await page.navigate(url)
    while await number_of_realm(page) < number:
        await page.reload()
    assert await number_of_realm(page) == number


async def evaluate_at(page: Page, expression: str, number: int) -> object:
    command = runtime.evaluate(expression, context_id=runtime.ExecutionContextId(number), return_by_value=True)
    result, _ = await page._session.run(command)
    return result.value


async def wait_until(page: Page, expression: str) -> None:
    """Return once `expression` is true in the page; the page itself watches."""
    await run_script(
        page,
        f"new Promise(done => {{ const look = () => ({expression}) ? done() : setTimeout(look, 5); look() }})",
    )


async def wait_shown(page: Page, url: str) -> None:
    """Return once the page shows what is at `url`, and has loaded it."""
    await page.wait_changed(lambda: page.url == url and page.realm is not None)
    await page.wait_loaded()
