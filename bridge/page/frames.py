"""Frame → realm, from CDP events. No I/O.

A realm is the main-world global of one document. Its key is Chromium's `uniqueContextId` plus a generation of our
own: a document that comes back from the back/forward cache has its old id, and is still a new realm to us.
"""

from dataclasses import dataclass
from typing import NewType

from bridge.wire.commands import ContextCreated, ContextDestroyed, Event, inspector, page, runtime

FrameId = NewType("FrameId", str)


@dataclass(frozen=True, slots=True)
class Realm:
    """One document's main world. `origin` is the realm's own; `://` is opaque and equals nothing."""

    unique_context_id: str
    generation: int
    origin: str
    frame: FrameId

    @property
    def is_opaque(self) -> bool:
        return self.origin == "://"

    @property
    def scheme(self) -> str:
        return self.origin.partition(":")[0]


class FrameTable:
    """The realms of one session, and where its main frame is. `moves` counts the main frame's navigations."""

    def __init__(self, main_frame: FrameId, url: str) -> None:
        self.main_frame = main_frame
        self.url = url
        self.moves = 0
        self._generation = 0
        self._realms: dict[FrameId, Realm] = {}

    @property
    def main_realm(self) -> Realm | None:
        """The realm of the main frame, or None between two documents."""
        return self._realms.get(self.main_frame)

    def apply(self, event: Event) -> bool:
        """Take in one event; True where the main frame's realm is another one now, or none."""
        before = self.main_realm
        match event:
            case ContextCreated(is_default=True):
                self._generation += 1
                frame = FrameId(event.frame_id)
                self._realms[frame] = Realm(event.unique_id, self._generation, event.origin, frame)
            case ContextDestroyed():
                self._forget(event.unique_id)
            case runtime.ExecutionContextsCleared() | inspector.TargetCrashed():
                self.clear()
            case page.FrameDetached():
                self._realms.pop(FrameId(event.frame_id), None)
            case page.FrameNavigated() if event.frame.parent_id is None:
                self.main_frame = FrameId(event.frame.id_)
                self.url = event.frame.url + (event.frame.url_fragment or "")
                self.moves += 1
            case page.NavigatedWithinDocument() if event.frame_id == self.main_frame:
                self.url = event.url
                self.moves += 1
            case _:
                pass
        return self.main_realm is not before

    def clear(self) -> None:
        """No document of the page is there any more."""
        self._realms.clear()

    def _forget(self, unique_context_id: str) -> None:
        self._realms = {
            frame: realm for frame, realm in self._realms.items() if realm.unique_context_id != unique_context_id
        }
