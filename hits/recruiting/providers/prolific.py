"""Prolific: arrivals with ids in the URL, completion codes, submissions and payments."""

import base64
import hmac
import re
import secrets
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from django import forms
from django.conf import settings
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from da_platform.extras import needs_extra

from ...exceptions import ArrivalRefused, ProviderFailed, ProviderRefused
from ...models import Assignment, Payment, Submission, Worker
from .base import INVALID, Arrival, Bonus, Ending, Exit, Provider, ReportedSubmission, readable

if TYPE_CHECKING:
    from .prolific_api import ProlificAPI

ID_PARAMETERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
TOKEN_PARAMETER = "prolific_token"
# Prolific's ids are 24 hexadecimal digits; allow others in case that changes.
PROLIFIC_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
COMPLETION_CODE = re.compile(r"[0-9A-Za-z]{1,32}")

MIN_REJECTION_LENGTH = 100
REJECTION_CATEGORIES = (
    "BAD_CODE",
    "FAILED_CHECK",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "NO_DATA",
    "OTHER",
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "UNSUPP_DEVICE",
)

_STATUSES = {
    "RESERVED": Submission.Status.ACTIVE,
    "ACTIVE": Submission.Status.ACTIVE,
    # Briefly, after a decision.
    "PROCESSING": Submission.Status.AWAITING_REVIEW,
    "AWAITING REVIEW": Submission.Status.AWAITING_REVIEW,
    "APPROVED": Submission.Status.APPROVED,
    "PARTIALLY APPROVED": Submission.Status.APPROVED,
    "REJECTED": Submission.Status.REJECTED,
    "RETURNED": Submission.Status.RETURNED,
    "TIMED OUT": Submission.Status.TIMED_OUT,
    "SCREENED OUT": Submission.Status.SCREENED_OUT,
}

# The type of each completion code and what Prolific does when someone returns with it. Everyone who
# finishes returns with the same code, and people decide about payment.
_CODES: dict[Ending, tuple[str, dict[str, str]]] = {
    Ending.COMPLETED: ("COMPLETED", {"action": "MANUALLY_REVIEW"}),
    Ending.NO_CONSENT: (
        "NO_CONSENT",
        {"action": "REQUEST_RETURN", "return_reason": "You chose not to take part."},
    ),
    Ending.SCREENED_OUT: (
        "OTHER",
        {"action": "REQUEST_RETURN", "return_reason": "The task could not go on for you."},
    ),
}


def status_named(reported: str) -> Submission.Status:
    """Translate Prolific's name of a status, which may be spelled in several ways."""
    try:
        return _STATUSES[reported.upper().replace("_", " ").replace("-", " ")]
    except KeyError as error:
        raise ProviderFailed(f"Prolific reports an unknown status: {reported!r}.") from error


def new_code() -> str:
    return secrets.token_hex(4).upper()


