"""What a module exports, read into one form.

It is a `tool` (or the module itself) with `description`, `parameters` and `execute`, as attributes or as keys; or a
`tools`, which is one or many of these, or a function of an `api` that returns or yields them, or promises them. Nothing
of ours has to be imported for that.
"""

import inspect
from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final, cast

from bridge import limits

HOOKS: Final = ("on_result", "on_session")
RENDERERS: Final = ("render_call", "render_result")
MODES: Final = ("ask", "act", "dev")
_CALL_ID: Final = ("tool_call_id", "toolCallId")

Function = Callable[..., Any]


class NotATool(Exception):
    """`str(error)` is a sentence that says what the module has to export."""


@dataclass(frozen=True, kw_only=True)
class ExportedTool:
    """One tool as its module gave it.

    Attributes:
        facts: what the bridge is told of it.
        has_call_id: `execute` takes (tool_call_id, params, on_update, ctx, signal), and else (args, context).
    """

    facts: dict[str, Any]
    execute: Function
    has_call_id: bool
    renderers: Mapping[str, Function]


@dataclass(frozen=True)
class Exported:
    """Everything that a module exports.

    Attributes:
        hooks: by name, those of the module and of its tools.
    """

    tools: Sequence[ExportedTool]
    hooks: Mapping[str, Sequence[Function]]


def find_given(module: ModuleType, api: object) -> object:
    """What a module exports as its tools: an object, many of them, or a promise of them.

    Raises:
        NotATool: it exports none.
    """
    match [name for name in ("tool", "tools") if hasattr(module, name)]:
        case ["tool", "tools"]:
            raise NotATool("It has both `tool` and `tools`: keep one of them.")
        case ["tool"]:
            return module.tool
        case ["tools"]:
            return _call_factory(module.tools, api)
        case _ if hasattr(module, "execute"):
            return module
        case _:
            raise NotATool(
                "It exports no tool: define `tool` with `description`, `parameters` and `execute(args, context)`, or a "
                "function `tools(api)` that returns such objects."
            )


def _call_factory(tools: object, api: object) -> object:
    given = tools(*fitting(tools, api)) if callable(tools) and not hasattr(tools, "execute") else tools
    if inspect.isasyncgen(given):
        return _all_of(given)
    return list(given) if inspect.isgenerator(given) else given


async def _all_of(given: AsyncIterable[object]) -> list[object]:
    return [one async for one in given]


def read_exported(given: object, module: ModuleType) -> Exported:
    """Read what `find_given` found, once it is no promise any more.

    Raises:
        NotATool: a tool among it is none; says what is missing.
    """
    many = list(cast("Sequence[object]", given)) if isinstance(given, list | tuple) else [given]
    if not many:
        raise NotATool("Its list of tools is empty: return at least one.")
    if len(many) > limits.MODULE_TOOLS:
        raise NotATool(f"It has {len(many):,} tools, and {limits.MODULE_TOOLS} are allowed: make more modules.")
    owners = [one() if inspect.isclass(one) else one for one in many]
    for number, owner in enumerate(owners):
        _check_kind(owner, f"Tool {number}" if len(owners) > 1 else "Its tool")
    tools = [_read_tool(owner, f" of tool {number}" if len(owners) > 1 else "") for number, owner in enumerate(owners)]
    owners = owners if any(owner is module for owner in owners) else [module, *owners]
    hooks = {name: [found for owner in owners if (found := _function(owner, name, "")) is not None] for name in HOOKS}
    return Exported(tools, {name: found for name, found in hooks.items() if found})


def _check_kind(owner: object, which: str) -> None:
    if all(_get(owner, name) is None for name in ("description", "parameters", "execute")):
        hint = "; a function that makes tools is named `tools`" if inspect.isroutine(owner) else ""
        raise NotATool(
            f"{which} is of the type `{type(owner).__name__}`, and has no `description`, `parameters` and `execute`: "
            f"give an object or a dict that has them{hint}."
        )


