"""`pagebridge serve --project`: what a call of a module is to a real client, and what it does in real pages."""

import json
from typing import Any

import pytest
import trio
from mcp_types import ElicitRequestParams, ElicitResult, ImageContent, TextContent

from tests.e2e.client import ERAS, Era, open_raw, text_of
from tests.e2e.project import PAGE, Project, whole_text
from tests.e2e.test_life import is_running, wait_exit, wait_gone
from tests.modules.outcomes import BECOMES, ENDLESS
from tests.modules.outcomes import FOLDER as HELL
from tests.sites import Site

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
TYPED = "{'type': 'object', 'properties': {'n': {'type': 'integer', 'default': 7}}, 'required': ['n']}"
SHOP = "<button onclick=\"this.textContent = 'clicked'\">Buy</button>" + PAGE


# What a call is


@pytest.mark.feature("modules.results", "calls.defaults")
@pytest.mark.parametrize("era", ERAS)
async def test_a_module_is_called_as_any_tool_is(project: Project, era: Era):
    project.tool("double", "return args['n'] * 2", parameters=TYPED)
    project.tool("raises", "raise LookupError('no such city: name another one')")
    project.tool(
        "blocks",
        f"""
        image = {{"type": "image", "data": "{PIXEL}", "mimeType": "image/png"}}
        return {{"content": [{{"type": "text", "text": "a pixel"}}, image], "details": {{"pixels": 1}}}}
        """,
    )
    project.declare()
    async with project.open(era=era) as agent:
        listed = next(tool for tool in (await agent.list_tools()).tools if tool.name == "double")
        assert listed.input_schema["required"] == ["n"]

        assert text_of(await agent.call_tool("double", {"n": 4})) == "8"
        assert text_of(await agent.call_tool("double", {})) == "14"
        wrong = await agent.call_tool("double", {"n": "four"})
        assert wrong.is_error
        assert wrong.structured_content is not None
        assert (wrong.structured_content["code"], wrong.structured_content["dispatched"]) == (
            "arguments_invalid",
            False,
        )
        assert "integer" in text_of(wrong)

        raised = await agent.call_tool("raises", {})
        assert raised.is_error
        assert text_of(raised) == "Tool 'raises' failed: LookupError: no such city: name another one"

        answer = await agent.call_tool("blocks", {})
    text, image, *_ = answer.content
    assert isinstance(text, TextContent)
    assert text.text.startswith("a pixel\n")
    assert image == ImageContent(data=PIXEL, mime_type="image/png")
    assert answer.meta is not None
    assert answer.meta["pagebridge"]["details"] == {"pixels": 1}


@pytest.mark.feature("calls.arguments")
@pytest.mark.parametrize("era", ERAS)
async def test_arguments_are_taken_for_what_they_say_where_a_tool_wants_that(project: Project, era: Era):
    parameters = (
        "{'type': 'object', 'properties': {'n': {'type': 'integer'}, 'text': {'type': 'string'}, "
        "'more': {'type': 'object'}}, 'required': ['n']}"
    )
    project.tool("plain", "return args", parameters=parameters)
    project.tool("coerces", "return args", head="coerce = True", parameters=parameters)
    project.tool("calls", "return await context.page.call('coerces', args)")
    project.declare("list_page_tools")
    given = {"n": "5", "text": "5", "more": '{"a": 1}'}
    async with project.open(era=era) as agent:
        for name in ("coerces", "calls"):
            assert json.loads(text_of(await agent.call_tool(name, given))) == {"n": 5, "text": "5", "more": {"a": 1}}
        assert json.loads(text_of(await agent.call_tool("coerces", {"n": 5, "text": "null"}))) == {
            "n": 5,
            "text": "null",
        }
        assert json.loads(text_of(await agent.call_tool("coerces", {"n": 5, "text": None}))) == {"n": 5}

        wrong = {"n": "five", "more": '{"a": 1}'}
        told = [text_of(await agent.call_tool(name, wrong)) for name in ("plain", "coerces")]
        assert told[0].replace("'plain'", "'coerces'") == told[1]
        assert '/more must be an object, not "{\\"a\\": 1}"' in told[1]
        assert (await agent.call_tool("plain", given)).is_error
        assert (await agent.call_tool("list_page_tools", {"page": None, "group": 5})).is_error


