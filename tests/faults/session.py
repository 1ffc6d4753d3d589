"""What an agent does with a browser, from its first list to its last word, and what its answers must be like."""

import json
import re
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.frame import escape, unframe
from tests.faults.fake_chromium import ORIGIN, WORDS

CODES: Final = {
    "browser_gone",
    "browser_starting",
    "command_failed",
    "dialog_open",
    "navigated_during_call",
    "navigation_failed",
    "no_dialog",
    "origin_changed",
    "page_crashed",
    "page_gone",
    "schema_unusable",
    "timed_out",
    "tool_not_found",
    "tool_stale",
    "tool_threw",
}
"""What may become of a request over a bad link."""

_QUOTED_BYTES: Final = re.compile(r"""\bb(['"])(?:\\.|(?!\1).)*\1""")
"""What a peer sent, where it was nothing that could be read. Anything may be in it."""

LONGEST_SECONDS: Final = 50.0
"""No request takes longer, whatever happens: a navigation's 30 s, and then what is said of a page that holds it up."""

Happen = Callable[[str], Awaitable[None]]
"""Has the browser do something of its own accord to its first page, a method of `FakeChromium`, and waits until the
bridge knows."""


async def use(agent: Agent, happen: Happen | None = None, *, origin: str = ORIGIN) -> list[Answer]:
    """Use a browser's first page, `/1`, in every way that there is; each answer is checked to be one."""
    answers: list[Answer] = []

    async def ask(coming: Awaitable[Answer]) -> Answer:
        with trio.fail_after(LONGEST_SECONDS):
            answer = await coming
        check(answer)
        answers.append(answer)
        return answer

    await ask(agent.list_pages())
    page = await find_page(agent, f"{origin}/1")
    await ask(agent.list_page_tools(page, None, None))
    await ask(agent.call_page_tool(page, "say", {}))
    await ask(agent.call_page_tool(page, "pay", {}))
    await ask(agent.call_page_tool(page, "fail", {}))
    await ask(agent.call_page_tool(page, "ask", {}))
    await ask(agent.handle_dialog(page, True, None))
    await ask(agent.navigate_page(page, f"{origin}/1#part", None))
    await ask(agent.navigate_page(page, f"{origin}/next", None))
    await ask(agent.call_page_tool(page, "say", {}))
    for action in ("back", "forward", "reload"):
        await ask(agent.navigate_page(page, None, action))
    await ask(agent.call_page_tool(page, "hang", {}, timeout_seconds=1))
    if happen is not None:
        await happen("empty")
        await ask(agent.call_page_tool(page, "say", {}))
        await happen("crash")
        await ask(agent.call_page_tool(page, "say", {}))
        await ask(agent.navigate_page(page, None, "reload"))
        await ask(agent.call_page_tool(page, "say", {}))
    opened = await ask(agent.open_page(f"{origin}/opened"))
    await ask(agent.list_page_tools(None, None, None))
    await ask(agent.close_page(page if opened.is_error else json.loads(opened.text)["page"]))
    await ask(agent.list_pages())
    return answers


async def find_page(agent: Agent, url: str) -> str:
    """The handle of the page there, or one that means none. A browser may be odd about its address, or its title."""
    listed = await agent.list_pages()
    pages = [] if listed.is_error else json.loads(listed.text)["pages"]
    return next((page["page"] for page in pages if page["url"] == url or page["title"].endswith(f" {url}")), "p99")


async def check_well(agent: Agent, *, origin: str = ORIGIN) -> None:
    """The second page, `/2`, lists its tools, and runs one."""
    with trio.fail_after(LONGEST_SECONDS):
        page = await find_page(agent, f"{origin}/2")
        listed = await agent.list_page_tools(page, None, None)
        said = await agent.call_page_tool(page, "say", {})
    assert '"say"' in listed.text, listed.text
    assert unframe(said.text) == WORDS * 20


async def wait_found_again(agent: Agent) -> None:
    """Return once there is a browser that answers."""
    with trio.fail_after(limits.RECONNECT_SECONDS_MAX):
        while True:
            listed = await agent.list_pages()
            if not listed.is_error and "problems" not in json.loads(listed.text):
                return
            await trio.sleep(limits.RECONNECT_SECONDS)


def codes(answers: list[Answer]) -> list[str]:
    """What came of each: the code of an error, or nothing."""
    return [answer.structured["code"] if answer.is_error and answer.structured else "" for answer in answers]


def check(answer: Answer) -> None:
    """It is good, or says in a sentence what went wrong; what a page said of that comes after it, in a frame."""
    if not answer.is_error:
        return
    assert answer.structured is not None
    assert answer.structured["code"] in CODES, answer
    sentence, _, rest = answer.text.partition("\n")
    if "said" in answer.structured:
        assert sentence.endswith(":"), sentence
        assert escape(unframe(rest)) == answer.structured["said"], answer
    else:
        assert sentence.endswith("."), sentence
    ours = _QUOTED_BYTES.sub("", sentence)
    assert not re.search(r"Traceback|Error\(|None|object at 0x|\{'", ours), sentence
