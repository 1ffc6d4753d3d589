"""Lifecycle, frames and targets: tables that change with events."""

from itertools import product

import pytest

from bridge import limits
from bridge.browser.targets import Attached, Changed, Detached, TargetTable, Unwanted, Wanted
from bridge.page.frames import Change, FrameId, FrameTable, RealmBegan, RealmLeft
from bridge.page.lifecycle import NEXT, Signal, Stage
from bridge.wire.commands import (
    ContextCreated,
    ContextDestroyed,
    Event,
    FrameDetached,
    FrameNavigated,
    inspector,
    parse_event,
    runtime,
)
from bridge.wire.router import Json, RawEvent, SessionId


def test_every_pair_of_stage_and_signal_has_an_entry():
    assert set(NEXT) == set(product(Stage, Signal))


def test_nothing_brings_a_closed_page_back():
    assert {NEXT[Stage.GONE, signal] for signal in Signal} == {Stage.GONE}


def test_a_reload_brings_a_crashed_page_back():
    stage = NEXT[Stage.LIVE, Signal.CRASHED]
    for signal in (Signal.STARTED_LOADING, Signal.STOPPED_LOADING):
        stage = NEXT[stage, signal]
    assert stage is Stage.LIVE


def created(unique_id: str, origin: str = "http://a.test", frame: str = "main", *, default: bool = True) -> Event:
    return ContextCreated(unique_id, origin, frame, default)


class Frames(FrameTable):
    """The frames of a page whose events come on one session, unless said otherwise."""

    def take(self, event: Event, session: str = "S") -> list[Change]:
        return self.apply(event, SessionId(session))


@pytest.fixture
def frames() -> Frames:
    return Frames(SessionId("S"), FrameId("main"), "about:blank")


def test_a_realm_has_the_origin_of_its_context(frames: Frames):
    [began] = frames.take(created("1"))

    assert isinstance(began, RealmBegan)
    assert frames.main_realm == began.realm
    assert (began.realm.origin, began.realm.is_opaque) == ("http://a.test", False)


def test_other_worlds_begin_no_realm(frames: Frames):
    assert frames.take(created("1", default=False)) == []


def test_a_frames_realm_is_not_the_pages(frames: Frames):
    [began] = frames.take(created("2", frame="child"))

    assert isinstance(began, RealmBegan)
    assert began.realm.frame == "child"
    assert frames.main_realm is None


def test_a_document_that_comes_back_with_its_old_id_is_a_new_realm(frames: Frames):
    frames.take(created("1"))
    first = frames.main_realm
    frames.take(runtime.ExecutionContextsCleared())
    assert frames.main_realm is None
    frames.take(created("1"))

    assert frames.main_realm != first


def test_a_context_that_follows_another_without_a_word_ends_it(frames: Frames):
    frames.take(created("1"))
    first = frames.main_realm

    left, began = frames.take(created("2"))

    assert left == RealmLeft(first)  # type: ignore[arg-type]
    assert began == RealmBegan(frames.main_realm)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "event",
    [runtime.ExecutionContextsCleared(), ContextDestroyed("1"), inspector.TargetCrashed()],
)
def test_the_realm_ends_with_its_context(frames: Frames, event: Event):
    frames.take(created("1"))

    [left] = frames.take(event)

    assert isinstance(left, RealmLeft)
    assert frames.main_realm is None


def test_the_end_of_another_context_leaves_the_realm(frames: Frames):
    frames.take(created("1"))
    frames.take(created("2", frame="child"))

    frames.take(ContextDestroyed("2"))
    frames.take(FrameDetached("child", is_removed=True))

    assert frames.main_realm is not None


def test_a_frame_in_another_process_ends_with_its_own_session_alone(frames: Frames):
    frames.take(created("1"))
    frames.take(created("2", frame="child"), "other")

    frames.take(runtime.ExecutionContextsCleared(), "other")

    assert frames.main_realm is not None
    assert frames.end_session(SessionId("other")) == []


def test_a_frame_that_moved_to_another_process_is_not_ended_by_its_old_one(frames: Frames):
    frames.take(created("1", frame="child"))
    frames.take(created("2", frame="child"), "other")

    assert frames.take(FrameDetached("child", is_removed=False)) == []