@pytest.mark.feature("modules.results")
async def test_details_stand_beside_a_text(project: Project):
    project.tool("told", "return {'content': [{'type': 'text', 'text': 'two'}], 'details': {'n': 2}, 'isError': True}")
    project.declare()
    async with project.open() as agent:
        answer = await agent.call_tool("told", {})
    assert answer.is_error
    assert answer.structured_content is not None
    assert (answer.structured_content["details"], answer.structured_content["result"]) == ({"n": 2}, "two")


@pytest.mark.feature("modules.results")
@pytest.mark.threat("S3")
async def test_a_traceback_is_in_the_log_of_the_bridge_alone(project: Project):
    project.tool("raises", "print('from its fd 1', flush=True)\nraise LookupError('no such city')")
    project.declare()
    async with open_raw("--project", str(project.folder), "-v") as client:
        await client.initialize()
        answer = await client.result(await client.call("raises"))
        await client.close_stdin()
        assert await wait_exit(client) == 0
    assert answer["isError"]
    assert b"Traceback" not in client.said
    assert b"Traceback" in client.errors
    assert b"from its fd 1" in client.errors
    assert b"from its fd 1" not in client.said


@pytest.mark.feature("modules.context", "calls.progress")
@pytest.mark.parametrize("era", ERAS)
async def test_progress_of_a_module_reaches_who_asked_for_it(project: Project, era: Era):
    project.tool(
        "steps",
        f"""
        import asyncio, os
        for n in range(3):
            context.progress(n, 3, f"step {{n}}")
            while not os.path.exists(f"{project.folder}/heard-{{n}}"):
                await asyncio.sleep(0.01)
        return "done"
        """,
    )
    project.declare()
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))
        (project.folder / f"heard-{progress:g}").touch()

    async with project.open(era=era) as agent:
        assert text_of(await agent.call_tool("steps", {}, progress_callback=hear)) == "done"
        told = list(heard)
        assert text_of(await agent.call_tool("steps", {})) == "done"
    assert told == [(0, 3, "step 0"), (1, 3, "step 1"), (2, 3, "step 2")]
    assert heard == told


SEES = "import json\nreturn json.dumps([[call.tool, call.outcome] for call in context.calls])"


@pytest.mark.feature("modules.context")
@pytest.mark.threat("P20")
async def test_a_module_sees_how_calls_ended_and_no_word_of_them(project: Project, site: Site):
    project.tool("sees", SEES)
    project.tool("outer", "return await context.page.call('sees', {})")
    project.tool("times", "return [call.seconds for call in context.calls][-1]")
    project.declare("call_page_tool", "list_pages")
    async with project.open("--direct", "--open", site.page("/said", PAGE)) as agent:
        await agent.call_tool("list_pages", {})
        assert "page_throws" in [tool.name for tool in (await agent.list_tools()).tools]
        await agent.call_tool("page_throws", {})
        await agent.call_tool("call_page_tool", {"page": "p9", "tool": "words of the agent"})

        seen = [["list_pages", "completed"], ["call_page_tool", "failed"], ["call_page_tool", "rejected"]]
        answer = await agent.call_tool("outer", {})
        assert json.loads(text_of(answer)) == seen
        assert whole_text(answer).count("page_content_") == 0
        assert json.loads(text_of(await agent.call_tool("sees", {}))) == [*seen, ["outer", "completed"]]
        assert 0 < float(text_of(await agent.call_tool("times", {}))) < 20


@pytest.mark.feature("modules.context")
async def test_a_module_that_lost_its_process_sees_that_call(project: Project):
    project.tool("ends", "if args.get('now'):\n    import os\n    os._exit(1)\n" + SEES)
    project.declare()
    async with project.open() as agent:
        assert (await agent.call_tool("ends", {"now": True})).is_error
        assert json.loads(text_of(await agent.call_tool("ends", {}))) == [["ends", "unknown"]]


