"""Modules that do what none should: it harms their own call, and no other."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import trio

from bridge import limits
from bridge.errors import ModuleGone, ModuleThrew
from bridge.tools.modules import process as process_module
from tests.modules.project import Opened, Project


@pytest.mark.feature("modules.apart")
@pytest.mark.threat("S3")
@pytest.mark.parametrize(
    "body",
    [
        "print('hello'); return 'well'",
        "sys.stdout.write('x' * 1_000_000); return 'well'",
        "os.write(1, b'{\"jsonrpc\": \"2.0\"}\\n'); return 'well'",
        "os.system('echo from a program'); return 'well'",
        "print(input()) if sys.stdin.read() else None; return 'well'",
        "sys.stdout.close(); sys.stderr.close(); return 'well'",
        "os.close(0); os.close(1); os.close(2); return 'well'",
    ],
)
async def test_what_a_module_prints_is_in_no_message(project: Project, capfd: pytest.CaptureFixture[str], body: str):
    project.add_tool("prints", body, head="import os, sys")

    async with project.open() as opened:
        assert await opened.call("prints") == "well"
    assert capfd.readouterr().out == ""


@pytest.fixture
def our_stdin() -> Iterator[None]:
    """Has words for us in it."""
    kept = os.dup(0)
    read, write = os.pipe()
    os.write(write, b"for the bridge\n")
    os.dup2(read, 0)
    yield
    os.dup2(kept, 0)
    for descriptor in (kept, read, write):
        os.close(descriptor)


@pytest.mark.threat("S3")
async def test_a_module_reads_nothing_that_is_for_the_bridge(project: Project, our_stdin: None):
    project.add_tool("reads", "return [sys.stdin.readline(), os.read(0, 9).decode()]", head="import os, sys")

    async with project.open() as opened:
        assert await opened.call("reads") == ["", ""]
    assert os.read(0, 99) == b"for the bridge\n"


async def test_what_a_module_prints_and_logs_is_in_the_log_under_its_name(
    project: Project, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("DEBUG", process_module.__name__)
    project.add_tool("prints", "print('\\x1b[31mprinted\\u202e'); context.logger.debug('logged\\n%d', 1)")

    async with project.open() as opened:
        await opened.call("prints")
    lines = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert ("INFO", r"tools/prints.py: \x1b[31mprinted\u202e") in lines
    assert ("DEBUG", r"tools/prints.py: logged\n1") in lines


async def test_a_module_that_logs_without_end_has_but_so_many_lines(project: Project, caplog: pytest.LogCaptureFixture):
    project.add_tool("prints", "for n in range(3000): context.logger.error('line')")

    async with project.open() as opened:
        await opened.call("prints")
    lines = [record.getMessage() for record in caplog.records]
    assert lines.count("tools/prints.py: line") == limits.MODULE_LOG_LINES - 1
    assert lines.count("tools/prints.py says more than is logged.") == 1


ENDS = {
    "os._exit": ("os._exit(3)", "it exited with code 3"),
    "a signal": ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV ended it"),
    "the end of its loop": ("async import asyncio; asyncio.get_running_loop().stop(); await asyncio.sleep(99)", "code"),
    "it closes its pipe": ("socket.socket(fileno=PIPE).shutdown(socket.SHUT_WR); time.sleep(99)", "it closed its pipe"),
    "other words on the pipe": ("os.write(PIPE, b'\\xff' * 100); time.sleep(99)", "something else than"),
    "a message too large": ("os.write(PIPE, b'\\x7f\\0\\0\\0'); time.sleep(99)", "2,130,706,432 bytes"),
    "a message that is none": ("os.write(PIPE, b'\\0\\0\\0\\x02[]'); time.sleep(99)", "it is no object"),
    "NaN on the pipe": ("os.write(PIPE, b'\\0\\0\\0\\x03NaN'); time.sleep(99)", "it is not JSON"),
    "an endless depth": (
        "os.write(PIPE, b'\\0\\1\\x86\\xa0' + b'[' * 100_000); time.sleep(99)",
        "it is not JSON",
    ),
    "a number of an endless exponent": (
        "os.write(PIPE, pack({'tell': 'log', 'with': [10**4000, 'x']}) + b'\\0\\0\\0\\x02[]'); time.sleep(99)",
        "it is no object",
    ),
    "a message that nobody knows": (
        "os.write(PIPE, b'\\0\\0\\0\\x02{}'); time.sleep(99)",
        "something else than",
    ),
}


@pytest.mark.feature("modules.apart")
@pytest.mark.threat("S3")
@pytest.mark.parametrize(("body", "says"), ENDS.values(), ids=ENDS.keys())
async def test_a_module_that_ends_its_process_fails_its_call_alone(project: Project, body: str, says: str):
    head = """
        import os, signal, socket, stat, time
        from bridge.tools.modules.frames import pack
        PIPE = next(n for n in range(3, 100) if os.path.exists(f"/proc/self/fd/{n}")
                    and stat.S_ISSOCK(os.stat(f"/proc/self/fd/{n}").st_mode))
        """
    project.add(
        "tools/two.py",
        """
