"""Files of modules that change: they are picked up between calls, and what runs is what was read."""

import os
import time
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
import trio

from bridge.errors import ModuleUnusable, UsageError
from bridge.tools.modules import source
from bridge.tools.modules.child.files import Noted
from bridge.tools.modules.pool import Pool
from bridge.tools.modules.source import Watched, read_source
from bridge.wire.nursery import open_background
from tests.modules.project import Project

SAYS = "description = {0!r}\nparameters = {{'type': 'object'}}\ndef execute(args, context): return {0!r}\n"


@pytest.mark.feature("modules.changes")
async def test_a_changed_module_is_another_one_at_the_next_call(project: Project):
    project.add("tools/says.py", SAYS.format("one"))
    project.add_tool("stays", "return os.getpid()", head="import os")

    async with project.open() as opened:
        stays = await opened.call("stays")
        assert await opened.modules.refresh() is False
        project.write("tools/says.py", SAYS.format("two"))
        assert await opened.modules.refresh("stays") is False
        assert await opened.modules.refresh("says") is True
        assert await opened.modules.refresh() is False
        assert await opened.call("says") == "two"
        assert opened.modules.tools[0].description == "two"
        assert await opened.call("stays") == stays


async def test_a_tool_that_was_listed_before_a_change_does_not_run(project: Project):
    project.add("tools/says.py", SAYS.format("one"))

    async with project.open() as opened:
        [listed] = opened.modules.tools
        project.write("tools/says.py", SAYS.format("two"))
        await opened.modules.refresh()
        with pytest.raises(ModuleUnusable, match=r"has changed since it was listed\. Nothing ran"):
            await listed.execute({}, opened.session)


@pytest.mark.feature("modules.changes")
async def test_what_runs_while_its_module_changes_ends_as_it_began(project: Project):
    project.add_tool("asks", "return context.ui.confirm('yes') and 'one'")
    asked, go_on = trio.Event(), trio.Event()
    results = []

    async def confirm(text: str) -> bool:
        asked.set()
        await go_on.wait()
        return True

    project.session.ui.confirm = confirm
    async with project.open() as opened, trio.open_nursery() as nursery:

        async def call() -> None:
            results.append(await opened.call("asks"))

        nursery.start_soon(call)
        await asked.wait()
        [old] = opened.processes
        project.write("tools/asks.py", SAYS.format("two"))
        assert await opened.modules.refresh()
        assert await opened.call("asks") == "two"
        go_on.set()
        await old._over.wait()
    assert results == ["one"]


@pytest.mark.feature("modules.changes")
async def test_a_change_of_what_a_module_imports_counts_too(project: Project):
    project.write("tools/beside.py", "VALUE = 1")
    project.add_tool("reads", "import later; return [beside.VALUE, later.VALUE]", head="import beside")
    project.write("tools/later.py", "VALUE = 1")

    async with project.open() as opened:
        assert await opened.call("reads") == [1, 1]
        project.write("tools/beside.py", "VALUE = 2")
        assert await opened.modules.refresh()
        assert await opened.call("reads") == [2, 1]
        project.write("tools/later.py", "VALUE = 2")
        assert await opened.modules.refresh()
        assert await opened.call("reads") == [2, 2]


async def test_what_is_mended_loads(project: Project):
    project.write("tools/beside.py", "1 / 0")
    project.add("tools/bad.py", "import beside\n" + SAYS.format("one"))
    project.add("tools/gone.py", SAYS.format("two"))

    async with project.open() as opened:
        assert opened.names == ["gone"]
        assert await opened.modules.refresh() is False
        project.write("tools/beside.py", "")
        (project.folder / "tools/gone.py").unlink()
        assert await opened.modules.refresh()
        assert opened.names == ["bad"]
        assert "gone.py can't be read: No such file" in opened.problems
        project.write("tools/gone.py", SAYS.format("two"))
        assert await opened.modules.refresh()
        assert opened.names == ["bad", "gone"]
        assert opened.problems == ""


@pytest.mark.feature("modules.changes")
async def test_a_change_of_what_is_beside_a_module_counts_wherever_the_project_is(project: Project):
    project.write("tools/beside.py", "VALUE = 1")
    project.add_tool("reads", "return beside.VALUE", head="import beside")
    project.session.directory = project.folder / "elsewhere"
    project.session.directory.mkdir()

    async with project.open() as opened:
        assert await opened.call("reads") == 1
        project.write("tools/beside.py", "VALUE = 2")
        assert await opened.modules.refresh()
        assert await opened.call("reads") == 2


def test_what_is_installed_is_no_part_of_a_project_around_it():
    noted = Noted(Path("/"))

    for name in ("colorsys", "pytest"):
        spec = noted.find_spec(name, None)
        assert spec is not None
        assert type(spec.loader) is SourceFileLoader


