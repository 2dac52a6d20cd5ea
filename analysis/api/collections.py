"""API: collections of scores and gold from files, without a campaign, and their evaluations."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import File, Form, Query, Router, Schema, Status
from ninja.files import UploadedFile
from ninja.pagination import paginate
from pydantic import Field

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from da_platform.plots.rendering import CONTENT_TYPES
from hits.api.auth import Needs, Scope
from hits.api.field_types import Input, Name, Number, file_response
from hits.api.jobs import JobOut
from hits.api.validation import checked, refuse_unknown_fields
from hits.people.access import is_member, user_of

from ..evaluation.access import visible_collections
from ..evaluation.across import AcrossMeasure
from ..evaluation.forms import CollectionForm
from ..evaluation.pictures import pictures_of_result
from ..evaluation.result_page import TABLE_TYPES
from ..evaluation.stored_evaluations import options_from, result_of
from ..evaluation.tables import tables_of
from ..evaluation.uploading import raw_files, store_uploaded_gold, store_uploaded_scores
from ..models import Evaluation, GoldUpload, Metric, ScoreCollection
from ..scores.storing import confirm_direction
from .evaluations import (
    EvaluationOut,
    EvaluationResultOut,
    OptionsIn,
    across_response,
    picture_response,
    result_table_response,
)
from .metrics import DirectionIn, GoldUploadIn, GoldUploadOut, MetricOut, ScoresIn
from .results import PictureFormat

router = Router(tags=["Collections"])


class CollectionIn(Input):
    name: Annotated[str, Field(min_length=1, max_length=100)]


class CollectionOut(Schema):
    """A collection of scores and gold from files."""

    code: UUID
    name: str
    created_at: datetime


class CollectionContentOut(CollectionOut):
    """A collection with its metrics and gold."""

    metrics: list[MetricOut]
    golds: list[GoldUploadOut]

    @staticmethod
    def resolve_metrics(collection: ScoreCollection) -> QuerySet[Metric]:
        return collection.metrics.order_by("name", "level")

    @staticmethod
    def resolve_golds(collection: ScoreCollection) -> QuerySet[GoldUpload]:
        return collection.gold_uploads.defer("table")


class CollectionEvaluationIn(Input):
    """Without `golds` and `metrics`, their codes, all of the collection are used."""

    golds: Annotated[list[UUID], Field(max_length=10)] = []
    metrics: Annotated[list[UUID], Field(min_length=1, max_length=500)] | None = None
    options: OptionsIn = OptionsIn()


class CollectionEvaluationOut(EvaluationResultOut):
    """An evaluation of a collection with its full result, and the names of its tables and figures."""

    tables: list[str]
    pictures: list[str]

    @staticmethod
    def resolve_tables(evaluation: Evaluation) -> list[str]:
        return [table.name for table in tables_of(result_of(evaluation))]

    @staticmethod
    def resolve_pictures(evaluation: Evaluation) -> list[str]:
        return [picture.name for picture in pictures_of_result(result_of(evaluation))]


@router.get("", response=list[CollectionOut], auth=Needs(Scope.READ))
@paginate
def list_collections(request: HttpRequest) -> QuerySet[ScoreCollection]:
    """List your collections, newest first; platform researchers see all of them."""
    return visible_collections(user_of(request))


@router.post("", response={201: CollectionContentOut}, auth=Needs(Scope.RUN))
def create_collection(request: HttpRequest, body: CollectionIn) -> Status[ScoreCollection]:
    """Create an empty collection."""
    if not is_member(user_of(request)):
        raise PermissionDenied
    form = CollectionForm(body.model_dump())
    checked(form)
    name = form.cleaned_data["name"]
    return Status(201, ScoreCollection.objects.create(name=name, owner=user_of(request)))


@router.get("/{uuid:collection}", response=CollectionContentOut, auth=Needs(Scope.READ))
def get_collection(request: HttpRequest, collection: UUID) -> ScoreCollection:
    """Return one collection with its metrics and gold."""
    return get_object_or_404(visible_collections(user_of(request)), code=collection)


@router.post("/{uuid:collection}/metrics", response={201: list[MetricOut]}, auth=Needs(Scope.RUN))
def add_scores_to_collection(
    request: HttpRequest, collection: UUID, files: File[list[UploadedFile]], form: Form[ScoresIn]
) -> Status[list[Metric]]:
    """Store the scores in one or more files, such as submissions to WMT's quality estimation task as they are."""
    home = get_collection(request, collection)
    refuse_unknown_fields(request, ScoresIn, "files")
    metrics = store_uploaded_scores(
        files=raw_files(files),
        home=home,
        reading=form.reading,
        replace=form.replace,
        uploaded_by=user_of(request),
    )
    return Status(201, metrics)


