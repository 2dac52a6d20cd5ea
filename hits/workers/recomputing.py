"""Recompute the evidence about a campaign's workers from their ratings alone.

Do this after thresholds have changed, or to check that trust matches the ratings.
"""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, transaction
from django.utils import timezone

from ..exceptions import RecomputingRefused
from ..models import Assignment, Campaign, Evidence, Participation
from ..rating.places import settle_places, unsettled_hits
from .trust import follow, locked_participation, weigh

logger = logging.getLogger(__name__)

# Rows come in any order, and sums of the same numbers may differ in the last digits.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class RecomputingSummary:
    """How many workers there are, for how many the evidence or the trust changed, and who failed.

    `n_failed` workers could not be judged. They keep their evidence and trust, and the log says why.
    """

    n_workers: int
    n_evidence_changed: int
    n_trust_changed: int
    n_hits_settled: int
    n_failed: int = 0


def recompute_workers(
    *, campaign: Campaign, progress: Callable[[int, int], object] = lambda done, total: None
) -> RecomputingSummary:
    """Judge every worker of the campaign again. A second run changes nothing.

    Workers are handled one by one, so that it can be interrupted and repeated, and a worker who submits a
    HIT meanwhile waits for at most one of them. One who cannot be judged does not stop the others.
    People's decisions stay in force.
    """
    if campaign.is_archive:
        raise RecomputingRefused(
            f"{campaign.name} was collected elsewhere and lacks the times and order that evidence needs. "
            "Import the collection again instead."
        )
    workers = list(campaign.participations.order_by("pk").values_list("worker", flat=True))
    n_evidence = n_trust = n_failed = 0
    for n_done, worker in enumerate(workers):
        progress(n_done, len(workers))
        try:
            has_new_evidence, has_new_trust = _recompute(campaign, worker)
        except DatabaseError:
            # Not about this worker: the next one would meet it too.
            raise
        except Exception:
            logger.exception("Worker number %s could not be judged.", worker)
            n_failed += 1
            continue
        n_evidence += has_new_evidence
        n_trust += has_new_trust
    unsettled = unsettled_hits(campaign, campaign.hits.all(), timezone.now())
    settle_places(campaign=campaign, hits=unsettled)
    progress(len(workers), len(workers))
    return RecomputingSummary(len(workers), n_evidence, n_trust, len(unsettled), n_failed)


@transaction.atomic
def _recompute(campaign: Campaign, worker: int) -> tuple[bool, bool]:
    """Judge one worker again; return whether the evidence and the trust have changed."""
    participation = locked_participation(campaign, worker)
    before = participation.trust
    evidence = participation.evidence.order_by("pk").last()
    is_new = False
    if latest := _latest_assignment(participation):
        fields = weigh(participation)
        is_new = evidence is None or not all(
            _is_same(getattr(evidence, name), value) for name, value in fields.items()
        )
        if is_new:
            evidence = participation.evidence.create(
                assignment=latest, origin=Evidence.Origin.RECOMPUTATION, **fields
            )
    follow(participation, evidence)
    return is_new, participation.trust != before


def _latest_assignment(participation: Participation) -> Assignment | None:
    submitted = Assignment.objects.submitted().of(participation)
    return submitted.order_by("submitted_at", "pk").last()


def _is_same(stored: Any, computed: Any) -> bool:
    if isinstance(stored, float) and isinstance(computed, float):
        return math.isclose(stored, computed, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(stored == computed)
