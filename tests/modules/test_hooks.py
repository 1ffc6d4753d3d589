"""Hooks of modules: a result rewritten, a session told of, a call rendered, an action resolved."""

from typing import Any

import pytest
import trio

from bridge import limits
from tests.modules.project import Opened, Project

TOOL = "description = 'd'\nparameters = {'type': 'object'}\ndef execute(args): return list(seen)\nseen = []\n"
EVENT = {"tool": "add", "arguments": {"a": 1}, "result": {"sum": 1}, "is_error": False}


def add_hook(project: Project, name: str, hook: str) -> None:
    project.add(f"tools/{name}.py", f"import asyncio, os, time\n{TOOL}\n{hook}\n")


async def rewrite(opened: Opened, **changes: Any) -> tuple[Any, bool]:
    return await opened.modules.rewrite({**EVENT, **changes}, opened.session)


@pytest.mark.feature("modules.rewriting")
async def test_a_result_is_rewritten_by_each_module_in_its_turn(project: Project):
    add_hook(project, "first", "def on_result(event): return {'result': [event['result'], event['tool']]}")
    add_hook(
        project, "second", "async def on_result(event, context): return {'result': [event['result'], context.agent]}"
    )
    add_hook(project, "third", "def on_result(event): return {'is_error': True} if event['arguments'] else 1 / 0")

    async with project.open() as opened:
        assert await rewrite(opened) == ([[{"sum": 1}, "add"], "tester"], True)


@pytest.mark.feature("modules.rewriting")
@pytest.mark.parametrize(
    ("hook", "says"),
    [
        ("def on_result(event): pass", ""),
        ("def on_result(event): event['result'] = 'other'", ""),
        ("def on_result(event): 1 / 0", "ZeroDivisionError"),
        ("def on_result(event): return 'text'", "must return None, or a dict with"),
        ("def on_result(event): return {'arguments': 1}", "must return None, or a dict with"),
        ("def on_result(event): return {'result': float('nan')}", "result.result is nan"),
        ("def on_result(event): os._exit(1)", "is gone"),
        (
            "import bridge.tools.modules.child.server as server\n"
            "async def lie(self, event, context): return [1]\n"
            "server.Server._rewrite = lie\n"
            "def on_result(event): pass",
            "something else than a result",
        ),
        ("async def on_result(event): await asyncio.sleep(99)", "did not end within 0.2 s"),
        ("def on_result(event): time.sleep(99)", "did not end within 0.2 s"),
    ],
)
async def test_a_hook_that_fails_changes_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, hook: str, says: str
):
    if "sleep" in hook:
        monkeypatch.setattr(limits, "MODULE_HOOK_SECONDS", 0.2)
    add_hook(project, "hooks", hook)
    project.add_tool("good", "return 'well'")

    async with project.open() as opened:
        assert await rewrite(opened) == ({"sum": 1}, False)
        assert await opened.call("good") == "well"
    told = "\n".join(record.getMessage() for record in caplog.records if "on_result" in record.getMessage())
    assert says in told
    assert bool(told) == bool(says)


@pytest.mark.feature("modules.sessions")
async def test_a_module_hears_of_its_session_from_its_start_to_its_end(project: Project):
    ends = project.folder / "ends"
    add_hook(
        project,
        "hears",
        f"""
def on_session(event, context):
    seen.append([event["reason"], context.session_id])
    if event["reason"] == "shutdown":
        open({str(ends)!r}, "w").write("bye")
""",
    )

    async with project.open() as opened:
        await opened.modules.tell_session({"reason": "page_attached", "page": "p1"})
        await opened.modules.tell_session({"reason": "what_is_new"})
        assert await opened.call("hears") == [["start", "s1"], ["page_attached", "s1"], ["what_is_new", "s1"]]
    assert ends.read_text() == "bye"


@pytest.mark.parametrize(
    ("hook", "says"),
    [
        ("def on_session(event): 1 / 0", "ZeroDivisionError"),
        ("async def on_session(event): await asyncio.sleep(99)", "did not end within 0.2 s"),
        ("def on_session(event): time.sleep(99)", "did not end within 0.2 s"),
        ("def on_session(event): os._exit(1)", "is gone"),
    ],
)
async def test_what_a_hook_of_the_session_does_wrong_is_a_warning(
    project: Project, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, hook: str, says: str
):
    if "sleep" in hook:
        monkeypatch.setattr(limits, "MODULE_HOOK_SECONDS", 0.2)
        monkeypatch.setattr(limits, "MODULE_SHUTDOWN_SECONDS", 0.2)
    add_hook(project, "hooks", hook)

    async with project.open() as opened:
        assert await opened.call("hooks") == []
        await opened.modules.tell_session({"reason": "page_attached"})
        assert await opened.call("hooks") == []
    assert says in caplog.text


