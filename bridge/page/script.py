"""Run a script of an agent in a page's document, as a tool is run: bound to its realm, and ended whatever it does."""

import json
from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Final

import trio

from bridge.errors import BridgeError, ScriptInvalid
from bridge.page.document import Document, DocumentEnded
from bridge.page.hands import HELD, Held, RealmGone, call_hand
from bridge.page.invocation import RESULT_BOUNDS, Ending
from bridge.page.run import Run, Why
from bridge.page.session import Page
from bridge.page.shims import hand_declaration
from bridge.wire.commands import Evaluated
from bridge.wire.devtools import Argument, Called, call_in, compile_in, release
from bridge.wire.router import Json

CallTool = Callable[[str, str], Awaitable[str]]
"""Call a tool of the page: from its name and arguments, as JSON, to its result as JSON, "" for none."""

_BOUNDS: Final = json.dumps({**RESULT_BOUNDS, "select": []})


class ScriptRun(Run):
    """A script that was sent to a document."""

    def __init__(self, document: Document, script: Held, elements: Sequence[Held]) -> None:
        """As `Run`. Raises what that raises.

        Args:
            script: a function that takes `callTool`.
            elements: what the script is called with, if it is a function itself.
        """
        given: list[Argument] = [{"objectId": one.object_id} for one in (script, *elements)]
        self._begin(
            document,
            lambda number: _by_value(
                call_in(
                    document.realm.unique_context_id,
                    hand_declaration("runScript", document.kit),
                    [{"value": number}, {"value": _BOUNDS}, *given],
                    await_promise=True,
                )
            ),
        )

    @property
    def number(self) -> int:
        return self._number


def _by_value(command: Generator[Json, Json, Called]) -> Generator[Json, Json, Evaluated]:
    called = yield from command
    return called.evaluated


async def run_script(
    page: Page, expression: str, elements: Sequence[Held] = (), call_tool: CallTool | None = None
) -> Ending:
    """Run a script in the document that a page shows now, and there alone.

    Waits for the script; leaving early ends it. A script that holds the page is ended by force.

    Args:
        expression: JavaScript; where it gives a function, that is called with the elements. `callTool(name, args)`
            in it calls a tool of the page.

    Raises:
        ScriptInvalid: it is no JavaScript expression; nothing ran.
        DocumentEnded: the document is not shown any more; nothing ran.
        DialogOpen, NavigatedDuringCall, PageGone, PageUnresponsive: as a tool's run.
    """
    document = page.document
    if document is None:
        raise DocumentEnded
    document.check_answers()
    realm = document.realm
    await document.ask("hello")  # it may be older than the kit
    # On lines of its own, so that a comment in it ends there. It is compiled here, and does not run yet.
    source = f"(async (callTool) => (\n{expression}\n))"
    compiled = await document.session.run(compile_in(realm.unique_context_id, source, group=HELD))
    if compiled.evaluated.has_thrown or not compiled.object_id:
        raise ScriptInvalid(compiled.description.partition("\n")[0])
    script = Held(compiled.object_id)
    run = ScriptRun(document, script, elements)
    try:
        async with trio.open_nursery() as nursery:
            if call_tool is not None:
                nursery.start_soon(_serve_calls, page, document, run, call_tool)
            await run.wait_ended()
            nursery.cancel_scope.cancel()
        return await run.wait()
    finally:
        page.let_go(run, Why.CANCELLED)
        document.session.send_nowait(release(script.object_id))


async def _serve_calls(page: Page, document: Document, run: ScriptRun, call_tool: CallTool) -> None:
    """Call the tools that a script wants to be called, one after the other."""
    try:
        while True:
            called = await call_hand(page, document.realm, "nextScriptCall", run.number, await_promise=True)
            match called.evaluated.value:
                case {"id": int(number), "name": str(name), "text": str(text)}:
                    is_good, answer = await _call(call_tool, name, text)
                    await call_hand(page, document.realm, "answerScriptCall", run.number, number, is_good, answer)
                case _:
                    return
    except (RealmGone, BridgeError):
        return  # the run says what became of its document


async def _call(call_tool: CallTool, name: str, text: str) -> tuple[bool, str]:
    try:
        return True, await call_tool(name, text)
    except BridgeError as error:
        return False, str(error)
