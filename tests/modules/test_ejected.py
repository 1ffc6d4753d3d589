"""An ejected tool in the process that it runs in."""

import pytest

from bridge.calls.built_ins import BY_NAME, browser_tools
from bridge.manifest.template import module_of_built_in
from tests.modules.project import Project


@pytest.mark.feature("manifest.eject")
async def test_an_ejected_tool_runs_as_it_was_written(project: Project):
    click, call = browser_tools()["click"], BY_NAME["call_page_tool"]
    project.add("tools/click.py", module_of_built_in(click, mode=click.mode), name="click")
    project.add("tools/call_page_tool.py", module_of_built_in(call, mode="ask"), name="call_page_tool")
    project.session.page.answer = {"navigated": None}

    async with project.open() as opened:
        assert opened.names == ["click", "call_page_tool"], opened.problems
        found = opened.modules.find("click")
        assert found is not None
        assert (found.title, found.description, found.parameters) == (click.title, click.description, click.parameters)
        assert (found.mode, found.read_only) == (click.mode, click.read_only)
        assert await opened.call("click", page="p1", uid="1_2") == {"navigated": None}
        assert await opened.call("call_page_tool", page="p1", tool="add") == {"navigated": None}

    assert project.session.page.asked == [
        ("call", "builtin:click", {"page": "p1", "uid": "1_2"}),
        ("call", "builtin:call_page_tool", {"page": "p1", "tool": "add"}),
    ]
