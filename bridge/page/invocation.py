"""Run one tool in its realm."""

from dataclasses import dataclass
from typing import Final

from bridge import limits
from bridge.page.discovery import Discovery
from bridge.page.kit import ask_kit
from bridge.wire.connection import Session

BOUNDS: Final = {"chars": limits.RESULT_CHARS, "depth": limits.RESULT_DEPTH}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a tool ended, as page_shims/shims.d.ts describes it.

    Attributes:
        how: `completed`, `failed`, `stale` (a newer discovery replaced the one that was named; nothing ran)
            or `too large`.
        kind: `none`, `string`, `json`, or for a thrown Error `error`.
        text: the value: as it is for a string, else as compact JSON; the message for an error.
    """

    how: str
    kind: str
    text: str
    name: str
    stack: str


async def run_tool(session: Session, discovery: Discovery, group: int, tool: int, arguments_text: str) -> Ending:
    """Run one captured tool and wait for its end; the caller's cancel scope is the deadline.

    Raises:
        CommandFailed: Chromium did not run it, or lost its answer; see `kit.is_realm_gone`.
    """
    words = ("call", discovery.number, group, tool, arguments_text, BOUNDS)
    ending = await ask_kit(session, discovery.kit, *words, await_promise=True)
    return Ending(*(str(ending.get(part, "")) for part in ("how", "kind", "text", "name", "stack")))
