"""Is one metric better than another, or is the difference due to chance? All pairs of metrics at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ._pearson import unit_rows
from ._validation import Bools, Floats, as_scores, check_between, directions, with_gold
from .multiple_tests import Correction, adjust
from .resampling import (
    DEFAULT_RESAMPLES,
    ROUNDING,
    monte_carlo_pvalue,
    percentile_interval,
    resampled_pearson,
    swap_masks,
)
from .signature import signature
from .thresholds import ALPHA

Indices: TypeAlias = NDArray[np.intp]

# With fewer segments the correlation is always 1 or -1.
MIN_SEGMENTS = 3


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonMatrix:
    """Every metric against every other; a small `pvalue[i, j]` favours metric i over metric j.

    `difference[i, j]` is estimate i minus estimate j. `low` and `high` are its interval, or None if the
    method has none. The diagonal and the rows and columns of metrics without an estimate are NaN.
    """

    estimates: Floats
    difference: Floats
    low: Floats | None
    high: Floats | None
    pvalue: Floats
    n: int
    higher_is_better: tuple[bool, ...]
    signature: str

    def winners(self, alpha: float = ALPHA, correction: Correction = "none") -> Bools:
        """Return which metrics no other significantly outperforms (see `winners`)."""
        return winners(self.pvalue, self.estimates, alpha=alpha, correction=correction)


def winners(
    pvalue: ArrayLike,
    estimates: ArrayLike,
    *,
    alpha: float = ALPHA,
    correction: Correction = "none",
) -> Bools:
    """Return which metrics are not significantly outperformed by any other.

    Wins are deliberately not counted: their number grows with the number of weak metrics entered.

    Parameters
    ----------
    pvalue : array_like, shape (n_metrics, n_metrics)
        Small at [i, j] if i is better than j. NaN is never significant.
    estimates : array_like, shape (n_metrics,)
        A metric whose estimate is NaN (constant scores) never wins.
    alpha : float
    correction : {"holm", "none"}
        How the p-values are adjusted for their number first.

    Returns
    -------
    ndarray of bool, shape (n_metrics,)

    References
    ----------
    .. [1] Graham, Mathur and Baldwin. Accurate Evaluation of Segment-level Machine Translation Metrics.
       NAACL 2015.
    """
    p = as_scores(pvalue, "pvalue", ndim=2)
    r = as_scores(estimates, "estimates")
    if p.shape != (len(r), len(r)):
        raise ValueError(f"`pvalue` has shape {p.shape} for {len(r)} `estimates`")
    if not 0 < alpha < 1:
        raise ValueError(f"`alpha` must lie between 0 and 1, not {alpha}")
    outperformed = (adjust(p, correction) < alpha).any(axis=0)
    return ~outperformed & ~np.isnan(r)


def permutation_matrix(
    metrics: ArrayLike,
    gold: ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = DEFAULT_RESAMPLES,
    higher_is_better: bool | ArrayLike = True,
) -> ComparisonMatrix:
    """Test differences in Pearson's r by swapping two metrics' scores, all pairs at once.

    Both metrics are standardised first. Under the null hypothesis they are interchangeable, so each
    segment's two scores are swapped with probability one half and r is computed from the swapped
    scores. All pairs use the same masks.

    Parameters
    ----------
    metrics : array_like, shape (n_metrics, n)
        Segment scores of each metric.
    gold : array_like, shape (n,)
        Gold scores. A segment with NaN is left out.
    rng : numpy.random.Generator
    n_resamples : int
    higher_is_better : bool or array_like of bool, shape (n_metrics,)

    Returns
    -------
    ComparisonMatrix
        A small `pvalue[i, j]` favours metric i. It is the share of permutations (including the
        observed one) whose difference is at least the observed one, up to 1e-12.

    References
    ----------
    .. [1] Noreen. Computer-Intensive Methods for Testing Hypotheses. Wiley, 1989.
    .. [2] Deutsch, Dror and Roth. A Statistical Analysis of Summarization Evaluation Metrics Using
       Resampling Methods. TACL 9, 2021. (PERM-INPUT on one score per segment)

    Notes
    -----
    With a, b and gold g centred and of length 1, and m the mask, the swapped a' = a + m (b - a) has
    sum(a') = m.b - m.a, sum(a'^2) = 1 + m.b^2 - m.a^2, sum(a' g) = r_a + m.bg - m.ag.
    So r' = sum(a' g) / sqrt(sum(a'^2) - sum(a')^2 / n), and the products of the masks with the
    metrics, their squares and their products with gold are enough for every pair.
    """
    scores, truth = with_gold(metrics, gold, "metrics", at_least=MIN_SEGMENTS, ndim=2)
    signs = directions(higher_is_better, len(scores))
    unit, unit_gold = unit_rows(scores) * signs[:, None], unit_rows(truth)
    estimates = np.clip(unit @ unit_gold, -1, 1)
    first, second = metric_pairs(estimates)
    observed = estimates[first] - estimates[second]
    at_least, at_most = np.zeros(len(first)), np.zeros(len(first))
    values = np.concatenate([unit, unit**2, unit * unit_gold]).T
    for swapped in swapped_differences(values, estimates, len(truth), n_resamples, rng):
        at_least += (swapped >= observed - ROUNDING).sum(axis=0)
        at_most += (swapped <= observed + ROUNDING).sum(axis=0)
    return comparison_matrix(
        estimates,
        signs,
        len(truth),
        above=monte_carlo_pvalue(at_least, n_resamples),
        below=monte_carlo_pvalue(at_most, n_resamples),
        how=signature(test="permutation", of="pearson", sided="one", resamples=n_resamples),
    )


def swapped_differences(
    values: Floats, r: Floats, n: int, n_resamples: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Yield blocks (resamples, pairs) of r'_a - r'_b after swapping; see `permutation_matrix`.

    Parameters
    ----------
    values : ndarray, shape (n_units, 3 * n_metrics)
        What each unit that is swapped as a whole adds to the sums of the metrics, of their squares and of
        their products with gold, all of length 1.
    r : ndarray, shape (n_metrics,)
    n : int
        Number of scores of each metric.
    n_resamples : int
    rng : numpy.random.Generator
    """
    first, second = metric_pairs(r)
    # A constant metric has no standardised scores; `_square` sets its results to NaN.
    values = np.ascontiguousarray(np.nan_to_num(values))
    for masks in swap_masks(len(values), n_resamples, rng, width=len(first)):
        sums, squares, products = np.split(masks @ values, 3, axis=1)
        sum_change = sums[:, second] - sums[:, first]
        square_change = squares[:, second] - squares[:, first]
        product_change = products[:, second] - products[:, first]
        mean_term = sum_change**2 / n
        r_first = _ratio(r[first] + product_change, 1 + square_change - mean_term)
        r_second = _ratio(r[second] - product_change, 1 - square_change - mean_term)
        yield r_first - r_second


