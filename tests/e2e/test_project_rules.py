"""`pagebridge serve --project`: who has which tools, when they change, and where secrets go."""

import json
import subprocess
from pathlib import Path

import pytest
import trio

from bridge.calls.built_ins import BUILT_INS
from tests.e2e.client import COMMAND, ERAS, Era, open_agent, open_raw, text_of
from tests.e2e.project import PAGE, Project, names_of, refused
from tests.e2e.test_direct import open_listening
from tests.e2e.test_life import wait_exit
from tests.sites import Site

KEY = "s3cret-k3y\"'<é>"
PLAIN = "pl4in-k3y"


# Who sees what


AGENTS = """
[agents.reader]
tools = ["list_pages", "read", "relay"]

[agents.writer]
tools = {exclude = ["read"]}

[agents.scripted]
tools = {exclude = ["call_page_tool"]}
"""


@pytest.fixture
def shared(project: Project) -> Project:
    project.tool("read", "return 'read'")
    project.tool("write", "return 'written'")
    project.tool("relay", "return await context.page.call(args['name'], args.get('given'))")
    project.tool("reach", "return await context.page.call_tool('p1', 'said')")
    project.declare(
        "list_pages", "list_page_tools", "call_page_tool", "evaluate_script", after=AGENTS, before="import = []"
    )
    return project


@pytest.mark.feature("manifest.agents")
@pytest.mark.threat("C3")
async def test_an_agent_has_what_all_its_names_have_and_nothing_else(shared: Project):
    async with shared.open("--agent", "reader") as agent:
        assert set(await names_of(agent)) == {"list_pages", "read", "relay"}
        assert "Agent reader may not use" in await refused(agent, "write")
        through = await agent.call_tool("relay", {"name": "write"})
        assert through.is_error
        assert "Agent reader may not use" in text_of(through)
    async with shared.open("--agent", "reader", "--agent", "writer") as agent:
        assert set(await names_of(agent)) == {"list_pages", "relay"}
        assert "Agent writer may not use" in await refused(agent, "read")


@pytest.mark.feature("manifest.agents")
async def test_an_agent_that_nobody_declared_is_refused(shared: Project):
    async with open_raw("--project", str(shared.folder), "--agent", "raeder") as client:
        assert await wait_exit(client) == 2
        assert await client.rest() == []
    last = client.errors.decode().splitlines()[-1]
    assert "has no [agents." in last
    assert "reader" in last
    assert b"Traceback" not in client.errors


@pytest.mark.feature("manifest.agents")
@pytest.mark.threat("C3")
async def test_who_may_not_call_page_tools_has_no_other_way_to_them(shared: Project, site: Site):
    words = ("--open", site.page("/said", PAGE), "--direct", "--tools", "debug", "--mode", "dev", "--agent", "scripted")
    async with shared.open(*words) as agent:
        await agent.call_tool("list_page_tools", {"page": "p1"})
        names = await names_of(agent)
        assert not [name for name in names if name.startswith("page_") or name == "evaluate_script"]
        assert "list_page_tools" in names
        await refused(agent, "page_said")
        await refused(agent, "call_page_tool")
        reached = await agent.call_tool("reach", {})
        assert reached.is_error
        assert "Agent scripted may not use call_page_tool" in text_of(reached).replace("'", "")
        relayed = await agent.call_tool(
            "relay", {"name": "builtin:evaluate_script", "given": {"page": "p1", "expression": "1"}}
        )
        assert relayed.is_error


@pytest.mark.feature("manifest.agents")
@pytest.mark.threat("C3")
async def test_a_name_that_hides_nothing_offers_nothing(project: Project):
    project.tool("read", "return 'read'")
    project.declare(after='[agents.reader]\ntools = {exclude = ["raed"]}')
    async with project.open("--agent", "reader") as agent:
        assert await names_of(agent) == []
        said = await refused(agent, "read")
        assert "raed" in said
        assert "read" in said.replace("raed", "")
        project.declare(after='[agents.reader]\ntools = {exclude = ["call_page_tool"]}')
        assert "read" in await names_of(agent)


FACTORY = """
def tools(api):
    async def execute(args, context):
        return "done"

    said = {"description": "Does it.", "parameters": {"type": "object"}, "execute": execute}
    return [{"name": name, **said} for name in ("read", "write")]
"""


@pytest.mark.feature("manifest.agents")
@pytest.mark.threat("C3")
async def test_a_module_that_does_not_load_opens_no_tool_that_was_hidden(project: Project):
    project.module("pair", FACTORY)
    project.tool("keep", "return 'kept'")
    project.declare(after='[agents.reader]\ntools = {exclude = ["write"]}')
    async with project.open("--agent", "reader") as agent:
        assert set(await names_of(agent)) >= {"read", "keep"}
        assert await refused(agent, "pair") == "tools/pair.py has no tool 'pair'. It has read, write."
        project.module("pair", "import nothere")
        assert set(await names_of(agent)) == {"keep", "resolve_action"}
        project.declare(after='[agents.reader]\ntools = {exclude = ["write", "keeb"]}')
        assert await names_of(agent) == []
        assert "Did you mean keep?" in await refused(agent, "keep")


