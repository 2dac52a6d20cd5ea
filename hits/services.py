"""Everything that writes while workers rate: taking a HIT, saving ratings, submitting, giving places back.

No step trusts an earlier look at the database. A place is claimed by a conditional UPDATE, a rating by its
primary key, and both can be asked for twice without harm.
"""

import logging
import secrets
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Case, F, Q, Value, When
from django.utils import timezone

from .exceptions import NotFinished, RatingRefused, StatusRefused, WorkerIsBusy
from .models import HIT, SCORE_MAX, SCORE_MIN, Assignment, Campaign, Item, Rating, Worker

logger = logging.getLogger(__name__)

# No 0/O, 1/I/L or U: a code may be typed from a screen.
CODE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
CODE_LENGTH = 12

STATUS_CHANGES = {
    Campaign.Status.DRAFT: {Campaign.Status.OPEN, Campaign.Status.CLOSED},
    Campaign.Status.OPEN: {Campaign.Status.PAUSED, Campaign.Status.CLOSED},
    Campaign.Status.PAUSED: {Campaign.Status.OPEN, Campaign.Status.CLOSED},
    Campaign.Status.CLOSED: {Campaign.Status.OPEN},
}


def change_status(*, campaign: Campaign, to: str) -> Campaign:
    """Open, pause or close a campaign. Asking for the status it has changes nothing."""
    target = Campaign.Status(to)
    if campaign.status == target:
        return campaign
    if target not in STATUS_CHANGES[Campaign.Status(campaign.status)]:
        raise StatusRefused(f"{campaign.name} is {campaign.status} and cannot become {target}.")
    if target == Campaign.Status.OPEN and not campaign.hits.exists():
        raise StatusRefused(f"{campaign.name} has no HITs yet. Build them before you open it.")
    changed = Campaign.objects.filter(pk=campaign.pk, status=campaign.status).update(status=target)
    if not changed:
        raise StatusRefused(f"Someone else changed the status of {campaign.name} just now.")
    campaign.status = target
    return campaign


def find_or_make_worker(*, provider: str, external_id: str) -> Worker:
    return Worker.objects.get_or_create(provider=provider, external_id=external_id)[0]


def take_assignment(
    *, campaign: Campaign, worker: Worker, at: datetime | None = None
) -> Assignment | None:
    """Give the worker the HIT in hand or the next open one, or None when there is none left."""
    now = at or timezone.now()
    if current := _assignment_in_hand(campaign, worker):
        return current
    for hit in campaign.hits.open().not_taken_by(worker).order_by("number"):
        try:
            assignment = _claim_place(hit, worker, now=now, minutes=campaign.lease_minutes)
        except IntegrityError:
            # The same worker in another tab was faster; the constraint let only one through.
            return _assignment_in_hand(campaign, worker)
        if assignment:
            return assignment
    return None


def _assignment_in_hand(campaign: Campaign, worker: Worker) -> Assignment | None:
    current = worker.assignments.in_progress().select_related("hit__campaign").first()
    if current and current.hit.campaign_id != campaign.pk:
        raise WorkerIsBusy(f"Finish your HIT of {current.hit.campaign.name} first.")
    return current


@transaction.atomic
def _claim_place(hit: HIT, worker: Worker, *, now: datetime, minutes: int) -> Assignment | None:
    """Take a place on this HIT, or None if others took the last one meanwhile."""
    place = HIT.objects.open().filter(pk=hit.pk)
    if not place.update(places_left=F("places_left") - 1):
        return None
    return Assignment.objects.create(
        hit=hit, worker=worker, started_at=now, expires_at=now + timedelta(minutes=minutes)
    )


def save_rating(
    *,
    assignment: Assignment,
    item: Item,
    score: int,
    elapsed_ms: int | None = None,
    active_ms: int | None = None,
    at: datetime | None = None,
) -> Rating:
    """Store the score of the assignment's next item; return what is stored.

    A second score for the same item changes nothing: the first one comes back. Items are rated in
    their order, so the one before must be there. Ratings are never changed or removed, so what this
    function has seen stays true, and no lock is needed between looking and writing.
    """
    _check_rating(assignment, item, score)
    try:
        with transaction.atomic():
            return Rating.objects.create(
                assignment=assignment,
                item=item,
                score=score,
                elapsed_ms=elapsed_ms,
                active_ms=active_ms,
                received_at=at or timezone.now(),
            )
    except IntegrityError:
        return Rating.objects.get(assignment=assignment, item=item)


def _check_rating(assignment: Assignment, item: Item, score: int) -> None:
    if item.hit_id != assignment.hit_id:
        raise RatingRefused("This item does not belong to your HIT.")
    if isinstance(score, bool) or not isinstance(score, int):
        raise RatingRefused("A score is a whole number.")
    if not SCORE_MIN <= score <= SCORE_MAX:
        raise RatingRefused(f"A score lies between {SCORE_MIN} and {SCORE_MAX}.")
    if assignment.status == Assignment.Status.RETURNED:
        raise RatingRefused("This HIT was given back.")
    if item.position > 1 and not _is_rated(assignment, position=item.position - 1):
        raise RatingRefused("Items are rated in their order; an earlier one has no rating yet.")


def _is_rated(assignment: Assignment, *, position: int) -> bool:
    return Rating.objects.filter(
        assignment=assignment, item__hit=assignment.hit_id, item__position=position
    ).exists()


def submit_assignment(
    *, assignment: Assignment, comment: str = "", at: datetime | None = None
) -> Assignment:
    """Freeze a finished assignment and give it its completion code; a second call finds the first one's."""
    n_rated, size = assignment.ratings.count(), assignment.hit.size
    if n_rated < size:
        raise NotFinished(f"{size - n_rated} of {size} items have no rating yet.")
    _submit(assignment, comment, at or timezone.now())
    assignment.refresh_from_db()
    if assignment.status != Assignment.Status.SUBMITTED:
        raise NotFinished("This HIT was given back.")
    return assignment


@transaction.atomic
def _submit(assignment: Assignment, comment: str, now: datetime) -> None:
    is_expired = Q(status=Assignment.Status.EXPIRED)
    own = Assignment.objects.filter(pk=assignment.pk)
    submitted = own.open().update(
        is_late=Case(When(is_expired, then=Value(True)), default=Value(False)),
        status=Assignment.Status.SUBMITTED,
        submitted_at=now,
        completion_code=new_completion_code(),
        comment=comment,
    )
    if submitted and own.filter(is_late=True).exists():
        # Its place was offered again; if nobody has taken it yet, nobody needs to.
        HIT.objects.filter(pk=assignment.hit_id, places_left__gt=0).update(
            places_left=F("places_left") - 1
        )


def new_completion_code() -> str:
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


def release_expired(*, at: datetime | None = None) -> int:
    """Offer the places of abandoned assignments again; their ratings stay. Return how many."""
    now = at or timezone.now()
    overdue = Assignment.objects.in_progress().filter(expires_at__lte=now)
    return sum(_release(assignment) for assignment in overdue.iterator(chunk_size=500))


@transaction.atomic
def _release(assignment: Assignment) -> bool:
    # Conditional: the worker may submit, or another sweep come by, at this very moment.
    expired = (
        Assignment.objects.in_progress()
        .filter(pk=assignment.pk)
        .update(status=Assignment.Status.EXPIRED)
    )
    if expired:
        HIT.objects.filter(pk=assignment.hit_id).update(places_left=F("places_left") + 1)
    return bool(expired)
