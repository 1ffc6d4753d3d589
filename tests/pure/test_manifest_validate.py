"""`pagebridge validate`: all that is wrong, with file and line, and nothing of the project is run."""

from hashlib import sha256
from pathlib import Path

import pytest

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
        "pagebridge.toml:12: warning: odd_one is no tool of this project, so it gives nothing. Correct the name, or "
        "remove it.",
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


def test_without_a_manifest_there_is_nothing_to_check(tmp_path: Path):
    with pytest.raises(UsageError) as caught:
        validate(tmp_path, BUILT_INS)
    assert str(caught.value) == f"There is no pagebridge.toml in {tmp_path}. `pagebridge new tool NAME` makes one."
