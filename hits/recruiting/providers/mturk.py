"""Mechanical Turk: workers rate inside its page, and its API pays them.

This is a thin adapter around the API. Credentials come from where boto3 looks for them (AWS_ACCESS_KEY_ID and
so on), never from the database.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings

from da_platform.extras import needs_extra

from ...exceptions import ArrivalRefused, ProviderFailed, ProviderRefused
from ...models import Submission
from .base import Arrival, Bonus, Provider, ReportedSubmission, readable

# What MTurk sends as assignment id when someone only previews the HIT.
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
MAX_ID_LENGTH = 64
# One call takes at most both together, which is less than PAYMENT_GRACE_SECONDS.
CONNECT_SECONDS, READ_SECONDS = 5, 20
REGION = "us-east-1"
CURRENCY = "USD"

STATUSES = {
    "Submitted": Submission.Status.AWAITING_REVIEW,
    "Approved": Submission.Status.APPROVED,
    "Rejected": Submission.Status.REJECTED,
}

NOT_OURS = "This page was opened without the ids that Mechanical Turk gives. Please open it there."


def status_named(reported: str) -> Submission.Status:
    try:
        return STATUSES[reported]
    except KeyError as error:
        raise ProviderFailed(f"Mechanical Turk reports an unknown status: {reported!r}.") from error


class LinesField(forms.CharField):
    """Text that is stored as a list of its lines."""

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value


class MTurkForm(forms.Form):
    hit_ids = LinesField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="HIT ids at Mechanical Turk",
        help_text="The HITs that show this campaign's page, one id per line. Submissions are read from them.",
    )

    def clean_hit_ids(self) -> list[str]:
        ids = self.cleaned_data["hit_ids"].split()
        if any(not is_id(name) for name in ids):
            raise forms.ValidationError("An id at Mechanical Turk has only letters and digits.")
        return list(dict.fromkeys(ids))


def is_id(text: str) -> bool:
    return 0 < len(text) <= MAX_ID_LENGTH and text.isascii() and text.isalnum()


def is_preview(parameters: Mapping[str, str]) -> bool:
    return parameters.get("assignmentId", PREVIEW) == PREVIEW


def submit_origin(parameters: Mapping[str, str]) -> str:
    """Where the finished work is posted, if that host is allowed."""
    parts = urlsplit(parameters.get("turkSubmitTo", ""))
    origin = f"{parts.scheme}://{parts.netloc}"
    if origin not in settings.MTURK_SUBMIT_ORIGINS:
        raise ArrivalRefused(NOT_OURS)
    return origin


class MTurkProvider(Provider):
    name = "mturk"
    label = "Mechanical Turk"
    form_class = MTurkForm
    has_submissions = True
    can_pay = True
    pays_bonus_once = True

    def recognise(self, parameters: Mapping[str, str], *, url: str) -> Arrival | None:
        """MTurk does not sign arrivals, so anyone can claim an id; approval relies on MTurk's own records."""
        if is_preview(parameters):
            return None
        worker, assignment = parameters.get("workerId", ""), parameters["assignmentId"]
        if not is_id(worker) or not is_id(assignment):
            raise ArrivalRefused(NOT_OURS)
        return Arrival(external_id=worker, reference=assignment)

    def submissions(self) -> Iterator[ReportedSubmission]:
        return readable(self._assignments(), _reported)

    def _assignments(self) -> Iterator[dict[str, Any]]:
        for hit in self.settings.get("hit_ids", []):
            for page in self._pages("list_assignments_for_hit", HITId=hit):
                yield from page["Assignments"]

    def approve(self, submission: Submission) -> None:
        # It was rejected there and the rejection withdrawn here; otherwise nothing would be owed.
        self._change(
            submission,
            Submission.Status.APPROVED,
            "approve_assignment",
            AssignmentId=submission.reference,
            OverrideRejection=True,
        )

    def reject(self, submission: Submission, *, category: str, message: str) -> None:
        self._change(
            submission,
            Submission.Status.REJECTED,
            "reject_assignment",
            AssignmentId=submission.reference,
            RequesterFeedback=message,
        )

    def status_of(self, submission: Submission) -> Submission.Status:
        answer = self._call("get_assignment", AssignmentId=submission.reference)
        return status_named(answer["Assignment"]["AssignmentStatus"])

    def pay_bonus(self, bonus: Bonus, *, prepared: str) -> None:
        if bonus.currency != CURRENCY:
            raise ProviderRefused(f"{self.label} pays in {CURRENCY}, not in {bonus.currency}.")
        self._call(
            "send_bonus",
            WorkerId=bonus.submission.worker.external_id,
            AssignmentId=bonus.submission.reference,
            BonusAmount=f"{bonus.amount:.2f}",
            Reason=_reason(bonus),
            # MTurk pays only once for the same token.
            UniqueRequestToken=prepared,
        )

    def is_bonus_paid(self, bonus: Bonus, *, prepared: str) -> bool:
        pages = self._pages("list_bonus_payments", AssignmentId=bonus.submission.reference)
        mark = _mark(bonus)
        return any(row["Reason"].endswith(mark) for page in pages for row in page["BonusPayments"])

    def _change(
        self, submission: Submission, status: Submission.Status, name: str, **arguments: Any
    ) -> None:
        """Request a status. MTurk refuses if it is already set, which is not a failure here."""
        try:
            self._call(name, **arguments)
        except ProviderFailed:
            if self.status_of(submission) != status:
                raise

    # The API ---------------------------------------------------------------------------------

    def _call(self, name: str, **arguments: Any) -> dict[str, Any]:
        client = self._client
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer: dict[str, Any] = getattr(client, name)(**arguments)
        except ClientError as error:
            is_refusal = error.response["ResponseMetadata"]["HTTPStatusCode"] < 500
            kind = ProviderRefused if is_refusal else ProviderFailed
            raise kind(f"{self.label}: {error}") from error
        except BotoCoreError as error:
            raise ProviderFailed(f"{self.label}: {error}") from error
        return answer

    def _pages(self, name: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        while True:
            page = self._call(name, **arguments)
            yield page
            if not page.get("NextToken"):
                return
            arguments["NextToken"] = page["NextToken"]

    @cached_property
    def _client(self) -> Any:
        # Imported here because boto3 is large and only paying needs it.
        with needs_extra("mturk"):
            import boto3
            from botocore.config import Config

        # No automatic retries: the ledger decides whether to try again.
        config = Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"total_max_attempts": 1},
        )
        return boto3.client(
            "mturk", region_name=REGION, endpoint_url=settings.MTURK_ENDPOINT, config=config
        )


def _reported(row: dict[str, Any]) -> ReportedSubmission:
    return ReportedSubmission(
        reference=row["AssignmentId"],
        external_id=row["WorkerId"],
        status=status_named(row["AssignmentStatus"]),
        started_at=row.get("AcceptTime"),
    )


def _reason(bonus: Bonus) -> str:
    return f"{bonus.reason} {_mark(bonus)}"


def _mark(bonus: Bonus) -> str:
    """Identifies a bonus in MTurk's list, which does not show our tokens."""
    return f"[{bonus.key[:16]}]"
