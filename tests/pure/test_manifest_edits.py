"""A manifest keeps all lines but the one that is changed, byte for byte; and what is written beside it."""

import json
import os
import runpy
import stat
import subprocess
import sys
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.errors import AlreadyThere, UsageError
from bridge.manifest.edit import set_skill, set_tool, unset_skill
from bridge.manifest.project import add_skill, begin_tool, eject, restore
from bridge.manifest.read import read_manifest
from tests.manifests import BUILT_INS, HASH, write

PATH = "tools/click.py"
NOTE = "# ejected from builtin:click"
EJECTED = f'click = "{PATH}"  {NOTE}'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param('[tools]\nclick = "builtin:click"\n', f"[tools]\n{EJECTED}\n", id="a line"),
        pytest.param(
            '# é\n[tools]\n a="a.py" # 1\n\n  "click"  =  \'builtin:click\'  # mine  \n# 2\nz="z.py"\n# 3\n[env]',
            f'# é\n[tools]\n a="a.py" # 1\n\n  "click"  =  "{PATH}"  # mine   {NOTE}\n# 2\nz="z.py"\n# 3\n[env]',
            id="an odd line among others",
        ),
        pytest.param(
            '[tools]\r\nclick = "builtin:click"\r\n\r\n[env]', f"[tools]\r\n{EJECTED}\r\n\r\n[env]", id="windows"
        ),
        pytest.param('[tools]\nclick = "builtin:click"', f"[tools]\n{EJECTED}", id="no line end"),
        pytest.param('tools.click = "builtin:click"\n', f"tools.{EJECTED}\n", id="dotted"),
        pytest.param(
            'tools = {click = "builtin:click"} # c\n', f'tools = {{click = "{PATH}"}} # c\n', id="inline, with no note"
        ),
        pytest.param('[tools]\nclick = "other.py"\n', f"[tools]\n{EJECTED}\n", id="of another file"),
        pytest.param(f"[tools]\n{EJECTED}\n", f"[tools]\n{EJECTED}\n", id="ejected already"),
        pytest.param(
            '[tools]\nfill = "builtin:fill" # last\n\n# of agents\n[agents.x]\n',
            f'[tools]\nfill = "builtin:fill" # last\n{EJECTED}\n\n# of agents\n[agents.x]\n',
            id="a new line comes before what belongs to the next table",
        ),
        pytest.param(
            '[tools]\n  fill = "f.py"', f'[tools]\n  fill = "f.py"\n  {EJECTED}\n', id="a new line at the end"
        ),
        pytest.param(
            '[tools]\r\nfill = "f.py"\r\n# x\r\n',
            f'[tools]\r\nfill = "f.py"\r\n{EJECTED}\r\n# x\r\n',
            id="new, windows",
        ),
        pytest.param("[tools]\n# none\n[env]\n", f"[tools]\n{EJECTED}\n# none\n[env]\n", id="an empty table"),
    ],
)
def test_one_line_is_changed(before: str, after: str):
    assert set_tool(before, "click", PATH, beside=BUILT_INS.profile, ejected=True) == after


@pytest.mark.parametrize("before", ["", "# only\n", "env = []", 'env = []\r\n[agents.x]\r\ntools = "all"\r\n'])
def test_a_key_that_was_not_there_lists_what_was_there_without_it(before: str):
    after = set_tool(before, "click", PATH, beside=BUILT_INS.profile, ejected=True)

    assert after.startswith(before)
    assert tomllib.loads(after)["tools"] == {
        "list_pages": "builtin:list_pages",
        "call_page_tool": "builtin:call_page_tool",
        "click": PATH,
    }
    assert after.splitlines()[-1] == EJECTED
    assert ("\r\n" in after) == ("\r\n" in before)
    assert after.count("\n") == len(after.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        '[tools]\nclick = "builtin:click"\nb = "b.py"\n',
        '[tools]\nclick = "builtin:click"  # mine \t \n',
        '[tools]\n\n\tclick="builtin:click"\t# mine # yours\nb = "b.py"',
        'tools = {click = "builtin:click", b = "b.py"}\r\n',
    ],
)
def test_a_line_that_is_restored_is_what_it_was(text: str):
    ejected = set_tool(text, "click", PATH, ejected=True)
    assert ejected != text
    assert set_tool(ejected, "click", "builtin:click") == text


