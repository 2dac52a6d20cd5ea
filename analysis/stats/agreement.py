"""How well workers agree with each other and with themselves."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._groups import factorise, is_constant, moments, places_in_group, sums
from ._pearson import FEWEST_FOR_R, fisher_interval, pearson
from ._validation import (
    Floats,
    Ints,
    Keys,
    as_keys,
    as_numbers,
    check_between,
    check_same_length,
)
from .by_segment import jackknife_covariance, scaled
from .segments import average_repeats
from .signature import signature

# Confidence level of the intervals.
CONFIDENCE = 0.95


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
    segments: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
) -> Agreement:
    """Compare the scores that different workers gave to the same translation.

    Every two workers who rated a translation form a pair. Pairs are unordered, so each enters the
    correlation both ways round. A worker's own repeats are averaged first.

    Parameters
    ----------
    z, workers, translations : array_like, shape (n,)
        Standardised score, worker and translation of each rating; rows with a NaN are left out.
    segments : array_like, shape (n,), optional
        The segment of each rating, if some have several translations: these vary together. Without it every
        translation is a segment of its own.
    confidence : float
        Confidence level of the interval, for these workers and other segments: Student's t with the jackknife over
        segments. Fisher's interval does not apply, as pairs that share a translation are not independent.

    Returns
    -------
    Agreement
        `pearson` is the agreement of two single ratings; NaN without pairs or without variation.
    """
    values, _, units = average_repeats(z, workers, translations)
    check_between("confidence", confidence, 0, 1)
    clusters = _clusters_of(units, translations, segments)
    values, codes, n_units, clusters = _rated_more_than_once(values, units, clusters)
    terms = _pair_terms(values, codes, n_units)
    totals = terms.sum(axis=0)
    low, high = _jackknife(terms, clusters, _pearson_of_terms, confidence)
    distances = _absolute_differences(values, codes, n_units)
    n_pairs = int(totals[0]) // 2
    return Agreement(
        pearson=float(_pearson_of_terms(totals)),
        low=low,
        high=high,
        mean_absolute_difference=float(distances.sum() / n_pairs) if n_pairs else math.nan,
        n_pairs=n_pairs,
        n_translations=n_units,
        signature=signature(
            agreement="between-workers", ci=("jackknife", _name(segments, "segments"), confidence)
        ),
    )


def intra_annotator_agreement(
    originals: ArrayLike,
    repeats: ArrayLike,
    *,
    workers: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
) -> Agreement:
    """Compare the scores a worker gave to the same translation the first and the second time.

    Parameters
    ----------
    originals, repeats : array_like, shape (n,)
        The two scores of each pair, raw or standardised; a pair with a NaN is left out. With
        `quality_control.make_pairs` these are the scores at `partner_rows` and at `rows`.
    workers : array_like, shape (n,), optional
        Who gave them. Some workers repeat themselves better than others, so with several workers the
        interval is Student's t with the jackknife over workers; NaN with a single one. Without `workers` it is
        Fisher's, which takes all pairs as independent.
    confidence : float
        Confidence level of the interval.

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
    if workers is None:
        low, high = fisher_interval(r, len(first), confidence)
    else:
        keys = as_keys("workers", workers)
        check_same_length(originals=complete, workers=keys)
        x, y = (values - (values.mean() if len(values) else 0) for values in (first, second))
        terms = np.column_stack([np.ones(len(x)), x, y, x**2, y**2, x * y])
        low, high = _jackknife(terms, keys[complete], _pearson_of_sums, confidence)
    return Agreement(
        pearson=r,
        low=low,
        high=high,
        mean_absolute_difference=float(np.abs(first - second).mean()) if len(first) else math.nan,
        n_pairs=len(first),
        n_translations=len(first),
        signature=signature(
            agreement="within-workers",
            ci=("fisher", confidence) if workers is None else ("jackknife", "workers", confidence),
        ),
    )


