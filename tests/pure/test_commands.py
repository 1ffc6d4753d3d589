import copy
from typing import Any

import pytest

from bridge.wire import commands
from bridge.wire.commands import ContextCreated, ContextDestroyed, finish_command, parse_event
from bridge.wire.router import Json, RawEvent, SessionId

TARGET_INFO: Json = {
    "targetId": "T",
    "type": "page",
    "title": "Shop",
    "url": "https://shop.example/",
    "attached": True,
    "canAccessOpener": False,
    "browserContextId": "C",
}
CONTEXT: Json = {
    "id": 1,
    "origin": "https://shop.example",
    "name": "",
    "uniqueId": "-1.2",
    "auxData": {"isDefault": True, "type": "default", "frameId": "F"},
}
FRAME: Json = {
    "id": "F",
    "loaderId": "L",
    "url": "https://shop.example/",
    "domainAndRegistry": "shop.example",
    "securityOrigin": "https://shop.example",
    "securityOriginDetails": {"isLocalhost": False},
    "mimeType": "text/html",
    "adFrameStatus": {"adFrameType": "none"},
    "secureContextType": "Secure",
    "crossOriginIsolatedContextType": "NotIsolated",
    "gatedAPIFeatures": [],
}
# Params as Chromium 156 sent them.
READABLE: dict[str, tuple[Json, type]] = {
    "Target.attachedToTarget": (
        {"sessionId": "S", "targetInfo": TARGET_INFO, "waitingForDebugger": True},
        commands.target.AttachedToTarget,
    ),
    "Target.targetDestroyed": ({"targetId": "T"}, commands.target.TargetDestroyed),
    "Target.targetInfoChanged": ({"targetInfo": TARGET_INFO}, commands.target.TargetInfoChanged),
    "Target.detachedFromTarget": (
        {"sessionId": "S", "targetId": "T"},
        commands.target.DetachedFromTarget,
    ),
    "Inspector.targetCrashed": ({}, commands.inspector.TargetCrashed),
    "Page.documentOpened": ({"frame": FRAME}, commands.DocumentOpened),
    "Page.frameNavigated": ({"frame": FRAME, "type": "Navigation"}, commands.FrameNavigated),
    "Page.frameDetached": ({"frameId": "F", "reason": "swap"}, commands.FrameDetached),
    "Page.frameStartedLoading": ({"frameId": "F"}, commands.page.FrameStartedLoading),
    "Page.frameStoppedLoading": ({"frameId": "F"}, commands.page.FrameStoppedLoading),
    "Page.navigatedWithinDocument": (
        {"frameId": "F", "url": "https://shop.example/#a", "navigationType": "fragment"},
        commands.page.NavigatedWithinDocument,
    ),
    "Page.javascriptDialogClosed": ({"frameId": "F", "result": True, "userInput": "7"}, commands.DialogClosed),
    "Page.javascriptDialogOpening": (
        {
            "url": "https://shop.example/",
            "frameId": "F",
            "message": "How many?",
            "type": "prompt",
            "hasBrowserHandler": False,
            "defaultPrompt": "1",
        },
        commands.DialogOpening,
    ),
    "Page.lifecycleEvent": (
        {"frameId": "F", "loaderId": "L", "name": "load", "timestamp": 1169.15502},
        commands.Lifecycle,
    ),
    "Runtime.executionContextsCleared": ({}, commands.runtime.ExecutionContextsCleared),
    "Runtime.executionContextCreated": ({"context": CONTEXT}, ContextCreated),
    "Runtime.executionContextDestroyed": (
        {"executionContextId": 1, "executionContextUniqueId": "-1.2"},
        ContextDestroyed,
    ),
}
ODD: list[Any] = [None, True, 7, -1.5, float("inf"), "", "newer than PyCDP", [], [None], {}, {"a": {}}]


