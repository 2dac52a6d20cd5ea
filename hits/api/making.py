"""Campaigns over the API: made from files, given settings, built into HITs, copied, reckoned."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.forms.models import model_to_dict
from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja import File, Form, Query, Schema, Status
from ninja.files import UploadedFile
from pydantic import Field

from analysis.api.jobs import JobOut
from analysis.jobs import start_job
from analysis.models import Job

from ..access import Level, has_level
from ..campaigns.costs import Cost, estimate, usual_numbers
from ..campaigns.creating import import_uploads
from ..campaigns.editing import EDITABLE, duplicate_campaign, edit_campaign, editable_fields
from ..campaigns.forms import (
    BasicsForm,
    EditForm,
    FilesForm,
    InstructionsForm,
    NameForm,
    SettingsForm,
)
from ..campaigns.keeping import forecast_of
from ..campaigns.reporting import CampaignStatus, campaign_status
from ..models import MAX_LEASE_MINUTES, Campaign
from .auth import Needs, Scope
from .campaigns import CampaignOut, router
from .forms import checked
from .texts import Money, Name, Text, Total, caller_of, own_campaign

Count = Annotated[int, Field(ge=1, le=32_767)]
Minutes = Annotated[int, Field(ge=1, le=MAX_LEASE_MINUTES)]
Percent = Annotated[Decimal, Field(ge=0, le=100, max_digits=5, decimal_places=2)]


class CampaignIn(Schema):
    """What a campaign is, how its files are read, and its settings; the last two have defaults."""

    name: Name
    source_language: Name
    target_language: Name
    task: Campaign.Task = Campaign.Task.REFERENCE_ADEQUACY
    reference: Text = ""
    allow_empty_translations: bool = False
    hit_size: Count = 100
    min_ratings: Count = 15
    pay_per_hit: Money = Decimal(0)
    currency: Name = "USD"
    spending_cap: Total | None = None
    lease_minutes: Minutes = 180
    interface_language: Text = ""
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    merges_near_identical: bool = False


class SettingsIn(Schema):
    """Settings to change; those left out stay."""

    name: Name | None = None
    interface_language: Text | None = None
    min_ratings: Count | None = None
    spending_cap: Total | None = None
    lease_minutes: Minutes | None = None
    pay_per_hit: Money | None = None
    currency: Name | None = None
    hit_size: Count | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None


class SettingsOut(Schema):
    """The settings of a campaign; `editable` names those that may still change."""

    name: str
    interface_language: str
    min_ratings: int
    spending_cap: Decimal | None
    lease_minutes: int
    pay_per_hit: Decimal
    currency: str
    hit_size: int
    seed: int
    merges_near_identical: bool
    instructions: str
    created_at: datetime
    editable: list[str]

    @staticmethod
    def resolve_editable(campaign: Campaign) -> list[str]:
        return list(editable_fields(campaign))


class InstructionsIn(Schema):
    instructions: Text


class BuildIn(Schema):
    """`rebuild` replaces HITs that nobody has taken yet."""

    rebuild: bool = False


class NameIn(Schema):
    name: Name


class EstimateIn(Schema):
    """Numbers to play with; one left out is the campaign's own. `fee` and `passing` are percentages."""

    pay: Annotated[Decimal, Field(ge=0, le=100, max_digits=8, decimal_places=2)] | None = None
    fee: Percent | None = None
    passing: Annotated[int, Field(ge=5, le=100)] | None = None
    ratings: Annotated[int, Field(ge=1, le=60)] | None = None


class EstimateOut(Schema):
    """What the campaign costs with these numbers, work that will be discarded included."""

    n_hits: int
    n_translations: int
    ratings: int
    pay: Decimal
    fee_percent: Decimal
    pass_percent: int
    n_trusted: int
    n_assignments: int
    to_workers: Decimal
    fee: Decimal
    total: Decimal
    per_translation: Decimal


