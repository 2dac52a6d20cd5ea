"""How reliable a ranking is: the agreement of scores from two random halves of the workers."""

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._groups import ROUNDING, counts, divide, factorise, sums
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
# For the interval, workers are left out in this many groups, each from the first tenth of the splits.
N_GROUPS = 20

# What the ratings of each of these workers are worth, judged by these workers alone.
Weigh = Callable[[Keys], Floats]


@dataclass(frozen=True, slots=True)
class HalfAgreement:
    """Correlation of the scores from two halves of the workers, over random splits.

    `r` is the mean over splits; 95 % of the splits are from `range_low` to `range_high`. `low` and `high` are a 95 % interval
    of `r` over other workers, for the same systems and segments. `full` is what the scores of all workers would
    correlate with those of another crowd of the same size, by Spearman and Brown, with its interval. NaN if no
    split has at least three scores in both halves, or if there are too few workers for an interval.
    """

    r: float
    low: float
    high: float
    range_low: float
    range_high: float
    full: float
    full_low: float
    full_high: float
    n: float


_NUMBERS = [field.name for field in fields(HalfAgreement) if field.name != "n"]


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
    """One row per rating, everything numbered from 0; `labels` are the workers."""

    z: Floats
    workers: Ints
    translations: Ints
    systems: Ints
    segments: Ints
    labels: Keys

    @property
    def n_workers(self) -> int:
        return len(self.labels)


