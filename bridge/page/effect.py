"""Act on a page, and wait for what that has started: a navigation, requests, a dialog."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import trio

from bridge import limits
from bridge.errors import BridgeError, DialogOpen, PageGone
from bridge.page.hands import attend
from bridge.page.lifecycle import Stage
from bridge.page.session import Page
from bridge.wire.commands import Command
from bridge.wire.connection import Session

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Effect:
    """What an action has started, as far as it is seen.

    Attributes:
        navigated: as `Place.navigated_to` has it.
        dialog: the one that the page shows now.
        pending: what has not ended when nobody waited any longer.
    """

    navigated: dict[str, str] | None = None
    dialog: dict[str, Any] | None = None
    pending: tuple[str, ...] = ()
    page_gone: bool = False

    def told(self) -> dict[str, Any]:
        """As an agent reads it."""
        return {
            **({"navigated": self.navigated} if self.navigated else {}),
            **({"dialog": self.dialog} if self.dialog else {}),
            **({"pending": list(self.pending)} if self.pending else {}),
            **({"closed": True} if self.page_gone else {}),
        }


async def act(page: Page, operation: Callable[[], Awaitable[Value]]) -> tuple[Value | None, Effect]:
    """Do something to a page as a person does, and wait at most `limits.SETTLE_SECONDS` for what that has started.

    Returns: what the operation returned, None where the page closed or showed a dialog first, as it may after an input.

    Raises:
        PageGone, DialogOpen: nothing was sent; or the page crashed of it.
        BridgeError: as the operation.
    """
    place, inputs = page.place, page.inputs
    network = page.watch.network if page.watch is not None else None
    begun = network.begun if network is not None else 0
    value: Value | None = None
    pending: tuple[str, ...] = ()
    page.acts += 1
    try:
        try:
            await attend(page, page.show)
            value = await attend(page, operation)
            pending = await _settle(page, begun)
        except DialogOpen:
            if page.inputs == inputs:
                raise
            if page.dialog is None:
                pending = await _settle(page, begun)
        except PageGone as error:
            if page.inputs == inputs:
                raise
            if page.stage is not Stage.GONE:
                raise error.after_dispatch() from None
            return value, Effect(page_gone=True)
        except BridgeError as error:
            if page.inputs == inputs:
                raise
            raise error.after_dispatch() from None
    finally:
        page.acts -= 1
    dialog = page.dialog.told() if page.dialog is not None else None
    return value, Effect(place.navigated_to(page.place), dialog, pending)


async def _settle(page: Page, begun: int) -> tuple[str, ...]:
    """Block until nothing has gone on in the page for a moment, or a dialog holds it; what goes on still after that.

    Args:
        begun: how many requests there were before the action.
    """
    deadline = trio.current_time() + limits.SETTLE_SECONDS
    while page.dialog is None and trio.current_time() < deadline:
        with trio.move_on_at(min(deadline, trio.current_time() + limits.SETTLE_QUIET_SECONDS)) as quiet:
            await page.wait_changed(lambda: page.dialog is not None or bool(_goes_on(page, begun)))
        if quiet.cancelled_caught:
            break
        with trio.move_on_at(deadline):
            await page.wait_changed(lambda: page.dialog is not None or not _goes_on(page, begun))
    return _goes_on(page, begun)


def _goes_on(page: Page, begun: int) -> tuple[str, ...]:
    network = page.watch.network if page.watch is not None else None
    requests = len(network.open_since(begun)) if network is not None else 0
    return (
        *(("the page is loading",) if page.stage is Stage.LOADING or page.realm is None else ()),
        *((f"{requests} {'request' if requests == 1 else 'requests'} without an answer",) if requests else ()),
    )


async def send_input(page: Page, command: Command, session: Session | None = None) -> None:
    """Send an input event, and wait until the page has taken it; where it leads to another document, no longer.

    Args:
        session: of the process that is to get it; None for the one that has the focus, or is there on the screen.

    Raises:
        BridgeError: it could not be sent.
    """
    page.inputs += 1
    documents = page.place.documents
    failed: list[BridgeError] = []
    async with trio.open_nursery() as nursery:

        async def send() -> None:
            try:
                await (session or page.session).run(command)
            except BridgeError as error:
                failed.append(error)
            nursery.cancel_scope.cancel()

        nursery.start_soon(send)
        try:
            await page.wait_changed(lambda: page.place.documents != documents)
            await trio.sleep(limits.LAST_WORD_SECONDS)
        except BridgeError as error:
            failed.append(error)
        nursery.cancel_scope.cancel()
    if failed and page.place.documents == documents:
        raise failed[0]
