"""How reliable the ranking of a campaign is: scores from random halves of the workers."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from da_platform.numbers import known
from hits.models import Campaign
from hits.rating.arrays import Ids, RatingArrays, load_outputs, load_ratings

from ..models import GoldRun
from ..stats.segments import Method, counts_for_gold
from ..stats.split_half import N_SPLITS, SplitHalf, split_half
from ..stats.standardise import standardise_by_worker
from .counted_ratings import (
    CountedColumns,
    HiddenItems,
    expand_ratings,
    load_trust,
    without_reported_pairs,
)
from .gold_arrays import Floats

# With more ratings than this there are fewer splits, so that it takes minutes at most, but never below the second number.
MANY_RATINGS, FEWEST_SPLITS = 200_000, 20

METHODS: tuple[Method, ...] = ("per_worker", "pooled", "weighted")


@dataclass(frozen=True, slots=True)
class Reliability:
    """Split-half agreement of the scores that one way of averaging gives."""

    method: Method
    halves: SplitHalf

    def as_json(self) -> dict[str, Any]:
        """Return JSON types, with None for numbers that could not be computed."""
        halves = self.halves
        return {
            "method": self.method,
            "label": GoldRun.Method(self.method).label,
            "systems": {name: known(value) for name, value in asdict(halves.systems).items()},
            "segments": {name: known(value) for name, value in asdict(halves.segments).items()},
            "n_workers": halves.n_workers,
            "n_splits": halves.n_splits,
            "signature": halves.signature,
        }


def measure_reliability(
    campaign: Campaign,
    *,
    method: Method,
    ratings: RatingArrays | None = None,
    n_splits: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Reliability | None:
    """Correlate the scores from random halves of the workers that count; None with fewer than two, or if they cannot be weighed.

    The campaign's seed decides the splits, and they are the same for every method that counts the same
    workers. By default there are 200 splits, and fewer if there are many ratings.
    """
    ratings = load_ratings(campaign) if ratings is None else ratings
    columns = CountedColumns.of(ratings, load_trust(campaign, method))
    z = standardise_by_worker(columns.score, columns.worker).z
    scored = np.flatnonzero(counts_for_gold(columns.role) & ~np.isnan(z))
    if len(np.unique(columns.worker[scored])) < 2:
        return None
    weigh = None
    if method == "weighted":
        hidden = HiddenItems.of(without_reported_pairs(columns, campaign), z)
        if not hidden.weigh(hidden.workers).weights.any():
            return None

        def weigh(workers: Ids) -> Floats:
            return hidden.weigh(workers).weights

    outputs = load_outputs(campaign)
    everything = np.ones(len(outputs), dtype=np.bool_)
    places, systems, segments = expand_ratings(columns.translation[scored], outputs, everything)
    rows = scored[places]
    halves = split_half(
        z[rows],
        columns.worker[rows],
        columns.translation[rows],
        systems,
        segments,
        weigh=weigh,
        method=method,
        n_splits=n_splits or splits_for(len(rows)),
        rng=np.random.default_rng(campaign.seed),
        progress=progress,
    )
    return Reliability(method, halves)


def splits_for(n_ratings: int) -> int:
    """Return how many splits so many ratings get."""
    return max(min(N_SPLITS, N_SPLITS * MANY_RATINGS // max(n_ratings, 1)), FEWEST_SPLITS)
