"""Errors raised by the services in hits; each message can be shown to the reader as it is."""

from da_platform.exceptions import PlatformError
from da_platform.files.problems import FilesRefused, Problem


class LookRefused(PlatformError):
    """A look that cannot be taken now."""


class CannotBuildHITs(PlatformError):
    """A campaign's HITs cannot be built or rebuilt."""


class StatusRefused(PlatformError):
    """A campaign cannot change to the requested status."""


class EditRefused(PlatformError):
    """A setting can no longer change, or a campaign cannot be copied."""


class PeopleRefused(PlatformError):
    """A change to an account or its access is not allowed."""


class CodeRefused(PlatformError):
    """A two-step login code is wrong or already used."""


class CodeTooSoon(CodeRefused):
    """A code followed too soon after wrong ones, and was not checked."""


class WorkerIsBusy(PlatformError):
    """The worker has an unfinished HIT in another campaign."""


class AnswerNotUnderstood(PlatformError):
    """What a browser sent is not an answer of this kind of task."""


class AnswerRefused(PlatformError):
    """An answer is out of order, for someone else's assignment, or not a valid one."""


class NotFinished(PlatformError):
    """The assignment still has unrated items, or was returned."""


class DecisionRefused(PlatformError):
    """A decision about a worker is not allowed."""


class DecisionOutdated(DecisionRefused):
    """The worker has changed since the preview."""


class ArrivalRefused(PlatformError):
    """A link is invalid, expired, or meant for someone else."""


class RecruitmentRefused(PlatformError):
    """A campaign cannot use these recruiting settings, or can no longer change them."""


class TooOften(PlatformError):
    """Rate limit exceeded."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(f"Too many requests. Try again in {seconds} seconds.")


class ProviderFailed(PlatformError):
    """A provider could not be reached, or gave an unexpected response."""


class ProviderRefused(ProviderFailed):
    """A provider rejected the request, which therefore had no effect."""


class NotOffered(PlatformError):
    """A provider does not offer this service."""


class PaymentRefused(PlatformError):
    """A payment request is not allowed; nothing was paid."""


class PaymentsHalted(PlatformError):
    """A payment run stopped early. The ledger shows what was paid, and the run can be resumed."""


class ForgettingRefused(PlatformError):
    """A worker's data cannot be removed."""


class RemovalRefused(PlatformError):
    """The examples cannot be removed now."""


class PostEditionsRefused(PlatformError):
    """Post-editions cannot be imported into this campaign."""


class CannotCheck(PlatformError):
    """A campaign has no post-editions that other workers could check."""


class RecomputingRefused(PlatformError):
    """A campaign's evidence cannot be recomputed."""


class TextsRefused(FilesRefused):
    """A campaign's own texts for workers were not stored."""

    heading = "The texts were not stored"

    @classmethod
    def of(cls, reason: str) -> "TextsRefused":
        return cls([Problem("", None, reason)], 1)


class QuestionsRefused(FilesRefused):
    """A campaign's questions about its workers were not stored."""

    heading = "The questions were not stored"

    @classmethod
    def of(cls, reason: str) -> "QuestionsRefused":
        return cls([Problem("", None, reason)], 1)


class ImportRefused(FilesRefused):
    """A campaign was not imported, and nothing was stored."""

    heading = "The campaign was not imported, and nothing was stored"

    def lines_on_fixes(self) -> list[str]:
        fixes = self.fixes_by_option.items()
        lines = [f"  --{option.replace('_', '-')}: {what}" for option, what in fixes]
        return ["These options of the import would help:", *lines] if lines else []
