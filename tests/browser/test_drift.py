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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

import bridge
from bridge.wire import commands
from bridge.wire.commands import _READERS, Command, finish_command, parse_event
from bridge.wire.router import Json, RawEvent

BRIDGE: Final = Path(bridge.__file__).parent
DEPTH: Final = 5
"""Deeper, a message has only what it must have: types refer to themselves."""


class Told(dict[str, Any]):
    """A message that notes which fields were asked for that the protocol has not."""

    def __init__(self, fields: Json, known: set[str] | None, where: str, missed: list[str]) -> None:
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
            self._missed.append(f"{self._where}.{key}")


@dataclass
class Protocol:
    """What a browser says at `/json/protocol`."""

    version: str
    commands: dict[str, Json] = field(default_factory=dict[str, Json])
    events: dict[str, Json] = field(default_factory=dict[str, Json])
    types: dict[str, Json] = field(default_factory=dict[str, Json])

    def message(self, method: str, fields: list[Json], *, whole: bool, missed: list[str]) -> Told:
        """One with these fields: all of them, or those that are never left out."""
        return self._object(fields, method, method.partition(".")[0], missed, DEPTH if whole else 0)

    def enums(self, method: str, fields: list[Json]) -> Iterator[tuple[str, str]]:
        """Each field with an enumeration at the top of a message, and each of its values."""
        for one in fields:
            for value in self._resolve(one, method.partition(".")[0])[0].get("enum", ()):
                yield one["name"], value

    def _object(self, fields: list[Json], where: str, domain: str, missed: list[str], depth: int) -> Told:
        told = {
            one["name"]: self._value(one, f"{where}.{one['name']}", domain, missed, depth - 1)
            for one in fields
            if depth > 0 or not one.get("optional")
        }
        return Told(told, {one["name"] for one in fields}, where, missed)

    def _resolve(self, one: Json, domain: str) -> tuple[Json, str]:
        if "$ref" not in one:
            return one, domain
        name = one["$ref"] if "." in one["$ref"] else f"{domain}.{one['$ref']}"
        return self.types[name], name.partition(".")[0]

    def _value(self, one: Json, where: str, domain: str, missed: list[str], depth: int) -> Any:
        one, domain = self._resolve(one, domain)
        match one["type"]:
            case "object" if "properties" in one:
                return self._object(one["properties"], where, domain, missed, depth)
            case "object":
                return Told({}, None, where, missed)
            case "array":
                return [self._value(one["items"], f"{where}[]", domain, missed, depth)]
            case "string" | "binary":
                return one.get("enum", ["text"])[0]
            case kind:
                return {"boolean": True, "integer": 1, "number": 1.5, "any": "anything"}[kind]


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


def source_trees() -> Iterator[ast.Module]:
    for file in sorted(BRIDGE.rglob("*.py")):
        yield ast.parse(file.read_text())


