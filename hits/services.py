"""Everything that writes while workers rate: taking a HIT, saving ratings, submitting, giving places back.

No step trusts an earlier look at the database. A place is claimed by a conditional UPDATE, a rating by its
primary key, and both can be asked for twice without harm.
"""

import logging
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.db.models import Case, F, Q, Value, When
from django.utils import timezone

from da_platform.counting import CLAIMS, RATINGS
from da_platform.sending import enqueue

from .audit import record
from .exceptions import NotFinished, RatingRefused, StatusRefused, WorkerIsBusy
from .models import (
    HIT,
    SCORE_MAX,
    SCORE_MIN,
    Assignment,
    Campaign,
    Item,
    Participation,
    Rating,
    Recruitment,
    Worker,
)
from .places import is_affordable, settle_after_return, settle_places

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
STATUS_DEEDS = {
    Campaign.Status.OPEN: "opened",
    Campaign.Status.PAUSED: "paused",
    Campaign.Status.CLOSED: "closed",
}


@transaction.atomic
def change_status(*, campaign: Campaign, to: str, actor: User | None = None) -> Campaign:
    """Open, pause or close a campaign. Asking for the status it has changes nothing."""
    target = Campaign.Status(to)
    if campaign.status == target:
        return campaign
    if target not in STATUS_CHANGES[Campaign.Status(campaign.status)]:
        raise StatusRefused(f"{campaign.name} is {campaign.status} and cannot become {target}.")
    if campaign.is_archive:
        raise StatusRefused(f"{campaign.name} was collected elsewhere and stays closed.")
    if target == Campaign.Status.OPEN and not campaign.hits.exists():
        raise StatusRefused(f"{campaign.name} has no HITs yet. Build them before you open it.")
    changed = Campaign.objects.filter(pk=campaign.pk, status=campaign.status).update(status=target)
    if not changed:
        raise StatusRefused(f"Someone else changed the status of {campaign.name} just now.")
    record(
        f"campaign {STATUS_DEEDS[target]}",
        actor=actor,
        campaign=campaign,
        before=campaign.status,
        after=target,
    )
    campaign.status = target
    if Recruitment.objects.with_study().filter(campaign=campaign).exists():
        # Not waited for. If the message is lost or Prolific is out of reach, the chores see to it.
        transaction.on_commit(partial(enqueue, "hits.follow_campaign", campaign.pk))
    return campaign


def find_or_make_worker(*, provider: str, external_id: str) -> Worker:
    return Worker.objects.get_or_create(provider=provider, external_id=external_id)[0]


def take_part(*, campaign: Campaign, worker: Worker) -> Participation:
    """Note that the worker has agreed to take part; the first time counts."""
    return Participation.objects.get_or_create(
        campaign=campaign, worker=worker, defaults={"consented_at": timezone.now()}
    )[0]


def answer_check(*, participation: Participation, is_right: bool) -> Participation:
    """Count an answer to the question about the instructions: right qualifies, two wrong ones do not."""
    own = Participation.objects.filter(pk=participation.pk, qualified_at=None)
    own = own.filter(n_check_tries__lt=Participation.MAX_CHECK_TRIES)
    if is_right:
        own.update(qualified_at=timezone.now())
    else:
        own.update(n_check_tries=F("n_check_tries") + 1)
    participation.refresh_from_db()
    return participation


