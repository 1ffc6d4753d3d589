"""What a tool gets beside its arguments, in both ways of using it, and in both forms of a tool."""

from typing import Any

import pytest
import trio

from bridge import limits
from bridge.errors import ModuleGone, ModuleThrew
from bridge.tools.own import PastCall
from tests.modules.project import Person, Project

WAYS = {"a plain function": ("", ""), "a coroutine": ("async ", "await ")}


def both(code: str) -> list[Any]:
    """Code with AWAIT where a coroutine awaits."""
    return [pytest.param(f"{start}{code.replace('AWAIT ', word)}", id=name) for name, (start, word) in WAYS.items()]


@pytest.mark.feature("modules.context")
@pytest.mark.parametrize(
    "body", both("return [context.session_id, context.agent, str(context.directory), context.env]")
)
async def test_a_tool_knows_its_session(project: Project, body: str):
    project.session.env = {"KEY": "value"}
    project.add_tool("asks", body)

    async with project.open() as opened:
        assert await opened.call("asks") == ["s1", "tester", str(project.folder), {"KEY": "value"}]


@pytest.mark.feature("modules.context")
async def test_a_tool_and_hooks_see_the_last_calls_and_change_none(project: Project):
    project.add(
        "tools/sees.py",
        """
        description = "d"
        parameters = {"type": "object"}
        before = []

        def on_session(event, context):
            before.append(context.calls)

        def on_result(event, context):
            return {"result": [call.tool for call in context.calls]}

        def execute(args, context):
            try:
                context.calls[0].tool = "other"
            except AttributeError as error:
                refused = type(error).__name__
            return [before.pop(), isinstance(context.calls, tuple), [vars(call) for call in context.calls], refused]
        """,
    )
    async with project.open() as opened:
        opened.session.calls.append(PastCall("click", "failed", 0.5))

        assert await opened.call("sees") == [
            [],
            True,
            [{"tool": "click", "outcome": "failed", "seconds": 0.5}],
            "FrozenInstanceError",
        ]
        event = {"tool": "sees", "arguments": {}, "result": 1, "is_error": False}
        assert await opened.modules.rewrite(event, opened.session) == (["click"], False)


@pytest.mark.feature("modules.pages")
@pytest.mark.parametrize(
    "body", both("return [AWAIT context.page.evaluate('1', 'p2'), AWAIT context.page.evaluate('2')]")
)
async def test_a_tool_evaluates_in_a_page(project: Project, body: str):
    project.session.page.answer = {"deep": ["\ud83d\ude00"]}
    project.add_tool("asks", body)

    async with project.open() as opened:
        assert await opened.call("asks") == [{"deep": ["\U0001f600"]}] * 2
        assert opened.session.page.asked == [("evaluate", "1", "p2"), ("evaluate", "2", None)]


@pytest.mark.feature("modules.pages")
@pytest.mark.parametrize(
    "body",
    both(
        """
try:
    AWAIT context.page.call_tool("p1", "buy", {"n": 1})
except RuntimeError as error:
    return [error.code, str(error)]
"""
    ),
)
async def test_what_the_bridge_refuses_is_an_error_with_its_code(project: Project, body: str):
    project.add_tool("asks", body)

    async with project.open() as opened:
        assert await opened.call("asks") == ["not_allowed", "Tool 'buy' may not run."]
        assert opened.session.page.asked == [("call_tool", "p1", "buy", {"n": 1})]


@pytest.mark.feature("modules.pages")
@pytest.mark.parametrize("body", both("return AWAIT context.page.call('click', {'uid': 'e1'})"))
async def test_a_tool_calls_those_of_the_bridge(project: Project, body: str):
    project.add_tool("asks", body)

    async with project.open() as opened:
        assert await opened.call("asks") == "of the page"
        assert opened.session.page.asked == [("call", "click", {"uid": "e1"})]


@pytest.mark.feature("modules.person")
@pytest.mark.parametrize(
    "body",
    both(
        "ui = context.ui; return [ui.has_ui, AWAIT ui.confirm('yes?'), AWAIT ui.confirm('no?'), "
        "AWAIT ui.select('which?', ['a', 'b']), AWAIT ui.input('what?')]"
    ),
)
async def test_a_tool_asks_the_person(project: Project, body: str):
    project.add_tool("asks", body)

    async with project.open() as opened:
        assert await opened.call("asks") == [True, True, False, "b", None]


@pytest.mark.feature("modules.person")
async def test_where_there_is_no_person_to_ask_that_is_said(project: Project):
    project.session.ui = Person(has_ui=False)
    project.add_tool("asks", "return context.has_ui or context.ui.confirm('yes?')")

    async with project.open() as opened:
        with pytest.raises(ModuleThrew, match="Refused: There is nobody to ask"):
            await opened.call("asks")


