"""API: agreement, comparisons of gold runs, the report and figures."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from da_platform.numbers import known
from da_platform.plots.rendering import CONTENT_TYPES
from da_platform.plots.responses import drawn_file
from hits.api.auth import Needs, Scope
from hits.api.field_types import Input, Name, Number, file_response
from hits.api.jobs import JobOut
from hits.people.access import Level, campaign_for, user_of

from ..downloads import report_file
from ..gold.results import (
    AGREEMENT_PICTURES,
    Results,
    agreement_key,
    agreement_makers,
    latest_agreement,
)
from ..gold.runs import compare_runs
from .gold import get_gold

router = Router(tags=["Gold"])

PictureFormat = Literal["svg", "png", "pdf", "csv"]


class AgreementOut(Schema):
    """Agreement of trusted workers on z-scores: between and within workers, alpha, and by number of ratings.

    Also ratings per translation (`depth`), workers who differ on `repeats`, time and pay (`effort`), and how well halves
    of the workers agree (`reliability`), and what more ratings of each translation would buy (`value`).
    """

    job: UUID
    measured_at: datetime
    between: dict[str, Any]
    within: dict[str, Any]
    alpha: dict[str, Any]
    n_workers: int
    curve: dict[str, Any]
    scatters: list[dict[str, Any]] = []
    depth: dict[str, Any] | None = None
    repeats: dict[str, Any] | None = None
    effort: dict[str, Any] | None = None
    reliability: list[dict[str, Any]] = []
    value: dict[str, Any] | None = None


class RunsIn(Input):
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
    """A figure and its text alternative."""

    name: str
    title: str
    alternative: str


@router.post("/{uuid:code}/agreement", response={202: JobOut}, auth=Needs(Scope.RUN))
def measure_agreement(
    request: HttpRequest, code: UUID, replicate: Query[UUID | None] = None
) -> Status[Job]:
    """Start a job that measures the agreement of trusted workers, also with a `replicate` campaign if given."""
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    arguments = {}
    if replicate:
        other = campaign_for(request.user, replicate, Level.RESEARCHER)
        arguments = {"replicate": str(other.code)}
    job = start_job(
        kind="measure_agreement",
        campaign=campaign,
        arguments=arguments,
        started_by=user_of(request),
    )
    return Status(202, job)


@router.get("/{uuid:code}/agreement", response=AgreementOut, auth=Needs(Scope.READ))
def get_agreement(request: HttpRequest, code: UUID) -> dict[str, Any]:
    """Return the latest measurement of agreement, or 404 if there is none."""
    job = _agreement_job(request, code)
    return {"job": job.code, "measured_at": job.finished_at} | (job.result or {})


@router.get("/{uuid:code}/gold/compare", response=ComparisonOut, auth=Needs(Scope.READ))
def compare_gold(request: HttpRequest, code: UUID, runs: Query[RunsIn]) -> dict[str, Any]:
    """Compare two gold runs: changed scores, and translations that became complete or incomplete."""
    earlier, later = (get_gold(request, code, number) for number in (runs.earlier, runs.later))
    comparison = compare_runs(earlier, later)
    numbers = ("raw_r", "z_r", "largest_raw_difference", "largest_z_difference")
    return {
        "n_shared": comparison.n_shared,
        "n_newly_complete": len(comparison.newly_complete),
        "n_no_longer_complete": len(comparison.no_longer_complete),
        "has_equal_input": comparison.has_equal_input,
        "signature": comparison.signature,
    } | {name: known(getattr(comparison, name)) for name in numbers}


@router.get(
    "/{uuid:code}/gold/{number}/report",
    auth=Needs(Scope.READ),
    openapi_extra=file_response("application/pdf"),
)
def download_report(request: HttpRequest, code: UUID, number: Number) -> HttpResponse:
    """Download the campaign's report on this run as PDF."""
    return report_file(get_gold(request, code, number))


@router.get(
    "/{uuid:code}/gold/{number}/pictures", response=list[PictureOut], auth=Needs(Scope.READ)
)
def list_pictures(request: HttpRequest, code: UUID, number: Number) -> list[Any]:
    """List the figures of a run."""
    return list(Results(get_gold(request, code, number)).pictures().values())


@router.get(
    "/{uuid:code}/gold/{number}/pictures/{name}",
    auth=Needs(Scope.READ),
    openapi_extra=file_response(*CONTENT_TYPES.values()),
)
def download_picture(
    request: HttpRequest,
    code: UUID,
    number: Number,
    name: Name,
    format: Query[PictureFormat] = "svg",
) -> HttpResponse:
    """Download a figure of a run, or its data as CSV.

    `how-many-ratings` and `ratings-against-gold` show the latest agreement.
    """
    run = get_gold(request, code, number)
    makers, key = Results(run).makers(), run.code.hex
    if name in AGREEMENT_PICTURES:
        job = _agreement_job(request, code)
        makers, key = agreement_makers(job, run.campaign), agreement_key(job, run.campaign)
    make_picture = makers.get(name)
    if make_picture is None:
        raise Http404("Figure not found.")
    return drawn_file(name, format, make_picture, key=key)


def _agreement_job(request: HttpRequest, code: UUID) -> Job:
    job = latest_agreement(campaign_for(request.user, code, Level.RESEARCHER))
    if job is None:
        raise Http404("Agreement has not been measured yet.")
    return job
