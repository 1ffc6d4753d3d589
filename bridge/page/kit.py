"""The kit: the one function of ours in a document, and how to speak with it."""

from typing import Any, Final, cast

from bridge.errors import CommandFailed
from bridge.page.frames import Realm
from bridge.page.shims import kit_script
from bridge.wire.commands import dom_debugger, evaluate_in, runtime
from bridge.wire.connection import Session

OBJECT_GROUP: Final = "pagebridge"

KitId = runtime.RemoteObjectId
"""A kit's object id. It dies with its realm, so nothing that is sent through it can land in another document."""

NO_KIT: Final = KitId("")
"""Stands for the kit of a realm that is never asked."""

_CALL: Final = "function (a, b, c, d, e, f) { return this(a, b, c, d, e, f); }"
"""The kit is `this`. A spread would obey an iterator, and the page can replace that."""


async def fetch_kit(session: Session, realm: Realm, secret: str) -> KitId:
    """Find the kit that the shim left in this realm, or put it there if the document is older than the shim.

    Raises:
        CommandFailed: the realm is gone, or does not take the shim.
    """
    window, _ = await session.run(evaluate_in(realm.unique_context_id, "this", object_group=OBJECT_GROUP))
    if window.object_id is None:
        raise CommandFailed("Runtime.evaluate", "the page has no window")
    for listener in await session.run(dom_debugger.get_event_listeners(window.object_id)):
        if listener.type_ == secret and listener.handler is not None and listener.handler.object_id is not None:
            return listener.handler.object_id
    script = evaluate_in(realm.unique_context_id, kit_script(secret), object_group=OBJECT_GROUP)
    kit, thrown = await session.run(script)
    if kit.object_id is None or thrown is not None:
        raise CommandFailed("Runtime.evaluate", "the shim could not be installed in the page")
    return kit.object_id


async def ask_kit(session: Session, kit: KitId, *words: object, await_promise: bool = False) -> dict[str, Any]:
    """Call the kit with JSON values, and return the object that it answers.

    The document is checked and the kit called in one step inside V8.

    Raises:
        CommandFailed: the realm is gone (see `is_realm_gone`), or the page broke the shim.
    """
    answer, thrown = await session.run(
        runtime.call_function_on(
            _CALL,
            object_id=kit,
            arguments=[runtime.CallArgument(word) for word in words],
            silent=True,
            return_by_value=True,
            user_gesture=True,
            await_promise=await_promise,
        )
    )
    value = cast("object", answer.value)
    if thrown is not None or not isinstance(value, dict):
        raise CommandFailed("Runtime.callFunctionOn", "the page broke the shim")
    return cast("dict[str, Any]", value)


def is_answer_lost(error: CommandFailed) -> bool:
    """True where Chromium says that the document ended while something of ours ran in it."""
    return "navigated or closed" in error.reason


def is_realm_gone(error: CommandFailed) -> bool:
    """True where Chromium says that the realm or its objects were gone before it ran anything.

    That it ran nothing holds for a main frame: its document can't end while a script of it runs.
    """
    return "Cannot find context" in error.reason or "Could not find object" in error.reason
