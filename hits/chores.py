"""What has to be done every minute, whoever asks for it: the schedule, or a line in a crontab."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from .campaigns.keeping import keep_counts
from .campaigns.uploads import drop_old_drafts
from .guards import forget_counts
from .places import settle_unproven
from .recruiting.studies import look_after_studies
from .services import release_expired
from .trust import weigh_pending

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Chores:
    n_released: int
    n_weighed: int
    n_reopened: int
    n_counted: int
    n_drafts_dropped: int
    n_limits_dropped: int
    n_studies: int
    n_chores_failed: int


def do_chores(*, at: datetime | None = None) -> Chores:
    """Offer abandoned places again, weigh what a lost message left unweighed, go on without unproven
    workers who have not come back, count large campaigns, forget old drafts, and look after studies.
    """
    return Chores(
        **each_by_itself(
            {
                "n_released": partial(release_expired, at=at),
                "n_weighed": weigh_pending,
                "n_reopened": partial(settle_unproven, at=at),
                "n_counted": partial(keep_counts, at=at),
                "n_drafts_dropped": partial(drop_old_drafts, at=at),
                "n_limits_dropped": partial(forget_counts, at=at),
                # Last: it asks others, who may let it wait.
                "n_studies": partial(look_after_studies, at=at),
            }
        )
    )


def each_by_itself(chores: dict[str, Callable[[], int]]) -> dict[str, int]:
    """Do each chore, though one before it failed; say how much each did, and how many failed."""
    counts = {"n_chores_failed": 0}
    for name, chore in chores.items():
        try:
            counts[name] = chore()
        except Exception:
            logger.exception("A chore failed and is tried again next time: %s.", name)
            counts[name] = 0
            counts["n_chores_failed"] += 1
    return counts
