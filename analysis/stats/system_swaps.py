"""Is one metric's agreement with gold about systems better than another's? All pairs of metrics, all measures at once.

All translations of a segment are swapped between two metrics, which gives both new system scores. The observed
difference is compared with the spread of the swapped ones.
"""

from collections.abc import Iterator

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ._groups import is_constant
from ._validation import Floats, as_scores, directions
from .by_segment import scaled
from .meta_evaluation import checked_cube
from .resampling import DEFAULT_RESAMPLES, ROUNDING, swap_masks
from .signature import signature
from .significance import ComparisonMatrix, comparison_matrix, metric_pairs

# Single precision is enough for the spread of swapped differences, and twice as fast.
Singles = NDArray[np.float32]

# Numbers computed at a time: a few megabytes, which fit in the caches.
NUMBERS_AT_ONCE = 1_000_000
# Each swap needs new p-values for every pair of systems, which is slow. The spread of SPA from this many swaps has a
# relative error of 4 %.
MOST_SPA_SWAPS = 300


def swap_spreads(
    metrics: ArrayLike,
    gold: ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = DEFAULT_RESAMPLES,
    higher_is_better: bool | ArrayLike = True,
) -> dict[str, Floats]:
    """Return the standard deviation of differences between swapped metrics, for every measure.

    Parameters
    ----------
    metrics : array_like, shape (n_metrics, n_systems, n_segments)
        Segment scores. Metrics are standardised first.
    gold : array_like, shape (n_systems, n_segments)
        Gold scores. A translation with NaN counts in no mean.
    rng : numpy.random.Generator
    n_resamples : int
    higher_is_better : bool or array_like of bool, shape (n_metrics,)

    Returns
    -------
    dict of ndarray, shape (n_pairs,)
        For `pearson`, `spearman`, `kendall_b`, `accuracy` and `spa`, pairs i < j in the order of
        `significance.metric_pairs`. Pearson's r is compared as Fisher's z. SPA uses the segments for which every system has gold, p-values from the
        normal approximation, and at most `MOST_SPA_SWAPS` swaps.

    References
    ----------
    .. [1] Noreen. Computer-Intensive Methods for Testing Hypotheses. Wiley, 1989.
    .. [2] Deutsch, Dror and Roth. A Statistical Analysis of Summarization Evaluation Metrics Using
       Resampling Methods. TACL 9, 2021. (PERM-INPUTS)
    """
    scores, truth = checked_cube(metrics, gold, "metrics")
    signs = directions(higher_is_better, len(scores))
    has_gold = ~np.isnan(truth)
    rows = np.stack(
        [_standardised(metric, has_gold) * sign for metric, sign in zip(scores, signs, strict=True)]
    )
    gold_means = np.where(has_gold, truth, 0).sum(axis=1) / has_gold.sum(axis=1)
    pairs = _GoldOrder(gold_means)
    squares = {name: np.zeros(len(metric_pairs(signs)[0])) for name in pairs.measures}
    means = (rows / has_gold.sum(axis=1)[:, None]).astype(np.float32)
    for masks in _masks(truth.shape[1], n_resamples, rng, len(scores), len(pairs.first)):
        for name, differences in _swapped(means, masks, pairs):
            squares[name][differences[0]] += (differences[1] ** 2).sum(axis=0)
    spreads = {name: np.sqrt(total / n_resamples) for name, total in squares.items()}
    spreads["kendall_b"] = spreads["accuracy"] * pairs.kendall_factor
    complete = has_gold.all(axis=0)
    if complete.sum() >= 2:
        n_swaps = min(n_resamples, MOST_SPA_SWAPS)
        spreads["spa"] = _spa_spreads(rows[:, :, complete], truth[:, complete], n_swaps, rng)
    return spreads


