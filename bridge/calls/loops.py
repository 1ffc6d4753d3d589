"""Does an agent go in circles? One sentence tells it so beside an answer; a call is held up only where a person has
asked for that.

The agent is the only one who knows what it is after, so this looks at little: for each page the last few calls, each as
two numbers, one for what was asked and one for what was answered. Calls that differ in nothing but the query of an
address, or in a few pixels, ask the same. Whoever waits for something gets other answers in the end, and is in no loop.
"""

import re
from collections import OrderedDict, deque
from collections.abc import Sequence
from itertools import islice, takewhile
from typing import Any, Final, NamedTuple, cast

from bridge import limits

_ADDRESS: Final = re.compile(r"https?://(?:[^/?#@]*@)?([^/?#]*)([^?#]*)", re.IGNORECASE)
_NONCE: Final = re.compile(r"page_content_[0-9a-f]{32,}")
"""What is new in each frame around the same words."""


class _Seen(NamedTuple):
    """One call: hashes of what was asked and answered, and whether it did its work."""

    call: int
    answer: int
    worked: bool


class _Page:
    """The last calls of a page, and whether the agent was told something after the last one."""

    __slots__ = ("is_told", "seen")

    def __init__(self) -> None:
        self.seen: deque[_Seen] = deque(maxlen=limits.LOOP_CALLS)
        self.is_told = False


class Loops:
    """What one agent has called last, by page. Calls that name no page count as those of one more."""

    def __init__(self) -> None:
        self._pages: OrderedDict[int, _Page] = OrderedDict()

    def note(self, tool: str, arguments: object, read_only: bool, outcome: str, answer_text: str) -> str | None:
        """Remember a call that has ended; returns what to tell the agent beside its answer, mostly nothing.

        Args:
            arguments: as the agent sent them, also where they are not valid.
            outcome: `completed`, or how else it ended (`bridge.errors`).
            answer_text: what the agent reads. Where it was cut, better the whole: a cut one names another file each
                time.
        """
        worked = outcome == "completed"
        page = self._of_page(arguments)
        page.seen.append(_Seen(_hash_call(tool, arguments), _hash_answer(answer_text), worked))
        note = _judge(page.seen, is_change=not read_only)
        page.is_told = note is not None
        return note

    def foresee(self, tool: str, arguments: object, read_only: bool) -> str | None:
        """What `note` would say again if a call were answered as it was the last time; None for all others, and where
        the agent was told nothing after the last call. A change that worked is in no circle for this: the next click on
        the same button may well be meant. Nothing is remembered."""
        page = self._of_page(arguments)
        call = _hash_call(tool, arguments) if page.is_told else None
        last = next((one for one in reversed(page.seen) if one.call == call), None)
        if last is None or (last.worked and not read_only):
            return None
        return _judge((*page.seen, last), is_change=not read_only)

    def _of_page(self, arguments: object) -> _Page:
        page = cast("dict[str, object]", arguments).get("page") if isinstance(arguments, dict) else None
        key = hash(page) if isinstance(page, str) else 0
        found = self._pages.get(key)
        if found is None:
            found = self._pages[key] = _Page()
        self._pages.move_to_end(key)
        if len(self._pages) > limits.LOOP_PAGES:
            self._pages.popitem(last=False)
        return found


def _judge(seen: Sequence[_Seen], *, is_change: bool) -> str | None:
    """What to say after the last of these calls."""
    last = seen[-1]
    if [one.call for one in seen].count(last.call) == 1:
        return None  # as nearly always
    # Once something else has worked, or this has had another answer, the same call is a new try.
    tries = list(takewhile(lambda one: one == last or not one.worked, reversed(seen)))
    if is_change and not last.worked and sum(one.call == last.call for one in tries) > 1:
        return (
            "This call has failed before, and nothing has worked since: change its arguments, or look for what is in "
            "its way, before you send it again."
        )
    if tries.count(last) > 2:
        return "This call has given the same answer three times: unless you wait for something, try something else."
    if len(seen) > 3:
        first, second, third, fourth = (seen[place] for place in range(-4, 0))
        if (first, second) == (third, fourth) and first.call != second.call:
            return (
                "Two calls take turns and give the same answers each time: unless you wait for something, try "
                "something else."
            )
    return None


def _hash_call(tool: str, arguments: object) -> int:
    return hash((tool, *_tell_apart(arguments)))


def _hash_answer(text: str) -> int:
    start = text[: limits.LOOP_ANSWER_CHARS]
    return hash((len(text), _NONCE.sub("", start) if "page_content_" in start else start))


def _tell_apart(value: object) -> list[str]:
    """What tells one call from another, in parts: enough of them, without what is nearly the same each time."""
    parts: list[str] = []
    # With a stack of its own: nobody has looked yet how deep the arguments of a refused call are.
    waiting = [value]
    while waiting and len(parts) < limits.LOOP_PARTS:
        part = waiting.pop()
        if isinstance(part, str):
            parts.append(_address(part) or f'"{part[: limits.LOOP_ANSWER_CHARS]}')
        elif isinstance(part, dict):
            fields = _without_pixels(cast("dict[str, Any]", part))
            names = sorted(islice(fields, limits.LOOP_PARTS))
            parts.append(f"{{{len(fields)}")
            parts += names
            waiting += [fields[name] for name in names]
        elif isinstance(part, list):
            items = cast("list[object]", part)
            parts.append(f"[{len(items)}")
            waiting += items[: limits.LOOP_PARTS]
        elif type(part) is int:
            parts.append(hex(part))  # which is quick, and never refused, for a number of any length
        else:
            parts.append(repr(part))
    return parts[: limits.LOOP_PARTS]


def _address(text: str) -> str | None:
    """Of an address its host, and the last three parts of its path: the resource that it means."""
    found = _ADDRESS.match(text, 0, limits.LOOP_ADDRESS_CHARS)
    if found is None:
        return None
    return "/".join((found[1].lower(), *[part for part in found[2].split("/") if part][-3:]))


def _without_pixels(fields: dict[str, Any]) -> dict[str, Any]:
    """A point is the same as those few pixels beside it."""
    if "x" not in fields or not (_is_place(fields["x"]) and _is_place(fields.get("y"))):
        return fields
    return fields | {name: int(fields[name] // limits.LOOP_PIXELS) for name in "xy"}


def _is_place(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < limits.LOOP_PIXELS_MAX
