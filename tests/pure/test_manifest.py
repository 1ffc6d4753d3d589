"""pagebridge.toml: what it says, and what is said of it where it is wrong."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from hypothesis import example, given
from hypothesis import strategies as st

from bridge import limits
from bridge.errors import UsageError
from bridge.manifest.approved import read_approved
from bridge.manifest.listing import list_tools
from bridge.manifest.manifest import AgentEntry, Manifest, SkillEntry, ToolEntry
from bridge.manifest.paths import find_file, read_file, why_no_path
from bridge.manifest.read import ManifestFile, has_manifest, inspect, read_manifest
from bridge.manifest.visibility import check_agents
from tests.manifests import BUILT_INS, HASH, issues, read, refusal, write

WHOLE = f"""\
import = ["tools/more.toml"]
secrets = ["WEATHER_KEY"]
env = ["LANG"]

[tools]
list_pages = "builtin:list_pages"
click = "tools/click.py"  # one of our own
weather = "tools/weather.py"

[skills]
tides = {{path = "skills/tides.md", sha256 = "{HASH}", trusted = true, local_origins = ["https://LOCALHOST:8443/"]}}
moon = "skills/moon.md"

[agents.reviewer]
tools = ["list_pages", "weather"]
secrets = "none"

[agents."ci.7"]
tools = {{exclude = ["click"], fill = false}}
"""
MORE = '[tools]\nadded = "tools/added.py"\n'


@pytest.mark.feature("manifest.imports")
def test_a_manifest_is_read_with_what_it_imports(tmp_path: Path):
    manifest = read(tmp_path, WHOLE, {"tools/more.toml": MORE})

    main: Any = {"file": "pagebridge.toml"}
    assert manifest == Manifest(
        root=tmp_path,
        files=("pagebridge.toml", "tools/more.toml"),
        tools={
            "list_pages": ToolEntry(name="list_pages", source="builtin:list_pages", line=6, **main),
            "click": ToolEntry(name="click", source="tools/click.py", line=7, **main),
            "weather": ToolEntry(name="weather", source="tools/weather.py", line=8, **main),
            "added": ToolEntry(name="added", source="tools/added.py", line=2, file="tools/more.toml"),
        },
        skills={
            "tides": SkillEntry(
                name="tides",
                path="skills/tides.md",
                sha256=HASH,
                trusted=True,
                local_origins=frozenset({"https://localhost:8443"}),
                line=11,
                **main,
            ),
            "moon": SkillEntry(name="moon", path="skills/moon.md", line=12, **main),
        },
        agents={
            "reviewer": AgentEntry(
                name="reviewer",
                shown=frozenset({"list_pages", "weather"}),
                secrets=frozenset(),
                lines={"list_pages": 15, "weather": 15},
                line=15,
                **main,
            ),
            "ci.7": AgentEntry(
                name="ci.7", hidden=frozenset({"click", "fill"}), lines={"click": 19, "fill": 19}, line=19, **main
            ),
        },
        secrets=frozenset({"WEATHER_KEY"}),
        env=frozenset({"LANG"}),
    )


def test_a_project_without_a_manifest_says_nothing(tmp_path: Path):
    assert not has_manifest(tmp_path)
    assert read_manifest(tmp_path, BUILT_INS) == Manifest(root=tmp_path)


@pytest.mark.feature("manifest.tools")
@pytest.mark.parametrize(
    ("text", "names"),
    [("", None), ("env = []", None), ("[tools]", []), ("tools = {}", []), ('[tools]\nx = "x.py"', ["x"])],
)
def test_no_key_is_told_from_one_without_tools(tmp_path: Path, text: str, names: list[str] | None):
    tools = read(tmp_path, text).tools
    assert (None if tools is None else list(tools)) == names


@pytest.mark.feature("manifest.imports")
def test_a_key_in_an_import_counts(tmp_path: Path):
    assert read(tmp_path, 'import = ["a.toml"]', {"a.toml": "[tools]"}).tools == {}


CLICK = '"builtin:click" (the built-in tool) or the path of a .py file in the project, such as "tools/click.py"'
X = 'x must be the path of a .py file in the project, such as "tools/x.py"'
NAME = (
    "can't be a tool's name. Begin with a lower-case letter, and go on with lower-case letters, digits and _; "
    "64 in all."
)


@pytest.mark.feature("manifest.validate")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('click = "builtin:fill"', f"click must be {CLICK}: a built-in tool has its own name only."),
        ("click = 1", f"click must be {CLICK}."),
        ("x = []", f"{X}."),
        ("x = {}", f"{X}."),
        ("x = 1979-05-27", f"{X}."),
        ('clik = "builtin:clik"', 'clik must be the path of a .py file in the project, such as "tools/clik.py": there '
         "is no built-in tool clik. Did you mean click?"),
        ('x = "builtin:click"', f"{X}: there is no built-in tool x."),
        ('x = "builtin:"', f"{X}: there is no built-in tool x."),
        ('x = "skills/x.md"', f"{X}. A skill belongs under [skills]: `pagebridge skills add skills/x.md` "
         "puts it there."),
        ('x = "x.json"', f"{X}. x.json is none: it does not end with .py."),
        ('Click = "x.py"', f"Click {NAME}"),
        ('"" = "x.py"', f"'' {NAME}"),
        ('9x = "x.py"', f"9x {NAME}"),
        ('a-b = "x.py"', f"a-b {NAME}"),
        ('"é" = "x.py"', f"'é' {NAME}"),
        ('"x\\n" = "x.py"', f"'x\\n' {NAME}"),
        (f'{"x" * 65} = "x.py"', f"'{'x' * 64}…' {NAME}"),
        ('page_x = "x.py"', "page_x can't be a tool's name: those with page_ are for tools of pages. Choose another "
         "name."),
    ],
)  # fmt: skip
def test_a_wrong_line_costs_its_own_tool_alone(tmp_path: Path, line: str, message: str):
    text = f'[tools]\nfine = "fine.py"\n{line}\n'

    assert issues(tmp_path, text) == [f"pagebridge.toml:3: error: {message}"]
    manifest = read(tmp_path, text)
    assert list(manifest.declared) == ["fine"]
    assert [(section, reason) for (section, _), reason in manifest.failed.items()] == [("tools", message)]


def test_a_longest_name_is_one(tmp_path: Path):
    name = "x" * 64
    assert list(read(tmp_path, f'[tools]\n{name} = "x.py"').declared) == [name]


@pytest.mark.threat("S10")
def test_nobody_gets_the_name_of_a_tool_that_is_no_more_or_that_no_manifest_lists(tmp_path: Path):
    manifest = read(tmp_path, '[tools]\npress = "press.py"\nsettle = "settle.py"')
    assert manifest.failed == {
        ("tools", "press"): "press can't be a tool's name: a built-in tool was called so once. Choose another name.",
        (
            "tools",
            "settle",
        ): "settle can't be a tool's name: a built-in tool that no manifest lists is called so. Choose another name.",
    }
    assert manifest.tools == {}


OUTSIDE = "it does not begin in the project's folder"
ESCAPES = [
    ("../x.py", "it leads out of the folder that it is in"),
    ("tools/../../x.py", "it leads out of the folder that it is in"),
    ("tools/../x.py", "it leads out of the folder that it is in"),
    ("tools/..", "it leads out of the folder that it is in"),
    ("/etc/x.py", OUTSIDE),
    ("//host/x.py", OUTSIDE),
    ("~/x.py", OUTSIDE),
    ("~root/x.py", OUTSIDE),
    ("C:/x.py", OUTSIDE),
    ("c:x.py", OUTSIDE),
    ("\\\\host\\x.py", OUTSIDE),
    ("file:///etc/x.py", OUTSIDE),
    ("https://h/x.py", OUTSIDE),
    ("tools\\x.py", "it has a backslash: write /"),
    ("tools\\..\\..\\x.py", "it has a backslash: write /"),
    ("tools//x.py", "it has an empty part, or one that is a dot"),
    ("tools/x.py/", "it has an empty part, or one that is a dot"),
    ("./x.py", "it has an empty part, or one that is a dot"),
    ("tools/./x.py", "it has an empty part, or one that is a dot"),
    ("", "it has an empty part, or one that is a dot"),
    ("tools/x.py\0", "it has characters that can't be seen"),
    ("tools/x\0.py", "it has characters that can't be seen"),
    ("tools/x\u202eyp.py", "it has characters that can't be seen"),
    ("tools/x\n.py", "it has characters that can't be seen"),
    ("tools/x.PY", "it does not end with .py"),
    ("tools/x.pyc", "it does not end with .py"),
    ("tools/x.py ", "it does not end with .py"),
    ("tools/x", "it does not end with .py"),
    ("tools/.py", "it does not end with .py"),
    ("tools.py/x", "it does not end with .py"),
    ("x" * 5000 + ".py", "it has more than 4,095 bytes"),
    (3, "it is no text"),
]


@pytest.mark.threat("S1")
@pytest.mark.parametrize(("path", "reason"), ESCAPES)
def test_a_path_that_could_leave_the_project_is_refused_by_its_look(path: object, reason: str):
    assert why_no_path(path, ".py") == reason


@pytest.mark.threat("S1")
@pytest.mark.parametrize("path", ["x.py", "tools/x.py", "a/b/c-d.e/ü x.py", "..x/x..py", "...py"])
def test_a_path_inside_is_taken(path: str):
    assert why_no_path(path, ".py") is None


def toml(path: str) -> str:
    return '"' + "".join(f"\\U{ord(character):08x}" for character in path) + '"'


@pytest.mark.threat("S1")
@pytest.mark.parametrize("path", [path for path, _ in ESCAPES if isinstance(path, str) and len(path) < 5000])
def test_a_tool_or_skill_or_import_that_leaves_the_project_is_never_opened(tmp_path: Path, path: str):
    text = f'[tools]\nbad = {toml(path)}\ngood = "good.py"\n[skills]\nbad = {toml(path)}'
    assert list(read(tmp_path, text).declared) == ["good"]
    assert set(read(tmp_path, text).failed) == {("tools", "bad"), ("skills", "bad")}
    assert "can't be imported" in refusal(tmp_path, f"import = [{toml(path)}]")


@pytest.mark.threat("S1")
def test_what_is_no_plain_file_of_the_project_is_never_opened(tmp_path: Path):
    root, outside = tmp_path / "project", tmp_path / "outside"
    write(root, {"tools/x.py": "1"})
    write(outside, {"x.py": "2"})
    (root / "out.py").symlink_to(outside / "x.py")
    (root / "inside.py").symlink_to("tools/x.py")
    (root / "loop.py").symlink_to("loop.py")
    (root / "gone.py").symlink_to("nothing.py")
    (root / "linked").symlink_to(outside)
    (root / "near").symlink_to("tools")
    (root / "folder.py").mkdir()
    os.mkfifo(root / "pipe.py")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(root / "socket.py"))

    found: dict[str, str] = {}
    for path in ("out.py", "loop.py", "linked/x.py", "folder.py", "pipe.py", "socket.py", "inside.py", "gone.py",
                 "none.py", "tools/X.py", "tools/x.py/y.py"):  # fmt: skip
        with pytest.raises(UsageError) as caught:
            read_file(root, path)
        found[path] = str(caught.value).removeprefix(f"{path} ")
    link = "is a link. Name what it leads to, or put the file there."
    plain = "is a folder, a pipe or a device. Name a plain file."
    gone = "does not exist in the project's folder. Write the file, or change the path."
    assert found == {
        "out.py": link,
        "inside.py": link,
        "loop.py": link,
        "gone.py": link,
        "linked/x.py": "leads out of the project's folder, through a link. Put the file there.",
        "folder.py": plain,
        "pipe.py": plain,
        "socket.py": plain,
        "none.py": gone,
        "tools/X.py": gone,
        "tools/x.py/y.py": "can't be read: Not a directory. Change the path, or the file's rights.",
    }
    assert read_file(root, "near/x.py") == read_file(root, "tools/x.py") == b"1"
    assert find_file(root, "near/x.py") == Path(os.path.realpath(root)) / "tools/x.py"


@pytest.mark.threat("S1")
def test_a_folder_beside_the_project_with_a_longer_name_is_outside(tmp_path: Path):
    write(tmp_path / "project", {"a.py": ""})
    write(tmp_path / "project-2", {"x.py": ""})
    (tmp_path / "project/linked").symlink_to(tmp_path / "project-2")

    with pytest.raises(UsageError, match="leads out of the project's folder"):
        read_file(tmp_path / "project", "linked/x.py")


def test_a_project_behind_a_link_is_a_project(tmp_path: Path):
    write(tmp_path / "real", {"pagebridge.toml": '[tools]\nx = "x.py"', "x.py": "1"})
    (tmp_path / "link").symlink_to("real")

    assert list(read_manifest(tmp_path / "link", BUILT_INS).declared) == ["x"]
    assert read_file(tmp_path / "link", "x.py") == b"1"


def test_a_file_that_is_too_long_is_not_taken_in_part(tmp_path: Path):
    write(tmp_path, {"x.py": "123"})
    assert read_file(tmp_path, "x.py", 3) == b"123"
    with pytest.raises(UsageError, match=r"x\.py has more than 2 bytes\. Make it shorter\."):
        read_file(tmp_path, "x.py", 2)


@pytest.mark.threat("S2")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[tools]\nx = "a.py"\nx = "b.py"', "pagebridge.toml, line 3): tools.x is there a second time, after line 2."),
        ("[tools]\n[env]\n[tools]", "pagebridge.toml, line 3): tools is there a second time, after line 1. Keep"),
        ("[tools]\nx = no", "pagebridge.toml, line 2): This is not TOML: Invalid value. Correct it; strings"),
        ("tools: {x: x.py}", "pagebridge.toml, line 1): This is not TOML: "),
        ("a: &a [x]\nb: [*a, *a]", "pagebridge.toml, line 1): This is not TOML: "),
        ("!!python/object:os.system {}", "pagebridge.toml, line 1): This is not TOML: "),
        ("x = " + "9" * 5000, "pagebridge.toml): This is not TOML: Exceeds the limit (4300 digits) for integer"),
        ("x = 017", "pagebridge.toml, line 1): This is not TOML: "),
        (b"env = []\n# \xff", "pagebridge.toml, line 2): There is a byte that is not UTF-8 here. Save the file"),
        (b"\xef\xbb\xbfenv = []", "pagebridge.toml, line 1): The file begins with a byte order mark. Save it as"),
        ("env = []\0", "pagebridge.toml, line 1): This is not TOML: "),
        ('env = ["A"', "pagebridge.toml, line 1): This is not TOML: Unclosed array. Correct it"),
        (b"#" * (limits.MANIFEST_BYTES + 1), "pagebridge.toml): pagebridge.toml has more than 65,536 bytes. Make"),
        (b"#" * 100_000_000, "pagebridge.toml): pagebridge.toml has more than 65,536 bytes. Make it shorter."),
        (".".join("a" * 20_000) + " = 1", "pagebridge.toml, line 1): A key has more than 8 parts here."),
        ("tools = " + "[" * 50_000, "pagebridge.toml, line 1): More than 8 brackets are inside of each other here."),
        ("[tools]\n" + "\n".join(f't{n}="x.py"' for n in range(201)),
         "pagebridge.toml, line 1): There are more than 200 tools in all. Remove some."),
        ("\n".join(f'[skills.s{n}]\npath="x.md"' for n in range(21)),
         "pagebridge.toml, line 1): There are more than 20 skills in all. Remove some."),
    ],
    ids=lambda value: str(value)[:24],
)  # fmt: skip
def test_a_file_that_is_no_manifest_is_refused_as_a_whole(tmp_path: Path, text: str | bytes, reason: str):
    assert refusal(tmp_path, text).startswith(f"The manifest can't be used ({reason}")


RULE = 'tools of agent x must be "all", "none", a list such as ["click"], {exclude = ["click"]} or {click = false}'


def no_table(name: str) -> str:
    return f"{name} is no table. Write [{name}] in a line of its own, and below it a line for each name."


@pytest.mark.feature("manifest.validate")
@pytest.mark.parametrize(
    ("text", "issue"),
    [
        ("agent = {}", "1: error: agent is no key of pagebridge.toml. Did you mean agents?"),
        ("\nzzz = 1", "2: error: zzz is no key of pagebridge.toml. Those that there are: import, tools, skills, "
         "agents, secrets, env."),
        ("tools = []", f"1: error: {no_table('tools')}"),
        ("[[tools]]", f"1: error: {no_table('tools')}"),
        ("skills = 1", f"1: error: {no_table('skills')}"),
        ("import = 'a.toml'", '1: error: import must be a list of texts, such as ["one", "two"].'),
        ("import = [1]", '1: error: import must be a list of texts, such as ["one", "two"].'),
        ("import = ['a.yaml']", "1: error: a.yaml can't be imported: it does not end with .toml. Name a .toml file in "
         "the project."),
        ("import = [\n'a.toml']", "2: error: a.toml does not exist in the project's folder. Write the file, or change "
         "the path."),
        ("secrets = 'some'", '1: error: secrets must be "all", "none" or a list of names, such as ["API_KEY"].'),
        ("secrets = true", '1: error: secrets must be "all", "none" or a list of names, such as ["API_KEY"].'),
        ("secrets = [\n'A',\n'a-b']", "3: error: a-b can't be a variable's name. Use letters, digits and _, no digit "
         "first; 64 in all."),
        ("env = 'all'", '1: error: env must be a list of texts, such as ["one", "two"].'),
        ("env = ['*']", "1: error: '*' can't be a variable's name. Use letters, digits and _, no digit first; 64 in "
         "all."),
        ("[agents]\nx = 'all'", f"2: error: {no_table('agents.x')}"),
        ("[agents.'a b']", "1: error: 'a b' can't be an agent's name. Begin with a letter or digit, and go on with "
         "letters, digits, . _ and -; 64 in all."),
        ("[agents.x]\ntool = []", "2: error: tool is no key of [agents.x]. Did you mean tools?"),
        ("[agents.x]\ntools = 'some'", f'2: error: {RULE}.'),
        ("[agents.x]\ntools = false", f'2: error: {RULE}.'),
        ("[agents.x.tools]\nclick = true", f'2: error: {RULE}: click is neither.'),
        ("[agents.x.tools]\nclick = 0", f'2: error: {RULE}: click is neither.'),
        ("[agents.x.tools]\nexclude = 'click'", f'2: error: {RULE}: exclude is neither.'),
        ("[agents.x]\ntools = [1]", '2: error: agents.x.tools must be a list of texts, such as ["one", "two"].'),
        ("[agents.x]\nsecrets = 1", '2: error: agents.x.secrets must be "all", "none" or a list of names, such as '
         '["API_KEY"].'),
    ],
)  # fmt: skip
def test_each_rule_has_a_sentence_with_its_line(tmp_path: Path, text: str, issue: str):
    assert issues(tmp_path, text) == [f"pagebridge.toml:{issue}"]
    assert refusal(tmp_path, text).startswith(f"The manifest can't be used (pagebridge.toml, line {issue[0]}): ")


PATH = 'The path of skill x must be that of a .md file in the project, such as "skills/x.md"'
SHA256 = "sha256 of skill x is none: `pagebridge skills add x.md` writes the right one."
ORIGINS = (
    'local_origins of skill x must be a list of https origins on this machine, such as ["https://localhost:8443"].'
)


@pytest.mark.feature("manifest.validate")
@pytest.mark.parametrize(
    ("fields", "issue"),
    [
        ("{}", f'{PATH}: it is no text.'),
        ("1", f'{PATH}: it is no text.'),
        ("{path = 'x.txt'}", f'{PATH}: it does not end with .md.'),
        ("{path = 'x.md', sha256 = 'abc'}", SHA256),
        (f"{{path = 'x.md', sha256 = '{'A' * 64}'}}", SHA256),
        ("{path = 'x.md', trusted = 1}", "trusted of skill x must be true or false."),
        ("{path = 'x.md', downloads = '../d'}", 'downloads of skill x must be a folder in the project, such as '
         '"downloads": it leads out of the folder that it is in.'),
        ("{path = 'x.md', local_origins = ['https://h.example']}", ORIGINS),
        ("{path = 'x.md', local_origins = ['http://localhost']}", ORIGINS),
        ("{path = 'x.md', local_origins = 'https://localhost'}", ORIGINS),
        ("{path = 'x.md', trust = true}", "trust is no key of [skills.x]. Did you mean trusted?"),
    ],
)  # fmt: skip
def test_a_wrong_skill_costs_itself_alone(tmp_path: Path, fields: str, issue: str):
    text = f'[skills]\ny = "y.md"\nx = {fields}'

    assert issues(tmp_path, text) == [f"pagebridge.toml:3: error: {issue}"]
    assert list(read(tmp_path, text).skills) == ["y"]
    assert read(tmp_path, text).failed == {("skills", "x"): issue}


def test_the_first_of_many_faults_is_told_with_their_number(tmp_path: Path):
    assert refusal(tmp_path, "env = 1\nsecrets = 2\nimport = 3\n[tools]\nx = 1") == (
        'The manifest can\'t be used (pagebridge.toml, line 1): env must be a list of texts, such as ["one", "two"]. '
        "`pagebridge validate` tells all 3 errors of that kind."
    )


@pytest.mark.feature("manifest.imports")
@pytest.mark.threat("S10")
def test_a_name_in_two_files_is_in_neither_and_both_are_told(tmp_path: Path):
    text = 'import = ["a.toml"]\n[tools]\nx = "x.py"\ny = "y.py"\n[skills.s]\npath = "s.md"'
    more = '[tools]\nx = "x.py"\n[skills]\ns = "s.md"'

    assert issues(tmp_path, text, {"a.toml": more}) == [
        "a.toml:2: error: x is in pagebridge.toml, line 3, too. Keep one of the two.",
        "a.toml:4: error: s is in pagebridge.toml, line 5, too. Keep one of the two.",
    ]
    manifest = read(tmp_path, text)
    assert (list(manifest.declared), list(manifest.skills)) == (["y"], [])


def test_who_gets_what_is_said_in_the_main_file_alone(tmp_path: Path):
    more = 'secrets = "all"\nenv = ["A"]\n[agents.x]'
    assert issues(tmp_path, 'import = ["sub/a.toml"]', {"sub/a.toml": more}) == [
        f"sub/a.toml:{line}: error: {key} is no key of sub/a.toml. Those that there are: import, tools, skills."
        for line, key in enumerate(("secrets", "env", "agents"), 1)
    ]


@pytest.mark.threat("S2")
@pytest.mark.parametrize(
    ("files", "importer"),
    [
        ({"pagebridge.toml": 'import = ["pagebridge.toml"]'}, "pagebridge.toml"),
        ({"pagebridge.toml": 'import = ["a.toml"]', "a.toml": 'import = ["pagebridge.toml"]'}, "a.toml"),
        ({"pagebridge.toml": 'import = ["a.toml"]', "a.toml": 'import = ["a.toml"]'}, "a.toml"),
        (
            {
                "pagebridge.toml": 'import = ["a.toml"]',
                "a.toml": 'import = ["b.toml"]',
                "b.toml": 'import = ["a.toml"]',
            },
            "b.toml",
        ),
    ],
)
def test_imports_that_lead_in_a_circle_are_refused(tmp_path: Path, files: dict[str, str], importer: str):
    write(tmp_path, files)
    with pytest.raises(UsageError, match=rf"\({importer}, line 1\): \S+ imports itself, directly or through others"):
        read_manifest(tmp_path, BUILT_INS)


def test_a_file_that_two_import_is_read_once(tmp_path: Path):
    files = {"a.toml": 'import = ["c.toml"]', "b.toml": 'import = ["c.toml"]', "c.toml": '[tools]\nx = "x.py"'}
    assert list(read(tmp_path, 'import = ["a.toml", "b.toml"]', files).declared) == ["x"]


@pytest.mark.threat("S2")
def test_a_tree_of_imports_is_bounded(tmp_path: Path):
    files = {f"f{number}.toml": f'import = ["f{number + 1}.toml"]' for number in range(100)}
    assert "The manifest has more than 20 files. Put some together." in refusal(tmp_path, 'import = ["f0.toml"]', files)
    wide = ", ".join(f'"f{number}.toml"' for number in range(100))
    assert "The manifest has more than 20 files. Put some together." in refusal(tmp_path, f"import = [{wide}]")


@pytest.mark.threat("S1", "S2")
def test_an_import_through_a_link_is_refused(tmp_path: Path):
    root = tmp_path / "project"
    write(tmp_path, {"outside/a.toml": '[tools]\nx = "x.py"'})
    root.mkdir()
    (root / "linked").symlink_to("../outside")
    (root / "a.toml").symlink_to("../outside/a.toml")

    assert "linked/a.toml leads out of the project's folder, through a link." in refusal(
        root, 'import = ["linked/a.toml"]'
    )
    assert "a.toml is a link." in refusal(root, 'import = ["a.toml"]')


@pytest.mark.threat("S1")
def test_a_manifest_that_is_a_link_or_a_pipe_is_refused(tmp_path: Path):
    (tmp_path / "pagebridge.toml").symlink_to("nothing")
    with pytest.raises(UsageError, match=r"\(pagebridge\.toml\): pagebridge\.toml is a link\."):
        read_manifest(tmp_path, BUILT_INS)
    (tmp_path / "pagebridge.toml").unlink()
    os.mkfifo(tmp_path / "pagebridge.toml")
    with pytest.raises(UsageError, match="is a folder, a pipe or a device"):
        read_manifest(tmp_path, BUILT_INS)


def test_what_is_changed_in_a_file_counts_at_the_next_look(tmp_path: Path):
    file = ManifestFile(tmp_path, BUILT_INS)
    assert file.read().tools is None

    write(tmp_path, {"pagebridge.toml": 'import = ["a.toml"]', "a.toml": "[tools]"})
    first = file.read()
    assert first.tools == {}
    assert file.read() is first

    write(tmp_path, {"a.toml": '[tools]\nx = "x.py"'})
    assert list(file.read().declared) == ["x"]

    write(tmp_path, {"pagebridge.toml": "[tools"})
    for _ in range(2):
        with pytest.raises(UsageError, match="This is not TOML"):
            file.read()

    write(tmp_path, {"pagebridge.toml": '[tools]\ny = "y.py"'})
    assert list(file.read().declared) == ["y"]
    (tmp_path / "pagebridge.toml").unlink()
    with pytest.raises(UsageError, match=r"pagebridge\.toml is gone\. Put it back"):
        file.read()


@pytest.mark.feature("skills.approval")
def test_a_skill_is_exactly_what_was_approved(tmp_path: Path):
    write(tmp_path, {"s.md": "one"})
    entry = SkillEntry(
        name="s",
        path="s.md",
        sha256="7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
        file="pagebridge.toml",
        line=1,
    )
    assert read_approved(tmp_path, entry) == b"one"

    write(tmp_path, {"s.md": "One"})
    with pytest.raises(UsageError) as caught:
        read_approved(tmp_path, entry)
    assert (
        str(caught.value) == "s.md has changed since it was approved. Look at it, and run: pagebridge skills add s.md"
    )
    with pytest.raises(
        UsageError, match=r"Nobody has approved s\.md yet\. Look at it, and run: pagebridge skills add s"
    ):
        read_approved(tmp_path, SkillEntry(name="s", path="s.md", file="pagebridge.toml", line=1))


WORDS = st.sampled_from(
    ["click", "builtin:click", "x", "tools/x.py", "s.md", "../x", "all", "none", "*", "a.toml", "", "é\n", HASH, "KEY"]
)
ANY = st.recursive(
    st.one_of(WORDS, st.booleans(), st.integers(-1, 2**70), st.floats(), st.dates()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=4,
)
SECTION = st.dictionaries(
    st.one_of(WORDS, st.sampled_from(["path", "sha256", "tools", "secrets", "exclude", "downloads", "local_origins"])),
    ANY,
    max_size=3,
)
MANIFESTS = st.fixed_dictionaries(
    {},
    optional={
        "tools": st.one_of(SECTION, ANY),
        "skills": st.one_of(st.dictionaries(WORDS, SECTION, max_size=2), SECTION, ANY),
        "agents": st.one_of(st.dictionaries(WORDS, SECTION, max_size=2), SECTION, ANY),
        "import": ANY,
        "secrets": ANY,
        "env": ANY,
        "other": ANY,
    },
)


@given(MANIFESTS)
@example({"skills": {"é\n": {}}})
@example({"skills": {"é\n": {"click": []}}})
def test_whatever_it_says_it_is_taken_or_told_in_sentences(tmp_path_factory: pytest.TempPathFactory, data: Any):
    root = tmp_path_factory.getbasetemp() / "any"
    write(root, {"pagebridge.toml": tomlkit.dumps(data)})
    inspected = inspect(root, BUILT_INS)

    broad = [issue for issue in inspected.issues if issue.severity == "error" and issue.entry is None]
    assert (inspected.manifest is None) == bool(broad)
    for issue in inspected.issues:
        assert issue.message.isprintable()
        assert issue.line is not None
    if inspected.manifest is not None:
        assert set(inspected.manifest.declared) <= set(data.get("tools", ()))
        list(check_agents(inspected.manifest, BUILT_INS))
        list_tools(inspected.manifest, BUILT_INS).as_text()
