"""Why scores were refused, each reason with its file and line."""

from __future__ import annotations

from collections.abc import Sequence

from hits.exceptions import HitsError
from hits.importing.problems import Problem, Problems


class ScoresRefused(HitsError):
    """Scores that cannot be used as they are. Holds the first problems and their total."""

    def __init__(self, problems: Sequence[Problem], n_problems: int) -> None:
        self.problems = list(problems)
        self.n_problems = n_problems
        count = "1 problem" if n_problems == 1 else f"{n_problems:,} problems"
        lines = [f"The scores were not used: {count}.", *(f"  {one}" for one in self.problems)]
        if n_more := n_problems - len(self.problems):
            lines.append(f"  … and {n_more:,} more")
        super().__init__("\n".join(lines))


def refuse_if_any(problems: Problems) -> None:
    if problems.total:
        raise ScoresRefused(problems.listed, problems.total)
