"""What more ratings would buy a campaign, from its own agreement and variances, and what one more costs."""

from dataclasses import asdict
from typing import Any

from da_platform.numbers import known
from hits.campaigns.costs import estimate, usual_numbers
from hits.campaigns.kept_counts import forecast_of
from hits.models import Campaign
from hits.rating.arrays import load_outputs

from ..stats.rating_value import value_of_ratings
from ..stats.variance_components import VarianceComponents


def measure_value(
    campaign: Campaign,
    components: VarianceComponents | None,
    *,
    single: float,
    n_ratings: float,
    n_translations: int,
    n_workers: int,
) -> dict[str, Any] | None:
    """Return what more ratings of each translation are worth, as JSON types; None without any ratings.

    `n_translations` have been rated, `n_ratings` times on average.
    """
    outputs = load_outputs(campaign)
    if components is None or not n_translations or not len(outputs):
        return None
    n_systems = len(set(outputs.system.tolist()))
    share_rated = n_translations / len(set(outputs.translation.tolist()))
    rows = value_of_ratings(
        components,
        single,
        n_ratings=n_ratings,
        n_segments=len(outputs) / n_systems * share_rated,
        n_workers=n_workers,
    )
    return {
        "rows": [{name: known(value) for name, value in asdict(row).items()} for row in rows],
        "n_systems": n_systems,
        "cost_of_one": _cost_of_one(campaign),
        "currency": campaign.currency,
    }


def _cost_of_one(campaign: Campaign) -> str | None:
    """Return what one more trusted rating of each translation costs, with fees; None if nothing is paid."""
    if not campaign.pay_per_hit or campaign.is_archive:
        return None
    numbers = usual_numbers(campaign, forecast_of(campaign)) | {"ratings": 1}
    return str(estimate(campaign, None, **numbers).total)