LINES = st.sampled_from(
    [
        "",
        "# c",
        "  # [tools]",
        'a = "a.py"',
        "a='''a\n[tools]\n'''",
        '"b" = "b.py"  #b',
        "\tc\t=\t'c.py'",
        "d = {e = 1}",
    ]
)
TABLES = st.sampled_from(["[env]", "[agents.x]", "[ skills . s ]", "# x", ""])


@pytest.mark.feature("manifest.eject")
@given(
    st.lists(LINES, max_size=3),
    st.lists(LINES, max_size=4),
    st.lists(st.tuples(TABLES, st.lists(LINES, max_size=2)), max_size=3),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_every_other_line_is_kept(before: Any, inside: Any, after: Any, end: str, declared: bool):
    own = ['click = "builtin:click" # mine'] if declared else []
    lines = [*before, "[tools]", *inside, *own, *(line for head, rest in after for line in (head, *rest))]
    text = "\n".join(lines).replace("\n", end)
    try:
        data = tomllib.loads(text)
    except ValueError:
        return
    edited = set_tool(text, "click", PATH, ejected=True)

    kept = [line for line in edited.splitlines(keepends=True) if "click" not in line]
    lost = [line for line in text.splitlines(keepends=True) if "click" not in line]
    assert [line.rstrip("\r\n") for line in kept] == [line.rstrip("\r\n") for line in lost]
    assert kept[:-1] == lost[:-1]
    data["tools"]["click"] = PATH
    assert tomllib.loads(edited) == data


def test_what_can_not_be_changed_alone_is_refused_with_the_line_to_write():
    # Two lines of one value.
    with pytest.raises(UsageError) as caught:
        set_tool("[tools]\nclick = '''\nbuiltin:click'''\n", "click", PATH, ejected=True)
    assert str(caught.value) == (
        "The manifest can't be changed without a change of other lines. "
        f'Write `click = "{PATH}"` under [tools] yourself.'
    )


SHA = "f" * 64


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f'[skills.tides]\npath = "t.md"\nsha256 = "{SHA}"\n'),
        ("env = []", f'env = []\n\n[skills.tides]\npath = "t.md"\nsha256 = "{SHA}"\n'),
        ('[skills]\na = "a.md"\n', f'[skills]\na = "a.md"\n\n[skills.tides]\npath = "t.md"\nsha256 = "{SHA}"\n'),
        ('[skills]\ntides = "t.md" # c\n', f'[skills]\ntides = {{path = "t.md", sha256 = "{SHA}"}} # c\n'),
        (
            f'[skills]\ntides = {{sha256="{HASH}", path="t.md", trusted=true}} # c\n',
            f'[skills]\ntides = {{sha256="{SHA}", path="t.md", trusted=true}} # c\n',
        ),
        (
            f'[skills.a]\npath="q"\n[tools]\n[skills.tides]\npath="t.md"\nsha256="{HASH}" # old\n[env]',
            f'[skills.a]\npath="q"\n[tools]\n[skills.tides]\npath="t.md"\nsha256="{SHA}" # old\n[env]',
        ),
        (
            '[skills.tides]\r\npath = "t.md"\r\n\r\n# next\r\n[x]',
            f'[skills.tides]\r\npath = "t.md"\r\nsha256 = "{SHA}"\r\n\r\n# next\r\n[x]',
        ),
    ],
)
def test_the_hash_of_a_skill_is_written_beside_it(before: str, after: str):
    assert set_skill(before, "tides", "t.md", SHA) == after


def test_a_skill_for_which_there_is_no_place_is_refused():
    with pytest.raises(UsageError, match=r"Write \[skills\.tides\] with path = \"t\.md\" and sha256 = \"f+\" yourself"):
        set_skill("skills = {}\n", "tides", "t.md", SHA)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f'[skills.tides]\npath = "t.md"\nsha256 = "{SHA}"\n', ""),
        (f'env = []\n\n[skills.tides]\npath = "t.md"\nsha256 = "{SHA}"\n', "env = []\n"),
        (
            '# of Ann\r\n[skills.tides] # a\r\n# b\r\npath = "t.md" # c\r\n\r\n# next\r\n[tools]\r\n',
            "# of Ann\r\n# b\r\n\r\n# next\r\n[tools]\r\n",
        ),
        ('[tools]\n\n[skills.tides]\npath = "t.md"\n\n[agents]\n', "[tools]\n\n[agents]\n"),
        ('[skills]\na = "a.md" # a\ntides = "t.md" # t\nz = "z.md"', '[skills]\na = "a.md" # a\nz = "z.md"'),
        ('[skills]\ntides = {path = "t.md"}\n', "[skills]\n"),
        ('skills.a.path = "a.md"\nskills.tides.path = "t.md"\nenv = []\n', 'skills.a.path = "a.md"\nenv = []\n'),
        ('[skills.tides]\npath = "t.md"\n# \u2028 is no line of TOML\n', "# \u2028 is no line of TOML\n"),
        ('[skills.tides]\npath = "t.md"\nlocal_origins = [\n"https://localhost",\n]\n', None),
        ('skills = {tides = "t.md", a = "a.md"}\n', None),
        ('[skills.tides]\npath = """\nt.md"""\n', None),
    ],
)
def test_a_skill_is_taken_out_with_its_own_lines_alone(before: str, after: str | None):
    if after is not None:
        assert unset_skill(before, "tides") == after
    else:
        with pytest.raises(UsageError, match=r"without a change of other lines\. Take the skill tides out"):
            unset_skill(before, "tides")


