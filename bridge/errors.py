"""Every way in which the bridge can fail, as one tree.

An error names a state, says who must act, and carries the facts. `code` is the stable word that an agent
reads; `dispatched` says whether page code may have run. A call ends in one outcome: without an error it is
`completed`; an error's own is `rejected` (nothing ran), `failed` (it ran and threw) or `unknown` (it was
dispatched, and its answer is lost).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self


class BridgeError(Exception):
    """Root of the tree. `str(error)` is one readable sentence that says what to do next.

    Attributes:
        said: what the sentence ends with, where that is a page's own words as they are.
        origin: whose words `said` is.
    """

    code: ClassVar[str] = "internal"
    dispatched: bool = False
    said: str = ""
    origin: str = ""

    @property
    def outcome(self) -> str:
        return "unknown" if self.dispatched else "rejected"

    def facts(self) -> dict[str, Any]:
        """What a program may want to know beside the sentence: JSON values only."""
        return {}

    def after_dispatch(self) -> Self:
        """The same for a call whose tool was at work when it happened; others may have been told of this very error."""
        if self.dispatched:
            return self
        told = self.reworded(f"{self} The tool was running, and may have done its work.", self.said)
        told.dispatched = True
        return told

    def reworded(self, sentence: str, said: str) -> Self:
        """The same in other words."""
        told = type(self).__new__(type(self))
        told.__dict__.update(self.__dict__)
        told.args = (sentence,)
        if said != self.said:
            told.said = said
        return told


class UsageError(BridgeError):
    """The person at the command line, or the agent, asked for something that cannot be."""

    code = "usage"


class AlreadyThere(BridgeError):
    """What was to be made is there, and was left as it is."""

    code = "already_there"


# The browser and the link to it


class BrowserGone(BridgeError):
    """There is no browser to ask: it ended, or the link to it did."""

    code = "browser_gone"


class ConnectionLost(BrowserGone):
    """The link ended. Each waiter gets an error of its own."""

    def __init__(self, reason: str, *, close_code: int | None = None) -> None:
        ended = f"The connection to the browser ended: {reason.rstrip('.')}."
        super().__init__(f"{ended} Its pages are gone; list_pages shows what there is when it is back.")
        self.reason = reason
        self.close_code = close_code


class BrowserFailedToStart(BrowserGone):
    """Chromium could not be started, or no running one could be reached."""

    def __init__(self, message: str, *, stderr_tail: str = "") -> None:
        super().__init__(f"{message}\n{stderr_tail}" if stderr_tail else message)
        self.stderr_tail = stderr_tail


class BrowserRefused(BrowserFailedToStart):
    """A running one was reached, and did not let us in: to ask again may be to ask a person again."""


class BrowserStarting(BridgeError):
    """The browser is not up yet, and the time of this call is over.

    Args:
        waited_for: what has to happen first, as a sentence.
    """

    code = "browser_starting"

    def __init__(self, seconds: float, waited_for: str) -> None:
        super().__init__(f"The browser was not up within {seconds:g} s. {waited_for} Try again in a moment.")


class CommandFailed(BridgeError):
    """Chromium refused a CDP command, or answered it in a form that cannot be read."""

    code = "command_failed"

    def __init__(self, method: str, reason: str, *, error_code: int | None = None) -> None:
        advice = "Try again; reload the page if it stays so."
        if error_code == -32601:
            advice = "This browser does not have that command, or what lies between us and it does not pass it on."
        super().__init__(f"{method} failed: {reason.rstrip('.')}. {advice}")
        self.method = method
        self.reason = reason
        self.error_code = error_code

    def after_dispatch(self) -> Self:
        told = super().after_dispatch()
        told.args = (
            f"{self.method} failed while the tool was running: {self.reason.rstrip('.')}. It may have done its work: "
            "look at the page before you call again.",
        )
        return told


# Pages


class PageNotFound(BridgeError):
    """No open page has that handle."""

    code = "page_gone"

    def __init__(self, page: str, known: Sequence[str]) -> None:
        advice = f"Use one that is open: {', '.join(known)}" if known else "No page is open: use open_page"
        super().__init__(f"There is no page {page!r}. {advice}.")


class NavigationFailed(BridgeError):
    """The browser could not go there; `reason` is Chromium's own word."""

    code = "navigation_failed"

    def __init__(self, url: str, reason: str, advice: str = "Check the address, then try again.") -> None:
        super().__init__(f"Could not open {url}: {reason}. {advice}")


class PageGone(BridgeError):
    """The document went away first; nothing is known about side effects once a call was dispatched."""

    code = "page_gone"


class PageCrashed(PageGone):
    """The renderer of the page ended."""

    code = "page_crashed"


