"""What the bridge uses of the protocol, held against what the running Chromium says that it speaks.

Nothing here lists what is used: commands are found in the bridge's own source, and the fields that are read by letting
the bridge read messages made of the protocol's own description.
"""

import ast
import inspect
import json
import re
import types
import typing
import urllib.request
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final, Literal, Self

import pytest

import bridge
from bridge.page import console, network, snapshot
from bridge.page.frames import FrameId, Realm
from bridge.page.watch import Watch, readers_of
from bridge.settings import Inspected
from bridge.wire import commands, devtools
from bridge.wire.commands import _READERS, Command, finish_command, parse_event
from bridge.wire.router import Json, RawEvent, SessionId

BRIDGE: Final = Path(bridge.__file__).parent
DEPTH: Final = 5
"""Deeper, a message has only what it must have: types refer to themselves."""
SHARES: Final = (1.0, 0.0, *[0.5] * 200)
"""How much of what may be left out a message has: all of it, nothing, and whatever falls out that often."""
ALL: Final = frozenset[Inspected](typing.get_args(Inspected))
READERS: Final = {**_READERS, **readers_of(ALL)}
UNKNOWN: Final = ...
"""A value that the source does not tell."""


class OneOf(tuple[Any, ...]):
    """A value that is one of these."""


class Word(str):
    """A word of an enumeration that notes what it was compared with that is none."""

    words: Sequence[str]
    where: str
    missed: set[str]

    @classmethod
    def of(cls, words: Sequence[str], where: str, missed: set[str], random: Random) -> Self:
        word = cls(random.choice(words))
        word.words, word.where, word.missed = words, where, missed
        return word

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and other not in self.words:
            self.missed.add(f"{self.where}={other}")
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