@pytest.mark.parametrize("before", ["", "\n", "env = []", "env = []\n", "[tools]\r\n\r\n", "# a\n\n\n# b\n"])
def test_a_skill_that_was_added_and_taken_out_leaves_the_manifest_as_it_was(before: str):
    added = set_skill(before, "tides", "t.md", SHA)
    assert unset_skill(added, "tides").rstrip("\r\n") == before.rstrip("\r\n")


# The files of a project

SOURCE = 'tool = {"description": "é"}\n'


def tree(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}


@pytest.mark.feature("manifest.eject")
def test_a_tool_is_ejected_where_it_is_declared(tmp_path: Path):
    main = 'import = ["more.toml"]\n[tools]\nlist_pages = "builtin:list_pages"\n'
    write(tmp_path, {"pagebridge.toml": main, "more.toml": '[tools]\nclick = "builtin:click"\n'})

    done = eject(tmp_path, BUILT_INS, "click", SOURCE)

    assert (done.written, done.manifest) == ((PATH,), "more.toml")
    assert tree(tmp_path) == {"pagebridge.toml": main, "more.toml": f"[tools]\n{EJECTED}\n", PATH: SOURCE}
    assert read_manifest(tmp_path, BUILT_INS).declared["click"].source == PATH

    assert restore(tmp_path, BUILT_INS, "click").manifest == "more.toml"
    assert tree(tmp_path) == {"pagebridge.toml": main, "more.toml": '[tools]\nclick = "builtin:click"\n', PATH: SOURCE}


def test_a_removed_tool_is_ejected_into_the_file_that_has_the_key(tmp_path: Path):
    write(tmp_path, {"pagebridge.toml": 'import = ["more.toml"]\n', "more.toml": "[tools]\n"})
    assert eject(tmp_path, BUILT_INS, "click", SOURCE).manifest == "more.toml"
    assert list(read_manifest(tmp_path, BUILT_INS).declared) == ["click"]


def test_a_tool_is_ejected_where_there_was_no_manifest(tmp_path: Path):
    eject(tmp_path, BUILT_INS, "fill", SOURCE)
    assert list(read_manifest(tmp_path, BUILT_INS).declared) == [*BUILT_INS.profile, "fill"]


def test_the_rights_of_a_manifest_stay_and_those_of_a_new_file_are_usual(tmp_path: Path):
    write(tmp_path, {"pagebridge.toml": "[tools]"})
    (tmp_path / "pagebridge.toml").chmod(0o640)
    umask = os.umask(0o027)
    try:
        eject(tmp_path, BUILT_INS, "click", SOURCE)
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "pagebridge.toml").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / PATH).stat().st_mode) == 0o640


@pytest.mark.feature("manifest.eject")
def test_what_is_there_is_overwritten_by_force_alone(tmp_path: Path):
    manifest = '[tools]\nclick = "builtin:click"\n'
    write(tmp_path, {"pagebridge.toml": manifest, PATH: "mine"})
    (tmp_path / PATH).chmod(0o755)

    with pytest.raises(AlreadyThere) as caught:
        eject(tmp_path, BUILT_INS, "click", SOURCE)
    assert str(caught.value) == "tools/click.py exists. Rename it, or overwrite it with --force."
    assert tree(tmp_path) == {"pagebridge.toml": manifest, PATH: "mine"}

    eject(tmp_path, BUILT_INS, "click", SOURCE, force=True)
    assert (tmp_path / PATH).read_text() == SOURCE
    assert stat.S_IMODE((tmp_path / PATH).stat().st_mode) == 0o755


