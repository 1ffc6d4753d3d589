"""`pagebridge validate`: all that is wrong, with file and line, and nothing of the project is run."""

import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from bridge import limits
from bridge.errors import UsageError
from bridge.manifest.manifest import SkillEntry
from bridge.manifest.validate import SkillReading, as_json, exit_code, validate
from tests.manifests import BUILT_INS, HASH, write

TIDES = b"# Tides"


def read_skill(skill: SkillEntry, data: bytes) -> SkillReading:
    assert data == TIDES
    return SkillReading(("tide_now",), ((1, "warning", f"{skill.name} has a short description."),))


def found(root: Path, files: dict[str, str | bytes]) -> list[str]:
    write(root, files)
    return [str(issue) for issue in validate(root, BUILT_INS, read_skill)]


def test_what_is_right_has_no_issues(tmp_path: Path):
    manifest = '[tools]\nclick = "builtin:click"\nx = "x.py"\n[agents.a]\ntools = ["x", "click"]'
    assert found(tmp_path, {"pagebridge.toml": manifest, "x.py": "raise SystemExit"}) == []


@pytest.mark.feature("manifest.validate")
def test_each_issue_has_its_file_line_and_severity_in_order(tmp_path: Path):
    manifest = f"""\
import = ["more.toml"]
[tools]
x = "tools/x.py"
y = "../y.py"
[skills.tides]
path = "skills/tides.md"
sha256 = "{sha256(TIDES).hexdigest()}"
[skills.moon]
path = "skills/tides.md"
sha256 = "{HASH}"
[agents.a]
tools = ["tide_now", "odd_one"]
"""
    files: dict[str, str | bytes] = {
        "pagebridge.toml": manifest,
        "more.toml": '[tools]\nz = "z"\n[skills]\nsun = "sun.md"',
        "skills/tides.md": TIDES,
        "sun.md": "",
    }
    assert found(tmp_path, files) == [
        "pagebridge.toml: warning: Sessions of this project get no built-in tool (list_pages, call_page_tool, click). "
        'Add `list_pages = "builtin:list_pages"` under [tools] to keep one.',
        "pagebridge.toml:3: error: tools/x.py does not exist in the project's folder. Write the file, or change the "
        "path.",
        'pagebridge.toml:4: error: y must be the path of a .py file in the project, such as "tools/y.py". ../y.py is '
        "none: it leads out of the folder that it is in.",
        "pagebridge.toml:8: error: skills/tides.md has changed since it was approved. Look at it, and run: pagebridge "
        "skills add skills/tides.md",
        "pagebridge.toml:12: warning: odd_one is no tool that is known here, so it gives nothing, unless a module or a "
        "skill that does not load, or a function `tools`, has it.",
        'more.toml:2: error: z must be the path of a .py file in the project, such as "tools/z.py". z is none: it '
        "does not end with .py.",
        "more.toml:4: error: Nobody has approved sun.md yet. Look at it, and run: pagebridge skills add sun.md",
        "skills/tides.md:1: warning: tides has a short description.",
    ]


def test_who_removes_every_built_in_tool_is_warned_and_who_says_nothing_of_tools_is_not(tmp_path: Path):
    assert found(tmp_path, {"pagebridge.toml": ""}) == []
    assert found(tmp_path, {"pagebridge.toml": "[tools]"}) == [
        "pagebridge.toml: warning: Sessions of this project get no built-in tool (list_pages, call_page_tool, click). "
        'Add `list_pages = "builtin:list_pages"` under [tools] to keep one.'
    ]


@pytest.mark.feature("manifest.validate")
@pytest.mark.parametrize(
    ("manifest", "code"),
    [
        ("", 0),
        ("[tools]", 0),
        ('[agents.a]\ntools = ["x"]', 0),
        ("[agents.a.tools]\nx = false", 1),
        ("[tools]\nx = 1", 1),
        ("[tools", 1),
    ],
)
def test_errors_make_it_fail_and_warnings_do_not(tmp_path: Path, manifest: str, code: int):
    write(tmp_path, {"pagebridge.toml": manifest})
    assert exit_code(validate(tmp_path, BUILT_INS)) == code


def test_what_hides_a_tool_of_a_skill_that_did_not_load_is_no_error(tmp_path: Path):
    manifest = '[tools]\nclick = "builtin:click"\n[skills]\ntides = "tides.md"\n[agents.a.tools]\ntide_now = false'
    write(tmp_path, {"pagebridge.toml": manifest, "tides.md": TIDES})

    issues = validate(tmp_path, BUILT_INS, read_skill)
    assert [(issue.line, issue.severity) for issue in issues] == [(4, "error"), (6, "warning")]


@pytest.mark.feature("manifest.validate")
def test_a_folder_in_which_nothing_can_be_kept_is_a_warning(tmp_path: Path):
    skills = [f'{name} = {{path = "{name}.md", downloads = "{name}"}}' for name in ("a", "b", "c")]
    write(tmp_path, {"pagebridge.toml": "\n".join(["[skills]", *skills])})
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to(tmp_path / "a")

    told = [issue for issue in validate(tmp_path, BUILT_INS) if issue.severity == "warning"]

    assert [(issue.line, issue.message) for issue in told] == [
        (3, "Nothing can be kept in downloads of skill b: b leads through a link, so name what that leads to."),
        (4, "Nothing can be kept in downloads of skill c: there is no folder c, so make it."),
    ]


