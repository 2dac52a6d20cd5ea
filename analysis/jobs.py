"""Work behind the pages: started once, finished once, however often a message about it arrives.

The row of a job is the truth. A worker claims it by a conditional UPDATE that raises its attempt number,
gives signs of life while it works, and finishes it by another UPDATE that only the latest attempt can make.
A job without a sign of life is started again by `sweep_jobs`, a few times at most.

A kind of job is a function that registers itself; `settings.JOB_MODULES` names the modules to look in:

    @job_kind("build_gold", needs=Level.RESEARCHER)
    def build_gold_job(job: Job, report: Report) -> dict[str, Any]:
        ...
        report.progress(n_done, n_total)
        return {"n_scored": 12}

It may be stopped at any line and run again from the start, so it writes all or nothing, or what can be
written twice.
"""

import json
import logging
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from importlib import import_module
from typing import Any

from billiard.exceptions import SoftTimeLimitExceeded  # type: ignore[import-untyped]
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Case, F, Q, TextField, Value, When
from django.db.models.functions import Concat
from django.utils import timezone

from da_platform.queues import JOBS
from da_platform.sending import enqueue
from hits.access import Level, Visitor, campaigns_of, has_level, is_member
from hits.exceptions import HitsError
from hits.models import ApiToken, Campaign

from .models import MAX_ATTEMPTS, Job, JobQuerySet
from .reporting import JobCancelled, JobTookTooLong, Report, log_line

__all__ = [
    "JobCancelled",
    "JobRefused",
    "Kind",
    "Report",
    "cancel_job",
    "drop_old_details",
    "has_kind",
    "job_kind",
    "kind_named",
    "known_kinds",
    "may_change",
    "retry_job",
    "run_job",
    "start_job",
    "sweep_jobs",
    "visible_jobs",
]

logger = logging.getLogger(__name__)

# Jobs looked after in one sweep; the rest waits for the next.
SWEEP_LIMIT = 200

UNEXPECTED = "Something went wrong; the administrators can see the details."
GIVEN_UP = (
    f"The job stopped without a word {MAX_ATTEMPTS} times, perhaps for lack of memory. "
    "It is not started again by itself."
)
# An admin looks into a failure within days. What was said of it may quote rows, workers' ids among them, which is
# why logs leave it out, and no forgetting of a worker finds it here.
DETAILS_KEPT = timedelta(days=30)
NO_LONGER_KEPT = "Why it failed is no longer kept."
# Sentences that quote nothing.
_PLAIN = ["", UNEXPECTED, GIVEN_UP, NO_LONGER_KEPT]


class JobRefused(HitsError):
    """A job that cannot be started, cancelled or retried."""


# Kinds ---------------------------------------------------------------------------------------

