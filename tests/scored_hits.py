"""HITs done by workers whose every score a test decides."""

from collections.abc import Callable
from datetime import datetime, timedelta
from zlib import crc32

import numpy as np
from django.utils import timezone

from analysis.stats.roles import Role
from hits.models import Assignment, Campaign, Item, Rating, Worker
from hits.rating.assignments import submit_assignment, take_assignment
from hits.workers.trust import update_evidence

Scorer = Callable[[Item], float]

# Points by which someone who sees the damage lowers a degraded text.
DAMAGE = 30


def do_hit(
    campaign: Campaign,
    worker: Worker,
    scorer: Scorer,
    *,
    seconds: float = 6.0,
    at: datetime | None = None,
) -> Assignment:
    """Let the worker take the next HIT and rate it, an item every few seconds, without weighing it."""
    start = at or timezone.now() - timedelta(hours=2)
    assignment = take_assignment(campaign=campaign, worker=worker, at=start)
    assert assignment, "no place is open"
    # Genuine items first: the scores of the others depend on theirs.
    items = sorted(
        assignment.hit.items.order_by("position"), key=lambda item: item.role != Role.GENUINE
    )
    Rating.objects.bulk_create(
        Rating(
            assignment=assignment,
            item=item,
            score=int(np.clip(round(scorer(item)), 0, 100)),
            received_at=start + timedelta(seconds=seconds * item.position),
            active_ms=round(900 * seconds),
        )
        for item in items
    )
    end = start + timedelta(seconds=seconds * assignment.hit.size)
    return submit_assignment(assignment=assignment, at=end)


def weighed_hit(campaign: Campaign, worker: Worker, scorer: Scorer, **options) -> Assignment:
    assignment = do_hit(campaign, worker, scorer, **options)
    update_evidence(assignment=assignment)
    assignment.refresh_from_db()
    return assignment


def reader(seed: int, *, noise: float = 15.0) -> Scorer:
    """Sees the same qualities as every reader, with noise, and degraded texts as worse."""
    rng = np.random.default_rng(seed)
    qualities: dict[int, float] = {}

    def score(item: Item) -> float:
        if item.role == Role.GENUINE:
            # From the text, so that it does not depend on keys.
            texts_own = np.random.default_rng(crc32(item.text.encode()))
            qualities[item.translation_id] = texts_own.normal(55, 18)
        damage = DAMAGE if item.role == Role.BAD_REFERENCE else 0
        return float(qualities[item.translation_id] - damage + rng.normal(0, noise))

    return score


def pair_script(seed: int) -> Scorer:
    """Gives random scores, but a degraded text always fewer points than its partner."""
    rng = np.random.default_rng(seed)
    given: dict[int, float] = {}

    def score(item: Item) -> float:
        if item.role == Role.GENUINE:
            given[item.pk] = float(rng.uniform(DAMAGE, 100))
            return given[item.pk]
        return given[item.partner_id] - (DAMAGE if item.role == Role.BAD_REFERENCE else 0)

    return score


def chance(seed: int) -> Scorer:
    """Gives random scores."""
    rng = np.random.default_rng(seed)
    return lambda item: float(rng.uniform(0, 100))