def test_a_file_is_an_origin_by_its_path(frames: Frames):
    frames.take(read("Page.navigatedWithinDocument", {"frameId": "main", "url": "file:///a/b.html?x#y"}))
    frames.take(created("1", origin="file://"))

    assert frames.main_realm is not None
    assert frames.main_realm.origin == "file:///a/b.html?x"


def test_navigations_of_the_main_frame_are_counted_and_carry_the_address(frames: Frames):
    frame = {
        "id": "main",
        "loaderId": "L",
        "url": "http://a.test/x",
        "urlFragment": "#part",
        "securityOrigin": "http://a.test",
        "mimeType": "text/html",
    }
    frames.take(read("Page.frameNavigated", {"frame": frame}))
    assert (frames.url, frames.moves, frames.documents) == ("http://a.test/x#part", 1, 1)
    frames.take(read("Page.navigatedWithinDocument", {"frameId": "main", "url": "http://a.test/y"}))
    assert (frames.url, frames.moves, frames.documents) == ("http://a.test/y", 2, 1)
    frames.take(read("Page.frameNavigated", {"frame": {**frame, "id": "child", "parentId": "main"}}))
    frames.take(read("Page.navigatedWithinDocument", {"frameId": "child", "url": "http://a.test/z"}))
    assert (frames.url, frames.moves) == ("http://a.test/y", 2)


def test_the_browser_is_believed_about_an_address_until_the_page_tells_of_its_own(frames: Frames):
    frames.hear("http://a.test/before-its-events-came")
    assert (frames.url, frames.moves) == ("http://a.test/before-its-events-came", 0)

    frames.take(read("Page.navigatedWithinDocument", {"frameId": "main", "url": "http://a.test/y"}))
    frames.hear("http://a.test/late")

    assert frames.url == "http://a.test/y"


def shows(url: str, frame: str = "main", *, is_error: bool = False) -> FrameNavigated:
    return FrameNavigated(frame, url, is_main=True, is_error=is_error, is_restored=False)


def test_a_page_is_believed_about_what_it_shows_and_the_browser_no_more(frames: Frames):
    frames.hear("http://b.test/on-its-way-there")
    frames.learn(shows("http://a.test/#part", is_error=True))
    frames.hear("http://b.test/on-its-way-there")

    assert (frames.url, frames.moves, frames.is_new) == ("http://a.test/#part", 0, False)
    assert frames.shows_error


def test_a_window_to_which_nothing_has_come_is_new_and_has_the_address_that_it_waits_for(frames: Frames):
    frames.learn(shows(""))
    frames.hear("http://a.test/on-its-way-there")
    assert (frames.url, frames.is_new) == ("http://a.test/on-its-way-there", True)

    frames.take(read("Page.frameNavigated", {"frame": {"id": "main", "url": "http://a.test/"}}))
    assert (frames.url, frames.is_new) == ("http://a.test/", False)


def test_a_window_is_not_new_once_a_script_has_written_into_it(frames: Frames):
    frames.learn(shows(""))
    frames.take(read("Page.documentOpened", {"frame": {"id": "child", "url": "about:blank"}}))
    assert frames.is_new

    frames.take(read("Page.documentOpened", {"frame": {"id": "main", "url": "http://a.test/opener"}}))
    assert not frames.is_new


def test_what_a_page_showed_before_its_events_is_no_news_after_them(frames: Frames):
    frames.take(read("Page.navigatedWithinDocument", {"frameId": "main", "url": "http://a.test/y"}))

    frames.learn(shows("http://a.test/x"))
    frames.learn(shows(""))

    assert (frames.url, frames.is_new) == ("http://a.test/y", False)


def test_what_is_shown_in_a_frame_that_is_not_the_main_one_says_nothing_of_the_page(frames: Frames):
    frames.learn(shows("http://a.test/x", "prerendered"))

    assert (frames.url, frames.is_new) == ("about:blank", False)


