"""A tool of a project asks the person, by the SDK's client, in both eras of the protocol."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
import trio
from mcp.client.context import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    InputRequiredResult,
    TextContent,
)
from trio.testing import MockClock, wait_all_tasks_blocked

from bridge import limits
from bridge.calls.answers import Answer, answer_error
from bridge.calls.progress import Send
from bridge.errors import BridgeError, CannotAsk
from bridge.serve.elicitation import Ask, AskingTools, Question, Reply
from bridge.serve.waiting import InputRequired, Request, StateUnknown, Waiting
from bridge.tools.own import Ui
from bridge.wire.nursery import open_background
from tests.wire.agents import ERAS, Era, Wire, open_agent

Body = Callable[[Ui], Awaitable[object]]
BOTH_ERAS = pytest.mark.parametrize("era", ERAS)
MODERN: Era = "2026-07-28"
LONG = 3 * limits.REPLY_SECONDS


def asking(body: Body) -> AskingTools:
    """A project with one tool, `ask`, that answers with what its body returns, as JSON."""

    async def run(name: str, arguments: dict[str, Any], send: Send | None, ui: Ui) -> Answer:
        try:
            return Answer(json.dumps(await body(ui)))
        except BridgeError as error:
            return answer_error(error)

    return AskingTools(lambda name: "tools/ask.py" if name == "ask" else None, run)


class Person:
    """Sits at the client, and answers with what a test says, in this order.

    Attributes:
        asked: what they were shown.
    """

    def __init__(self, *answers: Any) -> None:
        self.asked: list[ElicitRequestParams] = []
        self._answers = list(answers)

    async def answer(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        self.asked.append(params)
        match self._answers.pop(0):
            case ElicitResult() | ErrorData() as answer:
                return answer
            case answer:
                return ElicitResult(action="accept", content={"answer": answer})


DECLINED = ElicitResult(action="decline")
CANCELLED = ElicitResult(action="cancel")


def text_of(result: CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


async def ask(era: Era, body: Body, person: Person) -> Any:
    """What the tool says that it heard."""
    async with open_agent(era, asking=asking(body), on_question=person.answer) as (client, _):
        result = await client.call_tool("ask", {})
        assert not result.is_error, text_of(result)
        return json.loads(text_of(result))


async def refusal(era: Era, body: Body, person: Person | None) -> tuple[str, str]:
    """The code and the sentence of the tool's error."""
    on_question = None if person is None else person.answer
    async with open_agent(era, asking=asking(body), on_question=on_question) as (client, _):
        result = await client.call_tool("ask", {})
    assert result.is_error
    assert result.structured_content is not None
    return result.structured_content["code"], result.structured_content["message"]


# What is asked, and what becomes of it


@pytest.mark.feature("modules.person")
@BOTH_ERAS
async def test_a_tool_hears_what_the_person_says(era: Era):
    async def body(ui: Ui) -> object:
        yes = [await ui.confirm("Sell it?"), await ui.confirm("Sell all?")]
        return [*yes, await ui.select("Which?", ["red", "blue"]), await ui.input("Why?")]

    assert await ask(era, body, Person(True, False, "blue", "It is blue.")) == [True, False, "blue", "It is blue."]


@pytest.mark.feature("modules.person")
@BOTH_ERAS
@pytest.mark.parametrize("answer", [DECLINED, CANCELLED], ids=["decline", "cancel"])
async def test_who_does_not_want_to_answer_says_no(era: Era, answer: ElicitResult):
    async def body(ui: Ui) -> object:
        return [await ui.confirm("?"), await ui.select("?", ["a"]), await ui.input("?")]

    assert await ask(era, body, Person(answer, answer, answer)) == [False, None, None]


@BOTH_ERAS
async def test_the_person_is_told_who_asks_and_gets_a_form_with_one_field(era: Era):
    async def body(ui: Ui) -> object:
        await ui.confirm("Sell it?")
        await ui.select("Which?", ["red", "blue"])
        return await ui.input("Why?")

    person = Person(True, "red", "x")
    await ask(era, body, person)

    forms = [shown.model_dump(by_alias=True, exclude_none=True, mode="json") for shown in person.asked]
    assert [form["message"] for form in forms] == [
        f"Tool 'ask' of this project (tools/ask.py) asks:\n\n{text}" for text in ("Sell it?", "Which?", "Why?")
    ]
    schemas = [form["requestedSchema"] for form in forms]
    assert [list(schema["properties"]) for schema in schemas] == [["answer"]] * 3
    assert [schema["required"] for schema in schemas] == [["answer"]] * 3
    fields = [schema["properties"]["answer"] for schema in schemas]
    assert [field["type"] for field in fields] == ["boolean", "string", "string"]
    assert fields[1]["enum"] == ["red", "blue"]
    assert fields[2]["maxLength"] == limits.REPLY_CHARS


