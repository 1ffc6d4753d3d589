"""What a tool of a project begins with: a module that works, and a test of it, or a built-in tool as a module."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, cast

from bridge.manifest.manifest import BUILT_IN

_COLUMNS: Final = 100
_MODULE: Final = '''\
"""The tool `{name}` of this project. pagebridge loads it anew when it is changed."""

from collections.abc import Mapping
from typing import Any


def count_words(args: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Return text, or what JSON can hold. An exception's message is what the agent reads: say in it what to change.

    `context` has session_id, agent, directory, env, signal, progress, page, exec, ui and logger. What is printed goes
    to pagebridge's stderr.
    """
    words = args["text"].split()
    if not words:
        raise ValueError("There are no words in `text`. Give it at least one.")
    return {{"words": len(words), "longest": max(words, key=len)}}


tool = {{
    "title": "Count words",
    "description": "Count the words of a text, and find the longest one.",
    "parameters": {{
        "type": "object",
        "properties": {{"text": {{"type": "string", "description": "Words with spaces between them"}}}},
        "required": ["text"],
        "additionalProperties": False,
    }},
    "read_only": True,
    "execute": count_words,
}}
'''
_TEST: Final = '''\
"""Run with `python {path}`; pytest finds it, too."""

import runpy
import unittest
from pathlib import Path

MODULE = Path(__file__).parents[1] / "tools" / "{name}.py"


class {title}Test(unittest.TestCase):
    def setUp(self) -> None:
        self.execute = runpy.run_path(str(MODULE))["tool"]["execute"]

    def test_words_are_counted(self) -> None:
        self.assertEqual(self.execute({{"text": "one and another"}}, None), {{"words": 3, "longest": "another"}})

    def test_a_text_without_words_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            self.execute({{"text": " "}}, None)


if __name__ == "__main__":
    unittest.main()
'''
_EJECTED: Final = '''\
"""The built-in tool {name}, as a tool of this project.

It does what the built-in one does, until you change it:

- `title` is for people. `description` is for agents: what the tool does, and when to use it.
- `parameters` is a JSON Schema. An agent can send nothing else: take away what it shall not choose.
- `mode` is the least one in which the tool is offered: ask, act or dev.
- `read_only` says that it changes nothing.
- `execute` may change the arguments, do more, before or after, and return something else. What
  comes from a page stays set apart as such.

A change counts from the next call on.
`pagebridge tools restore {name}` brings the built-in one back.
"""

title = {title}
description = {description}
parameters = {parameters}
mode = {mode}
read_only = {read_only}


async def execute(args, context):
    # With builtin: before its name, this is the built-in tool, whatever pagebridge.toml says.
    return await context.page.call("{source}", args)
'''


class BuiltInTool(Protocol):
    """What of a built-in tool its module says."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> Mapping[str, Any]: ...
    @property
    def read_only(self) -> bool: ...


def module_of_built_in(tool: BuiltInTool, *, mode: str) -> str:
    """A module that does what the built-in tool does, through `context.page.call`.

    Args:
        mode: the least one in which the built-in tool is offered.
    """
    said = {"title": tool.title, "description": tool.description, "parameters": tool.parameters, "mode": mode}
    parts = {key: _literal(value, taken=len(f"{key} = ")) for key, value in said.items()}
    return _EJECTED.format(name=tool.name, source=f"{BUILT_IN}{tool.name}", read_only=tool.read_only, **parts)


def module_of(name: str) -> str:
    """The module of a tool of this name."""
    return _MODULE.format(name=name)


def test_of(name: str) -> str:
    """The test of that module."""
    title = "".join(word.capitalize() for word in name.split("_"))
    return _TEST.format(name=name, title=title, path=f"tests/test_{name}.py")


def _literal(value: object, *, indent: str = "", taken: int = 0) -> str:
    """A JSON value as Python has it: in one line, or where that is too long in a line for each part.

    Args:
        indent: of the line that it begins in.
        taken: columns of that line that are not for it.
    """
    flat = _flat(value)
    if taken + len(flat) <= _COLUMNS:
        return flat
    inner = f"{indent}    "
    match value:
        case Mapping():
            items = cast("Mapping[str, object]", value).items()
            keys = [(f"{_flat(key)}: ", item) for key, item in items]
            parts = [f"{key}{_literal(item, indent=inner, taken=len(inner + key) + 1)}," for key, item in keys]
            opening, closing = "{}"
        case list() | tuple():
            items = cast("Sequence[object]", value)
            parts = [f"{_literal(item, indent=inner, taken=len(inner) + 1)}," for item in items]
            opening, closing = "[]"
        case str() if value:
            width = _COLUMNS - len(inner) - len('""')
            wrap = textwrap.TextWrapper(width, drop_whitespace=False, replace_whitespace=False, expand_tabs=False)
            parts = [_flat(part) for part in wrap.wrap(value)]
            opening, closing = "()"
        case _:
            return flat
    return "\n".join([opening, *(f"{inner}{part}" for part in parts), f"{indent}{closing}"])


def _flat(value: object) -> str:
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False)  # what it escapes means the same in Python
        case Mapping():
            items = cast("Mapping[str, object]", value).items()
            return f"{{{', '.join(f'{_flat(key)}: {_flat(item)}' for key, item in items)}}}"
        case list() | tuple():
            return f"[{', '.join(map(_flat, cast('Sequence[object]', value)))}]"
        case _:
            return repr(value)
