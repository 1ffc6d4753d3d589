"""What is watched in a page: its console, its network, and drags of ours."""

from bridge.page.console import Console
from bridge.page.network import Network
from bridge.settings import Inspected
from bridge.wire.commands import Event, Readers, ask
from bridge.wire.connection import Session
from bridge.wire.router import Json, SessionId
from bridge.wire.watched import (
    CONSOLE_EVENTS,
    INPUT_EVENTS,
    NETWORK_EVENTS,
    DragIntercepted,
    FileChooserOpened,
    WindowOpen,
)


def readers_of(inspected: frozenset[Inspected]) -> Readers:
    """The events that have to be read for that."""
    readers: dict[Inspected, Readers] = {
        "console": CONSOLE_EVENTS,
        "network": NETWORK_EVENTS,
        "input": INPUT_EVENTS,
    }
    return {method: reader for what in inspected for method, reader in readers.get(what, {}).items()}


class Watch:
    """A page's console and network, where they are watched.

    Attributes:
        drag: the data of the last drag that began, and that we carry on.
        chooser: the last input that asked for files, and the session on which it did.
        windows: how many pages this one was about to open.
    """

    def __init__(self, inspected: frozenset[Inspected]) -> None:
        self.console = Console() if "console" in inspected else None
        self.network = Network() if "network" in inspected else None
        self.drag: Json | None = None
        self.chooser: tuple[SessionId, FileChooserOpened] | None = None
        self.windows = 0
        self._emulated: dict[str, Json] = {}
        """Commands that every session of the page gets: parameters by method."""

    def begin(self, session: Session) -> None:
        """Watch one more of the page's sessions."""
        if self.console is not None:
            session.send_nowait(ask("Log.enable"))
        if self.network is not None:
            # What it buffers of bodies is for who asks for one later.
            session.send_nowait(
                ask("Network.enable", maxTotalBufferSize=10_000_000, maxResourceBufferSize=2_000_000, maxPostDataSize=0)
            )
        for method, params in self._emulated.items():
            session.send_nowait(ask(method, **params))

    def emulate(self, method: str, params: Json | None) -> None:
        """Have sessions that are to come get this command, too; None takes it back."""
        if params is None:
            self._emulated.pop(method, None)
        else:
            self._emulated[method] = params

    def on_event(self, event: Event, session_id: SessionId, documents: int) -> None:
        """Take in one event; `documents` counts those that the page has shown."""
        match event:
            case DragIntercepted():
                self.drag = event.data
            case FileChooserOpened():
                self.chooser = session_id, event
            case WindowOpen():
                self.windows += 1
            case _:
                pass
        if self.console is not None:
            self.console.on_event(event, documents)
        if self.network is not None:
            self.network.on_event(event, session_id, documents)
