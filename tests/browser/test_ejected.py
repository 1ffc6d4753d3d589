"""Each built-in tool, ejected into a project, answers there as it does where it is built in."""

import base64
import json
import re
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.bridge import Bridge
from bridge.calls.built_ins import BUILT_INS, choose_tools, read_profile
from bridge.calls.toolbox import Toolbox, open_toolbox
from bridge.page.media import Media
from bridge.serve.project import eject_tool
from bridge.settings import AgentSettings, PageSettings
from bridge.tools.sources.browser import BROWSER_TOOLS
from tests.browser.using import INSPECTED, uid_of
from tests.frames import take_out
from tests.sites import Site, offering, tool

NAMES = tuple(one.name for one in (*BUILT_INS, *BROWSER_TOOLS))
PAGE = """<button>Go</button><input aria-label=Name><input aria-label=Mail><input type=file aria-label=Photo>
<select aria-label=Size><option>S<option>L</select>
<p draggable=true tabindex=0 aria-label=Here>Here<p tabindex=0 aria-label=There>There<p>More
<script>console.log('hello', 1)</script>""" + offering(
    tool("add", "({a, b}) => ({sum: a + b, list: ['é', null, 1.5]})"),
    tool(
        "paint",
        "() => { const one = new OffscreenCanvas(4, 3); one.getContext('2d').fillRect(0, 0, 1, 1); return one }",
    ),
    tool("never", "() => new Promise(() => {})"),
    tool("ask", "() => confirm('Sure?') ? 'yes' : 'no'"),
)


@pytest.fixture
def page_settings() -> PageSettings:
    return INSPECTED


@dataclass
class Scene:
    """A page that a tool is used on, and the tools that prepare it."""

    toolbox: Toolbox
    url: str
    page: str = ""

    async def open(self) -> None:
        self.page = json.loads(await self.run("open_page", url=self.url))["page"]
        await self.run("emulate", page=self.page, viewport={"width": 400, "height": 300})

    async def run(self, name: str, **arguments: Any) -> str:
        answer = await self.toolbox.run(name, arguments)
        assert not answer.is_error, answer.text
        return take_out(answer.text)

    async def uid(self, name: str) -> str:
        return uid_of(await self.run("take_snapshot", page=self.page), f'"{name}"')


Given = dict[str, Any]


async def with_uid(name: str, scene: Scene, **more: Any) -> Given:
    return {"page": scene.page, "uid": await scene.uid(name), **more}


async def with_page(scene: Scene, **more: Any) -> Given:
    return {"page": scene.page, **more}


async def with_nothing(_: Scene) -> Given:
    return {}


async def with_address(scene: Scene) -> Given:
    return {"url": f"{scene.url}?again"}


async def with_dialog(scene: Scene) -> Given:
    asked = await scene.toolbox.run("call_page_tool", {"page": scene.page, "tool": "ask"})
    assert asked.structured is not None
    assert asked.structured["code"] == "dialog_open", asked.text
    return {"page": scene.page, "accept": True}


async def with_fields(scene: Scene) -> Given:
    fields = [{"uid": await scene.uid(name), "value": name} for name in ("Name", "Mail")]
    return {"page": scene.page, "fields": fields}


async def with_two(scene: Scene) -> Given:
    return {"page": scene.page, "from": await scene.uid("Here"), "to": await scene.uid("There")}


async def with_file(scene: Scene) -> Given:
    path = scene.toolbox.bridge.spill.write("x", suffix=".txt")
    return await with_uid("Photo", scene, files=[str(path)])


async def with_request(scene: Scene) -> Given:
    requests = json.loads(await scene.run("list_network_requests", page=scene.page))["requests"]
    return {"page": scene.page, "request": requests[0]["id"]}


