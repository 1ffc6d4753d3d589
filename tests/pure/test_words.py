"""What agents read of errors. `words.txt` holds every sentence, to be read and reviewed as a whole.

After a change, look at the new file: `UPDATE_WORDS=1 pytest tests/pure/test_words.py`, then `git diff`.
"""

import ast
import importlib
import os
import pkgutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

import bridge
from bridge import errors, limits
from bridge.calls import arguments, gate, pipeline, scope
from bridge.calls.agent import Agent, _read_select
from bridge.calls.answers import answer_error
from bridge.calls.arguments import check_arguments, read_arguments
from bridge.calls.bridge import CONNECTING, STARTING, Bridge
from bridge.calls.gate import Gate
from bridge.calls.listing import cut_listing
from bridge.calls.order import Order
from bridge.calls.pins import read_pins, write_pins
from bridge.calls.pipeline import Attempt, run_within
from bridge.calls.results import Spill
from bridge.calls.scope import choose
from bridge.errors import BridgeError
from bridge.origins import OriginRules, address, read_origin, read_pattern
from bridge.page.hands import Element
from bridge.page.input import _not_actionable
from bridge.page.invocation import Ending, read_ending
from bridge.page.run import Run, Why
from bridge.page.session import Page
from bridge.serve.elicitation import ClientUi, Question, Reply
from bridge.serve.waiting import too_many
from bridge.settings import AgentSettings, PageSettings
from bridge.tools.modules.process import ModuleProcess
from bridge.tools.schema import check_schema
from bridge.tools.sources.content import read_completed
from bridge.tools.sources.page import PageCall, thrown
from bridge.tools.tool import PageTools
from tests.frames import take_out
from tests.pure.offers import offer, with_frame

SNAPSHOT = Path(__file__).with_name("words.txt")

MODULES = (scope, gate, arguments, pipeline)
WORDS_FOR_PEOPLE = ("_read_word", "parse_words")
"""Functions of `arguments` that read a command line."""
NEVER_TOLD = {
    "BridgeError": "the root of the tree",
    "CallRejected": "a branch of the tree",
    "CallFailed": "a branch of the tree",
    "CheckFailed": "for people: pagebridge doctor",
    "AlreadyThere": "for people: they change their project",
}
"""Kinds that no agent reads, and why."""
OWN_WORDS = ("tool_threw", "part_not_found", "time was over, and it stopped")
"""After our own words comes what the page says; that it ran is in ours, what to do next is in the page's."""

ADD = '{"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}'
SLOW = '{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "number"}}}}'
LONG = {"a": list(range(limits.SCHEMA_STEPS))}


def unusable() -> PageTools:
    page = offer("add")
    [tool] = page
    object.__setattr__(tool, "schema", None)
    object.__setattr__(tool, "schema_problem", "The input schema holds half a character (a lone surrogate).")
    return page


def in_time(
    seconds: float, *, browser_is_up: bool = True, waits_for_turn: bool = False, runs: bool = False
) -> BridgeError:
    """What an operation is ended with that came so far."""

    async def operation(attempt: Attempt) -> None:
        attempt.browser_is_up, attempt.waits_for_turn, attempt.dispatched = browser_is_up, waits_for_turn, runs
        await trio.sleep_forever()

    return raised(
        lambda: trio.run(run_within, seconds, "Tool 'add' of page p1", operation, clock=MockClock(autojump_threshold=0))
    )


def direct_call() -> BridgeError:
    one = Agent(Bridge(Spill(), PageSettings()), AgentSettings(direct=True))
    told = trio.run(one.call_directly, "page_nope", {}).structured
    assert told is not None
    return errors.ToolNotFound(told["message"])


def raised(run: Callable[[], object]) -> BridgeError:
    with pytest.raises(BridgeError) as caught:
        run()
    return caught.value


def throwing(**ending: Any) -> BridgeError:
    [tool] = offer("add")
    return thrown(tool, read_ending({"how": "failed", **ending}))


def failed_itself() -> BridgeError:
    [tool] = offer("add")
    object.__setattr__(tool, "kind", "webmcp")
    text = '{"content":[{"type":"text","text":"no stock"}],"isError":true}'
    return raised(lambda: read_completed(tool, read_ending({"how": "completed", "kind": "json", "text": text})))