class PageUnreadable(PageGone):
    """The browser does not tell of the page what has to be known of it."""

    def __init__(self, page: str, reason: str) -> None:
        super().__init__(
            f"Page {page} can't be followed: {reason.rstrip('.')}. Close it, and open its address anew; if it stays "
            "so, this browser speaks another protocol than this pagebridge, and one of them needs an update."
        )


class NavigatedDuringCall(PageGone):
    """The document ended while its tool ran."""

    code = "navigated_during_call"
    dispatched = True


class PageUnresponsive(BridgeError):
    """The page's main thread does not answer."""

    code = "timed_out"

    def __init__(self, page: str, seconds: float) -> None:
        super().__init__(
            f"Page {page} did not answer within {seconds:g} s: its scripts are busy, or its listener for "
            "devtoolstooldiscovery does not end. Try again later, or reload the page."
        )


class PageAsleep(PageUnresponsive):
    """Nothing in the page has answered since we met it."""

    def __init__(self, page: str) -> None:
        BridgeError.__init__(
            self,
            f"Page {page} has not answered yet: the browser may have put the tab to sleep to save memory, or a busy "
            "script holds it, or a dialog that was open before we came. Reload it with navigate_page, or look at it in "
            "the browser.",
        )


class PageStuck(PageUnresponsive):
    """A run was stopped in the page, even by force, and its scripts answer nothing since."""

    def __init__(self, page: str) -> None:
        BridgeError.__init__(
            self,
            f"Page {page} answers nothing since a tool was stopped in it: something holds its scripts. "
            "Close it with close_page, and open its address anew.",
        )


class DialogOpen(BridgeError):
    """The page shows a dialog, and none of its scripts runs until that is answered."""

    code = "dialog_open"

    def __init__(self, page: str, kind: str, message: str, *, dispatched: bool) -> None:
        says = f" that says {json.dumps(message, ensure_ascii=False)}" if message else ""
        self.situation = f"Page {page} shows a dialog ({kind}){says}."
        held = "The tool waits for it" if dispatched else "Nothing else runs there until then"
        also = ", which then returns what became of the tool" if dispatched else ""
        super().__init__(f"{self.situation} {held}: answer it with handle_dialog{also}.")
        self.dialog = {"type": kind, "message": message}
        self.dispatched = dispatched

    def facts(self) -> dict[str, Any]:
        return {"dialog": self.dialog}


class NoDialog(BridgeError):
    """There is no dialog to answer."""

    code = "no_dialog"

    def __init__(self, page: str) -> None:
        super().__init__(f"Page {page} shows no dialog. It may have been answered already; list_pages shows open ones.")


# Calls: nothing ran


class CallRejected(BridgeError):
    """Nothing ran, so the call may be sent again once its reason is mended."""


class ToolNotFound(CallRejected):
    code = "tool_not_found"


class ToolAmbiguous(CallRejected):
    code = "tool_ambiguous"


class ToolStale(CallRejected):
    code = "tool_stale"


class OriginChanged(CallRejected):
    code = "origin_changed"


class ElementGone(CallRejected):
    """A uid names no element now.

    Args:
        why: as the end of a sentence.
    """

    code = "element_gone"

    def __init__(self, page: str, uid: str, why: str) -> None:
        super().__init__(
            f"There is no element {uid!r} in page {page} now: {why}. A uid ends with its document and its element; "
            "take a new snapshot."
        )


class PageTooLarge(CallRejected):
    """There is more in a document than is looked at.

    Args:
        size: what there is too much of, such as `60,000 elements`.
    """

    code = "page_too_large"

    def __init__(self, page: str, size: str) -> None:
        super().__init__(
            f"Page {page} is too large to be looked at as a whole: it has {size} in one document. Use a tool of the "
            "page, or evaluate_script, to get the part that you need."
        )


class PageRestless(CallRejected):
    """A page goes elsewhere whenever something is done with it."""

    code = "page_gone"

    def __init__(self, page: str, tries: int) -> None:
        super().__init__(
            f"Page {page} went elsewhere {tries} times while it was looked at. Wait until it stays, and try again."
        )


class ScriptInvalid(CallRejected):
    """What was to be run is no JavaScript expression.

    Args:
        reason: V8's own words.
    """

    code = "script_invalid"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The script can't be read as an expression: {reason}. Nothing ran. Give one expression, or a function: "
            "() => { … }."
        )


class NotActionable(CallRejected):
    """An element is there, and can't be acted on: it is disabled, covered, or never stands still."""

    code = "not_actionable"


class SchemaUnusable(CallRejected):
    code = "schema_unusable"


