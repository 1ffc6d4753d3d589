"""Frame → realm, from CDP events. No I/O.

A realm is the main-world global of one document. Its key is Chromium's `uniqueContextId` plus a generation of our
own: a document that comes back from the back/forward cache has its old id, and is still a new realm to us.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NewType
from urllib.parse import urldefrag

from bridge.wire.commands import ContextCreated, ContextDestroyed, Event, inspector, page, runtime
from bridge.wire.router import SessionId

FrameId = NewType("FrameId", str)


@dataclass(frozen=True, slots=True)
class Realm:
    """One document's main world.

    Attributes:
        origin: the realm's own; `://` is opaque and equals nothing. A file is an origin of its own, by its path.
        session_id: the session on which its frame's process speaks.
    """

    unique_context_id: str
    generation: int
    origin: str
    frame: FrameId
    session_id: SessionId

    @property
    def is_opaque(self) -> bool:
        return self.origin == "://"

    @property
    def scheme(self) -> str:
        return self.origin.partition(":")[0]


@dataclass(frozen=True, slots=True)
class RealmBegan:
    realm: Realm


@dataclass(frozen=True, slots=True)
class RealmLeft:
    """The document is not shown any more: it ended, or went into the back/forward cache."""

    realm: Realm


Change = RealmBegan | RealmLeft


class FrameTable:
    """The realms of one page, over all its sessions. `moves` counts the main frame's navigations."""

    def __init__(self, session_id: SessionId, main_frame: FrameId, url: str) -> None:
        self._session_id = session_id
        self.main_frame = main_frame
        self.moves = 0
        self._urls = {main_frame: url}
        self._generation = 0
        self._realms: dict[FrameId, Realm] = {}

    @property
    def url(self) -> str:
        return self._urls.get(self.main_frame, "")

    @property
    def main_realm(self) -> Realm | None:
        """The realm of the main frame, or None between two documents."""
        return self._realms.get(self.main_frame)

    def url_of(self, frame: FrameId) -> str:
        return self._urls.get(frame, "")

    def apply(self, event: Event, session_id: SessionId) -> list[Change]:
        """Take in one event, and say which realms it ended and began."""
        match event:
            case ContextCreated(is_default=True):
                return self._begin(event, session_id)
            case ContextDestroyed():
                return self._leave(lambda realm: realm.unique_context_id == event.unique_id)
            case runtime.ExecutionContextsCleared() | inspector.TargetCrashed():
                return self.end_session(session_id)
            case page.FrameDetached():
                gone = FrameId(event.frame_id)
                return self._leave(lambda realm: realm.frame == gone and realm.session_id == session_id)
            case page.FrameNavigated():
                frame = FrameId(event.frame.id_)
                if event.frame.parent_id is None and session_id == self._session_id:
                    self.main_frame = frame
                self._go(frame, event.frame.url + (event.frame.url_fragment or ""))
            case page.NavigatedWithinDocument():
                self._go(FrameId(event.frame_id), event.url)
            case _:
                pass
        return []

    def end_session(self, session_id: SessionId) -> list[Change]:
        """No document of that session is shown any more."""
        return self._leave(lambda realm: realm.session_id == session_id)

    def clear(self) -> list[Change]:
        """No document of the page is shown any more."""
        return self._leave(lambda _: True)

    def _begin(self, event: ContextCreated, session_id: SessionId) -> list[Change]:
        frame = FrameId(event.frame_id)
        changes = self._leave(lambda realm: realm.frame == frame)
        self._generation += 1
        # All files have the same origin in Chromium; a path is what a person means by one.
        origin = urldefrag(self.url_of(frame)).url if event.origin.startswith("file:") else event.origin
        realm = Realm(event.unique_id, self._generation, origin, frame, session_id)
        self._realms[frame] = realm
        return [*changes, RealmBegan(realm)]

    def _leave(self, leaves: Callable[[Realm], bool]) -> list[Change]:
        left = [realm for realm in self._realms.values() if leaves(realm)]
        for realm in left:
            del self._realms[realm.frame]
        return [RealmLeft(realm) for realm in left]

    def _go(self, frame: FrameId, url: str) -> None:
        self._urls[frame] = url
        self.moves += frame == self.main_frame