@pytest.mark.feature("manifest.agents")
@pytest.mark.threat("C3")
async def test_a_rule_that_can_not_be_right_holds_from_the_first_call_on(project: Project):
    project.module("pair", FACTORY)
    project.declare("list_pages", after='[agents.reader]\ntools = {exclude = ["list_pages", "write"]}')
    async with project.open("--agent", "reader") as agent:
        assert "Agent reader may not use list_pages" in await refused(agent, "list_pages")
        project.declare("list_pages", after='[agents.reader]\ntools = {exclude = ["list_pgs", "write"]}')
        assert "Did you mean list_pages?" in await refused(agent, "list_pages")
    async with project.open("--agent", "reader") as agent:
        assert "Did you mean list_pages?" in await refused(agent, "list_pages")


# What changes


@pytest.mark.feature("modules.changes")
@pytest.mark.parametrize("era", ERAS)
async def test_a_change_is_announced_where_nothing_is_called_and_counts_from_then_on(project: Project, era: Era):
    project.tool("one", "return 'before'")
    project.declare()
    async with open_listening("--project", str(project.folder), era=era) as (agent, notices):
        assert text_of(await agent.call_tool("one", {})) == "before"
        project.tool("one", "return 'after'")
        await notices.wait_one()
        assert text_of(await agent.call_tool("one", {})) == "after"

        project.tool("two", "return 'new'")
        project.declare()
        await notices.wait_one()
        assert {"one", "two"} <= set(await names_of(agent))
        assert text_of(await agent.call_tool("two", {})) == "new"

        del project.lines["one"]
        project.declare()
        await notices.wait_one()
        assert "one" not in await names_of(agent)
        assert "Unknown tool" in await refused(agent, "one")
        assert notices.waiting == 0


@pytest.mark.feature("modules.changes")
async def test_what_runs_while_its_module_changes_ends_as_it_was(project: Project, tmp_path: Path):
    gate = tmp_path / "gate"
    project.tool(
        "slow",
        f"""
        import asyncio, os
        context.progress(1)
        while not os.path.exists({str(gate)!r}):
            await asyncio.sleep(0.02)
        return "old"
        """,
    )
    project.tool("other", "return 'other'")
    project.declare()
    begun = trio.Event()
    answers: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        begun.set()

    async with project.open() as agent, trio.open_nursery() as nursery:

        async def call() -> None:
            answers.append(text_of(await agent.call_tool("slow", {}, progress_callback=hear)))

        nursery.start_soon(call)
        await begun.wait()
        project.tool("slow", "return 'new'")
        project.declare("list_pages")
        assert text_of(await agent.call_tool("other", {})) == "other"
        assert text_of(await agent.call_tool("slow", {})) == "new"
        assert answers == []
        gate.touch()
    assert answers == ["old"]


@pytest.mark.feature("manifest.tools")
async def test_a_manifest_that_breaks_leaves_what_it_said_before(project: Project):
    project.tool("one", "return 'well'")
    project.declare()
    async with open_raw("--project", str(project.folder)) as client:
        await client.initialize()
        assert (await client.result(await client.call("one")))["content"][0]["text"] == "well"
        project.write("pagebridge.toml", "[tools\n")
        for _ in range(3):
            assert (await client.result(await client.call("one")))["content"][0]["text"] == "well"
        project.tool("two", "return 'mended'")
        project.declare()
        assert (await client.result(await client.call("two")))["content"][0]["text"] == "mended"
    assert client.errors.count(b"What it said before holds until it is mended.") == 1


@pytest.mark.feature("manifest.tools")
async def test_a_manifest_that_is_gone_leaves_what_it_said_before(project: Project):
    project.tool("one", "return 'well'")
    project.declare()
    async with project.open() as agent:
        before = await names_of(agent)
        (project.folder / "pagebridge.toml").rename(project.folder / "away.toml")
        assert await names_of(agent) == before
        (project.folder / "away.toml").rename(project.folder / "pagebridge.toml")
        project.tool("two", "return 'more'")
        project.declare()
        assert "two" in await names_of(agent)


