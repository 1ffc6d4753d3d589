"""Projects with a manifest, for tests."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from bridge.errors import UsageError
from bridge.manifest.manifest import BuiltIns, Manifest
from bridge.manifest.read import inspect, read_manifest

BUILT_INS = BuiltIns(
    names=frozenset({"list_pages", "call_page_tool", "click", "fill", "fill_form", "evaluate_script"}),
    profile=("list_pages", "call_page_tool", "click"),
    retired=frozenset({"press"}),
    reserved=frozenset({"settle"}),
)
HASH = "0" * 64


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode() if isinstance(text, str) else text)


def read(root: Path, text: str | bytes, files: Mapping[str, str | bytes] | None = None) -> Manifest:
    write(root, {"pagebridge.toml": text, **(files or {})})
    return read_manifest(root, BUILT_INS)


def issues(root: Path, text: str | bytes, files: Mapping[str, str | bytes] | None = None) -> list[str]:
    """What is wrong, a line each, as a person gets it."""
    write(root, {"pagebridge.toml": text, **(files or {})})
    found = inspect(root, BUILT_INS).issues
    assert all(issue.message.endswith((".", "?", "`")) or "pagebridge skills add" in issue.message for issue in found)
    return [str(issue) for issue in found]


def refusal(root: Path, text: str | bytes, files: Mapping[str, str | bytes] | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        read(root, text, files)
    assert "\n" not in str(caught.value)
    return str(caught.value)