import os
def ok(args, context):
    return os.getpid()
def tools(api):
    other = {"description": "d", "parameters": {"type": "object"}}
    return [{**other, "name": "ok", "execute": ok}, {**other, "name": "waits", "execute": waits}]
async def waits(args, context):
    return await context.ui.input("wait")
""",
    )
    project.add_tool("ends", body, head=head)

    async with project.open() as opened:
        before = await opened.call("ok")
        for _ in range(2):
            with pytest.raises(ModuleGone, match=says) as raised:
                await opened.call("ends")
            assert raised.value.dispatched
            assert raised.value.outcome == "unknown"
        assert await opened.call("ok") == before


@pytest.mark.threat("S3")
async def test_a_call_that_ends_its_process_leaves_a_call_of_the_same_module_alone(project: Project):
    project.add_tool(
        "both",
        """
        if args.get("end"):
            os._exit(1)
        context.ui.confirm("now")
        return "well"
        """,
        head="import os",
    )
    asked, go_on = trio.Event(), trio.Event()
    results: list[Any] = []

    async def confirm(text: str) -> bool:
        asked.set()
        await go_on.wait()
        return True

    project.session.ui.confirm = confirm
    async with project.open() as opened, trio.open_nursery() as nursery:

        async def call() -> None:
            results.append(await opened.call("both"))

        nursery.start_soon(call)
        await asked.wait()
        with pytest.raises(ModuleGone):
            await opened.call("both", end=True)
        go_on.set()
    assert results == ["well"]


RAISES = {
    "an error": ("raise LookupError('no such city')", "LookupError: no such city"),
    "sys.exit": ("import sys; sys.exit(3)", r"it called sys.exit\(3\)"),
    "a keyboard interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "a stop iteration": ("raise StopIteration", "StopIteration"),
    "a cancellation of its own": ("import asyncio; raise asyncio.CancelledError", "CancelledError"),
    "endless recursion": ("f = lambda: f(); f()", "RecursionError"),
    "a group": (
        "raise ExceptionGroup('many', [ValueError(1), ExceptionGroup('more', [KeyError(2)])])",
        r"many \(2 sub-exceptions\)\nValueError: 1\nExceptionGroup: more \(1 sub-exception\)\nKeyError: 2$",
    ),
    "a long group": ("raise ExceptionGroup('many', [ValueError('x' * 3000)] * 1000)", r"(\nValueError: x{3000}){3}\n"),
    "a note": ("e = ValueError('bad'); e.add_note('say Bonn'); raise e", "ValueError: bad\nsay Bonn$"),
    "notes in a group": (
        "e = ValueError('bad'); e.add_note('say Bonn'); g = ExceptionGroup('g', [e]); g.add_note('or Ulm'); raise g",
        "ValueError: bad\nsay Bonn\nor Ulm$",
    ),
    "notes that are none": ("e = ValueError('bad'); e.__notes__ = 1; raise e", "ValueError: bad\n.its message can't"),
    "a long message": ("raise ValueError('x' * 1_000_000)", "ValueError: x{9000}"),
    "half a character": ("raise ValueError('\\ud800')", "ValueError: \ufffd"),
    "its own end": ("context.abort()", "The tool ended its own call"),
    "no memory": ("raise MemoryError", "MemoryError"),
}


@pytest.mark.feature("modules.results")
@pytest.mark.threat("S3")
@pytest.mark.parametrize("start", ["", "async "], ids=["a plain function", "a coroutine"])
async def test_what_a_tool_raises_is_its_error_and_its_process_goes_on(project: Project, start: str):
    lines = ["one = {'description': 'd', 'parameters': {'type': 'object'}}", "tools = []"]
    for number, (body, _) in enumerate(RAISES.values()):
        lines += [f"{start}def execute(args, context): {body}"]
        lines += [f"tools.append({{**one, 'name': 't{number}', 'execute': execute}})"]
    project.add("tools/raises.py", "\n".join(lines))

    async with project.open() as opened:
        processes = opened.processes
        for number, (_, says) in enumerate(RAISES.values()):
            with pytest.raises(ModuleThrew, match=says) as raised:
                await opened.call(f"t{number}")
            assert len(str(raised.value)) < 2 * limits.MODULE_ERROR_CHARS
            assert raised.value.outcome == "failed"
        assert opened.processes == processes


LOOPS = {
    "a loop": "context.progress(1)\nwhile True: pass",
    "a loop in a coroutine": "async context.progress(1)\nwhile True: pass",
    "a coroutine that takes no end": """async