def raw(method: str, params: Json) -> RawEvent:
    return RawEvent(method, params, SessionId("S"))


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a JSON value."""
    if not isinstance(value, dict | list):
        return []
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


def broken_copies(params: Json) -> list[Json]:
    """`params` with each place removed in turn, and with each place holding each odd value."""
    copies: list[Json] = []
    for index in range(len(places(params))):
        for odd in [..., *ODD]:
            broken = copy.deepcopy(params)
            container, key = places(broken)[index]
            if odd is ...:
                del container[key]
            else:
                container[key] = odd
            copies.append(broken)
    return copies


def test_every_event_that_is_read_has_a_sample_here():
    assert set(READABLE) == set(commands._READERS)


@pytest.mark.parametrize("method", READABLE)
def test_an_event_of_todays_chromium_is_read(method):
    params, event_class = READABLE[method]

    assert type(parse_event(raw(method, params))) is event_class


@pytest.mark.parametrize("method", READABLE)
def test_an_event_with_a_field_gone_or_changed_is_read_or_stays_raw(method):
    params, event_class = READABLE[method]

    for broken in broken_copies(params):
        event = parse_event(raw(method, broken))
        assert isinstance(event, event_class) or event == raw(method, broken)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Foo.barHappened", {"a": 1}),
        ("Page.frameStartedNavigating", {"frameId": "F"}),
        ("", {}),
        ("Page.lifecycleEvent", {"frameId": "F"}),
        ("Page.navigatedWithinDocument", {"frameId": "F"}),
        ("Page.frameNavigated", {}),
        ("Runtime.executionContextCreated", {"context": {"id": 1}}),
        ("Runtime.executionContextCreated", {"context": CONTEXT | {"auxData": ["F"]}}),
        ("Runtime.executionContextDestroyed", {"executionContextId": 1}),
    ],
)
def test_an_event_that_cannot_be_read_stays_raw_and_whole(method, params):
    event = raw(method, params)

    assert parse_event(event) is event


def test_a_context_keeps_what_pycdp_drops():
    params: Json = {"context": CONTEXT}

    assert parse_event(raw("Runtime.executionContextCreated", params)) == ContextCreated(
        unique_id="-1.2", origin="https://shop.example", frame_id="F", is_default=True
    )


@pytest.mark.parametrize(
    "aux", [None, {}, {"isDefault": False, "type": "isolated"}, {"isDefault": "yes"}, {"isDefault": 1}]
)
def test_only_a_context_that_says_so_is_a_main_world(aux):
    event = parse_event(raw("Runtime.executionContextCreated", {"context": CONTEXT | {"auxData": aux}}))

    assert isinstance(event, ContextCreated)
    assert not event.is_default


def test_a_command_makes_its_value_of_the_result():
    command = commands.target.create_target("about:blank")
    next(command)

    assert finish_command(command, {"targetId": "T"}) == commands.target.TargetID("T")


VALUE: Json = {"type": "number", "value": 7}
DETAILS: Json = {"exceptionId": 1, "text": "Uncaught", "lineNumber": 2, "columnNumber": 3}


@pytest.mark.parametrize(
    "result",
    [
        pytest.param({}, id="missing field"),
        pytest.param({"result": None}, id="null"),
        pytest.param({"result": "x"}, id="not an object"),
    ],
)
def test_a_result_that_cannot_be_read_is_one_kind_of_error(result):
    command = commands.runtime.evaluate("1")
    next(command)

    with pytest.raises(ValueError, match="its answer cannot be read"):
        finish_command(command, result)


def test_an_enum_value_that_is_newer_than_pycdp_makes_a_result_unreadable():
    command = commands.page.get_navigation_history()
    next(command)
    entry = {"id": 1, "url": "", "userTypedURL": "", "title": "", "transitionType": "newer than PyCDP"}

    with pytest.raises(ValueError, match="its answer cannot be read"):
        finish_command(command, {"currentIndex": 0, "entries": [entry]})


def test_a_command_that_asks_twice_is_an_error():
    def asks_twice():
        yield {"method": "A.b", "params": {}}
        yield {"method": "A.c", "params": {}}

    command = asks_twice()
    next(command)

    with pytest.raises(ValueError, match="not expected"):
        finish_command(command, {})


def test_an_evaluation_is_bound_to_its_realm_and_never_to_a_number():
    request = next(commands.evaluate_in("-1.2", "1 + 1"))

    assert request["method"] == "Runtime.evaluate"
    assert request["params"]["uniqueContextId"] == "-1.2"
    assert "contextId" not in request["params"]


def test_an_evaluation_gives_the_value_and_whether_something_was_thrown():
    fine, thrown = commands.evaluate_in("-1.2", "1"), commands.evaluate_in("-1.2", "throw TypeError()")
    next(fine)
    next(thrown)

    value = finish_command(fine, {"result": {"type": "number", "value": 1}})
    error = finish_command(thrown, {"result": {"type": "object", "className": "TypeError"}, "exceptionDetails": {}})

    assert value == commands.Evaluated(1, "", has_thrown=False)
    assert error == commands.Evaluated(None, "TypeError", has_thrown=True)


@pytest.mark.parametrize(
    ("command", "method"),
    [
        (
            commands.set_auto_attach(wait_for_debugger_on_start=True, only_types=("page", "iframe")),
            "Target.setAutoAttach",
        ),
        (commands.set_discover_targets(only_types=("page", "iframe")), "Target.setDiscoverTargets"),
    ],
)
def test_targets_of_other_types_are_left_alone(command, method):
    request = next(command)

    assert request["method"] == method
    assert request["params"]["filter"] == [{"type": "page"}, {"type": "iframe"}, {"exclude": True}]


def test_a_history_is_read_whatever_its_transition_types_are():
    command = commands.navigation_history()
    next(command)
    entries = [{"id": 3, "transitionType": "newer than PyCDP"}, {"id": 5}]

    assert finish_command(command, {"currentIndex": 1, "entries": entries}) == (1, [3, 5])


@pytest.mark.parametrize(
    ("head", "is_so"),
    [
        ('{"method":"Runtime.consoleAPICalled","params":{"type":"log"', True),
        ('{"method":"Foo.barHappened"', True),
        ('{"method":"Page.frameNavigated","params":{', False),
        ('{"method":"' + "x" * 100, False),
        ('{"id":1,"method":"Foo.bar"}', False),
        ('{ "method":"Foo.bar"}', False),
        ("", False),
    ],
)
def test_what_is_for_nobody_is_known_by_its_head(head: str, is_so: bool):
    assert commands.is_for_nobody(head) is is_so
    assert commands.is_for_nobody(bytearray(head.encode())) is is_so
