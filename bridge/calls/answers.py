"""What an agent gets: one text, what comes with it, one structured form of it, and whether it is an error."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.calls.results import clean_text
from bridge.errors import BridgeError
from bridge.page.media import Media, Resource


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer.

    Attributes:
        structured: says the same as `text`, or carries the facts of an error beside its sentence.
        media: pictures, sounds and resources; `text` has a line for each.
        notes: what we have to say beside the result, each apart from it.
    """

    text: str
    structured: Mapping[str, Any] | None = None
    is_error: bool = False
    media: tuple[Media | Resource, ...] = ()
    notes: tuple[str, ...] = ()


def answer_json(content: dict[str, Any]) -> Answer:
    """An answer of our own making: compact JSON, so that nothing in it can be taken for anything else."""
    text = clean_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")))
    return Answer(text, json.loads(text))


def answer_error(error: BridgeError, **facts: object) -> Answer:
    """Say what failed and what to do; the structured part has the stable code and whether anything ran."""
    text = clean_text(str(error))
    structured = {
        "code": error.code,
        "message": text,
        "outcome": error.outcome,
        "dispatched": error.dispatched,
        **error.facts(),
        **facts,
    }
    return Answer(text, structured, is_error=True)
