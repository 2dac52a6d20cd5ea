"""Gold over the API: runs, segment scores, ranking, and files of them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import F, QuerySet
from django.http import FileResponse, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from ninja.pagination import paginate
from pydantic import Field

from hits.access import Level, campaign_for
from hits.api.auth import Needs, Scope
from hits.api.texts import Number, a_file, caller_of

from ..downloads import EXPORT_TYPES, exported
from ..gold import rank_systems
from ..jobs import start_job
from ..models import GoldRun, GoldScore, Job
from ..plain import known_matrix
from .jobs import JobOut

router = Router(tags=["Gold"])

# Exports that are made of a run of gold.
OF_A_RUN = ("segments", "systems")


class GoldRunOut(Schema):
    """One computation of a campaign's gold: how it was made, and from what."""

    number: int
    method: str
    minimum: int
    created_at: datetime
    n_workers: int
    n_workers_trusted: int
    n_ratings: int
    n_scored: int
    n_incomplete: int
    input_digest: str
    signature: str


class GoldIn(Schema):
    method: GoldRun.Method = GoldRun.Method.PER_WORKER
    minimum: Annotated[int, Field(ge=1, le=1_000)] | None = None


class SegmentScoreOut(Schema):
    """The score of one system's output; an incomplete one has n and no score."""

    system: str
    segment: str
    raw: float | None
    z: float | None
    raw_se: float | None
    z_se: float | None
    n: int
    is_complete: bool


class RankedSystem(Schema):
    system: str
    z: float
    raw: float
    cluster: int
    n_segments: int
    n_incomplete: int


class RankingOut(Schema):
    """Systems from best to worst; `pvalues[i][j]`: that system i beats system j."""

    systems: list[RankedSystem]
    pvalues: list[list[float | None]]
    signature: str


@router.get("/{uuid:code}/gold", response=list[GoldRunOut], auth=Needs(Scope.READ))
@paginate
def list_gold(request: HttpRequest, code: UUID) -> QuerySet[GoldRun]:
    """The runs of a campaign, newest first."""
    return GoldRun.objects.filter(campaign=campaign_for(request.user, code, Level.RESEARCHER))


@router.post("/{uuid:code}/gold", response={202: JobOut}, auth=Needs(Scope.RUN))
def build(request: HttpRequest, code: UUID, wanted: GoldIn) -> Status[Job]:
    """Start a job that builds gold from the ratings there are now."""
    assert isinstance(request.user, User)
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    arguments = wanted.model_dump(exclude_none=True, mode="json")
    job = start_job(
        kind="build_gold", campaign=campaign, arguments=arguments, started_by=request.user
    )
    return Status(202, job)


@router.get("/{uuid:code}/gold/{number}", response=GoldRunOut, auth=Needs(Scope.READ))
def get_gold(request: HttpRequest, code: UUID, number: Number) -> GoldRun:
    """One run."""
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    return get_object_or_404(GoldRun, campaign=campaign, number=number)


@router.get(
    "/{uuid:code}/gold/{number}/scores", response=list[SegmentScoreOut], auth=Needs(Scope.READ)
)
@paginate
def list_scores(request: HttpRequest, code: UUID, number: Number) -> QuerySet[Any, Any]:
    """The score of every output, in the order of segments; one that systems share counts for each."""
    run = get_gold(request, code, number)
    scores = GoldScore.objects.filter(run=run).order_by(
        "translation__segment__position", "translation__outputs__system"
    )
    return scores.values(
        "raw",
        "z",
        "raw_se",
        "z_se",
        "n",
        "is_complete",
        system=F("translation__outputs__system__name"),
        segment=F("translation__segment__name"),
    )


@router.get("/{uuid:code}/gold/{number}/ranking", response=RankingOut, auth=Needs(Scope.READ))
def get_ranking(request: HttpRequest, code: UUID, number: Number) -> dict[str, Any]:
    """Systems ranked by mean z, with clusters and the p-value of each difference."""
    ranking = rank_systems(get_gold(request, code, number))
    return {
        "systems": ranking.rows,
        "pvalues": known_matrix(ranking.comparison.pvalues),
        "signature": ranking.signature,
    }


@router.get(
    "/{uuid:code}/exports/{kind}",
    auth=Needs(Scope.READ),
    openapi_extra=a_file(*EXPORT_TYPES.values()),
)
def download(
    request: HttpRequest,
    code: UUID,
    kind: Literal["ratings", "evidence", "segments", "systems"],
    format: Query[Literal["csv", "tsv", "jsonl", "parquet"]] = "csv",
    run: Query[Number | None] = None,
) -> FileResponse:
    """A table of the campaign as a file, with workers under pseudonyms; of a run, or of the latest."""
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    options = {"run": get_gold(request, code, run)} if run and kind in OF_A_RUN else {}
    return exported(
        kind=kind, campaign=campaign, format=format, actor=caller_of(request), **options
    )
