"""What has to be done every minute, whoever asks for it: the schedule, or a line in a crontab."""

from dataclasses import dataclass
from datetime import datetime

from .campaigns.keeping import keep_counts
from .campaigns.uploads import drop_old_drafts
from .guards import forget_counts
from .places import settle_unproven
from .recruiting.studies import look_after_studies
from .services import release_expired
from .trust import weigh_pending


@dataclass(frozen=True, slots=True)
class Chores:
    n_released: int
    n_weighed: int
    n_reopened: int
    n_counted: int = 0
    n_studies: int = 0


def do_chores(*, at: datetime | None = None) -> Chores:
    """Offer abandoned places again, weigh what a lost message left unweighed, go on without unproven
    workers who have not come back, forget old drafts, count large campaigns, and look after studies.
    """
    forget_counts(at=at)
    drop_old_drafts(at=at)
    return Chores(
        n_released=release_expired(at=at),
        n_weighed=weigh_pending(),
        n_reopened=settle_unproven(at=at),
        n_counted=keep_counts(at=at),
        # Last: it asks others, who may let it wait.
        n_studies=look_after_studies(at=at),
    )
