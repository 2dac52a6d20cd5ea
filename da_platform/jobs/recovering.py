"""What to do about a job without a sign of life."""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q

from .models import MAX_ATTEMPTS, Job
from .reports import appended, log_line
from .sending import send

logger = logging.getLogger(__name__)

GIVEN_UP = (
    f"The job stopped without a word {MAX_ATTEMPTS} times, perhaps for lack of memory. "
    "It will not restart by itself."
)


def is_stale(now: datetime) -> Q:
    limit = now - timedelta(seconds=settings.JOB_STALE_SECONDS)
    return Q(heartbeat_at__lt=limit) | Q(heartbeat_at=None, created_at__lt=limit)


def recover(job: Job, now: datetime, *, sends: bool = True, has_messages: bool = False) -> str:
    """Put a job without a sign of life on its way again, or end it; return what was done."""
    outcome, fields = _way_out(job, now, has_messages)
    # Only the very row that was looked at, and only while it is stale: it may have come to life.
    same = Job.objects.filter(is_stale(now), pk=job.pk, attempt=job.attempt, state=job.state)
    if not same.update(**fields) or outcome == "left waiting":
        return "nothing"
    logger.warning("Job %s (%s) was %s and silent: %s.", job.code, job.kind, job.state, outcome)
    if sends and outcome in ("resent", "restarted"):
        send(job)
    return outcome


def _way_out(job: Job, now: datetime, has_messages: bool) -> tuple[str, dict[str, Any]]:
    if job.state == Job.State.QUEUED:
        # Looked after in either case, and looked at again in a while.
        return "left waiting" if has_messages else "resent", {"heartbeat_at": now}
    if job.cancel_requested_at:
        return "cancelled", {"state": Job.State.CANCELLED, "finished_at": now}
    if job.attempt % MAX_ATTEMPTS:
        line = log_line("No sign of life from its worker: to be started again.")
        return "restarted", {"state": Job.State.QUEUED, "heartbeat_at": now, "log": appended(line)}
    return "failed", {"state": Job.State.FAILED, "finished_at": now, "error": GIVEN_UP}