def take_assignment(
    *, campaign: Campaign, worker: Worker, at: datetime | None = None
) -> Assignment | None:
    """Give the worker the HIT in hand or the next open one, or None when there is none left."""
    now = at or timezone.now()
    if current := _assignment_in_hand(campaign, worker):
        return current
    standing = Participation.objects.filter(campaign=campaign, worker=worker).first()
    is_discarded = standing is not None and standing.is_discarded
    if expired := worker.assignments.expired().filter(hit__campaign=campaign).first():
        if is_discarded:
            # It may be finished, and paid; a place that others could fill is not spent on it.
            return expired
        return _renew_lease(expired, campaign, now=now)
    if is_discarded or not is_affordable(campaign):
        return None
    try:
        assignment = _claim_next_place(campaign, worker, now=now)
    except IntegrityError:
        # The same worker in another tab was faster; the constraint let only one through.
        return _assignment_in_hand(campaign, worker)
    except _MoneyIsSpent:
        assignment = None
    if assignment and not (standing and standing.is_trusted):
        settle_after_return(campaign=campaign, worker=worker)
    CLAIMS.labels("taken" if assignment else "none").inc()
    return assignment


def _renew_lease(expired: Assignment, campaign: Campaign, *, now: datetime) -> Assignment:
    """Give a late worker the place back if it is still free; otherwise the work goes on without one."""
    # Refused by the database where the worker has taken up another HIT in another tab.
    with suppress(IntegrityError):
        _take_place_again(expired, campaign, now=now)
    expired.refresh_from_db()
    return expired


@transaction.atomic
def _take_place_again(expired: Assignment, campaign: Campaign, *, now: datetime) -> None:
    if campaign.spending_cap is not None and not _has_room_for_one(campaign):
        return
    # The assignment first, as wherever both rows change: another tab may be renewing it or handing it in.
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


class _MoneyIsSpent(Exception):
    """The campaign cannot pay for another HIT, whichever it is."""


def _claim_next_place(campaign: Campaign, worker: Worker, *, now: datetime) -> Assignment | None:
    """Take a place on the first HIT that has one for this worker, or None when there is none left."""
    open_hits = campaign.hits.open().not_taken_by(worker).order_by("number")
    number = 0
    # One row at a time, of however many, and none twice: this ends, however places come and go.
    while hit := open_hits.filter(number__gt=number).first():
        hit.campaign, number = campaign, hit.number
        if assignment := _claim_place(hit, worker, now=now, minutes=campaign.lease_minutes):
            return assignment
        CLAIMS.labels("conflict").inc()
    return None


@transaction.atomic
def _claim_place(hit: HIT, worker: Worker, *, now: datetime, minutes: int) -> Assignment | None:
    """Take a place on this HIT, or None if others took the last one."""
    if hit.campaign.spending_cap is not None and not _has_room_for_one(hit.campaign):
        raise _MoneyIsSpent
    place = HIT.objects.open().filter(pk=hit.pk)
    if not place.update(places_left=F("places_left") - 1):
        return None
    return Assignment.objects.create(
        hit=hit, worker=worker, started_at=now, expires_at=now + timedelta(minutes=minutes)
    )


def _has_room_for_one(campaign: Campaign) -> bool:
    # Locked: two claims at once could otherwise each see room for one. Not against those who only
    # refer to the campaign: they may hold the very HIT that is claimed next.
    return is_affordable(Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk))


@dataclass(frozen=True, slots=True)
class SavedRating:
    """What the database holds for an item now; not new when the item had been rated before."""

    score: int
    is_new: bool


def save_rating(
    *,
    assignment: Assignment,
    position: int,
    item_code: UUID,
    score: int,
    elapsed_ms: int | None = None,
    active_ms: int | None = None,
    at: datetime | None = None,
) -> SavedRating:
    """Store the score of the assignment's next item and say what is stored.

    A second score for the same item changes nothing: the first one comes back. Ratings are never
    changed or removed and are given in order, so nothing seen here can become untrue later.
    """
    _check_rating(assignment, score)
    is_new = _insert_rating(
        assignment, position, item_code, (score, at or timezone.now(), elapsed_ms, active_ms)
    )
    if is_new:
        RATINGS.labels("new").inc()
        return SavedRating(score, is_new=True)
    stored = Rating.objects.filter(
        assignment=assignment, item__position=position, item__code=item_code
    ).first()
    if stored:
        RATINGS.labels("repeated").inc()
        return SavedRating(stored.score, is_new=False)
    raise RatingRefused("This is not the next item of your HIT. Items are rated in their order.")


