"""Decide about HITs that are on hold for impossible times.

A decision is about whether the ratings of one HIT count. It does not change what is owed for it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.contrib.auth.models import User
from django.db import models, transaction
from django.db.models import QuerySet
from django.utils import timezone

from analysis.stats.timing import ObservedTimes

from ..exceptions import DecisionRefused
from ..models import Assignment, Campaign
from ..people.audit import record
from ..rating.places import (
    HELD,
    PROMISED,
    cost_per_hit,
    expected_outcome,
    places_wanted,
    settle_places,
    with_prospects,
)
from .deciding import CHANGED
from .holding import COUNTED, DISCARDED, times_of_all
from .recomputing import recompute_worker
from .trust import enqueue_others, locked_participation

# How long a held HIT waits for a person before it is discarded and its place offered again.
HOLD_HOURS = 24
NO_DECISION = f"Nobody decided within {HOLD_HOURS} hours."
# How many held HITs the chores discard per run.
MOST_AT_ONCE = 500


class HoldChoice(models.TextChoices):
    """What an admin can decide about a held HIT."""

    COUNT = "count", "Count them"
    DISCARD = "discard", "Do not count them"


_HOLDS = {
    HoldChoice.COUNT: Assignment.Hold.COUNTED,
    HoldChoice.DISCARD: Assignment.Hold.DISCARDED,
}
_ACTIONS = {Assignment.Hold.COUNTED: COUNTED, Assignment.Hold.DISCARDED: DISCARDED}


# Deciding ------------------------------------------------------------------------------------


def count_held(*, assignment: Assignment, actor: User, reason: str) -> bool:
    """Count a HIT despite its times; return False if it has been decided about since it was read.

    A person may also overrule an earlier decision, for instance that of the platform after a day.
    """
    return _decide(assignment, Assignment.Hold.COUNTED, actor=actor, reason=reason)


def discard_held(*, assignment: Assignment, actor: User | None, reason: str) -> bool:
    """Leave a held HIT out for good and offer its place again. Without an actor, the platform decides.

    Return False if it has been decided about since it was read.
    """
    return _decide(assignment, Assignment.Hold.DISCARDED, actor=actor, reason=reason)


@transaction.atomic
def _decide(assignment: Assignment, to: str, *, actor: User | None, reason: str) -> bool:
    if not reason.strip():
        raise DecisionRefused("A decision about a held HIT needs a reason.")
    if not assignment.hold or assignment.hold == to:
        return False
    campaign = assignment.hit.campaign
    # Locked first, as when a HIT is weighed, so that no evidence is computed from half of a decision.
    participation = locked_participation(campaign, assignment.worker_id)
    as_read = Assignment.objects.filter(pk=assignment.pk, hold=assignment.hold)
    if not as_read.update(hold=to):
        return False
    record(
        _ACTIONS[Assignment.Hold(to)],
        actor=actor,
        campaign=campaign,
        worker=participation.worker,
        reason=reason.strip(),
        before=assignment.hold,
        after=to,
        hit=assignment.hit.number,
        assignment=str(assignment.code),
    )
    recompute_worker(campaign, assignment.worker_id)
    settle_places(campaign=campaign, hits=[assignment.hit_id])
    if Assignment.Hold.COUNTED in (assignment.hold, to):
        enqueue_others(participation)
    return True


def discard_overdue(*, at: datetime | None = None) -> int:
    """Discard held HITs that nobody has decided about in time. Return how many."""
    deadline = (at or timezone.now()) - timedelta(hours=HOLD_HOURS)
    overdue = Assignment.objects.filter(hold=Assignment.Hold.HELD, held_at__lte=deadline)
    # Read everything before the first write: SQLite refuses to write during a half-read query.
    held = list(overdue.select_related("hit__campaign").order_by("held_at")[:MOST_AT_ONCE])
    return sum(
        discard_held(assignment=assignment, actor=None, reason=NO_DECISION) for assignment in held
    )


# Reading -------------------------------------------------------------------------------------


def held_hits(campaign: Campaign) -> QuerySet[Assignment]:
    """The campaign's HITs that are or were on hold, those without a decision first."""
    ever_held = Assignment.objects.filter(hit__campaign=campaign).exclude(hold="")
    is_open = models.Q(hold=Assignment.Hold.HELD)
    return (
        ever_held.select_related("hit__campaign", "worker")
        .annotate(is_open=models.ExpressionWrapper(is_open, models.BooleanField()))
        .order_by("-is_open", "-held_at", "-pk")
    )


