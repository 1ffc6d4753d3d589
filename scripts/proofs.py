"""Tables of what tests prove: the attacks of SECURITY.md, and the features of docs/features.md.

Each has rows in a file, and the tests that are marked with their ids. `python -m scripts.proofs security features`
writes both, or that which is named; with `--check` it says what is wrong, and fails where anything is.

Tests are found by reading their files, which takes a second where collecting them takes several. A marker counts for a
test that has it as a decorator, in its parameters, or in a name of its module that these use. One that belongs to no
test is a fault, so none is lost by being written in a way that is not known here.
"""

import ast
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

END: Final = "<!-- end -->"


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What one table is about.

    Attributes:
        name: the make target that writes it.
        marker: of the tests, `pytest.mark.…`.
        rows: the file that has them.
        columns: what a row has to say, and the heads of its columns.
    """

    name: str
    marker: str
    rows: str
    document: str
    columns: Mapping[str, str]

    @property
    def begin(self) -> str:
        return f"<!-- made by `make {self.name}` from {self.rows} and from the tests -->"


SUBJECTS: Final = (
    Subject(
        name="security",
        marker="threat",
        rows="tests/threats.toml",
        document="SECURITY.md",
        columns={"attack": "attack", "holds": "what holds"},
    ),
    Subject(
        name="features",
        marker="feature",
        rows="tests/features.toml",
        document="docs/features.md",
        columns={"feature": "what you get"},
    ),
)


@dataclass(frozen=True)
class Row:
    """One thing to prove.

    Attributes:
        cells: what is said of it.
        untested: why no test can show it, or a part of it.
    """

    cells: tuple[str, ...]
    untested: str = ""


@dataclass(frozen=True)
class Rows:
    """All of a subject.

    Attributes:
        areas: the titles of the parts of the table; the id of a row begins with the letters of its area.
    """

    areas: Mapping[str, str]
    by_id: Mapping[str, Row]


@dataclass(frozen=True)
class Marked:
    """What was found in test files.

    Attributes:
        tests: by id of a row, the tests of each file.
        faults: markers that can't be counted.
    """

    marker: str
    tests: dict[str, dict[str, list[str]]] = field(default_factory=dict[str, dict[str, list[str]]])
    faults: list[str] = field(default_factory=list[str])

    def add(self, rows: Iterable[str], file: str, test: str) -> None:
        for row in rows:
            tests = self.tests.setdefault(row, {}).setdefault(file, [])
            if test not in tests:
                tests.append(test)


def read_rows(subject: Subject, text: str) -> Rows:
    """Raises ValueError: a row says too little or too much."""
    tables = tomllib.loads(text)
    areas = tables.pop("areas")
    for name, row in tables.items():
        if subject.columns.keys() != row.keys() - {"untested"}:
            raise ValueError(f"{subject.rows}: {name} has to say {' and '.join(subject.columns)}.")
    rows = {
        name: Row(tuple(row[column] for column in subject.columns), row.get("untested", ""))
        for name, row in tables.items()
    }
    return Rows(areas, rows)


def read_tests(file: str, source: str, found: Iterable[Marked]) -> None:
    """Add what the source of one file says."""
    module = ast.parse(source)
    values = {
        target.id: node.value
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    of_all = [values["pytestmark"]] if "pytestmark" in values else []
    for marked in found:
        used: set[ast.Call] = set()
        for node in module.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for marker in _markers(marked.marker, [*node.decorator_list, *of_all], values):
                    used.add(marker)
                    marked.add(_ids(marker), file, node.name)
        for marker in _markers(marked.marker, [module], {}):
            if marker not in used or not _ids(marker):
                marked.faults.append(
                    f"{file}:{marker.lineno}: no test has this marker as far as can be seen: write "
                    f'@pytest.mark.{marked.marker}("…") at a test, or `marks=` in its parameters.'
                )


def _markers(name: str, nodes: list[ast.expr] | list[ast.Module], values: Mapping[str, ast.expr]) -> Iterator[ast.Call]:
    """The markers of a name in expressions, and in those that their names stand for."""
    seen: set[str] = set()
    todo: list[ast.AST] = [*nodes]
    while todo:
        node = todo.pop(0)
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="mark"), attr=attr)) if attr == name:
                yield node
            case ast.Name(id=variable) if variable in values and variable not in seen:
                seen.add(variable)
                todo.append(values[variable])
            case _:
                pass
        todo.extend(ast.iter_child_nodes(node))


def _ids(marker: ast.Call) -> list[str]:
    """Nothing where one is no plain string."""
    ids = [arg.value for arg in marker.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    return ids if len(ids) == len(marker.args) and not marker.keywords else []


def _area(name: str) -> str:
    return re.split("[^A-Za-z]", name, maxsplit=1)[0]


def faults(subject: Subject, rows: Rows, marked: Marked) -> Iterator[str]:
    """What is wrong, in sentences."""
    yield from marked.faults
    for name, tests in marked.tests.items():
        if name not in rows.by_id:
            yield f"{', '.join(tests)}: {subject.rows} has no row {name}: write the id of one that is there."
    for name, row in rows.by_id.items():
        if _area(name) not in rows.areas:
            yield f"{subject.rows}: {name} is in no area: begin it with one of {', '.join(rows.areas)}."
        if name not in marked.tests and not row.untested:
            marker = f'@pytest.mark.{subject.marker}("{name}")'
            yield f"{name} has no test: mark one that shows it with {marker}. {row.cells[0]}"


def table(subject: Subject, rows: Rows, marked: Marked) -> str:
    lines: list[str] = []
    heads = ["", *subject.columns.values(), "tests"]
    for area, title in rows.areas.items():
        lines += [f"### {title}", "", f"| {' | '.join(heads)} |".replace("|  |", "| |", 1), "|---" * len(heads) + "|"]
        for name, row in rows.by_id.items():
            if _area(name) == area:
                cells = [name, *row.cells, _shown(subject, marked.tests.get(name, {}), row.untested)]
                lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        lines.append("")
    return "\n".join(lines)


def _shown(subject: Subject, tests: dict[str, list[str]], untested: str) -> str:
    """Names of tests are sentences."""
    folder = os.path.dirname(subject.document) or "."
    told = [
        f"[{file.removeprefix('tests/')}]({os.path.relpath(file, folder)}): "
        f"{'; '.join(_sentence(name) for name in names)}."
        for file, names in tests.items()
    ]
    return "<br>".join([*told, *([f"No test: {untested}"] if untested else [])])


def _sentence(test: str) -> str:
    return test.removeprefix("test_").replace("_", " ")


def with_table(subject: Subject, document: str, made: str) -> str:
    before, _, rest = document.partition(subject.begin)
    _, _, after = rest.partition(END)
    return f"{before}{subject.begin}\n\n{made}\n{END}{after}"


def prove(root: Path, subject: Subject, marked: Marked, *, check: bool) -> list[str]:
    """Write one table, or only look at it; returns what is wrong."""
    rows = read_rows(subject, (root / subject.rows).read_text(encoding="utf-8"))
    wrong = list(faults(subject, rows, marked))
    document = root / subject.document
    was = document.read_text(encoding="utf-8")
    made = with_table(subject, was, table(subject, rows, marked))
    if not check:
        document.write_text(made, encoding="utf-8")
    elif made != was:
        wrong.append(f"{subject.document} is not what the tests say: run `make {subject.name}`.")
    print("\n".join(wrong) or f"{subject.document}: {len(rows.by_id)} rows, each with a test or the reason for none.")
    return wrong


def main() -> int:
    root = Path(__file__).parents[1]
    chosen = [(subject, Marked(subject.marker)) for subject in SUBJECTS if subject.name in sys.argv]
    for path in sorted(root.glob("tests/**/*.py")):
        read_tests(
            path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"), [marked for _, marked in chosen]
        )
    wrong = [prove(root, subject, marked, check="--check" in sys.argv) for subject, marked in chosen]
    return int(any(wrong))


if __name__ == "__main__":
    sys.exit(main())