@pytest.mark.feature("modules.changes")
async def test_a_file_counts_from_when_it_is_there_and_wherever_its_folder_leads(project: Project):
    project.lines |= {"late": "tools/late.py", "linked": "current/linked.py"}
    for version in ("v1", "v2"):
        project.tool("linked", f"return {version!r}")
        (project.folder / version).mkdir()
        (project.folder / "tools" / "linked.py").rename(project.folder / version / "linked.py")
    project.lines["linked"] = "current/linked.py"
    (project.folder / "current").symlink_to("v1")
    project.declare()
    async with project.open() as agent:
        assert "there is no such file" in await refused(agent, "late")
        assert text_of(await agent.call_tool("linked", {})) == "v1"
        project.tool("late", "return 'here'")
        (project.folder / "next").symlink_to("v2")
        (project.folder / "next").rename(project.folder / "current")
        assert text_of(await agent.call_tool("late", {})) == "here"
        assert text_of(await agent.call_tool("linked", {})) == "v2"


# Secrets


@pytest.mark.feature("manifest.secrets", "modules.context")
@pytest.mark.threat("S4")
async def test_a_secret_counts_from_the_next_call_on_and_only_where_it_is_granted(project: Project):
    project.tool("known", "return sorted(name for name in context.env if name.isupper() and 'KEY' in name)")
    project.declare(
        before='secrets = ["A_KEY", "B_KEY"]',
        after='[agents.half]\nsecrets = ["A_KEY"]\n[agents.none]\nsecrets = "none"',
    )
    project.set_secret("C_KEY", "not granted at all")
    async with project.open() as agent:
        assert text_of(await agent.call_tool("known", {})) == "[]"
        project.set_secret("A_KEY", "a secret")
        project.set_secret("B_KEY", "another secret")
        assert text_of(await agent.call_tool("known", {})) == '["A_KEY","B_KEY"]'
    async with project.open("--agent", "half") as agent:
        assert text_of(await agent.call_tool("known", {})) == '["A_KEY"]'
    async with project.open("--agent", "half", "--agent", "none") as agent:
        assert text_of(await agent.call_tool("known", {})) == "[]"


@pytest.mark.feature("manifest.secrets", "log.secrets")
@pytest.mark.threat("L4", "S4")
async def test_a_secret_is_in_no_word_that_comes_out(project: Project, site: Site, tmp_path: Path):
    project.tool("returns", "return {context.env['KEY']: [context.env['KEY']]}")
    project.tool("says", "return 'It is ' + context.env['KEY'] + '.'")
    project.tool("raises", "raise LookupError('401 for ' + context.env['KEY'])")
    project.tool(
        "details",
        "return {'content': [{'type': 'text', 'text': context.env['KEY']}], 'details': {'key': context.env['KEY']}}",
    )
    project.tool(
        "reports", "context.progress(1, None, 'with ' + context.env['KEY'])\nimport asyncio\nawait asyncio.sleep(1)"
    )
    project.tool("fills", "return await context.page.call_tool('p1', 'tell', {'text': context.env['KEY']})")
    project.tool("moves", "return await context.page.call_tool('p1', 'move', {'text': context.env['PLAIN']})")
    project.tool("long", "return context.env['KEY'] * 10_000")
    project.tool(
        "renders",
        "return context.env['KEY']",
        head="""
        def render_call(args):
            return "called with " + args["text"]

        def render_result(result, options):
            return "gave " + result
        """,
    )
    project.tool(
        "says_no", "return {'content': [{'type': 'text', 'text': 'No ' + context.env['KEY']}], 'isError': True}"
    )
    project.tool("logs", "context.logger.warning('with %s', context.env['PLAIN'])\nreturn 'logged'")
    project.tool("dies", "import os\nprint('then', context.env['PLAIN'], flush=True)\nos._exit(3)")
    project.module(
        "hooked",
        """
        description = "hooked"
        parameters = {"type": "object"}

        def on_result(event, context):
            raise LookupError("not for " + context.env["PLAIN"])

        async def execute(args, context):
            return "done"
        """,
    )
    project.declare("call_page_tool", "list_page_tools", before='secrets = ["KEY", "PLAIN"]')
    project.set_secret("KEY", KEY)
    project.set_secret("PLAIN", PLAIN)
    log = tmp_path / "calls.jsonl"
    words = ("--project", str(project.folder), "--open", site.page("/tells", PAGE), "--log", str(log), "--direct")
    async with open_raw(*words) as client:
        await client.initialize()
        for name in ("returns", "says", "raises", "details", "reports", "fills", "renders", "moves"):
            call = await client.ask(
                "tools/call", name=name, arguments={"text": KEY}, _meta={"progressToken": f"of {name}"}
            )
            result = await client.result(call)
            assert result["isError"] == (name == "raises")
            if name != "reports":
                assert "[secret]" in json.dumps(result), result
        for name in ("tell", "tells"):
            call = await client.ask(
                "tools/call",
                name="call_page_tool",
                arguments={"page": "p1", "tool": name, "arguments": {"text": KEY}},
                _meta={"progressToken": f"of {name}"},
            )
            assert "[secret]" in (await client.result(call))["content"][0]["text"]
        long = await client.result(await client.call("long"))
        kept = long["content"][0]["text"].rpartition("The whole is in ")[2].rstrip("]")
        assert await trio.Path(kept).read_text() == "[secret]" * 10_000
        project.set_secret("KEY", "another one")
        removed = await client.result(
            await client.call("call_page_tool", page="p1", tool="tell", arguments={"text": KEY})
        )
        assert removed["content"][0]["text"] == "[secret]"
        assert not (await client.result(await client.call("logs")))["isError"]
        assert (await client.result(await client.call("says_no")))["isError"]
        assert (await client.result(await client.call("dies")))["isError"]
        await client.close_stdin()
        assert await wait_exit(client) == 0
        await client.rest()
    assert b"with [secret]" in client.said
    errors = client.errors.decode()
    for said in (
        "with [secret]",
        "then [secret]",
        "on_result of tools/hooked.py failed: LookupError: not for [secret]",
    ):
        assert said in errors, errors
    for text in (client.said.decode(), log.read_text(), errors):
        assert "s3cret-k3y" not in text
        assert PLAIN not in text
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    shown = next(line["shown"] for line in lines if line["tool"] == "renders")
    assert shown == {"call": "called with [secret]", "result": "gave [secret]"}
    raised = next(line for line in lines if line["tool"] == "raises")
    assert raised["error"] == "Tool 'raises' failed: LookupError: 401 for [secret]"
    assert next(line["error"] for line in lines if line["tool"] == "says_no") == "No [secret]"


