"""How the ratings of a campaign vary, for planning the next one."""

from collections.abc import Mapping

import numpy as np

from da_platform.exceptions import PlatformError
from hits.models import Campaign
from hits.rating.arrays import RatingArrays, load_outputs, load_ratings

from ..stats.segments import average_repeats, counts_for_gold
from ..stats.standardise import standardise_by_worker
from ..stats.variance_components import VarianceComponents, variance_components
from .counted_ratings import expand_ratings, load_trust
from .results import latest_agreement


class ComponentsRefused(PlatformError):
    """A campaign that cannot tell how ratings vary."""


def measure_components(
    campaign: Campaign, ratings: RatingArrays | None = None
) -> VarianceComponents | None:
    """Estimate the variances of the trusted workers' z-scores; None without any."""
    ratings = load_ratings(campaign) if ratings is None else ratings
    counts = load_trust(campaign).counts(ratings)
    workers, translations = ratings.worker[counts], ratings.translation[counts]
    z = standardise_by_worker(ratings.score[counts], workers).z
    used = counts_for_gold(ratings.role[counts]) & ~np.isnan(z)
    if not used.any():
        return None
    once, raters, texts = average_repeats(z[used], workers[used], translations[used])
    outputs = load_outputs(campaign)
    everything = np.ones(len(outputs), dtype=np.bool_)
    places, systems, segments = expand_ratings(texts.astype(np.int64), outputs, everything)
    return variance_components(once[places], raters[places], systems, segments)


def stored_components(campaign: Campaign) -> VarianceComponents:
    """Return the variances that were estimated with the campaign's agreement."""
    job = latest_agreement(campaign)
    facts: Mapping[str, float] | None = ((job.result or {}) if job else {}).get("components")
    if facts is None:
        raise ComponentsRefused(
            f"The variances of {campaign} have not been measured yet. Measure its agreement first; "
            "building gold on its Results page does that too."
        )
    return VarianceComponents(**facts)