Body = Callable[[Job, Report], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of job; one that needs a campaign is not started without.

    `needs` is the level that it takes to start one on a page, and so to cancel or retry one; `scope` what
    a token must hold for it. What a confidential one does and says is not for researchers, such as who is
    paid.
    """

    name: str
    run: Body
    needs_campaign: bool = False
    needs: Level = Level.ADMIN
    scope: ApiToken.Scope = ApiToken.Scope.RUN
    is_confidential: bool = False


_kinds: dict[str, Kind] = {}


def job_kind(
    name: str,
    *,
    needs_campaign: bool = False,
    needs: Level = Level.ADMIN,
    scope: ApiToken.Scope = ApiToken.Scope.RUN,
    is_confidential: bool = False,
) -> Callable[[Body], Body]:
    """Register the function below as what a job of this kind does."""

    def register(body: Body) -> Body:
        _kinds[name] = Kind(name, body, needs_campaign, needs, scope, is_confidential)
        return body

    return register


def known_kinds() -> list[str]:
    for module in settings.JOB_MODULES:
        import_module(module)
    return sorted(_kinds)


def has_kind(name: str) -> bool:
    return name in known_kinds()


def kind_named(name: str) -> Kind:
    known = known_kinds()
    if name not in _kinds:
        raise JobRefused(f"There is no kind of job named {name!r}. Known: {', '.join(known)}.")
    return _kinds[name]


# What people see ------------------------------------------------------------------------------


def visible_jobs(user: Visitor) -> JobQuerySet:
    """The jobs of campaigns that a person has a part in, and those of no campaign that they started.

    Who has lost their part in a campaign sees nothing of it, not even what they had made there.
    """
    jobs = Job.objects.select_related("campaign", "started_by")
    if has_level(user, Level.ADMIN):
        return jobs
    known_kinds()
    secret = [kind.name for kind in _kinds.values() if kind.is_confidential]
    own = Q(campaign__in=campaigns_of(user, Level.ADMIN)) | Q(campaign=None, started_by=user.pk)
    shared = Q(campaign__in=campaigns_of(user)) & ~Q(kind__in=secret)
    if has_level(user, Level.RESEARCHER):
        shared = ~Q(kind__in=secret)
    return jobs.filter(own | shared)


def may_change(user: Visitor, job: Job) -> bool:
    """Whether a person may cancel or retry a job that they see: who may start one like it."""
    known_kinds()
    needs = _kinds[job.kind].needs if job.kind in _kinds else Level.ADMIN
    if job.campaign is None and needs == Level.RESEARCHER and job.started_by_id == user.pk:
        # Of no campaign: whoever has a part in anything may start one, and look after their own.
        return is_member(user)
    return has_level(user, needs, job.campaign)


def _check_may_change(job: Job, actor: User | None) -> None:
    if actor is not None and not may_change(actor, job):
        raise PermissionDenied("This needs somebody who may start such a job.")


# What people ask for -------------------------------------------------------------------------


def start_job(
    *,
    kind: str,
    campaign: Campaign | None = None,
    arguments: dict[str, Any] | None = None,
    started_by: User | None = None,
) -> Job:
    """Store a job and send it on its way once this is committed."""
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
    _send(job)
    return job


def cancel_job(job: Job, actor: User | None = None) -> Job:
    """Cancel a waiting job at once; ask a running one to stop at its next report.

    Without an actor it is the platform that asks.
    """
    _check_may_change(job, actor)
    now = timezone.now()
    line = _signed("Cancelled", actor)
    own = Job.objects.filter(pk=job.pk)
    waiting = own.filter(state=Job.State.QUEUED)
    is_settled = waiting.update(
        state=Job.State.CANCELLED, cancel_requested_at=now, finished_at=now, log=_with(line)
    ) or own.filter(state=Job.State.RUNNING, cancel_requested_at=None).update(
        cancel_requested_at=now, log=_with(line)
    )
    job.refresh_from_db()
    if not is_settled and job.cancel_requested_at is None:
        raise JobRefused("The job is finished already.")
    return job


def retry_job(job: Job, actor: User | None = None) -> Job:
    """Start a failed or cancelled job again, with the same arguments."""
    kind_named(job.kind)
    _check_may_change(job, actor)
    if job.arguments.get("real_ids") and not (actor and actor.is_superuser):
        raise JobRefused("Only a superuser can ask again for workers' real ids.")
    again = Job.objects.filter(
        pk=job.pk, attempt=job.attempt, state__in=[Job.State.FAILED, Job.State.CANCELLED]
    )
    n_changed = again.update(
        state=Job.State.QUEUED,
        # Whoever asks again answers for it.
        started_by=actor or job.started_by,
        # Beyond every earlier attempt, so that none of them can come back and speak for this one.
        attempt=(job.attempt // MAX_ATTEMPTS + 1) * MAX_ATTEMPTS,
        n_done=0,
        n_total=None,
        started_at=None,
        finished_at=None,
        cancel_requested_at=None,
        heartbeat_at=timezone.now(),
        result=None,
        error="",
        traceback="",
        log=_with(_signed("Retried", actor)),
    )
    job.refresh_from_db()
    if not n_changed:
        raise JobRefused("Only a job that failed or was cancelled can be retried.")
    _send(job)
    return job


def _signed(deed: str, actor: User | None) -> str:
    return log_line(f"{deed} by {actor.get_username() if actor else 'the platform'}.")


def _with(line: str) -> Concat:
    return Concat(F("log"), Value(line))


def _send(job: Job) -> None:
    transaction.on_commit(partial(enqueue, "analysis.run_job", job.pk))


# Running -------------------------------------------------------------------------------------


def run_job(pk: int, *, listener: Callable[[int, int | None], None] | None = None) -> Job | None:
    """Run a job unless it is finished or someone is at work on it; return it if it was run here.

    `listener` hears of progress in this process, as often as it is reported.
    """
    if dead := Job.objects.filter(pk=pk, state=Job.State.RUNNING).first():
        _recover(dead, timezone.now(), sends=False)
    job = _claim(pk)
    if job is None:
        return None
    with Report(job, listener=listener) as report:
        outcome = _outcome(job, report)
    is_ours = _finish(job, report, **outcome)
    job.refresh_from_db()
    if not is_ours:
        logger.warning("Job %s, attempt %s: dropped, it was no longer ours.", job.code, job.attempt)
    return job


@transaction.atomic
def _claim(pk: int) -> Job | None:
    """Take a waiting job. Two may try at once; the conditional UPDATE lets one through."""
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
    # Still locked by the update: the attempt read here is the one made above.
    return Job.objects.select_related("campaign").get(pk=pk) if claimed else None


def _outcome(job: Job, report: Report) -> dict[str, Any]:
    """Do the work and say how it ended, in fields of the job."""
    try:
        result = kind_named(job.kind).run(job, report)
        # Here, where a mistake can still be told: not every database takes a NaN.
        json.dumps(result, allow_nan=False)
    except JobCancelled:
        return {"state": Job.State.CANCELLED}
    except KeyboardInterrupt:
        # At a terminal. A worker's processes are stopped in other ways, and the job goes on later.
        cancel_job(job)
        return {"state": Job.State.CANCELLED}
    except SoftTimeLimitExceeded:
        # In a stretch that reports nothing: Celery's clock, where a worker runs it.
        return _failure(str(JobTookTooLong()))
    except HitsError as error:
        return _failure(str(error))
    except Exception:
        logger.exception("Job %s (%s) failed.", job.code, job.kind)
        return _failure(UNEXPECTED)
    return {"state": Job.State.DONE, "result": result}


def _failure(sentence: str) -> dict[str, Any]:
    return {"state": Job.State.FAILED, "error": sentence, "traceback": traceback.format_exc()}


def _finish(job: Job, report: Report, **outcome: Any) -> bool:
    """Store how an attempt ended, if it is still the job's latest one and nobody was faster."""
    own: JobQuerySet = Job.objects.unfinished().filter(pk=job.pk, attempt=job.attempt)
    if outcome["state"] == Job.State.CANCELLED:
        # A report also stops an attempt that was overtaken; that one has nothing to say.
        own = own.filter(cancel_requested_at__isnull=False)
    fields = report.unsaved() | outcome | {"finished_at": timezone.now()}
    return bool(own.update(**fields))


# Looking after -------------------------------------------------------------------------------


def sweep_jobs(*, at: datetime | None = None) -> dict[str, int]:
    """Send waiting jobs again whose message was lost, and start dead ones again. Say how many."""
    now = at or timezone.now()
    stale = Job.objects.unfinished().filter(_is_stale(now)).order_by("pk")
    found = list(stale[:SWEEP_LIMIT])
    # One that is busy for hours with the first of many jobs has lost none of their messages.
    has_messages = any(job.state == Job.State.QUEUED for job in found) and _has_messages()
    counts = Counter(_recover(job, now, has_messages=has_messages) for job in found)
    return {
        f"n_{outcome}": counts[outcome]
        for outcome in ("resent", "restarted", "cancelled", "failed")
    }


def _has_messages() -> bool:
    """Whether messages wait in the queue of jobs; not, where that cannot be told."""
    # Here and not above: web processes, which start jobs, do without the broker's client.
    from da_platform.operation.broker import queue_lengths

    return bool((queue_lengths() or {}).get(JOBS))


def _is_stale(now: datetime) -> Q:
    limit = now - timedelta(seconds=settings.JOB_STALE_SECONDS)
    return Q(heartbeat_at__lt=limit) | Q(heartbeat_at=None, created_at__lt=limit)


def _recover(job: Job, now: datetime, *, sends: bool = True, has_messages: bool = False) -> str:
    """Put a job without a sign of life on its way again, or end it; return what was done."""
    outcome, fields = _way_out(job, now, has_messages)
    # Only the very row that was looked at, and only while it is stale: it may have come to life.
    same = Job.objects.filter(_is_stale(now), pk=job.pk, attempt=job.attempt, state=job.state)
    if not same.update(**fields) or outcome == "left waiting":
        return "nothing"
    logger.warning("Job %s (%s) was %s and silent: %s.", job.code, job.kind, job.state, outcome)
    if sends and outcome in ("resent", "restarted"):
        _send(job)
    return outcome


def _way_out(job: Job, now: datetime, has_messages: bool) -> tuple[str, dict[str, Any]]:
    if job.state == Job.State.QUEUED:
        # Looked after in either case, and looked at again in a while.
        return "left waiting" if has_messages else "resent", {"heartbeat_at": now}
    if job.cancel_requested_at:
        return "cancelled", {"state": Job.State.CANCELLED, "finished_at": now}
    if job.attempt % MAX_ATTEMPTS:
        line = log_line("No sign of life from its worker: to be started again.")
        return "restarted", {"state": Job.State.QUEUED, "heartbeat_at": now, "log": _with(line)}
    return "failed", {"state": Job.State.FAILED, "finished_at": now, "error": GIVEN_UP}


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
