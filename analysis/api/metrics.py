"""API: upload metric scores, confirm directions, compute built-in metrics."""

from datetime import datetime
from pathlib import PurePath
from typing import Annotated, Any, Literal
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import File, Form, Router, Schema, Status
from ninja.files import UploadedFile
from ninja.pagination import paginate
from pydantic import Field

from da_platform.files.reading import printable
from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from hits.api.auth import Needs, Scope
from hits.api.field_types import Input, Name
from hits.api.jobs import JobOut
from hits.api.validation import refuse_unknown_fields
from hits.models import Campaign
from hits.people.access import Level, campaign_for, campaigns_of, user_of

from ..evaluation.uploading import (
    GoldReading,
    Reading,
    store_uploaded_gold,
    store_uploaded_judgements,
    store_uploaded_scores,
)
from ..metrics import DEFAULT_METRICS, METRIC_NAMES, TOKENISERS
from ..models import GoldUpload, JudgementUpload, Metric, MetricScore
from ..scores.formats import FORMATS
from ..scores.raw_files import MAX_FILE_BYTES, RawFile
from ..scores.reading import suggestion_for
from ..scores.score_tables import GoldKind
from ..scores.storing import confirm_direction

router = Router(tags=["Metrics"])


class MetricOut(Schema):
    """A metric's scores for a campaign. It cannot be evaluated until its direction is confirmed.

    `suggested` is the direction that its name or format suggests. It has no effect until confirmed.
    """

    code: UUID
    name: str
    level: str
    origin: str
    higher_is_better: bool | None
    suggested: Literal["higher", "lower"] | None
    n_scores: int
    file_name: str
    format: str
    sha256: str
    signature: str
    created_at: datetime

    @staticmethod
    def resolve_suggested(metric: Metric) -> str | None:
        if metric.higher_is_better is not None:
            return None
        suggestion = suggestion_for(metric.name, metric.format)
        return suggestion.word if suggestion else None


class MetricScoreOut(Schema):
    """The score of one output, or of a whole system if the segment is empty."""

    system: str
    segment: str
    score: float


class ScoresIn(Input):
    """Details that the file does not contain, such as its format and the direction of its metrics.

    `ranks` also keeps rankings submitted with the scores.
    """

    format: Literal[FORMATS] | None = None  # type: ignore[valid-type]
    name: Name | None = None
    higher: list[Name] = []
    lower: list[Name] = []
    language_pair: Name | None = None
    testset: Name | None = None
    reference: Name | None = None
    system: Name | None = None
    ranks: bool = False
    replace: bool = False

    @property
    def directions(self) -> dict[str, bool]:
        return dict.fromkeys(self.higher, True) | dict.fromkeys(self.lower, False)

    @property
    def only(self) -> dict[str, str]:
        chosen = self.model_dump(include={"language_pair", "testset", "reference"})
        return {name: value for name, value in chosen.items() if value}

    @property
    def reading(self) -> Reading:
        return Reading(
            format=self.format,
            name=self.name,
            directions=self.directions,
            system=self.system or "",
            only=self.only,
            ranks=self.ranks,
        )


class DirectionIn(Input):
    higher_is_better: bool


class ComputeIn(Input):
    """Metrics to compute. Without `tokenise`, texts are tokenised as usual for their language."""

    names: Annotated[
        list[Literal[METRIC_NAMES]],  # type: ignore[valid-type]
        Field(min_length=1),
    ] = list(DEFAULT_METRICS)
    tokenise: Literal[TOKENISERS] | None = None  # type: ignore[valid-type]


class PostEditionsIn(Input):
    """What to compute from post-editions: scores of metrics, or gold.

    Metrics need a post-edition of every output, unless they may be `partial`. By default, as at WMT's quality estimation tasks, case is ignored
    and error rates above 1 count as 1. Those of the campaign that somebody else has checked are used as the checker
    left them, unless `as_edited` is true.
    """

    names: list[Literal[METRIC_NAMES]] = ["TER"]  # type: ignore[valid-type]
    use: Literal["gold", "metric"] = "gold"
    tokenise: Literal[TOKENISERS] | None = None  # type: ignore[valid-type]
    ignore_case: bool = True
    cap: bool = True
    as_edited: bool = False
    partial: bool = False


