"""How many ratings are enough? Agreement of means of N ratings with independent means."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ._groups import counts, divide, factorise, places_in_group, sums
from ._pearson import pearson, unit_rows
from ._validation import (
    Bools,
    Floats,
    Ints,
    Keys,
    as_keys,
    as_numbers,
    check_at_least,
    check_between,
    check_same_kind,
    check_same_length,
)
from .agreement import single_rating_agreement
from .resampling import pearson_from_sums
from .signature import signature

# Numbers of ratings per translation at which to measure agreement.
SIZES = (1, 2, 5, 10, 15, 20, 30, 40)
# Numbers of ratings that are plotted one translation a point, as in the source [1]_ of `agreement_curve`.
SCATTER_SIZES = (1, 2, 5, 10, 15, 40)
# Number of random samples that each point of the curve averages.
N_DRAWS = 50
# Confidence level of the intervals.
CONFIDENCE = 0.95
# With fewer points, r is always 1 or -1.
FEWEST_POINTS = 3
# A correlation of exactly 1 has no finite Fisher's z.
LARGEST_R = 1 - 1e-12
# Where z-scores stand next to raw ones.
Z_SCORES = 1


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection of ratings, one row each: raw score, z-score and translation.

    Pass one rating per worker and translation (`segments.average_repeats`): workers agree better
    with themselves than with others. Rows whose z is NaN are left out. `segments` tells which translations
    belong to the same segment and vary together; without it, each counts as a separate segment.
    """

    scores: ArrayLike
    z: ArrayLike
    translations: ArrayLike
    segments: ArrayLike | None = None


@dataclass(frozen=True, slots=True)
class Points:
    """One curve: correlation at each size, its interval, and the Spearman-Brown prediction.

    `single` is the agreement of two single ratings over all pairs, on which the prediction is based.
    """

    r: Floats
    low: Floats
    high: Floats
    predicted: Floats
    single: float


@dataclass(frozen=True, slots=True)
class AgreementCurve:
    """How agreement grows with the number of ratings per translation; higher is better.

    `n_translations` counts those with enough ratings for the size; with fewer than three, r is NaN.
    """

    sizes: Ints
    n_translations: Ints
    raw: Points
    z: Points
    signature: str


@dataclass(frozen=True, slots=True)
class Scatter:
    """Means of `size` ratings (z-scores) next to independent means of the same translations, and their r."""

    size: int
    translations: Keys
    means: Floats
    gold: Floats
    r: float


def spearman_brown(single: float, n: ArrayLike) -> NDArray[np.float64]:
    """Predict the agreement of means of n ratings from the agreement of single ratings.

    Parameters
    ----------
    single : float
        Correlation between two single ratings of the same translation.
    n : array_like
        Ratings per mean.

    Returns
    -------
    ndarray
        n r / (1 + (n - 1) r); NaN if r < 0. The formula assumes that ratings share a true score, so
        that r is not negative; below 0 it has a pole.

    References
    ----------
    .. [1] Spearman. Correlation calculated from faulty data. British Journal of Psychology 3, 1910.
    .. [2] Brown. Some experimental results in the correlation of mental abilities. Same volume.
    """
    if not (math.isnan(single) or -1 <= single <= 1):
        raise ValueError(f"`single` must lie between -1 and 1, not {single!r}.")
    sizes = np.asarray(n, dtype=np.float64)
    if single < 0:
        return np.full(sizes.shape, np.nan)
    return np.asarray(divide(sizes * single, 1 + (sizes - 1) * single))


