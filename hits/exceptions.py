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


class EditRefused(HitsError):
    """A setting that may not change any more, or a campaign that cannot be copied."""


class PeopleRefused(HitsError):
    """A change of who may log in that would do harm."""


class CodeRefused(HitsError):
    """A code of the second step that is wrong or used already."""


class CodeTooSoon(CodeRefused):
    """A code that comes too soon after wrong ones: it was not even looked at."""


class SealBroken(HitsError):
    """A secret that was sealed with a key that the platform no longer has."""


class WorkerIsBusy(HitsError):
    """The worker has a HIT of another campaign in hand."""


class RatingRefused(HitsError):
    """A rating that is not the next one, not the worker's own, or not a score."""


class NotFinished(HitsError):
    """The assignment still has items without a rating, or was given back."""


class DecisionRefused(HitsError):
    """A decision about a worker that cannot stand as it is."""


class DecisionOutdated(DecisionRefused):
    """A decision about a worker who is not what the person saw any more."""


class ArrivalRefused(HitsError):
    """Someone came by a way in that is not theirs, or not valid any more."""


class RecruitmentRefused(HitsError):
    """A way in that a campaign cannot have, or not any more."""


class TooOften(HitsError):
    """Someone asks more often than anyone would who means it."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(f"Too many requests. Try again in {seconds} seconds.")


class ProviderFailed(HitsError):
    """A provider could not be reached, or did not do what was asked of it."""


class ProviderRefused(ProviderFailed):
    """A provider said no: what was asked of it has certainly not been done."""


class NotOffered(HitsError):
    """A provider has no such service."""


class PaymentRefused(HitsError):
    """Money matters that cannot be done as asked; nothing was paid."""


class PaymentsHalted(HitsError):
    """A run stopped on its way. What was paid is in the ledger, and the rest can go on later."""


class ForgettingRefused(HitsError):
    """A request to remove a worker's data that cannot be followed."""


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


class TooMuch(HitsError):
    """A file holds more than may be read of it: read no further."""


class RecomputingRefused(HitsError):
    """A campaign whose workers cannot be judged anew."""
