"""Browsers that live longer than a cell, and the table of figures at the end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browsers import run_chromium
from tests.sites import Site, serve_site
from tests.torture.ledger import LEDGER
from tests.torture.scene import DISCARDS_ALLOWED, FLAGS, Browsers, Link, Restartable


@pytest.fixture(scope="session")
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browsers]:
    """They start when they are needed first."""
    profile: Path = tmp_path_factory.mktemp("shared")
    (profile / "Local State").write_text(DISCARDS_ALLOWED)
    # One on a given port does not tell it in its folder.
    restartable: dict[Link, Restartable] = {
        "port": Restartable(tmp_path_factory.mktemp("port")),
        "folder": Restartable(tmp_path_factory.mktemp("folder")),
    }
    with run_chromium("about:blank", *FLAGS, profile=profile) as shared:
        yield Browsers(shared, restartable)
    for one in restartable.values():
        one.kill()


@pytest.fixture(scope="session")
def sites() -> Iterator[tuple[Site, Site]]:
    """The victim's and the healthy page's: different hosts, so their pages never share a process."""
    with serve_site() as first, serve_site() as second:
        yield first, second.elsewhere()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not LEDGER.cells:
        return
    terminalreporter.section("torture")
    for name, number in LEDGER.rows():
        terminalreporter.write_line(f"{name:15} {number:7}")
    for found in (*LEDGER.hangs, *LEDGER.leaks, *LEDGER.orphans):
        terminalreporter.write_line(f"  {found}")
