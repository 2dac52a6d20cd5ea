"""How much each worker's ratings are worth, judged by the hidden items."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._groups import Moments, moments
from ._validation import Floats, Ints, Keys, as_keys, as_numbers, check_same_kind, check_same_length
from .signature import signature

# Discrimination counts with this power. Workers who tell degraded from genuine items more clearly are
# also less noisy than their few repeats can show: 1.5 was best on real and on simulated crowds, and
# anything from 1 to 2 is nearly as good (docs/statistics/weighted-gold.md).
POWER = 1.5
# Variance of a rating around its translation's score that no worker can avoid, in the worker's own
# units. It keeps a few lucky repeats from making a worker count without bound.
UNAVOIDABLE_VARIANCE = 0.5
# Below this discrimination, in the worker's own standard deviations, ratings do not count at all.
LEAST_DISCRIMINATION = 0.05
# A worker's own pairs count against the crowd's mean, which counts like this many pairs. For degraded
# pairs the number is estimated from the crowd, within bounds, in case there are too few workers for that.
PRIOR_REPEATS = 5
PRIOR_PAIRS = 5.0
PRIOR_PAIRS_BOUNDS = (1.0, 20.0)


@dataclass(frozen=True, slots=True)
class WorkerWeights:
    """What a rating of each worker is worth, and why.

    Attributes
    ----------
    workers : ndarray, shape (w,)
    weights : ndarray, shape (w,)
        In units of the crowd's mean: a rating with weight 2 counts like two average ones.
    discrimination, own_discrimination : ndarray, shape (w,)
        Mean of genuine minus degraded, in the worker's standard deviations: pulled towards the crowd's
        mean, and as observed (NaN without pairs).
    repeat_variance, own_repeat_variance : ndarray, shape (w,)
        Half the mean squared difference of repeats, likewise.
    n_pairs, n_repeats : ndarray of int, shape (w,)
    prior_pairs : float
        How many pairs the crowd's mean counts for.
    signature : str
    """

    workers: Keys
    weights: Floats
    discrimination: Floats
    own_discrimination: Floats
    repeat_variance: Floats
    own_repeat_variance: Floats
    n_pairs: Ints
    n_repeats: Ints
    prior_pairs: float
    signature: str

    def of(self, workers: Keys) -> Floats:
        """Return the weight of each rating, given its worker, who must be one of these."""
        return self.weights[np.searchsorted(self.workers, workers)]


def worker_weights(
    workers: ArrayLike,
    *,
    drops: ArrayLike,
    drop_workers: ArrayLike,
    changes: ArrayLike,
    change_workers: ArrayLike,
) -> WorkerWeights:
    """Weigh workers by what their hidden items show.

    A rating is signal plus noise, and counts best in proportion to signal over noise variance. Degraded
    items show the signal: how far a worker lowers them. Repeats show the noise. One worker has few of
    either, so both are pulled towards the crowd's mean.

    Parameters
    ----------
    workers : array_like, shape (w,)
        Everyone to weigh, including workers without hidden items, who get the crowd's means.
    drops, drop_workers : array_like, shape (n,)
        z-score of a genuine item minus that of its degraded version, and the worker of each pair.
    changes, change_workers : array_like, shape (m,)
        z-score of a repeat minus that of its original, and the worker of each pair.

    Returns
    -------
    WorkerWeights
        Sorted by worker. All weights are zero if nobody's discrimination reaches
        `LEAST_DISCRIMINATION`.

    References
    ----------
    .. [1] Efron and Morris. Data analysis using Stein's estimator and its generalizations. Journal of
       the American Statistical Association 70(350), 1975.
    """
    labels = np.unique(as_keys("workers", workers))
    drop_moments = _moments_of(labels, drops=drops, workers=drop_workers)
    squares = np.square(as_numbers("changes", changes, missing=True)) / 2
    change_moments = _moments_of(labels, changes=squares, workers=change_workers)
    prior = _prior_pairs(drop_moments)
    drop = _pulled(drop_moments, prior)
    variance = _pulled(change_moments, PRIOR_REPEATS)
    signal = np.where(drop >= LEAST_DISCRIMINATION, drop, 0.0) ** POWER
    weights = signal / (UNAVOIDABLE_VARIANCE + variance)
    return WorkerWeights(
        workers=labels,
        weights=weights / weights.mean() if weights.any() else weights,
        discrimination=drop,
        own_discrimination=drop_moments.mean,
        repeat_variance=variance,
        own_repeat_variance=change_moments.mean,
        n_pairs=drop_moments.n,
        n_repeats=change_moments.n,
        prior_pairs=prior,
        signature=signature(
            weight=(f"drop^{POWER:g}", f"noise+{UNAVOIDABLE_VARIANCE:g}"),
            prior=(f"pairs={prior:.3g}", f"repeats={PRIOR_REPEATS}"),
            floor=LEAST_DISCRIMINATION,
        ),
    )


def _moments_of(labels: Keys, *, workers: ArrayLike, **values: ArrayLike) -> Moments:
    """Return the moments of each labelled worker's values; those of others are left out."""
    ((name, given),) = values.items()
    numbers, keys = as_numbers(name, given, missing=True), as_keys("workers", workers)
    check_same_length(**{name: numbers, "workers": keys})
    check_same_kind(labels=labels, workers=keys)
    used = np.isin(keys, labels) & ~np.isnan(numbers)
    return moments(numbers[used], np.searchsorted(labels, keys[used]), len(labels))


def _prior_pairs(pairs: Moments) -> float:
    """Estimate variance within workers over variance between them, by moments."""
    seen = pairs.n > 0
    n, mean, total, n_workers = pairs.n[seen], pairs.mean[seen], int(pairs.n.sum()), int(seen.sum())
    if n_workers < 2 or total <= n_workers:
        return PRIOR_PAIRS
    within = float(pairs.ss.sum()) / (total - n_workers)
    typical_n = (total - float(n @ n) / total) / (n_workers - 1)
    between = float(n @ (mean - float(n @ mean) / total) ** 2) / (n_workers - 1)
    excess = (between - within) / typical_n
    least, most = PRIOR_PAIRS_BOUNDS
    return float(np.clip(within / excess, least, most)) if excess > 0 else most


def _pulled(own: Moments, prior: float) -> Floats:
    """Return means of each worker's own pairs and of the crowd's mean, which counts for `prior` pairs."""
    mean, share = np.nan_to_num(own.mean), own.n / (own.n + prior)
    # A busy worker says more about the crowd, but is only one of it.
    crowd = float(share @ mean) / float(share.sum()) if share.any() else 0.0
    return np.asarray(share * mean + (1 - share) * crowd)