def test_a_tool_that_is_the_projects_is_ejected_by_force_alone(tmp_path: Path):
    manifest = '[tools]\nclick = "own/click.py"\n'
    write(tmp_path, {"pagebridge.toml": manifest, "own/click.py": "mine"})

    with pytest.raises(AlreadyThere) as caught:
        eject(tmp_path, BUILT_INS, "click", SOURCE)
    assert str(caught.value) == (
        "click comes from own/click.py already (pagebridge.toml, line 2). With --force, it comes from tools/click.py "
        "instead."
    )
    eject(tmp_path, BUILT_INS, "click", SOURCE, force=True)
    assert tree(tmp_path) == {"pagebridge.toml": f"[tools]\n{EJECTED}\n", "own/click.py": "mine", PATH: SOURCE}


def test_what_is_no_built_in_tool_is_not_ejected(tmp_path: Path):
    with pytest.raises(UsageError) as caught:
        eject(tmp_path, BUILT_INS, "x\n", SOURCE)
    assert str(caught.value) == (
        "'x\\n' is no built-in tool. Eject one of: call_page_tool, click, evaluate_script, fill, fill_form, list_pages."
    )
    assert tree(tmp_path) == {}


@pytest.mark.threat("S1")
def test_nothing_is_written_through_a_link(tmp_path: Path):
    root, outside = tmp_path / "project", tmp_path / "outside"
    write(outside, {"victim.py": "mine"})
    root.mkdir()
    (root / "tools").symlink_to(outside)
    with pytest.raises(UsageError, match="tools leads out of the project's folder"):
        eject(root, BUILT_INS, "click", SOURCE)

    (root / "tools").unlink()
    (root / "tools").mkdir()
    (root / PATH).symlink_to(outside / "victim.py")
    with pytest.raises(AlreadyThere):
        eject(root, BUILT_INS, "click", SOURCE)
    eject(root, BUILT_INS, "click", SOURCE, force=True)
    assert not (root / PATH).is_symlink()
    assert tree(outside) == {"victim.py": "mine"}


def test_a_manifest_that_can_not_be_changed_leaves_no_new_file(tmp_path: Path):
    broken = "[tools]\nclick = '''\nbuiltin:click'''\n"
    write(tmp_path, {"pagebridge.toml": broken})
    with pytest.raises(UsageError, match="yourself"):
        eject(tmp_path, BUILT_INS, "click", SOURCE)
    assert tree(tmp_path) == {"pagebridge.toml": broken}


def test_files_that_were_written_go_again_when_a_later_one_fails(tmp_path: Path):
    write(tmp_path, {"tests/test_sum_up.py": "mine"})
    with pytest.raises(AlreadyThere, match=r"tests/test_sum_up\.py exists"):
        begin_tool(tmp_path, BUILT_INS, "sum_up")
    assert tree(tmp_path) == {"tests/test_sum_up.py": "mine"}


def test_a_broken_manifest_is_not_changed(tmp_path: Path):
    write(tmp_path, {"pagebridge.toml": "[tools"})
    with pytest.raises(UsageError, match="This is not TOML"):
        eject(tmp_path, BUILT_INS, "click", SOURCE)
    assert tree(tmp_path) == {"pagebridge.toml": "[tools"}


@pytest.mark.parametrize("manifest", ["", '[tools]\nclick = "builtin:click"'])
def test_a_built_in_tool_needs_no_restoring(tmp_path: Path, manifest: str):
    write(tmp_path, {"pagebridge.toml": manifest})
    with pytest.raises(AlreadyThere, match=r"click is the built-in tool already\."):
        restore(tmp_path, BUILT_INS, "click")


def test_a_removed_tool_is_restored(tmp_path: Path):
    write(tmp_path, {"pagebridge.toml": "[tools] # few\n"})
    restore(tmp_path, BUILT_INS, "click")
    assert tree(tmp_path) == {"pagebridge.toml": '[tools] # few\nclick = "builtin:click"\n'}


def test_a_wrong_line_is_restored(tmp_path: Path):
    write(tmp_path, {"pagebridge.toml": '[tools]\nclick = "builtin:clik"\n'})
    restore(tmp_path, BUILT_INS, "click")
    assert tree(tmp_path) == {"pagebridge.toml": '[tools]\nclick = "builtin:click"\n'}


