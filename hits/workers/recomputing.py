"""Recompute the evidence about a campaign's workers from their ratings alone.

Do this after thresholds have changed, or to check that trust matches the ratings.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from django.db import DatabaseError
from django.utils import timezone

from ..exceptions import RecomputingRefused
from ..models import Campaign
from ..rating.places import settle_places, unsettled_hits
from .trust import MOST_ROUNDS, recompute_worker

logger = logging.getLogger(__name__)


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
    with_new_evidence: set[int] = set()
    with_new_trust: set[int] = set()
    failed: set[int] = set()
    is_guarded = campaign.trust_rule == Campaign.TrustRule.GUARDED
    for number in range(MOST_ROUNDS if is_guarded else 1):
        n_trust_changed = 0
        for n_done, worker in enumerate(workers):
            if number == 0:
                progress(n_done, len(workers))
            try:
                has_new_evidence, has_new_trust = recompute_worker(campaign, worker)
            except DatabaseError:
                # Not about this worker: the next one would meet it too.
                raise
            except Exception:
                logger.exception("Worker number %s could not be judged.", worker)
                failed.add(worker)
                continue
            if has_new_evidence:
                with_new_evidence.add(worker)
            if has_new_trust:
                with_new_trust.add(worker)
                n_trust_changed += 1
        if not n_trust_changed:
            break
    unsettled = unsettled_hits(campaign, campaign.hits.all(), timezone.now())
    settle_places(campaign=campaign, hits=unsettled)
    progress(len(workers), len(workers))
    return RecomputingSummary(
        len(workers), len(with_new_evidence), len(with_new_trust), len(unsettled), len(failed)
    )
