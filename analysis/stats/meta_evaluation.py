"""Does a metric choose between two translations, or two systems, as people do?

Pairwise accuracy with ties: people rate many pairs as equal, but a metric with decimals does so only with a
threshold below which two of its scores count as equal. For soft pairwise accuracy see `soft_accuracy`.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ._validation import (
    Floats,
    as_scores,
    check_between,
    check_complete,
    direction_name,
    directions,
    gold_scores,
    with_gold,
)
from .resampling import DEFAULT_RESAMPLES, ROUNDING, monte_carlo_pvalue, swap_masks
from .signature import signature
from .significance import ComparisonMatrix, binomial_interval, comparison_matrix, metric_pairs


@dataclass(frozen=True, slots=True)
class PairwiseAccuracy:
    """Share of system pairs that the metric orders as gold does; higher is better.

    The exact binomial interval is too narrow: it assumes that pairs are independent, but pairs share
    systems.
    """

    estimate: float
    low: float
    high: float
    n: int
    higher_is_better: bool
    signature: str


@dataclass(frozen=True, slots=True, eq=False)
class TieAccuracy:
    """Share of pairs within a segment decided as gold decides, averaged over segments.

    Two metric scores at most `epsilon` apart are a tie. `by_segment` is NaN for a segment without
    pairs; `n` counts the segments with pairs. The interval is Student's t over segments.
    """

    estimate: float
    low: float
    high: float
    n: int
    n_pairs: int
    epsilon: float
    by_segment: Floats
    higher_is_better: bool
    signature: str


def pairwise_system_accuracy(
    metric: ArrayLike,
    gold: ArrayLike,
    *,
    higher_is_better: bool = True,
    confidence: float = 0.95,
) -> PairwiseAccuracy:
    """Return how often the metric and gold agree which of two systems is better.

    Parameters
    ----------
    metric, gold : array_like, shape (n_systems,)
        System scores. A system with NaN in `gold` is left out.
    higher_is_better : bool
        Whether the metric is higher-is-better.
    confidence : float

    Returns
    -------
    PairwiseAccuracy
        A tie in one counts as agreement only if the other is tied too.

    References
    ----------
    .. [1] Kocmi et al. To Ship or Not to Ship: An Extensive Evaluation of Automatic Metrics for Machine
       Translation. WMT 2021.
    """
    scores, truth = with_gold(metric, gold, "metric", at_least=2)
    sign = 1 if higher_is_better else -1
    first, second = np.triu_indices(len(truth), 1)
    agree = sign * np.sign(scores[first] - scores[second]) == np.sign(truth[first] - truth[second])
    low, high = binomial_interval(int(agree.sum()), len(agree), confidence=confidence)
    return PairwiseAccuracy(
        estimate=float(agree.mean()),
        low=low,
        high=high,
        n=len(agree),
        higher_is_better=higher_is_better,
        signature=signature(
            measure="pairwise-accuracy",
            level="system",
            interval="clopper-pearson",
            confidence=confidence,
            metric=direction_name(higher_is_better),
        ),
    )


def tie_accuracy(
    metric: ArrayLike,
    gold: ArrayLike,
    *,
    epsilon: float | None = None,
    higher_is_better: bool = True,
    confidence: float = 0.95,
) -> TieAccuracy:
    """Return pairwise accuracy with ties (acc_eq), by default with the best tie threshold.

    Parameters
    ----------
    metric, gold : array_like, shape (n_systems, n_segments)
        Segment scores. A translation with NaN in `gold` is left out with all its pairs.
    epsilon : float, optional
        Metric scores at most this far apart are tied. By default 0 and every occurring difference are tried,
        and the smallest with the highest accuracy is used.
    higher_is_better : bool
        Whether the metric is higher-is-better.
    confidence : float

    Returns
    -------
    TieAccuracy

    References
    ----------
    .. [1] Deutsch, Foster and Freitag. Ties Matter: Meta-Evaluating Modern Metrics with Pairwise Accuracy
       and Tie Calibration. EMNLP 2023.
    """
    scores = as_scores(metric, "metric", ndim=2)
    epsilons = None if epsilon is None else [epsilon]
    return tie_accuracies(
        scores[None],
        gold,
        epsilons=epsilons,
        higher_is_better=higher_is_better,
        confidence=confidence,
        name="metric",
    )[0]


def tie_accuracies(
    metrics: ArrayLike,
    gold: ArrayLike,
    *,
    epsilons: ArrayLike | None = None,
    higher_is_better: bool | ArrayLike = True,
    confidence: float = 0.95,
    cross_validate: bool = False,
    name: str = "metrics",
) -> tuple[TieAccuracy, ...]:
    """Return `tie_accuracy` of many metrics, computing the gold pairs once.

    Parameters
    ----------
    metrics : array_like, shape (n_metrics, n_systems, n_segments)
    gold : array_like, shape (n_systems, n_segments)
    epsilons : array_like, shape (n_metrics,), optional
    higher_is_better : bool or array_like of bool, shape (n_metrics,)
    confidence : float
    cross_validate : bool
        Decide each half of the segments (every other one) with the threshold that is best for the other
        half. Calibrated on the pairs it decides, a threshold flatters the metric a little.
    name : str
        The caller's parameter name, for error messages.

    Returns
    -------
    tuple of TieAccuracy
        `epsilon` is the best threshold for all segments, even with `cross_validate`.

    References
    ----------
    .. [1] Deutsch, Foster and Freitag. Ties Matter. EMNLP 2023.
    """
    check_between("confidence", confidence, 0, 1)
    scores, truth = checked_cube(metrics, gold, name)
    signs = directions(higher_is_better, len(scores))
    thresholds = _checked_epsilons(epsilons, len(scores))
    pairs = _GoldPairs.of(truth)
    how = "cross-validated" if cross_validate else "calibrated"
    how = how if epsilons is None else "given"
    accuracies = []
    for metric_scores, sign, threshold in zip(scores, signs, thresholds, strict=True):
        differences = sign * pairs.differences(metric_scores)
        epsilon = pairs.best_epsilon(differences) if threshold is None else threshold
        if cross_validate and threshold is None:
            by_segment = pairs.cross_validated_accuracy(differences)
        else:
            by_segment = pairs.accuracy_by_segment(differences, epsilon)
        accuracies.append(
            _tie_accuracy(pairs, by_segment, epsilon, how, bool(sign > 0), confidence)
        )
    return tuple(accuracies)


def compare_tie_accuracies(
    metrics: ArrayLike,
    gold: ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = DEFAULT_RESAMPLES,
    higher_is_better: bool | ArrayLike = True,
) -> ComparisonMatrix:
    """Test differences in calibrated acc_eq by swapping segments, all pairs of metrics at once.

    All translations of a segment are swapped together, and each metric keeps its calibrated threshold.
    A swap then only exchanges two accuracies of that segment, so a permutation is one sign per segment
    and the pairs need not be recomputed.

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
        A small `pvalue[i, j]` favours metric i.

    References
    ----------
    .. [1] Deutsch, Dror and Roth. A Statistical Analysis of Summarization Evaluation Metrics Using
       Resampling Methods. TACL 9, 2021.
    """
    accuracies = tie_accuracies(metrics, gold, higher_is_better=higher_is_better)
    by_segment = np.stack([accuracy.by_segment for accuracy in accuracies])
    by_segment = by_segment[:, ~np.isnan(by_segment[0])]
    estimates = np.array([accuracy.estimate for accuracy in accuracies])
    first, second = metric_pairs(estimates)
    observed = estimates[first] - estimates[second]
    at_least, at_most = np.zeros(len(first)), np.zeros(len(first))
    n = by_segment.shape[1]
    for masks in swap_masks(n, n_resamples, rng, width=len(first)):
        means = (1 - 2 * masks) @ by_segment.T / n
        swapped = means[:, first] - means[:, second]
        at_least += (swapped >= observed - ROUNDING).sum(axis=0)
        at_most += (swapped <= observed + ROUNDING).sum(axis=0)
    return comparison_matrix(
        estimates,
        directions(higher_is_better, len(estimates)),
        n,
        above=monte_carlo_pvalue(at_least, n_resamples),
        below=monte_carlo_pvalue(at_most, n_resamples),
        how=signature(
            test="permutation",
            of="acc-eq",
            swap="segment",
            epsilon="kept",
            sided="one",
            resamples=n_resamples,
        ),
    )


def checked_cube(metrics: ArrayLike, gold: ArrayLike, name: str) -> tuple[Floats, Floats]:
    """Return metrics (n_metrics, n_systems, n_segments), complete where there is gold, and gold."""
    scores, truth = as_scores(metrics, name, ndim=3), gold_scores(gold, ndim=2)
    if scores.shape[1:] != truth.shape:
        raise ValueError(f"`{name}` has shape {scores.shape[1:]}, `gold` {truth.shape}")
    check_complete(scores[:, ~np.isnan(truth)], name)
    return scores, truth


def _checked_epsilons(epsilons: ArrayLike | None, n_metrics: int) -> list[float] | list[None]:
    if epsilons is None:
        return [None] * n_metrics
    array = as_scores(epsilons, "epsilons")
    if len(array) != n_metrics or not (array >= 0).all():
        raise ValueError(f"`epsilons` must be {n_metrics} non-negative number(s)")
    return [float(epsilon) for epsilon in array]


@dataclass(frozen=True, slots=True, eq=False)
class _GoldPairs:
    """All pairs of translations of the same segment that both have gold."""

    first: NDArray[np.intp]  # system indices of each possible pair
    second: NDArray[np.intp]
    has_gold: NDArray[np.bool_]  # (possible pairs, segments)
    order: NDArray[np.int8]  # sign of the gold difference of each pair with gold
    segments: NDArray[np.intp]  # segment index of each pair with gold
    per_segment: Floats  # number of pairs with gold in each segment

    @classmethod
    def of(cls, gold: Floats) -> "_GoldPairs":
        first, second = np.triu_indices(len(gold), 1)
        difference = gold[first] - gold[second]
        has_gold = ~np.isnan(difference)
        if not has_gold.any():
            raise ValueError("`gold` has no segment with two scores")
        return cls(
            first=first,
            second=second,
            has_gold=has_gold,
            order=np.sign(difference[has_gold]).astype(np.int8),
            segments=np.nonzero(has_gold)[1],
            per_segment=has_gold.sum(axis=0).astype(np.float64),
        )

    @property
    def n_segments(self) -> int:
        return int((self.per_segment > 0).sum())

    def differences(self, scores: Floats) -> Floats:
        """Return the metric's difference for each pair with gold."""
        return (scores[self.first] - scores[self.second])[self.has_gold]

    def best_epsilon(self, differences: Floats, chosen: NDArray[np.bool_] | None = None) -> float:
        """Return the smallest threshold with the highest accuracy, over all pairs or the chosen ones.

        Raising the threshold past a pair's difference turns that pair into a tie: a gain if gold ties, a
        loss if the metric was right, neither if it was wrong. One sort and one cumulative sum try all
        thresholds; pairs that change nothing need not be sorted.
        """
        concordant = (np.sign(differences) == self.order) & (self.order != 0)
        tie_missed = (self.order == 0) & (differences != 0)
        matters = concordant | tie_missed
        if chosen is not None:
            matters &= chosen
        sizes = np.abs(differences[matters])
        ranking = np.argsort(sizes)
        gains = np.where(tie_missed[matters], 1, -1)[ranking] * self._weights(matters)[ranking]
        totals, sizes = np.cumsum(gains), sizes[ranking]
        # Equal differences become ties together, so only the last of them is a threshold.
        last = np.append(sizes[1:] != sizes[:-1], True)[: len(sizes)]
        totals, sizes = totals[last], sizes[last]
        if len(totals) == 0 or totals.max() <= ROUNDING:
            return 0.0
        return float(sizes[np.argmax(totals >= totals.max() - ROUNDING)])

    def _weights(self, chosen: NDArray[np.bool_]) -> Floats:
        """Return the weight of each pair in the mean over segments; 1 if all weights are equal."""
        pairs = self.per_segment[self.per_segment > 0]
        if (pairs == pairs[0]).all():
            return np.ones(int(chosen.sum()))
        return 1 / self.per_segment[self.segments[chosen]] / self.n_segments

    def cross_validated_accuracy(self, differences: Floats) -> Floats:
        """Return the accuracy in each segment with the best threshold of the other half of the segments."""
        is_odd = np.cumsum(self.per_segment > 0) % 2 == 1
        odd_pairs = is_odd[self.segments]
        from_even = self.best_epsilon(differences, ~odd_pairs)
        from_odd = self.best_epsilon(differences, odd_pairs)
        return np.where(
            is_odd,
            self.accuracy_by_segment(differences, from_even),
            self.accuracy_by_segment(differences, from_odd),
        )

    def accuracy_by_segment(self, differences: Floats, epsilon: float) -> Floats:
        """Return the share of correct decisions in each segment; NaN for a segment without pairs."""
        tied = np.abs(differences) <= epsilon
        correct = np.where(tied, 0, np.sign(differences)) == self.order
        n_correct = np.bincount(self.segments[correct], minlength=len(self.per_segment))
        has_pairs = self.per_segment > 0
        return np.where(has_pairs, n_correct / np.where(has_pairs, self.per_segment, 1), np.nan)


def _tie_accuracy(
    pairs: _GoldPairs,
    by_segment: Floats,
    epsilon: float,
    how: str,
    higher_is_better: bool,
    confidence: float,
) -> TieAccuracy:
    """Return the result; a single segment has no interval."""
    accuracies = by_segment[~np.isnan(by_segment)]
    estimate, n = float(accuracies.mean()), len(accuracies)
    low, high = np.nan, np.nan
    if n > 1:
        reach = (
            scipy.special.stdtrit(n - 1, (1 + confidence) / 2) * accuracies.std(ddof=1) / np.sqrt(n)
        )
        low, high = max(0.0, estimate - reach), min(1.0, estimate + reach)
    return TieAccuracy(
        estimate=estimate,
        low=float(low),
        high=float(high),
        n=n,
        n_pairs=len(pairs.order),
        epsilon=epsilon,
        by_segment=by_segment,
        higher_is_better=higher_is_better,
        signature=signature(
            measure="acc-eq",
            grouping="segment",
            epsilon=how,
            interval="t",
            confidence=confidence,
            metric=direction_name(higher_is_better),
        ),
    )
