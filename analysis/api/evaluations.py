"""API: evaluate metrics against gold, and download tables and figures."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.http import content_disposition_header
from ninja import Query, Router, Schema, Status
from ninja.pagination import paginate
from pydantic import Field

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from da_platform.plots.rendering import CONTENT_TYPES
from da_platform.plots.responses import picture_file
from hits.api.auth import Needs, Scope
from hits.api.field_types import Input, Name, Number, file_response
from hits.api.jobs import JobOut
from hits.models import Campaign
from hits.people.access import Level, campaign_for, user_of

from ..evaluation.across import AcrossMeasure, table_across, titled
from ..evaluation.contrast_page import default_names, pairs_of, with_texts
from ..evaluation.contrasts import contrast
from ..evaluation.pictures import pictures_of_result
from ..evaluation.result_page import TABLE_TYPES, table_file
from ..evaluation.results import Granularity, PredictionSort, TieThreshold, Uncertainty
from ..evaluation.stored_evaluations import options_from, result_of
from ..evaluation.tables import tables_of
from ..models import Evaluation
from ..stats.multiple_tests import Correction
from ..stats.thresholds import ALPHA
from ..tables.writing import content_of
from .results import PictureFormat, PictureOut

router = Router(tags=["Evaluations"])

Share = Annotated[float, Field(gt=0, lt=1)]


class ChosenGoldIn(Input):
    """A gold run, and which of its scores to use: z-scores, raw scores, or those of whole documents (with the level `document`).

    With `human`, a few workers per translation are held out of the gold and evaluated like metrics. Otherwise metrics are put next to
    held-out workers in `humans` wherever the ratings allow it; answers say so with `ceiling`, which has no effect in requests.
    """

    run: Number
    use: Literal["z", "raw", "whole"] = "z"
    human: bool = False
    ceiling: bool = False


class UploadedGoldIn(Input):
    """Gold from a file or from post-editions, by its code."""

    upload: UUID


class OptionsIn(Input):
    """Options of an evaluation.

    `per_word` divides seconds by the number of words in each output. With `preference_points`, metrics
    are also evaluated against preferences: pairs of translations whose gold scores are this far apart.
    With `qe`, what does not significantly differ from the predictions named by `baseline` is shaded, and
    the table of predictions is sorted by `sort`. `good_enough` is a score on the scale of the gold: how well do metrics find
    worse translations, and how many must be read to find them? With `level` `document`, scores and gold are averaged over the segments of
    each document, and documents take the place of segments.
    """

    qe: bool = False
    alpha: Share = ALPHA
    confidence: Share = 0.95
    uncertainty: Uncertainty = "segments"
    correction: Correction = "holm"
    tie_threshold: TieThreshold = "calibrated"
    seed: Annotated[int, Field(ge=0, lt=2**53)] = 1
    n_resamples: Annotated[int, Field(ge=1, le=100_000)] | None = None
    without_systems: Annotated[list[Name], Field(max_length=500)] = []
    ignore_extra: bool = False
    per_word: bool = False
    preference_points: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    good_enough: Annotated[float, Field(allow_inf_nan=False)] | None = None
    level: Granularity = "segment"
    baseline: Annotated[str, Field(max_length=200)] = ""
    sort: PredictionSort = "r"


class EvaluationIn(Input):
    """Without `golds`, the latest run is used; without `metrics`, all metrics of the campaign.

    With `judgements`, the code of an upload, metrics are also evaluated against the preferences of people.
    """

    golds: Annotated[list[ChosenGoldIn | UploadedGoldIn], Field(max_length=10)] = []
    metrics: Annotated[list[UUID], Field(min_length=1, max_length=500)] | None = None
    judgements: UUID | None = None
    options: OptionsIn = OptionsIn()


class EvaluationOut(Schema):
    """An evaluation: its inputs and options."""

    number: int
    golds: list[dict[str, Any]]
    options: dict[str, Any]
    input_digest: str
    signature: str
    created_at: datetime


class EvaluationResultOut(EvaluationOut):
    """An evaluation with its full result. Values that could not be computed are null."""

    result: dict[str, Any]


class ContrastIn(Schema):
    """Two scores of an evaluation, golds or metrics, and the number of contradictions to list."""

    first: str = ""
    second: str = ""
    most: Annotated[int, Field(ge=1, le=5_000)] = 50


class ContradictionOut(Schema):
    """A translation that is better than average by one score and worse by the other, with single ratings.

    `own_ratings` are those against `own_reference`, in another campaign.
    """

    system: str
    segment: str
    first: float
    second: float
    first_z: float
    second_z: float
    source: str
    reference: str
    output: str
    post_edition: str
    ratings: list[int]
    own_reference: str
    own_ratings: list[int]


class ContrastOut(Schema):
    """Two scores of the same translations, standardised, with higher better."""

    first: str
    second: str
    n: int
    r: dict[str, Any]
    n_good_by_both: int
    n_good_by_first: int
    n_good_by_second: int
    n_good_by_neither: int
    contradictions: list[ContradictionOut]


class TableOut(Schema):
    name: str
    caption: str
    note: str


@router.get("/{uuid:code}/evaluations", response=list[EvaluationOut], auth=Needs(Scope.READ))
@paginate
def list_evaluations(request: HttpRequest, code: UUID) -> QuerySet[Evaluation]:
    """List the evaluations of a campaign, newest first."""
    return Evaluation.objects.filter(campaign=_campaign(request, code)).defer("result")


@router.post("/{uuid:code}/evaluations", response={202: JobOut}, auth=Needs(Scope.RUN))
def evaluate(request: HttpRequest, code: UUID, body: EvaluationIn) -> Status[Job]:
    """Start a job that evaluates metrics against gold. Its result holds the evaluation's number."""
    campaign = _campaign(request, code)
    arguments = body.model_dump(exclude_none=True, mode="json")
    options_from(arguments["options"])
    job = start_job(
        kind="evaluate", campaign=campaign, arguments=arguments, started_by=user_of(request)
    )
    return Status(202, job)


