"""The members of one object of a skill: each under its own name, of the type that it must have."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from bridge.tools.faults import plain, shown
from bridge.tools.skills.places import Node
from bridge.tools.skills.problems import Problems

Names = Mapping[str, tuple[str, ...]]
"""The name of each member, and how others write it."""


class Fields:
    """What an object has of the members that are known.

    Args:
        what: whose members these are, as the beginning of a sentence.
    """

    def __init__(self, node: Node, names: Names, what: str, problems: Problems) -> None:
        self.what = what
        self.problems = problems
        self._line = node.line
        self._found: dict[str, Node] = {}
        own = {alias: name for name, aliases in names.items() for alias in (name, *aliases)}
        for key, member in node.members():
            name = own.get(key)
            if name is None:
                self.warn_at(member.line, f"`{plain(key)}` is not known, and has no effect: remove it.")
            elif name in self._found:
                self.error_at(member.line, f"`{plain(key)}` gives `{name}` a second time: remove one.")
            else:
                if key != name:
                    self.warn_at(member.line, f"`{key}` is read as `{name}`: write that.")
                self._found[name] = member

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def get(self, name: str) -> Node | None:
        return self._found.get(name)

    def line(self, name: str) -> int:
        """Of that member, or of the object where it has none."""
        return self._found[name].line if name in self._found else self._line

    def error(self, name: str, sentence: str) -> None:
        self.error_at(self.line(name), sentence)

    def error_at(self, line: int, sentence: str) -> None:
        self.problems.error(line, f"{self.what}: {sentence}")

    def warn(self, name: str, sentence: str) -> None:
        self.warn_at(self.line(name), sentence)

    def warn_at(self, line: int, sentence: str) -> None:
        self.problems.warn(line, f"{self.what}: {sentence}")

    def text(self, name: str) -> str | None:
        value = self._value(name, str, "a string")
        if isinstance(value, str) and not value.strip():
            self.error(name, f"`{name}` is empty: give it a value, or remove it.")
            return None
        return value

    def flag(self, name: str) -> bool | None:
        return self._value(name, bool, "true or false")

    def object(self, name: str) -> dict[str, Any] | None:
        return self._value(name, dict, "an object")

    def whole(self, name: str) -> dict[str, Any] | None:
        """An object that is taken as it is: no name may be twice in it."""
        value = self.object(name)
        if value is not None and (repeated := self._found[name].find_repeated()) is not None:
            self.error(name, f"`{name}` has {plain(repeated)!r} twice in one object: remove one.")
        return value

    def list(self, name: str) -> list[Any] | None:
        return self._value(name, list, "a list")

    def number(self, name: str) -> float | None:
        node = self._found.get(name)
        if node is None:
            return None
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            self.error(name, f"`{name}` must be a number, not {shown(node.value)}.")
            return None
        return node.value

    def least(self, name: str, steps: Sequence[str]) -> int:
        """Which of the steps is the first that a list has; the very first where there is no list."""
        given = self.list(name)
        if given is None:
            return 0
        if not given or any(word not in steps for word in given):
            self.error(name, f"`{name}` must be a list of some of {', '.join(steps)}.")
            return 0
        return min(map(steps.index, given))

    def _value(self, name: str, kind: type[Any], needed: str) -> Any:  # noqa: ANN401  # of that kind, or None
        node = self._found.get(name)
        if node is None:
            return None
        if not isinstance(node.value, kind):
            self.error(name, f"`{name}` must be {needed}, not {shown(cast('object', node.value))}.")
            return None
        return node.value
