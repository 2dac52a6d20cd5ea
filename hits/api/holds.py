"""API: HITs on hold for impossible times, and decisions about them."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from django.http import Http404, HttpRequest
from ninja import Router, Schema
from ninja.pagination import paginate
from pydantic import Field

from da_platform.numbers import known

from ..models import Assignment, Campaign
from ..people.access import user_of
from ..workers.forms import MAX_REASON_LENGTH, MAX_WORKERS_OF_A_PROGRAM
from ..workers.held_hits import (
    HeldHit,
    HoldChoice,
    HoldPreview,
    HoldsDecided,
    decide_holds_as_seen,
    held_hits,
    held_hits_with,
    preview_hold,
    with_times,
)
from .auth import Needs, Scope, own_campaign
from .field_types import Input, Reason, Text
from .pagination import LazyRows

router = Router(tags=["Workers"])


class HeldHitOut(Schema):
    """A HIT that is or was on hold. Times are in seconds, by the server's clock."""

    code: UUID
    hit: int
    worker: UUID
    hold: str
    hold_reason: str
    held_at: datetime | None
    discarded_at: datetime | None
    n_ratings: int
    passed: float | None
    median_gap: float | None
    fastest_burst: float | None
    claimed: float | None

    @staticmethod
    def resolve_code(row: HeldHit) -> UUID:
        return row.assignment.code

    @staticmethod
    def resolve_hit(row: HeldHit) -> int:
        return row.assignment.hit.number

    @staticmethod
    def resolve_worker(row: HeldHit) -> UUID:
        return row.assignment.worker.code

    @staticmethod
    def resolve_hold(row: HeldHit) -> str:
        return row.assignment.hold

    @staticmethod
    def resolve_hold_reason(row: HeldHit) -> str:
        return row.assignment.hold_reason

    @staticmethod
    def resolve_held_at(row: HeldHit) -> datetime | None:
        return row.assignment.held_at

    @staticmethod
    def resolve_n_ratings(row: HeldHit) -> int:
        return row.times.n_ratings

    @staticmethod
    def resolve_passed(row: HeldHit) -> float | None:
        return known(row.times.passed)

    @staticmethod
    def resolve_median_gap(row: HeldHit) -> float | None:
        return known(row.times.median_gap)

    @staticmethod
    def resolve_fastest_burst(row: HeldHit) -> float | None:
        return known(row.times.fastest_burst)

    @staticmethod
    def resolve_claimed(row: HeldHit) -> float | None:
        return known(row.times.claimed)


class HoldChoiceIn(Input):
    """`hits` are the codes of held HITs."""

    choice: HoldChoice
    hits: Annotated[list[UUID], Field(min_length=1, max_length=MAX_WORKERS_OF_A_PROGRAM)]


class HoldDecisionIn(HoldChoiceIn):
    """`seen` is the fingerprint of the preview."""

    reason: Annotated[Reason, Field(max_length=MAX_REASON_LENGTH)]
    seen: Annotated[Text, Field(max_length=64)]


class HoldPreviewOut(Schema):
    """The effect of a decision. Nothing has been changed."""

    choice: str
    n_new: int
    n_ratings: int
    n_places_opened: int
    n_places_closed: int
    amount_owed: Decimal
    currency: str
    fingerprint: str

    @staticmethod
    def resolve_n_new(preview: HoldPreview) -> int:
        return len(preview.new)


class HoldsDecidedOut(Schema):
    """`n_decided` HITs were changed; `n_changed` were skipped, since someone else decided about them."""

    n_decided: int
    n_changed: int


@router.get("/{uuid:code}/held", response=list[HeldHitOut], auth=Needs(Scope.DECIDE))
@paginate
def list_held_hits(request: HttpRequest, code: UUID) -> LazyRows[HeldHit]:
    """List the HITs that are or were on hold, with their times; those without a decision come first."""
    return LazyRows(held_hits(own_campaign(request, code)), with_times)


@router.post("/{uuid:code}/held/preview", response=HoldPreviewOut, auth=Needs(Scope.DECIDE))
def preview_held_hits(request: HttpRequest, code: UUID, payload: HoldChoiceIn) -> HoldPreview:
    """Show what a decision about these held HITs would do, without applying it."""
    campaign = own_campaign(request, code)
    hits = _held_hits(campaign, payload.hits)
    return preview_hold(campaign=campaign, hits=hits, choice=payload.choice)


@router.post("/{uuid:code}/held/decide", response=HoldsDecidedOut, auth=Needs(Scope.DECIDE))
def decide_held_hits(request: HttpRequest, code: UUID, payload: HoldDecisionIn) -> HoldsDecided:
    """Apply a decision as previewed. If a HIT was decided about since, nothing is applied (409)."""
    return decide_holds_as_seen(
        preview=preview_held_hits(request, code, payload),
        seen=payload.seen,
        actor=user_of(request),
        reason=payload.reason,
    )


def _held_hits(campaign: Campaign, codes: Sequence[UUID]) -> list[Assignment]:
    """Return every held HIT, or raise `Http404` if one is unknown."""
    hits = held_hits_with(campaign, codes)
    if len(hits) != len(set(codes)):
        raise Http404("Some of these HITs are not held in this campaign.")
    return hits
