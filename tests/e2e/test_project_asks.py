"""The real command over a project: its tool asks the person at the official client, and its skill is a prompt."""

import subprocess
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import trio
from mcp.client.context import ClientRequestContext
from mcp_types import (
    ElicitRequestParams,
    ElicitResult,
    PromptListChangedNotification,
    PromptsCapability,
    TextContent,
)

from bridge.manifest.secrets import find_secrets, set_secret
from tests.e2e.client import COMMAND, ERAS, Era, open_agent, text_of

TOOL = """
description = "Sell the boat."
parameters = {"type": "object", "properties": {}}

async def execute(args, context):
    if not context.ui.has_ui:
        return "nobody there"
    if not await context.ui.confirm("Sell the boat?"):
        return "kept"
    return await context.ui.select("To whom?", ["Ann", "Bob"])
"""
SKILL = "# Boats\n\nAsk before you sell.\n"
MANIFEST = '[tools]\nsell = "tools/sell.py"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in {"pagebridge.toml": MANIFEST, "tools/sell.py": TOOL, "skills/boats.md": SKILL}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    approve(tmp_path, "skills/boats.md")
    return tmp_path


def approve(project: Path, skill: str) -> None:
    subprocess.run([*COMMAND, "skills", "add", skill, "--yes"], cwd=project, check=True, timeout=60)


@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_of_a_project_asks_the_person_and_a_skill_is_a_prompt(era: Era, project: Path):
    asked: list[str] = []

    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"answer": True if len(asked) == 1 else "Bob"})

    async with open_agent("--project", str(project), era=era, on_question=answer) as agent:
        told = text_of(await agent.call_tool("sell", {}))
        [prompt] = (await agent.list_prompts()).prompts
        [message] = (await agent.get_prompt("boats")).messages

    assert told == "Bob"
    assert asked == [
        f"Tool 'sell' of this project (tools/sell.py) asks:\n\n{text}" for text in ("Sell the boat?", "To whom?")
    ]
    assert (prompt.name, prompt.title) == ("boats", "Boats")
    assert isinstance(message.content, TextContent)
    assert message.content.text.startswith("This is the skill 'boats', from the file skills/boats.md;")
    assert "Ask before you sell." in message.content.text


@pytest.mark.feature("log.secrets")
@pytest.mark.threat("S4")
@pytest.mark.parametrize("era", ERAS)
async def test_a_question_has_no_secret_in_it(era: Era, project: Path):
    (project / "tools/sell.py").write_text(
        TOOL.replace('"Sell the boat?"', '"With " + context.env["KEY"]').replace('"Bob"', 'context.env["KEY"]')
    )
    (project / "pagebridge.toml").write_text(f'secrets = ["KEY"]\n{MANIFEST}')
    set_secret(find_secrets(project), "KEY", "hunter2hunter2")
    asked: list[str] = []

    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.model_dump_json())
        return ElicitResult(action="accept", content={"answer": True if len(asked) == 1 else "[secret]"})

    async with open_agent("--project", str(project), era=era, on_question=answer) as agent:
        told = text_of(await agent.call_tool("sell", {}))

    assert told == "[secret]"
    assert ["With [secret]" in asked[0], '"[secret]"' in asked[1]] == [True, True]
    assert "hunter2" not in "".join(asked)


@pytest.mark.parametrize("number", [0, 1], ids=["first", "another"])
@pytest.mark.parametrize("era", ERAS)
async def test_a_skill_that_is_approved_meanwhile_is_announced(era: Era, number: int, project: Path):
    if not number:
        (project / "pagebridge.toml").write_text(MANIFEST)
    came = trio.Event()

    async def take(message: object) -> None:
        if isinstance(message, PromptListChangedNotification):
            came.set()

    async with open_agent("--project", str(project), era=era, message_handler=take) as agent, AsyncExitStack() as stack:
        if era == "legacy":
            assert agent.server_capabilities.prompts == PromptsCapability(list_changed=True)
        else:
            await stack.enter_async_context(agent.listen(prompts_list_changed=True))
        assert len((await agent.list_prompts()).prompts) == number
        (project / "skills/nets.md").write_text("# Nets\n\nMend them.\n")
        await trio.to_thread.run_sync(approve, project, "skills/nets.md")
        # It is noticed with the next request.
        assert len((await agent.list_prompts()).prompts) == number + 1
        await came.wait()


@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_of_a_project_hears_that_there_is_nobody_to_ask(era: Era, project: Path):
    async with open_agent("--project", str(project), era=era) as agent:
        assert text_of(await agent.call_tool("sell", {})) == "nobody there"
