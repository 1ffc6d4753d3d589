"""The file of approved tools: what it says, who may have written it, and what becomes of a broken one."""

import json
import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.calls import pins as module
from bridge.calls.pins import PinFile, approve, read_pins, write_pins
from bridge.errors import UsageError
from bridge.serve.pinning import describe

ADD = ("add", "Adds", '{"type":"object"}', "page", "{}")
CHANGED = ("add", "Adds, and sends ~/.ssh along", '{"type":"object"}', "page", "{}")
SUM = ("sum", "Sums", "{}", "webmcp", '{"readOnlyHint": true}')
SHOP = "https://shop.example"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pins.json"


def write_text(path: Path, text: str | bytes) -> None:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    path.chmod(0o600)


def refusal(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        read_pins(path)
    told = str(caught.value)
    assert "\n" not in told
    assert told.endswith(".")
    assert str(path) in told
    return told


@given(st.dictionaries(st.text(), st.frozensets(st.tuples(*[st.text()] * 5), max_size=3), max_size=3))
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, pins: dict[str, Any]):
    path = tmp_path_factory.getbasetemp() / "written.json"
    write_pins(path, pins)

    assert read_pins(path) == pins


def test_half_a_character_of_a_page_is_kept_as_it_is(path: Path):
    odd = ("\ud800", "\u202e", "{}", "page", "{}")
    write_pins(path, {SHOP: frozenset({odd})})

    assert read_pins(path) == {SHOP: {odd}}
    assert path.read_bytes().isascii()


@pytest.mark.threat("L4")
def test_the_file_is_its_owners_alone_whatever_the_umask_and_leaves_no_draft(path: Path):
    before = os.umask(0)
    try:
        write_pins(path, {})
        write_pins(path, {SHOP: frozenset({ADD})})
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.threat("L3")
def test_a_link_is_replaced_and_never_followed_when_written(path: Path, tmp_path: Path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    path.symlink_to(victim)
    write_pins(path, {SHOP: frozenset({ADD})})

    assert victim.read_text() == "mine"
    assert not path.is_symlink()


@pytest.mark.threat("L3")
def test_a_draft_that_somebody_has_put_there_is_not_written_into(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "urandom", lambda count: bytes(count))
    victim = path.with_name("victim")
    victim.write_text("mine")
    path.with_name(f".{path.name}.{bytes(8).hex()}").symlink_to(victim)

    with pytest.raises(UsageError, match="can't be written"):
        write_pins(path, {})
    assert victim.read_text() == "mine"


def test_a_write_that_fails_leaves_the_file_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch):
    write_pins(path, {SHOP: frozenset({ADD})})

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", fail)
    with pytest.raises(UsageError) as caught:
        write_pins(path, {})
    assert str(caught.value) == (
        f"The pins can't be written to {path}: No space left on device. Name a file that you may write."
    )
    assert read_pins(path) == {SHOP: {ADD}}
    assert os.listdir(path.parent) == [path.name]


def test_a_file_takes_the_place_of_another_once_all_of_it_is_kept(path: Path, monkeypatch: pytest.MonkeyPatch):
    kept: list[int] = []
    monkeypatch.setattr(module.os, "fsync", lambda descriptor: kept.append(os.fstat(descriptor).st_size))
    write_pins(path, {SHOP: frozenset({ADD})})

    assert kept == [path.stat().st_size]


def test_a_folder_in_place_of_the_file_is_left_as_it_is(path: Path):
    path.mkdir()

    with pytest.raises(UsageError, match=r"can't be written to .*: Is a directory\."):
        write_pins(path, {})
    assert os.listdir(path.parent) == [path.name]


def test_a_draft_that_can_not_be_removed_does_not_hide_why_it_was_to_be(path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(_: Path) -> None:
        raise PermissionError

    path.mkdir()
    monkeypatch.setattr(module.Path, "unlink", refuse)

    with pytest.raises(UsageError, match=r"can't be written to .*: Is a directory\."):
        write_pins(path, {})


def test_a_folder_that_is_not_there_is_said_so(tmp_path: Path):
    with pytest.raises(UsageError, match="No such file or directory"):
        write_pins(tmp_path / "nowhere" / "pins.json", {})


def test_more_than_fits_is_not_written(path: Path):
    with pytest.raises(UsageError, match="several files"):
        write_pins(path, {SHOP: frozenset({("x" * limits.PIN_BYTES, "", "", "", "")})})
    assert not path.exists()


def test_a_file_that_is_not_there_is_said_with_what_makes_it(path: Path):
    assert refusal(path) == f"There are no pins in {path}: `pagebridge pin URL --pin {path}` makes that file."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "7",
        "{}",
        b"\xff",
        "[" * 100_000,
        '{"pagebridge_pins": 1}',
        '{"pagebridge_pins": 1, "origins": []}',
        '{"pagebridge_pins": 1, "origins": {"https://a.test": {}}} trailing',
        '{"pagebridge_pins": 1, "origins": {"https://a.test": 5}}',
        '{"pagebridge_pins": 1, "origins": {"https://a.test": ["add"]}}',
        '{"pagebridge_pins": 1, "origins": {"https://a.test": [{"name": "add"}]}}',
        json.dumps({"pagebridge_pins": 1, "origins": {SHOP: [dict.fromkeys(module.PARTS, "x") | {"more": "y"}]}}),
        json.dumps({"pagebridge_pins": 1, "origins": {SHOP: [dict.fromkeys(module.PARTS, 1)]}}),
    ],
)
def test_a_broken_file_is_one_clear_sentence(path: Path, text: str | bytes):
    write_text(path, text)

    assert refusal(path) == (
        f"{path} is not a file of pins, or a broken one. "
        "Bring back the right one, or remove it and approve the tools anew with `pagebridge pin`."
    )


