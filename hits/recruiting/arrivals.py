"""From an arrival to a worker, and from a provider's reports to free places."""

import logging
import secrets
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import DateTimeField, Q
from django.db.models.functions import Coalesce, Now
from django.utils import timezone
from django.utils.translation import gettext_noop

from hits.rating.assignments import release_assignment, return_assignment, take_assignment
from hits.rating.joining import find_or_make_worker

from ..exceptions import ArrivalRefused, NotOffered, RecruitmentRefused
from ..models import (
    Assignment,
    Campaign,
    Invite,
    Participation,
    ProviderEvent,
    Recruitment,
    Submission,
    Worker,
)
from ..people.audit import record
from ..people.guards import is_known_exit
from .forgotten_ids import is_forgotten, mark_as_forgotten, visit
from .providers import provider_class, provider_for
from .providers.base import EXPIRED, INVALID, Arrival, Ending, Exit, Provider, ReportedSubmission
from .providers.link import LinkProvider

logger = logging.getLogger(__name__)

# Providers resend unanswered webhooks for days, not weeks. A later copy does no harm: only the latest report
# about a submission counts.
EVENTS_KEPT = timedelta(days=30)

ANOTHER_OPEN = gettext_noop(
    "You have already opened this task in another session. Please continue there."
)
GIVEN_BACK = gettext_noop(
    "You returned this task, so you cannot continue it. Thank you for your interest."
)


def recruitment_of(campaign: Campaign) -> Recruitment:
    """How a campaign recruits. By default, only invited people take part."""
    recruitment: Recruitment | None = getattr(campaign, "recruitment", None)
    return recruitment or Recruitment(campaign=campaign)


def provider_of(recruitment: Recruitment, worker: Worker | None) -> Provider:
    """The provider a worker came from: a campaign on a panel may also have invited people itself."""
    if worker and worker.provider != recruitment.provider:
        return LinkProvider(recruitment)
    return provider_for(recruitment)


# Arriving ------------------------------------------------------------------------------------


# A signed link with a time is opened at once, give or take slow panels and clocks that differ.
LINK_LIFETIME = timedelta(minutes=10)
CLOCK_LEEWAY = timedelta(minutes=1)
# A signed link without a time may be opened in another browser for this long after its first use: link
# checkers and the browsers built into apps open links before their reader does.
REOPENED_WITHIN = timedelta(hours=1)


@transaction.atomic
def admit(*, recruitment: Recruitment, arrival: Arrival, known_as: UUID | None = None) -> Worker:
    """Find or create the worker of an arrival, and link the visit to them.

    `known_as` is the worker whom this browser was already admitted as, by a signed arrival here. It may
    open the same link again at any time.
    """
    worker = find_or_make_worker(provider=recruitment.provider, external_id=arrival.external_id)
    submission, is_new = Submission.objects.get_or_create(
        recruitment=recruitment,
        reference=arrival.reference,
        defaults={"worker": worker, "is_verified": arrival.is_verified},
    )
    if submission.worker_id != worker.pk or (submission.is_verified and not arrival.is_verified):
        raise ArrivalRefused(INVALID)
    if submission.status in {Submission.Status.RETURNED, Submission.Status.SCREENED_OUT}:
        raise ArrivalRefused(GIVEN_BACK)
    if is_new and not arrival.is_verified and _has_other_visit(submission):
        # Anyone can put an id into a URL, so an id is admitted only with the visit it first came with.
        raise ArrivalRefused(ANOTHER_OPEN)
    if arrival.proof and known_as != worker.code:
        _refuse_replay(arrival, submission)
    if arrival.is_verified and not submission.is_verified:
        Submission.objects.filter(pk=submission.pk).update(is_verified=True)
    return worker


def _refuse_replay(arrival: Arrival, submission: Submission) -> None:
    """Refuse a signed link that somebody else may have copied from its worker's browser."""
    now = timezone.now()
    if arrival.signed_at is None:
        if submission.assignment_id or now - submission.arrived_at > REOPENED_WITHIN:
            raise ArrivalRefused(ANOTHER_OPEN)
        return
    if not -CLOCK_LEEWAY <= now - arrival.signed_at <= LINK_LIFETIME:
        raise ArrivalRefused(EXPIRED)
    try:
        with transaction.atomic():
            ProviderEvent.objects.create(
                provider=submission.recruitment.provider, event_id=f"arrival:{arrival.proof}"
            )
    except IntegrityError as error:
        raise ArrivalRefused(EXPIRED) from error


def _has_other_visit(submission: Submission) -> bool:
    submissions = Submission.objects.filter(
        recruitment=submission.recruitment_id, worker=submission.worker_id
    )
    return submissions.exclude(pk=submission.pk).exclude(status__in=Submission.GIVEN_UP).exists()


