"""What every provider has in common: how workers arrive, where they go at the end, and how they are paid.

A provider is created for one campaign's `Recruitment` and has no other state. All of them handle arriving and
leaving; only those with `can_pay` approve, reject and pay.
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

# Messages for refused arrivals, which pages translate into the campaign's language.
INVALID = gettext_noop(
    "This link is not valid. Please go back to where you found it and open it again."
)
EXPIRED = gettext_noop(
    "This link is no longer valid. Please go back to where you found it and open it again."
)


class Ending(StrEnum):
    """How a visit can end. No ending depends on how well someone rated."""

    COMPLETED = "completed"
    NO_CONSENT = "no_consent"
    SCREENED_OUT = "screened_out"


@dataclass(frozen=True, slots=True)
class Arrival:
    """Who has arrived, by the provider's id.

    `reference` is the provider's id for this visit (a Prolific session, an MTurk assignment): one
    submission, paid once. It is empty if the provider has no such thing.

    A signed link that anybody could open again has its signature in `proof`, and in `signed_at` the time
    that it contains, if any.
    """

    external_id: str
    reference: str = ""
    is_verified: bool = False
    proof: str = ""
    signed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Exit:
    """Where a worker goes at the end, and the code to show there. Either may be empty."""

    url: str = ""
    code: str = ""
    is_automatic: bool = False


@dataclass(frozen=True, slots=True)
class ReportedSubmission:
    """A submission as the provider reports it, with its status in our terms."""

    reference: str
    external_id: str
    status: Submission.Status
    started_at: datetime | None = None
    code: str = ""


@dataclass(frozen=True, slots=True)
class Bonus:
    """A bonus on top of a submission's reward. `key` is our own, unique, and stored before anything is sent."""

    key: str
    submission: Submission
    amount: Decimal
    currency: str
    reason: str


def readable(
    rows: Iterable[T], parse: Callable[[T], ReportedSubmission]
) -> Iterator[ReportedSubmission]:
    """Parse a provider's rows, skipping those that are invalid.

    Raise `ProviderFailed` at the end if any were skipped.
    """
    problems = []
    for row in rows:
        try:
            report = parse(row)
        except (ProviderFailed, KeyError, ValueError) as error:
            problems.append(str(error) if isinstance(error, ProviderFailed) else repr(error))
            continue
        yield report
    if problems:
        raise ProviderFailed(
            f"Submissions that could not be read: {len(problems)}; the others were stored. "
            f"The first: {problems[0]}"
        )


class Provider:
    """A provider. Methods raise `ArrivalRefused`, `ProviderFailed` or `NotOffered` with messages to show."""

    # Or templates would call a class that they are given.
    do_not_call_in_templates: ClassVar[bool] = True

    name: ClassVar[str]
    label: ClassVar[str]
    # The form for a campaign; its cleaned data is stored in `Recruitment.settings`.
    form_class: ClassVar[type[forms.Form]] = forms.Form
    # Whether a visit is a submission at the provider, which holds one HIT.
    has_submissions: ClassVar[bool] = False
    # Whether approvals, rejections and bonuses can be sent through it.
    can_pay: ClassVar[bool] = False
    # Whether calling `pay_bonus` again with the same `prepared` pays only once.
    pays_bonus_once: ClassVar[bool] = False
    # What a rejection needs: the value and label of each category, and the minimum length of its reason.
    rejection_categories: ClassVar[tuple[tuple[str, str], ...]] = ()
    min_rejection_length: ClassVar[int] = 1

    def __init__(self, recruitment: Recruitment) -> None:
        self.recruitment = recruitment
        self.settings = recruitment.settings

    # Arriving and leaving --------------------------------------------------------------------

    @property
    def is_signed_only(self) -> bool:
        """Whether only arrivals signed by the provider are admitted."""
        return False

    def recognise(self, parameters: Mapping[str, str], *, url: str) -> Arrival | None:
        """Read and verify the parameters of an arrival; return None if there are none.

        `url` is the requested URL. Raise `ArrivalRefused` if the parameters are not valid.
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
        """Where to go at the end. It depends on the ending and on ids, never on the ratings."""
        return Exit(code=assignment.completion_code if assignment else "")

    # Paying ----------------------------------------------------------------------------------

    def submissions(self) -> Iterator[ReportedSubmission]:
        """All submissions at the provider, with their current status."""
        self._refuse("list submissions")

    def approve(self, submission: Submission) -> None:
        """Approve, and so pay, a submission. Harmless if it is already approved."""
        self._refuse("approve submissions")

    def reject(self, submission: Submission, *, category: str, message: str) -> None:
        """Refuse payment. Harmless if it is already rejected."""
        self._refuse("reject submissions")

    def status_of(self, submission: Submission) -> Submission.Status:
        """Fetch the status of one submission: after a crash, whether an approval arrived."""
        self._refuse("report on submissions")

    def prepare_bonus(self, bonus: Bonus) -> str:
        """Announce a bonus without paying it; return what to store before calling `pay_bonus`."""
        return bonus.key

    def pay_bonus(self, bonus: Bonus, *, prepared: str) -> None:
        """Pay a prepared bonus. Call it once; after a crash, check `is_bonus_paid` first."""
        self._refuse("pay bonuses")

    def is_bonus_paid(self, bonus: Bonus, *, prepared: str) -> bool:
        """Whether a bonus has been paid, as far as the provider can tell."""
        self._refuse("report on bonuses")

    def _refuse(self, what: str) -> NoReturn:
        raise NotOffered(f"{self.label} cannot {what}.")
