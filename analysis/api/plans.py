"""API: plan a campaign before it is paid for."""

from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import Field

from hits.api.auth import Needs, Scope
from hits.api.field_types import Input
from hits.people.access import Level, campaign_for

from ..gold.components import stored_components
from ..gold.plans import USUAL, USUAL_COMPONENTS, Wishes, make_plan
from ..stats.variance_components import VarianceComponents

router = Router(tags=["Campaigns"])

Variance = Annotated[float, Field(ge=0, le=100)]


class PlanIn(Input):
    """What a campaign should find out. Variances are of z-scores; with `like`, those of that campaign."""

    systems: Annotated[int, Field(ge=2, le=100)] = 5
    difference: Annotated[float, Field(ge=0.005, le=5)] = 0.1
    power: Annotated[float, Field(ge=0.05, le=0.99)] = 0.8
    reliability: Annotated[float, Field(ge=0.05, le=0.99)] = 0.8
    segments: Annotated[int, Field(ge=2, le=100_000)] | None = None
    genuine_per_hit: Annotated[int, Field(ge=1, le=500)] = 70
    hits_per_worker: Annotated[float, Field(ge=1, le=1_000)] = 2
    pay: Annotated[Decimal, Field(ge=0, le=100)] = Decimal("1.00")
    fee: Annotated[Decimal, Field(ge=0, le=100)] = USUAL.fee_percent
    passing: Annotated[int, Field(ge=5, le=100)] = USUAL.pass_percent
    like: UUID | None = None
    segment: Variance = USUAL_COMPONENTS.segment
    translation: Variance = USUAL_COMPONENTS.translation
    worker: Variance = USUAL_COMPONENTS.worker
    taste: Variance = USUAL_COMPONENTS.taste
    residual: Variance = USUAL_COMPONENTS.residual


@router.get("/plan", response=dict[str, Any], auth=Needs(Scope.READ))
def plan_campaign(request: HttpRequest, wishes: Query[PlanIn]) -> dict[str, Any]:
    """Plan a campaign: segments, ratings, workers and cost for a required power or reliability of gold.

    With `segments`, no size has more of them, and `gold` is what gold of that reliability costs for all of them.
    """
    if wishes.like:
        components = stored_components(campaign_for(request.user, wishes.like, Level.RESEARCHER))
    else:
        names = VarianceComponents.__slots__
        components = VarianceComponents(**{name: getattr(wishes, name) for name in names})
    plan = make_plan(
        Wishes(
            n_systems=wishes.systems,
            difference=wishes.difference,
            power=wishes.power,
            reliability=wishes.reliability,
            most_segments=wishes.segments,
            genuine_per_hit=wishes.genuine_per_hit,
            hits_per_worker=wishes.hits_per_worker,
            pay=wishes.pay,
            fee_percent=wishes.fee,
            pass_percent=wishes.passing,
        ),
        components,
    )
    return plan.as_json()
