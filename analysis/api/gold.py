"""API: gold runs, segment scores, system rankings and exports."""

from datetime import datetime
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import F, QuerySet
from django.http import FileResponse, Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from ninja.pagination import paginate
from pydantic import Field

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from da_platform.numbers import known_matrix
from hits.api.auth import Needs, Scope
from hits.api.field_types import Input, Number, file_response
from hits.api.jobs import JobOut
from hits.people.access import Level, campaign_for, has_level, user_of

from ..downloads import EXPORT_TYPES, exported
from ..exporting.offered import OF_A_RUN
from ..exporting.service import KIND_OF_FORMAT, KINDS, TABLE_FORMATS
from ..gold.all_segments import find_helper
from ..gold.document_ranking import rank_by_documents
from ..gold.documents import document_rows
from ..gold.named_workers import MOST_WORKERS, pseudonyms_of
from ..gold.ranking import SystemRanking, rank_systems
from ..models import GoldRun, GoldScore
from ..stats.systems import Test

EXPORTED = (*TABLE_FORMATS, *KIND_OF_FORMAT)

router = Router(tags=["Gold"])


class GoldRunOut(Schema):
    """One computation of a campaign's gold, with its method and inputs."""

    number: int
    method: str
    minimum: int
    test: str
    created_at: datetime
    n_named_workers: int | None
    helper: dict[str, Any] | None = Field(
        description="The metric that helped to score systems on all segments, and how much it helped."
    )
    n_workers: int
    n_workers_trusted: int
    n_ratings: int
    n_scored: int
    n_incomplete: int
    input_digest: str
    signature: str


class GoldIn(Input):
    method: GoldRun.Method = GoldRun.Method.PER_WORKER
    minimum: Annotated[int, Field(ge=1, le=1_000)] | None = None
    test: GoldRun.Test = GoldRun.Test.TWO_WAY
    workers: (
        Annotated[
            list[Annotated[str, Field(max_length=300)]],
            Field(
                min_length=1,
                max_length=MOST_WORKERS,
                description="Count only these workers: pseudonyms from exports or, for admins, ids.",
            ),
        ]
        | None
    ) = None
    helper: (
        Annotated[
            str,
            Field(
                min_length=1,
                max_length=200,
                description="A metric with scores for all outputs, to score systems on all segments if only "
                "some were rated.",
            ),
        ]
        | None
    ) = None


class SegmentScoreOut(Schema):
    """The score of one system's output. An incomplete one has `n` but no score."""

    system: str
    segment: str
    raw: float | None
    z: float | None
    raw_se: float | None
    z_se: float | None
    z_low: float | None
    z_high: float | None
    n: int
    is_complete: bool


class DocumentScoreOut(Schema):
    """The mean score of a system's translation of a document, over its complete segments."""

    system: str
    document: str
    raw: float | None
    z: float | None
    raw_se: float | None
    z_se: float | None
    n_segments: int
    n_incomplete: int
    n_ratings: int
    is_complete: bool

    @staticmethod
    def resolve_system(row: dict[str, Any]) -> str:
        name: str = row["system_name"]
        return name


class RankedSystem(Schema):
    """A system's score, with its 95 % interval. With a helper metric, `z_rated` is the mean over rated segments alone."""

    system: str
    z: float
    z_rated: float | None = None
    low: float | None
    high: float | None
    raw: float
    cluster: int
    wins: int
    n_segments: int
    n_incomplete: int


class SystemPair(Schema):
    """How a system compares with one ranked below it.

    `difference` is that of the mean z-scores. `probability` is the probability that the system's translation
    of a random segment is rated above the other's. `p` decides about clusters, and `p_alone` is the same test
    without adjusting for the number of pairs.
    """

    system: str
    other: str
    difference: float
    low: float | None
    high: float | None
    probability: float | None
    probability_low: float | None
    probability_high: float | None
    p: float | None
    p_alone: float | None
    p_signed_rank: float | None
    p_mann_whitney: float | None
    n_shared: int


class RankingOut(Schema):
    """Systems from best to worst. A small `pvalues[i][j]` means that system i beats system j.

    `pvalues` are adjusted as `correction` says; `unadjusted` are those of each test alone.
    """

    systems: list[RankedSystem]
    pairs: list[SystemPair]
    test: str
    correction: str
    pvalues: list[list[float | None]]
    unadjusted: list[list[float | None]]
    signature: str


