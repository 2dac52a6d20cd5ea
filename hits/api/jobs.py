"""API: background jobs, their progress and results."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema
from ninja.pagination import paginate

from da_platform.jobs.kinds import kind_named
from da_platform.jobs.models import Job

from ..people.access import user_of
from ..people.job_access import cancel_job, retry_job, visible_jobs
from .auth import Needs, Scope, check_scopes

router = Router(tags=["Jobs"])


class FixOut(Schema):
    """A change to one option of the job that avoids a problem."""

    option: str
    values: list[str]
    label: str


class ProblemOut(Schema):
    file: str
    line: int | None
    reason: str
    fix: FixOut | None


class JobOut(Schema):
    """A job; `result` is set once it is done, `error` if it failed, `problems` if its input was refused."""

    code: UUID
    kind: str
    title: str
    campaign: UUID | None
    state: str
    n_done: int
    n_total: int | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    error: str
    problems: list[ProblemOut]
    result: dict[str, Any] | None

    @staticmethod
    def resolve_campaign(job: Job) -> UUID | None:
        return job.campaign.code if job.campaign else None


class JobFilter(Schema):
    state: Job.State | None = None
    campaign: UUID | None = None


@router.get("", response=list[JobOut], auth=Needs(Scope.READ))
@paginate
def list_jobs(request: HttpRequest, filters: Query[JobFilter]) -> QuerySet[Job]:
    """List jobs of your campaigns, and jobs without a campaign that you started, newest first."""
    jobs = visible_jobs(request.user).defer("log", "traceback", "arguments")
    if filters.state:
        jobs = jobs.filter(state=filters.state)
    if filters.campaign:
        jobs = jobs.filter(campaign__code=filters.campaign)
    return jobs


@router.get("/{uuid:code}", response=JobOut, auth=Needs(Scope.READ))
def get_job(request: HttpRequest, code: UUID) -> Job:
    """Get one job. Poll until its state is done, failed or cancelled."""
    return get_object_or_404(visible_jobs(request.user), code=code)


@router.post(
    "/{uuid:code}/cancel", response=JobOut, auth=Needs(Scope.RUN), operation_id="cancel_job"
)
def cancel(request: HttpRequest, code: UUID) -> Job:
    """Ask a job to stop. Needs the same scope as starting it."""
    return cancel_job(_changeable_job(request, code), user_of(request))


@router.post("/{uuid:code}/retry", response=JobOut, auth=Needs(Scope.RUN), operation_id="retry_job")
def retry(request: HttpRequest, code: UUID) -> Job:
    """Start a failed or cancelled job again. Needs the same scope as starting it."""
    return retry_job(_changeable_job(request, code), user_of(request))


def _changeable_job(request: HttpRequest, code: UUID) -> Job:
    job = get_job(request, code)
    check_scopes(request.auth, [Scope(kind_named(job.kind).scope)])  # type: ignore[attr-defined]
    return job