@router.get(
    "/{uuid:code}/evaluations/{number}", response=EvaluationResultOut, auth=Needs(Scope.READ)
)
def get_evaluation(request: HttpRequest, code: UUID, number: Number) -> Evaluation:
    """Return one evaluation with its full result."""
    return get_object_or_404(Evaluation, campaign=_campaign(request, code), number=number)


@router.post(
    "/{uuid:code}/evaluations/{number}/again", response={202: JobOut}, auth=Needs(Scope.RUN)
)
def evaluate_again(request: HttpRequest, code: UUID, number: Number) -> Status[Job]:
    """Start a job that repeats an evaluation. Its result says whether the numbers are identical."""
    evaluation = get_evaluation(request, code, number)
    job = start_job(
        kind="evaluate_again",
        campaign=evaluation.campaign,
        arguments={"evaluation": str(evaluation.code)},
        started_by=user_of(request),
    )
    return Status(202, job)


@router.get(
    "/{uuid:code}/evaluations/{number}/tables", response=list[TableOut], auth=Needs(Scope.READ)
)
def list_tables(request: HttpRequest, code: UUID, number: Number) -> list[dict[str, str]]:
    """List the tables of an evaluation, laid out as in a paper."""
    return [
        {"name": table.name, "caption": table.caption, "note": table.note}
        for table in tables_of(result_of(get_evaluation(request, code, number)))
    ]


@router.get(
    "/{uuid:code}/evaluations/{number}/tables/{name}",
    auth=Needs(Scope.READ),
    openapi_extra=file_response(*TABLE_TYPES.values()),
)
def download_table(
    request: HttpRequest,
    code: UUID,
    number: Number,
    name: Name,
    format: Query[Literal["csv", "tex", "md"]] = "csv",
) -> HttpResponse:
    """Download a table as CSV with all digits, as LaTeX or as Markdown."""
    return result_table_response(get_evaluation(request, code, number), name, format)


