"""The file of secrets: who can read it, and what becomes of a broken one."""

import os
import stat
from pathlib import Path

import pytest

from bridge import limits
from bridge.errors import UsageError
from bridge.manifest.secrets import find_secrets, read_secrets, remove_secret, set_secret


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data/secrets/shop.json"


def refusal(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        read_secrets(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.feature("manifest.secrets")
def test_a_secret_is_kept_replaced_and_removed(path: Path):
    assert read_secrets(path) == {}
    set_secret(path, "KEY", "one\n")
    set_secret(path, "other_2", "é \n two\r\n")
    set_secret(path, "KEY", "two")

    assert read_secrets(path) == {"KEY": "two", "other_2": "é \n two"}
    remove_secret(path, "KEY")
    assert read_secrets(path) == {"other_2": "é \n two"}


@pytest.mark.feature("manifest.secrets")
def test_the_file_and_its_folder_are_for_us_alone_whatever_the_umask(path: Path):
    umask = os.umask(0)
    try:
        set_secret(path, "KEY", "one")
        set_secret(path, "KEY", "two")
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o602, 0o610])
def test_a_file_that_others_may_use_is_not_believed(path: Path, mode: int):
    set_secret(path, "KEY", "one")
    path.chmod(mode)
    told = f"The secrets in {path} can't be read: other users may read or write it. Make it a plain file of yours with "
    assert refusal(path) == f"{told}`chmod 600`."


def test_no_link_is_followed_and_a_pipe_is_not_waited_for(path: Path, tmp_path: Path):
    victim = tmp_path / "victim.json"
    set_secret(victim, "KEY", "theirs")
    path.parent.mkdir(parents=True)
    path.symlink_to(victim)
    assert "can't be read: it is a link." in refusal(path)
    with pytest.raises(UsageError, match="it is a link"):
        set_secret(path, "KEY", "mine")
    assert read_secrets(victim) == {"KEY": "theirs"}

    path.unlink()
    os.mkfifo(path)
    assert "can't be read: it is not a plain file." in refusal(path)


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "null", "{", '{"pagebridge_secrets": 2, "secrets": {}}', '{"pagebridge_secrets": 1}', "[" * 99_999,
     '{"pagebridge_secrets": 1, "secrets": {"KEY": 1}}', '{"pagebridge_secrets": 1, "secrets": []}'],
)  # fmt: skip
def test_a_broken_file_is_told_and_not_written_over(path: Path, text: str):
    path.parent.mkdir(parents=True)
    path.write_text(text)
    path.chmod(0o600)

    assert refusal(path) == (
        f"{path} is not a file of secrets of this version, or a broken one. Remove it, and set the secrets again with "
        "`pagebridge secrets set NAME`."
    )
    with pytest.raises(UsageError):
        set_secret(path, "KEY", "one")
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a-b", "x", "a-b can't be a secret's name. Use letters, digits and _, no digit first; 64 in all."),
        ("", "x", "'' can't be a secret's name. Use letters, digits and _, no digit first; 64 in all."),
        ("1A", "x", "1A can't be a secret's name. Use letters, digits and _, no digit first; 64 in all."),
        ("A\n", "x", "'A\\n' can't be a secret's name. Use letters, digits and _, no digit first; 64 in all."),
        ("KEY", "", "There is nothing to keep as KEY. Type the secret, or pipe it into stdin."),
        ("KEY", "\n", "There is nothing to keep as KEY. Type the secret, or pipe it into stdin."),
        ("KEY", "a\0b", "KEY has a NUL or half a character in it. A secret has to be text: encode it, as base64 does."),
        ("KEY", "\ud800", "KEY has a NUL or half a character in it. A secret has to be text: encode it, as base64 "
         "does."),
        ("KEY", "é" * 32_769, "KEY has more than 65,536 bytes. Keep it in a file, and its path as the secret."),
    ],
)  # fmt: skip
def test_what_can_be_no_secret_is_refused_and_never_told(path: Path, name: str, text: str, sentence: str):
    with pytest.raises(UsageError) as caught:
        set_secret(path, name, text)
    assert str(caught.value) == sentence
    assert not path.exists()


def test_secrets_are_bounded(path: Path):
    path.parent.mkdir(parents=True)
    for number in range(limits.SECRETS):
        set_secret(path, f"KEY{number}", "x")
    set_secret(path, "KEY0", "y")
    with pytest.raises(UsageError, match=r"There are 100 secrets already\. Remove one first\."):
        set_secret(path, "ONE_MORE", "x")


def test_a_secret_that_is_not_there_is_not_removed(path: Path):
    with pytest.raises(UsageError, match=r"There is no secret KEY\. None is kept\."):
        remove_secret(path, "KEY")
    set_secret(path, "OTHER", "x")
    with pytest.raises(UsageError, match=r"There is no secret KEY\. Those that are kept: OTHER\."):
        remove_secret(path, "KEY")


def test_a_folder_that_is_none_is_told(tmp_path: Path):
    (tmp_path / "data").write_text("")
    with pytest.raises(UsageError, match=r"data/secrets\.json can't be read: Not a directory\. Make it a plain file"):
        set_secret(tmp_path / "data/secrets.json", "KEY", "x")


def test_a_write_that_fails_is_told_and_loses_nothing(path: Path, monkeypatch: pytest.MonkeyPatch):
    set_secret(path, "KEY", "one")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(UsageError) as caught:
        set_secret(path, "KEY", "two")
    told = f"The secret can't be written to {path}: No space left on device."
    assert str(caught.value) == f"{told} Make that folder one that you may write."
    assert read_secrets(path) == {"KEY": "one"}
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.feature("manifest.secrets")
def test_each_project_has_a_file_of_its_own_outside_of_it(tmp_path: Path):
    one, other = tmp_path / "a/my shop", tmp_path / "b/my shop"
    one.mkdir(parents=True)
    (tmp_path / "link").symlink_to(one)

    found = find_secrets(one)
    assert found.name.startswith("my-shop-")
    assert not found.is_relative_to(tmp_path)
    assert found == find_secrets(tmp_path / "link")
    assert found != find_secrets(other)
