"""Starting, running, cancelling and retrying jobs: each job runs once, however many messages about it arrive.

The row of a job is authoritative. A worker claims it with a conditional UPDATE that increments its attempt number,
gives signs of life while it works, and finishes it with another UPDATE that only the latest attempt can make.
`sweeping` restarts a job without a sign of life, a few times at most.
"""

import json
import logging
import traceback
from collections.abc import Callable
from typing import Any

from billiard.exceptions import SoftTimeLimitExceeded  # type: ignore[import-untyped]
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from ..exceptions import PlatformError
from ..files.problems import FilesRefused
from .kinds import JobRefused, kind_named
from .models import MAX_ATTEMPTS, Job, JobQuerySet
from .recovering import recover
from .refusals import NO_PROBLEMS, problems_of
from .reports import UNEXPECTED, JobCancelled, JobTookTooLong, Report, appended, log_line
from .sending import send

logger = logging.getLogger(__name__)


def start_job(
    *,
    kind: str,
    campaign: Any = None,
    arguments: dict[str, Any] | None = None,
    started_by: User | None = None,
) -> Job:
    """Create a job and send it to a worker after the commit."""
    if kind_named(kind).needs_campaign and campaign is None:
        raise JobRefused(f"A job of the kind {kind} needs a campaign.")
    now = timezone.now()
    job = Job.objects.create(
        kind=kind,
        campaign=campaign,
        arguments=arguments or {},
        started_by=started_by,
        created_at=now,
        heartbeat_at=now,
    )
    send(job)
    return job


def request_cancel(job: Job, actor: User | None = None) -> Job:
    """Cancel a waiting job at once; ask a running one to stop at its next report.

    Without an actor, the platform asks.
    """
    now = timezone.now()
    line = _signed("Cancelled", actor)
    this_job = Job.objects.filter(pk=job.pk)
    waiting = this_job.filter(state=Job.State.QUEUED)
    is_settled = waiting.update(
        state=Job.State.CANCELLED, cancel_requested_at=now, finished_at=now, log=appended(line)
    ) or this_job.filter(state=Job.State.RUNNING, cancel_requested_at=None).update(
        cancel_requested_at=now, log=appended(line)
    )
    job.refresh_from_db()
    if not is_settled and job.cancel_requested_at is None:
        raise JobRefused("The job is already finished.")
    return job


def restart(job: Job, actor: User | None = None) -> Job:
    """Start a failed or cancelled job again, with the same arguments."""
    kind_named(job.kind)
    again = Job.objects.filter(
        pk=job.pk, attempt=job.attempt, state__in=[Job.State.FAILED, Job.State.CANCELLED]
    )
    n_changed = again.update(
        state=Job.State.QUEUED,
        # The person who retries a job is responsible for it.
        started_by=actor or job.started_by,
        # Higher than every earlier attempt, so that none of them can report for this one.
        attempt=(job.attempt // MAX_ATTEMPTS + 1) * MAX_ATTEMPTS,
        n_done=0,
        n_total=None,
        started_at=None,
        finished_at=None,
        cancel_requested_at=None,
        heartbeat_at=timezone.now(),
        result=None,
        error="",
        **NO_PROBLEMS,
        traceback="",
        log=appended(_signed("Retried", actor)),
    )
    job.refresh_from_db()
    if not n_changed:
        raise JobRefused("Only a job that failed or was cancelled can be retried.")
    send(job)
    return job


def _signed(deed: str, actor: User | None) -> str:
    return log_line(f"{deed} by {actor.get_username() if actor else 'the platform'}.")


# Running -------------------------------------------------------------------------------------


def run_job(pk: int, *, listener: Callable[[int, int | None], None] | None = None) -> Job | None:
    """Run a job unless it is finished or already running; return it if it was run here.

    `listener` is called with progress in this process, every time it is reported.
    """
    if dead := Job.objects.filter(pk=pk, state=Job.State.RUNNING).first():
        recover(dead, timezone.now(), sends=False)
    job = _claim(pk)
    if job is None:
        return None
    with Report(job, listener=listener) as report:
        outcome = _outcome(job, report)
    is_ours = _finish(job, report, **outcome)
    job.refresh_from_db()
    if not is_ours:
        logger.warning(
            "Job %s, attempt %s: dropped, no longer the latest.",
            job.code,
            job.attempt,
        )
    return job


@transaction.atomic
def _claim(pk: int) -> Job | None:
    """Claim a waiting job. The conditional UPDATE lets only one of two processes through."""
    now = timezone.now()
    waiting = Job.objects.filter(pk=pk, state=Job.State.QUEUED)
    claimed = waiting.update(
        state=Job.State.RUNNING,
        attempt=F("attempt") + 1,
        started_at=now,
        heartbeat_at=now,
        n_done=0,
        n_total=None,
    )
    # The row is still locked by the update, so this is the attempt made above.
    return Job.objects.select_related("campaign").get(pk=pk) if claimed else None


def _outcome(job: Job, report: Report) -> dict[str, Any]:
    """Run the job and return the outcome as fields of its row."""
    try:
        result = kind_named(job.kind).run(job, report)
        # Checked here, where an error can still be reported: not every database accepts NaN.
        json.dumps(result, allow_nan=False)
    except JobCancelled:
        return {"state": Job.State.CANCELLED}
    except KeyboardInterrupt:
        # Ctrl-C in a terminal. Celery stops its processes in other ways, and the job resumes later.
        request_cancel(job)
        return {"state": Job.State.CANCELLED}
    except SoftTimeLimitExceeded:
        # Raised by Celery's time limit in code that does not report.
        return _failure(str(JobTookTooLong()))
    except FilesRefused as error:
        return _failure(str(error)) | problems_of(error)
    except PlatformError as error:
        return _failure(str(error))
    except Exception:
        logger.exception("Job %s (%s) failed.", job.code, job.kind)
        return _failure(UNEXPECTED)
    return {"state": Job.State.DONE, "result": result}


def _failure(sentence: str) -> dict[str, Any]:
    return {"state": Job.State.FAILED, "error": sentence, "traceback": traceback.format_exc()}


def _finish(job: Job, report: Report, **outcome: Any) -> bool:
    """Store the outcome of an attempt, if it is still the latest and the job is not finished yet."""
    this_attempt: JobQuerySet = Job.objects.unfinished().filter(pk=job.pk, attempt=job.attempt)
    if outcome["state"] == Job.State.CANCELLED:
        # `JobCancelled` also stops an attempt that was overtaken, which has nothing to store.
        this_attempt = this_attempt.filter(cancel_requested_at__isnull=False)
    fields = report.unsaved() | outcome | {"finished_at": timezone.now()}
    return bool(this_attempt.update(**fields))
