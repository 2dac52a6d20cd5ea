"""Removing what could name a worker: on request, and some time after the worker was last here.

Ratings are history and gold is made of them, so they stay, under a number that leads to nobody any more: the
id from the way in, the code in the cookie, completion codes and comments go. What was never work goes
altogether. Gold made afterwards is the same to the last digit; a worker's made-up name in exports changes.
"""

import secrets
import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from ..audit import record
from ..exceptions import ForgettingRefused
from ..models import Assignment, AuditEntry, Invite, Participation, Submission, Worker
from ..recruiting.arrivals import forget_arrivals
from ..services import new_completion_code

ACTION = "worker forgotten"
# Workers handled in one go; the rest waits for the next night.
LIMIT = 10_000

PAYMENT_TEXTS = (
    "key",
    "kind",
    "currency",
    "message",
    "category",
    "state",
    "prepared",
    "reference",
    "problem",
)
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
    "PayRule.kind": "kept, as payments",
    "PayRule.reason": "kept, as payments",
    "AuditEntry.action": "kept",
    "AuditEntry.reason": "kept: the log cannot be changed; it names workers by number only",
    "AuditEntry.details": "kept, as above",
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
    *, worker: Worker, actor: User | None = None, reason: str, at: datetime | None = None
) -> bool:
    """Remove what could name the worker; say whether there was anything left to remove."""
    own = Worker.objects.filter(pk=worker.pk, forgotten_at=None)
    # Conditional: of two who forget the same worker at once, one does it.
    changed = own.update(
        external_id=f"{Worker.FORGOTTEN}{secrets.token_hex(12)}",
        code=uuid.uuid4(),
        forgotten_at=at or timezone.now(),
    )
    if not changed:
        return False
    for assignment in Assignment.objects.filter(worker=worker).only("pk", "status"):
        # A finished one must have a code; a new one leads nowhere.
        is_done = assignment.status == Assignment.Status.SUBMITTED
        Assignment.objects.filter(pk=assignment.pk).update(
            comment="", completion_code=new_completion_code() if is_done else ""
        )
    forget_arrivals(worker=worker)
    Participation.objects.filter(worker=worker).exclude(decision="").update(
        decision_reason="removed with the worker's data"
    )
    if _has_history(worker):
        record(ACTION, actor=actor, worker=worker, reason=reason)
    else:
        Worker.objects.filter(pk=worker.pk).delete()
        record(ACTION, actor=actor, reason=reason, was_deleted=True)
    return True


def _has_history(worker: Worker) -> bool:
    return (
        Assignment.objects.filter(worker=worker).exists()
        or AuditEntry.objects.filter(worker=worker).exists()
        or Submission.objects.filter(worker=worker).exists()
        or Invite.objects.filter(worker=worker).exists()
    )


def forget_inactive_workers(*, at: datetime | None = None, days: int | None = None) -> int:
    """Forget those who have not been here for the configured time; return how many."""
    now = at or timezone.now()
    days = settings.FORGET_WORKERS_AFTER_DAYS if days is None else days
    if not days:
        return 0
    since = now - timedelta(days=days)
    assignments = Assignment.objects.filter(worker=OuterRef("pk"))
    is_recent = Q(started_at__gte=since) | Q(submitted_at__gte=since)
    joined = Participation.objects.filter(worker=OuterRef("pk"), consented_at__gte=since)
    # Ids in collections from elsewhere are published there; they are removed on request only.
    is_archived = Q(hit__is_archived=True)
    inactive = Worker.objects.filter(forgotten_at=None, created_at__lt=since).exclude(
        Exists(assignments.filter(is_recent | is_archived)) | Exists(joined)
    )
    reason = f"{days} days without activity"
    found = list(inactive.order_by("pk")[:LIMIT])
    return sum(forget_worker(worker=worker, reason=reason, at=now) for worker in found)