def test_a_file_is_never_taken_for_the_site_that_its_page_is_on_the_way_to(frames: Frames):
    frames.hear("http://a.test/on-its-way-there")
    [began] = frames.take(created("1", "file://"))
    assert isinstance(began, RealmBegan)
    assert began.realm.origin == "file:"


def test_an_address_is_kept_up_to_its_limit_whoever_tells_of_it(frames: Frames):
    longest = "http://a.test/".ljust(limits.URL_CHARS, "x")
    longer = longest + "x"
    kept = [FrameTable(SessionId("S"), FrameId("main"), longer).url]
    frames.hear(longer)
    kept.append(frames.url)
    frames.adopt(FrameId("main"), longer)
    kept.append(frames.url)
    frames.take(read("Page.frameNavigated", {"frame": {"id": "main", "url": longer}}))
    kept.append(frames.url)
    frames.take(read("Page.navigatedWithinDocument", {"frameId": "main", "url": longest}))

    assert frames.url == longest
    assert kept == [longest + "…"] * 4


def test_an_error_page_has_the_address_that_was_asked_for(frames: Frames):
    error = {"id": "main", "url": "chrome-error://chromewebdata/", "unreachableUrl": "http://a.test/x#part"}
    frames.take(read("Page.frameNavigated", {"frame": error}))
    assert (frames.url, frames.shows_error) == ("http://a.test/x#part", True)

    frames.take(read("Page.frameNavigated", {"frame": {"id": "main", "url": "http://a.test/y"}}))

    assert (frames.url, frames.shows_error) == ("http://a.test/y", False)


def test_a_main_frame_of_another_id_begins_its_realm_anew(frames: Frames):
    frames.take(created("1", frame="prerendered"))
    assert frames.main_realm is None

    left, began = frames.adopt(FrameId("prerendered"), "http://a.test/p")

    assert began == RealmBegan(left.realm)
    assert (frames.main_realm, frames.url) == (began.realm, "http://a.test/p")


def test_a_window_that_goes_on_with_the_next_document_is_a_new_realm(frames: Frames):
    frames.take(created("1"))
    first = frames.main_realm

    left, began = frames.take(read("Page.frameNavigated", {"frame": {"id": "main", "url": "http://a.test/"}}))

    assert left == RealmLeft(first)  # type: ignore[arg-type]
    assert isinstance(began, RealmBegan)
    assert began.realm == frames.main_realm != first


def test_a_document_out_of_the_cache_is_told_of_after_its_realm(frames: Frames):
    frames.take(created("1"))
    restored = {"frame": {"id": "main", "url": "http://a.test/"}, "type": "BackForwardCacheRestore"}

    assert frames.take(read("Page.frameNavigated", restored)) == []


def test_a_frame_that_another_process_shows_now_has_left_its_old_realm(frames: Frames):
    frames.take(created("1", frame="child"))
    navigated = {"frame": {"id": "child", "parentId": "main", "url": "http://b.test/"}}

    [left] = frames.take(read("Page.frameNavigated", navigated), "other")

    assert isinstance(left, RealmLeft)


@pytest.fixture
def taken_over(frames: Frames) -> Frames:
    """An iframe that a process of its own shows, when the one around it tells of the empty document before."""
    frames.take(created("1"))
    frames.add_session(SessionId("other"), SessionId("S"), "child")
    [began] = frames.take(created("new", frame="child"), "other")
    assert isinstance(began, RealmBegan)
    assert frames.take(created("old", frame="child")) == []
    return frames


def shown_in(frames: Frames, frame: str) -> list[str]:
    return [realm.unique_context_id for realm in frames if realm.frame == frame]


def test_what_the_process_around_an_iframe_tells_late_is_not_shown_there(taken_over: Frames):
    assert shown_in(taken_over, "child") == ["new"]

    [left] = taken_over.take(FrameDetached("child", is_removed=False))

    assert isinstance(left, RealmLeft)
    assert left.realm.unique_context_id == "old"
    assert shown_in(taken_over, "child") == ["new"]
    assert taken_over.take(ContextDestroyed("old")) == []