@BOTH_ERAS
async def test_nothing_in_a_question_is_hidden_and_an_option_comes_back_as_it_was(era: Era):
    options = ["\u202eyes", "<b>", "\\u003cb\\u003e", "\ud800"]

    async def body(ui: Ui) -> object:
        chosen = [await ui.select("\u200bIs it <safe>?\nYes.", options) for _ in options]
        return [options.index(option) for option in chosen if option is not None]

    shown = [r"\u202eyes", r"\u003cb\u003e", r"\u005cu003cb\u005cu003e", r"\ud800"]
    person = Person(*shown)
    assert await ask(era, body, person) == [0, 1, 2, 3]
    question = person.asked[0].model_dump(by_alias=True)
    assert question["message"].endswith("asks:\n\n\\u200bIs it \\u003csafe\\u003e?\nYes.")
    assert question["requestedSchema"]["properties"]["answer"]["enum"] == shown


@BOTH_ERAS
@pytest.mark.parametrize(
    "answer",
    [
        "green",
        "red\n",
        True,
        7,
        None,
        ["red"],
        ElicitResult(action="accept"),
        ElicitResult(action="accept", content={}),
        ElicitResult(action="accept", content={"other": "red"}),
    ],
    ids=repr,
)
async def test_an_answer_that_was_not_asked_for_is_none(era: Era, answer: Any):
    async def body(ui: Ui) -> object:
        return await ui.select("Which?", ["red", "blue"])

    code, sentence = await refusal(era, body, Person(answer))

    assert code == "cannot_ask"
    assert sentence.startswith("The client's answer to what tool 'ask' asked is not one that was asked for. ")


@BOTH_ERAS
@pytest.mark.parametrize("answer", [1, 1.0, "true", None, ["yes"]], ids=repr)
async def test_nothing_but_true_is_a_yes(era: Era, answer: Any):
    code, _ = await refusal(era, lambda ui: ui.confirm("Sell it?"), Person(answer))

    assert code == "cannot_ask"


@BOTH_ERAS
async def test_a_text_has_its_limit(era: Era):
    longest = "x" * limits.REPLY_CHARS

    assert await ask(era, lambda ui: ui.input("?"), Person(longest)) == longest
    assert (await refusal(era, lambda ui: ui.input("?"), Person(longest + "x")))[0] == "cannot_ask"


@BOTH_ERAS
async def test_what_is_too_much_to_ask_is_not_asked(era: Era):
    asks: list[Body] = [
        lambda ui: ui.confirm("x" * (limits.QUESTION_CHARS + 1)),
        lambda ui: ui.select("?", []),
        lambda ui: ui.select("?", ["a", "b", "a"]),
        lambda ui: ui.select("?", [str(number) for number in range(limits.QUESTION_OPTIONS + 1)]),
        lambda ui: ui.select("?", ["x" * (limits.QUESTION_OPTION_CHARS + 1)]),
    ]

    async def body(ui: Ui) -> object:
        told: list[str] = []
        for one in asks:
            with pytest.raises(BridgeError) as caught:
                await one(ui)
            told.append(caught.value.code)
        return told

    person = Person()
    assert await ask(era, body, person) == ["usage"] * len(asks)
    assert person.asked == []


@BOTH_ERAS
async def test_a_call_asks_only_so_often(era: Era):
    async def body(ui: Ui) -> object:
        for _ in range(limits.QUESTIONS_PER_CALL):
            assert await ui.confirm("?")
        return await ui.confirm("?")

    person = Person(*[True] * (limits.QUESTIONS_PER_CALL + 1))
    code, sentence = await refusal(era, body, person)

    assert code == "cannot_ask"
    assert "asked 10 times" in sentence
    assert len(person.asked) == limits.QUESTIONS_PER_CALL


