"""A small Chromium that is none: it answers the commands of the bridge, and tells of what happens in its pages, in the
form and order of a real one. No I/O. `tests/browser/test_faults_are_real.py` holds its messages against Chromium's.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from bridge.wire.router import Json
from tests.faults.messages import kit_words

ORIGIN = "https://shop.test"
FRAME_ORIGIN = "https://pay.test"
WORDS = "Ünïcödé ☃ 😀 "
"""What the tool `say` returns, many times over: most of its characters take more than one byte."""

_TOOLS = ("say", "ask", "fail", "hang")


@dataclass
class Frame:
    """A frame that is a target of its own, and the document that it shows."""

    target_id: str
    kind: str
    history: list[str]
    parent: "Frame | None" = None
    at: int = 0
    session: str = ""
    context: str = ""
    """`uniqueId` of its realm, "" once it has crashed."""
    is_enabled: bool = False
    """Its contexts are told of."""
    waits: bool = True
    """It waits for the debugger."""
    has_kit: bool = False
    """Documents that were there before the bridge have none until it brings one."""
    round: int = 0
    asked: list[int] = field(default_factory=list[int])
    """Commands that wait in the kit, to be answered when the document ends."""
    held: int | None = None
    """The command that waits for a dialog."""

    @property
    def url(self) -> str:
        return self.history[self.at]

    @property
    def origin(self) -> str:
        return "://" if self.url == "about:blank" else "/".join(self.url.split("/")[:3])


class FakeChromium:
    """It has the pages `T1`, `T2`, …, one for each URL; the first has an iframe in another process, `F1`."""

    product = "Chrome/156.0.8078.108"

    def __init__(self, *urls: str) -> None:
        self._numbers = count(1)
        self.frames: dict[str, Frame] = {}
        for number, url in enumerate(urls or (f"{ORIGIN}/1", f"{ORIGIN}/2"), 1):
            self._add(Frame(f"T{number}", "page", [url]))
        self._add(Frame("F1", "iframe", [f"{FRAME_ORIGIN}/frame"], parent=self.frames["T1"]))
        self._out: list[Json] = []

    def _add(self, frame: Frame) -> Frame:
        self.frames[frame.target_id] = frame
        frame.context = f"-7.{next(self._numbers)}"
        return frame

    def answer(self, command: Json) -> list[Json]:
        """What it says to one command, and what happens because of it, in order."""
        self._out = []
        if "sessionId" in command and self._frame(command) is None:
            self._refusal(command["id"], None, "Session with given id not found.")
            return self._out
        name = re.sub(r"\.|(?<=[a-z])(?=[A-Z])", "_", command["method"]).lower()
        handler: Callable[[Json], Json | None] = getattr(self, f"_{name}", _nothing)
        result = handler(command)
        if result is not None:
            self._reply(command["id"], command.get("sessionId"), result)
            after: Callable[[Json], object] = getattr(self, f"_after_{name}", _nothing)
            after(command)
        return self._out

    def is_of(self, target_id: str, message: Json) -> bool:
        """A message of that page, or of the browser itself about it."""
        session = self.frames[target_id].session
        return message.get("sessionId") == session or f'"{target_id}"' in json.dumps(message.get("params"))

    def crash(self, target_id: str) -> list[Json]:
        """The process of a page ends."""
        frame = self.frames[target_id]
        self._out, frame.context, frame.asked, frame.held = [], "", [], None
        self._event("Inspector.detached", {"reason": "Render process gone."}, frame)
        self._event("Inspector.targetCrashed", {}, frame)
        self._event("Target.targetCrashed", {"targetId": target_id, "status": "crashed", "errorCode": 5})
        return self._out

    def empty(self, target_id: str) -> list[Json]:
        """A script of the page removes an iframe of its own origin, and writes the document anew."""
        page = self.frames[target_id]
        self._out = []
        destroyed = {"executionContextId": 3, "executionContextUniqueId": "-7.0"}
        self._event("Runtime.executionContextDestroyed", destroyed, page)
        self._event("Page.documentOpened", {"frame": _frame_params(page)}, page)
        self._loaded(page)
        return self._out

    # The browser itself

    def _browser_get_version(self, _: Json) -> Json:
        return {
            "protocolVersion": "1.3",
            "product": self.product,
            "revision": "@730482a",
            "userAgent": "Mozilla/5.0",
            "jsVersion": "15.6.75.63",
        }

    def _target_get_targets(self, _: Json) -> Json:
        return {"targetInfos": [_info(frame) for frame in self.frames.values() if frame.kind == "page"]}

    def _target_set_discover_targets(self, _: Json) -> Json:
        for frame in self.frames.values():
            if frame.kind == "page":
                self._event("Target.targetCreated", {"targetInfo": _info(frame) | {"attached": False}})
        return {}

    def _target_set_auto_attach(self, command: Json) -> Json:
        page = self._frame(command)
        for frame in self.frames.values():
            if frame.parent is page and not frame.session:
                self._attach(frame)
        return {}

    def _target_create_target(self, command: Json) -> Json:
        frame = self._add(Frame(f"T{next(self._numbers)}", "page", [command["params"]["url"]]))
        self._event("Target.targetCreated", {"targetInfo": _info(frame) | {"attached": False}})
        self._attach(frame)
        return {"targetId": frame.target_id}

    def _target_close_target(self, command: Json) -> Json:
        target_id = command["params"]["targetId"]
        if target_id not in self.frames:
            return self._refuse("No target with given id found")
        return {"success": True}

    def _after_target_close_target(self, command: Json) -> None:
        frame = self.frames.pop(command["params"]["targetId"], None)
        if frame is not None:
            self._event("Target.detachedFromTarget", {"sessionId": frame.session, "targetId": frame.target_id})
            self._event("Target.targetDestroyed", {"targetId": frame.target_id})

    def _attach(self, frame: Frame) -> None:
        frame.session = f"S{next(self._numbers)}"
        params = {"sessionId": frame.session, "targetInfo": _info(frame), "waitingForDebugger": True}
        self._event("Target.attachedToTarget", params, frame.parent)

    # A page

    def _after_runtime_enable(self, command: Json) -> None:
        frame = self._frame(command)
        if frame is not None and not frame.is_enabled:
            frame.is_enabled = True
            self._context_created(frame)

    def _after_runtime_run_if_waiting_for_debugger(self, command: Json) -> None:
        frame = self._frame(command)
        if frame is not None and frame.waits:
            frame.waits = False
            self._loaded(frame)

    def _page_add_script_to_evaluate_on_new_document(self, _: Json) -> Json:
        return {"identifier": "1"}

    def _page_get_frame_tree(self, command: Json) -> Json:
        return {"frameTree": {"frame": _frame_params(self._known(command))}}

    def _page_get_navigation_history(self, command: Json) -> Json:
        frame = self._known(command)
        entries = [
            {"id": number, "url": url, "userTypedURL": url, "title": url, "transitionType": "typed"}
            for number, url in enumerate(frame.history)
        ]
        return {"currentIndex": frame.at, "entries": entries}

    def _page_navigate(self, command: Json) -> Json:
        url = command["params"]["url"]
        frame = self._known(command)
        told = {"frameId": frame.target_id, "isDownload": False}
        return told if "#" in url else {**told, "loaderId": f"L-{url}"}

    def _after_page_navigate(self, command: Json) -> None:
        frame, url = self._known(command), command["params"]["url"]
        del frame.history[frame.at + 1 :]
        frame.history.append(url)
        if "#" not in url:
            self._go(frame, frame.at + 1)
            return
        frame.at += 1
        params = {"frameId": frame.target_id, "url": url, "navigationType": "fragment"}
        self._event("Page.navigatedWithinDocument", params, frame)

    def _after_page_reload(self, command: Json) -> None:
        frame = self._known(command)
        self._go(frame, frame.at)

    def _after_page_navigate_to_history_entry(self, command: Json) -> None:
        self._go(self._known(command), command["params"]["entryId"])

    def _page_handle_java_script_dialog(self, command: Json) -> Json:
        frame = self._known(command)
        return {} if frame.held is not None else self._refuse("No dialog is showing")

    def _after_page_handle_java_script_dialog(self, command: Json) -> None:
        frame, accept = self._known(command), command["params"]["accept"]
        if frame.held is not None:
            params = {"frameId": frame.target_id, "result": accept, "userInput": ""}
            self._event("Page.javascriptDialogClosed", params, frame)
            self._reply(frame.held, frame.session, _value(_completed(f"{WORDS}{accept}")))
            frame.held = None

    def _go(self, frame: Frame, entry: int) -> None:
        """Show another document."""
        target = frame.target_id
        crashed = not frame.context
        self._remove_frames(frame)
        url = frame.history[entry]
        loader = f"L-{url}"
        started = {"frameId": target, "url": url, "loaderId": loader, "navigationType": "differentDocument"}
        self._event("Page.frameStartedNavigating", started, frame)
        self._event("Page.frameStartedLoading", {"frameId": target}, frame)
        if crashed:
            self._event("Inspector.targetReloadedAfterCrash", {}, frame)
        for waiting in frame.asked:
            self._refusal(waiting, frame.session, "Inspected target navigated or closed")
        frame.at, frame.asked, frame.round, frame.held = entry, [], 0, None
        frame.context, frame.has_kit = f"-7.{next(self._numbers)}", True
        self._event("Runtime.executionContextsCleared", {}, frame)
        self._event("Page.frameNavigated", {"frame": _frame_params(frame), "type": "Navigation"}, frame)
        self._context_created(frame)
        self._event("Target.targetInfoChanged", {"targetInfo": _info(frame)})
        self._loaded(frame)

    def _loaded(self, frame: Frame) -> None:
        for name in ("init", "DOMContentLoaded", "load"):
            params = {"frameId": frame.target_id, "loaderId": f"L-{frame.url}", "name": name, "timestamp": 23265.88}
            self._event("Page.lifecycleEvent", params, frame)
        self._event("Page.frameStoppedLoading", {"frameId": frame.target_id}, frame)

    def _remove_frames(self, page: Frame) -> None:
        for child in [frame for frame in self.frames.values() if frame.parent is page]:
            del self.frames[child.target_id]
            self._event("Page.frameDetached", {"frameId": child.target_id, "reason": "remove"}, page)
            gone = {"sessionId": child.session, "targetId": child.target_id}
            self._event("Target.detachedFromTarget", gone, page)

    def _context_created(self, frame: Frame) -> None:
        aux = {"isDefault": True, "type": "default", "frameId": frame.target_id}
        context = {"id": 1, "origin": frame.origin, "name": "", "uniqueId": frame.context, "auxData": aux}
        self._event("Runtime.executionContextCreated", {"context": context}, frame)

    # The kit in a page

    def _runtime_evaluate(self, command: Json) -> Json | None:
        frame = self._known(command)
        if command["params"]["uniqueContextId"] != frame.context:
            return self._refuse("uniqueContextId not found")
        words = kit_words(command)
        if words and not frame.has_kit and "\n" not in command["params"]["expression"]:
            return _no_kit()
        frame.has_kit |= bool(words)
        match words:
            case ["discover", *_]:
                frame.round += 1
                return _value(_discovery(frame))
            case ["report"]:
                return _value(_discovery(frame))
            case ["call", _, _, tool, *_] if tool in range(len(_TOOLS)):
                return self._call(frame, command["id"], _TOOLS[tool])
            case ["watch" | "progress", *_]:
                frame.asked.append(command["id"])
                return None
            case ["drop" | "abort", *_]:
                return {"result": {"type": "undefined"}}
            case _:
                return {"result": {"type": "number", "value": 0, "description": "0"}}

    def _call(self, frame: Frame, command_id: int, tool: str) -> Json | None:
        match tool:
            case "say":
                return _value(_completed(WORDS * 20))
            case "fail":
                return _value({"how": "failed", "kind": "error", "text": "x", "name": "Error", "stack": "", "more": ""})
            case "ask":
                params = {
                    "url": frame.url,
                    "frameId": frame.target_id,
                    "message": "Sure?",
                    "type": "confirm",
                    "hasBrowserHandler": True,
                    "defaultPrompt": "",
                }
                self._event("Page.javascriptDialogOpening", params, frame)
                frame.held = command_id
            case _:
                frame.asked.append(command_id)
        return None

    # Messages

    def _frame(self, command: Json) -> Frame | None:
        """The frame that a command is for; None for the browser itself."""
        session = command.get("sessionId")
        return next((frame for frame in self.frames.values() if session and frame.session == session), None)

    def _known(self, command: Json) -> Frame:
        frame = self._frame(command)
        assert frame is not None, f"nothing has the session of {command}"
        return frame

    def _event(self, method: str, params: Json, frame: Frame | None = None) -> None:
        """Tell of it on the frame's session, or on the browser's own. Who is not attached is not told."""
        if frame is None:
            self._out.append({"method": method, "params": params})
        elif frame.session:
            self._out.append({"method": method, "params": params, "sessionId": frame.session})

    def _refuse(self, message: str) -> Json:
        return {"error": {"code": -32000, "message": message}}

    def _refusal(self, command_id: int, session: str | None, message: str) -> None:
        self._reply(command_id, session, self._refuse(message))

    def _reply(self, command_id: int, session: str | None, result: Json) -> None:
        said = result if "error" in result else {"result": result}
        self._out.append({"id": command_id, **said, **({"sessionId": session} if session else {})})


def _nothing(_: Json) -> Json:
    return {}


def _info(frame: Frame) -> Json:
    parent = {"parentId": frame.parent.target_id, "parentFrameId": frame.parent.target_id} if frame.parent else {}
    return {
        "targetId": frame.target_id,
        "type": frame.kind,
        "title": f"Page {frame.url}",
        "url": frame.url,
        "attached": True,
        "canAccessOpener": False,
        "browserContextId": "C",
        **parent,
    }


def _frame_params(frame: Frame) -> Json:
    parent = {"parentId": frame.parent.target_id, "name": ""} if frame.parent else {}
    return {
        "id": frame.target_id,
        "loaderId": f"L-{frame.url}",
        "url": frame.url,
        "domainAndRegistry": "",
        "securityOrigin": frame.origin,
        "securityOriginDetails": {"isLocalhost": True},
        "mimeType": "text/html",
        "adFrameStatus": {"adFrameType": "none"},
        "secureContextType": "SecureLocalhost",
        "crossOriginIsolatedContextType": "NotIsolated",
        "gatedAPIFeatures": [],
        **parent,
    }


def _value(value: object) -> Json:
    return {"result": {"type": "object", "value": value}}


def _no_kit() -> Json:
    words = "ReferenceError: k_1 is not defined"
    thrown = {
        "type": "object",
        "subtype": "error",
        "className": "ReferenceError",
        "description": words,
        "objectId": "7.1.1",
    }
    call = {"functionName": "", "scriptId": "9", "url": "", "lineNumber": 0, "columnNumber": 0}
    details = {
        "exceptionId": 1,
        "text": "Uncaught",
        "lineNumber": 0,
        "columnNumber": 0,
        "scriptId": "9",
        "stackTrace": {"callFrames": [call]},
        "exception": thrown,
    }
    return {"result": thrown, "exceptionDetails": details}


def _completed(text: str) -> Json:
    return {"how": "completed", "kind": "string", "text": text}


def _discovery(frame: Frame) -> Json:
    tools: list[Any] = [
        {"name": name, "description": "A tool", "cut": 0, "schema": '{"type":"object"}', "index": index}
        for index, name in enumerate(_TOOLS)
    ]
    if frame.parent is not None:
        tools = [tools[0] | {"name": "pay"}]
    group = {"name": "Shop", "description": "For tests", "tools": tools, "faults": [], "dropped": 0}
    return {"round": frame.round, "groups": [group], "thrown": [], "surplus": 0, "more": False}
