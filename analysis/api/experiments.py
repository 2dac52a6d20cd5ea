"""API: experiments on uploaded files."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import File, Form, Query, Router, Schema, Status
from ninja.files import UploadedFile
from ninja.pagination import paginate
from pydantic import Field, Json

from da_platform.jobs.models import Job
from da_platform.plots.rendering import CONTENT_TYPES
from da_platform.plots.responses import picture_file
from hits.api.auth import Needs, Scope
from hits.api.campaigns import CampaignOut
from hits.api.field_types import Input, Name, file_response
from hits.api.jobs import JobOut
from hits.api.validation import checked, refuse_unknown_fields
from hits.campaigns.statuses import CampaignStatus, campaign_status
from hits.models import Campaign
from hits.people.access import Level, campaign_for, has_level, is_member, user_of

from ..evaluation.result_page import TABLE_TYPES
from ..evaluation.uploading import raw_files
from ..experiments.base import ExperimentKind, Result
from ..experiments.catalogue import KINDS
from ..experiments.responses import picture_named, pictures_of, report_response, table_response
from ..experiments.storing import (
    LONGEST_NAME,
    delete_experiment,
    may_change,
    rename_experiment,
    start_experiment,
    visible_experiments,
)
from ..experiments.to_campaigns import TASKS, CampaignForm, can_be_rated, create_campaign
from ..models import Experiment
from .results import PictureFormat

router = Router(tags=["Experiments"])


class ExperimentIn(Input):
    """The kind and name of an experiment. `options` is a JSON object; each kind has its own options.

    Codes of campaigns replace uploads: of outputs, of what people concluded about systems, or of post-editions.
    """

    kind: Literal[tuple(KINDS)]  # type: ignore[valid-type]
    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    options: Json[dict[str, Any]] = {}
    outputs_campaign: UUID | None = None
    human_campaign: UUID | None = None
    fallback_campaign: UUID | None = None
    edited_campaign: UUID | None = None


class CampaignOfExperimentIn(Input):
    """A campaign of an experiment's outputs. Name and source language default to the experiment's."""

    task: Literal[tuple(map(str, TASKS))] = Campaign.Task.REFERENCE_ADEQUACY.value  # type: ignore[valid-type]
    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)] | None = None
    source_language: str | None = None


class NameIn(Input):
    """The new name of an experiment."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]


class ExperimentOut(Schema):
    """An experiment. Its job shows the progress."""

    code: UUID
    kind: str
    name: str
    options: dict[str, Any]
    job: UUID | None
    created_at: datetime

    @staticmethod
    def resolve_job(experiment: Experiment) -> UUID | None:
        return experiment.job.code if experiment.job else None


class ExperimentResultOut(ExperimentOut):
    """An experiment with its full result, which is null until the job is done."""

    result: dict[str, Any] | None
    tables: list[str]
    pictures: list[str]

    @staticmethod
    def resolve_tables(experiment: Experiment) -> list[str]:
        if experiment.result is None:
            return []
        kind = KINDS[experiment.kind]
        tables = [*kind.tables(experiment.result), *kind.long_tables(experiment.result)]
        return [table.name for table in tables]

    @staticmethod
    def resolve_pictures(experiment: Experiment) -> list[str]:
        if experiment.result is None:
            return []
        return [each.name for each in pictures_of(KINDS[experiment.kind], experiment.result)]


@router.get("", response=list[ExperimentOut], auth=Needs(Scope.READ))
@paginate
def list_experiments(request: HttpRequest) -> QuerySet[Experiment]:
    """List your experiments, newest first; platform researchers see all of them."""
    return visible_experiments(user_of(request)).defer("result")


@router.post("", response={202: ExperimentOut}, auth=Needs(Scope.RUN))
def start_experiment_on_files(
    request: HttpRequest,
    form: Form[ExperimentIn],
    submissions: File[list[UploadedFile]] = [],  # noqa: B006
    outputs: File[list[UploadedFile]] = [],  # noqa: B006
    before: File[UploadedFile | None] = None,
    references: File[UploadedFile | None] = None,
    sources: File[UploadedFile | None] = None,
    gold: File[UploadedFile | None] = None,
    texts: File[UploadedFile | None] = None,
    post_editions: File[UploadedFile | None] = None,
    spans: File[UploadedFile | None] = None,
    human: File[UploadedFile | None] = None,
    fallback: File[UploadedFile | None] = None,
) -> Status[Experiment]:
    """Store an experiment with its files and start its job. What each file is for depends on the kind."""
    if not is_member(user_of(request)):
        raise PermissionDenied
    several = {"submissions": submissions, "outputs": outputs}
    single = {
        "gold": gold,
        "texts": texts,
        "post_editions": post_editions,
        "spans": spans,
        "references": references,
        "before": before,
        "sources": sources,
        "human": human,
        "fallback": fallback,
    }
    refuse_unknown_fields(request, ExperimentIn, *several, *single)
    chosen = [(role, file) for role, files in several.items() for file in files]
    chosen += [(role, file) for role, file in single.items() if file is not None]
    inputs: dict[str, list[Any]] = {}
    for (role, _), raw in zip(chosen, raw_files([file for _, file in chosen]), strict=True):
        inputs.setdefault(role, []).append(raw)
    codes = form.model_dump(exclude_none=True, exclude={"kind", "name", "options"})
    experiment = start_experiment(
        kind=form.kind,
        name=form.name,
        inputs=inputs,
        given=form.options,
        owner=user_of(request),
        campaigns={
            name: campaign_for(request.user, code, Level.RESEARCHER) for name, code in codes.items()
        },
    )
    return Status(202, experiment)


