"""What is installed from a wheel, in an environment that has nothing of this folder."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOOK = """
import pathlib, bridge.page.shims as shims, bridge.serve.titles as titles
script = shims.kit_script("k", early=True)
assert "makeKit(saveNatives(), true)" in script and len(script) > 50_000, len(script)
assert [titles.titles(language)["click"] for language in titles.LANGUAGES] == ["Click", "Cliquer"]
print(pathlib.Path(shims.__file__).parents[2])
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an environment with the wheel in it, and with the packages of this one behind it."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", folder, ROOT], check=True, timeout=120)
    [wheel] = folder.glob("pagebridge-*.whl")
    environment = folder / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True, timeout=60)
    there = next((environment / "lib").glob("python*/site-packages"))
    subprocess.run([*pip, "install", "--no-deps", "--target", there, wheel], check=True, timeout=60)
    ours = next(Path(sys.prefix, "lib").glob("python*/site-packages"))
    # As a line of a .pth file would also bring our own folder, the packages are named one by one.
    own = ("pagebridge", "_pagebridge", "_editable", "__editable__", "bridge")
    for package in ours.iterdir():
        if not package.name.startswith(own) and not (there / package.name).exists():
            (there / package.name).symlink_to(package)
    return environment


def test_the_wheel_brings_its_shims_and_its_titles(installed: Path, tmp_path: Path):
    answer = subprocess.run(
        [installed / "bin" / "python", "-I", "-c", LOOK], cwd=tmp_path, capture_output=True, text=True, timeout=30
    )

    assert answer.returncode == 0, answer.stderr
    assert Path(answer.stdout.strip()).is_relative_to(installed)


def test_the_command_of_the_wheel_runs(installed: Path, tmp_path: Path):
    answer = subprocess.run(
        [installed / "bin" / "python", "-I", "-m", "bridge", "--version"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
    )

    assert answer.returncode == 0, answer.stderr
    assert "pagebridge" in answer.stdout
