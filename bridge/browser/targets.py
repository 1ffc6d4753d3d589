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

    @property
    def is_left_alone(self) -> bool:
        return self.url.startswith(LEFT_ALONE)


@dataclass(frozen=True, slots=True)
class Attached:
    view: TargetView


@dataclass(frozen=True, slots=True)
class Changed:
    view: TargetView


@dataclass(frozen=True, slots=True)
class Detached:
    view: TargetView


Change = Attached | Changed | Detached


class TargetTable:
    """Every page target of one browser, by session and by target id."""

    def __init__(self) -> None:
        self._by_session: dict[SessionId, TargetView] = {}

    def find(self, target_id: str) -> TargetView | None:
        return next((view for view in self._by_session.values() if view.target_id == target_id), None)

    def apply(self, event: Event) -> Change | None:
        """Take in one event of the browser's own session, and say what it changed."""
        match event:
            case target.AttachedToTarget() if event.target_info.type_ in OURS:
                info = event.target_info
                session_id = SessionId(event.session_id)
                view = TargetView(info.target_id, session_id, info.url, info.title, event.waiting_for_debugger)
                self._by_session[session_id] = view
                return Attached(view)
            case target.TargetInfoChanged():
                return self.refresh(event.target_info)
            case target.DetachedFromTarget():
                view = self._by_session.pop(SessionId(event.session_id), None)
                return None if view is None else Detached(view)
            case _:
                return None

    def refresh(self, info: target.TargetInfo) -> Change | None:
        """Take over what the browser says of one target."""
        old = self.find(info.target_id)
        if old is None or (old.url, old.title) == (info.url, info.title):
            return None
        view = replace(old, url=info.url, title=info.title)
        self._by_session[old.session_id] = view
        return Changed(view)
