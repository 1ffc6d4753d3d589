"""What a tool of ours gets of the session that it is called in: pages, other tools, programs, the person."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bridge.calls.bridge import Bridge
from bridge.calls.gate import Gate
from bridge.errors import NotAllowed, UsageError
from bridge.folders import Folders
from bridge.page.session import Page
from bridge.tools.own import PastCall, Ui

if TYPE_CHECKING:
    from bridge.tools.modules.programs import ExecResult

Json = Any
Tell = Callable[[dict[str, Any]], Awaitable[None]]
"""Tells of progress: `{done, total, message}`."""


class NoUi:
    """There is nobody to ask, so each question is a refusal."""

    has_ui = False

    async def confirm(self, _: str, /) -> bool:
        raise self._error()

    async def select(self, _: str, __: list[str], /) -> str | None:
        raise self._error()

    async def input(self, _: str, /) -> str | None:
        raise self._error()

    def _error(self) -> NotAllowed:
        return NotAllowed("The person can't be asked, since this client can't ask anything. Go on without, or stop.")


class PatientUi:
    """Asks without secrets, while the time of the call stands still.

    Args:
        ui: how.
        pause: makes it stand still.
        mask: takes secrets out of a text.
    """

    def __init__(self, ui: Ui, pause: Callable[[], AbstractContextManager[None]], mask: Callable[[str], str]) -> None:
        self._ui = ui
        self._pause = pause
        self._mask = mask

    @property
    def has_ui(self) -> bool:
        return self._ui.has_ui

    async def confirm(self, text: str, /) -> bool:
        with self._pause():
            return await self._ui.confirm(self._mask(text))

    async def select(self, text: str, options: list[str], /) -> str | None:
        with self._pause():
            shown = [self._mask(option) for option in options]
            chosen = await self._ui.select(self._mask(text), shown)
        return options[shown.index(chosen)] if chosen in shown else chosen

    async def input(self, text: str, /) -> str | None:
        with self._pause():
            return await self._ui.input(self._mask(text))


class Nested(Protocol):
    """Runs a tool for a tool, through the same gate."""

    async def __call__(self, name: str, arguments: dict[str, Any], context: "CallContext") -> Json: ...


class CallContext:
    """The context of one call.

    Attributes:
        agent: the name under which the agent was started, or None.
        directory: the project's folder, or the working folder.
        calls: the last ones of the agent, oldest first, as they are now.
        origins: those whose words the tool has had from pages, or through other tools.
        notes: what there is to say beside the result of the built-in tool that it stands for.
        depth: how many tools of ours wait for this one.

    Args:
        tell: where progress goes, if somebody wants to know.
        gate: what a person has said of pages.
        run: runs other tools.
    """

    def __init__(
        self,
        bridge: Bridge,
        gate: Gate,
        *,
        name: str,
        session_id: str,
        agent_name: str | None,
        directory: Path,
        env: Callable[[], Mapping[str, str]],
        calls: Iterable[PastCall],
        ui: Ui,
        run: Nested,
        tell: Tell | None = None,
        depth: int = 0,
    ) -> None:
        self.name = name
        self.session_id = session_id
        self.agent = agent_name
        self.directory = directory
        self._env = env
        self.calls = calls
        self.ui = ui
        self.logger = logging.getLogger(f"bridge.tool.{name}")
        self.tell = tell
        self.depth = depth
        self.origins: dict[str, None] = {}
        self.notes: dict[str, None] = {}
        self.page = PageDoor(bridge, gate, self, run)

    @property
    def env(self) -> Mapping[str, str]:
        """The variables and secrets that the project was granted, as they are now."""
        return self._env()

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        if self.tell is not None:
            await self.tell({"done": done, "total": total, "message": message})

    async def exec(
        self,
        command: list[str],
        *,
        timeout: float | None = None,  # noqa: ASYNC109  # the contract's own word
        cwd: str | None = None,
    ) -> "ExecResult":
        """Run a program in the project's folder, without a shell; it ends with the call.

        Args:
            cwd: from that folder on.

        Raises:
            UsageError: it can't be started.
        """
        from bridge.tools.modules.programs import plain_environment, run_program

        where = self.directory if cwd is None else self.directory / cwd
        return await run_program(command, cwd=where, env=plain_environment(self.env), seconds=timeout)


class PageDoor:
    """Pages, and what can be called, for one tool.

    Attributes:
        folders: those that paths which an agent gives may lead into.
    """

    def __init__(self, bridge: Bridge, gate: Gate, context: CallContext, run: Nested) -> None:
        self._bridge = bridge
        self._gate = gate
        self._context = context
        self._run = run

    @property
    def folders(self) -> Folders:
        return self._bridge.settings.folders.also(self._bridge.spill.folder)

    def find(self, page: str) -> Page:
        """A page to look into, or to do something in. Call it while there is a browser.

        Raises:
            PageNotFound, NotAllowed: there is none, or its origin is kept out.
        """
        found = self._bridge.pages_now.find(page)
        if found.realm is not None:
            self._gate.check_origin(found.handle, found.realm.origin)
            self._context.origins[found.realm.origin] = None
        return found

    def handles(self) -> list[str]:
        return [page.handle for page in self._bridge.pages_now]

    def keep(self, data: bytes, *, suffix: str) -> Path:
        """Keep bytes in a file of ours. Raises OSError."""
        return self._bridge.spill.write_bytes(data, suffix=suffix)

    async def address(self, page: str) -> str:
        """Where a page is. Raises PageNotFound, NotAllowed."""
        await self._bridge.wait_pages()
        found = self._bridge.pages_now.find(page)
        if found.realm is not None:
            self._gate.check_origin(page, found.realm.origin)
        return found.url

    async def call_tool(self, page: str, tool: str, arguments: dict[str, Any]) -> Json:
        """Call a tool that a page defines, as the agent does, and return what it gave.

        Raises:
            BridgeError: as a call of the agent's.
        """
        return await self.call("builtin:call_page_tool", {"page": page, "tool": tool, "arguments": arguments})

    async def call(self, name: str, arguments: dict[str, Any]) -> Json:
        """Call a tool that the agent has; `builtin:NAME` is the built-in one also where the project replaces it.

        Raises:
            BridgeError: as a call of the agent's.
        """
        return await self._run(name, arguments, self._context)

    async def evaluate(self, expression: str, page: str | None = None) -> Json:
        """Run a script in a page, where the agent may.

        Args:
            page: its handle; the only one there is if None.

        Raises:
            BridgeError: it may not, or as `evaluate_script`.
        """
        if page is None:
            await self._bridge.wait_pages()
            match self.handles():
                case [page]:
                    pass
                case handles:
                    raise UsageError(f"Name the page to run the script in: there are {', '.join(handles) or 'none'}.")
        return await self.call("builtin:evaluate_script", {"page": page, "expression": expression})
