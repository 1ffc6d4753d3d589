"""Files of ours are new, for us alone, and never what somebody else has put in their place."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bridge.browser.profile import Profile, _is_marked, _make_kept
from bridge.errors import BrowserFailedToStart
from bridge.files import is_ours, is_private, open_new, open_plain, read_plain

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="root alone gives files away")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ours"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    return victim


@pytest.mark.threat("L4")
def test_a_new_file_is_for_us_alone_whatever_the_umask(path: Path):
    before = os.umask(0)
    try:
        with open_new(path) as file:
            file.write(b"secret")
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_bytes() == b"secret"


@pytest.mark.threat("L3")
@pytest.mark.parametrize("what", ["link", "link to nothing", "pipe", "file", "folder"])
def test_what_is_there_already_is_not_written_into(path: Path, victim: Path, what: str):
    match what:
        case "link":
            path.symlink_to(victim)
        case "link to nothing":
            path.symlink_to(path.with_name("made"))
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case _:
            path.write_text("mine")
    before = path.lstat()

    with pytest.raises(FileExistsError), open_new(path) as file:
        file.write(b"evil")

    assert path.lstat().st_ino == before.st_ino
    assert victim.read_text() == "mine"
    assert not path.with_name("made").exists()


def test_a_file_that_can_not_be_written_whole_is_not_left(path: Path):
    def fail() -> None:
        with open_new(path) as file:
            file.write(b"half")
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert not path.exists()


@pytest.mark.threat("L3")
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_APPEND | os.O_CREAT])
@pytest.mark.parametrize("what", ["link", "pipe", "folder", "device", "socket"])
def test_only_a_plain_file_is_opened_and_nothing_is_waited_for(path: Path, victim: Path, what: str, flags: int):
    match what:
        case "link":
            path.symlink_to(victim)
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "socket":
            import socket

            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(path))
        case _:
            path = Path("/dev/null")

    with pytest.raises((OSError, ValueError)):
        os.close(open_plain(path, flags))

    assert victim.read_text() == "mine"


def test_a_plain_file_is_read_up_to_a_bound(path: Path):
    path.write_bytes(b"x" * 100)

    assert read_plain(path, 10) == b"x" * 10
    with pytest.raises(ValueError, match="null"):
        read_plain(Path("a\0b"), 10)


def test_no_program_that_we_start_gets_a_file_of_ours(path: Path):
    with open_new(path) as new, os.fdopen(open_plain(path, os.O_RDONLY), "rb") as plain:
        assert [os.get_inheritable(file.fileno()) for file in (new, plain)] == [False, False]


@NEEDS_ROOT
@pytest.mark.threat("L3")
def test_what_belongs_to_somebody_else_is_not_ours(path: Path):
    path.mkdir(mode=0o700)
    assert is_ours(path.stat())
    assert is_private(path)
    os.chown(path, 12345, 12345)

    assert not is_ours(path.stat())
    assert not is_private(path)


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_folder_that_others_may_use_is_not_private(path: Path, mode: int):
    path.mkdir()
    path.chmod(mode)

    assert not is_private(path)


@NEEDS_ROOT
@pytest.mark.threat("L3")
def test_a_profile_of_somebody_else_is_refused_and_left_as_it_is(path: Path):
    path.mkdir()
    os.chown(path, 12345, 12345)

    with pytest.raises(BrowserFailedToStart, match=r"belongs to another user.* with --profile\.$"):
        _make_kept(path)

    assert list(path.iterdir()) == []


@pytest.mark.threat("L3")
def test_the_mark_in_a_profile_is_made_anew_and_follows_no_link(tmp_path: Path, victim: Path):
    mark = tmp_path / "pagebridge-browser"
    mark.symlink_to(victim)

    Profile(tmp_path, None).note_browser(7)

    assert victim.read_text() == "mine"
    assert mark.read_text().endswith("-7")
    assert stat.S_IMODE(mark.lstat().st_mode) == 0o600


@pytest.mark.threat("L3")
def test_a_pipe_in_place_of_the_mark_holds_nobody_up(tmp_path: Path):
    os.mkfifo(tmp_path / "pagebridge-browser")
    (tmp_path / "SingletonLock").symlink_to("elsewhere-1")

    assert not _is_marked(tmp_path)
    assert (tmp_path / "SingletonLock").is_symlink()


def test_systems_without_these_flags_and_owners_can_import_it():
    """As Windows: what is missing there is taken away first."""
    script = (
        "import os\n"
        "for name in ('O_NOFOLLOW', 'O_NONBLOCK'): delattr(os, name)\n"
        "import bridge.files, bridge.folders, bridge.calls.results, bridge.calls.log, bridge.calls.pins\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
