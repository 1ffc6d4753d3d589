"""The modules of a project: which tools they offer, and how these run."""

import logging
from collections.abc import AsyncGenerator, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

import trio

from bridge import limits
from bridge.errors import BridgeError, ToolNotFound, UsageError
from bridge.tools.modules.asked import Context
from bridge.tools.modules.frames import Json
from bridge.tools.modules.pool import Pool, tell_session
from bridge.tools.modules.process import Ended, ModuleProcess
from bridge.tools.modules.source import Watched, read_source
from bridge.tools.modules.tool import Declared, ModuleTool, read_tools, run_named
from bridge.tools.modules.values import NotJson, check_json
from bridge.wire.nursery import open_background

logger = logging.getLogger(__name__)

_SESSION_ENDS: Final = {"reason": "shutdown"}


@dataclass(frozen=True)
class Failed:
    """A module that offers nothing, and why."""

    label: str
    name: str
    reason: str


class _Module:
    """One module, and what came of its latest load."""

    def __init__(
        self, declared: Declared, nursery: trio.Nursery, session: Context, waiting: list[ModuleProcess]
    ) -> None:
        self.declared = declared
        self.tools: tuple[ModuleTool, ...] = ()
        self.pool: Pool | None = None
        self.problem = ""
        self.loading = trio.Lock()
        self._nursery = nursery
        self._session = session
        self._waiting = waiting
        self._watched = Watched({})

    def has_changed(self) -> bool:
        if self.pool is not None:
            self._watched.add(self.pool.files)
        # What did not load may have lacked a file.
        return self._watched.has_changed() or (bool(self.problem) and self._watched.has_company())

    async def load(self) -> None:
        """Load it as it is now. What is wrong with it becomes its problem, and nobody else's."""
        if self.pool is not None:
            self.pool.retire()
        self.pool, self.tools, self.problem = None, (), ""
        path = self.declared.path
        try:
            source = read_source(path)
        except UsageError as error:
            self._watched = Watched({path: None})
            self.problem = str(error)
            return
        self._watched = Watched({path: source.sha256})
        pool = Pool(self._nursery, source, self.declared.label, self._session, self._waiting)
        try:
            async with pool.take(self._session.depth):
                pass
            self.tools = tuple(read_tools(self.declared, pool))
        except BridgeError as error:
            pool.retire()
            self._watched.add(pool.files)
            self.problem = str(error)
        except BaseException:
            pool.retire()
            raise
        else:
            self.pool = pool


