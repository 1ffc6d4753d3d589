"""What a tool of a project asks the person, by way of the client: MCP's elicitation. No protocol here, and no SDK.

A question is a form with one field, `answer`. The person reads whose question it is before what it says.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import trio

from bridge import limits
from bridge.calls.answers import Answer
from bridge.calls.frame import escape
from bridge.calls.progress import Send
from bridge.errors import CannotAsk, UsageError

if TYPE_CHECKING:
    from bridge.tools.own import Ui

FIELD: Final = "answer"


@dataclass(frozen=True, slots=True)
class Question:
    """A form for the person.

    Attributes:
        schema: JSON Schema of the form, of the kind that MCP lets servers ask with.
    """

    message: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the client says became of a form.

    Attributes:
        action: `accept`, `decline` or `cancel`; anything else is a fault of the client.
    """

    action: str
    content: Mapping[str, object] | None = None


Ask = Callable[[Question], Awaitable[Reply]]
"""Has the client ask. Raises CannotAsk."""


@dataclass(frozen=True, slots=True)
class AskingTools:
    """Tools that may ask the person while they run.

    Attributes:
        source_of: where the tool of a name comes from, as the user names it; None where none of these has it.
        run: runs one, with how to tell of progress where that is wanted.
        refresh: has to be waited for before `source_of` knows them as they are now.
    """

    source_of: Callable[[str], str | None]
    run: Callable[[str, dict[str, Any], Send | None, "Ui"], Awaitable[Answer]]
    refresh: Callable[[str], Awaitable[None]] | None = None

    def has(self, name: str) -> bool:
        return self.source_of(name) is not None


class ClientUi:
    """The person at the client's end, as one call of a project's tool reaches them: one question at a time.

    Attributes:
        has_ui: the client says that it can ask.
    """

    def __init__(self, tool: str, source: str, ask: Ask, *, has_ui: bool) -> None:
        """Args:
        source: where the tool comes from, as the user names it.
        """
        self.has_ui = has_ui
        self._tool = tool
        self._source = source
        self._ask = ask
        self._turn = trio.Lock()
        self._asked = 0

    async def confirm(self, text: str) -> bool:
        """Whether the person says yes. Raises CannotAsk, UsageError."""
        answer = await self._answer(text, {"type": "boolean", "title": "Yes?"})
        if isinstance(answer, bool | None):
            return answer is True
        raise self._unusable()

    async def select(self, text: str, options: list[str]) -> str | None:
        """Which of the options the person takes, None where it is none. Raises CannotAsk, UsageError."""
        _check_options(options)
        shown = [escape(option) for option in options]
        answer = await self._answer(text, {"type": "string", "title": "One of these", "enum": shown})
        if answer is None:
            return None
        if isinstance(answer, str) and answer in shown:
            return options[shown.index(answer)]
        raise self._unusable()

    async def input(self, text: str) -> str | None:
        """What the person writes, None where they don't want to. Raises CannotAsk, UsageError."""
        answer = await self._answer(text, {"type": "string", "title": "Text", "maxLength": limits.REPLY_CHARS})
        if answer is None or (isinstance(answer, str) and len(answer) <= limits.REPLY_CHARS):
            return answer
        raise self._unusable()

    async def _answer(self, text: str, field: dict[str, Any]) -> object:
        """What was filled in, None where the person did not want to answer."""
        if not self.has_ui:
            raise CannotAsk(
                f"Tool {self._tool!r} can't ask anything: this client does not ask its user for servers "
                "(MCP's `elicitation`). Give the tool what it needs as arguments, or use another client."
            )
        if len(text) > limits.QUESTION_CHARS:
            raise UsageError(f"A question has at most {limits.QUESTION_CHARS:,} characters: ask in fewer.")
        schema = {"type": "object", "properties": {FIELD: field}, "required": [FIELD]}
        async with self._turn:
            if self._asked == limits.QUESTIONS_PER_CALL:
                raise CannotAsk(
                    f"Tool {self._tool!r} has asked {self._asked} times in this call, which is the most: have it "
                    "ask for more at once, or take what it needs as arguments."
                )
            self._asked += 1
            reply = await self._ask(Question(self._label(text), schema))
        match reply:
            case Reply("decline" | "cancel"):
                return None
            case Reply("accept", {"answer": bool() | str() as answer}):
                return answer
            case _:
                raise self._unusable()

    def _label(self, text: str) -> str:
        return f"Tool {self._tool!r} of this project ({escape(self._source)}) asks:\n\n{escape(text)}"

    def _unusable(self) -> CannotAsk:
        return CannotAsk(
            f"The client's answer to what tool {self._tool!r} asked is not one that was asked for. Call again, or give "
            "the tool what it needs as arguments."
        )


def _check_options(options: list[str]) -> None:
    """Raises UsageError."""
    if not 0 < len(options) <= limits.QUESTION_OPTIONS:
        raise UsageError(f"A question has 1 to {limits.QUESTION_OPTIONS} options, and not {len(options)}.")
    if len(set(options)) < len(options):
        raise UsageError("A question has two options that are the same: leave one out.")
    if max(map(len, options)) > limits.QUESTION_OPTION_CHARS:
        raise UsageError(f"An option has at most {limits.QUESTION_OPTION_CHARS} characters: name it in fewer.")