def choosing(shown: PageTools | None, present: PageTools, wanted: str = "add", toolset: str | None = None):
    return partial(raised, lambda: choose(shown, present, wanted, toolset))


def reading(given: object):
    return partial(raised, lambda: read_arguments(given))


def checking(schema: str, given: dict[str, Any]):
    return partial(raised, lambda: check_arguments(check_schema(schema), given, tool="add"))


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


class Stopped:
    """A run that ends so when it is stopped."""

    def __init__(self, **ending: str) -> None:
        words = {"kind": "", "text": "", "name": "", "stack": "", "more": ""} | ending
        self._ending = Ending(**words)  # pyright: ignore[reportArgumentType]  # all of them are texts

    async def stop(self, why: Why) -> None:
        pass

    async def wait(self) -> Ending:
        return self._ending


def stopping(how: str, **ending: str):
    [tool] = offer("add")
    call = PageCall(tool, cast("Run", Stopped(how=how, **ending)), ())
    return partial(raised, lambda: trio.run(call.stop, "Tool 'add' of page p1", 30))


def ended_by_others() -> BridgeError:
    [tool] = offer("add")
    return raised(lambda: trio.run(PageCall(tool, cast("Run", Stopped(how="terminated")), ()).wait))


@dataclass(frozen=True)
class Called:
    handle: str


def busy(*pages: str, seconds: float = 1) -> BridgeError:
    """What the next call is told where so many are in flight, that came so many seconds after each other."""

    async def call() -> BridgeError:
        order = Order()
        with ExitStack() as stack:
            for page in pages:
                stack.enter_context(order.enter(cast("Page", Called(page))))
                await trio.sleep(seconds)
            return raised(lambda: stack.enter_context(order.enter(cast("Page", Called("p1")))))

    return trio.run(call, clock=MockClock(autojump_threshold=0))


def refusing(agent: AgentSettings | None = None, *, page: bool = False, **words: Any):
    """What is told of a call that somebody does not want."""
    offered = offer("add")
    [tool] = offered
    one = Gate(PageSettings(origins=OriginRules(**words)), agent or AgentSettings())
    return partial(raised, (lambda: one.check_page(offered)) if page else (lambda: one.check(tool)))


def kept_out() -> BridgeError:
    one = Gate(PageSettings(origins=OriginRules(blocked=("http://a.test",))), AgentSettings())
    return raised(lambda: one.check_origin("p1", "http://a.test"))


def unapproved() -> BridgeError:
    [tool] = offer("add")
    with tempfile.TemporaryDirectory() as folder:
        write_pins(Path(folder) / "pins.json", {"http://a.test": frozenset()})
        one = Gate(PageSettings(), AgentSettings(pins=Path(folder) / "pins.json"))
        return raised(lambda: one.check(tool))


@dataclass(frozen=True)
class Pointed:
    """An element, as far as it is told of."""

    page: Called
    uid: str


def left_alone(why: str) -> BridgeError:
    return _not_actionable(cast("Element", Pointed(Called("p1"), "d1e5")), why)


def asking(*, has_ui: bool = True, times: int = 1, answer: object = True) -> BridgeError:
    """What a tool that asks the person is told the last time."""

    async def ask(_: Question) -> Reply:
        return Reply("accept", {"answer": answer})

    async def call() -> BridgeError:
        ui = ClientUi("deploy", "tools/deploy.py", ask, has_ui=has_ui)
        for _ in range(times - 1):
            await ui.confirm("Deploy it?")
        try:
            await ui.confirm("Deploy it?")
        except BridgeError as error:
            return error
        raise AssertionError("It was asked.")

    return trio.run(call)


