"""API: rankings of systems by judgements."""

from typing import Annotated, Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Router, Status
from pydantic import Field

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from da_platform.plots.rendering import CONTENT_TYPES
from da_platform.plots.responses import picture_file
from hits.api.auth import Needs, Scope
from hits.api.field_types import Input, Name, file_response
from hits.api.jobs import JobOut
from hits.people.access import Level, campaign_for, user_of

from ..ranking.pictures import PICTURES
from ..ranking.results import Facts
from ..ranking.stored import MOST_RUNS, latest_ranking
from ..stats.trueskill import RUNS
from .results import PictureFormat

router = Router(tags=["Rankings"])


class RankIn(Input):
    runs: Annotated[int, Field(ge=1, le=MOST_RUNS)] = RUNS
    trusted_only: bool = True


@router.post("/{uuid:code}/judgements/ranking", response={202: JobOut}, auth=Needs(Scope.RUN))
def rank_judgements(request: HttpRequest, code: UUID, body: RankIn) -> Status[Job]:
    """Start a job that ranks the systems by the judgements of workers."""
    job = start_job(
        kind="rank_judgements",
        campaign=campaign_for(request.user, code, Level.RESEARCHER),
        arguments=body.model_dump(),
        started_by=user_of(request),
    )
    return Status(202, job)


@router.get("/{uuid:code}/judgements/ranking", response=dict[str, Any], auth=Needs(Scope.READ))
def get_judgement_ranking(request: HttpRequest, code: UUID) -> Facts:
    """Return the latest ranking by judgements, or 404 if there is none."""
    return _ranking(request, code)


@router.get(
    "/{uuid:code}/judgements/ranking/pictures/{name}",
    auth=Needs(Scope.READ),
    openapi_extra=file_response(*CONTENT_TYPES.values()),
)
def download_ranking_picture(
    request: HttpRequest, code: UUID, name: Name, format: Query[PictureFormat] = "svg"
) -> HttpResponse:
    """Download a figure of the latest ranking, or its data as CSV: `rank-ranges` or `head-to-head`."""
    facts = _ranking(request, code)
    if name not in PICTURES:
        raise Http404("Figure not found.")
    return picture_file(PICTURES[name](facts), format)


def _ranking(request: HttpRequest, code: UUID) -> Facts:
    facts = latest_ranking(campaign_for(request.user, code, Level.RESEARCHER))
    if facts is None:
        raise Http404("The systems have not been ranked by judgements yet.")
    return facts