def _check_rating(assignment: Assignment, score: int) -> None:
    if isinstance(score, bool) or not isinstance(score, int):
        raise RatingRefused("A score is a whole number.")
    if not SCORE_MIN <= score <= SCORE_MAX:
        raise RatingRefused(f"A score lies between {SCORE_MIN} and {SCORE_MAX}.")
    if assignment.status == Assignment.Status.RETURNED:
        raise RatingRefused("This HIT was given back.")


# One statement looks and writes, so that nothing can come between: the item must be the HIT's, at
# that position, with the one before it rated. The inner question leans on nothing outside it:
# otherwise PostgreSQL reads all earlier ratings of the assignment to answer it.
_INSERT_RATING = """
    INSERT INTO hits_rating (assignment_id, item_id, score, received_at, elapsed_ms, active_ms)
    SELECT %s, item.id, %s, %s, %s, %s
    FROM hits_item item
    WHERE item.hit_id = %s AND item.position = %s AND item.code = %s
      AND (item.position = 1 OR EXISTS (
        SELECT 1
        FROM hits_item before
        JOIN hits_rating rated ON rated.assignment_id = %s AND rated.item_id = before.id
        WHERE before.hit_id = %s AND before.position = %s
      ))
    ON CONFLICT (assignment_id, item_id) DO NOTHING
"""


def _insert_rating(
    assignment: Assignment,
    position: int,
    item_code: UUID,
    values: tuple[int, datetime, int | None, int | None],
) -> bool:
    score, received_at, elapsed_ms, active_ms = values
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT_RATING,
            [
                assignment.pk,
                score,
                connection.ops.adapt_datetimefield_value(received_at),
                elapsed_ms,
                active_ms,
                assignment.hit_id,
                position,
                Item._meta.get_field("code").get_db_prep_value(item_code, connection),
                assignment.pk,
                assignment.hit_id,
                position - 1,
            ],
        )
        return cursor.rowcount == 1


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
    if not submitted:
        return
    if own.filter(is_late=True).exists():
        # Its place was offered again; if nobody has taken it yet, nobody needs to.
        settle_places(campaign=assignment.hit.campaign, hits=[assignment.hit_id])
    # Not waited for. If the message is lost, the chores find the assignment without evidence.
    transaction.on_commit(partial(enqueue, "hits.weigh_assignment", assignment.pk))


def new_completion_code() -> str:
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


@transaction.atomic
def return_assignment(*, assignment: Assignment) -> bool:
    """Give an unfinished assignment back for good: its place is offered again, its ratings stay."""
    returned = (
        Assignment.objects.open().filter(pk=assignment.pk).update(status=Assignment.Status.RETURNED)
    )
    if returned:
        settle_places(campaign=assignment.hit.campaign, hits=[assignment.hit_id])
    return bool(returned)


def release_assignment(*, assignment: Assignment) -> bool:
    """Offer the place of an assignment again before its time is up; the worker may still finish it."""
    return _release(assignment)


def release_expired(*, at: datetime | None = None) -> int:
    """Offer the places of abandoned assignments again; their ratings stay. Return how many."""
    now = at or timezone.now()
    overdue = Assignment.objects.in_progress().filter(expires_at__lte=now)
    # Read to the end before the first write: SQLite refuses to write beside a half-read answer.
    return sum(_release(assignment) for assignment in list(overdue.select_related("hit__campaign")))


@transaction.atomic
def _release(assignment: Assignment) -> bool:
    # Conditional: the worker may submit, or another sweep come by, at this very moment.
    expired = (
        Assignment.objects.in_progress()
        .filter(pk=assignment.pk)
        .update(status=Assignment.Status.EXPIRED)
    )
    if expired:
        settle_places(campaign=assignment.hit.campaign, hits=[assignment.hit_id])
    return bool(expired)
