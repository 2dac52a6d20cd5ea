"""Jobs over the API: what runs, how far it is, and what came of it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema
from ninja.pagination import paginate

from hits.api.auth import Needs, Scope, check_scopes

from ..jobs import cancel_job, kind_named, retry_job, visible_jobs
from ..models import Job

router = Router(tags=["Jobs"])


class JobOut(Schema):
    """A job; `result` is there once it is done, `error` if it failed."""

    code: UUID
    kind: str
    campaign: UUID | None
    state: str
    n_done: int
    n_total: int | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    error: str
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
    """Jobs of your campaigns, and those of no campaign that you started; newest first."""
    jobs = visible_jobs(request.user).defer("log", "traceback", "arguments")
    if filters.state:
        jobs = jobs.filter(state=filters.state)
    if filters.campaign:
        jobs = jobs.filter(campaign__code=filters.campaign)
    return jobs


@router.get("/{uuid:code}", response=JobOut, auth=Needs(Scope.READ))
def get_job(request: HttpRequest, code: UUID) -> Job:
    """One job: ask again until its state is done, failed or cancelled."""
    return get_object_or_404(visible_jobs(request.user), code=code)


@router.post("/{uuid:code}/cancel", response=JobOut, auth=Needs(Scope.RUN))
def cancel(request: HttpRequest, code: UUID) -> Job:
    """Ask a job to stop. It takes the scope that starting one takes."""
    assert isinstance(request.user, User)
    return cancel_job(_own_to_change(request, code), request.user)


@router.post("/{uuid:code}/retry", response=JobOut, auth=Needs(Scope.RUN))
def retry(request: HttpRequest, code: UUID) -> Job:
    """Start a failed or cancelled job again. It takes the scope that starting one takes."""
    assert isinstance(request.user, User)
    return retry_job(_own_to_change(request, code), request.user)


def _own_to_change(request: HttpRequest, code: UUID) -> Job:
    job = get_job(request, code)
    check_scopes(request.auth, [kind_named(job.kind).scope])  # type: ignore[attr-defined]
    return job
