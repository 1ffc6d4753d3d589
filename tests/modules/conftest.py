"""One project a test; nothing of it is left behind."""

from pathlib import Path

import pytest

from tests.modules.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
