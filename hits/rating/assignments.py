"""Taking, submitting and returning a HIT.

No step relies on an earlier read. A place is claimed with a conditional UPDATE, and every step can be repeated
without harm.
"""

import logging
import secrets
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from django.db import IntegrityError, transaction
from django.db.models import Case, Count, F, Q, QuerySet, Value, When
from django.utils import timezone

from da_platform.counting import CLAIMS
from da_platform.sending import enqueue

from ..exceptions import NotFinished, WorkerIsBusy
from ..models import (
    HIT,
    Assignment,
    Campaign,
    Worker,
)
from ..task_kinds import kind_of
from .places import is_affordable, settle_after_return, settle_places
from .signals import SentSignals, store_signals

logger = logging.getLogger(__name__)


# Without 0/O, 1/I/L and U, since people may type the code from a screen.
CODE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"  # pragma: allowlist secret
CODE_LENGTH = 12


def take_assignment(
    *, campaign: Campaign, worker: Worker, at: datetime | None = None
) -> Assignment | None:
    """Give the worker their current HIT or the next open one, or None when there is none for them.

    Whatever the reason for None, the same queries run, so that the time it takes does not reveal it.
    """
    now = at or timezone.now()
    if current := _assignment_in_hand(campaign, worker):
        return current
    standing = campaign.participations.filter(worker=worker).first()
    # Neither is offered to someone whose next ratings would be left out because of drift.
    is_discarded = standing is not None and (
        standing.is_discarded or standing.left_out_since is not None
    )
    if expired := worker.assignments.expired().filter(hit__campaign=campaign).first():
        if is_discarded:
            # They may finish it and are paid, but it does not take a place that others could fill.
            return expired
        return _renew_lease(expired, campaign, now=now)
    is_screened_out = standing is not None and standing.is_screened_out
    # A list and not `and`, which would leave out queries once one of these is false.
    may_take_more = all(
        [
            not is_discarded,
            not is_screened_out,
            is_affordable(campaign),
            _is_within_limits(campaign, worker),
        ]
    )
    next_hit = _open_hits(campaign, worker).first()
    if next_hit is None or not may_take_more:
        CLAIMS.labels("none").inc()
        return None
    try:
        assignment = _claim_place_from(next_hit, campaign, worker, now=now)
    except IntegrityError:
        # The same worker was faster in another tab; the constraint let only one through.
        return _assignment_in_hand(campaign, worker)
    except _NotForThem:
        assignment = None
    if assignment and not (standing and standing.is_trusted):
        settle_after_return(campaign=campaign, worker=worker)
    CLAIMS.labels("taken" if assignment else "none").inc()
    return assignment


def _renew_lease(expired: Assignment, campaign: Campaign, *, now: datetime) -> Assignment:
    """Give a late worker their place back if it is still free; otherwise they continue without one."""
    # The database refuses this if the worker has taken another HIT in another tab.
    with suppress(IntegrityError):
        _take_place_again(expired, campaign, now=now)
    expired.refresh_from_db()
    return expired


@transaction.atomic
def _take_place_again(expired: Assignment, campaign: Campaign, *, now: datetime) -> None:
    if campaign.spending_cap is not None and not _has_room_for_one(campaign):
        return
    # The assignment first, as wherever both rows change: another tab may be renewing or submitting it.
    renewed = (
        Assignment.objects.expired()
        .filter(pk=expired.pk)
        .update(
            status=Assignment.Status.IN_PROGRESS,
            expires_at=now + timedelta(minutes=campaign.lease_minutes),
        )
    )
    place = HIT.objects.open().filter(pk=expired.hit_id)
    if renewed and not place.update(places_left=F("places_left") - 1):
        Assignment.objects.filter(pk=expired.pk).update(
            status=Assignment.Status.EXPIRED, expires_at=expired.expires_at
        )


def _assignment_in_hand(campaign: Campaign, worker: Worker) -> Assignment | None:
    current = worker.assignments.in_progress().select_related("hit__campaign").first()
    if current and current.hit.campaign_id != campaign.pk:
        raise WorkerIsBusy(f"Finish your HIT of {current.hit.campaign.name} first.")
    return current


class _NotForThem(Exception):
    """The campaign cannot pay for another HIT, or the worker may not take one."""


def _is_within_limits(campaign: Campaign, worker: Worker) -> bool:
    """Whether the worker has a HIT left in this campaign, and none on hold. Returned HITs do not count."""
    own_work = worker.assignments.filter(hit__campaign=campaign)
    facts = own_work.aggregate(
        n_hits=Count("pk", filter=~Q(status=Assignment.Status.RETURNED)),
        n_held=Count("pk", filter=Q(hold=Assignment.Hold.HELD)),
    )
    limit = campaign.max_hits_per_worker
    return facts["n_held"] == 0 and (limit is None or facts["n_hits"] < limit)


def _open_hits(campaign: Campaign, worker: Worker) -> QuerySet[HIT]:
    return HIT.objects.open().for_worker(campaign, worker).order_by("number")


