"""Secrets that a project was granted are in no result, and what is no secret stays as it is."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.calls.frame import escape
from bridge.calls.masks import SECRET, Masks
from bridge.calls.project import Project
from bridge.manifest.secrets import find_secrets, set_secret
from bridge.settings import AgentSettings

KEY = "sk-live-1234"


@pytest.mark.feature("log.secrets")
@pytest.mark.parametrize(
    "secret",
    [KEY, 'say "please"\\', "línea 1\nligne 2", "<b>\u200bnobody sees\x1b", r"\u0041BC", r"\u0041<b>", "😀😀😀😀"],
)
@pytest.mark.parametrize(
    "written",
    [str, json.dumps, lambda text: json.dumps(text, ensure_ascii=False), escape, lambda text: escape(text, json=True)],
    ids=["plain", "JSON", "JSON in UTF-8", "escaped", "escaped JSON"],
)
def test_a_secret_is_masked_in_each_form_in_which_it_is_told(secret: str, written):
    form = written(f"a {secret} b")

    assert Masks([secret]).text(form) == written(f"a {SECRET} b")


def test_a_secret_is_masked_wherever_it_is_in_a_value():
    value = {"key": KEY, f"of {KEY}": [f"{KEY}{KEY}", {"a": None}], "n": 1234, "x": 0.1234, "yes": True, "other": 12}

    assert Masks([KEY, "1234", "True", "None"]).value(value) == {
        "key": SECRET,
        f"of {SECRET}": [SECRET * 2, {"a": None}],
        "n": SECRET,
        "x": SECRET,
        "yes": True,
        "other": 12,
    }
    assert value["key"] == KEY


def test_a_secret_that_holds_another_goes_as_a_whole():
    for secrets in (["hunter2", "zoe:hunter2"], ["zoe:hunter2", "hunter2"]):
        assert Masks(secrets).text("zoe:hunter2, hunter2") == f"{SECRET}, {SECRET}"


def test_what_stands_for_a_secret_is_masked_no_further():
    masks = Masks(["secret", "ecre", *"[]secrt"], shortest=1)

    assert masks.text("a secret, x") == f"a {SECRET}, x"


def test_a_short_secret_is_masked_only_where_that_was_asked_for():
    secrets = ["", "a", "true", "tru"]

    assert limits.MASKED_SECRET_CHARS == 4
    assert Masks(secrets).text("a tru true") == f"a tru {SECRET}"
    assert Masks(secrets, shortest=1).text("a tru true") == f"{SECRET} {SECRET} {SECRET}"
    assert Masks(secrets, shortest=0).text("xyz") == "xyz"


@pytest.mark.parametrize("secrets", [[], ["abc"], [KEY]], ids=["none", "short", "not in it"])
def test_without_a_secret_in_it_all_stays_as_it_is(secrets: list[str]):
    text, value = "a text of its own", {"a": ["b", 1, 1.5, None, {"c": False}]}
    masks = Masks(secrets)

    assert masks.text(text) is text
    assert masks.value(value) == value


@given(st.lists(st.text(min_size=4), min_size=1, max_size=3), st.text(), st.text())
def test_no_secret_is_left_in_a_text(secrets: list[str], before: str, after: str):
    masked = Masks(secrets).text(f"{before}{''.join(secrets)}{after}")

    assert not [secret for secret in secrets for part in masked.split(SECRET) if secret in part]


def test_two_masks_take_out_what_each_of_them_does():
    both = Masks(["hunter2"]).also(Masks(["zoe:hunter2", KEY]))

    assert both.text(f"zoe:hunter2, hunter2, {KEY}") == f"{SECRET}, {SECRET}, {SECRET}"
    assert Masks([KEY]).also(Masks(())).text(KEY) == SECRET


@pytest.mark.feature("log.secrets")
def test_a_secret_that_was_replaced_or_can_not_be_read_any_more_is_one_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "pagebridge.toml").write_text('secrets = ["KEY"]')
    project = Project(AgentSettings(project=tmp_path), cast("Any", None), cast("Any", None))
    secrets = find_secrets(tmp_path)
    said = "hunter2 swordfish"

    assert project.masks().text(said) == said
    set_secret(secrets, "KEY", "hunter2")
    assert project.granted() == {"KEY": "hunter2"}
    set_secret(secrets, "KEY", "swordfish")
    set_secret(secrets, "OTHER", "not granted")
    assert project.masks().text(f"{said}, not granted") == f"{SECRET} {SECRET}, not granted"
    secrets.write_text("broken")
    assert project.masks().text(said) == f"{SECRET} {SECRET}"
