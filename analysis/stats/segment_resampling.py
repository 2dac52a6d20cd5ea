"""Intervals and tests that resample segments: the cluster bootstrap and paired permutations.

The choice next to `by_segment`, which compares with Student's t. Segments are drawn, or swapped between two
metrics, with all their translations.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._groups import factorise
from ._pearson import unit_rows
from ._validation import (
    Floats,
    Ints,
    as_keys,
    as_scores,
    check_between,
    check_complete,
    directions,
    with_gold,
)
from .by_segment import (
    Method,
    largest_of_order,
    rank_influences,
    scaled,
    sums_by_unit,
)
from .resampling import (
    DEFAULT_RESAMPLES,
    ROUNDING,
    bootstrap_counts,
    monte_carlo_pvalue,
    pearson_from_sums,
    percentile_interval,
    swap_masks,
)
from .signature import signature
from .significance import ComparisonMatrix, comparison_matrix, metric_pairs, swapped_differences

# Of the resamples: all but the rounding error.
ALMOST_ALL = 1 - 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class ResampledEstimates:
    """A measure of several metrics, in the sample and in resamples of its segments.

    Parameters
    ----------
    measure : str
    estimates : ndarray, shape (n_metrics,)
        Higher is better; NaN for a metric without an estimate.
    resampled : ndarray, shape (n_resamples, n_metrics)
        The estimates in bootstrap resamples.
    above, below : ndarray, shape (n_pairs,)
        For every pair of metrics, the share of permutations whose difference is at least, or at most, the
        observed one, which counts as one of them.
    n, n_units : int
        Number of translations and of segments.
    higher_is_better : tuple of bool
    """

    measure: str
    estimates: Floats
    resampled: Floats
    above: Floats
    below: Floats
    n: int
    n_units: int
    higher_is_better: tuple[bool, ...]

    def intervals(self, confidence: float = 0.95) -> Floats:
        """Return the ends of expanded percentile intervals, shape (2, n_metrics); NaN for a single segment.

        Percentiles alone are a little too narrow with few segments, as a normal interval with the divisor n would be.
        They are taken further out by as much as Student's t with the divisor n - 1 reaches further (Hesterberg.
        What Teachers Should Know About the Bootstrap. The American Statistician 69(4), 2015).
        """
        check_between("confidence", confidence, 0, 1)
        if self.n_units < 2:
            return np.full((2, len(self.estimates)), np.nan)
        t = scipy.special.stdtrit(self.n_units - 1, (1 + confidence) / 2)
        expanded = 2 * scipy.special.ndtr(t * np.sqrt(self.n_units / (self.n_units - 1))) - 1
        # With two segments it is 1 in floating point: the ends are the extremes.
        return percentile_interval(self.resampled, min(float(expanded), ALMOST_ALL))

    def compare(self) -> ComparisonMatrix:
        """Return the permutation tests, one-sided; a small `pvalue[i, j]` favours metric i."""
        return comparison_matrix(
            self.estimates,
            np.where(self.higher_is_better, 1.0, -1.0),
            self.n,
            above=self.above,
            below=self.below,
            how=signature(
                test="permutation",
                of=self.measure,
                units=("by-segment", self.n_units),
                sided="one",
                resamples=len(self.resampled),
            ),
        )


def resampled_correlations(
    metrics: ArrayLike,
    gold: ArrayLike,
    segments: ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = DEFAULT_RESAMPLES,
    method: Method = "pearson",
    higher_is_better: bool | ArrayLike = True,
) -> ResampledEstimates:
    """Correlate many metrics with gold, resampling segments.

    Parameters
    ----------
    metrics : array_like, shape (n_metrics, n)
        One score per translation.
    gold : array_like, shape (n,)
        A translation with NaN is left out for all metrics.
    segments : array_like, shape (n,)
        The segment of each translation: integers or strings.
    rng : numpy.random.Generator
    n_resamples : int
    method : {"pearson", "spearman", "kendall_b"}
    higher_is_better : bool or array_like of bool, shape (n_metrics,)
        False flips a metric's sign.

    Returns
    -------
    ResampledEstimates
        Two metrics are standardised over all translations; then the scores that they give to all translations of
        a segment change places, or stay. Metrics that agree everywhere have p = 1. Of rank correlations, which every
        resample would have to rank again, the influences of the segments on Fisher's z are drawn and swapped:
        their first-order approximation.

    References
    ----------
    .. [1] Deutsch, Dror and Roth. A Statistical Analysis of Summarization Evaluation Metrics Using
       Resampling Methods. TACL 9, 2021.
    .. [2] Davison and Hinkley. Bootstrap Methods and their Application. 1997. Section 3.8.
    """
    units = as_keys("segments", segments)
    scores, truth = with_gold(metrics, gold, "metrics", at_least=2, ndim=2)
    has_gold = ~np.isnan(np.asarray(gold, dtype=np.float64))
    if len(units) != len(has_gold):
        raise ValueError(f"`segments` has {len(units)} rows for {len(has_gold)} of `gold`")
    codes = factorise(units[has_gold])[1]
    signs = directions(higher_is_better, len(scores))
    if method != "pearson":
        return _resampled_ranks(
            scores, truth, codes, method, signs=signs, rng=rng, n_resamples=n_resamples
        )
    x, y = unit_rows(scores) * signs[:, None], unit_rows(truth)
    estimates = np.clip(x @ y, -1, 1)
    values = sums_by_unit(np.concatenate([x, x**2, x * y]), codes).T
    gold_sums = sums_by_unit(np.stack([y, y**2, np.ones_like(y)]), codes).T
    swapped = swapped_differences(values, estimates, len(truth), n_resamples, rng)
    above, below = _shares(swapped, estimates, n_resamples)
    resampled = [
        _pearson(counts @ np.nan_to_num(values), counts @ np.nan_to_num(gold_sums))
        for counts in bootstrap_counts(len(values), n_resamples, rng)
    ]
    return ResampledEstimates(
        measure="pearson",
        estimates=estimates,
        resampled=np.concatenate(resampled),
        above=above,
        below=below,
        n=len(truth),
        n_units=len(values),
        higher_is_better=tuple(bool(sign > 0) for sign in signs),
    )


def resampled_means(
    by_segment: ArrayLike,
    *,
    measure: str,
    n: int,
    higher_is_better: tuple[bool, ...],
    rng: np.random.Generator,
    n_resamples: int = DEFAULT_RESAMPLES,
) -> ResampledEstimates:
    """Resample the segments of a measure that is a mean over segments, such as acc_eq.

    Parameters
    ----------
    by_segment : array_like, shape (n_metrics, n_segments)
        The measure in each segment. A segment that is NaN is left out for all metrics.
    measure : str
    n : int
        Number of translations.
    higher_is_better : tuple of bool
    rng : numpy.random.Generator
    n_resamples : int

    Returns
    -------
    ResampledEstimates
    """
    values = as_scores(by_segment, "by_segment", ndim=2)
    values = check_complete(values[:, ~np.isnan(values).any(axis=0)], "by_segment")
    resampled, above, below = _of_means(values, rng, n_resamples)
    return ResampledEstimates(
        measure=measure,
        estimates=values.mean(axis=1),
        resampled=resampled,
        above=above,
        below=below,
        n=n,
        n_units=values.shape[1],
        higher_is_better=higher_is_better,
    )


def _resampled_ranks(
    scores: Floats,
    truth: Floats,
    codes: Ints,
    method: Method,
    *,
    signs: Floats,
    rng: np.random.Generator,
    n_resamples: int,
) -> ResampledEstimates:
    estimates, influences = rank_influences(scores, truth, codes, method)
    estimates, influences = estimates * signs, influences * signs[:, None]
    n_segments = influences.shape[1]
    z = scaled(estimates, "fisher", largest_of_order(method, len(truth)))
    # Their mean is z, and they vary as z does (pseudo-values).
    resampled, above, below = _of_means(z[:, None] + n_segments * influences, rng, n_resamples)
    return ResampledEstimates(
        measure=method,
        estimates=estimates,
        resampled=np.tanh(resampled),
        above=above,
        below=below,
        n=len(truth),
        n_units=n_segments,
        higher_is_better=tuple(bool(sign > 0) for sign in signs),
    )


def _of_means(
    values: Floats, rng: np.random.Generator, n_resamples: int
) -> tuple[Floats, Floats, Floats]:
    """Return the means of drawn segments, and the shares of swaps above and below the observed differences."""
    n_segments, means = values.shape[1], values.mean(axis=1)
    first, second = metric_pairs(means)
    observed = means[first] - means[second]
    # A swap turns the sign of a segment's difference.
    moved = (
        (masks @ values.T) * (2 / n_segments)
        for masks in swap_masks(n_segments, n_resamples, rng, width=len(first))
    )
    swapped = (observed - (block[:, first] - block[:, second]) for block in moved)
    above, below = _shares(swapped, means, n_resamples)
    resampled = [
        counts @ values.T / n_segments for counts in bootstrap_counts(n_segments, n_resamples, rng)
    ]
    return np.concatenate(resampled), above, below


def _shares(
    swapped: Iterable[Floats], estimates: Floats, n_resamples: int
) -> tuple[Floats, Floats]:
    """Return the shares of permutations at least, and at most, as large as the observed differences."""
    first, second = metric_pairs(estimates)
    observed = estimates[first] - estimates[second]
    at_least, at_most = np.zeros(len(first)), np.zeros(len(first))
    for block in swapped:
        at_least += (block >= observed - ROUNDING).sum(axis=0)
        at_most += (block <= observed + ROUNDING).sum(axis=0)
    return monte_carlo_pvalue(at_least, n_resamples), monte_carlo_pvalue(at_most, n_resamples)


def _pearson(sums: Floats, gold_sums: Floats) -> Floats:
    """Return r from the sums of drawn segments (resamples, 3 * metrics) and those of the gold."""
    x, xx, xy = np.split(sums, 3, axis=1)
    y, yy, n = (gold_sums[:, [i]] for i in range(3))
    return pearson_from_sums(n, x, y, xx, yy, xy)