def _ratio(product: Floats, variance: Floats) -> Floats:
    """Return product / sqrt(variance); 0 where a swapped metric has no variance."""
    varies = variance > ROUNDING
    return np.where(varies, product / np.sqrt(np.where(varies, variance, 1)), 0)


def bootstrap_matrix(
    metrics: ArrayLike,
    gold: ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = DEFAULT_RESAMPLES,
    confidence: float = 0.95,
    higher_is_better: bool | ArrayLike = True,
) -> ComparisonMatrix:
    """Bootstrap differences in Pearson's r, paired over segments, all pairs at once.

    Parameters
    ----------
    metrics : array_like, shape (n_metrics, n)
        Segment scores of each metric.
    gold : array_like, shape (n,)
        Gold scores. A segment with NaN is left out.
    rng : numpy.random.Generator
    n_resamples : int
    confidence : float
    higher_is_better : bool or array_like of bool, shape (n_metrics,)

    Returns
    -------
    ComparisonMatrix
        With percentile intervals of the differences. A small `pvalue[i, j]` favours metric i. It is
        the share of resamples in which metric i was not better. A resample that drew only equal
        scores has no r and counts against both metrics.

    References
    ----------
    .. [1] Koehn. Statistical Significance Tests for Machine Translation Evaluation. EMNLP 2004.
    """
    check_between("confidence", confidence, 0, 1)
    scores, truth = with_gold(metrics, gold, "metrics", at_least=MIN_SEGMENTS, ndim=2)
    signs = directions(higher_is_better, len(scores))
    unit, unit_gold = unit_rows(scores) * signs[:, None], unit_rows(truth)
    estimates = np.clip(unit @ unit_gold, -1, 1)
    first, second = metric_pairs(estimates)
    r = resampled_pearson(np.nan_to_num(unit), np.nan_to_num(unit_gold), n_resamples, rng)
    difference = r[:, first] - r[:, second]
    low, high = percentile_interval(difference, confidence)
    return comparison_matrix(
        estimates,
        signs,
        len(truth),
        above=monte_carlo_pvalue((~(difference > ROUNDING)).sum(axis=0), n_resamples),
        below=monte_carlo_pvalue((~(difference < -ROUNDING)).sum(axis=0), n_resamples),
        interval=(low, high),
        how=signature(
            test="paired-bootstrap",
            of="pearson",
            sided="one",
            resamples=n_resamples,
            confidence=confidence,
        ),
    )