@pytest.mark.feature("modules.person")
@BOTH_ERAS
async def test_a_client_that_can_not_ask_is_not_asked(era: Era):
    async def body(ui: Ui) -> object:
        assert not ui.has_ui
        return await ui.confirm("?")

    code, sentence = await refusal(era, body, None)

    assert code == "cannot_ask"
    assert "this client does not ask its user" in sentence


@BOTH_ERAS
async def test_a_client_that_can_ask_is_known_by_that(era: Era):
    async def body(ui: Ui) -> object:
        return ui.has_ui

    assert await ask(era, body, Person()) is True


@BOTH_ERAS
async def test_questions_of_one_call_come_one_after_the_other(era: Era):
    async def body(ui: Ui) -> object:
        told: dict[str, str | None] = {}

        async def one(text: str) -> None:
            told[text] = await ui.input(text)

        async with trio.open_nursery() as nursery:
            for text in ("a", "b", "c"):
                nursery.start_soon(one, text)
        return told

    class Echo(Person):
        async def answer(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
            assert not self.asked
            self.asked.append(params)
            await wait_all_tasks_blocked()
            self.asked.clear()
            return ElicitResult(action="accept", content={"answer": params.message[-1]})

    assert await ask(era, body, Echo()) == {"a": "a", "b": "b", "c": "c"}


@BOTH_ERAS
async def test_other_tools_are_none_that_ask(era: Era):
    async def body(ui: Ui) -> object:
        raise AssertionError("it ran")

    async with open_agent(era, asking=asking(body)) as (client, _):
        with pytest.raises(MCPError, match="Unknown tool: other") as caught:
            await client.call_tool("other", {})
    assert caught.value.error.code == INVALID_PARAMS


@BOTH_ERAS
async def test_a_tool_that_fails_fails_its_own_call_only(era: Era):
    async def body(ui: Ui) -> object:
        if await ui.confirm("?"):
            raise LookupError("a bug")
        return "fine"

    async with open_agent(era, asking=asking(body), on_question=Person(True, False).answer) as (client, _):
        with pytest.raises(MCPError):
            await client.call_tool("ask", {})
        assert text_of(await client.call_tool("ask", {})) == '"fine"'


@BOTH_ERAS
async def test_progress_is_told_before_and_after_a_question(era: Era):
    async def run(_: str, __: dict[str, Any], send: Send | None, ui: Ui) -> Answer:
        assert send is not None
        await send(1, 2, "before")
        await ui.confirm("?")
        await send(2, 2, "after")
        return Answer("done")

    told: list[str | None] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    tools = AskingTools(lambda _: "tools/ask.py", run)
    async with open_agent(era, asking=tools, on_question=Person(True).answer) as (client, _):
        await client.call_tool("ask", {}, progress_callback=on_progress)
        await wait_all_tasks_blocked()

    assert told == ["before", "after"]


# Versions with a handshake


async def test_a_client_that_refuses_to_ask_is_told_of():
    person = Person(ErrorData(code=-1, message="<no> screen"))

    code, sentence = await refusal("legacy", lambda ui: ui.confirm("?"), person)

    assert code == "cannot_ask"
    assert sentence == "The client did not ask its user, and says why: \\u003cno\\u003e screen"


async def test_a_question_is_taken_back_with_its_call():
    ended = trio.Event()
    asked = trio.Event()

    async def body(ui: Ui) -> object:
        try:
            return await ui.confirm("?")
        finally:
            ended.set()

    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        asked.set()
        await trio.sleep_forever()
        raise AssertionError

    async with open_agent("legacy", asking=asking(body), on_question=answer) as (client, wire):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.call_tool, "ask", {})
            await asked.wait()
            nursery.cancel_scope.cancel()
        await ended.wait()
        await wait_all_tasks_blocked()

    question = next(message for message in wire.received if message.get("method") == "elicitation/create")
    assert {"requestId": question["id"]}.items() <= last(wire.received, "notifications/cancelled")["params"].items()


def last(messages: list[dict[str, Any]], method: str) -> dict[str, Any]:
    return [message for message in messages if message.get("method") == method][-1]


