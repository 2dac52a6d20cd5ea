"""Problems in uploaded files, collected so that people can fix them all at once."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..exceptions import PlatformError

# A screenful. Further problems are only counted, to limit the memory that a bad file takes.
MAX_LISTED = 20


@dataclass(frozen=True, slots=True)
class Fix:
    """A change to one option that avoids a problem, such as leaving out a system.

    `values` are the names it is about; `label` says in a few words what it does or is about.
    `needs_choice` if only a person can know the option's value, such as an encoding.
    """

    option: str
    values: tuple[str, ...]
    label: str
    needs_choice: bool = False


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
    """Files with problems. Holds the first problems and their total.

    `fixes` counts the problems that each fix would avoid, listed or not.
    """

    heading = "The files were refused"

    def __init__(
        self,
        problems: Sequence[Problem],
        n_problems: int,
        fixes: Mapping[Fix, int] | None = None,
    ) -> None:
        self.problems = list(problems)
        self.n_problems = n_problems
        self.fixes = dict(fixes or {})
        count = "1 problem" if n_problems == 1 else f"{n_problems:,} problems"
        lines = [f"{self.heading}: {count}.", *(f"  {problem}" for problem in self.problems)]
        if n_more := n_problems - len(self.problems):
            lines.append(f"  … and {n_more:,} more")
        super().__init__("\n".join([*lines, *self.lines_on_fixes()]))

    def lines_on_fixes(self) -> list[str]:
        """Name the options that would help. Only imports of campaigns have such options."""
        return []

    @property
    def fixes_by_option(self) -> dict[str, str]:
        """Describe what each option is about, such as "clean": "byte order marks (2)"."""
        found: dict[str, Counter[str]] = {}
        for fix, n in self.fixes.items():
            found.setdefault(fix.option, Counter())[fix.label] += n
        return {
            option: ", ".join(f"{label} ({n:,})" for label, n in counts.items())
            for option, counts in found.items()
        }

    @property
    def values_by_option(self) -> dict[str, list[str]]:
        """The names that each option is about, such as "ignore_columns": ["score"]."""
        found: dict[str, list[str]] = {}
        for fix in self.fixes:
            found.setdefault(fix.option, []).extend(fix.values)
        return {option: list(dict.fromkeys(values)) for option, values in found.items()}


@dataclass
class Problems:
    listed: list[Problem] = field(default_factory=list)
    total: int = 0
    fixes: Counter[Fix] = field(default_factory=Counter)

    def add(self, file: str, line: int | None, reason: str, fix: Fix | None = None) -> None:
        self.total += 1
        if fix is not None:
            self.fixes[fix] += 1
        if len(self.listed) < MAX_LISTED:
            self.listed.append(Problem(file, line, reason, fix))

    def refuse_if_any(self, refusal: type[FilesRefused]) -> None:
        if self.total:
            raise refusal(self.listed, self.total, self.fixes)