CASES: dict[str, Callable[[Scene], Awaitable[Given]]] = {
    "list_pages": with_nothing,
    "open_page": with_address,
    "navigate_page": partial(with_page, action="reload"),
    "close_page": with_page,
    "list_page_tools": with_page,
    "call_page_tool": partial(with_page, tool="add", arguments={"a": 1, "b": 2}),
    "handle_dialog": with_dialog,
    "take_snapshot": with_page,
    "take_screenshot": with_page,
    "wait_for": partial(with_page, text=["There"]),
    "click": partial(with_uid, "Go"),
    "hover": partial(with_uid, "Go"),
    "fill": partial(with_uid, "Name", value="x"),
    "fill_form": with_fields,
    "press_key": partial(with_page, key="Tab"),
    "select_option": partial(with_uid, "Size", options=["L"]),
    "upload_file": with_file,
    "drag": with_two,
    "evaluate_script": partial(with_page, expression="({a: [1, 'é']})"),
    "list_console_messages": with_page,
    "list_network_requests": with_page,
    "get_network_request": with_request,
    "emulate": partial(with_page, cpu_rate=2),
    "resize_page": partial(with_page, width=500, height=400),
}


FURTHER: dict[str, tuple[str, Callable[[Scene], Awaitable[Given]]]] = {
    "part": ("call_page_tool", partial(with_page, tool="add", arguments='{"a": 1, "b": 2}', select="/list/0")),
    "picture": ("call_page_tool", partial(with_page, tool="paint")),
    "rest of a snapshot": ("take_snapshot", partial(with_page, line=1)),
    "JPEG": ("take_screenshot", partial(with_page, format="jpeg", quality=30)),
}
"""What comes in other forms."""


def test_there_is_a_case_for_each_built_in_tool():
    assert tuple(CASES) == NAMES


@pytest.fixture
async def built_in(bridge: Bridge) -> AsyncIterator[Toolbox]:
    settings = AgentSettings(tools=read_profile("debug"), mode="dev")
    async with open_toolbox(Agent(bridge, settings)) as toolbox:
        yield toolbox


async def use(scene: Scene, toolbox: Toolbox, name: str, prepare: Callable[[Scene], Awaitable[Given]]) -> Answer:
    """The answer of a tool. A page that it opened is closed, and one that it closed is opened again."""
    before = handles(toolbox)
    answer = await toolbox.run(name, await prepare(scene))
    for page in handles(toolbox) - before:
        await scene.run("close_page", page=page)
    if scene.page not in handles(toolbox):
        await scene.open()
    return answer


def handles(toolbox: Toolbox) -> set[str]:
    return {page.handle for page in toolbox.bridge.open_pages()}


CHANGING = re.compile(
    r'[0-9,]+ bytes|"(ms|bytes|time|toolset|Date)":("[^"]*"|[0-9.]+)|\b(p[0-9]+|n[0-9]+|e[0-9]+-[0-9]+)\b|'
    r'"navigated":{"page":"p[^}]*}'
)
"""What is another one each time; and where a page has gone, which tools of a project tell beside."""


def told(answer: Answer) -> tuple[object, ...]:
    """What an agent reads; of JSON the facts, whether they stand in the result or beside it."""
    texts = [take_out(text) for text in (answer.text, *answer.notes)]
    with suppress(TypeError, ValueError):
        facts: dict[str, Any] = {}
        for text in texts:
            facts |= json.loads(text)
        texts = [json.dumps(facts, separators=(",", ":"))]
    texts = [CHANGING.sub("", text) for text in texts]
    media = [picture(one) for one in answer.media if isinstance(one, Media)]
    return answer.is_error, [text for text in texts if text != '{"untrusted":true,}'], media


def picture(media: Media) -> tuple[str, tuple[int, ...]]:
    """Of which kind it is, and its pixels."""
    return media.mime, struct.unpack(">II", base64.b64decode(media.data)[16:24])


