"""The hostile pages are files, each says what it does, and none is left over."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGES = sorted((TESTS / "pages" / "hostile").glob("*.html"))
WORDS = re.findall(r"\w+", "\n".join(file.read_text() for file in TESTS.glob("*/test_*.py")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_hostile_page_says_in_a_line_what_it_does_and_is_opened_by_a_test(page: Path):
    first, second, *_ = page.read_text().splitlines()

    assert first.startswith("<!doctype html><meta charset=utf-8><title>")
    assert re.fullmatch(r"<!-- [A-Z].+\. -->", second)
    assert page.stem in WORDS