def binomial_interval(successes: float, n: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) interval of a proportion.

    Parameters
    ----------
    successes : float
        Number of successes; may end in .5 where a tie counts half.
    n : int
    confidence : float

    Returns
    -------
    low, high : float

    References
    ----------
    .. [1] Clopper and Pearson. The use of confidence or fiducial limits illustrated in the case of the
       binomial. Biometrika 26(4), 1934.
    """
    check_between("confidence", confidence, 0, 1)
    if n < 1:
        raise ValueError(f"`n` must be at least 1, not {n}")
    if not 0 <= successes <= n:
        raise ValueError(f"`successes` must lie between 0 and {n}, not {successes}")
    tail = (1 - confidence) / 2
    low = scipy.special.betaincinv(successes, n - successes + 1, tail) if successes > 0 else 0.0
    high = (
        scipy.special.betaincinv(successes + 1, n - successes, 1 - tail) if successes < n else 1.0
    )
    return float(low), float(high)


def metric_pairs(estimates: Floats) -> tuple[Indices, Indices]:
    """Return the indices i < j of all pairs, in the order `comparison_matrix` expects."""
    return np.triu_indices(len(estimates), 1)


def comparison_matrix(
    estimates: Floats,
    signs: Floats,
    n: int,
    *,
    above: Floats,
    below: Floats,
    how: str,
    interval: tuple[Floats, Floats] | None = None,
) -> ComparisonMatrix:
    """Arrange results for pairs i < j as matrices, with NaN for metrics without an estimate."""
    low, high = (None, None) if interval is None else interval
    return ComparisonMatrix(
        estimates=estimates,
        difference=estimates[:, None] - estimates[None, :],
        low=None if low is None or high is None else _square(estimates, low, -high),
        high=None if low is None or high is None else _square(estimates, high, -low),
        pvalue=_square(estimates, above, below),
        n=n,
        higher_is_better=tuple(bool(sign > 0) for sign in signs),
        signature=how,
    )


def _square(estimates: Floats, upper: Floats, lower: Floats) -> Floats:
    """Return a matrix from its triangles, both ordered by pairs i < j; NaN on the diagonal."""
    first, second = metric_pairs(estimates)
    matrix = np.full((len(estimates), len(estimates)), np.nan)
    matrix[first, second], matrix[second, first] = upper, lower
    undefined = np.isnan(estimates)
    matrix[undefined], matrix[:, undefined] = np.nan, np.nan
    return matrix