@router.post(
    "/{uuid:experiment}/campaign",
    response={201: CampaignOut, 202: JobOut},
    auth=Needs(Scope.RUN),
)
def start_campaign_of_experiment(
    request: HttpRequest, experiment: UUID, body: CampaignOfExperimentIn
) -> Status[CampaignStatus] | Status[Job]:
    """Create a campaign of an experiment's outputs (201), or start a job for it if it is large (202)."""
    actor = user_of(request)
    if not has_level(actor, Level.ADMIN):
        raise PermissionDenied("Only admins of the whole platform may do this.")
    stored = get_experiment(request, experiment)
    if not can_be_rated(stored):
        raise Http404("This experiment has no outputs that people could rate.")
    values = {"name": stored.name, "source_language": stored.options["source_language"]}
    form = CampaignForm(values | body.model_dump(exclude_none=True), experiment=stored)
    checked(form)
    created = create_campaign(experiment=stored, basics=form.basics(), actor=actor)
    if isinstance(created, Job):
        return Status(202, created)
    return Status(201, campaign_status(created))


@router.get("/{uuid:experiment}", response=ExperimentResultOut, auth=Needs(Scope.READ))
def get_experiment(request: HttpRequest, experiment: UUID) -> Experiment:
    """Return one experiment with its full result, and the names of its tables and pictures."""
    return get_object_or_404(visible_experiments(user_of(request)), code=experiment)


@router.patch("/{uuid:experiment}", response=ExperimentOut, auth=Needs(Scope.RUN))
def rename_stored_experiment(request: HttpRequest, experiment: UUID, payload: NameIn) -> Experiment:
    """Rename one of your experiments; platform admins may rename any."""
    stored = _changeable(request, experiment)
    rename_experiment(experiment=stored, name=payload.name)
    return stored


@router.delete("/{uuid:experiment}", response=ExperimentOut, auth=Needs(Scope.RUN))
def delete_stored_experiment(request: HttpRequest, experiment: UUID) -> Experiment:
    """Delete one of your experiments with its files and result, and return what it was; platform admins may delete any."""
    stored = _changeable(request, experiment)
    delete_experiment(experiment=stored, actor=user_of(request))
    return stored


def _changeable(request: HttpRequest, code: UUID) -> Experiment:
    stored = get_experiment(request, code)
    if not may_change(user_of(request), stored):
        raise PermissionDenied("Only its owner and platform admins may do this.")
    return stored


@router.get(
    "/{uuid:experiment}/report",
    auth=Needs(Scope.READ),
    openapi_extra=file_response("application/zip"),
)
def download_experiment_report(request: HttpRequest, experiment: UUID) -> HttpResponse:
    """Download the report as a zip: tables, figures, data, all numbers, and outputs as files of a campaign."""
    return report_response(_finished(request, experiment)[0])


@router.get(
    "/{uuid:experiment}/tables/{name}",
    auth=Needs(Scope.READ),
    openapi_extra=file_response(*TABLE_TYPES.values()),
)
def download_experiment_table(
    request: HttpRequest,
    experiment: UUID,
    name: Name,
    format: Query[Literal["csv", "tex", "md"]] = "csv",
) -> HttpResponse:
    """Download a table as CSV with all digits, as LaTeX or as Markdown."""
    return table_response(*_finished(request, experiment)[1:], name, format)


@router.get(
    "/{uuid:experiment}/pictures/{name}",
    auth=Needs(Scope.READ),
    openapi_extra=file_response(*CONTENT_TYPES.values()),
)
def download_experiment_picture(
    request: HttpRequest,
    experiment: UUID,
    name: Name,
    format: Query[PictureFormat] = "svg",
) -> HttpResponse:
    """Download a figure, or its data as CSV."""
    stored, kind, result = _finished(request, experiment)
    return picture_file(picture_named(kind, result, name), format, key=stored.code.hex)


def _finished(request: HttpRequest, code: UUID) -> tuple[Experiment, ExperimentKind, Result]:
    stored = get_experiment(request, code)
    if stored.result is None:
        raise Http404("The experiment is not finished.")
    return stored, KINDS[stored.kind], stored.result