def held_hits_with(campaign: Campaign, codes: Sequence[UUID]) -> list[Assignment]:
    """Those with these codes. Codes of other assignments are ignored."""
    return list(held_hits(campaign).filter(code__in=codes).order_by("pk"))


@dataclass(frozen=True, slots=True)
class HeldHit:
    """A HIT that is or was on hold, with the times that the server saw."""

    assignment: Assignment
    times: ObservedTimes

    @property
    def discarded_at(self) -> datetime | None:
        """When it will be discarded if nobody decides; None once it is decided about."""
        held_at = self.assignment.held_at
        if self.assignment.hold != Assignment.Hold.HELD or held_at is None:
            return None
        return held_at + timedelta(hours=HOLD_HOURS)


def with_times(assignments: Sequence[Assignment]) -> list[HeldHit]:
    """Add the observed times, in one query."""
    times = times_of_all(assignments)
    return [HeldHit(assignment, times[assignment.pk]) for assignment in assignments]


# The preview ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HoldPreview:
    """What a decision about held HITs would do. Nothing has been changed."""

    choice: HoldChoice
    hits: tuple[Assignment, ...]
    n_places_opened: int
    n_places_closed: int
    amount_owed: Decimal
    currency: str

    @property
    def new(self) -> list[Assignment]:
        """The HITs whose state would change."""
        return [hit for hit in self.hits if hit.hold != _HOLDS[self.choice]]

    @property
    def n_ratings(self) -> int:
        """Ratings that start or stop counting, if their workers are trusted."""
        return sum(assignment.hit.size for assignment in self.new)

    @property
    def fingerprint(self) -> str:
        """Identifies the choice and the states of the HITs, to detect changes since the preview."""
        states = [(assignment.pk, str(assignment.hold)) for assignment in self.hits]
        return hashlib.sha256(repr((str(self.choice), states)).encode()).hexdigest()[:16]


def preview_hold(
    *,
    campaign: Campaign,
    hits: Sequence[Assignment],
    choice: HoldChoice,
    at: datetime | None = None,
) -> HoldPreview:
    """Work out what a decision about these held HITs would change. Nothing is written.

    The verdict about their workers may change as well, which is known only once the ratings are weighed.
    """
    opened, closed = _places(campaign, hits, _HOLDS[choice], at or timezone.now())
    n_owed = sum(not assignment.is_rejected for assignment in hits)
    return HoldPreview(
        choice=choice,
        hits=tuple(hits),
        n_places_opened=opened,
        n_places_closed=closed,
        amount_owed=n_owed * cost_per_hit(campaign),
        currency=campaign.currency,
    )


def _places(
    campaign: Campaign, hits: Sequence[Assignment], to: str, now: datetime
) -> tuple[int, int]:
    """Count the places that would open and those that would close, by the rules of `places`."""
    decided = {assignment.pk for assignment in hits}
    places = {assignment.hit_id: assignment.hit.places_left for assignment in hits}
    promised = dict.fromkeys(places, 0)
    on_these_hits = Assignment.objects.filter(hit__in=places, status__in=HELD)
    for assignment in with_prospects(on_these_hits, campaign, now):
        outcome = expected_outcome(
            assignment.status,
            is_trusted=assignment.is_trusted,
            is_discarded=assignment.is_discarded,
            may_prove=assignment.may_prove,
            hold=to if assignment.pk in decided else assignment.hold,
        )
        promised[assignment.hit_id] += outcome in PROMISED
    steps = [places_wanted(campaign, promised[pk]) - left for pk, left in places.items()]
    return sum(step for step in steps if step > 0), -sum(step for step in steps if step < 0)


@dataclass(frozen=True, slots=True)
class HoldsDecided:
    """Counts of HITs decided about, and of HITs skipped because someone else was faster."""

    n_decided: int
    n_changed: int = 0


def decide_holds_as_seen(
    *, preview: HoldPreview, seen: str, actor: User, reason: str
) -> HoldsDecided:
    """Apply the previewed decision if the person saw this preview: `seen` is its fingerprint.

    Each HIT is its own transaction. If one fails, the earlier ones stand; run it again to continue.
    """
    if not reason.strip():
        raise DecisionRefused("A decision about a held HIT needs a reason.")
    if seen != preview.fingerprint:
        raise DecisionRefused(CHANGED)
    decide = count_held if preview.choice == HoldChoice.COUNT else discard_held
    n_decided = sum(decide(assignment=hit, actor=actor, reason=reason) for hit in preview.new)
    return HoldsDecided(n_decided, len(preview.new) - n_decided)


def n_waiting(campaign: Campaign) -> int:
    """How many HITs wait for a decision."""
    return held_hits(campaign).filter(hold=Assignment.Hold.HELD).count()