class Told(dict[str, Any]):
    """A message that notes which fields were asked for that the protocol has not."""

    def __init__(self, fields: Json, known: set[str] | None, where: str, missed: set[str]) -> None:
        super().__init__(fields)
        self._known = known
        self._where = where
        self._missed = missed

    def __getitem__(self, key: str) -> Any:
        self._note(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._note(key)
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self._note(key)
        return super().get(key, default)

    def _note(self, key: object) -> None:
        if self._known is not None and key not in self._known:
            self._missed.add(f"{self._where}.{key}")


@dataclass
class Protocol:
    """What a browser says at `/json/protocol`."""

    version: str
    commands: dict[str, Json] = field(default_factory=dict[str, Json])
    events: dict[str, Json] = field(default_factory=dict[str, Json])
    types: dict[str, Json] = field(default_factory=dict[str, Json])

    def answers(self, method: str, missed: set[str]) -> Iterator[Told]:
        """What a command may be answered with; `missed` gets what is asked for in vain."""
        return self._messages(method, self.commands[method].get("returns", []), missed)

    def news(self, method: str, missed: set[str]) -> Iterator[Told]:
        """What an event may come with."""
        return self._messages(method, self.events[method].get("parameters", []), missed)

    def unfit(self, method: str, params: Json) -> list[str]:
        """What of the parameters of a command is not as it has to be."""
        known = {"type": "object", "properties": self.commands[method].get("parameters", [])}
        return [*self._unfit(params, known, method, method.partition(".")[0])]

    def words(self, name: str, attribute: str = "") -> set[str]:
        """The enumeration of a type, or of a field of a type or an event."""
        one = self.types.get(name) or self.events[name]
        fields = one.get("properties") or one.get("parameters") or ()
        return {*next((part for part in fields if part["name"] == attribute), one)["enum"]}

    def _messages(self, method: str, fields: list[Json], missed: set[str]) -> Iterator[Told]:
        random = Random(method)
        for share in SHARES:
            maker = _Maker(self, missed, random, share)
            yield maker.make_object(fields, method, method.partition(".")[0], DEPTH)

    def resolve(self, one: Json, domain: str) -> tuple[Json, str]:
        """A type that is named, and whose domain it is."""
        if "$ref" not in one:
            return one, domain
        name = one["$ref"] if "." in one["$ref"] else f"{domain}.{one['$ref']}"
        return self.types[name], name.partition(".")[0]

    def _unfit(self, value: object, one: Json, where: str, domain: str) -> Iterator[str]:
        one, domain = self.resolve(one, domain)
        match value:
            case OneOf():
                for choice in value:
                    yield from self._unfit(choice, one, where, domain)
            case dict() if "properties" in one:
                known = {part["name"]: part for part in one["properties"]}
                for name in value.keys() - known.keys():
                    yield f"{where}.{name} is not known"
                for name, part in known.items():
                    if name in value:
                        yield from self._unfit(value[name], part, f"{where}.{name}", domain)
                    elif not part.get("optional"):
                        yield f"{where}.{name} is needed"
            case list() | tuple():
                for item in value:
                    yield from self._unfit(item, one["items"], f"{where}[]", domain)
            case None:
                pass  # left out
            case _:
                if "enum" in one and value not in one["enum"]:
                    yield f"{where}={value}"


@dataclass
class _Maker:
    """Makes messages: `share` of what may be left out is in them."""

    protocol: Protocol
    missed: set[str]
    random: Random
    share: float

    def make_object(self, fields: list[Json], where: str, domain: str, depth: int) -> Told:
        told = {
            one["name"]: self._make(one, f"{where}.{one['name']}", domain, depth - 1)
            for one in fields
            if not one.get("optional") or (depth > 0 and self.random.random() < self.share)
        }
        return Told(told, {one["name"] for one in fields}, where, self.missed)

    def _make(self, one: Json, where: str, domain: str, depth: int) -> Any:
        one, domain = self.protocol.resolve(one, domain)
        match one["type"]:
            case "object" if "properties" in one:
                return self.make_object(one["properties"], where, domain, depth)
            case "object":
                return Told({}, None, where, self.missed)
            case "array":
                # As many numbers as a quad has.
                times = 8 if one["items"].get("type") == "number" else 1
                return [self._make(one["items"], f"{where}[]", domain, depth) for _ in range(times)]
            case "string" if "enum" in one:
                return Word.of(one["enum"], where, self.missed, self.random)
            case "string" | "binary":
                return "text"
            case kind:
                is_so = self.random.random() < 0.5
                return {"boolean": is_so, "integer": 1, "number": 1.5, "any": "anything"}[kind]


@pytest.fixture(scope="module")
def protocol(chromium: str) -> Protocol:
    """That of the browser of the tests."""
    http = re.sub(r"^ws(://[^/]+).*", r"http\1", chromium)

    def ask(path: str) -> Any:
        with urllib.request.urlopen(f"{http}{path}", timeout=30) as answer:
            return json.load(answer)

    spoken = Protocol(ask("/json/version")["Browser"])
    for domain in ask("/json/protocol")["domains"]:
        for kind, known in (("commands", spoken.commands), ("events", spoken.events)):
            known.update((f"{domain['domain']}.{one['name']}", one) for one in domain.get(kind, ()))
        spoken.types.update((f"{domain['domain']}.{one['id']}", one) for one in domain.get("types", ()))
    return spoken


# What the bridge uses


TREES: Final = [ast.parse(file.read_text()) for file in sorted(BRIDGE.rglob("*.py"))]


def words_in(node: ast.AST) -> OneOf:
    return OneOf(one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str))


def named_literals() -> dict[str, OneOf]:
    """Each name that a module gives to a `Literal`, and its words."""
    found: dict[str, OneOf] = {}
    for node in (node for tree in TREES for node in tree.body):
        match node:
            case ast.Assign([ast.Name(name)], ast.Subscript(ast.Name("Literal"))):
                found[name] = words_in(node.value)
            case _:
                pass
    return found


LITERALS: Final = named_literals()


def local_values(function: ast.AST) -> dict[str, list[ast.expr | OneOf]]:
    """What the names of a function stand for, as far as its source tells."""
    found: dict[str, list[ast.expr | OneOf]] = {}
    for node in ast.walk(function):
        match node:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
                found.setdefault(name, []).append(value)
            case ast.For(ast.Name(name), ast.Tuple(values)):
                found.setdefault(name, []).extend(values)
            case ast.arg(name, ast.expr() as annotation):
                ids = [one.id for one in ast.walk(annotation) if isinstance(one, ast.Name)]
                kinds = [LITERALS[name] for name in ids if name in LITERALS]
                found.setdefault(name, []).extend(kinds or [ast.Name("unknown")])
            case _:
                pass
    return found