@pytest.mark.feature("modules.context")
@pytest.mark.parametrize("body", both("AWAIT context.progress(1, 3, 'first'); AWAIT context.ui.confirm('')"))
async def test_a_tool_tells_how_far_it_is(project: Project, body: str):
    async def confirm(text: str) -> bool:
        await project.session.reported.wait()
        return True

    project.session.ui.confirm = confirm
    project.add_tool("tells", body)

    async with project.open() as opened:
        await opened.call("tells")
        assert opened.session.reports == [(1.0, 3, "first")]


@pytest.mark.feature("modules.context")
async def test_updates_of_the_other_form_are_progress(project: Project):
    async def confirm(text: str) -> bool:
        await project.session.reported.wait()
        project.session.reported = trio.Event()
        return True

    project.session.ui.confirm = confirm
    project.add(
        "tools/updates.py",
        """
        description = "d"
        parameters = {"type": "object"}

        async def execute(tool_call_id, params, on_update, ctx, signal):
            on_update("first")
            await ctx.ui.confirm("")
            await on_update({"content": [{"type": "text", "text": "second"}, {"type": "image"}], "details": 1})
            await ctx.ui.confirm("")
        """,
    )

    async with project.open() as opened:
        await opened.call("updates")
        assert opened.session.reports == [(1.0, None, "first"), (2.0, None, "second")]


async def test_a_flood_of_progress_is_the_latest_now_and_then(project: Project):
    project.add_tool(
        "floods",
        """
        for n in range(1000):
            context.progress(n)
            if n % 100 == 0:
                context.page.evaluate("1")  # until the bridge has read it
        context.progress(10**4000, 10**4000)
        context.progress(float("nan")) if args.get("nan") else None
        """,
    )

    async with project.open() as opened:
        started = trio.current_time()
        await opened.call("floods")
        at_most = (trio.current_time() - started) / limits.PROGRESS_SECONDS + 1
        assert 1 <= len(opened.session.reports) <= at_most
        with pytest.raises(ModuleThrew, match="ValueError"):
            await opened.call("floods", nan=True)


@pytest.mark.feature("modules.programs")
@pytest.mark.parametrize("body", both("return vars(AWAIT context.exec(['sh', '-c', 'echo $KEY; pwd >&2; exit 3']))"))
async def test_a_tool_runs_a_program(project: Project, body: str):
    project.session.env = {"KEY": "value"}
    project.add_tool("runs", body)

    async with project.open() as opened:
        assert await opened.call("runs") == {
            "stdout": "value\n",
            "stderr": f"{project.folder}\n",
            "code": 3,
            "killed": False,
            "cut": False,
        }


@pytest.mark.parametrize("body", both("return (AWAIT context.exec([Path('ls'), Path('a b')], cwd=Path('sub'))).stdout"))
async def test_a_program_takes_paths_as_they_are(project: Project, body: str):
    project.write("sub/a b", "")
    project.add_tool("runs", body, head="from pathlib import Path")
    project.add_tool("here", "return context.exec(['pwd'], cwd=context.directory).stdout")

    async with project.open() as opened:
        assert await opened.call("runs") == "a b\n"
        assert await opened.call("here") == f"{project.folder}\n"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("context.exec('ls -l')", "TypeError: exec takes a list of words"),
        ("context.exec([])", "Refused: There is no program to run"),
        ("context.exec(['/nowhere/at all'])", "'/nowhere/at all' can't be started: No such file or directory"),
        ("context.exec(['ls', 1])", "TypeError: exec takes texts and paths, and not int"),
        ("context.exec(['ls'], cwd=b'sub')", "TypeError: exec takes texts and paths, and not bytes"),
        ("context.exec(['ls', 'a\\0b'])", "none with a NUL"),
        ("context.exec(['ls'], timeout='1')", "a number of seconds"),
        ("context.exec(['ls'], timeout=-1)", "a number of seconds"),
        ("context.exec(['ls'], timeout=10**4000)", "a number of seconds"),
        ("context.ui.select('which', [1])", "context.ui.select takes texts"),
        ("context.page.evaluate(1)", "context.page.evaluate was given something that it does not take"),
        ("context.page.call('click', [1])", "context.page.call was given something"),
        ("context._ask('open', {})", "context.open was given something"),
        ("context.page.call('click', {'a': object()})", "TypeError"),
        ("context.page.call('click', {'a': 'x' * 40_000_000})", "ValueError: it has 40,000,"),
        ("context.unknown", "AttributeError"),
    ],
)
async def test_what_the_context_does_not_take_is_said(project: Project, code: str, says: str):
    project.add_tool("asks", code)

    async with project.open() as opened:
        with pytest.raises(ModuleThrew, match=says):
            await opened.call("asks")
        assert len(opened.processes) == 1


