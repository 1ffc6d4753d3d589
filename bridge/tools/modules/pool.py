"""The processes that run one state of a module's files.

Each runs one call at a time, so that whatever a call does to its process, it does to itself alone. The first one stays
for the next calls, and what the module keeps in its globals stays with it; calls that come meanwhile have processes of
their own.
"""

import logging
from base64 import b64encode
from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from bridge import limits
from bridge.errors import BridgeError, ModuleUnusable
from bridge.tools.modules.asked import Context
from bridge.tools.modules.process import Ended, ModuleProcess, plain_lines
from bridge.tools.modules.source import Source

logger = logging.getLogger(__name__)

START = {"reason": "start"}


class Pool:
    """Over with `retire`.

    Attributes:
        session: what its hooks and renderers are run with.
        exported: what the module says it offers: `tools`, each with its facts, and the names of its `hooks`.

    Args:
        waiting: the processes of all pools that wait for a call, the one that has waited longest first.
    """

    def __init__(
        self, nursery: trio.Nursery, source: Source, label: str, session: Context, waiting: list[ModuleProcess]
    ) -> None:
        self.source = source
        self.label = label
        self.exported: dict[str, Any] = {}
        self._nursery = nursery
        self.session = session
        self._waiting = waiting
        self._idle: list[ModuleProcess] = []
        self._processes: list[ModuleProcess] = []
        self._files: dict[str, str] = {}
        self._turns: defaultdict[int, trio.CapacityLimiter] = defaultdict(
            lambda: trio.CapacityLimiter(limits.MODULE_PROCESSES)
        )
        self._freed = trio.Event()
        self._is_retired = False
        self._is_deaf = False

    @property
    def files(self) -> dict[Path, str]:
        """What its processes have imported of the project, with the hash of what the first of them read."""
        for process in self._processes:
            self._files = {**process.files, **self._files}
        return {Path(path): digest for path, digest in self._files.items()}

    def has_hook(self, name: str) -> bool:
        return name in self.exported.get("hooks", ()) and not (name == "on_session" and self._is_deaf)

    @property
    def running(self) -> tuple[ModuleProcess, ...]:
        return tuple(process for process in self._processes if process.is_usable)

    @asynccontextmanager
    async def take(self, depth: int) -> AsyncGenerator[ModuleProcess]:
        """A process for one request, for the length of the block. Waits where too many are at work.

        Args:
            depth: as `Context` has it. Each depth has turns of its own: who calls never holds what the called wait for.

        Raises:
            ModuleUnusable: none can be started any more, or the module is another one by now.
        """
        async with self._turns[depth]:
            if self._is_retired:
                raise ModuleUnusable(f"{self.label} has changed since it was listed. Nothing ran; list tools again.")
            process = self._find_idle() or await self._start()
            try:
                yield process
            finally:
                self._give_back(process)

    @asynccontextmanager
    async def take_action(self, action: str) -> AsyncGenerator[tuple[ModuleProcess, str] | None]:
        """The process that an action waits in, for the length of the block, and the action's label; it waits no more.

        None where there is no such action. Waits while the process is at work.
        """
        await trio.lowlevel.checkpoint()  # who is cancelled already leaves it where it is
        while (process := self._find_holder(action)) is not None and process not in self._idle:
            await self._freed.wait()
        if process is None:
            yield None
            return
        self._idle.remove(process)
        self._waiting.remove(process)
        try:
            yield process, process.actions.pop(action)
        finally:
            self._give_back(process)

    def _find_holder(self, action: str) -> ModuleProcess | None:
        return next((process for process in self.running if action in process.actions), None)

    def retire(self) -> None:
        """Use it no more: what waits is ended now, also with actions that wait there, and what runs afterwards."""
        self._is_retired = True
        while (process := self._find_idle()) is not None:
            self._end(process)

    def _find_idle(self) -> ModuleProcess | None:
        while self._idle:
            process = self._idle.pop(0)
            self._waiting.remove(process)
            if process.is_usable:
                return process
            self._end(process)
        return None

    def _give_back(self, process: ModuleProcess) -> None:
        """One of them stays, and those that still have something to do."""
        if process.is_usable and not self._is_retired and (process.actions or not self._idle):
            self._idle.append(process)
            self._waiting.append(process)
            self._end_oldest()
        else:
            self._end(process)
        self._freed.set()
        self._freed = trio.Event()

    def _end_oldest(self) -> None:
        """So many may wait. One that has something to do still is none of them."""
        spare = [process for process in self._waiting if not process.actions]
        for process in spare[: -limits.MODULE_PROCESSES_WAITING]:
            process.end()

    def _end(self, process: ModuleProcess) -> None:
        process.end()
        self._files = {**process.files, **self._files}
        if process in self._processes:
            self._processes.remove(process)

    async def _start(self) -> ModuleProcess:
        process = await self._start_loaded()
        if self.has_hook("on_session"):
            await tell_session(process, START, self.session)
            if not process.is_usable:
                logger.warning("%s is told nothing of its session any more.", self.label)
                self._is_deaf = True
                self._end(process)
                process = await self._start_loaded()
        return process

    async def _start_loaded(self) -> ModuleProcess:
        process = ModuleProcess(self.label)
        project = str(self.session.directory)
        given = {"path": str(self.source.path), "data": b64encode(self.source.data).decode(), "project": project}
        try:
            await self._nursery.start(process.run, project)
            exported = await self._load(process, given)
            if self.exported and exported != self.exported:
                raise ModuleUnusable(
                    f"{self.label} offers other tools each time it is loaded: have it always say the same."
                )
        except BaseException:
            self._end(process)
            raise
        self.exported = exported
        self._processes.append(process)
        return process

    async def _load(self, process: ModuleProcess, given: Mapping[str, Any]) -> dict[str, Any]:
        try:
            with trio.fail_after(limits.MODULE_LOAD_SECONDS):
                match await process.ask("load", dict(given)):
                    case {"tools": [*tools], "hooks": [*hooks]}:
                        return {"tools": tools, "hooks": hooks}
                    case _:
                        raise ModuleUnusable("its process says something else than what it offers.")
        except trio.TooSlowError as error:
            raise ModuleUnusable(
                f"{self.label} did not load within {limits.MODULE_LOAD_SECONDS:g} s: have its import do less."
            ) from error
        except Ended as error:
            logger.info("%s did not load:\n%s", self.label, plain_lines(error.traceback))
            raise ModuleUnusable(f"{self.label} did not load: {error}") from error
        except BridgeError as error:
            raise ModuleUnusable(f"{self.label} did not load: {error}") from error


async def tell_session(process: ModuleProcess, event: Mapping[str, Any], session: Context) -> None:
    """Tell a process of its session, one thing after the other. What it makes of that is its own affair: an error, or
    no end, is logged."""
    with trio.move_on_after(limits.MODULE_HOOK_SECONDS) as scope:
        try:
            async with process.hearing:
                await process.ask("on_session", {"event": dict(event)}, session)
        except Ended as error:
            logger.warning("on_session of %s failed: %s", process.label, error)
        except BridgeError as error:
            logger.warning("on_session of %s: %s", process.label, error)
    if scope.cancelled_caught:
        logger.warning("on_session of %s did not end within %g s.", process.label, limits.MODULE_HOOK_SECONDS)
