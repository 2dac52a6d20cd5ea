"""How much each worker's ratings are worth, judged by the hidden items."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._groups import Moments, counts, divide, factorise, moments, sums
from ._validation import (
    Bools,
    Floats,
    Ints,
    Keys,
    as_keys,
    as_numbers,
    check_same_kind,
    check_same_length,
)
from .segments import Cells
from .signature import signature
from .thresholds import FEWEST_AGREEMENT_ITEMS, FEWEST_OTHERS

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
# Agreement with the others is found from weights and changes them. More rounds change nothing any more.
N_ROUNDS = 2


@dataclass(frozen=True, slots=True)
class WorkerWeights:
    """What a rating of each worker is worth, and why.

    Attributes
    ----------
    workers : ndarray, shape (w,)
    weights : ndarray, shape (w,)
        In units of the crowd's mean: a rating with weight 2 counts like two average ones.
    discrimination, own_discrimination : ndarray, shape (w,)
        Mean of genuine minus degraded, in the worker's standard deviations: with agreement and pulled
        towards the crowd's mean, and as observed (NaN without pairs).
    agreement : ndarray, shape (w,)
        Slope of the worker's scores on the mean of the others, in units of the discrimination; NaN where
        too few others rated the same translations.
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
    agreement: Floats
    repeat_variance: Floats
    own_repeat_variance: Floats
    n_pairs: Ints
    n_repeats: Ints
    prior_pairs: float
    signature: str

    def of(self, workers: Keys) -> Floats:
        """Return the weight of each rating, given its worker; 0 for workers who were not weighed."""
        if not len(self.workers):
            return np.zeros(len(workers))
        places = np.minimum(np.searchsorted(self.workers, workers), len(self.workers) - 1)
        return np.where(self.workers[places] == workers, self.weights[places], 0.0)