def value_of(node: ast.expr | OneOf, names: dict[str, list[ast.expr | OneOf]]) -> Any:
    """What an expression comes to, `UNKNOWN` where the source does not tell."""
    match node:
        case OneOf():
            return node
        case ast.Constant(value):
            return value
        case ast.Dict(keys, values) if all(isinstance(key, ast.Constant) for key in keys):
            words = [key.value for key in keys if isinstance(key, ast.Constant)]
            return {word: value_of(value, names) for word, value in zip(words, values, strict=True)}
        case ast.List(items):
            return [value_of(item, names) for item in items]
        case ast.IfExp(_, one, other):
            return OneOf((value_of(one, names), value_of(other, names)))
        case ast.Name(name) if name in names:
            return OneOf(value_of(one, names) for one in names[name])
        case _:
            return UNKNOWN


def asked_commands() -> Iterator[tuple[str, Json]]:
    """Each command that stands in the source as a method and its parameters: as in `ask`, or as a dict behind it."""
    for function in (node for tree in TREES for node in ast.walk(tree)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        names = local_values(function)
        for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
            match call:
                case ast.Call(ast.Name("ask"), [ast.Constant(str(method))]):
                    assert all(word.arg for word in call.keywords), f"{method}: write its parameters out"
                    yield method, {str(word.arg): value_of(word.value, names) for word in call.keywords}
                case ast.Call(_, [*_, ast.Constant(str(method)), ast.Dict() | ast.Name() as params]) if is_name(method):
                    for one in value_of(params, names) if isinstance(params, ast.Name) else [value_of(params, names)]:
                        yield method, one
                case _:
                    pass


def is_name(text: object) -> bool:
    """Whether it can be the name of a command or an event."""
    return isinstance(text, str) and re.fullmatch(r"(?:[A-Z][A-Za-z]+)\.[a-z]+(?:[A-Z]+[a-z]*)*", text) is not None


def imported_commands(tree: ast.Module) -> dict[str, Any]:
    """Names that a module has from those that hold commands, and what they are."""
    return {
        name.asname or name.name: getattr(module, name.name)
        for module in (commands, devtools)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == module.__name__
        for name in node.names
    }


def is_command(one: object) -> bool:
    """Whether it makes a command of one method."""
    if not inspect.isfunction(one) or one is commands.ask:
        return False
    return typing.get_origin(typing.get_type_hints(one).get("return")) is Generator


def called(node: ast.Call, names: dict[str, Any]) -> Callable[..., Command] | None:
    """The command that a call makes, if it makes one."""
    match node.func:
        case ast.Name(name):
            found = names.get(name)
        case ast.Attribute(ast.Name(module), name) if isinstance(names.get(module), types.ModuleType):
            found = getattr(names[module], name)
        case _:
            return None
    return found if is_command(found) else None


def used_commands() -> dict[Callable[..., Command], set[str]]:
    """Every function whose command the bridge sends, with the names of the arguments that it gives somewhere."""
    used: dict[Callable[..., Command], set[str]] = {}
    for tree in TREES:
        names = imported_commands(tree)
        for node in ast.walk(tree):
            function = called(node, names) if isinstance(node, ast.Call) else None
            if function is not None:
                assert isinstance(node, ast.Call)
                parameters = list(inspect.signature(function).parameters)
                given = {*parameters[: len(node.args)], *(word.arg for word in node.keywords if word.arg)}
                used.setdefault(function, set()).update(given)
    return used


OWN: Final[set[Callable[..., Command]]] = {
    one
    for module in (commands, devtools)
    for one in vars(module).values()
    if is_command(one) and one.__module__ == module.__name__
}
"""Those that the bridge writes itself."""


def make(function: Callable[..., Command], given: set[str]) -> Command:
    """The command, with something in each of the arguments that are given, or that have to be."""
    hints = typing.get_type_hints(function)
    parameters = inspect.signature(function).parameters.values()
    needed = {one.name for one in parameters if one.default is inspect.Parameter.empty}
    # Of our own, all count: nobody writes a parameter that is not used.
    wanted = set(hints) - {"return"} if function in OWN else needed | given
    return function(**{name: something(hints[name]) for name in wanted})


def something(hint: Any) -> Any:
    """A value of that type."""
    kinds = [one for one in typing.get_args(hint) if one is not type(None)]
    if hint is Any:
        return UNKNOWN
    if typing.is_typeddict(hint):
        return {name: something(one) for name, one in typing.get_type_hints(hint).items()}
    if typing.get_origin(hint) is Literal:
        return OneOf(kinds)
    if typing.get_origin(hint) in (tuple, Sequence):
        return (something(kinds[0]),)
    if kinds:
        return something(kinds[0])
    if hint in (str, bool, int, float):
        return {str: "text", bool: True, int: 1, float: 1.5}[hint]
    base: type = next(one for one in (str, int, float) if issubclass(hint, one))
    constructor: Any = hint
    return constructor.from_json(something(base))


USED: Final = used_commands()
MADE: Final = [next(make(function, given)) for function, given in USED.items()]
SENT: Final = [*asked_commands(), *((one["method"], one.get("params", {})) for one in MADE)]


def test_every_command_and_event_that_is_named_anywhere_is_among_those_that_are_checked():
    named = {
        node.value
        for tree in TREES
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and is_name(node.value)
    }

    assert len(named) > 60
    assert named <= {*(method for method, _ in SENT), *READERS}
    assert USED.keys() >= OWN


# Held against the protocol


@pytest.mark.parametrize("method", sorted({method for method, _ in SENT}))
def test_chromium_knows_the_command_and_its_parameters(protocol: Protocol, method: str):
    assert method in protocol.commands, f"{protocol.version} has no {method}"

    for params in (params for name, params in SENT if name == method):
        assert protocol.unfit(method, params) == [], f"{protocol.version} takes other parameters"


@pytest.mark.parametrize("function", USED, ids=lambda function: function.__name__)
def test_chromium_answers_a_command_with_the_fields_that_are_read(protocol: Protocol, function: Callable[..., Command]):
    method = next(make(function, USED[function]))["method"]
    missed: set[str] = set()

    for answer in protocol.answers(method, missed):
        command = make(function, USED[function])
        next(command)
        finish_command(command, answer)

    assert missed == set(), f"{protocol.version} does not have these"


@pytest.mark.parametrize("method", READERS)
def test_chromium_tells_of_an_event_with_the_fields_that_are_read(protocol: Protocol, method: str):
    assert method in protocol.events, f"{protocol.version} has no {method}"
    missed: set[str] = set()
    watch = Watch(ALL)
    begun = "Network.requestWillBeSent"

    def read(method: str, params: Json) -> None:
        event = parse_event(RawEvent(method, params, None), READERS)
        assert not isinstance(event, RawEvent), f"{method} of {protocol.version} can't be read: {params}"
        watch.on_event(event, SessionId("session"), 1)

    for request, params in zip(protocol.news(begun, missed), protocol.news(method, missed), strict=True):
        read(begun, request)
        read(method, params)

    assert missed == set(), f"{protocol.version} does not have these"


@pytest.mark.parametrize("verbose", [False, True])
def test_chromium_describes_nodes_with_the_fields_that_a_snapshot_reads(protocol: Protocol, verbose: bool):
    missed: set[str] = set()
    realm = Realm("unique", 1, "https://a.test", FrameId("frame"), SessionId("session"))

    for answer in protocol.answers("Accessibility.getFullAXTree", missed):
        root = snapshot.build_tree(answer["nodes"])
        assert root is not None
        list(snapshot.write_tree(root, realm, verbose=verbose))
        snapshot.build_tree(answer["nodes"], 1)

    assert missed == set(), f"{protocol.version} does not have these"


def test_chromium_says_what_is_looked_for(protocol: Protocol):
    states = {state for state, _ in snapshot._STATES}
    looked_up = set[str]()
    for node in ast.walk(ast.parse(inspect.getsource(snapshot))):
        match node:
            case ast.Call(ast.Attribute(ast.Name("properties"), "get"), [ast.Constant(str(word)), *_]):
                looked_up.add(word)
            case ast.Subscript(ast.Name("properties"), ast.Constant(str(word))):
                looked_up.add(word)
            case ast.Compare(ast.Constant(str(word)), comparators=[ast.Name("properties")]):
                looked_up.add(word)
            case _:
                pass
    levels = protocol.words("Runtime.consoleAPICalled", "type") | protocol.words("Log.LogEntry", "level")

    assert {"focusable", "editable"} <= looked_up
    assert looked_up | states | {*snapshot._VALUES} <= protocol.words("Accessibility.AXPropertyName")
    assert console._LEVELS.keys() <= levels
    assert protocol.words("Network.ResourceType") >= network._NEVER_QUIET
    assert {"alert", "confirm", "prompt", "beforeunload"} <= protocol.words("Page.DialogType")
