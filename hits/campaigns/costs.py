"""Estimate what a campaign will cost."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from ..models import Campaign
from ..rating.places import ASSUMED_PASS_RATE, Forecast, cost_per_hit, still_to_collect
from ..task_kinds import TextCounts, kind_of
from .composition import CannotCompose
from .importing.service import CheckSummary
from .samples import n_to_rate

CENT = Decimal("0.01")
# A typical fee of recruiting platforms, in percent of the pay.
USUAL_FEE = Decimal(33)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a number of HITs, given pay, fee, ratings per translation and pass rate.

    The last four are about work that was already done or begun: `n_covered` assignments need not be
    asked for, but some of the `n_undecided` among them may fail; `n_so_far` and `spent` are paid.
    """

    n_hits: int
    n_translations: int
    ratings: int
    pay: Decimal
    fee_percent: Decimal
    pass_percent: int
    n_covered: int = 0
    n_undecided: int = 0
    n_so_far: int = 0
    spent: Decimal = Decimal(0)

    @property
    def n_trusted(self) -> int:
        return self.n_hits * self.ratings

    @property
    def n_to_come(self) -> int:
        n_missing = max(0, self.n_trusted - self.n_covered)
        return still_to_collect(n_missing, self.n_undecided, self.pass_percent)

    @property
    def n_assignments(self) -> int:
        """Assignments to pay for, including those that will be discarded: all work is paid."""
        return self.n_so_far + self.n_to_come

    @property
    def to_workers(self) -> Decimal:
        return self.spent + self.n_to_come * self.pay

    @property
    def fee(self) -> Decimal:
        return fee_of(self.to_workers, self.fee_percent)

    @property
    def total(self) -> Decimal:
        return self.to_workers + self.fee

    @property
    def per_translation(self) -> Decimal:
        if not self.n_translations:
            return Decimal(0)
        return (self.total / self.n_translations).quantize(CENT, ROUND_HALF_UP)


def fee_of(pay: Decimal, percent: Decimal = USUAL_FEE) -> Decimal:
    """What a recruiting platform takes on top."""
    return (pay * percent / 100).quantize(CENT, ROUND_HALF_UP)


def count_hits(campaign: Campaign) -> tuple[int, int]:
    """Return the number of HITs, even if they are not built yet, and of translations.

    With looks, HITs are added part by part, and these are the most there can be.
    """
    n_translations = n_to_rate(campaign)
    if (n_hits := campaign.hits.count()) and not campaign.n_looks:
        return n_hits, n_translations
    counts = TextCounts(n_translations, campaign.segments.count(), campaign.systems.count())
    # Where looks decide about translations, each may be rated again after every look.
    n_rounds = (campaign.n_looks or 1) if campaign.looks_at_gold else 1
    try:
        return n_rounds * kind_of(campaign).n_hits(campaign, counts), n_translations
    except CannotCompose:
        return 0, n_translations


def usual_numbers(campaign: Campaign, forecast: Forecast) -> dict[str, Any]:
    """Return the defaults for an estimate: the campaign's own numbers, and a typical fee."""
    return {
        "pay": cost_per_hit(campaign),
        "fee": USUAL_FEE,
        "passing": forecast.pass_percent,
        "ratings": campaign.min_ratings,
    }


def estimate(
    campaign: Campaign,
    forecast: Forecast | None,
    *,
    pay: Decimal,
    fee: Decimal,
    passing: int,
    ratings: int,
) -> Cost:
    """Return what the campaign costs in all with these numbers; `fee` and `passing` are percentages.

    With a forecast, that is what was spent so far and what is still to be collected; without, as if
    nothing were done yet.
    """
    n_hits, n_translations = count_hits(campaign)
    so_far: dict[str, Any] = {}
    if forecast is not None:
        if campaign.stopped_at is not None:
            # No more HITs are added, however many there could have been.
            n_hits = forecast.n_wanted // campaign.min_ratings
        names = ("n_undecided", "n_so_far", "spent")
        so_far = {name: getattr(forecast, name) for name in names}
        so_far["n_covered"] = forecast.n_wanted - forecast.n_missing
    return Cost(
        n_hits=n_hits,
        n_translations=n_translations,
        ratings=ratings,
        pay=pay,
        fee_percent=fee,
        pass_percent=passing,
        **so_far,
    )


def usual_estimate(campaign: Campaign, forecast: Forecast) -> Cost:
    """Return what a campaign costs in all with its own numbers and the usual fee."""
    return estimate(campaign, forecast, **usual_numbers(campaign, forecast))


def estimate_before_import(campaign: Campaign, found: CheckSummary) -> Cost | None:
    """The same for a campaign that is not stored yet; None if its texts do not fill a HIT."""
    n_translations = min(found.n_outputs, campaign.sample_size or found.n_outputs)
    counts = TextCounts(n_translations, found.n_segments, len(found.systems))
    try:
        n_hits = kind_of(campaign).n_hits(campaign, counts)
    except CannotCompose:
        return None
    return Cost(
        n_hits=n_hits,
        n_translations=n_translations,
        ratings=campaign.min_ratings,
        pay=Decimal(campaign.pay_per_hit),
        fee_percent=USUAL_FEE,
        pass_percent=round(100 * ASSUMED_PASS_RATE),
    )
