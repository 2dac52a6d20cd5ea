"""How well workers agree with each other and with themselves."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._groups import factorise, is_constant, moments, places_in_group, sums
from ._pearson import fisher_interval, pearson
from ._validation import (
    Floats,
    Ints,
    as_keys,
    as_numbers,
    check_at_least,
    check_between,
    check_same_length,
)
from .segments import average_repeats
from .signature import signature

# Confidence level of the intervals.
CONFIDENCE = 0.95
# Bootstrap resamples; enough for the ends of a 95 % interval to be stable.
N_RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement on pairs of scores: a higher r and a lower absolute difference mean better agreement.

    `low` and `high` bound `pearson`. `n_pairs` counts pairs of scores, `n_translations` the rated
    translations (equal to `n_pairs` for pairs of a worker's own scores).
    """

    pearson: float
    low: float
    high: float
    mean_absolute_difference: float
    n_pairs: int
    n_translations: int
    signature: str


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha: 1 is perfect agreement, 0 is chance agreement."""

    alpha: float
    low: float
    high: float
    n_units: int
    n_values: int
    signature: str


def inter_annotator_agreement(
    z: ArrayLike,
    workers: ArrayLike,
    translations: ArrayLike,
    *,
    rng: np.random.Generator | None = None,
    n_resamples: int = N_RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Agreement:
    """Compare the scores that different workers gave to the same translation.

    Every two workers who rated a translation form a pair. Pairs are unordered, so each enters the
    correlation both ways round. A worker's own repeats are averaged first.

    Parameters
    ----------
    z, workers, translations : array_like, shape (n,)
        Standardised score, worker and translation of each rating; rows with a NaN are left out.
    rng : numpy.random.Generator, optional
        For the percentile bootstrap interval over translations; without it the interval is NaN.
        Fisher's interval does not apply, as pairs that share a translation are not independent.
    n_resamples : int
        Number of bootstrap resamples.
    confidence : float
        Confidence level of the interval.

    Returns
    -------
    Agreement
        `pearson` is the agreement of two single ratings; NaN without pairs or without variation.
    """
    values, _, units = average_repeats(z, workers, translations)
    check_between("confidence", confidence, 0, 1)
    check_at_least("n_resamples", n_resamples, 1)
    values, codes, n_units = _rated_more_than_once(values, units)
    terms = _pair_terms(values, codes, n_units)
    totals = terms.sum(axis=0)
    low, high = _bootstrap(terms, _pearson_of_terms, rng, n_resamples, confidence)
    distances = _absolute_differences(values, codes, n_units)
    n_pairs = int(totals[0]) // 2
    return Agreement(
        pearson=_pearson_of_terms(totals),
        low=low,
        high=high,
        mean_absolute_difference=float(distances.sum() / n_pairs) if n_pairs else math.nan,
        n_pairs=n_pairs,
        n_translations=n_units,
        signature=signature(
            agreement="between-workers",
            ci=None if rng is None else ("bootstrap-translations", n_resamples, confidence),
        ),
    )


def intra_annotator_agreement(
    originals: ArrayLike, repeats: ArrayLike, *, confidence: float = CONFIDENCE
) -> Agreement:
    """Compare the scores a worker gave to the same translation the first and the second time.

    Parameters
    ----------
    originals, repeats : array_like, shape (n,)
        The two scores of each pair, raw or standardised; a pair with a NaN is left out. With
        `quality_control.make_pairs` these are the scores at `partner_rows` and at `rows`.
    confidence : float
        Confidence level of Fisher's interval, which assumes that pairs are independent.

    Returns
    -------
    Agreement
        NaN with fewer than three pairs.
    """
    first = as_numbers("originals", originals, missing=True)
    second = as_numbers("repeats", repeats, missing=True)
    check_same_length(originals=first, repeats=second)
    check_between("confidence", confidence, 0, 1)
    complete = ~(np.isnan(first) | np.isnan(second))
    first, second = first[complete], second[complete]
    r = pearson(first, second)
    low, high = fisher_interval(r, len(first), confidence)
    return Agreement(
        pearson=r,
        low=low,
        high=high,
        mean_absolute_difference=float(np.abs(first - second).mean()) if len(first) else math.nan,
        n_pairs=len(first),
        n_translations=len(first),
        signature=signature(agreement="within-workers", ci=("fisher", confidence)),
    )


def krippendorff_alpha(
    values: ArrayLike,
    units: ArrayLike,
    *,
    rng: np.random.Generator | None = None,
    n_resamples: int = N_RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Alpha:
    """Compute Krippendorff's alpha for interval data; ratings may be missing anywhere.

    With squared differences, both the observed and the expected disagreement reduce to sums of
    squares, so there is no loop over pairs of values.

    Parameters
    ----------
    values, units : array_like, shape (n,)
        Scores (NaN is missing) and the unit each belongs to. One score per worker and unit: see
        `segments.average_repeats`. Units with a single score are left out.
    rng : numpy.random.Generator, optional
        For the percentile bootstrap interval over units; without it the interval is NaN.
    n_resamples : int
        Number of bootstrap resamples.
    confidence : float
        Confidence level of the interval.

    Returns
    -------
    Alpha
        NaN if no unit has two scores, or if all scores are equal.

    References
    ----------
    .. [1] Krippendorff. Computing Krippendorff's alpha-reliability. University of Pennsylvania, 2011.
    """
    values, units = as_numbers("values", values, missing=True), as_keys("units", units)
    check_same_length(values=values, units=units)
    check_between("confidence", confidence, 0, 1)
    check_at_least("n_resamples", n_resamples, 1)
    present = ~np.isnan(values)
    values, codes, n_units = _rated_more_than_once(values[present], units[present])
    by_unit = moments(values, codes, n_units)
    # [1] The disagreement observed in a unit of m values is the sum of squared differences of its
    # ordered pairs over m - 1, and that sum is 2 m SS.
    observed = 2 * by_unit.n * by_unit.ss / (by_unit.n - 1)
    totals, squares = sums(values, codes, n_units), sums(values**2, codes, n_units)
    terms = np.column_stack([by_unit.n, totals, squares, observed])
    low, high = _bootstrap(terms, _alpha_of_terms, rng, n_resamples, confidence)
    return Alpha(
        alpha=_alpha_of_terms(terms.sum(axis=0)),
        low=low,
        high=high,
        n_units=n_units,
        n_values=len(values),
        signature=signature(
            agreement=("krippendorff", "interval"),
            ci=None if rng is None else ("bootstrap-units", n_resamples, confidence),
        ),
    )


def single_rating_agreement(values: ArrayLike, translations: ArrayLike) -> float:
    """Correlate two single ratings of the same translation, over all such pairs.

    Parameters
    ----------
    values, translations : array_like, shape (n,)
        Scores and the translations they rate, one row per worker and translation.

    Returns
    -------
    float
        Pearson's r, with each pair both ways round; NaN without pairs or without variation.
    """
    values = as_numbers("values", values)
    values, codes, n_units = _rated_more_than_once(values, as_keys("translations", translations))
    return _pearson_of_terms(_pair_terms(values, codes, n_units).sum(axis=0))


def _rated_more_than_once(values: Floats, units: ArrayLike) -> tuple[Floats, Ints, int]:
    """Return the units with two or more values, centred so that sums of squares stay accurate."""
    _, codes = factorise(np.asarray(units))
    is_shared = np.bincount(codes)[codes] > 1 if len(codes) else np.zeros(0, dtype=np.bool_)
    values = values[is_shared]
    labels, codes = factorise(codes[is_shared])
    if len(values):
        values = values - values.mean() if not is_constant(values) else np.zeros(len(values))
    return values, codes, len(labels)


def _pair_terms(values: Floats, codes: Ints, n_units: int) -> Floats:
    """Return per unit the sums of 1, x, x squared and x times y over its ordered pairs (x, y)."""
    m = np.bincount(codes, minlength=n_units)
    totals, squares = sums(values, codes, n_units), sums(values**2, codes, n_units)
    return np.column_stack([m * (m - 1), (m - 1) * totals, (m - 1) * squares, totals**2 - squares])


def _pearson_of_terms(terms: Floats) -> float:
    # x and y have the same mean and variance, as each pair is counted both ways round.
    n, x, xx, xy = (float(term) for term in terms)
    variance = n * xx - x * x
    return (n * xy - x * x) / variance if variance > 0 else math.nan


def _alpha_of_terms(terms: Floats) -> float:
    n, total, squares, observed = (float(term) for term in terms)
    spread = squares - total * total / n if n else 0.0
    # [1] alpha = 1 - Do / De, with Do = observed / n and De = 2 SS / (n - 1).
    return 1 - (observed / n) / (2 * spread / (n - 1)) if spread > 0 else math.nan


def _absolute_differences(values: Floats, codes: Ints, n_units: int) -> Floats:
    """Return per unit the sum of |x - y| over its pairs."""
    order = np.lexsort((values, codes))
    m = np.bincount(codes, minlength=n_units)
    places = places_in_group(codes, n_units, order)
    # The k-th smallest of m values (from 0) is the larger in k pairs and the smaller in m - 1 - k.
    return sums((2 * places - m[codes] + 1) * values, codes, n_units)


def _bootstrap(
    terms: Floats,
    statistic: Callable[[Floats], float],
    rng: np.random.Generator | None,
    n_resamples: int,
    confidence: float,
) -> tuple[float, float]:
    """Draw rows with replacement; return the percentile interval of the statistic of their sum."""
    n = len(terms)
    if rng is None or not n:
        return math.nan, math.nan
    resampled = np.empty(n_resamples)
    for resample in range(n_resamples):
        times_drawn = np.bincount(rng.integers(n, size=n), minlength=n)
        resampled[resample] = statistic(times_drawn @ terms)
    if np.isnan(resampled).all():
        return math.nan, math.nan
    tail = (1 - confidence) / 2
    low, high = np.nanquantile(resampled, [tail, 1 - tail])
    return float(low), float(high)
