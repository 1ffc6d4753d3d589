"""What is wrong with a skill's file: one sentence for each thing, with its line."""

from dataclasses import dataclass
from typing import Literal

from bridge import limits


@dataclass(frozen=True, order=True)
class Problem:
    """With an error the skill is not loaded; a warning is for its author.

    Attributes:
        line: counted from 1.
    """

    line: int
    severity: Literal["error", "warning"]
    sentence: str


class Problems:
    """Those of one file, as they are found."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    def error(self, line: int, sentence: str) -> None:
        self.found.append(Problem(line, "error", sentence))

    def warn(self, line: int, sentence: str) -> None:
        self.found.append(Problem(line, "warning", sentence))

    def told(self) -> tuple[Problem, ...]:
        """Each once, in the order of their lines; of very many only some, errors before warnings."""
        each = sorted(set(self.found), key=lambda problem: (problem.severity, problem))
        if (more := len(each) - limits.SKILL_PROBLEMS) > 0:
            each[limits.SKILL_PROBLEMS :] = [
                Problem(each[0].line, each[0].severity, f"There are {more:,} more faults.")
            ]
        return tuple(sorted(each))

    @property
    def has_errors(self) -> bool:
        return any(problem.severity == "error" for problem in self.found)
