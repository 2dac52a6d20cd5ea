"""Soft pairwise accuracy: is a metric as confident as people are that one system beats another?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._groups import is_constant
from ._validation import (
    Floats,
    as_scores,
    check_between,
    check_complete,
    direction_name,
    directions,
)
from .meta_evaluation import checked_cube
from .resampling import (
    DEFAULT_RESAMPLES,
    ROUNDING,
    monte_carlo_pvalue,
    percentile_interval,
    swap_masks,
)
from .signature import signature
from .significance import ComparisonMatrix, comparison_matrix, metric_pairs
from .soft_accuracy_spread import resampled_soft_accuracies

# A permutation needs at least two segments.
MIN_SEGMENTS = 2


@dataclass(frozen=True, slots=True)
class SoftAccuracy:
    """1 minus the mean difference between the p-values of metric and gold; higher is better.

    `n` counts the segments for which every system has gold, `n_pairs` the pairs of systems. The interval
    is a bootstrap over segments, see `soft_accuracy_spread`.
    """

    estimate: float
    low: float
    high: float
    n: int
    n_pairs: int
    higher_is_better: bool
    signature: str


def system_pvalues(
    scores: ArrayLike, *, rng: np.random.Generator, n_resamples: int = DEFAULT_RESAMPLES
) -> Floats:
    """Run a paired permutation test for every ordered pair of systems at once.

    Parameters
    ----------
    scores : array_like, shape (n_systems, n_segments)
        Segment scores, higher is better; no missing scores.
    rng : numpy.random.Generator
    n_resamples : int

    Returns
    -------
    pvalue : ndarray, shape (n_systems, n_systems)
        Small at [i, j] if system i is better than system j. A permutation exactly as extreme as the
        data counts half (mid-p), so `pvalue[j, i]` is 1 - `pvalue[i, j]`, equal systems have 0.5, and
        the order of the systems does not matter. NaN on the diagonal.

    References
    ----------
    .. [1] Thompson, Mathur, Deutsch and Khayrallah. Improving Statistical Significance in Human Evaluation
       of Automatic Metrics via Soft Pairwise Accuracy. WMT 2024.
    """
    array = check_complete(as_scores(scores, "scores", ndim=2), "scores")
    _check_size(array, "scores")
    return _system_pvalues(array[None], n_resamples, rng)[0]


def soft_pairwise_accuracy(
    metric: ArrayLike,
    gold: ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = DEFAULT_RESAMPLES,
    higher_is_better: bool = True,
    confidence: float = 0.95,
) -> SoftAccuracy:
    """Return the soft pairwise accuracy (SPA) of a metric.

    Parameters
    ----------
    metric, gold : array_like, shape (n_systems, n_segments)
        Segment scores; only segments for which every system has gold are used.
    rng : numpy.random.Generator
    n_resamples : int
    higher_is_better : bool
        Whether the metric is higher-is-better.
    confidence : float

    Returns
    -------
    SoftAccuracy
        A Monte Carlo estimate: with 1,000 resamples, another seed changes it by a few thousandths.
        Metric and gold are permuted by the same masks.

    References
    ----------
    .. [1] Thompson et al. Improving Statistical Significance in Human Evaluation of Automatic Metrics via
       Soft Pairwise Accuracy. WMT 2024.
    """
    return soft_pairwise_accuracies(
        as_scores(metric, "metric", ndim=2)[None],
        gold,
        rng=rng,
        n_resamples=n_resamples,
        higher_is_better=higher_is_better,
        confidence=confidence,
        name="metric",
    )[0]


def soft_pairwise_accuracies(
    metrics: ArrayLike,
    gold: ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = DEFAULT_RESAMPLES,
    higher_is_better: bool | ArrayLike = True,
    confidence: float = 0.95,
    name: str = "metrics",
) -> tuple[SoftAccuracy, ...]:
    """Return `soft_pairwise_accuracy` of many metrics, permuted by the same masks.

    Parameters
    ----------
    metrics : array_like, shape (n_metrics, n_systems, n_segments)
    gold : array_like, shape (n_systems, n_segments)
    rng : numpy.random.Generator
    n_resamples : int
    higher_is_better : bool or array_like of bool, shape (n_metrics,)
    confidence : float
    name : str
        The caller's parameter name, for error messages.

    Returns
    -------
    tuple of SoftAccuracy

    References
    ----------
    .. [1] Thompson et al. Improving Statistical Significance in Human Evaluation of Automatic Metrics via
       Soft Pairwise Accuracy. WMT 2024.
    """
    check_between("confidence", confidence, 0, 1)
    scores, truth, signs = _complete_segments(metrics, gold, higher_is_better, name)
    estimates = _soft_accuracies(scores, truth, n_resamples, rng)
    n_pairs = len(truth) * (len(truth) - 1) // 2
    standardised = np.stack([_standardised(metric) for metric in scores])
    resampled = resampled_soft_accuracies(standardised, truth, n_resamples, rng)
    reach = percentile_interval(resampled - resampled.mean(axis=0), confidence)
    low, high = np.clip(estimates + reach, 0, 1)
    return tuple(
        SoftAccuracy(
            estimate=float(estimates[i]),
            low=float(low[i]),
            high=float(high[i]),
            n=truth.shape[1],
            n_pairs=n_pairs,
            higher_is_better=bool(sign > 0),
            signature=signature(
                measure="spa",
                resamples=n_resamples,
                ties="mid-p",
                interval="recentred-bootstrap",
                confidence=confidence,
                metric=direction_name(bool(sign > 0)),
            ),
        )
        for i, sign in enumerate(signs)
    )


def compare_soft_accuracies(
    metrics: ArrayLike,
    gold: ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = DEFAULT_RESAMPLES,
    higher_is_better: bool | ArrayLike = True,
) -> ComparisonMatrix:
    """Test differences in SPA by swapping two metrics' scores segment by segment, all pairs at once.

    Metrics are standardised first; all translations of a segment are swapped together. Every swap
    needs new p-values for every pair of systems. Nested permutations would be too slow, so these come
    from the normal approximation to the permutation distribution (mean 0, variance the sum of squared
    differences), whose two sums are mask products.

    Parameters
    ----------
    metrics : array_like, shape (n_metrics, n_systems, n_segments)
    gold : array_like, shape (n_systems, n_segments)
    rng : numpy.random.Generator
    n_resamples : int
    higher_is_better : bool or array_like of bool, shape (n_metrics,)

    Returns
    -------
    ComparisonMatrix
        A small `pvalue[i, j]` favours metric i. `estimates` are SPA by the normal approximation,
        so that observed and permuted differences are comparable; they differ from
        `soft_pairwise_accuracy` by its Monte Carlo error.

    References
    ----------
    .. [1] Thompson et al. Improving Statistical Significance in Human Evaluation of Automatic Metrics via
       Soft Pairwise Accuracy. WMT 2024.
    .. [2] Deutsch, Dror and Roth. A Statistical Analysis of Summarization Evaluation Metrics Using
       Resampling Methods. TACL 9, 2021.
    """
    scores, truth, signs = _complete_segments(metrics, gold, higher_is_better, "metrics")
    gold_p = _PairSums.of(truth).pvalues()
    metric_pair_sums = [_PairSums.of(_standardised(metric)) for metric in scores]
    estimates = np.array(
        [1 - np.abs(pairs.pvalues() - gold_p).mean() for pairs in metric_pair_sums]
    )
    first, second = metric_pairs(estimates)
    observed = estimates[first] - estimates[second]
    at_least, at_most = np.zeros(len(first)), np.zeros(len(first))
    width = 2 * len(metric_pair_sums) * len(gold_p)
    for masks in swap_masks(truth.shape[1], n_resamples, rng, width=width):
        swapped = _swapped_differences(metric_pair_sums, gold_p, masks)
        for pair, differences in enumerate(swapped):
            at_least[pair] += (differences >= observed[pair] - ROUNDING).sum()
            at_most[pair] += (differences <= observed[pair] + ROUNDING).sum()
    return comparison_matrix(
        estimates,
        signs,
        truth.shape[1],
        above=monte_carlo_pvalue(at_least, n_resamples),
        below=monte_carlo_pvalue(at_most, n_resamples),
        how=signature(
            test="permutation",
            of="spa,normal",
            swap="segment",
            sided="one",
            resamples=n_resamples,
        ),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _PairSums:
    """Differences between every two systems, segment by segment, and their sums."""

    differences: Floats  # (pairs, segments)
    total: Floats
    squares: Floats

    @classmethod
    def of(cls, scores: Floats) -> "_PairSums":
        first, second = np.triu_indices(len(scores), 1)
        differences = scores[first] - scores[second]
        return cls(differences, differences.sum(axis=1), (differences**2).sum(axis=1))

    def pvalues(self) -> Floats:
        return _normal_pvalues(self.total, self.squares)


def _swapped_differences(
    metrics: Sequence[_PairSums], gold_p: Floats, masks: Floats
) -> Iterator[Floats]:
    """Yield the difference in SPA of every two metrics after each swap."""
    sums = [(masks @ pairs.differences.T, masks @ pairs.differences.T**2) for pairs in metrics]
    for i, j in combinations(range(len(metrics)), 2):
        a, b = metrics[i], metrics[j]
        change, square_change = sums[j][0] - sums[i][0], sums[j][1] - sums[i][1]
        swapped_a = _normal_pvalues(a.total + change, a.squares + square_change)
        swapped_b = _normal_pvalues(b.total - change, b.squares - square_change)
        distance_a = np.abs(swapped_a - gold_p).mean(axis=1)
        yield np.abs(swapped_b - gold_p).mean(axis=1) - distance_a


def _normal_pvalues(total: Floats, squares: Floats) -> Floats:
    """Return the one-sided p of a sum of differences under random signs; 0.5 if all are 0."""
    varies = squares > ROUNDING
    z = total / np.sqrt(np.where(varies, squares, 1))
    return scipy.special.ndtr(-np.where(varies, z, 0))


def _soft_accuracies(
    scores: Floats, truth: Floats, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Return SPA of metrics, permuted by the same masks as gold."""
    pvalues = _system_pvalues(np.concatenate([truth[None], scores]), n_resamples, rng)
    first, second = np.triu_indices(len(truth), 1)
    return 1 - np.abs(pvalues[1:, first, second] - pvalues[0, first, second]).mean(axis=1)