class CollectedIn(PostEditionsIn):
    """`post_editions_of` is the campaign whose post-editions are used, of outputs with the same system, segment and text."""

    post_editions_of: UUID | None = None


class GoldUploadOut(Schema):
    """Gold from a file, or computed from post-editions. Evaluations take it by its code."""

    code: UUID
    name: str
    kind: str
    level: str
    higher_is_better: bool
    n_scores: int
    file_name: str
    sha256: str
    signature: str
    created_at: datetime


class JudgementUploadOut(Schema):
    """Judgements from a file. Evaluations take them by their code."""

    code: UUID
    n_judgements: int
    file_name: str
    sha256: str
    created_at: datetime


class GoldUploadIn(Input):
    """What the gold measures and its direction, which is never guessed; and details as for scores.

    `column` chooses one of several columns with gold.
    """

    kind: GoldKind
    higher_is_better: bool
    name: Name | None = None
    column: Name | None = None
    format: Literal[FORMATS] | None = None  # type: ignore[valid-type]
    language_pair: Name | None = None
    testset: Name | None = None
    reference: Name | None = None
    system: Name | None = None
    replace: bool = False

    @property
    def reading(self) -> GoldReading:
        only = self.model_dump(include={"language_pair", "testset", "reference"})
        return GoldReading(
            kind=self.kind,
            higher_is_better=self.higher_is_better,
            format=self.format,
            name=self.name,
            column=self.column,
            system=self.system or "",
            only={role: value for role, value in only.items() if value},
        )


class TargetedOut(Schema):
    """What was stored: either metrics or gold."""

    metrics: list[MetricOut]
    golds: list[GoldUploadOut]


@router.get("/{uuid:code}/metrics", response=list[MetricOut], auth=Needs(Scope.READ))
@paginate
def list_metrics(request: HttpRequest, code: UUID) -> QuerySet[Metric]:
    """List the metrics of a campaign, by name."""
    return Metric.objects.filter(campaign=_campaign(request, code))


@router.post("/{uuid:code}/metrics", response={201: list[MetricOut]}, auth=Needs(Scope.RUN))
def add_scores(
    request: HttpRequest, code: UUID, file: File[UploadedFile], form: Form[ScoresIn]
) -> Status[list[Metric]]:
    """Store the scores in a file. Uploading the same file again changes nothing."""
    assert isinstance(request.user, User)
    campaign = _campaign(request, code)
    refuse_unknown_fields(request, ScoresIn, "file")
    metrics = store_uploaded_scores(
        files=[_raw(file)],
        home=campaign,
        reading=form.reading,
        replace=form.replace,
        uploaded_by=request.user,
    )
    return Status(201, metrics)


@router.post("/{uuid:code}/metrics/compute", response={202: JobOut}, auth=Needs(Scope.RUN))
def compute_metrics(request: HttpRequest, code: UUID, body: ComputeIn) -> Status[Job]:
    """Start a job that computes built-in metrics against the references."""
    assert isinstance(request.user, User)
    job = start_job(
        kind="compute_metrics",
        campaign=_campaign(request, code),
        arguments=body.model_dump(exclude_none=True) | {"names": list(dict.fromkeys(body.names))},
        started_by=request.user,
    )
    return Status(202, job)


@router.post(
    "/{uuid:code}/metrics/post-editions", response={201: TargetedOut}, auth=Needs(Scope.RUN)
)
def add_post_editions(
    request: HttpRequest, code: UUID, file: File[UploadedFile], form: Form[PostEditionsIn]
) -> Status[dict[str, list[Any]]]:
    """Compute human-targeted metrics, such as HTER, from a table of post-editions, and store them."""
    # sacreBLEU is slow to import, and other operations do not need it.
    from ..post_editions.measures import compute_targeted, refuse_too_many

    campaign = _campaign(request, code)
    refuse_unknown_fields(request, PostEditionsIn, "file")
    refuse_too_many(campaign, form.names)
    stored = compute_targeted(
        campaign=campaign,
        post_editions=_raw(file),
        actor=user_of(request),
        **form.model_dump(),
    )
    is_gold = form.use == "gold"
    return Status(201, {"metrics": [] if is_gold else stored, "golds": stored if is_gold else []})


