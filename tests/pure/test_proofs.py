"""The check that every attack of SECURITY.md and every feature of docs/features.md has a test."""

from dataclasses import replace
from pathlib import Path

import pytest

from scripts.proofs import SUBJECTS, Marked, faults, prove, read_rows, read_tests, table, with_table

SECURITY, FEATURES = SUBJECTS
ROWS = read_rows(
    SECURITY,
    """
    [areas]
    P = "Pages"
    [P1]
    attack = "A name"
    holds = "nothing"
    [P2]
    attack = "A | bar"
    holds = "nothing"
    """,
)


def marked(source: str) -> Marked:
    found = Marked("threat")
    read_tests("tests/test_it.py", "import pytest\n" + source, [found])
    return found


def rows_of(source: str) -> dict[str, list[str]]:
    found = marked(source)
    assert found.faults == []
    return {row: tests["tests/test_it.py"] for row, tests in found.tests.items()}


MARKED = {
    "a decorator": '@pytest.mark.threat("P1", "P2")\ndef test_it(): ...',
    "an async test": '@pytest.mark.threat("P1", "P2")\nasync def test_it(): ...',
    "two decorators": '@pytest.mark.threat("P1")\n@pytest.mark.threat("P2")\ndef test_it(): ...',
    "a parameter": '@pytest.mark.parametrize("a", [1, pytest.param(2, marks=pytest.mark.threat("P1", "P2"))])\n'
    "def test_it(a): ...",
    "several marks of a parameter": '@pytest.mark.parametrize("a", '
    '[pytest.param(2, marks=[pytest.mark.threat("P2"), pytest.mark.threat("P1")])])\ndef test_it(a): ...',
    "a constant of parameters": 'ONE = pytest.param(2, marks=pytest.mark.threat("P1", "P2"))\nALL = [1, ONE]\n'
    '@pytest.mark.parametrize("a", ALL)\ndef test_it(a): ...',
    "a constant that is the marker": 'BOTH = pytest.mark.threat("P1", "P2")\n@BOTH\ndef test_it(): ...',
    "the whole file": 'pytestmark = pytest.mark.threat("P1", "P2")\ndef test_it(): ...',
}


@pytest.mark.parametrize("source", MARKED.values(), ids=MARKED.keys())
def test_a_marker_counts_for_its_test_however_it_is_written(source: str):
    assert rows_of(source) == {"P1": ["test_it"], "P2": ["test_it"]}


def test_a_marker_counts_for_its_own_test_alone():
    assert rows_of('@pytest.mark.threat("P1")\ndef test_it(): ...\ndef test_other(): ...') == {"P1": ["test_it"]}


def test_each_table_has_its_own_marker():
    threats, features = Marked("threat"), Marked("feature")
    source = '@pytest.mark.threat("P1")\n@pytest.mark.feature("pages.discovery")\ndef test_it(): ...'
    read_tests("tests/test_it.py", f"import pytest\n{source}", [threats, features])

    assert (list(threats.tests), list(features.tests)) == (["P1"], ["pages.discovery"])
    assert threats.faults + features.faults == []


@pytest.mark.parametrize(
    "source",
    [
        '@pytest.mark.threat("P1")\ndef not_one(): ...',
        'UNUSED = [pytest.param(1, marks=pytest.mark.threat("P1"))]',
        'ID = "P1"\n@pytest.mark.threat(ID)\ndef test_it(): ...',
        "@pytest.mark.threat()\ndef test_it(): ...",
        'def mark():\n    return pytest.mark.threat("P1")\n@mark()\ndef test_it(): ...',
    ],
)
def test_a_marker_that_could_be_overlooked_is_a_fault(source: str):
    [fault] = marked(source).faults

    assert fault.startswith("tests/test_it.py:")


def test_a_row_without_a_test_is_a_fault_and_so_is_a_marker_of_no_row():
    found = marked('@pytest.mark.threat("P1", "P9")\ndef test_it(): ...')

    assert list(faults(SECURITY, ROWS, found)) == [
        "tests/test_it.py: tests/threats.toml has no row P9: write the id of one that is there.",
        'P2 has no test: mark one that shows it with @pytest.mark.threat("P2"). A | bar',
    ]


def test_a_row_that_the_table_has_no_place_for_is_a_fault():
    text = '[areas]\npages = "Pages"\n["pagestools.discovery"]\nfeature = "f"\nuntested = "u"'
    [fault] = faults(FEATURES, read_rows(FEATURES, text), Marked("feature"))

    assert fault == "tests/features.toml: pagestools.discovery is in no area: begin it with one of pages."


@pytest.mark.parametrize("row", ['attack = "a"', 'attack = "a"\nholds = "h"\nwhy = "w"'])
def test_a_row_that_says_too_little_or_too_much_is_refused(row: str):
    with pytest.raises(ValueError, match=r"^tests/threats\.toml: P1 has to say attack and holds\.$"):
        read_rows(SECURITY, f'[areas]\nP = "Pages"\n[P1]\n{row}')


def test_a_row_that_says_why_it_has_no_test_needs_none():
    rows = read_rows(
        SECURITY,
        '[areas]\nP = "Pages"\n[P1]\nattack = "a"\nholds = "b"\nuntested = "It is somebody else\'s."',
    )

    assert list(faults(SECURITY, rows, Marked("threat"))) == []
    assert "| P1 | a | b | No test: It is somebody else's. |" in table(SECURITY, rows, Marked("threat"))


def test_the_table_links_the_file_of_each_test_and_reads_its_name():
    found = marked('@pytest.mark.threat("P2")\ndef test_nothing_is_lost(): ...')

    assert table(SECURITY, ROWS, found).splitlines()[:3] == [
        "### Pages",
        "",
        "| | attack | what holds | tests |",
    ]
    row = "| P2 | A \\| bar | nothing | [test_it.py]({}tests/test_it.py): nothing is lost. |"
    assert row.format("") in table(SECURITY, ROWS, found)
    assert row.format("../") in table(replace(SECURITY, document="docs/security.md"), ROWS, found)


def test_only_what_is_between_the_marks_is_written_anew():
    once = with_table(
        SECURITY, "before\n\n<!-- made by `make security` from tests/threats.toml and from the tests -->\n", "x\n"
    )

    assert with_table(SECURITY, once, "x\n") == once
    assert with_table(SECURITY, once + "\nafter\n", "y\n") == once.replace("x", "y") + "\nafter\n"


def test_a_document_that_is_not_what_the_tests_say_is_a_fault_until_it_is_written(tmp_path: Path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/features.md").write_text(f"# Features\n\n{FEATURES.begin}\n")
    (tmp_path / "tests/features.toml").write_text('[areas]\npages = "Pages"\n["pages.it"]\nfeature = "It is."')
    found = Marked("feature")
    found.add(["pages.it"], "tests/test_it.py", "test_it_is")

    old = prove(tmp_path, FEATURES, found, check=True)
    assert old == ["docs/features.md is not what the tests say: run `make features`."]
    assert prove(tmp_path, FEATURES, found, check=False) == []
    assert prove(tmp_path, FEATURES, found, check=True) == []
    assert "| pages.it | It is. | [test_it.py](../tests/test_it.py): it is. |" in (
        tmp_path / "docs/features.md"
    ).read_text(encoding="utf-8")