@router.post(
    "/{uuid:collection}/metrics/{uuid:metric}/direction", response=MetricOut, auth=Needs(Scope.RUN)
)
def confirm_direction_in_collection(
    request: HttpRequest, collection: UUID, metric: UUID, body: DirectionIn
) -> Metric:
    """Confirm whether higher or lower is better. The platform records who confirmed it."""
    stored = get_object_or_404(Metric, collection=get_collection(request, collection), code=metric)
    return confirm_direction(
        metric=stored, higher_is_better=body.higher_is_better, actor=user_of(request)
    )


@router.post("/{uuid:collection}/golds", response={201: list[GoldUploadOut]}, auth=Needs(Scope.RUN))
def add_gold_to_collection(
    request: HttpRequest,
    collection: UUID,
    file: File[UploadedFile],
    form: Form[GoldUploadIn],
    documents: File[UploadedFile | None] = None,
    texts: File[UploadedFile | None] = None,
) -> Status[list[GoldUpload]]:
    """Store the gold in a file. `documents` and `texts` name the document and the text of each segment."""
    home = get_collection(request, collection)
    refuse_unknown_fields(request, GoldUploadIn, "file", "documents", "texts")
    extra = {"documents": documents, "texts": texts}
    stored = store_uploaded_gold(
        files=raw_files([file]),
        home=home,
        reading=form.reading,
        replace=form.replace,
        uploaded_by=user_of(request),
        **{name: raw_files([each])[0] if each else None for name, each in extra.items()},
    )
    return Status(201, stored)


# Evaluations ----------------------------------------------------------------------------------


@router.get("/{uuid:collection}/evaluations", response=list[EvaluationOut], auth=Needs(Scope.READ))
@paginate
def list_collection_evaluations(request: HttpRequest, collection: UUID) -> QuerySet[Evaluation]:
    """List the evaluations of a collection, newest first."""
    found = Evaluation.objects.filter(collection=get_collection(request, collection))
    return found.order_by("-number").defer("result")


@router.post("/{uuid:collection}/evaluations", response={202: JobOut}, auth=Needs(Scope.RUN))
def evaluate_collection(
    request: HttpRequest, collection: UUID, body: CollectionEvaluationIn
) -> Status[Job]:
    """Start a job that evaluates the metrics of a collection. Its result holds the evaluation's number."""
    stored = get_collection(request, collection)
    arguments: dict[str, Any] = body.model_dump(exclude_none=True, mode="json")
    options_from(arguments["options"])
    arguments |= {
        "collection": stored.key,
        "golds": [{"upload": code} for code in arguments["golds"]],
    }
    job = start_job(kind="evaluate_collection", arguments=arguments, started_by=user_of(request))
    return Status(202, job)


@router.get(
    "/{uuid:collection}/evaluations/{number}",
    response=CollectionEvaluationOut,
    auth=Needs(Scope.READ),
)
def get_collection_evaluation(request: HttpRequest, collection: UUID, number: Number) -> Evaluation:
    """Return one evaluation of a collection with its full result."""
    stored = get_collection(request, collection)
    return get_object_or_404(Evaluation, collection=stored, number=number)


@router.get(
    "/{uuid:collection}/evaluations/{number}/tables/{name}",
    auth=Needs(Scope.READ),
    openapi_extra=file_response(*TABLE_TYPES.values()),
)
def download_collection_table(
    request: HttpRequest,
    collection: UUID,
    number: Number,
    name: Name,
    format: Query[Literal["csv", "tex", "md"]] = "csv",
) -> HttpResponse:
    """Download a table as CSV with all digits, as LaTeX or as Markdown."""
    evaluation = get_collection_evaluation(request, collection, number)
    return result_table_response(evaluation, name, format)


@router.get(
    "/{uuid:collection}/evaluations/{number}/pictures/{name}",
    auth=Needs(Scope.READ),
    openapi_extra=file_response(*CONTENT_TYPES.values()),
)
def download_collection_picture(
    request: HttpRequest,
    collection: UUID,
    number: Number,
    name: Name,
    format: Query[PictureFormat] = "svg",
) -> HttpResponse:
    """Download a figure of an evaluation, or its data as CSV."""
    evaluation = get_collection_evaluation(request, collection, number)
    return picture_response(evaluation, name, format)


@router.get(
    "/{uuid:collection}/evaluation-table",
    auth=Needs(Scope.READ),
    openapi_extra=file_response(*TABLE_TYPES.values()),
)
def download_table_over_collections(
    request: HttpRequest,
    collection: UUID,
    others: Query[list[UUID]] = [],  # noqa: B006
    measure: Query[AcrossMeasure] = "pearson",
    format: Query[Literal["csv", "tex", "md"]] = "csv",
) -> HttpResponse:
    """Download one table of metrics over collections, such as those of several language pairs, with their mean.

    It has the newest evaluation of this collection and of the others, named by their codes.
    """
    stored = [get_collection(request, each) for each in dict.fromkeys([collection, *others])]
    return across_response([each.evaluations.all() for each in stored], measure, format)
