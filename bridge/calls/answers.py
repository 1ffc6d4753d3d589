"""What an agent gets: one text, what comes with it, one structured form of it, and whether it is an error.

Words of a page stand in JSON of ours, or in a frame (`bridge.calls.frame`), and the structured form says that they are
untrusted. Each of the two forms suffices alone: some clients hand on the one, some the other.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from secrets import token_hex
from typing import Any, Final, cast

from pydantic_core import to_json

from bridge import limits
from bridge.calls.frame import enclose, escape, frame, reveal, without_brackets
from bridge.calls.results import Shown, clean_text
from bridge.errors import BridgeError
from bridge.page.invocation import Ending
from bridge.page.media import Media, Resource

NONCE_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer.

    Attributes:
        structured: says the same as `text`, or carries the facts of an error beside its sentence.
        media: pictures, sounds and resources; `text` has a line for each.
        notes: what we have to say beside the result, each apart from it.
        facts: where no structured form can hold it all, what such a form would say besides.
        cause: the error that it tells of; or how a page's tool ended, where that is not what was called.
    """

    text: str
    structured: Mapping[str, Any] | None = None
    is_error: bool = False
    media: tuple[Media | Resource, ...] = ()
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    cause: BridgeError | Ending | None = field(default=None, compare=False)

    @property
    def code(self) -> str | None:
        """Of an error, which one it is."""
        return (self.structured or {}).get("code") if self.is_error else None

    @property
    def outcome(self) -> str:
        """How the call ended."""
        return (self.structured or {}).get("outcome", "unknown") if self.is_error else "completed"


def mint_nonce() -> str:
    return token_hex(NONCE_BYTES)


def provenance(origin: str) -> dict[str, Any]:
    """What the structured part says of words that a page of this origin has said."""
    return {"origin": reveal(origin), "untrusted": True}


def answer_json(content: dict[str, Any]) -> Answer:
    """An answer of our own making that holds words of pages: compact JSON, so that nothing in it can be taken for
    anything else."""
    structured = {"untrusted": True, **content}
    try:
        raw = to_json(structured).decode()
    except ValueError:  # half a pair of surrogates somewhere
        raw = clean_text(json.dumps(structured, ensure_ascii=False, separators=(",", ":")))
        structured = json.loads(raw)
    revealed = reveal(raw, json=True)
    return Answer(without_brackets(revealed), structured if revealed == raw else visible(structured))


def visible(value: Any) -> Any:  # noqa: ANN401  # JSON
    """JSON in which no string has anything hidden, for clients that hand on structured content in JSON of their own.

    `<` and `>` stay: no JSON is broken by them, and they are in values that a call has to repeat.
    """
    match value:
        case str():
            return value if reveal(value, json=True) == value else reveal(value)
        case list():
            return [visible(part) for part in cast("list[Any]", value)]
        case dict():
            return {visible(name): visible(part) for name, part in cast("dict[str, Any]", value).items()}
        case _:
            return value


_NAMED: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
_VALUES: Final = frozenset({"const", "default", "enum", "examples"})


def visible_words(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema in which no title and no description has anything hidden, nor `<` and `>`.

    Names and values stay what they are, since a call has to repeat them.
    """
    return {keyword: _visible_part(keyword, part) for keyword, part in schema.items()}


def _visible_part(keyword: str, part: Any) -> Any:  # noqa: ANN401  # JSON
    match part:
        case str() if keyword in ("title", "description"):
            return escape(part)
        case dict() if keyword in _NAMED:
            named = cast("dict[str, Any]", part)
            return {name: _visible_part("", inner) for name, inner in named.items()}
        case dict() if keyword not in _VALUES:
            return visible_words(cast("dict[str, Any]", part))
        case list() if keyword not in _VALUES:
            return [_visible_part("", inner) for inner in cast("list[Any]", part)]
        case _:
            return part


def answer_result(shown: Shown, origin: str, *, json: bool, media: tuple[Media | Resource, ...] = ()) -> Answer:
    """What a page's tool returned, in a frame; what we say of it stands outside.

    Args:
        json: it is JSON.
    """
    text = enclose(shown.text, origin, mint_nonce(), json=json)
    if shown.notice:
        text = f"{text}\n{shown.notice}"
    facts = provenance(origin)
    if media or len(shown.text) > limits.STRUCTURED_CHARS:
        return Answer(text, media=tuple(_framed(one, origin) for one in media), facts=facts)
    notice = {"notice": shown.notice} if shown.notice else {}
    return Answer(text, {**facts, "type": "json" if json else "text", "result": shown.text, **notice})


def _framed(media: Media | Resource, origin: str) -> Media | Resource:
    if isinstance(media, Media) or media.text is None:
        return media
    return replace(media, text=frame(clean_text(media.text), origin, mint_nonce()))


def answer_own(shown: Shown, *, json: bool, media: tuple[Media | Resource, ...] = ()) -> Answer:
    """What a tool returned that is the user's own: nothing in it can pass for a frame.

    Args:
        json: it is JSON.
    """
    text = f"{shown.text}\n{shown.notice}" if shown.notice else shown.text
    if media or len(shown.text) > limits.STRUCTURED_CHARS:
        return Answer(text, media=media)
    notice = {"notice": shown.notice} if shown.notice else {}
    return Answer(text, {"type": "json" if json else "text", "result": shown.text, **notice})


def beside(answer: Answer, facts: Mapping[str, Any], *notes: str) -> Answer:
    """An answer with more to say: facts of ours, which may quote words of pages, and sentences of ours."""
    told = answer_json(dict(facts)) if facts else None
    texts = (*notes, *((told.text,) if told is not None else ()))
    more = {name: (told.structured or {})[name] for name in facts} if told is not None else {}
    if answer.structured is None:
        return replace(answer, notes=(*answer.notes, *texts), facts={**answer.facts, **more})
    return replace(answer, notes=(*answer.notes, *texts), structured={**answer.structured, **more})


def answer_about(text: str, origin: str, *, media: tuple[Media | Resource, ...] = ()) -> Answer:
    """A sentence of ours about what a page's tool returned, where that is no text."""
    text = escape(clean_text(text), json=True)
    facts = provenance(origin)
    return Answer(text, media=media, facts=facts) if media else Answer(text, {**facts, "message": text})


def answer_error(error: BridgeError, **facts: object) -> Answer:
    """Say what failed and what to do; the structured part has the stable code and whether anything ran.

    A page's words that the sentence ends with are set apart from it; others are quoted in it.
    """
    said = clean_text(error.said)
    ours = escape(clean_text(str(error).removesuffix(error.said).rstrip(": ") if said else str(error)), json=True)
    structured = {
        "code": error.code,
        "message": ours,
        "outcome": error.outcome,
        "dispatched": error.dispatched,
        **visible(error.facts()),
        **facts,
    }
    if not said:
        return Answer(ours, structured, is_error=True, cause=error)
    structured |= {"said": escape(said), **provenance(error.origin)}
    return Answer(f"{ours}:\n{frame(said, error.origin, mint_nonce())}", structured, is_error=True, cause=error)


def with_origin(answer: Answer, origin: str | None) -> Answer:
    """An error with whose words may be quoted in it, where that is known."""
    if origin is None or not answer.is_error or answer.structured is None or "origin" in answer.structured:
        return answer
    return replace(answer, structured={**answer.structured, **provenance(origin)})
