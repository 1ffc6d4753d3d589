"""Which files of a project git does not track: a clone of the project lacks them."""

import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from bridge import limits
from bridge.errors import UsageError
from bridge.files import why_failed
from bridge.manifest.manifest import FILE, Entry, Issue
from bridge.manifest.paths import find_file
from bridge.manifest.read import Inspected

# The config of a repository can name programs: one that watches files, hooks, and what fetches a part that is missing.
_COMMAND: Final = (
    *("git", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("ls-files", "-z", "--"),
)
_OF_A_HOOK: Final = frozenset({"GIT_DIR", "GIT_PREFIX", "GIT_WORK_TREE"})
"""What git tells the hooks that it runs: with these, the folder that it is asked in would count for the top."""
_VARIABLES: Final = {"GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": ""}


def check_tracked(root: Path, inspected: Inspected) -> Iterator[Issue]:
    """The manifest, and the modules, skills and imported manifests that it names, as far as git does not track them.
    Files that are not there are left out.

    Raises:
        UsageError: git can't say.
    """
    real_root = root.resolve()
    found: list[tuple[str, Issue]] = []
    for path, file, line, entry in _named(inspected):
        try:
            real = find_file(root, path).relative_to(real_root).as_posix()
        except UsageError:
            continue
        message = (
            f"git does not track {path}, so a clone of the project lacks it. Add it with `git add`, and commit it."
        )
        found.append((real, Issue(file=file, line=line, severity="warning", message=message, entry=entry)))
    tracked = _list_tracked(real_root, [real for real, _ in found])
    yield from (issue for real, issue in found if real not in tracked)


def _named(inspected: Inspected) -> Iterator[tuple[str, str, int | None, Entry | None]]:
    """Each file with where it is named, and its entry."""
    yield FILE, FILE, None, None
    for path, (file, line) in inspected.imported.items():
        yield path, file, line, None
    if (manifest := inspected.manifest) is not None:
        for tool in manifest.declared.values():
            if not tool.is_built_in:
                yield tool.source, tool.file, tool.line, ("tools", tool.name)
        for skill in manifest.skills.values():
            yield skill.path, skill.file, skill.line, ("skills", skill.name)


def _list_tracked(folder: Path, paths: Iterable[str]) -> frozenset[str]:
    """Those of the paths in a folder that git tracks."""
    advice = "or leave --tracked out"
    try:
        listed = subprocess.run(
            [*_COMMAND, *paths],
            cwd=folder,
            env={name: value for name, value in os.environ.items() if name not in _OF_A_HOOK} | _VARIABLES,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limits.GIT_SECONDS,
        )
    except OSError as error:
        raise UsageError(f"git can't be started: {why_failed(error)}. Install it, {advice}.") from error
    except subprocess.TimeoutExpired as error:
        raise UsageError(
            f"git has not said within {limits.GIT_SECONDS} s which files it tracks. Try again, {advice}."
        ) from error
    if listed.returncode != 0:
        said = listed.stderr.decode(errors="replace").partition("\n")[0]
        raise UsageError(
            f"git can't say which files it tracks in {folder}: {said}. Mend that (`git init` makes a repository), "
            f"{advice}."
        )
    return frozenset(map(os.fsdecode, listed.stdout.split(b"\0")))
