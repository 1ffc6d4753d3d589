"""The check that every attack of SECURITY.md has a test."""

import pytest

from scripts.security import Marked, Row, faults, read_rows, read_tests, table, with_table

ROWS = {"P1": Row(attack="A name", holds="nothing"), "P2": Row(attack="A | bar", holds="nothing")}


def marked(source: str) -> Marked:
    found = Marked()
    read_tests("tests/test_it.py", "import pytest\n" + source, found)
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

    assert list(faults(ROWS, found)) == [
        "tests/test_it.py: tests/threats.toml has no row P9: write the id of one that is there.",
        'P2 has no test: mark one that shows it with @pytest.mark.threat("P2"). A | bar',
    ]


def test_a_row_that_the_table_has_no_place_for_is_a_fault():
    [fault] = faults({"S1": Row(attack="a", holds="b", untested="c")}, Marked())

    assert fault.startswith("tests/threats.toml: S1 is in no part of the table")


def test_a_row_that_says_why_it_has_no_test_needs_none():
    rows = read_rows('[P1]\nattack = "a"\nholds = "b"\nuntested = "It is somebody else\'s."')

    assert list(faults(rows, Marked())) == []
    assert "| P1 | a | b | No test: It is somebody else's. |" in table(rows, Marked())


def test_the_table_links_the_file_of_each_test_and_reads_its_name():
    made = table(ROWS, marked('@pytest.mark.threat("P2")\ndef test_nothing_is_lost(): ...'))

    assert "| P2 | A \\| bar | nothing | [test_it.py](tests/test_it.py): nothing is lost. |" in made


def test_only_what_is_between_the_marks_is_written_anew():
    once = with_table("before\n\n<!-- made by `make security` from tests/threats.toml and from the tests -->\n", "x\n")

    assert with_table(once, "x\n") == once
    assert with_table(once + "\nafter\n", "y\n") == once.replace("x", "y") + "\nafter\n"