def agreement_curve(
    ratings: Collection,
    *,
    replicate: Collection | None = None,
    submitted: ArrayLike | None = None,
    rng: np.random.Generator | None = None,
    sizes: Sequence[int] = SIZES,
    n_draws: int = N_DRAWS,
    confidence: float = CONFIDENCE,
) -> AgreementCurve:
    """Measure how well means of N ratings agree with independent means, for growing N.

    Parameters
    ----------
    ratings : Collection
        The ratings to take N from.
    replicate : Collection, optional
        An independent collection for the same translations: means of N ratings are compared with
        the replicate's means over all its ratings. Without it the ratings are split: means of N are
        compared with means of N others, so a translation needs 2 N ratings.
    submitted : array_like, shape (n,), optional
        When each rating was given. The earliest ratings are used, as if collection had stopped there;
        they go to the two halves in turn.
    rng : numpy.random.Generator, optional
        Chooses ratings at random instead. Pass either this or `submitted`.
    sizes : sequence of int
        The values of N.
    n_draws : int
        Number of random samples.
    confidence : float
        Of the interval: jackknife over segments of the mean r, as Fisher's z.

    Returns
    -------
    AgreementCurve
        A translation with too few ratings for a size is left out there. The prediction against a replicate
        of M ratings (harmonic mean) is sqrt(SB(N) SB(M)), and NaN if single ratings correlate below 0.

    References
    ----------
    .. [1] Graham, Baldwin and Mathur. Accurate evaluation of segment-level machine translation
       metrics. NAACL 2015.
    """
    if (submitted is None) == (rng is None):
        raise ValueError("Pass either `submitted` or `rng`.")
    for size in sizes:
        check_at_least("sizes", size, 1)
    check_at_least("n_draws", n_draws, 1)
    check_between("confidence", confidence, 0, 1)
    columns = _columns("ratings", ratings)
    plan = _plan(columns, replicate)
    n_translations = np.array([_is_enough(plan, size).sum() for size in sizes], dtype=np.int64)
    # The first row is r, the others are r without each segment.
    measured = np.zeros((2, len(sizes), 1 + plan.n_segments))
    for places in _orders(plan, submitted, rng, n_draws):
        measured += [[_r(plan, side, places, size) for size in sizes] for side in (0, 1)]
    measured /= 1 if rng is None else n_draws
    raw, z = (_points(plan, side, measured[side], sizes, confidence) for side in (0, 1))
    return AgreementCurve(
        sizes=np.array(sizes, dtype=np.int64),
        n_translations=n_translations,
        raw=raw,
        z=z,
        signature=signature(
            curve="split-halves" if replicate is None else "replicate",
            order="time" if rng is None else ("random", n_draws),
            ci=("jackknife-by-segment", confidence),
        ),
    )


def agreement_scatters(
    ratings: Collection,
    *,
    replicate: Collection | None = None,
    submitted: ArrayLike | None = None,
    rng: np.random.Generator | None = None,
    sizes: Sequence[int] = SCATTER_SIZES,
) -> tuple[Scatter, ...]:
    """Return the means behind single points of an agreement curve, for plotting.

    Parameters
    ----------
    ratings, replicate, submitted, rng, sizes
        As in `agreement_curve`, but ratings are drawn once.

    Returns
    -------
    tuple of Scatter
        One for each size that at least three translations have enough ratings for.
    """
    if (submitted is None) == (rng is None):
        raise ValueError("Pass either `submitted` or `rng`.")
    columns = _columns("ratings", ratings)
    plan, labels = _plan(columns, replicate), factorise(columns.translations)[0]
    places = next(_orders(plan, submitted, rng, 1))
    scatters = []
    for size in sizes:
        check_at_least("sizes", size, 1)
        enough = _is_enough(plan, size)
        if enough.sum() < FEWEST_POINTS:
            continue
        means, gold = (side[enough] for side in _sides(plan, Z_SCORES, places, size))
        scatters.append(Scatter(size, labels[enough], means, gold, pearson(means, gold)))
    return tuple(scatters)


@dataclass(frozen=True, slots=True)
class _Columns:
    """Validated columns of a collection; `values` holds raw scores and z-scores."""

    values: tuple[Floats, Floats]
    translations: Keys
    segments: Keys
    has_z: Bools


@dataclass(frozen=True, slots=True)
class _Plan:
    """Ratings by translation, their counts, and the replicate's means (None for split halves).

    `segment_codes` are the segments of the translations.
    """

    values: tuple[Floats, Floats]
    codes: Ints
    n: Ints
    segment_codes: Ints
    n_segments: int
    has_z: Bools
    replicate_means: tuple[Floats, Floats] | None
    replicate_n: Ints


def _columns(name: str, collection: Collection) -> _Columns:
    scores = as_numbers(f"{name}.scores", collection.scores)
    z = as_numbers(f"{name}.z", collection.z, missing=True)
    translations = as_keys(f"{name}.translations", collection.translations)
    segments = translations
    if collection.segments is not None:
        segments = as_keys(f"{name}.segments", collection.segments)
    check_same_length(scores=scores, z=z, translations=translations, segments=segments)
    has_z = ~np.isnan(z)
    return _Columns((scores[has_z], z[has_z]), translations[has_z], segments[has_z], has_z)


def _plan(ratings: _Columns, replicate: Collection | None) -> _Plan:
    labels, codes = factorise(ratings.translations)
    n = counts(codes, len(labels))
    segments, rating_segments = factorise(ratings.segments)
    segment_codes = np.zeros(len(labels), dtype=np.int64)
    segment_codes[codes] = rating_segments
    facts = (ratings.values, codes, n, segment_codes, len(segments), ratings.has_z)
    if replicate is None:
        return _Plan(*facts, None, n)
    other = _columns("replicate", replicate)
    check_same_kind(
        **{"ratings.translations": labels, "replicate.translations": other.translations}
    )
    is_shared = np.isin(other.translations, labels)
    other_codes = np.searchsorted(labels, other.translations[is_shared])
    other_n = counts(other_codes, len(labels))
    raw, z = (
        divide(sums(values[is_shared], other_codes, len(labels)), other_n)
        for values in other.values
    )
    return _Plan(*facts, (raw, z), other_n)


