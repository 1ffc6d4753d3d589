"""Actions that a tool has prepared: they wait in its process, and are done once."""

from functools import partial
from typing import Any

import pytest
import trio

from bridge import limits
from bridge.errors import ModuleGone, ModuleThrew, ToolNotFound
from tests.modules.project import Opened, Project

PREPARES = """
done = []
def tools(api):
    def execute(args, context):
        if args.get("done"):
            return [done, len(kept)]
        kept.append(context)
        push = (context if args.get("context") else api).push_pending_action
        return push("delete " + args["what"], lambda reason: apply(args["what"], reason), discard)
    kept = []
    return {"description": "d", "parameters": {"type": "object"}, "execute": execute}

async def apply(what, reason):
    done.append([what, reason])
    if what == "fails":
        raise LookupError("it is gone")
    if what == "ends":
        os._exit(1)
    return {"deleted": what}

def discard():
    done.append("discarded")
import os
"""


@pytest.mark.feature("modules.actions")
async def test_an_action_waits_until_it_is_resolved_and_is_done_once(project: Project):
    project.add("tools/prepares.py", PREPARES)

    async with project.open() as opened:
        one = await opened.call("prepares", what="one")
        two = await opened.call("prepares", what="two", context=True)
        assert opened.modules.actions == {one: "delete one", two: "delete two"}
        resolve = opened.modules.resolve
        assert await resolve(two, "apply", "it is right", opened.session) == {"deleted": "two"}
        assert await resolve(one, "discard", "no", opened.session) is None
        for action in (one, two, "a0000000000000000", ""):
            with pytest.raises(ToolNotFound, match="was resolved already"):
                await resolve(action, "apply", "", opened.session)
        assert await opened.call("prepares", done=True) == [[["two", "it is right"], "discarded"], 2]


