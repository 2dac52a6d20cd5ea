"""Restart or end jobs that no longer give a sign of life."""

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
    f"The job died {MAX_ATTEMPTS} times without an error, perhaps for lack of memory. "
    "It will not be restarted automatically."
)


def is_stale(now: datetime) -> Q:
    limit = now - timedelta(seconds=settings.JOB_STALE_SECONDS)
    return Q(heartbeat_at__lt=limit) | Q(heartbeat_at=None, created_at__lt=limit)


def recover(job: Job, now: datetime, *, sends: bool = True, has_messages: bool = False) -> str:
    """Restart a job without a sign of life, or end it; return what was done."""
    outcome, fields = _way_out(job, now, has_messages)
    # Only if the row is unchanged and still stale: the job may have come back to life.
    same = Job.objects.filter(is_stale(now), pk=job.pk, attempt=job.attempt, state=job.state)
    if not same.update(**fields) or outcome == "left waiting":
        return "nothing"
    logger.warning("Job %s (%s) was %s and silent: %s.", job.code, job.kind, job.state, outcome)
    if sends and outcome in ("resent", "restarted"):
        send(job)
    return outcome


def _way_out(job: Job, now: datetime, has_messages: bool) -> tuple[str, dict[str, Any]]:
    if job.state == Job.State.QUEUED:
        # Record this in either case, so that the job is not checked again at once.
        return "left waiting" if has_messages else "resent", {"heartbeat_at": now}
    if job.cancel_requested_at:
        return "cancelled", {"state": Job.State.CANCELLED, "finished_at": now}
    if job.attempt % MAX_ATTEMPTS:
        line = log_line("No sign of life from its worker: it will be restarted.")
        return "restarted", {"state": Job.State.QUEUED, "heartbeat_at": now, "log": appended(line)}
    return "failed", {"state": Job.State.FAILED, "finished_at": now, "error": GIVEN_UP}
