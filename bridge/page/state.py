"""One attached page as Chromium's events tell of it: what it is, and which documents it shows."""

import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Final, NewType, Protocol

import trio

from bridge import limits
from bridge.browser.targets import TargetView
from bridge.errors import BridgeError, CommandFailed, PageAsleep, PageCrashed, PageGone, PageUnreadable
from bridge.page.dialogs import Cause, Dialog, Reply, decide
from bridge.page.discovery import Discovery, is_wanted, why_undiscoverable
from bridge.page.document import Document
from bridge.page.frames import Change, FrameId, FrameTable, Realm, RealmBegan, RealmLeft, clip_url
from bridge.page.kit import FRAME_GONE
from bridge.page.lifecycle import NEXT, Signal, Stage
from bridge.page.place import Place
from bridge.settings import Inspected, PageSettings
from bridge.wire.commands import (
    DialogClosed,
    DialogOpening,
    DocumentOpened,
    Event,
    FrameDetached,
    FrameNavigated,
    Lifecycle,
    inspector,
    page,
    runtime,
    target,
)
from bridge.wire.connection import Session
from bridge.wire.router import SessionId

if TYPE_CHECKING:
    from bridge.page.watch import Watch

Errand = Callable[[], Awaitable[None]]
"""Something that goes on in the page by itself."""

WORKERS: Final = ("worker", "worklet", "auction_worklet", "shared_storage_worklet")
"""Types of the targets that threads of a page are."""

PageHandle = NewType("PageHandle", str)
"""`p1`, `p2`, …: minted here, never used again in a process's life."""


class PageObserver(Protocol):
    """Who wants to know what a page offers. Called between two checkpoints; must neither block nor raise."""

    async def prepare(self, discovery: Discovery) -> None:
        """What takes long about an answer, before it counts. This one may block; others' turns come in between."""
        ...

    def discovered(self, page: "PageState", document: Document, discovery: Discovery) -> None: ...

    def withdrawn(self, page: "PageState", document: Document) -> None:
        """Nothing that the document offered is there: it ended, was emptied, or does not answer."""
        ...