class NotAllowed(CallRejected):
    """The person who started us has not allowed it: by where it comes from, by the mode, or by what was approved."""

    code = "not_allowed"


class Busy(CallRejected):
    """Too many calls are in flight, or came too fast.

    Args:
        retry_seconds: when to try again, where that is known.
    """

    code = "busy"

    def __init__(self, message: str, *, retry_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_seconds = retry_seconds

    def facts(self) -> dict[str, Any]:
        return {} if self.retry_seconds is None else {"retry_after_seconds": self.retry_seconds}


class EndpointUnreachable(CallRejected):
    """The service of a skill could not be reached; nothing was sent to it."""

    code = "endpoint_unreachable"


@dataclass(frozen=True)
class ArgumentFault:
    """One place where arguments do not fit: a JSON Pointer and what was expected there."""

    pointer: str
    expected: str


class ArgumentsInvalid(CallRejected):
    code = "arguments_invalid"

    def __init__(self, message: str, faults: Sequence[ArgumentFault] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults)

    def facts(self) -> dict[str, Any]:
        return {"faults": [{"pointer": fault.pointer, "expected": fault.expected} for fault in self.faults]}


# Calls: it ran and failed


class CallTimedOut(BridgeError):
    """The deadline passed.

    Args:
        what: names what did not end, such as `Tool 'add' of page p1`.
        advice: what became of it, and what to do next.
    """

    code = "timed_out"

    def __init__(self, what: str, seconds: float, advice: str, *, dispatched: bool) -> None:
        super().__init__(f"{what} did not end within {seconds:g} s. {advice}")
        self.seconds = seconds
        self.dispatched = dispatched

    def ending_with(self, error: BridgeError) -> Self:
        """With what became of the tool at its last moment."""
        self.args = (f"{self} {error}",)
        self.said, self.origin = error.said, error.origin
        return self


class CallFailed(BridgeError):
    dispatched = True

    @property
    def outcome(self) -> str:
        return "failed"


class PageThrew(CallFailed):
    """The tool threw, or its promise was rejected."""

    code = "tool_threw"

    def __init__(self, message: str, *, said: str = "", origin: str = "", stack: str = "") -> None:
        super().__init__(f"{message} {said}" if said else message)
        self.said = said
        self.origin = origin
        self.stack = stack


class EndpointFailed(CallFailed):
    """The service of a skill was asked, and its answer is of no use."""

    code = "endpoint_failed"


class AnswerLost(BridgeError):
    """The service of a skill was asked, and nobody knows what became of it."""

    code = "answer_lost"
    dispatched = True


class PartlyFilled(CallFailed):
    """Some fields of a form were filled, and one could not be."""

    code = "partly_filled"

    def __init__(self, filled: int, fields: int, error: BridgeError) -> None:
        super().__init__(f"{filled} of {fields} fields were filled, and the next one was not. {error}")


class WaitedInVain(BridgeError):
    """What was waited for did not come, and nothing was done to bring it."""

    code = "timed_out"

    def __init__(self, what: str, page: str, seconds: float, last: str = "", *, dispatched: bool = False) -> None:
        super().__init__(
            f"{what} did not come in page {page} within {seconds:g} s{last}. Take a snapshot to see what there is."
        )
        self.dispatched = dispatched


class PartNotFound(CallFailed):
    """The tool did its work, and its result has nothing where a part of it was asked for."""

    code = "part_not_found"

    @property
    def outcome(self) -> str:
        return "completed"


# Asking the person


class CannotAsk(BridgeError):
    """A tool has a question for the person, and there is nobody to ask, or no answer that is one."""

    code = "cannot_ask"


# Modules of a project


class ModuleUnusable(CallRejected):
    """The module of a tool does not load, or is another one since the tool was listed."""

    code = "module_unusable"


class ModuleThrew(CallFailed):
    """The tool of a module raised an exception."""

    code = "tool_threw"

    def __init__(self, tool: str, message: str) -> None:
        super().__init__(f"Tool {tool!r} failed: {message}")
        self.message = message

    def quoted(self, origin: str) -> "ModuleThrew":
        """The same where the message may hold words of a page, or of a service, of this origin."""
        self.said, self.origin = self.message, origin
        return self


class ResultUnusable(CallFailed):
    """The tool of a module did its work, and returned what no agent can be told."""

    code = "result_unusable"

    def __init__(self, tool: str, reason: str) -> None:
        super().__init__(f"Tool {tool!r} ran, and its result can't be told: {reason}. Mend that in its module.")


class ModuleGone(BridgeError):
    """The process of a module ended, or was ended, while something of it ran."""

    code = "module_gone"
    dispatched = True