def compare_by_swaps(
    spreads: ArrayLike,
    estimates: ArrayLike,
    *,
    measure: str,
    n: int,
    n_resamples: int,
    higher_is_better: tuple[bool, ...],
) -> ComparisonMatrix:
    """Test differences at system level against the spread of swapped differences.

    Parameters
    ----------
    spreads : array_like, shape (n_pairs,)
        One measure of `swap_spreads`.
    estimates : array_like, shape (n_metrics,)
        NaN for a metric without an estimate.
    measure : str
    n, n_resamples : int
    higher_is_better : tuple of bool

    Returns
    -------
    ComparisonMatrix
        One-sided. The p-values come from the normal approximation to the permutation distribution, whose mean
        is 0: counted among the swaps they could not be small enough for Holm's method.
    """
    values, spread = as_scores(estimates, "estimates"), as_scores(spreads, "spreads")
    first, second = metric_pairs(values)
    on_scale = scaled(values, "fisher") if measure == "pearson" else values
    difference = on_scale[first] - on_scale[second]
    varies = spread > ROUNDING
    z = difference / np.where(varies, spread, 1)
    same = np.abs(difference) <= ROUNDING
    z = np.where(varies, z, np.where(same, 0, np.copysign(np.inf, difference)))
    return comparison_matrix(
        values,
        np.where(higher_is_better, 1.0, -1.0),
        n,
        above=scipy.special.ndtr(-z),
        below=scipy.special.ndtr(z),
        how=signature(
            test="permutation,normal",
            of=measure,
            swap="segment",
            sided="one",
            resamples=n_resamples,
        ),
    )


def _standardised(scores: Floats, has_gold: NDArray[np.bool_]) -> Floats:
    """Scale scores to mean 0 and sd 1 where there is gold; 0 elsewhere, and if they are constant."""
    used = scores[has_gold]
    if is_constant(used):
        return np.zeros_like(scores)
    return np.where(has_gold, (scores - used.mean()) / used.std(), 0)


class _GoldOrder:
    """The order of systems in gold, as weights of pairs of systems for each measure."""

    measures = ("pearson", "spearman", "accuracy")

    def __init__(self, means: Floats) -> None:
        n = len(means)
        self.first, self.second = np.triu_indices(n, 1)
        order = np.sign(means[self.first] - means[self.second])
        self.order = order.astype(np.float32)
        centred = means - means.mean()
        self.unit = (centred / max(np.sqrt(centred @ centred), ROUNDING)).astype(np.float32)
        ranks = np.zeros(n)
        np.add.at(ranks, self.first, order / 2)
        np.add.at(ranks, self.second, -order / 2)
        # Without ties among the swapped scores, Spearman's coefficient is linear in the signs of pairs.
        length = np.sqrt((n**3 - n) / 12 * np.maximum(ranks @ ranks, ROUNDING))
        spearman = order * (ranks[self.first] - ranks[self.second]) / length
        accuracy = (order != 0) / len(order)
        self.weights = np.stack([spearman, accuracy], axis=1).astype(np.float32)
        # tau-b is (2 accuracy - 1) times this without ties among the swapped scores.
        self.kendall_factor = 2 * np.sqrt(len(order) / max((order != 0).sum(), 1))


