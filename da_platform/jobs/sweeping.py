"""Looking after jobs: resend lost messages, restart dead jobs, forget old failures."""

from collections import Counter
from datetime import datetime, timedelta

from django.db.models import Case, F, TextField, Value, When
from django.utils import timezone

from ..broker import queue_lengths
from ..queues import JOBS
from .models import Job
from .recovering import GIVEN_UP, is_stale, recover
from .reports import UNEXPECTED

# Jobs looked after in one sweep; the rest wait for the next.
SWEEP_LIMIT = 200

# An admin looks into a failure within days. Its details may quote rows, workers' ids among them, and
# forgetting a worker does not search here.
DETAILS_KEPT = timedelta(days=30)
NO_LONGER_KEPT = "Why it failed is no longer kept."
# Sentences that quote nothing.
_PLAIN = ["", UNEXPECTED, GIVEN_UP, NO_LONGER_KEPT]


def sweep_jobs(*, at: datetime | None = None) -> dict[str, int]:
    """Send waiting jobs again whose message was lost, and start dead ones again. Say how many."""
    now = at or timezone.now()
    stale = Job.objects.unfinished().filter(is_stale(now)).order_by("pk")
    jobs = list(stale[:SWEEP_LIMIT])
    # One that is busy for hours with the first of many jobs has lost none of their messages.
    has_messages = any(job.state == Job.State.QUEUED for job in jobs) and _has_messages()
    counts = Counter(recover(job, now, has_messages=has_messages) for job in jobs)
    return {
        f"n_{outcome}": counts[outcome]
        for outcome in ("resent", "restarted", "cancelled", "failed")
    }


def _has_messages() -> bool:
    """Whether messages wait in the queue of jobs; False where the broker cannot say."""
    return bool((queue_lengths() or {}).get(JOBS))


def drop_old_details(*, at: datetime | None = None) -> int:
    """Empty tracebacks, and reasons that may quote something, of jobs that failed long ago; return of how many.

    A refusal's own words, too: that of a file names its lines, and that of a collection its workers.
    """
    limit = (at or timezone.now()) - DETAILS_KEPT
    old = Job.objects.filter(state=Job.State.FAILED, finished_at__lt=limit)
    return old.exclude(traceback="", error__in=_PLAIN).update(
        traceback="",
        error=Case(
            When(error__in=_PLAIN, then=F("error")),
            default=Value(NO_LONGER_KEPT),
            output_field=TextField(),
        ),
    )
