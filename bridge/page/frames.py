"""Frame → realm, from CDP events. No I/O.

A realm is the main-world global of one document. Its key is Chromium's `uniqueContextId` plus a generation of our
own: a document that comes back from the back/forward cache has its old id, and is still a new realm to us.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NewType
from urllib.parse import urldefrag

from bridge import limits
from bridge.origins import OPAQUE
from bridge.wire.commands import (
    ContextCreated,
    ContextDestroyed,
    DocumentOpened,
    Event,
    FrameDetached,
    FrameNavigated,
    inspector,
    page,
    runtime,
)
from bridge.wire.router import SessionId

FrameId = NewType("FrameId", str)


@dataclass(frozen=True, slots=True)
class Realm:
    """One document's main world.

    Attributes:
        origin: the realm's own; `OPAQUE` equals nothing. A file is an origin of its own, by its path.
        session_id: the session on which its frame's process speaks.
    """

    unique_context_id: str
    generation: int
    origin: str
    frame: FrameId
    session_id: SessionId

    @property
    def is_opaque(self) -> bool:
        return self.origin == OPAQUE

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


def clip_url(url: str) -> str:
    """As much of an address as is kept and shown; a page can give itself one of many megabytes."""
    return url if len(url) <= limits.URL_CHARS else url[: limits.URL_CHARS] + "…"


class FrameTable:
    """The realms of one page, over all its sessions.

    Attributes:
        moves: counts the main frame's navigations, also those within one document.
        documents: counts those that brought another document.
        shows_error: the browser could not go to `url`, and shows a page of its own that says so.
    """

    def __init__(self, session_id: SessionId, main_frame: FrameId, url: str) -> None:
        self._session_id = session_id
        self.main_frame = main_frame
        self.moves = 0
        self.documents = 0
        self.shows_error = False
        self._urls = {main_frame: clip_url(url)}
        self._shown: str | None = None
        """The address of what the page showed when it was asked, before its first move."""
        self._generation = 0
        self._realms: dict[FrameId, Realm] = {}
        self._held: dict[FrameId, Realm] = {}
        """What the process around a frame tells of it late, when another process has taken it over: it counts once that
        one has let go."""
        self._parents: dict[SessionId, SessionId] = {}
        self._roots: dict[SessionId, FrameId] = {}

    def __iter__(self) -> Iterator[Realm]:
        return iter(list(self._realms.values()))

    @property
    def url(self) -> str:
        return self._urls.get(self.main_frame, "")

    @property
    def is_new(self) -> bool:
        """Nothing has come from its address yet: it shows the empty document that each window begins with."""
        return self._shown == "" and not self.moves

    def find(self, frame: FrameId, session_id: SessionId) -> Realm | None:
        """What a frame shows, as that session has it."""
        told = (self._realms.get(frame), self._held.get(frame))
        return next((realm for realm in told if realm is not None and realm.session_id == session_id), None)

    @property
    def main_realm(self) -> Realm | None:
        """The realm of the main frame, or None between two documents."""
        return self._realms.get(self.main_frame)

    def apply(self, event: Event, session_id: SessionId) -> list[Change]:
        """Take in one event, and say which realms it ended and began."""
        match event:
            case ContextCreated(is_default=True):
                return self._begin(event, session_id)
            case ContextDestroyed():
                return self._leave(lambda realm: realm.unique_context_id == event.unique_id)
            case runtime.ExecutionContextsCleared() | inspector.TargetCrashed():
                return self.end_session(session_id)
            case FrameDetached():
                return self._detach(event, session_id)
            case FrameNavigated():
                return self._navigate(event, session_id)
            case page.NavigatedWithinDocument():
                self._go(FrameId(event.frame_id), event.url)
            case DocumentOpened() if event.frame_id == self.main_frame:
                self._shown = None  # what was written there is what it shows
            case _:
                pass
        return []

    def adopt(self, main_frame: FrameId, url: str) -> list[Change]:
        """The page's main frame is another than we thought: what it shows begins anew, as the page's own."""
        self.main_frame = main_frame
        self.documents += 1
        self._go(main_frame, url)
        realm = self.main_realm
        return [] if realm is None else [RealmLeft(realm), RealmBegan(realm)]

    def hear(self, url: str) -> None:
        """The browser names another address, which may be where the page is about to go: it is news as long as the
        page itself has told of none."""
        if url and not self.moves and not self._shown:
            self._urls[self.main_frame] = clip_url(url)

    def learn(self, shown: FrameNavigated) -> None:
        """The page was asked what it shows, which nobody knew so far if it has not moved since: it may have got there
        before its events came, and be on its way from there."""
        if self.moves or shown.frame_id != self.main_frame:
            return
        self._shown = shown.url
        if shown.url:
            self.shows_error = shown.is_error
            self._urls[self.main_frame] = clip_url(shown.url)

    def add_session(self, session_id: SessionId, parent: SessionId, root: str = "") -> None:
        """Another process shows a part of the page, from the frame `root` on; `parent` is the session that told of
        it."""
        self._parents[session_id] = parent
        self._roots[session_id] = FrameId(root)

    def holder_of(self, session_id: SessionId) -> tuple[SessionId, FrameId] | None:
        """The session that holds what another one shows, and the frame that this is; None for the page's own."""
        parent = self._parents.get(session_id)
        return None if parent is None else (parent, self._roots[session_id])

    def remove_session(self, session_id: SessionId) -> list[SessionId]:
        """A session ended, and with it those that it told of: Chromium says nothing about them. Returns them all."""
        ended = [session_id]
        for session in ended:
            self._parents.pop(session, None)
            self._roots.pop(session, None)
            ended += [child for child, parent in self._parents.items() if parent == session]
        return ended

    def end_session(self, session_id: SessionId) -> list[Change]:
        """No document of that session is shown any more."""
        return self._leave(lambda realm: realm.session_id == session_id)

    def clear(self) -> list[Change]:
        """No document of the page is shown any more."""
        return self._leave(lambda _: True)

    def _begin(self, event: ContextCreated, session_id: SessionId) -> list[Change]:
        frame = FrameId(event.frame_id)
        self._generation += 1
        origin = OPAQUE if event.origin == "://" else event.origin
        if origin.startswith("file:"):
            # All files have the same origin in Chromium; a path is what a person means by one.
            url = urldefrag(self._urls.get(frame, "")).url
            origin = url if url.startswith("file:") else "file:"
        realm = Realm(event.unique_id, self._generation, origin, frame, session_id)
        shown = self._realms.get(frame)
        if shown is not None and self._is_root(shown) and not self._is_root(realm):
            self._held[frame] = realm
            return []
        changes = self._leave(lambda other: other.frame == frame)
        self._realms[frame] = realm
        return [*changes, RealmBegan(realm)]

    def _is_root(self, realm: Realm) -> bool:
        """Its process shows nothing around it."""
        return self._roots.get(realm.session_id) == realm.frame

    def _leave(self, leaves: Callable[[Realm], bool]) -> list[Change]:
        left = [realm for realm in (*self._realms.values(), *self._held.values()) if leaves(realm)]
        changes: list[Change] = [RealmLeft(realm) for realm in left]
        for realm in left:
            for told in (self._realms, self._held):
                if told.get(realm.frame) is realm:
                    del told[realm.frame]
        for frame in [*self._held]:
            if frame not in self._realms and frame not in self._roots.values():
                self._realms[frame] = self._held.pop(frame)
                changes.append(RealmBegan(self._realms[frame]))
        return changes

    def _detach(self, event: FrameDetached, session_id: SessionId) -> list[Change]:
        gone = FrameId(event.frame_id)
        if event.is_removed and gone != self.main_frame:
            self._urls.pop(gone, None)
        return self._leave(lambda realm: realm.frame == gone and realm.session_id == session_id)

    def _navigate(self, event: FrameNavigated, session_id: SessionId) -> list[Change]:
        frame = FrameId(event.frame_id)
        if event.is_main and session_id == self._session_id:
            # Those of its frames before. Only a file's is ever looked at, and the cache holds no files.
            self._urls.clear()
            self.main_frame = frame
            self.documents += 1
            self.shows_error = event.is_error
        self._go(frame, event.url)
        realm = self._realms.get(frame)
        if realm is None or event.is_restored:
            return []
        changes = self._leave(lambda other: other is realm)
        if realm.session_id != session_id:
            return changes
        # The window of the empty document that a popup begins with goes on with the next one, if that has its origin.
        self._generation += 1
        self._realms[frame] = replace(realm, generation=self._generation)
        return [*changes, RealmBegan(self._realms[frame])]

    def _go(self, frame: FrameId, url: str) -> None:
        self._urls[frame] = clip_url(url)
        self.moves += frame == self.main_frame