@router.post("/{uuid:code}/metrics/compute-targeted", response={202: JobOut}, auth=Needs(Scope.RUN))
def compute_targeted(request: HttpRequest, code: UUID, body: CollectedIn) -> Status[Job]:
    """Start a job that computes human-targeted metrics from the post-editions collected in the campaign, or in another one."""
    campaign = _campaign(request, code)
    if body.post_editions_of:
        get_object_or_404(campaigns_of(request.user), code=body.post_editions_of)
    arguments = body.model_dump(exclude_none=True, mode="json")
    job = start_job(
        kind="compute_targeted",
        campaign=campaign,
        arguments=arguments | {"names": list(dict.fromkeys(body.names))},
        started_by=user_of(request),
    )
    return Status(202, job)


@router.get("/{uuid:code}/golds", response=list[GoldUploadOut], auth=Needs(Scope.READ))
@paginate
def list_uploaded_gold(request: HttpRequest, code: UUID) -> QuerySet[GoldUpload]:
    """List gold from files or from post-editions, by name. Gold from ratings is listed as gold runs."""
    return GoldUpload.objects.filter(campaign=_campaign(request, code)).defer("table")


@router.post("/{uuid:code}/judgements", response={201: JudgementUploadOut}, auth=Needs(Scope.RUN))
def add_judgements(
    request: HttpRequest, code: UUID, file: File[UploadedFile]
) -> Status[JudgementUpload]:
    """Store judgements: a table with the columns segment, better and worse, without ties.

    Uploading the same file again changes nothing.
    """
    campaign = _campaign(request, code)
    refuse_unknown_fields(request, Input, "file")
    upload = store_uploaded_judgements(file=_raw(file), home=campaign, uploaded_by=user_of(request))
    return Status(201, upload)


@router.post("/{uuid:code}/golds", response={201: list[GoldUploadOut]}, auth=Needs(Scope.RUN))
def add_gold(
    request: HttpRequest,
    code: UUID,
    file: File[UploadedFile],
    form: Form[GoldUploadIn],
    documents: File[UploadedFile | None] = None,
    texts: File[UploadedFile | None] = None,
) -> Status[list[GoldUpload]]:
    """Store the gold in a file. Uploading the same file again changes nothing.

    `documents` and `texts` name the document and the text of each segment, one per line.
    """
    campaign = _campaign(request, code)
    refuse_unknown_fields(request, GoldUploadIn, "file", "documents", "texts")
    stored = store_uploaded_gold(
        files=[_raw(file)],
        home=campaign,
        reading=form.reading,
        documents=None if documents is None else _raw(documents),
        texts=None if texts is None else _raw(texts),
        replace=form.replace,
        uploaded_by=user_of(request),
    )
    return Status(201, stored)


@router.post(
    "/{uuid:code}/metrics/{uuid:metric}/direction",
    response=MetricOut,
    auth=Needs(Scope.RUN),
    operation_id="confirm_direction",
)
def confirm_directions(request: HttpRequest, code: UUID, metric: UUID, body: DirectionIn) -> Metric:
    """Confirm whether higher or lower is better. The platform records who confirmed it."""
    assert isinstance(request.user, User)
    return confirm_direction(
        metric=_metric(request, code, metric),
        higher_is_better=body.higher_is_better,
        actor=request.user,
    )


@router.get(
    "/{uuid:code}/metrics/{uuid:metric}/scores",
    response=list[MetricScoreOut],
    auth=Needs(Scope.READ),
)
@paginate
def list_metric_scores(request: HttpRequest, code: UUID, metric: UUID) -> QuerySet[Any, Any]:
    """List the scores of a metric, in the order of its file."""
    scores = MetricScore.objects.filter(metric=_metric(request, code, metric))
    return scores.order_by("position").values("system", "segment", "score")


def _raw(file: UploadedFile) -> RawFile:
    # One byte more than allowed is enough to refuse a file that is too large.
    name = printable(PurePath(file.name or "scores").name)[:255]
    return RawFile(name, file.read(MAX_FILE_BYTES + 1))


def _campaign(request: HttpRequest, code: UUID) -> Campaign:
    return campaign_for(request.user, code, Level.RESEARCHER)


def _metric(request: HttpRequest, code: UUID, metric: UUID) -> Metric:
    return get_object_or_404(Metric, campaign=_campaign(request, code), code=metric)
