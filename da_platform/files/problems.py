"""Problems in uploaded files, collected so that people can fix them all at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..exceptions import PlatformError

# A screenful. Further problems are only counted, to limit the memory that a bad file takes.
MAX_LISTED = 20


@dataclass(frozen=True, slots=True)
class Fix:
    """A change to one option that avoids a problem, such as leaving out a system.

    `values` are the names it is about; `label` says in a few words what it does.
    """

    option: str
    values: tuple[str, ...]
    label: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem to fix. `file` is empty if it is not about a file; lines count from 1."""

    file: str
    line: int | None
    reason: str
    fix: Fix | None = None

    def __str__(self) -> str:
        if not self.file:
            return self.reason
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{place}: {self.reason}"


class FilesRefused(PlatformError):
    """Files with problems. Holds the first problems and their total."""

    heading = "The files were refused"

    def __init__(self, problems: Sequence[Problem], n_problems: int) -> None:
        self.problems = list(problems)
        self.n_problems = n_problems
        count = "1 problem" if n_problems == 1 else f"{n_problems:,} problems"
        lines = [f"{self.heading}: {count}.", *(f"  {problem}" for problem in self.problems)]
        if n_more := n_problems - len(self.problems):
            lines.append(f"  … and {n_more:,} more")
        super().__init__("\n".join(lines))


@dataclass
class Problems:
    listed: list[Problem] = field(default_factory=list)
    total: int = 0

    def add(self, file: str, line: int | None, reason: str, fix: Fix | None = None) -> None:
        self.total += 1
        if len(self.listed) < MAX_LISTED:
            self.listed.append(Problem(file, line, reason, fix))

    def refuse_if_any(self, refusal: type[FilesRefused]) -> None:
        if self.total:
            raise refusal(self.listed, self.total)
