"""Results: clean text, cut to size, with the whole in a file that is ours alone."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.calls.frame import escape, unescape
from bridge.calls.results import Spill, clean_text, open_spill, shorten

any_text = st.text(st.characters())  # lone surrogates too


# Clean text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("", ""),
        ("plain", "plain"),
        ("é😀\0\x1b\ufeff", "é😀\0\x1b\ufeff"),
        ("\ud800", "�"),
        ("a\udfffb", "a�b"),
        ("\udc00\ud800", "��"),
        ("\ud83d\ude00", "😀"),
        ("\ufeff\ud800", "\ufeff�"),
        ("\ud800\ud800\udc00", "�𐀀"),
    ],
)
def test_only_lone_surrogates_are_replaced(text: str, clean: str):
    assert clean_text(text) == clean


@given(any_text)
def test_clean_text_always_encodes_and_stays_clean(text: str):
    clean = clean_text(text)

    clean.encode()
    assert clean_text(clean) is clean
    if not any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        assert clean is text


# The spill folder


def test_the_folder_is_made_when_it_is_needed_and_removed_at_the_end(tmp_path: Path):
    with open_spill(tmp_path) as spill:
        assert list(tmp_path.iterdir()) == []
        path = spill.write("é", suffix=".txt")

        [folder] = tmp_path.iterdir()
        assert folder.name.startswith("pagebridge-")
        assert (path.parent, path.suffix, path.read_text()) == (folder, ".txt", "é")

    assert list(tmp_path.iterdir()) == []


def test_the_folder_goes_also_when_something_fails(tmp_path: Path):
    def fail() -> None:
        with open_spill(tmp_path) as spill:
            spill.write("a", suffix=".json")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()

    assert list(tmp_path.iterdir()) == []


@pytest.mark.threat("L4")
def test_nobody_else_can_read_what_is_kept():
    before = os.umask(0)
    try:
        with open_spill() as spill:
            path = spill.write("secret", suffix=".txt")

            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_each_text_has_a_file_of_its_own():
    with open_spill() as spill:
        paths = [spill.write(str(number), suffix=".txt") for number in range(3)]

        assert [path.read_text() for path in paths] == ["0", "1", "2"]


@pytest.mark.threat("L3")
def test_a_planted_link_is_neither_followed_nor_removed(tmp_path: Path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    with open_spill() as spill:
        folder = spill.write("first", suffix=".txt").parent
        (folder / "2.txt").symlink_to(victim)

        with pytest.raises(FileExistsError):
            spill.write("evil", suffix=".txt")

        assert (folder / "2.txt").is_symlink()
        shown = shorten("x\n" * 9_000, spill, json=False)
        assert shown.full_path == folder / "3.txt"

    assert victim.read_text() == "mine"


@pytest.mark.threat("L3")
@pytest.mark.parametrize("replacement", ["nothing", "open folder", "link"])
def test_a_folder_that_is_not_ours_any_more_is_not_used(replacement: str, tmp_path: Path):
    with open_spill() as spill:
        folder = spill.write("first", suffix=".txt").parent
        os.rename(folder, tmp_path / "away")
        match replacement:
            case "open folder":
                folder.mkdir(mode=0o755)
            case "link":
                folder.symlink_to(tmp_path)
            case _:
                pass

        path = spill.write("second", suffix=".txt")

        assert path.parent != folder
        assert path.read_text() == "second"
        if folder.is_symlink():
            folder.unlink()
        elif folder.exists():
            folder.rmdir()
    assert not path.exists()


def test_the_oldest_goes_when_the_quota_is_reached():
    with open_spill(quota_bytes=10) as spill:
        first, second = spill.write("aaaa", suffix=".txt"), spill.write("bbbb", suffix=".txt")
        third = spill.write("cc", suffix=".txt")
        assert all(path.exists() for path in (first, second, third))

        fourth = spill.write("d", suffix=".txt")

        assert [path.exists() for path in (first, second, third, fourth)] == [False, True, True, True]
        with pytest.raises(OSError, match="11 bytes are more than the 10"):
            spill.write("e" * 11, suffix=".txt")
        assert fourth.exists()


def test_what_was_removed_by_hand_does_not_stop_the_quota():
    with open_spill(quota_bytes=10) as spill:
        spill.write("a" * 10, suffix=".txt").unlink()

        assert spill.write("b" * 10, suffix=".txt").exists()


def test_closing_twice_is_fine():
    spill = Spill()
    path = spill.write("a", suffix=".txt")

    spill.close()
    spill.close()

    assert not path.parent.exists()


# Shortening


@pytest.mark.parametrize(
    ("text", "lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2), ("x" * limits.INLINE_BYTES, 1)]
)
def test_what_is_short_enough_stays_as_it_is(text: str, lines: int):
    with open_spill() as spill:
        shown = shorten(text, spill, json=False)

    assert (shown.text, shown.full_path, shown.truncated) == (text, None, False)
    assert (shown.total_bytes, shown.total_lines) == (len(text), lines)


@pytest.mark.feature("results.long")
@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("x" * (limits.INLINE_BYTES + 1), "51,201 bytes in 1 line"),
        ("é" * (limits.INLINE_BYTES // 2 + 1), "51,202 bytes in 1 line"),
        ("\n" * (limits.INLINE_LINES + 1), "2,001 bytes in 2,001 lines"),
        ("ab\n" * limits.INLINE_LINES + "c", "6,001 bytes in 2,001 lines"),
    ],
)
def test_one_beyond_the_limit_is_cut_and_says_where_the_whole_is(text: str, size: str):
    with open_spill() as spill:
        shown = shorten(text, spill, json=False)

        assert shown.full_path is not None
        assert shown.full_path.read_text() == text
        assert text.startswith(shown.text)
        assert len(shown.text) > 1_900
        assert shown.notice == f"[Cut here: the result has {size}. The whole is in {shown.full_path}]"
    assert shown.truncated


@pytest.mark.parametrize(("json", "suffix"), [(True, ".json"), (False, ".txt")])
def test_the_file_is_named_for_what_it_holds(json: bool, suffix: str):
    with open_spill() as spill:
        path = shorten("1" * 60_000, spill, json=json).full_path

    assert path is not None
    assert path.suffix == suffix


def test_a_result_that_can_not_be_kept_is_shown_all_the_same(tmp_path: Path):
    with open_spill(tmp_path / "gone") as spill:
        shown = shorten("y" * 60_000, spill, json=False)

    assert (shown.full_path, shown.truncated) == (None, True)
    assert shown.notice.endswith("The whole could not be kept: No such file or directory]")


def test_lone_surrogates_never_reach_the_reader_or_the_file():
    with open_spill() as spill:
        assert shorten("\ud800", spill, json=False).text == "�"
        shown = shorten("\ud800" * 60_000, spill, json=False)

        assert shown.full_path is not None
        assert shown.full_path.read_text() == "�" * 60_000
        assert shown.total_bytes == 180_000


def test_twenty_megabytes_are_cut_whole_and_counted():
    text = "é" * 5_000_000 + "\n" * 10_000_000
    with open_spill() as spill:
        shown = shorten(text, spill, json=False)

        assert (shown.total_bytes, shown.total_lines) == (20_000_000, 10_000_000)
        assert shown.full_path is not None
        assert shown.full_path.stat().st_size == 20_000_000


PLAIN = ["x", "é", "😀", "\n", "\r\n", "\ud800", "a" * 700, "\n" * 300, "é\n" * 900, "😀" * 5_000]
ESCAPED = ["<", "\\u003c", "\\", "u00", "<" * 900, "\U000e0041" * 800]
pieces = st.sampled_from([*PLAIN, *ESCAPED])


@given(st.lists(pieces, max_size=12).map("".join), st.integers(1, 12), st.booleans())
def test_what_is_shown_never_passes_the_limits_and_loses_nothing(text: str, times: int, json: bool):
    with open_spill() as spill:
        shown = shorten(text * times, spill, json=json)

        assert len(f"{shown.text}\n{shown.notice}".encode()) <= limits.INLINE_BYTES + 1
        assert shown.text.count("\n") + 1 <= limits.INLINE_LINES + 1
        whole = clean_text(text * times)
        if shown.truncated:
            assert shown.full_path is not None
            assert shown.full_path.read_bytes() == whole.encode()
            assert len(f"{shown.text}\n{shown.notice}".split("\n")) <= limits.INLINE_LINES
            whole = escape(whole, json=json)
            assert whole.startswith(shown.text)
            assert escape(unescape(shown.text)) == shown.text or json
        else:
            assert shown.text == escape(whole, json=json)


def test_what_only_its_escapes_make_too_long_is_cut_as_well():
    text = "<" * (limits.INLINE_BYTES // 6 + 1)
    with open_spill() as spill:
        shown = shorten(text, spill, json=False)

        assert shown.full_path is not None
        assert shown.full_path.read_text() == text
    assert len(f"{shown.text}\n{shown.notice}".encode()) <= limits.INLINE_BYTES
    assert shown.notice.startswith("[Cut here: the result has 8,534 bytes in 1 line. ")


@pytest.mark.parametrize("before", range(12))
def test_no_escape_is_cut_in_two(before: int):
    text = "x" * before + "\U000e0041" * 10_000
    with open_spill() as spill:
        shown = shorten(text, spill, json=False)

    assert shown.truncated
    assert text.startswith(unescape(shown.text))
    assert len(shown.text) > limits.INLINE_BYTES - 200