def _orders(
    plan: _Plan, submitted: ArrayLike | None, rng: np.random.Generator | None, n_draws: int
) -> Iterator[Ints]:
    """Yield for each draw the position of every rating among those of its translation."""
    n_groups = len(plan.n)
    if rng is not None:
        for _ in range(n_draws):
            order = np.lexsort((rng.random(len(plan.codes)), plan.codes))
            yield places_in_group(plan.codes, n_groups, order)
        return
    when = as_numbers("submitted", submitted if submitted is not None else ())
    check_same_length(submitted=when, ratings=plan.has_z)
    # Simultaneous ratings are ordered by score, so that the order of the rows does not matter.
    raw, z = plan.values
    order = np.lexsort((z, raw, when[plan.has_z], plan.codes))
    yield places_in_group(plan.codes, n_groups, order)


def _is_enough(plan: _Plan, size: int) -> Bools:
    if plan.replicate_means is None:
        return plan.n >= 2 * size
    return (plan.n >= size) & (plan.replicate_n > 0)


def _r(plan: _Plan, side: int, places: Ints, size: int) -> Floats:
    """Correlate means of `size` ratings with the replicate, or with means of `size` other ratings.

    The first element is r, the others are r without each segment; NaN for a segment that is not used.
    """
    enough = _is_enough(plan, size)
    means, gold = (part[enough] for part in _sides(plan, side, places, size))
    result = np.full(1 + plan.n_segments, np.nan)
    result[0] = pearson(means, gold)
    if np.isnan(result[0]):
        return result
    x, y = unit_rows(means), unit_rows(gold)
    segments = plan.segment_codes[enough]
    totals = np.array(
        [
            sums(part, segments, plan.n_segments)
            for part in (np.ones(len(x)), x, y, x**2, y**2, x * y)
        ]
    )
    rest = totals.sum(axis=1, keepdims=True) - totals
    is_used = (totals[0] > 0) & (rest[0] > 0)
    result[1:][is_used] = pearson_from_sums(*rest[:, is_used])
    return result


def _sides(plan: _Plan, side: int, places: Ints, size: int) -> tuple[Floats, Floats]:
    """Return means of `size` ratings and the independent means, of all translations."""
    if plan.replicate_means is not None:
        return _means_of(plan, side, places < size), plan.replicate_means[side]
    chosen = places < 2 * size
    first = _means_of(plan, side, chosen & (places % 2 == 0))
    return first, _means_of(plan, side, chosen & (places % 2 == 1))


def _means_of(plan: _Plan, side: int, chosen: Bools) -> Floats:
    codes = plan.codes[chosen]
    n = counts(codes, len(plan.n))
    return divide(sums(plan.values[side][chosen], codes, len(plan.n)), n)


def _points(
    plan: _Plan,
    side: int,
    measured: Floats,
    sizes: Sequence[int],
    confidence: float,
) -> Points:
    single = single_rating_agreement(plan.values[side], plan.codes)
    predicted = spearman_brown(single, sizes)
    if plan.replicate_means is not None:
        replicate_n = plan.replicate_n[plan.replicate_n > 0]
        mean_n = len(replicate_n) / np.sum(1 / replicate_n) if len(replicate_n) else math.nan
        predicted = np.sqrt(predicted * spearman_brown(single, mean_n))
    intervals = [_interval(row[0], row[1:], confidence) for row in measured]
    low, high = np.array(intervals, dtype=np.float64).reshape(-1, 2).T
    return Points(r=measured[:, 0], low=low, high=high, predicted=predicted, single=single)


def _interval(r: float, without: Floats, confidence: float) -> tuple[float, float]:
    """Return the interval of r, given r without each segment; NaN with fewer than four segments."""
    without = without[~np.isnan(without)]
    n = len(without)
    if math.isnan(r) or n <= FEWEST_POINTS:
        return math.nan, math.nan
    z, z_without = (np.arctanh(np.clip(value, -LARGEST_R, LARGEST_R)) for value in (r, without))
    se = math.sqrt((n - 1) / n * float(((z_without - z_without.mean()) ** 2).sum()))
    reach = float(scipy.special.stdtrit(n - 1, (1 + confidence) / 2)) * se
    return math.tanh(z - reach), math.tanh(z + reach)
