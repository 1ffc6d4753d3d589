"""Which file a path to a module means."""

import os
from pathlib import Path

import pytest

from bridge.errors import UsageError
from bridge.tools.modules.paths import expand_named, find_declared, find_named


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "tools").mkdir(parents=True)
    (root / "tools/weather.py").write_text("")
    (tmp_path / "outside.py").write_text("")
    return root


@pytest.mark.parametrize("path", ["tools/weather.py", "top.py", "inside/weather.py"])
def test_a_module_of_the_project_is_found_where_it_really_is(root: Path, path: str):
    (root / "top.py").write_text("")
    (root / "inside").symlink_to("tools")

    assert find_declared(path, root) == root / path.replace("inside", "tools")


@pytest.mark.threat("S1")
@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("../outside.py", "would leave the project"),
        ("tools/../../outside.py", "would leave the project"),
        ("tools/../tools/weather.py", "would leave the project"),
        ("/etc/passwd.py", "relative to the project"),
        ("~/outside.py", "relative to the project"),
        ("C:/outside.py", "relative to the project"),
        ("\\\\host\\share\\a.py", "relative to the project"),
        ("tools\\weather.py", "relative to the project"),
        ("./tools/weather.py", "an empty part"),
        ("tools//weather.py", "an empty part"),
        ("", "an empty part"),
        ("tools/weather.py\0.md", "no file can have that path"),
        ("tools/weather.py\0", "no file can have that path"),
        ("tools/" + "x" * 5000 + ".py", "no file can have that path"),
        ("tools/\udc80\ud800.py", "half a character"),
        ("tools/weather.PY", "ends in .py"),
        ("tools/weather.pyc", "ends in .py"),
        ("tools/weather", "ends in .py"),
        ("tools/weather.md", r"a \.md file can't be run; a skill belongs under \[skills\]"),
        ("tools/weather.json", r"a \.json file can't be run"),
        ("tools/absent.py", "there is no such file"),
        ("Tools/weather.py", "there is no such file"),
        ("tools/folder.py", "not a plain file"),
        ("tools/pipe.py", "not a plain file"),
        ("tools/link.py", "it is a link"),
        ("tools/nowhere.py", "there is no such file"),
        ("away/outside.py", "a link leads out of the project"),
        ("tools/weather.py/a.py", "can't be a module"),
    ],
)
def test_what_is_no_module_of_the_project_is_refused_unopened(root: Path, path: str, says: str):
    (root / "tools/folder.py").mkdir()
    os.mkfifo(root / "tools/pipe.py")
    (root / "tools/link.py").symlink_to("weather.py")
    (root / "tools/nowhere.py").symlink_to("absent.py")
    (root / "away").symlink_to("..")

    with pytest.raises(UsageError, match=says) as raised:
        find_declared(path, root)
    assert len(str(raised.value)) < 400


@pytest.mark.threat("S1")
def test_a_project_beside_another_of_the_same_beginning_is_not_inside(root: Path):
    other = root.with_name("project-2")
    other.mkdir()
    (other / "a.py").write_text("")
    (root / "other").symlink_to(other)

    with pytest.raises(UsageError, match="leads out of the project"):
        find_declared("other/a.py", root)


@pytest.mark.feature("modules.names")
def test_a_person_names_any_module(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(root))

    for path in (
        "tools/weather.py",
        "../project/tools/weather.py",
        str(root / "tools/weather.py"),
        "~/tools/weather.py",
    ):
        assert find_named(path, root) == root / "tools/weather.py"
    assert find_named("../outside.py", root) == root.with_name("outside.py")


@pytest.mark.feature("modules.names")
@pytest.mark.parametrize("path", ["tools/weather.md", "absent.py", "tools", "~nobody-of-that-name/a.py", "a\0.py"])
def test_what_a_person_names_is_a_module_too(root: Path, path: str):
    with pytest.raises(UsageError, match="can't be a module"):
        find_named(path, root)


@pytest.mark.feature("modules.names")
def test_a_folder_stands_for_the_modules_in_it(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(root))
    for name in ("add.py", "_shared.py", ".hidden.py", "notes.md", "__init__.py"):
        (root / "tools" / name).write_text("")
    (root / "tools/below.py").mkdir()

    for path in ("tools", str(root / "tools"), "~/tools"):
        assert expand_named(path, root) == [f"{path}/add.py", f"{path}/weather.py"]
    for path in ("tools/add.py", "tools/_shared.py", "absent", "~nobody-of-that-name", "a\0", "x" * 5000, "\ud800"):
        assert expand_named(path, root) == [path]


@pytest.mark.feature("modules.names")
def test_a_folder_without_a_module_is_refused(root: Path):
    (root / "empty/below").mkdir(parents=True)
    for name in ("_shared.py", "notes.md", "below/add.py"):
        (root / "empty" / name).write_text("")

    with pytest.raises(UsageError, match="'empty' can't be a module: it is a folder without any; put a file there"):
        expand_named("empty", root)


@pytest.mark.threat("S1")
def test_a_link_in_a_folder_is_refused_as_one_that_is_named(root: Path):
    (root / "tools/link.py").symlink_to(root.with_name("outside.py"))

    for path in ("tools/link.py", "tools"):
        with pytest.raises(UsageError, match=r"'tools/link.py' can't be a module: it is a link"):
            [find_named(one, root) for one in expand_named(path, root)]
