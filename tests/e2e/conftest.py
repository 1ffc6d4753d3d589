"""Sites for the end-to-end tests; each test starts the real command."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

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
