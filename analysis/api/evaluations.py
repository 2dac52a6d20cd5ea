"""Evaluations over the API: metrics held against gold, with tables and pictures."""

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

from hits.access import Level, campaign_for
from hits.api.auth import Needs, Scope
from hits.api.texts import Name, Number, a_file, caller_of
from hits.models import Campaign

from ..downloads import picture_file
from ..evaluating.campaigns import options_from, result_of
from ..evaluating.pictures import pictures_of_result
from ..evaluating.showing import TABLE_TYPES, table_file
from ..evaluating.tables import tables_of
from ..jobs import start_job
from ..models import Evaluation, Job
from ..plots.rendering import CONTENT_TYPES
from .jobs import JobOut
from .results import PictureFormat, PictureOut

router = Router(tags=["Evaluations"])

Share = Annotated[float, Field(gt=0, lt=1)]


class GoldIn(Schema):
    """A run of gold by its number, and which of its scores."""

    run: Number
    use: Literal["z", "raw"] = "z"


class OptionsIn(Schema):
    qe: bool = False
    alpha: Share = 0.05
    confidence: Share = 0.95
    seed: Annotated[int, Field(ge=0, lt=2**53)] = 1
    n_resamples: Annotated[int, Field(ge=1, le=100_000)] | None = None
    without_systems: Annotated[list[Name], Field(max_length=500)] = []
    ignore_extra: bool = False


class EvaluationIn(Schema):
    """Without golds the latest run, without metrics all of the campaign."""

    golds: Annotated[list[GoldIn], Field(max_length=10)] = []
    metrics: Annotated[list[UUID], Field(min_length=1, max_length=500)] | None = None
    options: OptionsIn = OptionsIn()


class EvaluationOut(Schema):
    """An evaluation: of what, how, and where it came from."""

    number: int
    golds: list[dict[str, Any]]
    options: dict[str, Any]
    input_digest: str
    signature: str
    created_at: datetime


class EvaluationResultOut(EvaluationOut):
    """The same with everything that was found; what could not be computed is empty."""

    result: dict[str, Any]


class TableOut(Schema):
    name: str
    caption: str
    note: str


@router.get("/{uuid:code}/evaluations", response=list[EvaluationOut], auth=Needs(Scope.READ))
@paginate
def list_evaluations(request: HttpRequest, code: UUID) -> QuerySet[Evaluation]:
    """The evaluations of a campaign, newest first."""
    return Evaluation.objects.filter(campaign=_own(request, code)).defer("result")


@router.post("/{uuid:code}/evaluations", response={202: JobOut}, auth=Needs(Scope.RUN))
def evaluate(request: HttpRequest, code: UUID, wanted: EvaluationIn) -> Status[Job]:
    """Start a job that holds metrics against gold; its result names the evaluation's number."""
    campaign = _own(request, code)
    arguments = wanted.model_dump(exclude_none=True, mode="json")
    options_from(arguments["options"])
    job = start_job(
        kind="evaluate", campaign=campaign, arguments=arguments, started_by=caller_of(request)
    )
    return Status(202, job)


@router.get(
    "/{uuid:code}/evaluations/{number}", response=EvaluationResultOut, auth=Needs(Scope.READ)
)
def get_evaluation(request: HttpRequest, code: UUID, number: Number) -> Evaluation:
    """One evaluation with all that was found."""
    return get_object_or_404(Evaluation, campaign=_own(request, code), number=number)


@router.get(
    "/{uuid:code}/evaluations/{number}/tables", response=list[TableOut], auth=Needs(Scope.READ)
)
def list_tables(request: HttpRequest, code: UUID, number: Number) -> list[dict[str, str]]:
    """The tables of an evaluation, as a paper would print them."""
    return [
        {"name": table.name, "caption": table.caption, "note": table.note}
        for table in tables_of(result_of(get_evaluation(request, code, number)))
    ]


@router.get(
    "/{uuid:code}/evaluations/{number}/tables/{name}",
    auth=Needs(Scope.READ),
    openapi_extra=a_file(*TABLE_TYPES.values()),
)
def download_table(
    request: HttpRequest,
    code: UUID,
    number: Number,
    name: Name,
    format: Query[Literal["csv", "tex", "md"]] = "csv",
) -> HttpResponse:
    """A table as CSV with all digits, or as LaTeX or Markdown."""
    content = table_file(result_of(get_evaluation(request, code, number)), name, format)
    if content is None:
        raise Http404("There is no such table.")
    answer = HttpResponse(content, content_type=TABLE_TYPES[format])
    # Names of gold are in any script.
    header = content_disposition_header(True, f"{name}.{format}")
    assert header is not None
    answer["Content-Disposition"] = header
    return answer


@router.get(
    "/{uuid:code}/evaluations/{number}/pictures",
    response=list[PictureOut],
    auth=Needs(Scope.READ),
)
def list_evaluation_pictures(request: HttpRequest, code: UUID, number: Number) -> list[Any]:
    """The pictures that can be drawn from what was stored."""
    return pictures_of_result(result_of(get_evaluation(request, code, number)))


@router.get(
    "/{uuid:code}/evaluations/{number}/pictures/{name}",
    auth=Needs(Scope.READ),
    openapi_extra=a_file(*CONTENT_TYPES.values()),
)
def download_evaluation_picture(
    request: HttpRequest,
    code: UUID,
    number: Number,
    name: Name,
    format: Query[PictureFormat] = "svg",
) -> HttpResponse:
    """A picture of an evaluation, or its numbers as CSV."""
    evaluation = get_evaluation(request, code, number)
    pictures = pictures_of_result(result_of(evaluation))
    found = next((picture for picture in pictures if picture.name == name), None)
    if found is None:
        raise Http404("There is no such picture.")
    return picture_file(found, format, key=evaluation.code.hex)


def _own(request: HttpRequest, code: UUID) -> Campaign:
    return campaign_for(request.user, code, Level.RESEARCHER)
