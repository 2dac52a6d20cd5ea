"""Removing what could identify a worker: on request, and some time after their last activity.

Ratings are history and gold is computed from them, so they stay, under a number that no longer leads to
anyone. The provider's id, the code in the cookie, completion codes and comments are removed, and visits without
work are deleted. Gold computed later is exactly the same; a worker's pseudonym in exports changes.

Nobody can be paid without an id, so a worker who is owed money is kept until it is paid.
"""

import logging
import secrets
import uuid
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from hits.rating.assignments import new_completion_code

from ..exceptions import ForgettingRefused
from ..models import (
    Assignment,
    AuditEntry,
    Campaign,
    InputSignals,
    Invite,
    Participation,
    Payment,
    QuestionnaireReply,
    Recruitment,
    Submission,
    Worker,
)
from ..payments.owing import creditors, owed_to
from ..people.audit import record
from ..recruiting.arrivals import forget_arrivals
from ..recruiting.forgotten_ids import mark_as_forgotten, work

logger = logging.getLogger(__name__)

ACTION = "worker forgotten"
# Workers handled per run; the others wait for the next night.
LIMIT = 10_000

PAYMENT_TEXTS = ("key", "kind", "currency", "message", "category", "state")
# What happens to every text field related to a worker. A test checks that none is missing.
CLEARED = {
    "Worker.provider": "kept: the provider, shared by thousands",
    "Worker.external_id": "replaced",
    "Assignment.status": "kept",
    "Assignment.completion_code": "replaced",
    "Assignment.comment": "emptied",
    "InputSignals.items": "deleted",
    "QuestionnaireReply.moment": "deleted",
    "QuestionnaireReply.answers": "deleted: they are about the person",
    "TextReport.reason": "kept: it is about a text",
    "PostEdition.text": "kept: the work itself, which scores are computed from",
    "Rank.skip": "kept: a reason chosen from a list, about a text",
    "Assignment.hold": "kept: whether ratings count",
    "Assignment.hold_reason": "kept: written by the platform, times only",
    "Participation.trust": "kept",
    "Participation.decision": "kept: whether ratings count",
    "Participation.decision_reason": "replaced, it is free text",
    "Submission.reference": "replaced, or deleted if no work came of it",
    "Submission.status": "kept",
    "DeviceSighting.kind": "deleted",
    "DeviceSighting.mark": "deleted",
    "Invite.token_hash": "kept: the hash of a revoked link that leads to nobody",
    "Invite.label": "emptied",
    "Evidence.verdict": "kept",
    "Evidence.signature": "kept: how the numbers were computed",
    "Evidence.likeness_measure": "kept: the name of a formula",
    "Evidence.origin": "kept",
    "Evidence.details": "kept: numbers only",
    **{f"Payment.{name}": "kept: the ledger must stay complete" for name in PAYMENT_TEXTS},
    "Payment.prepared": "emptied: the provider's id",
    "Payment.reference": "emptied, except for lists paid by hand, where it is that of the transfer for the whole list",
    "Payment.problem": "emptied: it may quote the provider",
    "PayRule.kind": "kept, like payments",
    "PayRule.reason": "kept, like payments",
    "AuditEntry.action": "kept",
    "AuditEntry.reason": "kept: the log cannot be changed; what a person wrote as a reason stays there",
    "AuditEntry.details": "kept: workers and payments are identified by our own numbers",
}


def find_worker(*, provider: str = "", external_id: str = "", code: str = "") -> Worker:
    """Find the worker a request is about, by the code from the privacy page or by the provider's id."""
    try:
        matches = Q(code=uuid.UUID(code)) if code else Q(provider=provider, external_id=external_id)
    except ValueError as error:
        raise ForgettingRefused(f"{code} is not a worker's code.") from error
    worker = Worker.objects.filter(matches).first()
    if worker is None:
        raise ForgettingRefused("There is no such worker, or they have already been forgotten.")
    return worker


@transaction.atomic
def forget_worker(
    *,
    worker: Worker,
    actor: User | None = None,
    reason: str,
    at: datetime | None = None,
    even_if_owed: bool = False,
) -> bool:
    """Remove what could identify the worker; return whether there was anything to remove.

    Raise `ForgettingRefused` while a payment is pending, or while money is owed unless the caller
    accepts that it will never be paid.
    """
    _lock(worker)
    if Payment.objects.unsettled().filter(assignment__worker=worker).exists():
        raise ForgettingRefused(
            "A payment to this worker is pending or unclear. Let its run finish and settle it first."
        )
    owed = owed_to(worker)
    if owed and not even_if_owed:
        raise ForgettingRefused(
            f"This worker is still owed {_in_words(owed)}, and nobody can be paid without an id. "
            "Pay it first."
        )
    lost = {str(campaign.code): f"{amount:.2f}" for campaign, amount in owed.items()}
    details = {"never_paid": lost} if lost else {}
    return _forget(worker, actor=actor, reason=reason, at=at or timezone.now(), details=details)


def _lock(worker: Worker) -> None:
    """Lock the worker against payments and new HITs until this is done."""
    # The campaigns with work, since only those owe money. Campaigns first, as everywhere that locks both.
    with_work = Campaign.objects.filter(hits__assignments__worker=worker)
    campaigns = Campaign.objects.filter(pk__in=with_work.values("pk"))
    list(campaigns.select_for_update(no_key=True).order_by("pk"))
    list(Worker.objects.select_for_update().filter(pk=worker.pk))


