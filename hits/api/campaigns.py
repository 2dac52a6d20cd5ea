"""API: campaigns, their settings, progress, forecast and cost; create, build, open, close and copy them."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import BooleanField
from django.forms.models import model_to_dict
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.datastructures import MultiValueDict
from ninja import File, Form, Query, Router, Schema, Status
from ninja.files import UploadedFile
from ninja.pagination import paginate
from pydantic import BeforeValidator, Field

from analysis.stats.thresholds import ALPHA, FEWEST_LOOKS, LEAST_CHANCE, MOST_LOOKS
from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job

from ..archives.uploading import CollectionForm, import_uploaded
from ..campaigns.costs import Cost, estimate, usual_numbers
from ..campaigns.drafts import import_uploads
from ..campaigns.editing import EDITABLE, duplicate_campaign, edit_campaign, editable_fields
from ..campaigns.forms import (
    BasicsForm,
    EditForm,
    FilesForm,
    InstructionsForm,
    NameForm,
    SettingsForm,
)
from ..campaigns.kept_counts import forecast_of
from ..campaigns.lifecycle import change_status
from ..campaigns.statuses import CampaignStatus, campaign_status, campaign_statuses
from ..models import (
    DEFAULT_HITS_PER_WORKER,
    DEFAULT_RUN_LENGTH,
    FEWEST_OUTPUTS,
    LONGEST_RUN,
    MAX_LEASE_MINUTES,
    MOST_OUTPUTS,
    SHORTEST_RUN,
    Campaign,
    ImportReport,
)
from ..people.access import Level, campaign_for, campaigns_of, has_level, user_of
from ..task_facts import known_tasks, usual_settings
from .auth import Needs, Scope, own_campaign
from .field_types import Input, Line, Money, Name, Text, Total
from .jobs import JobOut
from .pagination import LazyRows
from .validation import FormRefused, checked, refuse_unknown_fields

router = Router(tags=["Campaigns"])

Count = Annotated[int, Field(ge=1, le=32_767)]
# In a form, an empty value stands for null.
Limit = Annotated[Count | None, BeforeValidator(lambda value: None if value == "" else value)]
MAX_SAMPLE = 2**31 - 1
RunLength = Annotated[int, Field(ge=SHORTEST_RUN, le=LONGEST_RUN)]
Judgements = Annotated[int, Field(ge=1, le=MAX_SAMPLE)]
SampleSize = Annotated[
    Annotated[int, Field(ge=1, le=MAX_SAMPLE)] | None,
    BeforeValidator(lambda value: None if value == "" else value),
]
Looks = Annotated[
    Annotated[int, Field(ge=FEWEST_LOOKS, le=MOST_LOOKS)] | None,
    BeforeValidator(lambda value: None if value == "" else value),
]
LooksAlpha = Annotated[float, Field(ge=0.001, le=0.2)]
Width = Annotated[float, Field(ge=0.01, le=2)]
LeastChance = Annotated[float, Field(ge=0, le=0.9)]
Minutes = Annotated[int, Field(ge=1, le=MAX_LEASE_MINUTES)]
Percent = Annotated[Decimal, Field(ge=0, le=100, max_digits=5, decimal_places=2)]


class CampaignOut(Schema):
    """A campaign and its progress.

    Of `n_wanted` assignments, `n_counting` are trusted, leaving out those beyond what their HIT wants.
    """

    code: UUID
    name: str
    status: str
    source_language: str
    target_language: str
    task: str
    seed: int
    n_systems: int
    n_segments: int
    n_translations: int
    n_hits: int
    hit_size: int | None
    n_places_left: int
    n_in_progress: int
    n_submitted: int
    n_counting: int
    n_wanted: int
    n_ratings: int
    # Null if the counts are live; large campaigns in a list show stored counts.
    counted_at: datetime | None


class CampaignFilter(Schema):
    status: Campaign.Status | None = None
    search: Text = ""


class ForecastOut(Schema):
    """The state of a campaign and what is needed to complete it.

    Counts are of assignments, each of which rates every genuine item of its HIT. For a large campaign
    they are stored; `at` says when they were counted.
    """

    at: datetime
    n_wanted: int
    n_counting: int
    n_trusted: int
    n_unproven: int
    n_in_progress: int
    n_discarded: int
    n_missing: int
    pass_rate: float
    is_pass_rate_measured: bool
    is_complete: bool
    done_at: datetime | None


class CostOut(ForecastOut):
    """The forecast with costs, for the campaign's admins."""

    currency: str
    spent: Decimal
    spending_cap: Decimal | None
    n_expected: int
    expected_cost: Decimal
    total_cost: Decimal
    is_stopped_by_cap: bool