@pytest.mark.feature("manifest.new")
def test_a_new_tool_works_and_so_does_its_test(tmp_path: Path):
    done = begin_tool(tmp_path, BUILT_INS, "sum_up")

    assert done.written == ("tools/sum_up.py", "tests/test_sum_up.py")
    assert read_manifest(tmp_path, BUILT_INS).declared["sum_up"].source == "tools/sum_up.py"
    tool = runpy.run_path(str(tmp_path / "tools/sum_up.py"))["tool"]
    assert json.loads(json.dumps(tool["parameters"]))["type"] == "object"
    assert tool["execute"]({"text": "one two"}, None) == {"words": 2, "longest": "one"}
    ran = subprocess.run(
        [sys.executable, "-W", "error", done.written[1]],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "Ran 2 tests" in ran.stderr


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("click", "click is a built-in tool. `pagebridge tools eject click` begins with its source."),
        ("press", "press can't be a tool's name: a built-in tool was called so once. Choose another name."),
        ("Sum", "Sum can't be a tool's name. Begin with a lower-case letter"),
        ("../x", "../x can't be a tool's name. Begin with a lower-case letter"),
    ],
)
def test_a_name_that_no_tool_can_have_begins_none(tmp_path: Path, name: str, sentence: str):
    with pytest.raises(UsageError) as caught:
        begin_tool(tmp_path, BUILT_INS, name)
    assert str(caught.value).startswith(sentence)
    assert tree(tmp_path) == {}


def test_a_tool_that_is_declared_is_not_begun(tmp_path: Path):
    write(tmp_path, {"pagebridge.toml": '[tools]\nx = "own/x.py"'})
    with pytest.raises(AlreadyThere, match=r"x comes from own/x\.py already \(pagebridge\.toml, line 2\)\."):
        begin_tool(tmp_path, BUILT_INS, "x")


# Skills


@pytest.mark.feature("skills.approval")
def test_a_skill_is_added_with_the_hash_of_what_was_seen(tmp_path: Path):
    write(tmp_path, {"skills/The Tides-2.md": "new words"})

    added = add_skill(tmp_path, BUILT_INS, "skills/The Tides-2.md", b"the words that were shown")

    skill = read_manifest(tmp_path, BUILT_INS).skills["the_tides_2"]
    assert (added.name, added.sha256, added.before) == ("the_tides_2", skill.sha256, None)
    assert skill.sha256 == sha256(b"the words that were shown").hexdigest()
    again = add_skill(tmp_path, BUILT_INS, "skills/The Tides-2.md", b"new words")
    assert (again.name, again.before) == ("the_tides_2", added.sha256)
    assert len(read_manifest(tmp_path, BUILT_INS).skills) == 1


def test_a_skill_that_was_declared_without_a_hash_gets_one_where_it_stands(tmp_path: Path):
    write(tmp_path, {"pagebridge.toml": 'import = ["m.toml"]\n', "m.toml": '[skills]\nt = "s.md"', "s.md": ""})
    assert add_skill(tmp_path, BUILT_INS, "s.md", b"").manifest == "m.toml"
    assert read_manifest(tmp_path, BUILT_INS).skills["t"].sha256 is not None


@pytest.mark.parametrize(
    ("path", "name", "sentence"),
    [
        ("s.md", "other", "s.md is the skill t already (pagebridge.toml, line 2)."),
        ("r.md", "t", "The skill t is s.md (pagebridge.toml, line 2). Choose another name."),
        ("r.md", "T", "T can't be a skill's name. Begin with a lower-case letter"),
        ("7.md", None, "7 can't be a skill's name. Begin with a lower-case letter"),
        ("../s.md", None, "../s.md can't be a skill: it leads out of the folder that it is in. Name a .md file"),
        ("s.txt", None, "s.txt can't be a skill: it does not end with .md. Name a .md file in the project."),
        ("none.md", None, "none.md does not exist in the project's folder."),
    ],
)
def test_a_skill_that_can_not_be_added_changes_nothing(tmp_path: Path, path: str, name: str | None, sentence: str):
    manifest = f'[skills]\nt = {{path = "s.md", sha256 = "{HASH}"}}\n'
    files = {"pagebridge.toml": manifest, "s.md": "", "r.md": "", "7.md": "", "s.txt": ""}
    write(tmp_path, files)

    with pytest.raises((UsageError, AlreadyThere)) as caught:
        add_skill(tmp_path, BUILT_INS, path, b"", name=name)
    assert str(caught.value).startswith(sentence)
    assert tree(tmp_path) == files
