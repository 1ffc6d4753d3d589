"""One Chromium, launched by us or running already, and the link to it."""

import logging
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager

import trio

from bridge import limits
from bridge.browser.process import open_process
from bridge.browser.targets import OURS, Change, TargetTable, TargetView
from bridge.errors import BrowserFailedToStart, CommandFailed, ConnectionLost
from bridge.settings import AttachOptions, LaunchOptions
from bridge.wire.address import Address
from bridge.wire.commands import (
    Event,
    ask,
    get_command_line,
    get_targets,
    get_version,
    runtime,
    set_auto_attach,
    set_discover_targets,
    target,
)
from bridge.wire.connection import Connection, open_connection

logger = logging.getLogger(__name__)


class Browser:
    """The browser's own session. Made by `open_browser`."""

    def __init__(self, connection: Connection, product: str, *, ours: bool, address: Address | None = None) -> None:
        """Args:
        address: of the websocket to one that we attached to.
        """
        self.connection = connection
        self._address = address
        self.product = product
        """Name and version as the browser gives them, such as `Chrome/156.0.8078.108`."""
        self.ours = ours
        """We launched it, so it ends with us."""
        self._targets = TargetTable()
        self._on_change: Callable[[Change], None] | None = None

    async def attach_to_pages(self, on_change: Callable[[Change], None]) -> None:
        """Attach to every page there is and to come; `on_change` must neither block nor raise.

        Raises:
            BrowserFailedToStart: the browser does not answer.
        """
        self._on_change = on_change
        self.connection.listen(None, self._on_event)
        with _in_time():
            await self.connection.run(set_discover_targets(only_types=OURS))
            await self.connection.run(set_auto_attach(wait_for_debugger_on_start=True, only_types=OURS))

    def _on_event(self, event: Event) -> None:
        self._tell(self._targets.apply(event))

    def _tell(self, change: Change | None) -> None:
        if change is not None and self._on_change is not None:
            self._on_change(change)

    async def find_risks(self, seconds: float) -> tuple[str, ...]:
        """What a person should know of a browser that we attached to, each in a sentence that says what to do.

        Args:
            seconds: how long it may take to say how it was started.

        Raises:
            ConnectionLost: the link ended meanwhile.
        """
        if self._address is None:
            return ()
        command_line = ""
        try:
            with trio.move_on_after(seconds):
                command_line = await self.connection.run(get_command_line())
        except CommandFailed as error:
            # Something between may pass on less than all of the protocol.
            logger.debug("the browser does not say how it was started: %s", error)
        from bridge.browser.risks import risks_of

        return risks_of(self._address, command_line)

    async def refresh(self) -> None:
        """Ask for titles now: Chromium tells of a new one some time after the page has loaded."""
        for info in await self.connection.run(get_targets()):
            self._tell(self._targets.refresh(info))

    def leave_alone(self, view: TargetView) -> None:
        """Let a target that is not for us go on, and detach from it."""
        self.connection.send_nowait(runtime.run_if_waiting_for_debugger(), view.session_id)
        self.connection.send_nowait(target.detach_from_target(session_id=target.SessionID(view.session_id)))

    def attach_nowait(self, target_id: str) -> None:
        """Attach to a page that was let go before; it is told of as any other, if it is there still."""
        self.connection.send_nowait(target.attach_to_target(target.TargetID(target_id), flatten=True))

    async def create_target(self) -> str:
        """Open an empty tab, behind the others where a person may be using them; return its target id."""
        return await self.connection.run(target.create_target("about:blank", background=not self.ours))

    async def close_target(self, target_id: str) -> None:
        """Close a tab, whatever state its page is in."""
        await self.connection.run(target.close_target(target.TargetID(target_id)))

    def drop_target(self, target_id: str) -> None:
        """Close a tab that nobody will wait for."""
        self.connection.send_nowait(target.close_target(target.TargetID(target_id)))


@asynccontextmanager
async def open_browser(
    options: LaunchOptions | AttachOptions, *, prompt_seconds: float = limits.HANDSHAKE_SECONDS
) -> AsyncGenerator[Browser]:
    """Launch a browser, or attach to a running one, for the length of the block.

    A browser that we launched ends with the block; one that we attached to never does.

    Args:
        prompt_seconds: how long a running one may take to let us in, for it may ask a person first.

    Raises:
        BrowserFailedToStart: with what to do about it.
    """
    match options:
        case LaunchOptions():
            async with _launch(options) as opened:
                yield opened
        case AttachOptions():
            # What a browser of ours does without.
            from bridge.browser.endpoint import find_endpoint
            from bridge.wire.websocket import open_websocket

            endpoint = await find_endpoint(options.where, options.headers)
            async with (
                open_websocket(endpoint.url, endpoint.headers, handshake_seconds=prompt_seconds) as transport,
                open_connection(transport) as connection,
            ):
                product = await _greet(connection)
                yield Browser(connection, product, ours=False, address=Address.parse(endpoint.url))


@asynccontextmanager
async def _launch(options: LaunchOptions) -> AsyncGenerator[Browser]:
    async with open_process(options) as process, open_connection(process.transport) as connection:
        try:
            product = await _greet(connection)
        except ConnectionLost as lost:
            raise await process.failure() from lost
        if not options.headed:
            # It would write into the user's own folder for them, whatever its profile, and nobody would see it.
            connection.send_nowait(ask("Browser.setDownloadBehavior", behavior="deny"))
        yield Browser(connection, product, ours=True)


async def _greet(connection: Connection) -> str:
    """The first exchange: proves that a browser listens."""
    with _in_time():
        return await connection.run(get_version())


@contextmanager
def _in_time() -> Generator[None]:
    """Bound what has to come before there are any pages."""
    try:
        with trio.fail_after(limits.START_SECONDS):
            yield
    except trio.TooSlowError as error:
        raise BrowserFailedToStart(
            f"The browser did not answer within {limits.START_SECONDS:g} s. Try again; "
            "`pagebridge doctor` says where it ends."
        ) from error