PLAIN = offer("add")
TWINS = offer("A/add", "B/add")
CASES: dict[str, Callable[[], BridgeError]] = {
    # Which tool
    "no such tool": choosing(None, offer("sum", "list")),
    "no such tool among many": choosing(None, offer(*(f"tool{number}" for number in range(25)))),
    "no tools at all": choosing(None, offer()),
    "gone since the listing": choosing(PLAIN, offer("sum", document="2")),
    "another description": choosing(PLAIN, offer("add", document="2", description="Adds twice")),
    "another description and schema": choosing(PLAIN, offer("add", document="2", description="Twice", schema=ADD)),
    "another toolset": choosing(None, PLAIN, toolset="p1-1-0123456789ab"),
    "two of that name": choosing(None, TWINS),
    "two of that name, one in a frame": choosing(None, with_frame(PLAIN, "add")),
    "two of that name were listed": choosing(TWINS, TWINS),
    "the page went elsewhere": choosing(PLAIN, offer("add", origin="http://b.test", document="2")),
    "a frame went elsewhere": choosing(
        with_frame(PLAIN, "sum"), with_frame(PLAIN, "sum", origin="http://c.test", document="10"), "sum"
    ),
    "its schema can't be used": choosing(None, unusable()),
    "no such direct tool": direct_call,
    # Whether it may
    "of an origin that is blocked": refusing(blocked=("http://a.test",)),
    "of an origin that is not allowed": refusing(allowed=("https://a.test",)),
    "of a page that is blocked": refusing(blocked=("http://a.test",), page=True),
    "a page that is blocked is looked into": kept_out,
    "mode ask": refusing(AgentSettings(mode="ask")),
    "not approved": unapproved,
    # With which arguments
    "no object": reading([1]),
    "no JSON text": reading("{"),
    "JSON text with a constant": reading('{"a": NaN}'),
    "JSON text that is too deep": reading("[" * 100_000),
    "too deep": reading({"a": nested(100)}),
    "too deep for Python": reading({"a": nested(100_000)}),
    "no JSON": reading({"a": {1, 2}}),
    "no JSON number": reading({"a": float("nan")}),
    "no number of a page": reading({"a": 10**400}),
    "no name": reading(dict.fromkeys(("\ud800", "\udbff"), 1)),
    "too long": reading({"a": "x" * limits.ARGUMENT_BYTES}),
    "one does not fit": checking(ADD, {"a": "1"}),
    "one is missing": checking(ADD, {}),
    "a default does not fit": checking('{"properties": {"a": {"type": "number", "default": "x"}}}', {}),
    "many do not fit": checking('{"additionalProperties": false}', dict.fromkeys("abcdefgh", 1)),
    "too much to check": checking(SLOW, LONG),
    # It ran
    "threw an error": partial(throwing, kind="error", name="RangeError", text="too far"),
    "threw an error that carries more": partial(
        throwing, kind="error", name="RangeError", text="too far", more='{"cause":{"code":7}}'
    ),
    "threw an error without words": partial(throwing, kind="error", name="RangeError", text=""),
    "threw a string": partial(throwing, kind="string", text="sold out"),
    "threw an empty string": partial(throwing, kind="string", text=""),
    "says itself that it failed": failed_itself,
    "no such part": lambda: errors.PartNotFound("Tool 'add' ran, and its result has an object of 1 key at \"/a\"."),
    # Its end
    "ended by force, and not by us": ended_by_others,
    "time was over before it ran": lambda: in_time(30),
    "time was over while another one ran": lambda: in_time(30, waits_for_turn=True),
    "time was over while a tool of ours ran": lambda: in_time(120, runs=True),
    "time was over before the browser was up": lambda: in_time(0.5, browser_is_up=False),
    "the browser starts still": lambda: errors.BrowserStarting(limits.BROWSER_WAIT_SECONDS, STARTING),
    "the browser does not let us in yet": lambda: errors.BrowserStarting(limits.ATTACH_WAIT_SECONDS, CONNECTING),
    "time was over, and it was let go": stopping("abandoned"),
    "time was over, and it was ended by force": stopping("terminated"),
    "time was over, and nothing helped": stopping("stuck"),
    "time was over, and it stopped": stopping("failed", kind="error", name="AbortError", text="too late"),
    # Pages and the browser
    "no such page": lambda: errors.PageNotFound("p9", ["p1", "p3"]),
    "no page at all": lambda: errors.PageNotFound("p9", []),
    "page does not answer": lambda: errors.PageUnresponsive("p1", limits.PAGE_ANSWER_SECONDS),
    "page sleeps": lambda: errors.PageAsleep("p1"),
    "can't go there": lambda: errors.NavigationFailed("http://a.test/", "net::ERR_CONNECTION_REFUSED"),
    "command failed": lambda: errors.CommandFailed("Page.navigate", "Not allowed"),
    "command failed while it ran": lambda: errors.CommandFailed(
        "Runtime.evaluate", "the page broke the shim"
    ).after_dispatch(),
    "link ended": lambda: errors.ConnectionLost("the browser closed it"),
    "link ended while it ran": lambda: errors.ConnectionLost("the browser closed it").after_dispatch(),
    "page tells of no document": lambda: errors.PageUnreadable("p1", "the browser tells of no document in it"),
    "page is stuck": lambda: errors.PageStuck("p1"),
    "a dialog is open": lambda: errors.DialogOpen("p1", "alert", "", dispatched=False),
    "a dialog opened while it ran": lambda: errors.DialogOpen("p1", "confirm", 'Delete "all"?', dispatched=True),
    "no dialog is open": lambda: errors.NoDialog("p1"),
    "busy page": lambda: busy(*["p1"] * limits.CALLS_PER_PAGE),
    "busy bridge": lambda: busy(*(f"p{number // limits.CALLS_PER_PAGE + 2}" for number in range(limits.CALLS))),
    "too fast": lambda: busy(
        *(f"p{number // limits.CALLS_PER_PAGE + 2}" for number in range(limits.CALLS_AT_ONCE)), seconds=0
    ),
    # Elements, forms and scripts
    "no such element": lambda: errors.ElementGone("p1", "d1e5", "no document of the page has one of that name"),
    "an element that is disabled": partial(left_alone, "it is disabled"),
    "a form that was filled in part": lambda: errors.PartlyFilled(2, 3, left_alone("it can only be read")),
    "a page that is too large": lambda: errors.PageTooLarge("p1", f"{limits.SNAPSHOT_ELEMENTS + 1:,} elements"),
    "a page that never stays": lambda: errors.PageRestless("p1", limits.SNAPSHOT_TRIES),
    "what was waited for did not come": lambda: errors.WaitedInVain('The text ["Paid"]', "p1", 10),
    "no expression": lambda: errors.ScriptInvalid("SyntaxError: Unexpected token '}'"),
    # Asking the person
    "a client that asks nobody": partial(asking, has_ui=False),
    "asked too often": partial(asking, times=limits.QUESTIONS_PER_CALL + 1),
    "an answer that is none": partial(asking, answer=7),
    "too many questions at once": too_many,
    # Modules of a project
    "a module's tool threw": lambda: errors.ModuleThrew("deploy", "KeyError: 'host'"),
    "a module's result can't be told": lambda: errors.ResultUnusable(
        "deploy", "/total is nan, which JSON has not: return null or text"
    ),
    "a module's process is gone": lambda: ModuleProcess("tools/deploy.py")._gone("it exited with code 1"),
    # Asked wrongly
    "no address": partial(raised, lambda: address("localhost:3000")),
    "a file": partial(raised, lambda: address("file:///etc/passwd")),
    "no origin": partial(raised, lambda: read_origin("shop.example")),
    "no pattern": partial(raised, lambda: read_pattern("*.shop.example")),
    "no pins": partial(raised, lambda: read_pins(Path("pins.json"))),
    "no pointer": partial(raised, lambda: _read_select("items")),
    "no cursor": partial(raised, lambda: cut_listing([], None, "x")),
}
GIVEN: dict[str, BridgeError] = {
    "ModuleUnusable": errors.ModuleUnusable(
        "tools/deploy.py has changed since it was listed. Nothing ran; list tools again."
    ),
    "EndpointUnreachable": errors.EndpointUnreachable(
        "https://api.tides.example can't be reached: Connection refused. Try again later."
    ),
    "EndpointFailed": errors.EndpointFailed(
        "https://api.tides.example could not make the file: failed. Order it anew, or another one."
    ),
    "AnswerLost": errors.AnswerLost(
        "https://api.tides.example did not end its answer within 30 s. What it was asked may be done. Try again later."
    ),
    "PageGone while it ran": errors.PageGone(
        "Page p1 was closed. Use list_pages to see what is open."
    ).after_dispatch(),
    # Their sentences are where they are raised, with a browser.
    "PageGone": errors.PageGone("Page p1 was closed. Use list_pages to see what is open."),
    "PageCrashed": errors.PageCrashed("Page p1 crashed (http://a.test/). Reload it, or open a new one."),
    "NavigatedDuringCall": errors.NavigatedDuringCall(
        "Page p1 navigated while the tool ran, so its answer is lost. It may have done its work: look at the page "
        "before you call again."
    ),
    "BrowserGone": errors.BrowserGone(
        "No Chrome or Chromium was found: install one (apt-get install chromium, brew install --cask chromium, or "
        "your system's own way), or pass --browser PATH."
    ),
    "BrowserFailedToStart": errors.BrowserFailedToStart(
        "/b is not a program that can be run: correct --browser, or leave it out."
    ),
    "BrowserRefused": errors.BrowserRefused(
        "ws://127.0.0.1:9222 refused the websocket: it hung up. Check that its address is of this run of the browser: "
        "a restart changes the path."
    ),
}