def worker_weights(
    workers: ArrayLike,
    *,
    drops: ArrayLike,
    drop_workers: ArrayLike,
    changes: ArrayLike,
    change_workers: ArrayLike,
    ratings: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
) -> WorkerWeights:
    """Weigh workers by what their hidden items show, and by agreement where there is enough to see it.

    Degraded items show a worker's signal, repeats the noise. One worker has few of either, so both are
    pulled towards the crowd's mean. Where translations have several ratings, the slope of a worker's
    scores on the mean of the others shows the signal too.

    Parameters
    ----------
    workers : array_like, shape (w,)
        Everyone to weigh, including workers without hidden items, who get the crowd's means.
    drops, drop_workers : array_like, shape (n,)
        z-score of a genuine item minus that of its degraded version, and the worker of each pair.
    changes, change_workers : array_like, shape (m,)
        z-score of a repeat minus that of its original, and the worker of each pair.
    ratings : tuple of array_like, optional
        z-scores, workers and translations of the ratings that count, for agreement over translations with
        at least `FEWEST_OTHERS` other workers, of workers with at least `FEWEST_AGREEMENT_ITEMS` of these.

    Returns
    -------
    WorkerWeights
        Sorted by worker. All weights are zero if nobody's discrimination reaches `LEAST_DISCRIMINATION`.

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
    agreement = np.full(len(labels), np.nan)
    if ratings is not None:
        others = _Others(labels, *ratings)
        for _ in range(N_ROUNDS):
            slopes, errors = others.slopes(_weights(drop, variance))
            drop, agreement = _with_agreement(drop_moments, prior, slopes, errors)
    weights = _weights(drop, variance)
    return WorkerWeights(
        workers=labels,
        weights=weights / weights.mean() if weights.any() else weights,
        discrimination=drop,
        own_discrimination=drop_moments.mean,
        agreement=agreement,
        repeat_variance=variance,
        own_repeat_variance=change_moments.mean,
        n_pairs=drop_moments.n,
        n_repeats=change_moments.n,
        prior_pairs=prior,
        signature=signature(
            weight=(f"drop^{POWER:g}", f"noise+{UNAVOIDABLE_VARIANCE:g}"),
            prior=(f"pairs={prior:.3g}", f"repeats={PRIOR_REPEATS}"),
            floor=LEAST_DISCRIMINATION,
            agreement=None if ratings is None else f"others>={FEWEST_OTHERS}",
        ),
    )


def _weights(drop: Floats, variance: Floats) -> Floats:
    signal = np.where(drop >= LEAST_DISCRIMINATION, drop, 0.0) ** POWER
    return np.asarray(signal / (UNAVOIDABLE_VARIANCE + variance))


class _Others:
    """Ratings, each to be compared with the weighted mean of the other workers' on the same translation."""

    def __init__(
        self, labels: Keys, z: ArrayLike, workers: ArrayLike, translations: ArrayLike
    ) -> None:
        z, keys = as_numbers("z", z, missing=True), as_keys("workers", workers)
        translations = as_keys("translations", translations)
        check_same_length(z=z, workers=keys, translations=translations)
        used = np.isin(keys, labels) & ~np.isnan(z)
        codes = np.searchsorted(labels, keys[used])
        distinct, translation_codes = factorise(translations[used])
        cells = Cells(translation_codes, codes, (len(distinct), len(labels)))
        # A worker's repeats are one rating.
        self._z, self._workers, self._translations = (
            cells.means(z[used]),
            cells.workers,
            cells.translations,
        )
        self._n_workers, self._n_translations = len(labels), len(distinct)

    def slopes(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the slope of each worker's scores on the others' means, and its variance; NaN if unknown."""
        own, of = weights[self._workers], self._translations
        n_others = counts(of[own > 0], self._n_translations)[of] - (own > 0)
        totals = sums(own * self._z, of, self._n_translations)[of] - own * self._z
        means = divide(totals, sums(own, of, self._n_translations)[of] - own)
        asked = n_others >= FEWEST_OTHERS
        workers, z = self._workers[asked], self._centred(self._z, asked)
        means = self._centred(means, asked)
        n = counts(workers, self._n_workers)
        squares = sums(means**2, workers, self._n_workers)
        enough = (n >= FEWEST_AGREEMENT_ITEMS) & (squares > 0)
        slope = divide(sums(means * z, workers, self._n_workers), np.where(enough, squares, 0))
        rest = sums((z - np.nan_to_num(slope)[workers] * means) ** 2, workers, self._n_workers)
        return slope, divide(rest / np.maximum(n - 2, 1), np.where(enough, squares, 0))

    def _centred(self, values: Floats, asked: Bools) -> Floats:
        workers = self._workers[asked]
        means = divide(
            sums(values[asked], workers, self._n_workers), counts(workers, self._n_workers)
        )
        return values[asked] - means[workers]


def _with_agreement(
    own: Moments, prior: float, slopes: Floats, errors: Floats
) -> tuple[Floats, Floats]:
    """Return discrimination from pairs, agreement and the crowd's mean, and agreement on its scale.

    Each counts by its precision, for which one pair is the unit.
    """
    drop, known = _pulled(own, prior), np.isfinite(slopes) & np.isfinite(errors)
    seen = known & (own.n > 0)
    within = float(own.ss.sum()) / max(int(np.maximum(own.n - 1, 0).sum()), 1)
    typical = float(np.mean(slopes[seen])) if seen.any() else 0.0
    if typical <= 0 or within <= 0:
        return drop, np.full(len(slopes), np.nan)
    scale = float(np.mean(drop[seen])) / typical
    agreement = np.where(known, slopes * scale, np.nan)
    n_pairs = np.where(known, within / np.maximum(np.nan_to_num(errors) * scale**2, 1e-12), 0.0)
    n = own.n + prior
    return (n * drop + n_pairs * np.nan_to_num(agreement)) / (n + n_pairs), agreement


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