class PageState:
    """One tab. Its state changes in `_on_event`, synchronously and in the order of Chromium's events."""

    def __init__(
        self,
        handle: PageHandle,
        session: Session,
        view: TargetView,
        observer: PageObserver,
        settings: PageSettings,
        *,
        ours: bool,
    ) -> None:
        """Args:
        ours: it is a page of a browser that we launched.
        """
        self.handle = handle
        self.target_id = view.target_id
        self.title = view.title
        self.stage = Stage.ATTACHING
        self.dialog: Dialog | None = None
        """The one that is open, and waits for an answer."""
        self._why_unread = ""
        self._dialog_session = session
        self._ours = ours
        self._moved_by_us = False
        self._loads = False
        self._is_shown = False
        self._answered: deque[dict[str, Any]] = deque(maxlen=limits.DIALOGS_TOLD)
        self._begun = inf
        """When its set-up began, if it has; `_due` is set then."""
        self._due = trio.Event()
        self._session = session
        self._observer = observer
        self._settings = settings
        self._frames = FrameTable(session.session_id, FrameId(view.target_id), view.url)
        self._frame_handles: dict[FrameId, str] = {}
        self._frames_named = 0
        self._documents: dict[FrameId, Document] = {}
        self._early: set[Realm] = set()
        """Those of iframes whose scripts have run before it was known whether they are wanted, or shown."""
        self._kit = f"k_{secrets.token_hex(16)}"
        self.acts = 0
        """How many of our actions go on in it: a dialog that comes meanwhile is theirs."""
        self.inputs = 0
        """How many input events were sent to it."""
        self.watch = _open_watch(settings.inspected) if settings.inspected else None
        self._changed = trio.Event()
        self._arrivals, self._arrived = trio.open_memory_channel[Document | Session | Realm | Errand](inf)
        self._listen(session)

    # What it is

    @property
    def url(self) -> str:
        return self._frames.url

    @property
    def realm(self) -> Realm | None:
        """The realm of the document that the page shows; None between two documents."""
        return self._frames.main_realm

    @property
    def document(self) -> Document | None:
        """The document that the page shows, without those of its iframes; None between two documents."""
        return self._documents.get(self._frames.main_frame)

    @property
    def realms(self) -> list[Realm]:
        """Those of everything that the page shows, its own first."""
        return sorted(self._frames, key=lambda realm: realm.frame != self._frames.main_frame)

    @property
    def session(self) -> Session:
        """The one on which its main frame speaks."""
        return self._session

    def session_of(self, realm: Realm) -> Session:
        """The one on which a realm's frame speaks."""
        return Session(self._session.connection, realm.session_id)

    def holder_of(self, session: Session) -> tuple[Session, FrameId] | None:
        """The session of the process around the one that another session speaks with, and the frame in which that is
        shown there; None for the page's own session.

        Raises:
            CommandFailed: that session is of the past.
        """
        if session.session_id == self._session.session_id:
            return None
        holder = self._frames.holder_of(session.session_id)
        if holder is None:
            raise CommandFailed("session", FRAME_GONE)
        return Session(session.connection, holder[0]), holder[1]

    def kit_of(self, realm: Realm) -> str:
        """The secret name of the kit in a realm."""
        document = self._documents.get(realm.frame)
        return document.kit if document is not None and document.realm == realm else self._kit

    @property
    def place(self) -> Place:
        """Where it is, to be compared with later."""
        has_document = self.realm is not None and not self._frames.is_new
        return Place(self.url, self._frames.moves, self._frames.documents, has_document)

    @property
    def step(self) -> object:
        """Equal for as long as the page makes no step of a navigation, is not closed, and can be heard."""
        return self._frames.moves, self.realm, self.stage, self._session.connection.lost is None

    @property
    def why_no_tools(self) -> str | None:
        """Why the present document is never asked for tools, or None where it is, or is to be left at once."""
        if self.realm is not None and self._frames.shows_error:
            return "the browser could not open the address, and shows a page of its own that says so"
        if self._frames.is_new:
            return "nothing has come from its address yet" if self._has_loaded() else None
        return None if self.realm is None else why_undiscoverable(self.realm, self._settings)

    @property
    def state(self) -> str:
        """Where it is, in the word that an agent reads."""
        if self.document is not None and self.document.is_stuck:
            return "stuck"
        if self._is_silent(limits.SET_UP_SECONDS):
            return "unresponsive"
        return self.stage.value

    def refresh(self, view: TargetView) -> None:
        """Take over what the browser says of the target."""
        self.title = view.title
        self._frames.hear(view.url)

    def why_gone(self) -> BridgeError | None:
        """The error for a page that can't be asked anything now, or None."""
        if (lost := self._session.connection.lost) is not None:
            return lost
        match self.stage:
            case Stage.GONE:
                return PageGone(f"Page {self.handle} was closed. Use list_pages to see what is open.")
            case Stage.ASLEEP:
                return PageAsleep(self.handle)
            case Stage.CRASHED:
                return PageCrashed(f"Page {self.handle} crashed ({self.url}). Reload it, or open a new one.")
            case _:
                return PageUnreadable(self.handle, self._why_unread) if self._why_unread else None

    @property
    def is_asleep(self) -> bool:
        """Nothing in it has ever answered, whether there is nobody who could or not."""
        return self.stage is Stage.ASLEEP or self._is_silent(limits.PAGE_ANSWER_SECONDS)

    def _is_silent(self, seconds: float) -> bool:
        return self.stage is Stage.ATTACHING and trio.current_time() >= self._begun + seconds

    def begin(self) -> None:
        """It is its turn to be set up, or somebody asks for it. Safe to repeat."""
        if not self._due.is_set():
            self._begun = trio.current_time()
            self._due.set()

    # What happens to it

    def _listen(self, session: Session) -> None:
        session.connection.listen(session.session_id, partial(self._on_event, session))

    def _on_event(self, session: Session, event: Event) -> None:
        match event:
            case page.FrameStartedLoading() if event.frame_id == self._frames.main_frame:
                self._loads = True
                self._signal(Signal.STARTED_LOADING)
            case page.FrameStoppedLoading():
                if event.frame_id == self._frames.main_frame:
                    self._moved_by_us = self._loads = False
                    self._signal(Signal.STOPPED_LOADING)
                document = self._documents.get(FrameId(event.frame_id))
                is_its_own = document is not None and document.realm.session_id == session.session_id
                if document is not None and is_its_own and not document.is_ready:
                    # It was stopped while it was parsed, of which nothing else tells.
                    document.scripts_have_run()
            case DialogOpening():
                self._open_dialog(session, event)
            case DialogClosed():
                self._close_dialog()
            case inspector.TargetCrashed() if session is self._session:
                self.dialog = None
                self._signal(Signal.CRASHED)
            case Lifecycle(name="DOMContentLoaded" | "load"):
                self._scripts_have_run(FrameId(event.frame_id), session)
            case FrameNavigated(is_restored=True):
                # What comes out of the back/forward cache has loaded long ago: nothing will say so.
                for document in self._documents.values():
                    document.scripts_have_run()
            case DocumentOpened() if event.frame_id in self._documents:
                # Its listeners went with its content; what it offers next is asked for when that has loaded.
                document = self._documents[FrameId(event.frame_id)]
                document.asked = False
                document.forget_answers()
                self._observer.withdrawn(self, document)
            case FrameDetached(is_removed=True):
                self._frame_handles.pop(FrameId(event.frame_id), None)
            case target.AttachedToTarget() if event.target_info.type_ in WORKERS:
                session.connection.send_nowait(runtime.run_if_waiting_for_debugger(), SessionId(event.session_id))
                session.send_nowait(target.detach_from_target(session_id=event.session_id))
            case target.AttachedToTarget():
                self._add_session(SessionId(event.session_id), session, event.target_info.target_id)
            case target.DetachedFromTarget():
                self._end_sessions(self._frames.remove_session(SessionId(event.session_id)))
            case _:
                pass
        self._take(self._frames.apply(event, session.session_id))
        if self.watch is not None:
            self.watch.on_event(event, session.session_id, self._frames.documents)
        self._notify()

    def _scripts_have_run(self, frame: FrameId, session: Session) -> None:
        realm = self._frames.find(frame, session.session_id)
        document = self._documents.get(frame)
        if document is not None and document.realm == realm:
            document.scripts_have_run()
        elif realm is not None:
            self._early.add(realm)

    def _open_dialog(self, session: Session, event: DialogOpening) -> None:
        # A suggestion that is accepted is sent back: it may be no longer than what an agent could answer itself.
        suggested = event.default_text[: limits.ARGUMENT_BYTES]
        dialog = Dialog(event.kind, event.message[: limits.DIALOG_CHARS], clip_url(event.url), suggested)
        cause = Cause.NONE
        if dialog.kind == "beforeunload" and self._moved_by_us:
            cause = Cause.NAVIGATION
        elif self.acts or any(document.runs for document in self._documents.values()):
            cause = Cause.CALL
        elif self._moved_by_us:
            cause = Cause.NAVIGATION
        reply = decide(dialog, cause, self._settings.dialogs, ours=self._ours)
        if dialog.kind != "beforeunload" and any(document.is_forced for document in self._documents.values()):
            reply = Reply.DISMISS
        if reply is Reply.LEAVE:
            self.dialog = dialog
            self._dialog_session = session
            for document in self._documents.values():
                document.show_dialog(dialog)
            return
        self._answered.append(dialog.told() | {"answer": reply.value})
        text = dialog.default_text if dialog.kind == "prompt" else None
        session.send_nowait(page.handle_java_script_dialog(accept=reply is Reply.ACCEPT, prompt_text=text))

    def _close_dialog(self) -> None:
        self.dialog = None
        for document in self._documents.values():
            document.close_dialog()

    def take_answered_dialogs(self) -> list[dict[str, Any]]:
        """Those that were answered without an agent since this was asked last: `{type, message, url, answer}`."""
        told = list(self._answered)
        self._answered.clear()
        return told

    def _add_session(self, session_id: SessionId, parent: Session, frame: str) -> None:
        session = Session(parent.connection, session_id)
        self._frames.add_session(session_id, parent.session_id, frame)
        self._listen(session)
        self._arrivals.send_nowait(session)

    def _end_sessions(self, session_ids: Iterable[SessionId]) -> None:
        for session_id in session_ids:
            self._take(self._frames.end_session(session_id))
            self._session.connection.end_session(session_id, lambda: CommandFailed("session", FRAME_GONE))

    def _take(self, changes: list[Change]) -> None:
        for change in changes:
            match change:
                case RealmBegan(realm):
                    self._begin(realm)
                case RealmLeft(realm):
                    self._leave(realm)

    def _begin(self, realm: Realm) -> None:
        if realm.frame == self._frames.main_frame:
            self._show(realm, "")
            # Iframes may speak before their page does, so only now it is known which of them have its origin.
            candidates = [other for other in self._frames if other.frame not in self._documents]
        else:
            candidates = [realm]
            if self.realm is None and realm.session_id == self._session.session_id:
                self._arrivals.send_nowait(realm)
        for candidate in candidates:
            if is_wanted(candidate, self.realm, self._settings):
                self._show(candidate, self._handle_of(candidate.frame))

    def _show(self, realm: Realm, frame: str) -> None:
        session = Session(self._session.connection, realm.session_id)
        document = Document(session, realm, page=self.handle, frame=frame, kit=self._kit)
        self._documents[realm.frame] = document
        if self.dialog is not None:
            document.show_dialog(self.dialog)
        if realm in self._early:
            document.scripts_have_run()
        if why_undiscoverable(realm, self._settings) is None:
            self._arrivals.send_nowait(document)

    def _leave(self, realm: Realm) -> None:
        self._early.discard(realm)
        document = self._documents.get(realm.frame)
        if document is not None and document.realm == realm:
            del self._documents[realm.frame]
            document.end(self.why_gone())
            self._observer.withdrawn(self, document)
            if not document.frame:
                self._frame_handles.clear()

    def _handle_of(self, frame: FrameId) -> str:
        handle = self._frame_handles.get(frame)
        if handle is None:
            self._frames_named += 1
            handle = self._frame_handles[frame] = f"f{self._frames_named}"
        return handle

    def closed(self) -> None:
        """The target is gone."""
        self._signal(Signal.CLOSED)
        self._due.set()
        self._end_sessions(self._frames.remove_session(self._session.session_id)[1:])
        self._take(self._frames.clear())
        self._arrivals.close()
        self._notify()

    def give_up(self, why: BridgeError) -> None:
        """Nobody looks after it any more: what it shows can't be told, unless it is gone anyhow."""
        self._why_unread = str(why)
        self._notify()

    def link_lost(self) -> None:
        """Nothing will be heard of it any more: whoever waits for it leaves."""
        for document in self._documents.values():
            document.end(self.why_gone())
        self._notify()

    def _signal(self, signal: Signal) -> None:
        self.stage = NEXT[self.stage, signal]

    def _notify(self) -> None:
        """Wake whoever waits in `wait_changed`."""
        self._changed.set()
        self._changed = trio.Event()

    # What others wait for

    async def wait_changed(self, is_so: Callable[[], bool]) -> None:
        """Block until `is_so()`; looked at after each event.

        Raises:
            PageGone: closed or crashed meanwhile.
            ConnectionLost: the link ended meanwhile.
        """
        while not is_so():
            gone = self.why_gone()
            if gone is not None:
                raise gone
            await self._changed.wait()

    async def wait_attached(self) -> None:
        """Block until the shim is installed: what is sent earlier could be lost from sight."""
        await self.wait_changed(lambda: self.stage is not Stage.ATTACHING)

    async def wait_awake(self) -> None:
        """As `wait_attached`, but a page that sleeps is not waited for; one that is asked for has its turn now, or
        another chance of `limits.SET_UP_SECONDS`.

        Raises:
            PageAsleep: it sleeps.
            PageGone: closed or crashed meanwhile.
        """
        if self.stage is not Stage.ATTACHING:
            return
        self.begin()
        again = trio.current_time() + limits.SET_UP_SECONDS
        with trio.move_on_at(max(again, self._begun + limits.PAGE_ANSWER_SECONDS)):
            await self.wait_attached()
            return
        raise PageAsleep(self.handle)

    async def wait_asked(self) -> None:
        """Block until a page that has loaded was asked for its tools, whether it answered or not."""
        await self.wait_changed(
            lambda: (
                self.stage is not Stage.LIVE
                or self.document is None
                or self.document.asked
                or self.why_no_tools is not None
            )
        )

    async def wait_frames_asked(self) -> None:
        """Give all documents that the page shows `limits.PAGE_ANSWER_SECONDS` to be asked for their tools."""
        with trio.move_on_after(limits.PAGE_ANSWER_SECONDS), suppress(BridgeError):
            await self.wait_changed(
                lambda: all(
                    document.asked or (document is self.document and self.why_no_tools is not None)
                    for document in self._documents.values()
                )
            )

    async def wait_loaded(self) -> None:
        """Block until the page shows a document and does not load any more, or a dialog holds it up.

        A document is given `limits.LOAD_SECONDS` for that, once: one that takes longer is as good as it is.

        Raises:
            PageAsleep: it sleeps.
            PageGone: closed or crashed meanwhile.
        """
        await self.wait_awake()
        with trio.move_on_after(limits.LOAD_SECONDS) as scope:
            await self.wait_changed(self._has_loaded)
        if scope.cancelled_caught and self.document is not None:
            self.document.is_slow = True

    def _has_loaded(self) -> bool:
        document = self.document
        return self.dialog is not None or (document is not None and (self.stage is Stage.LIVE or document.is_slow))

    async def wait_realm(self) -> None:
        """Block until the page is not between two documents, or a dialog holds it up.

        Raises:
            PageGone: closed or crashed meanwhile.
        """
        await self.wait_changed(lambda: self.realm is not None or self.dialog is not None)

    async def wait_step(self, step: object) -> None:
        """Block until the page is not at this `step` any more; the last one is that it is closed."""
        while self.step == step:
            await self._changed.wait()


def _open_watch(inspected: frozenset[Inspected]) -> "Watch":
    # What most bridges do without.
    from bridge.page.watch import Watch

    return Watch(inspected)