@dataclass(frozen=True)
class Outcomes:
    """What became of all cases: the errors, and which lines of the modules ran."""

    errors: dict[str, BridgeError]
    lines: set[tuple[str, int]]


@pytest.fixture(scope="module")
def ran() -> Outcomes:
    with traced(*(str(module.__file__) for module in MODULES)) as lines:
        made = {name: produce() for name, produce in CASES.items()}
    return Outcomes(made | GIVEN, lines)


@pytest.fixture
def produced(ran: Outcomes) -> dict[str, BridgeError]:
    return ran.errors


@contextmanager
def traced(*files: str) -> Iterator[set[tuple[str, int]]]:
    """The lines of these files that run in the block."""
    lines: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, _: object) -> Any:  # the tracer of the frame
        if frame.f_code.co_filename not in files:
            return None
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield lines
    finally:
        sys.settrace(before)


def as_text(produced: dict[str, BridgeError]) -> str:
    lines: list[str] = []
    for name, error in produced.items():
        answer = answer_error(error)
        told = answer.structured
        assert told is not None
        ran = "dispatched" if told["dispatched"] else "not dispatched"
        lines += [f"{name}: {told['code']}, {told['outcome']}, {ran}", f"    {take_out(answer.text)}", ""]
    return "\n".join(lines)


