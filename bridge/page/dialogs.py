"""Dialogs of a page: alert, confirm, prompt and beforeunload. While one is open, no script of the page runs."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from bridge import limits
from bridge.errors import DialogOpen
from bridge.settings import DialogPolicy


@dataclass(frozen=True)
class Dialog:
    """One dialog.

    Attributes:
        kind: `alert`, `confirm`, `prompt` or `beforeunload`.
        message: the page's words; Chromium gives none for `beforeunload`.
        url: of the document that opened it.
        default_text: what a prompt suggests.
    """

    kind: str
    message: str
    url: str
    default_text: str = ""

    def error(self, page: str, *, dispatched: bool) -> DialogOpen:
        """What who waits for the page is told, who may have sent a tool there."""
        return DialogOpen(page, self.kind, self.message, dispatched=dispatched)

    def told(self) -> dict[str, Any]:
        """As an agent reads it."""
        told = {"type": self.kind, "message": self.message, "url": self.url}
        suggested = self.default_text[: limits.DIALOG_CHARS]
        return told | {"default_text": suggested} if self.kind == "prompt" else told


class Cause(Enum):
    """Why a page shows a dialog, as far as we had a part in it."""

    CALL = "a tool that we run"
    NAVIGATION = "a navigation that we were asked for"
    NONE = "nothing of ours"


class Reply(Enum):
    """What becomes of a dialog."""

    ACCEPT = "accepted"
    DISMISS = "dismissed"
    LEAVE = "left open"


def decide(dialog: Dialog, cause: Cause, policy: DialogPolicy, *, ours: bool) -> Reply:
    """What to do about a dialog at once.

    Args:
        ours: we launched the browser. In another one, a person sees the dialogs that we did not cause.
    """
    if cause is Cause.NONE and not ours:
        return Reply.LEAVE
    if dialog.kind == "alert" or (dialog.kind == "beforeunload" and cause is Cause.NAVIGATION):
        return Reply.ACCEPT
    match policy:
        case "ask":
            return Reply.LEAVE
        case "accept":
            return Reply.ACCEPT
        case "dismiss":
            return Reply.DISMISS
