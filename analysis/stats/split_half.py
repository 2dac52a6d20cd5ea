"""How reliable a ranking is: the agreement of scores from two random halves of the workers."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._groups import counts, divide, factorise, sums
from ._validation import (
    Bools,
    Floats,
    Ints,
    Keys,
    as_keys,
    as_numbers,
    check_at_least,
    check_same_length,
)
from .segments import Method
from .signature import signature
from .weighted_scores import weighted_means_of_systems

N_SPLITS = 200
# Share of the splits within the range around the mean.
RANGE = 0.95


@dataclass(frozen=True, slots=True)
class HalfAgreement:
    """Correlation of the scores from two halves of the workers, over random splits.

    `r` is the mean over splits, `low` and `high` hold 95 % of them. `full` is what the scores of all workers
    would correlate with those of another crowd of the same size, by Spearman and Brown. NaN if no split
    has at least three scores in both halves.
    """

    r: float
    low: float
    high: float
    full: float
    n: float


@dataclass(frozen=True, slots=True)
class SplitHalf:
    """Reliability of system scores and of segment gold.

    `by_split` has one row per split: the correlation of system scores, that of segment scores (NaN where it
    cannot be computed), and the number of translations that both halves rated.
    """

    systems: HalfAgreement
    segments: HalfAgreement
    by_split: Floats
    n_workers: int
    n_splits: int
    signature: str


@dataclass(frozen=True, slots=True)
class _Ratings:
    """One row per rating, everything numbered from 0."""

    z: Floats
    weights: Floats
    workers: Ints
    translations: Ints
    systems: Ints
    segments: Ints
    n_workers: int


def split_half(
    z: ArrayLike,
    workers: ArrayLike,
    translations: ArrayLike,
    systems: ArrayLike,
    segments: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    method: Method = "per_worker",
    n_splits: int = N_SPLITS,
    rng: np.random.Generator,
    progress: Callable[[int, int], None] | None = None,
) -> SplitHalf:
    """Split the workers at random into halves, many times, and correlate the scores of the halves.

    Parameters
    ----------
    z, workers, translations, systems, segments : array_like, shape (n,)
        Ratings that count for scores. One that counts for several systems has a row for each.
    weights : array_like, shape (n,), optional
        The weight of each rating, for `weighted`.
    method : {"per_worker", "pooled", "weighted"}
        How scores are computed. Systems are the mean of their translations' scores, or with `weighted`
        as in `weighted_scores.system_scores_weighted`.
    n_splits : int
    rng : Generator

    Returns
    -------
    SplitHalf
        Reliability, not validity: workers who follow the same wrong cue agree, too.

    References
    ----------
    .. [1] Brown. Some experimental results in the correlation of mental abilities. British Journal of
       Psychology 3(3), 1910.
    """
    check_at_least("n_splits", n_splits, 1)
    ratings = _ratings(z, workers, translations, systems, segments, weights)
    of_half = _Scores(ratings, method)
    by_split = np.full((n_splits, 3), np.nan)
    for split in range(n_splits):
        is_first = np.zeros(ratings.n_workers, dtype=np.bool_)
        is_first[rng.permutation(ratings.n_workers)[: ratings.n_workers // 2]] = True
        halves = [of_half(chosen) for chosen in (is_first, ~is_first)]
        (systems_r, _), (segments_r, n_shared) = (
            _r(*(half[part] for half in halves)) for part in (0, 1)
        )
        by_split[split] = systems_r, segments_r, n_shared
        if progress:
            progress(split + 1, n_splits)
    return SplitHalf(
        systems=_agreement(by_split[:, 0], len(np.unique(ratings.systems))),
        segments=_agreement(by_split[:, 1], float(by_split[:, 2].mean())),
        by_split=by_split,
        n_workers=ratings.n_workers,
        n_splits=n_splits,
        signature=signature(halves="workers", seg=method, splits=n_splits, range=RANGE),
    )


def _ratings(
    z: ArrayLike,
    workers: ArrayLike,
    translations: ArrayLike,
    systems: ArrayLike,
    segments: ArrayLike,
    weights: ArrayLike | None,
) -> _Ratings:
    z = as_numbers("z", z, missing=True)
    weights = np.ones(len(z)) if weights is None else as_numbers("weights", weights)
    keys: dict[str, Keys] = {
        "workers": as_keys("workers", workers),
        "translations": as_keys("translations", translations),
        "systems": as_keys("systems", systems),
        "segments": as_keys("segments", segments),
    }
    check_same_length(z=z, weights=weights, **keys)
    used = ~np.isnan(z) & (weights > 0)
    codes = {name: factorise(values[used])[1] for name, values in keys.items()}
    n_workers = int(codes["workers"].max(initial=-1)) + 1
    return _Ratings(z=z[used], weights=weights[used], **codes, n_workers=n_workers)


class _Scores:
    """Scores of systems and translations from some of the workers."""

    def __init__(self, ratings: _Ratings, method: Method) -> None:
        self._ratings, self._method = ratings, method
        self._n_systems = int(ratings.systems.max(initial=-1)) + 1
        outputs, codes = factorise(ratings.translations * self._n_systems + ratings.systems)
        translations, self._systems = np.divmod(outputs, max(self._n_systems, 1))
        # A translation of several systems has an output for each, with the same score.
        _, self._first = np.unique(translations, return_index=True)
        place, shape = (codes, ratings.workers), (len(outputs), ratings.n_workers)
        n_ratings = scipy.sparse.coo_array((np.ones(len(codes)), place), shape=shape).tocsr()
        self._shares = scipy.sparse.coo_array((ratings.weights, place), shape=shape).tocsr()
        self._values = scipy.sparse.coo_array(
            (ratings.weights * ratings.z, place), shape=shape
        ).tocsr()
        if method != "pooled":
            # A worker's repeats count once.
            self._shares.data /= n_ratings.data
            self._values.data /= n_ratings.data

    def __call__(self, is_chosen: Bools) -> tuple[Floats, Floats]:
        """Return the scores of systems and of translations; NaN for those that nobody chosen has rated."""
        chosen = is_chosen.astype(np.float64)
        totals, shares = (np.asarray(each @ chosen) for each in (self._values, self._shares))
        means = divide(totals, shares)
        if self._method == "weighted":
            rows = is_chosen[self._ratings.workers]
            return weighted_means_of_systems(
                *self._columns(rows), n_systems=self._n_systems
            ), means[self._first]
        has_mean = ~np.isnan(means)
        systems = self._systems[has_mean]
        n_outputs = counts(systems, self._n_systems)
        return divide(sums(means[has_mean], systems, self._n_systems), n_outputs), means[
            self._first
        ]

    def _columns(self, rows: Bools) -> tuple[Floats, Ints, Ints, Ints, Floats]:
        ratings = self._ratings
        return (
            ratings.z[rows],
            ratings.workers[rows],
            ratings.systems[rows],
            ratings.segments[rows],
            ratings.weights[rows],
        )


def _r(first: Floats, second: Floats) -> tuple[float, int]:
    """Return the correlation of scores that both halves have, and how many they are."""
    shared = ~np.isnan(first) & ~np.isnan(second)
    first, second = first[shared], second[shared]
    if len(first) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return np.nan, len(first)
    return float(np.corrcoef(first, second)[0, 1]), len(first)


def _agreement(correlations: Floats, n: float) -> HalfAgreement:
    known = correlations[~np.isnan(correlations)]
    if not len(known):
        return HalfAgreement(np.nan, np.nan, np.nan, np.nan, n)
    mean = float(known.mean())
    tails = (1 - RANGE) / 2, (1 + RANGE) / 2
    low, high = (float(value) for value in np.quantile(known, tails))
    return HalfAgreement(mean, low, high, 2 * mean / (1 + mean), n)