def imported_from_commands(tree: ast.Module) -> dict[str, Any]:
    """Names that a module has from `bridge.wire.commands`, and what they are."""
    return {
        name.asname or name.name: getattr(commands, name.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "bridge.wire.commands"
        for name in node.names
    }


def called(node: ast.Call, names: dict[str, Any]) -> Callable[..., Command] | None:
    """The command that a call makes, if it makes one."""
    match node.func:
        case ast.Name(name):
            found = names.get(name)
        case ast.Attribute(ast.Name(module), name) if isinstance(names.get(module), types.ModuleType):
            found = getattr(names[module], name)
        case _:
            return None
    return found if inspect.isgeneratorfunction(found) else None


def used_commands() -> dict[Callable[..., Command], set[str]]:
    """Every command that the bridge sends, with the names of the arguments that it gives somewhere."""
    used: dict[Callable[..., Command], set[str]] = {}
    for tree in source_trees():
        names = imported_from_commands(tree)
        for node in ast.walk(tree):
            function = called(node, names) if isinstance(node, ast.Call) else None
            if function is not None:
                assert isinstance(node, ast.Call)
                parameters = list(inspect.signature(function).parameters)
                given = {*parameters[: len(node.args)], *(word.arg for word in node.keywords if word.arg)}
                used.setdefault(function, set()).update(given)
    return used


def own_commands() -> set[Callable[..., Command]]:
    """Those that `bridge.wire.commands` writes itself."""
    return {
        one
        for one in vars(commands).values()
        if inspect.isgeneratorfunction(one) and one.__module__ == commands.__name__
    }


def make(function: Callable[..., Command], given: set[str]) -> Command:
    """The command, with something in each of the arguments that are given, or that have to be."""
    hints = typing.get_type_hints(function)
    parameters = inspect.signature(function).parameters.values()
    needed = {one.name for one in parameters if one.default is inspect.Parameter.empty}
    # Of our own, all count: nobody writes a parameter that is not used.
    wanted = set(hints) - {"return"} if function in own_commands() else needed | given
    return function(**{name: something(hints[name]) for name in wanted})


def something(hint: Any) -> Any:
    """A value of that type."""
    kinds = [one for one in typing.get_args(hint) if one is not type(None)]
    if typing.get_origin(hint) is tuple:
        return (something(kinds[0]),)
    if kinds:
        return something(kinds[0])
    if hint in (str, bool, int, float):
        return {str: "text", bool: True, int: 1, float: 1.5}[hint]
    base: type = next(one for one in (str, int, float) if issubclass(hint, one))
    constructor: Any = hint
    return constructor.from_json(something(base))


USED: Final = {next(make(function, given))["method"]: (function, given) for function, given in used_commands().items()}


def test_every_command_and_event_that_is_named_anywhere_is_among_those_that_are_checked():
    named = {
        node.value
        for tree in source_trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"(?:[A-Z][a-z]+)+\.[a-z]+(?:[A-Z][a-z]*)*", node.value)
    }

    assert len(USED) > 20
    assert named <= {*USED, *_READERS}
    assert own_commands() <= {function for function, _ in USED.values()}


# Held against the protocol


@pytest.mark.parametrize("method", USED)
def test_chromium_knows_the_command_and_its_parameters(protocol: Protocol, method: str):
    function, given = USED[method]
    assert method in protocol.commands, f"{protocol.version} has no {method}"
    parameters = protocol.commands[method].get("parameters", [])
    required = {one["name"] for one in parameters if not one.get("optional")}

    sent = set(next(make(function, given)).get("params", {}))

    assert sent <= {one["name"] for one in parameters}, f"{protocol.version} does not know all parameters of {method}"
    assert required <= sent, f"{protocol.version} needs more parameters for {method}"


@pytest.mark.parametrize("method", USED)
def test_chromium_answers_a_command_with_the_fields_that_are_read(protocol: Protocol, method: str):
    function, given = USED[method]
    returns = protocol.commands[method].get("returns", [])
    missed: list[str] = []

    for whole in (True, False):
        command = make(function, given)
        next(command)
        finish_command(command, protocol.message(method, returns, whole=whole, missed=missed))

    assert missed == [], f"{protocol.version} does not have these fields"


@pytest.mark.parametrize("method", _READERS)
def test_chromium_tells_of_an_event_with_the_fields_that_are_read(protocol: Protocol, method: str):
    assert method in protocol.events, f"{protocol.version} has no {method}"
    fields = protocol.events[method].get("parameters", [])
    missed: list[str] = []

    def read(params: Json) -> object:
        event = parse_event(RawEvent(method, params, None))
        assert not isinstance(event, RawEvent), f"{method} of {protocol.version} can't be read: {params}"
        return event

    for whole in (True, False):
        read(protocol.message(method, fields, whole=whole, missed=missed))
    for name, value in protocol.enums(method, fields):
        read(protocol.message(method, fields, whole=True, missed=missed) | {name: value})

    assert missed == [], f"{protocol.version} does not have these fields"


def test_chromium_says_what_is_looked_for(protocol: Protocol):
    def told(method: str, attribute: str) -> set[object]:
        fields = protocol.events[method]["parameters"]
        params = protocol.message(method, fields, whole=False, missed=[])
        events = [parse_event(RawEvent(method, params | {name: value}, None)) for name, value in choices(method)]
        return {getattr(event, attribute) for event in events}

    def choices(method: str) -> Iterator[tuple[str, str]]:
        return protocol.enums(method, protocol.events[method]["parameters"])

    assert told("Page.frameDetached", "is_removed") == {True, False}
    assert told("Page.frameNavigated", "is_restored") == {True, False}
    assert {"alert", "confirm", "prompt", "beforeunload"} <= told("Page.javascriptDialogOpening", "kind")
