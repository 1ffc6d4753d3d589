"""The commands over a project's manifest: what a person types, what is printed, and what is in the files afterwards."""

import json
import stat
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bridge import cli, limits
from bridge.calls.built_ins import BY_NAME
from bridge.manifest.read import read_manifest
from bridge.manifest.secrets import find_secrets, read_secrets
from tests.manifests import BUILT_INS, write
from tests.skills import LOOK_UP, ORDER
from tests.skills import write as skill_file

PAGES = ["list_pages", "open_page", "navigate_page", "close_page", "list_page_tools", "call_page_tool", "handle_dialog"]
NO_MANIFEST = "Error: There is no pagebridge.toml in {}. `pagebridge new tool NAME` makes one.\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder, and the user's own beside it. The working folder is another one."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(tmp_path)
    return root


def run(root: Path, *words: str, given: str | bytes | None = None) -> Result:
    words = (*words, "--project", str(root))
    return CliRunner().invoke(cli.main, words, prog_name="pagebridge", input=given, catch_exceptions=False)


def done(root: Path, *words: str, given: str | bytes | None = None) -> str:
    """What a command prints that does what it is to do."""
    result = run(root, *words, given=given)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def refused(root: Path, *words: str, given: str | bytes | None = None, code: int = 2) -> str:
    """The one sentence of a command that does nothing."""
    result = run(root, *words, given=given)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.count("\n") == 1
    return result.stderr


def tree(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}


# One command for each


@pytest.mark.parametrize(
    "words",
    [
        ("tools", "ls"),
        ("tools", "restore", "list_pages"),
        ("validate",),
        ("skills", "ls"),
        ("skills", "rm", "x"),
        ("secrets", "set", "KEY"),
        ("secrets", "ls"),
    ],
    ids=" ".join,
)
def test_without_a_manifest_one_sentence_says_what_makes_one(root: Path, words: tuple[str, ...]):
    assert refused(root, *words) == NO_MANIFEST.format(root)
    assert tree(root.parent) == {}


