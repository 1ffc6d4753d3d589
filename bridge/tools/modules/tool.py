"""One tool of a module: what the module says of it, read and checked, and how it runs."""

import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

import trio

from bridge import limits
from bridge.errors import BridgeError, ModuleThrew, ModuleUnusable, ResultUnusable, SchemaUnusable
from bridge.settings import Mode
from bridge.tools.modules.asked import Context
from bridge.tools.modules.frames import Json
from bridge.tools.modules.pool import Pool
from bridge.tools.modules.process import Ended, ModuleProcess, plain_lines
from bridge.tools.modules.results import read_result
from bridge.tools.modules.values import NotJson, check_json
from bridge.tools.naming import PREFIX
from bridge.tools.schema import check_schema

logger = logging.getLogger(__name__)

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_FACTS: Final = {
    "name": str,
    "title": str,
    "description": str,
    "parameters": dict,
    "mode": str,
    "read_only": bool,
    "coerce": bool,
    "page_derived": bool,
    "hidden": bool,
    "renders": bool,
}


@dataclass(frozen=True)
class Declared:
    """A module that somebody wants.

    Attributes:
        path: where it really is (`bridge.tools.modules.paths`).
        label: its path as a person knows it, such as `tools/weather.py`.
        name: what its one tool is called, or "" for its own name, or else that of the file.
    """

    path: Path
    label: str
    name: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class ModuleTool:
    """One tool of a module, as long as its files stay as they are.

    Attributes:
        parameters: its JSON Schema, which was checked.
        source: the module's path as a person knows it.
        sha256: of the bytes of its module that are run.
        coerce: arguments that do not fit may be taken for what they say.
        hidden: it is offered only where it is named.
        page_derived: the module says that its result holds words of a page.
        renders: it has a say in how its calls are shown to people.
        execute: runs it; what it returns is a str, any JSON, or a Content.
    """

    name: str
    title: str
    description: str
    parameters: dict[str, Any]
    source: str
    sha256: str
    mode: Mode
    read_only: bool
    coerce: bool
    page_derived: bool
    hidden: bool
    renders: bool
    execute: Callable[[dict[str, Any], Context], Awaitable[Json]]
    render_call: Callable[[dict[str, Any]], Awaitable[str | None]]
    render_result: Callable[[Any], Awaitable[str | None]]
    kind: Literal["project"] = "project"
    tier: Literal["compact"] = "compact"

    def seconds(self, _: Mapping[str, Any], /) -> float:
        """How long a call may take."""
        return limits.MODULE_CALL_SECONDS


def read_tools(declared: Declared, pool: Pool) -> Iterator[ModuleTool]:
    """What a module says of its tools, checked.

    Raises:
        ModuleUnusable: a name or a schema can't be used, or two have one name.
    """
    found = [_read_facts(declared, facts) for facts in pool.exported["tools"]]
    names = [_name_of(declared, facts["name"], alone=len(found) == 1) for facts in found]
    for number, (name, facts) in enumerate(zip(names, found, strict=True)):
        if not _NAME.fullmatch(name):
            raise ModuleUnusable(
                f"{declared.label} names a tool {name!r}: it needs at most 64 of a-z, 0-9 and _, a letter first."
            )
        if name.startswith(PREFIX):
            raise ModuleUnusable(
                f"{declared.label} names a tool {name!r}: names that begin with {PREFIX} are those of pages."
            )
        if name in names[:number]:
            raise ModuleUnusable(f"{declared.label} has two tools named {name!r}: give one of them another name.")
        try:
            check_json(facts["parameters"])
            check_schema(json.dumps(facts["parameters"]))
        except (NotJson, SchemaUnusable) as error:
            raise ModuleUnusable(f"`parameters` of {name!r} in {declared.label} can't be used: {error}") from error
        yield ModuleTool(
            name=name,
            title=facts["title"],
            description=facts["description"],
            parameters=facts["parameters"],
            source=declared.label,
            sha256=pool.source.sha256,
            mode=facts["mode"],
            read_only=facts["read_only"],
            coerce=facts["coerce"],
            page_derived=facts["page_derived"],
            hidden=facts["hidden"],
            renders=facts["renders"],
            execute=partial(_execute, pool, name, number),
            render_call=partial(_render_call, pool, number),
            render_result=partial(_render_result, pool, number),
        )


def _read_facts(declared: Declared, told: object) -> dict[str, Any]:
    """What the process says of one tool; a module may have changed what it says."""
    facts = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    if all(isinstance(facts.get(name), kind) for name, kind in _FACTS.items()) and facts["mode"] in get_args(Mode):
        return facts
    raise ModuleUnusable(f"{declared.label} changes what its process says of its tools: leave bridge.* as it is.")


def _name_of(declared: Declared, own: str, *, alone: bool) -> str:
    if alone and declared.name:
        return declared.name
    if not own and not alone:
        raise ModuleUnusable(f"{declared.label} has several tools: give each a `name`.")
    return own or declared.path.stem


async def _execute(pool: Pool, name: str, number: int, arguments: dict[str, Any], context: Context) -> Json:
    """Run a tool. Who is cancelled has its process ended, unless the tool stops by itself in time.

    Raises:
        ModuleThrew, ResultUnusable, ModuleGone: it ran, or may have.
        ModuleUnusable: nothing ran.
    """
    async with pool.take(context.depth) as process:
        return await run_named(process, "call", {"tool": number, "arguments": arguments}, name, context)


async def run_named(process: ModuleProcess, do: str, given: dict[str, Any], name: str, context: Context) -> Json:
    """Have a process do something for a tool, and read what comes of it. Raises as `execute`."""
    try:
        value = await process.ask(do, given, context)
        check_json(value)  # once more: the module can have changed our code in its process
        return read_result(value)
    except NotJson as error:
        raise ResultUnusable(name, str(error)) from error
    except Ended as error:
        if error.kind == "result":
            raise ResultUnusable(name, str(error)) from error
        logger.info("%s of %s failed:\n%s", name, process.label, plain_lines(error.traceback))
        raise ModuleThrew(name, str(error)) from error


async def _render_call(pool: Pool, number: int, arguments: dict[str, Any]) -> str | None:
    """What a person is shown of a call, or None where the module has nothing, or fails."""
    return await _render(pool, "render_call", number, arguments, {})


async def _render_result(pool: Pool, number: int, result: Json) -> str | None:
    """The same of a result."""
    return await _render(pool, "render_result", number, result, {"expanded": True, "is_partial": False})


async def _render(pool: Pool, do: str, number: int, *given: Json) -> str | None:
    with trio.move_on_after(limits.MODULE_HOOK_SECONDS):
        try:
            async with pool.take(pool.session.depth) as process:
                shown = await process.ask(do, {"tool": number, "given": given}, pool.session)
        except (Ended, BridgeError) as error:
            logger.warning("%s of %s failed: %s", do, pool.label, error)
            return None
        return shown if isinstance(shown, str) else None
    logger.warning("%s of %s did not end within %g s.", do, pool.label, limits.MODULE_HOOK_SECONDS)
    return None
