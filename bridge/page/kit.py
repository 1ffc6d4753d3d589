"""The kit: the one function of ours in a document, and how to speak with it."""

import json
from collections.abc import Sequence
from typing import Any, Final

from bridge.errors import CommandFailed
from bridge.page.frames import Realm
from bridge.page.shims import kit_script
from bridge.wire.commands import evaluate_in, release_thrown
from bridge.wire.connection import Session


class KitCutShort(Exception):
    """The script that makes the kit was ended by force as it began: its name is taken, and means nothing."""


_encode: Final = json.JSONEncoder(separators=(",", ":")).encode


def call_expression(name: str, words: Sequence[object]) -> str:
    """A script that calls the kit with JSON values."""
    # JSON text is also a JavaScript literal, but for `__proto__` in it; so it goes over as a string.
    return f"{name}({_encode(_encode(words))})"


async def ask_kit(
    session: Session,
    realm: Realm,
    name: str,
    *words: object,
    await_promise: bool = False,
    timeout_ms: float | None = None,
) -> Any:  # noqa: ANN401  # JSON
    """Call the kit with JSON values, and return the JSON value that it answers.

    The document is checked and the kit called in one step inside V8. A document that is older than the shim has no
    kit yet, and gets it here.

    Args:
        name: the secret name under which the kit is known in the document.
        timeout_ms: end the synchronous part after that, see `was_terminated`.

    Raises:
        CommandFailed: the realm is gone (see `is_realm_gone`), or the page broke the shim.
        KitCutShort: under this name there will never be a kit in this document.
    """
    call = call_expression(name, words)
    # The second finds a kit where two came at once to a document without one, so the third just calls it.
    for makes_kit in (False, True, False):
        answer = await session.run(
            evaluate_in(
                realm.unique_context_id,
                # Made when it is needed: one who waits in the kit would hold a large script for ever.
                f"{kit_script(name, early=False)}\n{call}" if makes_kit else call,
                await_promise=await_promise,
                timeout_ms=timeout_ms,
            )
        )
        if not answer.has_thrown:
            return answer.value
        session.send_nowait(release_thrown())
        if answer.class_name not in ("ReferenceError", "SyntaxError"):
            raise CommandFailed("Runtime.evaluate", "the page broke the shim")
    raise KitCutShort


FRAME_GONE: Final = "its frame is gone"
"""What we say ourselves of a command to a frame whose process shows it no more: Chromium says nothing."""


def is_answer_lost(error: CommandFailed) -> bool:
    """True where the document ended while something of ours ran in it."""
    lost = ("navigated or closed", "context was destroyed", FRAME_GONE)
    return any(words in error.reason for words in lost)


def is_realm_gone(error: CommandFailed, *, in_iframe: bool = False) -> bool:
    """True where Chromium says that the realm was gone before it ran anything.

    Where a script of ours removes its own iframe, Chromium can't find the context afterwards. The document of a main
    frame can't end while a script of it runs, so there the same words mean that nothing ran.
    """
    return "uniqueContextId not found" in error.reason or ("Cannot find context" in error.reason and not in_iframe)


def was_terminated(error: CommandFailed) -> bool:
    """True where the time for the synchronous part was over."""
    return "was terminated" in error.reason or error.reason.startswith("Internal error")
