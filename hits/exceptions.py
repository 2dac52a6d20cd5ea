"""What can go wrong and is worth a name. Each message is fit for the person who reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .importing.problems import Problem


class ImportRefused(Exception):
    """A campaign was not imported, and nothing was stored. Holds the first problems and their total."""

    def __init__(self, problems: Sequence[Problem], n_problems: int) -> None:
        self.problems = list(problems)
        self.n_problems = n_problems
        super().__init__(self._message())

    def _message(self) -> str:
        count = "1 problem" if self.n_problems == 1 else f"{self.n_problems:,} problems"
        lines = [f"The campaign was not imported, and nothing was stored: {count}."]
        lines += [f"  {problem}" for problem in self.problems]
        if n_more := self.n_problems - len(self.problems):
            lines.append(f"  … and {n_more:,} more")
        return "\n".join(lines)
