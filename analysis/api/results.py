"""What gold says, over the API: agreement, two runs compared, the report, pictures."""

from datetime import datetime
from functools import partial
from typing import Any, Literal
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status

from hits.access import Level, campaign_for
from hits.api.auth import Needs, Scope
from hits.api.texts import Name, Number, a_file, caller_of

from ..downloads import drawn_file, report_file
from ..gold import compare_runs
from ..jobs import start_job
from ..models import Job
from ..plain import known
from ..plots.rendering import CONTENT_TYPES
from ..results import Results, agreement_key, agreement_picture, latest_agreement
from .gold import get_gold
from .jobs import JobOut

router = Router(tags=["Gold"])

PictureFormat = Literal["svg", "png", "pdf", "csv"]
CURVE = "how-many-ratings"


class AgreementOut(Schema):
    """How far trusted workers agree, on z-scores: between them, within each, alpha, and by ratings."""

    job: UUID
    measured_at: datetime
    between: dict[str, Any]
    within: dict[str, Any]
    alpha: dict[str, Any]
    n_workers: int
    curve: dict[str, Any]


class RunsIn(Schema):
    earlier: Number
    later: Number


class ComparisonOut(Schema):
    """How a later run differs from an earlier one, over translations complete in both."""

    n_shared: int
    raw_r: float | None
    z_r: float | None
    largest_raw_difference: float | None
    largest_z_difference: float | None
    n_newly_complete: int
    n_no_longer_complete: int
    has_equal_input: bool
    signature: str


class PictureOut(Schema):
    """A picture there is, and what it shows in words."""

    name: str
    title: str
    alternative: str


@router.post("/{uuid:code}/agreement", response={202: JobOut}, auth=Needs(Scope.RUN))
def measure_agreement(request: HttpRequest, code: UUID) -> Status[Job]:
    """Start a job that measures how far trusted workers agree."""
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    job = start_job(kind="measure_agreement", campaign=campaign, started_by=caller_of(request))
    return Status(202, job)


@router.get("/{uuid:code}/agreement", response=AgreementOut, auth=Needs(Scope.READ))
def get_agreement(request: HttpRequest, code: UUID) -> dict[str, Any]:
    """What was measured last; 404 if nothing was."""
    job = _measured(request, code)
    return {"job": job.code, "measured_at": job.finished_at} | (job.result or {})


@router.get("/{uuid:code}/gold/compare", response=ComparisonOut, auth=Needs(Scope.READ))
def compare(request: HttpRequest, code: UUID, runs: Query[RunsIn]) -> dict[str, Any]:
    """Say how two runs differ: what moved, what became complete, what no longer is."""
    earlier, later = (get_gold(request, code, number) for number in (runs.earlier, runs.later))
    found = compare_runs(earlier, later)
    numbers = ("raw_r", "z_r", "largest_raw_difference", "largest_z_difference")
    return {
        "n_shared": found.n_shared,
        "n_newly_complete": len(found.newly_complete),
        "n_no_longer_complete": len(found.no_longer_complete),
        "has_equal_input": found.has_equal_input,
        "signature": found.signature,
    } | {name: known(getattr(found, name)) for name in numbers}


@router.get(
    "/{uuid:code}/gold/{number}/report",
    auth=Needs(Scope.READ),
    openapi_extra=a_file("application/pdf"),
)
def download_report(request: HttpRequest, code: UUID, number: Number) -> HttpResponse:
    """The campaign's report by this run, as PDF."""
    return report_file(get_gold(request, code, number))


@router.get(
    "/{uuid:code}/gold/{number}/pictures", response=list[PictureOut], auth=Needs(Scope.READ)
)
def list_pictures(request: HttpRequest, code: UUID, number: Number) -> list[Any]:
    """The pictures there are of a run."""
    return list(Results(get_gold(request, code, number)).pictures().values())


@router.get(
    "/{uuid:code}/gold/{number}/pictures/{name}",
    auth=Needs(Scope.READ),
    openapi_extra=a_file(*CONTENT_TYPES.values()),
)
def download_picture(
    request: HttpRequest,
    code: UUID,
    number: Number,
    name: Name,
    format: Query[PictureFormat] = "svg",
) -> HttpResponse:
    """A picture of a run, or its numbers as CSV. `how-many-ratings` is of the latest agreement."""
    run = get_gold(request, code, number)
    if name == CURVE:
        job = _measured(request, code)
        key = agreement_key(job, run.campaign)
        return drawn_file(name, format, partial(agreement_picture, job, run.campaign), key=key)
    make = Results(run).makers().get(name)
    if make is None:
        raise Http404("There is no such picture.")
    return drawn_file(name, format, make, key=run.code.hex)


def _measured(request: HttpRequest, code: UUID) -> Job:
    job = latest_agreement(campaign_for(request.user, code, Level.RESEARCHER))
    if job is None:
        raise Http404("Agreement has not been measured yet.")
    return job
