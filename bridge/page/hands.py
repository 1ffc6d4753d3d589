"""Do something with the elements of a document: one function of ours, sent for that, bound to the document's realm."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import trio

from bridge.errors import BridgeError, CommandFailed, ElementGone
from bridge.page.frames import Realm
from bridge.page.kit import ask_kit, is_answer_lost, is_realm_gone
from bridge.page.session import Page
from bridge.page.shims import hand_declaration
from bridge.wire.commands import release_thrown
from bridge.wire.connection import Session
from bridge.wire.devtools import Argument, Called, call_in, release
from bridge.wire.router import Json

Value = TypeVar("Value")

HELD: Final = "held"
"""The group of the objects that are held for us in a page; who holds one lets it go."""


class RealmGone(Exception):
    """The document is not there any more, and nothing ran in it."""


@dataclass(frozen=True, slots=True)
class Held:
    """An object of a document that is held for us."""

    object_id: str


@dataclass(frozen=True, slots=True)
class Element:
    """An element that an agent has named, held for as long as the block of `open_element`."""

    page: Page
    realm: Realm
    uid: str
    held: Held

    @property
    def session(self) -> Session:
        return self.page.session_of(self.realm)

    def check_there(self) -> None:
        """See whether its document is still shown. What is sent behind this reaches that document, unless it is being
        left at this very moment.

        Raises:
            ElementGone: it is not.
        """
        if self.realm not in self.page.realms:
            raise ElementGone(self.page.handle, self.uid, "its document was left")

    async def ask(self, hand: str, *arguments: object) -> Any:  # noqa: ANN401  # JSON
        """Have a hand do something with this element.

        Raises:
            ElementGone: its document is gone.
            CommandFailed: the page broke the shim.
        """
        try:
            return (await call_hand(self.page, self.realm, hand, self.held, *arguments)).evaluated.value
        except RealmGone:
            raise ElementGone(self.page.handle, self.uid, "its document was left") from None

    async def run(self, command: Generator[Json, Json, Value]) -> Value:
        """Send a command about this element.

        Raises:
            ElementGone: it, or its document, is gone.
            CommandFailed: Chromium refused.
        """
        try:
            return await self.session.run(command)
        except CommandFailed as error:
            if is_realm_gone(error, in_iframe=False) or is_answer_lost(error) or "with given id" in error.reason:
                raise ElementGone(self.page.handle, self.uid, "its document was left") from error
            raise


async def call_hand(
    page: Page, realm: Realm, hand: str, *arguments: object, by_value: bool = True, await_promise: bool = False
) -> Called:
    """Have a hand do something in a realm.

    Args:
        hand: one of `bridge.page.shims.HANDS`.
        arguments: JSON values, and what is `Held` there.

    Raises:
        RealmGone: the document was left, and nothing ran.
        CommandFailed: the page broke the shim.
    """
    session, kit = page.session_of(realm), page.kit_of(realm)
    given: list[Argument] = [
        {"objectId": one.object_id} if isinstance(one, Held) else {"value": one} for one in arguments
    ]
    try:
        for _ in range(2):
            called = await session.run(
                call_in(
                    realm.unique_context_id,
                    hand_declaration(hand, kit),
                    given,
                    by_value=by_value,
                    await_promise=await_promise,
                    group=HELD,
                )
            )
            if not called.evaluated.has_thrown:
                return called
            if called.evaluated.class_name != "ReferenceError":
                break
            # The document is older than the kit.
            await ask_kit(session, realm, kit, "hello")
    except CommandFailed as error:
        if is_realm_gone(error) or is_answer_lost(error):
            raise RealmGone from error
        raise
    session.send_nowait(release_thrown())
    raise CommandFailed("Runtime.callFunctionOn", "the page broke the shim")


async def find_element(page: Page, uid: str) -> Element:
    """The element of that uid, wherever in the page; it is held until it is let go.

    Raises:
        ElementGone: there is none now.
    """
    why = "no document of the page has one of that name"
    for realm in page.realms:
        try:
            called = await call_hand(page, realm, "heldElement", uid, by_value=False)
        except RealmGone:
            continue
        except CommandFailed:
            if realm == page.realm:
                raise
            continue  # a frame that can't be asked has it not
        if called.object_id:
            return Element(page, realm, uid, Held(called.object_id))
        if called.evaluated.value == "detached":
            why = "it was taken out of its document"
    raise ElementGone(page.handle, uid, why)


@asynccontextmanager
async def open_element(page: Page, uid: str) -> AsyncGenerator[Element]:
    """The element of that uid, held for the length of the block.

    Raises:
        ElementGone: there is none now.
    """
    element = await find_element(page, uid)
    try:
        yield element
    finally:
        element.session.send_nowait(release(element.held.object_id))


@asynccontextmanager
async def open_label(element: Element) -> AsyncGenerator[Element | None]:
    """The first label of an input, held for the length of the block, None for what has none.

    Raises:
        ElementGone: its document is gone.
    """
    try:
        called = await call_hand(element.page, element.realm, "labelOf", element.held, by_value=False)
    except RealmGone:
        raise ElementGone(element.page.handle, element.uid, "its document was left") from None
    if not called.object_id:
        yield None
        return
    try:
        yield replace(element, held=Held(called.object_id))
    finally:
        element.session.send_nowait(release(called.object_id))


async def attend(page: Page, operation: Callable[[], Awaitable[Value]]) -> Value:
    """Carry out something in a page, and leave it where Chromium may never answer.

    Raises:
        PageGone: the page was closed, or crashed.
        DialogOpen: it shows a dialog, and nothing else goes on in it.
    """
    why: list[BridgeError] = []
    done: list[Value] = []
    if page.dialog is not None:
        raise page.dialog.error(page.handle, dispatched=False)
    await page.wait_awake()
    async with trio.open_nursery() as nursery:

        async def look_out() -> None:
            try:
                await page.wait_changed(lambda: page.dialog is not None)
                assert page.dialog is not None
                why.append(page.dialog.error(page.handle, dispatched=False))
            except BridgeError as error:
                why.append(error)
            nursery.cancel_scope.cancel()

        async def carry_out() -> None:
            try:
                done.append(await operation())
            except (BridgeError, RealmGone) as error:
                failed.append(error)
            nursery.cancel_scope.cancel()

        failed: list[Exception] = []
        nursery.start_soon(look_out)
        nursery.start_soon(carry_out)
    for error in (*failed, *why):
        if not done:
            raise error
    return done[0]


async def run_each(session: Session, commands: Sequence[Any]) -> list[Any]:
    """Send commands one behind the other, and return what each of them answers; None for one that Chromium refused.

    Raises:
        ConnectionLost: the link ended.
    """
    answered = trio.Event()
    left = len(commands)

    def on_done() -> None:
        nonlocal left
        left -= 1
        if not left:
            answered.set()

    sent = [session.begin(command, on_done=on_done) for command in commands]
    answers: list[Any] = []
    try:
        if sent:
            await answered.wait()
    finally:
        for pending in sent:
            session.connection.forget(pending)
    for pending in sent:
        try:
            answers.append(pending.result())
        except CommandFailed:
            answers.append(None)
    return answers
