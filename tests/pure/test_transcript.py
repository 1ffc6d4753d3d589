"""The rules by which tests judge what a server says tell right from wrong."""

from typing import Any

import pytest

from tests.e2e.transcript import RuleBroken, Transcript


def say(transcript: Transcript, said: str) -> None:
    """`?1` asks, `!1` answers, `x1` takes back, `|1` is a mark, `*1` is progress, `0` is an error of nothing."""
    for word in said.split():
        match word[0], word[1:]:
            case "?", one:
                transcript.ask(one, f"t{one}")
            case "x", one:
                transcript.take_back(one)
            case "|", one:
                transcript.mark(one)
            case "!", one:
                transcript.hear({"id": one, "result": {}})
            case "*", one:
                transcript.hear({"method": "notifications/progress", "params": {"progressToken": f"t{one}"}})
            case _:
                transcript.hear({"id": None, "error": {"code": -32600}})
    transcript.end()


@pytest.mark.parametrize(
    "said",
    [
        "?1 !1",
        "?1 ?2 !2 !1",
        "?1 !1 ?1 !1",
        "?1 *1 *1 !1",
        "?1 x1",
        "?1 x1 !1",
        "?1 x1 *1",
        "?1 x1 x1 |m !m",
        "?1 x1 |m !1 !m",
        "?1 |m x1 !m !1",
        "?1 !1 x1 |m !m",
        "x1 |m !m",
        "?1 x1 ?1 !1",
        "?1 x1 ?1 !1 !1",
        "?1 x1 |m ?1 !m !1",
        "?1 x1 |m !m ?1 *1 !1",
    ],
)
def test_what_may_be_said_is_passed_over(said: str):
    say(Transcript(), said)


@pytest.mark.parametrize(
    "said",
    [
        "?1",
        "!1",
        "?1 !1 !1",
        "?1 !2 !1",
        "?1 x1 !1 !1",
        "?1 x1 |m !m !1",
        "?1 x1 |m ?1 !m !1 !1",
        "?1 x1 ?1",
        "?1 x1 |m !m ?1",
        "?1 x1 |m",
        "*1",
        "?1 !1 *1",
        "?1 x1 |m !m *1",
        "?1 !1 0",
    ],
)
def test_what_must_not_be_said_or_is_missing_is_found(said: str):
    with pytest.raises(RuleBroken):
        say(Transcript(), said)


@pytest.mark.parametrize(
    "message",
    [
        {"method": "notifications/message", "params": {}},
        {"method": "ping", "id": 1},
        {"id": True, "method": "ping"},
        {"id": 1.5, "result": {}},
    ],
    ids=str,
)
def test_what_nobody_asked_for_is_found(message: dict[str, Any]):
    transcript = Transcript()
    transcript.ask(1)
    with pytest.raises(RuleBroken):
        transcript.hear(message)
