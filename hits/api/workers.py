"""Workers over the API: who rates, what their ratings say of them, and deciding on them."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from ninja import Query, Router, Schema, Status
from ninja.pagination import paginate
from pydantic import Field

from analysis.api.jobs import JobOut
from analysis.jobs import start_job
from analysis.models import Job

from ..models import Assignment, Campaign, Evidence, Participation
from ..workers.deciding import Choice, Decided, Preview, decide_as_seen, preview_decision
from ..workers.forms import MAX_REASON_LENGTH, MAX_SEARCH_LENGTH, MAX_WORKERS_OF_A_PROGRAM
from ..workers.reading import (
    DEFAULT_SORT,
    FLAGS,
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
from .auth import Needs, Scope
from .paging import ReadRows
from .texts import Reason, Text, caller_of, own_campaign

router = Router(tags=["Workers"])

# As in the addresses of the page: a minus turns the order round.
Sort: Any = Literal[tuple(sign + name for name in SORTS for sign in ("", "-"))]


class EvidenceOut(Schema):
    """What a worker's ratings said at a moment. What too few pairs could not tell is empty."""

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
    flags: list[str]
    signature: str

    @staticmethod
    def resolve_flags(evidence: Evidence) -> list[str]:
        return [name for name, column in FLAGS.items() if getattr(evidence, column)]


class WorkerOut(Schema):
    """A worker in the campaign: `state` is what holds, a person's decision or else the evidence."""

    code: UUID
    provider: str
    external_id: str
    state: str
    trust: str
    decision: str
    decision_reason: str
    consented_at: datetime | None
    qualified_at: datetime | None
    last_active: datetime | None
    evidence: EvidenceOut | None

    @staticmethod
    def resolve_code(row: WorkerRow) -> UUID:
        return row.participation.worker.code

    @staticmethod
    def resolve_provider(row: WorkerRow) -> str:
        return row.participation.worker.provider

    @staticmethod
    def resolve_external_id(row: WorkerRow) -> str:
        return row.participation.worker.external_id

    @staticmethod
    def resolve_trust(row: WorkerRow) -> str:
        return row.participation.trust

    @staticmethod
    def resolve_decision(row: WorkerRow) -> str:
        return row.participation.decision

    @staticmethod
    def resolve_decision_reason(row: WorkerRow) -> str:
        return row.participation.decision_reason

    @staticmethod
    def resolve_consented_at(row: WorkerRow) -> datetime | None:
        return row.participation.consented_at

    @staticmethod
    def resolve_qualified_at(row: WorkerRow) -> datetime | None:
        return row.participation.qualified_at


class AssignmentOut(Schema):
    code: UUID
    status: str
    started_at: datetime
    submitted_at: datetime | None
    is_rejected: bool
    comment: str


class WorkerFilter(Schema):
    """As on the page: `decision` asks who decided, `flag` may be none."""

    search: Annotated[Text, Field(max_length=MAX_SEARCH_LENGTH)] = ""
    state: Literal["", *STATES] = ""  # type: ignore[valid-type]
    flag: Literal["", *FLAGS, "none"] = ""  # type: ignore[valid-type]
    decision: Literal["", "person", "evidence"] = ""
    sort: Sort = DEFAULT_SORT


class ChoiceIn(Schema):
    choice: Choice
    workers: Annotated[list[UUID], Field(min_length=1, max_length=MAX_WORKERS_OF_A_PROGRAM)]


class DecisionIn(ChoiceIn):
    """`seen` is the fingerprint of the preview that was looked at."""

    reason: Annotated[Reason, Field(max_length=MAX_REASON_LENGTH)]
    seen: Annotated[Text, Field(max_length=64)]


class ChangeOut(Schema):
    worker: UUID
    before: str
    after: str
    is_new: bool
    n_hits: int

    @staticmethod
    def resolve_worker(change: Any) -> UUID:
        code: UUID = change.participation.worker.code
        return code


