"""What can go wrong while collecting, each with a message fit for the reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .importing.problems import Problem


class HitsError(Exception):
    """Something was asked for that the platform refuses."""


class CannotBuildHITs(HitsError):
    """A campaign's HITs cannot be built, or not again."""


class StatusRefused(HitsError):
    """A campaign cannot go from its status to that one."""


class WorkerIsBusy(HitsError):
    """The worker has a HIT of another campaign in hand."""


class RatingRefused(HitsError):
    """A rating that is not the next one, not the worker's own, or not a score."""


class NotFinished(HitsError):
    """The assignment still has items without a rating, or was given back."""


class DecisionRefused(HitsError):
    """A decision about a worker that cannot stand as it is."""


class ImportRefused(HitsError):
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