def _claim_place_from(
    first: HIT, campaign: Campaign, worker: Worker, *, now: datetime
) -> Assignment | None:
    """Take a place on this HIT or the next that has one for this worker, or None when there is none left."""
    hit: HIT | None = first
    # In order and never the same HIT twice, so that this ends however places change meanwhile.
    while hit:
        hit.campaign = campaign
        if assignment := _claim_place(hit, worker, now=now, minutes=campaign.lease_minutes):
            return assignment
        CLAIMS.labels("conflict").inc()
        hit = _open_hits(campaign, worker).filter(number__gt=hit.number).first()
    return None


@transaction.atomic
def _claim_place(hit: HIT, worker: Worker, *, now: datetime, minutes: int) -> Assignment | None:
    """Take a place on this HIT, or None if others took the last one."""
    if hit.campaign.spending_cap is not None and not _has_room_for_one(hit.campaign):
        raise _NotForThem
    # Locked, or two tabs at once could each see one HIT left. A worker with a HIT in progress is stopped by
    # a constraint, but one tab may submit its HIT before the other has claimed.
    Worker.objects.select_for_update(no_key=True).get(pk=worker.pk)
    if not _is_within_limits(_limits_now(hit.campaign), worker):
        raise _NotForThem
    place = HIT.objects.open().filter(pk=hit.pk)
    if not place.update(places_left=F("places_left") - 1):
        return None
    return Assignment.objects.create(
        hit=hit, worker=worker, started_at=now, expires_at=now + timedelta(minutes=minutes)
    )


def _has_room_for_one(campaign: Campaign) -> bool:
    # Locked, or two claims at once could each see room for one. `no_key` does not block rows that refer
    # to the campaign, whose transactions may hold the HIT that is claimed next.
    return is_affordable(Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk))


def _limits_now(campaign: Campaign) -> Campaign:
    """Reread the limit, which an admin may have changed since the request began."""
    return Campaign.objects.only("max_hits_per_worker").get(pk=campaign.pk)


def submit_assignment(
    *,
    assignment: Assignment,
    comment: str = "",
    signals: SentSignals | None = None,
    at: datetime | None = None,
) -> Assignment:
    """Freeze a finished assignment and give it a completion code. A second call returns the same code.

    `signals` is what the browser counted, if the HIT was submitted through the page.
    """
    kind = kind_of(assignment.hit.campaign)
    n_answers, size = kind.n_answers(assignment), assignment.hit.size
    if n_answers < size:
        raise NotFinished(f"{size - n_answers} of {size} items have no answer yet.")
    _submit(assignment, comment, signals, at or timezone.now())
    assignment.refresh_from_db()
    if assignment.status != Assignment.Status.SUBMITTED:
        raise NotFinished("This HIT was returned.")
    return assignment


@transaction.atomic
def _submit(
    assignment: Assignment, comment: str, signals: SentSignals | None, now: datetime
) -> None:
    is_expired = Q(status=Assignment.Status.EXPIRED)
    this_assignment = Assignment.objects.filter(pk=assignment.pk)
    submitted = this_assignment.open().update(
        is_late=Case(When(is_expired, then=Value(True)), default=Value(False)),
        status=Assignment.Status.SUBMITTED,
        submitted_at=now,
        completion_code=new_completion_code(),
        comment=comment,
    )
    if not submitted:
        return
    store_signals(assignment=assignment, sent=signals)
    if this_assignment.filter(is_late=True).exists():
        # Its place was offered again. If nobody has taken it yet, it is no longer needed.
        settle_places(campaign=assignment.hit.campaign, hits=[assignment.hit_id])
    # Asynchronous. If the message is lost, the chores find the assignment without evidence.
    transaction.on_commit(partial(enqueue, "hits.weigh_assignment", assignment.pk))


def new_completion_code() -> str:
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


@transaction.atomic
def return_assignment(*, assignment: Assignment) -> bool:
    """Return an unfinished assignment for good. Its place is offered again and its ratings stay."""
    returned = (
        Assignment.objects.open().filter(pk=assignment.pk).update(status=Assignment.Status.RETURNED)
    )
    if returned:
        settle_places(campaign=assignment.hit.campaign, hits=[assignment.hit_id])
    return bool(returned)


def release_assignment(*, assignment: Assignment) -> bool:
    """Offer an assignment's place again before its time is up. The worker may still finish it."""
    return _release(assignment)


def release_expired(*, at: datetime | None = None) -> int:
    """Offer the places of abandoned assignments again, keeping their ratings. Return how many."""
    now = at or timezone.now()
    overdue = Assignment.objects.in_progress().filter(expires_at__lte=now)
    # Read everything before the first write: SQLite refuses to write during a half-read query.
    return sum(_release(assignment) for assignment in list(overdue.select_related("hit__campaign")))


@transaction.atomic
def _release(assignment: Assignment) -> bool:
    # Conditional, because the worker may submit, or another sweep may run, at the same moment.
    expired = (
        Assignment.objects.in_progress()
        .filter(pk=assignment.pk)
        .update(status=Assignment.Status.EXPIRED)
    )
    if expired:
        settle_places(campaign=assignment.hit.campaign, hits=[assignment.hit_id])
    return bool(expired)