@pytest.mark.feature("calls.codes")
def test_every_sentence_is_the_one_that_was_reviewed(produced: dict[str, BridgeError]):
    text = as_text(produced)
    if os.environ.get("UPDATE_WORDS"):
        SNAPSHOT.write_text(text)

    assert text.splitlines() == SNAPSHOT.read_text().splitlines()


def test_every_error_is_one_line_that_ends_as_a_sentence(produced: dict[str, BridgeError]):
    for name, error in produced.items():
        message = str(error)
        assert "\n" not in message, name
        assert len(message) < 500, name
        if error.code not in OWN_WORDS and name not in OWN_WORDS:
            assert message.endswith("."), (name, message)
            # What happened comes first, then what to do.
            assert message.count(". ") + message.count(": ") + message.count("; ") >= 1, (name, message)


def all_kinds(kind: type[BridgeError]) -> Iterator[type[BridgeError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from all_kinds(below)


def test_every_kind_of_error_is_among_them(produced: dict[str, BridgeError]):
    for module in pkgutil.walk_packages(bridge.__path__, "bridge."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    kinds = {kind.__name__ for kind in all_kinds(BridgeError) if kind.__module__.startswith("bridge.")}

    shown = {type(error).__name__ for error in produced.values()}
    assert kinds - set(NEVER_TOLD) == shown & kinds
    assert set(NEVER_TOLD) <= kinds


@pytest.mark.feature("calls.codes")
def test_every_code_is_in_the_documentation(produced: dict[str, BridgeError]):
    documentation = (Path(__file__).parents[2] / "README.md").read_text()

    assert {error.code for error in produced.values() if f"`{error.code}`" not in documentation} == set()


# Every place where these modules make an error is a sentence of its own


def places(module: ModuleType) -> set[int]:
    """The lines of a module where an error is made."""
    kinds = {kind.__name__ for kind in all_kinds(BridgeError)}
    tree = ast.parse(Path(str(module.__file__)).read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in WORDS_FOR_PEOPLE:
            node.body = []
    return {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kinds
    }


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_place_that_makes_an_error_is_among_them(module: ModuleType, ran: Outcomes):
    found = places(module)

    assert len(found) > 1
    assert {line for line in found if (module.__file__, line) not in ran.lines} == set()