context.progress(1)
while True:
    try:
        await asyncio.sleep(99)
    except asyncio.CancelledError:
        pass
""",
    "a sleep": "context.progress(1); time.sleep(99)",
    "a pattern": "context.progress(1); re.match('(a*)*b', 'a' * 50)",
    "without descriptors": "context.progress(1); os.closerange(0, 1000); time.sleep(99)",
    "stopped": "context.progress(1); os.kill(os.getpid(), signal.SIGSTOP)",
}


@pytest.mark.feature("modules.stopped")
@pytest.mark.threat("S3")
@pytest.mark.parametrize("body", LOOPS.values(), ids=LOOPS.keys())
async def test_a_tool_that_does_not_end_is_ended_with_its_call(project: Project, body: str):
    project.add_tool("loops", body, head="import asyncio, os, re, signal, time")
    project.add_tool("good", "return 'well'")

    async with project.open() as opened:
        [process] = opened.processes
        await opened.call_and_take_back("loops")
        assert not process.is_usable
        assert process._over.is_set()
        assert await opened.call("good") == "well"
        await opened.call_and_take_back("loops")  # in a new process


@pytest.mark.feature("modules.stopped")
async def test_a_coroutine_that_is_taken_back_cleans_up_and_its_process_stays(project: Project):
    project.add_tool(
        "waits",
        """async
        global seen
        if seen:
            return seen
        try:
            await context.progress(1)
            await asyncio.sleep(99)
        finally:
            seen = context.signal.aborted
        """,
        head="import asyncio\nseen = None",
    )

    async with project.open() as opened:
        await opened.call_and_take_back("waits")
        assert await opened.call("waits") is True


@pytest.mark.feature("modules.stopped")
async def test_a_plain_function_that_looks_at_its_signal_stops_by_itself(project: Project):
    project.add_tool(
        "waits",
        """
        global seen
        if seen:
            return seen
        context.progress(1)
        seen = context.signal.wait(99)
        context.signal.raise_if_aborted()
        """,
        head="seen = None",
    )

    async with project.open() as opened:
        await opened.call_and_take_back("waits")
        assert await opened.call("waits") is True


async def test_a_plain_function_that_waits_for_the_bridge_is_woken_when_its_call_is_taken_back(project: Project):
    project.add_tool(
        "waits",
        """
        global seen
        if seen:
            return seen
        context.progress(1)
        try:
            context.ui.confirm("wait")
        except Exception as error:
            seen = str(error)
        """,
        head="seen = None",
    )

    async def confirm(text: str) -> bool:
        await trio.sleep_forever()

    project.session.ui.confirm = confirm

    async with project.open() as opened:
        await opened.call_and_take_back("waits")
        assert await opened.call("waits") == "The call was taken back."


@pytest.mark.threat("S3")
async def test_what_a_module_has_started_ends_with_it(project: Project):
    project.add_tool(
        "starts",
        """
        program = subprocess.Popen(["sleep", "99"])
        fork = os.fork()
        if fork == 0:
            time.sleep(99)
        threading.Thread(target=time.sleep, args=(99,)).start()
        return [os.getpid(), program.pid, fork]
        """,
        head="import os, subprocess, threading, time",
    )

    async with project.open() as opened:
        pidfds = [os.pidfd_open(pid) for pid in await opened.call("starts")]
    with trio.fail_after(5):
        for pidfd in pidfds:
            await trio.lowlevel.wait_readable(pidfd)  # its end
            os.close(pidfd)


@pytest.mark.threat("S3")
async def test_a_fork_that_goes_on_as_the_module_answers_nothing(project: Project):
    project.add_tool("forks", "return [n, os.fork() == 0] if (n := args['n']) else n", head="import os")

    async with project.open() as opened:
        for n in (1, 2, 3, 0):
            assert await opened.call("forks", n=n) == ([n, False] if n else 0)


@pytest.mark.threat("S3")
@pytest.mark.parametrize(
    "patch",
    [
        "import json; json.dumps = json.loads = json.JSONEncoder.encode = None",
        "import builtins; builtins.len = builtins.isinstance = lambda *given: 0",
        "import asyncio, threading; asyncio.to_thread = threading.Thread = None",
        "import sys; sys.modules.clear()",
        "import bridge.tools.modules.child.server as server; server.Server._answer = None",
        "import os; os._exit = os.killpg = lambda *given: None",
    ],
)
async def test_a_module_that_changes_what_is_ours_changes_its_own_process(project: Project, patch: str):
    project.add_tool("patches", f"{patch}\nreturn 1")
    project.add_tool("good", "return 'well'")

    async with project.open() as opened:
        with trio.move_on_after(0.5), contextlib.suppress(ModuleGone, ModuleThrew):
            await opened.call("patches")
        assert await opened.call("good") == "well"


@pytest.mark.threat("S3")
@pytest.mark.parametrize(
    "patch",
    [
        "json.loads = lambda *given, **named: {}",
        "json.loads = lambda text: text",
        "json.JSONDecoder.decode = json.decoder.JSONDecoder = None",
    ],
)
async def test_a_module_that_changes_how_json_is_read_goes_on_as_before(project: Project, patch: str):
    project.add_tool("patches", f"{patch}\nreturn context.page.evaluate('1')", head="import json")

    async with project.open() as opened:
        processes = opened.processes
        for _ in range(2):
            assert await opened.call("patches") == "of the page"
        assert opened.processes == processes


@pytest.mark.feature("modules.apart")
@pytest.mark.threat("S3")
@pytest.mark.parametrize(
    "body",
    [
        "context.page.evaluate('1'); os.closerange(3, 300)",
        "async os.closerange(3, 300)",
        "async os.close(context._link._pipe.fileno())",
        "os.close(context._link._pipe.fileno()); context.ui.confirm('yes')",
        "json.JSONDecoder.raw_decode = lambda self, text, idx: ({}, len(text))",
        "json.JSONDecoder.raw_decode = None",
        "json.JSONEncoder.iterencode = None",
        "server.Context = None",
    ],
)
async def test_a_process_that_can_not_hear_or_answer_any_more_ends_at_once(project: Project, body: str):
    project.add_tool("ends", body, head="import json, os\nimport bridge.tools.modules.child.server as server")
    project.add_tool("good", "return 'well'")

    async def call_twice(opened: Opened) -> None:
        with trio.fail_after(5):
            await opened.call("ends")
            await opened.call("ends")

    async with project.open() as opened:
        with pytest.raises(ModuleGone):
            await call_twice(opened)
        assert await opened.call("good") == "well"


@pytest.mark.threat("S3")
async def test_what_a_module_has_our_side_of_its_process_say_is_looked_through(project: Project):
    said = {
        "a list": "[]",
        "no tools": "{'tools': 1, 'hooks': []}",
        "a tool that is none": "{'tools': [1], 'hooks': []}",
        "a tool without facts": "{'tools': [{}], 'hooks': [[]]}",
        "a tool with odd facts": "{'tools': [{**facts, 'parameters': 'x'}], 'hooks': []}",
        "a tool of another mode": "{'tools': [{**facts, 'mode': 'root'}], 'hooks': []}",
        "a schema without end": "{'tools': [{**facts, 'parameters': nested(200)}], 'hooks': []}",
    }
    for number, value in enumerate(said.values()):
        project.add(
            f"tools/says{number}.py",
            f"""
            import bridge.tools.modules.child.server as server
            def nested(depth):
                return {{"a": nested(depth - 1)}} if depth else 1
            facts = dict.fromkeys(["name", "title", "description"], "d")
            facts |= dict.fromkeys(["read_only", "coerce", "page_derived", "hidden", "renders"], False)
            facts |= {{"parameters": {{}}, "mode": "act"}}
            answer = server.Server._answer
            def lie(self, request, ended):
                answer(self, request, {{"value": {value}}})
            server.Server._answer = lie
            description = "d"
            parameters = {{"type": "object"}}
            def execute(args): ...
            """,
        )

    async with project.open() as opened:
        assert opened.names == []
        assert len(opened.modules.failed) == len(said)
        assert opened.problems.count("says something else than what it offers") == 2
        assert opened.problems.count("changes what its process says of its tools") == 4
        assert opened.problems.count("more than 64 lists and objects deep") == 1


@pytest.mark.threat("S3")
@pytest.mark.parametrize("source", ["while True: pass", "import time; time.sleep(60)"])
async def test_a_module_whose_import_does_not_end_is_skipped(
    project: Project, monkeypatch: pytest.MonkeyPatch, source: str
):
    monkeypatch.setattr(limits, "MODULE_LOAD_SECONDS", 0.5)
    project.add("tools/slow.py", source)

    async with project.open() as opened:
        assert "tools/slow.py did not load within 0.5 s" in opened.problems


@pytest.mark.threat("S3")
async def test_a_module_that_ends_while_it_is_imported_is_skipped(project: Project):
    project.add("tools/ends.py", "import os; os._exit(0)")
    project.add("tools/exits.py", "import sys; sys.exit('no key')")
    project.add_tool("good", "return 'well'")

    async with project.open() as opened:
        ended = "tools/ends.py did not load: it exited with code 0 while it loaded. Its last words are in the log."
        assert ended in opened.problems.splitlines()
        assert "tools/exits.py did not load: it called sys.exit(no key)" in opened.problems
        assert opened.names == ["good"]


@pytest.mark.threat("S4")
async def test_a_module_sees_no_variable_of_ours_but_those_that_everybody_needs(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    project.session.env = {"WEATHER_KEY": "granted"}
    project.add_tool(
        "reads",
        """
        env = open("/proc/self/environ").read().split("\\0")
        ran = subprocess.run(["env"], capture_output=True, text=True, check=True).stdout.splitlines()
        return [sorted({line.partition("=")[0] for line in [*env, *ran] if line}), dict(context.env)]
        """,
        head="import subprocess",
    )

    async with project.open() as opened:
        names, granted = await opened.call("reads")
        assert set(names) <= {
            "HOME",
            "LANG",
            "LC_ALL",
            "LC_CTYPE",
            "LOGNAME",
            "PATH",
            "SHELL",
            "TERM",
            "TMPDIR",
            "TZ",
            "USER",
            "_",
        }
        assert granted == {"WEATHER_KEY": "granted"}
        project.session.env = {"WEATHER_KEY": "renewed"}
        assert (await opened.call("reads"))[1] == {"WEATHER_KEY": "renewed"}


async def test_a_module_keeps_its_globals_from_call_to_call(project: Project):
    project.add_tool("counts", "global count; count += 1; return [count, os.getpid()]", head="import os\ncount = 0")

    async with project.open() as opened:
        (one, first), (two, second) = [await opened.call("counts") for _ in range(2)]
        assert (one, two) == (1, 2)
        assert first == second


async def test_calls_at_the_same_time_run_at_the_same_time(project: Project):
    project.add_tool("meets", "context.ui.confirm('here'); return 'met'")
    here, all_here = [], trio.Event()

    async def confirm(text: str) -> bool:
        here.append(text)
        if len(here) == 3:
            all_here.set()
        await all_here.wait()
        return True

    project.session.ui.confirm = confirm
    async with project.open() as opened:
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(opened.call, "meets")
        await trio.testing.wait_all_tasks_blocked()
        assert len(opened.processes) == 1


async def test_calls_that_each_call_another_tool_of_their_module_never_wait_for_each_other(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "MODULE_PROCESSES", 2)
    project.add_tool(
        "nests", "return 'inner' if args else [context.ui.confirm('here'), context.page.call('nests', {'inner': True})]"
    )
    here, all_here = [], trio.Event()

    async def confirm(text: str) -> bool:
        here.append(text)
        if len(here) == 2:
            all_here.set()
        await all_here.wait()
        return True

    project.session.ui.confirm = confirm
    answers: list[Any] = []
    async with project.open() as opened:
        [tool] = opened.modules.tools

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            return await tool.execute(arguments, replace(project.session, depth=1))

        async def call_outer() -> None:
            answers.append(await opened.call("nests"))

        project.session.page.call = call
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(call_outer)
    assert answers == [[True, "inner"]] * 2


async def test_so_many_processes_wait_for_a_call_and_the_others_are_started_anew(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "MODULE_PROCESSES_WAITING", 2)
    for name in ("one", "two", "three"):
        project.add_tool(name, "global n; n += 1; return n", head="n = 0")
    project.add_tool("prepares", "context.push_pending_action('wait', print)")

    async with project.open() as opened:
        await opened.call("prepares")
        for name, calls in [("one", 1), ("two", 1), ("one", 2), ("two", 2), ("three", 1), ("two", 3), ("one", 1)]:
            assert await opened.call(name) == calls, name
        running = [len(module.pool.running) for module in opened.modules._modules if module.pool]
        assert running == [1, 1, 0, 1]