def _masks(
    n: int, n_resamples: int, rng: np.random.Generator, n_metrics: int, n_pairs: int
) -> Iterator[Singles]:
    size = max(1, NUMBERS_AT_ONCE // max(1, n_metrics * n_pairs))
    for masks in swap_masks(n, n_resamples, rng):
        for start in range(0, len(masks), size):
            yield masks[start : start + size].astype(np.float32)


def _swapped(
    means: Singles, masks: Singles, pairs: _GoldOrder
) -> Iterator[tuple[str, tuple[slice, Floats | Singles]]]:
    """Yield the measure, the pairs of metrics, and their swapped differences (swaps, pairs)."""
    n_metrics, n_systems, n = means.shape
    total = means.sum(axis=2)
    part = (masks @ means.reshape(-1, n).T).reshape(len(masks), n_metrics, n_systems)
    total, part = (array - array.mean(axis=-1, keepdims=True) for array in (total, part))
    signed, signed_part = (
        (array[..., pairs.first] - array[..., pairs.second]) * pairs.order
        for array in (total, part)
    )
    start = 0
    for i in range(n_metrics - 1):
        place = slice(start, start + n_metrics - 1 - i)
        start = place.stop
        change = part[:, i + 1 :] - part[:, i : i + 1]
        yield "pearson", (place, _z(total[i] + change, pairs) - _z(total[i + 1 :] - change, pairs))
        change = signed_part[:, i + 1 :] - signed_part[:, i : i + 1]
        # Does the swapped difference of two systems have the sign of gold's? signed[i] + change > 0, and so on.
        agree = (change > -signed[i]).view(np.int8) - (change < signed[i + 1 :]).view(np.int8)
        difference = agree.astype(np.float32) @ pairs.weights
        yield "spearman", (place, difference[..., 0])
        yield "accuracy", (place, difference[..., 1])


def _z(means: Singles, pairs: _GoldOrder) -> Floats:
    """Return Fisher's z of Pearson's r of centred system means with gold; 0 if they do not vary."""
    length = np.sqrt(np.einsum("bjk,bjk->bj", means, means))
    r = (means @ pairs.unit) / np.maximum(length, np.float32(1e-30))
    return scaled(r.astype(np.float64), "fisher")


def _spa_spreads(rows: Floats, gold: Floats, n_swaps: int, rng: np.random.Generator) -> Floats:
    """Return the spread of differences in SPA."""
    n_metrics, n_systems, n = rows.shape
    first, second = np.triu_indices(n_systems, 1)
    gold_differences = gold[first] - gold[second]
    gold_p = _pvalues(
        gold_differences.sum(axis=1, dtype=np.float64).astype(np.float32),
        (gold_differences**2).sum(axis=1).astype(np.float32),
    )
    squares = np.zeros(n_metrics * (n_metrics - 1) // 2)
    masks = np.concatenate(list(_masks(n, n_swaps, rng, 1, 1)))
    sums = [_sums(metric, masks) for metric in rows.astype(np.float32)]
    totals, square_totals, parts, square_parts = map(np.stack, zip(*sums, strict=True))
    for place, (i, j) in enumerate(zip(*np.triu_indices(n_metrics, 1), strict=True)):
        change, square_change = parts[j] - parts[i], square_parts[j] - square_parts[i]
        distance = _distance(totals[j] - change, square_totals[j] - square_change, gold_p)
        distance -= _distance(totals[i] + change, square_totals[i] + square_change, gold_p)
        squares[place] = distance @ distance
    return np.sqrt(squares / n_swaps)


def _sums(metric: Singles, masks: Singles) -> tuple[Singles, Singles, Singles, Singles]:
    """Return sums of differences between systems and of their squares: over all segments, and the swapped ones."""
    first, second = np.triu_indices(len(metric), 1)
    differences = metric[first] - metric[second]
    squares = differences**2
    return differences.sum(axis=1), squares.sum(axis=1), masks @ differences.T, masks @ squares.T


def _distance(total: Singles, squares: Singles, gold_p: Singles) -> Singles:
    """Return how far the p-values are from those of gold, on average over pairs of systems."""
    distance: Singles = np.abs(_pvalues(total, squares) - gold_p).mean(axis=-1)
    return distance


def _pvalues(total: Singles, squares: Singles) -> Singles:
    """Return the one-sided p of a sum under random signs, to three places: a fast normal distribution."""
    z = total / np.sqrt(np.maximum(squares, np.float32(1e-12)))
    # The tanh approximation to the normal distribution has an error below 0.0005.
    slope = np.float32(np.sqrt(2 / np.pi))
    z *= slope * (1 + np.float32(0.044715) * (z * z))
    p: Singles = np.float32(0.5) - np.float32(0.5) * np.tanh(z)
    return p
