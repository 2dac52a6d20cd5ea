"""API: HITs on hold for impossible times, and decisions about them."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Schema
from ninja.pagination import paginate
from pydantic import Field

from ..people.access import user_of
from ..workers.forms import MAX_WORKERS_OF_A_PROGRAM
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
from .field_types import Input, Measured
from .pagination import LazyRows, all_or_404
from .workers import Confirmation, DecidedOut

router = Router(tags=["Workers"])


class HeldHitOut(Schema):
    """A HIT that is or was on hold. Times are in seconds, by the server's clock."""

    code: UUID = Field(alias="assignment.code")
    hit: int = Field(alias="assignment.hit.number")
    worker: UUID = Field(alias="assignment.worker.code")
    hold: str = Field(alias="assignment.hold")
    hold_reason: str = Field(alias="assignment.hold_reason")
    held_at: datetime | None = Field(alias="assignment.held_at")
    discarded_at: datetime | None
    n_ratings: int = Field(alias="times.n_ratings")
    passed: Measured = Field(alias="times.passed")
    median_gap: Measured = Field(alias="times.median_gap")
    fastest_burst: Measured = Field(alias="times.fastest_burst")
    claimed: Measured = Field(alias="times.claimed")


class HoldChoiceIn(Input):
    """`hits` are the codes of held HITs."""

    choice: HoldChoice
    hits: Annotated[list[UUID], Field(min_length=1, max_length=MAX_WORKERS_OF_A_PROGRAM)]


class HoldDecisionIn(HoldChoiceIn, Confirmation):
    pass


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


class HoldsDecidedOut(DecidedOut):
    """`n_decided` HITs were changed; `n_changed` were skipped, since someone else decided about them."""


@router.get("/{uuid:code}/held", response=list[HeldHitOut], auth=Needs(Scope.DECIDE))
@paginate
def list_held_hits(request: HttpRequest, code: UUID) -> LazyRows[HeldHit]:
    """List the HITs that are or were on hold, with their times; those without a decision come first."""
    return LazyRows(held_hits(own_campaign(request, code)), with_times)


@router.post("/{uuid:code}/held/preview", response=HoldPreviewOut, auth=Needs(Scope.DECIDE))
def preview_held_hits(request: HttpRequest, code: UUID, payload: HoldChoiceIn) -> HoldPreview:
    """Show what a decision about these held HITs would do, without applying it."""
    campaign = own_campaign(request, code)
    hits = all_or_404(held_hits_with(campaign, payload.hits), payload.hits)
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