def may_take_part(
    *, recruitment: Recruitment, worker: Worker | None, invite: Invite | None
) -> bool:
    """Whether a visitor may agree to take part: sent by the provider, invited, or the link is open."""
    if invite or (recruitment.is_open and recruitment.provider == Recruitment.Provider.LINK):
        return True
    if worker is None:
        return False
    is_known = Participation.objects.filter(campaign=recruitment.campaign, worker=worker)
    return is_known.exists() or current_submission(recruitment, worker) is not None


def current_submission(recruitment: Recruitment, worker: Worker | None) -> Submission | None:
    """A worker's current visit: the latest."""
    if worker is None or recruitment.pk is None:
        return None
    submissions = Submission.objects.filter(recruitment=recruitment, worker=worker)
    return (
        submissions.select_related("assignment__hit__campaign")
        .order_by("-arrived_at", "-pk")
        .first()
    )


def take_hit(*, campaign: Campaign, worker: Worker) -> Assignment | None:
    """Give a worker the next HIT. If the provider pays per visit, each visit gets one HIT."""
    recruitment = recruitment_of(campaign)
    if not provider_of(recruitment, worker).has_submissions:
        return take_assignment(campaign=campaign, worker=worker)
    submission = current_submission(recruitment, worker)
    if submission is None:
        return None
    if submission.assignment and submission.assignment.status not in Assignment.OPEN_STATUSES:
        return None
    if submission.assignment is None and submission.status != Submission.Status.ACTIVE:
        return None
    assignment = take_assignment(campaign=campaign, worker=worker)
    if assignment and submission.assignment_id != assignment.pk:
        _bind(submission, assignment)
    return assignment


@transaction.atomic
def _bind(submission: Submission, assignment: Assignment) -> None:
    """Record which HIT a visit is for. A HIT from an earlier visit that was given up moves to this one."""
    earlier = Submission.objects.filter(assignment=assignment)
    earlier.given_up().update(assignment=None)
    if not earlier.exists():
        Submission.objects.filter(pk=submission.pk, assignment=None).update(assignment=assignment)


# Leaving -------------------------------------------------------------------------------------


def exit_of(
    *,
    campaign: Campaign,
    worker: Worker | None,
    ending: Ending,
    assignment: Assignment | None = None,
) -> Exit:
    """Where a worker goes at the end. A URL that is not on the allowed list is left out."""
    recruitment = recruitment_of(campaign)
    # A HIT ends the visit it was taken in, even if its worker is on another by now.
    submission = (
        getattr(assignment, "submission", None)
        if assignment
        else current_submission(recruitment, worker)
    )
    way_out = provider_of(recruitment, worker).exit(
        ending, worker=worker, assignment=assignment, submission=submission
    )
    if way_out.url and not is_known_exit(way_out.url):
        logger.error("Campaign %s sends workers to an address not on the list.", campaign.code)
        return Exit(code=way_out.code)
    return way_out


# What providers report -----------------------------------------------------------------------


@transaction.atomic
def apply_report(
    *, recruitment: Recruitment, report: ReportedSubmission, at: datetime | None = None
) -> bool:
    """Store what the provider reports about a submission; return whether that was new.

    Reports may arrive late, twice and out of order: one older than the last changes nothing.
    """
    now = at or timezone.now()
    submission = _reported_submission(recruitment, report)
    if submission is None:
        return False
    this_submission = Submission.objects.filter(pk=submission.pk)
    changed = (
        this_submission.filter(Q(reported_at=None) | Q(reported_at__lte=now))
        .exclude(status=report.status)
        .update(status=report.status, reported_at=now)
    )
    if submission.reported_at is None and not changed:
        # The status is the same, but now we know that nobody made the submission up.
        this_submission.filter(reported_at=None).update(reported_at=now)
    if changed and submission.assignment and report.status in Submission.GIVEN_UP:
        _free_place(submission.assignment, report.status)
    return bool(changed)


def _reported_submission(recruitment: Recruitment, report: ReportedSubmission) -> Submission | None:
    """Find the submission, or create one whose worker has not arrived yet.

    An unknown submission that is already over is ignored: its worker never came. So is one whose
    worker was forgotten, or the next report would bring the id back.
    """
    submissions = recruitment.submissions.select_related("assignment__hit__campaign")
    if submission := submissions.filter(reference=report.reference).first():
        return submission
    if report.status not in {Submission.Status.ACTIVE, Submission.Status.AWAITING_REVIEW}:
        return None
    if is_forgotten(visit(recruitment, report.reference)):
        return None
    worker = find_or_make_worker(provider=recruitment.provider, external_id=report.external_id)
    return Submission.objects.get_or_create(
        recruitment=recruitment, reference=report.reference, defaults={"worker": worker}
    )[0]


def _free_place(assignment: Assignment, status: Submission.Status) -> None:
    if status == Submission.Status.TIMED_OUT:
        # The worker may still submit, as after our own time limit.
        release_assignment(assignment=assignment)
    else:
        return_assignment(assignment=assignment)