def result_table_response(
    evaluation: Evaluation, name: str, format: Literal["csv", "tex", "md"]
) -> HttpResponse:
    content = table_file(result_of(evaluation), name, format)
    if content is None:
        raise Http404("Table not found.")
    response = HttpResponse(content, content_type=TABLE_TYPES[format])
    # The name of the gold may be in any script.
    header = content_disposition_header(True, f"{name}.{format}")
    assert header is not None
    response["Content-Disposition"] = header
    return response


@router.get(
    "/{uuid:code}/evaluations/{number}/contrast", response=ContrastOut, auth=Needs(Scope.READ)
)
def get_contrast(
    request: HttpRequest,
    code: UUID,
    number: Number,
    chosen: Query[ContrastIn],
) -> dict[str, Any]:
    """Hold two golds, or a gold and a metric, against each other; by default the first two golds.

    The result has the number of translations above and below average by each, and those on which they contradict
    each other, the greatest differences first.
    """
    evaluation = get_evaluation(request, code, number)
    names = default_names(result_of(evaluation))
    if names is None:
        raise Http404("This evaluation has no segment scores.")
    found = contrast(
        pairs_of(evaluation, chosen.first or names[0], chosen.second or names[1]), chosen.most
    )
    rows = with_texts(evaluation, found.contradictions)
    return asdict(found) | {
        "contradictions": [asdict(row.scores) | asdict(row.texts) for row in rows]
    }


@router.get(
    "/{uuid:code}/evaluations/{number}/pictures",
    response=list[PictureOut],
    auth=Needs(Scope.READ),
)
def list_evaluation_pictures(request: HttpRequest, code: UUID, number: Number) -> list[Any]:
    """List the figures of an evaluation that are drawn from its stored result."""
    return pictures_of_result(result_of(get_evaluation(request, code, number)))


@router.get(
    "/{uuid:code}/evaluations/{number}/pictures/{name}",
    auth=Needs(Scope.READ),
    openapi_extra=file_response(*CONTENT_TYPES.values()),
)
def download_evaluation_picture(
    request: HttpRequest,
    code: UUID,
    number: Number,
    name: Name,
    format: Query[PictureFormat] = "svg",
) -> HttpResponse:
    """Download a figure of an evaluation, or its data as CSV."""
    return picture_response(get_evaluation(request, code, number), name, format)


def picture_response(evaluation: Evaluation, name: str, format: PictureFormat) -> HttpResponse:
    pictures = pictures_of_result(result_of(evaluation))
    picture = next((picture for picture in pictures if picture.name == name), None)
    if picture is None:
        raise Http404("Figure not found.")
    return picture_file(picture, format, key=evaluation.code.hex)


@router.get(
    "/{uuid:code}/evaluation-table",
    auth=Needs(Scope.READ),
    openapi_extra=file_response(*TABLE_TYPES.values()),
)
def download_evaluation_table(
    request: HttpRequest,
    code: UUID,
    others: Query[list[UUID]] = [],  # noqa: B006
    measure: Query[AcrossMeasure] = "pearson",
    format: Query[Literal["csv", "tex", "md"]] = "csv",
) -> HttpResponse:
    """Download one table of metrics over campaigns, such as those of several language pairs.

    It has the newest evaluation of this campaign and of the others, named by their codes.
    """
    campaigns = [_campaign(request, each) for each in dict.fromkeys([code, *others])]
    return across_response([each.evaluations.all() for each in campaigns], measure, format)


def across_response(
    homes: list[QuerySet[Evaluation]],
    measure: AcrossMeasure,
    format: Literal["csv", "tex", "md"],
) -> HttpResponse:
    """Return a table of the newest evaluation of each home, or raise a 404 if one has none."""
    newest = [
        evaluations.select_related("campaign", "collection").order_by("-number").first()
        for evaluations in homes
    ]
    evaluations = [each for each in newest if each is not None]
    if len(evaluations) < len(newest):
        raise Http404("Not every one of them has an evaluation.")
    table = table_across(titled(evaluations), measure=measure)
    return HttpResponse(content_of(table, format), content_type=TABLE_TYPES[format])


def _campaign(request: HttpRequest, code: UUID) -> Campaign:
    return campaign_for(request.user, code, Level.RESEARCHER)
