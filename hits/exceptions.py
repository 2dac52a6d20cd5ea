"""What can go wrong while collecting, each with a message fit for the reader."""


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