@pytest.mark.parametrize("is_cleared", [False, True])
def test_an_iframe_that_comes_back_into_the_process_around_it_is_shown_when_its_own_has_ended(
    taken_over: Frames, is_cleared: bool
):
    if is_cleared:
        taken_over.take(runtime.ExecutionContextsCleared(), "other")
        assert shown_in(taken_over, "child") == []

    ended = taken_over.remove_session(SessionId("other"))
    changes = [change for session in ended for change in taken_over.end_session(session)]

    assert isinstance(changes[-1], RealmBegan)
    assert shown_in(taken_over, "child") == ["old"]


def test_the_sessions_below_one_end_with_it():
    frames = Frames(SessionId("S"), FrameId("main"), "about:blank")
    for child, parent in (("A", "S"), ("B", "A"), ("C", "B"), ("D", "S")):
        frames.add_session(SessionId(child), SessionId(parent))

    assert frames.remove_session(SessionId("A")) == ["A", "B", "C"]
    assert frames.remove_session(SessionId("S")) == ["S", "D"]


def read(method: str, params: Json) -> Event:
    return parse_event(RawEvent(method, params, None))


def info(target_id: str = "T", kind: str = "page", url: str = "http://a.test/", title: str = "A") -> Json:
    return {"targetId": target_id, "type": kind, "url": url, "title": title, "attached": True}


def attached(session: str = "S", **words: str) -> Event:
    params = {"sessionId": session, "targetInfo": info(**words), "waitingForDebugger": True}
    return read("Target.attachedToTarget", params)


def test_a_page_is_attached_changed_and_detached():
    table = TargetTable()

    first = table.apply(attached())
    assert isinstance(first, Attached)
    assert (first.view.session_id, first.view.title) == (SessionId("S"), "A")
    changed = table.apply(read("Target.targetInfoChanged", {"targetInfo": info(title="B")}))
    assert isinstance(changed, Changed)
    assert changed.view.title == "B"
    last = table.apply(read("Target.detachedFromTarget", {"sessionId": "S"}))
    assert isinstance(last, Detached)
    assert table.find("T") is None


def test_news_that_says_nothing_new_is_no_change():
    table = TargetTable()
    table.apply(attached())

    assert table.apply(read("Target.targetInfoChanged", {"targetInfo": info()})) is None
    assert table.apply(read("Target.targetInfoChanged", {"targetInfo": info(target_id="unknown")})) is None
    assert table.apply(read("Target.detachedFromTarget", {"sessionId": "unknown"})) is None


@pytest.mark.parametrize("kind", ["iframe", "worker", "service_worker", "background_page", "browser_ui", "webview"])
def test_targets_of_other_types_are_no_pages(kind: str):
    assert TargetTable().apply(attached(kind=kind)) is None


NOT_FOR_US = ["devtools://devtools/x", "chrome-extension://abc/page.html", "chrome-untrusted://x/"]


@pytest.mark.parametrize("url", NOT_FOR_US)
def test_pages_of_the_browser_itself_are_let_go(url: str):
    table = TargetTable()

    let_go = table.apply(attached(url=url))

    assert isinstance(let_go, Unwanted)
    assert let_go.view.session_id == "S"
    assert table.find("T") is None
    assert table.apply(went_to(url + "more")) is None
    assert table.apply(read("Target.detachedFromTarget", {"sessionId": "S"})) is None


@pytest.mark.parametrize("url", NOT_FOR_US)
def test_a_page_that_becomes_one_is_let_go_and_wanted_again_afterwards(url: str):
    table = TargetTable()
    table.apply(attached())

    let_go = table.apply(went_to(url))

    assert isinstance(let_go, Unwanted)
    assert let_go.view.session_id == "S"
    assert table.apply(went_to("http://b.test/")) == Wanted("T")
    assert table.apply(went_to("http://c.test/")) is None
    assert isinstance(table.apply(attached("S2", url="http://c.test/")), Attached)


def test_a_page_that_was_let_go_and_closed_is_forgotten():
    table = TargetTable()
    table.apply(attached(url=NOT_FOR_US[0]))

    table.apply(read("Target.targetDestroyed", {"targetId": "T"}))

    assert table.apply(went_to("http://a.test/")) is None


def went_to(url: str) -> Event:
    return read("Target.targetInfoChanged", {"targetInfo": info(url=url)})
