"""What the source of a tool's module says of it. It is looked at, and not run."""

import ast
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Final

from bridge import limits
from bridge.manifest.parsed import show

Remark = tuple[int, str]
"""A line, and a sentence."""

_SAID: Final = ("description", "parameters")


def why_no_python(source: bytes) -> Remark | None:
    """Where Python can't read a source, and why, or None."""
    return None if isinstance(read := _parse(source), ast.Module) else read


def has_one_tool(source: bytes) -> bool:
    """Whether it can be seen that a module has no further tool beside the one that the manifest names."""
    module = _parse(source)
    if not isinstance(module, ast.Module):
        return False
    names = {name for name, _ in _assigned(module.body)}
    names |= {
        node.name for node in module.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    return bool(names & {"tool", "execute"}) and "tools" not in names


def remarks_on(source: bytes) -> Iterator[Remark]:
    """What an agent would miss in what a module says of its tool, as far as that is written out."""
    module = _parse(source)
    if not isinstance(module, ast.Module):
        return
    said = _find_said(module)
    if (node := said.get("description")) is not None and isinstance(description := _value(node), str):
        if not description.strip():
            yield node.lineno, "The description is empty. Say what the tool does, and when to use it."
        elif len(description) > limits.DESCRIPTION_CHARS:
            yield (
                node.lineno,
                f"The description has {len(description):,} characters, and {limits.DESCRIPTION_CHARS:,} are allowed. "
                "Say the most important things in two or three sentences.",
            )
    if (node := said.get("parameters")) is not None:
        for name, part in _properties(node).items():
            fields = _value(part)
            if isinstance(fields, dict) and "description" not in fields:
                yield part.lineno, f"The parameter {show(name)} has no description. Say what is meant by it."


def _parse(source: bytes) -> ast.Module | Remark:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        return error.lineno or 1, f"This is not Python: {error.msg}. Correct it."
    except ValueError as error:  # older Pythons say so of a NUL
        return 1, f"This is not Python: {error}. Correct it."
    except (RecursionError, MemoryError):
        return 1, "This is nested too deeply for Python. Make it plainer."


def _find_said(module: ast.Module) -> dict[str, ast.expr]:
    """`description` and `parameters` of the one tool: of the module itself, or in its `tool`."""
    assigned = dict(_assigned(module.body))
    match assigned.get("tool"):
        case ast.Dict() as tool:
            return {name: node for name, node in _members(tool).items() if name in _SAID}
        case None:
            for node in module.body:
                if isinstance(node, ast.ClassDef) and node.name == "tool":  # a class is made an object
                    assigned = dict(_assigned(node.body))
            return {name: node for name, node in assigned.items() if name in _SAID}
        case _:
            return {}


def _assigned(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case _:
                pass


def _members(node: ast.Dict) -> dict[str, ast.expr]:
    keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
    return {key: value for key, value in zip(keys, node.values, strict=True) if isinstance(key, str)}


def _properties(node: ast.expr) -> Mapping[str, ast.expr]:
    properties = _members(node).get("properties") if isinstance(node, ast.Dict) else None
    return _members(properties) if isinstance(properties, ast.Dict) else {}


def _value(node: ast.expr) -> Any:  # noqa: ANN401  # a literal
    """What is written there, or None where that has to be run."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return None