async def never(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    await trio.sleep_forever()
    raise AssertionError


async def test_nobody_is_waited_for_for_ever(mock_clock: MockClock):
    began: list[float] = []

    async def sleep(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        began.append(trio.current_time())
        mock_clock.autojump_threshold = 0
        await trio.sleep_forever()
        raise AssertionError

    tools = asking(lambda ui: ui.confirm("?"))
    async with open_agent("legacy", asking=tools, on_question=sleep, seconds=LONG) as (client, _):
        result = await client.call_tool("ask", {})
        ended = trio.current_time()

    assert text_of(result) == "Nobody answered within 600 s. Call again when somebody is there."
    assert [ended] == [began[0] + limits.REPLY_SECONDS]


ODD_REPLIES = [
    {"action": "approve"},
    {"action": "accept", "content": {"answer": {"deep": True}}},
    {"action": "accept", "content": [True]},
    {"answer": True},
    {},
]


@pytest.mark.threat("C6")
@pytest.mark.parametrize("reply", ODD_REPLIES, ids=repr)
async def test_a_reply_that_is_none_is_no_yes(reply: dict[str, Any]):
    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        question = last(wire.received, "elicitation/create")
        await wire.forge(id=question["id"], result=reply)
        return await never(context, params)

    async with open_agent("legacy", asking=asking(lambda ui: ui.confirm("?")), on_question=answer) as (client, wire):
        result = await client.call_tool("ask", {})

    assert result.structured_content is not None
    assert result.structured_content["code"] == "cannot_ask"
    assert text_of(result).startswith("The client's answer to a question is not of the form that MCP has for one: ")


@pytest.mark.threat("C6")
@pytest.mark.parametrize("reply", [*ODD_REPLIES, 7, {"roots": []}], ids=repr)
async def test_a_reply_that_is_none_ends_nothing_in_2026(reply: Any):
    async with rounds(lambda ui: ui.confirm("?")) as client:
        first = await client.call()
        call = {"name": "ask", "arguments": {"n": 1}, "_meta": client.wire.sent[-1]["params"]["_meta"]}
        odd = {"requestState": first.request_state, "inputResponses": {"question_1": reply}}
        await client.wire.forge(id="odd", method="tools/call", params=call | odd)
        while (found := client.wire.received[-1]).get("id") != "odd":
            await wait_all_tasks_blocked()
        if "error" in found:
            assert found["error"]["code"] == INVALID_PARAMS
            assert text_of(await client.call(first.request_state, question_1=YES)) == "true"
        else:
            assert found["result"]["structuredContent"]["code"] == "cannot_ask"


@pytest.mark.threat("C2")
async def test_only_so_many_questions_are_open_to_a_client():
    told: list[str] = []
    open_questions: list[str] = []
    all_refused = trio.Event()

    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        open_questions.append(params.message)
        await all_refused.wait()
        return ElicitResult(action="accept", content={"answer": True})

    tools = asking(lambda ui: ui.confirm("?"))
    async with open_agent("legacy", asking=tools, on_question=answer) as (client, _):

        async def call() -> None:
            told.append(text_of(await client.call_tool("ask", {})))
            if len(told) == 2:
                assert len(open_questions) == limits.CALLS_ASKING
                all_refused.set()

        async with trio.open_nursery() as nursery:
            for _ in range(limits.CALLS_ASKING + 2):
                nursery.start_soon(call)
        assert text_of(await client.call_tool("ask", {})) == "true"

    refused = "16 calls wait for the person already. Call again when some have an answer."
    assert told == [refused, refused, *["true"] * limits.CALLS_ASKING]


# 2026-07-28: a call that waits between two requests


class Rounds:
    """A client that sends each request by itself."""

    def __init__(self, client: Any, wire: Wire) -> None:
        self._session = client.session
        self.wire = wire

    async def call(self, state: str | None = None, arguments: Any = None, name: str = "ask", **answers: Any) -> Any:
        replies = {
            key: answer if isinstance(answer, ElicitResult) else ElicitResult(action="accept", content=answer)
            for key, answer in answers.items()
        }
        return await self._session.call_tool(
            name,
            {"n": 1} if arguments is None else arguments,
            input_responses=replies or None,
            request_state=state,
            allow_input_required=True,
        )


YES = {"answer": True}


@contextmanager
def state_is_refused() -> Generator[None]:
    with pytest.raises(MCPError, match="Invalid or expired requestState") as caught:
        yield
    assert caught.value.error.code == INVALID_PARAMS


@asynccontextmanager
async def rounds(body: Body, *, seconds: float = 20) -> AsyncGenerator[Rounds]:
    """A client that says that it can ask. The tool is there under any name."""
    tools = AskingTools(lambda _: "tools/ask.py", asking(body).run)
    async with open_agent(MODERN, asking=tools, on_question=never, seconds=seconds) as (client, wire):
        yield Rounds(client, wire)


async def test_a_request_is_answered_with_the_question_and_the_next_one_with_the_result():
    runs: list[str] = []

    async def body(ui: Ui) -> object:
        runs.append("began")
        return [await ui.confirm("?"), await ui.confirm("?")]

    async with rounds(body) as client:
        first = await client.call()
        second = await client.call(first.request_state, question_1=YES)
        third = await client.call(second.request_state, question_2=YES)

    assert isinstance(first, InputRequiredResult)
    assert list(first.input_requests or {}) == ["question_1"]
    assert list(second.input_requests) == ["question_2"]
    assert first.request_state != second.request_state
    assert text_of(third) == "[true, true]"
    assert runs == ["began"]


@pytest.mark.threat("C6")
async def test_a_state_serves_once_and_only_its_own_call():
    runs: list[str] = []

    async def body(ui: Ui) -> object:
        runs.append("began")
        return await ui.confirm("?")

    async with rounds(body) as client:
        state = (await client.call()).request_state
        for forged in ("", "forged", state[:-1], state + "A", state.swapcase()):
            with state_is_refused():
                await client.call(forged, question_1=YES)
        for arguments in ({}, {"n": 2}, {"n": True}, {"n": 1.0}, {"n": 1, "m": 1}):
            with state_is_refused():
                await client.call(state, arguments, question_1=YES)
        with state_is_refused():
            await client.call(state, name="other", question_1=YES)
        assert text_of(await client.call(state, question_1=YES)) == "true"
        with state_is_refused():
            await client.call(state, question_1=YES)

    assert runs == ["began"]
    assert len(state) >= 32


@pytest.mark.threat("C6")
async def test_of_two_requests_that_come_together_with_a_state_one_has_it():
    told: list[str] = []

    async with rounds(lambda ui: ui.confirm("?")) as client:
        state = (await client.call()).request_state

        async def resume() -> None:
            try:
                told.append(text_of(await client.call(state, question_1=YES)))
            except MCPError as error:
                told.append(error.error.message[:7])

        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(resume)

    assert sorted(told) == ["Invalid", "true"]


@pytest.mark.threat("C6")
async def test_a_reply_to_another_question_is_none():
    async def body(ui: Ui) -> object:
        return [await ui.confirm("?"), await ui.confirm("?")]

    async with rounds(body) as client:
        first = await client.call(question_1=YES)
        again = await client.call(first.request_state, question_2=YES)
        second = await client.call(again.request_state, question_1=YES, question_2=YES)
        third = await client.call(second.request_state, question_1=YES)
        result = await client.call(third.request_state, question_2={"answer": False})

    assert [list(one.input_requests) for one in (first, again, second, third)] == [
        ["question_1"],
        ["question_1"],
        ["question_2"],
        ["question_2"],
    ]
    assert len({one.request_state for one in (first, again, second, third)}) == 4
    assert text_of(result) == "[true, false]"


@pytest.mark.threat("C6")
async def test_a_call_whose_client_never_comes_back_ends(mock_clock: MockClock, caplog: pytest.LogCaptureFixture):
    ended: list[float] = []

    async def body(ui: Ui) -> object:
        try:
            return await ui.confirm("?")
        finally:
            ended.append(trio.current_time())

    async with rounds(body, seconds=LONG) as client:
        first = await client.call()
        mock_clock.autojump_threshold = 0
        began = trio.current_time()
        await trio.sleep(limits.REPLY_SECONDS - 1)
        assert ended == []
        await trio.sleep(2)
        with state_is_refused():
            await client.call(first.request_state, question_1=YES)

    assert ended == [began + limits.REPLY_SECONDS]
    assert "never came back" in caplog.text


async def test_a_call_that_is_gone_on_with_in_the_moment_of_its_end_has_ended(mock_clock: MockClock):
    """Two things are due at once here, and come in either order."""

    async def work(ask: Ask, _: Send) -> Answer:
        await ask(Question("?", {}))
        raise AssertionError("it went on")

    with trio.fail_after(100 * limits.REPLY_SECONDS):
        async with open_background() as nursery:
            waiting = Waiting(nursery)
            for _ in range(30):
                first = await waiting.answer(request(), work)
                assert isinstance(first, InputRequired)
                mock_clock.autojump_threshold = 0
                await trio.sleep(limits.REPLY_SECONDS)
                with pytest.raises(StateUnknown):
                    await waiting.answer(request(first.state, question_1=Reply("accept")), work)


async def test_a_call_leaves_nothing_behind_however_it_ends(mock_clock: MockClock):
    async def work(ask: Ask, _: Send) -> Answer:
        await ask(Question("?", {}))
        return Answer("done")

    async def hang(ask: Ask, _: Send) -> Answer:
        await trio.sleep_forever()
        raise AssertionError

    with trio.fail_after(LONG):
        async with open_background() as nursery:
            waiting = Waiting(nursery)
            mock_clock.autojump_threshold = 0
            with trio.move_on_after(1):
                await waiting.answer(request(), hang)
            await waiting.answer(request(), work)
            answered = await waiting.answer(request(), work)
            assert isinstance(answered, InputRequired)
            assert await waiting.answer(request(answered.state, question_1=Reply("accept")), work) == Answer("done")
            await trio.sleep(limits.REPLY_SECONDS + 1)
            assert not nursery.child_tasks
            assert not waiting._waiting


async def test_a_client_that_can_ask_no_longer_is_not_asked():
    async def work(ask: Ask, _: Send) -> Answer:
        await ask(Question("?", {}))
        with pytest.raises(CannotAsk, match="no longer says that it can"):
            await ask(Question("?", {}))
        return Answer("done")

    with trio.fail_after(5):
        async with open_background() as nursery:
            waiting = Waiting(nursery)
            first = await waiting.answer(request(), work)
            assert isinstance(first, InputRequired)
            last = request(first.state, can_ask=False, question_1=Reply("accept"))
            assert await waiting.answer(last, work) == Answer("done")


def request(state: str | None = None, *, can_ask: bool = True, **replies: Reply) -> Request:
    return Request("ask", {}, state, replies, can_ask, None)


async def test_a_call_may_wait_so_long_for_each_of_its_requests(mock_clock: MockClock):
    async def body(ui: Ui) -> object:
        first = await ui.confirm("?")
        # What it does itself is another matter.
        await trio.sleep(limits.REPLY_SECONDS)
        return [first, await ui.confirm("?")]

    async with rounds(body, seconds=LONG) as client:
        first = await client.call()
        mock_clock.autojump_threshold = 0
        await trio.sleep(limits.REPLY_SECONDS - 1)
        second = await client.call(first.request_state, question_1=YES)
        await trio.sleep(limits.REPLY_SECONDS - 1)
        assert text_of(await client.call(second.request_state, question_2=YES)) == "[true, true]"


async def test_what_became_of_a_call_that_ended_meanwhile_is_told(mock_clock: MockClock):
    async def body(ui: Ui) -> object:
        with trio.move_on_after(30):
            await ui.confirm("?")
        return "nobody came"

    async with rounds(body, seconds=LONG) as client:
        first = await client.call()
        mock_clock.autojump_threshold = 0
        await trio.sleep(60)
        assert text_of(await client.call(first.request_state, question_1=YES)) == '"nobody came"'


async def test_a_call_that_is_taken_back_between_its_questions_ends():
    heard, ended = trio.Event(), trio.Event()

    async def body(ui: Ui) -> object:
        await ui.confirm("?")
        heard.set()
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    async with rounds(body) as client:
        first = await client.call()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: client.call(first.request_state, question_1=YES))
            await heard.wait()
            nursery.cancel_scope.cancel()
        await ended.wait()


async def test_calls_that_wait_end_with_their_client():
    ended: list[str] = []

    async def body(ui: Ui) -> object:
        try:
            return await ui.confirm("?")
        finally:
            ended.append("ended")

    async with rounds(body) as client:
        await client.call()

    assert ended == ["ended"]


@pytest.mark.threat("C2")
async def test_only_so_many_calls_wait():
    async with rounds(lambda ui: ui.confirm("?")) as client:
        waiting = [await client.call() for _ in range(limits.CALLS_ASKING)]
        refused = await client.call()
        assert text_of(refused) == "16 calls wait for the person already. Call again when some have an answer."
        assert text_of(await client.call(waiting[0].request_state, question_1=YES)) == "true"
        assert isinstance(await client.call(), InputRequiredResult)
