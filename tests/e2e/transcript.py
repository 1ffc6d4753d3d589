"""The rules for what a server may say, held against all that a client says and hears over one stdio.

1. Each request has exactly one answer, and what is no request has none.
2. A request that was taken back has none. One that was on its way meanwhile is passed over; the line for that is drawn
   by a mark, a request that the server reads after the cancellation: what comes behind its answer was sent knowingly.
3. Progress is told of requests that are open.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count
from typing import Any

RequestId = int | str


class RuleBroken(AssertionError):
    """The server said what it must not, or left out what it must say."""


@dataclass
class Request:
    """What may be said of one id.

    Attributes:
        is_owed: an answer has to come.
        crossing: the numbers of those that were taken back, and whose answers may be on their way.
        answers: how many came.
    """

    is_owed: bool = False
    crossing: list[int] = field(default_factory=list[int])
    answers: int = 0

    @property
    def is_open(self) -> bool:
        return self.is_owed or bool(self.crossing)


class Transcript:
    """Of one connection. What is said is noted before it is sent, and what is heard in its order."""

    def __init__(self) -> None:
        self.requests: dict[RequestId, Request] = defaultdict(Request)
        self._tokens: dict[RequestId, set[RequestId]] = defaultdict(set)
        self._marks: dict[RequestId, int] = {}
        self._numbers = count()

    def ask(self, request_id: RequestId, token: RequestId | None = None) -> None:
        """Args:
        token: how the client wants to hear of its progress.
        """
        request = self.requests[request_id]
        assert not request.is_owed, "an id belongs to one open request"
        request.is_owed = True
        if token is not None:
            self._tokens[token].add(request_id)

    def mark(self, request_id: RequestId) -> None:
        """A request that draws the line: the server does with it what comes after all that was said before."""
        self.ask(request_id)
        self._marks[request_id] = next(self._numbers)

    def take_back(self, request_id: RequestId) -> None:
        request = self.requests[request_id]
        if request.is_owed:
            request.is_owed = False
            request.crossing.append(next(self._numbers))

    def hear(self, message: dict[str, Any]) -> None:
        """Raises RuleBroken."""
        match message:
            case {"method": "notifications/progress", "params": {"progressToken": token}}:
                if not any(self.requests[request_id].is_open for request_id in self._tokens.get(token, ())):
                    raise RuleBroken(f"progress of nothing that is open: {message}")
            case {"id": int() | str() as request_id, "result": _} | {"id": int() | str() as request_id, "error": _}:
                self._hear_answer(request_id, message)
            case _:
                raise RuleBroken(f"nobody asked for that: {message}")

    def _hear_answer(self, request_id: RequestId, message: dict[str, Any]) -> None:
        request = self.requests[request_id]
        if request.is_owed:
            request.is_owed = False
        elif request.crossing:
            request.crossing.pop(0)
        else:
            raise RuleBroken(f"one answer too many: {message}")
        request.answers += 1
        line = self._marks.pop(request_id, None)
        if line is not None:
            for other in self.requests.values():
                other.crossing = [number for number in other.crossing if number > line]

    def end(self) -> None:
        """The server has said all. Raises RuleBroken."""
        if owed := [request_id for request_id, request in self.requests.items() if request.is_owed]:
            raise RuleBroken(f"never answered: {owed}")