@pytest.mark.feature("modules.changes")
async def test_what_lacked_a_file_loads_once_that_is_there(project: Project):
    project.add("tools/late.py", "import beside\n" + SAYS.format("late"))
    project.write("tools/parts/__init__.py", "")
    project.add("tools/part.py", "from parts import later\n" + SAYS.format("part"))

    async with project.open() as opened:
        assert "No module named 'beside'" in opened.problems
        assert await opened.modules.refresh() is False
        project.write("tools/beside.py", "")
        assert await opened.modules.refresh()
        assert opened.names == ["late"]
        assert await opened.modules.refresh() is False
        project.write("tools/parts/later.py", "")
        assert await opened.modules.refresh()
        assert opened.names == ["late", "part"]
        project.write("tools/more.py", "")
        assert await opened.modules.refresh() is False


async def test_a_module_that_fails_and_writes_beside_itself_is_not_tried_again_and_again(project: Project):
    project.add("tools/bad.py", "open(__file__ + '.log', 'w').close()\n1 / 0")

    async with project.open() as opened:
        await opened.modules.refresh()
        assert await opened.modules.refresh() is False


async def test_a_file_that_was_only_touched_has_not_changed(project: Project):
    project.add("tools/says.py", SAYS.format("one"))

    async with project.open() as opened:
        os.utime(project.folder / "tools/says.py")
        assert await opened.modules.refresh() is False
        assert len(opened.processes) == 1


async def test_a_module_that_offers_something_else_each_time_is_not_used(project: Project):
    project.add_tool("odd", "context.ui.confirm('yes')")
    project.write("tools/odd.py", "import os\n" + SAYS.format("one").replace("'one'", "str(os.getpid())", 1))

    async with project.open() as opened:
        [process] = opened.processes
        process.end()
        await process._over.wait()
        with pytest.raises(ModuleUnusable, match="offers other tools each time it is loaded"):
            await opened.call("odd")


@pytest.mark.threat("S6")
async def test_what_is_run_is_what_was_read_and_hashed(project: Project):
    project.add("tools/says.py", SAYS.format("one"))
    path = project.folder / "tools/says.py"
    read = read_source(path)
    watched = Watched({path: read.sha256})
    path.write_text(SAYS.format("evil"), encoding="utf-8")

    with trio.fail_after(20):
        async with open_background() as nursery:
            pool = Pool(nursery, read, "tools/says.py", project.session, [])
            async with pool.take(0) as process:
                assert pool.exported["tools"][0]["description"] == "one"
                assert await process.ask("call", {"tool": 0, "arguments": {}}, project.session) == "one"
    assert watched.has_changed()


@pytest.mark.threat("S6")
async def test_a_process_that_comes_later_runs_the_same_as_the_first(project: Project):
    project.add("tools/says.py", SAYS.format("one"))

    async with project.open() as opened:
        (project.folder / "tools/says.py").write_text(SAYS.format("evil"), encoding="utf-8")
        [process] = opened.processes
        process.end()
        await process._over.wait()
        assert await opened.call("says") == "one"
        assert opened.modules.tools[0].sha256 != read_source(project.folder / "tools/says.py").sha256


def test_a_change_is_seen_though_time_and_size_stay(tmp_path: Path):
    path = tmp_path / "a.py"
    path.write_bytes(b"one")
    watched = Watched({path: read_source(path).sha256})
    assert not watched.has_changed()
    before = path.stat()
    path.write_bytes(b"two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert watched.has_changed()


def test_a_file_that_was_left_alone_for_long_is_not_read_again(tmp_path: Path):
    path = tmp_path / "a.py"
    path.write_bytes(b"one")
    os.utime(path, ns=(0, 0))
    watched = Watched({path: read_source(path).sha256})
    assert not watched.has_changed()
    assert path in watched._looks
    path.write_bytes(b"two")
    os.utime(path, ns=(0, 0))

    assert watched.has_changed(), "its time and size are the same, but not when that was last set"


def test_a_file_that_changes_faster_than_its_clock_is_read_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    now = time.time_ns()
    monkeypatch.setattr(source, "_look", lambda path: (now, now, 3, 1, 0))
    path = tmp_path / "a.py"
    path.write_bytes(b"one")
    watched = Watched({path: read_source(path).sha256})
    assert not watched.has_changed()
    path.write_bytes(b"two")

    assert watched.has_changed()


@pytest.mark.threat("S1")
@pytest.mark.parametrize("what", ["link", "pipe", "folder", "large"])
def test_what_took_the_place_of_a_module_is_not_read(tmp_path: Path, what: str):
    path = tmp_path / "a.py"
    match what:
        case "link":
            (tmp_path / "b.py").write_bytes(b"evil")
            path.symlink_to(tmp_path / "b.py")
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case _:
            path.write_bytes(b" " * (1024 * 1024 + 1))

    with pytest.raises(UsageError, match=r"a\.py can't be read: it is|1,048,576 bytes"):
        read_source(path)
