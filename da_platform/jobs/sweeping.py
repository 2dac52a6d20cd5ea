"""Looking after jobs: resend lost messages, restart dead jobs, clear old errors."""

from collections import Counter
from datetime import datetime, timedelta

from django.db.models import Case, F, TextField, Value, When
from django.utils import timezone

from ..broker import queue_lengths
from ..queues import JOBS
from .models import Job
from .recovering import GIVEN_UP, is_stale, recover
from .refusals import NO_PROBLEMS
from .reports import UNEXPECTED

# Jobs handled in one sweep; the others wait for the next.
SWEEP_LIMIT = 200

# Admins look into a failure within days. Its details may quote rows and worker ids, which forgetting
# a worker does not search for here.
DETAILS_KEPT = timedelta(days=30)
NO_LONGER_KEPT = "The reason for the failure is no longer stored."
# Messages that quote nothing.
_PLAIN = ["", UNEXPECTED, GIVEN_UP, NO_LONGER_KEPT]


def sweep_jobs(*, at: datetime | None = None) -> dict[str, int]:
    """Send waiting jobs whose message was lost again, and restart dead ones. Return how many."""
    now = at or timezone.now()
    stale = Job.objects.unfinished().filter(is_stale(now)).order_by("pk")
    jobs = list(stale[:SWEEP_LIMIT])
    # If a worker is busy for hours with one of many jobs, the messages of the others are not lost.
    is_queued = any(job.state == Job.State.QUEUED for job in jobs)
    has_messages = is_queued and bool((queue_lengths() or {}).get(JOBS))
    counts = Counter(recover(job, now, has_messages=has_messages) for job in jobs)
    return {
        f"n_{outcome}": counts[outcome]
        for outcome in ("resent", "restarted", "cancelled", "failed")
    }


def drop_old_details(*, at: datetime | None = None) -> int:
    """Clear tracebacks, and messages that may quote something, of jobs that failed long ago. Return how many.

    Refusals are cleared too: those of files quote lines, and those of collections quote workers.
    """
    limit = (at or timezone.now()) - DETAILS_KEPT
    old = Job.objects.filter(state=Job.State.FAILED, finished_at__lt=limit)
    return old.exclude(traceback="", error__in=_PLAIN).update(
        traceback="",
        **NO_PROBLEMS,
        error=Case(
            When(error__in=_PLAIN, then=F("error")),
            default=Value(NO_LONGER_KEPT),
            output_field=TextField(),
        ),
    )
