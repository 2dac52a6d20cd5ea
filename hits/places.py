"""How many workers each HIT still needs, and what that will take.

A campaign wants a number of trusted ratings for each translation, so each HIT wants that many assignments
by workers who can be trusted. Work in progress and work of unproven workers counts as promised; work that
is discarded opens its place again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from .models import HIT, Assignment, Campaign, Participation

# Pass rate to plan with before anyone has been judged: about half the workers of WMT13 passed.
ASSUMED_PASS_RATE = 0.5
# The pace is that of the last day, or of the whole campaign while it is younger.
PACE_WINDOW = timedelta(days=1)

_HELD = (Assignment.Status.IN_PROGRESS, Assignment.Status.SUBMITTED)


def with_standing(assignments: QuerySet[Assignment]) -> QuerySet[Any]:
    """Mark each assignment with whether its worker is trusted or discarded in its campaign."""
    own = Participation.objects.filter(
        campaign=OuterRef("hit__campaign"), worker=OuterRef("worker")
    )
    return assignments.annotate(
        is_trusted=Exists(own.trusted()), is_discarded=Exists(own.discarded())
    )


def settle_places(*, campaign: Campaign, hits: Iterable[int]) -> None:
    """Set how many places these HITs offer, from what has been promised and what is wanted."""
    if campaign.is_archive:
        return
    # In one order everywhere, so that two of these never wait for each other.
    for pk in sorted(set(hits)):
        _settle(campaign, pk)


@transaction.atomic
def _settle(campaign: Campaign, pk: int) -> None:
    # Whoever takes a place changes this row first: with it locked, nobody slips in between.
    HIT.objects.select_for_update(no_key=True).get(pk=pk)
    held = with_standing(Assignment.objects.filter(hit=pk, status__in=_HELD))
    n_promised = held.filter(is_discarded=False).count()
    places = max(0, campaign.min_ratings - n_promised)
    HIT.objects.filter(pk=pk).exclude(places_left=places).update(places_left=places)


def amount_owed(campaign: Campaign) -> Decimal:
    """What the HITs handed in or in hand cost. Whether ratings count is another question."""
    held = Assignment.objects.filter(hit__campaign=campaign, status__in=_HELD, is_rejected=False)
    return held.count() * campaign.pay_per_hit


def is_affordable(campaign: Campaign) -> bool:
    """Whether one more HIT stays within the spending cap. To be asked with the campaign locked."""
    if campaign.spending_cap is None:
        return True
    return amount_owed(campaign) + campaign.pay_per_hit <= campaign.spending_cap


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a campaign has, what it lacks, and what the rest will likely take.

    Counts are of assignments; each gives every genuine item of its HIT a rating.
    """

    n_wanted: int
    n_trusted: int
    n_unproven: int
    n_in_progress: int
    n_discarded: int
    n_missing: int
    pass_rate: float
    is_pass_rate_measured: bool
    pay_per_hit: Decimal
    currency: str
    spent: Decimal
    spending_cap: Decimal | None
    per_day: float
    at: datetime

    @property
    def n_expected(self) -> int:
        """Assignments still to be handed in, counting those that will not pass.

        Unproven work and work in progress will partly fail as well.
        """
        promised = self.n_unproven + self.n_in_progress
        lacking = self.n_missing + promised * (1 - self.pass_rate)
        return round(lacking / self.pass_rate) if self.pass_rate else 0

    @property
    def expected_cost(self) -> Decimal:
        return self.n_expected * self.pay_per_hit

    @property
    def is_stopped_by_cap(self) -> bool:
        return (
            self.spending_cap is not None
            and self.n_missing > 0
            and self.spent + self.pay_per_hit > self.spending_cap
        )

    @property
    def is_complete(self) -> bool:
        return self.n_missing + self.n_unproven + self.n_in_progress == 0

    @property
    def done_at(self) -> datetime | None:
        """When it will be complete at the present pace; None while there is no pace."""
        n_left = self.n_expected + self.n_in_progress
        return self.at + timedelta(days=n_left / self.per_day) if self.per_day else None


def forecast(campaign: Campaign, *, at: datetime | None = None) -> Forecast:
    now = at or timezone.now()
    assignments = with_standing(Assignment.objects.filter(hit__campaign=campaign))
    is_submitted = Q(status=Assignment.Status.SUBMITTED)
    counts = assignments.aggregate(
        n_trusted=Count("pk", filter=is_submitted & Q(is_trusted=True)),
        n_discarded=Count("pk", filter=is_submitted & Q(is_discarded=True)),
        n_unproven=Count("pk", filter=is_submitted & Q(is_trusted=False, is_discarded=False)),
        n_in_progress=Count(
            "pk", filter=Q(status=Assignment.Status.IN_PROGRESS, is_discarded=False)
        ),
    )
    n_judged = counts["n_trusted"] + counts["n_discarded"]
    return Forecast(
        n_wanted=campaign.hits.count() * campaign.min_ratings,
        n_missing=_n_missing(campaign),
        # At least something, or nothing could ever be finished.
        pass_rate=max(counts["n_trusted"], 0.5) / n_judged if n_judged else ASSUMED_PASS_RATE,
        is_pass_rate_measured=bool(n_judged),
        pay_per_hit=campaign.pay_per_hit,
        currency=campaign.currency,
        spent=amount_owed(campaign),
        spending_cap=campaign.spending_cap,
        per_day=_submitted_per_day(campaign, now),
        at=now,
        **counts,
    )


def _n_missing(campaign: Campaign) -> int:
    """Count assignments that nobody has promised yet, HIT by HIT: one's surplus is not another's."""
    held = with_standing(Assignment.objects.filter(hit__campaign=campaign, status__in=_HELD))
    promised = held.filter(is_discarded=False).order_by().values("hit").annotate(n=Count("pk"))
    n_promised = sum(min(row["n"], campaign.min_ratings) for row in promised)
    return campaign.hits.count() * campaign.min_ratings - n_promised


def _submitted_per_day(campaign: Campaign, now: datetime) -> float:
    recent = Assignment.objects.submitted().filter(
        hit__campaign=campaign, submitted_at__gt=now - PACE_WINDOW, submitted_at__lte=now
    )
    facts = recent.aggregate(n=Count("pk"), first=Min("started_at"))
    if not facts["n"]:
        return 0.0
    span = min(now - facts["first"], PACE_WINDOW)
    return float(facts["n"] * (timedelta(days=1) / max(span, timedelta(minutes=1))))
