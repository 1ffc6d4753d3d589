"""The stages of a page, as a table. Every pair has its entry; a test holds that."""

from enum import Enum
from typing import Final


class Stage(Enum):
    """Where a page is; the value is the word that an agent reads."""

    ATTACHING = "attaching"
    LOADING = "loading"
    LIVE = "ready"
    ASLEEP = "asleep"
    """There is no process behind it since before we came: most likely the browser discarded the tab."""
    CRASHED = "crashed"
    GONE = "closed"


class Signal(Enum):
    """What can happen to a page."""

    SHIMS_INSTALLED = "shims installed"
    STARTED_LOADING = "started loading"
    STOPPED_LOADING = "stopped loading"
    CRASHED = "crashed"
    CLOSED = "closed"


NEXT: Final[dict[tuple[Stage, Signal], Stage]] = {
    (Stage.ATTACHING, Signal.SHIMS_INSTALLED): Stage.LIVE,
    (Stage.ATTACHING, Signal.STARTED_LOADING): Stage.ATTACHING,
    (Stage.ATTACHING, Signal.STOPPED_LOADING): Stage.ATTACHING,
    (Stage.LOADING, Signal.SHIMS_INSTALLED): Stage.LOADING,
    (Stage.LOADING, Signal.STARTED_LOADING): Stage.LOADING,
    (Stage.LOADING, Signal.STOPPED_LOADING): Stage.LIVE,
    (Stage.LIVE, Signal.SHIMS_INSTALLED): Stage.LIVE,
    (Stage.LIVE, Signal.STARTED_LOADING): Stage.LOADING,
    (Stage.LIVE, Signal.STOPPED_LOADING): Stage.LIVE,
    # A reload brings a crashed page back.
    (Stage.CRASHED, Signal.SHIMS_INSTALLED): Stage.CRASHED,
    (Stage.CRASHED, Signal.STARTED_LOADING): Stage.LOADING,
    (Stage.CRASHED, Signal.STOPPED_LOADING): Stage.CRASHED,
    # So does loading one that sleeps.
    (Stage.ASLEEP, Signal.SHIMS_INSTALLED): Stage.ASLEEP,
    (Stage.ASLEEP, Signal.STARTED_LOADING): Stage.LOADING,
    (Stage.ASLEEP, Signal.STOPPED_LOADING): Stage.ASLEEP,
    **{(stage, Signal.CRASHED): Stage.CRASHED for stage in Stage},
    **{(stage, Signal.CRASHED): Stage.ASLEEP for stage in (Stage.ATTACHING, Stage.ASLEEP)},
    **{(stage, Signal.CLOSED): Stage.GONE for stage in Stage},
    **{(Stage.GONE, signal): Stage.GONE for signal in Signal},
}