@pytest.mark.feature("modules.stopped")
@pytest.mark.parametrize("way", [{}, {"io.modelcontextprotocol/x": 1}])
async def test_a_call_that_is_taken_back_ends_with_its_process(project: Project, way: dict[str, int]):
    project.tool("loops", "context.progress(1, None, str(__import__('os').getpid()))\nwhile True:\n    pass")
    project.tool("other", "return 'well'")
    project.declare()
    async with open_raw("--project", str(project.folder)) as client:
        await client.initialize()
        call = await client.ask("tools/call", name="loops", arguments={}, _meta={"progressToken": "t", **way})
        told = await client.receive()
        assert told is not None
        pid = int(told["params"]["message"])
        assert is_running(pid)
        await client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}})
        with trio.fail_after(20):
            await wait_gone({pid})
        assert (await client.result(await client.call("other")))["content"][0]["text"] == "well"
        await client.close_stdin()
        assert all(message.get("id") != call for message in await client.rest())


@pytest.mark.feature("modules.apart", "mcp.stdout")
@pytest.mark.threat("S3", "S5")
async def test_a_module_from_hell_harms_no_call_over_stdio(project: Project, site: Site):
    for name in ("hell", "good"):
        project.module(name, (HELL / f"{name}.py").read_text(encoding="utf-8"))
    project.declare("list_page_tools", "call_page_tool")
    words = ("--project", str(project.folder), "--open", site.page("/hell", PAGE))
    async with open_raw(*words) as client:
        await client.initialize()
        listed = await client.result(await client.ask("tools/list"))
        assert {*BECOMES, *ENDLESS, "good"} <= {tool["name"] for tool in listed["tools"]}
        endless = [
            await client.ask("tools/call", name=name, arguments={}, _meta={"progressToken": name}) for name in ENDLESS
        ]
        begun: set[str] = set()
        while begun < set(ENDLESS):
            message = await client.receive()
            assert message is not None
            begun.add(message["params"]["progressToken"])
        for call in endless:
            await client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}})
        for count, name in enumerate(BECOMES, 1):
            bad = await client.call(name)
            good = await client.call("good")
            page = await client.call("call_page_tool", page="p1", tool="add", arguments={"a": count, "b": 1})
            answers: dict[int, Any] = {}
            while len(answers) < 3:
                message = await client.receive()
                assert message is not None
                if "id" in message:
                    answers[message["id"]] = message["result"]
            becomes = BECOMES[name]
            assert answers[bad]["isError"] == isinstance(becomes, type), name
            if isinstance(becomes, str):
                assert answers[bad]["content"][0]["text"] == becomes
            assert json.loads(answers[good]["content"][0]["text"])[0] == count
            assert answers[page]["content"][0]["text"] == str(count + 1)
        await client.close_stdin()
        assert await wait_exit(client) == 0
        assert all("id" not in message for message in await client.rest())
    assert b"a lie" not in client.said


# Pages


@pytest.mark.feature("modules.pages", "debugging.script")
@pytest.mark.threat("C3")
async def test_a_module_reaches_pages_by_the_same_gate(project: Project, site: Site):
    project.tool("look", "return await context.page.evaluate(args['script'], args.get('page'))")
    project.tool("typed", "return [type(one).__name__ for one in await context.page.evaluate(args['script'])]")
    project.tool("run", "return await context.page.call_tool('p1', args['tool'], args.get('given'))")
    project.tool("use", "return await context.page.call(args['name'], args.get('given'))")
    project.tool("click", "return 'not clicked: ' + args['uid']")
    project.declare("list_pages", "call_page_tool", "take_snapshot", "evaluate_script")
    words = ("--open", site.page("/shop", SHOP), "--tools", "debug")
    async with project.open(*words, "--mode", "dev") as agent:

        async def result(name: str, /, **arguments: Any) -> str:
            answer = await agent.call_tool(name, arguments)
            assert not answer.is_error, answer
            assert answer.structured_content is not None
            assert answer.structured_content["untrusted"] is True
            assert answer.structured_content["origin"] == site.origin
            return text_of(answer)

        assert json.loads(await result("look", script="({a: [1, 'x']})")) == {"a": [1, "x"]}
        typed = await agent.call_tool("typed", {"script": "[1, '1', null, {a: 2}]"})
        assert json.loads(text_of(typed)) == ["int", "str", "NoneType", "dict"]
        assert await result("look", script="'1'", page="p1") == "1"
        assert await result("run", tool="add", given={"a": 1, "b": 2}) == "3"
        assert await result("run", tool="said") == "words of the page"
        snapshot = await result("use", name="take_snapshot", given={"page": "p1"})
        uid = (
            next(line for line in snapshot.splitlines() if "button" in line).split()[0].removeprefix("uid=").strip("[]")
        )
        own = {"name": "click", "given": {"page": "p1", "uid": "u9"}}
        assert text_of(await agent.call_tool("use", own)) == "not clicked: u9"
        built_in = await agent.call_tool("use", {"name": "builtin:click", "given": {"page": "p1", "uid": uid}})
        assert not built_in.is_error, (uid, snapshot, built_in)
        assert await result("look", script="document.querySelector('button').textContent") == "clicked"

        pages = json.loads(text_of(await agent.call_tool("use", {"name": "list_pages"})))
        assert pages["pages"][0]["page"] == "p1"
        missing = await agent.call_tool("run", {"tool": "nope"})
        assert missing.is_error
        assert "nope" in whole_text(missing)

    async with project.open(*words, "--block-origin", site.origin) as agent:
        assert "evaluate_script" in whole_text(await agent.call_tool("look", {"script": "1"}))
        blocked = await agent.call_tool("run", {"tool": "said"})
        assert blocked.is_error
        assert "--block-origin" in whole_text(blocked) or "not allowed" in whole_text(blocked)


