"""Removing what could name a worker: on request, and some time after the worker was last here.

Ratings are history and gold is made of them, so they stay, under a number that leads to nobody any more: the
id from the way in, the code in the cookie, completion codes and comments go. What was never work goes
altogether. Gold made afterwards is the same to the last digit; a worker's made-up name in exports changes.

Someone without an id cannot be paid, so a worker who is owed money is kept until it is paid.
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
    Invite,
    Participation,
    Payment,
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
# Workers handled in one go; the rest waits for the next night.
LIMIT = 10_000

PAYMENT_TEXTS = ("key", "kind", "currency", "message", "category", "state")
# Every text that hangs on a worker, and what becomes of it: a test sees to it that none is left out.
CLEARED = {
    "Worker.provider": "kept: the way in, shared by thousands",
    "Worker.external_id": "replaced",
    "Assignment.status": "kept",
    "Assignment.completion_code": "replaced",
    "Assignment.comment": "emptied",
    "Participation.trust": "kept",
    "Participation.decision": "kept: whether ratings count",
    "Participation.decision_reason": "replaced, it is free text",
    "Submission.reference": "replaced, or deleted where no work came of it",
    "Submission.status": "kept",
    "DeviceSighting.kind": "deleted",
    "DeviceSighting.mark": "deleted",
    "Invite.token_hash": "kept: of a link that is withdrawn and leads to nobody",
    "Invite.label": "emptied",
    "Evidence.verdict": "kept",
    "Evidence.signature": "kept: how the numbers were made",
    "Evidence.origin": "kept",
    **{f"Payment.{name}": "kept: books of what was paid stay whole" for name in PAYMENT_TEXTS},
    "Payment.prepared": "emptied: an id of the provider's",
    "Payment.reference": "emptied, except of lists paid by hand: there it is the transfer's, for all of the list",
    "Payment.problem": "emptied: it may quote the provider",
    "PayRule.kind": "kept, as payments",
    "PayRule.reason": "kept, as payments",
    "AuditEntry.action": "kept",
    "AuditEntry.reason": "kept: the log cannot be changed; whatever a person wrote as a reason stays there",
    "AuditEntry.details": "kept: workers and payments go by our own numbers",
}


def find_worker(*, provider: str = "", external_id: str = "", code: str = "") -> Worker:
    """Find whom a request is about, by the code from the privacy page or by the id from the way in."""
    try:
        known = Q(code=uuid.UUID(code)) if code else Q(provider=provider, external_id=external_id)
    except ValueError as error:
        raise ForgettingRefused(f"{code} is not a worker's code.") from error
    worker = Worker.objects.filter(known).first()
    if worker is None:
        raise ForgettingRefused("There is no such worker, or the worker was forgotten already.")
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
    """Remove what could name the worker; say whether there was anything left to remove.

    Raise `ForgettingRefused` while a payment is under way, and while money is owed, unless it is said
    that the worker goes without it.
    """
    _lock(worker)
    if Payment.objects.unsettled().filter(assignment__worker=worker).exists():
        raise ForgettingRefused(
            "A payment to this worker is under way, or in doubt. Let its run end and settle it first."
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
    # Where work is, as that is what is owed for. Campaigns first, as all others do who lock both.
    own = Campaign.objects.filter(hits__assignments__worker=worker)
    campaigns = Campaign.objects.filter(pk__in=own.values("pk"))
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
    # Conditional: of two who forget the same worker at once, one does it.
    changed = unforgotten.update(
        external_id=f"{Worker.FORGOTTEN}{secrets.token_hex(12)}",
        code=uuid.uuid4(),
        forgotten_at=at,
    )
    if not changed:
        return False
    own_work = Assignment.objects.filter(worker=worker).select_related("hit")
    if worker.provider == Recruitment.Provider.MTURK:
        # A file of results that is read again names them again.
        mark_as_forgotten(work(one.hit, worker.provider, worker.external_id) for one in own_work)
    for assignment in own_work:
        # A finished one must have a code; a new one leads nowhere.
        is_done = assignment.status == Assignment.Status.SUBMITTED
        Assignment.objects.filter(pk=assignment.pk).update(
            comment="", completion_code=new_completion_code() if is_done else ""
        )
    forget_arrivals(worker=worker)
    payments = Payment.objects.filter(assignment__worker=worker)
    payments.update(prepared="", problem="")
    payments.filter(run__is_by_hand=False).update(reference="")
    Participation.objects.filter(worker=worker).exclude(decision="").update(
        decision_reason="removed with the worker's data"
    )
    # The number, because a restored backup has the worker again.
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
    """Forget those who have not been here for the configured time; return how many.

    A worker who is owed money is forgotten on a later night, once paid.
    """
    now = at or timezone.now()
    days = settings.FORGET_WORKERS_AFTER_DAYS if days is None else days
    if not days:
        return 0
    since = now - timedelta(days=days)
    inactive = _inactive(since)
    waiting = _waiting_for_money(inactive)
    # Left out before the limit, or those who wait would let nobody past.
    workers = (one for one in inactive.order_by("pk").iterator() if one.pk not in waiting)
    reason = f"{days} days without activity"
    return sum(
        _forget_if_inactive(worker, since=since, reason=reason, at=now)
        for worker in list(islice(workers, LIMIT))
    )


def _inactive(since: datetime) -> QuerySet[Worker]:
    assignments = Assignment.objects.filter(worker=OuterRef("pk"))
    is_recent = Q(started_at__gte=since) | Q(submitted_at__gte=since)
    joined = Participation.objects.filter(worker=OuterRef("pk"), consented_at__gte=since)
    # Ids in collections from elsewhere are published there; they are removed on request only.
    is_archived = Q(hit__is_archived=True)
    return Worker.objects.filter(forgotten_at=None, created_at__lt=since).exclude(
        Exists(assignments.filter(is_recent | is_archived)) | Exists(joined)
    )


@transaction.atomic
def _forget_if_inactive(worker: Worker, *, since: datetime, reason: str, at: datetime) -> bool:
    """Look once more, under the locks: thousands may come first, and this one back meanwhile."""
    _lock(worker)
    if not _inactive(since).filter(pk=worker.pk).exists():
        return False
    try:
        return forget_worker(worker=worker, reason=reason, at=at)
    except ForgettingRefused:
        # Owed something by now: for a later night.
        return False


def _waiting_for_money(workers: QuerySet[Worker]) -> set[int]:
    """The keys of those of these workers to whom something is owed or under way; the log says how many."""
    waiting = set(Payment.objects.unsettled().values_list("assignment__worker", flat=True))
    campaigns = Campaign.objects.filter(hits__assignments__worker__in=workers).distinct()
    for campaign in campaigns:
        waiting |= creditors(campaign).keys()
    # Here and not in the query, which takes only so many keys.
    waiting &= set(workers.values_list("pk", flat=True))
    if waiting:
        logger.warning(
            "%d inactive workers are not forgotten: money is owed to them.", len(waiting)
        )
    return waiting