class ArchiveIn(Input):
    """A finished collection, what its files are, and whose work counts."""

    name: Name
    source_language: Name
    target_language: Name
    format: Literal["mturk", "wmt-da", "appraise", "appraise-rankings", "wmt-rankings"]
    task: Text = ""
    min_ratings: Count | None = None
    workers_of: Text = ""
    trust: Literal["evidence", "all", "listed"] = "evidence"
    exclude_rejected: bool = False
    reason: Text = ""


class StatusIn(Input):
    status: Campaign.Status


class CampaignIn(Input):
    """A new campaign, how to read its files, and its settings."""

    name: Name
    source_language: Name
    target_language: Name
    task: Literal[tuple(known_tasks())] = Campaign.Task.REFERENCE_ADEQUACY.value  # type: ignore[valid-type]
    reference: Text = ""
    second_reference: Text = ""
    clean: bool = False
    encoding: Text = ""
    ignore_columns: Text = ""
    allow_empty_translations: bool = False
    allow_missing_translations: bool = False
    shows: Campaign.Shows | Literal[""] = ""
    presentation: Campaign.Presentation = Campaign.Presentation.ALONE
    run_length: RunLength = DEFAULT_RUN_LENGTH
    scores_documents: bool = False
    hit_size: Count | None = None
    outputs_per_screen: Annotated[int, Field(ge=FEWEST_OUTPUTS, le=MOST_OUTPUTS)] = MOST_OUTPUTS
    output_choice: Campaign.OutputChoice = Campaign.OutputChoice.RANDOM
    judgements_per_pair: Judgements | None = None
    min_ratings: Count | None = None
    sample_size: SampleSize = None
    sample_choice: Campaign.SampleChoice = Campaign.SampleChoice.RANDOM
    n_looks: Looks = None
    looks_goal: Campaign.Goal = Campaign.Goal.RANKING
    looks_width: Width = 0.25
    looks_alpha: LooksAlpha = ALPHA
    looks_spending: Campaign.Spending = Campaign.Spending.OBRIEN_FLEMING
    looks_least_chance: LeastChance = LEAST_CHANCE
    pay_per_hit: Money = Decimal(0)
    currency: Name = "USD"
    spending_cap: Total | None = None
    lease_minutes: Minutes = 180
    run_by: Line = ""
    contact: Line = ""
    interface_language: Text = ""
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    merges_near_identical: bool = False
    degradation: Campaign.Degradation = Campaign.Degradation.BALANCED
    shows_gray_references: bool = False
    trust_rule: Campaign.TrustRule = Campaign.TrustRule.GUARDED
    drift: Campaign.Drift = Campaign.Drift.COUNT
    max_hits_per_worker: Limit = DEFAULT_HITS_PER_WORKER
    records_signals: bool = True
    has_canary: bool = False


class SettingsIn(Input):
    """Settings to change; omitted ones keep their value."""

    name: Name | None = None
    run_by: Line | None = None
    contact: Line | None = None
    interface_language: Text | None = None
    min_ratings: Count | None = None
    spending_cap: Total | None = None
    lease_minutes: Minutes | None = None
    pay_per_hit: Money | None = None
    currency: Name | None = None
    presentation: Campaign.Presentation | None = None
    run_length: RunLength | None = None
    scores_documents: bool | None = None
    hit_size: Count | None = None
    outputs_per_screen: Annotated[int, Field(ge=FEWEST_OUTPUTS, le=MOST_OUTPUTS)] | None = None
    output_choice: Campaign.OutputChoice | None = None
    judgements_per_pair: Judgements | None = None
    sample_size: Annotated[int, Field(ge=1, le=MAX_SAMPLE)] | None = None
    sample_choice: Campaign.SampleChoice | None = None
    n_looks: Annotated[int, Field(ge=FEWEST_LOOKS, le=MOST_LOOKS)] | None = None
    looks_goal: Campaign.Goal | None = None
    looks_width: Width | None = None
    looks_alpha: LooksAlpha | None = None
    looks_spending: Campaign.Spending | None = None
    looks_least_chance: LeastChance | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    degradation: Campaign.Degradation | None = None
    shows_gray_references: bool | None = None
    trust_rule: Campaign.TrustRule | None = None
    drift: Campaign.Drift | None = None
    max_hits_per_worker: Count | None = None
    records_signals: bool | None = None
    has_canary: bool | None = None