def _system_pvalues(scores: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return mid-p-values (metrics, systems, systems) of scores (metrics, systems, segments)."""
    n_metrics, n_systems, n = scores.shape
    # Standardising changes no p-value and lets one rounding tolerance fit all metrics.
    flat = np.stack([_standardised(metric) for metric in scores]).reshape(-1, n)
    first, second = np.triu_indices(n_systems, 1)
    total = flat.sum(axis=1).reshape(n_metrics, n_systems)
    observed = total[:, first] - total[:, second]
    extreme = np.zeros((n_metrics, len(first)))
    for masks in swap_masks(n, n_resamples, rng, width=n_metrics * len(first)):
        sums = ((1 - 2 * masks) @ flat.T).reshape(-1, n_metrics, n_systems)
        beyond = sums[:, :, first] - sums[:, :, second] - observed
        extreme += (beyond > ROUNDING * n).sum(axis=0) + (np.abs(beyond) <= ROUNDING * n).sum(
            axis=0
        ) / 2
    pvalue = np.full((n_metrics, n_systems, n_systems), np.nan)
    # The observed arrangement is as extreme as itself, so it counts half.
    pvalue[:, first, second] = (extreme + 0.5) / (n_resamples + 1)
    pvalue[:, second, first] = 1 - pvalue[:, first, second]
    return pvalue


def _standardised(scores: Floats) -> Floats:
    """Scale scores to mean 0 and sd 1 over all systems and segments; 0 if they are constant."""
    if is_constant(scores.ravel()):
        return np.zeros_like(scores)
    return (scores - scores.mean()) / scores.std()


def _complete_segments(
    metrics: ArrayLike, gold: ArrayLike, higher_is_better: bool | ArrayLike, name: str
) -> tuple[Floats, Floats, Floats]:
    """Return higher-is-better metrics and gold of the segments every system has gold for."""
    scores, truth = checked_cube(metrics, gold, name)
    complete = ~np.isnan(truth).any(axis=0)
    signs = directions(higher_is_better, len(scores))
    _check_size(truth[:, complete], "gold")
    return scores[:, :, complete] * signs[:, None, None], truth[:, complete], signs


def _check_size(scores: Floats, name: str) -> None:
    n_systems, n_segments = scores.shape
    if n_systems < 2:
        raise ValueError(f"`{name}` has {n_systems} system(s); at least 2 are needed")
    if n_segments < MIN_SEGMENTS:
        raise ValueError(
            f"`{name}` has {n_segments} segment(s) with a score for every system; "
            f"at least {MIN_SEGMENTS} are needed"
        )