@router.post("", response={201: CampaignOut, 202: JobOut}, auth=Needs(Scope.RUN))
def create_campaign(
    request: HttpRequest,
    wanted: Form[CampaignIn],
    package: File[UploadedFile | None] = None,
    systems: File[list[UploadedFile]] = [],  # noqa: B006 (never changed)
    sources: File[UploadedFile | None] = None,
    references: File[UploadedFile | None] = None,
    documents: File[UploadedFile | None] = None,
    ids: File[UploadedFile | None] = None,
) -> Status[CampaignStatus] | Status[Job]:
    """Make a campaign: of one package (a table, a WMT test set, a zip of a folder), or of text files.

    Small files are read at once (201, the campaign). Large ones are imported by a job (202), whose result
    names the campaign. Files that are refused are told by file, line and reason, and nothing is stored.
    """
    actor = caller_of(request)
    if not has_level(actor, Level.ADMIN):
        raise PermissionDenied("This needs an admin of the whole platform.")
    lines = {"sources": sources, "references": references, "documents": documents, "ids": ids}
    single = {"package": package, **lines}
    files: MultiValueDict[str, Any] = MultiValueDict(
        {name: [file] for name, file in single.items() if file} | {"systems": list(systems)}
    )
    values = _form_values(wanted.model_dump())
    files_form = FilesForm(values, files)
    basics, _, settings = (
        checked(form) for form in (BasicsForm(values), files_form, SettingsForm(values))
    )
    made = import_uploads(
        actor=actor,
        basics=basics,
        uploads=files_form.uploads(),
        options=files_form.options(),
        settings=settings,
    )
    return Status(202, made) if isinstance(made, Job) else Status(201, campaign_status(made))


def _form_values(values: dict[str, Any]) -> dict[str, Any]:
    """As a browser would send them: what is not there is left out."""
    return {name: value for name, value in values.items() if value is not None}


@router.post("/{uuid:code}/hits", response={202: JobOut}, auth=Needs(Scope.RUN))
def build_hits(request: HttpRequest, code: UUID, wanted: BuildIn) -> Status[Job]:
    """Start a job that builds the campaign's HITs. The same texts and seed give the same HITs."""
    job = start_job(
        kind="build_hits",
        campaign=own_campaign(request, code),
        arguments={"rebuild": wanted.rebuild},
        started_by=caller_of(request),
    )
    return Status(202, job)


@router.get("/{uuid:code}/settings", response=SettingsOut, auth=Needs(Scope.RUN))
def get_settings(request: HttpRequest, code: UUID) -> Campaign:
    """The settings of a campaign, and which of them may still change."""
    return own_campaign(request, code)


@router.patch("/{uuid:code}/settings", response=SettingsOut, auth=Needs(Scope.RUN))
def change_settings(request: HttpRequest, code: UUID, wanted: SettingsIn) -> Campaign:
    """Change settings. One that may not change any more is refused (409), and then nothing changes."""
    campaign = own_campaign(request, code)
    sent = wanted.model_dump(exclude_unset=True)
    stored = Campaign.objects.get(pk=campaign.pk)
    values = _form_values(model_to_dict(stored, fields=EDITABLE) | sent)
    given = checked(EditForm(values, instance=stored, editable=EDITABLE))
    changes = {name: given[name] for name in sent}
    edit_campaign(campaign=campaign, actor=caller_of(request), changes=changes)
    return campaign


@router.put("/{uuid:code}/instructions", response=SettingsOut, auth=Needs(Scope.RUN))
def set_instructions(request: HttpRequest, code: UUID, wanted: InstructionsIn) -> Campaign:
    """Say what workers read before they begin: plain text, paragraphs between blank lines."""
    campaign = own_campaign(request, code)
    changes = checked(InstructionsForm(wanted.model_dump()))
    edit_campaign(campaign=campaign, actor=caller_of(request), changes=changes)
    return campaign


@router.post("/{uuid:code}/duplicate", response={201: CampaignOut}, auth=Needs(Scope.RUN))
def duplicate(request: HttpRequest, code: UUID, wanted: NameIn) -> Status[CampaignStatus]:
    """Make a draft with the same texts and settings, a new name and a seed of its own."""
    campaign = own_campaign(request, code)
    name = checked(NameForm(wanted.model_dump()))["name"]
    copy = duplicate_campaign(campaign=campaign, name=name, actor=caller_of(request))
    return Status(201, campaign_status(copy))


@router.get("/{uuid:code}/estimate", response=EstimateOut, auth=Needs(Scope.PAY))
def get_estimate(request: HttpRequest, code: UUID, wanted: Query[EstimateIn]) -> Cost:
    """What the whole campaign costs with these numbers, to play with before money is spent."""
    campaign = own_campaign(request, code)
    usual = usual_numbers(campaign, forecast_of(campaign).pass_rate)
    return estimate(campaign, **usual | wanted.model_dump(exclude_none=True))