@pytest.mark.feature("manifest.validate")
def test_the_json_form_has_an_object_for_each(tmp_path: Path):
    write(tmp_path, {"pagebridge.toml": "\nx = 1"})
    assert as_json(validate(tmp_path, BUILT_INS)) == {
        "issues": [
            {
                "file": "pagebridge.toml",
                "line": 2,
                "message": "x is no key of pagebridge.toml. Those that there are: import, tools, skills, agents, "
                "secrets, env.",
                "severity": "error",
            }
        ]
    }


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=root, check=True, timeout=20)


@pytest.mark.feature("manifest.validate")
def test_what_git_does_not_track_is_a_warning_where_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    project = tmp_path / "in" / "a repository"
    files: dict[str, str | bytes] = {
        "pagebridge.toml": 'import = ["more.toml", ":odd.toml"]\n[tools]\nclick = "builtin:click"\nx = "tools/x.py"\n'
        f'[skills.tides]\npath = "tides.md"\nsha256 = "{sha256(TIDES).hexdigest()}"\n',
        "more.toml": '[tools]\ny = "linked/y.py"\ngone = "gone.py"\n',
        ":odd.toml": "",
        "tools/x.py": "",
        "tools/y.py": "",
        "tides.md": TIDES,
    }
    write(project, files)
    (project / "linked").symlink_to("tools")
    git(tmp_path, "init", "--quiet")

    def untracked() -> list[tuple[str, int | None]]:
        issues = validate(project, BUILT_INS, read_skill, tracked=True)
        assert exit_code(issue for issue in issues if "git" in issue.message) == 0
        return [(issue.file, issue.line) for issue in issues if "git does not track" in issue.message]

    in_main, in_more = [("pagebridge.toml", line) for line in (None, 1, 1, 4, 5)], ("more.toml", 2)
    assert untracked() == [*in_main, in_more]
    git(project, "add", "pagebridge.toml", "more.toml", "tools/x.py", "tides.md")
    assert untracked() == [("pagebridge.toml", 1), in_more]
    git(project, "add", "./:odd.toml", "tools/y.py")
    assert untracked() == []
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))  # as in a hook
    assert untracked() == []
    assert not [issue for issue in validate(project, BUILT_INS, read_skill) if "git" in issue.message]


@pytest.mark.feature("manifest.validate")
@pytest.mark.threat("S12")
def test_no_program_that_a_repository_names_is_run_where_git_is_asked(tmp_path: Path):
    root = tmp_path / "project"
    write(
        root, {"pagebridge.toml": '[tools]\nclick = "builtin:click"\nx = "far/x.py"', "far/x.py": "", "near/y.py": ""}
    )
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", encoding="utf-8")
    evil.chmod(0o755)
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "x")
    # A tree that is missing, and is needed to list what is in it: git fetches it from whom it trusts to have it.
    git(root, "sparse-checkout", "init", "--cone", "--sparse-index")
    git(root, "sparse-checkout", "set", "near")
    far = subprocess.check_output(["git", "rev-parse", "HEAD:far"], cwd=root, text=True, timeout=20).strip()
    (root / ".git/objects" / far[:2] / far[2:]).unlink()
    write(root, {"far/x.py": ""})
    for key, value in {
        "core.fsmonitor": str(evil),
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "evil",
        "remote.evil.promisor": "true",
        "remote.evil.url": f"ext::{evil}",
        "protocol.ext.allow": "always",
    }.items():
        git(root, "config", key, value)

    validate(root, BUILT_INS, read_skill, tracked=True)

    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (None, "git can't be started: .*. Install it, or leave --tracked out."),
        ("exec sleep 60", "git has not said within 1 s which files it tracks. Try again, or leave --tracked out."),
        ("echo 'no: really' >&2; exit 3", "git can't say .*: no: really. Mend that .*, or leave --tracked out."),
    ],
)
def test_where_git_does_not_answer_one_sentence_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, said: str
):
    write(tmp_path, {"pagebridge.toml": ""})
    if script is not None:
        write(tmp_path, {"bin/git": f"#!/bin/sh\n{script}\n"})
        (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin{':/bin:/usr/bin' if script else ''}")
    monkeypatch.setattr(limits, "GIT_SECONDS", 1)

    with pytest.raises(UsageError, match=f"^{said}$"):
        validate(tmp_path, BUILT_INS, read_skill, tracked=True)


def test_without_a_manifest_there_is_nothing_to_check(tmp_path: Path):
    with pytest.raises(UsageError) as caught:
        validate(tmp_path, BUILT_INS)
    assert str(caught.value) == f"There is no pagebridge.toml in {tmp_path}. `pagebridge new tool NAME` makes one."