class ProlificForm(forms.Form):
    title = forms.CharField(max_length=120, initial="How good are these translations?")
    description = forms.CharField(
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 4}),
        initial="You read translations one at a time and say with a slider how good each one is.",
    )
    minutes = forms.IntegerField(min_value=1, max_value=600, initial=20, label="Estimated minutes")
    project = forms.CharField(
        max_length=64,
        required=False,
        help_text="Prolific's id of the project. Leave empty for your default.",
    )
    study = forms.RegexField(
        PROLIFIC_ID,
        required=False,
        label="Id of the study",
        help_text="Leave empty to create the study here. Fill it in if you created it at Prolific.",
    )
    requires_token = forms.BooleanField(
        required=False,
        label="Signed launches only",
        help_text="Prolific's secured external URL: nobody can use another person's id.",
    )
    is_automatic = forms.BooleanField(
        required=False,
        initial=True,
        label="Send people back by themselves when they have completed",
    )
    completed_code = forms.RegexField(
        COMPLETION_CODE, initial=new_code, label="Code when completed"
    )
    no_consent_code = forms.RegexField(
        COMPLETION_CODE, initial=new_code, label="Code when declined"
    )
    screened_out_code = forms.RegexField(
        COMPLETION_CODE, initial=new_code, label="Code when screened out"
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        codes = [data.get(f"{ending}_code") for ending in Ending]
        if len(set(codes)) < len(codes):
            self.add_error("completed_code", "Prolific needs three different codes.")
        return data


class ProlificProvider(Provider):
    name = "prolific"
    label = "Prolific"
    form_class = ProlificForm
    has_submissions = True
    can_pay = True
    rejection_categories = tuple(
        (category, category.replace("_", " ").capitalize()) for category in REJECTION_CATEGORIES
    )
    min_rejection_length = MIN_REJECTION_LENGTH

    @property
    def api(self) -> "ProlificAPI":
        # Imported here because it loads slowly and few processes need it.
        with needs_extra("prolific"):
            from .prolific_api import ProlificAPI

        return ProlificAPI()

    # Arriving and leaving --------------------------------------------------------------------

    @property
    def is_signed_only(self) -> bool:
        return bool(self.settings.get("requires_token"))

    def recognise(self, parameters: Mapping[str, str], *, url: str) -> Arrival | None:
        reported = {name: parameters.get(name, "") for name in ID_PARAMETERS}
        token = parameters.get(TOKEN_PARAMETER, "")
        if not token and not any(reported.values()):
            return None
        if token:
            with needs_extra("prolific"):
                from .prolific_tokens import verified_ids

            signed = verified_ids(token, url=url)
            # The URL may omit ids that the token has, but not contradict it.
            if any(value and value != signed.get(name) for name, value in reported.items()):
                raise ArrivalRefused(INVALID)
            reported = {name: signed.get(name, "") for name in ID_PARAMETERS}
        elif self.is_signed_only:
            raise ArrivalRefused(INVALID)
        person, study, session = (reported[name] for name in ID_PARAMETERS)
        if not all(PROLIFIC_ID.fullmatch(value) for value in (person, study, session)):
            raise ArrivalRefused(INVALID)
        if study != self.recruitment.study:
            raise ArrivalRefused(INVALID)
        return Arrival(external_id=person, reference=session, is_verified=bool(token))

    def exit(
        self,
        ending: Ending,
        *,
        worker: Worker | None = None,
        assignment: Assignment | None = None,
        submission: Submission | None = None,
    ) -> Exit:
        code = self.settings.get(f"{ending}_code", "")
        return Exit(
            url=f"{settings.PROLIFIC_APP_URL}/submissions/complete?cc={quote(code)}"
            if code
            else "",
            code=code,
            is_automatic=bool(self.settings.get("is_automatic")) and ending == Ending.COMPLETED,
        )

    # The study -------------------------------------------------------------------------------

    def study_body(self, *, landing_url: str, n_places: int) -> dict[str, Any]:
        """The study as Prolific's API expects it."""
        campaign = self.recruitment.campaign
        parameters = "&".join(f"{name}={{{{%{name}%}}}}" for name in ID_PARAMETERS)
        body = {
            "name": self.settings["title"],
            "internal_name": f"{campaign.name} ({campaign.code})",
            "description": self.settings["description"],
            "external_study_url": f"{landing_url}?{parameters}",
            "is_external_study_url_secure": bool(self.settings.get("requires_token")),
            "prolific_id_option": "url_parameters",
            "completion_codes": [
                {
                    "code": self.settings[f"{ending}_code"],
                    "code_type": code_type,
                    "actions": [action],
                    "actor": "participant",
                }
                for ending, (code_type, action) in _CODES.items()
            ],
            "total_available_places": n_places,
            "estimated_completion_time": self.settings["minutes"],
            "maximum_allowed_time": campaign.lease_minutes,
            "reward": int(campaign.pay_per_hit * 100),
            "device_compatibility": ["desktop", "tablet", "mobile"],
            "peripheral_requirements": [],
            "filters": [],
        }
        return body | ({"project": self.settings["project"]} if self.settings["project"] else {})

    # Paying ----------------------------------------------------------------------------------

    def submissions(self) -> Iterator[ReportedSubmission]:
        return readable(self.api.submissions(self.recruitment.study), _reported)

    def status_of(self, submission: Submission) -> Submission.Status:
        return status_named(self.api.submission(submission.reference)["status"])

    def approve(self, submission: Submission) -> None:
        self.api.approve(submission.reference)

    def reject(self, submission: Submission, *, category: str, message: str) -> None:
        if category not in REJECTION_CATEGORIES:
            raise ProviderRefused(
                f"Prolific has no category {category!r}. Choose from: {', '.join(REJECTION_CATEGORIES)}."
            )
        if len(message) < MIN_REJECTION_LENGTH:
            raise ProviderRefused(
                f"Prolific requires a reason of at least {MIN_REJECTION_LENGTH} characters; "
                f"this one has {len(message)}."
            )
        self.api.reject(submission.reference, category=category, message=message)

    def prepare_bonus(self, bonus: Bonus) -> str:
        """Announce the bonus and return the id of the announcement, which `pay_bonus` needs.

        The id is followed by the number of such bonuses paid so far: Prolific does not say whether an
        announcement was paid, only which bonuses a submission has.
        """
        row = f"{bonus.submission.reference},{bonus.amount:.2f}"
        n_before = max(self._n_paid(bonus), _n_in_ledger(bonus))
        prepared = self.api.prepare_bonuses(self.recruitment.study, row)
        return f"{prepared['id']}/{n_before}"

    def pay_bonus(self, bonus: Bonus, *, prepared: str) -> None:
        self.api.pay_bonuses(prepared.partition("/")[0])

    def is_bonus_paid(self, bonus: Bonus, *, prepared: str) -> bool:
        """Whether the submission has one more bonus of this amount than when it was prepared.

        Prolific pays some minutes after the request, so a no is certain only after a while.
        """
        return self._n_paid(bonus) > int(prepared.partition("/")[2])

    def _n_paid(self, bonus: Bonus) -> int:
        """How many bonuses of this amount the submission has. Prolific reports them in cents."""
        reported = self.api.submission(bonus.submission.reference).get("bonus_payments") or []
        return sum(Decimal(str(paid)) == bonus.amount * 100 for paid in reported)


def _reported(reported: dict[str, Any]) -> ReportedSubmission:
    started_at = reported.get("started_at")
    return ReportedSubmission(
        reference=reported["id"],
        # The list and the page of a submission name this differently.
        external_id=reported.get("participant_id") or reported["participant"],
        status=status_named(reported["status"]),
        started_at=parse_datetime(started_at) if started_at else None,
        code=reported.get("study_code") or "",
    )


def _n_in_ledger(bonus: Bonus) -> int:
    """How many bonuses of this amount we have paid or may have paid, since Prolific's list lags behind."""
    same = Payment.objects.live().filter(assignment__submission=bonus.submission, kind="bonus")
    unpaid = (Payment.State.PLANNED, Payment.State.WRITTEN_OFF)
    same = same.filter(amount=bonus.amount).exclude(state__in=unpaid)
    return same.exclude(key=bonus.key).count()


# Webhooks ------------------------------------------------------------------------------------

# Older messages are refused even if signed, because they may be replays.
FRESH_SECONDS = 5 * 60


def is_signed(body: bytes, *, timestamp: str, signature: str) -> bool:
    """Whether a message is signed by Prolific: base64 of the HMAC-SHA256 over timestamp and body."""
    if not settings.PROLIFIC_WEBHOOK_SECRET:
        return False
    key, message = settings.PROLIFIC_WEBHOOK_SECRET.encode(), timestamp.encode() + body
    expected = base64.b64encode(hmac.new(key, message, sha256).digest())
    return hmac.compare_digest(expected, signature.encode())


def is_fresh(timestamp: str, *, at: datetime | None = None) -> bool:
    if not re.fullmatch(r"\d{1,12}(\.\d{1,9})?", timestamp):
        return False
    return abs((at or timezone.now()).timestamp() - float(timestamp)) <= FRESH_SECONDS