# Modules without a manifest


@pytest.mark.feature("modules.names", "modules.forms")
async def test_a_module_that_is_named_stands_behind_all_that_there_is(project: Project, tmp_path: Path):
    own = Project(tmp_path)
    project.tool("weather", "return 'of the project'")
    project.declare("list_pages")
    for name in ("weather", "click", "list_pages", "spare"):
        own.tool(name, f"return '{name} of the file'")
    broken = own.write("tools/broken.py", "this is no Python")
    named = [
        word
        for name in ("weather", "click", "list_pages", "spare")
        for word in ("--tool", f"{tmp_path}/tools/{name}.py")
    ]
    async with open_raw("--project", str(project.folder), *named, "--tool", str(broken)) as client:
        await client.initialize()
        listed = await client.result(await client.ask("tools/list"))
        assert {tool["name"] for tool in listed["tools"]} == {"list_pages", "resolve_action", "weather", "spare"}
        assert (await client.result(await client.call("weather")))["content"][0]["text"] == "of the project"
        assert (await client.result(await client.call("spare")))["content"][0]["text"] == "spare of the file"
        await client.close_stdin()
        assert await wait_exit(client) == 0
    said = client.errors.decode()
    assert "weather.py has a tool 'weather', and so has tools/weather.py" in said
    assert "click.py has a tool 'click', and so has the bridge" in said
    assert "broken.py did not load: line 1 of broken.py: invalid syntax" in said


@pytest.mark.feature("modules.names")
async def test_tools_that_are_named_come_beside_the_built_in_ones(project: Project):
    project.tool("spare", "return str(context.directory)")
    async with open_agent("--tool", str(project.folder / "tools" / "spare.py")) as agent:
        assert {*(tool.name for tool in BUILT_INS), "spare", "resolve_action"} == set(await names_of(agent))
        assert text_of(await agent.call_tool("spare", {})) == str(Path.cwd())


@pytest.mark.feature("modules.names")
async def test_a_folder_that_is_named_brings_its_modules_once_and_behind_the_manifest(project: Project):
    project.tool("weather", "return 'well'")
    project.declare()
    project.tool("spare", "import _shared\nreturn _shared.WORD")
    project.write("tools/_shared.py", "WORD = 'shared'")
    tools = str(project.folder / "tools")
    async with project.open("--tool", tools, "--tool", f"{tools}/spare.py") as agent:
        assert await names_of(agent) == ["resolve_action", "weather", "spare"]
        assert text_of(await agent.call_tool("spare", {})) == "shared"


@pytest.mark.feature("modules.names", "terminal.errors")
@pytest.mark.parametrize("words", [("serve",), ("tools", "call", "spare")])
@pytest.mark.parametrize(("path", "says"), [("empty", "it is a folder without any; put a file"), ("", "It is empty")])
def test_a_folder_that_names_no_module_is_said(tmp_path: Path, words: tuple[str, ...], path: str, says: str):
    (tmp_path / "empty").mkdir()
    (tmp_path / "spare.py").write_text("raise SystemExit")

    done = subprocess.run(
        [*COMMAND, *words, "--tool", path], cwd=tmp_path, check=False, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count(says) == 1
