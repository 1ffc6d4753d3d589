"""A project of modules, and a session that plays the bridge to them."""

import logging
import textwrap
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import trio

from bridge.errors import NotAllowed
from bridge.tools.modules.modules import Modules, open_modules
from bridge.tools.modules.paths import find_declared
from bridge.tools.modules.process import ModuleProcess
from bridge.tools.modules.programs import ExecResult, plain_environment, run_program
from bridge.tools.modules.tool import Declared
from bridge.tools.own import PastCall


@dataclass
class Page:
    """Notes what it is asked for."""

    asked: list[tuple[object, ...]] = field(default_factory=list)
    answer: Any = "of the page"

    async def evaluate(self, expression: str, page: str | None = None) -> Any:
        self.asked.append(("evaluate", expression, page))
        return self.answer

    async def call_tool(self, page: str, tool: str, arguments: dict[str, Any]) -> Any:
        self.asked.append(("call_tool", page, tool, arguments))
        raise NotAllowed(f"Tool {tool!r} may not run.")

    async def call(self, name: str, arguments: dict[str, Any]) -> Any:
        self.asked.append(("call", name, arguments))
        return self.answer


@dataclass
class Person:
    """Answers each question, or is not there."""

    has_ui: bool = True

    async def confirm(self, text: str) -> bool:
        self._check()
        return text.startswith("yes")

    async def select(self, text: str, options: list[str]) -> str | None:
        self._check()
        return options[-1]

    async def input(self, text: str) -> str | None:
        self._check()
        return None

    def _check(self) -> None:
        if not self.has_ui:
            raise NotAllowed("There is nobody to ask.")


@dataclass
class Session:
    """What the bridge is to a module."""

    directory: Path
    session_id: str = "s1"
    agent: str | None = "tester"
    env: Mapping[str, str] = field(default_factory=dict)
    calls: list[PastCall] = field(default_factory=list)
    page: Page = field(default_factory=Page)
    ui: Person = field(default_factory=Person)
    depth: int = 0
    logger: logging.Logger = field(default_factory=lambda: logging.getLogger("tests"))
    reports: list[tuple[object, ...]] = field(default_factory=list)
    reported: trio.Event = field(default_factory=trio.Event)

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        self.reports.append((done, total, message))
        self.reported.set()

    async def exec(self, command: list[str], *, timeout: float | None = None, cwd: str | None = None) -> ExecResult:  # noqa: ASYNC109  # the contract's own word
        where = self.directory / (cwd or ".")
        return await run_program(command, cwd=where, env=plain_environment(self.env), seconds=timeout)


class Project:
    """A folder with modules in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.session = Session(folder)
        self._declared: list[Declared] = []

    def write(self, path: str, source: str) -> Path:
        """Write a file, with a new look whatever the clock says."""
        file = self.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(textwrap.dedent(source), encoding="utf-8")
        return file

    def add(self, path: str, source: str, *, name: str = "") -> None:
        """Write a module, and declare it."""
        self.write(path, source)
        self._declared.append(Declared(find_declared(path, self.folder), path, name))

    def add_tool(self, name: str, body: str, *, head: str = "") -> None:
        """A module with one tool: `execute(args, context)` with this body. `async` before it makes it a coroutine."""
        is_async, _, code = ("async ", "", body[6:]) if body.split(maxsplit=1)[0] == "async" else ("", "", body)
        self.add(
            f"tools/{name}.py",
            f"{textwrap.dedent(head)}\ndescription = {name!r}\nparameters = {{'type': 'object'}}\n\n"
            f"{is_async}def execute(args, context):\n{textwrap.indent(textwrap.dedent(code), '    ')}\n",
        )

    @asynccontextmanager
    async def open(self, *, taken: tuple[str, ...] = ()) -> AsyncGenerator["Opened"]:
        with trio.fail_after(30):
            async with open_modules(self._declared, self.session, taken=taken) as modules:
                yield Opened(modules, self.session)


class Opened:
    """Its modules, loaded."""

    def __init__(self, modules: Modules, session: Session) -> None:
        self.modules = modules
        self.session = session

    @property
    def names(self) -> list[str]:
        return [tool.name for tool in self.modules.tools]

    @property
    def problems(self) -> str:
        return "\n".join(failed.reason for failed in self.modules.failed)

    async def call_and_take_back(self, name: str, **arguments: Any) -> None:
        """Call a tool, and take the call back when it reports for the first time."""
        self.session.reported = trio.Event()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(self.call, name, **arguments))
            await self.session.reported.wait()
            nursery.cancel_scope.cancel()

    @property
    def processes(self) -> tuple[ModuleProcess, ...]:
        """Those of the first module."""
        pool = self.modules._modules[0].pool
        assert pool is not None
        return pool.running

    async def call(self, name: str, **arguments: Any) -> Any:
        tool = self.modules.find(name)
        assert tool is not None, f"{name} is not there: {self.problems}"
        return await tool.execute(arguments, self.session)
