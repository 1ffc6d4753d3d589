"""Sites for the end-to-end tests; each test starts the real command."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.project import Project
from tests.sites import Site, serve_site


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with serve_site() as site:
        yield site


@pytest.fixture
def temporary() -> Iterator[Path]:
    """Its path is short, as Chromium's socket there wants it."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty one, whose secrets are its own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "project"
    folder.mkdir()
    return Project(folder)
