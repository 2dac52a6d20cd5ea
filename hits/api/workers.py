"""API: workers, the evidence about them, and decisions."""

from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from ninja.pagination import paginate
from pydantic import Field

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job

from ..models import Assignment, Evidence
from ..people.access import user_of
from ..workers.deciding import Choice, Decided, Preview, decide_as_seen, preview_decision
from ..workers.forms import MAX_REASON_LENGTH, MAX_SEARCH_LENGTH, MAX_WORKERS_OF_A_PROGRAM
from ..workers.groups import Companion, Group, groups_of
from ..workers.reading import (
    DEFAULT_SORT,
    FLAGS,
    HELD,
    SORTS,
    STATES,
    WorkerFilters,
    WorkerRow,
    assignments_of,
    found_workers,
    participation_of,
    participations_of,
    worker_rows,
)
from ..workers.signals import Advice, advice_about
from .auth import Needs, Scope, own_campaign
from .field_types import Input, Reason, Text
from .jobs import JobOut
from .pagination import LazyRows, all_or_404

router = Router(tags=["Workers"])

# A minus reverses the order, as in the URLs of the page.
Sort: Any = Literal[tuple(sign + name for name in SORTS for sign in ("", "-"))]


class EvidenceOut(Schema):
    """Evidence from a worker's ratings. Fields that need more pairs are null.

    `details` are what only some kinds of task have: of rankings, how often degraded outputs were ranked last or best,
    skipped screens, and kappa with the worker's own repeats and with others.
    """

    computed_at: datetime
    origin: str
    verdict: str
    n_hits: int
    n_pairs: int
    mean_difference: float | None
    t: float | None
    p: float | None
    wilcoxon_p: float | None
    n_repeats: int
    repeat_mean_difference: float | None
    repeat_mean_absolute_difference: float | None
    repeat_p: float | None
    window_n_pairs: int
    window_p: float | None
    mean_genuine: float | None
    mean_bad_reference: float | None
    mean_reference: float | None
    fastest_hit_seconds: float | None
    longest_run: int
    n_rejected: int
    n_agreement_items: int
    agreement_r: float | None
    agreement_p: float | None
    likeness_measure: str
    likeness_r: float | None
    median_gap_seconds: float | None
    share_fast: float | None
    claimed_seconds: float | None
    passed_seconds: float | None
    n_held_hits: int
    drifted_at: datetime | None
    details: dict[str, Any]
    flags: list[str]
    signature: str

    @staticmethod
    def resolve_flags(evidence: Evidence) -> list[str]:
        return [name for name, column in FLAGS.items() if getattr(evidence, column)]


class WorkerOut(Schema):
    """A worker in the campaign; `state` is the decision of an admin or else the evidence.

    `n_held` counts HITs that are held for a decision.
    """

    code: UUID = Field(alias="participation.worker.code")
    provider: str = Field(alias="participation.worker.provider")
    external_id: str = Field(alias="participation.worker.external_id")
    state: str
    trust: str = Field(alias="participation.trust")
    decision: str = Field(alias="participation.decision")
    decision_reason: str = Field(alias="participation.decision_reason")
    consented_at: datetime | None = Field(alias="participation.consented_at")
    qualified_at: datetime | None = Field(alias="participation.qualified_at")
    last_active: datetime | None
    n_held: int
    evidence: EvidenceOut | None


class AssignmentOut(Schema):
    code: UUID
    status: str
    started_at: datetime
    submitted_at: datetime | None
    is_rejected: bool
    comment: str


class WorkerFilter(Schema):
    """Filters as on the page: `decision` is who decided, `flag` a flag, `held` (HITs held) or `none`."""

    search: Annotated[Text, Field(max_length=MAX_SEARCH_LENGTH)] = ""
    state: Literal["", *STATES] = ""  # type: ignore[valid-type]
    flag: Literal["", *FLAGS, HELD, "none"] = ""  # type: ignore[valid-type]
    decision: Literal["", "person", "evidence"] = ""
    sort: Sort = DEFAULT_SORT


class ChoiceIn(Input):
    choice: Choice
    workers: Annotated[list[UUID], Field(min_length=1, max_length=MAX_WORKERS_OF_A_PROGRAM)]


class Confirmation(Input):
    """`seen` is the fingerprint of the preview."""

    reason: Annotated[Reason, Field(max_length=MAX_REASON_LENGTH)]
    seen: Annotated[Text, Field(max_length=64)]


class DecisionIn(ChoiceIn, Confirmation):
    pass


class SideOut(Schema):
    """A side of the evidence: whether it `decides`, `holds` HITs or `advises`, and what it says.

    `stance` is `for` or `against` the worker, `undecided` or `silent`. For advice, `against` means that the
    sign is there, and `trusted` says how many trusted workers have it.
    """

    name: str
    weight: str
    stance: str
    text: str
    trusted: str


class ChangeOut(Schema):
    worker: UUID = Field(alias="participation.worker.code")
    before: str
    after: str
    is_new: bool
    n_hits: int
    sides: list[SideOut]


class GoldEffectOut(Schema):
    n_translations_lost: int
    n_segments_lost: int
    n_translations_won: int
    n_segments_won: int


class PreviewOut(Schema):
    """The effect of a decision on gold, places and costs. Nothing has been changed."""

    choice: str
    changes: list[ChangeOut]
    minimum: int
    gold: GoldEffectOut
    n_places_opened: int
    n_places_closed: int
    n_expected: int
    expected_cost: Decimal
    currency: str
    n_hits_owed: int
    amount_owed: Decimal
    is_over_cap: bool
    fingerprint: str