async def test_an_action_waits_in_whichever_process_prepared_it(project: Project):
    project.add_tool(
        "prepares",
        """
        action = context.push_pending_action("act", lambda reason: [os.getpid(), reason])
        context.ui.confirm("wait for the other")
        return [action, os.getpid()]
        """,
        head="import os",
    )
    waiting, both = [], trio.Event()

    async def confirm(text: str) -> bool:
        waiting.append(text)
        if len(waiting) == 2:
            both.set()
        await both.wait()
        return True

    project.session.ui.confirm = confirm
    prepared: list[Any] = []
    async with project.open() as opened:

        async def prepare() -> None:
            prepared.append(await opened.call("prepares"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(prepare)
            nursery.start_soon(prepare)
        for action, pid in prepared:
            assert await opened.modules.resolve(action, "apply", "now", opened.session) == [pid, "now"]


async def test_an_id_that_is_none_of_ours_is_no_action(project: Project):
    project.add_tool(
        "prepares",
        """
        for id in ("", "a1", "a" + "0" * 17, "a\\n000000000000000", "b0000000000000000"):
            context._link.send({"tell": "action", "with": {"id": id, "label": "l"}})
        """,
    )

    async with project.open() as opened:
        await opened.call("prepares")
        assert opened.modules.actions == {}


async def test_an_action_that_fails_is_done_all_the_same(project: Project):
    project.add("tools/prepares.py", PREPARES)

    async with project.open() as opened:
        fails, ends, waits = [await opened.call("prepares", what=what) for what in ("fails", "ends", "waits")]
        with pytest.raises(ModuleThrew, match="Tool 'delete fails' failed: LookupError: it is gone"):
            await opened.modules.resolve(fails, "apply", "", opened.session)
        with pytest.raises(ModuleGone):
            await opened.modules.resolve(ends, "apply", "", opened.session)
        for action in (fails, ends, waits):
            with pytest.raises(ToolNotFound):
                await opened.modules.resolve(action, "apply", "", opened.session)


async def test_so_many_actions_wait_and_no_more(project: Project):
    project.add("tools/prepares.py", PREPARES)

    async with project.open() as opened:
        for _ in range(limits.MODULE_ACTIONS):
            await opened.call("prepares", what="one")
        with pytest.raises(ModuleThrew, match="20 actions wait already"):
            await opened.call("prepares", what="one")


class Person:
    """Is asked, and answers when told to. The text of each question is an event."""

    def __init__(self, project: Project) -> None:
        project.session.ui.confirm = self._confirm
        self.go_on = trio.Event()
        self._asked: dict[str, trio.Event] = {}

    def asked(self, text: str) -> trio.Event:
        return self._asked.setdefault(text, trio.Event())

    async def _confirm(self, text: str) -> bool:
        self.asked(text).set()
        await self.go_on.wait()
        return True


ASKS = """
import os
done = []
def execute(args, context):
    match args.get("what"):
        case None:
            return [done, os.getpid()]
        case "waits":
            context.ui.confirm("call")
            done.append("called")
        case "ends":
            context.ui.confirm("call")
            os._exit(1)
        case "prepares":
            return context.push_pending_action("act", lambda reason, context=context: apply(reason))
def tools(api):
    global apply
    def apply(reason):
        if reason:
            api.ui.confirm(reason)
        done.append("applied")
        return [len(done), os.getpid()]
    return {"name": "asks", "description": "d", "parameters": {"type": "object"}, "execute": execute}
"""


async def resolve_into(results: list[Any], opened: Opened, action: str, reason: str = "") -> None:
    try:
        results.append(await opened.modules.resolve(action, "apply", reason, opened.session))
    except ToolNotFound as error:
        results.append(str(error))


async def prepare(opened: Opened) -> str:
    return await opened.call("asks", what="prepares")


@pytest.mark.feature("modules.actions")
async def test_an_action_that_two_resolve_at_once_is_done_once(project: Project):
    project.add("tools/asks.py", ASKS)
    person = Person(project)
    results: list[Any] = []

    async with project.open() as opened:
        action = await prepare(opened)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(resolve_into, results, opened, action, "apply")
            nursery.start_soon(resolve_into, results, opened, action, "apply")
            await person.asked("apply").wait()
            await trio.testing.wait_all_tasks_blocked()
            assert "was resolved already" in results.pop(), "while the other runs"
            person.go_on.set()
        assert [one for one, _ in results] == [1]


async def test_an_action_waits_for_the_call_that_runs_in_its_process_and_two_do_not_do_it_twice(project: Project):
    project.add("tools/asks.py", ASKS)
    person = Person(project)
    results: list[Any] = []

    async with project.open() as opened:
        action = await prepare(opened)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(opened.call, "asks", what="waits"))
            await person.asked("call").wait()
            nursery.start_soon(resolve_into, results, opened, action)
            nursery.start_soon(resolve_into, results, opened, action)
            await trio.testing.wait_all_tasks_blocked()
            assert results == []
            person.go_on.set()
        assert sum("was resolved already" in result for result in results) == 1
        assert (await opened.call("asks"))[0] == ["called", "applied"]


async def test_an_action_whose_process_ends_meanwhile_is_not_there_any_more(project: Project):
    project.add("tools/asks.py", ASKS)
    person = Person(project)
    results: list[Any] = []

    async with project.open() as opened:
        action = await prepare(opened)
        async with trio.open_nursery() as nursery:

            async def end() -> None:
                with pytest.raises(ModuleGone):
                    await opened.call("asks", what="ends")

            nursery.start_soon(end)
            await person.asked("call").wait()
            nursery.start_soon(resolve_into, results, opened, action)
            await trio.testing.wait_all_tasks_blocked()
            person.go_on.set()
        assert "its process has ended" in results[0]


async def test_an_action_that_is_being_done_is_left_alone_whatever_else_happens(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    """Others' calls that need room, calls of its own module, and a change of that."""
    monkeypatch.setattr(limits, "MODULE_PROCESSES_WAITING", 1)
    project.add("tools/asks.py", ASKS)
    for name in ("one", "two", "three"):
        project.add_tool(name, "return 'well'")
    person = Person(project)
    results: list[Any] = []

    async with project.open() as opened:
        action = await prepare(opened)
        _, pid = await opened.call("asks")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(resolve_into, results, opened, action, "apply")
            await person.asked("apply").wait()
            for name in ("one", "two", "three"):
                assert await opened.call(name) == "well"
            assert (await opened.call("asks"))[1] != pid
            project.write("tools/asks.py", ASKS + "# changed")
            assert await opened.modules.refresh()
            await opened.call("asks")
            person.go_on.set()
        assert results == [[1, pid]]


async def test_an_action_goes_when_its_module_changes(project: Project):
    project.add("tools/asks.py", ASKS)

    async with project.open() as opened:
        action = await prepare(opened)
        [process] = opened.processes
        project.write("tools/asks.py", ASKS + "# changed")
        await opened.modules.refresh()
        assert opened.modules.actions == {}
        with pytest.raises(ToolNotFound, match="its process has ended"):
            await opened.modules.resolve(action, "apply", "", opened.session)
        await process._over.wait()


async def test_who_is_cancelled_before_an_action_begins_leaves_it_where_it_is(project: Project):
    project.add("tools/asks.py", ASKS)

    async with project.open() as opened:
        action = await prepare(opened)
        with trio.CancelScope() as scope:
            scope.cancel()
            await opened.modules.resolve(action, "apply", "", opened.session)
        assert scope.cancelled_caught
        assert (await opened.modules.resolve(action, "apply", "", opened.session))[0] == 1


async def test_a_label_is_short_and_plain_whatever_a_module_says(project: Project):
    project.add_tool(
        "prepares", """context._link.send({"tell": "action", "with": {"id": "a" * 17, "label": "\33" + "l" * 10**6}})"""
    )

    async with project.open() as opened:
        await opened.call("prepares")
        assert opened.modules.actions == {"a" * 17: "\\x1b" + "l" * (limits.SHOWN_CHARS - 1)}