async def test_a_hook_that_does_not_end_leaves_the_call_that_runs_in_its_process_alone(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    project.add_tool(
        "asks",
        "return [context.ui.confirm('yes'), os.getpid()]",
        head="import os, time\ndef on_session(event): time.sleep(99) if event['reason'] == 'page_attached' else None",
    )
    asked, go_on = trio.Event(), trio.Event()

    async def confirm(text: str) -> bool:
        asked.set()
        await go_on.wait()
        return True

    project.session.ui.confirm = confirm
    answers: list[Any] = []
    async with project.open() as opened:

        async def call() -> None:
            answers.append(await opened.call("asks"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await asked.wait()
            monkeypatch.setattr(limits, "MODULE_HOOK_SECONDS", 0.2)
            await opened.modules.tell_session({"reason": "page_attached"})
            go_on.set()
        await call()
    assert [answer[0] for answer in answers] == [True, True]
    assert answers[0][1] != answers[1][1], "a process in which something hangs is not used again"


@pytest.mark.feature("modules.shown")
async def test_a_module_says_how_its_calls_look(project: Project):
    project.add(
        "tools/renders.py",
        """
        class Tool:
            description = "d"
            parameters = {"type": "object"}
            def execute(self, args): ...
            def render_call(self, args): return f"weather of {args['city']}"
            async def render_result(self, result, options): return f"{result} {sorted(options)}"
        tool = Tool()
        """,
    )
    project.add_tool("plain", "return 1")

    async with project.open() as opened:
        renders, plain = opened.modules.tools
        assert await renders.render_call({"city": "Brest"}) == "weather of Brest"
        assert await renders.render_result(12) == "12 ['expanded', 'is_partial']"
        assert await renders.render_call({}) is None
        assert await plain.render_call({}) is None
        assert await plain.render_result(1) is None


@pytest.mark.feature("modules.shown")
@pytest.mark.parametrize("renderer", ["return 1", "time.sleep(99)", "os._exit(1)", "return '\\ud800' + chr(27)"])
async def test_a_renderer_that_fails_shows_nothing(project: Project, monkeypatch: pytest.MonkeyPatch, renderer: str):
    if "sleep" in renderer:
        monkeypatch.setattr(limits, "MODULE_HOOK_SECONDS", 0.2)
    add_hook(project, "renders", f"def render_call(args): {renderer}")

    async with project.open() as opened:
        shown = await opened.modules.tools[0].render_call({})
        assert shown == ("\ufffd\x1b" if "chr" in renderer else None)


@pytest.mark.feature("modules.sessions")
async def test_each_process_hears_of_the_start_before_anything_else(project: Project):
    project.add_tool(
        "asks",
        "context.ui.confirm('call'); return seen",
        head="""
        seen = []
        async def on_session(event, context):
            if event["reason"] == "start":
                await context.ui.confirm("start")
            seen.append(event["reason"])
        """,
    )
    send, receive = trio.open_memory_channel[tuple[str, trio.Event]](9)

    async def confirm(text: str) -> bool:
        go_on = trio.Event()
        send.send_nowait((text, go_on))
        await go_on.wait()
        return True

    answers: list[Any] = []
    project.session.ui.confirm = confirm

    async def use() -> None:
        async with project.open() as opened, trio.open_nursery() as nursery:

            async def call() -> None:
                answers.append(await opened.call("asks"))

            nursery.start_soon(call)
            _, first = await receive.receive()
            nursery.start_soon(call)
            what, start = await receive.receive()
            assert what == "start", "of the second process"
            nursery.start_soon(opened.modules.tell_session, {"reason": "page_attached"})
            await trio.testing.wait_all_tasks_blocked(0.1)
            start.set()
            _, second = await receive.receive()
            first.set()
            second.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(use)
        _, loads = await receive.receive()
        loads.set()
    assert answers == [["start", "page_attached"]] * 2