@pytest.mark.feature("manifest.eject")
async def test_ejected_tools_answer_as_the_built_in_ones(
    bridge: Bridge, built_in: Toolbox, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    scene = Scene(built_in, site.page("/ejected", PAGE))
    await scene.open()
    monkeypatch.setattr(limits, "SNAPSHOT_LINES", 10)  # there are more
    (tmp_path / "pagebridge.toml").touch()
    for name in NAMES:
        eject_tool(tmp_path, name, force=False)
    chosen = choose_tools("pages", tmp_path, "dev", "full")
    assert chosen.inspected == INSPECTED.inspected
    settings = AgentSettings(tools=chosen.names, mode="dev", project=tmp_path)
    answers: dict[str, list[tuple[object, ...]]] = {}
    async with open_toolbox(Agent(bridge, settings)) as ejected:
        offered = (await ejected.offer()).tools
        assert {one.name for one in offered if one.kind == "project"} >= set(NAMES)
        for case, (name, prepare) in {**{name: (name, one) for name, one in CASES.items()}, **FURTHER}.items():
            for toolbox in (built_in, ejected):
                answers.setdefault(case, []).append(told(await use(scene, toolbox, name, prepare)))

    assert [case for case, (right, _) in answers.items() if right[0]] == []
    assert {case: found for case, (_, found) in answers.items()} == {
        case: right for case, (right, _) in answers.items()
    }


async def test_what_the_built_in_tool_says_beside_its_result_goes_along(
    bridge: Bridge, built_in: Toolbox, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    scene = Scene(built_in, site.page("/noted", PAGE))
    await scene.open()
    (tmp_path / "pagebridge.toml").touch()
    eject_tool(tmp_path, "take_snapshot", force=False)
    module = tmp_path / "tools" / "take_snapshot.py"
    module.write_text(module.read_text().replace("return await", "return 'Shown: ' + await"))
    monkeypatch.setattr(limits, "SNAPSHOT_LINES", 3)

    async with open_toolbox(Agent(bridge, AgentSettings(mode="dev", project=tmp_path))) as toolbox:
        answer = await toolbox.run("take_snapshot", {"page": scene.page})

    assert take_out(answer.text).startswith("Shown: RootWebArea")
    assert answer.notes == ("Lines 1 to 3 of 12. line=3 shows what follows, and uid only what is in one element.",)


async def test_a_tool_works_with_the_values_of_a_page(bridge: Bridge, built_in: Toolbox, site: Site, tmp_path: Path):
    scene = Scene(built_in, site.page("/valued", PAGE))
    await scene.open()
    module = tmp_path / "look.py"
    module.write_text(
        "description = 'Looks'\nparameters = {'type': 'object'}\n\nasync def execute(args, context):\n"
        "    words = '({a: [1, \"é\"]})', '\"7\"', '7', 'undefined'\n"
        f"    return [await context.page.evaluate(one, {scene.page!r}) for one in words]\n"
    )
    settings = AgentSettings(tools=read_profile("debug"), mode="dev", modules=(module,))

    async with open_toolbox(Agent(bridge, settings)) as toolbox:
        answer = await toolbox.run("look", {})

    assert json.loads(take_out(answer.text)) == [{"a": [1, "é"]}, "7", 7, "undefined"]


async def test_what_an_ejected_tool_is_told_of_the_call_counts(
    bridge: Bridge, built_in: Toolbox, site: Site, tmp_path: Path
):
    scene = Scene(built_in, site.page("/stale", PAGE))
    await scene.open()
    (tmp_path / "pagebridge.toml").touch()
    eject_tool(tmp_path, "call_page_tool", force=False)
    given = {"page": scene.page, "tool": "add", "arguments": {"a": 1, "b": 2}}

    async with open_toolbox(Agent(bridge, AgentSettings(project=tmp_path))) as toolbox:
        refused = await toolbox.run("call_page_tool", {**given, "toolset": "of another page"})
        late = await toolbox.run("call_page_tool", {**given, "tool": "never", "timeout_seconds": 0.1})

    assert refused.is_error
    assert "toolset" in refused.text
    assert "within 0.1 s" in late.text
