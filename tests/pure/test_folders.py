"""Paths that an agent gives lead into its folders, to plain files there, and nowhere else."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.errors import NotAllowed, UsageError
from bridge.folders import Folders, read_folders, split_file_url


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """`work`, which an agent may use, and beside it `secret`, which it may not."""
    tmp_path = tmp_path.resolve()
    for place in ("work/sub", ".ssh", "work-too"):
        (tmp_path / place).mkdir(parents=True)
    for file in ("work/page.html", "work/sub/a b#ü.html", ".ssh/id", "work-too/page.html"):
        (tmp_path / file).write_text("x")
    return tmp_path


@pytest.fixture
def folders(home: Path) -> Folders:
    return Folders((str(home / "work"),))


def refusal(ask: Callable[[], object]) -> str:
    with pytest.raises(NotAllowed) as caught:
        ask()
    told = str(caught.value)
    assert "\n" not in told
    assert told.endswith(".")
    assert len(told) < 300
    return told


def test_a_file_in_one_of_them_is_found_where_it_really_is(home: Path, folders: Folders, monkeypatch):
    monkeypatch.chdir(home / "work")
    (home / "work" / "way").symlink_to(home / "work" / "sub")
    page = home / "work" / "page.html"

    for path in (str(page), "page.html", "sub/../page.html", f"{home}/.ssh/../work/page.html"):
        assert folders.find_file(path) == page
    assert folders.find_file("way/a b#ü.html") == home / "work" / "sub" / "a b#ü.html"


def plant(place: Path, what: str, victim: Path) -> None:
    match what:
        case "link":
            place.symlink_to(victim)
        case "link to a file inside":
            place.symlink_to(place.with_name("page.html"))
        case "link to nothing":
            place.symlink_to(place.with_name("made"))
        case "link to itself":
            place.symlink_to(place)
        case "pipe":
            os.mkfifo(place)
        case "socket":
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(place))
        case _:
            place.mkdir()


@pytest.mark.threat("C8")
@pytest.mark.parametrize(
    "what",
    ["link", "link to a file inside", "link to nothing", "link to itself", "pipe", "socket", "folder"],
)
def test_what_is_no_plain_file_is_refused(home: Path, folders: Folders, what: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(home / "work")  # a socket's path is short
    plant(Path("planted"), what, home / ".ssh" / "id")
    place = home / "work" / "planted"

    told = refusal(lambda: folders.find_file(str(place)))
    assert ("it is a link" if "link" in what else "not a plain file") in told
    refusal(lambda: folders.find_page(place.as_uri()))


OUTSIDE = {
    "above": "{work}/../.ssh/id",
    "above by a relative path": "../.ssh/id",
    "elsewhere": "{home}/.ssh/id",
    "a neighbour whose name begins so": "{home}/work-too/page.html",
    "through a linked folder": "{work}/out/id",
    "above a linked folder": "{work}/out/../.ssh/id",
    "a device": "/dev/null",
    "what a process has open": "/proc/self/fd/0",
    "what is not there": "{home}/.ssh/nothing",
    "the root": "/",
    "the home of somebody": "~/page.html",
    "nothing": "",
}


@pytest.mark.threat("C8")
@pytest.mark.parametrize("case", OUTSIDE)
def test_what_is_elsewhere_is_refused_whether_it_is_there_or_not(
    home: Path, folders: Folders, case: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(home / "work")
    (home / "work" / "out").symlink_to(home / ".ssh")
    path = OUTSIDE[case].format(work=home / "work", home=home)

    told = refusal(lambda: folders.find_file(path))
    if case == "the home of somebody":
        assert "No such file" in told  # a folder of that name in the working folder
    elif case == "nothing":
        assert "not a plain file" in told  # the working folder itself
    else:
        assert "--allow-dir" in told


@pytest.mark.threat("C8")
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("{work}/a\0b", "NUL"),
        ("\0", "NUL"),
        ("//host/share/page.html", "another machine"),
        ("\\\\host\\share\\page.html", "another machine"),
        ("\\\\?\\C:\\page.html", "another machine"),
        ("//./pipe/x", "another machine"),
        ("{work}/\ud800", "half a character"),
        ("{work}/" + "x" * 256, "name too long"),
        ("{work}/" + "x/" * 2500, "4,095 bytes"),
        ("x" * 1_000_000, "4,095 bytes"),
    ],
)
def test_what_can_be_no_path_is_refused(home: Path, folders: Folders, path: str, words: str):
    assert words in refusal(lambda: folders.find_file(path.format(work=home / "work")))


@pytest.mark.threat("C8")
def test_a_path_may_have_so_many_bytes_and_no_more(folders: Folders):
    at, beyond = "x" * limits.PATH_BYTES, "x" * (limits.PATH_BYTES + 1)

    assert "bytes" not in refusal(lambda: folders.find_file(at))
    assert "bytes" in refusal(lambda: folders.find_file(beyond))


def test_a_page_of_a_file_has_one_address_whatever_it_was_called(home: Path, folders: Folders):
    (home / "work" / "way").symlink_to(home / "work" / "sub")
    name = "a%20b%23%C3%BC.html"
    there = f"file://{home}/work/sub/{name}"

    for url in (
        there,
        f"file:{home}/work/sub/{name}",
        f"FILE://localhost{home}/work/sub/{name}",
        f"file://{home}/work/way/{name}",
        f"file://{home}/.ssh/%2e%2E/work/%73ub/a%20b%23ü.html",
        f"file://{home}/work%2Fsub/{name}",
    ):
        assert folders.find_page(url) == there
        assert folders.has_page(url)
    assert folders.find_page(f"file://{home}/work/page.html?a=1#b?c") == f"file://{home}/work/page.html?a=1#b?c"


@pytest.mark.threat("C8", "F3")
@pytest.mark.parametrize(
    "url",
    [
        "file://host/share/page.html",
        "file:////host/share/page.html",
        "file:///\\host/page.html",
        "file:\\\\host\\page.html",
        "file:page.html",
        "file:",
        "file://",
        "file:///",
        "file://localhost",
        "file://localhost:80{work}/page.html",
        "file://u@localhost{work}/page.html",
        "file://{work}/sub/..\\page.html",
        "file://{work}/page.html%00",
        "file://{work}/pa\nge.html",
        "file://{work}/..%2f.ssh/id",
        "file://{home}/.ssh/id",
        "file:///dev/null",
        "file:///%5c%5chost/x",
        "file:///%2fhost/x",
        "file://{work}/\ud800",
        "\tfile://{work}/page.html",
        "http://host/page.html",
        "javascript:alert(1)",
    ],
)
def test_addresses_of_other_files_and_of_no_file_are_refused(home: Path, folders: Folders, url: str):
    url = url.format(work=home / "work", home=home)
    refusal(lambda: folders.find_page(url))
    assert not folders.has_page(url)


@pytest.mark.feature("rules.folders")
@pytest.mark.threat("C8")
@given(st.text())
def test_no_text_leads_out_or_is_anything_but_an_answer_or_a_refusal(text: str):
    folders = Folders(("/nowhere",))
    for find in (folders.find_file, folders.find_page):
        with pytest.raises(NotAllowed):
            find(text)
        with pytest.raises(NotAllowed):
            find(f"file:///nowhere/../{text}")
    assert not folders.has_page(text)


def test_without_folders_nothing_is_found(home: Path):
    assert "--allow-dir" in refusal(lambda: Folders().find_file(str(home / "work" / "page.html")))


def test_one_more_folder_counts_from_then_on(home: Path, folders: Folders):
    page = home / "work-too" / "page.html"
    assert folders.also(None) is folders
    assert folders.also(home / "work-too").find_file(str(page)) == page


def test_a_root_may_be_a_single_file(home: Path):
    page = home / "work" / "page.html"
    folders = Folders((str(page),))
    assert folders.find_file(str(page)) == page
    refusal(lambda: folders.find_file(str(home / "work" / "sub" / "a b#ü.html")))


@pytest.mark.parametrize("working", ["", "work"])
def test_the_working_folder_counts_unless_the_home_folder_is_in_it(
    home: Path, working: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home / working)
    assert read_folders(()).roots == ((str(home / "work"),) if working else ())
    # Who names it has chosen it.
    assert read_folders((Path("~"),)).roots[0] == str(home)


def test_a_folder_to_allow_must_be_one(home: Path):
    for path in (home / "absent", home / "work" / "page.html", Path("a\0b")):
        with pytest.raises(UsageError, match="--allow-dir can't be"):
            read_folders((path,))
    (home / "way").symlink_to(home / "work")
    assert str(home / "work") in read_folders((home / "way",)).roots


def test_a_working_folder_that_was_removed_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert read_folders(()).roots == ()
    refusal(lambda: Folders(("/nowhere",)).find_file("page.html"))


def test_a_file_address_is_taken_apart():
    assert split_file_url("file:///a%20b?c#d") == ("/a b", "?c#d")
