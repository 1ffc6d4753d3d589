"""What a plain start does not load. An agent waits for it each time."""

import re

import pytest

from tests.e2e.client import open_raw
from tests.e2e.test_life import wait_exit
from tests.sites import Site, offering, tool

WITH_PROJECTS = (
    "bridge.calls.project",
    "bridge.manifest",
    "bridge.serve.elicitation",
    "bridge.serve.prompts",
    "bridge.tools.browser",
    "bridge.tools.modules",
    "bridge.tools.skills",
    "bridge.tools.sources.browser",
    "httpx2",
    "tomlkit",
    "tomllib",
)
FOR_PEOPLE = ("click.testing", "rich")


@pytest.mark.feature("mcp.start")
async def test_a_start_without_a_project_loads_nothing_that_projects_and_debugging_need(site: Site):
    page = site.page("/start", offering(tool("add", "({a, b}) => a + b")))
    env = {"PYTHONPROFILEIMPORTTIME": "1", "LC_ALL": "C.UTF-8"}
    async with open_raw("--open", page, env=env) as client:
        await client.initialize()
        await client.result(await client.ask("tools/list"))
        called = await client.call("call_page_tool", page="p1", tool="add", arguments={"a": 1, "b": 2})
        assert (await client.result(called))["structuredContent"]["result"] == "3"
        await client.close_stdin()
        assert await wait_exit(client) == 0

    loaded = set(re.findall(r"^import time: .*\| +(\S+)$", client.errors.decode(), re.MULTILINE))
    assert "bridge.calls.toolbox" in loaded
    forbidden = tuple(f"{name}." for name in (*WITH_PROJECTS, *FOR_PEOPLE))
    assert sorted(name for name in loaded if f"{name}.".startswith(forbidden)) == []