@pytest.mark.feature("modules.pages", "results.frame")
@pytest.mark.threat("P9")
async def test_words_of_a_page_stay_in_a_frame_whatever_a_module_does_with_them(project: Project, site: Site):
    project.tool("passes", "return 'It says: ' + await context.page.call_tool('p1', 'said')")
    project.tool("fails", "raise ValueError(await context.page.call_tool('p1', 'said'))")
    project.tool("lets_fail", "await context.page.call_tool('p1', 'throws')")
    project.tool("through", "return await context.page.call('passes')")
    project.tool("own", "return 'own words'")
    project.tool("derived", "return 'words of a file'", head="page_derived = True")
    project.declare("call_page_tool")
    async with project.open("--open", site.page("/said", PAGE)) as agent:
        for name in ("passes", "fails", "lets_fail", "through"):
            answer = await agent.call_tool(name, {})
            text = whole_text(answer)
            assert "words of the page" in text
            before, _, _ = text.partition("words of the page")
            assert "<page_content_" in before, text
            assert site.origin in before, text
            assert answer.structured_content is not None
            assert answer.structured_content["untrusted"] is True
        assert whole_text(await agent.call_tool("own", {})) == "own words"
        assert "<page_content_" in whole_text(await agent.call_tool("derived", {}))


@pytest.mark.feature("modules.pages")
@pytest.mark.threat("S3")
async def test_tools_that_call_each_other_end(project: Project):
    project.tool("again", "return await context.page.call('again')")
    project.tool("ping", "return await context.page.call('pong')")
    project.tool("pong", "return await context.page.call('ping')")
    project.declare()
    async with project.open() as agent:
        for name in ("again", "ping"):
            answer = await agent.call_tool(name, {})
            assert answer.is_error
            assert "5 deep" in text_of(answer)


# The person


@pytest.mark.feature("modules.person")
@pytest.mark.parametrize("era", ERAS)
async def test_a_person_confirms_chooses_and_writes_or_does_not(project: Project, era: Era):
    project.tool(
        "asks",
        """
        sure = await context.ui.confirm("Delete it all?")
        which = await context.ui.select("Which?", ["one", "two"])
        return [sure, which, await context.ui.input("Your name?")]
        """,
    )
    project.declare()
    replies = [
        *(ElicitResult(action="accept", content={"answer": answer}) for answer in (True, "two", "Ada")),
        *(ElicitResult(action="decline"), ElicitResult(action="cancel"), ElicitResult(action="decline")),
    ]

    async def answer(context: object, params: ElicitRequestParams) -> ElicitResult:
        return replies.pop(0)

    async with project.open(era=era, on_question=answer) as agent:
        assert json.loads(text_of(await agent.call_tool("asks", {}))) == [True, "two", "Ada"]
        assert json.loads(text_of(await agent.call_tool("asks", {}))) == [False, None, None]
    assert replies == []