class Modules:
    """All modules of a project. Made by `open_modules`."""

    def __init__(
        self, declared: Iterable[Declared], session: Context, taken: Collection[str], nursery: trio.Nursery
    ) -> None:
        self._session = session
        self._taken = taken
        self._nursery = nursery
        self._waiting: list[ModuleProcess] = []
        self._modules = [_Module(one, nursery, session, self._waiting) for one in _once(declared)]
        self._places = trio.CapacityLimiter(limits.MODULES_AT_ONCE)
        self._tools: dict[str, ModuleTool] = {}
        self._failed: tuple[Failed, ...] = ()
        self._has_said_goodbye = False

    @property
    def tools(self) -> tuple[ModuleTool, ...]:
        return tuple(self._tools.values())

    @property
    def failed(self) -> tuple[Failed, ...]:
        """Those that did not load, and tools whose name belongs to another."""
        return self._failed

    def find(self, name: str) -> ModuleTool | None:
        return self._tools.get(name)

    async def refresh(self, tool: str | None = None) -> bool:
        """Load anew what has changed since it was loaded; what runs meanwhile ends as it was. Call it between calls.

        Args:
            tool: only the module of this one, where it is known, so that no other module is waited for.

        Returns:
            Whether something was loaded anew: there may be other tools now, or the same with other code.
        """
        owners = [module for module in self._modules if any(one.name == tool for one in module.tools)]
        async with trio.open_nursery() as nursery:
            loaded: list[bool] = []
            for module in owners or self._modules:
                nursery.start_soon(self._refresh, module, loaded)
        if any(loaded):
            self._sort_out()
        return any(loaded)

    async def _refresh(self, module: _Module, loaded: list[bool]) -> None:
        async with module.loading:
            if module.has_changed():
                async with self._places:
                    await module.load()
                loaded.append(True)

    async def tell_session(self, event: dict[str, Any]) -> None:
        """Tell each module that wants to know: `{"reason": "page_attached", ...}`. Bounded, and never an error."""
        async with trio.open_nursery() as nursery:
            for module in self._modules:
                if module.pool is not None and module.pool.has_hook("on_session"):
                    for process in module.pool.running:
                        nursery.start_soon(tell_session, process, event, self._session)

    @property
    def actions(self) -> dict[str, str]:
        """What waits to be resolved: a label by id."""
        pools = [module.pool for module in self._modules if module.pool is not None]
        return dict(item for pool in pools for process in pool.running for item in process.actions.items())

    async def rewrite(self, event: dict[str, Any], context: Context) -> tuple[Json, bool]:
        """Let `on_result` of each module rewrite a result, in their order. One that fails, or does not end, changes
        nothing.

        Args:
            event: `{"tool", "arguments", "result", "is_error"}`, JSON.

        Returns:
            The result, and whether it is an error.
        """
        for module in self._modules:
            pool = module.pool
            if pool is None or not pool.has_hook("on_result"):
                continue
            with trio.move_on_after(limits.MODULE_HOOK_SECONDS) as scope:
                try:
                    async with pool.take(context.depth) as process:
                        changed = await process.ask("on_result", {"event": event}, context)
                    match changed:
                        case {"result": result, "is_error": bool(is_error)}:
                            check_json(result)
                            event = {**event, "result": result, "is_error": is_error}
                        case _:
                            logger.warning("on_result of %s gave something else than a result.", pool.label)
                except (Ended, NotJson, BridgeError) as error:
                    logger.warning("on_result of %s failed: %s", pool.label, error)
            if scope.cancelled_caught:
                logger.warning("on_result of %s did not end within %g s.", pool.label, limits.MODULE_HOOK_SECONDS)
        return event["result"], event["is_error"]

    async def resolve(self, action: str, how: Literal["apply", "discard"], reason: str, context: Context) -> Json:
        """Carry out what a tool has prepared, or say that it is not wanted. Once, whatever comes of it.

        Raises:
            ToolNotFound: there is no such action, or not any more.
            ModuleThrew, ResultUnusable, ModuleGone: it ran, or may have.
        """
        for pool in [module.pool for module in self._modules if module.pool is not None]:
            async with pool.take_action(action) as taken:
                if taken is not None:
                    process, label = taken
                    given = {"action": action, "how": how, "reason": reason}
                    return await run_named(process, "resolve", given, label, context)
        raise ToolNotFound(
            f"There is no action {action!r} that waits: it was resolved already, or its process has ended. "
            "Call the tool again that prepares it."
        )

    def has_hook(self, name: str) -> bool:
        return any(module.pool is not None and module.pool.has_hook(name) for module in self._modules)

    async def declare(self, declared: Iterable[Declared]) -> None:
        """Have these modules and no others: new ones are loaded; of those that are gone, what runs ends as it was."""
        before = {module.declared: module for module in self._modules}
        self._modules = [
            before.pop(one, None) or _Module(one, self._nursery, self._session, self._waiting)
            for one in _once(declared)
        ]
        for module in before.values():
            if module.pool is not None:
                module.pool.retire()
        async with trio.open_nursery() as nursery:
            for module in self._modules:
                if module.pool is None:
                    nursery.start_soon(self._load, module)
        self._sort_out()

    async def load(self) -> None:
        """Load all of them."""
        async with trio.open_nursery() as nursery:
            for module in self._modules:
                nursery.start_soon(self._load, module)
        self._sort_out()

    async def _load(self, module: _Module) -> None:
        async with module.loading, self._places:
            await module.load()

    def _sort_out(self) -> None:
        """Which of the modules' tools there are; a name belongs to who has it first."""
        tools: dict[str, ModuleTool] = {}
        failed: list[Failed] = []
        for module in self._modules:
            label = module.declared.label
            if module.problem:
                failed.append(Failed(label, module.declared.name, module.problem))
            for tool in module.tools:
                if tool.name in self._taken and tool.name != module.declared.name:
                    reason = f"{label} has a tool {tool.name!r}, and so has the bridge: give it another name."
                    failed.append(Failed(label, tool.name, reason))
                elif (other := tools.get(tool.name)) is not None:
                    reason = f"{label} has a tool {tool.name!r}, and so has {other.source}: give one another name."
                    failed.append(Failed(label, tool.name, reason))
                else:
                    tools[tool.name] = tool
        for one in failed:
            if one not in self._failed:
                logger.warning("%s", one.reason)
        self._tools, self._failed = tools, tuple(failed)

    async def say_goodbye(self) -> None:
        """Tell each module that its session ends, once. While this is waited for, nobody may end their processes."""
        if self._has_said_goodbye:
            return
        self._has_said_goodbye = True
        with trio.move_on_after(limits.MODULE_SHUTDOWN_SECONDS, shield=True):
            await self.tell_session(_SESSION_ENDS)


def _once(declared: Iterable[Declared]) -> list[Declared]:
    """Each file once, or once for each name that it is declared under."""
    all_of_them = list({(one.path, one.name): one for one in declared}.values())
    named = {one.path for one in all_of_them if one.name}
    return [one for one in all_of_them if one.name or one.path not in named]


@asynccontextmanager
async def open_modules(
    declared: Iterable[Declared], session: Context, *, taken: Collection[str] = ()
) -> AsyncGenerator[Modules]:
    """Load modules, and keep what they need running for the length of the block.

    Args:
        session: what hooks are run with; its directory is the project's.
        taken: names of the bridge's own tools. A module that is declared under one of them takes its place.
    """
    async with open_background() as nursery:
        modules = Modules(declared, session, taken, nursery)
        await modules.load()
        try:
            yield modules
        finally:
            await modules.say_goodbye()
