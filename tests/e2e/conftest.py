"""Sites for the end-to-end tests; each test starts the real command."""

from collections.abc import Iterator

import pytest

from tests.sites import Site, serve_site


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with serve_site() as site:
        yield site