class SharedSignOut(Schema):
    """What workers share, how many pairs of the group share it, and the numbers of one of them."""

    sign: str
    n_pairs: int
    example: str


class GroupOut(Schema):
    """Workers who seem to move together. Advice, never a verdict."""

    workers: list[UUID]
    signs: list[SharedSignOut]
    n_trusted: int

    @staticmethod
    def resolve_workers(group: Group) -> list[UUID]:
        return [worker.code for worker in group.workers]


class SignRateOut(Schema):
    """How many pairs of trusted workers show a sign, out of those compared."""

    sign: str
    n_showing: int
    n_compared: int


class SignalSignOut(Schema):
    """In how many HITs a worker shows a sign, and how many of the other trusted workers ever do."""

    name: str
    label: str
    n_hits: int
    n_recorded: int
    n_trusted_showing: int
    n_trusted: int


class CompanionOut(Schema):
    """Another worker who shares signs with this one, each with its numbers in words."""

    worker: UUID = Field(alias="worker.code")
    signs: dict[str, str]

    @staticmethod
    def resolve_signs(companion: Companion) -> dict[str, str]:
        return {str(sign): words for sign, words in companion.signs}


class AdviceOut(Schema):
    """How a worker worked, apart from the scores. Advice, never a verdict.

    `is_compared` is false if the workers of a large campaign have not been compared recently: list the groups first.
    """

    is_recorded: bool
    signs: list[SignalSignOut]
    means: dict[str, float]
    is_compared: bool
    companions: list[CompanionOut]
    rates: list[SignRateOut]


class DecidedOut(Schema):
    """`n_decided` workers were changed; `n_changed` were skipped, since someone else or new evidence
    changed them at the same time."""

    n_decided: int
    n_changed: int


@router.get("/{uuid:code}/workers", response=list[WorkerOut], auth=Needs(Scope.DECIDE))
@paginate
def list_workers(
    request: HttpRequest, code: UUID, filters: Query[WorkerFilter]
) -> LazyRows[WorkerRow]:
    """List a campaign's workers with their latest evidence, filtered and sorted."""
    campaign = own_campaign(request, code)
    workers = found_workers(campaign, WorkerFilters(**filters.model_dump()))
    return LazyRows(workers, partial(worker_rows, campaign))


@router.post(
    "/{uuid:code}/workers/preview",
    response=PreviewOut,
    auth=Needs(Scope.DECIDE),
    operation_id="preview_decision",
)
def preview(request: HttpRequest, code: UUID, payload: ChoiceIn) -> Preview:
    """Show what a decision about these workers would do, without applying it."""
    campaign = own_campaign(request, code)
    participations = all_or_404(participations_of(campaign, payload.workers), payload.workers)
    return preview_decision(campaign=campaign, participations=participations, choice=payload.choice)


@router.post("/{uuid:code}/workers/decide", response=DecidedOut, auth=Needs(Scope.DECIDE))
def decide(request: HttpRequest, code: UUID, payload: DecisionIn) -> Decided:
    """Apply a decision as previewed. If a worker's state has changed since, nothing is applied (409)."""
    campaign = own_campaign(request, code)
    return decide_as_seen(
        campaign=campaign,
        preview=preview(request, code, payload),
        seen=payload.seen,
        actor=user_of(request),
        reason=payload.reason,
    )


@router.post("/{uuid:code}/workers/recompute", response={202: JobOut}, auth=Needs(Scope.DECIDE))
def recompute_workers(request: HttpRequest, code: UUID) -> Status[Job]:
    """Start a job that recomputes the evidence and trust of all workers from their ratings."""
    campaign = own_campaign(request, code)
    job = start_job(kind="recompute_workers", campaign=campaign, started_by=user_of(request))
    return Status(202, job)


@router.get("/{uuid:code}/workers/groups", response=list[GroupOut], auth=Needs(Scope.DECIDE))
@paginate
def list_worker_groups(request: HttpRequest, code: UUID) -> list[Group]:
    """List workers who share a browser, a network, scores or a rhythm; those with the most signs first."""
    return groups_of(own_campaign(request, code)).groups


@router.get(
    "/{uuid:code}/workers/{uuid:worker}/signals", response=AdviceOut, auth=Needs(Scope.DECIDE)
)
def get_worker_signals(request: HttpRequest, code: UUID, worker: UUID) -> Advice:
    """Get what the browser showed while this worker rated, next to how often trusted workers show the same."""
    return advice_about(participation_of(own_campaign(request, code), worker))


@router.get("/{uuid:code}/workers/{uuid:worker}", response=WorkerOut, auth=Needs(Scope.DECIDE))
def get_worker(request: HttpRequest, code: UUID, worker: UUID) -> WorkerRow:
    """Get one worker with their latest evidence."""
    campaign = own_campaign(request, code)
    return worker_rows(campaign, [participation_of(campaign, worker)])[0]


@router.get(
    "/{uuid:code}/workers/{uuid:worker}/evidence",
    response=list[EvidenceOut],
    auth=Needs(Scope.DECIDE),
)
@paginate
def list_evidence(request: HttpRequest, code: UUID, worker: UUID) -> QuerySet[Evidence]:
    """List all evidence about a worker in this campaign, newest first."""
    return participation_of(own_campaign(request, code), worker).evidence.order_by("-pk")


@router.get(
    "/{uuid:code}/workers/{uuid:worker}/assignments",
    response=list[AssignmentOut],
    auth=Needs(Scope.DECIDE),
)
@paginate
def list_assignments(request: HttpRequest, code: UUID, worker: UUID) -> QuerySet[Assignment]:
    """List the HITs that a worker took in this campaign, newest first."""
    return assignments_of(participation_of(own_campaign(request, code), worker))