class SettingsOut(Schema):
    """A campaign's settings; `editable` lists those that can still change."""

    name: str
    run_by: str
    contact: str
    interface_language: str
    min_ratings: int
    spending_cap: Decimal | None
    lease_minutes: int
    pay_per_hit: Decimal
    currency: str
    presentation: str
    run_length: int
    scores_documents: bool
    hit_size: int
    outputs_per_screen: int
    output_choice: str
    judgements_per_pair: int | None
    sample_size: int | None
    sample_choice: str
    n_looks: int | None
    looks_goal: str
    looks_width: float
    looks_alpha: float
    looks_spending: str
    looks_least_chance: float
    stopped_at: datetime | None
    seed: int
    merges_near_identical: bool
    degradation: str
    shows_gray_references: bool
    trust_rule: str
    drift: str
    max_hits_per_worker: int | None
    records_signals: bool
    has_canary: bool
    instructions: str
    created_at: datetime
    editable: list[str]

    @staticmethod
    def resolve_editable(campaign: Campaign) -> list[str]:
        return list(editable_fields(campaign))


class MendOut(Schema):
    file: str
    line: int | None
    what: str


class ImportReportOut(Schema):
    """How a campaign's files were read. `mends` lists at most 100,000 of the `n_mends`."""

    options: dict[str, Any]
    notes: list[str]
    n_mends: int
    mends: list[MendOut]

    @staticmethod
    def resolve_mends(report: ImportReport) -> list[dict[str, Any]]:
        return [dict(zip(("file", "line", "what"), mend, strict=True)) for mend in report.mends]


class InstructionsIn(Input):
    instructions: Text


class RoundIn(Input):
    """`n_hits` limits how many HITs are added."""

    n_hits: Count | None = None


class BuildIn(Input):
    """`rebuild` replaces existing HITs, provided that no worker has taken one."""

    rebuild: bool = False


class NameIn(Input):
    name: Name


class EstimateIn(Input):
    """Numbers to try out; omitted ones default to the campaign's. `fee` and `passing` are percentages."""

    pay: Annotated[Decimal, Field(ge=0, le=100, max_digits=8, decimal_places=2)] | None = None
    fee: Percent | None = None
    passing: Annotated[int, Field(ge=5, le=100)] | None = None
    ratings: Annotated[int, Field(ge=1, le=60)] | None = None


class EstimateOut(Schema):
    """The total cost with these numbers, including work that will be discarded.

    Of a campaign with submitted work, that is what was `spent` on `n_so_far` assignments, and what is
    still to come at these numbers.
    """

    n_hits: int
    n_translations: int
    ratings: int
    pay: Decimal
    fee_percent: Decimal
    pass_percent: int
    n_trusted: int
    n_assignments: int
    n_so_far: int
    spent: Decimal
    to_workers: Decimal
    fee: Decimal
    total: Decimal
    per_translation: Decimal


# Progress and status --------------------------------------------------------------------------


@router.get("", response=list[CampaignOut], auth=Needs(Scope.READ))
@paginate
def list_campaigns(
    request: HttpRequest, filters: Query[CampaignFilter]
) -> LazyRows[CampaignStatus]:
    """List the campaigns that you have access to, newest first."""
    campaigns = campaigns_of(request.user)
    if filters.status:
        campaigns = campaigns.filter(status=filters.status)
    return LazyRows(campaigns.filter(name__icontains=filters.search), campaign_statuses)


@router.get("/{uuid:code}", response=CampaignOut, auth=Needs(Scope.READ))
def get_campaign(request: HttpRequest, code: UUID) -> CampaignStatus:
    """Get one campaign."""
    return campaign_status(campaign_for(request.user, code, Level.RESEARCHER))


@router.get("/{uuid:code}/forecast", response=ForecastOut, auth=Needs(Scope.READ))
def get_forecast(request: HttpRequest, code: UUID) -> object:
    """Get what is complete, what is missing, and when it will be done at the current pace."""
    return forecast_of(campaign_for(request.user, code, Level.RESEARCHER))