@transaction.atomic
def hear_event(
    *, provider: str, event_id: str, study: str, report: ReportedSubmission, at: datetime
) -> bool:
    """Handle a provider's message once. A second copy changes nothing."""
    # In one transaction with its effects: if they fail, the next copy counts as the first.
    try:
        with transaction.atomic():
            ProviderEvent.objects.create(provider=provider, event_id=event_id)
    except IntegrityError:
        return False
    recruitment = _recruitment_for(provider, study, report)
    if recruitment is None:
        return False
    return apply_report(recruitment=recruitment, report=report, at=at)


def drop_old_events(*, at: datetime | None = None) -> int:
    """Delete the ids of messages that no provider will send again. Return how many."""
    old = ProviderEvent.objects.filter(received_at__lt=(at or timezone.now()) - EVENTS_KEPT)
    return old.delete()[0]


def _recruitment_for(provider: str, study: str, report: ReportedSubmission) -> Recruitment | None:
    """The campaign a message is about: by its study if named, otherwise by the submission."""
    recruitments = Recruitment.objects.filter(provider=provider).select_related("campaign")
    if study:
        return recruitments.filter(study=study).first()
    return recruitments.filter(submissions__reference=report.reference).first()


def sync_submissions(*, recruitment: Recruitment, at: datetime | None = None) -> int:
    """Fetch all submissions from the provider and store what is new. Return how many were."""
    provider = provider_for(recruitment)
    if not provider.has_submissions:
        raise NotOffered(f"{provider.label} has no submissions to report.")
    # Before the request, so that changes made during it do not look older than the response.
    now = at or timezone.now()
    n_changed = sum(
        apply_report(recruitment=recruitment, report=report, at=now)
        for report in provider.submissions()
    )
    Recruitment.objects.filter(pk=recruitment.pk).update(synced_at=now)
    return n_changed


def forget_arrivals(*, worker: Worker) -> None:
    """Remove what shows how a worker came here: ids of visits, device marks, links."""
    worker.participations.update(invite=None)
    worker.device_sightings.all().delete()
    worker.invites.update(
        worker=None,
        label="",
        revoked_at=Coalesce("revoked_at", Now(), output_field=DateTimeField()),
    )
    visits = worker.submissions.select_related("recruitment__campaign")
    mark_as_forgotten(visit(submission.recruitment, submission.reference) for submission in visits)
    worker.submissions.filter(assignment=None).delete()
    for submission in worker.submissions.only("pk"):
        reference = f"{Worker.FORGOTTEN}{secrets.token_hex(12)}"
        Submission.objects.filter(pk=submission.pk).update(reference=reference)


# What admins choose --------------------------------------------------------------------------


# Prolific has these too, so they must not change here only.
KNOWN_TO_PROLIFIC = ("study", "completed_code", "no_consent_code", "screened_out_code")


def settings_form(
    recruitment: Recruitment, provider: str, data: dict[str, Any] | None = None
) -> forms.Form:
    """The form of a provider's settings, with the fields that may still change."""
    stored = recruitment.settings if recruitment.provider == provider else {}
    initial = stored | {"is_open": recruitment.is_open, "study": recruitment.study}
    form = provider_class(provider).form_class(data, initial=initial)
    if recruitment.study:
        for name in form.fields.keys() & set(KNOWN_TO_PROLIFIC):
            form.fields[name].disabled = True
    return form


@transaction.atomic
def save_recruitment(
    *, campaign: Campaign, provider: str, values: dict[str, Any], actor: User | None
) -> Recruitment:
    """Save a campaign's provider and its settings; `values` are those of the provider's form."""
    recruitment = Recruitment.objects.select_for_update(no_key=True).get_or_create(
        campaign=campaign
    )[0]
    if recruitment.provider != provider and (recruitment.study or recruitment.submissions.exists()):
        raise RecruitmentRefused(
            f"Workers have already arrived through {recruitment.get_provider_display()}, "
            "so the provider can no longer change. You can add invite links at any time."
        )
    values = dict(values)
    recruitment.provider = provider
    recruitment.is_open = bool(values.pop("is_open", False))
    recruitment.study = values.pop("study", "") or recruitment.study
    recruitment.settings = values
    if recruitment.study and _is_taken(recruitment):
        raise RecruitmentRefused("Another campaign already has this study.")
    recruitment.save()
    record("recruiting changed", actor=actor, campaign=campaign, provider=provider, settings=values)
    return recruitment


def open_link(*, campaign: Campaign, actor: User | None) -> Recruitment:
    """Let anyone with the campaign's address take part, unless the campaign recruits in another way."""
    if (provider := recruitment_of(campaign).provider) != Recruitment.Provider.LINK:
        raise RecruitmentRefused(f"The campaign recruits through {provider_class(provider).label}.")
    return save_recruitment(
        campaign=campaign,
        provider=Recruitment.Provider.LINK,
        values={"is_open": True},
        actor=actor,
    )


def _is_taken(recruitment: Recruitment) -> bool:
    same = Recruitment.objects.filter(provider=recruitment.provider, study=recruitment.study)
    return same.exclude(pk=recruitment.pk).exists()