def krippendorff_alpha(
    values: ArrayLike,
    units: ArrayLike,
    *,
    segments: ArrayLike | None = None,
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
    segments : array_like, shape (n,), optional
        The segment of each score, if units of one segment vary together. Without it every unit is a segment of its own.
    confidence : float
        Confidence level of the interval, as in `inter_annotator_agreement`.

    Returns
    -------
    Alpha
        NaN if no unit has two scores, or if all scores are equal.

    References
    ----------
    .. [1] Krippendorff. Computing Krippendorff's alpha-reliability. University of Pennsylvania, 2011.
    """
    values, keys = as_numbers("values", values, missing=True), as_keys("units", units)
    check_same_length(values=values, units=keys)
    check_between("confidence", confidence, 0, 1)
    present = ~np.isnan(values)
    clusters = _clusters_of(keys, keys, segments)
    values, codes, n_units, clusters = _rated_more_than_once(
        values[present], keys[present], clusters[present]
    )
    by_unit = moments(values, codes, n_units)
    # [1] The disagreement observed in a unit of m values is the sum of squared differences of its
    # ordered pairs over m - 1, and that sum is 2 m SS.
    observed = 2 * by_unit.n * by_unit.ss / (by_unit.n - 1)
    totals, squares = sums(values, codes, n_units), sums(values**2, codes, n_units)
    terms = np.column_stack([by_unit.n, totals, squares, observed])
    low, high = _jackknife(terms, clusters, _alpha_of_terms, confidence)
    return Alpha(
        alpha=float(_alpha_of_terms(terms.sum(axis=0))),
        low=low,
        high=high,
        n_units=n_units,
        n_values=len(values),
        signature=signature(
            agreement=("krippendorff", "interval"),
            ci=("jackknife", _name(segments, "units"), confidence),
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
    values, keys = as_numbers("values", values), as_keys("translations", translations)
    values, codes, n_units, _ = _rated_more_than_once(values, keys, keys)
    return float(_pearson_of_terms(_pair_terms(values, codes, n_units).sum(axis=0)))


def _name(segments: ArrayLike | None, name: str) -> str:
    """Return what the jackknife leaves out."""
    return "translations" if segments is None and name == "segments" else name


def _clusters_of(units: Keys, all_units: ArrayLike, segments: ArrayLike | None) -> Keys:
    """Return the segment of each of the units; the units themselves without segments."""
    if segments is None:
        return units
    keys, of_rows = as_keys("units", all_units), as_keys("segments", segments)
    check_same_length(units=keys, segments=of_rows)
    known, rows = np.unique(keys, return_index=True)
    return of_rows[rows][np.searchsorted(known, units)]


def _rated_more_than_once(
    values: Floats, units: Keys, clusters: Keys
) -> tuple[Floats, Ints, int, Keys]:
    """Return the units with two or more values, centred so that sums of squares stay accurate.

    The last array has the cluster of each unit.
    """
    _, codes = factorise(units)
    is_shared = np.bincount(codes)[codes] > 1 if len(codes) else np.zeros(0, dtype=np.bool_)
    values = values[is_shared]
    labels, codes = factorise(codes[is_shared])
    if len(values):
        values = values - values.mean() if not is_constant(values) else np.zeros(len(values))
    _, rows = np.unique(codes, return_index=True)
    return values, codes, len(labels), clusters[is_shared][rows]


def _pair_terms(values: Floats, codes: Ints, n_units: int) -> Floats:
    """Return per unit the sums of 1, x, x squared and x times y over its ordered pairs (x, y)."""
    m = np.bincount(codes, minlength=n_units)
    totals, squares = sums(values, codes, n_units), sums(values**2, codes, n_units)
    return np.column_stack([m * (m - 1), (m - 1) * totals, (m - 1) * squares, totals**2 - squares])


def _pearson_of_terms(terms: Floats) -> Floats:
    # x and y have the same mean and variance, as each pair is counted both ways round.
    n, x, xx, xy = np.moveaxis(terms, -1, 0)
    return _ratio(n * xy - x * x, n * xx - x * x)


def _pearson_of_sums(terms: Floats) -> Floats:
    n, x, y, xx, yy, xy = np.moveaxis(terms, -1, 0)
    variances = np.maximum(n * xx - x * x, 0) * np.maximum(n * yy - y * y, 0)
    return np.where(n < FEWEST_FOR_R, np.nan, _ratio(n * xy - x * y, np.sqrt(variances)))


def _alpha_of_terms(terms: Floats) -> Floats:
    n, total, squares, observed = np.moveaxis(terms, -1, 0)
    spread = n * squares - total * total
    # [1] alpha = 1 - Do / De, with Do = observed / n and De = 2 SS / (n - 1).
    return 1 - _ratio(observed * (n - 1), 2 * spread)


def _ratio(above: Floats, below: Floats) -> Floats:
    is_known = below > 0
    return np.where(is_known, above / np.where(is_known, below, 1), np.nan)


def _absolute_differences(values: Floats, codes: Ints, n_units: int) -> Floats:
    """Return per unit the sum of |x - y| over its pairs."""
    order = np.lexsort((values, codes))
    m = np.bincount(codes, minlength=n_units)
    places = places_in_group(codes, n_units, order)
    # The k-th smallest of m values (from 0) is the larger in k pairs and the smaller in m - 1 - k.
    return sums((2 * places - m[codes] + 1) * values, codes, n_units)


def _jackknife(
    terms: Floats, clusters: Keys, statistic: Callable[[Floats], Floats], confidence: float
) -> tuple[float, float]:
    """Return the t interval, on Fisher's scale, of a statistic of sums, from those without each cluster."""
    labels, codes = factorise(clusters)
    n, estimate = len(labels), statistic(terms.sum(axis=0))
    if n < 2 or np.isnan(estimate):
        return math.nan, math.nan
    by_cluster = np.column_stack([sums(term, codes, n) for term in terms.T])
    without = statistic(by_cluster.sum(axis=0) - by_cluster)
    # What is left may not vary; the statistic then stays where it was.
    without = np.where(np.isnan(without), estimate, without)
    variance = jackknife_covariance(scaled(without[None], "fisher"))[0, 0]
    # A few large clusters decide as much as so many of the same size (Kish's effective number).
    sizes = by_cluster[:, 0]
    df = max(sizes.sum() ** 2 / (sizes**2).sum() - 1, 1)
    reach = float(scipy.special.stdtrit(df, (1 + confidence) / 2)) * math.sqrt(variance)
    centre = float(scaled(estimate, "fisher"))
    return math.tanh(centre - reach), math.tanh(centre + reach)