@router.get("/{uuid:code}/cost", response=CostOut, auth=Needs(Scope.PAY))
def get_cost(request: HttpRequest, code: UUID) -> object:
    """Get the forecast with what has been spent and the expected cost to complete."""
    return forecast_of(own_campaign(request, code))


@router.post("/{uuid:code}/status", response=CampaignOut, auth=Needs(Scope.RUN))
def set_status(request: HttpRequest, code: UUID, payload: StatusIn) -> CampaignStatus:
    """Open, pause or close a campaign. Setting the current status has no effect."""
    campaign = own_campaign(request, code)
    return campaign_status(
        change_status(campaign=campaign, to=payload.status, actor=user_of(request))
    )


@router.get("/{uuid:code}/import-report", response=ImportReportOut, auth=Needs(Scope.READ))
def get_import_report(request: HttpRequest, code: UUID) -> ImportReport:
    """Get how the campaign's files were read, and everything that was mended in them."""
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    return get_object_or_404(ImportReport, campaign=campaign)


# Creating and changing ------------------------------------------------------------------------


@router.post("", response={201: CampaignOut, 202: JobOut}, auth=Needs(Scope.RUN))
def create_campaign(
    request: HttpRequest,
    payload: Form[CampaignIn],
    package: File[UploadedFile | None] = None,
    systems: File[list[UploadedFile]] = [],  # noqa: B006 (never changed)
    sources: File[UploadedFile | None] = None,
    references: File[UploadedFile | None] = None,
    second_references: File[UploadedFile | None] = None,
    documents: File[UploadedFile | None] = None,
    ids: File[UploadedFile | None] = None,
) -> Status[CampaignStatus] | Status[Job]:
    """Create a campaign from one package (a table, a WMT test set, a zipped folder) or from text files.

    Small files are imported at once (201, the campaign), large ones by a job (202) whose result names the
    campaign. If files are refused, the errors list file, line and reason, and nothing is stored.

    `clean` mends byte order marks, CR LF and control characters and normalises texts to NFC, and `encoding`
    says how to read what is not UTF-8; the import report lists what was mended. `ignore_columns` are names
    of columns, separated by commas. With `sample_size`, so many translations are rated, drawn as
    `sample_choice` says.
    """
    actor = user_of(request)
    if not has_level(actor, Level.ADMIN):
        raise PermissionDenied("Only admins of the whole platform may do this.")
    single = {
        "package": package,
        "sources": sources,
        "references": references,
        "second_references": second_references,
        "documents": documents,
        "ids": ids,
    }
    refuse_unknown_fields(request, CampaignIn, "systems", *single)
    files: MultiValueDict[str, Any] = MultiValueDict(
        {name: [file] for name, file in single.items() if file} | {"systems": list(systems)}
    )
    given = {name: value for name, value in payload.model_dump().items() if value is not None}
    values = _form_values(usual_settings(payload.task) | given)
    files_form = FilesForm(values, files)
    basics, _, settings = (
        checked(form)
        for form in (BasicsForm(values), files_form, SettingsForm(values, task=payload.task))
    )
    imported = import_uploads(
        actor=actor,
        basics=basics,
        uploads=files_form.uploads(),
        options=files_form.options(),
        settings=settings,
    )
    if isinstance(imported, Job):
        return Status(202, imported)
    return Status(201, campaign_status(imported))


@router.post("/archives", response={202: JobOut}, auth=Needs(Scope.RUN))
def import_collection(
    request: HttpRequest,
    payload: Form[ArchiveIn],
    file: File[UploadedFile],
    trusted: File[UploadedFile | None] = None,
) -> Status[Job]:
    """Start a job that imports a finished collection of ratings or rankings as a closed campaign.

    `file` is a file of the format, or a zip of several. `trust` says whose work counts: `evidence` (for rankings, everyone's), `all`, or `listed`: the workers in the
    file `trusted`. The result of the job names the campaign.
    """
    actor = user_of(request)
    if not has_level(actor, Level.ADMIN):
        raise PermissionDenied("Only admins of the whole platform may do this.")
    refuse_unknown_fields(request, ArchiveIn, "file", "trusted")
    uploads: MultiValueDict[str, Any] = MultiValueDict({"collection": [file]})
    if trusted:
        uploads["trusted"] = trusted
    form = CollectionForm(_form_values(payload.model_dump()), uploads)
    checked(form)
    return Status(202, import_uploaded(form=form, actor=actor))


