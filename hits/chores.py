"""Chores to run every minute, from the Celery schedule or from cron."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from hits.rating.assignments import release_expired

from .campaigns.kept_counts import keep_counts
from .campaigns.uploads import drop_old_drafts
from .media.storing import drop_orphaned_media
from .models import Campaign
from .people.guards import forget_counts
from .rating.places import settle_unproven
from .recruiting.studies import look_after_studies
from .workers.held_hits import discard_overdue
from .workers.trust import weigh_pending


def add_ranking_rounds() -> int:
    # Loads NumPy and SciPy, which a platform without rankings does not need every minute.
    if not Campaign.objects.filter(task=Campaign.Task.RANK, status=Campaign.Status.OPEN).exists():
        return 0
    from .ranking.rounds import add_rounds_where_done

    return add_rounds_where_done()


def start_looks() -> int:
    # Every minute, and few campaigns have looks: do not load what plans HITs for nothing.
    if not Campaign.objects.filter(n_looks__isnull=False, status=Campaign.Status.OPEN).exists():
        return 0
    from .campaigns.looks import start_looks_where_due

    return start_looks_where_due()


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Chores:
    n_released: int
    n_weighed: int
    n_holds_ended: int
    n_reopened: int
    n_rounds: int
    n_looks: int
    n_counted: int
    n_drafts_dropped: int
    n_media_dropped: int
    n_limits_dropped: int
    n_studies: int
    n_chores_failed: int


def do_chores(*, at: datetime | None = None) -> Chores:
    """Release expired assignments and catch up on evidence, places, counts, drafts and studies."""
    return Chores(
        **run_each(
            {
                "n_released": partial(release_expired, at=at),
                "n_weighed": weigh_pending,
                "n_holds_ended": partial(discard_overdue, at=at),
                "n_reopened": partial(settle_unproven, at=at),
                "n_rounds": add_ranking_rounds,
                "n_looks": start_looks,
                "n_counted": partial(keep_counts, at=at),
                "n_drafts_dropped": partial(drop_old_drafts, at=at),
                "n_media_dropped": drop_orphaned_media,
                "n_limits_dropped": partial(forget_counts, at=at),
                # Last, because it waits for providers to answer.
                "n_studies": partial(look_after_studies, at=at),
            }
        )
    )


def run_each(chores: dict[str, Callable[[], int]]) -> dict[str, int]:
    """Run every chore, even after a failure; return each one's count and how many failed."""
    counts = {"n_chores_failed": 0}
    for name, chore in chores.items():
        try:
            counts[name] = chore()
        except Exception:
            logger.exception("A chore failed and will be retried next time: %s.", name)
            counts[name] = 0
            counts["n_chores_failed"] += 1
    return counts