def _read_tool(owner: object, which: str) -> ExportedTool:
    description = _get(owner, "description")
    if not isinstance(description, str) or not description.strip():
        raise NotATool(f"`description`{which} must be a string with at least one word in it.")
    if len(description) > limits.DESCRIPTION_CHARS:
        raise NotATool(
            f"`description`{which} has {len(description):,} characters, and {limits.DESCRIPTION_CHARS:,} are allowed."
        )
    execute = _function(owner, "execute", which)
    if execute is None:
        raise NotATool(f"`execute`{which} must be a function that takes (args, context).")
    facts = {
        "name": _text(owner, which, "name"),
        "title": _text(owner, which, "title", "label"),
        "description": description,
        "parameters": _schema(owner, which),
        "mode": _mode(owner, which),
        "read_only": _flag(owner, which, "read_only"),
        "coerce": _flag(owner, which, "coerce"),
        "hidden": _flag(owner, which, "hidden"),
        "page_derived": _flag(owner, which, "page_derived"),
    }
    found = {name: _function(owner, name, which) for name in RENDERERS}
    renderers = {name: renderer for name, renderer in found.items() if renderer is not None}
    facts["renders"] = bool(renderers)
    return ExportedTool(facts=facts, execute=execute, has_call_id=takes_call_id(execute, which), renderers=renderers)


def takes_call_id(execute: Function, which: str = "") -> bool:
    """Whether `execute` has the form that begins with the id of the call, and not (args, context).

    Raises:
        NotATool: it has neither.
    """
    try:
        parameters = inspect.signature(execute).parameters.values()
    except (TypeError, ValueError):
        return False  # written in C; it says nothing
    kinds = inspect.Parameter
    places = [one for one in parameters if one.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    required = [one.name for one in places[5:] if one.default is kinds.empty]
    required += [one.name for one in parameters if one.kind is kinds.KEYWORD_ONLY and one.default is kinds.empty]
    if required:
        raise NotATool(f"`execute`{which} asks for {required[0]!r}, which nobody gives it: take (args, context).")
    if places:
        return places[0].name in _CALL_ID or sum(one.default is kinds.empty for one in places) > 2
    if any(one.kind is kinds.VAR_POSITIONAL for one in parameters):
        return False
    raise NotATool(f"`execute`{which} takes nothing: it must take (args, context).")


def fitting(function: Function, *given: object) -> tuple[object, ...]:
    """As much of what there is to give as a function takes."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return given  # written in C; it says nothing
    kinds = inspect.Parameter
    if any(one.kind is kinds.VAR_POSITIONAL for one in parameters):
        return given
    takes = sum(one.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD) for one in parameters)
    return given[:takes]


def _get(owner: object, *names: str) -> object:
    """The first of these that is there, as a key or an attribute."""
    for name in names:
        if isinstance(owner, Mapping):
            found = cast("Mapping[str, object]", owner).get(name)
        else:
            found = getattr(owner, name, None)
        if found is not None:
            return found
    return None


def _function(owner: object, name: str, which: str) -> Function | None:
    found = _get(owner, name)
    if found is None or callable(found):
        return found
    raise NotATool(f"`{name}`{which} must be a function, and not {type(found).__name__}.")


def _text(owner: object, which: str, *names: str) -> str:
    found = _get(owner, *names)
    if found is None:
        return ""
    if not isinstance(found, str) or len(found) > limits.NAME_CHARS:
        raise NotATool(f"`{names[0]}`{which} must be a string of at most {limits.NAME_CHARS} characters.")
    return found


def _flag(owner: object, which: str, name: str) -> bool:
    found = _get(owner, name)
    if found is None:
        return False
    if not isinstance(found, bool):
        raise NotATool(f"`{name}`{which} must be True or False.")
    return found


def _mode(owner: object, which: str) -> str:
    found = _get(owner, "mode")
    if found is None:
        return "ask" if _flag(owner, which, "read_only") else "act"
    if found not in MODES:
        raise NotATool(f"`mode`{which} must be one of {', '.join(MODES)}.")
    return str(found)


def _schema(owner: object, which: str) -> dict[str, Any]:
    found = _get(owner, "parameters")
    if (of_model := getattr(found, "model_json_schema", None)) is not None:
        found = of_model()
    if not isinstance(found, dict) or cast("dict[str, Any]", found).get("type") != "object":
        raise NotATool(f'`parameters`{which} must be a JSON Schema with "type": "object".')
    return cast("dict[str, Any]", found)
