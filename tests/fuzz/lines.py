"""What a client may send: a grammar of messages, ways to spoil them, and what must be true of the answers."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from hypothesis import strategies as st

from bridge.calls.built_ins import BUILT_INS
from bridge.serve.greeting import VERSIONS

INTERNAL_ERROR: Final = -32603
HUGE: Final = 10**30

META_OF_2026: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "fuzz", "version": "1"},
}

_text = st.text(st.characters(), max_size=12) | st.sampled_from(["", "p1", "\0", "\ud800", "__proto__", "x" * 5000])
_number = st.integers(-5, 5) | st.sampled_from([HUGE, -HUGE, 2**53, 0.5, 1e308, float("nan"), float("inf")])
values = st.recursive(
    st.none() | st.booleans() | _number | _text,
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(_text, parts, max_size=4),
    max_leaves=10,
)
_deep = st.integers(1, 5000).map(lambda depth: '{"a":' * depth + "1" + "}" * depth)

ids = st.integers(0, 9) | st.sampled_from(["a", "", "\u2028", "\ud800", HUGE, -1])
odd_ids = ids | values


def _maybe(known: Any, other: st.SearchStrategy[Any] = values) -> st.SearchStrategy[Any]:
    """Mostly something that is known, sometimes anything."""
    return st.integers(0, 9).flatmap(lambda number: st.sampled_from(known) if number else other)


_WORDS: Final[dict[str, st.SearchStrategy[Any]]] = {
    "page": _maybe(["p1", "p2", "p3", "p9"]),
    "tool": _maybe(["say", "fail", "ask", "hang", "#0.0", "#0.1", "#9.9"]),
    "arguments": _maybe([{}, None, "{}", {"a": 1}]) | _deep,
    "toolset": _text,
    "timeout_seconds": _maybe([0.1, 1, 30]),
    "select": _maybe(["", "/", "/0", "/a~1"]),
    "url": _maybe(["https://shop.test/1", "https://shop.test/9", "file:///etc/passwd", "javascript:1"]),
    "action": _maybe(["back", "forward", "reload"]),
    "accept": _maybe([True, False]),
    "text": _text,
    "group": _text,
    "cursor": _text,
    "_private": values,
}

arguments = st.fixed_dictionaries({}, optional=_WORDS) | values

calls = st.fixed_dictionaries(
    {"name": _maybe([*(tool.name for tool in BUILT_INS), "page_say"]), "arguments": arguments},
    optional={"_meta": st.fixed_dictionaries({}, optional={"progressToken": odd_ids}) | values, "requestState": values},
)

_CAPABILITY: Final = _maybe(["roots", "sampling", "elicitation", "experimental", "listChanged", "form", "tasks"], _text)

methods: Final[dict[str, st.SearchStrategy[Any]]] = {
    "tools/call": calls,
    "tools/list": st.fixed_dictionaries({}, optional={"cursor": values, "_meta": values}),
    "ping": st.just({}),
    "initialize": st.fixed_dictionaries(
        {
            "protocolVersion": _maybe([*VERSIONS, "2026-07-28"]),
            "capabilities": st.just({}) | st.dictionaries(_CAPABILITY, st.dictionaries(_CAPABILITY, values) | values),
            "clientInfo": _maybe([{"name": "fuzz", "version": "1"}])
            | st.fixed_dictionaries(
                {"name": st.just("fuzz"), "version": st.just("1")},
                optional={"title": values, "icons": st.lists(st.dictionaries(_maybe(["src", "sizes"], _text), values))},
            ),
        },
        optional={"_meta": values, "more": values},
    ),
    "subscriptions/listen": st.fixed_dictionaries({}, optional={"notifications": values, "_meta": values}),
    "server/discover": values,
    "resources/list": values,
    "logging/setLevel": st.fixed_dictionaries({"level": _maybe(["debug"])}),
    "completion/complete": values,
    "notifications/initialized": st.just({}),
    "notifications/cancelled": st.fixed_dictionaries({"requestId": odd_ids}, optional={"reason": values}),
    "notifications/progress": st.fixed_dictionaries({"progressToken": odd_ids, "progress": values}),
}


@st.composite
def messages(draw: st.DrawFn) -> Any:
    """A message whose method is known and whose words may be wild."""
    method = draw(st.sampled_from(["tools/call", "notifications/cancelled", *methods]))
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": draw(methods[method])}
    if not method.startswith("notifications/"):
        message["id"] = draw(ids)
    if draw(st.integers(0, 9)) == 0 and isinstance(message["params"], dict):
        meta = META_OF_2026 | draw(st.dictionaries(st.sampled_from(list(META_OF_2026)), values))
        message["params"] = message["params"] | {"_meta": meta}
    if draw(st.integers(0, 4)) == 0:
        message[draw(st.sampled_from(["id", "method", "params", "jsonrpc", "result", "error", "more"]))] = draw(values)
    if draw(st.integers(0, 9)) == 0:
        del message[draw(st.sampled_from(sorted(message)))]
    return message


@st.composite
def greetings(draw: st.DrawFn) -> bytes:
    """A first word, with something odd about it at times."""
    message: dict[str, Any] = {
        "jsonrpc": draw(_maybe(["2.0"])),
        "id": draw(odd_ids),
        "method": "initialize",
        "params": draw(methods["initialize"]),
    }
    message |= draw(st.just({}) | st.dictionaries(st.sampled_from(["more", "result", "error"]), values, max_size=1))
    coding = draw(st.sampled_from(["utf-8"] * 7 + ["utf-8-sig", "utf-16", "utf-16-le"]))
    return json.dumps(message, ensure_ascii=draw(st.booleans())).encode(coding, errors="surrogatepass")


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """A line, which may be no JSON, no message, several, or not even a line."""
    kind = draw(st.integers(0, 19))
    if kind == 0:
        return draw(st.binary(max_size=40))
    if kind == 1:
        return draw(_deep).encode()
    message = draw(st.lists(messages(), max_size=3)) if kind == 2 else draw(messages())
    line = json.dumps(message, ensure_ascii=draw(st.booleans())).encode(errors="surrogatepass")
    if kind == 3:
        place, cut = draw(st.integers(0, len(line))), draw(st.integers(0, 5))
        line = line[:place] + draw(st.binary(max_size=5)) + line[place + cut :]
    if kind == 4:
        line = draw(st.sampled_from([b"\xef\xbb\xbf", b" ", b"\t", b"\0", b"\x0b"])) + line
    if kind == 5:
        line += draw(st.sampled_from([b"\r", b" ", b"\n", b"\n\n", line]))
    if kind == 6:
        line = line.decode(errors="surrogatepass").encode("utf-16", errors="surrogatepass")
    return line


@dataclass
class Transcript:
    """What was sent and what came back, and the rules for that."""

    asked: Counter[str] = field(default_factory=Counter[str])
    """How often an id was used, in whatever looks like a request."""
    answered: Counter[str] = field(default_factory=Counter[str])
    refused: int = 0
    """Lines of which not even the id is to be trusted."""
    _prompt: Counter[str] = field(default_factory=Counter[str])
    """Requests that take no time, whatever is wrong with them."""
    _taken_back: set[str] = field(default_factory=set[str])

    def send(self, data: bytes) -> None:
        """Note what a client sends: one line or more."""
        for line in data.split(b"\n"):
            messages = _requests_in(line)
            for message in messages:
                # A batch is refused as a whole.
                self._note(message, alone=len(messages) == 1)

    def _note(self, message: dict[str, Any], *, alone: bool) -> None:
        if "id" in message:
            self.asked[_key(message["id"])] += 1
        match message:
            case {"method": "notifications/cancelled", "params": {"requestId": taken}}:
                self._taken_back.add(_key(taken))
            case {"result": _} | {"error": _} | {"method": "tools/call" | "subscriptions/listen"}:
                pass
            case {"id": request_id, "method": str()} if alone:
                self._prompt[_key(request_id)] += 1
            case _:
                pass

    def check_all_answered(self) -> None:
        """A line that could be a request has an answer, if not by its id, then as one that was refused."""
        missing = self._prompt - self.answered
        owed = {key: count for key, count in missing.items() if key not in self._taken_back}
        assert sum(owed.values()) <= self.refused, f"no answer to one of {owed}"

    def hear(self, line: bytes) -> dict[str, Any]:
        """Hold one line of stdout against the rules, and return it."""
        message = json.loads(line.decode(), parse_constant=_refuse)
        assert message["jsonrpc"] == "2.0", line
        if "method" in message:
            assert "id" not in message, line
            assert message["method"].startswith("notifications/"), line
            return message
        assert ("result" in message) != ("error" in message), line
        if message.get("error", {}).get("code") == INTERNAL_ERROR:
            raise AssertionError(f"a bug of ours: {line[:500]!r}")
        if message["id"] is None:
            assert "error" in message, line
            self.refused += 1
            return message
        key = _key(message["id"])
        self.answered[key] += 1
        assert self.answered[key] <= self.asked[key], f"one answer too many: {line[:500]!r}"
        return message


def _key(request_id: object) -> str:
    """5 and "5" are two ids."""
    return json.dumps(request_id)


def _requests_in(line: bytes) -> list[dict[str, Any]]:
    """What an agent could mean for messages, read as generously as can be."""
    try:
        value = json.loads(line.decode(errors="replace").strip("\ufeff\0 \t\r\x0b"))
    except (ValueError, RecursionError):
        return []
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")
