"""What every way in has in common: how people arrive, where they go at the end, and how they are paid.

A provider is made for one campaign's `Recruitment` and holds nothing of its own. Arriving and leaving is
for all of them; approving, rejecting and paying only for those that can, and `can_pay` says which.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import ClassVar, NoReturn, TypeVar

from django import forms
from django.utils.translation import gettext_noop

from ...exceptions import NotOffered, ProviderFailed
from ...models import Assignment, Recruitment, Submission, Worker

T = TypeVar("T")

# What someone reads whose arrival is refused; pages say it in the campaign's language.
INVALID = gettext_noop(
    "This link is not valid. Please go back to where you found it and open it again."
)
EXPIRED = gettext_noop(
    "This link is no longer valid. Please go back to where you found it and open it again."
)


class Ending(StrEnum):
    """How a visit can end. None of them says anything about how well someone rated."""

    COMPLETED = "completed"
    NO_CONSENT = "no_consent"
    SCREENED_OUT = "screened_out"


@dataclass(frozen=True, slots=True)
class Arrival:
    """Who has come, by the id that the provider gave them.

    `reference` is the provider's id for this visit (a Prolific session, an MTurk assignment): one
    submission of theirs, paid once. It is empty where the provider has no such thing.
    """

    external_id: str
    reference: str = ""
    is_verified: bool = False


@dataclass(frozen=True, slots=True)
class Exit:
    """Where a worker goes at the end, and what they show there. Either may be empty."""

    url: str = ""
    code: str = ""
    is_automatic: bool = False


@dataclass(frozen=True, slots=True)
class ReportedSubmission:
    """A submission as the provider reports it, its status in our words."""

    reference: str
    external_id: str
    status: Submission.Status
    started_at: datetime | None = None
    code: str = ""


@dataclass(frozen=True, slots=True)
class Bonus:
    """A bonus on top of the reward of a submission. `key` is ours, unique and kept before anything is sent."""

    key: str
    submission: Submission
    amount: Decimal
    currency: str
    reason: str


def readable(
    rows: Iterable[T], read: Callable[[T], ReportedSubmission]
) -> Iterator[ReportedSubmission]:
    """Read a provider's rows. One that makes no sense does not keep the others from being read.

    At the end `ProviderFailed` is raised for those that were left out: they are a fault, if a small one.
    """
    problems = []
    for row in rows:
        try:
            report = read(row)
        except (ProviderFailed, KeyError, ValueError) as error:
            problems.append(str(error) if isinstance(error, ProviderFailed) else repr(error))
            continue
        yield report
    if problems:
        raise ProviderFailed(
            f"Submissions that could not be read: {len(problems)}; the others were taken over. "
            f"The first: {problems[0]}"
        )


class Provider:
    """One way in. Methods raise `ArrivalRefused`, `ProviderFailed` or `NotOffered`, fit to be shown."""

    # Templates call what can be called: a class would be made into nothing.
    do_not_call_in_templates: ClassVar[bool] = True

    name: ClassVar[str]
    label: ClassVar[str]
    # The fields an admin fills in for a campaign; its cleaned data is kept in `Recruitment.settings`.
    form_class: ClassVar[type[forms.Form]] = forms.Form
    # Whether a visit is a submission of theirs that holds one HIT, no more.
    has_submissions: ClassVar[bool] = False
    # Whether approvals, rejections and bonuses can be sent through it.
    can_pay: ClassVar[bool] = False
    # Whether `pay_bonus` with the same `prepared` pays once, however often it is called.
    pays_bonus_once: ClassVar[bool] = False
    # What a rejection must say: the value and label of each category, and how long the reason is at least.
    rejection_categories: ClassVar[tuple[tuple[str, str], ...]] = ()
    min_rejection_length: ClassVar[int] = 1

    def __init__(self, recruitment: Recruitment) -> None:
        self.recruitment = recruitment
        self.settings = recruitment.settings

    # Arriving and leaving --------------------------------------------------------------------

    @property
    def is_signed_only(self) -> bool:
        """Whether nobody comes in without a signature of the provider."""
        return False

    def recognise(self, parameters: Mapping[str, str], *, url: str) -> Arrival | None:
        """Read and verify the parameters someone arrives with; None if they are not an arrival.

        `url` is the address as asked for. Raise `ArrivalRefused` for one that claims too much.
        """
        return None

    def exit(
        self,
        ending: Ending,
        *,
        worker: Worker | None = None,
        assignment: Assignment | None = None,
        submission: Submission | None = None,
    ) -> Exit:
        """Where to go at the end. It depends on the ending and on ids, never on how someone rated."""
        return Exit(code=assignment.completion_code if assignment else "")

    # Paying ----------------------------------------------------------------------------------

    def submissions(self) -> Iterator[ReportedSubmission]:
        """All submissions the provider knows of, with their present status."""
        self._refuse("list submissions")

    def approve(self, submission: Submission) -> None:
        """Approve, and so pay, a submission. Harmless for one that is approved already."""
        self._refuse("approve submissions")

    def reject(self, submission: Submission, *, category: str, message: str) -> None:
        """Refuse payment. Harmless for one that is rejected already."""
        self._refuse("reject submissions")

    def status_of(self, submission: Submission) -> Submission.Status:
        """Ask for the status of one submission: after a crash, whether an approval arrived."""
        self._refuse("report on submissions")

    def prepare_bonus(self, bonus: Bonus) -> str:
        """Announce a bonus without paying it; return what to keep before `pay_bonus` is called."""
        return bonus.key

    def pay_bonus(self, bonus: Bonus, *, prepared: str) -> None:
        """Pay a prepared bonus. Call it once; after a crash ask `is_bonus_paid` first."""
        self._refuse("pay bonuses")

    def is_bonus_paid(self, bonus: Bonus, *, prepared: str) -> bool:
        """Whether a bonus has been paid, as far as the provider can tell."""
        self._refuse("report on bonuses")

    def _refuse(self, what: str) -> NoReturn:
        raise NotOffered(f"{self.label} cannot {what}.")