@router.get("/{uuid:code}/gold", response=list[GoldRunOut], auth=Needs(Scope.READ))
@paginate
def list_gold(request: HttpRequest, code: UUID) -> QuerySet[GoldRun]:
    """List the gold runs of a campaign, newest first."""
    return GoldRun.objects.filter(campaign=campaign_for(request.user, code, Level.RESEARCHER))


@router.post("/{uuid:code}/gold", response={202: JobOut}, auth=Needs(Scope.RUN))
def build_gold(request: HttpRequest, code: UUID, body: GoldIn) -> Status[Job]:
    """Start a job that builds gold from the current ratings."""
    assert isinstance(request.user, User)
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    arguments = body.model_dump(exclude_none=True, mode="json")
    if body.workers:
        sees_ids = has_level(request.user, Level.ADMIN, campaign)
        arguments["workers"] = pseudonyms_of(campaign, body.workers, by_id=sees_ids)
    if body.helper:
        find_helper(campaign, body.helper, body.method, body.test)
    job = start_job(
        kind="build_gold", campaign=campaign, arguments=arguments, started_by=request.user
    )
    return Status(202, job)


@router.get("/{uuid:code}/gold/{number}", response=GoldRunOut, auth=Needs(Scope.READ))
def get_gold(request: HttpRequest, code: UUID, number: Number) -> GoldRun:
    """Return one gold run."""
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    return get_object_or_404(GoldRun, campaign=campaign, number=number)


@router.get(
    "/{uuid:code}/gold/{number}/scores", response=list[SegmentScoreOut], auth=Needs(Scope.READ)
)
@paginate
def list_gold_scores(request: HttpRequest, code: UUID, number: Number) -> QuerySet[Any, Any]:
    """List the score of every output, by segment. A translation shared by systems is listed for each."""
    run = get_gold(request, code, number)
    scores = GoldScore.objects.filter(run=run).order_by(
        "translation__segment__position", "translation__outputs__system"
    )
    return scores.values(
        "raw",
        "z",
        "raw_se",
        "z_se",
        "z_low",
        "z_high",
        "n",
        "is_complete",
        system=F("translation__outputs__system__name"),
        segment=F("translation__segment__name"),
    )


@router.get(
    "/{uuid:code}/gold/{number}/documents",
    response=list[DocumentScoreOut],
    auth=Needs(Scope.READ),
)
@paginate
def list_document_scores(request: HttpRequest, code: UUID, number: Number) -> QuerySet[Any, Any]:
    """List the score of every document of every system. Segments without a document are left out."""
    return document_rows(get_gold(request, code, number))


@router.get("/{uuid:code}/gold/{number}/ranking", response=RankingOut, auth=Needs(Scope.READ))
def get_ranking(
    request: HttpRequest,
    code: UUID,
    number: Number,
    test: Query[GoldRun.Test | None] = None,
    unit: Query[Literal["segment", "document", "whole-document"]] = "segment",
) -> dict[str, Any]:
    """Rank systems by mean z, with clusters and tests of all differences. By default, with the test of the run.

    With `unit=document`, each document counts once, by the mean of its segments; with `whole-document`, by the scores
    that workers gave to the whole. The numbers of segments are then numbers of documents.
    """
    chosen = cast(Test, test.value) if test else None
    run = get_gold(request, code, number)
    ranking: SystemRanking | None = (
        rank_systems(run, test=chosen)
        if unit == "segment"
        else rank_by_documents(run, unit=unit, test=chosen)
    )
    if ranking is None:
        raise Http404("No document has a score.")
    comparison = ranking.comparison
    return {
        "systems": ranking.rows,
        "pairs": ranking.pairs,
        "test": comparison.test,
        "correction": comparison.correction,
        "pvalues": known_matrix(comparison.adjusted),
        "unadjusted": known_matrix(comparison.pvalues),
        "signature": ranking.signature,
    }


@router.get(
    "/{uuid:code}/exports/{kind}",
    auth=Needs(Scope.READ),
    openapi_extra=file_response(*EXPORT_TYPES.values()),
)
def download_export(
    request: HttpRequest,
    code: UUID,
    kind: Literal[KINDS],  # type: ignore[valid-type]
    format: Query[Literal[EXPORTED]] = "csv",  # type: ignore[valid-type]
    run: Query[Number | None] = None,
) -> FileResponse:
    """Download a table of the campaign, with pseudonyms for workers. The default run is the latest.

    `wmt-qe` and `wmt-ape` are for post-editions: an archive of text files with one line for each.
    """
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    options = {"run": get_gold(request, code, run)} if run and kind in OF_A_RUN else {}
    return exported(kind=kind, campaign=campaign, format=format, actor=user_of(request), **options)
