"""What takes secrets out of texts and JSON before anybody else reads them: an agent, or whoever opens the log."""

import json
import logging
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, cast

from bridge import limits
from bridge.calls.answers import Answer
from bridge.calls.frame import escape
from bridge.errors import BridgeError
from bridge.page.media import Media, Resource

SECRET: Final = "[secret]"

OURS: Final = frozenset({"code", "outcome", "type"})
"""Facts of an answer whose words are ours alone, and known to programs."""


class Masks:
    """Puts `[secret]` where a secret is, be it written plainly, as in a sentence of ours or as in JSON.

    Args:
        secrets: longer ones go first, so that one which holds another goes as a whole.
        shortest: characters of the shortest that is masked. A secret of fewer than four is not taken out of results:
            it is part of too many words and numbers, and what is left would be of no use.
    """

    def __init__(self, secrets: Iterable[str], *, shortest: int = limits.MASKED_SECRET_CHARS) -> None:
        forms = {form for secret in secrets if len(secret) >= max(shortest, 1) for form in _forms(secret)}
        self._forms = sorted(forms, key=_longest_first)

    def also(self, other: "Masks") -> "Masks":
        """What takes out what either of them does."""
        if not other._forms:
            return self
        both = Masks(())
        both._forms = sorted({*self._forms, *other._forms}, key=_longest_first)
        return both

    def text(self, text: str) -> str:
        """The text without secrets; the very same where there is none in it."""
        parts = [text]
        for form in self._forms:
            # What was put in is looked at no more: a secret may be a part of that word.
            if form in text:
                parts = [part for piece in parts for part in piece.split(form)]
        return text if len(parts) == 1 else SECRET.join(parts)

    def value(self, value: object) -> object:
        """JSON without secrets, names of fields included. A number with a secret in its digits becomes a text.

        Args:
            value: nested no deeper than arguments and results may be.
        """
        return self._value(value) if self._forms else value

    def answer(self, answer: Answer) -> Answer:
        """An answer without secrets, whoever's words they are in: result, notes, or the sentence of an error."""
        if not self._forms:
            return answer
        return replace(
            answer,
            text=self.text(answer.text),
            structured=None if answer.structured is None else self._facts(answer.structured),
            media=tuple(map(self._media, answer.media)),
            notes=tuple(map(self.text, answer.notes)),
            facts=self._facts(answer.facts),
        )

    def error(self, error: BridgeError) -> BridgeError:
        """An error whose sentence, and what it ends with, has no secrets."""
        return error.reworded(self.text(str(error)), self.text(error.said))

    def _facts(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        return {name: fact if name in OURS else self._value(fact) for name, fact in facts.items()}

    def _media(self, media: Media | Resource) -> Media | Resource:
        if isinstance(media, Media) or media.text is None:
            return media
        return replace(media, text=self.text(media.text))

    def _value(self, value: object) -> object:
        match value:
            case str():
                return self.text(value)
            case bool() | None:
                return value
            case list():
                return [self._value(part) for part in cast("list[object]", value)]
            case dict():
                parts = cast("dict[str, object]", value)
                return {self.text(name): self._value(part) for name, part in parts.items()}
            case _:
                text = str(value)
                return value if self.text(text) == text else SECRET


class _LogFilter(logging.Filter):
    def __init__(self, masks: Callable[[], Masks]) -> None:
        super().__init__()
        self._masks = masks

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        if (masked := self._masks().text(text)) != text:
            record.msg, record.args = masked, None
        return True


@contextmanager
def masked_logs(masks: Callable[[], Masks]) -> Generator[None]:
    """Take secrets out of what is logged during the block, whoever logs it.

    Args:
        masks: those of the moment.
    """
    log_filter = _LogFilter(masks)
    handlers = tuple(logging.getLogger().handlers)
    for handler in handlers:
        handler.addFilter(log_filter)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(log_filter)


def _longest_first(form: str) -> tuple[int, str]:
    return -len(form), form


def _forms(secret: str) -> set[str]:
    """How a secret may be written, itself among that."""
    in_json = (json.dumps(secret, ensure_ascii=False)[1:-1], json.dumps(secret)[1:-1])
    return {secret, escape(secret), escape(secret, json=True), *in_json}