def _form_values(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out missing values, as a browser would."""
    return {name: value for name, value in values.items() if value is not None}


@router.post("/{uuid:code}/hits", response={202: JobOut}, auth=Needs(Scope.RUN))
def build_hits(request: HttpRequest, code: UUID, payload: BuildIn) -> Status[Job]:
    """Start a job that builds the campaign's HITs. The same texts and seed give the same HITs."""
    job = start_job(
        kind="build_hits",
        campaign=own_campaign(request, code),
        arguments={"rebuild": payload.rebuild},
        started_by=user_of(request),
    )
    return Status(202, job)


@router.post("/{uuid:code}/rounds", response={202: JobOut}, auth=Needs(Scope.RUN))
def add_round(request: HttpRequest, code: UUID, payload: RoundIn) -> Status[Job]:
    """Start a job that adds HITs to a ranking, for pairs of systems that lack judgements."""
    job = start_job(
        kind="add_round",
        campaign=own_campaign(request, code),
        arguments=payload.model_dump(exclude_none=True),
        started_by=user_of(request),
    )
    return Status(202, job)


@router.get("/{uuid:code}/settings", response=SettingsOut, auth=Needs(Scope.RUN))
def get_settings(request: HttpRequest, code: UUID) -> Campaign:
    """Get a campaign's settings, and which of them can still change."""
    return own_campaign(request, code)


@router.patch("/{uuid:code}/settings", response=SettingsOut, auth=Needs(Scope.RUN))
def change_settings(request: HttpRequest, code: UUID, payload: SettingsIn) -> Campaign:
    """Change settings. If one of them can no longer change, nothing does (409)."""
    campaign = own_campaign(request, code)
    changes = payload.model_dump(exclude_unset=True)
    _refuse_null_switches(changes)
    stored = Campaign.objects.get(pk=campaign.pk)
    values = _form_values(model_to_dict(stored, fields=EDITABLE) | changes)
    form = EditForm(values, instance=stored, editable=EDITABLE)
    if others := changes.keys() - form.fields.keys():
        raise FormRefused({name: ["Not a setting of this task."] for name in sorted(others)})
    cleaned = checked(form)
    changes = {name: cleaned[name] for name in changes}
    edit_campaign(campaign=campaign, actor=user_of(request), changes=changes)
    return campaign


def _refuse_null_switches(changes: dict[str, Any]) -> None:
    # A form would take a missing checkbox for "no".
    nulls = [
        name
        for name, value in changes.items()
        if value is None and isinstance(Campaign._meta.get_field(name), BooleanField)
    ]
    if nulls:
        raise FormRefused({name: ["This is true or false."] for name in nulls})


@router.put("/{uuid:code}/instructions", response=SettingsOut, auth=Needs(Scope.RUN))
def set_instructions(request: HttpRequest, code: UUID, payload: InstructionsIn) -> Campaign:
    """Set the instructions that workers read: plain text, with blank lines between paragraphs."""
    campaign = own_campaign(request, code)
    changes = checked(InstructionsForm(payload.model_dump()))
    edit_campaign(campaign=campaign, actor=user_of(request), changes=changes)
    return campaign


@router.post(
    "/{uuid:code}/duplicate",
    response={201: CampaignOut},
    auth=Needs(Scope.RUN),
    operation_id="duplicate_campaign",
)
def duplicate(request: HttpRequest, code: UUID, payload: NameIn) -> Status[CampaignStatus]:
    """Copy a campaign to a draft with the same texts and settings, a new name and a new seed."""
    campaign = own_campaign(request, code)
    name = checked(NameForm(payload.model_dump()))["name"]
    copy = duplicate_campaign(campaign=campaign, name=name, actor=user_of(request))
    return Status(201, campaign_status(copy))


@router.get("/{uuid:code}/estimate", response=EstimateOut, auth=Needs(Scope.PAY))
def get_estimate(request: HttpRequest, code: UUID, numbers: Query[EstimateIn]) -> Cost:
    """Estimate the cost of the whole campaign with these numbers."""
    campaign = own_campaign(request, code)
    forecast = forecast_of(campaign)
    usual = usual_numbers(campaign, forecast)
    return estimate(campaign, forecast, **usual | numbers.model_dump(exclude_none=True))