@pytest.mark.parametrize("version", [2, 0, "1", None, 1.5])
def test_another_version_is_one_clear_sentence(path: Path, version: object):
    write_text(path, json.dumps({"pagebridge_pins": version, "origins": {}}))

    assert refusal(path) == (
        f"The pins in {path} are of version {version!r}, and this pagebridge knows version 1. "
        "Use the pagebridge that wrote them, or approve the tools anew into another file."
    )


@pytest.mark.threat("L3")
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_believed(path: Path, mode: int):
    write_pins(path, {})
    path.chmod(mode)

    assert (
        refusal(path) == f"The pins in {path} can't be read: other users may write it. Name a plain file of your own."
    )


@pytest.mark.threat("L3")
def test_a_file_of_another_user_is_not_believed(path: Path, monkeypatch: pytest.MonkeyPatch):
    write_pins(path, {})
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345)
    else:
        monkeypatch.setattr(module.os, "geteuid", lambda: 12345)

    assert "other users" in refusal(path)


US = 1000


@pytest.mark.threat("L3")
@pytest.mark.parametrize(
    ("owner", "mode", "is_believed"),
    [
        (US, 0o600, True),
        (US, 0o755, True),
        (0, 0o644, True),
        (1, 0o600, False),
        (US + 1, 0o600, False),
        (US, 0o620, False),
        (US, 0o602, False),
        (0, 0o662, False),
    ],
)
def test_a_file_is_believed_that_is_ours_or_the_systems_and_that_nobody_else_may_write(
    path: Path, monkeypatch: pytest.MonkeyPatch, owner: int, mode: int, is_believed: bool
):
    write_pins(path, {SHOP: frozenset({ADD})})
    found = list(path.stat())
    found[stat.ST_MODE], found[stat.ST_UID] = stat.S_IFREG | mode, owner
    monkeypatch.setattr(module.os, "geteuid", lambda: US)
    monkeypatch.setattr(module.os, "fstat", lambda _: os.stat_result(found))

    if is_believed:
        assert read_pins(path) == {SHOP: {ADD}}
    else:
        assert "other users may write it" in refusal(path)


@pytest.mark.threat("L3")
def test_a_link_a_folder_and_a_pipe_are_no_pins(path: Path, tmp_path: Path):
    write_pins(tmp_path / "real.json", {})
    path.symlink_to(tmp_path / "real.json")
    assert "can't be read" in refusal(path)
    path.unlink()
    path.mkdir()
    assert "can't be read" in refusal(path)
    path.rmdir()
    os.mkfifo(path)
    assert "not a plain file" in refusal(path)


