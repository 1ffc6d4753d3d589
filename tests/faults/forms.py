"""A test in a short form for every day, and in a full one for `make torture`."""

import pytest

SHORT_AND_FULL = pytest.mark.parametrize(
    "full", [pytest.param(False, id="short"), pytest.param(True, id="full", marks=pytest.mark.torture)]
)
