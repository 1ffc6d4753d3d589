"""Which targets a browser has, and on which session we speak with each. No I/O."""

from dataclasses import dataclass, replace
from typing import Final

from bridge.wire.commands import Event, target
from bridge.wire.router import SessionId

OURS: Final = ("page",)
"""Target types that we attach to. Workers, extensions' backgrounds, `browser_ui` and the rest are left alone."""

LEFT_ALONE: Final = ("devtools://", "chrome-extension://", "chrome-untrusted://")
"""Pages of the browser itself or of an extension: not ours to inject into."""


@dataclass(frozen=True, slots=True)
class TargetView:
    """One page target that we are attached to."""

    target_id: str
    session_id: SessionId
    url: str
    title: str
    waiting: bool
    """It is paused before its first script until Runtime.runIfWaitingForDebugger."""


@dataclass(frozen=True, slots=True)
class Attached:
    view: TargetView


@dataclass(frozen=True, slots=True)
class Changed:
    view: TargetView


@dataclass(frozen=True, slots=True)
class Detached:
    view: TargetView


@dataclass(frozen=True, slots=True)
class Unwanted:
    """It shows something that is not for us, and is to be let go."""

    view: TargetView


@dataclass(frozen=True, slots=True)
class Wanted:
    """It was let go, and shows something else now."""

    target_id: str


Change = Attached | Changed | Detached | Unwanted | Wanted


class TargetTable:
    """Every page target of one browser, by session and by target id."""

    def __init__(self) -> None:
        self._by_session: dict[SessionId, TargetView] = {}
        self._left: set[str] = set()
        """Ids of the pages that were let go."""

    def find(self, target_id: str) -> TargetView | None:
        return next((view for view in self._by_session.values() if view.target_id == target_id), None)

    def apply(self, event: Event) -> Change | None:
        """Take in one event of the browser's own session, and say what it changed."""
        match event:
            case target.AttachedToTarget() if event.target_info.type_ in OURS:
                info = event.target_info
                session_id = SessionId(event.session_id)
                view = TargetView(info.target_id, session_id, info.url, info.title, event.waiting_for_debugger)
                if info.url.startswith(LEFT_ALONE):
                    return self._leave(view)
                self._by_session[session_id] = view
                return Attached(view)
            case target.TargetInfoChanged():
                return self.refresh(event.target_info)
            case target.DetachedFromTarget():
                view = self._by_session.pop(SessionId(event.session_id), None)
                return None if view is None else Detached(view)
            case target.TargetDestroyed():
                self._left.discard(event.target_id)
                return None
            case _:
                return None

    def refresh(self, info: target.TargetInfo) -> Change | None:
        """Take over what the browser says of one target."""
        old = self.find(info.target_id)
        is_left_alone = info.url.startswith(LEFT_ALONE)
        if old is None:
            if is_left_alone or info.target_id not in self._left:
                return None
            self._left.discard(info.target_id)
            return Wanted(info.target_id)
        if is_left_alone:
            del self._by_session[old.session_id]
            return self._leave(old)
        if (old.url, old.title) == (info.url, info.title):
            return None
        view = replace(old, url=info.url, title=info.title)
        self._by_session[old.session_id] = view
        return Changed(view)

    def _leave(self, view: TargetView) -> Change:
        self._left.add(view.target_id)
        return Unwanted(view)
