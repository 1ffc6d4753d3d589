"""Whose code runs: that of a project which its user named, and of no folder because it is there."""

import subprocess
from pathlib import Path

import pytest

from bridge.calls.built_ins import BUILT_INS
from tests.e2e.client import COMMAND, open_agent, text_of

MODULE = """
from pathlib import Path

Path(__file__).with_name("ran").touch()
description = "Says hello to somebody."
parameters = {"type": "object", "properties": {}}

def execute(args, context):
    return "hello"
"""
LOOKS = (("tools", "ls"), ("validate",), ("tools", "eject", "close_page"), ("skills", "ls"), ("secrets", "ls"))
"""Commands that look into the folder that they are started in."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "greet.py").write_text(MODULE)
    (tmp_path / "pagebridge.toml").write_text('[tools]\nlist_pages = "builtin:list_pages"\ngreet = "tools/greet.py"\n')
    return tmp_path


def has_run(project: Path) -> bool:
    return (project / "tools" / "ran").exists()


@pytest.mark.threat("S12")
async def test_a_folder_that_an_agent_is_started_in_brings_no_tools_and_runs_nothing(project: Path):
    async with open_agent(folder=project) as agent:
        names = [tool.name for tool in (await agent.list_tools()).tools]
        await agent.call_tool("list_pages", {})

    assert names == [tool.name for tool in BUILT_INS]
    assert not has_run(project)


@pytest.mark.threat("S12")
def test_who_looks_at_a_project_runs_nothing_of_it(project: Path):
    for words in LOOKS:
        subprocess.run([*COMMAND, *words], cwd=project, check=True, capture_output=True, timeout=60)
    (project / "tools" / "greet.py").write_text(f"{MODULE}\nraise SystemExit(7)")
    subprocess.run([*COMMAND, "validate"], cwd=project, check=True, capture_output=True, timeout=60)

    assert not has_run(project)


@pytest.mark.threat("S12")
@pytest.mark.parametrize("words", [("--project", "."), ("--tool", "tools/greet.py")], ids=["project", "tool"])
async def test_what_a_person_names_runs(project: Path, words: tuple[str, str]):
    async with open_agent(*words, folder=project) as agent:
        names = [tool.name for tool in (await agent.list_tools()).tools]
        said = text_of(await agent.call_tool("greet", {}))

    assert "greet" in names
    assert ("open_page" in names) == (words[0] == "--tool")
    assert said == "hello"
    assert has_run(project)
