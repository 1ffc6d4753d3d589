"""A module from hell harms its own calls, and nobody else."""

import pytest
import trio

from tests.modules.outcomes import BECOMES, ENDLESS, FOLDER, POISONS
from tests.modules.project import Opened, Project


@pytest.fixture
def hell(project: Project) -> Project:
    for path in ("hell.py", "good.py"):
        project.add(path, (FOLDER / path).read_text(encoding="utf-8"))
    return project


async def try_it(opened: Opened, name: str) -> None:
    match BECOMES[name]:
        case type() as error:
            with pytest.raises(error):
                await opened.call(name)
        case value:
            assert await opened.call(name) == value, name


async def test_what_becomes_of_each_tool_is_known(hell: Project):
    async with hell.open() as opened:
        assert opened.names == sorted([*BECOMES, *ENDLESS, POISONS, "good"], key=opened.names.index)


@pytest.mark.threat("S3", "S5")
async def test_a_module_from_hell_harms_nobody_else(hell: Project, capfd: pytest.CaptureFixture[str]):
    counts: list[int] = []
    pids: set[int] = set()

    async def call_good(opened: Opened) -> None:
        count, pid = await opened.call("good")
        counts.append(count)
        pids.add(pid)

    async with hell.open() as opened:
        for name in ENDLESS:
            await opened.call_and_take_back(name)
        async with trio.open_nursery() as nursery:
            for name in BECOMES:
                nursery.start_soon(try_it, opened, name)
                await call_good(opened)
        await call_good(opened)
        assert await opened.call(POISONS) == "well"
        await try_it(opened, "exits")
    assert counts == list(range(1, len(BECOMES) + 2))
    assert len(pids) == 1
    assert capfd.readouterr().out == ""
