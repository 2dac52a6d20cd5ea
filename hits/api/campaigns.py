"""Campaigns over the API: what there is, how far it is, and running it."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.contrib.auth.models import User
from django.http import HttpRequest
from ninja import Query, Router, Schema
from ninja.pagination import paginate

from ..access import Level, campaign_for, campaigns_of
from ..campaigns.keeping import forecast_of
from ..campaigns.reporting import CampaignStatus, campaign_status, campaign_statuses
from ..models import Campaign
from ..services import change_status
from .auth import Needs, Scope
from .paging import ReadRows
from .texts import Text

router = Router(tags=["Campaigns"])


class CampaignOut(Schema):
    """A campaign and how far it is."""

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
    n_ratings: int
    # When a large campaign in a list was last counted; None if that was just now.
    counted_at: datetime | None


class CampaignFilter(Schema):
    status: Campaign.Status | None = None
    search: Text = ""


class ForecastOut(Schema):
    """What a campaign has, what it lacks, and what the rest will likely take.

    Counts are of assignments; each gives every genuine item of its HIT a rating. Those of a large campaign
    are kept, and `at` says when they were counted, as on its page.
    """

    at: datetime
    n_wanted: int
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
    """The same with money, for those who run the campaign."""

    currency: str
    spent: Decimal
    spending_cap: Decimal | None
    n_expected: int
    expected_cost: Decimal
    is_stopped_by_cap: bool


class StatusIn(Schema):
    status: Campaign.Status


@router.get("", response=list[CampaignOut], auth=Needs(Scope.READ))
@paginate
def list_campaigns(
    request: HttpRequest, filters: Query[CampaignFilter]
) -> ReadRows[CampaignStatus]:
    """Campaigns that you have a part in, newest first."""
    own = campaigns_of(request.user)
    if filters.status:
        own = own.filter(status=filters.status)
    return ReadRows(own.filter(name__icontains=filters.search), campaign_statuses)


@router.get("/{uuid:code}", response=CampaignOut, auth=Needs(Scope.READ))
def get_campaign(request: HttpRequest, code: UUID) -> CampaignStatus:
    """One campaign."""
    return campaign_status(campaign_for(request.user, code, Level.RESEARCHER))


@router.get("/{uuid:code}/forecast", response=ForecastOut, auth=Needs(Scope.READ))
def get_forecast(request: HttpRequest, code: UUID) -> object:
    """What is there, what is missing, and when it will be done at the present pace."""
    return forecast_of(campaign_for(request.user, code, Level.RESEARCHER))


@router.get("/{uuid:code}/cost", response=CostOut, auth=Needs(Scope.PAY))
def get_cost(request: HttpRequest, code: UUID) -> object:
    """The forecast with what has been spent and what the rest will likely cost."""
    return forecast_of(campaign_for(request.user, code, Level.ADMIN))


@router.post("/{uuid:code}/status", response=CampaignOut, auth=Needs(Scope.RUN))
def set_status(request: HttpRequest, code: UUID, wanted: StatusIn) -> CampaignStatus:
    """Open, pause or close a campaign. Asking for the status it has changes nothing."""
    assert isinstance(request.user, User)
    campaign = campaign_for(request.user, code, Level.ADMIN)
    return campaign_status(change_status(campaign=campaign, to=wanted.status, actor=request.user))
