"""API: rankings of systems by judgements."""

from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from ninja import Query, Router, Status
from pydantic import Field

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from da_platform.plots.rendering import CONTENT_TYPES
from da_platform.plots.responses import picture_file
from hits.api.auth import Needs, Scope
from hits.api.field_types import Input, Name, file_response
from hits.api.jobs import JobOut
from hits.people.access import Level, campaign_for, campaigns_of, has_level, user_of
from hits.ranking.exporting import CONTENT_TYPES as RANKING_TYPES
from hits.ranking.exporting import judgements_file

from ..downloads import ranking_report_file, table_file
from ..evaluation.result_page import TABLE_TYPES
from ..gold.named_workers import MOST_WORKERS
from ..ranking.judge_groups import groups_of
from ..ranking.pictures import PICTURES
from ..ranking.results import Facts
from ..ranking.stored import (
    MOST_RUNS,
    MOST_SEED,
    gold_of,
    golds_next_to,
    latest_ranking,
    with_direct_assessment,
)
from ..ranking.tables import tables_of
from ..stats.trueskill import RUNS, Lookup
from .results import PictureFormat

router = Router(tags=["Rankings"])


class RankIn(Input):
    runs: Annotated[int, Field(ge=1, le=MOST_RUNS)] = RUNS
    seed: Annotated[
        int | None, Field(ge=0, le=MOST_SEED, description="Default: that of the campaign.")
    ] = None
    trusted_only: bool = True
    lookup: Lookup = "all"
    groups: Annotated[
        dict[str, str],
        Field(
            max_length=MOST_WORKERS,
            description="The group of each judge, for kappa within groups: pseudonyms from exports or, for "
            "admins, ids. Default: judges are grouped by how they were recruited.",
        ),
    ] = {}


class Against(Input):
    gold: Annotated[
        UUID | None,
        Field(
            description="The campaign whose newest gold is shown next to the ranking. Default: the one that "
            "shares the most systems."
        ),
    ] = None


@router.post("/{uuid:code}/judgements/ranking", response={202: JobOut}, auth=Needs(Scope.RUN))
def rank_judgements(request: HttpRequest, code: UUID, body: RankIn) -> Status[Job]:
    """Start a job that ranks the systems by the judgements of workers."""
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    arguments = body.model_dump(exclude={"groups"})
    if body.groups:
        sees_ids = has_level(request.user, Level.ADMIN, campaign)
        arguments["groups"] = groups_of(campaign, body.groups, by_id=sees_ids)
    job = start_job(
        kind="rank_judgements",
        campaign=campaign,
        arguments=arguments,
        started_by=user_of(request),
    )
    return Status(202, job)


@router.get("/{uuid:code}/judgements/ranking", response=dict[str, Any], auth=Needs(Scope.READ))
def get_judgement_ranking(request: HttpRequest, code: UUID, against: Query[Against]) -> Facts:
    """Return the latest ranking by judgements, or 404 if there is none.

    Includes the agreement of judges and metrics and, if a campaign has gold for the same systems, `direct_assessment`.
    """
    return _ranking(request, code, against.gold)


@router.get(
    "/{uuid:code}/judgements/ranking/tables/{name}",
    auth=Needs(Scope.READ),
    openapi_extra=file_response(*TABLE_TYPES.values()),
)
def download_ranking_table(
    request: HttpRequest,
    code: UUID,
    name: Name,
    against: Query[Against],
    format: Query[Literal["tex", "md", "csv"]] = "tex",
) -> HttpResponse:
    """Download a table of the latest ranking as on the page, such as `ranking`, `head-to-head` or `metrics`."""
    table = tables_of(_ranking(request, code, against.gold)).get(name)
    if table is None:
        raise Http404("Table not found.")
    return table_file(table, format)


@router.get(
    "/{uuid:code}/judgements/ranking/report",
    auth=Needs(Scope.READ),
    openapi_extra=file_response("application/pdf"),
)
def download_ranking_report(
    request: HttpRequest, code: UUID, against: Query[Against]
) -> HttpResponse:
    """Download the report on the latest ranking as PDF."""
    facts = _ranking(request, code, against.gold)
    return ranking_report_file(campaign_for(request.user, code, Level.RESEARCHER), facts)


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


@router.get(
    "/{uuid:code}/judgements/rankings",
    auth=Needs(Scope.READ),
    openapi_extra=file_response(*RANKING_TYPES.values()),
)
def download_judgements(
    request: HttpRequest, code: UUID, format: Query[Literal["csv", "xml"]] = "csv"
) -> FileResponse:
    """Download what workers ranked, as WMT's CSV of pairs or as Appraise's XML, with pseudonyms."""
    return judgements_file(campaign_for(request.user, code, Level.RESEARCHER), format)


def _ranking(request: HttpRequest, code: UUID, gold: UUID | None = None) -> Facts:
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    facts = latest_ranking(campaign)
    if facts is None:
        raise Http404("The systems have not been ranked by judgements yet.")
    chosen = gold_of(golds_next_to(campaign, facts, campaigns_of(request.user)), gold)
    if gold and chosen is None:
        raise Http404("That campaign has no gold for two of these systems.")
    return with_direct_assessment(facts, chosen)