def _in_words(owed: dict[Campaign, Decimal]) -> str:
    return ", ".join(
        f"{amount:.2f} {campaign.currency} in {campaign.name}" for campaign, amount in owed.items()
    )


@transaction.atomic
def _forget(
    worker: Worker,
    *,
    actor: User | None,
    reason: str,
    at: datetime,
    details: dict[str, Any],
) -> bool:
    unforgotten = Worker.objects.filter(pk=worker.pk, forgotten_at=None)
    # Conditional, so that only one of two concurrent calls does it.
    changed = unforgotten.update(
        external_id=f"{Worker.FORGOTTEN}{secrets.token_hex(12)}",
        code=uuid.uuid4(),
        forgotten_at=at,
    )
    if not changed:
        return False
    own_work = Assignment.objects.filter(worker=worker).select_related("hit")
    if worker.provider == Recruitment.Provider.MTURK:
        # A results file that is imported again contains them again.
        mark_as_forgotten(
            work(assignment.hit, worker.provider, worker.external_id) for assignment in own_work
        )
    for assignment in own_work:
        # A submitted assignment must have a code; a new one leads nowhere.
        is_done = assignment.status == Assignment.Status.SUBMITTED
        Assignment.objects.filter(pk=assignment.pk).update(
            comment="", completion_code=new_completion_code() if is_done else ""
        )
    InputSignals.objects.filter(assignment__worker=worker).delete()
    QuestionnaireReply.objects.filter(participation__worker=worker).delete()
    forget_arrivals(worker=worker)
    payments = Payment.objects.filter(assignment__worker=worker)
    payments.update(prepared="", problem="")
    payments.filter(run__is_by_hand=False).update(reference="")
    Participation.objects.filter(worker=worker).exclude(decision="").update(
        decision_reason="removed with the worker's data"
    )
    # Our own number, for forgetting the worker again after a backup is restored.
    if _has_history(worker):
        record(ACTION, actor=actor, worker=worker, reason=reason, number=worker.pk, **details)
    else:
        Worker.objects.filter(pk=worker.pk).delete()
        record(ACTION, actor=actor, reason=reason, number=worker.pk, was_deleted=True)
    return True


def _has_history(worker: Worker) -> bool:
    return (
        Assignment.objects.filter(worker=worker).exists()
        or AuditEntry.objects.filter(worker=worker).exists()
        or Submission.objects.filter(worker=worker).exists()
        or Invite.objects.filter(worker=worker).exists()
    )


def forget_inactive_workers(*, at: datetime | None = None, days: int | None = None) -> int:
    """Forget workers who have been inactive for the configured time. Return how many.

    A worker who is owed money is forgotten on a later night, once paid.
    """
    now = at or timezone.now()
    days = settings.FORGET_WORKERS_AFTER_DAYS if days is None else days
    if not days:
        return 0
    since = now - timedelta(days=days)
    inactive = _inactive(since)
    waiting = _waiting_for_money(inactive)
    # Excluded before the limit, or those who are owed money could block all others.
    workers = (worker for worker in inactive.order_by("pk").iterator() if worker.pk not in waiting)
    reason = f"{days} days without activity"
    return sum(
        _forget_if_inactive(worker, since=since, reason=reason, at=now)
        for worker in list(islice(workers, LIMIT))
    )


def _inactive(since: datetime) -> QuerySet[Worker]:
    assignments = Assignment.objects.filter(worker=OuterRef("pk"))
    is_recent = Q(started_at__gte=since) | Q(submitted_at__gte=since)
    joined = Participation.objects.filter(worker=OuterRef("pk"), consented_at__gte=since)
    # Ids in imported collections are already published; they are removed only on request.
    is_archived = Q(hit__is_archived=True)
    return Worker.objects.filter(forgotten_at=None, created_at__lt=since).exclude(
        Exists(assignments.filter(is_recent | is_archived)) | Exists(joined)
    )


@transaction.atomic
def _forget_if_inactive(worker: Worker, *, since: datetime, reason: str, at: datetime) -> bool:
    """Check again under the locks, since the worker may have come back in the meantime."""
    _lock(worker)
    if not _inactive(since).filter(pk=worker.pk).exists():
        return False
    try:
        return forget_worker(worker=worker, reason=reason, at=at)
    except ForgettingRefused:
        # Now owed money: try again on a later night.
        return False


def _waiting_for_money(workers: QuerySet[Worker]) -> set[int]:
    """The keys of the workers who are owed money or have a pending payment. Logs how many."""
    waiting = set(Payment.objects.unsettled().values_list("assignment__worker", flat=True))
    campaigns = Campaign.objects.filter(hits__assignments__worker__in=workers).distinct()
    for campaign in campaigns:
        waiting |= creditors(campaign).keys()
    # Not in the query, which accepts a limited number of keys.
    waiting &= set(workers.values_list("pk", flat=True))
    if waiting:
        logger.warning(
            "%d inactive workers were not forgotten, because they are owed money.", len(waiting)
        )
    return waiting