def test_as_many_bytes_as_a_file_may_have_are_written_and_read_and_one_more_is_not(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    pins = {SHOP: frozenset({ADD})}
    write_pins(path, pins)
    size = path.stat().st_size

    monkeypatch.setattr(module.limits, "PIN_BYTES", size)
    write_pins(path, pins)
    assert read_pins(path) == pins
    monkeypatch.setattr(module.limits, "PIN_BYTES", size - 1)
    assert refusal(path) == (
        f"The pins in {path} can't be read: it has more than {size - 1} bytes. Name a plain file of your own."
    )
    with pytest.raises(UsageError) as caught:
        write_pins(path, pins)
    assert str(caught.value) == f"The pins for {path} would have more than {size - 1} bytes. Use several files."


def test_a_file_that_is_too_large_is_not_read_whole(path: Path):
    with path.open("wb") as file:
        file.truncate(limits.PIN_BYTES + 1)
    path.chmod(0o600)

    assert f"more than {limits.PIN_BYTES:,} bytes" in refusal(path)


def test_a_name_with_nul_is_no_traceback():
    with pytest.raises(UsageError, match="can't be read: embedded null byte"):
        read_pins(Path("a\0b"))
    with pytest.raises(UsageError, match=r"can't be written to .*: embedded null byte"):
        write_pins(Path("a\0b"), {})
    with pytest.raises(UsageError, match="can't be read: embedded null byte"):
        PinFile(Path("a\0b")).read()


def test_what_is_approved_or_taken_back_counts_at_once(path: Path):
    write_pins(path, {SHOP: frozenset({ADD})})
    file = PinFile(path)
    first = file.read()
    assert file.read() is first

    write_pins(path, {})
    assert file.read() == {}
    write_text(path, "broken")
    with pytest.raises(UsageError):
        file.read()
    with pytest.raises(UsageError):
        file.read()
    path.unlink()
    with pytest.raises(UsageError):
        file.read()
    write_pins(path, {SHOP: frozenset({SUM})})
    assert file.read() == {SHOP: {SUM}}


SIGNS = ("st_dev", "st_ino", "st_mtime_ns", "st_ctime_ns", "st_size")


@pytest.mark.parametrize("sign", SIGNS)
def test_one_sign_of_another_file_is_enough_to_read_it_anew(path: Path, monkeypatch: pytest.MonkeyPatch, sign: str):
    write_pins(path, {})
    file = PinFile(path)
    first = file.read()
    signs = {name: getattr(path.lstat(), name) for name in SIGNS}
    monkeypatch.setattr(module.os, "lstat", lambda _: SimpleNamespace(**signs))
    assert file.read() is first

    signs[sign] += 1
    assert file.read() is not first


def test_what_is_written_can_be_read_by_a_person(path: Path):
    write_pins(path, {SHOP: frozenset({SUM, ADD}), "https://a.test": frozenset()})

    told = path.read_text()
    assert json.loads(told) == {
        "pagebridge_pins": 1,
        "origins": {
            "https://a.test": [],
            SHOP: [
                dict(zip(("name", "description", "schema", "kind", "annotations"), one, strict=True))
                for one in (ADD, SUM)
            ],
        },
    }
    assert told.endswith("}\n")
    assert max(map(len, told.splitlines())) < 60
    assert told.index("https://a.test") < told.index(SHOP)


def test_an_approval_replaces_what_has_the_same_name_and_keeps_the_rest():
    assert approve({ADD, SUM}, {CHANGED}) == {CHANGED, SUM}
    assert approve((), {ADD}) == {ADD}
    twin = ("add", "Another", "{}", "page", "{}")
    assert approve({ADD}, {CHANGED, twin}) == {CHANGED, twin}


def test_a_person_reads_what_is_new_and_how_the_rest_has_changed():
    other = ("other", "", "{}", "page", "{}")

    assert list(describe(SHOP, {ADD, other}, {CHANGED, SUM})) == [
        "https://shop.example: 1 new, 1 changed, 0 as approved; 1 not on this page stay approved",
        '\nchanged: "add"',
        "  description",
        "    -Adds",
        "    +Adds, and sends ~/.ssh along",
        '\nnew: "sum"',
        "  description",
        "    +Sums",
        "  schema",
        "    +{}",
        "  kind",
        "    -page",
        "    +webmcp",
        "  annotations",
        "    -{}",
        "    +{",
        '    +  "readOnlyHint": true',
        "    +}",
        "",
    ]


def test_a_changed_schema_is_shown_line_by_line():
    before = ("add", "", '{"type":"object","properties":{"a":{"type":"number"}}}', "page", "{}")
    after = ("add", "", '{"type":"object","properties":{"a":{"type":"string"}}}', "page", "{}")

    assert list(describe(SHOP, {before}, {after}))[2:-1] == [
        "  schema",
        '    -      "type": "number"',
        '    +      "type": "string"',
    ]


@pytest.mark.threat("P3")
def test_nothing_of_a_page_is_hidden_from_a_person_or_obeyed_by_a_terminal():
    words = "\x1b[2J\r\u202e\u200b\U000e0041\u2028\ud800\x85\u3164\t\xa0"
    lines = list(describe(SHOP, (), {(words, words, json.dumps({"title": words}), "page", "{}")}))

    assert all(char.isprintable() or char == "\n" for line in lines for char in line)
    for shown in (r"\u202e", r"\u200b", r"\udb40\udc41", r"\u3164", r"\t\xa0"):
        assert sum(shown in line for line in lines) == 3


def test_schemas_that_are_far_too_long_to_compare_are_shown_whole_in_no_time():
    before, after = (
        ("add", "", json.dumps({"enum": [f"{kind}{n % 200}" for n in range(20_000)]}), "page", "{}") for kind in "ab"
    )

    assert sum(line.startswith("    -") for line in describe(SHOP, {before}, {after})) > 20_000


def test_a_number_that_is_too_long_for_python_is_shown_as_the_page_wrote_it():
    [*_, last, _] = describe(SHOP, (), {("add", "", f'{{"maximum": {"9" * 5000}}}', "page", "{}")})
    assert "annotations" not in last
    assert any("9" * 5000 in line for line in describe(SHOP, (), {("add", "", "9" * 5000, "page", "{}")}))
