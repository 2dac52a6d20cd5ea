"""What has to be done every minute, whoever asks for it: the schedule, or a line in a crontab."""

from dataclasses import dataclass
from datetime import datetime

from .services import release_expired
from .trust import weigh_pending


@dataclass(frozen=True, slots=True)
class Chores:
    n_released: int
    n_weighed: int


def do_chores(*, at: datetime | None = None) -> Chores:
    """Offer abandoned places again and weigh what a lost message left unweighed."""
    return Chores(n_released=release_expired(at=at), n_weighed=weigh_pending())