class GoldEffectOut(Schema):
    n_translations_lost: int
    n_segments_lost: int
    n_translations_won: int
    n_segments_won: int


class PreviewOut(Schema):
    """What a decision would do to gold, places and money. Nothing has been done."""

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


class DecidedOut(Schema):
    """About how many workers there was something to decide; `n_changed` were decided about by somebody
    else at the same moment, or changed by their evidence, and left alone."""

    n_decided: int
    n_changed: int


@router.get("/{uuid:code}/workers", response=list[WorkerOut], auth=Needs(Scope.DECIDE))
@paginate
def list_workers(
    request: HttpRequest, code: UUID, filters: Query[WorkerFilter]
) -> ReadRows[WorkerRow]:
    """The workers of a campaign with their latest evidence, narrowed down and sorted."""
    campaign = own_campaign(request, code)
    found = found_workers(campaign, WorkerFilters(**filters.model_dump()))
    return ReadRows(found, partial(worker_rows, campaign))


@router.post("/{uuid:code}/workers/preview", response=PreviewOut, auth=Needs(Scope.DECIDE))
def preview(request: HttpRequest, code: UUID, wanted: ChoiceIn) -> Preview:
    """Say what a decision about these workers would do, and do none of it."""
    campaign = own_campaign(request, code)
    participations = _participations(campaign, wanted.workers)
    return preview_decision(campaign=campaign, participations=participations, choice=wanted.choice)


@router.post("/{uuid:code}/workers/decide", response=DecidedOut, auth=Needs(Scope.DECIDE))
def decide(request: HttpRequest, code: UUID, wanted: DecisionIn) -> Decided:
    """Decide about workers as previewed. If a state changed since, nothing is decided (409)."""
    campaign = own_campaign(request, code)
    return decide_as_seen(
        campaign=campaign,
        preview=preview(request, code, wanted),
        seen=wanted.seen,
        actor=caller_of(request),
        reason=wanted.reason,
    )


@router.post("/{uuid:code}/workers/recompute", response={202: JobOut}, auth=Needs(Scope.DECIDE))
def recompute(request: HttpRequest, code: UUID) -> Status[Job]:
    """Start a job that judges all workers anew from their ratings alone."""
    campaign = own_campaign(request, code)
    job = start_job(kind="recompute_workers", campaign=campaign, started_by=caller_of(request))
    return Status(202, job)


@router.get("/{uuid:code}/workers/{uuid:worker}", response=WorkerOut, auth=Needs(Scope.DECIDE))
def get_worker(request: HttpRequest, code: UUID, worker: UUID) -> WorkerRow:
    """One worker with the evidence that holds."""
    campaign = own_campaign(request, code)
    return worker_rows(campaign, [participation_of(campaign, worker)])[0]


@router.get(
    "/{uuid:code}/workers/{uuid:worker}/evidence",
    response=list[EvidenceOut],
    auth=Needs(Scope.DECIDE),
)
@paginate
def list_evidence(request: HttpRequest, code: UUID, worker: UUID) -> QuerySet[Evidence]:
    """All that was ever found about a worker here, newest first."""
    return participation_of(own_campaign(request, code), worker).evidence.order_by("-pk")


@router.get(
    "/{uuid:code}/workers/{uuid:worker}/assignments",
    response=list[AssignmentOut],
    auth=Needs(Scope.DECIDE),
)
@paginate
def list_assignments(request: HttpRequest, code: UUID, worker: UUID) -> QuerySet[Assignment]:
    """The HITs that a worker took here, newest first."""
    return assignments_of(participation_of(own_campaign(request, code), worker))


def _participations(campaign: Campaign, workers: Sequence[UUID]) -> list[Participation]:
    """All of them, or none: a program that names a stranger is mistaken about something."""
    found = participations_of(campaign, workers)
    if len(found) != len(set(workers)):
        raise Http404("Not all of these are workers of this campaign.")
    return found
