"""The table of SECURITY.md: attacks from tests/threats.toml, and the tests that are marked with their ids.

`python -m scripts.security` writes it; with `--check` it says what is wrong, and fails where anything is.

Tests are found by reading their files, which takes a second where collecting them takes several. A marker counts for a
test that has it as a decorator, in its parameters, or in a name of its module that these use. One that belongs to no
test is a fault, so none is lost by being written in a way that is not known here.
"""

import ast
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

MARKS: Final = ("<!-- made by `make security` from tests/threats.toml and from the tests -->", "<!-- end -->")
GROUPS: Final = {
    "P": "Pages",
    "F": "Frames, windows and odd addresses",
    "L": "Other programs and users of the machine",
    "C": "Clients",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One attack.

    Attributes:
        untested: why no test can show it, or a part of it.
    """

    attack: str
    holds: str
    untested: str = ""


@dataclass(frozen=True)
class Marked:
    """What was found in test files.

    Attributes:
        tests: by id of a row, the tests of each file.
        faults: markers that can't be counted.
    """

    tests: dict[str, dict[str, list[str]]] = field(default_factory=dict[str, dict[str, list[str]]])
    faults: list[str] = field(default_factory=list[str])

    def add(self, rows: Iterable[str], file: str, test: str) -> None:
        for row in rows:
            tests = self.tests.setdefault(row, {}).setdefault(file, [])
            if test not in tests:
                tests.append(test)


def read_rows(text: str) -> dict[str, Row]:
    return {name: Row(**row) for name, row in tomllib.loads(text).items()}


def read_tests(file: str, source: str, marked: Marked) -> None:
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
    used: set[ast.Call] = set()
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            for marker in _markers([*node.decorator_list, *of_all], values):
                used.add(marker)
                marked.add(_ids(marker), file, node.name)
    for marker in _markers([module], {}):
        if marker not in used or not _ids(marker):
            marked.faults.append(
                f"{file}:{marker.lineno}: no test has this marker as far as can be seen: write "
                '@pytest.mark.threat("P1") at a test, or `marks=` in its parameters.'
            )


def _markers(nodes: list[ast.expr] | list[ast.Module], values: dict[str, ast.expr]) -> Iterator[ast.Call]:
    """The markers in expressions, and in those that their names stand for."""
    seen: set[str] = set()
    todo: list[ast.AST] = [*nodes]
    while todo:
        node = todo.pop(0)
        match node:
            case ast.Call(func=ast.Attribute(attr="threat")):
                yield node
            case ast.Name(id=name) if name in values and name not in seen:
                seen.add(name)
                todo.append(values[name])
            case _:
                pass
        todo.extend(ast.iter_child_nodes(node))


def _ids(marker: ast.Call) -> list[str]:
    """Nothing where one is no plain string."""
    ids = [arg.value for arg in marker.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    return ids if len(ids) == len(marker.args) and not marker.keywords else []


def faults(rows: dict[str, Row], marked: Marked) -> Iterator[str]:
    """What is wrong, in sentences."""
    yield from marked.faults
    for name, tests in marked.tests.items():
        if name not in rows:
            yield f"{', '.join(tests)}: tests/threats.toml has no row {name}: write the id of one that is there."
    for name, row in rows.items():
        if name[:1] not in GROUPS:
            yield f"tests/threats.toml: {name} is in no part of the table: begin it with one of {', '.join(GROUPS)}."
        if name not in marked.tests and not row.untested:
            yield f'{name} has no test: mark one that shows it with @pytest.mark.threat("{name}"). {row.attack}'


def table(rows: dict[str, Row], marked: Marked) -> str:
    lines: list[str] = []
    for letter, title in GROUPS.items():
        lines += [f"### {title}", "", "| | attack | what holds | tests |", "|---|---|---|---|"]
        for name, row in rows.items():
            if name.startswith(letter):
                cells = [name, row.attack, row.holds, _shown(marked.tests.get(name, {}), row.untested)]
                lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        lines.append("")
    return "\n".join(lines)


def _shown(tests: dict[str, list[str]], untested: str) -> str:
    """Names of tests are sentences."""
    told = [
        f"[{file.removeprefix('tests/')}]({file}): {'; '.join(_sentence(name) for name in names)}."
        for file, names in tests.items()
    ]
    return "<br>".join([*told, *([f"No test: {untested}"] if untested else [])])


def _sentence(test: str) -> str:
    return test.removeprefix("test_").replace("_", " ")


def with_table(document: str, made: str) -> str:
    before, _, rest = document.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    return f"{before}{MARKS[0]}\n\n{made}\n{MARKS[1]}{after}"


def main() -> int:
    root = Path(__file__).parents[1]
    marked = Marked()
    for path in sorted(root.glob("tests/**/*.py")):
        read_tests(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"), marked)
    rows = read_rows((root / "tests/threats.toml").read_text(encoding="utf-8"))
    wrong = list(faults(rows, marked))
    document = root / "SECURITY.md"
    was = document.read_text(encoding="utf-8")
    made = with_table(was, table(rows, marked))
    if "--check" not in sys.argv:
        document.write_text(made, encoding="utf-8")
    elif made != was:
        wrong.append("SECURITY.md is not what the tests say: run `make security`.")
    print("\n".join(wrong) or f"{len(rows)} attacks, and a test for each or the reason why there is none.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