async def test_an_answer_that_is_too_large_is_refused(project: Project):
    project.session.page.answer = "x" * (limits.MODULE_MESSAGE_BYTES + 1)
    project.add_tool("asks", "context.page.evaluate('1')")

    async with project.open() as opened:
        with pytest.raises(ModuleThrew, match="can't be handed on: it has 33,5"):
            await opened.call("asks")


ASKS = """async
ask = context.ui.confirm
return (await asyncio.gather(*[ask("yes") for _ in range(args["n"])])).count(True)
"""


async def test_a_call_asks_for_so_much_at_the_same_time_and_the_rest_waits(project: Project):
    project.add_tool("asks", ASKS, head="import asyncio")
    waiting, most = [], 0

    async def confirm(text: str) -> bool:
        nonlocal most
        waiting.append(text)
        most = max(most, len(waiting))
        if len(waiting) == limits.MODULE_ASKS:
            enough.set()
        await enough.wait()
        waiting.pop()
        return True

    enough = trio.Event()
    project.session.ui.confirm = confirm
    async with project.open() as opened:
        assert await opened.call("asks", n=1000) == 1000
    assert most == limits.MODULE_ASKS


async def test_what_a_call_did_not_wait_for_leaves_room_for_the_next_call(project: Project):
    project.add_tool(
        "leaves",
        """async
        for _ in range(args["n"]):
            tasks.append(asyncio.ensure_future(context.ui.confirm("never")))
        await context.progress(1)
        return args["n"] or await context.ui.confirm("yes")
        """,
        head="import asyncio\ntasks = []",
    )

    async def confirm(text: str) -> bool:
        if text == "never":
            await trio.sleep_forever()
        return True

    project.session.ui.confirm = confirm
    async with project.open() as opened:
        processes = opened.processes
        assert await opened.call("leaves", n=100) == 100
        assert await opened.call("leaves", n=0) is True
        assert opened.processes == processes


@pytest.mark.threat("S3")
async def test_a_module_that_asks_without_end_is_ended(project: Project):
    project.add_tool(
        "floods",
        """
        ask = pack({"ask": 1, "for": context._request, "do": "ui.confirm", "with": {"text": "yes"}})
        for _ in range(1000):
            context._link._write(ask)
        time.sleep(99)
        """,
        head="import time\nfrom bridge.tools.modules.frames import pack",
    )

    async with project.open() as opened:
        with pytest.raises(ModuleGone, match="asks for too much"):
            await opened.call("floods")


async def test_a_context_is_over_with_its_call(project: Project):
    project.add_tool(
        "keeps",
        """
        global kept
        if kept is None:
            kept = context
            return None
        kept.ui.confirm("late")
        """,
        head="kept = None",
    )

    async with project.open() as opened:
        await opened.call("keeps")
        with pytest.raises(ModuleThrew, match="The call is over"):
            await opened.call("keeps")


async def test_the_api_of_a_factory_works_for_the_call_that_runs(project: Project):
    project.add(
        "tools/made.py",
        """
        def tools(api):
            assert str(api.cwd) and not api.has_ui
            def execute(args):
                api.logger.info("ran")
                return [api.has_ui, api.exec(["echo", "well"]).stdout, api.page.call("click"), api.env]
            async def later(args):
                return [api.has_ui, (await api.exec(["echo", "well"])).stdout, await api.page.call("click"), api.env]
            tool = {"description": "d", "parameters": {"type": "object"}}
            return [{**tool, "name": "plain", "execute": execute}, {**tool, "name": "later", "execute": later}]
        """,
    )
    project.session.env = {"A": "b"}

    async with project.open() as opened:
        for name in ("plain", "later"):
            assert await opened.call(name) == [True, "well\n", "of the page", {"A": "b"}]


@pytest.mark.feature("modules.context")
async def test_the_api_of_a_factory_has_all_that_a_context_has_while_a_tool_runs(project: Project):
    project.add(
        "tools/made.py",
        """
        def tools(api):
            def execute(args, context):
                if args.get("abort"):
                    api.abort()
                names = [name for name in dir(context) if not name.startswith("_") and not hasattr(api, name)]
                return [names, api.session_id, api.agent, api.directory == context.directory]
            return {"description": "d", "parameters": {"type": "object"}, "execute": execute}
        """,
    )
    project.add("tools/early.py", "def tools(api): api.abort()")

    async with project.open() as opened:
        assert await opened.call("made") == [["close"], "s1", "tester", True]
        with pytest.raises(ModuleThrew, match="The tool ended its own call"):
            await opened.call("made", abort=True)
        assert "api.abort is there while a tool runs, and not before" in opened.problems