def test_a_project_is_the_working_folder_unless_another_one_is_named(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(root)
    (root / "pagebridge.toml").write_text("")
    result = CliRunner().invoke(cli.main, ["validate"])
    assert (result.exit_code, result.stdout) == (0, "pagebridge.toml: nothing is wrong.\n")

    assert run(root / "absent", "validate").exit_code == 2
    assert "does not exist" in run(root / "absent", "validate").stderr


def test_a_word_that_is_only_the_first_of_commands_is_told_with_the_second_ones():
    result = CliRunner().invoke(cli.main, ["secrets"], prog_name="pagebridge")
    assert result.exit_code == 2
    assert "secrets alone is no command: there are secrets set, secrets ls, secrets rm." in result.stderr


def test_tools_with_an_address_is_about_a_page_as_it_was():
    for words in (["tools", "ls.example"], ["tools", "--json", "ls.example"]):
        result = CliRunner().invoke(cli.main, words, prog_name="pagebridge")
        assert result.exit_code == 2
        assert "http://localhost:3000/" in result.stderr
    told = CliRunner().invoke(cli.main, ["tools", "--help"], prog_name="pagebridge").stdout
    assert told.startswith("Usage: pagebridge tools [OPTIONS] URL\n")
    assert "pagebridge tools ls" in told


def test_options_of_a_command_of_two_words_can_be_in_a_file_of_settings(root: Path):
    write(root, {"pagebridge.toml": "", "settings.toml": '["tools ls"]\njson = true\nproject = "."\n'})
    words = ["--settings", str(root / "settings.toml"), "tools", "ls"]
    assert json.loads(CliRunner().invoke(cli.main, words).stdout)["tools_key"] is False


# Which tools there are


@pytest.mark.feature("manifest.listing")
def test_tools_are_listed_with_what_was_removed_and_what_does_not_load(root: Path):
    files = {
        "pagebridge.toml": '[tools]\nlist_pages = "builtin:list_pages"\nclick = "click.py"\nweather = "w.py"\n'
        'gone = "gone.py"\nbroken = "broken.py"\nno = "../no.py"\n'
        '[skills]\nsun = "sun.md"\n[agents.a]\ntools = {exclude = ["click", "tide_now", "resolve_action"]}\n',
        "click.py": "raise SystemExit",
        "w.py": "raise SystemExit",
        "broken.py": "\ndef x(:\n",
        "sun.md": "# Sun",
        "tides.md": skill_file(LOOK_UP),
    }
    write(root, files)
    done(root, "skills", "add", "tides.md", "--yes")

    told = done(root, "tools", "ls").splitlines()

    assert told[:6] == [
        "NAME            KIND                  SOURCE",
        "list_pages      builtin               builtin:list_pages",
        "resolve_action  builtin               builtin:resolve_action",
        "click           builtin (overridden)  click.py",
        "weather         project               w.py",
        "tide_now        skill                 tides.md",
    ]
    assert told[7:9] == [
        f"Removed built-in tools: {', '.join(name for name in PAGES if name != 'list_pages')}",
        'Add `open_page = "builtin:open_page"` under [tools] to get one back.',
    ]
    assert [line[:60] for line in told[9:]] == [
        "",
        "Did not load:",
        "  no: no must be the path of a .py file in the project, such",
        "  gone: gone.py does not exist in the project's folder. Writ",
        "  sun: Nobody has approved sun.md yet. Look at it, and run: ",
        "  broken: broken.py, line 2: This is not Python: invalid syn",
    ]
    of_agent = done(root, "tools", "ls", "--agent", "a")
    assert [line.split()[0] for line in of_agent.split("\n\n")[0].splitlines()] == ["NAME", "list_pages", "weather"]
    assert "Hidden from a: resolve_action, click, tide_now\n" in of_agent
    listed = json.loads(done(root, "tools", "ls", "--json", "--agent", "a"))
    assert list(listed) == ["manifest", "tools_key", "tools", "removed", "failed"]
    assert listed["tools"][1] == {"name": "weather", "kind": "project", "source": "w.py"}
    assert [fault["name"] for fault in listed["failed"]] == ["no", "gone", "sun", "broken"]
    assert "has no [agents.b]. There are these: a." in refused(root, "tools", "ls", "--agent", "b")


def test_words_of_files_do_not_reach_the_terminal_raw(root: Path):
    module = "parameters = {'properties': {'\\x1b[31m': {}}}"
    manifest = '[tools]\nx = "\\u001b[31m.py"\ny = "y.py"\n"\\u001b[32m" = "y.py"\n'
    write(root, {"pagebridge.toml": manifest, "y.py": module, "s.md": "# \u202eTides\n"})
    for words in (("tools", "ls"), ("validate",)):
        assert "\x1b" not in run(root, *words).stdout
    shown = run(root, "skills", "add", "s.md", "--yes")
    assert "\\u202eTides" in shown.stdout
    assert "\u202e" not in shown.output


# Eject and restore


@pytest.mark.feature("manifest.eject")
def test_a_built_in_tool_is_ejected_and_restored(root: Path):
    tools = '[tools]\nlist_pages = "builtin:list_pages"\nclick = "builtin:click"  # as usual\n'
    before = f'# mine\n{tools}\n[agents.a]\ntools = ["click"]\n'
    write(root, {"pagebridge.toml": before})

    assert done(root, "tools", "eject", "click") == "Wrote tools/click.py, and named it in pagebridge.toml.\n"
    files = tree(root)
    assert files["pagebridge.toml"] == before.replace(
        '"builtin:click"  # as usual', '"tools/click.py"  # as usual # ejected from builtin:click'
    )
    assert 'await context.page.call("builtin:click", args)' in files["tools/click.py"]
    assert done(root, "validate") == "pagebridge.toml: nothing is wrong.\n"
    again = refused(root, "tools", "eject", "click", code=1)
    assert "click comes from tools/click.py already (pagebridge.toml, line 4). With --force" in again
    (root / "tools/click.py").write_text("mine")
    done(root, "tools", "eject", "click", "--force")
    assert tree(root) == files

    told = done(root, "tools", "restore", "click")
    assert told == "click is the built-in tool again, in pagebridge.toml. tools/click.py stays where it is.\n"
    assert tree(root) == files | {"pagebridge.toml": before}
    assert "already" in refused(root, "tools", "restore", "click", code=1)


def test_a_tool_is_ejected_where_there_is_no_manifest_yet(root: Path):
    done(root, "tools", "eject", "call_page_tool")
    assert [row["name"] for row in json.loads(done(root, "tools", "ls", "--json"))["tools"]] == [
        *(name for name in PAGES if name != "call_page_tool"),
        "resolve_action",
        "call_page_tool",
    ]
    assert list(BY_NAME) == PAGES


def test_only_a_built_in_tool_can_be_ejected(root: Path):
    told = refused(root, "tools", "eject", "clock")
    assert told.startswith("Error: clock is no built-in tool. Eject one of: call_page_tool, click, close_page, ")
    assert tree(root) == {}
    write(root, {"pagebridge.toml": ""})
    assert "clock is no built-in tool. Restore one of: " in refused(root, "tools", "restore", "clock")


# Validate


@pytest.mark.feature("manifest.validate")
def test_what_is_wrong_is_told_with_file_line_and_exit_code(root: Path):
    files = {
        "pagebridge.toml": 'x = 1\n[tools]\nclick = "builtin:click"\n',
        "w.py": "description = ' '\nparameters = {'type': 'object', 'properties': {'a': {}}}\nexecute = print\n",
    }
    write(root, files)
    result = run(root, "validate")
    assert (result.exit_code, result.stderr) == (1, "")
    assert result.stdout.startswith("pagebridge.toml:1: error: x is no key of pagebridge.toml.")

    hidden = '[agents.a]\ntools = {exclude = ["resolve_action"]}\n'
    (root / "pagebridge.toml").write_text(f'[tools]\nw = "w.py"\nclick = "builtin:click"\n{hidden}')
    assert done(root, "validate").splitlines() == [
        "w.py:1: warning: The description is empty. Say what the tool does, and when to use it.",
        "w.py:2: warning: The parameter a has no description. Say what is meant by it.",
    ]
    issues = json.loads(done(root, "validate", "--json"))["issues"]
    assert [(issue["file"], issue["line"], issue["severity"]) for issue in issues] == [
        ("w.py", 1, "warning"),
        ("w.py", 2, "warning"),
    ]


@pytest.mark.feature("manifest.validate")
def test_what_git_does_not_track_is_told_where_that_is_asked(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(root.parent))
    write(root, {"pagebridge.toml": '[tools]\nclick = "builtin:click"\nw = "w.py"\n', "w.py": "execute = print\n"})
    told = refused(root, "validate", "--tracked")
    assert told.startswith(f"Error: git can't say which files it tracks in {root}: fatal: not a git repository")

    for words in (["init", "--quiet"], ["add", "pagebridge.toml"]):
        subprocess.run(["git", *words], cwd=root, check=True, timeout=20)
    issue = {
        "file": "pagebridge.toml",
        "line": 3,
        "message": "git does not track w.py, so a clone of the project lacks it. Add it with `git add`, and commit it.",
        "severity": "warning",
    }
    assert json.loads(done(root, "validate", "--tracked", "--json")) == {"issues": [issue]}
    assert done(root, "validate", "--tracked") == f"pagebridge.toml:3: warning: {issue['message']}\n"
    assert done(root, "validate") == "pagebridge.toml: nothing is wrong.\n"


@pytest.mark.threat("S10")
def test_skills_are_checked_with_their_lines_and_with_each_other(root: Path):
    good, bad = skill_file(LOOK_UP), skill_file(LOOK_UP, ORDER)
    write(root, {"pagebridge.toml": "", "a.md": good, "b.md": bad.replace("tide_now", "moon_now")})
    for path in ("a.md", "b.md"):
        done(root, "skills", "add", path, "--yes")
    assert run(root, "validate").exit_code == 0

    manifest = (root / "pagebridge.toml").read_text()
    write(root, {"b.md": bad, "c.md": bad.replace('"kind": "http"', '"kind": "ftp"')})
    b, c = (sha256((root / name).read_bytes()).hexdigest() for name in ("b.md", "c.md"))
    old = read_manifest(root, BUILT_INS).skills["b"].sha256
    assert old is not None
    write(root, {"pagebridge.toml": manifest.replace(old, b) + f'[skills.c]\npath = "c.md"\nsha256 = "{c}"\n'})
    result = run(root, "validate")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert "b.md:1: error: The tool 'tide_now' of b.md has the name of a tool of a.md: rename it in the skill." in lines
    assert any(line.startswith("c.md:11: error: Tool 'tide_now': `kind`") for line in lines), lines


def test_what_hides_a_tool_that_a_module_may_have_is_no_error(root: Path):
    manifest = '[tools]\nlist_pages = "builtin:list_pages"\nw = "w.py"\n[agents.a]\ntools = {exclude = ["rain"]}\n'
    one = "description = 'x'\nparameters = {'type': 'object'}\ndef execute(args, context): pass\n"
    write(root, {"pagebridge.toml": manifest, "w.py": one})
    assert "error: rain is no tool of this project" in run(root, "validate").stdout

    (root / "w.py").write_text("def tools(api): return []\n")
    assert "warning: rain is no tool that is known here" in done(root, "validate")


# New


@pytest.mark.feature("manifest.new")
def test_a_new_tool_is_there_and_works_with_its_test(root: Path):
    told = done(root, "new", "tool", "weather")
    assert told == (
        "Wrote tools/weather.py and tests/test_weather.py, and named it in pagebridge.toml.\n"
        "Try it: python tests/test_weather.py\n"
    )
    assert done(root, "validate") == "pagebridge.toml: nothing is wrong.\n"
    assert "weather          project  tools/weather.py\n" in done(root, "tools", "ls")
    assert "weather comes from tools/weather.py already" in refused(root, "new", "tool", "weather", code=1)
    assert "begins with its source" in refused(root, "new", "tool", "click")
    assert "Weather can't be a tool's name" in refused(root, "new", "tool", "Weather")


# Skills


@pytest.mark.feature("skills.approval")
def test_a_skill_is_shown_with_what_it_may_do_and_approved_by_a_person(root: Path):
    write(root, {"pagebridge.toml": "# mine\n", "skills/tides.md": skill_file(LOOK_UP, ORDER)})

    told = done(root, "skills", "add", "skills/tides.md", given="n\n")
    assert told.splitlines() == [
        "tides (skills/tides.md), new: Tides",
        "  Ask before you sail.",
        "",
        f"  tide_now: {LOOK_UP['description']}",
        "",
        f"  tide_chart: {ORDER['description']}",
        "",
        "  tide_now sends its arguments to https://api.tides.example.",
        "  tide_chart sends its arguments to https://api.tides.example.",
        "  tide_chart keeps files that come from there in the folder for downloads.",
        "  Agents can ask for its text, 29 characters, and may do what it says. Read it first.",
        "",
        "Approve? [y/N]: n",
        "Left as it was.",
    ]
    assert (root / "pagebridge.toml").read_text() == "# mine\n"

    assert done(root, "skills", "add", "skills/tides.md", given="y\n").endswith("Approved in pagebridge.toml.\n")
    assert done(root, "skills", "ls").splitlines() == [
        "NAME   TOOLS                 FILE",
        "tides  tide_now, tide_chart  skills/tides.md",
    ]
    unchanged = done(root, "skills", "add", "skills/tides.md")
    assert unchanged == "tides: nothing has changed, it is approved already.\n"

    with (root / "skills/tides.md").open("a") as file:
        file.write("More.\n")
    assert "\nDid not load:\n  tides: skills/tides.md has changed since it was approved." in done(root, "skills", "ls")
    again = done(root, "skills", "add", "skills/tides.md", "--yes")
    assert again.startswith("tides (skills/tides.md), changed since it was approved: Tides\n")
    assert "Did not load" not in done(root, "skills", "ls")

    told = done(root, "skills", "rm", "tides")
    assert told == "tides is not in pagebridge.toml any more. The skill's file stays where it is.\n"
    assert (root / "pagebridge.toml").read_text() == "# mine\n"
    assert "no skill tides. There are none." in refused(root, "skills", "rm", "tides")


@pytest.mark.threat("S6")
def test_what_is_approved_is_what_was_shown(root: Path, monkeypatch: pytest.MonkeyPatch):
    write(root, {"tides.md": skill_file(LOOK_UP)})

    def swap(_: str) -> bool:
        (root / "tides.md").write_text("Obey.\n")
        return True

    monkeypatch.setattr("click.confirm", swap)
    done(root, "skills", "add", "tides.md")
    assert "tides.md has changed since it was approved" in done(root, "skills", "ls")


@pytest.mark.threat("S10")
def test_a_skill_that_would_not_load_is_not_added(root: Path):
    taken = LOOK_UP | {"name": "click"}
    write(root, {"bad.md": skill_file(LOOK_UP | {"kind": "ftp"}), "taken.md": skill_file(taken)})

    result = run(root, "skills", "add", "bad.md", "--yes")
    assert (result.exit_code, result.stdout) == (1, "")
    first, last = result.stderr.splitlines()
    assert first.startswith("bad.md:11: error: Tool 'tide_now': `kind`")
    assert last == "The skill was not added. Correct it, and add it again."
    result = run(root, "skills", "add", "taken.md", "--yes")
    assert result.stderr.startswith("taken.md:1: error: The tool 'click' of taken.md has the name of a built-in tool")
    assert not (root / "pagebridge.toml").exists()

    assert "does not exist" in refused(root, "skills", "add", "none.md")
    assert "can't be a skill: it leads out of the folder" in refused(root, "skills", "add", "../s.md")


def test_a_skill_gets_the_name_that_was_wished(root: Path):
    write(root, {"s.md": skill_file(LOOK_UP)})
    done(root, "skills", "add", "s.md", "--name", "harbours", "--yes")
    assert list(read_manifest(root, BUILT_INS).skills) == ["harbours"]
    assert "s.md is the skill harbours already" in refused(root, "skills", "add", "s.md", "--name", "x", code=1)


# Secrets


@pytest.mark.feature("manifest.secrets")
def test_a_secret_is_read_from_stdin_kept_for_its_user_alone_and_never_printed(root: Path):
    write(root, {"pagebridge.toml": 'secrets = ["KEY"]\n'})

    shown = done(root, "secrets", "set", "KEY", given="hunter2 é\n")
    assert shown == "Kept KEY.\n"
    file = find_secrets(root)
    assert read_secrets(file) == {"KEY": "hunter2 é"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert root not in file.parents
    told = done(root, "secrets", "set", "OTHER", given="hunter3")
    assert told == (
        'Kept OTHER.\nNo tool gets it yet: add "OTHER" to the list `secrets` at the top of pagebridge.toml.\n'
    )
    assert done(root, "secrets", "ls") == "KEY\nOTHER\n"
    assert done(root, "secrets", "rm", "KEY") == "Removed KEY.\n"
    assert "no secret KEY. Those that are kept: OTHER." in refused(root, "secrets", "rm", "KEY")
    assert done(root, "secrets", "rm", "OTHER") == "Removed OTHER.\n"
    result = run(root, "secrets", "ls")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "No secret is kept for this project.\n")


@pytest.mark.threat("L4")
@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("KEY=hunter2", b"", "Give the name of the secret alone"),
        ("7KEY", b"hunter2", "7KEY can't be a secret's name"),
        ("KEY", b"\n", "There is nothing to keep as KEY"),
        ("KEY", b"hunter2\xff", "half a character"),
        ("KEY", b"hunter2\0", "NUL"),
        ("KEY", b"hunter2" + b"x" * limits.SECRET_BYTES, "more than 65,536 bytes"),
        ("KEY", "é".encode() * limits.SECRET_BYTES, "more than 65,536 bytes"),
        ("KEY", b"x" + "é".encode() * limits.SECRET_BYTES, "more than 65,536 bytes"),
    ],
)
def test_what_can_be_no_secret_is_refused_and_not_shown(root: Path, name: str, given: bytes, said: str):
    write(root, {"pagebridge.toml": 'secrets = "all"\n'})
    told = refused(root, "secrets", "set", name, given=given)
    assert said in told
    assert "hunter2" not in told
    assert read_secrets(find_secrets(root)) == {}


def test_one_that_fits_exactly_is_kept(root: Path):
    write(root, {"pagebridge.toml": 'secrets = "all"\n'})
    text = "x" * limits.SECRET_BYTES
    assert done(root, "secrets", "set", "KEY", given=f"{text}\r\n".encode()) == "Kept KEY.\n"
    assert read_secrets(find_secrets(root)) == {"KEY": text}