def split_half(
    z: ArrayLike,
    workers: ArrayLike,
    translations: ArrayLike,
    systems: ArrayLike,
    segments: ArrayLike,
    *,
    weigh: Weigh | None = None,
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
    weigh : callable, optional
        For `weighted`: given the sorted workers of a half, returns a weight for each. Each half is weighed
        alone: weights that had seen the other half would make the two agree.
    method : {"per_worker", "pooled", "weighted"}
        How scores are computed. Systems are the mean of their translations' scores, or with `weighted`
        as in `weighted_scores.system_scores_weighted`.
    n_splits : int
    rng : Generator

    Returns
    -------
    SplitHalf
        Reliability, not validity: workers who follow the same wrong cue agree, too. The interval is a
        grouped jackknife [2]_ of Fisher's z over workers, in which the same splits are made without each
        group in turn.

    References
    ----------
    .. [1] Brown. Some experimental results in the correlation of mental abilities. British Journal of
       Psychology 3(3), 1910.
    .. [2] Shao and Tu. The jackknife and bootstrap. Springer, 1995, section 5.1.
    """
    check_at_least("n_splits", n_splits, 1)
    ratings = _ratings(z, workers, translations, systems, segments)
    of_workers, n = _Scores(ratings, method, weigh), ratings.n_workers
    halves = np.zeros((n_splits, n), dtype=np.bool_)
    for is_first in halves:
        is_first[rng.permutation(n)[: n // 2]] = True
    groups = rng.permutation(n) % min(N_GROUPS, max(n, 1))
    n_again = max(n_splits // 10, min(2, n_splits))
    n_steps = n_splits + n_again * (int(groups.max(initial=-1)) + 1)
    done, by_split, everyone = 0, np.full((n_splits, 3), np.nan), np.ones(n, dtype=np.bool_)
    for split, is_first in enumerate(halves):
        by_split[split] = of_workers.agreement(is_first, everyone)
        done = _reported(progress, done, n_steps)
    without = np.full((int(groups.max(initial=-1)) + 1, n_again, 2), np.nan)
    for group in range(len(without)):
        for split in range(n_again):
            without[group, split] = of_workers.agreement(halves[split], groups != group)[:2]
            done = _reported(progress, done, n_steps)
    return SplitHalf(
        systems=_agreement(by_split[:, 0], without[..., 0], len(np.unique(ratings.systems))),
        segments=_agreement(by_split[:, 1], without[..., 1], float(by_split[:, 2].mean())),
        by_split=by_split,
        n_workers=n,
        n_splits=n_splits,
        signature=signature(
            halves=("workers", "weighed-alone") if method == "weighted" else "workers",
            seg=method,
            splits=n_splits,
            ci=("jackknife", f"groups={len(without)}", RANGE),
        ),
    )


def _reported(progress: Callable[[int, int], None] | None, done: int, total: int) -> int:
    if progress:
        progress(done + 1, total)
    return done + 1


def _ratings(
    z: ArrayLike,
    workers: ArrayLike,
    translations: ArrayLike,
    systems: ArrayLike,
    segments: ArrayLike,
) -> _Ratings:
    z = as_numbers("z", z, missing=True)
    keys: dict[str, Keys] = {
        "workers": as_keys("workers", workers),
        "translations": as_keys("translations", translations),
        "systems": as_keys("systems", systems),
        "segments": as_keys("segments", segments),
    }
    check_same_length(z=z, **keys)
    used = ~np.isnan(z)
    factorised = {name: factorise(values[used]) for name, values in keys.items()}
    codes = {name: codes for name, (_, codes) in factorised.items()}
    return _Ratings(z=z[used], **codes, labels=factorised["workers"][0])


class _Scores:
    """Scores of systems and translations from some of the workers."""

    def __init__(self, ratings: _Ratings, method: Method, weigh: Weigh | None) -> None:
        if (weigh is not None) != (method == "weighted"):
            raise ValueError("`weigh` is needed for the method 'weighted', and for no other.")
        self._ratings, self._method, self._weigh = ratings, method, weigh
        self._n_systems = int(ratings.systems.max(initial=-1)) + 1
        outputs, codes = factorise(ratings.translations * self._n_systems + ratings.systems)
        translations, self._systems = np.divmod(outputs, max(self._n_systems, 1))
        # A translation of several systems has an output for each, with the same score.
        _, self._first = np.unique(translations, return_index=True)
        place, shape = (codes, ratings.workers), (len(outputs), ratings.n_workers)
        self._shares = scipy.sparse.coo_array((np.ones(len(codes)), place), shape=shape).tocsr()
        self._values = scipy.sparse.coo_array((ratings.z, place), shape=shape).tocsr()
        if method != "pooled":
            # A worker's repeats count once.
            self._values.data /= self._shares.data
            self._shares.data[:] = 1

    def agreement(self, is_first: Bools, is_there: Bools) -> tuple[float, float, int]:
        """Correlate the scores of two halves of the workers who are there: those of systems, and those of translations.

        The third number is that of the translations that both halves have rated.
        """
        halves = [self._of(is_there & chosen) for chosen in (is_first, ~is_first)]
        (systems_r, _), (translations_r, n) = (_r(*(half[i] for half in halves)) for i in (0, 1))
        return systems_r, translations_r, n

    def _of(self, is_chosen: Bools) -> tuple[Floats, Floats]:
        """Return the scores of systems and of translations; NaN for those that nobody chosen has rated."""
        weights = is_chosen.astype(np.float64)
        if self._weigh is not None and is_chosen.any():
            weights[is_chosen] = self._weigh(self._ratings.labels[is_chosen])
        totals, shares = (np.asarray(each @ weights) for each in (self._values, self._shares))
        means = divide(totals, shares)
        if self._weigh is not None:
            return self._modelled(weights), means[self._first]
        has_mean = ~np.isnan(means)
        systems = self._systems[has_mean]
        n_outputs = counts(systems, self._n_systems)
        return divide(sums(means[has_mean], systems, self._n_systems), n_outputs), means[
            self._first
        ]

    def _modelled(self, weights: Floats) -> Floats:
        ratings = self._ratings
        rows = weights[ratings.workers] > 0
        workers = ratings.workers[rows]
        return weighted_means_of_systems(
            ratings.z[rows],
            workers,
            ratings.systems[rows],
            ratings.segments[rows],
            weights[workers],
            n_systems=self._n_systems,
        )


def _r(first: Floats, second: Floats) -> tuple[float, int]:
    """Return the correlation of scores that both halves have, and how many they are."""
    shared = ~np.isnan(first) & ~np.isnan(second)
    first, second = first[shared], second[shared]
    if len(first) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return np.nan, len(first)
    return float(np.corrcoef(first, second)[0, 1]), len(first)


def _agreement(correlations: Floats, without: Floats, n: float) -> HalfAgreement:
    """Summarise the splits; `without` holds the first of them again, without each group of workers (rows)."""
    known = correlations[~np.isnan(correlations)]
    if not len(known):
        return HalfAgreement(**dict.fromkeys(_NUMBERS, np.nan), n=n)
    mean = float(known.mean())
    tails = (1 - RANGE) / 2, (1 + RANGE) / 2
    range_low, range_high = (float(value) for value in np.quantile(known, tails))
    low, high = _interval(mean, without[:, ~np.isnan(without).any(axis=0)])
    full, full_low, full_high = (_full(r) for r in (mean, low, high))
    return HalfAgreement(mean, low, high, range_low, range_high, full, full_low, full_high, n)


def _full(half: float) -> float:
    """Return what twice as many workers make of the agreement of two halves [1]: nothing, if they do not agree."""
    return 2 * half / (1 + half) if half > 0 else half


def _interval(mean: float, without: Floats) -> tuple[float, float]:
    """Return a jackknife interval [2], given the correlations without each group (row) in the same splits."""
    n = len(without)
    if n < 3 or not without.size or abs(mean) >= 1:
        return np.nan, np.nan
    values = np.arctanh(np.clip(without, -1 + ROUNDING, 1 - ROUNDING))
    # The splits add some noise of their own, so the interval is rather too wide than too narrow.
    se = np.sqrt((n - 1) * (values - values.mean(axis=0)).mean(axis=1).var())
    half = float(scipy.special.stdtrit(n - 1, (1 + RANGE) / 2)) * se
    return float(np.tanh(np.arctanh(mean) - half)), float(np.tanh(np.arctanh(mean) + half))
